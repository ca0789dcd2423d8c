//! A message-buffered tree with the rules of `TokuDB` and `PerconaFT`.
//!
//! A change is a message: a row number and two bits, put into a buffer of an internal node. Full
//! nodes flush their heaviest buffer one level down, and leaves take messages by the thousand.
//! How far down a message goes at once, who flushes, what a query does with messages on its way
//! and which node leaves the cache differ by version and are settings ([`FractalConfig`]).
//!
//! Node limits, buffers and the cache count bytes on three scales (serialized, in a buffer, in
//! memory); all of them are arithmetic on counts of row numbers. Keys are recomputed from the
//! [`KeySource`](index::KeySource) when a message is routed, a leaf split or a range scanned.
//!
//! [`FractalTree`] is the engine. A benchmark of your own needs a machine, the columns of the
//! indexes and a key stream:
//!
//! ```
//! use cost_model::device::DeviceSpec;
//! use cost_model::{
//!     Machine, MachineConfig, MakeYoung, Margin, MarginCounts, Neighbours, NodeCacheConfig,
//!     PoolConfig, Replacement, SimThread, SimTime,
//! };
//! use fractal_tree::{
//!     EdgeSplit, Flushing, FractalConfig, FractalPrices, FractalTree, NodeFormat, Promotion,
//!     QueryRule, RangeReads,
//! };
//! use index::{IndexEngine, IndexId, IndexShape, Key, KeySource, RowId};
//!
//! /// Orders by customer: row n belongs to customer 7919 n modulo 10,007.
//! struct Orders;
//!
//! impl KeySource for Orders {
//!     fn key(&self, _: IndexId, row: RowId) -> Key {
//!         Key(u128::from(row.0 * 7_919 % 10_007) << 64 | u128::from(row.0))
//!     }
//!
//!     fn lower_bound(&self, index: IndexId, row: RowId, columns: u32) -> Key {
//!         if columns == 0 { Key::MIN } else { Key(self.key(index, row).0 >> 64 << 64) }
//!     }
//! }
//!
//! let customer = IndexShape {
//!     name: "customer".to_owned(),
//!     clustered: false,
//!     entry_bytes: 16,
//!     key_bytes: 16,
//!     nullable_columns: 0,
//!     variable_columns: 0,
//! };
//! let rules = FractalConfig {
//!     node_bytes: 64 << 10,
//!     basement_bytes: 8 << 10,
//!     fanout: 16,
//!     promotion: Promotion::Flow,
//!     flushing: Flushing::Background,
//!     queries: QueryRule::Apply,
//!     range_reads: RangeReads::Ahead,
//!     edge_split: EdgeSplit::Uneven,
//!     delete_commits: true,
//!     delete_reads_row: true,
//!     format: NodeFormat::PERCONAFT,
//!     cache: NodeCacheConfig {
//!         bytes: 2 << 20,
//!         replacement: Replacement::Clock { initial: 3, saturation: 15 },
//!         wake_share: 1.1,
//!         resume_share: 1.25,
//!         sleep_share: 1.5,
//!         gap_bytes_max: 512 << 20,
//!         seed: 1,
//!     },
//!     partial_eviction: true,
//!     os_cache_bytes: None,
//!     checkpoint_period: None,
//!     cleaner: None,
//!     prices: FractalPrices::default(),
//!     flusher_threads: 8,
//!     writer_threads: 16,
//! };
//! # let pool = PoolConfig {
//! #     frames: 100,
//! #     instances: 1,
//! #     old_fraction: 0.0,
//! #     old_len_min: 80,
//! #     old_blocks_ms: 0,
//! #     young_distance: 0.0,
//! #     make_young: MakeYoung::Any,
//! #     reads_check_bitmap: false,
//! #     margin: Margin { scan: 0, low: 0, high: 0, counts: MarginCounts::FreeAndClean },
//! #     neighbours: Neighbours::None,
//! #     area_pages: 64,
//! # };
//! // Counts bytes; takes no time. The engine has a cache of nodes and does not use the pool.
//! let config = MachineConfig::new(DeviceSpec::Null, pool);
//!
//! let mut machine = Machine::new(config, 1);
//! let mut client = SimThread::new(SimTime::ZERO);
//! let mut tree = FractalTree::new(rules, &[customer], Orders, 300_000);
//! for row in (0..300_000).map(RowId) {
//!     while tree.insert(&mut machine, &mut client, IndexId(0), row).is_err() {}
//! }
//!
//! let counters = tree.counters(IndexId(0));
//! let batch = counters.flushed_messages[0] / counters.flushes[0];
//! assert!((150..350).contains(&batch), "{batch} messages reach a leaf together");
//! // Of the 7.5 MB of entries a quarter is in the cache. A B+tree would read 0.75 leaves a row.
//! let reads = counters.fetches[0] as f64 / 300_000.0;
//! assert!(reads < 0.01, "{reads} leaves read per row");
//! ```

mod checkpoint;
mod config;
mod counters;
mod engine;
mod evict;
mod flush;
mod leaf;
mod lists;
mod message;
mod node;
mod parts;
mod pivots;
mod pools;
mod reshape;
mod route;
mod scan;
mod sizes;
mod store;
mod verify;

pub use config::{
    Cleaner, EdgeSplit, Flushing, FractalConfig, FractalPrices, NodeFormat, NodeMemory, Promotion,
    QueryRule, RangeReads,
};
pub use counters::{ByHeight, TreeCounters};
pub use engine::FractalTree;
pub use message::ROWS_MAX;
pub use node::HEIGHT_MAX;
