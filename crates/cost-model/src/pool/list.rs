//! The lists of one pool instance: LRU with midpoint, free frames, dirty pages.
//!
//! `prev` points towards the most recently used end, the head. Rules from buf0lru.c.

use super::PoolConfig;
use super::frame::{Frame, OLD};
use super::tail::Tail;
use crate::FrameId;

/// The midpoint may be this many pages off its place before it is moved
/// (`BUF_LRU_OLD_TOLERANCE`).
const OLD_TOLERANCE: u32 = 20;
/// At least this many pages stay in the young part (`BUF_LRU_NON_OLD_MIN_LEN`).
const YOUNG_LEN_MIN: u32 = 5;

/// A list shorter than this has no old part, whatever the settings.
pub(super) const OLD_LEN_MIN: u32 = OLD_TOLERANCE + YOUNG_LEN_MIN + 1;

pub(super) struct Instance {
    pub(super) head: FrameId,
    pub(super) tail: FrameId,
    /// Pages in the LRU list.
    pub(super) len: u32,
    /// The first page of the old part; none while the list is short.
    old: FrameId,
    old_len: u32,
    old_fraction: f64,
    old_len_min: u32,
    free: FrameId,
    pub(super) free_len: u32,
    pub(super) dirty: DirtyList,
    /// Pages evicted so far; wraps.
    pub(super) evictions: u32,
    /// Evictions after which a used page is moved to the head again.
    pub(super) young_distance: u32,
    /// Whether that many evictions have happened.
    pub(super) warm: bool,
    /// The next page that a flush of the tail will look at; walks ahead of it, a step with each
    /// eviction, so that the processor has loaded what the flush will need.
    scout: FrameId,
    /// Pages that flushes have left at the tail, clean, and that nobody has taken since.
    pub(super) flushed_at_tail: u32,
    /// The next page that a batch of the page cleaner will look at.
    pub(super) hazard: FrameId,
    /// Pages nearer to the tail than this many are those that the flush margin is about.
    margin_scan: u32,
    pub(super) ahead: Tail,
}

/// Dirty pages in the order in which they became dirty.
pub(super) struct DirtyList {
    newest: FrameId,
    pub(super) oldest: FrameId,
    pub(super) len: u32,
    /// Sum of the places in the log where they became dirty.
    pub(super) lsn_sum: u128,
}

impl Default for DirtyList {
    fn default() -> Self {
        Self { newest: FrameId::NONE, oldest: FrameId::NONE, len: 0, lsn_sum: 0 }
    }
}

impl Instance {
    pub(super) fn new(config: &PoolConfig) -> Self {
        let PoolConfig { old_fraction, old_len_min, .. } = *config;
        let frames = f64::from(config.frames / config.instances);
        let young_distance = (frames * config.young_distance) as u32;
        let margin_scan = config.margin.scan;
        Self {
            head: FrameId::NONE,
            tail: FrameId::NONE,
            len: 0,
            old: FrameId::NONE,
            old_len: 0,
            old_fraction,
            old_len_min: if old_fraction > 0.0 { old_len_min } else { u32::MAX },
            free: FrameId::NONE,
            free_len: 0,
            dirty: DirtyList::default(),
            evictions: 0,
            young_distance,
            warm: false,
            scout: FrameId::NONE,
            flushed_at_tail: 0,
            hazard: FrameId::NONE,
            margin_scan,
            ahead: Tail::default(),
        }
    }

    /// Pages of the old part.
    pub(super) fn old_len(&self) -> u32 {
        self.old_len
    }

    /// How deep a search for a clean page goes before it gives up and has some written.
    pub(super) fn scan_limit(&self) -> u32 {
        100 + self.len / 10
    }

    pub(super) fn free_push(&mut self, frames: &mut [Frame], id: FrameId) {
        frames[id.index()].next = self.free;
        self.free = id;
        self.free_len += 1;
    }

