//! What is on each page: for leaves, the row numbers of their entries.
//!
//! Row numbers are kept unsorted, 4 bytes each, in chunks of 64 that are chained from the newest
//! to the oldest. The youngest rows, fewer than 8, are kept beside the facts of the page: an
//! insert is one cache line, and only every eighth one goes to the chunks, whose gigabytes the
//! processor's address translation does not cover. A leaf whose rows follow each other without a
//! gap (the clustered index of a load) is a run: its first row and their number.

use bytemuck::{Pod, Zeroable};
use cost_model::{FrameId, HugeVec, PageId};
use index::IndexId;

/// Row numbers in a chunk: four cache lines.
const CHUNK: usize = 64;
/// Row numbers beside a page: with the rest of [`Page`] they fill a cache line.
const RECENT: usize = 8;
const NONE: u32 = u32::MAX;

const FREE: u8 = 0;
const RUN: u8 = 1;
const ROWS: u8 = 2;
const NODE: u8 = 3;

/// What is known of a page: a cache line.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Page {
    index: u16,
    kind: u8,
    /// Whether the youngest row is the page's last insert: nothing was moved or deleted since.
    has_last: u8,
    changed_by: u8,
    /// The low 24 bits of the frame where the page was when it was used last.
    frame: [u8; 3],
    records: u16,
    slots: u16,
    /// Run: its first row. Rows: the newest chunk. Node: the number of the node.
    start: u32,
    next: PageId,
    /// Leaf: the node of its parent.
    parent: u32,
    /// Leaf: the top bits of the key where its range begins, and of the key where the next one's
    /// does; all zeros for the first leaf, all ones for the last.
    lower_bound: u32,
    upper_bound: u32,
    /// Rows: the youngest `records % RECENT` of them; the others are in chunks.
    recent: [u32; RECENT],
}

/// What a change of a leaf finds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    /// The transaction has not changed the leaf before. (Wrong for a leaf that was last changed
    /// exactly 256 transactions ago, or a multiple.)
    pub(crate) is_first: bool,
    /// A slot has lost its record to a deletion or a split.
    pub(crate) has_garbage: bool,
}

/// All pages of the data file.
pub(crate) struct Pages {
    known: HugeVec<Page>,
    chunks: HugeVec<[u32; CHUNK]>,
    /// The chunk that is older than this one in its leaf, or the next free one.
    older: HugeVec<u32>,
    free_chunk: u32,
}

impl Pages {
    /// Room for about `pages` pages and `rows` rows in leaves that are not runs.
    pub(crate) fn new(pages: usize, rows: usize) -> Self {
        Self {
            known: HugeVec::with_capacity(pages),
            chunks: HugeVec::with_capacity(rows / CHUNK),
            older: HugeVec::with_capacity(rows / CHUNK),
            free_chunk: NONE,
        }
    }

    #[inline]
    pub(crate) fn get(&self, page: PageId) -> &Page {
        &self.known[page.index()]
    }

    /// The page, if it is in use.
    pub(crate) fn find(&self, page: PageId) -> Option<&Page> {
        (*self.known).get(page.index()).filter(|page| page.kind != FREE)
    }

    /// The page, if it is a leaf of this index.
    #[inline]
    pub(crate) fn leaf_of(&self, page: PageId, index: IndexId) -> Option<&Page> {
        self.find(page).filter(|page| page.is_leaf() && page.index == index.0)
    }

    /// Loads the processor's caches with a page, then (`round` 1) with the place where its next
    /// row goes.
    #[inline]
    pub(crate) fn prefetch(&self, page: PageId, round: u32) {
        if round == 0 {
            self.known.prefetch(page.index());
        } else {
            let page = self.get(page);
            let slot = page.records as usize % CHUNK;
            if page.kind == ROWS && slot % RECENT == RECENT - 1 && RECENT < slot {
                cost_model::prefetch(&raw const self.chunks[page.start as usize][slot]);
            }
        }
    }

    /// The row inserted last into a leaf, if nothing was moved or deleted since.
    pub(crate) fn last_insert(&self, id: PageId) -> Option<u32> {
        let page = self.get(id);
        (page.has_last != 0).then(|| match (page.kind, page.recent().last()) {
            (RUN, _) => page.start + u32::from(page.records) - 1,
            (_, Some(row)) => *row,
            (_, None) => self.chunks[page.start as usize][(page.records as usize - 1) % CHUNK],
        })
    }

    /// Makes `page` an empty leaf.
    pub(crate) fn make_leaf(&mut self, page: PageId, index: IndexId, clustered: bool) {
        let kind = if clustered { RUN } else { ROWS };
        self.set(page, Page { kind, start: NONE, ..Page::empty(index) });
    }

