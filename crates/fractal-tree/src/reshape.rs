//! Splits and merges.

use cost_model::Machine;
use index::{IndexId, Key, KeySource, RowId};

use crate::engine::{FractalTree, Work};
use crate::leaf::Leaf;
use crate::node::{Body, Edge, Internal, Node};
use crate::pools::Pools;

/// Where a leaf is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SplitMode {
    /// Half the bytes on each side.
    Even,
    /// Everything stays on the left.
    LeftHeavy,
    /// One entry stays on the left.
    RightHeavy,
    /// The last 1/128 goes to the right.
    Sequential,
}

/// An entry of a leaf that is split or joined.
#[derive(Clone, Copy)]
struct Entry {
    row: u32,
    collected: bool,
}

impl<K: KeySource> FractalTree<K> {
    /// The root gets a parent, and is split.
    pub(crate) fn split_root(&mut self, index: usize) {
        let old = self.trees[index].root;
        let height = self.nodes[old as usize].height + 1;
        assert!(usize::from(height) < crate::node::HEIGHT_MAX, "a tree of {height} levels");
        let edges = vec![Edge::new(old)];
        let internal = Internal::new(Vec::new(), edges, &self.trees[index].sizes);
        let root = self.add_node(Node::new(index, height, Body::Internal(internal)));
        self.trees[index].root = root;
        self.split_child(root, 0, SplitMode::Even, height == 1);
    }

    /// Splits a child whose buffer is empty; returns both halves. The new node is the right half,
    /// unless the child is the last leaf, which stays the last.
    pub(crate) fn split_child(
        &mut self,
        parent: u32,
        slot: usize,
        mode: SplitMode,
        is_last: bool,
    ) -> (u32, u32) {
        let child = self.nodes[parent as usize].internal().edges[slot].child;
        let node = &self.nodes[child as usize];
        let (index, height) = (node.index as usize, node.height);
        self.trees[index].counters.splits[usize::from(height)] += 1;
        let (left, right, pivot) =
            if height == 0 { self.halve_leaf(child, mode) } else { self.halve_internal(child) };
        let (kept, new) = if is_last { (right, left) } else { (left, right) };
        self.nodes[child as usize].body = kept;
        let new = self.add_node(Node::new(index, height, new));
        let (left, right) = if is_last { (new, child) } else { (child, new) };
        let child_bytes = self.trees[index].sizes.child;
        let internal = self.nodes[parent as usize].internal_mut();
        internal.pivots.change(|pivots| pivots.insert(slot, pivot));
        let mut edge = Edge::new(right);
        let old = &mut internal.edges[slot];
        debug_assert!(old.is_empty(), "messages for a child that is split");
        old.child = left;
        for (new, old) in edge.flow.iter_mut().zip(&mut old.flow) {
            *new = *old / 2;
            *old -= *new;
        }
        internal.allocated += edge.allocated();
        internal.edges.insert(slot + 1, edge);
        internal.bytes += child_bytes;
        for number in [parent, child] {
            self.store.cache.set_dirty(number, true);
            self.resize(number);
        }
        (left, right)
    }

    fn halve_internal(&mut self, number: u32) -> (Body, Body, Key) {
        let node = &mut self.nodes[number as usize];
        let sizes = &self.trees[node.index as usize].sizes;
        let internal = node.internal_mut();
        let left_children = internal.edges.len() / 2;
        let right_edges = internal.edges.split_off(left_children);
        let mut left_pivots = internal.pivots.take();
        let right_pivots = left_pivots.split_off(left_children);
        let pivot = left_pivots.pop().expect("a pivot between the halves");
        let left_edges = std::mem::take(&mut internal.edges);
        let left = Internal::new(left_pivots, left_edges, sizes);
        let right = Internal::new(right_pivots, right_edges, sizes);
        (Body::Internal(left), Body::Internal(right), pivot)
    }

