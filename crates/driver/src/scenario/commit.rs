//! Commits: what is durable when a client is told so.

use cost_model::{Binlog, CommitConfig, LogAtCommit, SerialCommit};

use super::kind::Kind;
use super::param::Param;
use super::values::{Choice, Values, words};

words!(LogAtCommit {
    "nothing" => Nothing: "Nothing; about once a second (flush.log_sync) the log is written and synced (0).";
    "write" => Write: "It is handed to the operating system, and synced about once a second (flush.log_sync) (2).";
    "flush" => Flush: "It is written and synced (1).";
});

words!(Binlog {
    "off" => Off: "There is none.";
    "written" => Written: "It is written and synced some time.";
    "synced" => Synced: "It is synced at every commit.";
});

words!(SerialCommit {
    "whole" => Whole: "From its prepare to its end, so that nothing is shared.";
    "binlog" => Binlog: "Its write to the binary log; syncs of the redo log are shared.";
});

pub(super) const PARAMS: &[Param] = &[
    Param::new(
        "commit.log",
        Kind::Word(LogAtCommit::WORDS),
        "What a commit does with the redo log (innodb_flush_log_at_trx_commit).",
    )
    .preset("flush")
    .source("MySQL 5.1 source, ha_innodb.cc: its default is 1"),
    Param::new("commit.binlog", Kind::Word(Binlog::WORDS), "The binary log of the server.")
        .preset("off")
        .assumed("the servers of the articles; the server's own default"),
    Param::new(
        "commit.serial",
        Kind::Word(SerialCommit::WORDS),
        "What one commit at a time does while there is a binary log.",
    )
    .preset("whole")
    .source("MySQL 5.1 source, ha_innodb.cc: prepare_commit_mutex"),
];

/// What a commit waits for.
pub(super) fn commit(values: &Values) -> CommitConfig {
    CommitConfig {
        log: values.get("commit.log"),
        binlog: values.get("commit.binlog"),
        serial: values.get("commit.serial"),
    }
}
