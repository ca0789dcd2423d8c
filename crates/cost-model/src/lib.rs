//! The simulated machine: virtual time, stations, devices, buffer pool, prices and ledgers.
//!
//! This crate knows no index. An engine asks it for pages and is charged for what it gets; see
//! [`Machine`] for the calls an engine makes and [`device`] for what the disks do.
//!
//! A structure of your own on the machine needs no more than page numbers. Here every fifth page
//! of a table is looked at twice, through a pool that holds a tenth of them:
//!
//! ```
//! use cost_model::device::{DeviceSpec, SsdSpec};
//! use cost_model::{
//!     Bytes, Cause, CpuPrices, Machine, MachineConfig, MakeYoung, Margin, MarginCounts,
//!     Neighbours, PageId, PoolConfig, Purpose, SimDuration, SimThread, SimTime, Step,
//! };
//!
//! let flash = DeviceSpec::Ssd(SsdSpec {
//!     channels: 8,
//!     read_latency: SimDuration::from_us(100),
//!     write_latency: SimDuration::from_us(90),
//!     sync_latency: SimDuration::from_us(20),
//!     read_bytes_per_s: 500_000_000,
//!     write_bytes_per_s: 400_000_000,
//!     steady_write_bytes_per_s: 400_000_000,
//!     steady_after: Bytes::ZERO,
//!     max_request: Bytes::kib(128),
//! });
//! let pool = PoolConfig {
//!     frames: 1_000,
//!     instances: 1,
//!     old_fraction: 0.0, // plain LRU
//!     old_len_min: 80,
//!     old_blocks_ms: 0,
//!     young_distance: 0.0,
//!     make_young: MakeYoung::Any,
//!     reads_check_bitmap: false,
//!     margin: Margin { scan: 0, low: 0, high: 0, counts: MarginCounts::FreeAndClean },
//!     neighbours: Neighbours::None,
//!     area_pages: 64,
//! };
//! let prices = CpuPrices { page_read: SimDuration::from_us(10), ..CpuPrices::default() };
//! let config = MachineConfig { prices, ..MachineConfig::new(flash, pool) };
//! let mut machine = Machine::new(config, 1);
//! let mut thread = SimThread::new(SimTime::ZERO);
//!
//! fn look(machine: &mut Machine, thread: &mut SimThread, page: PageId) -> Step {
//!     machine.begin(thread)?;
//!     let frame = machine.fetch(thread, page, Purpose::LeafRead)?;
//!     machine.touch(thread, frame);
//!     Ok(())
//! }
//!
//! for page in (0..10_000).step_by(5).map(PageId) {
//!     for _ in 0..2 {
//!         while look(&mut machine, &mut thread, page).is_err() {}
//!         machine.release(&mut thread);
//!     }
//! }
//!
//! let reads = machine.io().get(Purpose::LeafRead);
//! assert_eq!((reads.pages, machine.pool_stats().requests), (2_000, 4_000));
//! let waited = thread.time().get(Cause::Read) + thread.time().get(Cause::Cpu);
//! assert_eq!(thread.now().since(SimTime::ZERO), waited);
//! // A read is 133 us: 16 KiB over the interface and 100 us in the flash.
//! assert_eq!(waited.as_ns() / 2_000, 132_768);
//! ```

mod background;
pub mod device;
mod extents;
mod huge;
mod ids;
mod image_cache;
mod ledger;
mod machine;
mod node_cache;
mod os_cache;
mod os_writer;
mod pool;
mod redo;
mod rng;
mod station;
mod thread;
mod time;
mod units;

pub use background::{Adaptive, Background, BackgroundConfig, LogSync};
pub use extents::{Extent, Extents};
pub use huge::{HugeVec, prefetch};
pub use ids::{FrameId, PageId};
pub use image_cache::ImageCache;
pub use ledger::{Cause, IoCount, IoLedger, Purpose, TimeLedger};
pub use machine::{
    Binlog, CommitConfig, CpuPrices, Event, LogAtCommit, LruWriter, Machine, MachineConfig,
    ReadAheadConfig, SerialCommit, StoredRows, WriteBackConfig,
};
pub use node_cache::{NodeCache, NodeCacheConfig, Replacement, Victim};
pub use os_writer::{OsWriteConfig, OsWriter};
pub use pool::{MakeYoung, Margin, MarginCounts, Neighbours, PoolConfig, PoolStats};
pub use redo::{Lsn, RedoConfig, RedoStats};
pub use rng::{Draw, mix};
pub use station::Station;
pub use thread::{Blocked, SimThread, Step};
pub use time::{SimDuration, SimTime};
pub use units::Bytes;
