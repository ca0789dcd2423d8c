//! Removing an entry, and what a page does that has become too empty.

use cost_model::{Machine, PageId, Purpose, SimThread, Step};
use index::{IndexId, Key, KeySource, RowId};

use crate::delete::row_number;
use crate::engine::BTree;
use crate::node::{Node, Separator};
use crate::space::Direction;
use crate::tree::{Path, PathStep};

impl<K: KeySource> BTree<K> {
    /// Removes the entry of `row`; tells whether it was there.
    pub(crate) fn remove_entry(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        row: RowId,
    ) -> Step<bool> {
        let key = self.source.key(index, row);
        let leaf = self.leaf(index, key);
        self.fetch_nodes(machine, thread, leaf)?;
        let guess = self.pages.get(leaf).frame();
        let frame = machine.fetch_near_for_change(thread, leaf, guess, Purpose::LeafRead)?;
        self.pages.set_frame(leaf, frame);
        let limits = self.trees[index.index()].leaf_limits;
        let underfull = self.pages.get(leaf).records() <= limits.coalesce_below;
        let path = underfull.then(|| self.way(index, key));
        if let Some(path) = &path {
            self.fetch_for_join(machine, thread, index, path)?;
        }
        self.touch_nodes(machine, thread);
        machine.touch(thread, frame);
        let price = machine.prices().index_entry;
        machine.compute(thread, price);
        if !self.pages.remove(leaf, row_number(row)) {
            return Ok(false);
        }
        machine.log(self.trees[index.index()].redo.remove(leaf));
        machine.change_quietly(frame);
        if let Some(path) = path.filter(|path| path.parent().is_some()) {
            self.join_leaf(machine, thread, index, &path);
        }
        Ok(true)
    }

    /// Gets the pages that a join of the leaf would change: its neighbours, its parents and, as
    /// far up as these could be joined in turn, the neighbours of these.
    fn fetch_for_join(
        &self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        path: &Path,
    ) -> Step {
        let (prev, next) = self.neighbours(path);
        for sibling in [prev, next] {
            if !sibling.is_none() {
                machine.fetch_for_change(thread, sibling, Purpose::SiblingRead)?;
            }
        }
        let limits = self.trees[index.index()].node_limits;
        for (depth, step) in path.steps().iter().enumerate().rev() {
            let node = &self.nodes[step.node as usize];
            machine.fetch_for_change(thread, node.page, Purpose::NodeRead)?;
            if usize::from(limits.coalesce_below) < node.children.len() {
                return Ok(());
            }
            let Some(parent) = depth.checked_sub(1).map(|above| path.steps()[above]) else { break };
            let children = &self.nodes[parent.node as usize].children;
            for sibling in siblings(children, parent.slot as usize).into_iter().flatten() {
                machine.fetch_for_change(thread, sibling, Purpose::NodeRead)?;
            }
        }
        self.fetch_for_lower_root(machine, thread, path)
    }

    /// Gets the pages whose contents would move up if the root lost the child on `path`.
    fn fetch_for_lower_root(
        &self,
        machine: &mut Machine,
        thread: &mut SimThread,
        path: &Path,
    ) -> Step {
        let Some(PathStep { node: root, slot }) = path.steps().first().copied() else {
            return Ok(());
        };
        let children = &self.nodes[root as usize].children;
        if children.len() != 2 {
            return Ok(());
        }
        let mut only = children[1 - slot as usize].child;
        loop {
            machine.fetch_for_change(thread, only, Purpose::NodeRead)?;
            if self.pages.get(only).is_leaf() {
                return Ok(());
            }
            let [below] = self.node_on(only).children[..] else { return Ok(()) };
            only = below.child;
        }
    }

