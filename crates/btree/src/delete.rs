//! Deleting an entry: the mark, and the purge that removes what is marked.
//!
//! Rules from `MySQL` 5.1 source, row0upd.c and row0purge.c. Which entries are marked is kept
//! beside the pages: a mark changes a leaf and takes no room on it.

use cost_model::{Machine, PageId, SimThread, Step};
use index::{IndexId, KeySource, RowId};

use crate::engine::BTree;
use crate::undo::{INSERT, Kind, Next, Record};

impl<K: KeySource> BTree<K> {
    /// Deletes the entry of a row, if it is there: marks it, or removes it where there is no undo
    /// log. The operation has begun.
    ///
    /// # Errors
    /// [`Blocked`](cost_model::Blocked): try again.
    pub fn delete_entry(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        row: RowId,
    ) -> Step {
        if self.undo.is_some() {
            return self.mark_entry(machine, thread, index, row);
        }
        if self.remove_entry(machine, thread, index, row)? {
            let stats = &mut self.trees[index.index()].stats;
            stats.deletes += 1;
            stats.entries -= 1;
        }
        Ok(())
    }

    fn mark_entry(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        row: RowId,
    ) -> Step {
        let key = self.source.key(index, row);
        let (number, leaf) = (row_number(row), self.leaf(index, key));
        // The clustered entry alone has an undo record, which comes first. Others are looked for
        // once their leaf is there.
        let clustered = self.trees[index.index()].clustered;
        let known = clustered.then(|| self.is_there(index, leaf, number));
        if known == Some(true) {
            self.write_undo(machine, thread, Kind::Delete, index, number)?;
        }
        let frame = self.fetch_leaf(machine, thread, leaf, true)?;
        let is_there = known.unwrap_or_else(|| self.is_there(index, leaf, number));
        self.touch_nodes(machine, thread);
        machine.touch(thread, frame);
        let price = machine.prices().index_entry;
        machine.compute(thread, price);
        if is_there {
            self.log_mark(machine, thread, index, leaf);
            machine.change_quietly(frame);
            self.note_mark(index, number);
        }
        Ok(())
    }

    /// Whether a leaf has the entry of a row, and not as one that is deleted.
    fn is_there(&self, index: IndexId, leaf: PageId, row: u32) -> bool {
        !self.trees[index.index()].marked.contains(row) && self.pages.holds(leaf, row)
    }

    /// Inserts the entry of a row that is there and marked: the mark goes, the record stays.
    #[cold]
    pub(crate) fn unmark(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        row: RowId,
        leaf: PageId,
    ) -> Step {
        let number = row_number(row);
        self.write_undo(machine, thread, Kind::Insert, index, number)?;
        let frame = self.fetch_leaf(machine, thread, leaf, true)?;
        self.touch_nodes(machine, thread);
        self.log_mark(machine, thread, index, leaf);
        machine.change(thread, frame);
        let tree = &mut self.trees[index.index()];
        tree.marked.remove(number);
        tree.stats.inserts += 1;
        tree.stats.entries += 1;
        let price = machine.prices().index_entry;
        machine.compute(thread, price);
        Ok(())
    }

    pub(crate) fn log_mark(
        &mut self,
        machine: &mut Machine,
        thread: &SimThread,
        index: IndexId,
        leaf: PageId,
    ) {
        let change = self.pages.note_change(leaf, stamp(thread));
        machine.log(self.trees[index.index()].redo.mark(leaf, change));
    }

    /// An entry counts as deleted from now on.
    pub(crate) fn note_mark(&mut self, index: IndexId, row: u32) {
        let tree = &mut self.trees[index.index()];
        tree.marked.insert(row);
        tree.stats.deletes += 1;
        tree.stats.entries -= 1;
    }

    /// Removes the entry of a row if it is marked; the operation has begun.
    ///
    /// # Errors
    /// [`Blocked`](cost_model::Blocked): try again.
    pub fn purge_entry(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        row: RowId,
    ) -> Step {
        if self.trees[index.index()].marked.contains(row_number(row)) {
            let was_there = self.remove_entry(machine, thread, index, row)?;
            debug_assert!(was_there, "a marked entry is there");
            self.trees[index.index()].marked.remove(row_number(row));
        }
        Ok(())
    }

    /// Writes the undo record of a row, if this is its entry in the clustered index.
    #[inline]
    pub(crate) fn write_undo(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        kind: Kind,
        index: IndexId,
        row: u32,
    ) -> Step {
        let tree = &self.trees[index.index()];
        let Some(undo) = &mut self.undo else { return Ok(()) };
        if !tree.clustered {
            return Ok(());
        }
        if thread.transaction.is_none() {
            self.transactions = self.transactions.wrapping_add(1);
            thread.transaction = Some(self.transactions);
        }
        let bytes = match kind {
            Kind::Insert => INSERT + tree.key_bytes,
            Kind::Delete => undo.delete_bytes(),
        };
        let logged = tree.redo.undo(bytes);
        let record = Record { kind, index, row, bytes, logged };
        undo.write(machine, thread, &mut self.space, record)
    }

    /// What a purge does next, the operation having begun: of a row it removes the entries in
    /// secondary indexes, then that in the clustered one.
    ///
    /// # Errors
    /// [`Blocked`](cost_model::Blocked) if a page of the undo log must be read.
    pub fn next_to_purge(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
    ) -> Step<Next<(IndexId, RowId)>> {
        let Some(undo) = &mut self.undo else { return Ok(Next::Nothing) };
        let next = undo.next(machine, thread, &mut self.space)?;
        Ok(next.map(|(clustered, row, done)| {
            let mut secondary = self.trees[clustered.index() + 1..].iter();
            let after = secondary.nth(usize::from(done)).filter(|tree| !tree.clustered);
            (after.map_or(clustered, |tree| tree.index), row)
        }))
    }

    /// What [`next_to_purge`](Self::next_to_purge) has told is done. A row that is done with has
    /// its price.
    pub fn purged(&mut self, machine: &mut Machine, thread: &mut SimThread, index: IndexId) {
        let is_last = self.trees[index.index()].clustered;
        if is_last {
            let price = machine.prices().row;
            machine.compute(thread, price);
        }
        if let Some(undo) = &mut self.undo {
            undo.advance(is_last);
        }
    }
}

/// What a page remembers of the transaction that has changed it.
#[inline]
pub(crate) fn stamp(thread: &SimThread) -> u8 {
    thread.transaction.unwrap_or_default() as u8
}

/// The number by which a page knows a row.
#[inline]
pub(crate) fn row_number(row: RowId) -> u32 {
    u32::try_from(row.0).expect("the exact store holds 2^32 rows")
}
