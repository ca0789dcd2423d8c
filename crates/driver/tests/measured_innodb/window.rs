//! A window of a million rows that loses as many rows as it gets: marks, purges and their merges.

use std::sync::LazyLock;

use driver::report::Point;

use crate::measured::{SAMPLE_ROWS, lines};
use crate::simulated;

/// The two runs: without and with the change buffer.
pub(crate) const RUNS: [&str; 2] = ["measured-fifo-none-32m", "measured-fifo-all-32m"];

/// One count of one run over all intervals in which rows were deleted, per row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Count {
    pub(crate) run: &'static str,
    pub(crate) name: &'static str,
    pub(crate) measured: f64,
    pub(crate) simulated: f64,
    /// How far the ratio of the two may be from 1.
    pub(crate) bound: f64,
}

/// A count: its name, how it is simulated, and how far its ratio may be from 1 in each run.
type Part = (&'static str, fn(&Point) -> f64, [f64; 2]);

/// In the order of the columns of `window.csv`.
const PARTS: [Part; 7] = [
    ("leaf reads", |point| simulated::leaf_reads(point) as f64, [0.1, 0.1]),
    ("pages written", |point| point.writes_per_row * SAMPLE_ROWS as f64, [0.1, 0.1]),
    ("redo bytes", |point| point.redo_bytes_per_row.unwrap() * SAMPLE_ROWS as f64, [0.1, 0.1]),
    ("merges", |point| buffer(point).merges as f64, [0.0, 0.1]),
    ("merged inserts", |point| inserts(&buffer(point)), [0.0, 0.1]),
    ("merged delete marks", |point| buffer(point).merged_delete_marks as f64, [0.0, 0.1]),
    ("merged deletes", |point| buffer(point).merged_deletes as f64, [0.0, 0.1]),
];

pub(crate) static COUNTS: LazyLock<Vec<Count>> = LazyLock::new(|| {
    let lines: Vec<[&'static str; 9]> = lines(include_str!("window.csv")).collect();
    let mut counts = Vec::new();
    for (number, name) in RUNS.iter().enumerate() {
        let measured = lines.iter().filter(|line| line[0] == *name);
        let rows: Vec<u64> = measured.clone().map(|line| line[1].parse().unwrap()).collect();
        let points = simulated::points(&simulated::load(name, &[]));
        let points = points.iter().filter(|point| rows.contains(&point.rows));
        let per_row = |sum: f64| sum / (rows.len() as u64 * SAMPLE_ROWS) as f64;
        for (column, (part, simulated, bounds)) in PARTS.into_iter().enumerate() {
            let of = |line: &[&str; 9]| line[column + 2].parse::<f64>().unwrap();
            counts.push(Count {
                run: name,
                name: part,
                measured: per_row(measured.clone().map(of).sum()),
                simulated: per_row(points.clone().map(simulated).sum()),
                bound: bounds[number],
            });
        }
    }
    counts
});

pub(crate) fn buffer(point: &Point) -> driver::report::ChangeBuffer {
    point.change_buffer.unwrap_or_default()
}

/// Entries merged that were inserts.
pub(crate) fn inserts(buffer: &driver::report::ChangeBuffer) -> f64 {
    (buffer.merged_entries - buffer.merged_delete_marks - buffer.merged_deletes) as f64
}
