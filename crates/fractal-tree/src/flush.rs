//! Messages on their way down.

use cost_model::{Machine, SimTime};
use index::{IndexId, KeySource, RowId};

use crate::config::{CLEANER_LOOKS, Flushing};
use crate::engine::{FractalTree, Work};
use crate::message::{Kind, Message};
use crate::node::{Body, Reactivity};
use crate::reshape::SplitMode;

impl<K: KeySource> FractalTree<K> {
    /// Whether a node has more than it should, and something to give away.
    #[inline]
    pub(crate) fn is_gorged(&self, number: u32) -> bool {
        match &self.nodes[number as usize].body {
            Body::Internal(internal) => internal.is_gorged(self.config.node_bytes),
            _ => false,
        }
    }

    /// Whether a node must change its shape.
    #[inline]
    pub(crate) fn reactivity(&self, number: u32) -> Reactivity {
        let node = &self.nodes[number as usize];
        let sizes = &self.trees[node.index as usize].sizes;
        node.reactivity(self.config.node_bytes, self.config.fanout, sizes)
    }

    /// Whether a child must change its shape as it is in memory, where queries may have applied
    /// deletions to it that are still in its parent's buffer.
    fn reactivity_seen(&self, parent: u32, slot: usize) -> Reactivity {
        let edge = &self.nodes[parent as usize].internal().edges[slot];
        let node = &self.nodes[edge.child as usize];
        let tree = &self.trees[node.index as usize];
        let stable = self.reactivity(edge.child);
        let Body::Leaf(leaf) = &node.body else { return stable };
        let seen = leaf.parts.seen.first().copied().unwrap_or(0);
        if seen == 0 || stable != Reactivity::Stable || !tree.clustered {
            return stable;
        }
        let (mut position, mut deleted) = (0, 0);
        self.chunks.for_each(&edge.messages, |message| {
            deleted += u32::from(position < seen && message.kind() == Kind::Delete);
            position += 1;
        });
        if leaf.bytes_without(deleted, &tree.sizes) * 4 < self.config.node_bytes {
            Reactivity::Fusible
        } else {
            Reactivity::Stable
        }
    }

    /// Flushes a gorged node: once, or until it is not gorged any more where the client does it.
    pub(crate) fn flush_gorged(&mut self, machine: &mut Machine, work: &mut Work, number: u32) {
        self.flush_heaviest(machine, work, number);
        while self.config.flushing == Flushing::Foreground && self.is_gorged(number) {
            self.flush_heaviest(machine, work, number);
        }
    }

    fn flush_heaviest(&mut self, machine: &mut Machine, work: &mut Work, number: u32) {
        let slot = self.nodes[number as usize].internal().heaviest();
        self.flush_child(machine, work, number, slot);
    }

    /// Moves all messages for one child into it, and does what follows from that: the child is
    /// gorged, too big or too small.
    ///
    /// A child that was neither too big nor too small before the flush keeps its shape until the
    /// next one: its parent is let go of before the messages are applied (`PerconaFT` source,
    /// ft-flusher.cc, `toku_ft_flush_some_child`).
    pub(crate) fn flush_child(
        &mut self,
        machine: &mut Machine,
        work: &mut Work,
        parent: u32,
        slot: usize,
    ) {
        let child = self.nodes[parent as usize].internal().edges[slot].child;
        self.bring(machine, work, child);
        let before = self.reactivity_seen(parent, slot);
        self.move_messages(work, parent, slot);
        let after = self.reactivity(child);
        let only_child = self.nodes[parent as usize].internal().edges.len() == 1;
        if before == Reactivity::Stable
            || after == Reactivity::Stable
            || (after == Reactivity::Fusible && only_child)
        {
            self.charge(work, child);
            if self.is_gorged(child) {
                self.flush_heaviest(machine, work, child);
            }
        } else if after == Reactivity::Fissible {
            let (left, right) = self.split_child(parent, slot, SplitMode::Even, false);
            self.charge(work, left);
            self.charge(work, right);
            if self.is_gorged(left) {
                self.flush_heaviest(machine, work, left);
            } else if self.is_gorged(right) {
                self.flush_heaviest(machine, work, right);
            }
        } else {
            let kept = self.merge_child(machine, work, parent, slot);
            self.charge(work, kept);
            if self.is_gorged(kept) {
                self.flush_heaviest(machine, work, kept);
            }
        }
    }

    /// Brings all of a node into memory for `work`.
    pub(crate) fn bring(&mut self, machine: &mut Machine, work: &mut Work, number: u32) {
        if self.store.cache.is_resident(number) {
            self.store.cache.touch(number);
        }
        let fetched = self.fetch(machine, work.now, number, true);
        work.read_by = work.read_by.max(fetched.ready);
        work.cpu += fetched.cpu;
    }

