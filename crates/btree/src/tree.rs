//! One tree: its root, its limits, and the way from the root to a leaf.

use cost_model::PageId;
use index::{IndexId, IndexShape, IndexStats, Key, KeySource};

use crate::format::{Limits, PageFormat};
use crate::node::Node;
use crate::pages::Pages;
use crate::space::{SegmentId, Space};

/// Levels of internal pages a tree can have: far more than 2^32 rows need.
const HEIGHT_MAX: usize = 12;

/// One index.
pub(crate) struct Tree {
    pub(crate) index: IndexId,
    pub(crate) clustered: bool,
    pub(crate) root: PageId,
    /// Levels of internal pages.
    pub(crate) height: u8,
    pub(crate) leaf_limits: Limits,
    pub(crate) node_limits: Limits,
    pub(crate) leaf_segment: SegmentId,
    pub(crate) node_segment: SegmentId,
    /// Changes whenever pages split or join, which makes remembered paths stale.
    pub(crate) version: u32,
    pub(crate) stats: IndexStats,
    /// The way to the last leaf and the smallest key that belongs there: where appends go.
    tail: Option<(u32, Key, Path)>,
}

/// The way from the root to a leaf.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    pub(crate) leaf: PageId,
    depth: u8,
    steps: [PathStep; HEIGHT_MAX],
}

/// An internal page on the way: the number of its node, and the child taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PathStep {
    pub(crate) node: u32,
    pub(crate) slot: u32,
}

impl Path {
    pub(crate) fn new(root: PageId) -> Self {
        Self { leaf: root, depth: 0, steps: [PathStep::default(); HEIGHT_MAX] }
    }

    /// The internal pages, root first.
    #[inline]
    pub(crate) fn steps(&self) -> &[PathStep] {
        &self.steps[..usize::from(self.depth)]
    }

    /// The last internal page.
    pub(crate) fn parent(&self) -> Option<PathStep> {
        self.steps().last().copied()
    }

    #[inline]
    pub(crate) fn push(&mut self, node: u32, slot: usize) {
        self.steps[usize::from(self.depth)] = PathStep { node, slot: slot as u32 };
        self.depth += 1;
    }

    /// The root was pushed down a level: the path begins with the new root.
    pub(crate) fn raise(&mut self, root: u32) {
        self.steps.copy_within(..HEIGHT_MAX - 1, 1);
        self.steps[0] = PathStep { node: root, slot: 0 };
        self.depth += 1;
    }
}

impl Tree {
    /// An empty tree whose root has not been placed yet.
    pub(crate) fn new(
        index: IndexId,
        shape: &IndexShape,
        format: &PageFormat,
        space: &mut Space,
    ) -> Self {
        Self {
            index,
            clustered: shape.clustered,
            root: PageId::NONE,
            height: 0,
            leaf_limits: format.limits(format.leaf_record(shape), shape.clustered),
            node_limits: format.limits(format.node_record(shape), false),
            leaf_segment: space.new_segment(),
            node_segment: space.new_segment(),
            version: 0,
            stats: IndexStats::default(),
            tail: None,
        }
    }

    /// The way to the leaf whose range holds `key`.
    #[inline]
    pub(crate) fn descend<K: KeySource>(
        &self,
        source: &K,
        pages: &Pages,
        nodes: &[Node],
        key: Key,
    ) -> Path {
        let mut path = self.descend_to_parent(source, pages, nodes, key);
        self.finish(source, nodes, key, &mut path);
        path
    }

    /// The way to the lowest internal page; its child is found by [`finish`](Self::finish).
    #[inline]
    pub(crate) fn descend_to_parent<K: KeySource>(
        &self,
        source: &K,
        pages: &Pages,
        nodes: &[Node],
        key: Key,
    ) -> Path {
        let mut path = Path::new(self.root);
        for level in (1..=self.height).rev() {
            let number = pages.get(path.leaf).node();
            if level == 1 {
                path.push(number, 0);
            } else {
                let node = &nodes[number as usize];
                let slot = node.position(source, self.index, key);
                path.push(number, slot);
                path.leaf = node.children[slot].child;
            }
        }
        path
    }

    /// The last step of a descent.
    #[inline]
    pub(crate) fn finish<K: KeySource>(
        &self,
        source: &K,
        nodes: &[Node],
        key: Key,
        path: &mut Path,
    ) {
        if let Some(last) = usize::from(path.depth).checked_sub(1) {
            let node = &nodes[path.steps[last].node as usize];
            let slot = node.position(source, self.index, key);
            path.steps[last].slot = slot as u32;
            path.leaf = node.children[slot].child;
        }
    }

    /// The way to the last leaf, if `key` belongs there and the way is remembered.
    #[inline]
    pub(crate) fn tail(&self, key: Key) -> Option<Path> {
        match &self.tail {
            Some((version, low, path)) if *version == self.version && *low <= key => Some(*path),
            _ => None,
        }
    }

    /// Remembers the way to the last leaf.
    pub(crate) fn remember_tail<K: KeySource>(&mut self, source: &K, nodes: &[Node], path: &Path) {
        let low = path.steps().iter().rev().find(|step| step.slot != 0).map_or(Key::MIN, |step| {
            nodes[step.node as usize].children[step.slot as usize].key(source, self.index)
        });
        self.tail = Some((self.version, low, *path));
    }
}
