//! Deleting an entry, and what a page does that has become too empty.

use cost_model::{Machine, PageId, Purpose, SimThread, Step};
use index::{IndexId, KeySource, RowId};

use crate::engine::BTree;
use crate::tree::{Path, PathStep};

impl<K: KeySource> BTree<K> {
    /// Removes the entry of `row`, if it is there.
    pub(crate) fn delete_row(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        row: RowId,
    ) -> Step {
        let key = self.source.key(index, row);
        let path = self.way(index, key);
        let frames = self.fetch_nodes(machine, thread, &path)?;
        let frame = machine.fetch_for_change(thread, path.leaf, Purpose::LeafRead)?;
        let limits = self.trees[index.index()].leaf_limits;
        let underfull = self.pages.get(path.leaf).records() <= limits.coalesce_below;
        if underfull {
            self.fetch_for_join(machine, thread, &path)?;
        }
        Self::touch_nodes(machine, thread, &path, &frames);
        machine.touch(thread, frame);
        let price = machine.prices().index_entry;
        machine.compute(thread, price);
        let number = u32::try_from(row.0).expect("the exact store holds 2^32 rows");
        if !self.pages.remove(path.leaf, number) {
            return Ok(());
        }
        machine.change(thread, frame);
        let tree = &mut self.trees[index.index()];
        tree.stats.deletes += 1;
        tree.stats.entries -= 1;
        if underfull && path.parent().is_some() {
            self.join_leaf(machine, thread, index, &path);
        }
        Ok(())
    }

    /// Gets the pages that a join of the leaf would change: its neighbours and its parents.
    fn fetch_for_join(&self, machine: &mut Machine, thread: &mut SimThread, path: &Path) -> Step {
        let leaf = self.pages.get(path.leaf);
        for sibling in [leaf.prev(), leaf.next()] {
            if !sibling.is_none() {
                machine.fetch_for_change(thread, sibling, Purpose::SiblingRead)?;
            }
        }
        for step in path.steps() {
            machine.fetch_for_change(
                thread,
                self.nodes[step.node as usize].page,
                Purpose::NodeRead,
            )?;
        }
        Ok(())
    }

    /// Joins an underfull leaf with the neighbour to its left, else to its right, if they have
    /// the same parent and all records fit on one page (MySQL 5.1 source, btr0btr.c). An empty
    /// leaf is freed.
    fn join_leaf(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        path: &Path,
    ) {
        let PathStep { node, slot } = path.parent().expect("the root is not joined");
        let (slot, leaf) = (slot as usize, path.leaf);
        let (records, clustered) =
            (self.pages.get(leaf).records(), self.trees[index.index()].clustered);
        let limits = self.trees[index.index()].leaf_limits;
        if records != 0 {
            let children = &self.nodes[node as usize].children;
            let left = slot.checked_sub(1).map(|left| children[left].child);
            let right = children.get(slot + 1).map(|right| right.child);
            let fits = |page: &PageId| self.pages.get(*page).records() + records <= limits.full;
            let Some(into) = left.filter(fits).or_else(|| right.filter(fits)) else { return };
            let mut rows = Vec::with_capacity(usize::from(limits.full));
            self.pages.for_each(into, |row| rows.push(row));
            self.pages.for_each(leaf, |row| rows.push(row));
            let slots = self.pages.get(into).slots();
            // Records that do not fit behind the others make the page reorganise first.
            let slots = if limits.full < slots + records { 0 } else { slots + records };
            self.pages.replace(into, clustered, rows.into_iter());
            self.pages.set_slots(into, slots);
            self.change(machine, thread, into);
            self.pages.replace(leaf, clustered, [].into_iter());
        }
        let (prev, next) = (self.pages.get(leaf).prev(), self.pages.get(leaf).next());
        self.change(machine, thread, prev);
        self.change(machine, thread, next);
        self.pages.unlink(leaf);
        self.pages.clear(leaf);
        let tree = &mut self.trees[index.index()];
        tree.version += 1;
        tree.stats.leaf_pages -= 1;
        tree.stats.coalesces += 1;
        let segment = tree.leaf_segment;
        self.space.free(segment, leaf);
        machine.discard(leaf);
        self.remove_child(machine, thread, index, path);
    }

