//! What a server reads to estimate how many entries lie in a range, before it scans it.

use cost_model::PageId;

use crate::Key;

/// An estimate under way: two dives, one to each end of the range, then a walk along the leaves
/// from the first on.
#[derive(Clone, Copy, Debug)]
pub struct Estimate {
    ends: [Key; 2],
    dives: usize,
    leaves_left: u32,
    next: PageId,
    last: PageId,
}

impl Estimate {
    /// An estimate of the range from `from` to `to`, which looks at so many leaves at most on its
    /// way from one end to the other.
    pub fn new(from: Key, to: Key, leaves: u32) -> Self {
        let none = PageId::NONE;
        Self { ends: [from, to], dives: 0, leaves_left: leaves, next: none, last: none }
    }

    /// The key to dive to next, if one is left.
    pub fn dive(&self) -> Option<Key> {
        self.ends.get(self.dives).copied()
    }

    /// The dive has ended at a leaf.
    pub fn arrived(&mut self, leaf: PageId) {
        self.dives += 1;
        if self.dives == 1 {
            self.next = leaf;
        }
        self.last = leaf;
    }

    /// The leaf to look at next, if the walk is not over.
    pub fn leaf(&self) -> Option<PageId> {
        let on = 0 < self.leaves_left && self.next != self.last && !self.next.is_none();
        on.then_some(self.next)
    }

    /// The leaf was looked at; `next` follows it.
    pub fn go_on(&mut self, next: PageId) {
        self.leaves_left -= 1;
        self.next = next;
    }
}