    fn halve_leaf(&mut self, number: u32, mode: SplitMode) -> (Body, Body, Key) {
        let index = self.nodes[number as usize].index as usize;
        let entries = self.take_sorted(number);
        let pools = self.nodes[number as usize].leaf().pools;
        self.halve_entries(index, &entries, &pools, mode)
    }

    fn halve_entries(
        &mut self,
        index: usize,
        entries: &[(Key, Entry)],
        pools: &Pools,
        mode: SplitMode,
    ) -> (Body, Body, Key) {
        let len = entries.len();
        let at = match mode {
            SplitMode::Even => self.middle(index, entries),
            SplitMode::LeftHeavy => len,
            SplitMode::RightHeavy => 1,
            SplitMode::Sequential => len - (len / 128).max(1),
        };
        let pivot = entries[at - 1].0;
        let mut left = self.build_leaf(index, &entries[..at]);
        let mut right = self.build_leaf(index, &entries[at..]);
        if pools.is_one_basement() {
            for half in [&mut left, &mut right] {
                half.put_in_one_basement(&self.trees[index].sizes);
            }
        } else {
            [left.pools, right.pools] = pools.split(at as u64, (len - at) as u64);
        }
        (Body::Leaf(left), Body::Leaf(right), pivot)
    }

    /// How many entries have half of the bytes; at least one remains on each side.
    fn middle(&self, index: usize, entries: &[(Key, Entry)]) -> usize {
        let sizes = &self.trees[index].sizes;
        let bytes = |entry: &Entry| {
            if entry.collected { sizes.entry.collected } else { sizes.entry.versioned }
        };
        let total: u64 = entries.iter().map(|(_, entry)| bytes(entry)).sum();
        let mut so_far = 0;
        let half = entries.iter().position(|(_, entry)| {
            so_far += bytes(entry);
            total / 2 <= so_far
        });
        (half.unwrap_or(0) + 1).min(entries.len() - 1)
    }

    /// Takes all entries out of a leaf, in key order.
    fn take_sorted(&mut self, number: u32) -> Vec<(Key, Entry)> {
        let node = &mut self.nodes[number as usize];
        let (id, leaf) = (IndexId(node.index), node.leaf_mut());
        leaf.carry_out(&mut self.chunks);
        let collected = leaf.collected();
        let is_run = leaf.run().is_some();
        let mut entries = Vec::with_capacity(leaf.len() as usize);
        let mut position = 0;
        leaf.for_each(&self.chunks, |row| {
            let key = self.source.key(id, RowId(u64::from(row)));
            entries.push((key, Entry { row, collected: position < collected }));
            position += 1;
        });
        leaf.discard(&mut self.chunks);
        if !is_run {
            // What a split has put in order is still so, and a stable sort makes use of that.
            entries.sort_by_key(|(key, _)| *key);
        }
        entries
    }

    fn build_leaf(&mut self, index: usize, entries: &[(Key, Entry)]) -> Leaf {
        let in_runs = self.trees[index].clustered
            && entries.windows(2).all(|pair| pair[0].1.row + 1 == pair[1].1.row)
            && entries.windows(2).all(|pair| pair[0].1.collected || !pair[1].1.collected);
        let collected = entries.iter().filter(|(_, entry)| entry.collected);
        let mut rows: Vec<u32> = collected.map(|(_, entry)| entry.row).collect();
        let count = rows.len() as u32;
        rows.extend(entries.iter().filter(|(_, entry)| !entry.collected).map(|(_, e)| e.row));
        Leaf::of(&mut self.chunks, in_runs, &rows, count)
    }

