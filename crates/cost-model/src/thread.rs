//! A simulated thread is a line of time.

use crate::{Cause, FrameId, SimDuration, SimTime, TimeLedger};

/// The operation cannot go on now: its thread waits, or must let a thread that is further behind
/// go first. Nothing of the operation has happened; it is simply tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocked;

/// What an operation returns that may have to wait.
pub type Step<T = ()> = Result<T, Blocked>;

/// A client or a background thread: its own clock and the account of its time.
#[derive(Clone, Debug)]
pub struct SimThread {
    now: SimTime,
    horizon: SimTime,
    time: TimeLedger,
    /// Frames this thread's operation keeps until it is over.
    pub(crate) pins: Vec<FrameId>,
    /// The frame of the read this thread waits for.
    pub(crate) arrival: Option<FrameId>,
    /// Nodes of a [`NodeCache`](crate::NodeCache) this thread's operation keeps until it is over.
    pub(crate) nodes: Vec<u32>,
}

impl SimThread {
    /// A thread that starts at `now`.
    pub fn new(now: SimTime) -> Self {
        Self {
            now,
            horizon: SimTime::NEVER,
            time: TimeLedger::default(),
            pins: Vec::new(),
            arrival: None,
            nodes: Vec::new(),
        }
    }

    /// This thread's present.
    #[inline]
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Where this thread's time went.
    pub fn time(&self) -> &TimeLedger {
        &self.time
    }

    /// The present of the thread next behind this one. Up to there this thread may act; the run
    /// loop sets it, so that everything shared sees requests in the order of time.
    pub fn set_horizon(&mut self, horizon: SimTime) {
        self.horizon = horizon;
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
}
