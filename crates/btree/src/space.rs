//! Which pages of the data file belong to which segment: extents, fragment pages, the reserve.
//!
//! A B+tree has two segments, leaves and internal pages. The rules are those of `InnoDB`'s file
//! space (`MySQL` 5.1 source, fsp0fsp.c): they decide which pages are adjacent on the device, and
//! how much of the file is empty.

use cost_model::PageId;

/// No extent, no segment.
const NONE: u32 = u32::MAX;
/// The owner of extents whose pages are handed out one by one.
const FRAGMENTS: u32 = u32::MAX - 1;

/// The numbers of the rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceConfig {
    /// Pages of an extent, at most 64.
    pub extent_pages: u32,
    /// A segment's first pages are single pages: so many.
    pub fragment_pages: u32,
    /// A segment gets a new extent when less than one `reserve_share`-th of its pages is unused.
    pub reserve_share: u32,
    /// A segment with this many extents in use gets several at once.
    pub large_extents: u32,
    /// How many more at once.
    pub extra_extents: u32,
}

impl SpaceConfig {
    /// `InnoDB`'s rules for pages of 16 KiB (fsp0fsp.c, fsp0types.h).
    pub const INNODB: Self = Self {
        extent_pages: 64,
        fragment_pages: 32,
        reserve_share: 8,
        large_extents: 40,
        extra_extents: 4,
    };
}

/// A segment of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentId(pub(crate) u32);

/// In which direction a tree grows: where the next page should lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// After the page that is split.
    Up,
    /// Before it.
    Down,
}

#[derive(Clone, Copy, Debug)]
struct Extent {
    owner: u32,
    /// A bit for each page in use.
    used: u64,
    prev: u32,
    next: u32,
}

#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

#[derive(Clone, Debug)]
struct Segment {
    /// Extents without a page in use, and with some; full ones are in no list.
    unused: List,
    partly: List,
    reserved_pages: u32,
    used_pages: u32,
}

/// The data file.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    config: SpaceConfig,
    extents: Vec<Extent>,
    segments: Vec<Segment>,
    /// Extents that belong to nobody.
    free: List,
    /// Extents with single pages to give away.
    fragments: List,
}

impl Space {
    pub(crate) fn new(config: SpaceConfig) -> Self {
        assert!((1..=64).contains(&config.extent_pages), "an extent has 1 to 64 pages");
        Self {
            config,
            extents: Vec::new(),
            segments: Vec::new(),
            free: List::EMPTY,
            fragments: List::EMPTY,
        }
    }

    pub(crate) fn new_segment(&mut self) -> SegmentId {
        let (unused, partly) = (List::EMPTY, List::EMPTY);
        self.segments.push(Segment { unused, partly, reserved_pages: 0, used_pages: 0 });
        SegmentId(self.segments.len() as u32 - 1)
    }

    /// Pages of the file that are set aside for `segment`.
    pub(crate) fn reserved_pages(&self, segment: SegmentId) -> u64 {
        u64::from(self.segments[segment.0 as usize].reserved_pages)
    }

    /// Gives `segment` a page, near `hint` if that can be (fsp0fsp.c, `fseg_alloc_free_page_low`).
    pub(crate) fn allocate(&mut self, id: SegmentId, hint: PageId, to: Direction) -> PageId {
        let size = self.config.extent_pages;
        let (hint_extent, hint_bit) = (hint.0 / size, hint.0 % size);
        let owner = self.extents.get(hint_extent as usize).map(|extent| extent.owner);
        let segment = &self.segments[id.0 as usize];
        let unused = segment.reserved_pages - segment.used_pages;
        let wants_extent = self.config.fragment_pages <= segment.used_pages
            && u64::from(unused) * u64::from(self.config.reserve_share)
                < u64::from(segment.reserved_pages).max(1);
        let owns_hint = owner == Some(id.0);
        if owns_hint && self.extents[hint_extent as usize].used >> hint_bit & 1 == 0 {
            return self.use_page(id, hint_extent, hint_bit);
        }
        if wants_extent && owner == Some(NONE) {
            self.give_extent(id, hint_extent);
            self.give_more(id, hint_extent + 1);
            return self.use_page(id, hint_extent, hint_bit);
        }
        if wants_extent {
            let extent = self.take_extent(id);
            let bit = if to == Direction::Up { 0 } else { size - 1 };
            return self.use_page(id, extent, bit);
        }
        if owns_hint && let Some(bit) = self.free_bit(hint_extent, hint_bit) {
            return self.use_page(id, hint_extent, bit);
        }
        if 0 < unused {
            let segment = &self.segments[id.0 as usize];
            let extent = match segment.partly.first {
                NONE => segment.unused.first,
                partly => partly,
            };
            let bit = self.free_bit(extent, 0).expect("a listed extent has a free page");
            return self.use_page(id, extent, bit);
        }
        if segment.used_pages < self.config.fragment_pages {
            return self.fragment_page(id);
        }
        let extent = self.take_extent(id);
        self.use_page(id, extent, 0)
    }

