//! The buffer pool: which pages are in memory, which are dirty, and who must leave.
//!
//! This is `InnoDB`'s pool (`MySQL` 5.1 source, buf0buf.c, buf0lru.c, buf0flu.c): an LRU list with a
//! midpoint, a free list and a list of dirty pages for each instance. Other pools are settings of
//! it: no old part is plain LRU. The pool decides and does no I/O; [`crate::Machine`] does.

mod config;
mod frame;
mod list;
mod page_set;
mod tail;

pub use config::{MakeYoung, Margin, MarginCounts, Neighbours, PoolConfig};

use std::collections::HashMap;

use crate::machine::List;
use crate::{FrameId, HugeVec, Lsn, PageId, Purpose, SimTime};
use frame::{CHANGED, DIRTY, Frame, LEFT, OLD, READING, WRITING};
use list::{Instance, Links};
use page_set::PageSet;

/// Fewest frames of an instance: an operation may hold several pages at once.
const FRAMES_MIN: u32 = 8;

/// Counters of the pool since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolStats {
    /// Requests of pages by operations that were carried out, those of absent pages included that
    /// they could do without.
    pub requests: u64,
    /// Pages that had to be read first.
    pub reads: u64,
    /// Pages that came into being in memory; not those discarded so shortly before that a server,
    /// which leaves such in their frames, finds them there (`MySQL` 5.1 source, buf0buf.c:
    /// `buf_page_create`).
    pub creates: u64,
    /// Pages that lost their frame.
    pub evictions: u64,
    /// Pages moved from the old part of the LRU list to its head because they were used.
    pub made_young: u64,
}

impl PoolStats {
    /// What was counted since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            requests: self.requests - earlier.requests,
            reads: self.reads - earlier.reads,
            creates: self.creates - earlier.creates,
            evictions: self.evictions - earlier.evictions,
            made_young: self.made_young - earlier.made_young,
        }
    }
}

/// See the module's documentation.
pub(crate) struct BufferPool {
    config: PoolConfig,
    frames: HugeVec<Frame>,
    /// Frame of each page, [`FrameId::NONE`] if it has none.
    table: HugeVec<FrameId>,
    /// Pages with a frame that is DIRTY.
    dirty: PageSet,
    /// Discarded pages, and the evictions of their instance before.
    discarded: HashMap<PageId, u32>,
    /// When a frame's read or write is done; meaningful while it is READING or WRITING.
    ready_at: HugeVec<SimTime>,
    /// Where the log ended when a frame's page became dirty; meaningful while it is DIRTY.
    oldest_change: HugeVec<Lsn>,
    instances: Vec<Instance>,
    /// Pages that are LEFT.
    left: u64,
    stats: PoolStats,
}

impl BufferPool {
    /// An empty pool, for about `pages` pages of data.
    ///
    /// # Panics
    /// If there are too few frames to work with, or the old part may begin before the young one
    /// has its least length.
    pub(crate) fn new(config: PoolConfig, pages: usize) -> Self {
        assert!(FRAMES_MIN * config.instances <= config.frames, "{} frames", config.frames);
        assert!(
            PoolConfig::OLD_LEN_MIN <= config.old_len_min,
            "old_len_min {}",
            config.old_len_min
        );
        let mut frames = HugeVec::with_capacity(config.frames as usize);
        frames.extend_to(config.frames as usize, Frame::EMPTY);
        let per_instance = config.frames / config.instances;
        let mut instances: Vec<_> = (0..config.instances).map(|_| Instance::new(&config)).collect();
        for frame in (0..config.instances * per_instance).rev() {
            let instance = frame / per_instance;
            frames[frame as usize].instance = instance as u16;
            instances[instance as usize].free_push(&mut frames, FrameId(frame));
        }
        let mut ready_at = HugeVec::with_capacity(config.frames as usize);
        ready_at.extend_to(config.frames as usize, SimTime::ZERO);
        let mut oldest_change = HugeVec::with_capacity(config.frames as usize);
        oldest_change.extend_to(config.frames as usize, Lsn(0));
        Self {
            ready_at,
            oldest_change,
            table: HugeVec::with_capacity(pages),
            dirty: PageSet::default(),
            discarded: HashMap::new(),
            config,
            frames,
            instances,
            left: 0,
            stats: PoolStats::default(),
        }
    }

