//! A flush batch: dirty pages of one list on their way to the device, phase by phase.
//!
//! Rules from `MySQL` 5.1 source, buf0flu.c: pages are collected with their neighbours, the log is
//! made durable as far as they need it, a copy goes to the doublewrite buffer, which is synced;
//! then the pages go to their places, and when all have got there the data files are synced. One
//! batch at a time has the doublewrite buffer. Without it the pages go to their places at once,
//! and only who writes the oldest changes waits until they have got there.

use super::Machine;
use super::batches::{BatchId, List, NEXT_INSTANT, RETRY};
use crate::{Cause, FrameId, Lsn, MarginCounts, Neighbours, PageId, SimThread, SimTime, Step};

/// A batch and how far it is.
#[derive(Debug)]
pub(crate) struct FlushBatch {
    wanted: Wanted,
    /// Pages that are still to be collected.
    left: u32,
    /// Where all of its waits are booked, if not each by its kind.
    cause: Option<Cause>,
    phase: Phase,
    /// Pages collected so far, and pages that a page cleaner has looked at.
    written: u32,
    scanned: u32,
    /// Pages collected and not yet posted, in the order of their places.
    pages: Vec<(PageId, FrameId)>,
    id: Option<BatchId>,
}

/// What a batch is to write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// The list it takes pages from.
    pub(crate) list: List,
    /// The instance of the pool.
    pub(crate) instance: usize,
    /// Pages, neighbours included; it may get more by the neighbours of the last one.
    pub(crate) pages: u32,
    /// From the list of dirty pages, only those whose oldest change is older.
    pub(crate) older_than: Lsn,
    /// Free frames for which somebody waits, whatever the margin asks for.
    pub(crate) frames: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Collect,
    /// The log is made durable up to where it ended when the pages were latched.
    Log(Lsn),
    Doublewrite,
    Post,
    Writing,
    Synced,
}

impl FlushBatch {
    pub(crate) fn new(wanted: Wanted, cause: Option<Cause>) -> Self {
        Self {
            left: wanted.pages,
            wanted,
            cause,
            phase: Phase::Collect,
            written: 0,
            scanned: 0,
            pages: Vec::new(),
            id: None,
        }
    }

    /// The list and the instance of a batch that has not begun.
    pub(super) fn waits_for_list(&self) -> Option<(List, usize)> {
        self.id.is_none().then_some((self.wanted.list, self.wanted.instance))
    }

    fn cause(&self, kind: Cause) -> Cause {
        self.cause.unwrap_or(kind)
    }
}

impl Machine {
    /// Goes on with a batch until it waits or is over.
    pub(super) fn flush(&mut self, thread: &mut SimThread, batch: &mut FlushBatch) -> Step {
        let Wanted { list, instance, .. } = batch.wanted;
        let id = *batch.id.get_or_insert_with(|| self.batches.begin(list, instance, thread.now()));
        loop {
            batch.phase = match batch.phase {
                Phase::Collect => {
                    self.collect(thread, batch);
                    if batch.pages.is_empty() {
                        self.batches.end(id);
                        return Ok(());
                    }
                    Phase::Log(self.log_end())
                }
                Phase::Log(end) => {
                    self.log_before_pages(thread, batch, id, end)?;
                    if self.has_doublewrite() { Phase::Doublewrite } else { Phase::Post }
                }
                Phase::Doublewrite => {
                    let cause = batch.cause(Cause::Doublewrite);
                    if let Err(other) = self.batches.take_doublewrite(id) {
                        return Err(self.wait_for_batch(thread, other, cause, Some(id)));
                    }
                    let now = thread.now();
                    let done = self.write_doublewrite(now, batch.pages.len() as u32);
                    batch.phase = Phase::Post;
                    self.wait_in_batch(thread, id, done, cause)?;
                    continue;
                }
                Phase::Post => {
                    self.post_pages(thread.now(), batch, id);
                    if self.has_doublewrite() || batch.wanted.list == List::Dirty {
                        Phase::Writing
                    } else {
                        Phase::Collect
                    }
                }
                Phase::Writing => {
                    while 0 < self.batches.outstanding(id) {
                        let done = self.writers.next_done();
                        self.wait_in_batch(thread, id, done, batch.cause(Cause::Flush))?;
                        self.settle(thread.now());
                    }
                    batch.phase = Phase::Synced;
                    if !self.has_doublewrite() {
                        continue;
                    }
                    let done = self.sync_data(thread.now());
                    self.wait_in_batch(thread, id, done, batch.cause(Cause::Flush))?;
                    continue;
                }
                Phase::Synced => {
                    self.batches.release_doublewrite(id);
                    Phase::Collect
                }
            };
        }
    }

    fn has_doublewrite(&self) -> bool {
        0 < self.config.write_back.doublewrite_pages
    }

    /// The thread of a batch waits.
    fn wait_in_batch(
        &mut self,
        thread: &mut SimThread,
        id: BatchId,
        until: SimTime,
        cause: Cause,
    ) -> Step {
        if until <= thread.now() {
            return Ok(());
        }
        self.batches.waits(id, until);
        self.wait(thread, until, cause)
    }

