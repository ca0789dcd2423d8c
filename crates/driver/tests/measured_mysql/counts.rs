//! What servers counted in intervals of [`INTERVAL_ROWS`], and what is simulated.

use std::sync::LazyLock;

use driver::report::{ChangeBuffer, Point};

use crate::points;

/// Rows of an interval.
const INTERVAL_ROWS: u64 = 500_000;

/// Intervals beyond these rows are held to bounds; until there the pool, or the buffer, fills.
const HELD_FROM_ROWS: u64 = 1_000_000;

/// A server's settings, and the experiment that repeats the run with them.
const RUNS: [(&str, &str, &[&str]); 5] = [
    ("5.5.34 none", "measured-mysql-none-64m", &[]),
    ("5.5.34 inserts", "measured-mysql-inserts-64m", &[]),
    ("5.5.34 all", "measured-mysql-all-64m", &[]),
    (
        "5.5.9 inserts",
        "measured-mysql-inserts-64m",
        &["engine.join_right=false", "workload.rows=5_000_000"],
    ),
    ("5.5.9 all", "measured-mysql-all-64m", &["engine.join_right=false"]),
];

/// What happened in an interval, and how big the buffer was after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    rows: u64,
    pages_read: u64,
    pages_written: u64,
    redo_bytes: u64,
    merges: u64,
    merged_inserts: u64,
    buffer_pages: u64,
}

/// A count, and how far the ratio of the simulated to the measured one may be from 1.
pub(crate) struct Part {
    pub(crate) name: &'static str,
    of: fn(&Counts) -> f64,
    digits: usize,
    bound: f64,
}

/// The run, the count and the bound that is wider: 5.5.9 keeps entries by a rule that is not known.
const WIDER: (&str, &str, f64) = ("5.5.9 all", MERGES, 0.16);

const MERGES: &str = "merges a row";

pub(crate) const PARTS: [Part; 6] = [
    part("pages read a row", |counts| per_row(counts.pages_read), 4, 0.12),
    part("pages written a row", |counts| per_row(counts.pages_written), 4, 0.15),
    part("redo bytes a row", |counts| per_row(counts.redo_bytes), 1, 0.07),
    part(MERGES, |counts| per_row(counts.merges), 4, 0.10),
    part("merged a row", |counts| per_row(counts.merged_inserts), 4, 0.03),
    part("buffer pages", |counts| counts.buffer_pages as f64, 0, 0.07),
];

/// A run, measured and simulated.
pub(crate) struct Compared {
    pub(crate) name: &'static str,
    intervals: Vec<(Counts, Counts)>,
}

pub(crate) static COMPARED: LazyLock<Vec<Compared>> = LazyLock::new(|| {
    RUNS.iter()
        .map(|&(name, experiment, sets)| {
            let simulated = simulated(&points(experiment, sets));
            let measured: Vec<Counts> = measured(name).collect();
            assert_eq!(measured.len(), simulated.len(), "{name}");
            let intervals: Vec<_> = measured.into_iter().zip(simulated).collect();
            assert!(intervals.iter().all(|(measured, simulated)| measured.rows == simulated.rows));
            Compared { name, intervals }
        })
        .collect()
});

impl Compared {
    /// Intervals that are held to bounds.
    pub(crate) fn held(&self) -> impl Iterator<Item = &(Counts, Counts)> {
        self.intervals.iter().filter(|(measured, _)| HELD_FROM_ROWS < measured.rows)
    }

    pub(crate) fn bound(&self, part: &Part) -> f64 {
        let (run, count, wider) = WIDER;
        if (self.name, part.name) == (run, count) { wider } else { part.bound }
    }
}

impl Part {
    /// Simulated / measured; `None` if nothing was counted.
    pub(crate) fn ratio(&self, (measured, simulated): &(Counts, Counts)) -> Option<f64> {
        let measured = (self.of)(measured);
        (measured != 0.0).then(|| (self.of)(simulated) / measured)
    }
}

/// The redo of transactions of one row each.
pub(crate) struct Transactions {
    pub(crate) settings: &'static str,
    /// Bytes a row, between 50,000 and 100,000 rows.
    pub(crate) measured: f64,
    sets: &'static [&'static str],
}

