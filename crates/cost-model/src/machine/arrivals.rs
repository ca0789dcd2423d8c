//! Pages that are read while nobody waits for them, and those that an engine has yet to complete.
//!
//! An engine may have to do something with a page before it is used (merge changes that waited
//! for it). It asks to [note arrivals](super::Machine::note_arrivals), and from then on finds every
//! page that was read in the order in which they came.

use std::collections::VecDeque;

use super::Machine;
use super::duty::Duty;
use super::readers::{ReadRequest, Reading};
use crate::{Cause, FrameId, PageId, Purpose, SimThread, SimTime, Step};

/// See the module's documentation.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    /// Whether the engine wants to know.
    noted: bool,
    waiting: VecDeque<PageId>,
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

    /// Has absent pages read without waiting for them, by the threads that read or, without such,
    /// adjacent ones as one request; pages for which there is no frame are left out. Returns how
    /// many are read or wait for that. If it `waits`, the thread reads the last of them itself, if
    /// that is absent, and goes on when it is there (`MySQL` 5.1 source, buf0rea.c:
    /// `buf_read_ibuf_merge_pages`). It goes on later if the threads that read have too much to do.
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
        let mut placed: Vec<PageId> = Vec::with_capacity(pages.len());
        for page in pages {
            if self.pool.frame_of(*page).is_none()
                && let Some((frame, _)) = self.pool.take(self.pool.instance_of(*page))
            {
                self.pool.place_read(frame, (*page, purpose), SimTime::NEVER);
                placed.push(*page);
            }
        }
        let reads_itself = waits && !placed.is_empty() && placed.last() == pages.last();
        let (others, own) = placed.split_at(placed.len() - usize::from(reads_itself));
        for run in others.chunk_by(|a, b| a.0 + 1 == b.0) {
            self.post_read(now, run, purpose);
        }
        self.start_readers(now);
        if let Some(page) = own.first() {
            let done = self.start_read_request(now, ReadRequest::own(*page, purpose));
            thread.duties.push_back(Duty::Await(done, Cause::Merge));
        }
        for instance in 0..self.config.pool.instances as usize {
            self.keep_margin(thread, instance);
        }
        let waits_already = thread.duties.iter().any(|duty| matches!(duty, Duty::Readers));
        if self.readers.is_full() && !waits_already {
            thread.duties.push_back(Duty::Readers);
        }
        placed.len() as u32
    }

    /// Whether who asks for another page has to wait for the threads that read.
    pub fn readers_are_full(&self) -> bool {
        self.readers.is_full()
    }

    /// Gives adjacent pages to the device, or to the threads that read.
    fn post_read(&mut self, now: SimTime, run: &[PageId], purpose: Purpose) {
        match self.readers.direct(run[0], run.len() as u32, purpose) {
            Some(request) => {
                self.start_read_request(now, request);
            }
            None => run.iter().for_each(|page| self.readers.queue(now, *page, purpose)),
        }
    }

    /// Lets every free thread that reads take its next request.
    fn start_readers(&mut self, now: SimTime) {
        while let Some(request) = self.readers.next(now) {
            self.start_read_request(now, request);
        }
    }

    fn start_read_request(&mut self, now: SimTime, request: ReadRequest) -> SimTime {
        let ReadRequest { first, pages, purpose, .. } = request;
        let done = self.read_pages(now, first, pages, purpose);
        for page in (first.0..first.0 + pages).map(PageId) {
            if let Some(frame) = self.pool.frame_of(page)
                && self.pool.reading_until(frame) == Some(SimTime::NEVER)
            {
                self.pool.read_ends_at(frame, done);
            }
        }
        self.readers.started(request, done);
        done
    }

    /// Waits until the threads that read have room for another request.
    pub(super) fn await_readers(&mut self, thread: &mut SimThread) -> Step {
        while self.readers.is_full() {
            self.wait(thread, self.readers.next_done(), Cause::Merge)?;
            self.settle(thread.now());
        }
        Ok(())
    }

    /// The read of a page is done.
    #[inline]
    pub(super) fn read_arrived(&mut self, frame: FrameId) {
        let was_reading = self.pool.read_done(frame);
        if was_reading && self.arrivals.noted {
            self.arrivals.waiting.push_back(self.pool.page_of(frame));
        }
    }

    /// Carries out the end of a read that nobody waited for, and starts the next one. A page that
    /// was discarded meanwhile is left alone, also if it has come into being anew.
    pub(super) fn settle_arrival(&mut self, done: SimTime, reading: Reading) {
        for page in (reading.first.0..reading.first.0 + reading.pages).map(PageId) {
            if let Some(frame) = self.pool.frame_of(page)
                && self.pool.reading_until(frame) == Some(done)
            {
                self.read_arrived(frame);
            }
        }
        self.start_readers(done);
    }
}
