//! Index operations on iiBench keys, of the B+tree and of the same with a change buffer: in memory,
//! and with a pool that holds an eighth of the leaves on a device that takes no time and on a disk.

mod absent_leaves;
mod table;
mod timed;

use cost_model::device::DeviceSpec;
use criterion::{Criterion, Throughput};
use index::IndexEngine;
use index::testkit::one_disk;

use table::{CHECK_EXTRA, INDEXES, Table, buffered, plain};
use timed::timed;

/// Rows between two looks at the clock.
const ROWS: u64 = 1 << 10;

/// Frames for all pages of the table.
const FRAMES: u32 = 1 << 15;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let leaf_pages = plain(FRAMES, DeviceSpec::Null).leaf_pages();
    let an_eighth = (leaf_pages / 8) as u32;
    let places = [
        ("in memory", FRAMES, DeviceSpec::Null),
        ("1/8 in memory", an_eighth, DeviceSpec::Null),
        ("1/8 in memory, disk", an_eighth, one_disk()),
    ];
    for (place, frames, disks) in places {
        bench(&mut criterion, &format!("B+tree, {place}"), &mut plain(frames, disks.clone()));
        let mut table = buffered(frames, disks, CHECK_EXTRA);
        bench(&mut criterion, &format!("change buffer, {place}"), &mut table);
    }
    absent_leaves::bench(&mut criterion, (leaf_pages / 16) as u32);
    criterion.final_summary();
}

fn bench<E: IndexEngine>(criterion: &mut Criterion, name: &str, table: &mut Table<E>) {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(ROWS * u64::from(INDEXES)));
    group.bench_function("insert", |bencher| {
        bencher.iter_custom(|rounds| {
            timed(rounds, table, |table| table.insert(ROWS), |table| table.delete(ROWS))
        });
    });
    group.bench_function("delete", |bencher| {
        bencher.iter_custom(|rounds| {
            timed(rounds, table, |table| table.delete(ROWS), |table| table.insert(ROWS))
        });
    });
    group.bench_function("get", |bencher| bencher.iter(|| table.get(ROWS)));
    group.bench_function("range of 10", |bencher| bencher.iter(|| table.range(ROWS)));
    group.finish();
}
