//! Explains a run: one insert followed page by page, and where the time of the average row goes.
//!
//! ```
//! use driver::explain::Explanation;
//! use driver::scenario::Scenario;
//!
//! let sets = ["workload.rows=20000".to_owned(), "report.every_rows=5000".to_owned()];
//! let scenario = Scenario::load("measured-none-64m", &sets, None)?;
//! let explanation = Explanation::new(&scenario, 15_000, &mut |_| {})?;
//! let mut text = Vec::new();
//! explanation.write(&mut text)?;
//! assert!(String::from_utf8(text)?.contains("Where the time of the average row goes"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod average;
mod insert;

use std::io::{self, Write};

use crate::report::{Point, RunResult, text};
use crate::run::{Run, RunError, Update};
use crate::scenario::Scenario;

use average::Average;
use insert::InsertStory;

/// What there is to say about the cost of a row at one moment of a run.
#[derive(Clone, Debug)]
pub struct Explanation {
    title: String,
    heading: String,
    /// The story of an insert, or why there is none.
    insert: Result<InsertStory, String>,
    average: Option<Average>,
}

/// Rows in the table, at the scale of the run, when the last insert comes that can be followed:
/// while one client inserts it, each of the others may hold a row of its own.
pub fn last_row(scenario: &Scenario) -> u64 {
    scenario.workload.rows.saturating_sub(u64::from(scenario.workload.clients))
}

impl Explanation {
    /// Runs a scenario until about `rows` rows are in the table, at its scale, and follows the
    /// next insert. `observe` is told at the end of every interval how far the run is.
    ///
    /// The reporting intervals are shortened so that one of them, whose means are explained, ends
    /// just before the insert; for that `rows` is lowered by less than one row per interval.
    ///
    /// # Errors
    /// The key stream cannot be opened.
    pub fn new(
        scenario: &Scenario,
        rows: u64,
        observe: &mut dyn FnMut(&Update),
    ) -> Result<Self, RunError> {
        let mut scenario = scenario.clone();
        let rows = rows.min(last_row(&scenario));
        let intervals = rows.div_ceil(scenario.report.every_rows).max(1);
        scenario.report.every_rows = (rows / intervals).max(1);
        let rows = rows.min(scenario.report.every_rows * intervals);
        let mut run = Run::measured_up_to(&scenario, rows)?;
        while run.rows() < rows {
            run.advance((run.rows() + scenario.report.every_rows).min(rows));
            observe(&Update { rows_total: rows, ..run.update() });
        }
        let insert = if scenario.fractal.is_some() {
            Err(NO_PAGES.to_owned())
        } else {
            let insert = run.follow_insert().map(|insert| InsertStory::new(&insert, &run));
            insert.ok_or_else(|| no_row(&scenario, &run))
        };
        let leaf_bytes = run.leaf_bytes();
        let RunResult { points, .. } = run.finish();
        let heading = format!(
            "{}, scale {}, seed {}, with {} rows in the table{}",
            scenario.name,
            scenario.scale,
            scenario.seed,
            text::grouped(points.last().map_or(0, |point| point.rows_live)),
            at_full_scale(&scenario, rows),
        );
        let average =
            interval(&points).map(|(rows, point)| Average::new(&scenario, point, rows, leaf_bytes));
        Ok(Self { title: scenario.title, heading, insert, average })
    }

    /// Writes the explanation as text of at most 100 columns.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for paragraph in [&self.title, &self.heading] {
            text::write_hanging("", paragraph, out)?;
        }
        writeln!(out)?;
        match &self.insert {
            Ok(insert) => insert.write(out)?,
            Err(reason) => text::write_hanging("", reason, out)?,
        }
        writeln!(out)?;
        match &self.average {
            Some(average) => average.write(out),
            None => writeln!(out, "There is no average yet: this was the first row."),
        }
    }
}

/// Why no insert into a fractal tree is followed.
const NO_PAGES: &str = "An insert into a fractal tree leaves a message in a node of each index and \
    has no pages of its own that one could follow: later, messages move down together, one buffer \
    full of them at a time.";

/// Why no client could insert a row on its own.
fn no_row(scenario: &Scenario, run: &Run) -> String {
    if run.sorts_rows() {
        format!(
            "No insert is followed here, because no row is inserted on its own: the {} rows of a \
             statement enter the primary key one by one, and then, sorted, each of the other \
             indexes (statement.bulk_rows).",
            text::grouped(scenario.workload.rows_per_statement)
        )
    } else {
        "No client could insert a row on its own here.".to_owned()
    }
}

/// The last point and the rows of its interval.
fn interval(points: &[Point]) -> Option<(u64, &Point)> {
    let (last, before) = points.split_last()?;
    Some((last.rows - before.last().map_or(0, |point| point.rows), last))
}

/// ` (596M at full scale)` if that is not the scale of the run.
fn at_full_scale(scenario: &Scenario, rows: u64) -> String {
    match scenario.scale.full(rows) {
        full if full == rows => String::new(),
        full => format!(" ({} at full scale)", text::count(full)),
    }
}
