//! Leaves: the row numbers of their entries, unsorted.
//!
//! A leaf that messages were applied to is a list in the order of their arrival, deletions
//! included; deletions are carried out when a split, a scan or their number calls for it. The
//! leaf of a load in key order is a run: first row and count.

use crate::config::NodeMemory;
use crate::lists::{Chunks, List};
use crate::message::{Kind, Message};
use crate::node::Reactivity;
use crate::parts::Parts;
use crate::pools::Pools;
use crate::sizes::Sizes;

/// Deletions are carried out when they are more than this share of the list: each then costs a
/// pass over eight entries.
const DELETIONS_SHARE: u32 = 8;

/// The contents of a leaf.
pub(crate) struct Leaf {
    rows: Rows,
    /// Entries, deletions carried out.
    len: u32,
    /// How many of these have been collected. Exact but for deletions that are still in the
    /// list, each of which is taken to concern a collected entry: the oldest go first.
    collected: u32,
    /// Messages of the list before this one had arrived when the leaf was collected.
    collected_until: u32,
    /// Deletions in the list.
    deletions: u32,
    /// Whether the last entry arrived after all others in key order.
    pub(crate) sequential: bool,
    /// How many of the entries arrived so.
    pub(crate) in_order: u32,
    pub(crate) parts: Parts,
    /// What the entries take in memory.
    pub(crate) pools: Pools,
}

enum Rows {
    Run { first: u32 },
    List(List),
}

impl Leaf {
    pub(crate) fn new(is_run: bool) -> Self {
        Self {
            rows: if is_run { Rows::Run { first: 0 } } else { Rows::List(List::new()) },
            len: 0,
            collected: 0,
            collected_until: 0,
            deletions: 0,
            sequential: false,
            in_order: 0,
            parts: Parts::whole(),
            pools: Pools::empty(),
        }
    }

    /// A leaf with these rows, of which the first `collected` have been collected.
    pub(crate) fn of(chunks: &mut Chunks, is_run: bool, rows: &[u32], collected: u32) -> Self {
        let mut leaf = Self::new(is_run);
        for row in rows {
            leaf.insert(chunks, *row);
        }
        (leaf.collected, leaf.collected_until) = (collected, collected);
        leaf
    }

    /// Entries.
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// Entries that have been collected.
    pub(crate) fn collected(&self) -> u32 {
        self.collected
    }

    /// Serialized bytes.
    #[inline]
    pub(crate) fn bytes(&self, sizes: &Sizes) -> u64 {
        sizes.leaf(u64::from(self.collected), u64::from(self.len - self.collected))
    }

    /// Serialized bytes when all entries are collected, as in the file.
    pub(crate) fn bytes_collected(&self, sizes: &Sizes) -> u64 {
        sizes.leaf(u64::from(self.len), 0)
    }

    /// Bytes in memory.
    #[inline]
    pub(crate) fn bytes_in_memory(&self, sizes: &Sizes) -> u64 {
        let serialized = self.bytes(sizes);
        let entries = match sizes.memory {
            NodeMemory::Allocated => self.pools.bytes() as f64,
            NodeMemory::Proportional { leaf, .. } => serialized as f64 * leaf,
        };
        (entries * self.parts.share()) as u64 + sizes.basement_table(serialized)
    }

    #[inline]
    pub(crate) fn reactivity(&self, node_bytes: u64, sizes: &Sizes) -> Reactivity {
        let bytes = self.bytes(sizes);
        if node_bytes < bytes && 1 < self.len {
            Reactivity::Fissible
        } else if bytes * 4 < node_bytes && !self.sequential {
            Reactivity::Fusible
        } else {
            Reactivity::Stable
        }
    }

    /// Applies a message.
    #[inline]
    pub(crate) fn apply(&mut self, chunks: &mut Chunks, sizes: &Sizes, message: Message) {
        match message.kind() {
            Kind::Insert => {
                self.insert(chunks, message.row());
                self.pools.insert(&sizes.entry, self.sequential);
            }
            Kind::Delete => {
                let collected = self.collected;
                self.delete(chunks, message.row());
                self.pools.remove(&sizes.entry, 0 < collected);
            }
            Kind::Commit | Kind::Void => {}
        }
    }

    #[inline]
    fn insert(&mut self, chunks: &mut Chunks, row: u32) {
        let mut after_all = false;
        if let Rows::Run { first } = &mut self.rows {
            if self.len == 0 {
                *first = row;
            }
            if *first + self.len == row {
                after_all = true;
            } else {
                self.run_to_list(chunks);
            }
        }
        if let Rows::List(list) = &mut self.rows {
            chunks.push(list, Message::new(Kind::Insert, row));
        }
        self.len += 1;
        self.sequential = after_all;
        self.in_order += u32::from(after_all);
    }

