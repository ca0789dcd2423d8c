//! The change buffer held against a real server: counters of `MariaDB` 10.11.19 with a 64 MB pool
//! and `innodb_change_buffering=all`, 5 million rows of iiBench, in intervals of 500,000 rows.

use std::sync::atomic::AtomicBool;

use driver::report::Point;
use driver::run::run;
use driver::scenario::Scenario;

/// Counts of one interval, and the size of the buffer at its end.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    leaf_reads: f64,
    pages_written: f64,
    redo_bytes: f64,
    merges: f64,
    merged_inserts: f64,
    buffer_pages: f64,
}

const INTERVAL: u64 = 500_000;

fn measured() -> Vec<(u64, Counts)> {
    let parse = |line: &str| {
        let fields: Vec<f64> = line.split(',').map(|field| field.parse().unwrap()).collect();
        let [rows, leaf_reads, pages_written, redo_bytes, merges, merged_inserts, buffer_pages] =
            fields[..]
        else {
            panic!("{line}")
        };
        let counts =
            Counts { leaf_reads, pages_written, redo_bytes, merges, merged_inserts, buffer_pages };
        (rows as u64, counts)
    };
    include_str!("measured_change_buffer/a_all_64m.csv").lines().skip(1).map(parse).collect()
}

fn simulated() -> Vec<(u64, Counts)> {
    let sets = [format!("report.every_rows={INTERVAL}")];
    let scenario = Scenario::load("measured-all-64m", &sets, None).unwrap();
    let result = run(&scenario, &AtomicBool::new(false), &mut |_| {}).unwrap();
    result.points.iter().map(|point| (point.rows, counts(point))).collect()
}

fn counts(point: &Point) -> Counts {
    let pages = |purpose: &str| point.io.get(purpose).map_or(0.0, |count| count.pages as f64);
    let rows = INTERVAL as f64;
    let buffer = point.change_buffer.unwrap();
    Counts {
        leaf_reads: pages("leaf_read") + pages("sibling_read") + pages("merge_read"),
        pages_written: point.writes_per_row * rows,
        redo_bytes: point.redo_bytes_per_row.unwrap() * rows,
        merges: buffer.merges as f64,
        merged_inserts: buffer.merged_entries as f64,
        buffer_pages: buffer.pages as f64,
    }
}

/// A count, and how far its ratio may be from 1.
type Part = (&'static str, fn(&Counts) -> f64, f64);

/// Over the whole run, ratios of simulated to measured counts lie within these bounds; so do those
/// of all intervals beyond 2 million rows, twice as wide.
#[test]
fn a_real_change_buffer_counts_the_same() {
    let (measured, simulated) = (measured(), simulated());
    assert_eq!(measured.len(), simulated.len());
    let parts: [Part; 5] = [
        ("leaf reads", |counts| counts.leaf_reads, 0.10),
        ("merges", |counts| counts.merges, 0.05),
        ("merged inserts", |counts| counts.merged_inserts, 0.05),
        // The undo, system and bitmap pages of the server are not all simulated.
        ("pages written", |counts| counts.pages_written, 0.15),
        ("redo bytes", |counts| counts.redo_bytes, 0.10),
    ];
    for (name, part, bound) in parts {
        let sum = |all: &[(u64, Counts)]| all.iter().map(|(_, counts)| part(counts)).sum::<f64>();
        let whole = sum(&simulated) / sum(&measured);
        assert!((whole - 1.0).abs() <= bound, "{name}: {whole:.3} of the measured count");
        for ((rows, real), (_, ours)) in measured.iter().zip(&simulated) {
            let ratio = part(ours) / part(real);
            if 2_000_000 < *rows {
                assert!((ratio - 1.0).abs() <= 2.0 * bound, "{name} at {rows} rows: {ratio:.3}");
            }
        }
    }
    for ((rows, real), (_, ours)) in measured.iter().zip(&simulated) {
        if 1_500_000 <= *rows {
            assert!((ours.buffer_pages - real.buffer_pages).abs() <= 5.0, "size at {rows} rows");
        }
    }
}
