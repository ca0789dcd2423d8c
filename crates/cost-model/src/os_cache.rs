//! The operating system's page cache under buffered I/O: a second level below the buffer pool.

use std::collections::BTreeSet;

use crate::{HugeVec, PageId};

const NONE: u32 = u32::MAX;

/// Pages the operating system keeps, least recently used first out.
///
/// A page is here after it was read or written. Dirty pages are written to the device when they
/// leave or the file is synced; until then a write costs only the copy into memory.
pub(crate) struct OsCache {
    slots: Vec<Slot>,
    /// Dirty pages, in the order of their places.
    dirty: BTreeSet<PageId>,
    /// Slot of each page.
    table: HugeVec<u32>,
    newest: u32,
    oldest: u32,
    capacity: usize,
}

#[derive(Clone, Copy)]
struct Slot {
    page: PageId,
    newer: u32,
    older: u32,
}

/// What has to leave the cache for a page that comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leaving {
    /// The page that leaves.
    pub(crate) page: PageId,
    /// Whether it must be written to the device first.
    pub(crate) dirty: bool,
}

impl OsCache {
    /// An empty cache of `capacity` pages, at least one.
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            slots: Vec::new(),
            dirty: BTreeSet::new(),
            table: HugeVec::with_capacity(1 << 20),
            newest: NONE,
            oldest: NONE,
            capacity: capacity.max(1),
        }
    }

    /// Uses `page`; tells whether it was there. If not, it comes in, and another may leave.
    pub(crate) fn access(&mut self, page: PageId, makes_dirty: bool) -> (bool, Option<Leaving>) {
        if self.table.len() <= page.index() {
            self.table.extend_to(page.index() + 64, NONE);
        }
        if makes_dirty {
            self.dirty.insert(page);
        }
        let slot = self.table[page.index()];
        if slot != NONE {
            self.unlink(slot);
            self.link(slot);
            return (true, None);
        }
        let new = Slot { page, newer: NONE, older: NONE };
        let (slot, leaving) = if self.slots.len() < self.capacity {
            self.slots.push(new);
            (self.slots.len() as u32 - 1, None)
        } else {
            let slot = self.oldest;
            let page = self.slots[slot as usize].page;
            let dirty = self.dirty.remove(&page);
            self.unlink(slot);
            self.table[page.index()] = NONE;
            self.slots[slot as usize] = new;
            (slot, Some(Leaving { page, dirty }))
        };
        self.table[page.index()] = slot;
        self.link(slot);
        (false, leaving)
    }

    /// All dirty pages in the order of their places: they are clean now, and stay.
    pub(crate) fn take_dirty(&mut self) -> Vec<PageId> {
        std::mem::take(&mut self.dirty).into_iter().collect()
    }

    fn link(&mut self, slot: u32) {
        let older = self.newest;
        self.slots[slot as usize].older = older;
        self.slots[slot as usize].newer = NONE;
        match older {
            NONE => self.oldest = slot,
            older => self.slots[older as usize].newer = slot,
        }
        self.newest = slot;
    }

    fn unlink(&mut self, slot: u32) {
        let Slot { newer, older, .. } = self.slots[slot as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.slots[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.slots[older as usize].newer = newer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_page_leaves_and_remembers_that_it_is_dirty() {
        let mut cache = OsCache::new(2);
        assert_eq!(cache.access(PageId(1), true), (false, None));
        assert_eq!(cache.access(PageId(2), false), (false, None));
        assert_eq!(cache.access(PageId(1), false), (true, None));
        let leaving = |page, dirty| Some(Leaving { page: PageId(page), dirty });
        assert_eq!(cache.access(PageId(3), false), (false, leaving(2, false)));
        assert_eq!(cache.access(PageId(4), false), (false, leaving(1, true)));
    }
}
