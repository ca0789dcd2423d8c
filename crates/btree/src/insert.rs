//! Inserting an entry, and what a full page does about it.

use cost_model::{Machine, PageId, Purpose, SimThread, Step};
use index::{IndexId, Key, KeySource, RowId};

use crate::delete::{row_number, stamp};
use crate::directory::top;
use crate::engine::BTree;
use crate::node::{Node, Separator};
use crate::space::Direction;
use crate::split::{Split, is_sequential};
use crate::tree::Path;
use crate::undo::Kind;

impl<K: KeySource> BTree<K> {
    /// Inserts an entry into its leaf.
    #[inline]
    pub(crate) fn insert_at(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        key: Key,
        row: RowId,
        leaf: PageId,
    ) -> Step {
        let number = row_number(row);
        if self.trees[index.index()].marked.contains(number) {
            return self.unmark(machine, thread, index, row, leaf);
        }
        self.write_undo(machine, thread, Kind::Insert, index, number)?;
        let frame = self.fetch_leaf(machine, thread, leaf, true)?;
        let limits = self.trees[index.index()].leaf_limits;
        let page = self.pages.get(leaf);
        let fits = limits.fits(page.records(), page.slots());
        let is_kept = limits.kept <= page.records() + 1;
        if fits && (page.records() < limits.reserved || !self.is_sequential(index, key, leaf)) {
            self.log_insert(machine, thread, index, leaf);
            self.touch_nodes(machine, thread);
            machine.change(thread, frame);
            if is_kept {
                machine.make_young(frame);
            }
            self.pages.append(leaf, number);
        } else {
            machine.take_latch(thread, index.index())?;
            let path = self.way(index, key);
            let fetched = self.fetch_for_split(machine, thread, index, key, &path);
            machine.keep_latch(thread);
            fetched?;
            self.touch_nodes(machine, thread);
            self.split_leaf(machine, thread, index, key, number, &path);
        }
        let tree = &mut self.trees[index.index()];
        tree.stats.inserts += 1;
        tree.stats.entries += 1;
        let price = machine.prices().index_entry;
        machine.compute(thread, price);
        Ok(())
    }

    #[inline]
    pub(crate) fn log_insert(
        &mut self,
        machine: &mut Machine,
        thread: &SimThread,
        index: IndexId,
        leaf: PageId,
    ) {
        let change = self.pages.note_change(leaf, stamp(thread));
        machine.log(self.trees[index.index()].redo.insert(leaf, change));
    }

    fn is_sequential(&mut self, index: IndexId, key: Key, leaf: PageId) -> bool {
        let (position, last) = self.positions(index, key, leaf);
        is_sequential(position, last)
    }

    /// Loads the leaf's entries into the scratch list and tells where in key order a new key
    /// belongs, and where the leaf's last insert is.
    fn positions(&mut self, index: IndexId, key: Key, leaf: PageId) -> (usize, Option<usize>) {
        let scratch = &mut self.scratch;
        scratch.clear();
        let source = &self.source;
        self.pages.for_each(leaf, |row| {
            scratch.push((source.key(index, RowId(u64::from(row))), row));
        });
        let before = |key: Key| scratch.iter().filter(|(other, _)| *other < key).count();
        let last = self.pages.last_insert(leaf);
        let last = last.map(|row| before(source.key(index, RowId(u64::from(row)))));
        (before(key), last)
    }

    /// Gets all pages a split of the leaf changes, and frames for those it creates.
    fn fetch_for_split(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        key: Key,
        path: &Path,
    ) -> Step {
        let both = self.config.sibling_reads;
        let is_down = !both && {
            let (position, last) = self.positions(index, key, path.leaf);
            self.config.split.direction(position, last) == Direction::Down
        };
        let tree = &self.trees[index.index()];
        let (prev, next) = self.neighbours(path);
        for (sibling, changes) in [(prev, is_down), (next, !is_down)] {
            if (both || changes) && !sibling.is_none() {
                let frame = machine.fetch_for_change(thread, sibling, Purpose::SiblingRead)?;
                machine.hold(thread, frame);
            }
        }
        let frame = machine.fetch_for_change(thread, path.leaf, Purpose::LeafRead)?;
        machine.hold(thread, frame);
        let mut creates = 1;
        let mut reaches_root = true;
        for step in path.steps().iter().rev() {
            let node = &self.nodes[step.node as usize];
            let frame = machine.fetch_for_change(thread, node.page, Purpose::NodeRead)?;
            machine.hold(thread, frame);
            if tree.node_limits.fits(node.children.len() as u16, node.slots) {
                reaches_root = false;
                break;
            }
            creates += 1;
        }
        machine.reserve(thread, creates + u32::from(reaches_root))
    }

