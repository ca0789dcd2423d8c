//! What a tree has done so far, by height above the leaves.

use std::ops::{Index, IndexMut};

use index::LevelStats;

use crate::node::HEIGHT_MAX;

/// One count for each height; 0 are the leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByHeight([u64; HEIGHT_MAX]);

impl ByHeight {
    /// The counts of all heights together.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The counts of all heights above the leaves.
    pub fn internal(&self) -> u64 {
        self.0[1..].iter().sum()
    }

    /// The highest of which anything was counted.
    pub(crate) fn highest(&self) -> Option<usize> {
        self.0.iter().rposition(|count| 0 < *count)
    }
}

impl Index<usize> for ByHeight {
    type Output = u64;
    #[inline]
    fn index(&self, height: usize) -> &u64 {
        &self.0[height]
    }
}

impl IndexMut<usize> for ByHeight {
    #[inline]
    fn index_mut(&mut self, height: usize) -> &mut u64 {
        &mut self.0[height]
    }
}

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {
        /// Counters of one index since its creation, by height above the leaves.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct TreeCounters {
            $($(#[$doc])* pub $name: ByHeight,)+
            /// Bytes of log records.
            pub log_bytes: u64,
        }

        impl TreeCounters {
            /// What was counted since `earlier`, a copy of these counters.
            #[must_use]
            pub fn since(&self, earlier: &Self) -> Self {
                let minus = |a: &ByHeight, b: &ByHeight| {
                    ByHeight(std::array::from_fn(|height| a.0[height] - b.0[height]))
                };
                Self {
                    $($name: minus(&self.$name, &earlier.$name),)+
                    log_bytes: self.log_bytes - earlier.log_bytes,
                }
            }

            /// Adds all of `other`.
            pub fn merge(&mut self, other: &Self) {
                $(for (mine, theirs) in self.$name.0.iter_mut().zip(other.$name.0) {
                    *mine += theirs;
                })+
                self.log_bytes += other.log_bytes;
            }
        }
    };
}

counters! {
    /// Messages that clients put directly into nodes of this height.
    injected,
    /// Buffers flushed into nodes of this height.
    flushes,
    /// Messages in these buffers.
    flushed_messages,
    /// Bytes of these messages in the buffers.
    flushed_bytes,
    /// Nodes brought into memory that were not there at all.
    fetches,
    /// Bytes read of nodes of this height.
    read_bytes,
    /// Single basements read by queries, counted at height 0.
    basements_read,
    /// Nodes written because the cache was too full.
    evict_writes,
    /// Bytes of these.
    evict_write_bytes,
    /// Nodes written by checkpoints.
    checkpoint_writes,
    /// Bytes of these.
    checkpoint_write_bytes,
    /// Nodes created.
    created,
    /// Nodes split.
    splits,
    /// Nodes joined with a sibling.
    merges,
}

impl TreeCounters {
    /// What was counted of one height, where there are so many nodes now.
    pub(crate) fn level(&self, height: usize, nodes: u64) -> LevelStats {
        LevelStats {
            nodes,
            injected: self.injected[height],
            flushes: self.flushes[height],
            flushed: self.flushed_messages[height],
            fetches: self.fetches[height],
            read_bytes: self.read_bytes[height],
            basements: self.basements_read[height],
            evicted: self.evict_writes[height],
            evicted_bytes: self.evict_write_bytes[height],
            checkpointed: self.checkpoint_writes[height],
            checkpointed_bytes: self.checkpoint_write_bytes[height],
            splits: self.splits[height],
            joins: self.merges[height],
        }
    }
}
