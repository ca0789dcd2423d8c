//! The rules of a buffer pool, as settings.

/// What a buffer pool is and by which rules it keeps pages.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolConfig {
    /// Page frames of all instances together.
    pub frames: u32,
    /// Independent parts, each with lists of its own.
    pub instances: u32,
    /// Share of the LRU list that is its old part, where pages that are read enter; 0 for plain
    /// LRU.
    pub old_fraction: f64,
    /// The list has no old part while it is shorter than this many pages.
    pub old_len_min: u32,
    /// A page in the old part is not moved to the head before this many milliseconds have passed
    /// since its first use; 0: its first use moves it.
    pub old_blocks_ms: u32,
    /// A page is moved to the head again only after this share of the instance's frames was
    /// evicted since it was moved there last.
    pub young_distance: f64,
    /// Which requests may move a page to the head.
    pub make_young: MakeYoung,
    /// Whether the read of a leaf requests one page more: the bitmap that says what waits for it.
    pub reads_check_bitmap: bool,
    /// When readers flush the tail of the list.
    pub margin: Margin,
    /// What is written along with a page.
    pub neighbours: Neighbours,
    /// Pages in the aligned area that neighbours come from, and that one instance keeps together.
    pub area_pages: u32,
}

impl PoolConfig {
    /// The least [`old_len_min`](Self::old_len_min): the young part has its least length then.
    pub const OLD_LEN_MIN: u32 = super::list::OLD_LEN_MIN;
}

/// The LRU flush margin: after a read, and after a page is created, the thread looks at the tail
/// of the list and has pages written if too few could be replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Margin {
    /// Pages at the tail that are looked at.
    pub scan: u32,
    /// Flush if fewer than this many are replaceable; 0 switches the margin off.
    pub low: u32,
    /// Flush as many as are missing to this.
    pub high: u32,
    /// What counts as replaceable.
    pub counts: MarginCounts,
}

impl Margin {
    /// Whether a page that a flush of the tail has written is freed at once.
    pub(crate) fn frees_written(&self) -> bool {
        matches!(self.counts, MarginCounts::Free { frees_written: true, .. })
    }
}

/// What counts as replaceable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarginCounts {
    /// Free frames and clean pages at the tail (until 5.5).
    FreeAndClean,
    /// Free frames only (5.6 and later, page cleaner): from the tail on, clean pages are freed and
    /// dirty ones written until there are enough.
    Free {
        /// Pages that a batch writes at most.
        writes_max: u32,
        /// Whether a page that was written is freed at once (until 5.7), or stays where it is,
        /// clean, for the next batch.
        frees_written: bool,
    },
}

/// Which requests of a page may move it to the head of the LRU list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MakeYoung {
    /// All.
    Any,
    /// All but those of bitmap pages and of the sibling before a leaf (`MariaDB` 10.11 source, btr0cur.cc: `btr_cur_t::search_leaf`).
    Search,
}

/// Which other dirty pages of its area are written along with a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbours {
    /// None.
    None,
    /// All that may be written.
    Area,
    /// Those adjacent to it without a gap.
    Contiguous,
}
