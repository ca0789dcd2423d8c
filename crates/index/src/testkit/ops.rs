//! Scripts: what the threads of a test do.

use proptest::collection::vec;
use proptest::prelude::*;

/// One step of a script. Rows are counted per thread, indexes modulo their number, so that every
/// part of a script is a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Inserts a row into all indexes, unless it is there.
    Insert(u64),
    /// Deletes a row from all indexes, whether it is there or not.
    Delete(u64),
    /// Deletes the so-manieth of the thread's rows that are there.
    DeleteLive(usize),
    /// Looks for a row's key in an index.
    Get(u8, u64),
    /// Visits up to so many entries from a row's key on.
    Range(u8, u64, usize),
    /// Takes all entries out of all indexes at once, unless another thread is changing them.
    Truncate,
    /// Purges up to so many entries.
    Purge(u16),
    /// Tells the engine that the rows from this one on are about to be inserted.
    Prepare(u64),
}

/// Scripts for `threads` threads with `rows` rows each: phases of growth, shrinking and both.
pub fn scripts(threads: usize, rows: u64) -> impl Strategy<Value = Vec<Vec<Op>>> {
    let phase = prop_oneof![
        2 => phase(rows, 8, 0, 1),
        2 => phase(rows, 1, 1, 8),
        3 => phase(rows, 4, 2, 2),
        2 => (0..rows, 0..rows).prop_map(|(from, to)| (from..to).map(Op::Insert).collect()),
        1 => (0..rows, 0..rows).prop_map(|(from, to)| (from..to).map(Op::Delete).collect()),
    ];
    vec(vec(phase, 0..6).prop_map(|phases| phases.concat()), threads)
}

fn phase(rows: u64, insert: u32, delete: u32, delete_live: u32) -> BoxedStrategy<Vec<Op>> {
    let row = 0..rows;
    let op = prop_oneof![
        4 * insert => row.clone().prop_map(Op::Insert),
        4 * delete + 1 => row.clone().prop_map(Op::Delete),
        4 * delete_live => any::<u16>().prop_map(|nth| Op::DeleteLive(usize::from(nth))),
        2 => (any::<u8>(), row.clone()).prop_map(|(index, row)| Op::Get(index, row)),
        2 => (any::<u8>(), row.clone(), 1..12usize)
            .prop_map(|(index, row, limit)| Op::Range(index, row, limit)),
        1 => (1..40u16).prop_map(Op::Purge),
        1 => row.prop_map(Op::Prepare),
    ];
    vec(prop_oneof![200 => op, 1 => Just(Op::Truncate)], 0..120).boxed()
}
