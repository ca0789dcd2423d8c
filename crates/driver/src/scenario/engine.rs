//! The engine: page format, record overhead, split and fill rules, how space is handed out.

use cost_model::Bytes;

use super::kind::{Kind, Word};
use super::param::{Param, When};
use super::values::{Choice, Values, words};

/// The engine of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Engine {
    /// Which engine.
    pub kind: EngineKind,
    /// Bytes of a page.
    pub page_size: Bytes,
    /// Bytes of an empty page that hold neither records nor directory.
    pub page_overhead: Bytes,
    /// Bytes before the columns of each record.
    pub record_header: Bytes,
    /// Further bytes of each record of a clustered index.
    pub record_clustered_extra: Bytes,
    /// Rows that lie apart from all indexes; `None` if the clustered index holds them.
    pub rows_apart: Option<RowsApart>,
    /// Bytes of a slot of the page directory.
    pub directory_slot: Bytes,
    /// Records that share a slot.
    pub directory_records: u32,
    /// Share of a clustered leaf that sequential inserts leave free.
    pub clustered_reserve: f64,
    /// Share of a page that a reorganisation must gain.
    pub reorganize_limit: f64,
    /// Where a full page is cut.
    pub split: Split,
    /// Share of a page below which its records move to a neighbour; 0 for never.
    pub coalesce_below: f64,
    /// Share of a page; secondary leaves with less room move to the head of the LRU list.
    pub keep_below: f64,
    /// Whether such a page may be joined with the one after it although there is one before it.
    pub join_right: bool,
    /// Whether a split reads both neighbours.
    pub sibling_reads: bool,
    /// What changes write to the redo log; `None` without one.
    pub redo: Option<Redo>,
    /// Pages of an extent.
    pub extent_pages: u32,
    /// Single pages at the start of a segment.
    pub fragment_pages: u32,
    /// Share of a segment that stays reserved and unused.
    pub segment_reserve: f64,
}

/// Rows in a file of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowsApart {
    /// Bytes with which an entry of an index says where its row is.
    pub pointer: Bytes,
    /// Bytes of a row before its columns.
    pub header: Bytes,
}

/// Which engine maintains the indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineKind {
    /// A plain B+tree for each index.
    BTree,
    /// The same with a change buffer.
    ChangeBuffer,
    /// A message-buffered tree for each index.
    Fractal,
}

/// Where a full page is cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Split {
    /// At the insertion point if inserts look sequential, in the middle otherwise.
    InnoDb,
    /// Always in the middle.
    Middle,
    /// At a random point.
    Random {
        /// How far from the middle to either side it may lie, as a share of the page.
        spread: f64,
    },
}

/// The redo log as an engine writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redo {
    /// The sizes of its records.
    pub format: RedoWord,
    /// Bytes of a split beyond the records that move.
    pub split: Bytes,
    /// Bytes of a transaction beyond its rows.
    pub transaction: Bytes,
}

/// The sizes of redo records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedoWord {
    /// Those of `MySQL` 5.1.
    MySql51,
    /// Those of the plugin and of `MySQL` 5.5.
    MySql55,
    /// Those of `MariaDB` 10.11.
    MariaDb1011,
}

/// The words of `engine.redo.format`.
enum RedoChoice {
    None,
    MySql51,
    MySql55,
    MariaDb1011,
}

/// The words of `engine.split`; a random split has a setting of its own.
enum SplitWord {
    InnoDb,
    Middle,
    Random,
}

words!(EngineKind {
    "btree" => BTree: "A plain B+tree for each index: every change reads its leaf.";
    "change-buffer" => ChangeBuffer: "The same, and changes of absent secondary leaves may wait.";
    "fractal" => Fractal: "A message-buffered tree for each index: changes travel down in batches.";
});

words!(SplitWord {
    "innodb" => InnoDb: "At the insertion point after a sequential insert, else in the middle.";
    "middle" => Middle: "In the middle.";
    "random" => Random: "At a point drawn at random about the middle.";
});

words!(RedoChoice {
    "none" => None: "No redo log.";
    "mysql-5.1" => MySql51: "Each insert describes its index; the built-in InnoDB of MySQL 5.1.";
    "mysql-5.5" => MySql55: "The same, and the transaction's id on secondary leaves; the plugin and MySQL 5.5.";
    "mariadb-10.11" => MariaDb1011: "Physical records without descriptions; a checksum each.";
});

