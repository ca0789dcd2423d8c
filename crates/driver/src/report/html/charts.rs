//! What the charts of the page show, as data: the page's script draws it.
//!
//! A run may have thousands of points and a page thousands of curves, so the points of a long run
//! are thinned and the numbers rounded to five digits: more than a screen can show.

use cost_model::{Cause, Purpose};
use serde::Serialize;

use crate::report::{Point, RunResult};
use crate::scorecard::Figure;

/// Slices of a long run of which the least and the largest value are drawn.
const SLICES: usize = 180;

/// The charts of a page.
#[derive(Default, Serialize)]
pub(super) struct Charts {
    /// Rows at full scale: the x values that curves share, by [`Curve::x`].
    x: Vec<Vec<u64>>,
    charts: Vec<Chart>,
}

#[derive(Serialize)]
struct Chart {
    title: String,
    y_label: String,
    form: Form,
    log: bool,
    /// Charts of one group share their cursor and their zoom.
    group: String,
    curves: Vec<Curve>,
    marks: Vec<Mark>,
}

#[derive(Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Form {
    /// Curves over an axis from 0.
    Lines,
    /// The same over a logarithmic axis if they span more than a decade.
    #[serde(rename = "lines")]
    Rates,
    /// Curves over an axis that begins at the least value.
    Floating,
    /// One area on the other.
    Stack,
    /// A bar per reporting interval.
    Bars,
}

#[derive(Serialize)]
struct Curve {
    label: String,
    /// Number in the palette of lines, or of areas in a stack.
    colour: usize,
    x: usize,
    y: Vec<Option<f64>>,
}

#[derive(Serialize)]
struct Mark {
    x: f64,
    y: f64,
    label: String,
}

/// A reporting interval that is drawn.
struct Interval<'a> {
    /// The one just before, drawn or not.
    before: Option<&'a Point>,
    point: &'a Point,
    /// Those since the one that is drawn before this, itself included.
    since: &'a [Point],
    /// Clients of the run.
    clients: f64,
}

type Value<'a> = (&'a str, &'a dyn Fn(&Interval) -> Option<f64>);

impl Charts {
    /// The data as it stands in a script element: no character of it can end the element.
    pub(super) fn json(&self) -> String {
        let json = serde_json::to_string(self).expect("plain data with string keys");
        json.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e")
    }

    /// Adds a figure of an article, by its `name`, with the runs that exist; returns its number.
    pub(super) fn add_figure(
        &mut self,
        name: String,
        figure: &Figure,
        runs: &[(&str, &RunResult)],
    ) -> usize {
        let mut curves = Vec::new();
        for (colour, (label, run)) in runs.iter().enumerate() {
            let values: Vec<_> = run.points.iter().map(|point| column(point, &figure.y)).collect();
            let kept = kept(&values);
            self.x.push(kept.iter().map(|&i| run.points[i].rows_full_scale).collect());
            let y = kept.iter().map(|&i| values[i].map(rounded)).collect();
            curves.push(Curve { label: (*label).to_owned(), colour, x: self.x.len() - 1, y });
        }
        let mark = |mark: &crate::scorecard::Published| Mark {
            x: mark.rows,
            y: mark.value,
            label: mark.label.clone(),
        };
        self.add(Chart {
            title: figure.title.clone(),
            y_label: figure.y_label.clone(),
            form: Form::Lines,
            log: figure.log,
            group: name,
            curves,
            marks: figure.published.iter().map(mark).collect(),
        })
    }

    /// Adds what stands under the curve of a run, and returns the numbers. Charts of what the run
    /// does not have or did not do are left out.
    pub(super) fn add_panels(&mut self, name: &str, run: &RunResult) -> Vec<usize> {
        let rates: Vec<_> = run.points.iter().map(|point| Some(point.rows_per_s)).collect();
        let kept = kept(&rates);
        let clients = run.totals.client_s / run.totals.virtual_s;
        let intervals: Vec<_> = kept
            .iter()
            .enumerate()
            .map(|(number, &i)| Interval {
                before: i.checked_sub(1).map(|i| &run.points[i]),
                point: &run.points[i],
                since: &run.points[number.checked_sub(1).map_or(0, |n| kept[n] + 1)..=i],
                clients,
            })
            .collect();
        self.x.push(intervals.iter().map(|i| i.point.rows_full_scale).collect());
        let mut panels = Panels { charts: self, name, intervals, added: Vec::new() };
        panels.add_all();
        panels.added
    }

    /// The title of a chart.
    pub(super) fn title(&self, number: usize) -> &str {
        &self.charts[number].title
    }

    fn add(&mut self, chart: Chart) -> usize {
        self.charts.push(chart);
        self.charts.len() - 1
    }
}

