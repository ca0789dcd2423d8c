//! Which leaves of the buffer's tree are joined, and what becomes of them?

use cost_model::PageId;

use super::{Leaf, LeafId, Moved, Run, Runs};

impl Runs {
    /// Whether a leaf has so few entries, or will when `run` has left it, that it should be joined.
    pub(crate) fn is_underfull(&self, leaf: LeafId, run: Run) -> bool {
        let left = self.leaves[leaf.0 as usize].used.saturating_sub(run.entries * run.bytes);
        1 < self.live.len() && left < self.sizes.join_below
    }

    /// The leaves beside those of a data page, if one of these may be joined when `run` has left.
    pub(crate) fn neighbours(&self, leaves: &[LeafId], run: Run) -> impl Iterator<Item = LeafId> {
        let joins = leaves.iter().any(|leaf| self.is_underfull(*leaf, run));
        let beside = [self.before(leaves[leaves.len() - 1]), self.after(leaves[0])];
        beside.into_iter().flatten().filter(move |_| joins)
    }

    /// The neighbour that a leaf would be joined with, if it has so few entries that it should be
    /// and they fit together: the one before it, or the one after the first, or after any.
    pub(crate) fn partner(&self, leaf: LeafId) -> Option<LeafId> {
        if !self.is_underfull(leaf, Run::default()) {
            return None;
        }
        let record = &self.leaves[leaf.0 as usize];
        let (before, after) = (self.before(leaf), self.after(leaf));
        btree::partner(before, after, self.sizes.join_right, |partner| {
            let other = &self.leaves[partner.0 as usize];
            let directory = self.directory(record.entries + other.entries);
            record.used + other.used + directory <= self.sizes.usable
        })
    }

    /// Joins a leaf with its partner: the right one of the two goes. Tells what moved and which
    /// page is free.
    pub(crate) fn join(&mut self, leaf: LeafId, partner: LeafId) -> (Moved, PageId) {
        let is_before = self.leaves[leaf.0 as usize].prev == partner.0;
        let (left, right) = if is_before { (partner.0, leaf.0) } else { (leaf.0, partner.0) };
        let gone = self.leaves[right as usize];
        // Whichever is right: the entries of the underfull leaf are the ones that move.
        let moving = self.leaves[leaf.0 as usize];
        let staying = self.leaves[partner.0 as usize];
        let heap = staying.heap + moving.used;
        let entries = staying.entries + moving.entries;
        let reorganizes = self.sizes.usable < heap + self.directory(entries);
        let moved = Moved {
            entries: moving.entries,
            bytes: moving.used,
            reorganized: if reorganizes { staying.used } else { 0 },
        };
        let record = &mut self.leaves[left as usize];
        (record.entries, record.used) = (entries, record.used + gone.used);
        record.heap = if reorganizes { record.used } else { heap };
        record.top = staying.top;
        self.places[left as usize] = std::mem::take(&mut self.places[partner.0 as usize]);
        if reorganizes {
            self.places[left as usize].clear(&mut record.top);
        }
        record.changed_by = staying.changed_by;
        record.last_insert = None;
        record.next = gone.next;
        match self.leaves.get_mut(gone.next as usize) {
            Some(next) => next.prev = left,
            None => self.last = left,
        }
        self.drop_leaf(right);
        self.claim(left, gone.first);
        (moved, gone.page)
    }

    fn drop_leaf(&mut self, number: u32) {
        let place = self.place_in_live[number as usize];
        self.live.swap_remove(place as usize);
        if let Some(moved) = self.live.get(place as usize) {
            self.place_in_live[*moved as usize] = place;
        }
        self.pages -= 1;
        let Leaf { parent, next, .. } = self.leaves[number as usize];
        if let Some(node) = self.nodes.get_mut(parent as usize) {
            node.children -= 1;
            if node.first == number {
                node.first = next;
            }
        }
        self.leaves[number as usize].next = self.free_leaf;
        self.free_leaf = number;
    }
}
