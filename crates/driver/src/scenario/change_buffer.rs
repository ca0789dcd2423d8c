//! The change buffer: which changes may wait, how many, and what makes them merge.

use cost_model::Bytes;

use super::kind::{Kind, Word};
use super::param::{Param, When};
use super::values::{Choice, Values, words};

/// The change buffer of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeBuffer {
    /// Its size at most, as a share of the buffer pool.
    pub max_size: f64,
    /// Which changes may wait.
    pub buffers: BufferedChanges,
    /// What happens when it is full.
    pub when_full: FullBuffer,
    /// Whether every insert that splits one of its pages has some entries merged.
    pub active_contract: bool,
    /// Bytes that the check of a leaf's free space adds to each record.
    pub check_extra: Bytes,
    /// Bytes of an entry besides its columns and those for each column.
    pub entry_header: Bytes,
    /// Bytes of an entry for each of its columns.
    pub entry_column: Bytes,
    /// Whether entries of a page are kept in the order in which they came.
    pub by_arrival: bool,
    /// Whether the page after an entry's is latched when it enters.
    pub latches_after: bool,
    /// Bytes of one of its pages that neither entries nor their directory can use.
    pub page_overhead: Bytes,
    /// Every so many changes free what flushes left at the LRU tail; 0: none does.
    pub free_flushed_every: u32,
    /// Pages per second that the background thread has merged.
    pub background: f64,
    /// What is added to that as the buffer goes from half full to full.
    pub background_full: f64,
}

/// Which changes of secondary leaves may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferedChanges {
    /// None.
    None,
    /// New entries.
    Inserts,
    /// Marks that delete entries.
    Deletes,
    /// New entries and marks.
    Changes,
    /// Removals of marked entries.
    Purges,
    /// All of these.
    All,
}

words!(BufferedChanges {
    "none" => None: "None: it is off.";
    "inserts" => Inserts: "New entries.";
    "deletes" => Deletes: "Marks that delete entries.";
    "changes" => Changes: "New entries and marks.";
    "purges" => Purges: "Removals of marked entries by the purge.";
    "all" => All: "All of these.";
});

/// What a full change buffer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FullBuffer {
    /// It has entries merged, and refuses only well beyond its limit.
    Contract,
    /// It refuses.
    Refuse,
}

words!(FullBuffer {
    "contract" => Contract: "It has entries merged; it refuses from 10 pages beyond its limit on.";
    "refuse" => Refuse: "It refuses: the leaf is read.";
});

/// The words of `change_buffer.order`.
const ORDER: &[Word] = &[
    Word { word: "key", doc: "Those of one page in the order of their keys (until 5.1)." },
    Word {
        word: "arrival",
        doc: "Numbered as they come (since 5.5); where inserts alone wait, as before and 3 bytes shorter.",
    },
];

/// Bytes that the number of an entry takes (`MySQL` 5.5 source, ibuf0ibuf.c: counter, operation and
/// flags in place of flags).
const NUMBER: u64 = 3;

const ENTRY: Kind = Kind::Bytes(0, 256);

const BUFFERED: &[When] = &[When::word("engine.kind", &["change-buffer"])];

/// A profile has the rules of its version, whether its scenarios buffer changes or not.
const fn key(key: &'static str, kind: Kind, doc: &'static str) -> Param {
    Param::new(key, kind, doc).when(BUFFERED).carried()
}

