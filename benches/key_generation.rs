//! What it costs to compute keys of iiBench again.

use criterion::{Criterion, Throughput};
use driver::workload::{IiBench, IiBenchSpec, Profile, hash};
use index::{IndexId, Key, KeySource, RowId};

const ROWS_IN_STREAM: u64 = 1_000_000_000;

/// Rows of one measurement.
const ROWS: u64 = 1 << 10;

const SEED: u64 = 42;

/// Its keys have the most columns: those of pdc.
const LAST_INDEX: IndexId = IndexId(3);

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    for profile in Profile::ALL {
        let spec = IiBenchSpec::published(profile, SEED, ROWS_IN_STREAM);
        let keys = IiBench::new(&spec).expect("published values are allowed");
        bench(&mut criterion, profile.name(), &keys);
    }
    criterion.final_summary();
}

fn bench(criterion: &mut Criterion, name: &str, source: &IiBench) {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(ROWS));
    group.bench_function("all keys of the next row", |bencher| {
        let mut row = 0;
        bencher.iter(|| {
            let mut sum = 0;
            for _ in 0..ROWS {
                let mut keys = [Key::MIN; 4];
                source.keys(RowId(row), &mut keys);
                sum ^= keys.iter().fold(0, |sum, key| sum ^ key.0);
                row = (row + 1) % ROWS_IN_STREAM;
            }
            sum
        });
    });
    group.bench_function("one key of a random row", |bencher| {
        let mut number = 0;
        bencher.iter(|| {
            let mut sum = 0;
            for _ in 0..ROWS {
                let row = RowId(hash(SEED, RowId(number), 0) % ROWS_IN_STREAM);
                sum ^= source.key(LAST_INDEX, row).0;
                number += 1;
            }
            sum
        });
    });
    group.finish();
}
