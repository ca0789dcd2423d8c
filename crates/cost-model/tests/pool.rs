//! The buffer pool's rules, through the machine's public calls.

#[path = "pool/ahead.rs"]
mod ahead;
#[path = "pool/flushing.rs"]
mod flushing;
#[path = "pool/frames.rs"]
mod frames;
#[path = "pool/midpoint.rs"]
mod midpoint;
#[path = "pool/rig.rs"]
mod rig;
