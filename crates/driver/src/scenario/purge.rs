//! Deletes that only mark: the undo log, and the purge that removes what is marked.

use cost_model::{Bytes, SimDuration};

use super::kind::{Kind, Word};
use super::param::{Param, When};
use super::values::{Choice, Values, words};

/// What becomes of entries that deletes have marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Purge {
    /// Bytes of the undo record of a deleted row.
    pub undo_delete: Bytes,
    /// Whether the undo records of inserts wait for the purge too.
    pub keeps_inserts: bool,
    /// Who purges.
    pub by: PurgeBy,
    /// Time between two looks whether there is something to do.
    pub period: SimDuration,
}

/// Who removes marked entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PurgeBy {
    /// Nobody.
    Nobody,
    /// The thread that writes back.
    Master,
    /// A thread of its own that looks at the ticks of a clock.
    Thread,
    /// A thread of its own that commits wake.
    Woken,
}

words!(PurgeBy {
    "nobody" => Nobody: "Nobody: what is marked stays.";
    "master" => Master: "The background thread, which does nothing else until all is done; it looks a period after that.";
    "thread" => Thread: "A thread of its own that looks at each tick of a clock, unless a round is under way.";
    "woken" => Woken: "A thread of its own; a commit ends its pause.";
});

/// The words of `engine.deletes`.
const DELETES: &[Word] = &[
    Word { word: "marked", doc: "They mark entries; a purge removes them later." },
    Word { word: "physical", doc: "They remove entries at once; there is no undo log." },
];

/// The words of `engine.undo.inserts`.
const INSERTS: &[Word] = &[
    Word { word: "freed", doc: "It is freed when the transaction ends." },
    Word { word: "kept", doc: "It waits for the purge like that of deletes." },
];

const TREES: When = When::word("engine.kind", &["btree", "change-buffer"]);
const MARKED: &[When] = &[TREES, When::word("engine.deletes", &["marked"])];
const TIMED: &[When] = &[
    TREES,
    When::word("engine.deletes", &["marked"]),
    When::word("engine.purge.by", &["master", "thread"]),
];

const SECOND: u64 = 1_000_000_000;

pub(super) const PARAMS: &[Param] = &[
    Param::new("engine.deletes", Kind::Word(DELETES), "What a delete does to an entry.")
        .preset("marked")
        .source("MySQL 5.1 source, row0upd.c")
        .when(&[TREES]),
    Param::new(
        "engine.undo.delete_record",
        Kind::Bytes(1, 1 << 10),
        "Bytes of the undo record of a deleted row.",
    )
    .preset("64B")
    .assumed("60 to 70 bytes for iiBench: header, primary key, all indexed columns (trx0rec.c)")
    .when(MARKED),
    Param::new(
        "engine.undo.inserts",
        Kind::Word(INSERTS),
        "What becomes of the undo log of inserts.",
    )
    .preset("freed")
    .source("MySQL 5.1 source, trx0undo.c: trx_undo_insert_cleanup")
    .when(MARKED),
    Param::new("engine.purge.by", Kind::Word(PurgeBy::WORDS), "Who removes marked entries.")
        .preset("master")
        .source("MySQL 5.1 source, srv0srv.c")
        .when(MARKED),
    Param::new(
        "engine.purge.period",
        Kind::Duration(1_000, 1_000 * SECOND),
        "Time between two looks whether there is something to purge.",
    )
    .preset("10s")
    .source("MySQL 5.1 source, srv0srv.c: once in ten seconds, until nothing is left")
    .when(TIMED)
    .shrinks(),
];

/// The purge of an engine, if its deletes need one.
pub(super) fn purge(values: &Values) -> Option<Purge> {
    let by = values.get::<Option<PurgeBy>>("engine.purge.by")?;
    Some(Purge {
        undo_delete: values.get("engine.undo.delete_record"),
        keeps_inserts: values.word("engine.undo.inserts") == Some("kept"),
        by,
        period: values.get::<Option<SimDuration>>("engine.purge.period").unwrap_or_default(),
    })
}
