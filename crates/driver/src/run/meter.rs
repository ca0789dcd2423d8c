//! Measures a run interval by interval.

use std::collections::BTreeMap;

use cost_model::device::{Device, DeviceTotals};
use cost_model::{
    Bytes, Cause, IoLedger, PoolStats, Purpose, SimDuration, SimThread, SimTime, TimeLedger,
};
use hdrhistogram::Histogram;
use index::{BufferStats, HistoryStats, IndexStats, LevelStats};

use super::querier::Asked;
use super::world::{Latencies, StallCounter, World};
use crate::report::{
    ChangeBuffer, DeviceTotal, History, IoCount, Latency, Manifest, Messages, NodesPerQuery,
    PageCounts, Point, QueriesAfterLoad, RunResult, SCHEMA, Stalls, Totals,
};
use crate::scenario::{Scale, Scenario};

/// A period of this length without a completed row is a stall, at every scale.
const STALL: SimDuration = SimDuration::from_ms(1_000);

/// Collects the points of a run.
pub(super) struct Meter {
    manifest: Manifest,
    scale: Scale,
    names: Vec<String>,
    every_rows: u64,
    /// Rows at which the last interval ends.
    rows_end: u64,
    points: Vec<Point>,
    last: Snapshot,
    /// What the disks of the data had done at the end of the last interval, and those of the logs
    /// if they have some of their own.
    device: DeviceTotals,
    log_device: Option<DeviceTotals>,
    /// Time of clients that have finished.
    retired: TimeLedger,
    stalls: StallCounter,
    latencies: [Latencies; 3],
}

/// Everything that is counted from the start, at one moment.
#[derive(Clone, Default)]
struct Snapshot {
    rows: u64,
    deletes: u64,
    queries: u64,
    query_reads: u64,
    now: SimTime,
    time: TimeLedger,
    io: IoLedger,
    pool: PoolStats,
    redo: Option<u64>,
    buffer: Option<BufferStats>,
    splits: u64,
    coalesces: u64,
    messages: Messages,
    levels: Vec<LevelStats>,
}

/// The difference of two snapshots.
struct Interval {
    rows: u64,
    deletes: u64,
    queries: u64,
    query_reads: u64,
    elapsed_s: f64,
    time: TimeLedger,
    io: IoLedger,
    pool: PoolStats,
    redo: Option<u64>,
    splits: u64,
    coalesces: u64,
    messages: Messages,
    levels: Vec<LevelStats>,
}

impl Meter {
    /// A meter of the first `rows_end` rows of a run.
    pub(super) fn new(scenario: &Scenario, world: &mut World, rows_end: u64) -> Self {
        world.stalls = StallCounter::new(STALL);
        Self {
            manifest: super::build::manifest(scenario),
            scale: scenario.scale,
            names: super::build::shapes(scenario).into_iter().map(|shape| shape.name).collect(),
            every_rows: scenario.report.every_rows,
            rows_end,
            points: Vec::new(),
            last: Snapshot::default(),
            device: DeviceTotals::default(),
            log_device: None,
            retired: TimeLedger::default(),
            stalls: StallCounter::new(STALL),
            latencies: [Latencies::new(), Latencies::new(), Latencies::new()],
        }
    }

    /// The rows at which the interval under way ends: a multiple of an interval's, but a rest of
    /// less than half an interval, whose rate would come from few rows, is part of the last one.
    pub(super) fn next_point(&self) -> u64 {
        let next = (self.last.rows / self.every_rows + 1).saturating_mul(self.every_rows);
        let is_last = self.last.rows < self.rows_end
            && self.rows_end.saturating_sub(next) < self.every_rows.div_ceil(2);
        if is_last { self.rows_end } else { next }
    }

    /// The names of the indexes, in the order of their numbers.
    pub(super) fn index_names(&self) -> &[String] {
        &self.names
    }

    pub(super) fn virtual_time(&self) -> SimTime {
        self.last.now
    }

    pub(super) fn last_rate(&self) -> f64 {
        self.points.last().map_or(0.0, |point| point.rows_per_s)
    }

    pub(super) fn note(&mut self, note: String) {
        self.manifest.notes.push(note);
    }

    /// A client has finished: its time still counts.
    pub(super) fn retire(&mut self, thread: &SimThread) {
        self.retired.merge(thread.time());
    }

