//! The redo log: its size and the limits that follow from it.

use cost_model::{Bytes, RedoConfig};

use super::kind::Kind;
use super::param::Param;
use super::values::Values;

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

/// Bytes of the header of a log file (`MySQL` 5.1 source, log0log.h).
const FILE_HEADER: u64 = 2 << 10;

/// The redo log that the values describe.
pub(super) fn redo(values: &Values) -> Option<RedoConfig> {
    let (files, size): (u64, Bytes) = (values.get("redo.files"), values.get("redo.file_size"));
    let capacity = Bytes::new(files * size.get().saturating_sub(FILE_HEADER));
    let (share, reserve) = (values.get("redo.age_share"), values.get("redo.age_reserve"));
    (0 < files).then(|| RedoConfig {
        block_overhead: values.get("redo.block_overhead"),
        ..RedoConfig::innodb(capacity, share, reserve)
    })
}
