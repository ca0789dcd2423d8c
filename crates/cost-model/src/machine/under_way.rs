//! Requests that a device has, the first to be done first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::SimTime;

/// See the module's documentation.
#[derive(Debug)]
pub(super) struct UnderWay<R> {
    requests: BinaryHeap<Reverse<(SimTime, R)>>,
    next_done: SimTime,
}

impl<R: Ord> UnderWay<R> {
    pub(super) fn new() -> Self {
        Self { requests: BinaryHeap::new(), next_done: SimTime::NEVER }
    }

    /// When the first request is done.
    #[inline]
    pub(super) fn next_done(&self) -> SimTime {
        self.next_done
    }

    /// The device has taken a request.
    pub(super) fn push(&mut self, done: SimTime, request: R) {
        self.next_done = self.next_done.min(done);
        self.requests.push(Reverse((done, request)));
    }

    /// Takes a request that is done at `now`, and tells when it was.
    pub(super) fn take_done(&mut self, now: SimTime) -> Option<(SimTime, R)> {
        if now < self.next_done {
            return None;
        }
        let Reverse(first) = self.requests.pop()?;
        self.next_done = self.requests.peek().map_or(SimTime::NEVER, |Reverse((done, _))| *done);
        Some(first)
    }
}
