//! Queries: entries of a leaf, with the messages that wait for them above it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::ControlFlow;

use cost_model::{Machine, SimThread, Step};
use index::{IndexId, Key, KeySource, RowId, Visitor};

use crate::config::{QueryRule, RangeReads};
use crate::engine::{FractalTree, Work};
use crate::message::Kind;
use crate::node::Body;

/// Entries that a scan has taken when it reads the next leaf ahead: with the second, a cursor is
/// known to go on (`PerconaFT` source, cursor.cc, `toku_ft_cursor_next`).
const ENTRIES_BEFORE_NEXT_LEAF: u32 = 2;

/// The part of an index that one leaf is responsible for, as a query sees it.
struct Portion {
    leaf: u32,
    /// The last key it may have; `None` for the last leaf.
    last: Option<Key>,
    /// What messages above the leaf say: the row, or that there is none.
    pending: BTreeMap<Key, Option<u32>>,
}

impl<K: KeySource> FractalTree<K> {
    /// The row with exactly this key.
    ///
    /// # Errors
    /// [`Blocked`](cost_model::Blocked) if a node must be waited for.
    pub(crate) fn look_up(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: usize,
        key: Key,
    ) -> Step<Option<u32>> {
        let portion = self.descend(machine, thread, index, key, Some(key))?;
        let (mut found, mut before) = (None, 0);
        self.for_each_entry(portion.leaf, |entry, row| {
            before += u32::from(entry < key);
            if entry == key {
                found = Some(row);
            }
        });
        self.use_basements(machine, thread, portion.leaf, before, before)?;
        self.touch_path(portion.leaf);
        Ok(portion.pending.get(&key).copied().unwrap_or(found))
    }

    /// Visits the entries from `from` on in key order; see `IndexEngine::range`.
    ///
    /// # Errors
    /// [`Blocked`](cost_model::Blocked) if a node must be waited for.
    pub(crate) fn scan(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: usize,
        from: &mut Key,
        to: Key,
        visit: &mut Visitor<'_>,
    ) -> Step {
        loop {
            // Leaves that are behind need not stay for the rest of the scan.
            let portion = self.descend(machine, thread, index, *from, None)?;
            if self.scan_leaf(machine, thread, &portion, from, to, visit)?.is_break() {
                return Ok(());
            }
            self.store.cache.release(thread);
            let Some(last) = portion.last.filter(|last| *last < Key::MAX) else { return Ok(()) };
            *from = Key(last.0 + 1);
        }
    }

    fn scan_leaf(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        portion: &Portion,
        from: &mut Key,
        to: Key,
        visit: &mut Visitor<'_>,
    ) -> Step<ControlFlow<()>> {
        let (start, mut before) = (*from, 0);
        let (mut wanted, mut visited) = (0, 0);
        let mut entries = Vec::new();
        self.for_each_entry(portion.leaf, |entry, row| {
            wanted += u32::from(entry <= to);
            if entry < start {
                before += 1;
            } else {
                entries.push(Reverse((entry, row)));
            }
        });
        let mut entries = BinaryHeap::from(entries);
        let mut pending = portion.pending.range(start..).peekable();
        let ahead = self.config.range_reads == RangeReads::Ahead;
        let last = |before: u32| if ahead { wanted.max(before + 1) - 1 } else { before };
        self.use_basements(machine, thread, portion.leaf, before, last(before))?;
        self.touch_path(portion.leaf);
        loop {
            let entry = entries.peek().map(|Reverse(entry)| *entry);
            let message = pending.peek().map(|(key, row)| (**key, **row));
            let key = match (entry, message) {
                (None, None) => return Ok(ControlFlow::Continue(())),
                (Some((key, _)), None) | (None, Some((key, _))) => key,
                (Some((key, _)), Some((other, _))) => key.min(other),
            };
            let mut row = None;
            if let Some((of_entry, entry_row)) = entry
                && of_entry == key
            {
                self.use_basements(machine, thread, portion.leaf, before, last(before))?;
                entries.pop();
                before += 1;
                row = Some(entry_row);
            }
            if let Some((of_message, message_row)) = message
                && of_message == key
            {
                pending.next();
                row = message_row;
            }
            *from = Key(key.0.saturating_add(1));
            if let Some(row) = row {
                if visit(key, RowId(u64::from(row))).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                visited += 1;
                let goes_further = portion.last.is_some_and(|last| last < to);
                if ahead && visited == ENTRIES_BEFORE_NEXT_LEAF && goes_further {
                    self.read_next_leaf_ahead(machine, thread);
                }
            }
        }
    }

    /// Reads a row by its key in the clustered index, as a server does before it deletes it.
    ///
    /// # Errors
    /// [`Blocked`](cost_model::Blocked) if a node must be waited for.
    pub(crate) fn read_row(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: usize,
        row: RowId,
    ) -> Step {
        let key = self.source.key(IndexId(index as u16), row);
        let (leaf, _) = self.walk(machine, thread, index, key)?;
        let before = match self.nodes[leaf as usize].leaf().rank_in_run(row.0 as u32) {
            Some(rank) => rank,
            None if self.is_complete(leaf) => 0,
            None => {
                let mut before = 0;
                self.for_each_entry(leaf, |entry, _| before += u32::from(entry < key));
                before
            }
        };
        self.use_basements(machine, thread, leaf, before, before)?;
        self.touch_path(leaf);
        Ok(())
    }