/// The charts of one run in the making.
struct Panels<'a> {
    charts: &'a mut Charts,
    name: &'a str,
    intervals: Vec<Interval<'a>>,
    added: Vec<usize>,
}

impl Panels<'_> {
    fn add_all(&mut self) {
        self.panel(
            Form::Rates,
            "Rate",
            "operations/s",
            &[
                ("rows inserted", &|i| Some(i.point.rows_per_s)),
                ("rows inserted, mean since the start", &|i| Some(i.point.rows_per_s_mean)),
                ("rows deleted", &|i| Some(i.point.deletes_per_s)),
                ("queries", &|i| Some(i.point.queries_per_s)),
            ],
        );
        let time = |i: &Interval, name: &str| {
            let share = i.point.time.get(name).copied().unwrap_or(0.0);
            Some(share * i.clients / positive(i.point.rows_per_s)? * 1e6)
        };
        let causes = Cause::ALL.iter().map(|cause| cause.name()).enumerate();
        self.stack("Time of a row by what a client does or waits for", "us/row", causes, &time);
        let requests = |i: &Interval, name: &str| {
            let rows = i.point.rows - i.before.map_or(0, |before| before.rows);
            let requests = i.point.io.get(name).map_or(0, |io| io.requests);
            Some(requests as f64 / positive(rows as f64)?)
        };
        // There are more purposes than colours; neighbours in the list are made unlike.
        let purposes = Purpose::ALL.iter().enumerate().map(|(n, p)| (3 * n + 1, p.name()));
        self.stack("I/O by purpose", "requests/row", purposes, &requests);
        self.lines(
            "Pages of the data files",
            "pages/row",
            &[
                ("read", &|i| Some(i.point.reads_per_row)),
                ("written", &|i| Some(i.point.writes_per_row)),
            ],
        );
        self.lines(
            "Pages read by a query",
            "pages/query",
            &[("read", &|i| i.point.reads_per_query)],
        );
        self.panel(
            Form::Floating,
            "Hit ratio of the buffer pool",
            "share of page requests",
            &[("hit ratio", &|i| Some(i.point.hit_ratio))],
        );
        self.add_buffers();
        self.panel(
            Form::Rates,
            "Latency of an insert statement",
            "ms",
            &[
                ("median", &|i| Some(i.point.latency_us.p50 / 1e3)),
                ("99 %", &|i| Some(i.point.latency_us.p99 / 1e3)),
                ("99.9 %", &|i| Some(i.point.latency_us.p999 / 1e3)),
                ("longest", &|i| Some(i.point.latency_us.max / 1e3)),
            ],
        );
        self.panel(
            Form::Bars,
            "Stalls: periods of a second or more without a row",
            "stalls",
            &[("stalls", &|i| Some(i.since.iter().map(|p| p.stalls.count as f64).sum()))],
        );
        self.panel(
            Form::Bars,
            "The longest stall",
            "s",
            &[("longest", &|i| {
                Some(i.since.iter().map(|p| p.stalls.longest_ms / 1e3).fold(0.0, f64::max))
            })],
        );
    }

    /// What waits in memory or in the log.
    fn add_buffers(&mut self) {
        self.lines(
            "Dirty pages in the pool",
            "pages",
            &[("dirty", &|i| Some(i.point.dirty_pages as f64))],
        );
        self.lines(
            "Checkpoint age",
            "MiB of redo",
            &[("age", &|i| i.point.checkpoint_age_bytes.map(|b| b as f64 / f64::from(1 << 20)))],
        );
        self.lines(
            "Pages of the change buffer",
            "pages",
            &[("pages", &|i| i.point.change_buffer.map(|b| b.pages as f64))],
        );
        self.lines(
            "Entries in the change buffer",
            "entries",
            &[("entries", &|i| i.point.change_buffer.map(|b| b.entries as f64))],
        );
        self.lines(
            "Entries merged into a leaf that is read",
            "entries/leaf",
            &[("merged", &|i| {
                let buffer = i.point.change_buffer?;
                Some(buffer.merged_entries as f64 / positive(buffer.merges as f64)?)
            })],
        );
        self.lines(
            "Messages above the leaves",
            "messages",
            &[("pending", &|i| i.point.messages.map(|m| m.pending as f64))],
        );
    }

    fn lines(&mut self, title: &str, y_label: &str, values: &[Value]) {
        self.panel(Form::Lines, title, y_label, values);
    }

    /// A chart of those values that are ever other than 0.
    fn panel(&mut self, form: Form, title: &str, y_label: &str, values: &[Value]) {
        let x = self.charts.x.len() - 1;
        let curves = values.iter().enumerate().map(|(colour, (label, value))| {
            let y = self.intervals.iter().map(|i| value(i).map(rounded)).collect();
            Curve { label: (*label).to_owned(), colour, x, y }
        });
        self.add(form, title, y_label, curves.collect());
    }

    /// One area on the other; a name has the same colour in every run.
    fn stack<'n>(
        &mut self,
        title: &str,
        y_label: &str,
        names: impl Iterator<Item = (usize, &'n str)>,
        value: &dyn Fn(&Interval, &str) -> Option<f64>,
    ) {
        let x = self.charts.x.len() - 1;
        let curves = names.map(|(colour, name)| {
            let y = self.intervals.iter().map(|i| value(i, name).map(rounded)).collect();
            Curve { label: name.to_owned(), colour, x, y }
        });
        self.add(Form::Stack, title, y_label, curves.collect());
    }

    fn add(&mut self, form: Form, title: &str, y_label: &str, mut curves: Vec<Curve>) {
        curves.retain(|curve| curve.y.iter().flatten().any(|value| *value != 0.0));
        if curves.is_empty() {
            return;
        }
        let values = curves.iter().flat_map(|curve| &curve.y).flatten();
        let log = form == Form::Rates && spans_decades(values);
        let number = self.charts.add(Chart {
            title: title.to_owned(),
            y_label: y_label.to_owned(),
            form,
            log,
            group: format!("run {}", self.name),
            curves,
            marks: Vec::new(),
        });
        self.added.push(number);
    }
}