const SHARE: Kind = Kind::Share(0.0, 0.5);
const RECORD: Kind = Kind::Bytes(0, 1 << 10);

/// The words of `engine.rows`.
const ROWS: &[Word] = &[
    Word { word: "clustered", doc: "In the leaves of the first index." },
    Word { word: "apart", doc: "In a file of their own, one behind the other; all indexes point." },
];

const APART: &[When] = &[When::word("engine.rows", &["apart"])];

pub(super) const PARAMS: &[Param] = &[
    Param::new("engine.kind", Kind::Word(EngineKind::WORDS), "Which engine maintains the indexes."),
    Param::new("engine.page_size", Kind::Bytes(1 << 10, 64 << 10), "Bytes of a page.")
        .preset("16KiB")
        .source("MySQL 5.1 source: 16,384 bytes"),
    Param::new("engine.rows", Kind::Word(ROWS), "Where the rows lie.")
        .preset("clustered")
        .source("MySQL 5.1 source, dict0dict.c"),
    Param::new(
        "engine.clustered_reserve",
        SHARE,
        "Share of a leaf that sequential inserts leave free, in the clustered index and in the tree \
         of a change buffer.",
    )
    .preset("1/16")
    .source("MySQL 5.1 source, dict0dict.ic"),
    Param::new(
        "engine.reorganize_limit",
        SHARE,
        "Share of the page that a reorganisation must free to be tried instead of a split.",
    )
    .preset("1/32")
    .source("MySQL 5.1 source, btr0cur.c"),
    Param::new("engine.split", Kind::Word(SplitWord::WORDS), "Where a full page is cut.")
        .preset("innodb")
        .source("MySQL 5.1 source, btr0btr.c"),
    Param::new(
        "engine.split_spread",
        Kind::Share(0.01, 0.49),
        "How far from the middle to either side a random split point may lie.",
    )
    .preset("25%")
    .assumed("between a quarter and three quarters of the page")
    .when(&[When::word("engine.split", &["random"])]),
    Param::new(
        "engine.coalesce_below",
        SHARE,
        "Share of a page below which its records move to a neighbour; 0%: only empty pages go.",
    )
    .preset("50%")
    .source("MySQL 5.1 source, btr0cur.ic"),
    Param::new(
        "engine.keep_below",
        SHARE,
        "Share of a page; a secondary leaf that an insert leaves with less room moves to the head \
         of the LRU list; 0%: none does.",
    )
    .preset("1/32")
    .source("MySQL 5.1 source, ibuf0ibuf.ic: ibuf_update_free_bits_if_full"),
    Param::new(
        "engine.join_right",
        Kind::Bool,
        "Whether such a page may go to the one after it if the one before it has no room.",
    )
    .preset("false")
    .source("MySQL 5.1 source, btr0btr.c: only if there is none before it"),
    Param::new("engine.sibling_reads", Kind::Bool, "Whether a split reads both neighbours.")
        .preset("true")
        .source("MySQL 5.1 source, btr0cur.c"),
    Param::new(
        "engine.redo.format",
        Kind::Word(RedoChoice::WORDS),
        "What changes write to the redo log: differences from the neighbouring record.",
    )
    .preset("mysql-5.1")
    .source("MySQL 5.1 source, mtr0log.c, page0cur.c, trx0rec.c"),
    Param::new(
        "engine.redo.split",
        RECORD,
        "Redo bytes of a split or join beyond the records that move.",
    )
    .preset("150B")
    .assumed("allocation, links, page headers and separator; 100 to 250 bytes of some 7,000"),
    Param::new(
        "engine.redo.transaction",
        RECORD,
        "Redo bytes of a transaction beyond its rows: undo header, commit; without the XID that a binary log makes it write.",
    )
    .preset("40B")
    .source("counted in logs written by MySQL 5.5.9 and 5.5.34: 9 bytes of undo header, 31 of its state and lists"),
    Param::new("engine.extent_pages", Kind::Count("pages", 1, 64), "Pages of an extent.")
        .preset("64")
        .source("MySQL 5.1 source, fsp0fsp.c"),
    Param::new(
        "engine.fragment_pages",
        Kind::Count("pages", 0, 1 << 16),
        "Single pages a segment takes before its first extent.",
    )
    .preset("32")
    .source("MySQL 5.1 source, fsp0fsp.c"),
    Param::new(
        "engine.segment_reserve",
        SHARE,
        "Share of a segment's pages that stays reserved and unused before it takes an extent.",
    )
    .preset("1/8")
    .source("MySQL 5.1 source, fsp0fsp.c"),
    Param::new(
        "engine.page.overhead",
        Kind::Bytes(0, 32 << 10),
        "Bytes of an empty page that hold neither records nor their directory.",
    )
    .preset("132B")
    .source("MySQL 5.1 source, page0page.h: 16,252 of 16,384 bytes are usable"),
    Param::new("engine.record.header", RECORD, "Bytes before the columns of each record.")
        .preset("5B")
        .source("MySQL 5.1 source, rem0rec.h: compact format"),
    Param::new(
        "engine.record.clustered_extra",
        RECORD,
        "Further bytes of each record of a clustered leaf: transaction id and roll pointer.",
    )
    .preset("13B")
    .source("MySQL 5.1 source, data0type.h: 6 + 7"),
    Param::new(
        "engine.record.row_pointer",
        Kind::Bytes(2, 8),
        "Bytes with which an index entry says where its row is.",
    )
    .preset("6B")
    .source("MySQL 5.1 source, mysqld.cc: myisam_data_pointer_size")
    .when(APART),
    Param::new(
        "engine.record.row_header",
        RECORD,
        "Bytes of a row before its columns: null and delete bits.",
    )
    .preset("1B")
    .source("MySQL 5.1 source, mi_create.c: 1 or more bytes of bits")
    .when(APART),
    Param::new("engine.record.directory_slot", RECORD, "Bytes of a slot of the page directory.")
        .preset("2B")
        .source("MySQL 5.1 source, page0page.h"),
    Param::new(
        "engine.record.directory_records",
        Kind::Count("records", 1, 64),
        "Records for which space checks charge one directory slot.",
    )
    .preset("4")
    .source("MySQL 5.1 source, page0page.ic: half a byte a record"),
];

