//! A client that inserts.

use cost_model::{SimDuration, SimThread, SimTime};
use index::RowId;

use super::deleter::Deletion;
use super::statement::Bulk;
use super::world::World;
use super::{Cause, Turn};

/// Rows that the engine is told about ahead of their insert.
const LOOK_AHEAD: u64 = 64;

/// Sends statements of several rows, one after the other; deletes old rows after each, if the
/// window is kept on the same connection.
pub(super) struct Inserter {
    state: State,
    started: SimTime,
    rows_left: u64,
    rows_stored: u64,
    bulk: Bulk,
    rows_uncommitted: u64,
    /// Earliest start of the next statement under a rate limit.
    next_start: SimTime,
    /// Virtual time between two statements at the limit of the rate, zero without.
    spacing: SimDuration,
}

enum State {
    /// Before a statement.
    Idle,
    /// Between two rows of a statement.
    BetweenRows,
    /// Inserting a row: the index that is next.
    Row(RowId, u16),
    /// Waiting for a checkpoint, with which the row is complete.
    Checkpoint,
    /// Rows of the statement go into the secondary indexes, sorted.
    Sorted,
    /// The rows are in; what the statement has changed may have to be written.
    Ending,
    /// The statement is done, its commit may wait.
    Committing,
    /// Deleting rows that have left the window.
    Deleting(Deletion),
}

impl Inserter {
    /// A client that sends its share of at most `rate_limit` rows per second.
    pub(super) fn new(rate_limit: Option<u64>, rows_per_statement: u64, clients: u32) -> Self {
        let spacing = rate_limit.map_or(SimDuration::ZERO, |rows_per_s| {
            let rows = rows_per_statement as f64 * f64::from(clients);
            SimDuration::from_secs_f64(rows / rows_per_s as f64)
        });
        Self {
            state: State::Idle,
            started: SimTime::ZERO,
            rows_left: 0,
            rows_stored: 0,
            bulk: Bulk::default(),
            rows_uncommitted: 0,
            next_start: SimTime::ZERO,
            spacing,
        }
    }

    /// Whether no operation of this client is under way.
    pub(super) fn is_between_rows(&self) -> bool {
        matches!(self.state, State::Idle | State::BetweenRows)
    }

    pub(super) fn step(&mut self, thread: &mut SimThread, world: &mut World) -> Turn {
        loop {
            if thread.is_ahead() {
                return Turn::Again;
            }
            match &mut self.state {
                State::Idle => {
                    if world.rows_total <= world.next_row {
                        return Turn::Finished;
                    }
                    self.start_statement(thread, world);
                }
                State::BetweenRows => {
                    let is_over = self.rows_left == 0 || world.rows_total <= world.next_row;
                    if 0 < self.bulk.len()
                        && (is_over || world.statements.bulk_capacity <= self.bulk.len())
                    {
                        self.state = State::Sorted;
                    } else if is_over {
                        self.state = State::Ending;
                    } else {
                        self.start_row(thread, world);
                    }
                }
                State::Sorted => {
                    if self.bulk.step(thread, world) {
                        self.state = State::BetweenRows;
                    }
                    if world.pause_at <= world.rows_done {
                        return Turn::Again;
                    }
                }
                State::Ending => {
                    let rows = world.statements.stored(self.rows_stored);
                    if world.machine.end_statement(thread, rows).is_ok() {
                        self.end_statement(thread, world);
                    }
                }
                State::Row(row, index) => {
                    let (row, at) = (*row, world.index_of(*row, *index));
                    if world.engine.insert(&mut world.machine, thread, at, row).is_err() {
                        continue;
                    }
                    world.machine.release(thread);
                    world.operations += 1;
                    *index += 1;
                    if 0 < world.statements.bulk_capacity {
                        self.bulk.push(row);
                        self.state = State::BetweenRows;
                    } else if *index == world.partitions.indexes() {
                        if world.is_checkpoint_due() {
                            self.state = State::Checkpoint;
                        } else if self.end_row(thread, world) {
                            return Turn::Again;
                        }
                    }
                }
                State::Checkpoint => {
                    // Another client may have been first.
                    if world.is_checkpoint_due() {
                        let written = world.engine.checkpoint(&mut world.machine, thread.now());
                        let _ = thread.wait_until(written, Cause::CheckpointStall);
                    }
                    if self.end_row(thread, world) {
                        return Turn::Again;
                    }
                }
                State::Committing => {
                    if world.commit(thread).is_ok() {
                        self.statement_done(thread, world);
                    }
                }
                State::Deleting(deletion) => {
                    if deletion.step(thread, world) {
                        self.state = State::Idle;
                    }
                }
            }
        }
    }

    /// A row is complete; tells whether the run loop wants to see the world.
    #[inline]
    fn end_row(&mut self, thread: &SimThread, world: &mut World) -> bool {
        self.state = State::BetweenRows;
        world.row_done(thread);
        world.pause_at <= world.rows_done
    }

    fn start_statement(&mut self, thread: &mut SimThread, world: &mut World) {
        thread.wait_until(self.next_start, Cause::Think);
        self.next_start = thread.now() + self.spacing;
        self.started = thread.now();
        let price = world.jittered(world.machine.prices().statement);
        world.machine.compute(thread, price);
        self.rows_left = world.workload.rows_per_statement;
        self.rows_stored = 0;
        self.state = State::BetweenRows;
    }

    /// The row takes its number now, in the order in which rows start.
    fn start_row(&mut self, thread: &mut SimThread, world: &mut World) {
        let row = world.next_row;
        if row.is_multiple_of(LOOK_AHEAD) {
            world.prepare(row..row + LOOK_AHEAD);
        }
        if self.rows_uncommitted == 0 {
            world.engine.begin_transaction(&mut world.machine, thread);
        }
        world.next_row += 1;
        self.rows_left -= 1;
        self.rows_stored += 1;
        self.rows_uncommitted += 1;
        let price = world.jittered(world.machine.prices().row);
        world.machine.compute(thread, price);
        self.state = State::Row(RowId(row), 0);
    }

    fn end_statement(&mut self, thread: &mut SimThread, world: &mut World) {
        if world.workload.rows_per_commit <= self.rows_uncommitted {
            self.rows_uncommitted = 0;
            let price = world.machine.prices().commit;
            world.machine.compute(thread, price);
            self.state = State::Committing;
        } else {
            self.statement_done(thread, world);
        }
    }

    fn statement_done(&mut self, thread: &mut SimThread, world: &mut World) {
        world.insert_latency.record(self.started, thread.now());
        self.state = match Deletion::after_statement(thread, world) {
            Some(deletion) => State::Deleting(deletion),
            None => State::Idle,
        };
    }
}