    /// Ends the interval.
    pub(super) fn record(&mut self, world: &mut World, threads: &[&SimThread]) {
        let now = self.snapshot(world, threads);
        let interval = now.since(&self.last);
        let whole = now.since(&Snapshot::default());
        let stalls = world.stalls.take();
        self.stalls.merge(&stalls);
        let stats = index_stats(world);
        let pages = stats.iter().zip(&self.names).map(|(stats, name)| {
            let counts = PageCounts { leaf: stats.leaf_pages, internal: stats.internal_pages };
            (name.clone(), counts)
        });
        let (reads, writes) = interval.io.pages_moved();
        let point = Point {
            rows: now.rows,
            rows_full_scale: self.scale.full(now.rows),
            rows_live: world.rows_live(),
            virtual_s: now.now.as_secs_f64(),
            virtual_s_full_scale: now.now.as_secs_f64() * self.scale.divisor() as f64,
            rows_per_s: ratio(interval.rows as f64, interval.elapsed_s),
            rows_per_s_mean: ratio(whole.rows as f64, whole.elapsed_s),
            deletes_per_s: ratio(interval.deletes as f64, interval.elapsed_s),
            queries_per_s: ratio(interval.queries as f64, interval.elapsed_s),
            reads_per_row: interval.per_row(reads.pages),
            writes_per_row: interval.per_row(writes.pages),
            reads_per_query: per_query(&interval),
            read_bytes_per_row: interval.per_row(reads.bytes),
            write_bytes_per_row: interval.per_row(writes.bytes),
            redo_bytes_per_row: interval.redo.map(|bytes| interval.per_row(bytes)),
            page_requests_per_row: interval.per_row(interval.pool.requests),
            hit_ratio: interval.hit_ratio(),
            pages_created_per_row: interval.per_row(interval.pool.creates),
            pages_made_young_per_row: interval.per_row(interval.pool.made_young),
            dirty_pages: world.machine.dirty_pages(),
            checkpoint_age_bytes: world.machine.checkpoint_age().map(Bytes::get),
            pages: pages.collect(),
            splits: interval.splits,
            coalesces: interval.coalesces,
            change_buffer: now.buffer.map(|buffer| report_buffer(&buffer, self.last.buffer)),
            history: history(world),
            messages: Some(interval.messages).filter(|messages| 0 < messages.injected),
            levels: (0..).zip(interval.levels.iter().copied()).collect(),
            time: shares(&interval.time),
            io: purposes(&interval.io),
            stalls: report_stalls(&stalls),
            latency_us: percentiles(&world.insert_latency.0).unwrap_or_default(),
            delete_latency_us: percentiles(&world.delete_latency.0),
            query_latency_us: percentiles(&world.query_latency.0),
        };
        self.points.push(point);
        self.last = now;
        self.device = world.machine.device().totals();
        self.log_device = world.machine.log_disks().map(Device::totals);
        let current =
            [&mut world.insert_latency, &mut world.delete_latency, &mut world.query_latency];
        for (total, current) in self.latencies.iter_mut().zip(current) {
            total.0 += &current.0;
            current.0.reset();
        }
    }

    /// The result of all finished intervals.
    pub(super) fn finish(mut self, world: &World) -> RunResult {
        let whole = self.last.since(&Snapshot::default());
        let (reads, writes) = whole.io.pages_moved();
        if reads.requests + writes.requests == 0 {
            self.note("no I/O happened: all pages stayed in the buffer pool".to_owned());
        }
        if world.workload.window.is_some() && whole.deletes == 0 {
            self.note("no row was deleted: the table never outgrew workload.window".to_owned());
        }
        if world.workload.queries.is_some() && whole.queries == 0 && world.asked.is_empty() {
            self.note("no query was completed: workload.queries had no effect".to_owned());
        }
        let queries = world.asked.iter().map(|asked| self.queries(asked)).collect();
        let devices = [("data", Some(self.device)), ("log", self.log_device)];
        let devices = devices.into_iter().filter_map(|(name, totals)| {
            let totals = totals?;
            let total = DeviceTotal {
                reads: totals.reads,
                read_bytes: totals.read_bytes,
                writes: totals.writes,
                write_bytes: totals.write_bytes,
                syncs: totals.syncs,
                busy_s: totals.station_busy.as_secs_f64(),
            };
            Some((name.to_owned(), total))
        });
        let virtual_s = self.last.now.as_secs_f64();
        let totals = Totals {
            rows: whole.rows,
            rows_full_scale: self.scale.full(whole.rows),
            deletes: whole.deletes,
            queries: whole.queries,
            virtual_s,
            virtual_s_full_scale: virtual_s * self.scale.divisor() as f64,
            client_s: whole.time.total().as_secs_f64(),
            rows_per_s_mean: ratio(whole.rows as f64, whole.elapsed_s),
            reads_per_row_mean: whole.per_row(reads.pages),
            writes_per_row_mean: whole.per_row(writes.pages),
            reads_per_query_mean: per_query(&whole),
            read_bytes_per_row_mean: whole.per_row(reads.bytes),
            write_bytes_per_row_mean: whole.per_row(writes.bytes),
            redo_bytes_per_row_mean: whole.redo.map(|bytes| whole.per_row(bytes)),
            hit_ratio_mean: whole.hit_ratio(),
            splits: whole.splits,
            coalesces: whole.coalesces,
            change_buffer: self.last.buffer.map(|buffer| report_buffer(&buffer, None)),
            index_operations: world.operations,
            time: shares(&whole.time),
            io: purposes(&whole.io),
            device: devices.collect(),
            stalls: report_stalls(&self.stalls),
            latency_us: percentiles(&self.latencies[0].0).unwrap_or_default(),
            delete_latency_us: percentiles(&self.latencies[1].0),
            query_latency_us: percentiles(&self.latencies[2].0),
        };
        RunResult { schema: SCHEMA, manifest: self.manifest, points: self.points, totals, queries }
    }