impl Engine {
    pub(super) fn from_values(values: &Values) -> Self {
        Self {
            kind: values.get("engine.kind"),
            page_size: values.get("engine.page_size"),
            page_overhead: values.get("engine.page.overhead"),
            record_header: values.get("engine.record.header"),
            record_clustered_extra: values.get("engine.record.clustered_extra"),
            rows_apart: values
                .get::<Option<Bytes>>("engine.record.row_pointer")
                .zip(values.get("engine.record.row_header"))
                .map(|(pointer, header)| RowsApart { pointer, header }),
            directory_slot: values.get("engine.record.directory_slot"),
            directory_records: values.get("engine.record.directory_records"),
            clustered_reserve: values.get("engine.clustered_reserve"),
            reorganize_limit: values.get("engine.reorganize_limit"),
            split: match values.get("engine.split") {
                SplitWord::InnoDb => Split::InnoDb,
                SplitWord::Middle => Split::Middle,
                SplitWord::Random => Split::Random { spread: values.get("engine.split_spread") },
            },
            coalesce_below: values.get("engine.coalesce_below"),
            keep_below: values.get("engine.keep_below"),
            join_right: values.get("engine.join_right"),
            sibling_reads: values.get("engine.sibling_reads"),
            redo: redo(values),
            extent_pages: values.get("engine.extent_pages"),
            fragment_pages: values.get("engine.fragment_pages"),
            segment_reserve: values.get("engine.segment_reserve"),
        }
    }

    /// Bytes of an empty page that records and their directory can take.
    pub const fn page_usable(&self) -> Bytes {
        Bytes::new(self.page_size.get() - self.page_overhead.get())
    }
}

fn redo(values: &Values) -> Option<Redo> {
    let format = match values.get("engine.redo.format") {
        RedoChoice::None => return None,
        RedoChoice::MySql51 => RedoWord::MySql51,
        RedoChoice::MySql55 => RedoWord::MySql55,
        RedoChoice::MariaDb1011 => RedoWord::MariaDb1011,
    };
    Some(Redo {
        format,
        split: values.get("engine.redo.split"),
        transaction: values.get("engine.redo.transaction"),
    })
}
