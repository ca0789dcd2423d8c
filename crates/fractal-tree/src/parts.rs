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

    /// Basements from `first` to `last` are read; returns how many of them were not there. Only
    /// `first` counts as used.
    pub(crate) fn read(&mut self, first: u32, last: u32) -> u32 {
        let wanted = Self::all(last + 1) & !0 << first;
        let missing = wanted & !self.present;
        self.present |= wanted;
        self.touched |= 1 << first;
        missing.count_ones()
    }

    /// All `count` basements are there, and those of `touched` were used.
    pub(crate) fn all_of(count: u64, touched: u128) -> Self {
        let parts = Self::none_of(count);
        Self { present: Self::all(parts.count), touched, ..parts }
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

#[cfg(test)]
mod tests {
    use super::Parts;

    #[test]
    fn what_is_read_ahead_is_there_and_not_used() {
        let mut parts = Parts::none_of(128);
        assert_eq!(parts.read(120, 127), 8);
        assert_eq!(parts.read(3, 3), 1);
        assert_eq!((parts.missing(), parts.touched), (119, 1 << 120 | 1 << 3));
        assert_eq!(parts.read(2, 127), 117);
        parts.sweep(128);
        assert!([2, 3, 120].iter().all(|basement| parts.has(*basement)));
        assert_eq!(parts.missing(), 125);
        let mut ahead = Parts::all_of(16, 1 << 4);
        ahead.sweep(16);
        assert_eq!((ahead.present, ahead.missing()), (1 << 4, 15));
    }
}
