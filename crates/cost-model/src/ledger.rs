//! Where time and I/O went. Every nanosecond and every request has exactly one entry.

use crate::{Bytes, SimDuration};

macro_rules! ledger_keys {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident => $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $($(#[$variant_doc])* $variant),+ }

        impl $name {
            /// All of them, in the order of reports.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The name in reports.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }
    };
}

ledger_keys! {
    /// What a simulated thread spends its time on.
    Cause {
        /// Computing.
        Cpu => "cpu",
        /// Waiting for a page to be read.
        Read => "read",
        /// Waiting for the redo log, or the binary log, to be durable.
        Log => "log",
        /// Waiting for the doublewrite buffer: for its turn, its write and its sync.
        Doublewrite => "doublewrite",
        /// Waiting because the redo log has no room until old changes are written back.
        CheckpointStall => "checkpoint_stall",
        /// Waiting for a free frame of the buffer pool.
        FreePage => "free_page",
        /// Waiting for dirty pages to be written back, or for a page that is.
        Flush => "flush",
        /// Waiting for a page into which buffered changes are merged, or for the threads that read
        /// such.
        Merge => "merge",
        /// Waiting for something another thread holds.
        Lock => "lock",
        /// Not working: a rate limit, or nothing to do.
        Think => "think",
    }
}

ledger_keys! {
    /// Why pages travel between memory and a device.
    Purpose {
        /// A leaf the operation needs.
        LeafRead => "leaf_read",
        /// An internal node the operation needs.
        NodeRead => "node_read",
        /// A neighbour of a leaf that is split or coalesced.
        SiblingRead => "sibling_read",
        /// A leaf that is read so that its buffered changes are merged.
        MergeRead => "merge_read",
        /// A page of the change buffer.
        BufferRead => "buffer_read",
        /// A page of the undo log.
        UndoRead => "undo_read",
        /// A page of a file in the operating system's cache of which a write replaces only a part.
        FillRead => "fill_read",
        /// A part of a leaf that a query needs.
        BasementRead => "basement_read",
        /// Dirty nodes of variable size whose memory is needed.
        NodeWrite => "node_write",
        /// Dirty pages whose frames are needed.
        WriteBack => "write_back",
        /// Dirty pages whose oldest change the redo log is to forget, or of which there are too
        /// many; dirty nodes that a sharp checkpoint writes.
        Checkpoint => "checkpoint",
        /// Pages that the operating system writes from its cache: synced, old, or in the way.
        OsWriteBack => "os_write_back",
        /// Copies of dirty pages for the case that their own write is torn.
        Doublewrite => "doublewrite",
        /// The redo log.
        Log => "log",
        /// The binary log.
        Binlog => "binlog",
        /// Zeros at the end of a file that grows.
        Growth => "growth",
    }
}

/// Time by cause; its sum is the time that passed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeLedger([SimDuration; Cause::ALL.len()]);

impl TimeLedger {
    /// Books `time` to `cause`.
    #[inline]
    pub fn add(&mut self, cause: Cause, time: SimDuration) {
        self.0[cause as usize] += time;
    }

    /// Time booked to `cause`.
    pub fn get(&self, cause: Cause) -> SimDuration {
        self.0[cause as usize]
    }

    /// All time booked.
    pub fn total(&self) -> SimDuration {
        self.0.iter().fold(SimDuration::ZERO, |sum, time| sum + *time)
    }

    /// What was booked since `earlier`, a copy of this ledger.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self(std::array::from_fn(|cause| self.0[cause] - earlier.0[cause]))
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
    }
}

/// Requests, pages and bytes of one purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IoCount {
    /// Requests as the engine issued them.
    pub requests: u64,
    /// Pages transferred.
    pub pages: u64,
    /// Bytes transferred.
    pub bytes: u64,
}

/// I/O by purpose; its sums are the device's totals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IoLedger([IoCount; Purpose::ALL.len()]);

impl IoLedger {
    /// Books one request of `pages` pages.
    #[inline]
    pub fn add(&mut self, purpose: Purpose, pages: u64, bytes: Bytes) {
        let count = &mut self.0[purpose as usize];
        count.requests += 1;
        count.pages += pages;
        count.bytes += bytes.get();
    }

    /// What was booked to `purpose`.
    pub fn get(&self, purpose: Purpose) -> IoCount {
        self.0[purpose as usize]
    }

    /// Reads and writes of pages from and to their places in the data files.
    pub fn pages_moved(&self) -> (IoCount, IoCount) {
        self.sums(Purpose::is_of_pages)
    }

    /// The reads and the writes of all purposes.
    pub fn reads_and_writes(&self) -> (IoCount, IoCount) {
        self.sums(|_| true)
    }

    fn sums(&self, of: impl Fn(Purpose) -> bool) -> (IoCount, IoCount) {
        let mut sums = (IoCount::default(), IoCount::default());
        for purpose in Purpose::ALL.iter().filter(|purpose| of(**purpose)) {
            let sum = if purpose.writes() { &mut sums.1 } else { &mut sums.0 };
            let count = self.get(*purpose);
            sum.requests += count.requests;
            sum.pages += count.pages;
            sum.bytes += count.bytes;
        }
        sums
    }

    /// What was booked since `earlier`, a copy of this ledger.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self(std::array::from_fn(|purpose| {
            let (now, then) = (self.0[purpose], earlier.0[purpose]);
            IoCount {
                requests: now.requests - then.requests,
                pages: now.pages - then.pages,
                bytes: now.bytes - then.bytes,
            }
        }))
    }
}

impl Purpose {
    /// Whether this purpose writes to the device.
    pub const fn writes(self) -> bool {
        use Purpose::{
            BasementRead, BufferRead, FillRead, LeafRead, MergeRead, NodeRead, SiblingRead,
            UndoRead,
        };
        !matches!(
            self,
            LeafRead
                | NodeRead
                | SiblingRead
                | MergeRead
                | BufferRead
                | UndoRead
                | FillRead
                | BasementRead
        )
    }

    /// Whether this purpose reads pages of which nearly all are leaves of indexes.
    pub const fn is_of_a_leaf(self) -> bool {
        matches!(self, Self::LeafRead | Self::SiblingRead | Self::MergeRead)
    }

    /// Whether this purpose moves pages between the pool and their places in the data files.
    pub const fn is_of_pages(self) -> bool {
        use Purpose::{Checkpoint, NodeWrite, OsWriteBack, WriteBack};
        !self.writes() || matches!(self, WriteBack | Checkpoint | OsWriteBack | NodeWrite)
    }
}
