//! What becomes of a change whose leaf is absent: the leaf is read, or the change waits in the
//! change buffer, or is refused there and the leaf read after all; and what the look-up of a row
//! costs that finds changes waiting. Secondary indexes alone.

use std::time::Duration;

use cost_model::device::DeviceSpec;
use criterion::{Criterion, Throughput};
use index::IndexEngine;

use crate::table::{CHECK_EXTRA, CHECK_NEVER_FITS, SECONDARY, Table, buffered, plain};
use crate::timed::timed;

/// Rows between two looks at the clock.
const ROWS: u64 = 1 << 8;

/// Rows whose changes wait when the look-ups begin: some three a leaf.
const WAITING: u64 = 1 << 13;

const OPERATIONS: u64 = ROWS * SECONDARY.end as u64 - ROWS * SECONDARY.start as u64;

pub(crate) fn bench(criterion: &mut Criterion, frames: u32) {
    let mut group = criterion.benchmark_group("absent leaves of secondary indexes");
    group.throughput(Throughput::Elements(OPERATIONS));
    // The preparation of a round takes longer than the round.
    group.warm_up_time(Duration::from_millis(100));
    group.measurement_time(Duration::from_millis(500));
    group.sample_size(20);
    let mut table = plain(frames, DeviceSpec::Null);
    group.bench_function("B+tree: insert, leaf read", |bencher| {
        bencher.iter_custom(|rounds| timed(rounds, &mut table, insert, delete));
    });
    group.bench_function("B+tree: get, leaf read", |bencher| {
        bencher.iter_custom(|rounds| timed(rounds, &mut table, get, replace));
    });
    let mut table = buffered(frames, DeviceSpec::Null, CHECK_EXTRA);
    group.bench_function("change buffer: insert, buffered", |bencher| {
        bencher.iter_custom(|rounds| {
            let before = table.buffer_stats().buffered;
            let time = timed(rounds, &mut table, insert, delete);
            assert_most(table.buffer_stats().buffered - before, rounds, "are buffered");
            time
        });
    });
    replace(&mut table);
    group.bench_function("change buffer: get, leaf read, changes merged", |bencher| {
        bencher.iter_custom(|rounds| {
            let mut merges = 0;
            let count = |table: &Table<_>| table.buffer_stats().merges;
            let operation = |table: &mut Table<_>| {
                let before = count(table);
                get(table);
                merges += count(table) - before;
            };
            let time = timed(rounds, &mut table, operation, replace);
            assert_most(merges, rounds, "merge");
            time
        });
    });
    let mut table = buffered(frames, DeviceSpec::Null, CHECK_NEVER_FITS);
    group.bench_function("change buffer: insert, refused, leaf read", |bencher| {
        bencher.iter_custom(|rounds| timed(rounds, &mut table, insert, delete));
    });
    assert_eq!(table.buffer_stats().buffered, 0, "all are refused");
    group.finish();
}

fn insert<E: IndexEngine>(table: &mut Table<E>) {
    table.insert_into(SECONDARY, ROWS);
}

fn delete<E: IndexEngine>(table: &mut Table<E>) {
    table.delete_from(SECONDARY, ROWS);
}

/// Looks up the youngest rows, whose changes wait if any do.
fn get<E: IndexEngine>(table: &mut Table<E>) {
    table.get_youngest(SECONDARY, ROWS);
}

/// New rows for old ones: their changes wait, if the engine lets them.
fn replace<E: IndexEngine>(table: &mut Table<E>) {
    table.delete_from(SECONDARY, WAITING);
    table.insert_into(SECONDARY, WAITING);
}

/// Three operations in four, at least, have to be what is measured.
fn assert_most(count: u64, rounds: u64, what: &str) {
    let all = rounds * OPERATIONS;
    assert!(3 * all <= 4 * count, "{count} of {all} operations {what}");
}