    pub(crate) fn stats(&self) -> &PoolStats {
        &self.stats
    }

    /// Dirty pages now.
    pub(crate) fn dirty_len(&self) -> u64 {
        self.instances.iter().map(|instance| u64::from(instance.dirty.len)).sum()
    }

    /// The same with the pages that flushes of the LRU list have written and left in place: the
    /// list of dirty pages loses them when somebody looks at them (`MariaDB` 10.11 source,
    /// buf0flu.cc: `delete_from_flush_list`). An upper bound: those at its old end leave earlier.
    pub(crate) fn listed_dirty_len(&self) -> u64 {
        self.dirty_len() + self.left
    }

    /// Frames without a page now.
    pub(crate) fn free_len(&self) -> u64 {
        self.instances.iter().map(|instance| u64::from(instance.free_len)).sum()
    }

    /// The frame of `page`, whether its read is done or not.
    #[inline]
    pub(crate) fn frame_of(&self, page: PageId) -> Option<FrameId> {
        match self.table.get(page.index()) {
            Some(frame) if !frame.is_none() => Some(*frame),
            _ => None,
        }
    }

    /// The same, where the page was found last time being known: no look at the page table if it
    /// is still there.
    #[inline]
    pub(crate) fn frame_near(&self, page: PageId, guess: FrameId) -> Option<FrameId> {
        match self.frames.get(guess.index()) {
            Some(frame) if frame.page == page => Some(guess),
            _ => self.frame_of(page),
        }
    }

    /// The page in a frame.
    pub(crate) fn page_of(&self, frame: FrameId) -> PageId {
        self.frames[frame.index()].page
    }

    /// Which instance keeps `page`: areas of 64 pages stay together (buf0buf.h).
    pub(crate) fn instance_of(&self, page: PageId) -> usize {
        if self.instances.len() == 1 {
            0
        } else {
            (page.0 / self.config.area_pages) as usize % self.instances.len()
        }
    }

    /// Loads the processor's caches with the entry of a page in the page table.
    #[inline]
    fn prefetch_entry(&self, page: PageId) {
        self.table.prefetch(page.index());
    }

    /// Loads the processor's caches with the frame of a page.
    #[inline]
    pub(crate) fn prefetch_frame(&self, page: PageId) {
        if let Some(frame) = self.frame_of(page) {
            self.frames.prefetch(frame.index());
        }
    }

    /// Loads the processor's caches with a frame.
    #[inline]
    pub(crate) fn prefetch_guess(&self, guess: FrameId) {
        self.frames.prefetch(guess.index());
    }

    /// Once that is done: with the frames that a move to the head of the list would change, or
    /// with what a look at the page table needs, if the page is in another frame or in none.
    #[inline]
    pub(crate) fn prefetch_use(&self, page: PageId, guess: FrameId) {
        match self.frames.get(guess.index()) {
            Some(frame) if frame.page == page => {
                self.frames.prefetch(frame.prev.index());
                self.frames.prefetch(frame.next.index());
            }
            _ => self.prefetch_entry(page),
        }
    }

    /// `Some(when)` if the page's read is not done at `now`.
    #[inline]
    pub(crate) fn reading_until(&self, frame: FrameId) -> Option<SimTime> {
        (self.frames[frame.index()].flags & READING != 0).then(|| self.ready_at[frame.index()])
    }

    /// `Some(when)` if the page is being written.
    #[inline]
    pub(crate) fn writing_until(&self, frame: FrameId) -> Option<SimTime> {
        (self.frames[frame.index()].flags & WRITING != 0).then(|| self.ready_at[frame.index()])
    }

