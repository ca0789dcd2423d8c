//! The same server with other settings: pools, limits, changes that are buffered.

use std::sync::LazyLock;

use driver::report::Point;

use crate::measured::{SAMPLE_ROWS, lines, number};
use crate::simulated;
use crate::window::{buffer, inserts};

/// Counts that are farther off than a tenth: part of the run's name, the count, the bound.
const EXCEPTIONS: [(&str, &str, f64); 4] = [
    ("fifo-all-32m pool.size", "pages read", 0.2),
    ("fifo-all-32m pool.size", "leaf reads", 0.15),
    ("fifo-all-32m pool.size", "pages written", 0.2),
    ("fifo-all-32m pool.size", "merges", 0.15),
];

/// One count of one run, per row of its interval.
#[derive(Clone, Debug)]
pub(crate) struct Count {
    pub(crate) run: String,
    pub(crate) name: &'static str,
    pub(crate) measured: f64,
    pub(crate) simulated: f64,
}

impl Count {
    /// How far the ratio of the two may be from 1.
    pub(crate) fn bound(&self) -> f64 {
        let exception =
            EXCEPTIONS.iter().find(|(run, name, _)| self.run.contains(run) && self.name == *name);
        exception.map_or(0.1, |(.., bound)| *bound)
    }
}

/// A count: its name, and how it is simulated.
pub(crate) type Part = (&'static str, fn(&Point) -> f64);

/// In the order of the columns of `settings.csv`.
pub(crate) const PARTS: [Part; 11] = [
    ("pages read", |point| per_point(point.reads_per_row)),
    ("leaf reads", |point| simulated::leaf_reads(point) as f64),
    ("pages written", |point| per_point(point.writes_per_row)),
    ("page requests", |point| per_point(point.page_requests_per_row)),
    ("redo bytes", |point| per_point(point.redo_bytes_per_row.unwrap_or_default())),
    ("merges", |point| buffer(point).merges as f64),
    ("merged inserts", |point| inserts(&buffer(point))),
    ("merged delete marks", |point| buffer(point).merged_delete_marks as f64),
    ("merged deletes", |point| buffer(point).merged_deletes as f64),
    ("splits", |point| (point.splits + buffer(point).splits) as f64),
    ("joins", |point| (point.coalesces + buffer(point).joins) as f64),
];

/// All runs with other settings.
pub(crate) static COUNTS: LazyLock<Vec<Count>> = LazyLock::new(|| {
    std::thread::scope(|scope| {
        let runs: Vec<_> = lines(include_str!("settings.csv"))
            .map(|line| scope.spawn(move || counts(line)))
            .collect();
        runs.into_iter().flat_map(|run| run.join().expect("a run ends")).collect()
    })
});

fn counts(line: [&'static str; 16]) -> Vec<Count> {
    let [experiment, set, row_us, from, to, counted @ ..] = line;
    let mut sets: Vec<String> = set.split(' ').map(str::to_owned).collect();
    sets.push(format!("machine.cpu.row={row_us}us"));
    sets.push(format!("report.every_rows={SAMPLE_ROWS}"));
    let points = simulated::points(&simulated::load(experiment, &sets));
    let (from, to) = (number(from), number(to));
    let within = |point: &&Point| from < point.rows && point.rows <= to;
    let per_row = |sum: f64| sum / (to - from) as f64;
    let run = format!("{experiment} {}", set.split(" workload").next().unwrap_or(set));
    let count = |(&(name, simulated), measured): (&Part, &str)| Count {
        run: run.clone(),
        name,
        measured: per_row(number(measured) as f64),
        simulated: per_row(points.iter().filter(within).map(simulated).sum()),
    };
    PARTS.iter().zip(counted).map(count).filter(|count| 0.0 < count.measured).collect()
}

fn per_point(per_row: f64) -> f64 {
    per_row * SAMPLE_ROWS as f64
}
