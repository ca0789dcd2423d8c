//! The state of a change buffer: entries, their tree, the bitmap pages, counters.

use std::collections::VecDeque;

use btree::{OtherSegment, PageFormat};
use cost_model::{Draw, FrameId, Machine, PageId, Purpose, SimThread, Step};
use index::{BufferStats, PageUse};

use crate::config::{ChangeBufferConfig, class_bytes};
use crate::pending::Pending;
use crate::runs::{LeafId, Moved, Run, Runs, Sizes};

/// See the module's documentation.
pub(crate) struct Buffer {
    pub(crate) config: ChangeBufferConfig,
    pub(crate) pending: Pending,
    pub(crate) runs: Runs,
    pub(crate) stats: BufferStats,
    pub(crate) draw: Draw,
    /// Where its pages lie.
    pub(crate) segment: OtherSegment,
    /// Bytes of an entry of each index, and those of it that are logged.
    pub(crate) entry_bytes: Vec<u32>,
    pub(crate) logged_bytes: Vec<u32>,
    /// Bytes that are logged of an entry of each buffered index, and all of their bytes.
    logged_share: (u64, u64),
    /// Bytes of a record of each index, which the check of free space reckons with.
    pub(crate) record_bytes: Vec<u32>,
    /// For each index, by the records of a leaf: what the bitmap says of its free space, in bytes.
    classes: Vec<Vec<u32>>,
    /// Pages that are ready for the tree to grow, the next one first: half as many as the tree has.
    pub(crate) free_pages: VecDeque<PageId>,
    /// The bitmap page of each group of data pages.
    bitmaps: Vec<PageId>,
    /// Operations that could be buffered so far.
    pub(crate) operations: u64,
}

/// Bytes of an entry's counter, operation and flag, of which the last may differ from those of the
/// entry before it.
const AFTER_COUNTER: u32 = 3;

/// Bytes of a child page number and its marks in an internal page.
const CHILD_POINTER: u32 = 5;

/// What a buffer needs to know of an index.
pub(crate) struct IndexFacts {
    /// Whether its changes may wait at all.
    pub(crate) is_buffered: bool,
    /// Columns of an entry, and the bytes of all of them.
    pub(crate) columns: u32,
    pub(crate) column_bytes: u32,
    /// Bytes of a record on a leaf.
    pub(crate) record_bytes: u32,
    /// Bytes that an insert could use on a leaf, by the records it holds.
    pub(crate) rooms: Vec<i64>,
}

/// Where a buffer lies.
pub(crate) struct Place {
    pub(crate) segment: OtherSegment,
    pub(crate) root: PageId,
    /// Data pages that are expected.
    pub(crate) data_pages: usize,
}

impl Buffer {
    /// Rounds of [`prefetch`](Self::prefetch).
    pub(crate) const PREFETCH_ROUNDS: u32 = 5;

    /// Loads the processor's caches with what another entry for a leaf will need, each round with
    /// what the one before has loaded the addresses of. Leaves for which nothing waits are likely
    /// in the pool.
    #[inline]
    pub(crate) fn prefetch(&self, machine: &Machine, leaf: PageId, round: u32) {
        if 0 < round && self.pending.count(leaf) == 0 {
            return;
        }
        if round < 2 {
            self.pending.prefetch(leaf, round);
            self.runs.prefetch(leaf, round);
            return;
        }
        // A new entry latches the page before its own, too.
        let own = self.runs.last_of(leaf);
        let before = self.runs.before(own);
        if round < 4 {
            machine.prefetch(self.runs.page(own), FrameId::NONE, round - 1);
        }
        match before {
            Some(before) if round == 2 => self.runs.prefetch_leaf(before),
            Some(before) => machine.prefetch(self.runs.page(before), FrameId::NONE, round - 2),
            None => {}
        }
    }

