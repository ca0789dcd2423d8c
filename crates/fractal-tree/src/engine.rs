//! The engine: all trees of a table over one cache and one file.

use std::ops::Range;

use cost_model::{Cause, Machine, NodeCache, PageId, SimDuration, SimThread, SimTime, Step};
use index::{
    IndexEngine, IndexId, IndexShape, IndexStats, Key, KeySource, LevelStats, PageUse, RowId,
    RowSet, Visitor,
};

use crate::config::{Flushing, FractalConfig, RangeReads};
use crate::counters::TreeCounters;
use crate::leaf::Leaf;
use crate::lists::Chunks;
use crate::message::{Kind, Message, ROWS_MAX};
use crate::node::{Body, HEIGHT_MAX, Node};
use crate::sizes::Sizes;
use crate::store::Store;

/// Rows whose keys are computed together at most.
const LOOK_AHEAD: u64 = 64;

/// A fractal tree engine: see the crate's documentation.
pub struct FractalTree<K> {
    pub(crate) source: K,
    pub(crate) config: FractalConfig,
    pub(crate) trees: Vec<Tree>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) chunks: Chunks,
    pub(crate) store: Store,
    /// The way of the operation under way: nodes and the child taken in each.
    pub(crate) path: Vec<(u32, u32)>,
    /// Messages being moved; kept to save allocations.
    pub(crate) scratch: Vec<Message>,
    hints: Hints,
}

/// One index.
pub(crate) struct Tree {
    pub(crate) root: u32,
    pub(crate) clustered: bool,
    pub(crate) sizes: Sizes,
    /// Rows with an entry, pending messages included: a blind delete does not know whether it will
    /// find something; the simulator does, so that counts of entries are exact at any moment and a
    /// leaf need not look for what is not there.
    pub(crate) rows: RowSet,
    /// How many messages in a row went into the rightmost leaf.
    pub(crate) sequence: u32,
    /// Nodes by height now.
    pub(crate) nodes: [u64; HEIGHT_MAX],
    pub(crate) counters: TreeCounters,
    inserts: u64,
    deletes: u64,
    /// Messages that never arrived because the tree was emptied.
    pub(crate) forgotten: u64,
}

impl Tree {
    /// Without any node or row.
    pub(crate) fn empty(&mut self) {
        self.deletes += self.rows.len();
        self.rows.clear();
        self.sequence = 0;
        self.nodes = [0; HEIGHT_MAX];
    }
}

/// Keys of rows that will be inserted soon.
#[derive(Default)]
struct Hints {
    first: u64,
    rows: u64,
    indexes: Range<u16>,
    keys: Vec<Key>,
}

/// Work on the tree at one moment: what it waits for and computes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    pub(crate) now: SimTime,
    /// When all reads are done.
    pub(crate) read_by: SimTime,
    pub(crate) cpu: SimDuration,
}

impl Work {
    pub(crate) fn at(now: SimTime) -> Self {
        Self { now, read_by: now, cpu: SimDuration::ZERO }
    }
}

impl<K: KeySource> FractalTree<K> {
    /// Empty trees for a table with these indexes, the clustered one first, each for about
    /// `rows_expected` rows.
    ///
    /// # Panics
    /// If a node could not hold a few entries and messages of every index, or the fanout is
    /// below 4.
    pub fn new(
        config: FractalConfig,
        shapes: &[IndexShape],
        source: K,
        rows_expected: u64,
    ) -> Self {
        assert!(4 <= config.fanout, "a fanout of {}", config.fanout);
        let mut engine = Self {
            source,
            trees: Vec::new(),
            nodes: Vec::new(),
            chunks: Chunks::new(rows_expected as usize * shapes.len()),
            store: Store::new(&config),
            path: Vec::new(),
            scratch: Vec::new(),
            hints: Hints::default(),
            config,
        };
        for (number, shape) in shapes.iter().enumerate() {
            let sizes = Sizes::new(&engine.config.format, engine.config.basement_bytes, shape);
            assert!(
                engine.config.has_room_for(shape),
                "a node cannot hold four entries of index {}",
                shape.name
            );
            engine.trees.push(Tree {
                root: 0,
                clustered: shape.clustered,
                sizes,
                rows: RowSet::new(rows_expected),
                sequence: 0,
                nodes: [0; HEIGHT_MAX],
                counters: TreeCounters::default(),
                inserts: 0,
                deletes: 0,
                forgotten: 0,
            });
            let root = Node::new(number, 0, Body::Leaf(Leaf::new(shape.clustered)));
            engine.trees[number].root = engine.add_node(root);
        }
        engine
    }

