//! The engine: where a change goes.

use std::ops::Range;

use btree::{BTree, Next, TreeConfig};
use cost_model::{Machine, PageId, Purpose, SimThread, Step};
use index::{
    BufferStats, Estimate, HistoryStats, IndexEngine, IndexId, IndexShape, IndexStats, Key,
    KeySource, PageUse, RowId, Visitor,
};

use crate::buffer::{self, Buffer, IndexFacts, Place};
use crate::config::{ChangeBufferConfig, REFUSE_BEYOND, SYNC_BEYOND, WhenFull};
use crate::pending::Op;
use crate::runs::Entry;

/// A B+tree engine with a change buffer: see the crate's documentation.
pub struct ChangeBuffered<K> {
    pub(crate) tree: BTree<K>,
    pub(crate) buffer: Buffer,
}

/// What became of a change whose leaf is absent.
enum Outcome {
    Buffered,
    /// The leaf has to be read.
    Refused,
}

impl<K: KeySource> ChangeBuffered<K> {
    /// Empty trees for a table with these indexes, the clustered one first, each for about
    /// `rows_expected` rows. `thread` is charged with the creation of the roots.
    ///
    /// # Panics
    /// If a page cannot hold three entries of every index, or three buffered ones.
    pub fn new(
        tree: TreeConfig,
        buffer: ChangeBufferConfig,
        shapes: &[IndexShape],
        source: K,
        rows_expected: u64,
        machine: &mut Machine,
        thread: &mut SimThread,
    ) -> Self {
        let columns: Vec<u32> =
            (0..shapes.len()).map(|index| source.columns(IndexId(index as u16))).collect();
        let (format, join_right) = (tree.format.clone(), tree.join_right);
        let mut tree = BTree::new(tree, shapes, source, rows_expected, machine, thread);
        let facts = |(number, shape): (usize, &IndexShape)| {
            let index = IndexId(number as u16);
            let record_bytes = tree.record_bytes(index);
            let most = (format.page_bytes / record_bytes) as u16;
            let rooms = (0..=most).map(|records| tree.room(index, records)).collect();
            let (columns, column_bytes) = (columns[number], shape.entry_bytes);
            let is_buffered = !shape.clustered;
            IndexFacts { is_buffered, columns, column_bytes, record_bytes, rooms }
        };
        let indexes: Vec<IndexFacts> = shapes.iter().enumerate().map(facts).collect();
        let segment = tree.new_segment();
        let mut root = PageId::NONE;
        if buffer.pages_max != 0 {
            root = tree.allocate(segment, PageId(0));
            while machine.reserve(thread, 1).is_err() {}
            machine.create(thread, root);
            machine.note_arrivals();
        }
        let data_pages = rows_expected as usize / 64 + 1_024;
        let place = Place { segment, root, data_pages };
        let buffer = Buffer::new(buffer, &indexes, &format, join_right, place);
        Self { tree, buffer }
    }

    /// An operation begins: what was read is completed first.
    fn begin(&mut self, machine: &mut Machine, thread: &mut SimThread, changes: bool) -> Step {
        if changes {
            machine.begin_change(thread)?;
        } else {
            machine.begin(thread)?;
        }
        while machine.arrived().is_some() {
            self.merge_arrival(machine, thread)?;
        }
        // Merging took time.
        thread.in_turn()
    }

    /// Tries to let a change of an entry wait for its absent leaf.
    fn buffer_change(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        op: Op,
        entry: (IndexId, RowId),
        leaf: PageId,
    ) -> Step<Outcome> {
        let outcome = self.try_to_buffer(machine, thread, op, entry, leaf)?;
        machine.miss();
        Ok(outcome)
    }

