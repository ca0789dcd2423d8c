//! A set of rows of a table.

use cost_model::HugeVec;

/// A set of row numbers, one bit each up to the highest row that was ever in it.
pub struct RowSet {
    words: HugeVec<u64>,
    len: u64,
}

impl RowSet {
    /// No rows, with room for those below about `rows` before it must move.
    pub fn new(rows: u64) -> Self {
        Self { words: HugeVec::with_capacity((rows / 64) as usize + 1), len: 0 }
    }

    /// Adds a row; tells whether it was not there.
    #[inline]
    pub fn insert(&mut self, row: u32) -> bool {
        let word = (row / 64) as usize;
        if self.words.len() <= word {
            self.words.extend_to(word + 1, 0);
        }
        let bit = 1 << (row % 64);
        let fresh = self.words[word] & bit == 0;
        self.words[word] |= bit;
        self.len += u64::from(fresh);
        fresh
    }

    /// Removes a row; tells whether it was there.
    #[inline]
    pub fn remove(&mut self, row: u32) -> bool {
        let bit = 1 << (row % 64);
        let there = self.contains(row);
        if there {
            self.words[(row / 64) as usize] &= !bit;
            self.len -= 1;
        }
        there
    }

    /// Whether a row is there.
    #[inline]
    pub fn contains(&self, row: u32) -> bool {
        let word = (*self.words).get((row / 64) as usize).copied().unwrap_or(0);
        word & (1 << (row % 64)) != 0
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        self.words.fill(0);
        self.len = 0;
    }

    /// Number of rows.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}
