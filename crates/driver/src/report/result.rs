//! The result of one run as plain data. The field names and units are a versioned contract.

use std::collections::BTreeMap;

use index::LevelStats;
use serde::{Deserialize, Serialize};

use super::Manifest;

/// The version of the names and units below; it grows when one of them changes its meaning.
pub const SCHEMA: u32 = 1;

/// Everything a run has to say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// [`SCHEMA`] when the result was written.
    pub schema: u32,
    /// What was run.
    pub manifest: Manifest,
    /// One entry per reporting interval, in order of time.
    pub points: Vec<Point>,
    /// The run as a whole; without the queries that followed the load.
    pub totals: Totals,
    /// What the queries that followed the load did, by kind and round; absent without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queries: Vec<QueriesAfterLoad>,
}

/// Queries of one kind after the load, in one round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueriesAfterLoad {
    /// The name of the index.
    pub index: String,
    /// What they asked for: `range`, `row` or `equal`.
    pub form: String,
    /// The round, counted from 0.
    pub round: u32,
    /// Queries completed.
    pub queries: u64,
    /// Rows returned per query.
    pub rows_per_query: f64,
    /// Pages read per query.
    pub reads_per_query: f64,
    /// Pages asked for per query, in the pool or not.
    pub requests_per_query: f64,
    /// Queries per virtual second.
    pub queries_per_s: f64,
    /// What was read of nodes; absent if the engine buffers no messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<NodesPerQuery>,
}

/// What queries read of the nodes of a fractal tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodesPerQuery {
    /// Leaves of which nothing was in memory, per query.
    pub leaf_headers: f64,
    /// Nodes above the leaves, per query.
    pub internal: f64,
    /// Single basements, per query.
    pub basements: f64,
    /// Bytes of all of them, per query.
    pub bytes: f64,
}

/// One reporting interval.
///
/// A value is of the interval unless its name ends in `_mean` (since the start) or the field says
/// that it is a state, which is taken at the end of the interval. All values are finite; a ratio
/// per row is 0 in an interval without inserted rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Rows inserted since the start.
    pub rows: u64,
    /// `rows` divided by the scale.
    pub rows_full_scale: u64,
    /// State: rows in the table.
    pub rows_live: u64,
    /// Virtual time since the start in seconds.
    pub virtual_s: f64,
    /// `virtual_s` divided by the scale.
    pub virtual_s_full_scale: f64,
    /// Rows inserted per virtual second.
    pub rows_per_s: f64,
    /// Rows inserted per virtual second since the start.
    pub rows_per_s_mean: f64,
    /// Rows deleted per virtual second.
    pub deletes_per_s: f64,
    /// Queries completed per virtual second.
    pub queries_per_s: f64,
    /// Pages read from the data files per row inserted.
    pub reads_per_row: f64,
    /// Pages written to the data files per row inserted; copies of mirrors are not counted.
    pub writes_per_row: f64,
    /// Pages read by queries per query; absent without queries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads_per_query: Option<f64>,
    /// Bytes read from the data files per row inserted.
    pub read_bytes_per_row: f64,
    /// Bytes written to the data files per row inserted.
    pub write_bytes_per_row: f64,
    /// Redo log bytes per row inserted; absent without a redo log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redo_bytes_per_row: Option<f64>,
    /// Page requests of the engine to the buffer pool per row inserted.
    #[serde(default)]
    pub page_requests_per_row: f64,
    /// Page requests that the buffer pool answered itself, as a share from 0 to 1; 1 if none came.
    pub hit_ratio: f64,
    /// Pages that came into being in the buffer pool per row inserted.
    #[serde(default)]
    pub pages_created_per_row: f64,
    /// Pages moved from the old part of the LRU list to its head per row inserted.
    #[serde(default)]
    pub pages_made_young_per_row: f64,
    /// State: pages of the pool that differ from their copy on disk.
    pub dirty_pages: u64,
    /// State: redo bytes since the last checkpoint; absent without a redo log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_age_bytes: Option<u64>,
    /// State: pages of each index, by index name.
    pub pages: BTreeMap<String, PageCounts>,
    /// Pages that were split.
    pub splits: u64,
    /// Pages that were joined with a neighbour.
    pub coalesces: u64,
    /// Absent if the engine has no change buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_buffer: Option<ChangeBuffer>,
    /// Absent if nothing is left to a purge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<History>,
    /// Absent if the engine buffers no messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<Messages>,
    /// The nodes of all indexes by their height above the leaves; empty if the engine buffers no messages.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub levels: BTreeMap<u32, LevelStats>,
    /// Share of the clients' time by cause; the shares add up to 1.
    pub time: BTreeMap<String, f64>,
    /// I/O by purpose.
    pub io: BTreeMap<String, IoCount>,
    /// Statements that waited long.
    pub stalls: Stalls,
    /// Latency of statements that insert.
    pub latency_us: Latency,
    /// Latency of statements that delete; absent if none ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delete_latency_us: Option<Latency>,
    /// Latency of queries; absent if none ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_latency_us: Option<Latency>,
}

