//! Anything that can be waited for: c servers, first come first served.

use crate::{SimDuration, SimTime};

/// A group of equal servers with one queue. A request is told at once when it will be done.
///
/// Requests must arrive in time order; the run loop sees to that.
///
/// ```
/// use cost_model::{SimDuration, SimTime, Station};
/// let mut core = Station::new(1);
/// let ms = SimDuration::from_ms(1);
/// assert_eq!(core.submit(SimTime::ZERO, ms), SimTime::from_ns(1_000_000));
/// assert_eq!(core.submit(SimTime::ZERO, ms), SimTime::from_ns(2_000_000));
/// ```
#[derive(Clone, Debug)]
pub struct Station {
    free_at: Vec<SimTime>,
    busy: SimDuration,
    served: u64,
}

impl Station {
    /// A station with `servers` servers, all idle.
    pub fn new(servers: usize) -> Self {
        assert!(0 < servers, "a station needs a server");
        Self { free_at: vec![SimTime::ZERO; servers], busy: SimDuration::ZERO, served: 0 }
    }

    /// Queues `demand` at `now`; returns when it is done.
    #[inline]
    pub fn submit(&mut self, now: SimTime, demand: SimDuration) -> SimTime {
        let server = self.earliest();
        let start = self.free_at[server].max(now);
        self.free_at[server] = start + demand;
        self.busy += demand;
        self.served += 1;
        start + demand
    }

    /// When the next server becomes free (in the past if one is idle).
    #[inline]
    pub fn free_at(&self) -> SimTime {
        self.free_at[self.earliest()]
    }

    /// Time the servers have been given to work so far, summed over the servers.
    pub fn busy(&self) -> SimDuration {
        self.busy
    }

    /// Requests taken so far.
    pub fn served(&self) -> u64 {
        self.served
    }

    #[inline]
    fn earliest(&self) -> usize {
        let mut best = 0;
        for (server, free_at) in self.free_at.iter().enumerate().skip(1) {
            if *free_at < self.free_at[best] {
                best = server;
            }
        }
        best
    }
}
