//! A plain B+tree engine with `InnoDB`'s record, page, split and allocation rules.
//!
//! Leaves hold the row numbers of their entries, unsorted; keys are recomputed from the key
//! source when a split, a scan or a check needs them. Everything that decides how many pages there
//! are and which of them an operation touches is exact; the bytes of the records exist only as
//! arithmetic ([`PageFormat`]).
//!
//! [`BTree`] is the engine, [`TreeConfig`] its rules. A benchmark of your own needs a machine, the
//! columns of the indexes and a key stream:
//!
//! ```
//! use btree::{BTree, PageFormat, SpaceConfig, SplitPolicy, TreeConfig};
//! use cost_model::device::DeviceSpec;
//! use cost_model::{
//!     Bytes, Machine, MachineConfig, MakeYoung, Margin, MarginCounts, Neighbours, PoolConfig,
//!     Purpose, SimDuration, SimThread, SimTime,
//! };
//! use index::{IndexEngine, IndexId, IndexShape, Key, KeySource, RowId};
//!
//! /// Orders by customer: row n belongs to customer 7919 n modulo 10,007.
//! struct Orders;
//!
//! impl Orders {
//!     fn column(index: IndexId, row: RowId) -> u64 {
//!         if index == IndexId::PRIMARY { row.0 } else { row.0 * 7_919 % 10_007 }
//!     }
//! }
//!
//! impl KeySource for Orders {
//!     fn key(&self, index: IndexId, row: RowId) -> Key {
//!         Key(u128::from(Self::column(index, row)) << 64 | u128::from(row.0))
//!     }
//!
//!     fn lower_bound(&self, index: IndexId, row: RowId, columns: u32) -> Key {
//!         if columns == 0 { Key::MIN } else { Key(u128::from(Self::column(index, row)) << 64) }
//!     }
//! }
//!
//! let shape = |name: &str, clustered, entry_bytes, key_bytes| IndexShape {
//!     name: name.to_owned(),
//!     clustered,
//!     entry_bytes,
//!     key_bytes,
//!     nullable_columns: 0,
//!     variable_columns: 0,
//! };
//! let shapes = [shape("PRIMARY", true, 100, 8), shape("customer", false, 16, 16)];
//! let rules = TreeConfig {
//!     format: PageFormat::INNODB,
//!     space: SpaceConfig::INNODB,
//!     split: SplitPolicy::InnoDb,
//!     sibling_reads: true,
//!     join_right: false,
//!     redo: None, // no log
//!     undo: None, // deletes remove entries at once
//!     seed: 1,
//! };
//! let pool = PoolConfig {
//!     frames: 100,
//!     instances: 1,
//!     old_fraction: 0.375,
//!     old_len_min: 80,
//!     old_blocks_ms: 0,
//!     young_distance: 0.25,
//!     make_young: MakeYoung::Any,
//!     reads_check_bitmap: false,
//!     margin: Margin { scan: 20, low: 8, high: 16, counts: MarginCounts::FreeAndClean },
//!     neighbours: Neighbours::Area,
//!     area_pages: 64,
//! };
//! let config = MachineConfig::new(DeviceSpec::Null, pool); // counts pages; takes no time
//!
//! let rows = 100_000;
//! let mut machine = Machine::new(config, 1);
//! let mut client = SimThread::new(SimTime::ZERO);
//! let mut tree = BTree::new(rules, &shapes, Orders, rows, &mut machine, &mut client);
//! for row in (0..rows).map(RowId) {
//!     for index in [IndexId(0), IndexId(1)] {
//!         while tree.insert(&mut machine, &mut client, index, row).is_err() {}
//!         machine.release(&mut client);
//!     }
//! }
//!
//! // The rows arrive in order of the primary key: 15/16 of a page are 128 rows.
//! assert_eq!(tree.stats(IndexId::PRIMARY).leaf_pages, 782);
//! // The customers do not: of their 200 leaves half are in the pool, so half the rows read one.
//! let reads = machine.io().get(Purpose::LeafRead).pages as f64 / rows as f64;
//! assert!((0.45..0.55).contains(&reads), "{reads} reads per row");
//! ```

mod coalesce;
mod delete;
mod directory;
mod engine;
mod format;
mod insert;
mod layer;
mod node;
mod pages;
mod redo;
mod scan;
mod space;
mod split;
mod tree;
mod truncate;
mod undo;
mod verify;

pub use coalesce::partner;
pub use engine::{BTree, TreeConfig};
pub use format::PageFormat;
pub use layer::{Leaf, OtherSegment};
pub use redo::RedoFormat;
pub use space::SpaceConfig;
pub use split::{Split, SplitPolicy, is_sequential};
pub use undo::{Next, UndoConfig};
