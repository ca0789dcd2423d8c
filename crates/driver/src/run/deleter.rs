//! Deleting the oldest rows, on the inserting connection or on one of its own.

use cost_model::{SimDuration, SimThread, SimTime, StoredRows};
use index::{IndexId, RowId};

use super::world::World;
use super::{Cause, Turn};
use crate::scenario::DeleteConnection;

/// How often a connection that has nothing to delete looks again.
const POLL: SimDuration = SimDuration::from_ms(1);

/// One statement that deletes a range of the oldest rows.
pub(super) struct Deletion {
    started: SimTime,
    row: u64,
    end: u64,
    index: u8,
    is_committing: bool,
}

impl Deletion {
    /// The statement that follows an insert on the same connection once the table has outgrown
    /// its window.
    pub(super) fn after_statement(thread: &mut SimThread, world: &mut World) -> Option<Self> {
        match world.workload.window {
            Some(window) if window.connection == DeleteConnection::Same => {
                Self::begin(thread, world, window.rows)
            }
            _ => None,
        }
    }

    /// Takes the oldest rows, as many as a statement has, if there are so many too many.
    fn begin(thread: &mut SimThread, world: &mut World, window: u64) -> Option<Self> {
        let rows = world.workload.rows_per_statement;
        if world.rows_done < world.oldest_row + window + rows {
            return None;
        }
        world.engine.begin_transaction(&mut world.machine, thread);
        let row = world.oldest_row;
        world.oldest_row += rows;
        let deletion =
            Self { started: thread.now(), row, end: row + rows, index: 0, is_committing: false };
        let price = world.jittered(world.machine.prices().statement);
        world.machine.compute(thread, price);
        Some(deletion)
    }

    /// Goes on; tells whether the statement is done.
    pub(super) fn step(&mut self, thread: &mut SimThread, world: &mut World) -> bool {
        while self.row < self.end {
            let (index, row) = (IndexId(self.index), RowId(self.row));
            if world.engine.delete(&mut world.machine, thread, index, row).is_err() {
                return false;
            }
            world.machine.release(thread);
            world.operations += 1;
            self.index += 1;
            if usize::from(self.index) == world.engine.index_count() {
                self.index = 0;
                self.row += 1;
                world.rows_deleted += 1;
                let price = world.jittered(world.machine.prices().row);
                world.machine.compute(thread, price);
            }
        }
        if !self.is_committing {
            if world.machine.end_statement(thread, StoredRows::default()).is_err() {
                return false;
            }
            self.is_committing = true;
            let price = world.machine.prices().commit;
            world.machine.compute(thread, price);
        }
        if world.commit(thread).is_err() {
            return false;
        }
        world.delete_latency.record(self.started, thread.now());
        true
    }
}

/// A connection that does nothing but delete.
#[derive(Default)]
pub(super) struct Deleter {
    deletion: Option<Deletion>,
}

impl Deleter {
    pub(super) fn step(&mut self, thread: &mut SimThread, world: &mut World) -> Turn {
        let Some(window) = world.workload.window else { return Turn::Finished };
        loop {
            if thread.is_ahead() || world.pause_at <= world.rows_done {
                return Turn::Again;
            }
            if let Some(deletion) = &mut self.deletion {
                if deletion.step(thread, world) {
                    self.deletion = None;
                }
            } else {
                self.deletion = Deletion::begin(thread, world, window.rows);
                if self.deletion.is_none() {
                    thread.spend(Cause::Think, POLL);
                }
            }
        }
    }
}
