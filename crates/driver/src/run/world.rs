//! What all clients of a run share.

use std::ops::Range;

use cost_model::{Draw, Machine, SimDuration, SimThread, SimTime, Step};
use hdrhistogram::Histogram;
use index::{IndexEngine, IndexId, KeySource, Partitions, RowId};

use super::querier::Asked;
use super::statement::Statements;
use crate::scenario::Workload;
use crate::workload::Profile;

/// The machine, the engine, the key stream, and the counts the clients keep together.
pub(super) struct World {
    pub(super) machine: Machine,
    pub(super) engine: Box<dyn IndexEngine>,
    pub(super) source: Box<dyn KeySource>,
    /// Which of the engine's indexes have which rows.
    pub(super) partitions: Partitions,
    /// Rows from one checkpoint that a client asks for to the next.
    pub(super) checkpoint_rows: Option<u64>,
    pub(super) workload: Workload,
    /// The version of the table of purchases; `None` for another table.
    pub(super) profile: Option<Profile>,
    /// What becomes of the rows of a statement.
    pub(super) statements: Statements,
    /// Threads that insert.
    pub(super) inserters: u32,
    /// The row the next insert takes: the table's auto-increment.
    pub(super) next_row: u64,
    /// Rows whose insert is complete.
    pub(super) rows_done: u64,
    pub(super) rows_total: u64,
    /// The run loop wants to see the world when so many rows are done.
    pub(super) pause_at: u64,
    /// Rows before this one have been taken by a delete.
    pub(super) oldest_row: u64,
    pub(super) rows_deleted: u64,
    /// Whether somebody removes what deletes leave, whether commits wake him, and when one did.
    pub(super) purges: bool,
    pub(super) wakes_purge: bool,
    pub(super) purge_call: Option<SimTime>,
    pub(super) queries_done: u64,
    /// Pages read by queries.
    pub(super) query_reads: u64,
    /// What the queries after the load did, by kind and round.
    pub(super) asked: Vec<Asked>,
    /// Operations on single indexes.
    pub(super) operations: u64,
    /// When the last row was completed.
    pub(super) last_row_at: SimTime,
    pub(super) stalls: StallCounter,
    pub(super) insert_latency: Latencies,
    pub(super) delete_latency: Latencies,
    pub(super) query_latency: Latencies,
    pub(super) draw: Draw,
}

impl World {
    /// A row is inserted in all indexes.
    pub(super) fn row_done(&mut self, thread: &SimThread) {
        self.rows_done += 1;
        self.stalls.gap(self.last_row_at, thread.now());
        self.last_row_at = self.last_row_at.max(thread.now());
    }

    /// Whether a client asks for a checkpoint with the row that it completes next.
    pub(super) fn is_checkpoint_due(&self) -> bool {
        self.checkpoint_rows.is_some_and(|rows| (self.rows_done + 1).is_multiple_of(rows))
    }

    /// Ends the transaction of a thread and makes it durable.
    pub(super) fn commit(&mut self, thread: &mut SimThread) -> Step {
        self.engine.end_transaction(&mut self.machine, thread)?;
        self.machine.commit(thread)?;
        if self.wakes_purge && self.engine.history().is_some_and(|history| 0 < history.transactions)
        {
            self.purge_call = Some(thread.now());
            thread.let_go_first(thread.now());
        }
        Ok(())
    }

    /// Tells the engine which rows come next, up to the end of their partition.
    pub(super) fn prepare(&mut self, rows: Range<u64>) {
        let partition = self.partitions.of(RowId(rows.start));
        let last = (u64::from(partition) + 1).saturating_mul(self.partitions.rows());
        let rows = rows.start..rows.end.min(self.rows_total).min(last);
        self.engine.prepare(&self.machine, rows, self.partitions.indexes_of(partition));
    }

    /// The engine's index for the entry of a row in an index of the table.
    #[inline]
    pub(super) fn index_of(&self, row: RowId, index: u16) -> IndexId {
        self.partitions.index_of(self.partitions.of(row), index)
    }

    /// Rows in the table that no delete has taken.
    pub(super) fn rows_live(&self) -> u64 {
        self.rows_done - self.rows_deleted
    }

    /// A price of the processor, with the jitter that keeps several clients out of lock step.
    ///
    /// Uniform within a tenth to either side: assumed; its mean is the price.
    pub(super) fn jittered(&mut self, price: SimDuration) -> SimDuration {
        if self.inserters == 1 { price } else { price.scaled(0.9 + 0.2 * self.draw.unit()) }
    }
}

/// Periods in which no row was completed.
#[derive(Clone, Copy, Debug)]
pub(super) struct StallCounter {
    /// A period from this length on is a stall.
    threshold: SimDuration,
    pub(super) count: u64,
    pub(super) longest: SimDuration,
    /// When the first and the last of them began.
    began: Option<(SimTime, SimTime)>,
}

impl StallCounter {
    pub(super) fn new(threshold: SimDuration) -> Self {
        Self { threshold, count: 0, longest: SimDuration::ZERO, began: None }
    }

    fn gap(&mut self, from: SimTime, to: SimTime) {
        if from < to && self.threshold <= to.since(from) {
            self.count += 1;
            self.longest = self.longest.max(to.since(from));
            self.began = Some((self.began.map_or(from, |(first, _)| first), from));
        }
    }

    /// Mean time from the start of one to the start of the next; `None` with fewer than two.
    pub(super) fn spacing(&self) -> Option<SimDuration> {
        let (first, last) = self.began.filter(|_| 1 < self.count)?;
        Some(SimDuration::from_ns(last.since(first).as_ns() / (self.count - 1)))
    }

    /// The stalls of this interval; the next one begins.
    pub(super) fn take(&mut self) -> Self {
        std::mem::replace(self, Self::new(self.threshold))
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.longest = self.longest.max(other.longest);
        if let Some((first, last)) = other.began {
            self.began = Some((self.began.map_or(first, |(first, _)| first), last));
        }
    }
}

/// Latencies of statements of one kind in microseconds, three digits exact.
pub(super) struct Latencies(pub(super) Histogram<u64>);

impl Latencies {
    pub(super) fn new() -> Self {
        Self(Histogram::new(3).expect("three digits are allowed"))
    }

    pub(super) fn record(&mut self, from: SimTime, to: SimTime) {
        let micros = to.since(from).as_ns() / 1_000;
        self.0.record(micros).expect("the histogram grows");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stalls_are_spaced_from_start_to_start_across_intervals() {
        let at = |ms: u64| SimTime::from_ns(ms * 1_000_000);
        let mut stalls = StallCounter::new(SimDuration::from_ms(1_000));
        let mut whole = StallCounter::new(SimDuration::from_ms(1_000));
        stalls.gap(at(500), at(1_499));
        assert_eq!((stalls.count, stalls.spacing()), (0, None), "too short to be one");
        stalls.gap(at(2_000), at(3_000));
        assert_eq!((stalls.count, stalls.spacing()), (1, None), "nothing to be apart from");
        whole.merge(&stalls.take());
        for start in [10_000, 12_000] {
            stalls.gap(at(start), at(start + 1_500));
        }
        assert_eq!(stalls.spacing(), Some(SimDuration::from_ms(2_000)));
        whole.merge(&stalls.take());
        assert_eq!((whole.count, whole.longest), (3, SimDuration::from_ms(1_500)));
        assert_eq!(whole.spacing(), Some(SimDuration::from_ms(5_000)));
    }
}