    /// Joins an underfull leaf with its [`partner`] under the same parent, if there is one. An
    /// empty leaf is freed.
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
        let mut heir = Direction::Down;
        if records != 0 {
            let [left, right] = siblings(&self.nodes[node as usize].children, slot);
            let fits = |page: &PageId| self.pages.get(*page).records() + records <= limits.full;
            let join_right = self.config.join_right;
            let Some(into) = partner(left, right, join_right, fits) else { return };
            if left != Some(into) {
                heir = Direction::Up;
            }
            let mut rows = Vec::with_capacity(usize::from(limits.full));
            self.pages.for_each(into, |row| rows.push(row));
            self.pages.for_each(leaf, |row| rows.push(row));
            let slots = self.pages.get(into).slots();
            // Records that do not fit behind the others make the page reorganise first.
            let slots = if limits.full < slots + records { 0 } else { slots + records };
            self.pages.replace(into, clustered, rows.into_iter());
            self.pages.set_slots(into, slots);
            machine.log(self.trees[index.index()].redo.join_entries(into, usize::from(records)));
            Self::change(machine, thread, into);
            self.pages.replace(leaf, clustered, [].into_iter());
        } else {
            machine.log(self.trees[index.index()].redo.move_entries(0));
        }
        let low = self.trees[index.index()].lower_bound(&self.source, &self.nodes, path);
        let bounds = (self.pages.get(leaf).lower_bound(), self.pages.get(leaf).upper_bound());
        let (prev, next) = self.neighbours(path);
        Self::change(machine, thread, prev);
        Self::change(machine, thread, next);
        self.pages.set_next(prev, next);
        self.pages.clear(leaf);
        let tree = &mut self.trees[index.index()];
        tree.version += 1;
        tree.stats.leaf_pages -= 1;
        tree.stats.coalesces += 1;
        let segment = tree.leaf_segment;
        self.space.free(segment, leaf);
        machine.discard(leaf);
        self.remove_child(machine, thread, index, path, heir);
        self.bequeath(index, low, bounds);
    }

    /// A leaf is gone whose keys began at `low`: the leaf that holds them now learns its bounds.
    fn bequeath(&mut self, index: IndexId, low: Key, (lower, upper): (u32, u32)) {
        let heir = self.way(index, low).leaf;
        let (first, last) = {
            let heir = self.pages.get(heir);
            (heir.lower_bound().min(lower), heir.upper_bound().max(upper))
        };
        self.pages.set_bounds(heir, first, last);
        let last = self.way(index, Key::MAX);
        let tree = &mut self.trees[index.index()];
        tree.tail = (last.leaf, tree.lower_bound(&self.source, &self.nodes, &last));
    }

    /// Takes the child at the end of `path` out of its parent, its range going to `heir`; parents
    /// that become too empty are joined or freed in turn, and a root with one child gives way to
    /// it.
    fn remove_child(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        path: &Path,
        mut heir: Direction,
    ) {
        for depth in (0..path.steps().len()).rev() {
            let PathStep { node, slot } = path.steps()[depth];
            Self::change(machine, thread, self.nodes[node as usize].page);
            self.nodes[node as usize].remove(slot as usize, heir);
            if depth == 0 {
                break;
            }
            let parent = path.steps()[depth - 1];
            match self.join_node(machine, thread, index, node, parent) {
                Some(direction) => heir = direction,
                None => break,
            }
        }
        self.lower_root(machine, thread, index);
    }

    /// Joins an underfull internal page with a neighbour under the same parent, or frees it if it
    /// is empty; if it is gone, tells to which side its range goes.
    fn join_node(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        number: u32,
        parent: PathStep,
    ) -> Option<Direction> {
        let limits = self.trees[index.index()].node_limits;
        let own = self.nodes[number as usize].children.len();
        if usize::from(limits.coalesce_below) <= own {
            return None;
        }
        let mut heir = Direction::Down;
        if own != 0 {
            let slot = parent.slot as usize;
            let fits = |page: &PageId| {
                self.node_on(*page).children.len() + own <= usize::from(limits.full)
            };
            let [left, right] = siblings(&self.nodes[parent.node as usize].children, slot);
            let into = partner(left, right, self.config.join_right, fits)?;
            if left != Some(into) {
                heir = Direction::Up;
            }
            machine.log(self.trees[index.index()].redo.move_separators(own));
            Self::change(machine, thread, into);
            let target = self.pages.get(into).node() as usize;
            let mut lower = std::mem::take(&mut self.nodes[target].children);
            let mut upper = std::mem::take(&mut self.nodes[number as usize].children);
            let mut upper_slot = slot;
            if heir == Direction::Up {
                std::mem::swap(&mut lower, &mut upper);
                upper_slot += 1;
            }
            // What was a first child is one no longer: its lower bound is its node's.
            let bound = self.nodes[parent.node as usize].children[upper_slot];
            upper[0] = bound.pointing_to(upper[0].child);
            lower.append(&mut upper);
            let receiver = &mut self.nodes[target];
            receiver.children = lower;
            receiver.slots = receiver.children.len() as u16;
            receiver.last = None;
            self.adopt(target as u32);
        }
        self.free_node(machine, index, number);
        self.trees[index.index()].stats.coalesces += 1;
        Some(heir)
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
            let redo = &self.trees[index.index()].redo;
            machine.log(if self.pages.get(only.child).is_leaf() {
                redo.move_entries(usize::from(self.pages.get(only.child).records()))
            } else {
                redo.move_separators(self.node_on(only.child).children.len())
            });
            Self::change(machine, thread, root);
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
                self.pages.set_parent(root, u32::MAX);
                self.space.free(segment, only.child);
            } else {
                let segment = tree.node_segment;
                let below = self.pages.get(only.child).node();
                let children = std::mem::take(&mut self.nodes[below as usize].children);
                let node = &mut self.nodes[number as usize];
                (node.slots, node.last, node.level) = (children.len() as u16, None, node.level - 1);
                node.children = children;
                self.adopt(number);
                self.pages.clear(only.child);
                self.free_nodes.push(below);
                self.space.free(segment, only.child);
            }
            machine.discard(only.child);
        }
    }

    fn node_on(&self, page: PageId) -> &Node {
        &self.nodes[self.pages.get(page).node() as usize]
    }
}

/// The page that an underfull one is joined with: the one before it if all records `fit`; the one
/// after it if there is none before it or, where a join to the right is allowed (since `MySQL`
/// 5.6), if that one has no room (btr0btr.c, `btr_compress`).
pub fn partner<T>(
    before: Option<T>,
    after: Option<T>,
    join_right: bool,
    fits: impl Fn(&T) -> bool,
) -> Option<T> {
    let after = after.filter(|_| before.is_none() || join_right);
    before.into_iter().chain(after).find(fits)
}

/// The children before and after a slot.
fn siblings(children: &[Separator], slot: usize) -> [Option<PageId>; 2] {
    let child = |slot: usize| children.get(slot).map(|separator| separator.child);
    [slot.checked_sub(1).and_then(child), child(slot + 1)]
}
