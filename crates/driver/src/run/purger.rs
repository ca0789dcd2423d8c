//! The thread that removes what deletes have marked, or a part of the background thread.

use cost_model::{SimDuration, SimThread, SimTime};

use super::world::World;
use crate::scenario::{Purge, PurgeBy};

/// Purges until nothing is left, again and again.
pub(super) struct Purger {
    /// Time between two rounds; `None` for one that commits wake.
    period: Option<SimDuration>,
    next_round: SimTime,
    is_busy: bool,
}

impl Purger {
    pub(super) fn new(purge: &Purge) -> Self {
        let period = (purge.by != PurgeBy::Woken).then_some(purge.period);
        Self { period, next_round: SimTime::ZERO + period.unwrap_or_default(), is_busy: false }
    }

    /// Goes on with the round that is under way or due; tells whether none is any more.
    pub(super) fn is_done(&mut self, thread: &mut SimThread, world: &mut World) -> bool {
        self.is_busy |= self.period.is_none() || self.next_round <= thread.now();
        while self.is_busy {
            if thread.is_ahead() {
                return false;
            }
            if let Ok(goes_on) = world.engine.purge(&mut world.machine, thread) {
                world.machine.release(thread);
                self.is_busy = goes_on;
            }
        }
        if let Some(period) = self.period
            && self.next_round <= thread.now()
        {
            self.next_round = thread.now() + period;
        }
        true
    }

    /// As a thread that does nothing else.
    pub(super) fn step(&mut self, thread: &mut SimThread, world: &mut World) {
        thread.rise();
        if self.is_done(thread, world) {
            let next = self.period.map_or(SimTime::NEVER, |_| self.next_round);
            thread.sleep_until(next);
        }
    }
}
