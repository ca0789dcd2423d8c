//! Deleting the oldest rows, on the inserting connection or on one of its own.

use cost_model::{SimDuration, SimThread, SimTime, StoredRows};
use index::{IndexId, RowId};

use super::world::World;
use super::{Cause, Turn};
use crate::scenario::{DeleteConnection, Window};

/// How often a connection that has nothing to delete looks again.
const POLL: SimDuration = SimDuration::from_ms(1);

/// One statement that deletes a range of the oldest rows.
pub(super) struct Deletion {
    started: SimTime,
    row: u64,
    end: u64,
    index: u16,
    is_committing: bool,
}

impl Deletion {
    /// The statement that follows an insert on the same connection once the table has outgrown
    /// its window.
    pub(super) fn after_statement(thread: &mut SimThread, world: &mut World) -> Option<Self> {
        match world.workload.window {
            Some(window) if window.connection == DeleteConnection::Same => {
                Self::begin(thread, world, window)
            }
            _ => None,
        }
    }

    /// Takes the oldest rows, as many as a statement has, if there are so many too many; drops a
    /// partition at once, if that is how rows go.
    fn begin(thread: &mut SimThread, world: &mut World, window: Window) -> Option<Self> {
        let rows = if window.drops_partitions {
            world.partitions.rows()
        } else {
            world.workload.rows_per_statement
        };
        if world.rows_done < world.oldest_row + window.rows + rows {
            return None;
        }
        if window.drops_partitions {
            drop_partition(thread, world);
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
            let row = RowId(self.row);
            let index = world.index_of(row, self.index);
            if world.engine.delete(&mut world.machine, thread, index, row).is_err() {
                return false;
            }
            world.machine.release(thread);
            world.operations += 1;
            self.index += 1;
            if self.index == world.partitions.indexes() {
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

/// The oldest partition goes: a statement, and files that are removed.
fn drop_partition(thread: &mut SimThread, world: &mut World) {
    let started = thread.now();
    let price = world.jittered(world.machine.prices().statement);
    world.machine.compute(thread, price);
    let partition = world.partitions.of(RowId(world.oldest_row));
    for index in world.partitions.indexes_of(partition) {
        world.engine.truncate(&mut world.machine, IndexId(index));
    }
    world.oldest_row += world.partitions.rows();
    world.rows_deleted += world.partitions.rows();
    world.delete_latency.record(started, thread.now());
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
                self.deletion = Deletion::begin(thread, world, window);
                if self.deletion.is_none() {
                    if world.rows_total <= world.rows_done {
                        return Turn::Finished;
                    }
                    thread.spend(Cause::Think, POLL);
                }
            }
        }
    }
}
