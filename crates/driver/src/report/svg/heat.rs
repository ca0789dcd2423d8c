//! A heat map: lines of cells, each the value of one run at one number of rows.

use std::io::{self, Write};

use super::axis::Axis;
use super::canvas::{Anchor, Canvas};
use super::{CHARACTER_WIDTH, WIDTH};
use crate::report::text::{count, three_digits, wrap};

/// What a heat map shows.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMap {
    /// Its heading.
    pub title: String,
    /// What the colours stand for.
    pub value: String,
    /// Rows at full scale, a column each.
    pub columns: Vec<u64>,
    /// Groups of lines, one below the other.
    pub panels: Vec<Panel>,
}

/// Lines that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Its heading; may be empty.
    pub head: String,
    /// Lines from top to bottom: their names and a value in each column, if there is one.
    pub lines: Vec<(String, Vec<Option<f64>>)>,
}

const CELL_HEIGHT: f64 = 22.0;

/// Dark is much. Five colours of the sequential scheme `YlGnBu`: C. Brewer, colorbrewer2.org.
const RAMP: [(u8, u8, u8); 5] =
    [(255, 255, 204), (161, 218, 180), (65, 182, 196), (44, 127, 184), (37, 52, 148)];

/// Draws a heat map.
///
/// # Errors
/// Those of `out`.
pub fn write(map: &HeatMap, out: &mut dyn Write) -> io::Result<()> {
    let mut canvas = Canvas::default();
    let mut y = 14.0;
    for line in wrap(&map.title, 88) {
        y += 24.0;
        canvas.text(24.0, y, "title ink", Anchor::Start, &line);
    }
    let lines = || map.panels.iter().flat_map(|panel| &panel.lines);
    let values = || lines().flat_map(|(_, values)| values.iter().flatten().copied());
    let axis = Axis::for_rates(values(), 5);
    let scale = if axis.is_logarithmic() { "dark is much, by factors" } else { "dark is much" };
    y += 22.0;
    canvas.text(24.0, y, "soft", Anchor::Start, &format!("{} ({scale})", map.value));

    let longest = lines().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let left = (32.0 + CHARACTER_WIDTH * longest as f64).min(WIDTH / 3.0);
    let width = (WIDTH - 36.0 - left) / map.columns.len().max(1) as f64;
    for panel in &map.panels {
        y += 14.0;
        if !panel.head.is_empty() {
            y += 16.0;
            canvas.text(left, y, "head ink", Anchor::Start, &panel.head);
            y += 8.0;
        }
        for (name, values) in &panel.lines {
            canvas.text(left - 8.0, y + 15.0, "ink", Anchor::End, name);
            for (number, value) in values.iter().enumerate() {
                let Some(value) = value else { continue };
                let at = (left + width * number as f64, y);
                let share = axis.fraction(*value).unwrap_or(0.0).clamp(0.0, 1.0);
                let text = three_digits(*value);
                let rows = map.columns.get(number).map_or_else(String::new, |rows| count(*rows));
                let title = format!("{name} at {rows} rows: {text}");
                canvas.cell(at, (width - 1.0, CELL_HEIGHT - 1.0), colour(share), &title);
                if CHARACTER_WIDTH * text.len() as f64 <= width - 2.0 {
                    let class = if share < 0.5 { "on-light" } else { "on-dark" };
                    canvas.text(at.0 + width / 2.0, y + 15.0, class, Anchor::Middle, &text);
                }
            }
            y += CELL_HEIGHT;
        }
    }
    for (number, rows) in map.columns.iter().enumerate() {
        let x = left + width * (number as f64 + 0.5);
        canvas.text(x, y + 16.0, "soft", Anchor::Middle, &count(*rows));
    }
    y += 38.0;
    canvas.text(f64::midpoint(left, WIDTH - 36.0), y, "ink", Anchor::Middle, "Rows inserted");
    out.write_all(canvas.document(WIDTH, y + 20.0, &map.title).as_bytes())
}

/// The colour of a share from 0 to 1 of the ramp.
fn colour(share: f64) -> (u8, u8, u8) {
    let steps = (RAMP.len() - 1) as f64;
    let below = (share * steps).floor().min(steps - 1.0);
    let part = share * steps - below;
    let (from, to) = (RAMP[below as usize], RAMP[below as usize + 1]);
    let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * part).round() as u8;
    (mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ramp_ends_in_its_colours() {
        assert_eq!(colour(0.0), RAMP[0]);
        assert_eq!(colour(0.5), RAMP[2]);
        assert_eq!(colour(1.0), RAMP[4]);
        assert_eq!(colour(0.125), (208, 237, 192));
    }

    #[test]
    fn every_value_has_a_cell_and_the_text_is_well_formed() {
        let lines = vec![
            ("1 GiB <small>".to_owned(), vec![Some(11_000.0), Some(300.0), None]),
            ("2 GiB".to_owned(), vec![Some(11_000.0), Some(0.0), Some(120.0)]),
        ];
        let map = HeatMap {
            title: "Pool & rows".to_owned(),
            value: "Rows per second".to_owned(),
            columns: vec![10_000_000, 100_000_000, 1_000_000_000],
            panels: vec![Panel { head: "btree".to_owned(), lines }],
        };
        let mut svg = Vec::new();
        write(&map, &mut svg).unwrap();
        let svg = String::from_utf8(svg).unwrap();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let cells = document.descendants().filter(|node| node.attribute("fill").is_some());
        assert_eq!(cells.count(), 5);
        assert!(svg.contains("1 GiB &lt;small&gt; at 100M rows: 300"));
    }
}