    /// The page is used: it moves to the head of the list if its rule says so.
    #[inline]
    pub(crate) fn touch(&mut self, id: FrameId, now: SimTime) {
        self.stats.requests += 1;
        self.use_frame(id, now);
    }

    /// The page is used beside the way of a search.
    #[inline]
    pub(crate) fn visit(&mut self, id: FrameId, now: SimTime) {
        self.stats.requests += 1;
        if self.config.make_young == MakeYoung::Any {
            self.use_frame(id, now);
        }
    }

    /// A page was asked for that is absent, and not needed.
    pub(crate) fn miss(&mut self) {
        self.stats.requests += 1;
    }

    #[inline]
    fn use_frame(&mut self, id: FrameId, now: SimTime) {
        let frame = &mut self.frames[id.index()];
        let instance = &mut self.instances[frame.instance as usize];
        if self.config.old_blocks_ms != 0 && frame.flags & OLD != 0 {
            let now_ms = frame::milliseconds(now);
            if frame.first_use_ms == 0 {
                frame.first_use_ms = now_ms;
                return;
            }
            // No page moves before one was evicted (MySQL 5.5 source, buf0buf.ic:
            // buf_page_peek_if_too_old).
            if instance.evictions == 0
                || now_ms.wrapping_sub(frame.first_use_ms) < self.config.old_blocks_ms
            {
                return;
            }
        } else if instance.evictions.wrapping_sub(frame.stamp) <= instance.young_distance {
            return;
        }
        self.make_young(id);
    }

    /// Moves a page to the head of the list.
    pub(crate) fn make_young(&mut self, id: FrameId) {
        let frame = self.frames[id.index()];
        self.stats.made_young += u64::from(frame.flags & OLD != 0);
        let instance = &mut self.instances[frame.instance as usize];
        instance.remove(&mut self.frames, id);
        instance.add_young(&mut self.frames, id);
        self.frames[id.index()].stamp = instance.evictions;
    }

    /// The page was changed; the log of the change began at `lsn`.
    #[inline]
    pub(crate) fn mark_dirty(&mut self, id: FrameId, lsn: Lsn) {
        let frame = &mut self.frames[id.index()];
        if frame.flags & (WRITING | CHANGED) == WRITING {
            // The changes of before are on their way to the device: it is dirty since this one.
            frame.flags |= CHANGED;
            self.undirty(id);
        }
        let frame = &mut self.frames[id.index()];
        if frame.flags & DIRTY == 0 {
            let instance = &mut self.instances[frame.instance as usize];
            instance.spare_lost(frame);
            self.left -= u64::from(frame.flags & LEFT != 0);
            frame.flags = frame.flags & !LEFT | DIRTY;
            self.dirty.insert(frame.page);
            instance.dirty_push(&mut self.frames, id);
            instance.dirty.lsn_sum += u128::from(lsn.0);
            self.oldest_change[id.index()] = lsn;
        }
    }

    /// The oldest change that is not on the device.
    pub(crate) fn oldest_lsn(&self) -> Option<Lsn> {
        let oldest = self.instances.iter().map(|instance| instance.dirty.oldest);
        oldest.filter(|id| !id.is_none()).map(|id| self.oldest_change[id.index()]).min()
    }

    /// Dirty pages of an instance, and the sum of the places in the log where they became dirty.
    pub(crate) fn dirty_of(&self, instance: usize) -> (u32, u128) {
        let dirty = &self.instances[instance].dirty;
        (dirty.len, dirty.lsn_sum)
    }

    /// How many pages became dirty before `lsn`, counting no further than `most`.
    pub(crate) fn dirty_before(&self, lsn: Lsn, most: u32) -> u32 {
        let mut count = 0;
        for instance in &self.instances {
            let mut id = instance.dirty.oldest;
            while count < most && !id.is_none() && self.oldest_change[id.index()] < lsn {
                count += 1;
                id = self.frames[id.index()].dirty_prev;
            }
        }
        count
    }

