//! Looking up one entry, and visiting many in key order.

use cost_model::{Machine, Purpose, SimThread, Step};
use index::{IndexId, Key, KeySource, RowId, Visitor};

use crate::engine::BTree;

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
        self.fetch_nodes(machine, thread, leaf)?;
        let frame = machine.fetch(thread, leaf, Purpose::LeafRead)?;
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
        self.fetch_nodes(machine, thread, leaf)?;
        let mut frame = machine.fetch(thread, leaf, Purpose::LeafRead)?;
        self.touch_nodes(machine, thread);
        loop {
            machine.touch(thread, frame);
            // Whatever happens next, the scan goes on behind this leaf: a long one keeps few pages.
            machine.release(thread);
            self.load_from(index, leaf, *from);
            for (key, row) in &self.scratch {
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

    /// Puts the entries of a leaf from a key on, in key order, into the scratch list.
    fn load_from(&mut self, index: IndexId, leaf: cost_model::PageId, from: Key) {
        let (scratch, source) = (&mut self.scratch, &self.source);
        scratch.clear();
        self.pages.for_each(leaf, |row| {
            let key = source.key(index, RowId(u64::from(row)));
            if from <= key {
                scratch.push((key, row));
            }
        });
        scratch.sort_unstable();
    }
}