pub(crate) const TRANSACTIONS: [Transactions; 2] = [
    Transactions { settings: "without a binary log", measured: 314.5, sets: &[] },
    Transactions {
        settings: "with a binary log",
        measured: 502.4,
        sets: &["commit.binlog=written"],
    },
];

impl Transactions {
    pub(crate) fn simulated(&self) -> f64 {
        let mut sets = vec![
            "pool.size=256MiB",
            "workload.rows=100_000",
            "workload.rows_per_statement=1",
            "workload.rows_per_commit=1",
            "report.every_rows=50_000",
            "report.window=50_000",
        ];
        sets.extend(self.sets);
        let points = points("measured-mysql-inserts-64m", &sets);
        points[1].redo_bytes_per_row.expect("the engine has a log")
    }
}

/// A line for each interval of each run, a column for each count.
pub(crate) fn table() -> String {
    let names = PARTS.map(|part| part.name).join(" | ");
    let mut lines = vec![format!("| server | rows | {names} |"), "| --- ".repeat(8) + "|"];
    for run in COMPARED.iter() {
        lines.extend(run.intervals.iter().map(|interval| {
            let cells = PARTS.each_ref().map(|part| part.cell(interval)).join(" | ");
            format!("| {} | {:.1}M | {cells} |", run.name, interval.0.rows as f64 / 1e6)
        }));
    }
    lines.join("\n")
}

pub(crate) fn transactions_table() -> String {
    let head = "| one row a transaction | measured | simulated | ratio |";
    let lines = TRANSACTIONS.iter().map(|transaction| {
        let (measured, simulated) = (transaction.measured, transaction.simulated());
        let (settings, ratio) = (transaction.settings, simulated / measured);
        format!("| {settings} | {measured:.1} B | {simulated:.1} B | {ratio:.3} |")
    });
    let head = [head.to_owned(), "| --- ".repeat(4) + "|"];
    head.into_iter().chain(lines).collect::<Vec<_>>().join("\n")
}

impl Part {
    fn cell(&self, interval: &(Counts, Counts)) -> String {
        let digits = self.digits;
        let [measured, simulated] = [&interval.0, &interval.1].map(self.of);
        match self.ratio(interval) {
            Some(ratio) => format!("{measured:.digits$} / {simulated:.digits$} / {ratio:.3}"),
            None => String::new(),
        }
    }
}

fn measured(run: &str) -> impl Iterator<Item = Counts> {
    let lines = include_str!("counts.csv").lines().skip(1);
    lines.filter_map(move |line| {
        let (name, counts) = line.split_once(',').expect("a run");
        let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("{line}"));
        (name == run).then(|| counts.split(',').map(number).collect::<Vec<u64>>()).map(counts_of)
    })
}

fn counts_of(numbers: Vec<u64>) -> Counts {
    let [rows, pages_read, pages_written, redo_bytes, merges, merged_inserts, buffer_pages] =
        numbers.try_into().expect("seven counts");
    Counts { rows, pages_read, pages_written, redo_bytes, merges, merged_inserts, buffer_pages }
}

fn simulated(points: &[Point]) -> Vec<Counts> {
    let each = (INTERVAL_ROWS / points[0].rows) as usize;
    points.chunks(each).map(interval).collect()
}

fn interval(points: &[Point]) -> Counts {
    let last = points.last().expect("an interval has points");
    let rows = INTERVAL_ROWS as f64 / points.len() as f64;
    let sum = |of: fn(&Point) -> f64| (points.iter().map(of).sum::<f64>() * rows).round() as u64;
    let buffer = |of: fn(&ChangeBuffer) -> u64| {
        points.iter().filter_map(|point| point.change_buffer.as_ref()).map(of).sum::<u64>()
    };
    Counts {
        rows: last.rows,
        pages_read: sum(|point| point.reads_per_row),
        pages_written: sum(|point| point.writes_per_row),
        redo_bytes: sum(|point| point.redo_bytes_per_row.expect("the engine has a log")),
        merges: buffer(|buffer| buffer.merges),
        merged_inserts: buffer(|buffer| buffer.merged_entries),
        buffer_pages: last.change_buffer.as_ref().map_or(0, |buffer| buffer.pages),
    }
}

fn per_row(count: u64) -> f64 {
    count as f64 / INTERVAL_ROWS as f64
}

const fn part(name: &'static str, of: fn(&Counts) -> f64, digits: usize, bound: f64) -> Part {
    Part { name, of, digits, bound }
}
