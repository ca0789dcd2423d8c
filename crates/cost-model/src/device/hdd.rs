//! Arrays of spinning disks, with or without a battery-backed write cache.

use super::queue::DepthGain;
use super::raid::{Layout, Raid, Run, least_loaded};
use super::spindle::{Mechanics, Spindle};
use super::{DeviceTotals, IoOp, IoRequest, require};
use crate::{Bytes, Draw, SimDuration, SimTime};

/// A disk, or an array of equal disks.
#[derive(Clone, Debug, PartialEq)]
pub struct HddSpec {
    /// Disks.
    pub spindles: u32,
    /// How they hold the data.
    pub raid: Raid,
    /// Bytes on one disk before the next one follows.
    pub stripe: Bytes,
    /// Average seek with one request outstanding.
    pub seek: SimDuration,
    /// One full turn of the platter.
    pub rotation: SimDuration,
    /// Sustained media rate of one disk in bytes per second.
    pub transfer_bytes_per_s: u64,
    /// Positioning never falls below this share of seek + rotation, however deep the queue
    /// (0 to 1). With q requests outstanding it is floor + (1 - floor) / sqrt(q).
    pub queue_floor: f64,
    /// Requests one disk reorders at most.
    pub queue_max: u32,
    /// Durable write cache of the controller; 0 bytes: none, writes go to the platter.
    pub write_cache: Bytes,
    /// Cached writes that the controller gives one disk at a time: it takes them in the order of
    /// their places, with the gain of that depth, and reads have to queue with them.
    pub destage_depth: u32,
    /// Sync with a durable write cache; without one a sync waits for the platter instead.
    pub sync_latency: SimDuration,
    /// Seek between a file and the journal of its file system, which lies on the first disk: a
    /// sync without a durable cache also waits for the journal's commit record. It is written
    /// when the data is there, and its place comes under the head after a random part of a turn.
    pub journal_seek: Option<SimDuration>,
    /// Largest request a disk takes whole: a destage is at most this long. The pieces of a longer
    /// read or uncached write follow each other without positioning.
    pub max_request: Bytes,
}

impl HddSpec {
    pub(super) fn check(&self) -> Result<(), &'static str> {
        Layout::check(self.raid, self.spindles, self.stripe.get())?;
        require(SimDuration::ZERO < self.rotation, "a disk has to turn")?;
        require(0 < self.transfer_bytes_per_s, "a disk needs a transfer rate")?;
        require(0 < self.destage_depth, "a disk destages at least one write at a time")?;
        DepthGain::check(self.queue_floor, self.queue_max)?;
        require(Bytes::ZERO < self.max_request, "the largest request needs at least one byte")
    }
}

/// The simulated array.
#[derive(Clone, Debug)]
pub(super) struct HddArray {
    layout: Layout,
    mechanics: Mechanics,
    spindles: Vec<Spindle>,
    draw: Draw,
    cache: Option<WriteCache>,
    has_journal: bool,
}

/// The room in a durable write cache, counted in copies: a byte mirrored twice takes half its
/// room for each mirror that has not written it yet.
#[derive(Clone, Debug)]
struct WriteCache {
    capacity: u64,
    used: u64,
    /// The longest write admitted at once.
    piece_max: u64,
    /// Writes are admitted in order: none before this.
    admitted_at: SimTime,
    sync_latency: SimDuration,
    hits: u64,
    waits: u64,
}

impl HddArray {
    pub(super) fn new(spec: &HddSpec, seed: u64) -> Self {
        let layout = Layout::new(spec.raid, spec.spindles, spec.stripe.get());
        let cache = (Bytes::ZERO < spec.write_cache).then(|| WriteCache {
            capacity: spec.write_cache.get().saturating_mul(layout.mirrors() as u64),
            used: 0,
            piece_max: spec.max_request.min(spec.write_cache).get(),
            admitted_at: SimTime::ZERO,
            sync_latency: spec.sync_latency,
            hits: 0,
            waits: 0,
        });
        Self {
            layout,
            mechanics: Mechanics::new(spec),
            spindles: vec![Spindle::new(); spec.spindles as usize],
            draw: Draw::new(seed, super::DRAW_PART),
            cache,
            has_journal: spec.journal_seek.is_some(),
        }
    }

    #[inline]
    pub(super) fn submit(&mut self, now: SimTime, request: IoRequest) -> SimTime {
        match request.op {
            IoOp::Read => self.read(now, request),
            IoOp::Write if self.cache.is_some() => self.write_cached(now, request),
            IoOp::Write => self.write_through(now, request),
        }
    }

    /// With a durable cache an acknowledged write is safe. Without one the platter has it, and the
    /// journal's commit record follows.
    pub(super) fn sync(&mut self, written: SimTime) -> SimTime {
        match &self.cache {
            Some(cache) => written + cache.sync_latency,
            None if self.has_journal => self.commit_journal(written),
            None => written,
        }
    }