    /// The page of `instance` that has been dirty for longest, can be written now and became dirty
    /// before `older_than`; from `from` on.
    pub(crate) fn next_dirty(
        &self,
        instance: usize,
        from: Option<FrameId>,
        older_than: Lsn,
    ) -> Option<FrameId> {
        let mut id = match from {
            None => self.instances[instance].dirty.oldest,
            Some(frame) => self.frames[frame.index()].dirty_prev,
        };
        while !id.is_none() && self.oldest_change[id.index()] < older_than {
            if self.frames[id.index()].is_writable() {
                return Some(id);
            }
            id = self.frames[id.index()].dirty_prev;
        }
        None
    }

    /// Pages in the LRU lists.
    pub(crate) fn used_len(&self) -> u64 {
        self.instances.iter().map(|instance| u64::from(instance.len)).sum()
    }

    pub(crate) fn pin(&mut self, id: FrameId) {
        let frame = &mut self.frames[id.index()];
        self.instances[frame.instance as usize].spare_lost(frame);
        frame.pins += 1;
    }

    pub(crate) fn unpin(&mut self, id: FrameId) {
        let frame = &mut self.frames[id.index()];
        frame.pins -= 1;
        if frame.pins != 0 {
            return;
        }
        let instance = &mut self.instances[frame.instance as usize];
        if frame.page.is_none() {
            // Its page was discarded meanwhile.
            instance.free_push(&mut self.frames, id);
        } else {
            instance.unblocked(&mut self.frames, id);
        }
    }

    /// An instance in which `count` frames cannot be had without waiting.
    pub(crate) fn short_of(&mut self, count: u32) -> Option<usize> {
        let Self { instances, frames, .. } = self;
        instances.iter_mut().position(|list| list.count_available(frames, count) < count)
    }

    /// A frame for a new page of `instance`: a free one, or that of the least recently used page
    /// that is clean and unused. Tells which page left.
    pub(crate) fn take(&mut self, instance: usize) -> Option<(FrameId, Option<PageId>)> {
        let list = &mut self.instances[instance];
        if let Some(frame) = list.free_pop(&mut self.frames) {
            return Some((frame, None));
        }
        let frame = list.find_victim(&mut self.frames)?;
        list.flushed_at_tail = list.flushed_at_tail.saturating_sub(1);
        let page = self.evict(frame);
        Some((frame, Some(page)))
    }

    /// Takes a page that is clean and unused out of its frame, which then belongs to nobody.
    fn evict(&mut self, id: FrameId) -> PageId {
        let list = &mut self.instances[self.frames[id.index()].instance as usize];
        list.evictions = list.evictions.wrapping_add(1);
        self.take_out(id)
    }

    /// Takes a page out of the list and the tables, without counting it as evicted in its instance.
    fn take_out(&mut self, id: FrameId) -> PageId {
        let page = self.frames[id.index()].page;
        let instance = self.frames[id.index()].instance;
        let list = &mut self.instances[instance as usize];
        list.remove(&mut self.frames, id);
        if let Some(ahead) = list.step_scout(&self.frames) {
            // The flush will look for the neighbours of this page.
            let ahead = self.frames[ahead.index()].page;
            for page in self.dirty_around(ahead) {
                self.table.prefetch(page.index());
            }
        }
        self.table[page.index()] = FrameId::NONE;
        self.stats.evictions += 1;
        self.left -= u64::from(self.frames[id.index()].flags & LEFT != 0);
        self.frames[id.index()] = Frame { instance, ..Frame::EMPTY };
        page
    }