    fn try_to_buffer(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        op: Op,
        (index, row): (IndexId, RowId),
        leaf: PageId,
    ) -> Step<Outcome> {
        self.tree.fetch_above(machine, thread, leaf)?;
        let (limit, size) = (self.buffer.config.pages_max, self.buffer.runs.pages());
        match self.buffer.config.when_full {
            WhenFull::Refuse if limit <= size => return Ok(Outcome::Refused),
            WhenFull::Contract if limit + REFUSE_BEYOND <= size => {
                self.contract(machine, thread, true);
                return Ok(Outcome::Refused);
            }
            _ => {}
        }
        let bitmap = self.bitmap_page(machine, thread, leaf)?;
        match op {
            Op::Insert if !self.has_room(index, leaf) => {
                if self.buffer.config.when_full == WhenFull::Contract {
                    self.merge_group(machine, thread, leaf);
                }
                return Ok(Outcome::Refused);
            }
            // The leaf must not become empty: that would take a join.
            Op::Remove if self.buffer.pending.records_min(leaf) < 2 => {
                return Ok(Outcome::Refused);
            }
            _ => {}
        }
        let before = u32::from(self.buffer.pending.count(leaf));
        let place = if self.buffer.config.by_arrival {
            before
        } else {
            self.buffer.draw.below(u64::from(before) + 1) as u32
        };
        let bytes = self.buffer.entry_bytes[index.index()];
        let entry = Entry { page: leaf, place };
        let own = self.buffer.runs.leaf_for(entry);
        let run = |page| self.buffer.run(page);
        if self.buffer.config.by_arrival && self.buffer.runs.is_uncountable(own, entry, run) {
            return Ok(Outcome::Refused);
        }
        let frame =
            machine.fetch_for_change(thread, self.buffer.runs.page(own), Purpose::BufferRead)?;
        machine.hold(thread, frame);
        // Counting what waits for the leaf latches the page before too (`BTR_MODIFY_PREV`).
        if let Some(before) = self.buffer.runs.before(own) {
            let page = self.buffer.runs.page(before);
            let frame = machine.fetch(thread, page, Purpose::BufferRead)?;
            machine.visit(thread, frame);
        }
        if self.buffer.config.latches_after
            && let Some(after) = self.buffer.runs.after(own)
        {
            let page = self.buffer.runs.page(after);
            let frame = machine.fetch(thread, page, Purpose::BufferRead)?;
            machine.touch(thread, frame);
        }
        let splits = !self.buffer.runs.fits(own, entry, bytes, |page| self.buffer.run(page));
        if splits {
            self.fetch_for_split(machine, thread, own)?;
        }
        self.buffer.use_above(machine, thread, own)?;
        self.tree.touch_above(machine, thread);
        let first = before == 0;
        let logged = self.buffer.logged_bytes[index.index()];
        self.buffer.log(machine, |redo| redo.insert + logged + if first { redo.bitmap } else { 0 });
        let frame = machine.fetch(thread, bitmap, Purpose::BufferRead)?;
        if first {
            machine.visit_to_change(thread, frame);
        } else {
            machine.visit(thread, frame);
        }
        let own = if splits { self.split(machine, thread, own, (entry, bytes)) } else { own };
        if self.buffer.runs.note_change(own, thread.transaction) {
            self.buffer.log(machine, |redo| redo.first_change);
        }
        let frame = machine.fetch(thread, self.buffer.runs.page(own), Purpose::BufferRead)?;
        machine.change(thread, frame);
        let number = u32::try_from(row.0).expect("the exact store holds 2^32 rows");
        let reorganized = self.buffer.runs.add(own, entry, bytes);
        self.buffer.log(machine, |redo| if redo.logs_reorganized { reorganized } else { 0 });
        self.buffer.pending.push(leaf, index.0, op, number);
        self.buffer.stats.buffered += 1;
        match op {
            Op::Insert => self.tree.count_insert(index),
            Op::Mark => self.tree.count_mark(index, row),
            Op::Remove => self.tree.count_removal(index, row),
        }
        if splits {
            self.after_split(machine, thread);
        }
        let price = machine.prices().index_entry;
        machine.compute(thread, price);
        Ok(Outcome::Buffered)
    }

    /// Whether the bitmap says that a leaf has room for what waits for it and one entry more.
    fn has_room(&self, index: IndexId, leaf: PageId) -> bool {
        let records = self.tree.leaf_at(leaf).map_or(u16::MAX, |leaf| leaf.records);
        let extra = self.buffer.config.check_extra;
        let needed = self.buffer.volume(leaf) + self.tree.record_bytes(index) + extra;
        needed <= self.buffer.class(index.index(), records) && self.buffer.runs.spread(leaf) <= 2
    }

    /// Deletes an entry, or removes one that is deleted, on a leaf that is in the pool or has to be
    /// read.
    fn change_directly(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        op: Op,
        (index, row): (IndexId, RowId),
        leaf: PageId,
    ) -> Step {
        let records = |tree: &BTree<K>| tree.leaf_at(leaf).map_or(0, |leaf| leaf.records);
        let before = self.buffer.class(index.index(), records(&self.tree));
        if op == Op::Remove {
            self.tree.purge_entry(machine, thread, index, row)?;
        } else {
            self.tree.delete_entry(machine, thread, index, row)?;
        }
        let after = self.buffer.class(index.index(), records(&self.tree));
        if !self.tree.is_clustered(index) && before != after {
            self.change_bitmap(machine, thread, leaf);
        }
        Ok(())
    }

