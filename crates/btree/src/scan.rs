//! Looking up one entry, and visiting many in key order.

use cost_model::{Machine, PageId, Purpose, SimThread, Step};
use index::{Estimate, IndexId, Key, KeySource, RowId, Visitor};

use crate::engine::BTree;

/// Breaks in the order of a leaf's rows that cost a sort little.
const FEW_DESCENTS: usize = 4;

impl<K: KeySource> BTree<K> {
    /// The row with exactly this key.
    pub(crate) fn find(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        key: Key,
    ) -> Step<Option<RowId>> {
        let leaf = self.leaf(index, key);
        let frame = self.fetch_leaf(machine, thread, leaf, false)?;
        self.touch_nodes(machine, thread);
        machine.touch(thread, frame);
        let (mut found, marked) = (None, &self.trees[index.index()].marked);
        self.pages.for_each(leaf, |number| {
            let row = RowId(u64::from(number));
            if self.source.key(index, row) == key && !marked.contains(number) {
                found = Some(row);
            }
        });
        Ok(found)
    }

    /// Visits entries leaf by leaf; `from` keeps the place.
    pub(crate) fn scan(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        from: &mut Key,
        visit: &mut Visitor<'_>,
    ) -> Step {
        machine.begin(thread)?;
        let mut leaf = self.leaf(index, *from);
        let mut frame = self.fetch_leaf(machine, thread, leaf, false)?;
        self.touch_nodes(machine, thread);
        loop {
            machine.touch(thread, frame);
            // Whatever happens next, the scan goes on behind this leaf: a long one keeps few pages.
            machine.release(thread);
            self.load_sorted(index, leaf);
            let first = self.scratch.partition_point(|(key, _)| *key < *from);
            for (key, row) in &self.scratch[first..] {
                // The last key of all would have no successor; no key source makes it.
                *from = Key(key.0 + 1);
                let is_marked = self.trees[index.index()].marked.contains(*row);
                if !is_marked && visit(*key, RowId(u64::from(*row))).is_break() {
                    return Ok(());
                }
            }
            leaf = self.pages.get(leaf).next();
            if leaf.is_none() {
                return Ok(());
            }
            frame = machine.fetch(thread, leaf, Purpose::LeafRead)?;
        }
    }

    /// Dives to both ends of a range and walks along its leaves (`MySQL` 5.5 source, btr0cur.c:
    /// `btr_estimate_n_rows_in_range`). The same walk along the pages above the leaves, which are
    /// few and in memory, is left out.
    pub(crate) fn walk_for_estimate(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        estimate: &mut Estimate,
    ) -> Step {
        machine.begin(thread)?;
        while let Some(key) = estimate.dive() {
            let leaf = self.leaf(index, key);
            let frame = self.fetch_leaf(machine, thread, leaf, false)?;
            self.touch_nodes(machine, thread);
            machine.touch(thread, frame);
            machine.release(thread);
            estimate.arrived(leaf);
        }
        while let Some(leaf) = estimate.leaf() {
            // Between two attempts the leaf may have been freed.
            let Some(page) = self.pages.leaf_of(leaf, index) else { break };
            let next = page.next();
            let frame = machine.fetch(thread, leaf, Purpose::LeafRead)?;
            machine.touch(thread, frame);
            machine.release(thread);
            estimate.go_on(next);
        }
        Ok(())
    }

    /// Puts the entries of a leaf in key order into the scratch list. Rows that turn out to be out
    /// of order are put in order in the leaf as well: the next scan has little to sort.
    fn load_sorted(&mut self, index: IndexId, leaf: PageId) {
        let (scratch, source) = (&mut self.scratch, &self.source);
        scratch.clear();
        self.pages.for_each(leaf, |row| {
            scratch.push((source.key(index, RowId(u64::from(row))), row));
        });
        let descents = scratch.windows(2).filter(|pair| pair[1] < pair[0]).count();
        if 0 < descents {
            // A stable sort makes use of the order that is there.
            scratch.sort();
        }
        if FEW_DESCENTS < descents {
            self.pages.reorder(leaf, scratch.iter().map(|(_, row)| *row));
        }
    }
}
