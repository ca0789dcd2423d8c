//! How far down a new message goes at once, and what happens where it stops.

use cost_model::{Machine, SimThread, SimTime, Step};
use index::{Key, KeySource};

use crate::config::{EdgeSplit, Promotion};
use crate::engine::{FractalTree, Work};
use crate::message::{Kind, Message};
use crate::node::{Body, Reactivity};
use crate::reshape::SplitMode;

/// Messages that must have gone into the rightmost leaf one after another before the next one
/// is tried there at once (`PerconaFT` source, ft-ops.cc, `FT_SEQINSERT_SCORE_THRESHOLD`).
const SEQUENCE_MIN: u32 = 100;

/// A message may be promoted past nodes of this depth no further (ft-ops.cc,
/// `push_something_in_subtree`).
const DEPTH_MAX: u32 = 2;

/// A node on the way down.
#[derive(Clone, Copy)]
struct Place {
    node: u32,
    depth: u32,
    /// Whether it is the first node of its height, or the last.
    left: bool,
    right: bool,
}

impl<K: KeySource> FractalTree<K> {
    /// Whether a sequence of keys at the right edge makes the message go to the rightmost leaf
    /// without a look at the nodes above; then that leaf is the end of the path.
    #[inline]
    pub(crate) fn takes_shortcut(&mut self, index: usize, key: Key, now: SimTime) -> bool {
        if self.config.promotion != Promotion::Flow || self.trees[index].sequence < SEQUENCE_MIN {
            return false;
        }
        let mut number = self.trees[index].root;
        self.path.clear();
        while let Body::Internal(internal) = &self.nodes[number as usize].body {
            let edge = &internal.edges[internal.edges.len() - 1];
            let is_after = internal.pivots.keys().last().is_none_or(|pivot| *pivot < key);
            if !is_after || !edge.is_empty() {
                return false;
            }
            number = edge.child;
        }
        let stable = self.reactivity(number) == Reactivity::Stable;
        let ready = self.is_ready(number, now);
        if stable && ready {
            self.path.push((number, 0));
        }
        stable && ready
    }

    /// Finds the node that a message for `key` goes into: the last of the path.
    ///
    /// # Errors
    /// [`Blocked`](cost_model::Blocked) if a node must be waited for.
    pub(crate) fn route(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: usize,
        key: Key,
    ) -> Step {
        self.path.clear();
        loop {
            let root = self.trees[index].root;
            self.pin(machine, thread, root)?;
            if self.reactivity(root) != Reactivity::Fissible {
                break;
            }
            self.split_root(index);
        }
        let root = self.trees[index].root;
        let mut at = Place { node: root, depth: 0, left: true, right: true };
        let mut reacted = false;
        while let Body::Internal(internal) = &self.nodes[at.node as usize].body {
            let slot = internal.slot(key);
            let edge = &internal.edges[slot];
            let last = slot + 1 == internal.edges.len();
            let left = at.left && slot == 0;
            let below = Place {
                node: edge.child,
                depth: at.depth + 1,
                left,
                right: !left && at.right && last,
            };
            let wants = edge.wants_promotion(self.config.node_bytes);
            if !edge.is_empty() || self.stops_at(at, below) {
                break;
            }
            self.path.push((at.node, slot as u32));
            if self.waits_for(below, wants) {
                self.pin(machine, thread, below.node)?;
            } else if !self.is_ready(below.node, thread.now()) {
                self.path.pop();
                break;
            }
            if !reacted && self.react(machine, thread, at, slot)? {
                self.path.pop();
                reacted = true;
                continue;
            }
            reacted = false;
            if !self.goes_on(below, wants) {
                self.path.pop();
                break;
            }
            at = below;
        }
        self.path.push((at.node, 0));
        Ok(())
    }

    /// Whether the rules have a message stop in `at`, whatever the state of the child.
    fn stops_at(&self, at: Place, below: Place) -> bool {
        let height = self.nodes[at.node as usize].height;
        match self.config.promotion {
            Promotion::Root => true,
            Promotion::Eager => false,
            Promotion::Flow => {
                let inside = !(at.left || at.right);
                let below_inside = !(below.left || below.right);
                inside && (height <= 1 || DEPTH_MAX <= at.depth) || below_inside && height <= 1
            }
        }
    }

    /// Whether the message waits for an absent child instead of stopping above it.
    fn waits_for(&self, below: Place, wants: bool) -> bool {
        self.config.promotion == Promotion::Flow
            && (below.left || below.right || wants && below.depth <= DEPTH_MAX)
    }

    /// Whether the message goes into the child, which is in memory.
    fn goes_on(&self, below: Place, wants: bool) -> bool {
        self.config.promotion != Promotion::Flow
            || below.left
            || below.right
            || wants
            || self.store.cache.is_dirty(below.node)
    }

    /// Whether all of a node can be used without a wait.
    #[inline]
    fn is_ready(&self, number: u32, now: SimTime) -> bool {
        self.store.cache.is_resident(number)
            && self.store.cache.busy_until(number) <= now
            && self.is_complete(number)
    }