    /// Whether a row has an entry that is not deleted, its leaf and what waits for that taken
    /// together.
    fn is_there(&self, index: IndexId, row: RowId, leaf: PageId) -> bool {
        let number = u32::try_from(row.0).expect("the exact store holds 2^32 rows");
        let waiting = self.buffer.pending.last(leaf, number);
        let there = waiting.map_or_else(|| self.tree.holds(leaf, row), |op| op != Op::Remove);
        there && !self.tree.is_marked(index, row)
    }

    /// Whether a change of an entry may wait: its leaf is absent, and this kind of change is one
    /// that is buffered.
    fn may_wait(&self, machine: &Machine, op: Op, index: IndexId, leaf: PageId) -> bool {
        let buffers = self.buffer.config.buffers;
        let is_buffered = match op {
            Op::Insert => buffers.inserts,
            Op::Mark => buffers.delete_marks && self.tree.marks_deletes(),
            Op::Remove => buffers.deletes,
        };
        let is_secondary = !self.tree.is_clustered(index) && 0 < self.buffer.config.pages_max;
        is_secondary && is_buffered && self.tree.resident(machine, leaf).is_none()
    }

    /// An insert that split one of the buffer's pages may have to make room in turn.
    fn after_split(&mut self, machine: &mut Machine, thread: &mut SimThread) {
        let (limit, size) = (self.buffer.config.pages_max, self.buffer.runs.pages());
        let contracts = self.buffer.config.when_full == WhenFull::Contract;
        if contracts && (self.buffer.config.active_contract || limit <= size) {
            self.contract(machine, thread, limit + SYNC_BEYOND <= size);
        }
    }

    /// Inserts into a leaf that is in the pool, or has to be read.
    fn insert_directly(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        row: RowId,
        (key, leaf): (Key, PageId),
    ) -> Step {
        let records = self.tree.leaf_at(leaf).map_or(0, |leaf| leaf.records);
        let before = self.buffer.class(index.index(), records);
        let after = self.buffer.class(index.index(), records + 1);
        let bitmap =
            if before == after { None } else { Some(self.bitmap_page(machine, thread, leaf)?) };
        let split = self.tree.insert_into(machine, thread, index, key, row, leaf)?;
        if let Some((left, right)) = split {
            for half in [left, right] {
                self.change_bitmap(machine, thread, half);
            }
        } else if let Some(bitmap) = bitmap {
            self.change_bitmap_page(machine, thread, bitmap);
        }
        Ok(())
    }

    /// The bitmap page of a data page, fetched so that it can be changed.
    fn bitmap_page(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        page: PageId,
    ) -> Step<PageId> {
        while self.buffer.described() <= page.0 {
            machine.reserve(thread, 1)?;
            let near = PageId(self.buffer.described());
            let bitmap = self.tree.allocate(self.buffer.segment, near);
            machine.create(thread, bitmap);
            self.buffer.add_bitmap(bitmap);
        }
        let bitmap = self.buffer.bitmap(page).expect("it was just made");
        let frame = machine.fetch_for_change(thread, bitmap, Purpose::BufferRead)?;
        machine.hold(thread, frame);
        Ok(bitmap)
    }

    /// What the bitmap says of a page has changed. The bitmap page is left alone if it is not in
    /// the pool just now, which takes a pool of a few pages.
    pub(crate) fn change_bitmap(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        page: PageId,
    ) {
        if let Some(bitmap) = self.buffer.bitmap(page) {
            self.change_bitmap_page(machine, thread, bitmap);
        }
    }

    fn change_bitmap_page(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        bitmap: PageId,
    ) {
        if let Some(frame) = machine.resident(bitmap)
            && machine.fetch_for_change(thread, bitmap, Purpose::BufferRead).is_ok()
        {
            self.buffer.log(machine, |redo| redo.bitmap);
            machine.visit_to_change(thread, frame);
        }
    }

    /// Counts an operation that could be buffered: every few of them free what flushes left.
    fn count_operation(&mut self, machine: &mut Machine) {
        self.buffer.operations += 1;
        let every = u64::from(self.buffer.config.free_flushed_every);
        if every != 0 && self.buffer.operations.is_multiple_of(every) {
            machine.free_flushed();
        }
    }
}

impl<K: KeySource> IndexEngine for ChangeBuffered<K> {
    fn prepare(&mut self, machine: &Machine, rows: Range<u64>, indexes: Range<u16>) {
        self.tree.prepare(machine, rows, indexes);
        let leaves = || self.tree.prepared_leaves();
        for round in 0..Buffer::PREFETCH_ROUNDS {
            leaves().for_each(|leaf| self.buffer.prefetch(machine, leaf, round));
        }
    }

