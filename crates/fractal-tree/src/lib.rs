//! A message-buffered tree with the rules of `TokuDB` and `PerconaFT`.

mod config;
mod counters;
mod engine;
mod flush;
mod leaf;
mod lists;
mod message;
mod node;
mod reshape;
mod route;
mod row_set;
mod scan;
mod sizes;
mod store;
mod verify;

pub use config::{
    Cleaner, EdgeSplit, Flushing, FractalConfig, FractalPrices, NodeFormat, Promotion, QueryRule,
};
pub use counters::{ByHeight, TreeCounters};
pub use engine::FractalTree;
pub use message::ROWS_MAX;
pub use node::HEIGHT_MAX;