    fn delete(&mut self, chunks: &mut Chunks, row: u32) {
        self.sequential = false;
        if let Rows::Run { first } = &mut self.rows {
            debug_assert!((*first..*first + self.len).contains(&row), "row {row} is not here");
            if row == *first || row + 1 == *first + self.len {
                let takes_first = row == *first;
                *first += u32::from(takes_first);
                self.len -= 1;
                self.collected = if takes_first {
                    self.collected.saturating_sub(1)
                } else {
                    self.collected.min(self.len)
                };
                return;
            }
            self.run_to_list(chunks);
        }
        let Rows::List(list) = &mut self.rows else { unreachable!("it is a list now") };
        chunks.push(list, Message::new(Kind::Delete, row));
        let messages = list.len();
        self.deletions += 1;
        self.len -= 1;
        self.collected = self.collected.saturating_sub(1);
        if messages < self.deletions * DELETIONS_SHARE {
            self.carry_out(chunks);
        }
    }

    fn run_to_list(&mut self, chunks: &mut Chunks) {
        let Rows::Run { first } = self.rows else { return };
        let mut list = List::new();
        for row in first..first + self.len {
            chunks.push(&mut list, Message::new(Kind::Insert, row));
        }
        self.rows = Rows::List(list);
        self.collected_until = self.collected;
    }

    /// The leaf is written out, or was read: all its entries are collected.
    pub(crate) fn collect(&mut self) {
        self.collected = self.len;
        if let Rows::List(list) = &self.rows {
            self.collected_until = list.len();
        }
    }

    /// All of the leaf was read.
    pub(crate) fn lay_out_as_read(&mut self, sizes: &Sizes) {
        let entries = u64::from(self.len);
        self.pools = Pools::read(&sizes.entry, entries, sizes.basements(sizes.entries(entries, 0)));
    }

    /// The entries are put in order in memory.
    pub(crate) fn put_in_order(&mut self, sizes: &Sizes) {
        let [collected, versioned] = [self.collected, self.len - self.collected].map(u64::from);
        let basements = sizes.basements(sizes.entries(collected, versioned));
        self.pools = Pools::ordered(&sizes.entry, collected, versioned, basements);
    }

    /// The same, and all in one basement.
    pub(crate) fn put_in_one_basement(&mut self, sizes: &Sizes) {
        let [collected, versioned] = [self.collected, self.len - self.collected].map(u64::from);
        self.pools = Pools::ordered(&sizes.entry, collected, versioned, 1);
    }

    /// `count` entries more were collected, wherever they are.
    pub(crate) fn collect_some(&mut self, count: u32) {
        self.collected = (self.collected + count).min(self.len);
        self.collected_until = self.collected_until.max(self.collected);
    }

    /// Carries out all deletions, so that the list has nothing but entries.
    pub(crate) fn carry_out(&mut self, chunks: &mut Chunks) {
        if self.deletions == 0 {
            return;
        }
        let Rows::List(list) = &mut self.rows else { return };
        let mut messages = Vec::with_capacity(list.len() as usize);
        chunks.drain(list, &mut messages);
        let gone = Deletions::of(&messages);
        let mut kept = 0;
        let mut collected = 0;
        for (position, message) in (0..).zip(&messages) {
            if message.kind() == Kind::Insert && !gone.concerns(message.row(), position) {
                chunks.push(list, *message);
                kept += 1;
                if position < self.collected_until {
                    collected = kept;
                }
            }
        }
        debug_assert_eq!(kept, self.len, "every deletion concerns an entry");
        (self.deletions, self.collected, self.collected_until) = (0, collected, collected);
    }

    /// Calls `visit` with every row, in order of arrival.
    pub(crate) fn for_each(&self, chunks: &Chunks, mut visit: impl FnMut(u32)) {
        match &self.rows {
            Rows::Run { first } => (*first..*first + self.len).for_each(visit),
            Rows::List(list) if self.deletions == 0 => {
                chunks.for_each(list, |message| visit(message.row()));
            }
            Rows::List(list) => {
                let mut messages = Vec::with_capacity(list.len() as usize);
                chunks.for_each(list, |message| messages.push(message));
                let gone = Deletions::of(&messages);
                for (position, message) in (0..).zip(&messages) {
                    if message.kind() == Kind::Insert && !gone.concerns(message.row(), position) {
                        visit(message.row());
                    }
                }
            }
        }
    }

    /// Loads the processor's caches with the place where the next row goes.
    #[inline]
    pub(crate) fn prefetch_end(&self, chunks: &Chunks) {
        if let Rows::List(list) = &self.rows {
            chunks.prefetch_end(list);
        }
    }

