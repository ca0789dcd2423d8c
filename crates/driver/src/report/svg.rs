//! The rate curve as a figure: rows per second against rows in the table, reads per row below.
//!
//! Written by hand on purpose: the figure needs a logarithmic axis, markers with labels that keep
//! clear of each other and two panels over one x axis. Of the SVG plotters, poloto has none of the
//! three, and plotters brings an unmaintained font stack. What is left to write is a few elements.
//!
//! The colours follow the reader's light or dark setting. Every class is below `.iisim`, so the
//! figure can stand inside an HTML page. Text is measured by an average character width, because
//! fonts are the reader's.

mod axis;
mod canvas;
pub mod family;
pub mod heat;
mod labels;

use std::io::{self, Write};

use self::axis::Axis;
use self::canvas::{Anchor, Canvas};
use self::labels::{Area, Labels};
use super::text::{count, rate, wrap};
use super::{Manifest, Point, RunResult};

/// A published measurement to be drawn as a marker.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedPoint {
    /// Rows at full scale at which it was measured.
    pub rows: u64,
    /// The published rate in rows inserted per second.
    pub rows_per_s: f64,
    /// Who measured what, such as `S4.10 Callaghan: 125 rows/s`.
    pub label: String,
}

const WIDTH: f64 = 960.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = WIDTH - 36.0;
const RATE_HEIGHT: f64 = 340.0;
const READS_HEIGHT: f64 = 110.0;
const CHARACTER_WIDTH: f64 = 6.4;
const COLOURS: usize = 6;

/// Draws the runs in one figure, with published measurements beside them.
///
/// # Errors
/// Those of `out`.
pub fn write(
    runs: &[RunResult],
    published: &[PublishedPoint],
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut canvas = Canvas::default();
    let title = title(runs);
    let y = draw_heading(&mut canvas, runs, &title);
    let y = draw_legend(&mut canvas, runs, published, y);

    let rows = runs.iter().flat_map(|run| &run.points).map(|point| point.rows_full_scale);
    let rows_max = rows.chain(published.iter().map(|mark| mark.rows)).max().unwrap_or(0);
    let x_axis = Axis::linear_exact(if rows_max == 0 { 1.0 } else { millions(rows_max) }, 10);

    let points = || runs.iter().flat_map(|run| &run.points);
    let rates = points().map(|point| point.rows_per_s);
    let rate_axis = Axis::for_rates(rates.chain(published.iter().map(|mark| mark.rows_per_s)), 5);
    let axis_kind = if rate_axis.is_logarithmic() { " (logarithmic axis)" } else { "" };
    let head = format!("Rows inserted per second of virtual time{axis_kind}");
    let panel = Panel { top: y + 24.0, height: RATE_HEIGHT, x: &x_axis, y: &rate_axis };
    panel.draw_frame(&mut canvas, &head);
    panel.draw_curves(&mut canvas, runs, |point| point.rows_per_s);
    panel.draw_published(&mut canvas, published, runs);
    if points().next().is_none() {
        let middle = (f64::midpoint(LEFT, RIGHT), panel.top + RATE_HEIGHT / 2.0);
        canvas.text(
            middle.0,
            middle.1,
            "soft",
            Anchor::Middle,
            "no reporting interval was reached",
        );
    }

    // At least a read per ten rows, so that noise about zero does not fill the panel.
    let reads_max = points().map(|point| point.reads_per_row).fold(0.1, f64::max);
    let reads_axis = Axis::linear(reads_max, 3);
    let panel =
        Panel { top: panel.bottom() + 44.0, height: READS_HEIGHT, x: &x_axis, y: &reads_axis };
    panel.draw_frame(&mut canvas, "Pages read per row inserted");
    panel.draw_curves(&mut canvas, runs, |point| point.reads_per_row);
    panel.draw_x_labels(&mut canvas);

    let y = panel.bottom() + 44.0;
    canvas.text(f64::midpoint(LEFT, RIGHT), y, "ink", Anchor::Middle, "Rows inserted, millions");
    canvas.text(24.0, y + 30.0, "soft", Anchor::Start, &footer(runs));
    out.write_all(canvas.document(WIDTH, y + 46.0, &title).as_bytes())
}

fn draw_heading(canvas: &mut Canvas, runs: &[RunResult], title: &str) -> f64 {
    let mut y = 14.0;
    for line in wrap(title, 88) {
        y += 24.0;
        canvas.text(24.0, y, "title ink", Anchor::Start, &line);
    }
    if let [run] = runs {
        for line in
            wrap(&run.manifest.question, 140).iter().chain(&wrap(&run.manifest.machine, 140))
        {
            y += 19.0;
            canvas.text(24.0, y, "soft", Anchor::Start, line);
        }
    }
    y
}

/// Draws a sample and a name for each run that must be told from others; returns where it ends.
fn draw_legend(
    canvas: &mut Canvas,
    runs: &[RunResult],
    published: &[PublishedPoint],
    above: f64,
) -> f64 {
    const SAMPLE: f64 = 30.0;
    if runs.len() + published.len() < 2 {
        return above + 16.0;
    }
    let (mut x, mut y) = (24.0, above + 26.0);
    let mut place = |name: &str| {
        let width = SAMPLE + CHARACTER_WIDTH * name.chars().count() as f64;
        if 24.0 < x && WIDTH - 24.0 < x + width {
            (x, y) = (24.0, y + 19.0);
        }
        let at = (x, y);
        x += width + 22.0;
        at
    };
    for (number, run) in runs.iter().enumerate() {
        let name = legend_name(run, runs);
        let (x, y) = place(&name);
        canvas
            .curve(&curve_class(number), [(x, y - 4.0), (x + 22.0, y - 4.0)].map(Some).into_iter());
        canvas.text(x + SAMPLE, y, "ink", Anchor::Start, &name);
    }
    if !published.is_empty() {
        let (x, y) = place("published");
        canvas.diamond((x + 13.0, y - 4.0), "a published measurement");
        canvas.text(x + SAMPLE - 4.0, y, "ink", Anchor::Start, "published");
    }
    y + 16.0
}

