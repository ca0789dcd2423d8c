//! How full pages are after inserts in one order or another, and in a rolling window.

use std::f64::consts::LN_2;

use btree::{SplitPolicy, TreeConfig};
use index::testkit::{KeyOrder, TestKeys, null_machine};
use index::{IndexEngine, IndexId};

use crate::support::{Table, innodb, innodb_pool, pages_of, shapes};

const SECONDARY: IndexId = IndexId(1);

/// Secondary records of 21 bytes on a page of 16 KiB: the most ever seen on `MariaDB` 10.11.
const RECORDS: u32 = 755;

fn table(config: TreeConfig, order: KeyOrder) -> Table {
    Table::new(null_machine(8_000), config, &shapes(47, &[21]), TestKeys { order, seed: 1 })
}

/// Entries of the secondary index as a share of what its leaves could hold.
fn fill(table: &Table, records: u32) -> f64 {
    let stats = table.tree.stats(SECONDARY);
    stats.entries as f64 / (stats.leaf_pages as f64 * f64::from(records))
}

/// The fill at 32 points of two doublings of a random index, evenly spaced in the logarithm.
fn two_doublings(split: SplitPolicy) -> Vec<f64> {
    // Exactly 755 records go on a page, so that ln 2 is ln 2 of something.
    let config = TreeConfig { split, ..pages_of(RECORDS) };
    let mut table = table(config, KeyOrder::Uniform);
    let mut rows = 0;
    let mut fills = Vec::new();
    for step in 0..32 {
        let target = (200_000.0 * 2f64.powf(f64::from(step) / 16.0)) as u64;
        table.fill(SECONDARY, rows..target);
        rows = target;
        fills.push(fill(&table, RECORDS));
    }
    fills
}

fn lowest_and_highest(fills: &[f64]) -> (f64, f64) {
    fills.iter().fold((1.0, 0.0), |(low, high), fill| (fill.min(low), fill.max(high)))
}

/// One page in sixteen bytes stays free: 320 rows of 47 bytes, 313 of 48. The first leaf was the
/// root and was split in the middle when it became too full, the last one is still filling.
#[test]
fn sequential_rows_fill_fifteen_sixteenths() {
    for (row_bytes, rows_per_page) in [(47, 320), (48, 313)] {
        let shapes = shapes(row_bytes, &[]);
        let mut table = Table::new(null_machine(4_000), innodb(), &shapes, TestKeys::uniform(1));
        table.load(0..100_000);
        let leaves = table.leaves(IndexId::PRIMARY);
        assert!(300 < leaves.len());
        let between = &leaves[1..leaves.len() - 1];
        assert!(between.iter().all(|rows| *rows == rows_per_page), "{between:?}");
    }
}

/// Secondary leaves are filled to the last byte: short of full are only the first leaf, split in
/// the middle as the root, a few near it and the one that is filling.
#[test]
fn secondary_keys_in_order_fill_the_pages() {
    for order in [KeyOrder::Ascending, KeyOrder::Descending] {
        let mut table = table(innodb(), order);
        table.fill(SECONDARY, 0..100_000);
        let fill = fill(&table, RECORDS);
        assert!(0.99 < fill && fill <= 1.0, "{order:?}: {fill}");
    }
}

#[test]
fn random_keys_fill_ln_2_in_waves() {
    let fills = two_doublings(SplitPolicy::InnoDb);
    let (low, high) = lowest_and_highest(&fills);
    // The published range is 0.58 to 0.82 (from the spread of a page's entries, 4 %); the seed
    // moves its ends by a percent.
    assert!(0.57 < low && low < 0.61, "{low}");
    assert!(0.80 < high && high < 0.84, "{high}");
    // Pages per entry over a doubling are 1 / ln 2 of the least whatever the wave: the harmonic
    // mean of the fill. Sampled at 16 points it is off by half a percent.
    for doubling in fills.chunks_exact(16) {
        let mean = 16.0 / doubling.iter().map(|fill| fill.recip()).sum::<f64>();
        assert!((mean / LN_2 - 1.0).abs() < 0.01, "{mean}");
    }
    // The wave repeats after a doubling; it damps by a tenth of its height of 0.24.
    let (first, second) = fills.split_at(16);
    for (now, then) in second.iter().zip(first) {
        assert!((now - then).abs() < 0.03, "{then} came back as {now}");
    }
}

/// `InnoDB` splits a page with garbage when less than a thirty-second would be free after
/// reorganising it: between 731 and 755 records, so the fill falls short of ln 2 by up to 3 %.
#[test]
fn the_reorganize_limit_costs_one_to_three_percent() {
    let mut config = pages_of(RECORDS);
    config.format.reorganize_limit = 512;
    let mut limited = table(config, KeyOrder::Uniform);
    let mut free = table(pages_of(RECORDS), KeyOrder::Uniform);
    let (mut limited_pages, mut free_pages) = (0.0, 0.0);
    for step in 0..16 {
        let row = |step: i32| (100_000.0 * 2f64.powf(f64::from(step) / 16.0)) as u64;
        let rows = if step == 0 { 0..row(0) } else { row(step - 1)..row(step) };
        for (table, pages) in [(&mut limited, &mut limited_pages), (&mut free, &mut free_pages)] {
            table.fill(SECONDARY, rows.clone());
            *pages += fill(table, RECORDS).recip();
        }
    }
    let ratio = limited_pages / free_pages;
    assert!((1.005..1.033).contains(&ratio), "{ratio} times the pages");
}

