//! What every index engine does.

use std::ops::{ControlFlow, Range};

use cost_model::{Machine, PageId, SimThread, SimTime, Step};
use serde::{Deserialize, Serialize};

use crate::{Estimate, IndexId, Key, RowId};

/// Receives the rows of a scan in key order and says whether to go on.
pub type Visitor<'a> = dyn FnMut(Key, RowId) -> ControlFlow<()> + 'a;

/// A storage engine with all indexes of a table.
///
/// An operation that needs a page that is absent starts its read, has its thread wait and returns
/// [`Blocked`](cost_model::Blocked) without having changed anything; the caller tries the same
/// operation again when its thread is the furthest behind, and calls
/// [`Machine::release`] when it is done.
pub trait IndexEngine {
    /// The rows of this range are about to be inserted into these indexes, which are all those of
    /// a partition or of the table: a hint that may save processor time and has no effect on any
    /// result.
    fn prepare(&mut self, machine: &Machine, rows: Range<u64>, indexes: Range<u16>);

    /// A transaction of this thread begins: what it inserts and deletes from now on belongs to it.
    fn begin_transaction(&mut self, machine: &mut Machine, thread: &mut SimThread) {
        let _ = (machine, thread);
    }

    /// The transaction of this thread ends; [`Machine::commit`] then makes it durable. Does nothing
    /// if there is none any more.
    ///
    /// # Errors
    /// [`Blocked`](cost_model::Blocked): try again.
    fn end_transaction(&mut self, machine: &mut Machine, thread: &mut SimThread) -> Step {
        let _ = (machine, thread);
        Ok(())
    }

    /// Inserts the entry of `row` into an index. Blind: nothing is returned that would need a
    /// read.
    ///
    /// # Errors
    /// [`Blocked`](cost_model::Blocked): try again.
    fn insert(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        row: RowId,
    ) -> Step;

    /// Removes the entry of `row` from an index, if it is there. An engine may only mark it, and
    /// leave its removal to a [`purge`](Self::purge) after the transaction's end; no query finds it
    /// any more. Of a row that is in several indexes, the entry in the clustered one goes first.
    ///
    /// # Errors
    /// [`Blocked`](cost_model::Blocked): try again.
    fn delete(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        row: RowId,
    ) -> Step;

    /// Goes on removing what deletes have only marked, by one entry or one page of the undo log,
    /// the oldest transaction first; tells whether there was anything to do.
    ///
    /// # Errors
    /// [`Blocked`](cost_model::Blocked): try again.
    fn purge(&mut self, machine: &mut Machine, thread: &mut SimThread) -> Step<bool> {
        let _ = (machine, thread);
        Ok(false)
    }

    /// What a [`purge`](Self::purge) has before it; `None` for an engine that leaves it nothing.
    fn history(&self) -> Option<HistoryStats> {
        None
    }

    /// The index loses all its entries at once, as when its partition is dropped: its pages are
    /// freed unseen, and what waits for them is forgotten. Operations of other threads that are
    /// under way find it empty.
    fn truncate(&mut self, machine: &mut Machine, index: IndexId);

    /// Looks for the entry with exactly this key.
    ///
    /// # Errors
    /// [`Blocked`](cost_model::Blocked): try again.
    fn get(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        key: Key,
    ) -> Step<Option<RowId>>;

    /// Visits the entries from `from` on in key order until the visitor breaks or the index ends.
    /// `from` moves past every entry visited, so that a scan that was blocked goes on where it
    /// was. Nothing beyond `to` is wanted: an engine that reads ahead does so up to there. It may
    /// visit what is beyond.
    ///
    /// # Errors
    /// [`Blocked`](cost_model::Blocked): try again.
    fn range(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        from: &mut Key,
        to: Key,
        visit: &mut Visitor<'_>,
    ) -> Step;

    /// Goes on with the reads of an estimate. An engine that reads nothing for it does nothing.
    ///
    /// # Errors
    /// [`Blocked`](cost_model::Blocked): try again.
    fn estimate(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        index: IndexId,
        estimate: &mut Estimate,
    ) -> Step {
        let _ = (machine, thread, index, estimate);
        Ok(())
    }

    /// Number of indexes, those of all partitions together.
    fn index_count(&self) -> usize;

    /// Counters of one index.
    fn stats(&self, index: IndexId) -> IndexStats;

    /// What a page is used for; `None` if for nothing.
    fn locate(&self, page: PageId) -> Option<PageUse>;

    /// Counters of the change buffer; `None` for an engine without one.
    fn buffered(&self) -> Option<BufferStats> {
        None
    }

    /// Has changes that wait in a change buffer merged into about `pages` leaves, without waiting
    /// for them; returns how many are being read.
    fn merge_some(&mut self, machine: &mut Machine, thread: &mut SimThread, pages: u32) -> u32 {
        let _ = (machine, thread, pages);
        0
    }

    /// What happened on each level of all indexes together, the leaves first; empty for an engine
    /// without messages.
    fn levels(&self) -> Vec<LevelStats> {
        Vec::new()
    }

    /// A client asks for a checkpoint; tells when all of it is written. Does nothing in an engine
    /// whose pages the machine writes.
    fn checkpoint(&mut self, machine: &mut Machine, now: SimTime) -> SimTime {
        let _ = machine;
        now
    }

