//! What the charts of the page show, as data: the page's script draws it.
//!
//! A run may have thousands of points and a page thousands of curves, so the points of a long run
//! are thinned and the numbers rounded to five digits: more than a screen can show.

use serde::Serialize;

use crate::report::{Point, RunResult};
use crate::scorecard::{Figure, Published};

/// Slices of a long run of which the least and the largest value are drawn.
const SLICES: usize = 180;

/// Colours of areas in the style sheet.
const AREA_COLOURS: usize = 10;

/// The charts of a page.
#[derive(Default, Serialize)]
pub(super) struct Charts {
    /// Rows at full scale: the x values that curves share, by [`Curve::x`].
    pub(super) x: Vec<Vec<u64>>,
    charts: Vec<Chart>,
}

#[derive(Serialize)]
pub(super) struct Chart {
    pub(super) title: String,
    pub(super) y_label: String,
    pub(super) form: Form,
    pub(super) log: bool,
    /// Charts of one group share their cursor and their zoom.
    pub(super) group: String,
    pub(super) curves: Vec<Curve>,
    pub(super) marks: Vec<Mark>,
}

#[derive(Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Form {
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
pub(super) struct Curve {
    pub(super) label: String,
    /// Number in the palette of lines, or of areas in a stack.
    pub(super) colour: usize,
    pub(super) x: usize,
    pub(super) y: Vec<Option<f64>>,
}

#[derive(Serialize)]
pub(super) struct Mark {
    x: f64,
    y: f64,
    label: String,
}

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
            let points = &run.points;
            let values: Vec<_> = points.iter().map(|point| column(point, &figure.y)).collect();
            let kept = kept(&values);
            self.x.push(kept.iter().map(|&i| points[i].rows_full_scale).collect());
            let y = kept.iter().map(|&i| values[i].map(rounded)).collect();
            curves.push(Curve { label: (*label).to_owned(), colour, x: self.x.len() - 1, y });
        }
        let mark =
            |mark: &Published| Mark { x: mark.rows, y: mark.value, label: mark.label.clone() };
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

    /// The title of a chart.
    pub(super) fn title(&self, number: usize) -> &str {
        &self.charts[number].title
    }

    /// Adds a chart and returns its number.
    pub(super) fn add(&mut self, chart: Chart) -> usize {
        self.charts.push(chart);
        self.charts.len() - 1
    }
}

/// Gives the lesser of two areas of one colour another that is free.
pub(super) fn tell_apart(curves: &mut [Curve]) {
    let size = |curve: &Curve| curve.y.iter().flatten().sum::<f64>();
    let mut by_size: Vec<_> = curves.iter_mut().collect();
    by_size.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let mut taken = [false; AREA_COLOURS];
    for curve in by_size {
        let mut wanted = (0..AREA_COLOURS).map(|n| (curve.colour + n) % AREA_COLOURS);
        curve.colour = wanted.find(|colour| !taken[*colour]).unwrap_or(curve.colour);
        taken[curve.colour % AREA_COLOURS] = true;
    }
}

/// The value of a point that has this name in CSV, such as `io.leaf_read.pages`.
fn column(point: &Point, name: &str) -> Option<f64> {
    let point = serde_json::to_value(point).expect("plain data with string keys");
    point.pointer(&format!("/{}", name.replace('.', "/")))?.as_f64()
}

/// The numbers of the points to draw: all of a short run; the least and the largest value of each
/// slice of a long one, and its last point.
pub(super) fn kept(values: &[Option<f64>]) -> Vec<usize> {
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

/// Five significant digits.
pub(super) fn rounded(value: f64) -> f64 {
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
    fn areas_of_one_chart_differ_and_the_largest_keep_their_colour() {
        let curve = |colour, value| Curve {
            label: String::new(),
            colour,
            x: 0,
            y: vec![Some(value), None],
        };
        let mut curves = vec![curve(4, 1.0), curve(14, 9.0), curve(5, 2.0), curve(0, 0.5)];
        tell_apart(&mut curves);
        assert_eq!(curves.iter().map(|curve| curve.colour).collect::<Vec<_>>(), [6, 4, 5, 0]);
        let mut many: Vec<_> = (0..13).map(|colour| curve(colour, 1.0)).collect();
        tell_apart(&mut many);
        assert!((0..AREA_COLOURS).all(|colour| many.iter().any(|curve| curve.colour == colour)));
    }

    #[test]
    fn five_digits_remain() {
        assert_eq!(rounded(123_456.0).to_string(), "123460");
        assert_eq!(rounded(0.000_123_454).to_string(), "0.00012345");
        assert_eq!(rounded(0.0).to_string(), "0");
    }
}