    fn commit_journal(&mut self, written: SimTime) -> SimTime {
        let spindles = &mut self.spindles[self.layout.members(0)];
        let record = |spindle: &mut Spindle| {
            spindle.commit_journal(&self.mechanics, &mut self.draw, written)
        };
        spindles.iter_mut().map(record).max().unwrap_or(written)
    }

    pub(super) fn count(&self, totals: &mut DeviceTotals) {
        for station in self.spindles.iter().map(Spindle::station) {
            totals.station_requests += station.served();
            totals.station_busy += station.busy();
        }
        if let Some(cache) = &self.cache {
            totals.cache_hits = cache.hits;
            totals.cache_waits = cache.waits;
        }
    }

    pub(super) fn stations(&self) -> usize {
        self.spindles.len()
    }

    #[inline]
    fn read(&mut self, now: SimTime, request: IoRequest) -> SimTime {
        let mut done = now;
        for run in self.layout.runs(request.offset, request.len) {
            if self.cache.is_some() {
                self.settle_set(now, run.set);
                if self.in_cache(run) {
                    continue;
                }
            }
            let spindle = self.choose_mirror(now, run);
            done = done.max(self.serve(spindle, now, IoOp::Read, run));
        }
        done
    }

    fn write_through(&mut self, now: SimTime, request: IoRequest) -> SimTime {
        let mut done = now;
        for run in self.layout.runs(request.offset, request.len) {
            for spindle in self.layout.members(run.set) {
                done = done.max(self.serve(spindle, now, IoOp::Write, run));
            }
        }
        done
    }

    #[inline]
    fn write_cached(&mut self, now: SimTime, request: IoRequest) -> SimTime {
        let end = request.offset + request.len;
        let mut offset = request.offset;
        let mut admitted = now;
        while offset < end {
            let (piece, at) = self.admit(now, end - offset);
            admitted = at;
            let mut added = 0;
            for run in self.layout.runs(offset, piece) {
                self.settle_set(admitted, run.set);
                for spindle in self.layout.members(run.set) {
                    added += self.spindles[spindle].cache(admitted, run.start, run.len);
                }
            }
            if let Some(cache) = &mut self.cache {
                cache.used += added;
            }
            offset += piece;
        }
        admitted
    }

    /// How much of a write is admitted next, and when there is room for it.
    ///
    /// A full cache runs the spindles ahead until enough has been destaged. Such a write has its
    /// place in the queue: reads that arrive while it waits come after the destages it waits for.
    #[inline]
    fn admit(&mut self, now: SimTime, len: u64) -> (u64, SimTime) {
        let mirrors = self.layout.mirrors() as u64;
        let Some(cache) = &mut self.cache else { return (len, now) };
        let piece = len.min(cache.piece_max);
        let mut clock = cache.admitted_at.max(now);
        if cache.capacity < cache.used + piece * mirrors {
            for spindle in &mut self.spindles {
                cache.used -= spindle.settle(&self.mechanics, &mut self.draw, clock);
            }
            let arrived = clock;
            while cache.capacity < cache.used + piece * mirrors {
                let Some(spindle) = self.spindles.iter_mut().min_by_key(|s| s.next_event()) else {
                    break;
                };
                clock = clock.max(spindle.next_event());
                cache.used -= spindle.step(&self.mechanics, &mut self.draw);
            }
            cache.waits += u64::from(arrived < clock);
            cache.admitted_at = clock;
        }
        (piece, clock)
    }

    #[inline]
    fn settle_set(&mut self, now: SimTime, set: usize) {
        let mut released = 0;
        for spindle in &mut self.spindles[self.layout.members(set)] {
            released += spindle.settle(&self.mechanics, &mut self.draw, now);
        }
        if let Some(cache) = &mut self.cache {
            cache.used -= released;
        }
    }

    /// Whether the write cache still holds the whole run, because a mirror has yet to write it.
    #[inline]
    fn in_cache(&mut self, run: Run) -> bool {
        let held = self.spindles[self.layout.members(run.set)]
            .iter()
            .any(|spindle| spindle.holds(run.start, run.len));
        if let Some(cache) = &mut self.cache {
            cache.hits += u64::from(held);
        }
        held
    }

    /// The mirror that stands at the run, else the one with the fewest requests, ties drawn.
    #[inline]
    fn choose_mirror(&mut self, now: SimTime, run: Run) -> usize {
        let members = self.layout.members(run.set);
        let spindles = &mut self.spindles;
        if members.len() == 1 {
            return members.start;
        }
        if let Some(member) = members.clone().find(|&m| spindles[m].continues(run.start)) {
            return member;
        }
        let loads = members.clone().map(|m| (m, spindles[m].load(now)));
        least_loaded(loads, &mut self.draw).unwrap_or(members.start)
    }

    #[inline]
    fn serve(&mut self, spindle: usize, now: SimTime, op: IoOp, run: Run) -> SimTime {
        let range = (run.start, run.len);
        self.spindles[spindle].serve(&self.mechanics, &mut self.draw, now, op, range)
    }
}
