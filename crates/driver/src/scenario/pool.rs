//! The buffer pool: its size, and the rules by which pages come, stay and leave.

use cost_model::{
    Bytes, MakeYoung, Margin, MarginCounts, Neighbours, PoolConfig, ReadAheadConfig, SimDuration,
};

use super::kind::Kind;
use super::param::{Param, When};
use super::values::{Choice, Values, words};

/// The buffer pool of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Pool {
    /// Bytes of all page frames, at the scale of the run.
    pub size: Bytes,
    /// Independent parts.
    pub instances: u32,
    /// How files are read and written.
    pub io: FileIo,
    /// Share of the LRU list that is its old part; 0 for plain LRU.
    pub old_fraction: f64,
    /// Pages below which a list has no old part.
    pub old_len_min: u32,
    /// How long a page of the old part stays there after its first use, at the scale of the run.
    pub old_blocks_time: SimDuration,
    /// Share of an instance's frames that are evicted before a page moves to the head again.
    pub young_distance: f64,
    /// Which requests may move a page to the head.
    pub make_young: MakeYoung,
    /// Whether the read of a leaf requests its bitmap page.
    pub reads_check_bitmap: bool,
    /// When readers have the tail of the list written.
    pub margin: Margin,
    /// What is written along with a page.
    pub neighbours: Neighbours,
    /// Whether that happens on devices that do not turn, too.
    pub neighbours_on_flash: bool,
    /// Pages of the aligned area that neighbours come from.
    pub area_pages: u32,
    /// How pages are read that nobody waits for.
    pub read_ahead: ReadAheadConfig,
}

/// How files are read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileIo {
    /// Past the operating system's page cache.
    Direct,
    /// Through it.
    Buffered,
}

words!(FileIo {
    "direct" => Direct: "Past the page cache of the operating system (O_DIRECT).";
    "buffered" => Buffered: "Through it, so that it is a second level of cache.";
});

/// The words of `pool.margin_counts`; a margin of free frames has settings of its own.
enum MarginWord {
    FreeAndClean,
    Free,
}

words!(MarginWord {
    "free-and-clean" => FreeAndClean: "Free frames and clean pages at the tail (until 5.5).";
    "free" => Free: "Free frames alone, kept by the page cleaner (since 5.6).";
});

const FREE: &[When] = &[When::word("pool.margin_counts", &["free"])];

words!(MakeYoung {
    "any" => Any: "All.";
    "search" => Search: "All but those of bitmap pages and of the sibling before a leaf (MariaDB 10.11).";
});

words!(Neighbours {
    "none" => None: "No other page.";
    "area" => Area: "All dirty pages of the aligned area.";
    "contiguous" => Contiguous: "Dirty pages of the area adjacent to it without a gap.";
});

const PAGES: u64 = 1 << 32;

