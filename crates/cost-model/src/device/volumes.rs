//! Volumes of a storage network: each slow in its own way, all behind one link.

use super::queue::{DepthGain, Queue};
use super::raid::{Layout, Raid, Run, least_loaded};
use super::{DRAW_PART, DeviceTotals, IoOp, IoRequest, Rate, require};
use crate::{Bytes, Draw, SimDuration, SimTime, Station};

/// How the service times of a volume scatter around their mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// Not at all.
    Fixed,
    /// Exponentially: a mirrored write waits for the slower of two such draws.
    Exponential,
}

/// An array of networked volumes.
#[derive(Clone, Debug, PartialEq)]
pub struct VolumeSpec {
    /// Volumes.
    pub volumes: u32,
    /// How they hold the data.
    pub raid: Raid,
    /// Bytes on one volume before the next one follows.
    pub stripe: Bytes,
    /// Mean time a volume needs for a request before it transfers, with one outstanding.
    pub service: SimDuration,
    /// How that time scatters.
    pub tail: Tail,
    /// Transfer rate of one volume in bytes per second.
    pub transfer_bytes_per_s: u64,
    /// Share of the service time that a deep queue leaves (0 to 1). With q requests outstanding
    /// it is floor + (1 - floor) / sqrt(q).
    pub queue_floor: f64,
    /// Requests one volume reorders at most.
    pub queue_max: u32,
    /// The link that all volumes share, both directions together, in bytes per second.
    pub link_bytes_per_s: u64,
    /// How often a byte written to one volume crosses the link: 1 unless the volumes are
    /// replicated from this side. RAID mirrors are volumes of their own and cross it anyway.
    pub copies: u32,
    /// One volume (its number from 0) whose service takes this many times as long.
    pub slow_volume: Option<(u32, f64)>,
    /// Sync after the last write has completed.
    pub sync_latency: SimDuration,
    /// Largest request a volume takes: a longer run is several requests, each with a service
    /// time of its own.
    pub max_request: Bytes,
}

impl VolumeSpec {
    pub(super) fn check(&self) -> Result<(), &'static str> {
        Layout::check(self.raid, self.volumes, self.stripe.get())?;
        require(0 < self.transfer_bytes_per_s, "a volume needs a transfer rate")?;
        require(0 < self.link_bytes_per_s, "the link needs a transfer rate")?;
        DepthGain::check(self.queue_floor, self.queue_max)?;
        require(0 < self.copies, "a written byte crosses the link at least once")?;
        require(Bytes::ZERO < self.max_request, "the largest request needs at least one byte")?;
        match self.slow_volume {
            Some((volume, factor)) => {
                require(volume < self.volumes, "the slow volume is not one of the array")?;
                require(factor.is_finite() && 0.0 < factor, "the slow factor must be positive")
            }
            None => Ok(()),
        }
    }
}

/// The simulated array.
///
/// A request crosses the link, then waits for its volume. The link is charged when a request
/// arrives, for reads too: at which end the transfer sits changes no rate.
#[derive(Clone, Debug)]
pub(super) struct VolumeArray {
    layout: Layout,
    link: Station,
    volumes: Vec<Volume>,
    tail: Tail,
    gain: DepthGain,
    rate: Rate,
    link_rate: Rate,
    copies: u64,
    sync_latency: SimDuration,
    piece_max: u64,
    draw: Draw,
}

#[derive(Clone, Debug)]
struct Volume {
    queue: Queue,
    service: SimDuration,
}

impl VolumeArray {
    pub(super) fn new(spec: &VolumeSpec, seed: u64) -> Self {
        let service = |volume: u32| match spec.slow_volume {
            Some((slow, factor)) if slow == volume => spec.service.scaled(factor),
            _ => spec.service,
        };
        let volume = |number| Volume { queue: Queue::new(), service: service(number) };
        Self {
            layout: Layout::new(spec.raid, spec.volumes, spec.stripe.get()),
            link: Station::new(1),
            volumes: (0..spec.volumes).map(volume).collect(),
            tail: spec.tail,
            gain: DepthGain::new(spec.queue_floor, spec.queue_max),
            rate: Rate::new(spec.transfer_bytes_per_s),
            link_rate: Rate::new(spec.link_bytes_per_s),
            copies: u64::from(spec.copies),
            sync_latency: spec.sync_latency,
            piece_max: spec.max_request.get(),
            draw: Draw::new(seed, DRAW_PART),
        }
    }

    pub(super) fn submit(&mut self, now: SimTime, request: IoRequest) -> SimTime {
        let mut done = now;
        for run in self.layout.runs(request.offset, request.len) {
            let mut start = run.start;
            while start < run.start + run.len {
                let len = self.piece_max.min(run.start + run.len - start);
                let piece = Run { set: run.set, start, len };
                done = done.max(match request.op {
                    IoOp::Read => self.read(now, piece),
                    IoOp::Write => self.write(now, piece),
                });
                start += len;
            }
        }
        done
    }

    pub(super) fn sync(&self, written: SimTime) -> SimTime {
        written + self.sync_latency
    }

    pub(super) fn count(&self, totals: &mut DeviceTotals) {
        for station in self.volumes.iter().map(|volume| volume.queue.station()) {
            totals.station_requests += station.served();
            totals.station_busy += station.busy();
        }
        totals.interface_busy = self.link.busy();
    }

    pub(super) fn stations(&self) -> usize {
        self.volumes.len()
    }

    fn read(&mut self, now: SimTime, piece: Run) -> SimTime {
        let volume = self.choose_mirror(now, piece.set);
        let crossed = self.link.submit(now, self.link_rate.time(piece.len));
        self.serve(volume, crossed, piece.len)
    }

    fn write(&mut self, now: SimTime, piece: Run) -> SimTime {
        let mut done = now;
        for volume in self.layout.members(piece.set) {
            let crossed = self.link.submit(now, self.link_rate.time(piece.len * self.copies));
            done = done.max(self.serve(volume, crossed, piece.len));
        }
        done
    }

    /// The mirror with the fewest requests, ties drawn.
    fn choose_mirror(&mut self, now: SimTime, set: usize) -> usize {
        let members = self.layout.members(set);
        let volumes = &mut self.volumes;
        let loads = members.clone().map(|m| (m, volumes[m].queue.outstanding(now)));
        least_loaded(loads, &mut self.draw).unwrap_or(members.start)
    }

    fn serve(&mut self, volume: usize, arrival: SimTime, len: u64) -> SimTime {
        let Volume { queue, service } = &mut self.volumes[volume];
        let depth = queue.outstanding(arrival) + 1;
        let mean = service.scaled(self.gain.at(depth));
        let service = match self.tail {
            Tail::Fixed => mean,
            Tail::Exponential => self.draw.exponential(mean),
        };
        queue.submit(arrival, service + self.rate.time(len))
    }
}
