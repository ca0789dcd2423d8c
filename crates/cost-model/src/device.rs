//! Storage devices: what one request costs, and what many at once wait for.
//!
//! A device is built from spindles, channels and links, each a station of its own. How many
//! requests a second it delivers at a queue depth is nowhere written down: it comes out of the
//! stations, and [`probe`] measures it as a load generator would.
//!
//! ```
//! use cost_model::device::{Device, DeviceSpec, IoOp, IoRequest, SsdSpec};
//! use cost_model::{Bytes, SimDuration, SimTime};
//!
//! let spec = DeviceSpec::Ssd(SsdSpec {
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
//! let mut device = Device::new(&spec, 1);
//! let read = IoRequest { op: IoOp::Read, offset: 0, len: 16_384 };
//! let done = device.submit(SimTime::ZERO, read);
//! assert_eq!(done.as_ns(), 132_768); // 16 KiB at 500 MB/s, then 100 us on a channel
//! ```

mod backlog;
mod hdd;
mod probe;
mod queue;
mod raid;
mod spindle;
mod ssd;
mod volumes;

pub use hdd::HddSpec;
pub use probe::{DepthPoint, PROBE_DEPTHS, ProbeReport, probe};
pub use raid::Raid;
pub use ssd::SsdSpec;
pub use volumes::{Tail, VolumeSpec};

use crate::{Bytes, SimDuration, SimTime};
use hdd::HddArray;
use ssd::SsdDrive;
use volumes::VolumeArray;

/// The part of the machine whose random numbers these are.
const DRAW_PART: u64 = u64::from_be_bytes(*b"\0\0device");

/// Whether a request reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoOp {
    /// Data travels from the device.
    Read,
    /// Data travels to the device.
    Write,
}

/// One request: a contiguous run of bytes of the device's address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoRequest {
    /// Read or write.
    pub op: IoOp,
    /// First byte.
    pub offset: u64,
    /// Length in bytes, at least 1.
    pub len: u64,
}

/// What a device is made of: plain data, as a machine file states it.
#[derive(Clone, Debug, PartialEq)]
pub enum DeviceSpec {
    /// One disk or an array of disks behind a controller.
    Hdd(HddSpec),
    /// One solid-state drive.
    Ssd(SsdSpec),
    /// Volumes reached over a shared network link.
    Volumes(VolumeSpec),
    /// A device that does everything at once: for RAM disks and tests of counts.
    Null,
}

impl DeviceSpec {
    /// Whether the operating system takes it for one that turns; volumes are taken for such.
    pub const fn turns(&self) -> bool {
        matches!(self, Self::Hdd(_) | Self::Volumes(_))
    }

    /// Whether a device can be built from this.
    ///
    /// # Errors
    /// The first rule that the spec breaks, as a sentence for the user.
    pub fn check(&self) -> Result<(), &'static str> {
        match self {
            Self::Hdd(spec) => spec.check(),
            Self::Ssd(spec) => spec.check(),
            Self::Volumes(spec) => spec.check(),
            Self::Null => Ok(()),
        }
    }
}

/// What a device has done so far, counted by the device itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceTotals {
    /// Read requests received.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Write requests received.
    pub writes: u64,
    /// Bytes written, mirrors not counted.
    pub write_bytes: u64,
    /// Syncs received.
    pub syncs: u64,
    /// Requests the spindles, channels or volumes served: stripes, mirrors and destages counted,
    /// writes joined in the cache counted once.
    pub station_requests: u64,
    /// Time the spindles, channels or volumes were given to work, summed over them.
    pub station_busy: SimDuration,
    /// Time the shared interface or network link was given to work.
    pub interface_busy: SimDuration,
    /// Runs of a read that the write cache still held.
    pub cache_hits: u64,
    /// Writes that had to wait for room in the write cache.
    pub cache_waits: u64,
}

/// A simulated device in virtual time.
#[derive(Clone, Debug)]
pub struct Device {
    kind: Kind,
    received: DeviceTotals,
    last_arrival: SimTime,
    largest_request: Bytes,
}

#[derive(Clone, Debug)]
enum Kind {
    Hdd(HddArray),
    Ssd(SsdDrive),
    Volumes(VolumeArray),
    Null,
}

