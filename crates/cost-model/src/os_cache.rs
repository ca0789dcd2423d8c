//! The operating system's page cache under buffered I/O: a second level below the buffer pool.

use std::collections::BTreeMap;

use crate::{Bytes, HugeVec, SimTime};

const NONE: u32 = u32::MAX;

/// Bytes of a page of the operating system on the machines of the articles (x86).
const PAGE: Bytes = Bytes::kib(4);

/// A file of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum File {
    /// The pages of the buffer pool.
    Pages,
    /// Rows that lie apart from all indexes.
    Rows,
}

/// A page of the cache: some bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CachePage {
    pub(crate) file: File,
    pub(crate) number: u32,
}

/// Pages the operating system keeps, least recently used first out.
///
/// A page is here after it was read or written. Dirty pages are written to the device when they
/// leave, are old enough, or the file is synced; until then a write costs only the copy into
/// memory. Pages of the engine that are larger than those of the system come and go whole.
pub(crate) struct OsCache {
    slots: Vec<Slot>,
    /// Dirty pages in the order of their places, and since when they are.
    dirty: BTreeMap<CachePage, SimTime>,
    /// Slot of each page, by file.
    tables: [HugeVec<u32>; 2],
    /// Pages of each file that have been written at one time.
    ends: [u32; 2],
    newest: u32,
    oldest: u32,
    capacity: usize,
    page: Bytes,
}

#[derive(Clone, Copy)]
struct Slot {
    page: CachePage,
    newer: u32,
    older: u32,
}

/// What has to leave the cache for a page that comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leaving {
    /// The page that leaves.
    pub(crate) page: CachePage,
    /// Whether it must be written to the device first.
    pub(crate) dirty: bool,
}

impl OsCache {
    /// An empty cache of `size` bytes, at least one page, for an engine with pages of
    /// `engine_page`.
    pub(crate) fn new(size: Bytes, engine_page: Bytes) -> Self {
        let page = PAGE.max(engine_page);
        Self {
            slots: Vec::new(),
            dirty: BTreeMap::new(),
            tables: [HugeVec::with_capacity(1 << 20), HugeVec::with_capacity(1 << 20)],
            ends: [0; 2],
            newest: NONE,
            oldest: NONE,
            capacity: (size.whole(page) as usize).max(1),
            page,
        }
    }

    /// Bytes of a page.
    pub(crate) fn page_size(&self) -> Bytes {
        self.page
    }

    /// Pages it can hold.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// The page that holds the byte at `offset`.
    pub(crate) fn page_at(&self, file: File, offset: u64) -> CachePage {
        CachePage { file, number: (offset / self.page.get()) as u32 }
    }

    /// Whether the file has this page: a write of a part of it needs the rest.
    pub(crate) fn exists(&self, page: CachePage) -> bool {
        page.number < self.ends[page.file as usize]
    }

    /// Uses `page`; tells whether it was there. If not, it comes in, and another may leave. A
    /// write at `dirty_at` makes it dirty, unless it is so already.
    pub(crate) fn access(
        &mut self,
        page: CachePage,
        dirty_at: Option<SimTime>,
    ) -> (bool, Option<Leaving>) {
        let CachePage { file, number } = page;
        let table = &mut self.tables[file as usize];
        if table.len() <= number as usize {
            table.extend_to(number as usize + 64, NONE);
        }
        if let Some(now) = dirty_at {
            self.dirty.entry(page).or_insert(now);
        }
        let end = &mut self.ends[file as usize];
        *end = (*end).max(number + 1);
        let slot = table[number as usize];
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
            let dirty = self.dirty.remove(&page).is_some();
            self.unlink(slot);
            self.tables[page.file as usize][page.number as usize] = NONE;
            self.slots[slot as usize] = new;
            (slot, Some(Leaving { page, dirty }))
        };
        self.tables[file as usize][number as usize] = slot;
        self.link(slot);
        (false, leaving)
    }

    /// Dirty pages now.
    pub(crate) fn dirty_len(&self) -> usize {
        self.dirty.len()
    }

    /// All dirty pages in the order of their places: they are clean now, and stay.
    pub(crate) fn take_dirty(&mut self) -> Vec<CachePage> {
        std::mem::take(&mut self.dirty).into_keys().collect()
    }

    /// The same for those that are dirty since `before` or longer, `most` at most.
    pub(crate) fn take_old(&mut self, before: SimTime, most: usize) -> Vec<CachePage> {
        let old = self.dirty.iter().filter(|(_, since)| **since <= before);
        let pages: Vec<_> = old.map(|(page, _)| *page).take(most).collect();
        for page in &pages {
            self.dirty.remove(page);
        }
        pages
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

    fn page(number: u32) -> CachePage {
        CachePage { file: File::Pages, number }
    }

    fn two_pages() -> OsCache {
        OsCache::new(Bytes::kib(32), Bytes::kib(16))
    }

    #[test]
    fn the_least_recently_used_page_leaves_and_remembers_that_it_is_dirty() {
        let mut cache = two_pages();
        let now = Some(SimTime::ZERO);
        assert_eq!(cache.access(page(1), now), (false, None));
        assert_eq!(cache.access(page(2), None), (false, None));
        assert_eq!(cache.access(page(1), None), (true, None));
        let leaving = |number, dirty| Some(Leaving { page: page(number), dirty });
        assert_eq!(cache.access(page(3), None), (false, leaving(2, false)));
        assert_eq!(cache.access(page(4), None), (false, leaving(1, true)));
    }

    #[test]
    fn small_blocks_share_a_page_and_files_do_not() {
        let mut cache = OsCache::new(Bytes::kib(16), Bytes::kib(1));
        assert_eq!(cache.page_size(), Bytes::kib(4));
        let block = |cache: &OsCache, block: u64| cache.page_at(File::Pages, block * 1_024);
        let (third, fifth) = (block(&cache, 3), block(&cache, 4));
        assert_eq!((third.number, fifth.number), (0, 1));
        assert!(!cache.exists(third), "nothing was written yet");
        cache.access(third, Some(SimTime::ZERO));
        assert!(cache.exists(block(&cache, 0)) && !cache.exists(fifth));
        assert!(!cache.access(cache.page_at(File::Rows, 0), None).0, "another file");
        assert!(cache.access(block(&cache, 1), None).0);
    }

    #[test]
    fn a_page_is_as_old_as_its_first_change() {
        let mut cache = two_pages();
        for (number, at) in [(2, 10), (1, 20), (2, 30)] {
            cache.access(page(number), Some(SimTime::from_ns(at)));
        }
        assert_eq!(cache.take_old(SimTime::from_ns(9), 8), []);
        assert_eq!(cache.take_old(SimTime::from_ns(10), 8), [page(2)]);
        assert_eq!(cache.dirty_len(), 1);
        assert_eq!(cache.take_old(SimTime::from_ns(30), 8), [page(1)]);
    }
}