pub(super) const PARAMS: &[Param] = &[
    key(
        "change_buffer.max_size",
        Kind::Share(0.0, 0.5),
        "Pages of the change buffer at most, as a share of the pool; 0%: it is off.",
    )
    .preset("50%")
    .source("MySQL 5.1 source, ibuf0ibuf.c: half the pool"),
    key(
        "change_buffer.buffers",
        Kind::Word(BufferedChanges::WORDS),
        "Which changes may wait: the words of innodb_change_buffering.",
    )
    .preset("inserts")
    .source("MySQL 5.1 source, ibuf0ibuf.c"),
    key(
        "change_buffer.when_full",
        Kind::Word(FullBuffer::WORDS),
        "What it does with a change when it has that size.",
    )
    .preset("contract")
    .source("MySQL 5.1 source, ibuf0ibuf.c: at 0, 5 and 10 pages beyond the limit"),
    key(
        "change_buffer.active_contract",
        Kind::Bool,
        "Whether every change that splits one of its pages has some entries merged, at any size.",
    )
    .preset("false")
    .source("MySQL 5.1 source, ibuf0ibuf.c: only at the limit"),
    key(
        "change_buffer.check_extra",
        ENTRY,
        "Bytes that the check of a leaf's free space adds to each record.",
    )
    .preset("1B")
    .source("MySQL 5.1 source, ibuf0ibuf.c: a directory byte"),
    key(
        "change_buffer.entry_header",
        ENTRY,
        "Bytes of an entry besides its columns and those for each column.",
    )
    .preset("20B")
    .source("MySQL 5.1 source, ibuf0ibuf.c: 6 + 4 offsets + space 4, marker 1, page 4, flag 1"),
    key(
        "change_buffer.entry_column",
        Kind::Bytes(1, 256),
        "Bytes of an entry for each of its columns, besides the column.",
    )
    .preset("7B")
    .source("MySQL 5.1 source, ibuf0ibuf.c: offset 1, type 6"),
    key("change_buffer.order", Kind::Word(ORDER), "The order of entries in its tree.")
        .preset("key")
        .source("MySQL 5.1 source, ibuf0ibuf.c"),
    key(
        "change_buffer.latches_after",
        Kind::Bool,
        "Whether an entry that enters has the page after its own latched too, not only the one before.",
    )
    .preset("false")
    .source("MySQL 5.5 source, btr0cur.c: BTR_MODIFY_PREV"),
    key(
        "change_buffer.page_overhead",
        Kind::Bytes(0, 32 << 10),
        "Bytes of one of its pages that neither entries nor their directory can take.",
    )
    .preset("137B")
    .source(
        "MySQL 5.1 source, page0page.h: the old record format, 16,247 of 16,384 bytes are usable",
    ),
    key(
        "change_buffer.free_flushed_every",
        Kind::Count("changes", 0, 1 << 20),
        "Every so many changes free the clean pages that flushes left at the LRU tail; 0: none.",
    )
    .preset("8")
    .source("MySQL 5.1 source, ibuf0ibuf.ic: IBUF_COUNT"),
    key(
        "change_buffer.background",
        Kind::Number(0.0, 100_000.0),
        "Pages per second that the background thread has merged while the server is busy.",
    )
    .preset("0.5")
    .source("MySQL 5.1 source, srv0srv.c: 5 pages every 10 s"),
    key(
        "change_buffer.background_full",
        Kind::Number(0.0, 100_000.0),
        "What is added to that as the buffer goes from half full to full.",
    )
    .preset("0")
    .source("MySQL 5.1 source, srv0srv.c: nothing"),
];

/// The change buffer that the values describe, if the engine has one.
pub(super) fn change_buffer(values: &Values) -> Option<ChangeBuffer> {
    let by_arrival = values.word("change_buffer.order") == Some("arrival");
    // Entries are not numbered where inserts alone wait (MySQL 5.5 source, ibuf0ibuf.c: no_counter).
    let is_numbered = by_arrival && values.word("change_buffer.buffers") != Some("inserts");
    let number = if by_arrival && !is_numbered { NUMBER } else { 0 };
    (values.word("engine.kind") == Some("change-buffer")).then(|| ChangeBuffer {
        max_size: values.get("change_buffer.max_size"),
        buffers: values.get("change_buffer.buffers"),
        when_full: values.get("change_buffer.when_full"),
        active_contract: values.get("change_buffer.active_contract"),
        check_extra: values.get("change_buffer.check_extra"),
        entry_header: Bytes::new(
            values.get::<Bytes>("change_buffer.entry_header").get().saturating_sub(number),
        ),
        entry_column: values.get("change_buffer.entry_column"),
        by_arrival: is_numbered,
        latches_after: values.get("change_buffer.latches_after"),
        page_overhead: values.get("change_buffer.page_overhead"),
        free_flushed_every: values.get("change_buffer.free_flushed_every"),
        background: values.get("change_buffer.background"),
        background_full: values.get("change_buffer.background_full"),
    })
}
