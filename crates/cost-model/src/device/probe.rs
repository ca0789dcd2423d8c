//! What a device delivers by queue depth, measured on the device itself as a load generator
//! such as fio would report it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Device, DeviceSpec, IoOp, IoRequest};
use crate::{Bytes, Draw, SimDuration, SimTime};

/// The queue depths of a probe: requests kept outstanding.
pub const PROBE_DEPTHS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];

/// Requests measured at each depth.
const REQUESTS: u64 = 20_000;
/// Requests before the measurement starts.
const WARM_UP: u64 = 2_000;
/// Random requests fall into the first bytes of the device, as in a table of several hundred
/// million rows.
const SPAN: Bytes = Bytes::gib(128);
/// Sequential streams read and write in requests of this size ...
const STREAM_REQUEST: Bytes = Bytes::mib(1);
/// ... and keep as many outstanding as read-ahead or an asynchronous writer does.
const STREAM_DEPTH: u32 = 8;
/// Requests of a measured stream.
const STREAM_REQUESTS: u64 = 4_000;
/// Depth at which caches are filled and erased blocks used up before writes are measured.
const FILL_DEPTH: u32 = 16;
/// A log record's append: one sector.
const SECTOR: u64 = 512;
/// Appends measured.
const SYNCS: u64 = 2_000;
/// The probe's own random numbers.
const DRAW_PART: u64 = u64::from_be_bytes(*b"\0\0\0probe");

/// What a device delivers.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeReport {
    /// Size of the random requests.
    pub block: Bytes,
    /// Random reads, one point per depth of [`PROBE_DEPTHS`].
    pub reads: Vec<DepthPoint>,
    /// Sustained random writes at the same depths: caches full, erased blocks used up.
    pub writes: Vec<DepthPoint>,
    /// Random writes that an idle device acknowledges at once because its cache has room.
    pub burst_writes: u64,
    /// Sequential read in bytes per second.
    pub sequential_read_bytes_per_s: f64,
    /// Sustained sequential write in bytes per second.
    pub sequential_write_bytes_per_s: f64,
    /// 512-byte appends, each followed by a sync, of one committer per second.
    pub syncs_per_s: f64,
}

/// Closed-loop load at one queue depth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DepthPoint {
    /// Requests kept outstanding.
    pub depth: u32,
    /// Requests completed per second; infinite if the device takes no time.
    pub requests_per_s: f64,
    /// Mean time of a request.
    pub latency_mean: SimDuration,
    /// Time that 99 of 100 requests stay within.
    pub latency_p99: SimDuration,
}

/// Drives devices built from `spec` with random requests of `block` bytes (at least 1), streams and
/// syncs, each kind of load on a device of its own.
pub fn probe(spec: &DeviceSpec, seed: u64, block: Bytes) -> ProbeReport {
    ProbeReport {
        block,
        reads: random_reads(spec, seed, block),
        writes: random_writes(spec, seed, block),
        burst_writes: burst_writes(spec, seed, block),
        sequential_read_bytes_per_s: stream(spec, seed, IoOp::Read),
        sequential_write_bytes_per_s: stream(spec, seed, IoOp::Write),
        syncs_per_s: syncs_per_s(spec, seed),
    }
}

fn random_reads(spec: &DeviceSpec, seed: u64, block: Bytes) -> Vec<DepthPoint> {
    let mut load = Load::new(spec, seed);
    let mut offsets = RandomOffsets::new(seed, block);
    let points = PROBE_DEPTHS.into_iter().map(|depth| {
        load.run(depth, WARM_UP, || offsets.request(IoOp::Read));
        load.run(depth, REQUESTS, || offsets.request(IoOp::Read)).point(depth)
    });
    points.collect()
}

fn random_writes(spec: &DeviceSpec, seed: u64, block: Bytes) -> Vec<DepthPoint> {
    let mut load = Load::new(spec, seed);
    fill(&mut load, spec, seed, block);
    let mut offsets = RandomOffsets::new(seed, block);
    // The deepest first: a shallow load would win back what the filling used up.
    let points = PROBE_DEPTHS.into_iter().rev().map(|depth| {
        load.run(depth, WARM_UP, || offsets.request(IoOp::Write));
        load.run(depth, REQUESTS, || offsets.request(IoOp::Write)).point(depth)
    });
    let mut points: Vec<_> = points.collect();
    points.reverse();
    points
}

/// Random writes until the rate no longer depends on how the device was found.
fn fill(load: &mut Load, spec: &DeviceSpec, seed: u64, block: Bytes) {
    let (bytes, size) = match spec {
        DeviceSpec::Hdd(spec) => (spec.write_cache.get() * 4, block),
        DeviceSpec::Ssd(spec) => {
            let steady = spec.steady_write_bytes_per_s as f64;
            let surplus = spec.write_bytes_per_s as f64 - steady;
            let used_up = spec.steady_after.get() as f64 * (1.0 + steady / surplus);
            (if 0.0 < surplus { used_up as u64 } else { 0 }, spec.max_request)
        }
        DeviceSpec::Volumes(_) | DeviceSpec::Null => return,
    };
    let mut offsets = RandomOffsets::new(seed, size);
    let requests = bytes.div_ceil(size.get());
    load.run(FILL_DEPTH, requests, || offsets.request(IoOp::Write));
}

