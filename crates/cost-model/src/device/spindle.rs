//! One disk: where its head is, what it has to do, and what it does when nobody asks.

use super::backlog::Backlog;
use super::hdd::HddSpec;
use super::queue::{DepthGain, Queue};
use super::{IoOp, Rate};
use crate::{Draw, SimDuration, SimTime, Station};

/// What the spindles of one array have in common.
#[derive(Clone, Debug)]
pub(super) struct Mechanics {
    seek: SimDuration,
    turn: SimDuration,
    rate: Rate,
    /// Bytes that pass under the head in one turn.
    track: u64,
    gain: DepthGain,
    piece_max: u64,
}

impl Mechanics {
    pub(super) fn new(spec: &HddSpec) -> Self {
        Self {
            seek: spec.seek,
            turn: spec.rotation,
            rate: Rate::new(spec.transfer_bytes_per_s),
            track: (spec.rotation.as_secs_f64() * spec.transfer_bytes_per_s as f64) as u64,
            gain: DepthGain::new(spec.queue_floor, spec.queue_max),
            piece_max: spec.max_request.get(),
        }
    }
}

/// One spindle: reads and uncached writes in order of arrival, destaging in between.
#[derive(Clone, Debug)]
pub(super) struct Spindle {
    queue: Queue,
    /// End of the last transfer.
    head: u64,
    backlog: Backlog,
    /// When the backlog last became non-empty.
    backlog_since: SimTime,
    destage: Option<Destage>,
}

/// A cached run on its way to the platter.
#[derive(Clone, Copy, Debug)]
struct Destage {
    done: SimTime,
    bytes: u64,
}

impl Spindle {
    pub(super) fn new() -> Self {
        Self {
            queue: Queue::new(),
            head: u64::MAX,
            backlog: Backlog::new(),
            backlog_since: SimTime::ZERO,
            destage: None,
        }
    }

    /// Serves a request the caller waits for: after those before it and a destage under way, but
    /// before any destage that has not started.
    #[inline]
    pub(super) fn serve(
        &mut self,
        mechanics: &Mechanics,
        draw: &mut Draw,
        now: SimTime,
        op: IoOp,
        (start, len): (u64, u64),
    ) -> SimTime {
        let depth = self.queue.outstanding(now) + 1;
        let positioning = self.positioning(mechanics, draw, op, start, now, depth);
        self.head = start + len;
        self.queue.submit(now, positioning + mechanics.rate.time(len))
    }

    /// Hands the spindle a cached write; returns how many bytes were not waiting already.
    #[inline]
    pub(super) fn cache(&mut self, now: SimTime, start: u64, len: u64) -> u64 {
        if self.backlog.is_empty() {
            self.backlog_since = now;
        }
        self.backlog.add(start, start + len)
    }

    /// Works off the backlog in the idle time before `now`; returns the bytes that left the cache.
    #[inline]
    pub(super) fn settle(&mut self, mechanics: &Mechanics, draw: &mut Draw, now: SimTime) -> u64 {
        let mut released = 0;
        while self.due(now) {
            released += self.step(mechanics, draw);
        }
        released
    }

    /// When the destaging changes next if nobody asks: a destage ends or one starts.
    #[inline]
    pub(super) fn next_event(&self) -> SimTime {
        match self.destage {
            Some(destage) => destage.done,
            None if self.backlog.is_empty() => SimTime::NEVER,
            None => self.destage_start(),
        }
    }

    /// Ends the destage under way or starts the next one; returns the bytes that left the cache.
    #[inline]
    pub(super) fn step(&mut self, mechanics: &Mechanics, draw: &mut Draw) -> u64 {
        if let Some(destage) = self.destage.take() {
            return destage.bytes;
        }
        let depth = self.backlog.len();
        if let Some((start, end)) = self.backlog.take(self.head, mechanics.piece_max) {
            let since = self.backlog_since;
            let positioning = self.positioning(mechanics, draw, IoOp::Write, start, since, depth);
            let demand = positioning + mechanics.rate.time(end - start);
            self.head = end;
            let done = self.queue.occupy(since, demand);
            self.destage = Some(Destage { done, bytes: end - start });
        }
        0
    }

    /// Whether a request at `start` would follow the last transfer.
    #[inline]
    pub(super) fn continues(&self, start: u64) -> bool {
        self.head == start
    }

    /// Requests under way, a destage among them.
    #[inline]
    pub(super) fn load(&mut self, now: SimTime) -> usize {
        self.queue.outstanding(now) + usize::from(self.destage.is_some())
    }

    /// Whether the backlog holds the whole range.
    #[inline]
    pub(super) fn holds(&self, start: u64, len: u64) -> bool {
        !self.backlog.is_empty() && self.backlog.holds(start, start + len)
    }

    pub(super) fn station(&self) -> &Station {
        self.queue.station()
    }

    /// Whether the destaging changes by `now`. A request that arrives as the spindle falls idle
    /// goes before the next destage.
    #[inline]
    fn due(&self, now: SimTime) -> bool {
        match self.destage {
            Some(destage) => destage.done <= now,
            None => !self.backlog.is_empty() && self.destage_start() < now,
        }
    }

    #[inline]
    fn destage_start(&self) -> SimTime {
        self.queue.free_at().max(self.backlog_since)
    }

    /// Time from the end of the last transfer, or from `ready` if that is later, until the head
    /// is over `start`.
    #[inline]
    fn positioning(
        &self,
        mechanics: &Mechanics,
        draw: &mut Draw,
        op: IoOp,
        start: u64,
        ready: SimTime,
        depth: usize,
    ) -> SimDuration {
        if mechanics.track <= start.abs_diff(self.head) {
            let rotation = draw.uniform(mechanics.turn);
            return (mechanics.seek + rotation).scaled(mechanics.gain.at(depth));
        }
        self.rotation(mechanics, op, start, ready)
    }

    /// The wait for a sector of the track the head is on. A gap ahead passes under the head; a
    /// sector that went by, be it while the spindle stood idle, comes round with the next turn.
    /// Reads ahead find it in the drive's track buffer.
    fn rotation(&self, mechanics: &Mechanics, op: IoOp, start: u64, ready: SimTime) -> SimDuration {
        let gap = mechanics.rate.time(start.abs_diff(self.head));
        let ahead = self.head <= start;
        let queued = ready < self.queue.free_at();
        if ahead && (queued || op == IoOp::Read) {
            return gap;
        }
        let turn = mechanics.turn.as_ns();
        let idle = if queued { 0 } else { ready.since(self.queue.free_at()).as_ns() };
        let behind = if ahead { turn - gap.as_ns() % turn + idle } else { gap.as_ns() + idle };
        SimDuration::from_ns(turn - behind % turn)
    }
}
