//! Reads, writes and pages touched against closed forms.

use std::collections::BTreeSet;

use cost_model::{Event, IoLedger, MachineConfig, PoolStats, Purpose};
use index::testkit::{TestKeys, null_machine, one_disk, one_drive};
use index::{IndexEngine, IndexId, IndexStats};

use crate::support::{Table, innodb, innodb_pool, pages_of, shapes};

const SECONDARY: IndexId = IndexId(1);

/// Entries per leaf of the equal-pages tests: the more, the less the pages differ.
const RECORDS: u32 = 2_500;

/// A tree with 1,024 leaves of nearly the same size, between two waves of splits.
fn equal_pages(machine: MachineConfig) -> (Table, u64) {
    let keys = TestKeys::uniform(1);
    let mut table = Table::new(machine, pages_of(RECORDS), &shapes(47, &[21]), keys);
    // Every leaf was split ten times and is at 0.6 of its size; it is split again at 1.
    let rows = 1_024 * u64::from(RECORDS) * 6 / 10;
    table.fill(SECONDARY, 0..rows);
    let leaves = table.tree.stats(SECONDARY).leaf_pages;
    // A few leaves are early or late.
    assert!(leaves.abs_diff(1_024) < 16, "{leaves} leaves");
    (table, rows)
}

fn reads(io: &IoLedger) -> u64 {
    io.reads_and_writes().0.pages
}

fn writes(io: &IoLedger) -> u64 {
    io.get(Purpose::WriteBack).pages
}

fn assert_close(what: &str, measured: f64, expected: f64, tolerance: f64) {
    let ratio = measured / expected;
    assert!((ratio - 1.0).abs() < tolerance, "{what}: {measured}, expected {expected}");
}

/// Uniform accesses to n pages of which M have frames miss 1 - M/n of the time, whatever the
/// replacement policy.
#[test]
fn random_inserts_read_one_minus_the_share_in_memory() {
    for (name, machine) in
        [("plain LRU", null_machine(600)), ("InnoDB", innodb_pool(600, null_machine(600)))]
    {
        let (mut table, rows) = equal_pages(machine);
        let (before, stats) = (table.machine.io().clone(), table.tree.stats(SECONDARY));
        let inserts = 200_000;
        table.fill(SECONDARY, rows..rows + inserts);
        let io = table.machine.io().since(&before);
        let leaves = stats.leaf_pages.midpoint(table.tree.stats(SECONDARY).leaf_pages);
        let frames = 600 - stats.internal_pages;
        let expected = 1.0 - frames as f64 / leaves as f64;
        // Leaves that still differ by a few percent in size lower it by less than one.
        assert_close(name, reads(&io) as f64 / inserts as f64, expected, 0.02);
        if name == "plain LRU" {
            // Each stay in memory ends with one write.
            assert_close("writes per read", writes(&io) as f64, reads(&io) as f64, 0.02);
        }
    }
}

/// k random inserts over n pages touch n (1 - (1 - 1/n)^k) of them (Cardenas 1975).
#[test]
fn a_batch_touches_as_many_leaves_as_cardenas_says() {
    let (mut table, mut rows) = equal_pages(null_machine(4_000));
    for batch in [256u64, 1_024, 3_000] {
        let rounds = 8;
        let mut touched = 0;
        let mut leaves = BTreeSet::new();
        table.tree.for_each_leaf(SECONDARY, |page, _| {
            leaves.insert(page);
        });
        for _ in 0..rounds {
            table.machine.follow(Vec::new());
            table.fill(SECONDARY, rows..rows + batch);
            rows += batch;
            let pages: BTreeSet<_> = table
                .machine
                .followed()
                .into_iter()
                .filter_map(|(_, event)| match event {
                    Event::Hit(page) if leaves.contains(&page) => Some(page),
                    _ => None,
                })
                .collect();
            touched += pages.len();
        }
        let n = leaves.len() as f64;
        let expected = n * (1.0 - (1.0 - 1.0 / n).powf(batch as f64));
        // One batch scatters by up to 1.5 %, the mean of eight by 0.5.
        assert_close("leaves", touched as f64 / f64::from(rounds), expected, 0.02);
    }
}

