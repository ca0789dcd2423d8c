//! The simulated machine: virtual time, stations, devices, buffer pool, prices and ledgers.
//!
//! This crate knows no index. An engine asks it for pages and is charged for what it gets; see
//! [`Machine`] for the calls an engine makes and [`device`] for what the disks do.

pub mod device;
mod huge;
mod ids;
mod ledger;
mod machine;
mod os_cache;
mod pool;
mod rng;
mod station;
mod thread;
mod time;
mod units;

pub use huge::{HugeVec, prefetch};
pub use ids::{FrameId, PageId};
pub use ledger::{Cause, IoCount, IoLedger, Purpose, TimeLedger};
pub use machine::{CpuPrices, Event, Machine, MachineConfig};
pub use pool::{Margin, MarginCounts, Neighbours, PoolConfig, PoolStats};
pub use rng::Draw;
pub use station::Station;
pub use thread::{Blocked, SimThread, Step};
pub use time::{SimDuration, SimTime};
pub use units::Bytes;
