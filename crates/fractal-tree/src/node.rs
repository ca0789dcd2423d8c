//! Nodes and what they consist of.

use cost_model::Extent;
use index::Key;

use crate::leaf::Leaf;
use crate::lists::List;
use crate::pivots::Pivots;
use crate::pools::Room;
use crate::sizes::Sizes;

/// Levels a tree may have.
pub const HEIGHT_MAX: usize = 12;

/// A node of one of the trees.
pub(crate) struct Node {
    pub(crate) index: u16,
    pub(crate) height: u8,
    pub(crate) body: Body,
    /// Where it was written last, if it ever was.
    pub(crate) image: Option<Image>,
}

pub(crate) enum Body {
    Leaf(Leaf),
    Internal(Internal),
    /// The node was joined with another; its number is not used again.
    Gone,
}

/// An internal node: a buffer for each child.
pub(crate) struct Internal {
    pub(crate) pivots: Pivots,
    pub(crate) edges: Vec<Edge>,
    /// Serialized bytes, buffers included.
    pub(crate) bytes: u64,
    /// Bytes that its buffers take in memory.
    pub(crate) allocated: u64,
    /// Sum of the work of all edges.
    pub(crate) work: u64,
    /// Whether it was used since the hand of the clock passed it last.
    pub(crate) touched: bool,
    /// Whether its buffers are compressed in memory.
    pub(crate) compressed: bool,
}

/// A child and the messages for it.
pub(crate) struct Edge {
    pub(crate) child: u32,
    pub(crate) messages: List,
    /// Bytes of the messages in the buffer.
    pub(crate) bytes: u64,
    /// Bytes of leaf entries that queries have rewritten for these messages.
    pub(crate) work: u64,
    /// Bytes of messages that passed in this and in the last checkpoint period.
    pub(crate) flow: [u64; 2],
    /// What the buffer has been given in memory.
    room: Room,
}

/// A node in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Image {
    pub(crate) extent: Extent,
    /// Bytes of the node, padding included.
    pub(crate) bytes: u64,
    /// Number of checkpoints that had begun when it was written.
    pub(crate) epoch: u64,
}

/// Whether a node must change its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reactivity {
    Stable,
    /// It is too big.
    Fissible,
    /// It is so small that it may be joined with a sibling.
    Fusible,
}

impl Edge {
    pub(crate) fn new(child: u32) -> Self {
        Self { child, messages: List::new(), bytes: 0, work: 0, flow: [0; 2], room: Room::EMPTY }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.messages.len() == 0
    }

    /// Messages of so many bytes have been added. Returns how much more memory the buffer takes
    /// than before.
    #[inline]
    pub(crate) fn grow(&mut self, bytes: u64) -> u64 {
        let before = self.allocated();
        self.bytes += bytes;
        self.room.hold(u64::from(self.messages.len()), self.bytes);
        self.allocated() - before
    }

    /// Bytes in memory.
    #[inline]
    pub(crate) fn allocated(&self) -> u64 {
        self.room.bytes(self.bytes)
    }

    /// The messages are gone. Returns how much less memory the buffer takes than before.
    pub(crate) fn shrink(&mut self) -> u64 {
        let before = self.allocated();
        (self.bytes, self.work, self.room) = (0, 0, Room::EMPTY);
        before - self.allocated()
    }

    /// Whether so much has flowed that messages should go past this buffer.
    #[inline]
    pub(crate) fn wants_promotion(&self, node_bytes: u64) -> bool {
        self.flow.iter().any(|flow| node_bytes / 8 <= *flow)
    }
}

impl Internal {
    pub(crate) fn new(pivots: Vec<Key>, edges: Vec<Edge>, sizes: &Sizes) -> Self {
        debug_assert_eq!(pivots.len() + 1, edges.len());
        let work = edges.iter().map(|edge| edge.work).sum();
        let buffered: u64 = edges
            .iter()
            .map(|edge| edge.bytes + u64::from(edge.messages.len()) * sizes.message_offset)
            .sum();
        let bytes = buffered + edges.len() as u64 * sizes.child;
        let allocated = edges.iter().map(Edge::allocated).sum();
        let pivots = Pivots::new(pivots);
        Self { pivots, edges, bytes, allocated, work, touched: true, compressed: false }
    }

    /// All buffers were read, or decompressed.
    pub(crate) fn lay_out_as_read(&mut self, sizes: &Sizes) {
        for edge in &mut self.edges {
            let messages = u64::from(edge.messages.len());
            edge.room = Room::read(messages, edge.bytes + messages * sizes.message_offset);
        }
        self.allocated = self.edges.iter().map(Edge::allocated).sum();
    }

    /// The child in whose range `key` is.
    #[inline]
    pub(crate) fn slot(&self, key: Key) -> usize {
        self.pivots.below(key)
    }

    /// Buffered bytes and work exceed a node, and there is something to flush.
    #[inline]
    pub(crate) fn is_gorged(&self, node_bytes: u64) -> bool {
        node_bytes < self.bytes + self.work && self.edges.iter().any(|edge| !edge.is_empty())
    }

    /// The first of the children for which most bytes wait, work counted.
    pub(crate) fn heaviest(&self) -> usize {
        let mut best = 0;
        for (slot, edge) in self.edges.iter().enumerate() {
            if self.edges[best].bytes + self.edges[best].work < edge.bytes + edge.work {
                best = slot;
            }
        }
        best
    }

    /// Whether the number of children calls for a change of shape.
    #[inline]
    pub(crate) fn reactivity(&self, fanout: u32) -> Reactivity {
        let children = self.edges.len();
        if (fanout as usize) < children {
            Reactivity::Fissible
        } else if children * 4 < fanout as usize {
            Reactivity::Fusible
        } else {
            Reactivity::Stable
        }
    }
}

impl Node {
    pub(crate) fn new(index: usize, height: u8, body: Body) -> Self {
        Self { index: index as u16, height, body, image: None }
    }

    #[inline]
    pub(crate) fn is_leaf(&self) -> bool {
        self.height == 0
    }

    /// The node as what the caller knows it to be.
    #[inline]
    pub(crate) fn leaf(&self) -> &Leaf {
        match &self.body {
            Body::Leaf(leaf) => leaf,
            _ => unreachable!("not a leaf"),
        }
    }

    #[inline]
    pub(crate) fn leaf_mut(&mut self) -> &mut Leaf {
        match &mut self.body {
            Body::Leaf(leaf) => leaf,
            _ => unreachable!("not a leaf"),
        }
    }

    #[inline]
    pub(crate) fn internal(&self) -> &Internal {
        match &self.body {
            Body::Internal(internal) => internal,
            _ => unreachable!("not an internal node"),
        }
    }

    #[inline]
    pub(crate) fn internal_mut(&mut self) -> &mut Internal {
        match &mut self.body {
            Body::Internal(internal) => internal,
            _ => unreachable!("not an internal node"),
        }
    }

    /// Serialized bytes as they are in memory now.
    #[inline]
    pub(crate) fn bytes(&self, sizes: &Sizes) -> u64 {
        match &self.body {
            Body::Leaf(leaf) => leaf.bytes(sizes),
            Body::Internal(internal) => internal.bytes,
            Body::Gone => 0,
        }
    }

    /// Whether the node must change its shape.
    #[inline]
    pub(crate) fn reactivity(&self, node_bytes: u64, fanout: u32, sizes: &Sizes) -> Reactivity {
        match &self.body {
            Body::Leaf(leaf) => leaf.reactivity(node_bytes, sizes),
            Body::Internal(internal) => internal.reactivity(fanout),
            Body::Gone => Reactivity::Stable,
        }
    }
}
