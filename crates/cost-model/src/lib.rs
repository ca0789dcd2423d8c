//! The simulated machine: virtual time, stations, devices, buffer pool, prices and ledgers.
//!
//! This crate knows no index. An engine asks it for pages and is charged for what it gets; see
//! [`Machine`] for the calls an engine makes and [`device`] for what the disks do.

pub mod device;
mod ids;
mod rng;
mod station;
mod time;
mod units;

pub use ids::{FrameId, PageId};
pub use rng::Draw;
pub use station::Station;
pub use time::{SimDuration, SimTime};
pub use units::Bytes;
