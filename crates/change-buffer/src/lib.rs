//! The B+tree whose changes to leaves of secondary indexes may wait: `InnoDB`'s insert buffer,
//! later change buffer.
//!
//! A change whose leaf is not in the buffer pool goes to another B+tree instead, whose pages lie
//! in the same pool and mostly stay there. Whenever the leaf is read, for whatever reason, what
//! waits for it is merged. The crate `btree` does everything else.

mod buffer;
mod config;
mod contract;
mod engine;
mod merge;
mod pending;
mod runs;

pub use config::{BufferRedo, Buffered, ChangeBufferConfig, WhenFull};
pub use engine::ChangeBuffered;
