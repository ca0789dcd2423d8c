//! What a sweep leaves behind for people and spreadsheets, from its plan and its results alone.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::measure::Summary;
use super::plan::Plan;
use super::study::{Axis, Design};
use crate::report::RunResult;
use crate::report::svg::{family, heat};

mod grid;
mod vary;

/// A file of a sweep that is done: its name and its content.
pub type NamedFile = (&'static str, Vec<u8>);

/// Columns of a heat map of a study that names no rows.
const COLUMNS: u64 = 12;

/// All files besides the plan and the results themselves.
///
/// # Errors
/// None that the system has a part in.
pub fn files(plan: &Plan, results: &BTreeMap<usize, RunResult>) -> io::Result<Vec<NamedFile>> {
    let mut files = Vec::new();
    let mut add = |name, write: &dyn Fn(&mut dyn Write) -> io::Result<()>| {
        let mut bytes = Vec::new();
        write(&mut bytes)?;
        files.push((name, bytes));
        io::Result::Ok(())
    };
    match &plan.study.design {
        Design::Grid(axes) => {
            let grid = Grid::new(plan, axes, results);
            add("points.csv", &|out| grid.write_csv(out))?;
            add("heatmap.svg", &|out| heat::write(&grid.heat_map(), out))?;
            add("curves.svg", &|out| family::write(&grid.family(), out))?;
            add("README.md", &|out| grid.write_page(out))?;
        }
        Design::Vary(_) => {
            add("points.csv", &|out| vary::write_csv(plan, results, out))?;
            add("README.md", &|out| vary::write_page(plan, results, out))?;
        }
    }
    Ok(files)
}

/// A finished grid: its results beside its axes.
pub(super) struct Grid<'a> {
    plan: &'a Plan,
    axes: &'a [Axis],
    /// Labels and result of each finished point, in the order of the plan.
    points: Vec<(&'a [String], &'a RunResult)>,
    columns: Vec<u64>,
}

impl<'a> Grid<'a> {
    fn new(plan: &'a Plan, axes: &'a [Axis], results: &'a BTreeMap<usize, RunResult>) -> Self {
        let point = |(place, result): (&usize, &'a RunResult)| {
            Some((plan.points.get(*place)?.labels.as_slice(), result))
        };
        let longest = results.values().map(|result| result.totals.rows_full_scale).max();
        let columns = match plan.study.rows.as_slice() {
            [] => (1..=COLUMNS).map(|n| longest.unwrap_or(0) * n / COLUMNS).collect(),
            rows => rows.to_vec(),
        };
        Self { plan, axes, points: results.iter().filter_map(point).collect(), columns }
    }

    /// The points in groups of equal first label, if a point has more than one.
    fn groups(&self) -> Vec<(String, Vec<(String, &'a RunResult)>)> {
        let [first, _, ..] = self.axes else {
            let lines = self.points.iter().map(|(labels, result)| (labels.join(" "), *result));
            return vec![(String::new(), lines.collect())];
        };
        let group = |label: &String| {
            let of_group = self.points.iter().filter(|(labels, _)| labels[0] == *label);
            let lines = of_group.map(|(labels, result)| (labels[1..].join(" "), *result));
            (format!("{} {label}", first.name), lines.collect())
        };
        first.choices.iter().map(|choice| group(&choice.label)).collect()
    }

    fn heat_map(&self) -> heat::HeatMap {
        let study = &self.plan.study;
        let line = |(name, result): (String, &RunResult)| {
            let values = self.columns.iter().map(|rows| study.heat.at(result, *rows));
            (name, values.collect())
        };
        let panel = |(head, lines): (String, Vec<_>)| heat::Panel {
            head,
            lines: lines.into_iter().map(line).collect(),
        };
        heat::HeatMap {
            title: study.title.clone(),
            value: study.heat.label.to_owned(),
            columns: self.columns.clone(),
            panels: self.groups().into_iter().map(panel).collect(),
        }
    }

    fn family(&self) -> family::Family {
        let study = &self.plan.study;
        let groups = self.groups();
        let names = groups.iter().max_by_key(|(_, lines)| lines.len());
        let names = names.map(|(_, lines)| lines.iter().map(|(name, _)| name.clone()).collect());
        let mut panels = Vec::new();
        for (head, lines) in &groups {
            for measure in &study.curves {
                let colon = if head.is_empty() { "" } else { ": " };
                let curves = lines.iter().map(|(_, result)| measure.curve(result)).collect();
                panels.push(family::Panel {
                    head: format!("{head}{colon}{}", measure.label),
                    curves,
                });
            }
        }
        let by_factors = match study.rows.as_slice() {
            [first, .., last] => 100 <= last / first,
            _ => false,
        };
        family::Family {
            title: study.title.clone(),
            names: names.unwrap_or_default(),
            panels,
            by_factors,
        }
    }

    fn summaries(&self) -> impl Iterator<Item = (&'a [String], &'a RunResult, Summary)> {
        self.points.iter().map(|(labels, result)| (*labels, *result, Summary::of(result)))
    }
}

/// The heading of a page: what it is, what it asks, how it is made again.
fn write_head(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    let study = &plan.study;
    writeln!(out, "# {}\n", study.title)?;
    if !study.question.is_empty() {
        writeln!(out, "{}\n", study.question)?;
    }
    writeln!(out, "    iisim sweep {}\n", study.base.name())?;
    let mut scales: Vec<_> = plan.points.iter().map(|point| point.scenario.scale).collect();
    scales.sort_by_key(|scale| scale.halvings());
    scales.dedup();
    let scales: Vec<_> = scales.iter().map(ToString::to_string).collect();
    let base = plan.points.first().map(|point| point.scenario.layers.join(", "));
    writeln!(
        out,
        "{} points at scale {}, iisim {}. Layers of the first point: {}.",
        plan.points.len(),
        scales.join(", "),
        crate::report::VERSION,
        base.unwrap_or_default(),
    )?;
    if study.note.is_empty() { Ok(()) } else { writeln!(out, "\n{}", study.note) }
}

/// A cell of a CSV file.
fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
