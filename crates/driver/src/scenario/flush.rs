//! Writing back: who writes dirty pages, when, and on which way to the device.

use cost_model::{
    Adaptive, BackgroundConfig, LogAtCommit, LruWriter, SimDuration, WriteBackConfig,
};

use super::Scenario;
use super::error::ScenarioError;
use super::kind::{Kind, Word};
use super::param::{Param, When};
use super::values::{Choice, Values, words};

const SECOND: u64 = 1_000_000_000;
const PAGES_PER_SECOND: Kind = Kind::Count("pages per second", 1, 1_000_000);

words!(LruWriter {
    "reader" => Reader: "Whoever finds it short, and who also waits for another's batch.";
    "reader-alone" => ReaderAlone: "Whoever finds it short, unless another does so already.";
    "cleaner" => Cleaner: "The page cleaner, which is woken for it.";
});

/// The words of `flush.background`.
const BACKGROUND: &[Word] = &[
    Word { word: "none", doc: "No thread: pages are written when their frames are needed." },
    Word { word: "master", doc: "The master thread: also some pages every tenth tick." },
    Word { word: "cleaner", doc: "The page cleaner: also keeps frames free (since 5.6)." },
];

/// The words of `flush.adaptive`.
const ADAPTIVE: &[Word] = &[
    Word { word: "off", doc: "By nothing: clients write when the log is nearly full." },
    Word { word: "native", doc: "By the redo rate of the last 20 ticks (plugin, 5.5)." },
    Word { word: "estimate", doc: "By each page's remaining age (Percona's \"estimate\")." },
    Word { word: "keep-average", doc: "By the redo of a tenth of a second (Percona's)." },
    Word { word: "age", doc: "By the age to the power of 1.5 above a low-water mark (since 5.6)." },
];

const THREAD: &[When] = &[When::word("flush.background", &["master", "cleaner"])];
const BY_AGE: &[When] = &[
    When::word("flush.background", &["master", "cleaner"]),
    When::word("flush.adaptive", &["age"]),
];

pub(super) const PARAMS: &[Param] = &[
    Param::new(
        "flush.doublewrite_pages",
        Kind::Count("pages", 0, 1 << 12),
        "Pages of the doublewrite buffer, written and synced before a page goes to its place; 0: none.",
    )
    .preset("128")
    .source("MySQL 5.1 source, trx0sys.c: two blocks of 64 pages"),
    Param::new(
        "flush.write_threads",
        Kind::Count("threads", 0, 64),
        "Threads that write one request at a time; 0: the system takes all (native asynchronous I/O).",
    )
    .preset("1")
    .source("MySQL 5.1 source, srv0start.c: one on Linux, whatever is set"),
    Param::new(
        "flush.join_pages",
        Kind::Count("pages", 1, 1 << 10),
        "Adjacent pages that a thread writes, or reads ahead, as one request.",
    )
    .preset("64")
    .source("MySQL 5.1 source, os0file.c"),
    Param::new(
        "flush.lru",
        Kind::Word(LruWriter::WORDS),
        "Who writes the tail of the LRU list when pool.margin_low is passed.",
    )
    .preset("reader")
    .source("MySQL 5.1 source, buf0flu.c: buf_flush_free_margin"),
    Param::new(
        "flush.file_growth",
        Kind::Bytes(0, 1 << 30),
        "Bytes by which a data file grows, filled with zeros and synced; 0B: it has its size.",
    )
    .preset("4MiB")
    .source("MySQL 5.1 source, fsp0fsp.c: 4 extents at a time"),
    Param::new(
        "flush.background",
        Kind::Word(BACKGROUND),
        "The thread that writes back while nobody waits.",
    )
    .preset("master")
    .source("MySQL 5.1 source, srv0srv.c"),
    Param::new(
        "flush.period",
        Kind::Duration(1_000, 100 * SECOND),
        "Time between two decisions of that thread.",
    )
    .preset("1s")
    .source("MySQL 5.1 source, srv0srv.c")
    .when(THREAD)
    .shrinks(),
    Param::new(
        "flush.log_sync",
        Kind::Duration(1_000_000, 100 * SECOND),
        "Time between two syncs of the redo log that no commit asked for.",
    )
    .preset("1s")
    .source("MySQL 5.1 source, srv0srv.c"),
    Param::new(
        "flush.io_capacity",
        PAGES_PER_SECOND,
        "Pages per second that the engine takes the device to be good for.",
    )
    .preset("100")
    .source("MySQL 5.1 source, srv0srv.c: 100 pages a loop")
    .when(THREAD),
    Param::new(
        "flush.dirty_max",
        Kind::Share(0.0, 0.99),
        "Share of dirty pages beyond which flush.io_capacity pages are written at a time.",
    )
    .preset("90%")
    .source("MySQL 5.1 source, ha_innodb.cc: innodb_max_dirty_pages_pct")
    .when(THREAD),
    Param::new(
        "flush.dirty_sleeps",
        Kind::Bool,
        "Whether the thread sleeps between these, one batch a period.",
    )
    .preset("false")
    .source("MySQL 5.1 source, srv0srv.c: it skips the sleep")
    .when(THREAD),
    Param::new(
        "flush.adaptive",
        Kind::Word(ADAPTIVE),
        "How the growth of the redo log decides what is written.",
    )
    .preset("off")
    .source("MySQL 5.1 source, srv0srv.c: no such rule")
    .when(THREAD),
    Param::new(
        "flush.io_capacity_max",
        PAGES_PER_SECOND,
        "The same when the log fills up; decides only with flush.adaptive = \"age\".",
    )
    .preset("2000")
    .source("MySQL 5.6 source, srv0srv.h")
    .when(BY_AGE),
    Param::new(
        "flush.low_water",
        Kind::Share(0.0, 0.7),
        "Age of the oldest change, as a share of the log, below which that rule writes nothing.",
    )
    .preset("10%")
    .source("MySQL 5.6 source, ha_innodb.cc: innodb_adaptive_flushing_lwm")
    .when(BY_AGE),
    Param::new(
        "flush.checkpoint_periods",
        Kind::Count("periods", 1, 1_000),
        "Periods between two checkpoints.",
    )
    .preset("10")
    .source("MySQL 5.1 source, srv0srv.c: every 10 s")
    .when(THREAD),
];

