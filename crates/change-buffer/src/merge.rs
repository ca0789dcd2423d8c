//! A page was read: what waits for it goes in.

use cost_model::{FrameId, Machine, PageId, Purpose, SimThread, Step};
use index::{KeySource, RowId};

use crate::buffer::run;
use crate::engine::ChangeBuffered;
use crate::pending::Op;
use crate::runs::{Entry, LeafId, Run};

/// So many pages more than must be ready are kept (`MySQL` 5.1 source, ibuf0ibuf.c,
/// `ibuf_data_too_much_free`).
const EXCESS_PAGES: usize = 3;

impl<K: KeySource> ChangeBuffered<K> {
    /// Completes the first page that was read. Nothing happens if a page of the buffer that is
    /// needed for that must be read itself: then this is tried again.
    pub(crate) fn merge_arrival(&mut self, machine: &mut Machine, thread: &mut SimThread) -> Step {
        let Some(page) = machine.arrived() else { return Ok(()) };
        if self.buffer.pending.count(page) != 0
            && let Some(frame) = machine.resident(page)
        {
            machine.hold(thread, frame);
            let mut held = self.merge(machine, thread, page)?;
            held.push(frame);
            // The operation may have a thousand more to complete: what it keeps no flush can write.
            for frame in held {
                machine.let_go(thread, frame);
            }
        }
        machine.complete_arrival();
        Ok(())
    }

    /// Inserts what waits for a page; returns the frames of the buffer's pages that it kept.
    fn merge(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        page: PageId,
    ) -> Step<Vec<FrameId>> {
        let run_of_page = self.buffer.run(page.0);
        let leaves: Vec<LeafId> = self.buffer.runs.leaves_of(page).collect();
        let mut held = Vec::with_capacity(leaves.len() + 2);
        for leaf in &leaves {
            self.buffer.use_above(machine, thread, *leaf)?;
            let own = self.buffer.runs.page(*leaf);
            let frame = machine.fetch_for_change(thread, own, Purpose::BufferRead)?;
            machine.hold(thread, frame);
            held.push(frame);
        }
        let runs = &self.buffer.runs;
        let beside = runs.neighbours(&leaves, run_of_page).map(|leaf| runs.page(leaf));
        for other in beside.chain(self.buffer.bitmap(page)) {
            let frame = machine.fetch_for_change(thread, other, Purpose::BufferRead)?;
            machine.hold(thread, frame);
            held.push(frame);
        }
        let mut changes = Vec::with_capacity(run_of_page.entries as usize);
        self.buffer.pending.for_each(page, |row, op| changes.push((RowId(u64::from(row)), op)));
        for (row, op) in &changes {
            match op {
                Op::Insert => self.tree.merge_into(machine, thread, page, *row),
                Op::Mark => {
                    self.tree.merge_mark(machine, thread, page);
                    self.buffer.stats.merged_delete_marks += 1;
                }
                Op::Remove => {
                    self.tree.merge_removal(machine, page, *row);
                    self.buffer.stats.merged_deletes += 1;
                }
            }
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
        self.buffer.pending.clear(page);
        self.change_bitmap(machine, thread, page);
        self.buffer.stats.merges += 1;
        self.buffer.stats.merged_entries += changes.len() as u64;
        let price = machine.prices().index_entry * changes.len() as u64;
        machine.compute(thread, price);
        let mut waiting = run_of_page;
        while 0 < waiting.entries {
            let (leaf, left) = self.buffer.runs.remove(page, waiting);
            waiting.entries -= left;
            if self.buffer.runs.is_underfull(leaf, Run::default()) {
                self.search_again(machine, thread, leaf);
            }
            self.join(machine, thread, leaf);
        }
        Ok(held)
    }

    /// An entry that leaves an underfull leaf behind is removed in a second try, after another
    /// search that latches the leaves beside it; a third finds the parent, a fourth the next entry
    /// (`MySQL` 5.5 source, ibuf0ibuf.c: `ibuf_delete_rec`).
    fn search_again(&mut self, machine: &mut Machine, thread: &SimThread, leaf: LeafId) {
        let runs = &self.buffer.runs;
        let own = runs.page(leaf);
        let ways = [Some(own), None, Some(own)].into_iter();
        let visited = ways.flat_map(|end| runs.above(leaf).chain(end));
        for frame in visited.filter_map(|page| machine.resident(page)).collect::<Vec<_>>() {
            machine.touch(thread, frame);
        }
        if let Some(frame) = runs.before(leaf).and_then(|leaf| machine.resident(runs.page(leaf))) {
            machine.visit(thread, frame);
        }
        if let Some(frame) = runs.after(leaf).and_then(|leaf| machine.resident(runs.page(leaf))) {
            machine.touch(thread, frame);
        }
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
        self.buffer.stats.joins += 1;
        let bytes = self.buffer.logged_of(moved);
        self.buffer.log(machine, |redo| {
            let reorganized = if redo.logs_reorganized { moved.reorganized } else { 0 };
            redo.split + moved.entries * redo.joined + bytes + reorganized
        });
        for page in pages {
            if let Some(frame) = machine.resident(page) {
                machine.change(thread, frame);
            }
        }
        self.buffer.free_pages.push_front(gone);
        if self.buffer.reserve_pages() + EXCESS_PAGES < self.buffer.free_pages.len()
            && let Some(excess) = self.buffer.free_pages.pop_back()
        {
            machine.discard(excess);
            self.tree.free(self.buffer.segment, excess);
        }
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
        while self.buffer.free_pages.len() < self.buffer.reserve_pages() {
            machine.reserve(thread, 1)?;
            let near = self.buffer.free_pages.back().map_or(PageId(0), |last| PageId(last.0 + 1));
            let page = self.tree.allocate(self.buffer.segment, near);
            self.buffer.log(machine, |redo| redo.split);
            machine.create(thread, page);
            self.buffer.free_pages.push_back(page);
        }
        let frame =
            machine.fetch_for_change(thread, self.buffer.free_pages[0], Purpose::BufferRead)?;
        machine.hold(thread, frame);
        machine.reserve(thread, above.len() as u32 + 1)
    }

    /// Makes room for an entry of so many bytes on a leaf of the buffer's tree; returns the leaf
    /// where it goes.
    pub(crate) fn split(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        leaf: LeafId,
        entry: (Entry, u32),
    ) -> LeafId {
        let old = self.buffer.runs.page(leaf);
        let above: Vec<PageId> = self.buffer.runs.above(leaf).collect();
        let (pending, sizes) = (&self.buffer.pending, &self.buffer.entry_bytes);
        let run = |page| run(pending, sizes, page);
        let free_pages = &mut self.buffer.free_pages;
        let mut used = Vec::new();
        let mut take = || {
            let page = free_pages.pop_front().expect("enough pages are ready");
            used.push(page);
            page
        };
        let new = take();
        let moved = self.buffer.runs.split(leaf, entry, new, run, take);
        self.buffer.stats.splits += 1;
        let bytes = self.buffer.logged_of(moved);
        self.buffer.log(machine, |redo| redo.split + moved.entries * redo.moved + bytes);
        for page in std::iter::once(old).chain(above.first().copied()) {
            if let Some(frame) = machine.resident(page) {
                machine.change(thread, frame);
            }
        }
        for page in used {
            match machine.resident(page) {
                Some(frame) => machine.change(thread, frame),
                // An internal page, of which nothing has to be read.
                None => {
                    machine.create(thread, page);
                }
            }
        }
        self.buffer.runs.leaf_for(entry.0)
    }
}
