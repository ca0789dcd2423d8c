//! The thread that removes what deletes have marked, or a part of the background thread.

use cost_model::{Machine, SimDuration, SimThread, SimTime, Step};

use super::world::World;
use crate::scenario::{Purge, PurgeBy};

/// Purges until nothing is left, again and again.
pub(super) struct Purger {
    /// Time between two looks; `None` for one that commits wake.
    period: Option<SimDuration>,
    /// Whether a clock that goes on during a round tells when to look.
    by_clock: bool,
    next_look: SimTime,
    is_busy: bool,
    /// Whether no entry is begun.
    is_between: bool,
}

impl Purger {
    pub(super) fn new(purge: &Purge) -> Self {
        let period = (purge.by != PurgeBy::Woken).then_some(purge.period);
        Self {
            period,
            by_clock: purge.by == PurgeBy::Thread,
            next_look: SimTime::ZERO + period.unwrap_or_default(),
            is_busy: false,
            is_between: true,
        }
    }

    /// Goes on with the round that is under way or due; tells whether none is any more. `between`
    /// is done between two entries.
    pub(super) fn is_done(
        &mut self,
        thread: &mut SimThread,
        world: &mut World,
        mut between: impl FnMut(&mut SimThread, &mut Machine) -> Step,
    ) -> bool {
        self.is_busy |= self.period.is_none() || self.next_look <= thread.now();
        while self.is_busy {
            if thread.is_ahead() {
                return false;
            }
            if self.is_between && between(thread, &mut world.machine).is_err() {
                continue;
            }
            self.is_between = false;
            if let Ok(goes_on) = world.engine.purge(&mut world.machine, thread) {
                world.machine.release(thread);
                self.is_busy = goes_on;
                self.is_between = true;
            }
        }
        if let Some(period) = self.period
            && self.next_look <= thread.now()
        {
            self.next_look = self.look_after(thread.now(), period);
        }
        true
    }

    fn look_after(&self, now: SimTime, period: SimDuration) -> SimTime {
        let since_tick = if self.by_clock { now.as_ns() % period.as_ns() } else { 0 };
        SimTime::from_ns(now.as_ns() - since_tick) + period
    }

    /// As a thread that does nothing else.
    pub(super) fn step(&mut self, thread: &mut SimThread, world: &mut World) {
        thread.rise();
        if self.is_done(thread, world, |_, _| Ok(())) {
            let next = self.period.map_or(SimTime::NEVER, |_| self.next_look);
            thread.sleep_until(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use cost_model::Bytes;

    use super::*;

    #[test]
    fn a_thread_looks_at_ticks_and_the_master_a_period_after_its_round() {
        let second = SimDuration::from_ms(1_000);
        let look_after = |by| {
            let purge =
                Purge { undo_delete: Bytes::new(64), keeps_inserts: false, by, period: second };
            Purger::new(&purge).look_after(SimTime::from_ns(2_300_000_000), second)
        };
        assert_eq!(look_after(PurgeBy::Thread), SimTime::from_ns(3_000_000_000));
        assert_eq!(look_after(PurgeBy::Master), SimTime::from_ns(3_300_000_000));
    }
}