    /// A page is read into a frame that was taken: it enters the old part of the list.
    pub(crate) fn place_read(
        &mut self,
        id: FrameId,
        (page, purpose): (PageId, Purpose),
        ready_at: SimTime,
    ) {
        self.stats.reads += 1;
        self.stats.requests += u64::from(self.config.reads_check_bitmap && purpose.is_of_a_leaf());
        self.place(id, page);
        self.ready_at[id.index()] = ready_at;
        let frame = &mut self.frames[id.index()];
        let instance = &mut self.instances[frame.instance as usize];
        frame.flags |= READING;
        // A stamp of zero in the source: the first use moves the page to the head, once a
        // young distance of evictions has happened at all.
        let long_ago = instance.young_distance.wrapping_add(1);
        frame.stamp = if instance.warm { instance.evictions.wrapping_sub(long_ago) } else { 0 };
        instance.warm |= instance.young_distance < instance.evictions;
        instance.add_old(&mut self.frames, id);
    }

    /// The page's read is done; tells whether it was not before.
    pub(crate) fn read_done(&mut self, id: FrameId) -> bool {
        let frame = &mut self.frames[id.index()];
        let was_reading = frame.flags & READING != 0;
        frame.flags &= !READING;
        self.instances[frame.instance as usize].unblocked(&mut self.frames, id);
        was_reading
    }

    /// The device has the read of a page and is done with it then.
    pub(crate) fn read_ends_at(&mut self, id: FrameId, done: SimTime) {
        self.ready_at[id.index()] = done;
    }

    /// Frees as many clean pages from the tails as flushes have put there since the last call, less
    /// those that were evicted meanwhile (buf0lru.c, `buf_LRU_try_free_flushed_blocks`).
    pub(crate) fn free_flushed(&mut self) {
        for instance in 0..self.instances.len() {
            while 0 < self.instances[instance].flushed_at_tail {
                self.instances[instance].flushed_at_tail -= 1;
                let list = &mut self.instances[instance];
                let Some(frame) = list.find_victim(&mut self.frames) else { break };
                self.free(frame);
            }
        }
    }

    /// A page is created in a frame that was taken: it enters at the head of the list, dirty.
    pub(crate) fn place_new(&mut self, id: FrameId, page: PageId, now: SimTime, lsn: Lsn) {
        self.place(id, page);
        self.stats.creates += u64::from(!self.take_discarded(page));
        let instance = &mut self.instances[self.frames[id.index()].instance as usize];
        instance.add_young(&mut self.frames, id);
        let frame = &mut self.frames[id.index()];
        frame.stamp = instance.evictions;
        frame.first_use_ms = frame::milliseconds(now);
        self.mark_dirty(id, lsn);
    }

    /// Whether a page that is created again was discarded so shortly before that it would not have
    /// left the old part of the list meanwhile.
    fn take_discarded(&mut self, page: PageId) -> bool {
        let instance = &self.instances[self.instance_of(page)];
        let evictions = self.discarded.remove(&page);
        evictions.is_some_and(|then| instance.evictions.wrapping_sub(then) < instance.old_len())
    }

    fn place(&mut self, id: FrameId, page: PageId) {
        if self.table.len() <= page.index() {
            let len = page.index() + self.config.area_pages as usize;
            self.table.extend_to(len, FrameId::NONE);
            self.dirty.extend_to(len);
        }
        debug_assert!(self.table[page.index()].is_none(), "{page:?} has a frame already");
        self.table[page.index()] = id;
        self.frames[id.index()].page = page;
    }

    /// The page is gone for good (its index freed it): its frame becomes free, nothing is written.
    pub(crate) fn discard(&mut self, page: PageId) {
        let Some(id) = self.frame_of(page) else { return };
        self.written(id);
        self.undirty(id);
        let Frame { pins, instance, .. } = self.frames[id.index()];
        let evictions = self.instances[instance as usize].evictions;
        self.discarded.insert(page, evictions);
        // A server leaves it in its frame until its turn has come to be evicted, MariaDB 10.11 until
        // a flush meets it: hardly before others are evicted.
        if evictions == 0 {
            self.take_out(id)
        } else {
            self.evict(id)
        };
        match pins {
            0 => self.instances[instance as usize].free_push(&mut self.frames, id),
            pins => self.frames[id.index()].pins = pins,
        }
    }