impl Device {
    /// An idle device; its service times are drawn from `seed`.
    ///
    /// The spec must pass [`DeviceSpec::check`]; this panics otherwise.
    pub fn new(spec: &DeviceSpec, seed: u64) -> Self {
        if let Err(rule) = spec.check() {
            panic!("not a device: {rule}");
        }
        let (kind, largest_request) = match spec {
            DeviceSpec::Hdd(spec) => (Kind::Hdd(HddArray::new(spec, seed)), spec.max_request),
            DeviceSpec::Ssd(spec) => (Kind::Ssd(SsdDrive::new(spec, seed)), spec.max_request),
            DeviceSpec::Volumes(spec) => {
                (Kind::Volumes(VolumeArray::new(spec, seed)), spec.max_request)
            }
            DeviceSpec::Null => (Kind::Null, Bytes::new(u64::MAX)),
        };
        Self {
            kind,
            received: DeviceTotals::default(),
            last_arrival: SimTime::ZERO,
            largest_request,
        }
    }

    /// Takes a request at `now`; returns when the caller sees it completed. A cached write is
    /// completed when it is in the cache.
    ///
    /// Requests and syncs must arrive in time order.
    #[inline]
    pub fn submit(&mut self, now: SimTime, request: IoRequest) -> SimTime {
        self.arrive(now);
        debug_assert!(0 < request.len, "a request without bytes");
        match request.op {
            IoOp::Read => {
                self.received.reads += 1;
                self.received.read_bytes += request.len;
            }
            IoOp::Write => {
                self.received.writes += 1;
                self.received.write_bytes += request.len;
            }
        }
        match &mut self.kind {
            Kind::Hdd(array) => array.submit(now, request),
            Kind::Ssd(drive) => drive.submit(now, request),
            Kind::Volumes(array) => array.submit(now, request),
            Kind::Null => now,
        }
    }

    /// Flushes at `now` what the caller has written, the last of it done at `after`; returns when
    /// it is durable.
    pub fn sync(&mut self, now: SimTime, after: SimTime) -> SimTime {
        self.arrive(now);
        self.received.syncs += 1;
        let written = now.max(after);
        match &mut self.kind {
            Kind::Hdd(array) => array.sync(written),
            Kind::Ssd(drive) => drive.sync(written),
            Kind::Volumes(array) => array.sync(written),
            Kind::Null => written,
        }
    }

    /// The device's own count of what it received and what its parts did.
    pub fn totals(&self) -> DeviceTotals {
        let mut totals = self.received;
        match &self.kind {
            Kind::Hdd(array) => array.count(&mut totals),
            Kind::Ssd(drive) => drive.count(&mut totals),
            Kind::Volumes(array) => array.count(&mut totals),
            Kind::Null => {}
        }
        totals
    }

    /// The largest request that one part of the device takes whole. Larger ones are welcome: the
    /// device splits them.
    pub fn largest_request(&self) -> Bytes {
        self.largest_request
    }

    /// Spindles, channels or volumes: busy time / (stations x elapsed time) is their utilisation.
    pub fn stations(&self) -> usize {
        match &self.kind {
            Kind::Hdd(array) => array.stations(),
            Kind::Ssd(drive) => drive.stations(),
            Kind::Volumes(array) => array.stations(),
            Kind::Null => 0,
        }
    }

    fn arrive(&mut self, now: SimTime) {
        debug_assert!(
            self.last_arrival <= now,
            "requests must arrive in time order: {} ns after {} ns",
            now.as_ns(),
            self.last_arrival.as_ns()
        );
        self.last_arrival = now;
    }
}

/// A speed as the time of one byte, so that a transfer costs one multiplication.
#[derive(Clone, Copy, Debug)]
struct Rate {
    ns_per_byte: f64,
}

impl Rate {
    fn new(bytes_per_s: u64) -> Self {
        Self { ns_per_byte: 1e9 / bytes_per_s as f64 }
    }

    #[inline]
    fn time(self, bytes: u64) -> SimDuration {
        // To the nearest: `f64::round` is a call of the maths library on most processors.
        let ns = bytes as f64 * self.ns_per_byte;
        let whole = ns as u64;
        SimDuration::from_ns(whole + u64::from(0.5 <= ns - whole as f64))
    }
}

/// `Err(rule)` unless the rule holds.
fn require(holds: bool, rule: &'static str) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(rule) }
}