    /// Joins a child with its left sibling (the first with its right one), if both together are
    /// small enough; returns the left one of the two.
    pub(crate) fn merge_child(
        &mut self,
        machine: &mut Machine,
        work: &mut Work,
        parent: u32,
        slot: usize,
    ) -> u32 {
        let first = slot.saturating_sub(1);
        let [left, right] =
            [first, first + 1].map(|at| self.nodes[parent as usize].internal().edges[at].child);
        self.bring(machine, work, left);
        self.bring(machine, work, right);
        self.move_messages(work, parent, first);
        self.move_messages(work, parent, first + 1);
        if self.nodes[left as usize].is_leaf() {
            self.merge_leaves(parent, first, left, right);
        } else {
            self.merge_internal(parent, first, left, right);
        }
        left
    }

    fn merge_leaves(&mut self, parent: u32, first: usize, left: u32, right: u32) {
        let index = self.nodes[parent as usize].index as usize;
        let sizes = &self.trees[index].sizes;
        let [a, b] = [left, right].map(|number| self.nodes[number as usize].bytes(sizes));
        let node_bytes = self.config.node_bytes;
        if node_bytes * 3 < (a + b) * 4 {
            if node_bytes < a * 4 && node_bytes < b * 4 {
                return;
            }
            let (entries, pools) = self.take_both(left, right);
            let (a, b, pivot) = self.halve_entries(index, &entries, &pools, SplitMode::Even);
            (self.nodes[left as usize].body, self.nodes[right as usize].body) = (a, b);
            self.nodes[parent as usize]
                .internal_mut()
                .pivots
                .change(|pivots| pivots[first] = pivot);
            for number in [parent, left, right] {
                self.store.cache.set_dirty(number, true);
                self.resize(number);
            }
            return;
        }
        let (entries, pools) = self.take_both(left, right);
        let mut leaf = self.build_leaf(index, &entries);
        leaf.pools = pools;
        self.nodes[left as usize].body = Body::Leaf(leaf);
        self.remove_right(parent, first, right);
    }

    /// All entries of two leaves, in key order, and what they took in memory.
    fn take_both(&mut self, left: u32, right: u32) -> (Vec<(Key, Entry)>, Pools) {
        let [a, b] = [left, right].map(|number| &self.nodes[number as usize].leaf().pools);
        let pools = a.joined(b);
        let mut entries = self.take_sorted(left);
        entries.extend(self.take_sorted(right));
        (entries, pools)
    }

    fn merge_internal(&mut self, parent: u32, first: usize, left: u32, right: u32) {
        let index = self.nodes[parent as usize].index as usize;
        let between = self.nodes[parent as usize].internal().pivots.keys()[first];
        let from = self.nodes[right as usize].internal_mut();
        let (right_pivots, right_edges) = (from.pivots.take(), std::mem::take(&mut from.edges));
        let into = self.nodes[left as usize].internal_mut();
        let (mut pivots, mut edges) = (into.pivots.take(), std::mem::take(&mut into.edges));
        pivots.push(between);
        pivots.extend(right_pivots);
        edges.extend(right_edges);
        let joined = Internal::new(pivots, edges, &self.trees[index].sizes);
        self.nodes[left as usize].body = Body::Internal(joined);
        self.remove_right(parent, first, right);
    }

    /// The right one of two joined children ceases to exist.
    fn remove_right(&mut self, parent: u32, first: usize, right: u32) {
        let node = &mut self.nodes[parent as usize];
        let (index, height) = (node.index as usize, usize::from(node.height) - 1);
        let tree = &mut self.trees[index];
        let internal = node.internal_mut();
        internal.pivots.change(|pivots| pivots.remove(first));
        let gone = internal.edges.remove(first + 1);
        debug_assert!(gone.is_empty(), "messages for a child that is gone");
        for (mine, theirs) in internal.edges[first].flow.iter_mut().zip(gone.flow) {
            *mine += theirs;
        }
        internal.bytes -= tree.sizes.child;
        internal.allocated -= gone.allocated();
        let left = internal.edges[first].child;
        tree.counters.merges[height] += 1;
        tree.nodes[height] -= 1;
        self.forget(right);
        for number in [parent, left] {
            self.store.cache.set_dirty(number, true);
            self.resize(number);
        }
    }
}