    /// Makes `page` an internal page.
    pub(crate) fn make_node(&mut self, page: PageId, index: IndexId, node: u32) {
        self.set(page, Page { kind: NODE, start: node, ..Page::empty(index) });
    }

    /// `page` is used for nothing any more; a leaf must be empty.
    pub(crate) fn clear(&mut self, page: PageId) {
        debug_assert!(self.get(page).kind == NODE || self.get(page).records == 0);
        self.known[page.index()] = Page::zeroed();
    }

    fn set(&mut self, page: PageId, value: Page) {
        if self.known.len() <= page.index() {
            self.known.extend_to(page.index() + 64, Page::zeroed());
        }
        debug_assert_eq!(self.get(page).kind, FREE, "{page:?} is in use");
        self.known[page.index()] = value;
    }

    /// Notes where the page was found in the pool.
    #[inline]
    pub(crate) fn set_frame(&mut self, page: PageId, frame: FrameId) {
        let [low, middle, high, _] = frame.0.to_le_bytes();
        self.known[page.index()].frame = [low, middle, high];
    }

    /// Sets the parent of a leaf.
    pub(crate) fn set_parent(&mut self, page: PageId, node: u32) {
        self.known[page.index()].parent = node;
    }

    /// Sets the top bits of the keys between which a leaf's keys are.
    pub(crate) fn set_bounds(&mut self, page: PageId, lower: u32, upper: u32) {
        self.known[page.index()].lower_bound = lower;
        self.known[page.index()].upper_bound = upper;
    }

    /// Sets the leaf that follows a leaf; `page` may be none.
    pub(crate) fn set_next(&mut self, page: PageId, next: PageId) {
        if !page.is_none() {
            self.known[page.index()].next = next;
        }
    }

    /// Moves the contents of the only leaf to `to`, a fresh page; `from` is free then.
    pub(crate) fn relocate(&mut self, from: PageId, to: PageId) {
        let contents = *self.get(from);
        self.set(to, contents);
        self.known[from.index()] = Page::zeroed();
    }

    /// Notes that a transaction changes a leaf.
    #[inline]
    pub(crate) fn note_change(&mut self, page: PageId, transaction: u8) -> Change {
        let page = &mut self.known[page.index()];
        let is_first = page.changed_by != transaction;
        page.changed_by = transaction;
        Change { is_first, has_garbage: page.records < page.slots }
    }

    /// Adds a row that was inserted: the page's last insert from now on.
    #[inline]
    pub(crate) fn append(&mut self, id: PageId, row: u32) {
        self.add(id, row);
        let page = &mut self.known[id.index()];
        page.slots = page.slots.max(page.records);
        page.has_last = 1;
    }

    #[inline]
    fn add(&mut self, id: PageId, row: u32) {
        let page = &mut self.known[id.index()];
        if page.kind == RUN {
            if page.records == 0 {
                page.start = row;
            }
            if page.start + u32::from(page.records) == row {
                page.records += 1;
                return;
            }
            self.run_to_rows(id);
        }
        self.push(id, row);
    }

    #[inline]
    fn push(&mut self, id: PageId, row: u32) {
        let page = &mut self.known[id.index()];
        page.recent[page.records as usize % RECENT] = row;
        page.records += 1;
        if (page.records as usize).is_multiple_of(RECENT) {
            self.store(id);
        }
    }

    /// Moves the recent rows of a page, `RECENT` of them, to its chunks.
    fn store(&mut self, id: PageId) {
        let page = *self.get(id);
        let slot = (page.records as usize - RECENT) % CHUNK;
        let chunk = if slot == 0 { self.new_chunk(page.start) } else { page.start };
        self.known[id.index()].start = chunk;
        self.chunks[chunk as usize][slot..slot + RECENT].copy_from_slice(&page.recent);
    }

    /// Takes the last `RECENT` rows of a page that has no recent ones out of its chunks.
    fn unstore(&mut self, id: PageId) {
        let page = &mut self.known[id.index()];
        let (chunk, slot) = (page.start, (page.records as usize - RECENT) % CHUNK);
        page.recent.copy_from_slice(&self.chunks[chunk as usize][slot..slot + RECENT]);
        if slot == 0 {
            page.start = self.older[chunk as usize];
            self.drop_chunk(chunk);
        }
    }

    fn new_chunk(&mut self, older: u32) -> u32 {
        match self.free_chunk {
            NONE => {
                self.chunks.push([0; CHUNK]);
                self.older.push(older);
                self.chunks.len() as u32 - 1
            }
            chunk => {
                self.free_chunk = self.older[chunk as usize];
                self.older[chunk as usize] = older;
                chunk
            }
        }
    }

