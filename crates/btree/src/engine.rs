//! The engine: all trees of a table over one data file.

use std::ops::Range;

use cost_model::{Draw, FrameId, Machine, PageId, Purpose, SimThread, Step};
use index::{
    Estimate, HistoryStats, IndexEngine, IndexId, IndexShape, IndexStats, Key, KeySource, PageUse,
    RowId, Visitor,
};

use crate::directory::top;
use crate::format::PageFormat;
use crate::node::Node;
use crate::pages::Pages;
use crate::redo::{IndexRedo, RedoFormat};
use crate::space::{Direction, Space, SpaceConfig};
use crate::split::SplitPolicy;
use crate::tree::{HEIGHT_MAX, Path, Tree};
use crate::undo::{Next, UndoConfig, UndoLogs};

/// Rows that [`IndexEngine::prepare`] looks ahead at most.
const LOOK_AHEAD: usize = 64;

/// The rules of a B+tree engine.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeConfig {
    /// Sizes of pages and records.
    pub format: PageFormat,
    /// How the file gives pages to trees.
    pub space: SpaceConfig,
    /// Where full pages are split.
    pub split: SplitPolicy,
    /// Whether a split latches, and so reads, both neighbours of the leaf; without, only the one
    /// whose link changes.
    pub sibling_reads: bool,
    /// Whether an underfull page is joined with the one after it although there is one before it
    /// (since 5.6), if that one has no room.
    pub join_right: bool,
    /// What changes write to the redo log; `None` without one.
    pub redo: Option<RedoFormat>,
    /// The undo log; without one, deletes remove entries at once and a purge has nothing to do.
    pub undo: Option<UndoConfig>,
    /// Seed of the random split policy.
    pub seed: u64,
}

/// A plain B+tree engine: see the crate's documentation.
pub struct BTree<K> {
    pub(crate) source: K,
    pub(crate) config: TreeConfig,
    pub(crate) trees: Vec<Tree>,
    pub(crate) pages: Pages,
    pub(crate) nodes: Vec<Node>,
    pub(crate) free_nodes: Vec<u32>,
    pub(crate) space: Space,
    pub(crate) draw: Draw,
    /// Transactions begun so far.
    pub(crate) transactions: u32,
    pub(crate) undo: Option<UndoLogs>,
    /// The leaves that the last split of a leaf left.
    pub(crate) last_split: Option<(PageId, PageId)>,
    /// Keys and row numbers of the leaf that is being split; kept to save allocations.
    pub(crate) scratch: Vec<(Key, u32)>,
    hints: Hints,
    above: NodeFrames,
}

/// The leaves of rows that will be inserted soon.
#[derive(Default)]
struct Hints {
    first: u64,
    rows: u64,
    indexes: Range<u16>,
    keys: Vec<Key>,
    /// The version of the tree for which the leaf was found, and the leaf.
    leaves: Vec<(u32, PageId)>,
}

/// Frames of the internal pages above a leaf, from the lowest up.
struct NodeFrames {
    frames: [FrameId; HEIGHT_MAX],
    len: usize,
}

impl<K: KeySource> BTree<K> {
    /// The leaves where the entries belong that [`prepare`](index::IndexEngine::prepare) was last
    /// told of.
    pub fn prepared_leaves(&self) -> impl Iterator<Item = PageId> {
        self.hints.leaves.iter().map(|(_, leaf)| *leaf)
    }

