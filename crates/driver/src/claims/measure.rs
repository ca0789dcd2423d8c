//! Metrics computed: the value, the facts it rests on, or why there is none.

use std::collections::BTreeMap;

use super::Planned;
use super::metric::{Limit, Metric, Span, Take, TimeUnit};
use super::series::{self, Series};
use super::waves;
use crate::report::RunResult;
use crate::report::text::{self, number};

/// Rows by which a run may miss the end of a window, as a share of them: amounts are rounded to
/// whole rows when they are scaled.
const ROUNDING: f64 = 1e-3;

/// Bytes of a GiB.
const GIB: f64 = 1_073_741_824.0;

/// Why a metric has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoValue {
    /// A run that does not exist yet or was not computed.
    NoRun(String),
    /// A run that does not have it.
    NoData(String),
}

/// The runs that metrics are computed of.
pub(super) struct Runs<'a> {
    pub(super) planned: &'a BTreeMap<String, Planned>,
    pub(super) results: &'a BTreeMap<String, RunResult>,
}

impl Runs<'_> {
    /// A run and the rows it was to insert.
    fn get(&self, name: &str) -> Result<(&RunResult, &Planned), NoValue> {
        let planned = self.planned.get(name);
        let planned = planned.ok_or_else(|| NoValue::NoRun(format!("no run {name}")))?;
        if let Err(reason) = &planned.rows {
            return Err(NoValue::NoRun(format!("{name}: {reason}")));
        }
        let result = self.results.get(name);
        let result = result.ok_or_else(|| NoValue::NoRun(format!("{name} was not run")))?;
        Ok((result, planned))
    }

    /// A run and a window of its rows, which it must have reached.
    fn window(
        &self,
        name: &str,
        from: f64,
        to: Option<f64>,
    ) -> Result<(&RunResult, [f64; 2]), NoValue> {
        let (result, planned) = self.get(name)?;
        let rows = planned.rows.as_ref().map_or(0.0, |rows| *rows);
        let to = to.unwrap_or(rows);
        let reached = result.points.last().map_or(0.0, |point| point.rows_full_scale as f64);
        if reached < to * (1.0 - ROUNDING) {
            let (reached, to) = (text::count(reached as u64), text::count(to as u64));
            return Err(NoValue::NoData(format!("{name} ended at {reached} of {to} rows")));
        }
        Ok((result, [from, to.min(reached)]))
    }
}

impl Metric {
    /// The value; what it was computed from is added to `facts`.
    pub(super) fn value(&self, runs: &Runs, facts: &mut Vec<String>) -> Result<f64, NoValue> {
        let value = match self {
            Self::Number { value } => return Ok(*value),
            Self::Ratio { of, to } => return Ok(of.value(runs, facts)? / to.value(runs, facts)?),
            Self::Difference { of, minus } => {
                return Ok(of.value(runs, facts)? - minus.value(runs, facts)?);
            }
            leaf => leaf.of_run(runs)?,
        };
        if !value.is_finite() {
            return Err(NoValue::NoData(format!("no finite {}", self.words())));
        }
        facts.push(format!("{} {}", self.words(), self.shown(value)));
        Ok(value)
    }

    /// The value of a metric of one run.
    fn of_run(&self, runs: &Runs) -> Result<f64, NoValue> {
        let none = || NoValue::NoData(format!("no {}", self.words()));
        let value = match self {
            Self::Rate(Span { run, from, to }) => {
                let (result, window) = runs.window(run, *from, *to)?;
                Series::of(result, "rows_per_s").mean(window)
            }
            Self::Time { run, from, to, unit } => {
                let (result, [from, to]) = runs.window(run, *from, *to)?;
                let seconds = |rows| series::seconds_at(result, rows);
                let passed = seconds(to).zip(seconds(from)).map(|(end, start)| end - start);
                passed.map(|seconds| seconds / unit.seconds())
            }
            Self::Column { run, column, from, to, take, window } => {
                let (result, rows) = runs.window(run, *from, *to)?;
                let series = Series::of(result, column);
                match take {
                    Take::Mean => series.mean(rows),
                    Take::PerRow => {
                        series.sum(rows).map(|sum| sum / (rows[1] - rows[0]) / scale_of(result))
                    }
                    Take::End => series.state(rows[1]),
                    Take::Max | Take::Min => waves::extreme(&series.means(rows, *window), *take),
                    Take::Spread => waves::spread(&series.means(rows, *window)),
                }
            }
            Self::Total { run, name } => {
                let (result, _) = runs.window(run, 0.0, None)?;
                let totals = serde_json::to_value(&result.totals).ok();
                totals.and_then(|totals| series::number(&totals, name))
            }
            Self::Crossing { run, column, window, limit } => {
                let (result, rows) = runs.window(run, 0.0, None)?;
                waves::crossing(&Series::of(result, column).means(rows, *window), *limit)
            }
            Self::Period { run, column, from, window } => {
                let (result, rows) = runs.window(run, *from, None)?;
                waves::period(&Series::of(result, column).means(rows, *window), *window)
            }
            Self::Phase { run, column, from, period, window, take } => {
                let (result, rows) = runs.window(run, *from, None)?;
                waves::phase(&Series::of(result, column).means(rows, *window), *period, *take)
            }
            Self::Folded { run, column, from, period, part } => {
                let (result, rows) = runs.window(run, *from, None)?;
                let series = Series::of(result, column);
                let means: Option<Vec<_>> =
                    waves::parts(rows, *period, *part).map(|window| series.mean(window)).collect();
                means.filter(|m| !m.is_empty()).map(|m| m.iter().sum::<f64>() / m.len() as f64)
            }
            Self::Size { run, to } => {
                let (result, window) = runs.window(run, 0.0, *to)?;
                let bytes = Series::of(result, "io.growth.bytes").sum(window);
                bytes.filter(|bytes| 0.0 < *bytes).map(|bytes| bytes / scale_of(result) / GIB)
            }
            Self::Number { .. } | Self::Ratio { .. } | Self::Difference { .. } => {
                unreachable!("no metric of one run")
            }
        };
        value.ok_or_else(none)
    }

