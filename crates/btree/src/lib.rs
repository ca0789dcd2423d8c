//! A plain B+tree engine with `InnoDB`'s record, page, split and allocation rules.
//!
//! Leaves hold the row numbers of their entries, unsorted; keys are recomputed from the key
//! source when a split, a scan or a check needs them. Everything that decides how many pages there
//! are and which of them an operation touches is exact; the bytes of the records exist only as
//! arithmetic ([`PageFormat`]).
//!
//! [`BTree`] is the engine, [`TreeConfig`] its rules.

mod coalesce;
mod engine;
mod format;
mod insert;
mod node;
mod pages;
mod scan;
mod space;
mod split;
mod tree;
mod verify;

pub use engine::{BTree, TreeConfig};
pub use format::PageFormat;
pub use space::SpaceConfig;
pub use split::SplitPolicy;
