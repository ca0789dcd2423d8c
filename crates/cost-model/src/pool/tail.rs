//! What is known of the tail of an LRU list, so that not every read walks along it.
//!
//! Two things are asked with every read: which page can be replaced, and whether enough of them
//! can. Dirty pages that lie at the tail would be passed again and again by the first question,
//! and the second is about a hundred pages. Both answers are kept here and corrected by what
//! happens to single pages.

use super::frame::{BLOCKED, Frame, SPARE};
use super::list::Instance;
use crate::FrameId;

/// See the module's documentation.
pub(super) struct Tail {
    /// Pages from the tail on that cannot be replaced, without a gap, marked `BLOCKED`; and the
    /// one of them nearest to the head.
    blocked: u32,
    blocked_end: FrameId,
    /// Replaceable pages that are marked `SPARE`.
    spares: u32,
    /// All of these are within as many pages from the tail as the margin is about, and the last
    /// page where one was looked for is this one.
    edge: FrameId,
}

impl Default for Tail {
    fn default() -> Self {
        Self { blocked: 0, blocked_end: FrameId::NONE, spares: 0, edge: FrameId::NONE }
    }
}

impl Instance {
    /// The least recently used page that can be replaced, unless the search would get too deep.
    pub(super) fn find_victim(&mut self, frames: &mut [Frame]) -> Option<FrameId> {
        let limit = self.scan_limit();
        let mut id = match self.ahead.blocked_end {
            FrameId::NONE => self.tail,
            end => frames[end.index()].prev,
        };
        while self.ahead.blocked < limit && !id.is_none() {
            let frame = &mut frames[id.index()];
            if frame.is_replaceable() {
                return Some(id);
            }
            frame.flags |= BLOCKED;
            self.ahead.blocked += 1;
            self.ahead.blocked_end = id;
            id = frame.prev;
        }
        None
    }

    /// How many frames can be had without waiting, counted up to `most`.
    pub(super) fn count_available(&mut self, frames: &mut [Frame], most: u32) -> u32 {
        let mut count = self.free_len;
        if most <= count {
            return count;
        }
        let Some(mut id) = self.find_victim(frames) else { return count };
        for _ in self.ahead.blocked..self.scan_limit() {
            if most <= count || id.is_none() {
                break;
            }
            let frame = &frames[id.index()];
            count += u32::from(frame.is_replaceable());
            id = frame.prev;
        }
        count
    }

    /// At least so many pages among the last `scan` can be replaced; exactly so many if they would
    /// be fewer than `enough`.
    pub(super) fn spares(&mut self, frames: &mut [Frame], scan: u32, enough: u32) -> u32 {
        if self.ahead.spares < enough {
            self.count_spares(frames, scan);
        }
        self.ahead.spares
    }

    fn count_spares(&mut self, frames: &mut [Frame], scan: u32) {
        (self.ahead.spares, self.ahead.edge) = (0, FrameId::NONE);
        let mut id = self.tail;
        for _ in 0..scan {
            if id.is_none() {
                break;
            }
            let frame = &mut frames[id.index()];
            self.ahead.edge = id;
            self.ahead.mark_spare(frame);
            id = frame.prev;
        }
    }

    /// A page that could be replaced is changed or taken in hand.
    #[inline]
    pub(super) fn spare_lost(&mut self, frame: &mut Frame) {
        if frame.flags & SPARE != 0 {
            frame.flags &= !SPARE;
            self.ahead.spares -= 1;
        }
    }

    /// A page may be replaceable that was not.
    #[inline]
    pub(super) fn unblocked(&mut self, frames: &mut [Frame], id: FrameId) {
        let frame = &frames[id.index()];
        if frame.flags & BLOCKED != 0 && frame.is_replaceable() {
            self.forget_blocked(frames);
        }
    }