    /// Waits for something another batch will do, not knowing when exactly.
    pub(super) fn wait_for_batch(
        &mut self,
        thread: &mut SimThread,
        other: BatchId,
        cause: Cause,
        own: Option<BatchId>,
    ) -> crate::Blocked {
        let soon = thread.now() + NEXT_INSTANT;
        let until = self.batches.until(other).map_or(soon, |until| until.max(soon));
        if let Some(own) = own {
            self.batches.waits(own, until);
        }
        thread.wait_until(until, cause)
    }

    /// When something may have changed for a thread that waits for pages that are not yet given
    /// to the device, or that others hold.
    pub(super) fn next_event(&self, now: SimTime) -> SimTime {
        match self.batches.next().min(self.next_io_done()) {
            SimTime::NEVER => now + RETRY,
            event => event.max(now + NEXT_INSTANT),
        }
    }

    /// Takes the next pages of the list with their neighbours: as many as the doublewrite buffer
    /// holds, or all that are wanted.
    fn collect(&mut self, thread: &mut SimThread, batch: &mut FlushBatch) {
        let room = match self.config.write_back.doublewrite_pages {
            0 => u32::MAX,
            pages => pages,
        };
        let Wanted { list, instance, older_than, frames, .. } = batch.wanted;
        batch.pages.clear();
        let mut at = None;
        let (cleans, frees_written) = match self.config.pool.margin.counts {
            MarginCounts::FreeAndClean => (false, false),
            MarginCounts::Free { frees_written, .. } => (true, frees_written),
        };
        while 0 < batch.left && (batch.pages.len() as u32) < room {
            let next = match list {
                List::Lru if cleans => {
                    let freed_soon = if frees_written { batch.written } else { 0 };
                    self.pool.next_at_tail(instance, &mut batch.scanned, freed_soon, frames)
                }
                List::Lru => self.pool.next_writable(instance, at),
                List::Dirty => self.pool.next_dirty(instance, at, older_than),
            };
            let Some(frame) = next else {
                batch.left = 0;
                break;
            };
            let before = batch.pages.len();
            self.collect_area(frame, list, &mut batch.pages);
            batch.pages.truncate(room as usize);
            for (_, frame) in &batch.pages[before..] {
                self.pool.write_begins(*frame);
            }
            let taken = (batch.pages.len() - before) as u32;
            batch.left = batch.left.saturating_sub(taken);
            batch.written += taken;
            if list == List::Dirty {
                thread.pages_flushed += u64::from(taken);
            }
            at = Some(frame);
        }
        if let (List::Lru, Some(frame)) = (list, at) {
            self.pool.flush_ended(instance, frame);
        }
    }

    /// Adds a page, and the neighbours that go with it, in the order of their places.
    fn collect_area(&mut self, victim: FrameId, list: List, pages: &mut Vec<(PageId, FrameId)>) {
        let page = self.pool.page_of(victim);
        let area = self.config.pool.area_pages;
        let first = page.0 / area * area;
        match self.config.pool.neighbours {
            Neighbours::None => pages.push((page, victim)),
            Neighbours::Area => {
                // Two rounds, so that the processor loads all frames at once.
                for neighbour in self.pool.dirty_around(page) {
                    self.pool.prefetch_frame(neighbour);
                }
                // The page itself first: it goes even if the room ends here.
                pages.push((page, victim));
                for neighbour in self.pool.dirty_around(page) {
                    if neighbour != page
                        && let Some(frame) = self.pool.goes_along(neighbour, list)
                    {
                        pages.push((neighbour, frame));
                    }
                }
            }
            Neighbours::Contiguous => {
                let along =
                    |p: &u32| self.pool.goes_along(PageId(*p), list).map(|f| (PageId(*p), f));
                pages.push((page, victim));
                pages.extend((first..page.0).rev().map_while(|p| along(&p)));
                pages.extend((page.0 + 1..first + area).map_while(|p| along(&p)));
            }
        }
    }

    /// Gives the pages of a batch to the device in the order of their places, adjacent ones as one
    /// request.
    fn post_pages(&mut self, now: SimTime, batch: &mut FlushBatch, id: BatchId) {
        batch.pages.sort_unstable_by_key(|(page, _)| *page);
        for run in batch.pages.chunk_by(|(a, _), (b, _)| a.0 + 1 == b.0) {
            for (_, frame) in run {
                self.pool.prefetch_links(*frame);
            }
            self.post(now, run[0].0, run.len() as u32, id);
        }
        self.start_writers(now);
        batch.pages.clear();
    }

    /// No page may get to the device before the log of its changes. Pages at the tail of the LRU
    /// list were changed long ago; those of the other list may have been changed just now.
    fn log_before_pages(
        &mut self,
        thread: &mut SimThread,
        batch: &FlushBatch,
        id: BatchId,
        end: Lsn,
    ) -> Step {
        if batch.wanted.list == List::Lru {
            return Ok(());
        }
        let waited = self.flush_log(thread, end, batch.cause(Cause::Log));
        if waited.is_err() {
            self.batches.waits(id, thread.now());
        }
        waited
    }
}