    /// How many entries come before a row, if the leaf is a run.
    pub(crate) fn rank_in_run(&self, row: u32) -> Option<u32> {
        self.run().map(|first| row.saturating_sub(first).min(self.len))
    }

    /// The leaf as it is in memory when queries have applied so many deletions to it that are
    /// still in its parent's buffer.
    pub(crate) fn bytes_without(&self, deleted: u32, sizes: &Sizes) -> u64 {
        let collected = u64::from(self.collected.saturating_sub(deleted));
        let versioned = u64::from(self.len - self.collected);
        sizes.leaf(collected, versioned)
    }

    /// First row of a leaf that is a run.
    pub(crate) fn run(&self) -> Option<u32> {
        match self.rows {
            Rows::Run { first } => Some(first),
            Rows::List(_) => None,
        }
    }

    /// The whole leaf is in memory from now on.
    pub(crate) fn make_whole(&mut self) {
        self.parts = Parts::whole();
    }

    /// The leaf's rows are not needed any more.
    pub(crate) fn discard(&mut self, chunks: &mut Chunks) {
        if let Rows::List(list) = &mut self.rows {
            chunks.clear(list);
        }
    }

    /// Chunks the leaf has.
    pub(crate) fn chunks(&self) -> u64 {
        match &self.rows {
            Rows::Run { .. } => 0,
            Rows::List(list) => Chunks::chunks_of(list),
        }
    }
}

/// The rows that deletions in a sequence of messages concern, and where the last one is.
struct Deletions {
    rows: Vec<(u32, u32)>,
}

impl Deletions {
    fn of(messages: &[Message]) -> Self {
        let mut rows: Vec<(u32, u32)> = (0..)
            .zip(messages)
            .filter(|(_, message)| message.kind() == Kind::Delete)
            .map(|(position, message)| (message.row(), position))
            .collect();
        rows.sort_unstable();
        rows.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same {
                earlier.1 = later.1;
            }
            same
        });
        Self { rows }
    }

    /// Whether an entry of this row at this position is deleted later.
    #[inline]
    fn concerns(&self, row: u32, position: u32) -> bool {
        let (Some(first), Some(last)) = (self.rows.first(), self.rows.last()) else {
            return false;
        };
        if row < first.0 || last.0 < row {
            return false;
        }
        self.rows
            .binary_search_by_key(&row, |deletion| deletion.0)
            .is_ok_and(|at| position < self.rows[at].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::NodeFormat;

    fn sizes() -> Sizes {
        let shape = index::IndexShape {
            name: String::new(),
            clustered: false,
            entry_bytes: 24,
            key_bytes: 24,
            nullable_columns: 0,
            variable_columns: 0,
        };
        Sizes::new(&NodeFormat::PERCONAFT, 64 << 10, &shape)
    }

    fn rows(leaf: &Leaf, chunks: &Chunks) -> Vec<u32> {
        let mut rows = Vec::new();
        leaf.for_each(chunks, |row| rows.push(row));
        rows
    }

    #[test]
    fn a_deleted_row_may_come_again() {
        let (mut chunks, sizes) = (Chunks::new(0), sizes());
        let mut leaf = Leaf::new(false);
        for row in 0..100 {
            leaf.apply(&mut chunks, &sizes, Message::new(Kind::Insert, row));
        }
        leaf.collect();
        for kind in [Kind::Delete, Kind::Commit, Kind::Insert, Kind::Delete, Kind::Insert] {
            leaf.apply(&mut chunks, &sizes, Message::new(kind, 7));
        }
        leaf.apply(&mut chunks, &sizes, Message::new(Kind::Delete, 8));
        let expected: Vec<u32> = (0..100).filter(|row| ![7, 8].contains(row)).chain([7]).collect();
        assert_eq!(rows(&leaf, &chunks), expected);
        leaf.carry_out(&mut chunks);
        assert_eq!(rows(&leaf, &chunks), expected);
        assert_eq!((leaf.len(), leaf.collected()), (99, 98));
    }

    #[test]
    fn rows_in_order_are_a_run_until_one_is_missing() {
        let (mut chunks, sizes) = (Chunks::new(0), sizes());
        let mut leaf = Leaf::new(true);
        for row in 5..10 {
            leaf.apply(&mut chunks, &sizes, Message::new(Kind::Insert, row));
        }
        for row in [5, 9] {
            leaf.apply(&mut chunks, &sizes, Message::new(Kind::Delete, row));
        }
        assert_eq!((leaf.run(), rows(&leaf, &chunks)), (Some(6), vec![6, 7, 8]));
        leaf.apply(&mut chunks, &sizes, Message::new(Kind::Delete, 7));
        assert_eq!((leaf.run(), rows(&leaf, &chunks)), (None, vec![6, 8]));
    }
}