    fn begin_transaction(&mut self, machine: &mut Machine, thread: &mut SimThread) {
        self.tree.begin_transaction(machine, thread);
    }

    fn end_transaction(&mut self, machine: &mut Machine, thread: &mut SimThread) -> Step {
        self.tree.end_transaction(machine, thread)
    }

    fn insert(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        row: RowId,
    ) -> Step {
        self.begin(machine, thread, true)?;
        let (key, leaf) = self.tree.place(index, row);
        if self.tree.is_clustered(index) || self.buffer.config.pages_max == 0 {
            self.tree.insert_into(machine, thread, index, key, row, leaf)?;
            return Ok(());
        }
        if self.may_wait(machine, Op::Insert, index, leaf)
            && !self.tree.is_marked(index, row)
            && let Outcome::Buffered =
                self.buffer_change(machine, thread, Op::Insert, (index, row), leaf)?
        {
            self.count_operation(machine);
            return Ok(());
        }
        self.insert_directly(machine, thread, index, row, (key, leaf))?;
        self.count_operation(machine);
        Ok(())
    }

    fn delete(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        row: RowId,
    ) -> Step {
        self.begin(machine, thread, true)?;
        let (_, leaf) = self.tree.place(index, row);
        if self.may_wait(machine, Op::Mark, index, leaf) {
            let (op, entry) = (Op::Mark, (index, row));
            if !self.is_there(index, row, leaf) {
                return Ok(());
            }
            if let Outcome::Buffered = self.buffer_change(machine, thread, op, entry, leaf)? {
                self.count_operation(machine);
                return Ok(());
            }
        }
        self.change_directly(machine, thread, Op::Mark, (index, row), leaf)
    }

    fn purge(&mut self, machine: &mut Machine, thread: &mut SimThread) -> Step<bool> {
        self.begin(machine, thread, true)?;
        let next = self.tree.next_to_purge(machine, thread)?;
        let Next::Entry((index, row)) = next else { return Ok(next != Next::Nothing) };
        if self.tree.is_marked(index, row) {
            let (_, leaf) = self.tree.place(index, row);
            let (op, entry) = (Op::Remove, (index, row));
            let waits = self.may_wait(machine, op, index, leaf)
                && matches!(
                    self.buffer_change(machine, thread, op, entry, leaf)?,
                    Outcome::Buffered
                );
            if waits {
                self.count_operation(machine);
            } else {
                self.change_directly(machine, thread, op, entry, leaf)?;
            }
        }
        self.tree.purged(machine, thread, index);
        Ok(true)
    }

    fn history(&self) -> Option<HistoryStats> {
        self.tree.history()
    }

    fn truncate(&mut self, machine: &mut Machine, index: IndexId) {
        let buffer = &mut self.buffer;
        self.tree.clear(machine, index, |_, leaf| {
            if buffer.pending.count(leaf) != 0 {
                let run = buffer.run(leaf.0);
                buffer.runs.remove_all(leaf, run);
                buffer.pending.clear(leaf);
            }
        });
    }

    fn get(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        key: Key,
    ) -> Step<Option<RowId>> {
        self.begin(machine, thread, false)?;
        self.tree.get(machine, thread, index, key)
    }

    fn range(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        from: &mut Key,
        to: Key,
        visit: &mut Visitor<'_>,
    ) -> Step {
        self.begin(machine, thread, false)?;
        self.tree.range(machine, thread, index, from, to, visit)
    }

    fn estimate(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        estimate: &mut Estimate,
    ) -> Step {
        self.begin(machine, thread, false)?;
        self.tree.estimate(machine, thread, index, estimate)
    }

    fn index_count(&self) -> usize {
        self.tree.index_count()
    }

    fn stats(&self, index: IndexId) -> IndexStats {
        self.tree.stats(index)
    }

    fn locate(&self, page: PageId) -> Option<PageUse> {
        self.tree.locate(page).or_else(|| self.buffer.locate(page))
    }

    fn buffered(&self) -> Option<BufferStats> {
        let entries = self.buffer.pending.total();
        Some(BufferStats { entries, pages: self.buffer.runs.pages(), ..self.buffer.stats })
    }

    fn merge_some(&mut self, machine: &mut Machine, thread: &mut SimThread, pages: u32) -> u32 {
        self.merge_pages(machine, thread, pages)
    }

    fn verify(&self) {
        let Buffer { pending, entry_bytes, .. } = &self.buffer;
        self.tree.check(|index| pending.growth(index.0));
        self.buffer.runs.verify(|page| buffer::run(pending, entry_bytes, page), pending.total());
    }
}
