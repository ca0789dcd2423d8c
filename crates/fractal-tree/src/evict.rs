//! Nodes on their way out of memory, and their places in the file.

use cost_model::{Bytes, Machine, Purpose, SimDuration, SimTime, Victim};
use index::KeySource;

use crate::engine::FractalTree;
use crate::leaf::Leaf;
use crate::node::{Body, Image, Node};
use crate::store::per_kib;

impl<K: KeySource> FractalTree<K> {
    /// Evicts until the cache is within its limit, if it has grown enough beyond it.
    #[inline]
    pub(crate) fn keep_limit(&mut self, machine: &mut Machine, now: SimTime) {
        if self.store.cache.is_over() {
            self.evict(machine, now);
        }
    }

    #[cold]
    fn evict(&mut self, machine: &mut Machine, now: SimTime) {
        while let Some(victim) = self.store.cache.next_victim(now) {
            match victim {
                Victim::Trim(number) => self.trim(number),
                Victim::Evict(number) => self.drop_node(machine, now, number),
            }
        }
    }

    /// A clean node loses what was not used since the hand passed last.
    fn trim(&mut self, number: u32) {
        if !self.config.partial_eviction || self.store.cache.is_dirty(number) {
            return;
        }
        let basements = match self.nodes[number as usize].body {
            Body::Leaf(_) => self.basements(number),
            _ => 0,
        };
        match &mut self.nodes[number as usize].body {
            Body::Leaf(leaf) => leaf.parts.sweep(basements),
            Body::Internal(internal) => {
                internal.compressed |= !internal.touched;
                internal.touched = false;
            }
            Body::Gone => {}
        }
        self.resize(number);
    }

    /// A node leaves memory; it is written if it is dirty.
    pub(crate) fn drop_node(&mut self, machine: &mut Machine, now: SimTime, number: u32) {
        let written = self.store.cache.is_dirty(number).then(|| {
            let (image, compress) = self.place_image(number);
            let node = &self.nodes[number as usize];
            let height = usize::from(node.height);
            let counters = &mut self.trees[node.index as usize].counters;
            counters.evict_writes[height] += 1;
            counters.evict_write_bytes[height] += image.bytes;
            let compressed = self.store.writers.submit(now, compress);
            let (offset, bytes) = (image.extent.offset, Bytes::new(image.bytes));
            machine.transfer_block(now, Purpose::NodeWrite, offset, bytes).max(compressed)
        });
        self.store.cache.leave(number, written);
        match &mut self.nodes[number as usize].body {
            Body::Leaf(leaf) => leaf.collect(),
            Body::Internal(internal) => {
                internal.compressed = false;
                for edge in &mut internal.edges {
                    edge.flow = [0; 2];
                }
            }
            Body::Gone => {}
        }
    }

    /// Gives a node that is to be written a new place in the file; also tells what compressing it
    /// costs.
    pub(crate) fn place_image(&mut self, number: u32) -> (Image, SimDuration) {
        let node = &self.nodes[number as usize];
        let sizes = &self.trees[node.index as usize].sizes;
        let serialized = match &node.body {
            Body::Leaf(leaf) => leaf.bytes_collected(sizes),
            _ => node.bytes(sizes),
        };
        let bytes = sizes.in_file(serialized, node.is_leaf());
        let old = node.image;
        let extent = self.store.extents.allocate(bytes);
        let image = Image { extent, bytes, epoch: self.store.epoch };
        self.nodes[number as usize].image = Some(image);
        self.give_back(old);
        if let Some(images) = &mut self.store.images {
            images.insert(number, bytes);
        }
        (image, per_kib(self.config.prices.compress_kib, serialized))
    }

    /// An image is of no use any more; its place is free when no checkpoint refers to it.
    pub(crate) fn give_back(&mut self, image: Option<Image>) {
        match image {
            Some(image) if image.epoch == self.store.epoch => self.store.extents.free(image.extent),
            Some(image) => self.store.retired.push(image.extent),
            None => {}
        }
    }

    /// All nodes of a tree cease to exist; it begins anew with an empty leaf.
    pub(crate) fn clear(&mut self, index: usize) {
        let mut below = vec![self.trees[index].root];
        while let Some(number) = below.pop() {
            match std::mem::replace(&mut self.nodes[number as usize].body, Body::Gone) {
                Body::Internal(internal) => {
                    for mut edge in internal.edges {
                        self.trees[index].forgotten += u64::from(edge.messages.len());
                        self.chunks.clear(&mut edge.messages);
                        below.push(edge.child);
                    }
                }
                Body::Leaf(mut leaf) => leaf.discard(&mut self.chunks),
                Body::Gone => {}
            }
            self.forget(number);
        }
        let tree = &mut self.trees[index];
        tree.empty();
        let leaf = Leaf::new(tree.clustered);
        let root = self.add_node(Node::new(index, 0, Body::Leaf(leaf)));
        self.trees[index].root = root;
        self.path.clear();
    }

    /// A node ceases to exist.
    pub(crate) fn forget(&mut self, number: u32) {
        let image = self.nodes[number as usize].image.take();
        self.give_back(image);
        if let Some(images) = &mut self.store.images {
            images.remove(number);
        }
        self.store.cache.vanish(number);
        self.nodes[number as usize].body = Body::Gone;
    }
}