    pub(crate) fn new(
        config: ChangeBufferConfig,
        indexes: &[IndexFacts],
        format: &PageFormat,
        join_right: bool,
        Place { segment, root, data_pages }: Place,
    ) -> Self {
        // Entries of a page that follow each other begin with the same bytes: all up to the columns,
        // or up to the counter that tells the order in which they came.
        let logged = |index: &IndexFacts| {
            let types = (config.entry_column - 1) * index.columns;
            index.column_bytes + if config.by_arrival { AFTER_COUNTER + types } else { 0 }
        };
        let entry = |index: &IndexFacts| {
            config.entry_header + config.entry_column * index.columns + index.column_bytes
        };
        let entry_bytes: Vec<u32> = indexes.iter().map(entry).collect();
        let logged_bytes = indexes.iter().map(logged).collect();
        let sum = |bytes: &dyn Fn(&IndexFacts) -> u32| {
            let buffered = indexes.iter().filter(|index| index.is_buffered);
            buffered.map(|index| u64::from(bytes(index))).sum()
        };
        let logged_share = (sum(&logged), sum(&entry));
        let largest = entry_bytes.iter().copied().max().unwrap_or(1);
        let fan_out =
            2 * config.page_usable / (2 * (largest + CHILD_POINTER) + config.directory_halves);
        let sizes = Sizes {
            usable: config.page_usable,
            directory_halves: config.directory_halves,
            reorganize_limit: config.reorganize_limit,
            reserve: format.clustered_reserve,
            join_below: config.join_below,
            join_right,
            fan_out: fan_out.max(3),
        };
        let classes = |index: &IndexFacts| {
            index.rooms.iter().map(|room| class_bytes(*room, format.page_bytes)).collect()
        };
        Self {
            pending: Pending::new(data_pages),
            runs: Runs::new(sizes, root, data_pages),
            stats: BufferStats::default(),
            draw: Draw::new(config.seed, 1 << 33),
            segment,
            entry_bytes,
            logged_bytes,
            logged_share,
            record_bytes: indexes.iter().map(|index| index.record_bytes).collect(),
            classes: indexes.iter().map(classes).collect(),
            free_pages: VecDeque::new(),
            bitmaps: Vec::new(),
            operations: 0,
            config,
        }
    }

    /// What waits for a data page, as its tree sees it.
    pub(crate) fn run(&self, page: u32) -> Run {
        run(&self.pending, &self.entry_bytes, page)
    }

    /// Bytes that the bitmap says are free on a leaf of an index with so many records.
    #[inline]
    pub(crate) fn class(&self, index: usize, records: u16) -> u32 {
        self.classes[index].get(usize::from(records)).copied().unwrap_or(0)
    }

    /// Bytes of records that will be inserted into a page, as the check of its free space counts them.
    pub(crate) fn volume(&self, page: PageId) -> u32 {
        match self.pending.index(page.0) {
            Some(index) => {
                let each = self.record_bytes[usize::from(index)] + self.config.check_extra;
                u32::from(self.pending.inserts(page)) * each
            }
            None => 0,
        }
    }

    /// The bitmap page that describes a data page, if it exists.
    pub(crate) fn bitmap(&self, page: PageId) -> Option<PageId> {
        self.bitmaps.get((page.0 / self.config.bitmap_pages) as usize).copied()
    }

    /// What a page of the buffer is used for, for reports: they are searched one by one.
    pub(crate) fn locate(&self, page: PageId) -> Option<PageUse> {
        if self.bitmaps.contains(&page) {
            return Some(PageUse::Bitmap);
        }
        let is_own = self.runs.has(page) || self.free_pages.contains(&page);
        is_own.then_some(PageUse::ChangeBuffer)
    }

    /// Data pages that bitmap pages exist for.
    pub(crate) fn described(&self) -> u32 {
        self.bitmaps.len() as u32 * self.config.bitmap_pages
    }

    pub(crate) fn add_bitmap(&mut self, page: PageId) {
        self.bitmaps.push(page);
    }

    /// Pages that must be ready before a page of the tree may be split.
    pub(crate) fn reserve_pages(&self) -> usize {
        (self.runs.pages() / 2 + 3 * (self.runs.height() + 1)) as usize
    }

    /// Fetches the internal pages of the buffer's tree above a leaf, and uses them.
    pub(crate) fn use_above(
        &self,
        machine: &mut Machine,
        thread: &mut SimThread,
        leaf: LeafId,
    ) -> Step {
        for page in self.runs.above(leaf) {
            let frame = machine.fetch(thread, page, Purpose::BufferRead)?;
            machine.touch(thread, frame);
        }
        Ok(())
    }

    /// Bytes of entries that move, without those that each shares with the entry before: all up
    /// to the columns, or to the counter. The first of a page shares less; there is one in many.
    pub(crate) fn logged_of(&self, moved: Moved) -> u32 {
        let (logged, all) = self.logged_share;
        (u64::from(moved.bytes) * logged / all.max(1)) as u32
    }

    /// Bytes of redo that something logs; 0 without a log.
    pub(crate) fn log(&self, machine: &mut Machine, bytes: impl Fn(&crate::BufferRedo) -> u32) {
        if let Some(redo) = &self.config.redo {
            machine.log(u64::from(bytes(redo)));
        }
    }
}

/// See [`Buffer::run`].
pub(crate) fn run(pending: &Pending, entry_bytes: &[u32], page: u32) -> Run {
    match pending.index(page) {
        Some(index) => Run {
            entries: u32::from(pending.count(PageId(page))),
            bytes: entry_bytes[usize::from(index)],
        },
        None => Run::default(),
    }
}