    /// Takes a page back from its segment.
    pub(crate) fn free(&mut self, id: SegmentId, page: PageId) {
        let (number, bit) = (page.0 / self.config.extent_pages, page.0 % self.config.extent_pages);
        let was_full = self.is_full(number);
        let extent = &mut self.extents[number as usize];
        extent.used &= !(1 << bit);
        let (owner, empty) = (extent.owner, extent.used == 0);
        let segment = &mut self.segments[id.0 as usize];
        segment.used_pages -= 1;
        if owner == FRAGMENTS {
            segment.reserved_pages -= 1;
            if was_full {
                self.fragments.push_back(&mut self.extents, number);
            }
        } else {
            if !was_full {
                segment.partly.remove(&mut self.extents, number);
            }
            if empty {
                segment.reserved_pages -= self.config.extent_pages;
                self.extents[number as usize].owner = NONE;
                self.free.push_back(&mut self.extents, number);
            } else {
                segment.partly.push_back(&mut self.extents, number);
            }
        }
    }

    /// Whether `page` is in use: for checks.
    pub(crate) fn is_used(&self, page: PageId) -> bool {
        let size = self.config.extent_pages;
        self.extents[(page.0 / size) as usize].used >> (page.0 % size) & 1 == 1
    }

    fn full_mask(&self) -> u64 {
        u64::MAX >> (64 - self.config.extent_pages)
    }

    fn is_full(&self, extent: u32) -> bool {
        self.extents[extent as usize].used == self.full_mask()
    }

    /// The first free page of an extent from `from` on, then from its start.
    fn free_bit(&self, extent: u32, from: u32) -> Option<u32> {
        let free = !self.extents[extent as usize].used & self.full_mask();
        let above = free & (u64::MAX << from);
        match (above, free) {
            (_, 0) => None,
            (0, free) => Some(free.trailing_zeros()),
            (above, _) => Some(above.trailing_zeros()),
        }
    }

    fn use_page(&mut self, id: SegmentId, extent: u32, bit: u32) -> PageId {
        let segment = &mut self.segments[id.0 as usize];
        segment.used_pages += 1;
        if self.extents[extent as usize].used == 0 {
            segment.unused.remove(&mut self.extents, extent);
            segment.partly.push_back(&mut self.extents, extent);
        }
        self.extents[extent as usize].used |= 1 << bit;
        if self.is_full(extent) {
            self.segments[id.0 as usize].partly.remove(&mut self.extents, extent);
        }
        PageId(extent * self.config.extent_pages + bit)
    }

    fn fragment_page(&mut self, id: SegmentId) -> PageId {
        let extent = match self.fragments.first {
            NONE => {
                let extent = self.pop_free_extent();
                self.extents[extent as usize].owner = FRAGMENTS;
                self.fragments.push_back(&mut self.extents, extent);
                extent
            }
            extent => extent,
        };
        let bit = self.free_bit(extent, 0).expect("a listed extent has a free page");
        self.extents[extent as usize].used |= 1 << bit;
        if self.is_full(extent) {
            self.fragments.remove(&mut self.extents, extent);
        }
        let segment = &mut self.segments[id.0 as usize];
        segment.used_pages += 1;
        segment.reserved_pages += 1;
        PageId(extent * self.config.extent_pages + bit)
    }