    fn queries(&self, asked: &Asked) -> QueriesAfterLoad {
        let per_query = |amount: u64| ratio(amount as f64, asked.queries as f64);
        QueriesAfterLoad {
            index: self.names[usize::from(asked.index)].clone(),
            form: asked.form.name().to_owned(),
            round: asked.round,
            queries: asked.queries,
            rows_per_query: per_query(asked.rows),
            reads_per_query: per_query(asked.reads),
            requests_per_query: per_query(asked.requests),
            queries_per_s: ratio(asked.queries as f64, asked.time.as_secs_f64()),
            nodes: nodes_per_query(&levels_since(&asked.levels, &asked.levels_before), per_query),
        }
    }

    fn snapshot(&self, world: &World, threads: &[&SimThread]) -> Snapshot {
        let mut time = self.retired.clone();
        for thread in threads {
            time.merge(thread.time());
        }
        let stats = index_stats(world);
        Snapshot {
            rows: world.rows_done,
            deletes: world.rows_deleted,
            queries: world.queries_done,
            query_reads: world.query_reads,
            now: world.last_row_at,
            time,
            io: world.machine.io().clone(),
            pool: *world.machine.pool_stats(),
            buffer: world.engine.buffered(),
            redo: world.machine.redo_stats().map(|redo| redo.bytes),
            splits: stats.iter().map(|stats| stats.splits).sum(),
            coalesces: stats.iter().map(|stats| stats.coalesces).sum(),
            messages: Messages {
                pending: stats.iter().map(|stats| stats.messages_pending).sum(),
                injected: stats.iter().map(|stats| stats.messages_injected).sum(),
                flushes: stats.iter().map(|stats| stats.flushes).sum(),
            },
            levels: world.engine.levels(),
        }
    }
}

impl Snapshot {
    fn since(&self, earlier: &Self) -> Interval {
        Interval {
            rows: self.rows - earlier.rows,
            deletes: self.deletes - earlier.deletes,
            queries: self.queries - earlier.queries,
            query_reads: self.query_reads - earlier.query_reads,
            elapsed_s: self.now.since(earlier.now).as_secs_f64(),
            time: self.time.since(&earlier.time),
            io: self.io.since(&earlier.io),
            pool: self.pool.since(&earlier.pool),
            redo: self.redo.map(|bytes| bytes - earlier.redo.unwrap_or_default()),
            splits: self.splits - earlier.splits,
            coalesces: self.coalesces - earlier.coalesces,
            messages: Messages {
                pending: self.messages.pending,
                injected: self.messages.injected - earlier.messages.injected,
                flushes: self.messages.flushes - earlier.messages.flushes,
            },
            levels: levels_since(&self.levels, &earlier.levels),
        }
    }
}

impl Interval {
    fn per_row(&self, amount: u64) -> f64 {
        ratio(amount as f64, self.rows as f64)
    }

    fn hit_ratio(&self) -> f64 {
        // A page may be read and its operation not be carried out before the interval ends.
        1.0 - ratio(self.pool.reads as f64, self.pool.requests as f64).min(1.0)
    }
}

fn per_query(interval: &Interval) -> Option<f64> {
    (0 < interval.queries).then(|| interval.query_reads as f64 / interval.queries as f64)
}

/// The quotient, or 0 where there is nothing to divide by.
fn ratio(amount: f64, by: f64) -> f64 {
    if by == 0.0 { 0.0 } else { amount / by }
}

/// Counters of each index of the table, those of its parts together.
fn index_stats(world: &World) -> Vec<IndexStats> {
    let partitions = world.partitions;
    let of_index = |index| {
        let parts = (0..partitions.count()).map(|part| partitions.index_of(part, index));
        parts.map(|part| world.engine.stats(part)).reduce(IndexStats::with).unwrap_or_default()
    };
    (0..partitions.indexes()).map(of_index).collect()
}

