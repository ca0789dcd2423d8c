//! The write path: redo log, commits, flush batches, checkpoints and background threads, through
//! the machine's public calls.

#[path = "write_path/adaptive.rs"]
mod adaptive;
#[path = "write_path/batches.rs"]
mod batches;
#[path = "write_path/checkpoints.rs"]
mod checkpoints;
#[path = "write_path/commits.rs"]
mod commits;
#[path = "write_path/latches.rs"]
mod latches;
#[path = "write_path/random.rs"]
mod random;
#[path = "write_path/rig.rs"]
mod rig;
