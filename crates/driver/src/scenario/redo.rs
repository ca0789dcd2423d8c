//! The redo log: its size and the limits that follow from it.

use cost_model::{Bytes, RedoConfig};

use super::Scenario;
use super::check::{refused, with_smallest};
use super::error::ScenarioError;
use super::kind::Kind;
use super::param::{Is, Param, When};
use super::scale::Scale;
use super::values::Values;

const WITH_LOG: &[When] = &[When { key: "redo.files", is: Is::Positive }];

pub(super) const PARAMS: &[Param] = &[
    Param::new("redo.files", Kind::Count("files", 0, 100), "Files of the redo log; 0: no log.")
        .preset("2")
        .source("MySQL 5.1 source, ha_innodb.cc: innodb_log_files_in_group"),
    Param::new(
        "redo.file_size",
        Kind::Bytes(64 << 10, 1 << 40),
        "Bytes of each of them. Only the sum of all files matters.",
    )
    .preset("5MiB")
    .source("MySQL 5.1 source, ha_innodb.cc: innodb_log_file_size")
    .shrinks(),
    Param::new(
        "redo.disk",
        Kind::Text,
        "A machine file, named as in `use`, whose disks hold the redo log and the binary log and \
         nothing else; their write cache shrinks with the run. Without it both logs are on the \
         disks of the data.",
    )
    .absent()
    .when(WITH_LOG),
    Param::new(
        "redo.age_share",
        Kind::Share(0.1, 0.95),
        "Share of the log that may lie between the last checkpoint and its end.",
    )
    .preset("81%")
    .source("MySQL 5.1 source, log0log.c: 9/10 of 9/10"),
    Param::new(
        "redo.age_reserve",
        Kind::Bytes(0, 1 << 30),
        "Bytes that are kept free beyond that for threads under way.",
    )
    .preset("1280KiB")
    .source("MySQL 5.1 source, log0log.c: 64 KB x (10 + thread_concurrency 8) + 128 KB")
    .shrinks(),
    Param::new(
        "redo.block_overhead",
        Kind::Bytes(0, 256),
        "Bytes of header and trailer of each block of 512 bytes of the log.",
    )
    .preset("16B")
    .source("MySQL 5.1 source, log0log.h: 12 + 4"),
];

/// The last limits of the log's age lie a sixteenth of the greatest age apart. The log of a thread
/// under way must fit between them: 4 pages (`MySQL` 5.1 source, log0log.c,
/// `LOG_CHECKPOINT_FREE_PER_THREAD`).
const PAGES_PER_CHANGE: u64 = 4;
const AGES_PER_LIMIT: u64 = 16;

/// The redo log that the values describe. The header of each file, 2 KB, is left out, so that
/// only the sum of all files matters.
pub(super) fn redo(values: &Values) -> Option<RedoConfig> {
    let (files, size): (u64, Bytes) = (values.get("redo.files"), values.get("redo.file_size"));
    let capacity = Bytes::new(files * size.get());
    let (share, reserve) = (values.get("redo.age_share"), values.get("redo.age_reserve"));
    (0 < files).then(|| RedoConfig {
        block_overhead: values.get("redo.block_overhead"),
        ..RedoConfig::innodb(capacity, share, reserve)
    })
}

/// A log in which a change under way would not fit between two limits of its age is refused.
pub(super) fn check(scenario: &Scenario, values: &Values) -> Result<(), ScenarioError> {
    let Some(redo) = &scenario.redo else { return Ok(()) };
    let least = AGES_PER_LIMIT * PAGES_PER_CHANGE * scenario.engine.page_size.get();
    if least <= redo.age_max.get() {
        return Ok(());
    }
    let needs = format!(
        "leaves {} between the last checkpoint and the end of the redo log; changes need {}",
        redo.age_max,
        Bytes::new(least)
    );
    let full = scenario.scale.full(redo.age_max.get());
    let fits = |scale: &Scale| least <= full >> scale.halvings();
    if !fits(&Scale::FULL) {
        return Err(values.conflict("redo.file_size", needs));
    }
    Err(refused(scenario.scale, with_smallest(scenario.scale, &needs, fits)))
}