    /// Empty trees for a table with these indexes, the clustered one first, each for about
    /// `rows_expected` rows. `thread` is charged with the creation of the roots.
    ///
    /// # Panics
    /// If a page of this format cannot hold three entries of every index.
    pub fn new(
        config: TreeConfig,
        shapes: &[IndexShape],
        source: K,
        rows_expected: u64,
        machine: &mut Machine,
        thread: &mut SimThread,
    ) -> Self {
        let mut space = Space::new(config.space.clone());
        let mut trees = Vec::new();
        let mut entries_per_page = u32::MAX;
        for (number, shape) in shapes.iter().enumerate() {
            let index = IndexId(number as u16);
            let redo =
                IndexRedo::new(config.redo.as_ref(), &config.format, shape, source.columns(index));
            let tree = Tree::new(index, shape, &config, &mut space, rows_expected, redo);
            let least = tree.leaf_limits.full.min(tree.node_limits.full);
            assert!(3 <= least, "a page holds {least} entries of index {}", shape.name);
            entries_per_page = entries_per_page.min(u32::from(tree.leaf_limits.full));
            trees.push(tree);
        }
        let entries = rows_expected as usize * trees.len();
        let undo = config.undo.clone().map(|config| UndoLogs::new(config, &mut space));
        let mut engine = Self {
            draw: Draw::new(config.seed, 1 << 32),
            transactions: 0,
            undo,
            pages: Pages::new(entries / entries_per_page as usize * 2 + 1_024, entries),
            nodes: Vec::new(),
            free_nodes: Vec::new(),
            last_split: None,
            scratch: Vec::new(),
            hints: Hints::default(),
            above: NodeFrames { frames: [FrameId::NONE; HEIGHT_MAX], len: 0 },
            source,
            config,
            trees,
            space,
        };
        for index in 0..engine.trees.len() {
            engine.plant(index, machine, thread);
        }
        engine
    }

    fn plant(&mut self, index: usize, machine: &mut Machine, thread: &mut SimThread) {
        let (segment, clustered) = (self.trees[index].node_segment, self.trees[index].clustered);
        let root = self.space.allocate(segment, PageId(0), Direction::Up);
        while machine.reserve(thread, 1).is_err() {}
        machine.create(thread, root);
        self.pages.make_leaf(root, IndexId(index as u16), clustered);
        let tree = &mut self.trees[index];
        tree.root = root;
        tree.tail = (root, Key::MIN);
        tree.stats.leaf_pages = 1;
    }

    /// The key stream.
    pub fn source(&self) -> &K {
        &self.source
    }

    /// Calls `visit` with the number of entries of every leaf of an index, in key order.
    pub fn for_each_leaf(&self, index: IndexId, mut visit: impl FnMut(PageId, u32)) {
        let tree = &self.trees[index.index()];
        let mut leaf = tree.descend(&self.source, &self.pages, &self.nodes, Key::MIN).leaf;
        while !leaf.is_none() {
            visit(leaf, u32::from(self.pages.get(leaf).records()));
            leaf = self.pages.get(leaf).next();
        }
    }

    /// The way to the leaf of `key`.
    pub(crate) fn way(&self, index: IndexId, key: Key) -> Path {
        self.trees[index.index()].descend(&self.source, &self.pages, &self.nodes, key)
    }

    /// The leaf of `key`.
    #[inline]
    pub(crate) fn leaf(&mut self, index: IndexId, key: Key) -> PageId {
        let tree = &mut self.trees[index.index()];
        let start = tree.directory.start(key);
        tree.leaf(&self.source, &self.pages, &self.nodes, key, start)
    }

    /// Key and leaf of a row that is to be inserted: prepared, or found now.
    #[inline]
    pub(crate) fn key_and_leaf(&mut self, index: IndexId, row: RowId) -> (Key, PageId) {
        let at = row.0.wrapping_sub(self.hints.first);
        if at < self.hints.rows && self.hints.indexes.contains(&index.0) {
            let hint = at as usize * self.hints.indexes.len()
                + usize::from(index.0 - self.hints.indexes.start);
            let key = self.hints.keys[hint];
            let (version, leaf) = self.hints.leaves[hint];
            if version == self.trees[index.index()].version {
                return (key, leaf);
            }
            return (key, self.leaf(index, key));
        }
        let key = self.source.key(index, row);
        (key, self.leaf(index, key))
    }

    /// The leaves before and after the one at the end of a way.
    pub(crate) fn neighbours(&self, path: &Path) -> (PageId, PageId) {
        let next = self.pages.get(path.leaf).next();
        let turn = path.steps().iter().rposition(|step| step.slot != 0);
        let Some(turn) = turn else { return (PageId::NONE, next) };
        let step = path.steps()[turn];
        let mut prev = self.nodes[step.node as usize].children[step.slot as usize - 1].child;
        while !self.pages.get(prev).is_leaf() {
            let node = &self.nodes[self.pages.get(prev).node() as usize];
            prev = node.children[node.children.len() - 1].child;
        }
        (prev, next)
    }

