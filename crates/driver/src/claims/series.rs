//! A column of a run's points against its rows, at full scale.

use serde_json::Value;

use crate::report::{Point, RunResult};

/// Shares of the clients' time by cause; several causes are joined with `+`.
pub(super) const SHARE: &str = "time";

/// Virtual seconds that pass for a row, and the part of them that is spent on causes:
/// `seconds_per_row.read`, `seconds_per_row.flush+free_page`.
pub(super) const COST: &str = "seconds_per_row";

/// What the mean of a column is weighted by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Weight {
    Rows,
    Seconds,
    Queries,
}

/// One column of a run.
pub(super) struct Series {
    intervals: Vec<Interval>,
    weight: Weight,
}

/// One reporting interval; rows and seconds are those of the full scale.
struct Interval {
    rows: [f64; 2],
    weight: f64,
    value: f64,
}

/// The mean of a column over a window of rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mean {
    /// The rows between which it is the mean.
    pub(super) rows: [f64; 2],
    pub(super) value: f64,
}

impl Series {
    /// The column of this dotted name; intervals that lack it are left out.
    pub(super) fn of(result: &RunResult, column: &str) -> Self {
        let weight = match column {
            "reads_per_query" => Weight::Queries,
            _ if column.ends_with("_per_row") || column.starts_with(COST) => Weight::Rows,
            _ => Weight::Seconds,
        };
        let mut intervals = Vec::new();
        let mut before = &Point::default();
        for point in &result.points {
            let seconds = point.virtual_s_full_scale - before.virtual_s_full_scale;
            let rows = [before.rows_full_scale as f64, point.rows_full_scale as f64];
            let weight = match weight {
                Weight::Rows => rows[1] - rows[0],
                Weight::Seconds => seconds,
                Weight::Queries => point.queries_per_s * seconds,
            };
            if let Some(value) = cell(point, column) {
                intervals.push(Interval { rows, weight, value });
            }
            before = point;
        }
        Self { intervals, weight }
    }

    /// Its mean between two row counts. A rate, which is weighted by time, thus comes out as rows
    /// by seconds.
    pub(super) fn mean(&self, [from, to]: [f64; 2]) -> Option<f64> {
        let (mut sum, mut weights) = (0.0, 0.0);
        for interval in self.between([from, to]) {
            let weight = interval.weight * self.share(interval, [from, to]);
            sum += interval.value * weight;
            weights += weight;
        }
        (0.0 < weights).then(|| sum / weights)
    }

    /// The sum of its values between two row counts: of a column that counts.
    pub(super) fn sum(&self, window: [f64; 2]) -> Option<f64> {
        let parts = self.between(window).map(|i| i.value * self.share(i, window));
        parts.reduce(|a, b| a + b)
    }

    /// Its value at the end of the interval that reaches `rows`: of a column that is a state.
    pub(super) fn state(&self, rows: f64) -> Option<f64> {
        let reached = self.intervals.iter().find(|interval| rows <= interval.rows[1]);
        reached.or(self.intervals.last()).map(|interval| interval.value)
    }

    /// Its means over windows of `width` rows, as far as whole windows fit.
    pub(super) fn means(&self, [from, to]: [f64; 2], width: f64) -> Vec<Mean> {
        let count = ((to - from) / width + 1e-6).floor() as u64;
        let windows = (0..count).map(|n| {
            let start = from + n as f64 * width;
            [start, start + width]
        });
        windows.filter_map(|rows| Some(Mean { rows, value: self.mean(rows)? })).collect()
    }

    fn between(&self, [from, to]: [f64; 2]) -> impl Iterator<Item = &Interval> {
        let first = self.intervals.partition_point(|interval| interval.rows[1] < from);
        self.intervals[first..].iter().take_while(move |interval| interval.rows[0] <= to)
    }

    /// The part of an interval that lies in the window. Intervals without rows are queries alone.
    fn share(&self, interval: &Interval, [from, to]: [f64; 2]) -> f64 {
        let [start, end] = interval.rows;
        if end <= start {
            return f64::from(u8::from(self.weight == Weight::Queries));
        }
        ((end.min(to) - start.max(from)) / (end - start)).max(0.0)
    }
}

/// Virtual seconds at full scale when a run had inserted so many rows.
pub(super) fn seconds_at(result: &RunResult, rows: f64) -> Option<f64> {
    let mut before = [0.0, 0.0];
    for point in &result.points {
        let [start, start_s] = before;
        let [end, end_s] = [point.rows_full_scale as f64, point.virtual_s_full_scale];
        if rows <= end {
            let share = if start < end { (rows - start) / (end - start) } else { 1.0 };
            return Some(start_s + share * (end_s - start_s));
        }
        before = [end, end_s];
    }
    (!result.points.is_empty()).then_some(before[1])
}

/// The number with this dotted name in a point.
fn cell(point: &Point, column: &str) -> Option<f64> {
    // What most metrics need comes without a detour through JSON.
    let shares = |causes: &str| -> Option<f64> {
        // A cause that never came up is not listed.
        let share = |cause| point.time.get(cause).copied().unwrap_or(0.0);
        (!point.time.is_empty()).then(|| causes.split('+').map(share).sum())
    };
    let (table, name) = column.split_once('.').unwrap_or((column, ""));
    match (table, name) {
        ("rows_per_s", "") => return Some(point.rows_per_s),
        ("reads_per_row", "") => return Some(point.reads_per_row),
        (SHARE, causes) => return shares(causes),
        (COST, causes) => {
            let share = if causes.is_empty() { 1.0 } else { shares(causes)? };
            return (0.0 < point.rows_per_s).then(|| share / point.rows_per_s);
        }
        _ => {}
    }
    number(&serde_json::to_value(point).ok()?, column)
}

/// The number at a dotted path.
pub(super) fn number(value: &Value, path: &str) -> Option<f64> {
    path.split('.').try_fold(value, |value, key| value.get(key))?.as_f64()
}