/// The run as a whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Rows inserted.
    pub rows: u64,
    /// `rows` divided by the scale.
    pub rows_full_scale: u64,
    /// Rows deleted.
    pub deletes: u64,
    /// Queries completed.
    pub queries: u64,
    /// Virtual time of the run in seconds.
    pub virtual_s: f64,
    /// `virtual_s` divided by the scale.
    pub virtual_s_full_scale: f64,
    /// Virtual time of all clients together in seconds: what the shares of `time` are shares of.
    pub client_s: f64,
    /// Rows inserted per virtual second.
    pub rows_per_s_mean: f64,
    /// Pages read from the data files per row inserted.
    pub reads_per_row_mean: f64,
    /// Pages written to the data files per row inserted.
    pub writes_per_row_mean: f64,
    /// Pages read by queries per query; absent without queries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads_per_query_mean: Option<f64>,
    /// Bytes read from the data files per row inserted.
    pub read_bytes_per_row_mean: f64,
    /// Bytes written to the data files per row inserted.
    pub write_bytes_per_row_mean: f64,
    /// Redo log bytes per row inserted; absent without a redo log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redo_bytes_per_row_mean: Option<f64>,
    /// Page requests that the buffer pool answered itself, as a share from 0 to 1; 1 if none came.
    pub hit_ratio_mean: f64,
    /// Pages that were split.
    pub splits: u64,
    /// Pages that were joined with a neighbour.
    pub coalesces: u64,
    /// Absent if the engine has no change buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_buffer: Option<ChangeBuffer>,
    /// Operations on single indexes that the run simulated.
    pub index_operations: u64,
    /// Share of the clients' time by cause.
    pub time: BTreeMap<String, f64>,
    /// I/O by purpose, as the engine asked for it.
    pub io: BTreeMap<String, IoCount>,
    /// I/O by device (`data`, `log`), as the device counted it.
    pub device: BTreeMap<String, DeviceTotal>,
    /// Statements that waited long.
    pub stalls: Stalls,
    /// Latency of statements that insert.
    pub latency_us: Latency,
    /// Latency of statements that delete; absent if none ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delete_latency_us: Option<Latency>,
    /// Latency of queries; absent if none ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_latency_us: Option<Latency>,
}

/// Pages of one index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageCounts {
    /// Pages that hold entries.
    pub leaf: u64,
    /// Pages above the leaves.
    pub internal: u64,
}

/// The change buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeBuffer {
    /// State: entries that wait.
    pub entries: u64,
    /// State: pages of its tree.
    pub pages: u64,
    /// Leaf pages that entries were merged into.
    pub merges: u64,
    /// Changes merged.
    pub merged_entries: u64,
    /// Those of them that marked an entry as deleted.
    #[serde(default)]
    pub merged_delete_marks: u64,
    /// Those of them that removed an entry.
    #[serde(default)]
    pub merged_deletes: u64,
    /// Pages of its tree that were split.
    #[serde(default)]
    pub splits: u64,
    /// Pages of its tree that were joined with a neighbour.
    #[serde(default)]
    pub joins: u64,
}

/// What waits for the purge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// State: transactions, `InnoDB`'s history list length.
    pub transactions: u64,
    /// State: rows that they have deleted.
    pub rows: u64,
    /// State: pages of the undo log.
    pub undo_pages: u64,
}

/// The messages of a fractal tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Messages {
    /// State: messages above the leaves.
    pub pending: u64,
    /// Messages put into a root.
    pub injected: u64,
    /// Times that messages moved from a node to its child.
    pub flushes: u64,
}

/// I/O of one purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoCount {
    /// Requests to the device.
    pub requests: u64,
    /// Pages moved.
    pub pages: u64,
    /// Bytes moved.
    pub bytes: u64,
}

/// What one device was asked to do, by its own count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceTotal {
    /// Read requests.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Write requests.
    pub writes: u64,
    /// Bytes written; copies of mirrors are not counted.
    pub write_bytes: u64,
    /// Syncs.
    #[serde(default)]
    pub syncs: u64,
    /// Virtual time its servers worked in seconds, summed over the servers.
    pub busy_s: f64,
}

/// Periods of at least one second times the scale in which no row was completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stalls {
    /// How many there were.
    pub count: u64,
    /// The longest in milliseconds; 0 if there was none.
    pub longest_ms: f64,
    /// Mean time from the start of one to the start of the next in milliseconds; absent if there
    /// were fewer than two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spacing_ms: Option<f64>,
}

/// Percentiles of the latency of statements of one kind in microseconds of virtual time; all 0 if
/// none was completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Median.
    pub p50: f64,
    /// 99 of 100 were at most this.
    pub p99: f64,
    /// 999 of 1,000 were at most this.
    pub p999: f64,
    /// The longest.
    pub max: f64,
}