    /// Fetches the internal pages above a leaf, for [`touch_nodes`](Self::touch_nodes).
    ///
    /// # Errors
    /// [`Blocked`](cost_model::Blocked) if one must be read.
    #[inline]
    pub(crate) fn fetch_nodes(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        leaf: PageId,
    ) -> Step {
        self.above.len = 0;
        let page = self.pages.get(leaf);
        machine.share_latch(thread, page.index().index())?;
        let mut parent = page.parent();
        while let Some(number) = parent {
            let node = &mut self.nodes[number as usize];
            node.frame = machine.fetch_near(thread, node.page, node.frame, Purpose::NodeRead)?;
            self.above.frames[self.above.len] = node.frame;
            self.above.len += 1;
            parent = node.parent;
        }
        Ok(())
    }

    /// Fetches a leaf and the pages above it. The index is latched until the leaf is there.
    ///
    /// # Errors
    /// [`Blocked`](cost_model::Blocked) if one must be waited for.
    #[inline]
    pub(crate) fn fetch_leaf(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        leaf: PageId,
        changes: bool,
    ) -> Step<FrameId> {
        self.fetch_nodes(machine, thread, leaf)?;
        let guess = self.pages.get(leaf).frame();
        let frame = if changes {
            machine.fetch_near_for_change(thread, leaf, guess, Purpose::LeafRead)
        } else {
            machine.fetch_near(thread, leaf, guess, Purpose::LeafRead)
        };
        if let Ok(frame) = frame {
            self.pages.set_frame(leaf, frame);
        } else {
            machine.share_latch_while_waiting(thread, self.pages.get(leaf).index().index());
            machine.keep_latch(thread);
        }
        frame
    }

    /// Uses the internal pages that were fetched last, from the root down.
    #[inline]
    pub(crate) fn touch_nodes(&self, machine: &mut Machine, thread: &SimThread) {
        for frame in self.above.frames[..self.above.len].iter().rev() {
            machine.touch(thread, *frame);
        }
    }

    /// Tells a page who its parent is now.
    pub(crate) fn set_parent(&mut self, page: PageId, node: u32) {
        if self.pages.get(page).is_leaf() {
            self.pages.set_parent(page, node);
        } else {
            let number = self.pages.get(page).node();
            self.nodes[number as usize].parent = Some(node);
        }
    }

    /// Tells all children of a node who their parent is now.
    pub(crate) fn adopt(&mut self, node: u32) {
        for slot in 0..self.nodes[node as usize].children.len() {
            self.set_parent(self.nodes[node as usize].children[slot].child, node);
        }
    }

    pub(crate) fn new_node(&mut self, node: Node) -> u32 {
        if let Some(number) = self.free_nodes.pop() {
            self.nodes[number as usize] = node;
            number
        } else {
            self.nodes.push(node);
            self.nodes.len() as u32 - 1
        }
    }
}

impl<K: KeySource> IndexEngine for BTree<K> {
    fn prepare(&mut self, machine: &Machine, rows: Range<u64>, indexes: Range<u16>) {
        let trees = &mut self.trees[usize::from(indexes.start)..usize::from(indexes.end)];
        let (hints, pages) = (&mut self.hints, &self.pages);
        hints.indexes = indexes;
        let indexes = trees.len();
        hints.first = rows.start;
        hints.rows = (rows.end - rows.start).min(LOOK_AHEAD as u64);
        hints.keys.resize(hints.rows as usize * indexes, Key::MIN);
        hints.leaves.resize(hints.rows as usize * indexes, (0, PageId::NONE));
        for (row, keys) in hints.keys.chunks_exact_mut(indexes).enumerate() {
            self.source.keys(RowId(rows.start + row as u64), keys);
            for (tree, key) in trees.iter().zip(keys) {
                tree.directory.prefetch(*key);
            }
        }
        // Each round touches what the round before has asked the processor to load.
        let keyed = hints.keys.iter().zip(&mut hints.leaves);
        for (hint, (key, (_, leaf))) in keyed.enumerate() {
            *leaf = trees[hint % indexes].directory.start(*key);
            pages.prefetch(*leaf, 0);
        }
        for (key, (_, leaf)) in hints.keys.iter().zip(&mut hints.leaves) {
            if let Some(page) = pages.find(*leaf)
                && page.upper_bound() < top(*key)
            {
                *leaf = page.next();
                pages.prefetch(*leaf, 0);
            }
        }
        let keyed = hints.keys.iter().zip(&mut hints.leaves);
        for (hint, (key, (version, leaf))) in keyed.enumerate() {
            let tree = &mut trees[hint % indexes];
            *version = tree.version;
            *leaf = tree.leaf(&self.source, pages, &self.nodes, *key, *leaf);
            pages.prefetch(*leaf, 1);
            let page = pages.get(*leaf);
            machine.prefetch(*leaf, page.frame(), 0);
            if let Some(parent) = page.parent() {
                cost_model::prefetch(&raw const self.nodes[parent as usize]);
            }
        }
        for (_, leaf) in &hints.leaves {
            let page = pages.get(*leaf);
            machine.prefetch(*leaf, page.frame(), 1);
            if let Some(parent) = page.parent() {
                let node = &self.nodes[parent as usize];
                machine.prefetch(node.page, node.frame, 0);
            }
        }
    }