/// Share of each cause that took any time.
fn shares(time: &TimeLedger) -> BTreeMap<String, f64> {
    let total = time.total().as_ns() as f64;
    Cause::ALL
        .iter()
        .filter(|cause| SimDuration::ZERO < time.get(**cause))
        .map(|cause| (cause.name().to_owned(), time.get(*cause).as_ns() as f64 / total))
        .collect()
}

/// Counts of each purpose that had any I/O.
fn purposes(io: &IoLedger) -> BTreeMap<String, IoCount> {
    Purpose::ALL
        .iter()
        .map(|purpose| (purpose.name().to_owned(), io.get(*purpose)))
        .filter(|(_, count)| 0 < count.requests)
        .map(|(name, count)| {
            let cost_model::IoCount { requests, pages, bytes } = count;
            (name, IoCount { requests, pages, bytes })
        })
        .collect()
}

/// The state of a change buffer, and what it did since an earlier one.
fn report_buffer(now: &BufferStats, earlier: Option<BufferStats>) -> ChangeBuffer {
    let earlier = earlier.unwrap_or_default();
    ChangeBuffer {
        entries: now.entries,
        pages: u64::from(now.pages),
        merges: now.merges - earlier.merges,
        merged_entries: now.merged_entries - earlier.merged_entries,
        merged_delete_marks: now.merged_delete_marks - earlier.merged_delete_marks,
        merged_deletes: now.merged_deletes - earlier.merged_deletes,
        splits: now.splits - earlier.splits,
        joins: now.joins - earlier.joins,
    }
}

/// What happened on each level since `earlier`.
fn levels_since(levels: &[LevelStats], earlier: &[LevelStats]) -> Vec<LevelStats> {
    let before = earlier.iter().copied().chain(std::iter::repeat(LevelStats::default()));
    levels.iter().zip(before).map(|(level, before)| level.since(&before)).collect()
}

/// What queries read of the nodes of these levels; `None` without any.
fn nodes_per_query(levels: &[LevelStats], per_query: impl Fn(u64) -> f64) -> Option<NodesPerQuery> {
    let (leaves, internal) = levels.split_first()?;
    Some(NodesPerQuery {
        leaf_headers: per_query(leaves.fetches),
        internal: per_query(internal.iter().map(|level| level.fetches).sum()),
        basements: per_query(leaves.basements),
        bytes: per_query(levels.iter().map(|level| level.read_bytes).sum()),
    })
}

/// What waits for a purge, if somebody does it.
fn history(world: &World) -> Option<History> {
    let history = world.engine.history().filter(|_| world.purges)?;
    let HistoryStats { transactions, rows, undo_pages } = history;
    Some(History { transactions, rows, undo_pages })
}

fn report_stalls(stalls: &StallCounter) -> Stalls {
    let milliseconds = |time: SimDuration| time.as_ns() as f64 / 1e6;
    Stalls {
        count: stalls.count,
        longest_ms: milliseconds(stalls.longest),
        spacing_ms: stalls.spacing().map(milliseconds),
    }
}

/// `None` if no such statement ended.
fn percentiles(latencies: &Histogram<u64>) -> Option<Latency> {
    (!latencies.is_empty()).then(|| Latency {
        p50: latencies.value_at_quantile(0.5) as f64,
        p99: latencies.value_at_quantile(0.99) as f64,
        p999: latencies.value_at_quantile(0.999) as f64,
        max: latencies.max() as f64,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use crate::run::run;
    use crate::scenario::Scenario;

    const TEXT: &str = r#"
        machine = { cores = 1, disk.kind = "null" }
        pool.size = "1GiB"
        engine.kind = "btree"
        workload = { kind = "micro", order = "random", rows = 1_000, rows_per_statement = 1, rows_per_commit = 1 }
    "#;

    #[test]
    fn a_rest_of_less_than_half_an_interval_is_part_of_the_last_one() {
        let cases: [(u64, &[u64]); 4] = [
            (250, &[250, 500, 750, 1_000]),
            (400, &[400, 800, 1_000]),
            (300, &[300, 600, 1_000]),
            (700, &[1_000]),
        ];
        for (every_rows, ends) in cases {
            let sets = [format!("report.every_rows={every_rows}")];
            let scenario = Scenario::parse("rest.toml", TEXT, &sets, None).unwrap();
            let result = run(&scenario, &AtomicBool::new(false), &mut |_| {}).unwrap();
            let rows: Vec<u64> = result.points.iter().map(|point| point.rows).collect();
            assert_eq!((rows.as_slice(), result.totals.rows), (ends, 1_000));
        }
    }
}