/// The value of a point that has this name in CSV, such as `io.leaf_read.pages`.
fn column(point: &Point, name: &str) -> Option<f64> {
    let point = serde_json::to_value(point).expect("plain data with string keys");
    point.pointer(&format!("/{}", name.replace('.', "/")))?.as_f64()
}

/// The numbers of the points to draw: all of a short run; the least and the largest value of each
/// slice of a long one, and its last point.
fn kept(values: &[Option<f64>]) -> Vec<usize> {
    if values.len() <= 2 * SLICES {
        return (0..values.len()).collect();
    }
    let mut kept = Vec::with_capacity(2 * SLICES + 1);
    for slice in 0..SLICES {
        let range = slice * values.len() / SLICES..(slice + 1) * values.len() / SLICES;
        let by_value = |a: &usize, b: &usize| {
            let value = |i: usize| values[i].unwrap_or(f64::NAN);
            value(*a).total_cmp(&value(*b))
        };
        kept.extend(range.clone().min_by(by_value));
        kept.extend(range.max_by(by_value));
    }
    kept.push(values.len() - 1);
    kept.sort_unstable();
    kept.dedup();
    kept
}

/// Whether the positive values span more than a factor of ten, as the figures of single runs ask.
fn spans_decades<'v>(values: impl Iterator<Item = &'v f64>) -> bool {
    let positive = values.copied().filter(|value| 0.0 < *value);
    let (least, most) =
        positive.fold((f64::INFINITY, 0.0), |(l, m): (f64, f64), v| (l.min(v), m.max(v)));
    10.0 * least < most
}

fn positive(value: f64) -> Option<f64> {
    (0.0 < value).then_some(value)
}

/// Five significant digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_run_keeps_all_points() {
        assert_eq!(kept(&[Some(2.0), None, Some(1.0)]), [0, 1, 2]);
        assert_eq!(kept(&[]), Vec::<usize>::new());
    }

    #[test]
    fn a_long_run_keeps_its_extremes_and_its_last_point() {
        let mut values = vec![Some(5.0); 10_000];
        values[1_234] = Some(9.0);
        values[7_777] = Some(0.5);
        let kept = kept(&values);
        assert!(kept.len() <= 2 * SLICES + 1, "{}", kept.len());
        for i in [1_234, 7_777, 9_999] {
            assert!(kept.contains(&i), "{i}");
        }
        assert!(kept.is_sorted());
    }

    #[test]
    fn columns_have_their_names_of_the_csv() {
        let mut point = Point { rows_per_s: 125.0, ..Point::default() };
        let io = crate::report::IoCount { requests: 1, pages: 7, bytes: 2 };
        point.io.insert("leaf_read".to_owned(), io);
        assert_eq!(column(&point, "rows_per_s"), Some(125.0));
        assert_eq!(column(&point, "io.leaf_read.pages"), Some(7.0));
        assert_eq!(column(&point, "checkpoint_age_bytes"), None);
    }

    #[test]
    fn five_digits_remain() {
        assert_eq!(rounded(123_456.0).to_string(), "123460");
        assert_eq!(rounded(0.000_123_454).to_string(), "0.00012345");
        assert_eq!(rounded(0.0).to_string(), "0");
    }
}