/// Reads per row of each index by Che's fixed point: a page with rate r per row is found in
/// memory with probability 1 - exp(-r T), and T is such that the pages in memory fill the pool.
/// Appended pages stay for T rows after the last row went there.
fn che(table: &Table, frames: u32) -> Vec<f64> {
    let trees = table.tree.index_count();
    let internal: u64 =
        (0..trees).map(|index| table.tree.stats(IndexId(index as u16)).internal_pages).sum();
    let frames = f64::from(frames) - internal as f64;
    let rates: Vec<Vec<f64>> = (1..trees)
        .map(|index| {
            let leaves = table.leaves(IndexId(index as u16));
            let entries: u32 = leaves.iter().sum();
            leaves.iter().map(|own| f64::from(*own) / f64::from(entries)).collect()
        })
        .collect();
    let appended = table.tree.stats(IndexId::PRIMARY);
    let rows_per_page = appended.entries as f64 / appended.leaf_pages as f64;
    let in_memory = |time: f64| {
        let random = rates.iter().flatten().map(|rate| 1.0 - (-rate * time).exp());
        random.sum::<f64>() + time / rows_per_page + 1.0
    };
    let (mut low, mut high) = (0.0, 1e9);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if in_memory(middle) < frames {
            low = middle;
        } else {
            high = middle;
        }
    }
    let misses = |rates: &Vec<f64>| rates.iter().map(|rate| rate * (-rate * low).exp()).sum();
    rates.iter().map(misses).collect()
}

#[test]
fn three_indexes_and_an_append_stream_share_the_pool_as_che_says() {
    let frames = 3_000;
    let mut table = Table::new(
        null_machine(frames),
        innodb(),
        &shapes(47, &[17, 26, 40]),
        TestKeys::uniform(1),
    );
    table.load(0..500_000);
    for step in 0..4 {
        let rows = 500_000 + step * 50_000..500_000 + (step + 1) * 50_000;
        let mut measured = [0.0; 4];
        let before = che(&table, frames);
        for row in rows.clone() {
            for (index, measured) in measured.iter_mut().enumerate() {
                let earlier = table.machine.io().get(Purpose::LeafRead).pages;
                table.insert(IndexId(index as u16), row);
                *measured += (table.machine.io().get(Purpose::LeafRead).pages - earlier) as f64;
            }
        }
        let after = che(&table, frames);
        assert!(measured[0] < 1.0, "the append stream reads nothing");
        for (index, (before, after)) in before.iter().zip(&after).enumerate() {
            let reads = measured[index + 1] / (rows.end - rows.start) as f64;
            // 15,000 reads scatter by a percent, the leaves' growth over the step by less.
            assert_close(&format!("index {index}"), reads, f64::midpoint(*before, *after), 0.02);
        }
    }
}

fn loaded(machine: MachineConfig) -> Table {
    let mut config = innodb();
    config.sibling_reads = true;
    let keys = TestKeys::uniform(1);
    let mut table = Table::new(machine, config, &shapes(47, &[21, 26]), keys);
    table.load(0..150_000);
    table
}

#[test]
fn a_pool_larger_than_the_data_reads_nothing() {
    let table = loaded(null_machine(2_000));
    let io = table.machine.io();
    assert_eq!((reads(io), writes(io)), (0, 0));
    let pages: u64 = (0..3)
        .map(|index| table.tree.stats(IndexId(index)))
        .map(|stats| stats.leaf_pages + stats.internal_pages)
        .sum();
    assert!(pages < 2_000 && table.machine.free_frames() == 2_000 - pages, "{pages} pages");
}

#[test]
fn a_bigger_pool_never_reads_more_under_lru() {
    let counts: Vec<_> = [300, 310, 330, 370, 450, 610, 930, 2_000]
        .map(|frames| reads(loaded(null_machine(frames)).machine.io()))
        .into();
    assert!(counts.is_sorted_by(|smaller, bigger| bigger <= smaller), "{counts:?}");
    assert_eq!((counts.last(), counts[0].min(1)), (Some(&0), 1), "{counts:?}");
}

/// With one client and pages written only for their frames, what is read and written does not
/// depend on how long it takes.
#[test]
fn counts_do_not_depend_on_the_device() {
    let counts = |disks| -> (IoLedger, PoolStats, Vec<IndexStats>) {
        let table = loaded(MachineConfig { disks, ..null_machine(400) });
        let stats = (0..3).map(|index| table.tree.stats(IndexId(index))).collect();
        (table.machine.io().clone(), *table.machine.pool_stats(), stats)
    };
    let expected = counts(cost_model::device::DeviceSpec::Null);
    assert!(10_000 < reads(&expected.0), "the pool is small");
    assert_eq!(counts(one_drive()), expected, "solid state");
    assert_eq!(counts(one_disk()), expected, "disk");
}