    /// The files are closed and opened again, after a checkpoint: the engine has nothing in memory
    /// any more, the operating system what it had. Tells when the checkpoint is written. Does
    /// nothing in an engine whose pages lie in the machine's pool.
    fn reopen(&mut self, machine: &mut Machine, now: SimTime) -> SimTime {
        let _ = machine;
        now
    }

    /// Panics if the engine's structures contradict themselves: for tests.
    fn verify(&self);
}

/// What a page is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageUse {
    /// A page of an index, so high above its leaves.
    Index(IndexId, u32),
    /// A page of the undo log.
    UndoLog,
    /// A page of the change buffer's tree, or one that is ready for it to grow.
    ChangeBuffer,
    /// A page that tells how much room there is on each of a group of pages.
    Bitmap,
}

/// Counters and gauges of a change buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferStats {
    /// Entries that wait now.
    pub entries: u64,
    /// Pages of the buffer's tree now.
    pub pages: u32,
    /// Entries that had to wait so far.
    pub buffered: u64,
    /// Leaves that entries were merged into so far.
    pub merges: u64,
    /// Entries merged so far.
    pub merged_entries: u64,
    /// Those of them that marked an entry as deleted.
    pub merged_delete_marks: u64,
    /// Those of them that removed an entry.
    pub merged_deletes: u64,
    /// Pages of the buffer's tree split so far.
    pub splits: u64,
    /// Pages of the buffer's tree joined with a neighbour so far.
    pub joins: u64,
}

/// Counters and gauges of the nodes of one height. Reports have these names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelStats {
    /// Nodes now.
    pub nodes: u64,
    /// Messages that operations have put into these nodes so far.
    pub injected: u64,
    /// Buffers of messages moved into these nodes so far.
    pub flushes: u64,
    /// Messages in these buffers.
    pub flushed: u64,
    /// Nodes brought into memory so far that were not there at all.
    pub fetches: u64,
    /// Bytes read so far.
    pub read_bytes: u64,
    /// Basements that queries have read so far; none above the leaves.
    pub basements: u64,
    /// Nodes written so far because the cache was too full.
    pub evicted: u64,
    /// Bytes of these.
    pub evicted_bytes: u64,
    /// Nodes written by checkpoints so far.
    pub checkpointed: u64,
    /// Bytes of these.
    pub checkpointed_bytes: u64,
    /// Nodes split so far.
    pub splits: u64,
    /// Nodes joined with a sibling so far.
    pub joins: u64,
}

impl LevelStats {
    /// What happened since `earlier`, a copy of these; nodes are those of now.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            nodes: self.nodes,
            injected: self.injected - earlier.injected,
            flushes: self.flushes - earlier.flushes,
            flushed: self.flushed - earlier.flushed,
            fetches: self.fetches - earlier.fetches,
            read_bytes: self.read_bytes - earlier.read_bytes,
            basements: self.basements - earlier.basements,
            evicted: self.evicted - earlier.evicted,
            evicted_bytes: self.evicted_bytes - earlier.evicted_bytes,
            checkpointed: self.checkpointed - earlier.checkpointed,
            checkpointed_bytes: self.checkpointed_bytes - earlier.checkpointed_bytes,
            splits: self.splits - earlier.splits,
            joins: self.joins - earlier.joins,
        }
    }
}

/// What waits for a purge now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoryStats {
    /// Transactions: the length of `InnoDB`'s history list.
    pub transactions: u64,
    /// Rows that they have deleted.
    pub rows: u64,
    /// Pages of the undo log, those of transactions in progress included.
    pub undo_pages: u64,
}

/// Counters and gauges of one index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexStats {
    /// Entries in the index now, without those that are marked as deleted.
    pub entries: u64,
    /// Entries marked as deleted that a purge has yet to remove.
    pub marked: u64,
    /// Leaf pages now.
    pub leaf_pages: u64,
    /// Internal pages now, the root included unless it is a leaf.
    pub internal_pages: u64,
    /// Pages the file reserves for the index now, used or not.
    pub reserved_pages: u64,
    /// Bytes of the records in the leaves now.
    pub leaf_bytes: u64,
    /// Levels, leaves included.
    pub height: u32,
    /// Entries inserted so far.
    pub inserts: u64,
    /// Entries deleted so far.
    pub deletes: u64,
    /// Pages split so far, on all levels.
    pub splits: u64,
    /// Pages joined with a neighbour or freed empty so far, on all levels.
    pub coalesces: u64,
    /// Messages on their way to a leaf now.
    pub messages_pending: u64,
    /// Messages that operations have put into the index so far.
    pub messages_injected: u64,
    /// Buffers of messages that were moved one level down so far.
    pub flushes: u64,
}

impl IndexStats {
    /// Both together: all is added up but the levels, of which the more count.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            entries: self.entries + other.entries,
            marked: self.marked + other.marked,
            leaf_pages: self.leaf_pages + other.leaf_pages,
            internal_pages: self.internal_pages + other.internal_pages,
            reserved_pages: self.reserved_pages + other.reserved_pages,
            leaf_bytes: self.leaf_bytes + other.leaf_bytes,
            height: self.height.max(other.height),
            inserts: self.inserts + other.inserts,
            deletes: self.deletes + other.deletes,
            splits: self.splits + other.splits,
            coalesces: self.coalesces + other.coalesces,
            messages_pending: self.messages_pending + other.messages_pending,
            messages_injected: self.messages_injected + other.messages_injected,
            flushes: self.flushes + other.flushes,
        }
    }
}
