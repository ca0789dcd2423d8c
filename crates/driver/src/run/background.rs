//! The engine's background thread: the page cleaner, or the master thread with its other work.

use cost_model::{Background, SimThread};

use super::merger::Merger;
use super::purger::Purger;
use super::world::World;

/// Writes back, merges from the change buffer, purges.
pub(super) struct EngineThread {
    background: Background,
    merger: Option<Merger>,
    purger: Option<Purger>,
}

impl EngineThread {
    pub(super) fn new(
        background: Background,
        merger: Option<Merger>,
        purger: Option<Purger>,
    ) -> Self {
        Self { background, merger, purger }
    }

    /// Goes on until the thread waits, sleeps, or must let another go first. While it purges it
    /// does nothing else but sync the log (`MySQL` 5.1 source, srv0srv.c: `srv_master_thread`).
    pub(super) fn step(&mut self, thread: &mut SimThread, world: &mut World) {
        thread.rise();
        let background = &mut self.background;
        if let Some(purger) = &mut self.purger
            && !purger
                .is_done(thread, world, |thread, machine| background.sync_log(thread, machine))
        {
            return;
        }
        self.background.step(thread, &mut world.machine);
        if let Some(merger) = &mut self.merger
            && thread.is_asleep()
        {
            merger.step(thread, world);
        }
    }
}
