//! A shortcut from keys to leaves, so that finding a leaf costs one access to memory instead of a
//! search on every level.
//!
//! The key space is cut into equal buckets, some for each leaf. A bucket remembers the leaf that
//! held its first key when it was last looked for; from there the chain of leaves leads to the
//! right one, which is nearly always the first. The tree alone is the truth, and the bounds that
//! leaves keep say whether a shortcut is one: nothing here has to be told of splits and joins.

use cost_model::{HugeVec, PageId};
use index::{IndexId, Key};

use crate::pages::Pages;

/// Leaves that are visited from a bucket on before the tree is asked.
const STEPS_MAX: u32 = 4;

/// At least so many buckets for each leaf, and up to twice as many: the fewer leaves share a
/// bucket, the rarer is the second step.
const BUCKETS_PER_LEAF: u64 = 4;

/// Bounds of leaves have 32 bits; buckets need not be as fine.
const BITS_MAX: u32 = 28;

/// The leaf that holds `key`, if the way there from leaf `start` is short and certain.
#[inline]
pub(crate) fn walk(pages: &Pages, index: IndexId, key: Key, start: PageId) -> Option<PageId> {
    let mut leaf = start;
    let mut page = pages.leaf_of(leaf, index)?;
    if top(key) <= page.lower_bound() {
        return None;
    }
    for _ in 0..STEPS_MAX {
        if top(key) < page.upper_bound() {
            return Some(leaf);
        }
        if top(key) == page.upper_bound() {
            return None;
        }
        leaf = page.next();
        page = pages.get(leaf);
    }
    None
}

/// See the module's documentation.
pub(crate) struct Directory {
    buckets: HugeVec<PageId>,
    bits: u32,
}

/// The top 32 bits of a key: what leaves keep of their bounds.
#[inline]
pub(crate) fn top(key: Key) -> u32 {
    (key.prefix() >> 32) as u32
}

impl Directory {
    /// A directory without knowledge of any leaf.
    pub(crate) fn new(leaves_expected: usize) -> Self {
        let mut buckets = HugeVec::with_capacity(leaves_expected * 2 * BUCKETS_PER_LEAF as usize);
        buckets.push(PageId::NONE);
        Self { buckets, bits: 0 }
    }

    /// Loads the processor's caches with the bucket of a key.
    #[inline]
    pub(crate) fn prefetch(&self, key: Key) {
        self.buckets.prefetch(self.bucket(key));
    }

    /// The leaf where the way to `key` begins.
    #[inline]
    pub(crate) fn start(&self, key: Key) -> PageId {
        self.buckets[self.bucket(key)]
    }

    /// The smallest key of the bucket of `key`: whose leaf [`learn`](Self::learn) wants to know.
    pub(crate) fn first_key(&self, key: Key) -> Key {
        Key((self.bucket(key) as u128) << (128 - self.bits.max(1)))
    }

    /// The bucket of `key` begins at `leaf`.
    pub(crate) fn learn(&mut self, key: Key, leaf: PageId) {
        let bucket = self.bucket(key);
        self.buckets[bucket] = leaf;
    }

    /// The way to `key` ended at `leaf`: it can be shorter next time if the whole bucket begins
    /// there.
    #[inline]
    pub(crate) fn improve(&mut self, pages: &Pages, key: Key, leaf: PageId) {
        if leaf != self.start(key) && pages.get(leaf).lower_bound() < top(self.first_key(key)) {
            self.learn(key, leaf);
        }
    }

    /// More leaves want more buckets.
    pub(crate) fn grow(&mut self, leaves: u64) {
        let len = self.buckets.len();
        if self.bits == BITS_MAX || leaves * BUCKETS_PER_LEAF < len as u64 {
            return;
        }
        self.bits += 1;
        self.buckets.extend_to(len * 2, PageId::NONE);
        for bucket in (0..len * 2).rev() {
            self.buckets[bucket] = self.buckets[bucket / 2];
        }
    }

    #[inline]
    fn bucket(&self, key: Key) -> usize {
        (u64::from(top(key)) >> (32 - self.bits)) as usize
    }
}