    /// The key stream.
    pub fn source(&self) -> &K {
        &self.source
    }

    /// The rules.
    pub fn config(&self) -> &FractalConfig {
        &self.config
    }

    /// What an index has done so far.
    pub fn counters(&self, index: IndexId) -> &TreeCounters {
        &self.trees[index.index()].counters
    }

    /// Nodes of an index by height above the leaves.
    pub fn nodes_by_height(&self, index: IndexId) -> &[u64] {
        &self.trees[index.index()].nodes
    }

    /// The cache of nodes.
    pub fn cache(&self) -> &NodeCache {
        &self.store.cache
    }

    /// Bytes of the data file, holes included.
    pub fn file_bytes(&self) -> u64 {
        self.store.file_bytes()
    }

    /// Messages on their way in an index now, by the height of the nodes that hold them.
    pub fn pending_messages(&self, index: IndexId) -> Vec<u64> {
        let mut pending = vec![0; HEIGHT_MAX];
        for node in self.nodes.iter().filter(|node| node.index == index.0) {
            if let Body::Internal(internal) = &node.body {
                let messages = internal.edges.iter().map(|edge| u64::from(edge.messages.len()));
                pending[usize::from(node.height)] += messages.sum::<u64>();
            }
        }
        pending
    }

    /// Has range queries read so much at once from now on.
    pub fn set_range_reads(&mut self, range_reads: RangeReads) {
        self.config.range_reads = range_reads;
    }

    /// Calls `visit` with the height of every node of an index and with the number of its children
    /// or entries, in key order, each node before those below it.
    pub fn for_each_node(&self, index: IndexId, mut visit: impl FnMut(u32, u32)) {
        let mut stack = vec![self.trees[index.index()].root];
        while let Some(number) = stack.pop() {
            let node = &self.nodes[number as usize];
            match &node.body {
                Body::Leaf(leaf) => visit(0, leaf.len()),
                Body::Internal(internal) => {
                    visit(u32::from(node.height), internal.edges.len() as u32);
                    stack.extend(internal.edges.iter().rev().map(|edge| edge.child));
                }
                Body::Gone => {}
            }
        }
    }

    /// A new dirty node in memory.
    pub(crate) fn add_node(&mut self, node: Node) -> u32 {
        let tree = &mut self.trees[node.index as usize];
        tree.counters.created[usize::from(node.height)] += 1;
        tree.nodes[usize::from(node.height)] += 1;
        let number = self.nodes.len() as u32;
        self.nodes.push(node);
        self.store.cache.enter(number, 0, true);
        self.resize(number);
        number
    }

    fn key(&self, index: usize, row: u64) -> Key {
        let at = row.wrapping_sub(self.hints.first);
        let Range { start, end } = self.hints.indexes;
        if at < self.hints.rows && (start..end).contains(&(index as u16)) {
            let hint = at as usize * usize::from(end - start) + index - usize::from(start);
            return self.hints.keys[hint];
        }
        self.source.key(IndexId(index as u16), RowId(row))
    }

