//! Pages that are read while nobody waits for them, and those that an engine has yet to complete.
//!
//! An engine may have to do something with a page before it is used (merge changes that waited
//! for it). It asks to [note arrivals](super::Machine::note_arrivals), and from then on finds every
//! page that was read in the order in which they came.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::Machine;
use super::duty::Duty;
use crate::{Cause, FrameId, PageId, Purpose, SimThread, SimTime};

/// See the module's documentation.
#[derive(Debug)]
pub(super) struct Arrivals {
    under_way: BinaryHeap<Reverse<(SimTime, PageId)>>,
    next: SimTime,
    /// Whether the engine wants to know.
    noted: bool,
    waiting: VecDeque<PageId>,
}

impl Arrivals {
    pub(super) fn new() -> Self {
        Self {
            under_way: BinaryHeap::new(),
            next: SimTime::NEVER,
            noted: false,
            waiting: VecDeque::new(),
        }
    }

    /// When the first page that nobody waits for is there.
    #[inline]
    pub(super) fn next(&self) -> SimTime {
        self.next
    }
}

impl Machine {
    /// From now on pages that were read can be found with [`arrived`](Self::arrived).
    pub fn note_arrivals(&mut self) {
        self.arrivals.noted = true;
    }

    /// The first page that was read and not [completed](Self::complete_arrival).
    #[inline]
    pub fn arrived(&self) -> Option<PageId> {
        self.arrivals.waiting.front().copied()
    }

    /// The engine has done what it had to with the first page that was read.
    pub fn complete_arrival(&mut self) {
        self.arrivals.waiting.pop_front();
    }

    /// The frame of a page that is in the pool, its read done or not; does not count as a use.
    #[inline]
    pub fn resident(&self, page: PageId) -> Option<FrameId> {
        self.pool.frame_of(page)
    }

    /// The same for a page that was found in frame `guess` last time.
    #[inline]
    pub fn resident_near(&self, page: PageId, guess: FrameId) -> Option<FrameId> {
        self.pool.frame_near(page, guess)
    }

    /// Reads pages that are absent, adjacent ones as one request, without waiting for them; pages
    /// for which there is no frame are left out. Returns how many are being read. If it `waits`,
    /// the thread goes on when the last of them is there.
    pub fn read_ahead(
        &mut self,
        thread: &mut SimThread,
        pages: &[PageId],
        purpose: Purpose,
        waits: bool,
    ) -> u32 {
        let now = thread.now();
        debug_assert!(!thread.is_ahead(), "what it asks for comes after others' requests");
        if self.next_io_done() <= now {
            self.settle(now);
        }
        let (mut count, mut last) = (0, now);
        for run in pages.chunk_by(|a, b| a.0 + 1 == b.0) {
            let mut placed = Vec::with_capacity(run.len());
            for page in run {
                if self.pool.frame_of(*page).is_some() {
                    continue;
                }
                let instance = self.pool.instance_of(*page);
                if let Some((frame, _)) = self.pool.take(instance) {
                    self.pool.place_read(frame, *page, SimTime::NEVER);
                    placed.push((*page, frame));
                }
            }
            for part in placed.chunk_by(|(a, _), (b, _)| a.0 + 1 == b.0) {
                let done = self.read_pages(now, part[0].0, part.len() as u32, purpose);
                for (page, frame) in part {
                    self.pool.read_ends_at(*frame, done);
                    self.arrivals.under_way.push(Reverse((done, *page)));
                }
                self.arrivals.next = self.arrivals.next.min(done);
                last = last.max(done);
                count += part.len() as u32;
            }
        }
        for instance in 0..self.config.pool.instances as usize {
            self.keep_margin(thread, instance);
        }
        if waits && now < last {
            thread.duties.push_back(Duty::Await(last, Cause::Merge));
        }
        count
    }

    /// The read of a page is done.
    #[inline]
    pub(super) fn read_arrived(&mut self, frame: FrameId) {
        let was_reading = self.pool.read_done(frame);
        if was_reading && self.arrivals.noted {
            self.arrivals.waiting.push_back(self.pool.page_of(frame));
        }
    }

    /// Carries out the ends of reads that nobody waited for.
    pub(super) fn settle_arrivals(&mut self, now: SimTime) {
        while let Some(Reverse((done, page))) = self.arrivals.under_way.peek().copied() {
            if now < done {
                break;
            }
            self.arrivals.under_way.pop();
            if let Some(frame) = self.pool.frame_of(page) {
                self.read_arrived(frame);
            }
        }
        let next = self.arrivals.under_way.peek();
        self.arrivals.next = next.map_or(SimTime::NEVER, |Reverse((done, _))| *done);
    }
}
