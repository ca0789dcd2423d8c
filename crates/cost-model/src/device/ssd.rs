//! Solid-state drives: channels behind one interface, and a limit on random overwriting.

use super::{DRAW_PART, DeviceTotals, IoOp, IoRequest, Rate, require};
use crate::{Bytes, Draw, SimDuration, SimTime, Station};

/// A solid-state drive.
#[derive(Clone, Debug, PartialEq)]
pub struct SsdSpec {
    /// Requests the flash serves at once.
    pub channels: u32,
    /// Time a read keeps its channel busy.
    pub read_latency: SimDuration,
    /// Time a write keeps its channel busy.
    pub write_latency: SimDuration,
    /// Sync of an idle drive.
    pub sync_latency: SimDuration,
    /// The interface when it carries reads, in bytes per second.
    pub read_bytes_per_s: u64,
    /// The interface when it carries writes, in bytes per second.
    pub write_bytes_per_s: u64,
    /// Random writes in the long run, when every write must be paid for with erased blocks, in
    /// bytes per second. At or above the write rate there is no limit.
    pub steady_write_bytes_per_s: u64,
    /// Random writes beyond the steady rate that erased blocks absorb; they are won back at the
    /// steady rate.
    pub steady_after: Bytes,
    /// Largest request one channel takes whole.
    pub max_request: Bytes,
}

impl SsdSpec {
    pub(super) fn check(&self) -> Result<(), &'static str> {
        require((1..=1_024).contains(&self.channels), "a drive has 1 to 1024 channels")?;
        require(0 < self.read_bytes_per_s, "a drive needs a read rate")?;
        require(0 < self.write_bytes_per_s, "a drive needs a write rate")?;
        require(0 < self.steady_write_bytes_per_s, "a drive needs a steady write rate")?;
        require(Bytes::ZERO < self.max_request, "the largest request needs at least one byte")
    }
}

/// The simulated drive.
///
/// A request crosses the interface, then its piece occupies a channel drawn at random, so few
/// requests meet by chance and many keep all channels busy. The interface is charged when a
/// request arrives, for reads too: at which end the transfer sits changes no rate.
#[derive(Clone, Debug)]
pub(super) struct SsdDrive {
    interface: Station,
    channels: Vec<Station>,
    read_latency: SimDuration,
    write_latency: SimDuration,
    sync_latency: SimDuration,
    read_rate: Rate,
    write_rate: Rate,
    piece_max: u64,
    erased: ErasedBlocks,
    draw: Draw,
}

/// A token bucket in virtual time: erased space is used by random writes and won back at a fixed
/// rate.
#[derive(Clone, Debug)]
struct ErasedBlocks {
    rate: Rate,
    /// Time it takes to win back all of it.
    depth: SimDuration,
    /// When all of it will have been won back.
    full_at: SimTime,
    /// End of the last write: what continues there is sequential and overwrites whole blocks.
    write_end: u64,
}

impl SsdDrive {
    pub(super) fn new(spec: &SsdSpec, seed: u64) -> Self {
        Self {
            interface: Station::new(1),
            channels: vec![Station::new(1); spec.channels as usize],
            read_latency: spec.read_latency,
            write_latency: spec.write_latency,
            sync_latency: spec.sync_latency,
            read_rate: Rate::new(spec.read_bytes_per_s),
            write_rate: Rate::new(spec.write_bytes_per_s),
            piece_max: spec.max_request.get(),
            erased: ErasedBlocks::new(spec.steady_write_bytes_per_s, spec.steady_after),
            draw: Draw::new(seed, DRAW_PART),
        }
    }

    #[inline]
    pub(super) fn submit(&mut self, now: SimTime, request: IoRequest) -> SimTime {
        let (rate, latency) = match request.op {
            IoOp::Read => (self.read_rate, self.read_latency),
            IoOp::Write => (self.write_rate, self.write_latency),
        };
        let done = self.transfer(now, request.len, rate, latency);
        match request.op {
            IoOp::Read => done,
            IoOp::Write => done.max(self.erased.write(now, request, self.piece_max)),
        }
    }

    pub(super) fn sync(&self, written: SimTime) -> SimTime {
        written + self.sync_latency
    }

    pub(super) fn count(&self, totals: &mut DeviceTotals) {
        for channel in &self.channels {
            totals.station_requests += channel.served();
            totals.station_busy += channel.busy();
        }
        totals.interface_busy = self.interface.busy();
    }

    pub(super) fn stations(&self) -> usize {
        self.channels.len()
    }

    /// Spreads the pieces of a request over neighbouring channels.
    #[inline]
    fn transfer(&mut self, now: SimTime, len: u64, rate: Rate, latency: SimDuration) -> SimTime {
        let mut channel = self.draw.below(self.channels.len() as u64) as usize;
        let mut rest = len;
        let mut done = now;
        while 0 < rest {
            let piece = rest.min(self.piece_max);
            let crossed = self.interface.submit(now, rate.time(piece));
            done = done.max(self.channels[channel].submit(crossed, latency));
            channel = if channel + 1 < self.channels.len() { channel + 1 } else { 0 };
            rest -= piece;
        }
        done
    }
}

impl ErasedBlocks {
    fn new(bytes_per_s: u64, bytes: Bytes) -> Self {
        let rate = Rate::new(bytes_per_s);
        let depth = rate.time(bytes.get());
        Self { rate, depth, full_at: SimTime::ZERO, write_end: u64::MAX }
    }

    /// Pays for a write; returns when there is erased space for it. Only the first piece of a
    /// request can be random, the others continue it.
    #[inline]
    fn write(&mut self, now: SimTime, request: IoRequest, piece_max: u64) -> SimTime {
        let sequential = request.offset == self.write_end;
        self.write_end = request.offset + request.len;
        if sequential {
            return now;
        }
        self.full_at = self.full_at.max(now) + self.rate.time(request.len.min(piece_max));
        let owed = self.full_at.since(now);
        if owed <= self.depth { now } else { now + (owed - self.depth) }
    }
}
