//! What stands under the curve of a run: why it is what it is.

use cost_model::{Cause, Purpose};

use super::charts::{Chart, Charts, Curve, Form, kept, rounded, tell_apart};
use crate::report::{Point, RunResult};

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
    /// Adds what stands under the curve of a run, and returns the numbers. Charts of what the run
    /// does not have or did not do are left out.
    pub(super) fn add_panels(&mut self, name: &str, run: &RunResult) -> Vec<usize> {
        let points = &run.points;
        let rates: Vec<_> = points.iter().map(|point| Some(point.rows_per_s)).collect();
        let kept = kept(&rates);
        let clients = run.totals.client_s / run.totals.virtual_s;
        let intervals: Vec<_> = kept
            .iter()
            .enumerate()
            .map(|(number, &i)| Interval {
                before: i.checked_sub(1).map(|i| &points[i]),
                point: &points[i],
                since: &points[number.checked_sub(1).map_or(0, |n| kept[n] + 1)..=i],
                clients,
            })
            .collect();
        self.x.push(intervals.iter().map(|i| i.point.rows_full_scale).collect());
        let mut panels = Panels { charts: self, name, intervals, added: Vec::new() };
        panels.add_all();
        panels.added
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
            "Rate of rows, and of queries",
            "rows/s, queries/s",
            &[
                ("inserted", &|i| Some(i.point.rows_per_s)),
                ("mean since the start", &|i| Some(i.point.rows_per_s_mean)),
                ("deleted", &|i| Some(i.point.deletes_per_s)),
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
        // Neighbours in the list, which lie on each other, get unlike colours.
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
        if form == Form::Stack {
            tell_apart(&mut curves);
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
