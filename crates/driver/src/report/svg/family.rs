//! A family of curves: panels one below the other, over the rows of one axis.

use std::io::{self, Write};

use super::axis::Axis;
use super::canvas::{Anchor, Canvas};
use super::{CHARACTER_WIDTH, LEFT, RIGHT, WIDTH, curve_class};
use crate::report::text::wrap;

/// What a family of curves shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// Its heading.
    pub title: String,
    /// The names of the curves, the same in every panel.
    pub names: Vec<String>,
    /// The panels from top to bottom.
    pub panels: Vec<Panel>,
    /// Whether equal distances are equal factors of rows.
    pub by_factors: bool,
}

/// Curves of one quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// What it shows.
    pub head: String,
    /// A curve for each name: rows at full scale and the value there.
    pub curves: Vec<Vec<(f64, f64)>>,
}

const HEIGHT: f64 = 190.0;
const SAMPLE: f64 = 30.0;

/// Draws a family of curves.
///
/// # Errors
/// Those of `out`.
pub fn write(family: &Family, out: &mut dyn Write) -> io::Result<()> {
    let mut canvas = Canvas::default();
    let mut y = 14.0;
    for line in wrap(&family.title, 88) {
        y += 24.0;
        canvas.text(24.0, y, "title ink", Anchor::Start, &line);
    }
    y = draw_legend(&mut canvas, &family.names, y + 24.0);

    let millions = |rows: f64| rows / 1e6;
    let points = || family.panels.iter().flat_map(|panel| panel.curves.iter().flatten());
    let most = points().map(|(rows, _)| millions(*rows)).fold(0.0, f64::max);
    let least = points().map(|(rows, _)| millions(*rows)).fold(f64::INFINITY, f64::min);
    let x_axis = match most {
        0.0 => Axis::linear_exact(1.0, 10),
        _ if family.by_factors => Axis::logarithmic(least, most),
        _ => Axis::linear_exact(most, 10),
    };
    for panel in &family.panels {
        y = draw_panel(&mut canvas, panel, &x_axis, y + 34.0);
    }
    for tick in &x_axis.ticks {
        let x = LEFT + x_axis.fraction(tick.value).unwrap_or(0.0) * (RIGHT - LEFT);
        let label = tick.label.as_deref().unwrap_or_default();
        canvas.text(x, y + 18.0, "soft", Anchor::Middle, label);
    }
    y += 42.0;
    canvas.text(f64::midpoint(LEFT, RIGHT), y, "ink", Anchor::Middle, "Rows inserted, millions");
    out.write_all(canvas.document(WIDTH, y + 20.0, &family.title).as_bytes())
}

fn draw_legend(canvas: &mut Canvas, names: &[String], top: f64) -> f64 {
    let (mut x, mut y) = (24.0, top);
    for (number, name) in names.iter().enumerate() {
        let width = SAMPLE + CHARACTER_WIDTH * name.chars().count() as f64;
        if 24.0 < x && WIDTH - 24.0 < x + width {
            (x, y) = (24.0, y + 19.0);
        }
        let ends = [(x, y - 4.0), (x + 22.0, y - 4.0)];
        canvas.curve(&curve_class(number), ends.map(Some).into_iter());
        canvas.text(x + SAMPLE, y, "ink", Anchor::Start, name);
        x += width + 22.0;
    }
    y
}

/// Draws a panel and tells where it ends.
fn draw_panel(canvas: &mut Canvas, panel: &Panel, x_axis: &Axis, top: f64) -> f64 {
    let bottom = top + HEIGHT;
    let values = panel.curves.iter().flatten().map(|(_, value)| *value);
    let y_axis = Axis::for_rates(values, 5);
    let kind = if y_axis.is_logarithmic() { " (logarithmic axis)" } else { "" };
    canvas.text(LEFT, top - 10.0, "head ink", Anchor::Start, &format!("{}{kind}", panel.head));
    let x_of = |rows: f64| Some(LEFT + x_axis.fraction(rows)? * (RIGHT - LEFT));
    let y_of = |value: f64| Some(bottom - y_axis.fraction(value)? * HEIGHT);
    for tick in &x_axis.ticks {
        if let Some(x) = x_of(tick.value) {
            canvas.line("grid", (x, top), (x, bottom));
        }
    }
    for tick in &y_axis.ticks {
        let Some(y) = y_of(tick.value) else { continue };
        let class = if tick.label.is_some() { "grid" } else { "minor" };
        canvas.line(class, (LEFT, y), (RIGHT, y));
        if let Some(label) = &tick.label {
            canvas.text(LEFT - 8.0, y + 4.0, "soft", Anchor::End, label);
        }
    }
    canvas.line("axis", (LEFT, bottom), (RIGHT, bottom));
    for (number, curve) in panel.curves.iter().enumerate() {
        let places = curve.iter().map(|(rows, value)| Some((x_of(rows / 1e6)?, y_of(*value)?)));
        canvas.curve(&curve_class(number), places);
    }
    bottom
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_panel_has_its_curves() {
        let curve = |rate: f64| vec![(1e6, rate), (1e7, rate / 2.0), (1e9, rate / 50.0)];
        let panel = |head: &str| Panel {
            head: head.to_owned(),
            curves: vec![curve(100.0), curve(900.0), Vec::new()],
        };
        let family = Family {
            title: "A < B".to_owned(),
            names: ["a", "b", "c"].map(str::to_owned).to_vec(),
            panels: vec![panel("one"), panel("two")],
            by_factors: true,
        };
        let mut svg = Vec::new();
        write(&family, &mut svg).unwrap();
        let svg = String::from_utf8(svg).unwrap();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let curves = document.descendants().filter(|node| node.attribute("d").is_some());
        // Two in each panel, and a sample for each name.
        assert_eq!(curves.count(), 2 * 2 + 3);
    }
}
