//! Statements: what an engine without a log writes when one ends, and what it makes of many rows.

use cost_model::Bytes;

use super::kind::{Kind, Word};
use super::param::{Is, Param, When};
use super::values::Values;

/// The rules of statements of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Bytes of the table's state, which a statement writes with its pages when it ends; `None`
    /// if its pages are written as the pool and the log ask for it.
    pub header: Option<Bytes>,
    /// Statements of more rows write them through a cache of their own, rows of others by a call
    /// each; 0 where rows lie in an index.
    pub row_cache_above: u64,
    /// Bytes that one call writes out of that cache.
    pub row_cache: Bytes,
    /// Statements of so many rows sort their entries index by index; 0: none does.
    pub bulk_rows: u64,
    /// Bytes in which they are sorted.
    pub bulk_buffer: Bytes,
}

/// The words of `statement.end`.
const ENDS: &[Word] = &[
    Word { word: "nothing", doc: "Nothing: pages are written as the pool and the log ask for it." },
    Word { word: "write-pages", doc: "All index pages it changed, by a call each, without sync." },
];

const WRITES: &[When] = &[When::word("statement.end", &["write-pages"])];
const APART: &[When] = &[When::word("engine.rows", &["apart"])];
const BULK: &[When] = &[When { key: "statement.bulk_rows", is: Is::Positive }];

pub(super) const PARAMS: &[Param] = &[
    Param::new("statement.end", Kind::Word(ENDS), "What a statement writes when it ends.")
        .preset("nothing")
        .source("MySQL 5.1 source, ha_innodb.cc"),
    Param::new(
        "statement.header",
        Kind::Bytes(0, 64 << 10),
        "Bytes of the table's state at the head of the index file, written at the same time.",
    )
    .preset("200B")
    .source("MySQL 5.1 source, myisamdef.h: 176 bytes and 8 for each index")
    .when(WRITES),
    Param::new(
        "statement.row_cache_above",
        Kind::Count("rows", 0, 1 << 20),
        "Statements of more rows write them through a cache, others each row by a call.",
    )
    .preset("10")
    .source("MySQL 5.1 source, ha_myisam.cc: start_bulk_insert")
    .when(APART),
    Param::new(
        "statement.row_cache",
        Kind::Bytes(512, 1 << 30),
        "Bytes of rows that one call writes out of that cache.",
    )
    .preset("128KiB")
    .source("MySQL 5.1 source, mysqld.cc: read_buffer_size")
    .when(APART),
    Param::new(
        "statement.bulk_rows",
        Kind::Count("rows", 0, 1 << 20),
        "Statements of so many rows sort the entries of each secondary index first; 0: none does.",
    )
    .preset("0")
    .source("MySQL 5.1 source, row0ins.c: entries go into the indexes row by row"),
    Param::new(
        "statement.bulk_buffer",
        Kind::Bytes(16 << 10, 1 << 40),
        "Bytes in which the entries of all indexes are sorted; when it is full they are inserted.",
    )
    .preset("8MiB")
    .source("MySQL 5.1 source, mysqld.cc: bulk_insert_buffer_size")
    .when(BULK),
];

impl Statement {
    pub(super) fn from_values(values: &Values) -> Self {
        let bulk_buffer: Option<Bytes> = values.get("statement.bulk_buffer");
        let row_cache: Option<Bytes> = values.get("statement.row_cache");
        let row_cache_above: Option<u64> = values.get("statement.row_cache_above");
        Self {
            header: values.get("statement.header"),
            row_cache_above: row_cache_above.unwrap_or_default(),
            row_cache: row_cache.unwrap_or_default(),
            bulk_rows: values.get("statement.bulk_rows"),
            bulk_buffer: bulk_buffer.unwrap_or_default(),
        }
    }
}