    fn split_leaf(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        key: Key,
        row: u32,
        path: &Path,
    ) {
        let mut path = *path;
        if path.parent().is_none() {
            self.raise_root(machine, thread, index, &mut path);
        }
        let (position, last) = self.positions(index, key, path.leaf);
        let records = self.scratch.len();
        let split = self.config.split.split(records, position, last, &mut self.draw);
        let Split { at, new_goes_right, direction } = split;
        if at < records {
            self.scratch.select_nth_unstable(at);
        }
        let separator = if at < records && (at != position || !new_goes_right) {
            self.scratch[at]
        } else {
            (key, row)
        };
        let records_moved = if direction == Direction::Up { records - at } else { at };
        self.learn(index, key, row, at);
        self.log_insert(machine, thread, index, path.leaf);
        machine.log(self.trees[index.index()].redo.move_entries(records_moved));
        let new = self.new_leaf(machine, thread, index, &path, direction);
        let (left, right) = match direction {
            Direction::Up => (path.leaf, new),
            Direction::Down => (new, path.leaf),
        };
        // The old page keeps its slots: what was moved is garbage. The new page has none.
        let slots = self.pages.get(path.leaf).slots();
        let clustered = self.trees[index.index()].clustered;
        let rows = |part: &[(Key, u32)]| part.iter().map(|(_, row)| *row).collect::<Vec<_>>();
        let (lower, upper) = (rows(&self.scratch[..at]), rows(&self.scratch[at..]));
        let moves = match direction {
            Direction::Up => !upper.is_empty(),
            Direction::Down => !lower.is_empty(),
        };
        let (old_rows, new_rows) = match direction {
            Direction::Up => (lower, upper),
            Direction::Down => (upper, lower),
        };
        if moves {
            self.pages.replace(path.leaf, clustered, old_rows.into_iter());
            self.pages.set_slots(path.leaf, slots);
        }
        self.pages.replace(new, clustered, new_rows.into_iter());
        self.pages.set_slots(new, 0);
        self.pages.append(if new_goes_right { right } else { left }, row);
        let bound = separator.0;
        let separator = Separator::new(separator.0, separator.1, right);
        self.add_separator(machine, thread, index, &path, separator, left);
        let (lower, upper) = {
            let old = self.pages.get(path.leaf);
            (old.lower_bound(), old.upper_bound())
        };
        self.pages.set_bounds(left, lower, top(bound));
        self.pages.set_bounds(right, top(bound), upper);
        let tree = &mut self.trees[index.index()];
        if self.pages.get(right).next().is_none() {
            tree.tail = (right, bound);
        }
        tree.directory.grow(tree.stats.leaf_pages);
        tree.version += 1;
        tree.stats.splits += 1;
        self.last_split = Some((left, right));
        let price = machine.prices().page_split;
        machine.compute(thread, price);
    }

    /// Learns from the leaf in the scratch list, its records from `at` on being the upper half, what
    /// inserting `row` and moving a record log.
    fn learn(&mut self, index: IndexId, key: Key, row: u32, at: usize) {
        let redo = &mut self.trees[index.index()].redo;
        if !redo.wants_sample() {
            return;
        }
        let below = self.scratch.iter().filter(|(other, _)| *other < key).max();
        redo.learn_insert(&self.source, index, below.map(|(_, row)| *row), row);
        let (lower, upper) = self.scratch.split_at(at);
        if let (Some((_, left)), Some((_, right))) = (lower.iter().max(), upper.first()) {
            redo.learn_moved(&self.source, index, *left, *right);
        }
    }

    /// A fresh empty leaf, chained in beside `old`.
    fn new_leaf(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        path: &Path,
        direction: Direction,
    ) -> PageId {
        let old = path.leaf;
        let tree = &mut self.trees[index.index()];
        tree.stats.leaf_pages += 1;
        let (segment, clustered) = (tree.leaf_segment, tree.clustered);
        let new = self.space.allocate(segment, near(old, direction), direction);
        Self::change(machine, thread, old);
        let (prev, next) = self.neighbours(path);
        Self::change(machine, thread, if direction == Direction::Up { next } else { prev });
        machine.create(thread, new);
        self.pages.make_leaf(new, index, clustered);
        let (before, after) = match direction {
            Direction::Up => (old, next),
            Direction::Down => (prev, old),
        };
        self.pages.set_next(before, new);
        self.pages.set_next(new, after);
        new
    }

    /// Marks a page dirty that the operation has fetched for a change or created.
    pub(crate) fn change(machine: &mut Machine, thread: &mut SimThread, page: PageId) {
        if !page.is_none() {
            let frame = machine.fetch_for_change(thread, page, Purpose::SiblingRead);
            machine.change(thread, frame.expect("the operation has all its pages"));
        }
    }

