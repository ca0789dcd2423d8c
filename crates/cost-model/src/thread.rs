//! A simulated thread is a line of time.

use std::collections::VecDeque;

use crate::machine::{Commit, Duty};
use crate::{Cause, FrameId, SimDuration, SimTime, TimeLedger};

/// The operation cannot go on now: its thread waits, or must let a thread that is further behind
/// go first. Nothing of the operation has happened; it is simply tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocked;

/// What an operation returns that may have to wait.
pub type Step<T = ()> = Result<T, Blocked>;

/// A client or a background thread: its own clock and the account of its time.
#[derive(Debug)]
pub struct SimThread {
    now: SimTime,
    horizon: SimTime,
    /// When it goes on by itself, while it sleeps.
    alarm: Option<SimTime>,
    time: TimeLedger,
    /// Operations of this thread that are over.
    pub(crate) operations: u64,
    /// Frames this thread's operation keeps until it is over.
    pub(crate) pins: Vec<FrameId>,
    /// The frame of the read this thread waits for.
    pub(crate) arrival: Option<FrameId>,
    /// What this thread has to do before its next operation.
    pub(crate) duties: VecDeque<Duty>,
    /// The transaction this thread is in, by its engine's count.
    pub transaction: Option<u32>,
    /// The commit this thread is in.
    pub(crate) commit: Option<Commit>,
    /// Until when the end of its statement waits, and for what.
    pub(crate) statement_ends: Option<(SimTime, Cause)>,
    /// The latch this thread has to itself, or waits for.
    pub(crate) latch: Option<usize>,
    /// Pages that this thread has written because they had been dirty for longest.
    pub(crate) pages_flushed: u64,
    /// Nodes of a [`NodeCache`](crate::NodeCache) this thread's operation keeps until it is over.
    pub(crate) nodes: Vec<u32>,
}

impl SimThread {
    /// A thread that starts at `now`.
    pub fn new(now: SimTime) -> Self {
        Self {
            now,
            horizon: SimTime::NEVER,
            alarm: None,
            time: TimeLedger::default(),
            operations: 0,
            pins: Vec::new(),
            arrival: None,
            duties: VecDeque::new(),
            transaction: None,
            commit: None,
            statement_ends: None,
            latch: None,
            pages_flushed: 0,
            nodes: Vec::new(),
        }
    }

    /// This thread's present.
    #[inline]
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// When this thread acts next: its present, or the end of its sleep.
    #[inline]
    pub fn due(&self) -> SimTime {
        self.alarm.unwrap_or(self.now)
    }

    /// Where this thread's time went.
    pub fn time(&self) -> &TimeLedger {
        &self.time
    }

    /// Pages that this thread has written so far because they had been dirty for longest; those
    /// at the tail of an LRU list are not among them.
    pub fn pages_flushed(&self) -> u64 {
        self.pages_flushed
    }

    /// The present of the thread next behind this one. Up to there this thread may act; the run
    /// loop sets it, so that everything shared sees requests in the order of time.
    pub fn set_horizon(&mut self, horizon: SimTime) {
        self.horizon = horizon;
    }

    /// Somebody else will act at `at`: this thread may not get beyond it.
    pub fn let_go_first(&mut self, at: SimTime) {
        self.horizon = self.horizon.min(at);
    }

    /// Whether another thread must go first.
    #[inline]
    pub fn is_ahead(&self) -> bool {
        self.horizon < self.now
    }

    /// `Err(Blocked)` if another thread must go first: asked before anything shared is touched.
    ///
    /// # Errors
    /// [`Blocked`] without any wait: the thread goes on when it is the furthest behind.
    #[inline]
    pub fn in_turn(&self) -> Step {
        if self.is_ahead() { Err(Blocked) } else { Ok(()) }
    }

    /// Time passes for `cause`.
    #[inline]
    pub fn spend(&mut self, cause: Cause, time: SimDuration) {
        self.now += time;
        self.time.add(cause, time);
    }

    /// Moves to `until`, if that is later, waiting for `cause`.
    pub fn wait_until(&mut self, until: SimTime, cause: Cause) -> Blocked {
        if self.now < until {
            self.spend(cause, until.since(self.now));
        }
        Blocked
    }

    /// Does nothing until `at`, unless it is woken before.
    pub fn sleep_until(&mut self, at: SimTime) {
        self.alarm = Some(at.max(self.now));
    }

    /// Whether it sleeps.
    pub fn is_asleep(&self) -> bool {
        self.alarm.is_some()
    }

    /// Ends a sleep at `at`, or now if that has passed.
    pub fn wake(&mut self, at: SimTime) {
        if let Some(alarm) = &mut self.alarm {
            *alarm = (*alarm).min(at.max(self.now));
        }
    }

    /// The sleep is over.
    pub fn rise(&mut self) {
        if let Some(alarm) = self.alarm.take() {
            self.wait_until(alarm, Cause::Think);
        }
    }
}
