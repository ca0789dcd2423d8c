//! What an engine needs that lays rules of its own over these trees: changes that wait elsewhere
//! until their leaf is in memory.

use cost_model::{FrameId, Machine, PageId, SimThread, Step};
use index::{IndexId, Key, KeySource, RowId};

use crate::delete::row_number;
use crate::engine::BTree;
use crate::space::{Direction, SegmentId};

/// A leaf as it lies in its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The index it belongs to.
    pub index: IndexId,
    /// Entries it holds.
    pub records: u16,
}

/// A segment of the data file that belongs to no index.
#[derive(Clone, Copy, Debug)]
pub struct OtherSegment(SegmentId);

impl<K: KeySource> BTree<K> {
    /// The key of a row in an index, and the leaf where it belongs.
    #[inline]
    pub fn place(&mut self, index: IndexId, row: RowId) -> (Key, PageId) {
        self.key_and_leaf(index, row)
    }

    /// Inserts an entry into the leaf where it belongs; the operation has begun. Tells which two
    /// leaves came of it if it was split.
    ///
    /// # Errors
    /// [`Blocked`](cost_model::Blocked): try again.
    #[inline]
    pub fn insert_into(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        key: Key,
        row: RowId,
        leaf: PageId,
    ) -> Step<Option<(PageId, PageId)>> {
        self.last_split = None;
        self.insert_at(machine, thread, index, key, row, leaf)?;
        Ok(self.last_split)
    }

    /// Fetches the pages above a leaf, as every operation on it does.
    ///
    /// # Errors
    /// [`Blocked`](cost_model::Blocked): try again.
    #[inline]
    pub fn fetch_above(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        leaf: PageId,
    ) -> Step {
        self.fetch_nodes(machine, thread, leaf)
    }

    /// Uses the pages fetched above a leaf.
    #[inline]
    pub fn touch_above(&self, machine: &mut Machine, thread: &SimThread) {
        self.touch_nodes(machine, thread);
    }

    /// The frame of a leaf, if it is in the pool; does not count as a use.
    #[inline]
    pub fn resident(&self, machine: &Machine, leaf: PageId) -> Option<FrameId> {
        machine.resident_near(leaf, self.pages.get(leaf).frame())
    }

    /// What a page is, if it is a leaf.
    #[inline]
    pub fn leaf_at(&self, page: PageId) -> Option<Leaf> {
        let page = self.pages.find(page).filter(|page| page.is_leaf())?;
        Some(Leaf { index: page.index(), records: page.records() })
    }

    /// Bytes that an insert could use on a leaf with so many records, after reorganising it.
    pub fn room(&self, index: IndexId, records: u16) -> i64 {
        let record = self.record_bytes(index);
        self.config.format.insertable(record, u32::from(records)).max(0)
    }

    /// Whether an index holds the rows themselves.
    #[inline]
    pub fn is_clustered(&self, index: IndexId) -> bool {
        self.trees[index.index()].clustered
    }

    /// Bytes of an entry in a leaf.
    pub fn record_bytes(&self, index: IndexId) -> u32 {
        self.trees[index.index()].leaf_limits.record
    }

    /// An entry that waited elsewhere goes into its leaf, where there is room for it. The leaf
    /// forgets its last insert.
    pub fn merge_into(
        &mut self,
        machine: &mut Machine,
        thread: &SimThread,
        leaf: PageId,
        row: RowId,
    ) {
        let number = row_number(row);
        let index = self.pages.get(leaf).index();
        self.log_insert(machine, thread, index, leaf);
        self.pages.append(leaf, number);
        let slots = self.pages.get(leaf).slots();
        self.pages.set_slots(leaf, slots);
    }

    /// A mark that waited elsewhere comes to its entry.
    pub fn merge_mark(&mut self, machine: &mut Machine, thread: &SimThread, leaf: PageId) {
        let index = self.pages.get(leaf).index();
        self.log_mark(machine, thread, index, leaf);
    }

    /// A removal that waited elsewhere is carried out; it leaves the leaf as empty as it gets.
    pub fn merge_removal(&mut self, machine: &mut Machine, leaf: PageId, row: RowId) {
        let index = self.pages.get(leaf).index();
        machine.log(self.trees[index.index()].redo.remove(leaf));
        let was_there = self.pages.remove(leaf, row_number(row));
        debug_assert!(was_there && 0 < self.pages.get(leaf).records(), "it was promised");
    }

    /// Whether deletes mark entries and leave their removal to a purge.
    pub fn marks_deletes(&self) -> bool {
        self.undo.is_some()
    }

    /// Whether a leaf has the entry of a row as it lies in its page.
    pub fn holds(&self, leaf: PageId, row: RowId) -> bool {
        self.pages.holds(leaf, row_number(row))
    }

    /// Whether the entry of a row is marked as deleted.
    pub fn is_marked(&self, index: IndexId, row: RowId) -> bool {
        self.trees[index.index()].marked.contains(row_number(row))
    }

    /// Counts an entry as deleted whose mark waits elsewhere.
    pub fn count_mark(&mut self, index: IndexId, row: RowId) {
        self.note_mark(index, row_number(row));
    }

    /// Counts a marked entry as gone whose removal waits elsewhere.
    pub fn count_removal(&mut self, index: IndexId, row: RowId) {
        self.trees[index.index()].marked.remove(row_number(row));
    }

    /// Counts an entry that was inserted and waits elsewhere.
    pub fn count_insert(&mut self, index: IndexId) {
        let stats = &mut self.trees[index.index()].stats;
        stats.inserts += 1;
        stats.entries += 1;
    }

    /// A new segment of the data file.
    pub fn new_segment(&mut self) -> OtherSegment {
        OtherSegment(self.space.new_segment())
    }

    /// A page for a segment.
    pub fn allocate(&mut self, segment: OtherSegment, near: PageId) -> PageId {
        self.space.allocate(segment.0, near, Direction::Up)
    }

    /// Takes a page back from a segment.
    pub fn free(&mut self, segment: OtherSegment, page: PageId) {
        self.space.free(segment.0, page);
    }
}