fn burst_writes(spec: &DeviceSpec, seed: u64, block: Bytes) -> u64 {
    let DeviceSpec::Hdd(disks) = spec else { return 0 };
    let mut device = Device::new(spec, seed);
    let mut offsets = RandomOffsets::new(seed, block);
    let room = disks.write_cache.whole(block);
    let at_once =
        |_: &u64| device.submit(SimTime::ZERO, offsets.request(IoOp::Write)) == SimTime::ZERO;
    (0..room).take_while(at_once).count() as u64
}

fn stream(spec: &DeviceSpec, seed: u64, op: IoOp) -> f64 {
    let mut load = Load::new(spec, seed);
    let len = STREAM_REQUEST.get();
    let mut offset = 0;
    let mut next = || {
        offset += len;
        IoRequest { op, offset: offset - len, len }
    };
    let cache = match spec {
        DeviceSpec::Hdd(spec) => spec.write_cache,
        _ => Bytes::ZERO,
    };
    load.run(STREAM_DEPTH, WARM_UP + 2 * cache.whole(STREAM_REQUEST), &mut next);
    load.run(STREAM_DEPTH, STREAM_REQUESTS, &mut next).per_s() * len as f64
}

fn syncs_per_s(spec: &DeviceSpec, seed: u64) -> f64 {
    let mut device = Device::new(spec, seed);
    let mut append = |now: SimTime, number: u64| {
        let request = IoRequest { op: IoOp::Write, offset: number * SECTOR, len: SECTOR };
        let written = device.submit(now, request);
        device.sync(written, written)
    };
    let start = append(SimTime::ZERO, 0);
    let end = (1..=SYNCS).fold(start, append);
    SYNCS as f64 / end.since(start).as_secs_f64()
}

/// Aligned random requests of one size.
struct RandomOffsets {
    draw: Draw,
    block: u64,
    blocks: u64,
}

impl RandomOffsets {
    fn new(seed: u64, block: Bytes) -> Self {
        let blocks = SPAN.whole(block).max(1);
        Self { draw: Draw::new(seed, DRAW_PART), block: block.get(), blocks }
    }

    fn request(&mut self, op: IoOp) -> IoRequest {
        IoRequest { op, offset: self.draw.below(self.blocks) * self.block, len: self.block }
    }
}

/// A device under closed-loop load: each completion is followed by the next request at once.
struct Load {
    device: Device,
    outstanding: BinaryHeap<Reverse<(SimTime, SimTime)>>,
    now: SimTime,
}

/// What happened to a number of requests.
struct Measured {
    elapsed: SimDuration,
    latencies: Vec<SimDuration>,
}

impl Load {
    fn new(spec: &DeviceSpec, seed: u64) -> Self {
        Self { device: Device::new(spec, seed), outstanding: BinaryHeap::new(), now: SimTime::ZERO }
    }

    /// Completes `requests` requests with `depth` outstanding, which stay so when it returns.
    fn run(&mut self, depth: u32, requests: u64, mut next: impl FnMut() -> IoRequest) -> Measured {
        let depth = depth as usize;
        while self.outstanding.len() < depth {
            self.submit(next());
        }
        while depth < self.outstanding.len() {
            if let Some(Reverse((done, _))) = self.outstanding.pop() {
                self.now = done;
            }
        }
        let start = self.now;
        let mut latencies = Vec::with_capacity(requests as usize);
        for _ in 0..requests {
            if let Some(Reverse((done, submitted))) = self.outstanding.pop() {
                self.now = done;
                latencies.push(done.since(submitted));
                self.submit(next());
            }
        }
        Measured { elapsed: self.now.since(start), latencies }
    }

    fn submit(&mut self, request: IoRequest) {
        let done = self.device.submit(self.now, request);
        self.outstanding.push(Reverse((done, self.now)));
    }
}

impl Measured {
    fn per_s(&self) -> f64 {
        self.latencies.len() as f64 / self.elapsed.as_secs_f64()
    }

    fn point(mut self, depth: u32) -> DepthPoint {
        let count = self.latencies.len();
        let requests_per_s = self.per_s();
        self.latencies.sort_unstable();
        let sum_ns: u64 = self.latencies.iter().map(|latency| latency.as_ns()).sum();
        DepthPoint {
            depth,
            requests_per_s,
            latency_mean: SimDuration::from_ns(sum_ns / count as u64),
            latency_p99: self.latencies[count * 99 / 100],
        }
    }
}
