//! Index operations of the B+tree on iiBench keys: in memory, and with a pool that holds an
//! eighth of the leaves on a device that takes no time and on a disk.

mod table;
mod timed;

use cost_model::device::DeviceSpec;
use criterion::{Criterion, Throughput};
use index::testkit::one_disk;

use table::{INDEXES, Table};
use timed::timed;

/// Rows between two looks at the clock.
const ROWS: u64 = 1 << 10;

/// Frames for all pages of the table.
const FRAMES: u32 = 1 << 15;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut in_memory = Table::load(FRAMES, DeviceSpec::Null);
    let an_eighth = (in_memory.leaf_pages() / 8) as u32;
    bench(&mut criterion, "in memory", &mut in_memory);
    drop(in_memory);
    bench(&mut criterion, "1/8 in memory", &mut Table::load(an_eighth, DeviceSpec::Null));
    bench(&mut criterion, "1/8 in memory, disk", &mut Table::load(an_eighth, one_disk()));
    criterion.final_summary();
}

fn bench(criterion: &mut Criterion, place: &str, table: &mut Table) {
    let mut group = criterion.benchmark_group(place);
    group.throughput(Throughput::Elements(ROWS * INDEXES));
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
