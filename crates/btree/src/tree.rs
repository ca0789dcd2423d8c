//! One tree: its root, its limits, and the way from the root to a leaf.

use cost_model::PageId;
use index::{IndexId, IndexShape, IndexStats, Key, KeySource, RowSet};

use crate::directory::{Directory, walk};
use crate::engine::TreeConfig;
use crate::format::Limits;
use crate::node::Node;
use crate::pages::Pages;
use crate::redo::IndexRedo;
use crate::space::{SegmentId, Space};

/// Levels of internal pages a tree can have: 2^32 rows need no more if every page has two children.
pub(crate) const HEIGHT_MAX: usize = 32;

/// One index.
pub(crate) struct Tree {
    pub(crate) index: IndexId,
    pub(crate) clustered: bool,
    pub(crate) key_bytes: u32,
    pub(crate) root: PageId,
    /// Levels of internal pages.
    pub(crate) height: u8,
    pub(crate) leaf_limits: Limits,
    pub(crate) node_limits: Limits,
    pub(crate) redo: IndexRedo,
    pub(crate) leaf_segment: SegmentId,
    pub(crate) node_segment: SegmentId,
    /// Changes whenever pages split or join, which makes remembered paths stale.
    pub(crate) version: u32,
    pub(crate) stats: IndexStats,
    /// Rows whose entry is marked as deleted and not removed yet.
    pub(crate) marked: RowSet,
    /// The last leaf and the smallest key that belongs there: where appends go.
    pub(crate) tail: (PageId, Key),
    pub(crate) directory: Directory,
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
        config: &TreeConfig,
        space: &mut Space,
        rows_expected: u64,
        redo: IndexRedo,
    ) -> Self {
        let format = &config.format;
        let leaf_limits = format.limits(format.leaf_record(shape), shape.clustered);
        let leaves_expected = rows_expected * 2 / u64::from(leaf_limits.full);
        Self {
            index,
            clustered: shape.clustered,
            key_bytes: shape.key_bytes,
            root: PageId::NONE,
            height: 0,
            leaf_limits,
            redo,
            node_limits: format.limits(format.node_record(shape), false),
            leaf_segment: space.new_segment(),
            node_segment: space.new_segment(),
            version: 0,
            stats: IndexStats::default(),
            marked: RowSet::new(0),
            tail: (PageId::NONE, Key::MAX),
            directory: Directory::new(leaves_expected as usize),
        }
    }

    /// The leaf whose range holds `key`, by the shortest way: from the directory's `start`.
    #[inline]
    pub(crate) fn leaf<K: KeySource>(
        &mut self,
        source: &K,
        pages: &Pages,
        nodes: &[Node],
        key: Key,
        start: PageId,
    ) -> PageId {
        if self.tail.1 <= key {
            return self.tail.0;
        }
        if let Some(leaf) = walk(pages, self.index, key, start) {
            self.directory.improve(pages, key, leaf);
            return leaf;
        }
        let first = self.directory.first_key(key);
        self.directory.learn(key, self.descend(source, pages, nodes, first).leaf);
        self.descend(source, pages, nodes, key).leaf
    }

    /// The way to the leaf whose range holds `key`.
    pub(crate) fn descend<K: KeySource>(
        &self,
        source: &K,
        pages: &Pages,
        nodes: &[Node],
        key: Key,
    ) -> Path {
        let mut path = Path::new(self.root);
        for _ in 0..self.height {
            let number = pages.get(path.leaf).node();
            let node = &nodes[number as usize];
            let slot = node.position(source, self.index, key);
            path.push(number, slot);
            path.leaf = node.children[slot].child;
        }
        path
    }

    /// The smallest key that belongs to the leaf at the end of a way.
    pub(crate) fn lower_bound<K: KeySource>(&self, source: &K, nodes: &[Node], path: &Path) -> Key {
        path.steps().iter().rev().find(|step| step.slot != 0).map_or(Key::MIN, |step| {
            nodes[step.node as usize].children[step.slot as usize].key(source, self.index)
        })
    }
}