    /// What is measured, in words.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Number { value } => format!("{value}"),
            Self::Rate(Span { run, from, to }) => format!("rows/s of {run}{}", rows(*from, *to)),
            Self::Time { run, from, to, .. } => format!("time of {run}{}", rows(*from, *to)),
            Self::Column { run, column, from, to, take, window } => {
                let windows = match take {
                    Take::Mean | Take::PerRow | Take::End => String::new(),
                    Take::Max | Take::Min | Take::Spread => {
                        format!(" (windows of {})", text::count(*window as u64))
                    }
                };
                format!("{} {column} of {run}{}{windows}", take.word(), rows(*from, *to))
            }
            Self::Total { run, name } => format!("total {name} of {run}"),
            Self::Crossing { run, column, limit, .. } => {
                format!("rows at which {column} of {run} is first {}", limit.words())
            }
            Self::Period { run, column, .. } => format!("period of {column} of {run}"),
            Self::Phase { run, column, period, take, .. } => format!(
                "distance from a multiple of {} to the {} {column} of {run}, as a share of it",
                text::count(*period as u64),
                take.word()
            ),
            Self::Folded { run, column, period, part: [start, end], .. } => format!(
                "{column} of {run} from {:.0} % to {:.0} % of every {} rows",
                start * 100.0,
                end * 100.0,
                text::count(*period as u64)
            ),
            Self::Size { run, to } => format!("size of {run}{}", rows(0.0, *to)),
            Self::Ratio { of, to } => format!("{} / {}", of.words(), to.words()),
            Self::Difference { of, minus } => format!("{} - {}", of.words(), minus.words()),
        }
    }

    fn shown(&self, value: f64) -> String {
        match self {
            Self::Size { .. } => format!("{} GiB", number(value)),
            Self::Time { unit, .. } => text::duration(value * unit.seconds()),
            Self::Column { column, .. } | Self::Folded { column, .. }
                if column.starts_with(series::COST) =>
            {
                text::duration(value)
            }
            _ => number(value),
        }
    }

    /// Adds the names of the runs it is computed of.
    pub(super) fn collect_runs(&self, runs: &mut Vec<String>) {
        match self {
            Self::Number { .. } => {}
            Self::Rate(Span { run, .. })
            | Self::Time { run, .. }
            | Self::Column { run, .. }
            | Self::Total { run, .. }
            | Self::Crossing { run, .. }
            | Self::Period { run, .. }
            | Self::Phase { run, .. }
            | Self::Folded { run, .. }
            | Self::Size { run, .. } => runs.push(run.clone()),
            Self::Ratio { of, to: other } | Self::Difference { of, minus: other } => {
                of.collect_runs(runs);
                other.collect_runs(runs);
            }
        }
    }
}

/// The scale of a run.
fn scale_of(result: &RunResult) -> f64 {
    result.totals.rows as f64 / result.totals.rows_full_scale as f64
}

/// A window of rows, as the end of a phrase.
fn rows(from: f64, to: Option<f64>) -> String {
    let count = |rows: f64| text::count(rows as u64);
    match (from, to) {
        (0.0, None) => String::new(),
        (0.0, Some(to)) => format!(" up to {}", count(to)),
        (from, None) => format!(" from {}", count(from)),
        (from, Some(to)) => format!(" from {} to {}", count(from), count(to)),
    }
}

impl Take {
    const fn word(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::PerRow => "per row",
            Self::End => "final",
            Self::Max => "highest",
            Self::Min => "lowest",
            Self::Spread => "relative spread of",
        }
    }
}

impl Limit {
    fn words(self) -> String {
        match self {
            Self::Above(value) => format!("above {}", number(value)),
            Self::AbovePeak(share) => format!("above {} of its peak", number(share)),
            Self::BelowPeak(share) => format!("below {} of its peak", number(share)),
        }
    }
}

impl TimeUnit {
    const fn seconds(self) -> f64 {
        match self {
            Self::Seconds => 1.0,
            Self::Hours => 3_600.0,
            Self::Days => 86_400.0,
        }
    }
}
