//! What a study reads off the results of its points.

use crate::report::{Point, RunResult};

/// A value of a reporting interval.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// As `docs/reports.md` calls it, if it is there.
    pub name: &'static str,
    /// What an axis says.
    pub label: &'static str,
    /// Its value at a point whose interval has so many rows; absent if the engine has no such
    /// thing.
    value: fn(&Point, f64) -> Option<f64>,
}

impl Measure {
    const fn new(
        name: &'static str,
        label: &'static str,
        value: fn(&Point, f64) -> Option<f64>,
    ) -> Self {
        Self { name, label, value }
    }

    /// All that a study can show.
    #[rustfmt::skip]
    pub const ALL: &'static [Self] = &[
        Self::new("rows_per_s", "Rows inserted per second", |p, _| Some(p.rows_per_s)),
        Self::new("rows_per_s_mean", "Rows inserted per second since the start", |p, _| Some(p.rows_per_s_mean)),
        Self::new("reads_per_row", "Pages read per row", |p, _| Some(p.reads_per_row)),
        Self::new("writes_per_row", "Pages written per row", |p, _| Some(p.writes_per_row)),
        Self::new("read_bytes_per_row", "Bytes read per row", |p, _| Some(p.read_bytes_per_row)),
        Self::new("write_bytes_per_row", "Bytes written per row", |p, _| Some(p.write_bytes_per_row)),
        Self::new("splits_per_row", "Pages split per row", |p, rows| Some(p.splits as f64 / rows)),
        Self::new("hit_ratio", "Share of requests that the pool answers", |p, _| Some(p.hit_ratio)),
        Self::new("dirty_pages", "Dirty pages", |p, _| Some(p.dirty_pages as f64)),
        Self::new("checkpoint_age_bytes", "Redo bytes since the last checkpoint", |p, _| Some(p.checkpoint_age_bytes? as f64)),
        Self::new("change_buffer.entries", "Entries in the change buffer", |p, _| Some(p.change_buffer?.entries as f64)),
        Self::new("merges_per_row", "Leaves merged per row", |p, rows| Some(p.change_buffer?.merges as f64 / rows)),
        Self::new("stalls.longest_ms", "Longest stall, ms", |p, _| Some(p.stalls.longest_ms)),
        Self::new("latency_us.max", "Slowest statement, us", |p, _| Some(p.latency_us.max)),
    ];

    /// The measure of a name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|measure| measure.name == name).copied()
    }

    /// The curve of a run: rows at full scale and the value there.
    pub fn curve(&self, result: &RunResult) -> Vec<(f64, f64)> {
        let mut before = 0;
        let points = result.points.iter().filter_map(|point| {
            let rows = point.rows.saturating_sub(before).max(1);
            before = point.rows;
            Some((point.rows_full_scale as f64, (self.value)(point, rows as f64)?))
        });
        points.collect()
    }

    /// The value in the interval in which a run reaches `rows` at full scale; absent if it ends
    /// before.
    pub fn at(&self, result: &RunResult, rows: u64) -> Option<f64> {
        self.curve(result).into_iter().find(|(reached, _)| rows as f64 <= *reached).map(|(_, v)| v)
    }
}

/// A run in a few numbers. Rows are at full scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Rows inserted.
    pub rows: u64,
    /// Hours of virtual time at full scale.
    pub hours: f64,
    /// The highest rate of an interval, in rows per second.
    pub peak: f64,
    /// The rate of the last interval.
    pub last: f64,
    /// The mean rate.
    pub mean: f64,
    /// The end of the first interval in which pages were read.
    pub first_read: Option<u64>,
    /// The end of the first interval after the fastest with half its rate or less.
    pub half_peak: Option<u64>,
    /// Pages read per row, mean of the run.
    pub reads_per_row: f64,
    /// Pages written per row, mean of the run.
    pub writes_per_row: f64,
}

impl Summary {
    /// The numbers of a run.
    pub fn of(result: &RunResult) -> Self {
        let (points, totals) = (&result.points, &result.totals);
        let peak = points.iter().map(|point| point.rows_per_s).fold(0.0, f64::max);
        let fastest = points.iter().position(|point| peak <= point.rows_per_s).unwrap_or(0);
        let first = |mut points: std::slice::Iter<Point>, is: &dyn Fn(&Point) -> bool| {
            points.find(|point| is(point)).map(|point| point.rows_full_scale)
        };
        Self {
            rows: totals.rows_full_scale,
            hours: totals.virtual_s_full_scale / 3_600.0,
            peak,
            last: points.last().map_or(0.0, |point| point.rows_per_s),
            mean: totals.rows_per_s_mean,
            first_read: first(points.iter(), &|point| 0.0 < point.reads_per_row),
            half_peak: first(points[fastest..].iter(), &|point| point.rows_per_s <= peak / 2.0),
            reads_per_row: totals.reads_per_row_mean,
            writes_per_row: totals.writes_per_row_mean,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_known() {
        for (number, measure) in Measure::ALL.iter().enumerate() {
            assert_eq!(Measure::ALL.iter().position(|m| m.name == measure.name), Some(number));
        }
        assert!(Measure::find("splits_per_row").is_some());
        assert!(Measure::find("speed").is_none());
    }
}