    /// An extent for the segment: one it has unused, else a free one and perhaps some more.
    fn take_extent(&mut self, id: SegmentId) -> u32 {
        let own = self.segments[id.0 as usize].unused.first;
        if own != NONE {
            return own;
        }
        let extent = self.pop_free_extent();
        self.free.push_back(&mut self.extents, extent);
        self.give_extent(id, extent);
        self.give_more(id, extent + 1);
        extent
    }

    fn pop_free_extent(&mut self) -> u32 {
        if self.free.first == NONE {
            // A file grows by four extents at a time, by one while it is small.
            let more = if self.extents.len() < 32 { 1 } else { 4 };
            for _ in 0..more {
                let number = self.extents.len() as u32;
                self.extents.push(Extent { owner: NONE, used: 0, prev: NONE, next: NONE });
                self.free.push_back(&mut self.extents, number);
            }
        }
        let extent = self.free.first;
        self.free.remove(&mut self.extents, extent);
        extent
    }

    /// Moves a free extent to the segment's unused ones.
    fn give_extent(&mut self, id: SegmentId, extent: u32) {
        self.free.remove(&mut self.extents, extent);
        self.extents[extent as usize].owner = id.0;
        let segment = &mut self.segments[id.0 as usize];
        segment.unused.push_back(&mut self.extents, extent);
        segment.reserved_pages += self.config.extent_pages;
    }

    /// A large segment gets some of the extents that follow, if they are free.
    fn give_more(&mut self, id: SegmentId, from: u32) {
        let segment = &self.segments[id.0 as usize];
        let large = self.config.large_extents * self.config.extent_pages;
        let has_spare = {
            let first = segment.unused.first;
            first != NONE && self.extents[first as usize].next != NONE
        };
        if segment.reserved_pages < large || has_spare {
            return;
        }
        for extent in from..from + self.config.extra_extents {
            match self.extents.get(extent as usize) {
                Some(next) if next.owner == NONE => self.give_extent(id, extent),
                _ => return,
            }
        }
    }
}

impl List {
    const EMPTY: Self = Self { first: NONE, last: NONE };

    fn push_back(&mut self, extents: &mut [Extent], extent: u32) {
        extents[extent as usize].prev = self.last;
        extents[extent as usize].next = NONE;
        match self.last {
            NONE => self.first = extent,
            last => extents[last as usize].next = extent,
        }
        self.last = extent;
    }

    fn remove(&mut self, extents: &mut [Extent], extent: u32) {
        let Extent { prev, next, .. } = extents[extent as usize];
        match prev {
            NONE => self.first = next,
            prev => extents[prev as usize].next = next,
        }
        match next {
            NONE => self.last = prev,
            next => extents[next as usize].prev = prev,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space() -> Space {
        Space::new(SpaceConfig::INNODB)
    }

    #[test]
    fn a_growing_segment_is_dense_and_in_order() {
        let mut space = space();
        let segment = space.new_segment();
        let mut last = PageId(0);
        let mut steps = 0;
        for page in 0..10_000 {
            let next = space.allocate(segment, PageId(last.0 + 1), Direction::Up);
            steps += u32::from(page > 40 && next.0 != last.0 + 1);
            last = next;
        }
        assert_eq!(steps, 0, "every page follows the one before");
        assert!(space.reserved_pages(segment) < 10_000 + 5 * 64);
    }

    #[test]
    fn a_segment_split_at_random_keeps_an_eighth_of_its_pages_unused() {
        let mut space = space();
        let segment = space.new_segment();
        let mut pages = vec![space.allocate(segment, PageId(1), Direction::Up)];
        let mut state = 1_u64;
        while pages.len() < 20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let near = pages[(state >> 33) as usize % pages.len()];
            pages.push(space.allocate(segment, PageId(near.0 + 1), Direction::Up));
        }
        let unused = 1.0 - 20_000.0 / space.reserved_pages(segment) as f64;
        assert!((0.11..0.14).contains(&unused), "{unused} of the pages unused");
        pages.sort_unstable();
        pages.dedup();
        assert_eq!(pages.len(), 20_000, "no page is given twice");
        for page in pages {
            space.free(segment, page);
        }
        assert!(space.reserved_pages(segment) < 5 * 64, "empty extents go back to the file");
    }
}