pub(super) const PARAMS: &[Param] = &[
    Param::new(
        "pool.size",
        Kind::Bytes(1 << 10, 64 << 40),
        "Bytes of page frames, all instances together.",
    )
    .shrinks(),
    Param::new(
        "pool.instances",
        Kind::Count("instances", 1, 64),
        "Independent parts with lists of their own; an area of pages stays in one.",
    )
    .preset("1")
    .source("Percona Server 5.5 source, buf0buf: instances came with 5.5"),
    Param::new("pool.io", Kind::Word(FileIo::WORDS), "How files are read and written.")
        .preset("direct")
        .assumed("the servers of the articles; the engine's own default is buffered"),
    Param::new(
        "pool.old_fraction",
        Kind::Share(0.0, 0.95),
        "Share of the LRU list at its tail where pages that are read enter; 0%: plain LRU.",
    )
    .preset("3/8")
    .source("MySQL 5.1 source, buf0lru.c"),
    Param::new(
        "pool.old_len_min",
        Kind::Count("pages", PoolConfig::OLD_LEN_MIN as u64, PAGES - 1),
        "A list shorter than this has no old part.",
    )
    .preset("80")
    .source("MySQL 5.1 source, buf0lru.h"),
    Param::new(
        "pool.old_blocks_time",
        Kind::Duration(0, 3_600_000_000_000),
        "How long after its first use a page of the old part stays there; 0ms: it moves at once.",
    )
    .preset("0ms")
    .source("InnoDB plugin 1.0.6 source, ha_innodb.cc: its default; the built-in has no such time")
    .shrinks(),
    Param::new(
        "pool.young_distance",
        Kind::Share(0.0, 1.0),
        "Share of the pool that is evicted before a page used again moves to the head again.",
    )
    .preset("25%")
    .source("MySQL 5.1 source, buf0buf.ic"),
    Param::new(
        "pool.make_young",
        Kind::Word(MakeYoung::WORDS),
        "Which requests may move a page to the head.",
    )
    .preset("any")
    .source("MySQL 5.1 source, buf0buf.c: buf_page_get_gen"),
    Param::new(
        "pool.reads_check_bitmap",
        Kind::Bool,
        "Whether the read of a leaf requests the page of the change buffer's bitmap too; nothing but the request is modelled where nothing waits for the leaf.",
    )
    .preset("true")
    .source("MySQL 5.1 source, buf0buf.c: buf_page_io_complete, whatever is buffered"),
    Param::new(
        "pool.margin_scan",
        Kind::Count("pages", 0, 1 << 31),
        "Pages at the tail in which replaceable ones are counted after each read.",
    )
    .preset("133")
    .source("MySQL 5.1 source, buf0flu.h: 5 + 2 x 64"),
    Param::new(
        "pool.margin_low",
        Kind::Count("pages", 0, 1 << 20),
        "Pages are written if fewer than this are replaceable; 0: never.",
    )
    .preset("69")
    .source("MySQL 5.1 source, buf0flu.h: 5 + 64"),
    Param::new(
        "pool.margin_high",
        Kind::Count("pages", 0, 1 << 20),
        "As many pages are written as are missing to this.",
    )
    .preset("186")
    .source("MySQL 5.1 source, buf0flu.h: 69 + 117"),
    Param::new(
        "pool.margin_counts",
        Kind::Word(MarginWord::WORDS),
        "Which pages count as replaceable.",
    )
    .preset("free-and-clean")
    .source("MySQL 5.1 source, buf0flu.c"),
    Param::new(
        "pool.margin_writes",
        Kind::Count("pages", 1, 1 << 20),
        "Pages that one batch of the page cleaner writes at the tail at most.",
    )
    .preset("1024")
    .source("MySQL 5.6 source, buf0flu.cc: innodb_lru_scan_depth")
    .when(FREE),
    Param::new(
        "pool.margin_frees",
        Kind::Bool,
        "Whether a page written there is freed at once; else it stays, clean, for the next batch.",
    )
    .preset("true")
    .source("MySQL 5.6 source, buf0buf.cc: a page of an LRU flush is evicted when it is written")
    .when(FREE),
    Param::new(
        "pool.flush_neighbours",
        Kind::Word(Neighbours::WORDS),
        "Which other dirty pages of its area are written along with a page.",
    )
    .preset("area")
    .source("MySQL 5.1 source, buf0flu.c"),
    Param::new(
        "pool.neighbours_on_flash",
        Kind::Bool,
        "Whether that happens on devices that do not turn, too.",
    )
    .preset("true")
    .source("MySQL 5.1 source, buf0flu.c: it does not ask"),
    Param::new(
        "pool.area_pages",
        Kind::Count("pages", 1, 1 << 10),
        "Pages of an area: where neighbours come from, and what one instance keeps together.",
    )
    .preset("64")
    .source("MySQL 5.1 source, buf0flu.c"),
    Param::new(
        "pool.read_threads",
        Kind::Count("threads", 0, 64),
        "Threads that read pages nobody waits for, one request at a time; 0: the system takes all (native asynchronous I/O).",
    )
    .preset("1")
    .source("MySQL 5.1 source, srv0start.c: one on Linux, whatever is set"),
    Param::new(
        "pool.read_queue",
        Kind::Count("pages", 1, 1 << 20),
        "Pages for each such thread that may wait or be read; who asks for more waits.",
    )
    .preset("256")
    .source("MySQL 5.1 source, srv0start.c: 8 x SRV_N_PENDING_IOS_PER_THREAD"),
];

impl Pool {
    pub(super) fn from_values(values: &Values) -> Self {
        Self {
            size: values.get("pool.size"),
            instances: values.get("pool.instances"),
            io: values.get("pool.io"),
            old_fraction: values.get("pool.old_fraction"),
            old_len_min: values.get("pool.old_len_min"),
            old_blocks_time: values.get("pool.old_blocks_time"),
            young_distance: values.get("pool.young_distance"),
            make_young: values.get("pool.make_young"),
            reads_check_bitmap: values.get("pool.reads_check_bitmap"),
            margin: Margin {
                scan: values.get("pool.margin_scan"),
                low: values.get("pool.margin_low"),
                high: values.get("pool.margin_high"),
                counts: match values.get("pool.margin_counts") {
                    MarginWord::FreeAndClean => MarginCounts::FreeAndClean,
                    MarginWord::Free => MarginCounts::Free {
                        writes_max: values.get("pool.margin_writes"),
                        frees_written: values.get("pool.margin_frees"),
                    },
                },
            },
            neighbours: values.get("pool.flush_neighbours"),
            neighbours_on_flash: values.get("pool.neighbours_on_flash"),
            area_pages: values.get("pool.area_pages"),
            read_ahead: ReadAheadConfig {
                threads: values.get("pool.read_threads"),
                queue_pages: values.get("pool.read_queue"),
                join_pages: values.get("flush.join_pages"),
            },
        }
    }

    /// Whole pages of `page_size` in all instances together, at the scale of the run.
    pub const fn pages(&self, page_size: Bytes) -> u64 {
        self.size.whole(page_size)
    }
}