    /// A page is about to be linked in behind `anchor`, towards the tail.
    #[inline]
    pub(super) fn tail_grows(&mut self, frames: &mut [Frame], anchor: FrameId, is_near: bool) {
        if frames.get(anchor.index()).is_some_and(|frame| frame.flags & BLOCKED != 0) {
            self.forget_blocked(frames);
        }
        if is_near && !self.ahead.edge.is_none() {
            // The page at the edge is one further from the tail.
            let edge = &mut frames[self.ahead.edge.index()];
            self.ahead.edge = edge.next;
            if edge.flags & SPARE != 0 {
                edge.flags &= !SPARE;
                self.ahead.spares -= 1;
            }
        }
    }

    /// A page at the tail can be replaced.
    pub(super) fn spare_at_tail(&mut self, frames: &mut [Frame], id: FrameId) {
        if !self.ahead.edge.is_none() {
            self.ahead.mark_spare(&mut frames[id.index()]);
        }
    }

    /// A page is about to leave its place in the list.
    #[inline]
    pub(super) fn tail_shrinks(&mut self, frames: &mut [Frame], id: FrameId) {
        let Frame { flags, next, .. } = frames[id.index()];
        if flags & BLOCKED != 0 {
            frames[id.index()].flags &= !BLOCKED;
            self.ahead.blocked -= 1;
            if id == self.ahead.blocked_end {
                self.ahead.blocked_end = next;
            }
        }
        if flags & SPARE == 0 && id != self.ahead.edge {
            return;
        }
        // The page beyond the edge comes nearer.
        let beyond = frames[self.ahead.edge.index()].prev;
        if id == self.ahead.edge {
            self.ahead.edge = next;
        }
        self.spare_lost(&mut frames[id.index()]);
        if let Some(frame) = frames.get_mut(beyond.index()) {
            self.ahead.edge = beyond;
            self.ahead.mark_spare(frame);
            let further = frame.prev;
            if let Some(further) = frames.get(further.index()) {
                crate::prefetch(&raw const *further);
            }
        }
    }

    #[cold]
    fn forget_blocked(&mut self, frames: &mut [Frame]) {
        let mut id = self.ahead.blocked_end;
        while !id.is_none() {
            frames[id.index()].flags &= !BLOCKED;
            id = frames[id.index()].next;
        }
        (self.ahead.blocked, self.ahead.blocked_end) = (0, FrameId::NONE);
    }

    /// Panics if what is known is wrong: for tests.
    pub(super) fn verify_tail(&self, frames: &[Frame], scan: u32) {
        let mut from_tail = Vec::new();
        let mut id = self.tail;
        while !id.is_none() {
            from_tail.push((id, frames[id.index()]));
            id = frames[id.index()].prev;
        }
        let is_blocked = |(_, frame): &&(FrameId, Frame)| frame.flags & BLOCKED != 0;
        let blocked: Vec<_> = from_tail.iter().take_while(is_blocked).collect();
        assert_eq!(blocked.len() as u32, self.ahead.blocked, "pages that block the tail");
        assert_eq!(from_tail.iter().filter(is_blocked).count(), blocked.len(), "blocked elsewhere");
        assert!(blocked.iter().all(|(_, frame)| !frame.is_replaceable()), "blocked for nothing");
        let end = blocked.last().map_or(FrameId::NONE, |(id, _)| *id);
        assert_eq!(end, self.ahead.blocked_end, "where the blocked pages end");
        let marked = |(_, frame): &&(FrameId, Frame)| frame.flags & SPARE != 0;
        let near = from_tail.iter().take(scan as usize).filter(marked);
        assert!(near.clone().all(|(_, frame)| frame.is_replaceable()), "spare for nothing");
        assert_eq!(near.count() as u32, self.ahead.spares, "spare pages at the tail");
        assert_eq!(
            from_tail.iter().filter(marked).count() as u32,
            self.ahead.spares,
            "spare pages anywhere"
        );
    }
}

impl Tail {
    fn mark_spare(&mut self, frame: &mut Frame) {
        if frame.is_replaceable() {
            frame.flags |= SPARE;
            self.spares += 1;
        } else {
            frame.flags &= !SPARE;
        }
    }
}
