//! Tables with a change buffer for tests.

use btree::{PageFormat, RedoFormat, SpaceConfig, SplitPolicy, TreeConfig};
use change_buffer::{Buffered, ChangeBufferConfig, WhenFull};
use index::IndexShape;

/// A clustered index and secondary ones, with records of 28 and 21 bytes.
pub(crate) fn shapes(indexes: usize) -> Vec<IndexShape> {
    let shape = |number| IndexShape {
        name: format!("index {number}"),
        clustered: number == 0,
        entry_bytes: if number == 0 { 10 } else { 16 },
        key_bytes: if number == 0 { 12 } else { 16 },
        nullable_columns: 0,
        variable_columns: 0,
    };
    (0..indexes).map(shape).collect()
}

/// Trees on pages that take `usable` bytes of records and directory.
pub(crate) fn tree(usable: u32) -> TreeConfig {
    TreeConfig {
        format: PageFormat { clustered_reserve: usable / 16, ..PageFormat::of_usable(usable) },
        space: SpaceConfig {
            extent_pages: 4,
            fragment_pages: 3,
            reserve_share: 8,
            large_extents: 3,
            extra_extents: 2,
        },
        split: SplitPolicy::InnoDb,
        sibling_reads: true,
        join_right: false,
        redo: Some(RedoFormat::mysql_5_1(150, 200)),
        undo: None,
        seed: 1,
    }
}

/// A buffer of at most `pages_max` pages that take `usable` bytes.
pub(crate) fn buffer(pages_max: u32, usable: u32) -> ChangeBufferConfig {
    ChangeBufferConfig {
        pages_max,
        buffers: Buffered { inserts: true, delete_marks: true, deletes: true },
        when_full: WhenFull::Contract,
        active_contract: false,
        check_extra: 1,
        entry_header: 10,
        entry_column: 4,
        by_arrival: true,
        latches_after: false,
        page_usable: usable,
        directory_halves: 1,
        reorganize_limit: 0,
        join_below: usable / 2,
        free_flushed_every: 4,
        bitmap_pages: 64,
        group_pages: 8,
        group_volume: usable / 10,
        redo: None,
        seed: 1,
    }
}