    pub(super) fn free_pop(&mut self, frames: &mut [Frame]) -> Option<FrameId> {
        let id = self.free;
        if id.is_none() {
            return None;
        }
        self.free = frames[id.index()].next;
        frames[id.index()].next = FrameId::NONE;
        self.free_len -= 1;
        Some(id)
    }

    /// Adds a page at the head.
    pub(super) fn add_young(&mut self, frames: &mut [Frame], id: FrameId) {
        frames[id.index()].flags &= !OLD;
        self.link(frames, FrameId::NONE, id);
        self.after_add(frames);
    }

    /// Adds a page where the old part begins.
    pub(super) fn add_old(&mut self, frames: &mut [Frame], id: FrameId) {
        if self.old.is_none() {
            self.add_young(frames, id);
        } else {
            frames[id.index()].flags |= OLD;
            self.link(frames, self.old, id);
            self.old_len += 1;
            self.adjust_old(frames);
        }
    }

    /// Adds a page at the tail.
    pub(super) fn add_tail(&mut self, frames: &mut [Frame], id: FrameId) {
        if self.old.is_none() {
            frames[id.index()].flags &= !OLD;
            self.link(frames, self.tail, id);
            self.after_add(frames);
        } else {
            frames[id.index()].flags |= OLD;
            self.link(frames, self.tail, id);
            self.old_len += 1;
            self.adjust_old(frames);
        }
    }

    /// A flush of the tail went as far as `id`: the next one will go on there.
    pub(super) fn start_scout(&mut self, id: FrameId) {
        self.scout = id;
    }

    /// One step ahead; tells where the scout is now.
    pub(super) fn step_scout(&mut self, frames: &[Frame]) -> Option<FrameId> {
        let at = frames.get(self.scout.index())?.prev;
        self.scout = at;
        let next = frames.get(at.index())?.prev;
        if let Some(next) = frames.get(next.index()) {
            crate::prefetch(&raw const *next);
        }
        Some(at)
    }

    pub(super) fn remove(&mut self, frames: &mut [Frame], id: FrameId) {
        self.tail_shrinks(frames, id);
        if id == self.hazard {
            self.hazard = frames[id.index()].prev;
        }
        if id == self.scout {
            self.scout = frames[id.index()].prev;
        }
        if id == self.old {
            // The list is longer than its young minimum, so a younger page exists.
            self.old = frames[id.index()].prev;
            frames[self.old.index()].flags |= OLD;
            self.old_len += 1;
        }
        let frame = frames[id.index()];
        match frame.prev {
            FrameId::NONE => self.head = frame.next,
            prev => frames[prev.index()].next = frame.next,
        }
        match frame.next {
            FrameId::NONE => self.tail = frame.prev,
            next => frames[next.index()].prev = frame.prev,
        }
        self.len -= 1;
        if self.old.is_none() {
            return;
        }
        if frame.flags & OLD != 0 {
            self.old_len -= 1;
        }
        if self.len < self.old_len_min {
            self.drop_old(frames);
        } else {
            self.adjust_old(frames);
        }
    }

    pub(super) fn dirty_push(&mut self, frames: &mut [Frame], id: FrameId) {
        let newest = self.dirty.newest;
        frames[id.index()].dirty_next = newest;
        frames[id.index()].dirty_prev = FrameId::NONE;
        match newest {
            FrameId::NONE => self.dirty.oldest = id,
            newest => frames[newest.index()].dirty_prev = id,
        }
        self.dirty.newest = id;
        self.dirty.len += 1;
    }

    pub(super) fn dirty_remove(&mut self, frames: &mut [Frame], id: FrameId) {
        let Frame { dirty_prev, dirty_next, .. } = frames[id.index()];
        match dirty_prev {
            FrameId::NONE => self.dirty.newest = dirty_next,
            prev => frames[prev.index()].dirty_next = dirty_next,
        }
        match dirty_next {
            FrameId::NONE => self.dirty.oldest = dirty_prev,
            next => frames[next.index()].dirty_prev = dirty_prev,
        }
        self.dirty.len -= 1;
    }