    fn begin_transaction(&mut self, machine: &mut Machine, thread: &mut SimThread) {
        self.transactions = self.transactions.wrapping_add(1);
        thread.transaction = Some(self.transactions);
        if let Some(redo) = &self.config.redo {
            machine.log(u64::from(redo.transaction));
        }
    }

    fn end_transaction(&mut self, machine: &mut Machine, thread: &mut SimThread) -> Step {
        if thread.transaction.is_none() {
            return Ok(());
        }
        if let Some(undo) = &mut self.undo {
            machine.begin_change(thread)?;
            undo.end(machine, thread, &mut self.space)?;
            machine.release(thread);
        }
        thread.transaction = None;
        Ok(())
    }

    fn insert(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        row: RowId,
    ) -> Step {
        machine.begin_change(thread)?;
        let (key, leaf) = self.key_and_leaf(index, row);
        self.insert_at(machine, thread, index, key, row, leaf)
    }

    fn delete(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        row: RowId,
    ) -> Step {
        machine.begin_change(thread)?;
        self.delete_entry(machine, thread, index, row)
    }

    fn purge(&mut self, machine: &mut Machine, thread: &mut SimThread) -> Step<bool> {
        machine.begin_change(thread)?;
        let next = self.next_to_purge(machine, thread)?;
        if let Next::Entry((index, row)) = next {
            self.purge_entry(machine, thread, index, row)?;
            self.purged(machine, thread, index);
        }
        Ok(next != Next::Nothing)
    }

    fn history(&self) -> Option<HistoryStats> {
        self.undo.as_ref().map(UndoLogs::stats)
    }

    fn truncate(&mut self, machine: &mut Machine, index: IndexId) {
        self.clear(machine, index, |_, _| {});
    }

    fn get(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        key: Key,
    ) -> Step<Option<RowId>> {
        machine.begin(thread)?;
        self.find(machine, thread, index, key)
    }

    fn range(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        from: &mut Key,
        _to: Key,
        visit: &mut Visitor<'_>,
    ) -> Step {
        self.scan(machine, thread, index, from, visit)
    }

    fn estimate(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        estimate: &mut Estimate,
    ) -> Step {
        self.walk_for_estimate(machine, thread, index, estimate)
    }

    fn index_count(&self) -> usize {
        self.trees.len()
    }

    fn stats(&self, index: IndexId) -> IndexStats {
        let tree = &self.trees[index.index()];
        IndexStats {
            reserved_pages: self.space.reserved_pages(tree.leaf_segment)
                + self.space.reserved_pages(tree.node_segment),
            marked: tree.marked.len(),
            leaf_bytes: (tree.stats.entries + tree.marked.len())
                * u64::from(tree.leaf_limits.record),
            height: u32::from(tree.height) + 1,
            ..tree.stats
        }
    }

    fn locate(&self, page: PageId) -> Option<PageUse> {
        let Some(entry) = self.pages.find(page) else {
            let is_undo = self.undo.as_ref().is_some_and(|undo| undo.has(page));
            return is_undo.then_some(PageUse::UndoLog);
        };
        let level = if entry.is_leaf() { 0 } else { self.nodes[entry.node() as usize].level };
        Some(PageUse::Index(entry.index(), u32::from(level)))
    }

    fn verify(&self) {
        self.check(|_| 0);
    }
}
