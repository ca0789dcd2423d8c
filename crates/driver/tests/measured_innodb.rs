//! The simulation against counters of a real `InnoDB` that was fed with the same key streams.
//!
//! `docs/results/measured-innodb.md` holds the tables of these tests, and a test holds it to them;
//! with `UPDATE_EXPECT=1` in the environment that test rewrites them.

#[path = "measured_innodb/document.rs"]
mod document;
#[path = "measured_innodb/measured.rs"]
mod measured;
#[path = "measured_innodb/simulated.rs"]
mod simulated;

use measured::{MICRO, PAGES, READS};

/// Pages of an index may differ from the measured ones by this share.
const PAGES_TOLERANCE: f64 = 0.01;

/// Leaf reads per row of an interval may differ from the measured ones by this share.
const READS_TOLERANCE: f64 = 0.05;

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