    /// Links `id` in behind `anchor`, or at the head.
    fn link(&mut self, frames: &mut [Frame], anchor: FrameId, id: FrameId) {
        let is_near =
            anchor == self.tail || (!anchor.is_none() && self.old_len <= self.margin_scan);
        self.tail_grows(frames, anchor, is_near);
        let next = if anchor.is_none() { self.head } else { frames[anchor.index()].next };
        frames[id.index()].prev = anchor;
        frames[id.index()].next = next;
        match anchor {
            FrameId::NONE => self.head = id,
            anchor => frames[anchor.index()].next = id,
        }
        match next {
            FrameId::NONE => self.tail = id,
            next => frames[next.index()].prev = id,
        }
        self.len += 1;
    }

    fn after_add(&mut self, frames: &mut [Frame]) {
        if !self.old.is_none() {
            self.adjust_old(frames);
        } else if self.old_len_min <= self.len {
            // The whole list is old at first; adjusting it gives the young part its share.
            let mut id = self.head;
            while !id.is_none() {
                frames[id.index()].flags |= OLD;
                id = frames[id.index()].next;
            }
            self.old = self.head;
            self.old_len = self.len;
            self.adjust_old(frames);
        }
    }

    fn drop_old(&mut self, frames: &mut [Frame]) {
        let mut id = self.old;
        while !id.is_none() {
            frames[id.index()].flags &= !OLD;
            id = frames[id.index()].next;
        }
        self.old = FrameId::NONE;
        self.old_len = 0;
    }

    fn adjust_old(&mut self, frames: &mut [Frame]) {
        let share = (f64::from(self.len) * self.old_fraction) as u32;
        let target = share.min(self.len - (OLD_TOLERANCE + YOUNG_LEN_MIN).min(self.len));
        loop {
            if self.old_len + OLD_TOLERANCE < target {
                self.old = frames[self.old.index()].prev;
                frames[self.old.index()].flags |= OLD;
                self.old_len += 1;
            } else if target + OLD_TOLERANCE < self.old_len {
                frames[self.old.index()].flags &= !OLD;
                self.old = frames[self.old.index()].next;
                self.old_len -= 1;
            } else {
                break;
            }
        }
        // The midpoint moves by one page with nearly every read: the next one is known now.
        let old = &frames[self.old.index()];
        for neighbour in [old.prev, old.next] {
            if let Some(frame) = frames.get(neighbour.index()) {
                crate::prefetch(&raw const *frame);
            }
        }
    }
}

/// Read access to all frames, for checks.
pub(super) struct Links<'a> {
    pub(super) frames: &'a [Frame],
}

impl Instance {
    /// Panics if the lists contradict their counts or the frames' flags.
    pub(super) fn verify(&self, links: &Links<'_>, number: u32) {
        let (mut len, mut old_len, mut dirty, mut in_old) = (0, 0, 0, false);
        let (mut id, mut prev) = (self.head, FrameId::NONE);
        while !id.is_none() {
            let frame = &links.frames[id.index()];
            assert_eq!(frame.prev, prev, "backward link of {id:?}");
            assert_eq!(u32::from(frame.instance), number, "instance of {id:?}");
            in_old |= id == self.old;
            assert_eq!(frame.flags & OLD != 0, in_old, "old flag of {id:?}");
            len += 1;
            old_len += u32::from(in_old);
            dirty += u32::from(frame.flags & super::frame::DIRTY != 0);
            (prev, id) = (id, frame.next);
        }
        assert_eq!(prev, self.tail, "tail");
        assert_eq!((len, old_len, dirty), (self.len, self.old_len, self.dirty.len), "lengths");
        let (mut id, mut listed) = (self.dirty.oldest, 0);
        while !id.is_none() {
            listed += 1;
            id = links.frames[id.index()].dirty_prev;
        }
        assert_eq!(listed, self.dirty.len, "dirty list");
        let (mut id, mut free) = (self.free, 0);
        while !id.is_none() {
            free += 1;
            id = links.frames[id.index()].next;
        }
        assert_eq!(free, self.free_len, "free list");
    }
}