    /// Changes the shape of a child that the path goes through, if it must; tells whether the
    /// way has to be looked for again.
    fn react(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        parent: Place,
        slot: usize,
    ) -> Step<bool> {
        let internal = self.nodes[parent.node as usize].internal();
        let (child, children) = (internal.edges[slot].child, internal.edges.len());
        let above_leaves = self.nodes[parent.node as usize].height == 1;
        match self.reactivity(child) {
            Reactivity::Stable => Ok(false),
            Reactivity::Fissible => {
                let last = parent.right && slot + 1 == children;
                let mode = match self.config.edge_split {
                    _ if !above_leaves => SplitMode::Even,
                    EdgeSplit::Sequential => self.mode_by_order(child),
                    EdgeSplit::Uneven if parent.left && slot == 0 => SplitMode::RightHeavy,
                    EdgeSplit::Uneven if last => SplitMode::LeftHeavy,
                    EdgeSplit::Uneven => SplitMode::Even,
                };
                self.split_child(parent.node, slot, mode, above_leaves && last);
                Ok(true)
            }
            Reactivity::Fusible => {
                // Leaves that were split unevenly of late are not joined again.
                let at_edge = parent.left && slot <= 1 || parent.right && children <= slot + 2;
                if above_leaves && at_edge {
                    return Ok(false);
                }
                if 2 <= children {
                    let sibling = if slot == 0 { 1 } else { slot - 1 };
                    let sibling = self.nodes[parent.node as usize].internal().edges[sibling].child;
                    self.pin(machine, thread, sibling)?;
                    let mut work = Work::at(thread.now());
                    self.merge_child(machine, &mut work, parent.node, slot);
                    self.charge(&mut work, parent.node);
                }
                Ok(true)
            }
        }
    }

    fn mode_by_order(&self, leaf: u32) -> SplitMode {
        let leaf = self.nodes[leaf as usize].leaf();
        if leaf.len() < 2 * leaf.in_order { SplitMode::Sequential } else { SplitMode::Even }
    }

    /// Puts messages of one row into the last node of the path; returns that node.
    pub(crate) fn inject(&mut self, index: usize, key: Key, row: u32, kinds: &[Kind]) -> u32 {
        let tree = &mut self.trees[index];
        let bytes: u64 = kinds.iter().map(|kind| tree.sizes.message(*kind)).sum();
        let (last, above) = self.path.split_last().expect("a path has an end");
        for (number, slot) in above {
            self.store.cache.touch(*number);
            let internal = self.nodes[*number as usize].internal_mut();
            internal.touched = true;
            internal.edges[*slot as usize].flow[0] += bytes;
        }
        let number = last.0;
        self.store.cache.touch(number);
        self.store.cache.set_dirty(number, true);
        let node = &mut self.nodes[number as usize];
        tree.counters.injected[usize::from(node.height)] += kinds.len() as u64;
        match &mut node.body {
            Body::Leaf(leaf) => {
                leaf.parts.touched = u128::MAX;
                for kind in kinds {
                    leaf.apply(&mut self.chunks, &tree.sizes, Message::new(*kind, row));
                }
            }
            Body::Internal(internal) => {
                let slot = internal.slot(key);
                let edge = &mut internal.edges[slot];
                for kind in kinds {
                    self.chunks.push(&mut edge.messages, Message::new(*kind, row));
                }
                edge.flow[0] += bytes;
                internal.allocated += edge.grow(bytes);
                internal.bytes += bytes + tree.sizes.message_offset * kinds.len() as u64;
                internal.touched = true;
            }
            Body::Gone => unreachable!("a path ends in a node"),
        }
        if node.is_leaf() && self.config.promotion == Promotion::Flow {
            let is_rightmost = self.is_rightmost(index, number);
            let tree = &mut self.trees[index];
            tree.sequence = if is_rightmost { (tree.sequence + 1).min(SEQUENCE_MIN) } else { 0 };
        }
        self.resize(number);
        number
    }

    fn is_rightmost(&self, index: usize, leaf: u32) -> bool {
        let mut number = self.trees[index].root;
        while let Body::Internal(internal) = &self.nodes[number as usize].body {
            number = internal.edges[internal.edges.len() - 1].child;
        }
        number == leaf
    }

    /// Loads the processor's caches with what an insert of `key` will need.
    #[inline]
    pub(crate) fn prefetch(&self, index: usize, key: Key) {
        let mut number = self.trees[index].root;
        while let Body::Internal(internal) = &self.nodes[number as usize].body {
            let edge = &internal.edges[internal.slot(key)];
            if !edge.is_empty() {
                self.chunks.prefetch_end(&edge.messages);
                return;
            }
            number = edge.child;
        }
        if let Body::Leaf(leaf) = &self.nodes[number as usize].body {
            leaf.prefetch_end(&self.chunks);
        }
    }
}