    /// The root is full: its contents move to a fresh page, and it becomes their parent.
    fn raise_root(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        path: &mut Path,
    ) {
        let tree = &mut self.trees[index.index()];
        let root = tree.root;
        let is_leaf = tree.height == 0;
        let segment = if is_leaf { tree.leaf_segment } else { tree.node_segment };
        tree.height += 1;
        tree.stats.internal_pages += 1;
        let level = tree.height;
        let below = self.space.allocate(segment, near(root, Direction::Up), Direction::Up);
        let moves = if is_leaf {
            tree.redo.move_entries(usize::from(self.pages.get(root).records()))
        } else {
            let node = &self.nodes[self.pages.get(root).node() as usize];
            tree.redo.move_separators(node.children.len())
        };
        machine.log(moves);
        Self::change(machine, thread, root);
        machine.create(thread, below);
        if is_leaf {
            self.pages.relocate(root, below);
            self.pages.set_slots(below, 0);
            path.leaf = below;
            let tree = &mut self.trees[index.index()];
            tree.tail.0 = below;
        } else {
            let number = self.pages.get(root).node();
            self.pages.clear(root);
            self.pages.make_node(below, index, number);
            let node = &mut self.nodes[number as usize];
            (node.page, node.slots, node.last) = (below, node.children.len() as u16, None);
        }
        let only = Separator::new(Key::MIN, 0, below);
        let number = self.new_node(Node::new(root, level, vec![only]));
        self.pages.make_node(root, index, number);
        self.set_parent(below, number);
        path.raise(number);
    }

    /// A page on `path` was split: its right half gets a separator in its parent, which may
    /// split in turn.
    fn add_separator(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        path: &Path,
        mut separator: Separator,
        mut left: PageId,
    ) {
        let mut path = *path;
        let mut depth = path.steps().len();
        loop {
            let step = path.steps()[depth - 1];
            let slot = step.slot as usize;
            let node = &mut self.nodes[step.node as usize];
            node.children[slot].child = left;
            let page = node.page;
            let fits =
                self.trees[index.index()].node_limits.fits(node.children.len() as u16, node.slots);
            Self::change(machine, thread, page);
            self.set_parent(left, step.node);
            self.set_parent(separator.child, step.node);
            if fits {
                self.nodes[step.node as usize].insert(slot, separator);
                return;
            }
            if depth == 1 {
                self.raise_root(machine, thread, index, &mut path);
                depth += 1;
            }
            (separator, left) = self.split_node(machine, thread, index, step.node, slot, separator);
            depth -= 1;
        }
    }

    /// Splits a full internal page while a separator goes in behind `slot`; returns the separator
    /// of the right half, and the left half.
    fn split_node(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        number: u32,
        slot: usize,
        separator: Separator,
    ) -> (Separator, PageId) {
        let node = &self.nodes[number as usize];
        let (old, level, position) = (node.page, node.level, slot + 1);
        let last = node.last.map(usize::from);
        let Split { at, new_goes_right, direction } =
            self.config.split.split(node.children.len(), position, last, &mut self.draw);
        let tree = &mut self.trees[index.index()];
        tree.stats.internal_pages += 1;
        tree.stats.splits += 1;
        let segment = tree.node_segment;
        let moved = if direction == Direction::Up { node.children.len() - at } else { at };
        machine.log(tree.redo.move_separators(moved));
        let page = self.space.allocate(segment, near(old, direction), direction);
        machine.create(thread, page);
        let children = &mut self.nodes[number as usize].children;
        let mut upper = children.split_off(at);
        let mut lower = std::mem::take(children);
        let inserted = if new_goes_right {
            upper.insert(position - at, separator);
            position - at
        } else {
            lower.insert(position, separator);
            position
        };
        let first = upper[0];
        let (kept, moved, left, right) = match direction {
            Direction::Up => (lower, upper, old, page),
            Direction::Down => (upper, lower, page, old),
        };
        let new = self.new_node(Node::new(page, level, moved));
        self.pages.make_node(page, index, new);
        self.adopt(new);
        let old_node = &mut self.nodes[number as usize];
        old_node.slots = old_node.slots.max(kept.len() as u16);
        old_node.children = kept;
        old_node.last = None;
        let went_to_new = new_goes_right == (direction == Direction::Up);
        let receiver = if went_to_new { new } else { number };
        self.nodes[receiver as usize].last = Some(inserted as u16);
        (first.pointing_to(right), left)
    }
}

/// The page after (or before) `page`: where a split would like the new page to be.
fn near(page: PageId, direction: Direction) -> PageId {
    match direction {
        Direction::Up => PageId(page.0 + 1),
        Direction::Down => PageId(page.0.saturating_sub(1)),
    }
}