    fn free(&mut self, id: FrameId) {
        let page = self.evict(id);
        debug_assert!(!page.is_none());
        let instance = &mut self.instances[self.frames[id.index()].instance as usize];
        instance.free_push(&mut self.frames, id);
    }

    /// How many pages an LRU flush of `instance` should write so that readers find frames: 0 if
    /// enough are replaceable (buf0flu.c, `buf_flush_LRU_recommendation`).
    pub(crate) fn margin_shortage(&mut self, instance: usize) -> u32 {
        let margin = &self.config.margin;
        let list = &mut self.instances[instance];
        let mut spares = list.free_len;
        if margin.counts == MarginCounts::FreeAndClean && spares < margin.low {
            spares += list.spares(&mut self.frames, margin.scan, margin.low - spares);
        }
        if margin.low <= spares { 0 } else { margin.high - spares }
    }

    /// The next page of `instance` from the tail on, or from where a batch has got to, that can be
    /// written; clean pages on the way are freed. `None` when so many frames are free as the
    /// margin asks for, the `under_way` ones counted, or the scan has gone its length. Who waits
    /// for `wanted` frames has it go on until there are so many.
    pub(crate) fn next_at_tail(
        &mut self,
        instance: usize,
        scanned: &mut u32,
        under_way: u32,
        wanted: u32,
    ) -> Option<FrameId> {
        loop {
            let list = &self.instances[instance];
            let have = list.free_len + under_way;
            let enough = self.config.margin.high.max(wanted) <= have;
            let id = if *scanned == 0 { list.tail } else { list.hazard };
            let went_far = wanted <= have && self.config.margin.scan <= *scanned;
            if enough || id.is_none() || went_far {
                return None;
            }
            *scanned += 1;
            self.instances[instance].hazard = self.frames[id.index()].prev;
            if self.frames[id.index()].is_replaceable() {
                self.free(id);
            } else if self.frames[id.index()].is_writable() {
                return Some(id);
            }
        }
    }

    /// The least recently used page of `instance` that could be written now, from `from` on
    /// towards the head.
    pub(crate) fn next_writable(&self, instance: usize, from: Option<FrameId>) -> Option<FrameId> {
        let mut id = match from {
            None => self.instances[instance].tail,
            Some(frame) => self.frames[frame.index()].prev,
        };
        while !id.is_none() {
            if self.frames[id.index()].is_writable() {
                return Some(id);
            }
            id = self.frames[id.index()].prev;
        }
        None
    }

    /// A flush of the tail went as far as `frame`.
    pub(crate) fn flush_ended(&mut self, instance: usize, frame: FrameId) {
        self.instances[instance].start_scout(frame);
    }

    /// Loads the processor's caches with what the end of the frame's write will change.
    pub(crate) fn prefetch_links(&self, frame: FrameId) {
        let frame = &self.frames[frame.index()];
        for link in [frame.prev, frame.next, frame.dirty_prev, frame.dirty_next] {
            self.frames.prefetch(link.index());
        }
    }

    /// The dirty pages in the area of `page`.
    pub(crate) fn dirty_around(&self, page: PageId) -> impl Iterator<Item = PageId> {
        let area = self.config.area_pages;
        let first = page.0 / area * area;
        self.dirty.within(first..first + area)
    }

    /// Whether `page` can go along with a neighbour that is written: dirty and unused, and for a
    /// flush of the LRU list in its old part, unless the pool's rule is plain LRU.
    pub(crate) fn goes_along(&self, page: PageId, list: List) -> Option<FrameId> {
        let id = self.frame_of(page)?;
        let frame = &self.frames[id.index()];
        let is_old = frame.flags & OLD != 0 || self.config.old_fraction == 0.0;
        (frame.is_writable() && (is_old || list == List::Dirty)).then_some(id)
    }

