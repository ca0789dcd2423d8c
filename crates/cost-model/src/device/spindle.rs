//! One disk: where its head is, what it has to do, and what it does when nobody asks.

use std::collections::VecDeque;

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
    destage_depth: usize,
    journal_seek: SimDuration,
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
            destage_depth: spec.destage_depth as usize,
            journal_seek: spec.journal_seek.unwrap_or_default(),
        }
    }
}

/// One spindle: reads and uncached writes in order of arrival. Between them the controller gives
/// it cached writes in the order of their places, several at a time, and a request that comes
/// finds itself among those: the disk takes them in the order that suits it, which is any order to
/// who looks from outside.
#[derive(Clone, Debug)]
pub(super) struct Spindle {
    queue: Queue,
    /// End of the last transfer.
    head: u64,
    /// When that passed under the head, if the head has left for the journal since.
    left_at: Option<SimTime>,
    backlog: Backlog,
    /// When the backlog last became non-empty.
    backlog_since: SimTime,
    /// Cached writes the disk has and has not begun.
    issued: VecDeque<Destage>,
    /// Cached writes begun, or in front of a request that somebody waits for, and when each is
    /// done.
    under_way: VecDeque<(Destage, SimTime)>,
}

/// A cached run on its way to the platter.
#[derive(Clone, Copy, Debug)]
struct Destage {
    start: u64,
    end: u64,
    service: SimDuration,
}

impl Spindle {
    pub(super) fn new() -> Self {
        Self {
            queue: Queue::new(),
            head: u64::MAX,
            left_at: None,
            backlog: Backlog::new(),
            backlog_since: SimTime::ZERO,
            issued: VecDeque::new(),
            under_way: VecDeque::new(),
        }
    }

    /// Serves a request the caller waits for: after those before it, a destage under way, and any
    /// number of those that the disk has.
    #[inline]
    pub(super) fn serve(
        &mut self,
        mechanics: &Mechanics,
        draw: &mut Draw,
        now: SimTime,
        op: IoOp,
        (start, len): (u64, u64),
    ) -> SimTime {
        let depth = self.load(now) + 1;
        if !self.issued.is_empty() {
            for _ in 0..draw.below(self.issued.len() as u64 + 1) {
                self.begin_destage();
            }
        }
        let positioning = self.positioning(mechanics, draw, op, start, now, depth);
        self.head = start + len;
        self.left_at = None;
        self.queue.submit(now, positioning + mechanics.rate.time(len))
    }

    /// Writes the commit record of the journal after data that is there at `written`: on a track
    /// of its own, at a place nobody knows. A sync after a sync finds the head there.
    pub(super) fn commit_journal(
        &mut self,
        mechanics: &Mechanics,
        draw: &mut Draw,
        written: SimTime,
    ) -> SimTime {
        let rotation = draw.uniform(mechanics.turn);
        let seek = if self.left_at.is_some() { SimDuration::ZERO } else { mechanics.journal_seek };
        self.left_at.get_or_insert(self.queue.free_at());
        self.queue.submit(written, seek + rotation)
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
        match self.under_way.front() {
            Some((_, done)) => *done,
            None if self.has_destages() => self.destage_start(),
            None => SimTime::NEVER,
        }
    }

    /// Ends the destage under way or starts the next one; returns the bytes that left the cache.
    #[inline]
    pub(super) fn step(&mut self, mechanics: &Mechanics, draw: &mut Draw) -> u64 {
        if let Some((destage, _)) = self.under_way.pop_front() {
            return destage.end - destage.start;
        }
        if self.issued.is_empty() {
            let depth = self.backlog.len().min(mechanics.destage_depth);
            while self.issued.len() < depth
                && let Some((start, end)) = self.backlog.take(self.head, mechanics.piece_max)
            {
                let since = self.backlog_since;
                let positioning =
                    self.positioning(mechanics, draw, IoOp::Write, start, since, depth);
                self.head = end;
                let service = positioning + mechanics.rate.time(end - start);
                self.issued.push_back(Destage { start, end, service });
            }
        }
        self.begin_destage();
        0
    }

    /// The disk begins the next of the cached writes it has.
    fn begin_destage(&mut self) {
        if let Some(destage) = self.issued.pop_front() {
            let done = self.queue.occupy(self.backlog_since, destage.service);
            self.under_way.push_back((destage, done));
        }
    }

    /// Whether a request at `start` would follow the last transfer.
    #[inline]
    pub(super) fn continues(&self, start: u64) -> bool {
        self.head == start
    }

    /// Requests the disk has, destages among them.
    #[inline]
    pub(super) fn load(&mut self, now: SimTime) -> usize {
        self.queue.outstanding(now) + self.under_way.len() + self.issued.len()
    }

    /// Whether the cache holds the whole range because this disk has yet to write it.
    #[inline]
    pub(super) fn holds(&self, start: u64, len: u64) -> bool {
        if !self.has_destages() && self.under_way.is_empty() {
            return false;
        }
        let under_way = self.under_way.iter().map(|(destage, _)| destage);
        let mut given = self.issued.iter().chain(under_way);
        given.any(|destage| destage.start <= start && start + len <= destage.end)
            || self.backlog.holds(start, start + len)
    }

    pub(super) fn station(&self) -> &Station {
        self.queue.station()
    }

    /// Whether the destaging changes by `now`. A request that arrives as the spindle falls idle
    /// goes before the next destage.
    #[inline]
    fn due(&self, now: SimTime) -> bool {
        match self.under_way.front() {
            Some((_, done)) => *done <= now,
            None => self.has_destages() && self.destage_start() < now,
        }
    }

    #[inline]
    fn has_destages(&self) -> bool {
        !self.issued.is_empty() || !self.backlog.is_empty()
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
        match self.left_at {
            Some(left_at) => self.return_from_journal(mechanics, start, ready, left_at),
            None => self.rotation(mechanics, op, start, ready),
        }
    }

    /// The way back from the journal, and the wait for a sector of the track that the head left:
    /// the platter has turned on meanwhile, so that a block that is written anew after every sync
    /// is a whole number of turns apart.
    fn return_from_journal(
        &self,
        mechanics: &Mechanics,
        start: u64,
        ready: SimTime,
        left_at: SimTime,
    ) -> SimDuration {
        let turn = mechanics.turn.as_ns();
        let gap = mechanics.rate.time(start.abs_diff(self.head)).as_ns() % turn;
        let begins = ready.max(self.queue.free_at()) + mechanics.journal_seek;
        let turned = begins.since(left_at).as_ns();
        let behind = if self.head <= start { turn - gap + turned } else { gap + turned };
        mechanics.journal_seek + SimDuration::from_ns(turn - behind % turn)
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
