//! Whether a tree is in order.

use super::{LeafId, NONE, Run, Runs};

impl Runs {
    /// Panics if the tree contradicts itself or `run`: for tests.
    pub(crate) fn verify(&self, run: impl Fn(u32) -> Run, total: u64) {
        let mut entries = 0;
        let mut leaf =
            self.live.iter().copied().find(|leaf| self.leaves[*leaf as usize].prev == NONE);
        let mut count = 0;
        while let Some(number) = leaf {
            let record = &self.leaves[number as usize];
            let mut sum = Run::default();
            for (_, share) in self.shares(LeafId(number), &run) {
                sum.entries += share.entries;
                sum.bytes += share.entries * share.bytes;
            }
            assert_eq!((sum.entries, sum.bytes), (record.entries, record.used), "leaf {number}");
            assert!(record.used <= self.sizes.usable, "leaf {number} is too full");
            entries += u64::from(record.entries);
            count += 1;
            if let Some(next) = self.leaves.get(record.next as usize) {
                assert_eq!(next.prev, number, "links");
                assert!((record.first, record.carry) <= (next.first, next.carry), "order");
            }
            leaf = Some(record.next).filter(|next| *next != NONE);
        }
        assert_eq!((entries, count), (total, self.live.len()), "entries and leaves");
    }
}
