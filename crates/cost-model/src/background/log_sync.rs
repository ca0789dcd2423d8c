//! The redo log reaches the device from time to time, though no commit asks for it.

use crate::{Lsn, Machine, SimDuration, SimThread, SimTime, Step};

/// Syncs the redo log once in an interval.
#[derive(Debug)]
pub struct LogSync {
    interval: SimDuration,
    pub(super) next: SimTime,
    /// How far the sync under way goes.
    upto: Option<Lsn>,
}

impl LogSync {
    /// The first sync is an interval after the start of the run.
    pub fn new(interval: SimDuration) -> Self {
        Self { interval, next: SimTime::ZERO + interval, upto: None }
    }

    /// Whether a sync is under way or due.
    pub(super) fn is_due(&self, now: SimTime) -> bool {
        self.upto.is_some() || self.next <= now
    }

    /// Goes on with the sync that is under way or due, if one is.
    ///
    /// # Errors
    /// [`Blocked`](crate::Blocked) while it lasts.
    pub fn act(&mut self, thread: &mut SimThread, machine: &mut Machine) -> Step {
        if self.upto.is_none() && self.next <= thread.now() {
            self.next = thread.now() + self.interval;
            self.upto = Some(machine.log_end());
        }
        if let Some(upto) = self.upto {
            machine.sync_log(thread, upto)?;
            self.upto = None;
        }
        Ok(())
    }

    /// As a thread that does nothing else.
    pub fn step(&mut self, thread: &mut SimThread, machine: &mut Machine) {
        thread.rise();
        if machine.begin(thread).and_then(|()| self.act(thread, machine)).is_ok() {
            thread.sleep_until(self.next);
        }
    }
}