/// How dirty pages travel to the device.
pub(super) fn write_back(values: &Values) -> WriteBackConfig {
    WriteBackConfig {
        doublewrite_pages: values.get("flush.doublewrite_pages"),
        threads: values.get("flush.write_threads"),
        join_pages: values.get("flush.join_pages"),
        lru: values.get("flush.lru"),
        file_growth: values.get("flush.file_growth"),
        latches_one_in: values.scale().divisor(),
    }
}

/// Who waits for the page cleaner needs one.
pub(super) fn check(scenario: &Scenario, values: &Values) -> Result<(), ScenarioError> {
    let cleaner = scenario.background.as_ref().is_some_and(|thread| thread.cleans_tails);
    if scenario.write_back.lru == LruWriter::Cleaner && !cleaner {
        let reason = "needs flush.background = \"cleaner\": nobody else would come";
        return Err(values.conflict("flush.lru", reason.to_owned()));
    }
    Ok(())
}

/// Time between two syncs of the redo log where no commit syncs it and no background thread does.
pub(super) fn log_sync(values: &Values) -> Option<SimDuration> {
    let is_alone = values.word("flush.background") == Some("none");
    let waits = values.get::<LogAtCommit>("commit.log") != LogAtCommit::Flush;
    (is_alone && waits).then(|| values.get("flush.log_sync"))
}

/// The background thread, if there is one.
pub(super) fn background(values: &Values) -> Option<BackgroundConfig> {
    let kind = values.word("flush.background").filter(|kind| *kind != "none")?;
    let adaptive = match values.word("flush.adaptive") {
        Some("native") => Adaptive::Native,
        Some("estimate") => Adaptive::Estimate,
        Some("keep-average") => Adaptive::KeepAverage,
        Some("age") => Adaptive::Age { low_water: values.get("flush.low_water") },
        _ => Adaptive::Off,
    };
    let io_capacity = values.get("flush.io_capacity");
    Some(BackgroundConfig {
        period: values.get("flush.period"),
        log_sync: Some(values.get("flush.log_sync")),
        io_capacity,
        io_capacity_max: match adaptive {
            Adaptive::Age { .. } => values.get("flush.io_capacity_max"),
            _ => io_capacity,
        },
        dirty_max: values.get("flush.dirty_max"),
        dirty_sleeps: values.get("flush.dirty_sleeps"),
        adaptive,
        tenth_tick: kind == "master",
        cleans_tails: kind == "cleaner",
        checkpoint_ticks: values.get("flush.checkpoint_periods"),
    })
}