    /// Puts messages for one row into the tree, together.
    fn put(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: usize,
        row: u64,
        kinds: &[Kind],
    ) -> Step {
        assert!(row < ROWS_MAX, "row {row}: a tree has at most {ROWS_MAX} rows");
        machine.begin(thread)?;
        self.keep_house(machine, thread)?;
        let key = self.key(index, row);
        if !self.takes_shortcut(index, key, thread.now()) {
            self.route(machine, thread, index, key)?;
        }
        let now = thread.now();
        let node = self.inject(index, key, row as u32, kinds);
        let own = self.config.prices.inject * kinds.len() as u64;
        let mut work = Work::at(now);
        if self.is_gorged(node) {
            self.flush_gorged(machine, &mut work, node);
        }
        self.keep_limit(machine, now);
        self.settle(machine, thread, work, node);
        machine.compute(thread, own);
        self.store.cache.release(thread);
        Ok(())
    }

    /// Timers, and the wait for room in the cache.
    #[inline]
    pub(crate) fn keep_house(&mut self, machine: &mut Machine, thread: &mut SimThread) -> Step {
        let now = thread.now();
        if self.store.checkpoint_goes_on_at() <= now {
            self.continue_checkpoint(machine, now);
        }
        // A checkpoint that takes longer than its period is followed by the next at once
        // (`PerconaFT` source, minicron.cc).
        if self.store.next_checkpoint <= now
            && self.store.checkpoint_from.is_none()
            && let Some(period) = self.config.checkpoint_period
        {
            self.store.next_checkpoint = now + period;
            self.begin_checkpoint(machine, now);
        }
        if self.store.next_cleaning <= now {
            self.clean(machine, now);
        }
        if self.store.cache.is_full() {
            let until = self.store.cache.room_at(now);
            if now < until {
                self.path.clear();
                return Err(thread.wait_until(until, Cause::FreePage));
            }
        }
        Ok(())
    }

    /// Work on `node` and below is paid for: by the thread itself, or by those who wait for the
    /// node while a flusher's thread works on it.
    pub(crate) fn settle(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        work: Work,
        node: u32,
    ) {
        match self.config.flushing {
            Flushing::Foreground => {
                let _ = thread.wait_until(work.read_by, Cause::Read);
                machine.compute(thread, work.cpu);
            }
            Flushing::Background if work.now < work.read_by => {
                self.store.cache.set_busy(node, work.read_by);
            }
            Flushing::Background => {}
        }
    }

    fn log(&mut self, machine: &mut Machine, index: usize, is_delete: bool) {
        let tree = &mut self.trees[index];
        let bytes = tree.sizes.log[usize::from(is_delete)];
        tree.counters.log_bytes += bytes;
        machine.log(bytes);
    }
}

impl<K: KeySource> IndexEngine for FractalTree<K> {
    fn prepare(&mut self, _machine: &Machine, rows: Range<u64>, indexes: Range<u16>) {
        let first = usize::from(indexes.start);
        self.hints.indexes = indexes.clone();
        let indexes = indexes.len();
        self.hints.first = rows.start;
        self.hints.rows = (rows.end - rows.start).min(LOOK_AHEAD);
        self.hints.keys.resize(self.hints.rows as usize * indexes, Key::MIN);
        for (row, keys) in (rows.start..).zip(self.hints.keys.chunks_exact_mut(indexes)) {
            self.source.keys(RowId(row), keys);
        }
        for hint in 0..self.hints.keys.len() {
            self.prefetch(first + hint % indexes, self.hints.keys[hint]);
        }
    }

    fn insert(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        row: RowId,
    ) -> Step {
        self.put(machine, thread, index.index(), row.0, &[Kind::Insert])?;
        let tree = &mut self.trees[index.index()];
        tree.inserts += 1;
        tree.rows.insert(row.0 as u32);
        self.log(machine, index.index(), false);
        Ok(())
    }