    /// Takes the child at the end of `path` out of its parent; parents that become too empty are
    /// joined or freed in turn, and a root with one child gives way to it.
    fn remove_child(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        path: &Path,
    ) {
        for depth in (0..path.steps().len()).rev() {
            let PathStep { node, slot } = path.steps()[depth];
            self.change(machine, thread, self.nodes[node as usize].page);
            self.nodes[node as usize].remove(slot as usize);
            if depth == 0 {
                break;
            }
            let parent = path.steps()[depth - 1];
            if !self.join_node(machine, thread, index, node, parent) {
                break;
            }
        }
        self.lower_root(machine, thread, index);
    }

    /// Joins an underfull internal page with a neighbour under the same parent, or frees it if it
    /// is empty; tells whether it is gone.
    fn join_node(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        number: u32,
        parent: PathStep,
    ) -> bool {
        let limits = self.trees[index.index()].node_limits;
        let own = self.nodes[number as usize].children.len();
        if usize::from(limits.coalesce_below) <= own {
            return false;
        }
        if own != 0 {
            let slot = parent.slot as usize;
            let siblings = &self.nodes[parent.node as usize].children;
            let fits = |page: &PageId| {
                machine.is_resident(*page)
                    && self.node_on(*page).children.len() + own <= usize::from(limits.full)
            };
            let left = slot.checked_sub(1).map(|left| siblings[left].child).filter(fits);
            let right = siblings.get(slot + 1).map(|right| right.child).filter(fits);
            let Some(into) = left.or(right) else { return false };
            self.change(machine, thread, into);
            let target = self.pages.get(into).node() as usize;
            let mut moved = std::mem::take(&mut self.nodes[number as usize].children);
            let receiver = &mut self.nodes[target];
            if left.is_some() {
                receiver.children.append(&mut moved);
            } else {
                moved.append(&mut receiver.children);
                receiver.children = moved;
            }
            receiver.slots = receiver.children.len() as u16;
            receiver.last = None;
        }
        self.free_node(machine, index, number);
        self.trees[index.index()].stats.coalesces += 1;
        true
    }

    fn free_node(&mut self, machine: &mut Machine, index: IndexId, number: u32) {
        let page = self.nodes[number as usize].page;
        self.pages.clear(page);
        self.nodes[number as usize].children.clear();
        self.free_nodes.push(number);
        let tree = &mut self.trees[index.index()];
        tree.stats.internal_pages -= 1;
        let segment = tree.node_segment;
        self.space.free(segment, page);
        machine.discard(page);
    }

    /// While the root has a single child, the child's contents move up into it.
    fn lower_root(&mut self, machine: &mut Machine, thread: &mut SimThread, index: IndexId) {
        loop {
            let root = self.trees[index.index()].root;
            if self.trees[index.index()].height == 0 {
                return;
            }
            let number = self.pages.get(root).node();
            let [only] = self.nodes[number as usize].children[..] else { return };
            if !machine.is_resident(only.child) {
                return;
            }
            self.change(machine, thread, root);
            let tree = &mut self.trees[index.index()];
            tree.version += 1;
            tree.height -= 1;
            tree.stats.internal_pages -= 1;
            if tree.height == 0 {
                let segment = tree.leaf_segment;
                self.pages.clear(root);
                self.nodes[number as usize].children.clear();
                self.free_nodes.push(number);
                self.pages.relocate(only.child, root);
                self.space.free(segment, only.child);
            } else {
                let segment = tree.node_segment;
                let below = self.pages.get(only.child).node();
                let children = std::mem::take(&mut self.nodes[below as usize].children);
                let node = &mut self.nodes[number as usize];
                (node.slots, node.last, node.level) = (children.len() as u16, None, node.level - 1);
                node.children = children;
                self.pages.clear(only.child);
                self.free_nodes.push(below);
                self.space.free(segment, only.child);
            }
            machine.discard(only.child);
        }
    }

    fn node_on(&self, page: PageId) -> &crate::node::Node {
        &self.nodes[self.pages.get(page).node() as usize]
    }
}