#[test]
fn random_split_points_flatten_the_wave() {
    let height = |split| {
        let fills = two_doublings(split);
        let (low, high) = lowest_and_highest(&fills);
        high - low
    };
    let (middle, random) =
        (height(SplitPolicy::Middle), height(SplitPolicy::Random { spread: 0.25 }));
    // Measured 0.24 and 0.03.
    assert!(random < middle / 4.0, "{random} against {middle}");
}

/// Fill, splits and coalesces per leaf and turnover after each turnover of a window in which the
/// oldest entry leaves for each one that comes.
fn rolling_window(records: u32, window: u64, coalesce: bool, turnovers: u64) -> Vec<[f64; 3]> {
    let mut config = pages_of(records);
    config.format.coalesce_below = if coalesce { 21 * records / 2 } else { 0 };
    let mut table = table(config, KeyOrder::Uniform);
    table.fill(SECONDARY, 0..window);
    let mut history = vec![[fill(&table, records), 0.0, 0.0]];
    for turnover in 0..turnovers {
        let before = table.tree.stats(SECONDARY);
        for row in turnover * window..(turnover + 1) * window {
            table.insert(SECONDARY, window + row);
            table.delete(SECONDARY, row);
        }
        let now = table.tree.stats(SECONDARY);
        let per_leaf = |count: u64| count as f64 / now.leaf_pages as f64;
        history.push([
            fill(&table, records),
            per_leaf(now.splits - before.splits),
            per_leaf(now.coalesces - before.coalesces),
        ]);
    }
    table.tree.verify();
    history
}

/// The size of the window decides on the phase of the split wave at the start, and the published
/// table does not give it: at 400 entries per leaf the wave is 0.655 to 0.736, so 0.03 to either
/// side.
const WINDOW_PHASE: f64 = 0.03;

fn assert_fills(history: &[[f64; 3]], published: &[(usize, f64)]) {
    for (turnovers, expected) in published {
        let [fill, ..] = history[*turnovers];
        assert!((fill - expected).abs() < WINDOW_PHASE, "{fill} after {turnovers} turnovers");
    }
}

#[test]
fn free_at_empty_lets_pages_drain() {
    let history = rolling_window(400, 200_000, false, 10);
    assert_fills(&history, &[(0, 0.687), (1, 0.620), (2, 0.609), (5, 0.579), (10, 0.573)]);
    // Splits do not stop at once, but no page runs empty: one in a thousand at most.
    assert!(history.is_sorted_by(|before, after| after[0] <= before[0]), "{history:?}");
    assert!(history.iter().all(|[.., coalesces]| *coalesces < 0.01), "{history:?}");
    let smaller = rolling_window(50, 30_000, false, 20);
    assert_fills(&smaller, &[(20, 0.48)]);
}

#[test]
fn merging_at_half_keeps_pages_full_and_churns() {
    let history = rolling_window(400, 200_000, true, 10);
    assert_fills(&history, &[(0, 0.687), (1, 0.687), (2, 0.687), (5, 0.688), (10, 0.681)]);
    // Published "about 1.1 to 1.4" and, for 50 entries, "about 0.8"; single turnovers vary by a
    // fifth, so means over all of them, with a tenth to either side.
    let mean = |history: &[[f64; 3]], of: usize| {
        history[1..].iter().map(|row| row[of]).sum::<f64>() / (history.len() - 1) as f64
    };
    for churn in [mean(&history, 1), mean(&history, 2)] {
        assert!((1.0..1.54).contains(&churn), "{churn} per leaf and turnover");
    }
    let smaller = rolling_window(50, 30_000, true, 10);
    assert_fills(&smaller, &[(10, 0.69)]);
    for churn in [mean(&smaller, 1), mean(&smaller, 2)] {
        assert!((0.72..0.88).contains(&churn), "{churn} per leaf and turnover");
    }
}

/// A leaf among the oldest of a pool in which nothing was evicted yet, so that no use moves it: with
/// 733 records of 755 it has less than 1/32 of the page left, and moves to the head.
#[test]
fn a_secondary_leaf_with_little_room_moves_to_the_head() {
    let machine = innodb_pool(200, null_machine(200));
    let keys = TestKeys { order: KeyOrder::Ascending, seed: 1 };
    let mut table = Table::new(machine, innodb(), &shapes(47, &[21]), keys);
    table.fill(SECONDARY, 0..700);
    table.fill(IndexId(0), 0..40_000);
    for (rows, moves) in [(700..732, 0), (732..733, 1)] {
        table.fill(SECONDARY, rows);
        assert_eq!(table.machine.pool_stats().made_young, moves);
    }
    assert_eq!(table.machine.pool_stats().evictions, 0);
}
