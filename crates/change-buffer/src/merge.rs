//! A page was read: what waits for it goes in.

use cost_model::{Machine, PageId, Purpose, SimThread, Step};
use index::{KeySource, RowId};

use crate::buffer::run;
use crate::engine::ChangeBuffered;
use crate::runs::LeafId;

impl<K: KeySource> ChangeBuffered<K> {
    /// Completes the first page that was read. Nothing happens if a page of the buffer that is
    /// needed for that must be read itself: then this is tried again.
    pub(crate) fn merge_arrival(&mut self, machine: &mut Machine, thread: &mut SimThread) -> Step {
        let Some(page) = machine.arrived() else { return Ok(()) };
        if self.buffer.pending.count(page) != 0
            && let Some(frame) = machine.resident(page)
        {
            machine.hold(thread, frame);
            self.merge(machine, thread, page)?;
        }
        machine.complete_arrival();
        Ok(())
    }

    fn merge(&mut self, machine: &mut Machine, thread: &mut SimThread, page: PageId) -> Step {
        let run_of_page = self.buffer.run(page.0);
        let leaves: Vec<LeafId> = self.buffer.runs.leaves_of(page).collect();
        for leaf in &leaves {
            self.buffer.use_above(machine, thread, *leaf)?;
            let own = self.buffer.runs.page(*leaf);
            let frame = machine.fetch_for_change(thread, own, Purpose::BufferRead)?;
            machine.hold(thread, frame);
        }
        if let Some(bitmap) = self.buffer.bitmap(page) {
            let frame = machine.fetch_for_change(thread, bitmap, Purpose::BufferRead)?;
            machine.hold(thread, frame);
        }
        let mut rows = Vec::with_capacity(run_of_page.entries as usize);
        self.buffer.pending.for_each(page, |row| rows.push(row));
        for row in &rows {
            self.tree.merge_into(machine, page, RowId(u64::from(*row)));
            self.buffer.log(machine, |redo| redo.delete);
        }
        if let Some(frame) = machine.resident(page) {
            machine.change_quietly(frame);
        }
        for leaf in &leaves {
            if let Some(frame) = machine.resident(self.buffer.runs.page(*leaf)) {
                machine.change(thread, frame);
            }
        }
        self.buffer.runs.remove(page, run_of_page);
        self.buffer.pending.clear(page);
        self.change_bitmap(machine, thread, page);
        self.buffer.stats.merges += 1;
        self.buffer.stats.merged_entries += rows.len() as u64;
        let price = machine.prices().index_entry * rows.len() as u64;
        machine.compute(thread, price);
        self.join(machine, thread, leaves[0]);
        Ok(())
    }

    /// A leaf of the buffer's tree that has lost entries is joined with a neighbour if they fit
    /// together and both are in the pool.
    fn join(&mut self, machine: &mut Machine, thread: &mut SimThread, leaf: LeafId) {
        let Some(partner) = self.buffer.runs.partner(leaf) else { return };
        let pages = [leaf, partner].map(|leaf| self.buffer.runs.page(leaf));
        let [Some(_), Some(_)] = pages.map(|page| machine.resident(page)) else { return };
        for page in pages {
            if machine.fetch_for_change(thread, page, Purpose::BufferRead).is_err() {
                return;
            }
        }
        let (moved, gone) = self.buffer.runs.join(leaf, partner);
        self.buffer.log(machine, |redo| redo.split + moved.entries * redo.moved + moved.bytes);
        for page in pages.into_iter().filter(|page| *page != gone) {
            if let Some(frame) = machine.resident(page) {
                machine.change(thread, frame);
            }
        }
        machine.discard(gone);
        self.tree.free(self.buffer.segment, gone);
    }

    /// Fetches what a split of one of the buffer's leaves changes, and frames for what it creates.
    pub(crate) fn fetch_for_split(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        leaf: LeafId,
    ) -> Step {
        let neighbours = [self.buffer.runs.before(leaf), self.buffer.runs.after(leaf)];
        for neighbour in neighbours.into_iter().flatten() {
            let page = self.buffer.runs.page(neighbour);
            let frame = machine.fetch_for_change(thread, page, Purpose::BufferRead)?;
            machine.hold(thread, frame);
        }
        let above: Vec<PageId> = self.buffer.runs.above(leaf).collect();
        for page in &above {
            let frame = machine.fetch_for_change(thread, *page, Purpose::BufferRead)?;
            machine.hold(thread, frame);
        }
        machine.reserve(thread, above.len() as u32 + 2)
    }

    /// Splits a leaf of the buffer's tree; returns the half where the entry at `place` of a data
    /// page goes.
    pub(crate) fn split(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        leaf: LeafId,
        data_page: PageId,
        place: u32,
    ) -> LeafId {
        let old = self.buffer.runs.page(leaf);
        let above: Vec<PageId> = self.buffer.runs.above(leaf).collect();
        let entries = self.buffer.runs.entries(leaf);
        let mut created = vec![self.tree.allocate(self.buffer.segment, PageId(old.0 + 1))];
        let (pending, sizes) = (&self.buffer.pending, &self.buffer.entry_bytes);
        let (tree, segment) = (&mut self.tree, self.buffer.segment);
        let first = created[0];
        let moved = self.buffer.runs.split(
            leaf,
            first,
            |page| run(pending, sizes, page),
            || {
                let page = tree.allocate(segment, PageId(old.0 + 1));
                created.push(page);
                page
            },
        );
        debug_assert!(0 < moved.entries && moved.entries < entries);
        self.buffer.log(machine, |redo| redo.split + moved.entries * redo.moved + moved.bytes);
        for page in std::iter::once(old).chain(above.first().copied()) {
            if let Some(frame) = machine.resident(page) {
                machine.change(thread, frame);
            }
        }
        for page in created {
            machine.create(thread, page);
        }
        self.buffer.runs.leaf_for(data_page, place)
    }
}
