//! The table and the page of values that vary one at a time: which of them a result depends on.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::{quoted, write_head};
use crate::report::RunResult;
use crate::report::text::{rate, three_digits, trimmed};
use crate::scenario::registry;
use crate::sweep::measure::Summary;
use crate::sweep::plan::{Plan, Point};

/// A point that differs from the base in one value.
struct Varied<'a> {
    key: &'a str,
    value: &'a str,
    base: &'a str,
    now: Summary,
}

/// Changes smaller than this share are not worth a line of their own.
const NOTABLE: f64 = 0.01;

/// The base, and the finished points that differ from it.
fn split<'a>(
    plan: &'a Plan,
    results: &BTreeMap<usize, RunResult>,
) -> (Option<Summary>, Vec<Varied<'a>>) {
    let base = results.get(&0).map(Summary::of);
    let value_in_base = |key: &str| {
        let values = plan.points.first().map(|point| point.scenario.values.iter());
        let found = values.into_iter().flatten().find(|value| value.key == key);
        found.map_or("none", |value| value.value.as_str())
    };
    let varied = |(place, result): (&usize, &RunResult)| {
        let Point { labels, .. } = plan.points.get(*place)?;
        let [key, value] = labels.as_slice() else { return None };
        Some(Varied { key, value, base: value_in_base(key), now: Summary::of(result) })
    };
    (base, results.iter().filter_map(varied).collect())
}

/// A line for the base and for every other point.
pub(super) fn write_csv(
    plan: &Plan,
    results: &BTreeMap<usize, RunResult>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (base, varied) = split(plan, results);
    writeln!(
        out,
        "key,base,value,hours_full_scale,rows_per_s_peak,rows_per_s_last,rows_per_s_mean,\
         reads_per_row_mean,writes_per_row_mean"
    )?;
    let mut line = |key: &str, base: &str, value: &str, s: &Summary| {
        let (key, base, value) = (quoted(key), quoted(base), quoted(value));
        let Summary { hours, peak, last, mean, reads_per_row, writes_per_row, .. } = s;
        writeln!(
            out,
            "{key},{base},{value},{hours},{peak},{last},{mean},{reads_per_row},{writes_per_row}"
        )
    };
    if let Some(base) = &base {
        line("", "", "", base)?;
    }
    varied.iter().try_for_each(|v| line(v.key, v.base, v.value, &v.now))
}

/// The page: what the base gives, and by how much each value moves it, the strongest first.
pub(super) fn write_page(
    plan: &Plan,
    results: &BTreeMap<usize, RunResult>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_head(plan, out)?;
    let (Some(base), varied) = split(plan, results) else {
        return writeln!(out, "\nThe base has no result.");
    };
    writeln!(
        out,
        "\nThe base: {} hours, {} rows/s in the mean and {} at the end, {} pages read and {} \
         written per row.\n",
        three_digits(base.hours),
        rate(base.mean),
        rate(base.last),
        three_digits(base.reads_per_row),
        three_digits(base.writes_per_row),
    )?;
    let change = |now: f64, before: f64| if before == 0.0 { 0.0 } else { now / before - 1.0 };
    let effect = |v: &Varied| {
        let hours = change(v.now.hours, base.hours).abs();
        hours.max(change(v.now.last, base.last).abs())
    };
    let mut by_key: BTreeMap<&str, Vec<&Varied>> = BTreeMap::new();
    for v in &varied {
        by_key.entry(v.key).or_default().push(v);
    }
    let strongest = |list: &[&Varied]| list.iter().map(|v| effect(v)).fold(0.0, f64::max);
    let mut keys: Vec<_> = by_key.into_iter().collect();
    keys.sort_by(|(_, a), (_, b)| strongest(b).total_cmp(&strongest(a)));
    let (notable, faint): (Vec<_>, Vec<_>) =
        keys.into_iter().partition(|(_, list)| NOTABLE <= strongest(list));

    writeln!(out, "| key | base | value | hours | rows/s at the end | reads/row | writes/row |")?;
    writeln!(out, "{}|", "| --- ".repeat(7))?;
    let percent = |now: f64, before: f64| match change(now, before) * 100.0 {
        _ if before == 0.0 => three_digits(now),
        change if change.abs() < 0.05 => "0".to_owned(),
        change => format!("{}{} %", if 0.0 < change { "+" } else { "" }, trimmed(change, 1)),
    };
    for v in notable.iter().flat_map(|(_, list)| list) {
        writeln!(
            out,
            "| `{}` | {} | {} | {} | {} | {} | {} |",
            v.key,
            v.base,
            v.value,
            percent(v.now.hours, base.hours),
            percent(v.now.last, base.last),
            percent(v.now.reads_per_row, base.reads_per_row),
            percent(v.now.writes_per_row, base.writes_per_row),
        )?;
    }
    writeln!(
        out,
        "\nChanges against the base, the strongest key first. Every other value is that of the base."
    )?;
    if !faint.is_empty() {
        let names: Vec<_> = faint.iter().map(|(key, _)| format!("`{key}`")).collect();
        writeln!(out, "\nLess than 1 % of hours and of the last rate: {}.", names.join(", "))?;
    }
    if !plan.kept.is_empty() {
        writeln!(out, "\nAssumed and not varied:\n")?;
        for kept in &plan.kept {
            let unit = registry().find(|param| param.key == kept.key);
            let unit = unit.map_or("", |param| param.kind.unit());
            writeln!(out, "- `{}` = {} ({unit}): {}", kept.key, kept.value, kept.reason)?;
        }
    }
    Ok(())
}
