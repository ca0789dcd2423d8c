//! A flush batch: dirty pages of one list on their way to the device, phase by phase.
//!
//! Rules from `MySQL` 5.1 source, buf0flu.c: pages are collected with their neighbours, the log is
//! made durable as far as they need it, a copy goes to the doublewrite buffer, which is synced;
//! then the pages go to their places, and when all have got there the data files are synced. One
//! batch at a time writes the doublewrite buffer. Pages are latched one by one as they are copied
//! there, so a batch that waits for it latches none; and all that wait fill it together when it is
//! free again, until it is full or one of them has no more pages. Without it the pages go to their
//! places at once, and only who writes the oldest changes waits until they have got there.

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
    /// Pages collected and not yet posted, those of batches that have joined this one included.
    pages: Vec<Latched>,
    id: Option<BatchId>,
}

/// A page that is latched to be written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Latched {
    page: PageId,
    frame: FrameId,
    /// The batch that took it.
    batch: BatchId,
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
    /// Others who waited for the doublewrite buffer add pages of theirs.
    Gather,
    /// Its pages are in the doublewrite buffer, which another batch writes in this round.
    Joined(u64),
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
                    if batch.left == 0 {
                        self.batches.end(id);
                        return Ok(());
                    }
                    let taken = match self.config.write_back.doublewrite_pages {
                        0 => Ok(u32::MAX),
                        pages => self.batches.take_doublewrite(id).map(|()| pages),
                    };
                    let room = match taken {
                        Ok(room) => room,
                        Err(other) => match self.batches.room_to_join() {
                            0 => {
                                let cause = batch.cause(Cause::Doublewrite);
                                return Err(self.wait_for_batch(thread, other, cause, Some(id)));
                            }
                            room => room,
                        },
                    };
                    self.collect(thread, batch, id, room);
                    if batch.pages.is_empty() {
                        self.batches.end(id);
                        return Ok(());
                    }
                    if taken.is_err() {
                        Phase::Joined(self.batches.join(&mut batch.pages))
                    } else if self.has_doublewrite() && self.batches.others_wait() {
                        let left = room - (batch.pages.len() as u32).min(room);
                        self.batches.open(left);
                        let until = thread.now() + NEXT_INSTANT + NEXT_INSTANT;
                        batch.phase = Phase::Gather;
                        self.wait_in_batch(thread, id, until, batch.cause(Cause::Doublewrite))?;
                        continue;
                    } else {
                        Phase::Log(self.log_end())
                    }
                }
                Phase::Gather => {
                    batch.pages.append(&mut self.batches.close());
                    Phase::Log(self.log_end())
                }
                Phase::Joined(round) => {
                    if let Some(writer) = self.batches.writer(round) {
                        let cause = batch.cause(Cause::Doublewrite);
                        return Err(self.wait_for_batch(thread, writer, cause, Some(id)));
                    }
                    Phase::Collect
                }
                Phase::Log(end) => {
                    self.log_before_pages(thread, batch, id, end)?;
                    if self.has_doublewrite() { Phase::Doublewrite } else { Phase::Post }
                }
                Phase::Doublewrite => {
                    let cause = batch.cause(Cause::Doublewrite);
                    let now = thread.now();
                    let done = self.write_doublewrite(now, batch.pages.len() as u32);
                    batch.phase = Phase::Post;
                    self.wait_in_batch(thread, id, done, cause)?;
                    continue;
                }
                Phase::Post => {
                    self.post_pages(thread.now(), batch);
                    if self.has_doublewrite() || batch.wanted.list == List::Dirty {
                        Phase::Writing
                    } else {
                        Phase::Collect
                    }
                }
                Phase::Writing => {
                    while self.batches.is_outstanding(id, self.has_doublewrite()) {
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

    /// Takes the next pages of the list with their neighbours: as many as there is `room` for, or
    /// all that are wanted.
    fn collect(&mut self, thread: &mut SimThread, batch: &mut FlushBatch, id: BatchId, room: u32) {
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
            self.collect_area(frame, id, &mut batch.pages);
            batch.pages.truncate(room as usize);
            for latched in &batch.pages[before..] {
                self.pool.write_begins(latched.frame);
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
    fn collect_area(&mut self, victim: FrameId, batch: BatchId, pages: &mut Vec<Latched>) {
        let page = self.pool.page_of(victim);
        let list = batch.list;
        let latched = |page, frame| Latched { page, frame, batch };
        let area = self.config.pool.area_pages;
        let first = page.0 / area * area;
        match self.config.pool.neighbours {
            Neighbours::None => pages.push(latched(page, victim)),
            Neighbours::Area => {
                // Two rounds, so that the processor loads all frames at once.
                for neighbour in self.pool.dirty_around(page) {
                    self.pool.prefetch_frame(neighbour);
                }
                // The page itself first: it goes even if the room ends here.
                pages.push(latched(page, victim));
                for neighbour in self.pool.dirty_around(page) {
                    if neighbour != page
                        && let Some(frame) = self.pool.goes_along(neighbour, list)
                    {
                        pages.push(latched(neighbour, frame));
                    }
                }
            }
            Neighbours::Contiguous => {
                let along = |p: u32| {
                    let page = PageId(p);
                    self.pool.goes_along(page, list).map(|frame| latched(page, frame))
                };
                pages.push(latched(page, victim));
                pages.extend((first..page.0).rev().map_while(along));
                pages.extend((page.0 + 1..first + area).map_while(along));
            }
        }
    }

    /// Gives the pages of a batch to the device in the order of their places, adjacent ones as one
    /// request.
    fn post_pages(&mut self, now: SimTime, batch: &mut FlushBatch) {
        batch.pages.sort_unstable_by_key(|latched| latched.page);
        let follows = |a: &Latched, b: &Latched| a.page.0 + 1 == b.page.0 && a.batch == b.batch;
        for run in batch.pages.chunk_by(follows) {
            for latched in run {
                self.pool.prefetch_links(latched.frame);
            }
            self.post(now, run[0].page, run.len() as u32, run[0].batch);
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
        if batch.pages.iter().all(|latched| latched.batch.list == List::Lru) {
            return Ok(());
        }
        let waited = self.flush_log(thread, end, batch.cause(Cause::Log));
        if waited.is_err() {
            self.batches.waits(id, thread.now());
        }
        waited
    }
}
