//! What of a leaf is in memory.

/// Which basements of a clean leaf are in memory. A leaf that is dirty is there as a whole.
pub(crate) struct Parts {
    /// Basements of the image; 0 while the whole leaf is in memory.
    pub(crate) count: u32,
    /// Those in memory, if it is not the whole.
    pub(crate) present: u128,
    /// Those used since the hand of the clock passed.
    pub(crate) touched: u128,
    /// How many messages of the parent's buffer each basement has seen.
    pub(crate) seen: Vec<u32>,
}

impl Parts {
    /// Basements that are told apart at most.
    pub(crate) const MAX: u64 = 128;

    pub(crate) const fn whole() -> Self {
        Self { count: 0, present: 0, touched: u128::MAX, seen: Vec::new() }
    }

    /// Basements of a leaf of so many bytes in the file, none of which is in memory.
    pub(crate) fn none_of(count: u64) -> Self {
        let count = count.clamp(1, Self::MAX) as u32;
        Self { count, present: 0, touched: 0, seen: Vec::new() }
    }

    /// All basements, as bits.
    fn all(count: u32) -> u128 {
        u128::MAX >> (Self::MAX as u32 - count)
    }

    /// Basements that are not in memory.
    pub(crate) fn missing(&self) -> u32 {
        self.count - self.present.count_ones()
    }

    /// Whether a basement is in memory.
    pub(crate) fn has(&self, basement: u32) -> bool {
        self.is_whole() || self.present >> basement & 1 == 1
    }

    /// Basements from `first` to `last` are in memory from now on, and used; returns how many of
    /// them were not there.
    pub(crate) fn bring(&mut self, first: u32, last: u32) -> u32 {
        let wanted = Self::all(last + 1) & !0 << first;
        let missing = wanted & !self.present;
        self.present |= wanted;
        self.touched |= missing;
        missing.count_ones()
    }

    /// The hand of the clock passes a clean leaf of `count` basements: those that were not used
    /// since it passed last leave memory.
    pub(crate) fn sweep(&mut self, count: u64) {
        if self.is_whole() {
            self.count = count.clamp(1, Self::MAX) as u32;
            self.present = Self::all(self.count);
        }
        self.present &= self.touched;
        self.touched = 0;
    }

    /// How many of `len` messages of the parent's buffer a basement has not seen yet; it has
    /// seen them all from now on.
    pub(crate) fn see(&mut self, basement: u32, len: u32) -> u32 {
        if self.seen.len() <= basement as usize {
            self.seen.resize(basement as usize + 1, 0);
        }
        let fresh = len.saturating_sub(self.seen[basement as usize]);
        self.seen[basement as usize] = len;
        fresh
    }

    /// Whether the whole leaf is in memory.
    #[inline]
    pub(crate) fn is_whole(&self) -> bool {
        self.count == 0
    }

    /// The share of the leaf that is in memory.
    pub(crate) fn share(&self) -> f64 {
        if self.is_whole() {
            1.0
        } else {
            f64::from(self.present.count_ones()) / f64::from(self.count)
        }
    }
}