    fn drop_chunk(&mut self, chunk: u32) {
        self.older[chunk as usize] = self.free_chunk;
        self.free_chunk = chunk;
    }

    fn run_to_rows(&mut self, id: PageId) {
        let Page { start, records, .. } = *self.get(id);
        let page = &mut self.known[id.index()];
        (page.kind, page.records, page.start) = (ROWS, 0, NONE);
        for row in start..start + u32::from(records) {
            self.push(id, row);
        }
    }

    /// Calls `visit` with every row of a leaf, in no particular order.
    #[inline]
    pub(crate) fn for_each(&self, id: PageId, mut visit: impl FnMut(u32)) {
        let page = self.get(id);
        if page.kind == RUN {
            (page.start..page.start + u32::from(page.records)).for_each(visit);
            return;
        }
        page.recent().iter().for_each(|row| visit(*row));
        self.chunks_of(page).flat_map(|(_, rows)| rows).for_each(|row| visit(*row));
    }

    /// The chunks of a leaf that is no run, newest first, with the rows in them.
    fn chunks_of(&self, page: &Page) -> impl Iterator<Item = (u32, &[u32])> {
        let mut left = page.records as usize - page.recent().len();
        let mut chunk = page.start;
        std::iter::from_fn(move || {
            let used = left.checked_sub(1)? % CHUNK + 1;
            let this = chunk;
            left -= used;
            chunk = self.older[chunk as usize];
            Some((this, &self.chunks[this as usize][..used]))
        })
    }

    /// Has [`for_each`](Self::for_each) visit the rows of a leaf in this order, but for the last
    /// insert, which keeps its place. A run keeps its own.
    pub(crate) fn reorder(&mut self, id: PageId, rows: impl Iterator<Item = u32>) {
        let last = self.last_insert(id);
        let mut rows = rows.filter(|row| Some(*row) != last);
        let mut has_last = last.is_some();
        let mut fill = |slots: &mut [u32]| {
            let end = slots.len() - usize::from(std::mem::take(&mut has_last));
            slots[..end].iter_mut().zip(&mut rows).for_each(|(slot, row)| *slot = row);
        };
        let page = &mut self.known[id.index()];
        if page.kind == RUN {
            return;
        }
        let mut left = page.records as usize;
        let recent = left % RECENT;
        if 0 < recent {
            fill(&mut page.recent[..recent]);
        }
        left -= recent;
        let mut chunk = page.start;
        while 0 < left {
            let used = (left - 1) % CHUNK + 1;
            fill(&mut self.chunks[chunk as usize][..used]);
            left -= used;
            chunk = self.older[chunk as usize];
        }
    }

    /// Replaces the rows of a leaf. Its slots and its last insert are left to
    /// [`set_slots`](Self::set_slots).
    pub(crate) fn replace(
        &mut self,
        id: PageId,
        clustered: bool,
        rows: impl ExactSizeIterator<Item = u32> + Clone,
    ) {
        self.drop_rows(id);
        let (first, len) = (rows.clone().min().unwrap_or(0), rows.len() as u32);
        let is_run = clustered && rows.clone().max().is_none_or(|max| max - first + 1 == len);
        let page = &mut self.known[id.index()];
        if is_run {
            (page.kind, page.start, page.records) = (RUN, first, len as u16);
        } else {
            (page.kind, page.start, page.records) = (ROWS, NONE, 0);
            rows.for_each(|row| self.push(id, row));
        }
    }

    fn drop_rows(&mut self, id: PageId) {
        let Page { kind, mut start, records, .. } = *self.get(id);
        if kind == ROWS {
            for _ in 0..(records as usize / RECENT * RECENT).div_ceil(CHUNK) {
                let older = self.older[start as usize];
                self.drop_chunk(start);
                start = older;
            }
        }
        self.known[id.index()].records = 0;
    }

    /// Sets how many record slots the page has used at one time, and forgets its last insert, as
    /// moving records to or from a page does.
    pub(crate) fn set_slots(&mut self, id: PageId, slots: u16) {
        let page = &mut self.known[id.index()];
        page.slots = slots.max(page.records);
        page.has_last = 0;
    }

    /// Whether a leaf has a row.
    pub(crate) fn holds(&self, id: PageId, row: u32) -> bool {
        let page = self.get(id);
        match page.kind {
            RUN => (page.start..page.start + u32::from(page.records)).contains(&row),
            _ => self.place_of(id, row).is_some(),
        }
    }

