//! Internal pages: separators and children.

use cost_model::PageId;
use index::{IndexId, Key, KeySource, RowId};

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
    /// Height above the leaves, at least 1.
    pub(crate) level: u8,
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
        Self { page, level, children, slots, last: None }
    }

    /// Which child's range holds `key`: the last one whose key is at most it.
    ///
    /// Keys are spread nearly evenly, so the search begins where the key would be if they were,
    /// and widens from there.
    #[inline]
    pub(crate) fn position<K: KeySource>(&self, source: &K, index: IndexId, key: Key) -> usize {
        let at_most = |slot: usize| self.children[slot].is_at_most(source, index, key);
        let len = self.children.len();
        let guess = self.guess(key);
        // Invariant: low is 0 or at most key; high is len or above key.
        let (mut low, mut high) = (0, len);
        let mut step = 4;
        if guess == 0 || at_most(guess) {
            low = guess;
            while low + step < len {
                if at_most(low + step) {
                    low += step;
                } else {
                    high = low + step;
                    break;
                }
                step *= 2;
            }
        } else {
            high = guess;
            while step < high {
                if at_most(high - step) {
                    low = high - step;
                    break;
                }
                high -= step;
                step *= 2;
            }
        }
        while 1 < high - low {
            let middle = low.midpoint(high);
            if at_most(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Loads the processor's caches with the separators a search for `key` begins with.
    #[inline]
    pub(crate) fn prefetch(&self, key: Key) {
        let guess = self.guess(key);
        for slot in [guess, (guess + 4).min(self.children.len() - 1), guess.saturating_sub(4)] {
            cost_model::prefetch(&raw const self.children[slot]);
        }
    }

    #[inline]
    fn guess(&self, key: Key) -> usize {
        let last = self.children.len() - 1;
        let (low, high) = (self.children[0].prefix, self.children[last].prefix);
        let prefix = key.prefix();
        if prefix <= low || high <= low {
            0
        } else if high <= prefix {
            last
        } else {
            // Rounding may miss by one slot, which the search that follows does not mind.
            let share = (prefix - low) as f64 / (high - low) as f64;
            ((share * last as f64) as usize).min(last)
        }
    }

    /// Inserts a separator in its place behind `slot`.
    pub(crate) fn insert(&mut self, slot: usize, separator: Separator) {
        self.children.insert(slot + 1, separator);
        self.slots = self.slots.max(self.children.len() as u16);
        self.last = Some(slot as u16 + 1);
    }

    /// Removes a child.
    pub(crate) fn remove(&mut self, slot: usize) {
        self.children.remove(slot);
        self.last = None;
    }
}
