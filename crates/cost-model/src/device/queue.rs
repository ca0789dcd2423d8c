//! One server that knows how many requests wait for it, and what a deeper queue is worth.

use std::collections::VecDeque;

use super::require;
use crate::{SimDuration, SimTime, Station};

/// The queue of one spindle or volume: first come first served.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    station: Station,
    /// Completions of requests not known to be over, ascending.
    outstanding: VecDeque<SimTime>,
}

impl Queue {
    pub(super) fn new() -> Self {
        Self { station: Station::new(1), outstanding: VecDeque::with_capacity(64) }
    }

    /// Requests under way at `now`.
    #[inline]
    pub(super) fn outstanding(&mut self, now: SimTime) -> usize {
        while self.outstanding.front().is_some_and(|done| *done <= now) {
            self.outstanding.pop_front();
        }
        self.outstanding.len()
    }

    /// Queues a request somebody waits for.
    #[inline]
    pub(super) fn submit(&mut self, now: SimTime, demand: SimDuration) -> SimTime {
        let done = self.station.submit(now, demand);
        self.outstanding.push_back(done);
        done
    }

    /// Gives the server work nobody waits for.
    #[inline]
    pub(super) fn occupy(&mut self, start: SimTime, demand: SimDuration) -> SimTime {
        self.station.submit(start, demand)
    }

    /// When the server has done everything it was given.
    #[inline]
    pub(super) fn free_at(&self) -> SimTime {
        self.station.free_at()
    }

    pub(super) fn station(&self) -> &Station {
        &self.station
    }
}

/// More than any disk or driver reorders.
const DEPTH_MAX: u32 = 1 << 16;

/// What reordering a queue saves: the factor on positioning falls with the square root of the
/// depth towards a floor.
#[derive(Clone, Debug)]
pub(super) struct DepthGain {
    factors: Vec<f64>,
}

impl DepthGain {
    /// Whether a gain can be made of these.
    pub(super) fn check(floor: f64, depth_max: u32) -> Result<(), &'static str> {
        require((0.0..=1.0).contains(&floor), "the queue floor must lie between 0 and 1")?;
        require((1..=DEPTH_MAX).contains(&depth_max), "the queue must be 1 to 65536 deep")
    }

    /// `floor + (1 - floor) / sqrt(depth)`, constant from a depth of `depth_max` on.
    pub(super) fn new(floor: f64, depth_max: u32) -> Self {
        let factor = |depth: u32| floor + (1.0 - floor) / f64::from(depth).sqrt();
        Self { factors: (1..=depth_max).map(factor).collect() }
    }

    /// The factor at a depth of at least 1.
    #[inline]
    pub(super) fn at(&self, depth: usize) -> f64 {
        self.factors[depth.min(self.factors.len()) - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gain_starts_at_one_and_is_capped() {
        let gain = DepthGain::new(0.5, 4);
        assert!((gain.at(1) - 1.0).abs() < 1e-12);
        assert!((gain.at(4) - 0.75).abs() < 1e-12);
        assert!((gain.at(64) - 0.75).abs() < 1e-12);
    }

    #[test]
    fn only_unfinished_requests_are_outstanding() {
        let mut queue = Queue::new();
        let ms = SimDuration::from_ms(1);
        queue.submit(SimTime::ZERO, ms);
        queue.submit(SimTime::ZERO, ms);
        queue.occupy(SimTime::ZERO, ms);
        assert_eq!(queue.outstanding(SimTime::ZERO), 2);
        assert_eq!(queue.outstanding(SimTime::ZERO + ms), 1);
        assert_eq!(queue.free_at(), SimTime::ZERO + ms * 3);
    }
}