    /// Removes a row; tells whether it was there. Forgets the page's last insert.
    pub(crate) fn remove(&mut self, id: PageId, row: u32) -> bool {
        let page = &mut self.known[id.index()];
        if page.kind == RUN {
            let end = page.start + u32::from(page.records);
            if !(page.start..end).contains(&row) {
                return false;
            }
            page.has_last = 0;
            if row == page.start || row + 1 == end {
                page.start += u32::from(row == page.start);
                page.records -= 1;
                return true;
            }
            self.run_to_rows(id);
        }
        let Some((chunk, slot)) = self.place_of(id, row) else { return false };
        let page = &mut self.known[id.index()];
        page.has_last = 0;
        if page.recent().is_empty() {
            self.unstore(id);
        }
        let page = &mut self.known[id.index()];
        page.records -= 1;
        // The youngest row takes the place of the one that goes.
        let last = page.records as usize % RECENT;
        let youngest = page.recent[last];
        match page.recent[..=last].iter_mut().find(|other| **other == row) {
            Some(place) => *place = youngest,
            None => self.chunks[chunk as usize][slot] = youngest,
        }
        true
    }

    /// The chunk and the slot of a row; the chunk is `NONE` for a recent row.
    fn place_of(&self, id: PageId, row: u32) -> Option<(u32, usize)> {
        let page = self.get(id);
        let slot = |rows: &[u32]| {
            // All of a chunk first, without a branch: the processor compares several at once, and
            // loads the next chunk meanwhile.
            let times = rows.iter().map(|other| u32::from(*other == row)).sum::<u32>();
            (times != 0).then(|| rows.iter().position(|other| *other == row)).flatten()
        };
        slot(page.recent()).map(|slot| (NONE, slot)).or_else(|| {
            self.chunks_of(page).find_map(|(chunk, rows)| slot(rows).map(|slot| (chunk, slot)))
        })
    }
}

impl Page {
    fn empty(index: IndexId) -> Self {
        let (next, parent, upper_bound) = (PageId::NONE, NONE, u32::MAX);
        Self { index: index.0, next, parent, upper_bound, ..Self::zeroed() }
    }

    /// The index the page belongs to.
    pub(crate) fn index(&self) -> IndexId {
        IndexId(self.index)
    }

    /// Whether this is a leaf.
    pub(crate) fn is_leaf(&self) -> bool {
        matches!(self.kind, RUN | ROWS)
    }

    /// The number of the node on an internal page.
    #[inline]
    pub(crate) fn node(&self) -> u32 {
        debug_assert_eq!(self.kind, NODE);
        self.start
    }

    /// Where the page was found in the pool when it was used last: a guess.
    #[inline]
    pub(crate) fn frame(&self) -> FrameId {
        let [low, middle, high] = self.frame;
        FrameId(u32::from_le_bytes([low, middle, high, 0]))
    }

    /// Entries of a leaf.
    #[inline]
    pub(crate) fn records(&self) -> u16 {
        self.records
    }

    /// The most record slots in use at one time since the page was organised: the difference to
    /// the records is garbage.
    #[inline]
    pub(crate) fn slots(&self) -> u16 {
        self.slots
    }

    /// The rows that are in no chunk yet.
    #[inline]
    fn recent(&self) -> &[u32] {
        &self.recent[..self.records as usize % RECENT]
    }

    /// The node of a leaf's parent, if it has one.
    #[inline]
    pub(crate) fn parent(&self) -> Option<u32> {
        (self.parent != NONE).then_some(self.parent)
    }

    /// The top bits of the key where a leaf's range begins.
    #[inline]
    pub(crate) fn lower_bound(&self) -> u32 {
        self.lower_bound
    }

    /// The top bits of the key where the next leaf's range begins.
    #[inline]
    pub(crate) fn upper_bound(&self) -> u32 {
        self.upper_bound
    }

    /// The leaf after this one in key order.
    pub(crate) fn next(&self) -> PageId {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_visited_in_the_order_they_were_put_in() {
        for (len, has_last) in [(1, true), (7, false), (8, true), (64, true), (150, true)] {
            let mut pages = Pages::new(64, 1_000);
            let leaf = PageId(3);
            pages.make_leaf(leaf, IndexId(1), false);
            for row in 0..len {
                pages.append(leaf, (row * 37) % len);
            }
            if !has_last {
                pages.set_slots(leaf, 0);
            }
            let last = pages.last_insert(leaf);
            assert_eq!(last.is_some(), has_last);
            pages.reorder(leaf, 0..len);
            let mut visited = Vec::new();
            pages.for_each(leaf, |row| visited.push(row));
            assert_eq!(pages.last_insert(leaf), last);
            visited.retain(|row| Some(*row) != last);
            let expected: Vec<_> = (0..len).filter(|row| Some(*row) != last).collect();
            assert_eq!(visited, expected, "{len} rows");
        }
    }
}
