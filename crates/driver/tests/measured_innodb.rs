//! The simulation against counters of a real `InnoDB` that was fed with the same key streams.
//!
//! `docs/results/measured-innodb.md` holds the tables of these tests, and a test holds it to them;
//! with `UPDATE_EXPECT=1` in the environment that test rewrites them.

#[path = "measured_innodb/buffered.rs"]
mod buffered;
#[path = "measured_innodb/document.rs"]
mod document;
#[path = "measured_innodb/measured.rs"]
mod measured;
#[path = "measured_innodb/queries.rs"]
mod queries;
#[path = "measured_innodb/settings.rs"]
mod settings;
#[path = "measured_innodb/simulated.rs"]
mod simulated;
#[path = "measured_innodb/window.rs"]
mod window;

use measured::{MICRO, PAGES, READS, REDO};

/// Pages of an index may differ from the measured ones by this share.
const PAGES_TOLERANCE: f64 = 0.01;

/// Leaf reads per row of an interval may differ from the measured ones by this share.
const READS_TOLERANCE: f64 = 0.05;

/// Pages read per query may differ from the measured ones by this share.
const QUERIES_TOLERANCE: f64 = 0.1;

/// Redo bytes of a whole run may differ from the measured ones by this share.
const REDO_TOLERANCE: f64 = 0.02;

/// Redo bytes of an interval beyond the first fifth of a run may differ by this share.
const REDO_INTERVAL_TOLERANCE: f64 = 0.03;

#[test]
fn leaf_pages_of_the_purchases_indexes() {
    assert_eq!(PAGES.len(), 20 * 4, "four indexes every 250,000 rows up to 5,000,000");
    for measured in PAGES.iter() {
        let simulated = simulated::pages(measured);
        assert_near(measured.leaf, simulated.leaf, PAGES_TOLERANCE, &measured);
    }
}

#[test]
fn leaf_pages_of_the_micro_orders() {
    assert_eq!(MICRO.len(), 4 * 2, "two indexes in four orders");
    for measured in MICRO.iter() {
        let simulated = simulated::micro_pages(measured);
        assert_near(measured.leaf, simulated.leaf, PAGES_TOLERANCE, &measured);
    }
}

#[test]
fn leaf_reads_per_row_beyond_the_pool() {
    let beyond: Vec<_> = READS.iter().filter(|reads| reads.is_beyond_pool()).collect();
    assert_eq!(beyond.len(), 4 + 6, "intervals of the runs with 64 MB and with 160 MB");
    for measured in beyond {
        assert_eq!(simulated::pool_pages(measured.run), measured.pool_pages, "{}", measured.run);
        let simulated = simulated::reads(measured);
        assert_near(measured.leaf, simulated.leaf, READS_TOLERANCE, &measured);
    }
}

#[test]
fn redo_bytes_of_whole_runs() {
    let runs: Vec<_> = REDO.chunk_by(|one, next| one.run == next.run).collect();
    assert_eq!(runs.len(), 2 + 4, "with and without secondary indexes, and four orders");
    for run in runs {
        let measured = run.iter().map(|redo| redo.bytes).sum();
        let simulated = run.iter().map(simulated::redo_bytes).sum();
        assert_near(measured, simulated, REDO_TOLERANCE, &run[0].run);
    }
}

#[test]
fn redo_bytes_of_intervals() {
    for measured in REDO.iter().filter(|redo| redo.is_beyond_fifth()) {
        let simulated = simulated::redo_bytes(measured);
        assert_near(measured.bytes, simulated, REDO_INTERVAL_TOLERANCE, &measured);
    }
}

#[test]
fn a_change_buffer_fills_and_refuses() {
    assert_eq!(buffered::held().count(), 38, "intervals of 100,000 rows from 1.2M to 5M");
    let is_near = |ratio: Option<f64>, bound: f64| ratio.is_none_or(|r| (r - 1.0).abs() <= bound);
    for part in &buffered::PARTS {
        for (what, counts, bound) in
            [("in all", &buffered::ALL, part.in_all), ("at the end", &buffered::END, part.at_end)]
        {
            let ratio = part.ratio(counts);
            assert!(ratio.is_some() && is_near(ratio, bound), "{} {what}: {ratio:?}", part.name);
        }
        for interval in buffered::held() {
            let (ratio, rows) = (part.ratio(interval), interval.0.rows);
            assert!(is_near(ratio, part.bound(rows)), "{} at {rows}: {ratio:?}", part.name);
        }
    }
}

#[test]
fn a_window_of_rows_is_marked_and_purged() {
    assert_eq!(window::COUNTS.len(), 2 * 7, "seven counts of two runs");
    for count in window::COUNTS.iter() {
        let difference = (count.simulated - count.measured).abs();
        assert!(difference <= count.bound * count.measured, "{count:?}");
    }
}

#[test]
fn other_settings() {
    let runs = settings::COUNTS.chunk_by(|one, next| one.run == next.run).count();
    assert_eq!(runs, 10, "pools, limits of the buffer, what it takes");
    for count in settings::COUNTS.iter() {
        let (ratio, bound) = (count.simulated / count.measured, count.bound());
        assert!((ratio - 1.0).abs() <= bound, "{ratio:.3}: {count:?}");
    }
}

#[test]
fn a_load_into_partitions_reads_nothing() {
    // 207 were measured, 149 of them before the first insert.
    let reads = queries::reads_of_the_partitioned_load();
    assert!(reads <= 58, "{reads} pages read in 5,000,000 rows");
}

#[test]
fn queries_read_what_a_real_server_reads() {
    assert_eq!(queries::READS.len(), 2 * 5 * 2, "of two tables, five kinds, two rounds");
    for measured in queries::READS.iter() {
        let (reads, rows) = measured.simulated();
        assert!((rows - measured.rows).abs() < 0.1, "{rows} rows: {measured:?}");
        for held in measured.held() {
            let ratio = reads / held;
            assert!((ratio - 1.0).abs() <= QUERIES_TOLERANCE, "{ratio:.3}: {measured:?}");
        }
    }
}

#[test]
fn the_document_shows_these_figures() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results/measured-innodb.md");
    let text = std::fs::read_to_string(path).unwrap();
    expect_test::expect_file![path].assert_eq(&document::with_current_tables(&text));
}

/// Of counts that a server made and the simulation made.
fn assert_near(measured: u64, simulated: u64, tolerance: f64, of: &dyn std::fmt::Debug) {
    let ratio = simulated as f64 / measured as f64;
    assert!((ratio - 1.0).abs() <= tolerance, "{simulated} simulated ({ratio:.3}): {of:?}");
}
