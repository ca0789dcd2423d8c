//! The rules of a change buffer, as settings.

use btree::{RedoFormat, TreeConfig};

/// What a change buffer is and by which rules it takes, keeps and gives up entries.
///
/// Sources: `MySQL` 5.1 source, ibuf0ibuf.c, and what later versions changed in it.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeBufferConfig {
    /// Pages of its tree at most.
    pub pages_max: u32,
    /// Which changes may wait.
    pub buffers: Buffered,
    /// What happens when it has as many.
    pub when_full: WhenFull,
    /// Whether every insert that splits one of its pages has some entries merged, at any size
    /// (`innodb_ibuf_active_contract`).
    pub active_contract: bool,
    /// Bytes that the check of a leaf's free space adds to each record.
    pub check_extra: u32,
    /// Bytes of an entry before its columns, beyond those for each column.
    pub entry_header: u32,
    /// Bytes of an entry for each of its columns.
    pub entry_column: u32,
    /// Whether entries of a page are kept in the order in which they came (since 5.5), or in that
    /// of their keys.
    pub by_arrival: bool,
    /// Whether an entry that enters has the page after its own latched too, not only the one before.
    pub latches_after: bool,
    /// Bytes that records can use on one of its pages.
    pub page_usable: u32,
    /// Bytes of a page's directory for each of its records, in halves.
    pub directory_halves: u32,
    /// A page with garbage is reorganised only if as many bytes are free then; else it is split.
    pub reorganize_limit: u32,
    /// A page whose entries take fewer bytes is joined with a neighbour.
    pub join_below: u32,
    /// Every so many changes that could be buffered, clean pages that flushes have left at the
    /// LRU tail are freed; 0: never.
    pub free_flushed_every: u32,
    /// Data pages that one bitmap page describes.
    pub bitmap_pages: u32,
    /// Aligned pages that are merged together.
    pub group_pages: u32,
    /// On a refusal for space, pages of the group with more buffered bytes are merged too.
    pub group_volume: u32,
    /// What its operations log; `None` without a redo log.
    pub redo: Option<BufferRedo>,
    /// Seed of the choice of pages to merge.
    pub seed: u64,
}

impl ChangeBufferConfig {
    /// Bytes of a page of the buffer that neither entries nor their directory can use: the first
    /// and the last record of the old format are longer (`MySQL` 5.1 source, page0page.h).
    pub const PAGE_OVERHEAD: u32 = 137;

    /// The buffer of `MySQL` 5.1 over such a tree.
    pub fn mysql_5_1(tree: &TreeConfig, pages_max: u32) -> Self {
        let page = tree.format.page_bytes;
        Self {
            pages_max,
            buffers: Buffered { inserts: true, delete_marks: false, deletes: false },
            when_full: WhenFull::Contract,
            active_contract: false,
            check_extra: 1,
            entry_header: 20,
            entry_column: 7,
            by_arrival: false,
            latches_after: false,
            page_usable: page - Self::PAGE_OVERHEAD,
            directory_halves: tree.format.directory_slot * 2 / tree.format.directory_records,
            reorganize_limit: page / 32,
            join_below: page / 2,
            free_flushed_every: 8,
            bitmap_pages: page,
            group_pages: 8,
            group_volume: page / 32 * 3,
            redo: tree.redo.as_ref().map(BufferRedo::of),
            seed: tree.seed,
        }
    }
}

/// Changes of secondary leaves that may wait (the words of `innodb_change_buffering`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffered {
    /// New entries.
    pub inserts: bool,
    /// Marks that delete entries.
    pub delete_marks: bool,
    /// Removals of marked entries by a purge.
    pub deletes: bool,
}

/// What a full change buffer does with the next change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// It goes on, and has entries merged after inserts that split one of its pages; it waits for
    /// that from 5 pages beyond the limit on, and refuses from 10 pages beyond it on (until 5.7).
    Contract,
    /// It refuses at the limit, and merges nothing for that, nor when a leaf has no room
    /// (`MariaDB` 10.11 source, ibuf0ibuf.cc: `ibuf_insert_low`).
    Refuse,
}

/// Redo bytes of operations on a change buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferRedo {
    /// Of an entry that enters, beside the bytes of its columns: what is the same in all entries
    /// of a page is not logged.
    pub insert: u32,
    /// Of an entry that leaves.
    pub delete: u32,
    /// Of an entry that a split moves, beside those of its bytes that differ from the entry before.
    pub moved: u32,
    /// The same of a join.
    pub joined: u32,
    /// Whether a page that is reorganised is logged with all of its entries.
    pub logs_reorganized: bool,
    /// Of the first change of a page by a transaction.
    pub first_change: u32,
    /// Of a split or a join, beside the entries.
    pub split: u32,
    /// Of a change of a bitmap page.
    pub bitmap: u32,
}

/// Bytes of a page number and of an offset in a redo record.
const PAGE_NUMBER: u32 = 4;
const OFFSET: u32 = 2;

impl BufferRedo {
    /// In records of this format, which a buffer's pages share with all others.
    pub fn of(redo: &RedoFormat) -> Self {
        let insert = redo.record_header + PAGE_NUMBER + redo.insert;
        Self {
            insert: insert + redo.end,
            delete: redo.record_header + PAGE_NUMBER + OFFSET + redo.end,
            moved: redo.moved,
            joined: if redo.joins_insert { insert } else { redo.moved },
            logs_reorganized: redo.logs_reorganized,
            first_change: redo.first_change,
            split: redo.split,
            bitmap: redo.record_header + PAGE_NUMBER + OFFSET + 1 + redo.end,
        }
    }
}

/// Pages beyond the limit from which on a client waits for the merges (`MySQL` 5.1 source,
/// `IBUF_CONTRACT_ON_INSERT_SYNC`).
pub(crate) const SYNC_BEYOND: u32 = 5;
/// Pages beyond the limit from which on nothing is buffered (`IBUF_CONTRACT_DO_NOT_INSERT`).
pub(crate) const REFUSE_BEYOND: u32 = 10;

/// What a leaf's free space counts as: the classes of the bitmap, 0 and a 32nd, a 16th and an
/// eighth of a page.
pub(crate) fn class_bytes(room: i64, page_bytes: u32) -> u32 {
    let unit = page_bytes / 32;
    match room / i64::from(unit) {
        0 => 0,
        1 => unit,
        2 | 3 => 2 * unit,
        _ => 4 * unit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_classes_are_512_1024_and_2048_bytes() {
        let classes = [511, 512, 1_023, 1_024, 2_047, 2_048, 9_000];
        let bytes: Vec<_> = classes.iter().map(|room| class_bytes(*room, 16_384)).collect();
        assert_eq!(bytes, [0, 512, 512, 1_024, 1_024, 2_048, 2_048]);
    }
}
