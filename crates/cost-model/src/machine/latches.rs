//! Latches that many may share and one may have to itself: who waits for whom.
//!
//! Rules from `MySQL` 5.1 source, sync0rw.c and btr0cur.c: whoever shares a latch keeps it while it
//! waits for a page; who wants it to itself waits for all of these, and from then on nobody else
//! gets it. What a latch guards is the engine's business.

use super::Machine;
use super::batches::RETRY;
use super::duty::Duty;
use crate::{Cause, SimThread, SimTime, Step};

/// A latch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Latch {
    /// The last of those who share it has it until then.
    shared_until: SimTime,
    /// One thread has it to itself, or waits for that.
    is_exclusive: bool,
    /// That thread waits until then, or has had it until then.
    until: SimTime,
}

impl Machine {
    /// From now on there are so many latches. Without any all threads pass freely, as a single one
    /// does anyway.
    pub fn use_latches(&mut self, count: usize) {
        let free = Latch { shared_until: SimTime::ZERO, is_exclusive: false, until: SimTime::ZERO };
        self.latches = vec![free; count];
    }

    /// An operation shares a latch from here until it is over, or until it
    /// [waits](Self::share_latch_while_waiting).
    ///
    /// # Errors
    /// [`Blocked`](crate::Blocked) while another thread has the latch to itself.
    #[inline]
    pub fn share_latch(&self, thread: &mut SimThread, latch: usize) -> Step {
        if self.latches.is_empty() { Ok(()) } else { self.wait_for_latch(thread, latch) }
    }

    fn wait_for_latch(&self, thread: &mut SimThread, number: usize) -> Step {
        let latch = self.latches[number];
        if thread.latch == Some(number) {
            return Ok(());
        }
        if latch.is_exclusive {
            let until = latch.until.max(thread.now() + RETRY);
            return Err(thread.wait_until(until, Cause::Lock));
        }
        if thread.now() < latch.until {
            return Err(thread.wait_until(latch.until, Cause::Lock));
        }
        Ok(())
    }

    /// The operation keeps its share of the latch until its thread's present, which is in the
    /// future of others: it waits for a page.
    pub fn share_latch_while_waiting(&mut self, thread: &SimThread, latch: usize) {
        if let Some(latch) = self.latches.get_mut(latch) {
            latch.shared_until = latch.shared_until.max(thread.now());
        }
    }

    /// The operation wants a latch to itself until it is over.
    ///
    /// # Errors
    /// [`Blocked`](crate::Blocked) while others have it.
    pub fn take_latch(&mut self, thread: &mut SimThread, number: usize) -> Step {
        if self.latches.is_empty() {
            return Ok(());
        }
        self.wait_for_latch(thread, number)?;
        thread.latch = Some(number);
        let latch = &mut self.latches[number];
        latch.is_exclusive = true;
        latch.until = latch.shared_until;
        let until = latch.until;
        self.wait(thread, until, Cause::Lock)
    }

    /// The thread that has a latch to itself waits until its present.
    #[inline]
    pub fn keep_latch(&mut self, thread: &SimThread) {
        if let Some(number) = thread.latch {
            self.latches[number].until = thread.now();
        }
    }

    /// The operation is over. If the file has to grow for it, its latch is given back when the file
    /// has grown.
    #[inline]
    pub(super) fn leave_latch(&mut self, thread: &mut SimThread) {
        let grows = |duty: &Duty| matches!(duty, Duty::Growth);
        if thread.latch.is_some() && !thread.duties.iter().any(grows) {
            self.give_latch_back(thread);
        }
    }

    pub(super) fn give_latch_back(&mut self, thread: &mut SimThread) {
        if let Some(number) = thread.latch.take() {
            let latch = &mut self.latches[number];
            latch.is_exclusive = false;
            latch.until = thread.now();
        }
    }
}