    /// Moves all messages for one child, which is in memory, into it.
    pub(crate) fn move_messages(&mut self, work: &mut Work, parent: u32, slot: usize) {
        let mut messages = std::mem::take(&mut self.scratch);
        let node = &mut self.nodes[parent as usize];
        let index = node.index as usize;
        let internal = node.internal_mut();
        let edge = &mut internal.edges[slot];
        self.chunks.drain(&mut edge.messages, &mut messages);
        let (child, bytes, flow) = (edge.child, edge.bytes, edge.flow);
        internal.work -= edge.work;
        internal.allocated -= edge.shrink();
        internal.bytes -= bytes + messages.len() as u64 * self.trees[index].sizes.message_offset;
        if !messages.is_empty() {
            let height = usize::from(self.nodes[child as usize].height);
            let counters = &mut self.trees[index].counters;
            counters.flushes[height] += 1;
            counters.flushed_messages[height] += messages.len() as u64;
            counters.flushed_bytes[height] += bytes;
            work.cpu += self.accept(index, child, &messages, bytes, flow);
            for number in [parent, child] {
                self.store.cache.set_dirty(number, true);
                self.resize(number);
            }
        }
        self.scratch = messages;
    }

    /// A node takes messages from its parent's buffer; returns what that costs.
    fn accept(
        &mut self,
        index: usize,
        number: u32,
        messages: &[Message],
        bytes: u64,
        flow: [u64; 2],
    ) -> cost_model::SimDuration {
        let count = messages.len() as u64;
        let (tree, node) = (&mut self.trees[index], &mut self.nodes[number as usize]);
        match &mut node.body {
            Body::Leaf(leaf) => {
                leaf.parts.seen.clear();
                for message in messages {
                    leaf.apply(&mut self.chunks, &tree.sizes, *message);
                }
                self.config.prices.apply * count
            }
            Body::Internal(internal) => {
                // The last bytes of the buffer are those that came in this checkpoint period.
                let mut remaining = bytes;
                for message in messages {
                    let size = tree.sizes.message(message.kind());
                    let row = RowId(u64::from(message.row()));
                    let slot = internal.slot(self.source.key(IndexId(index as u16), row));
                    let edge = &mut internal.edges[slot];
                    self.chunks.push(&mut edge.messages, *message);
                    internal.allocated += edge.grow(size);
                    if remaining <= flow[0] {
                        edge.flow[0] += size;
                    } else if remaining <= flow[0] + flow[1] {
                        edge.flow[1] += size;
                    }
                    remaining -= size;
                }
                internal.bytes += bytes + count * tree.sizes.message_offset;
                self.config.prices.move_message * count
            }
            Body::Gone => unreachable!("messages for a node that is gone"),
        }
    }

    /// Work on a node so far keeps it busy. Under background flushing that is all who pay: those
    /// who wait for the node while a flusher's thread works on it.
    pub(crate) fn charge(&mut self, work: &mut Work, number: u32) {
        let mut until = work.read_by;
        if self.config.flushing == Flushing::Background {
            let computed = self.store.flushers.submit(work.now, work.cpu);
            until = computed.max(work.read_by + work.cpu);
            work.cpu = cost_model::SimDuration::ZERO;
        }
        if work.now < until {
            self.store.cache.set_busy(number, until);
        }
    }

    /// The cleaner's rounds that are due: each flushes the node with most waiting among the next
    /// eight, a few times.
    #[cold]
    pub(crate) fn clean(&mut self, machine: &mut Machine, now: SimTime) {
        let Some(cleaner) = self.config.cleaner else { return };
        self.store.next_cleaning = now + cleaner.period;
        for _ in 0..cleaner.iterations {
            if let Some(number) = self.most_pressing(now) {
                let mut work = Work::at(now);
                self.flush_heaviest(machine, &mut work, number);
                self.store.cache.set_busy(number, work.read_by);
            }
        }
    }

    /// The node with most waiting among the next eight in memory.
    fn most_pressing(&mut self, now: SimTime) -> Option<u32> {
        let mut best = None;
        let (mut seen, mut looked) = (0, 0);
        while looked < CLEANER_LOOKS && seen < self.nodes.len() {
            let number = self.store.cleaner_hand % self.nodes.len() as u32;
            self.store.cleaner_hand = number + 1;
            seen += 1;
            if !self.store.cache.is_resident(number) || now < self.store.cache.busy_until(number) {
                continue;
            }
            looked += 1;
            if let Body::Internal(internal) = &self.nodes[number as usize].body {
                let waiting: u64 = internal.edges.iter().map(|edge| edge.bytes + edge.work).sum();
                if 0 < waiting && best.is_none_or(|(most, _)| most < waiting) {
                    best = Some((waiting, number));
                }
            }
        }
        best.map(|(_, number)| number)
    }
}