    /// Goes down to the leaf of `from` and notes the messages above it for its keys from `from`
    /// to `to`, or to its last.
    fn descend(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: usize,
        from: Key,
        to: Option<Key>,
    ) -> Step<Portion> {
        let (leaf, last) = self.walk(machine, thread, index, from)?;
        let to = to.or(last).unwrap_or(Key::MAX);
        let mut pending = BTreeMap::new();
        for (node, slot) in self.path.iter().rev() {
            let edge = &self.nodes[*node as usize].internal().edges[*slot as usize];
            self.chunks.for_each(&edge.messages, |message| {
                let key = self.source.key(IndexId(index as u16), RowId(u64::from(message.row())));
                if (from..=to).contains(&key) {
                    match message.kind() {
                        Kind::Insert => drop(pending.insert(key, Some(message.row()))),
                        Kind::Delete => drop(pending.insert(key, None)),
                        Kind::Commit | Kind::Void => {}
                    }
                }
            });
        }
        Ok(Portion { leaf, last, pending })
    }

    /// Goes down to the leaf of `key`, and has in memory what a query needs of it first; returns
    /// the leaf and the last key it may have.
    fn walk(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: usize,
        key: Key,
    ) -> Step<(u32, Option<Key>)> {
        self.path.clear();
        let mut number = self.trees[index].root;
        let mut last: Option<Key> = None;
        while !self.nodes[number as usize].is_leaf() {
            self.pin(machine, thread, number)?;
            let internal = self.nodes[number as usize].internal();
            let slot = internal.slot(key);
            if self.config.queries == QueryRule::Flush && !internal.edges[slot].is_empty() {
                self.flush_on_path(machine, thread, number, slot)?;
                continue;
            }
            last = internal.pivots.keys().get(slot).copied().or(last);
            self.path.push((number, slot as u32));
            number = internal.edges[slot].child;
        }
        self.pin_leaf(machine, thread, number)?;
        Ok((number, last))
    }

    /// A query of 2009 flushes the buffer for the child it goes to.
    fn flush_on_path(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        parent: u32,
        slot: usize,
    ) -> Step {
        let mut work = Work::at(thread.now());
        self.flush_child(machine, &mut work, parent, slot);
        self.hold_path(thread);
        self.settle(machine, thread, work, parent);
        // The flush has taken time: others may have to go first.
        thread.in_turn()
    }

    /// Has what a query needs of a leaf first: its header, or all of it where there are no
    /// basements.
    fn pin_leaf(&mut self, machine: &mut Machine, thread: &mut SimThread, leaf: u32) -> Step {
        if self.config.basement_bytes == self.config.node_bytes {
            return self.pin(machine, thread, leaf);
        }
        let fetched = self.fetch_header(machine, thread.now(), leaf);
        self.wait_for(machine, thread, leaf, fetched)
    }

    /// Has the basement in memory where `before` entries of the leaf come before the key, and
    /// applies to it the messages it has not seen. If it has to be read, those up to the one where
    /// `last` entries come before are read with it.
    ///
    /// How many of the buffer's messages are for one basement is taken to be their share; in the
    /// clustered index, where rows that follow each other are read and deleted, all of them.
    fn use_basements(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        leaf: u32,
        before: u32,
        last: u32,
    ) -> Step {
        let node = self.nodes[leaf as usize].leaf();
        let (count, len) = (node.parts.count, node.len());
        let at = |before: u32| {
            let basement = u64::from(before) * u64::from(count) / u64::from(len.max(1));
            basement.min(u64::from(count).saturating_sub(1)) as u32
        };
        let basement = at(before);
        if !node.parts.is_whole() {
            let fetched = self.fetch_basements(machine, thread.now(), leaf, basement, at(last));
            self.wait_for(machine, thread, leaf, fetched)?;
        }
        let Some((parent, slot)) = self.path.last().copied() else { return Ok(()) };
        let waiting = self.nodes[parent as usize].internal().edges[slot as usize].messages.len();
        if waiting == 0 {
            return Ok(());
        }
        let index = self.nodes[leaf as usize].index as usize;
        let parts = &mut self.nodes[leaf as usize].leaf_mut().parts;
        let applied = if self.trees[index].clustered {
            u64::from(parts.see(0, waiting))
        } else {
            u64::from(parts.see(basement, waiting)) / u64::from(count.max(1))
        };
        let bytes = applied * self.trees[index].sizes.entry.versioned;
        let internal = self.nodes[parent as usize].internal_mut();
        internal.edges[slot as usize].work += bytes;
        internal.work += bytes;
        Ok(())
    }

    /// The leaf after that at the end of the path is read ahead, if the same node is above it.
    fn read_next_leaf_ahead(&mut self, machine: &mut Machine, thread: &SimThread) {
        let Some((parent, slot)) = self.path.last() else { return };
        let edges = &self.nodes[*parent as usize].internal().edges;
        if let Some(next) = edges.get(*slot as usize + 1) {
            let leaf = next.child;
            self.read_ahead(machine, thread.now(), leaf);
        }
    }

    /// The query used the nodes of its path.
    fn touch_path(&mut self, leaf: u32) {
        for (number, _) in &self.path {
            self.store.cache.touch(*number);
            if let Body::Internal(internal) = &mut self.nodes[*number as usize].body {
                internal.touched = true;
            }
        }
        self.store.cache.touch(leaf);
    }

    /// Calls `visit` with every entry of a leaf, in no particular order.
    fn for_each_entry(&self, leaf: u32, mut visit: impl FnMut(Key, u32)) {
        let node = &self.nodes[leaf as usize];
        let index = IndexId(node.index);
        node.leaf().for_each(&self.chunks, |row| {
            visit(self.source.key(index, RowId(u64::from(row))), row);
        });
    }

    /// Keeps the nodes of the path in memory until the operation of `thread` is over.
    pub(crate) fn hold_path(&mut self, thread: &mut SimThread) {
        for (number, _) in &self.path {
            if self.store.cache.is_resident(*number) {
                self.store.cache.hold(thread, *number);
            }
        }
    }
}