    fn delete(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        row: RowId,
    ) -> Step {
        let at = index.index();
        let there = row.0 < ROWS_MAX && self.trees[at].rows.contains(row.0 as u32);
        if self.config.delete_reads_row && self.trees[at].clustered {
            machine.begin(thread)?;
            self.read_row(machine, thread, at, row)?;
        }
        let first = if there { Kind::Delete } else { Kind::Void };
        let kinds = [first, Kind::Commit];
        let kinds = if self.config.delete_commits { &kinds[..] } else { &kinds[..1] };
        self.put(machine, thread, at, row.0, kinds)?;
        let tree = &mut self.trees[at];
        tree.deletes += u64::from(there);
        tree.rows.remove(row.0 as u32);
        self.log(machine, at, true);
        Ok(())
    }

    fn truncate(&mut self, _machine: &mut Machine, index: IndexId) {
        self.clear(index.index());
    }

    fn get(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        key: Key,
    ) -> Step<Option<RowId>> {
        machine.begin(thread)?;
        self.keep_house(machine, thread)?;
        let found = self.look_up(machine, thread, index.index(), key)?;
        self.keep_limit(machine, thread.now());
        self.store.cache.release(thread);
        Ok(found.map(|row| RowId(u64::from(row))))
    }

    fn range(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        from: &mut Key,
        to: Key,
        visit: &mut Visitor<'_>,
    ) -> Step {
        machine.begin(thread)?;
        self.keep_house(machine, thread)?;
        self.scan(machine, thread, index.index(), from, to, visit)?;
        self.keep_limit(machine, thread.now());
        self.store.cache.release(thread);
        Ok(())
    }

    fn index_count(&self) -> usize {
        self.trees.len()
    }

    fn stats(&self, index: IndexId) -> IndexStats {
        let tree = &self.trees[index.index()];
        let height = tree.nodes.iter().rposition(|nodes| 0 < *nodes).unwrap_or(0);
        let internal: u64 = tree.nodes[1..].iter().sum();
        let (injected, flushed) = (&tree.counters.injected, &tree.counters.flushed_messages);
        IndexStats {
            entries: tree.rows.len(),
            marked: 0,
            leaf_pages: tree.nodes[0],
            internal_pages: internal,
            reserved_pages: tree.nodes[0] + internal,
            leaf_bytes: tree.rows.len() * tree.sizes.entry.collected,
            height: height as u32 + 1,
            inserts: tree.inserts,
            deletes: tree.deletes,
            splits: tree.counters.splits.total(),
            coalesces: tree.counters.merges.total(),
            messages_pending: injected.internal() - flushed[0] - tree.forgotten,
            messages_injected: injected.total(),
            flushes: tree.counters.flushes.total(),
        }
    }

    fn locate(&self, page: PageId) -> Option<PageUse> {
        let node = self.nodes.get(page.index())?;
        let gone = matches!(node.body, Body::Gone);
        (!gone).then(|| PageUse::Index(IndexId(node.index), u32::from(node.height)))
    }

    fn levels(&self) -> Vec<LevelStats> {
        let mut counted = TreeCounters::default();
        let mut nodes = [0; HEIGHT_MAX];
        for tree in &self.trees {
            counted.merge(&tree.counters);
            for (sum, of_tree) in nodes.iter_mut().zip(tree.nodes) {
                *sum += of_tree;
            }
        }
        let levels = counted.created.highest().map_or(0, |height| height + 1);
        (0..levels).map(|height| counted.level(height, nodes[height])).collect()
    }

    fn checkpoint(&mut self, machine: &mut Machine, now: SimTime) -> SimTime {
        self.begin_checkpoint(machine, now);
        self.write_rest(machine, now);
        self.store.checkpoint_free_at
    }

    fn reopen(&mut self, machine: &mut Machine, now: SimTime) -> SimTime {
        let written = self.checkpoint(machine, now);
        let residents: Vec<u32> = self.store.cache.residents().collect();
        for number in residents {
            self.drop_node(machine, now, number);
        }
        written
    }

    fn verify(&self) {
        self.verify_all();
    }
}
