//! The model suite that every engine passes, and what tests of engines need: key streams,
//! machines, a run loop.
//!
//! [`Suite::run`] replays random operations on an engine with small pages and a small pool beside
//! a `BTreeMap` per index and compares every answer; [`exhaust`] does the same for every short
//! sequence of inserts and deletes. Both call `verify` on the engine and on the machine as they
//! go. Failures shrink to a short script, which [`replay`] makes a test of its own.

mod check;
mod exhaust;
mod keys;
mod machines;
mod model;
mod ops;
mod threads;

pub use check::{Suite, replay};
pub use exhaust::exhaust;
pub use keys::{KeyOrder, TestKeys};
pub use machines::{null_machine, one_disk, one_drive};
pub use model::Model;
pub use ops::{Op, scripts};
pub use threads::{finish, run_threads, scan};
