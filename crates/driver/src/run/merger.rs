//! What the background thread has merged from the change buffer.

use cost_model::{SimThread, SimTime};

use super::world::World;
use crate::scenario::ChangeBuffer;

/// Merges a rate of pages per second, whenever the background thread has nothing else to do.
pub(super) struct Merger {
    /// Pages per second, and what a full buffer adds.
    rate: f64,
    rate_full: f64,
    /// Pages of the buffer at most.
    pages_max: f64,
    /// Pages due and not merged.
    owed: f64,
    since: SimTime,
}

impl Merger {
    pub(super) fn new(buffer: &ChangeBuffer, pages_max: u32) -> Self {
        Self {
            rate: buffer.background,
            rate_full: buffer.background_full,
            pages_max: f64::from(pages_max),
            owed: 0.0,
            since: SimTime::ZERO,
        }
    }

    /// Has what has become due since the last call merged.
    pub(super) fn step(&mut self, thread: &mut SimThread, world: &mut World) {
        let Some(buffer) = world.engine.buffered() else { return };
        let elapsed = thread.now().since(self.since).as_secs_f64();
        self.since = thread.now();
        let filled = (2.0 * f64::from(buffer.pages) / self.pages_max - 1.0).clamp(0.0, 1.0);
        self.owed += elapsed * (self.rate + self.rate_full * filled);
        if 1.0 <= self.owed {
            let read = world.engine.merge_some(&mut world.machine, thread, self.owed as u32);
            self.owed = (self.owed - f64::from(read)).min(1.0);
        }
    }
}
