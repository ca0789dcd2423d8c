//! The contract all index engines meet: rows, keys, key sources, operations and statistics.
//!
//! This crate knows no engine and no workload.

mod engine;
mod estimate;
mod key;
mod partition;
mod row_set;
mod shape;
#[cfg(feature = "testkit")]
pub mod testkit;

pub use engine::{
    BufferStats, HistoryStats, IndexEngine, IndexStats, LevelStats, PageUse, Visitor,
};
pub use estimate::Estimate;
pub use key::{IndexId, Key, KeySource, RowId};
pub use partition::{Partitioned, Partitions};
pub use row_set::RowSet;
pub use shape::IndexShape;