    /// The page is going to be written: nobody changes it until that is done.
    pub(crate) fn write_begins(&mut self, id: FrameId) {
        self.frames[id.index()].flags |= WRITING;
        self.ready_at[id.index()] = SimTime::NEVER;
    }

    /// The device has the write of a page and is done with it then.
    pub(crate) fn write_ends_at(&mut self, id: FrameId, done: SimTime) {
        if self.frames[id.index()].flags & WRITING != 0 {
            self.ready_at[id.index()] = done;
        }
    }

    /// A page that was written is clean: it stays where it is.
    pub(crate) fn write_done(&mut self, id: FrameId) {
        self.written(id);
    }

    /// A page that an LRU flush wrote is clean: it goes to the tail, or is freed at once where
    /// the margin counts free frames only.
    pub(crate) fn lru_write_done(&mut self, id: FrameId) {
        if !self.written(id) {
            return;
        }
        if let MarginCounts::Free { frees_written: false, .. } = self.config.margin.counts {
            self.frames[id.index()].flags |= LEFT;
            self.left += 1;
            return;
        }
        let frame = &self.frames[id.index()];
        let instance = &mut self.instances[frame.instance as usize];
        if self.config.margin.frees_written() && frame.pins == 0 {
            self.free(id);
        } else {
            instance.remove(&mut self.frames, id);
            instance.add_tail(&mut self.frames, id);
            instance.flushed_at_tail += 1;
            instance.spare_at_tail(&mut self.frames, id);
        }
    }

    /// The write of a page is over. Tells whether the page is clean.
    fn written(&mut self, id: FrameId) -> bool {
        let frame = &mut self.frames[id.index()];
        let changed = frame.flags & CHANGED != 0;
        frame.flags &= !(WRITING | CHANGED);
        if !changed {
            self.undirty(id);
        }
        let instance = &mut self.instances[self.frames[id.index()].instance as usize];
        instance.unblocked(&mut self.frames, id);
        !changed
    }

    fn undirty(&mut self, id: FrameId) {
        let frame = &mut self.frames[id.index()];
        if frame.flags & DIRTY == 0 {
            return;
        }
        frame.flags &= !DIRTY;
        self.dirty.remove(frame.page);
        let instance = &mut self.instances[frame.instance as usize];
        instance.dirty_remove(&mut self.frames, id);
        instance.dirty.lsn_sum -= u128::from(self.oldest_change[id.index()].0);
    }

    /// Panics if lists, table and flags contradict each other: for tests.
    pub(crate) fn verify(&self) {
        for (number, instance) in self.instances.iter().enumerate() {
            let links = Links { frames: &self.frames };
            instance.verify(&links, number as u32);
            instance.verify_tail(&self.frames, self.config.margin.scan);
        }
        let left = self.frames.iter().filter(|frame| frame.flags & LEFT != 0);
        assert!(left.clone().all(|frame| frame.flags & DIRTY == 0), "a page left clean is dirty");
        assert_eq!(left.count() as u64, self.left, "pages that flushes have left");
        let resident = self.table.iter().filter(|frame| !frame.is_none()).count() as u64;
        let listed: u64 = self.instances.iter().map(|instance| u64::from(instance.len)).sum();
        assert_eq!(resident, listed, "pages in the table and in the LRU lists");
        for (page, frame) in self.table.iter().enumerate().filter(|(_, frame)| !frame.is_none()) {
            let frame = &self.frames[frame.index()];
            assert_eq!(frame.page.index(), page, "the frame's page");
            let noted = self.dirty.within(frame.page.0..frame.page.0 + 1).next().is_some();
            assert_eq!(noted, frame.flags & DIRTY != 0, "whether page {page} is dirty");
        }
    }
}