/// A plot area between [`LEFT`] and [`RIGHT`].
struct Panel<'a> {
    top: f64,
    height: f64,
    x: &'a Axis,
    y: &'a Axis,
}

impl Panel<'_> {
    fn bottom(&self) -> f64 {
        self.top + self.height
    }

    fn place(&self, rows: u64, value: f64) -> Option<(f64, f64)> {
        let x = LEFT + self.x.fraction(millions(rows))? * (RIGHT - LEFT);
        Some((x, self.bottom() - self.y.fraction(value)? * self.height))
    }

    fn x_of_tick(&self, value: f64) -> f64 {
        LEFT + self.x.fraction(value).unwrap_or(0.0) * (RIGHT - LEFT)
    }

    fn draw_frame(&self, canvas: &mut Canvas, head: &str) {
        canvas.text(LEFT, self.top - 10.0, "head ink", Anchor::Start, head);
        for tick in &self.x.ticks {
            let x = self.x_of_tick(tick.value);
            canvas.line("grid", (x, self.top), (x, self.bottom()));
        }
        for tick in &self.y.ticks {
            let y = self.bottom() - self.y.fraction(tick.value).unwrap_or(0.0) * self.height;
            let class = if tick.label.is_some() { "grid" } else { "minor" };
            canvas.line(class, (LEFT, y), (RIGHT, y));
            if let Some(label) = &tick.label {
                canvas.text(LEFT - 8.0, y + 4.0, "soft", Anchor::End, label);
            }
        }
        canvas.line("axis", (LEFT, self.bottom()), (RIGHT, self.bottom()));
    }

    fn draw_x_labels(&self, canvas: &mut Canvas) {
        for tick in &self.x.ticks {
            let label = tick.label.as_deref().unwrap_or_default();
            let x = self.x_of_tick(tick.value);
            canvas.text(x, self.bottom() + 18.0, "soft", Anchor::Middle, label);
        }
    }

    fn draw_curves(&self, canvas: &mut Canvas, runs: &[RunResult], value: fn(&Point) -> f64) {
        for (number, run) in runs.iter().enumerate() {
            let places = run.points.iter().map(|p| self.place(p.rows_full_scale, value(p)));
            canvas.curve(&curve_class(number), places);
        }
    }

    fn draw_published(
        &self,
        canvas: &mut Canvas,
        published: &[PublishedPoint],
        runs: &[RunResult],
    ) {
        let (places, marks): (Vec<_>, Vec<_>) = published
            .iter()
            .filter_map(|mark| Some((self.place(mark.rows, mark.rows_per_s)?, mark)))
            .unzip();
        let place = |point: &Point| self.place(point.rows_full_scale, point.rows_per_s);
        let pairs = runs.iter().flat_map(|run| run.points.windows(2));
        let segments =
            pairs.filter_map(|pair| Some((place(&pair[0])?, place(&pair[1])?))).collect();
        let bounds = Area { left: LEFT, right: RIGHT, top: self.top, bottom: self.bottom() };
        let mut labels = Labels::new(bounds, &places, segments);
        for (at, mark) in places.into_iter().zip(marks) {
            let (rows_per_s, rows) = (rate(mark.rows_per_s), count(mark.rows));
            canvas.diamond(at, &format!("{}: {rows_per_s} rows/s at {rows} rows", mark.label));
            let width = CHARACTER_WIDTH * mark.label.chars().count() as f64;
            let ((x, y), anchor) = labels.place(at, width);
            canvas.text(x, y, "note", anchor, &mark.label);
        }
    }
}

fn curve_class(number: usize) -> String {
    let dash = if (number / COLOURS).is_multiple_of(2) { "" } else { " dashed" };
    format!("c{}{dash}", number % COLOURS)
}

fn title(runs: &[RunResult]) -> String {
    match runs {
        [first, others @ ..]
            if others.iter().all(|run| run.manifest.title == first.manifest.title) =>
        {
            first.manifest.title.clone()
        }
        _ => "Insert rate while the table grows".to_owned(),
    }
}

/// The run's name, with its scale if another run has the same name.
fn legend_name(run: &RunResult, runs: &[RunResult]) -> String {
    let name = &run.manifest.name;
    if 1 < runs.iter().filter(|other| other.manifest.name == *name).count() {
        format!("{name}, scale {}", run.manifest.scale)
    } else {
        name.clone()
    }
}

fn footer(runs: &[RunResult]) -> String {
    let mut versions: Vec<_> = runs.iter().map(|run| run.manifest.iisim_version.as_str()).collect();
    versions.dedup();
    let simulated = format!("Simulated by iisim {}", versions.join(", "));
    match runs {
        [] => "No run".to_owned(),
        [run] => {
            let Manifest { name, scale, seed, .. } = &run.manifest;
            format!("{simulated}: {name}, scale {scale}, seed {seed}")
        }
        _ => simulated,
    }
}

fn millions(rows: u64) -> f64 {
    rows as f64 / 1e6
}
