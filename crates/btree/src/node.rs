//! Internal pages: separators and children.

use cost_model::{FrameId, PageId};
use index::{IndexId, Key, KeySource, RowId};

use crate::space::Direction;

/// A child and the smallest key it may hold, as the key of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Separator {
    /// The top half of the key: decides nearly every comparison.
    prefix: u64,
    row: u32,
    /// The page with the entries from this key on.
    pub(crate) child: PageId,
}

impl Separator {
    pub(crate) fn new(key: Key, row: u32, child: PageId) -> Self {
        Self { prefix: key.prefix(), row, child }
    }

    /// The same key with another child.
    pub(crate) fn pointing_to(self, child: PageId) -> Self {
        Self { child, ..self }
    }

    /// The separator's key.
    pub(crate) fn key<K: KeySource>(&self, source: &K, index: IndexId) -> Key {
        source.key(index, RowId(u64::from(self.row)))
    }

    /// Whether this separator's key is at most `key`.
    #[inline]
    fn is_at_most<K: KeySource>(&self, source: &K, index: IndexId, key: Key) -> bool {
        self.prefix < key.prefix()
            || (self.prefix == key.prefix() && self.key(source, index) <= key)
    }
}

/// The contents of an internal page.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// The page this is on.
    pub(crate) page: PageId,
    /// Where the page was found in the pool when it was used last.
    pub(crate) frame: FrameId,
    /// Height above the leaves, at least 1.
    pub(crate) level: u8,
    /// The node above, none for the root.
    pub(crate) parent: Option<u32>,
    /// Children in key order. The first one's key is not compared: it has no lower bound.
    pub(crate) children: Vec<Separator>,
    /// The most records on the page at one time (see [`crate::format::Limits::fits`]).
    pub(crate) slots: u16,
    /// Where the last insert went, if nothing was moved or deleted since.
    pub(crate) last: Option<u16>,
}

impl Node {
    pub(crate) fn new(page: PageId, level: u8, children: Vec<Separator>) -> Self {
        let slots = children.len() as u16;
        let frame = FrameId::NONE;
        Self { page, frame, level, parent: None, children, slots, last: None }
    }

    /// Which child's range holds `key`: the last one whose key is at most it.
    pub(crate) fn position<K: KeySource>(&self, source: &K, index: IndexId, key: Key) -> usize {
        let above = self.children.partition_point(|s| s.is_at_most(source, index, key));
        above.saturating_sub(1)
    }

    /// Inserts a separator in its place behind `slot`.
    pub(crate) fn insert(&mut self, slot: usize, separator: Separator) {
        self.children.insert(slot + 1, separator);
        self.slots = self.slots.max(self.children.len() as u16);
        self.last = Some(slot as u16 + 1);
    }

    /// Removes a child. Its range goes to the child before it (`Down`) or after it (`Up`).
    pub(crate) fn remove(&mut self, slot: usize, heir: Direction) {
        let removed = self.children.remove(slot);
        if heir == Direction::Up
            && let Some(next) = self.children.get_mut(slot)
        {
            *next = removed.pointing_to(next.child);
        }
        self.last = None;
    }
}
