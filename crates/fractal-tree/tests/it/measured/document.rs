//! The tables of the document.

use std::fmt::Write;

use super::rig::{self, QUERIES, QUERY_METRICS, Queries};
use super::windows::METRICS;

/// `page` with what stands between the markers made anew.
pub(crate) fn with_current_tables(page: &str) -> String {
    let tables = [("runs", tables()), ("queries", queries())];
    tables.iter().fold(page.to_owned(), |page, (name, tables)| {
        let (begin, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->\n"));
        let (before, rest) = page.split_once(&begin).expect("the tables begin");
        let (_, after) = rest.split_once(&end).expect("the tables end");
        format!("{before}{begin}{tables}\n{end}{after}")
    })
}

fn queries() -> String {
    let mut text = format!("\n| run | state | kind | queries | {} |\n", QUERY_METRICS.join(" | "));
    writeln!(text, "|{}", " --- |".repeat(QUERY_METRICS.len() + 4)).expect("text takes all");
    for queries in QUERIES.iter() {
        let Queries { run, state, kind, from, to, measured, simulated } = queries;
        let cells = measured.iter().zip(simulated).map(|(a, b)| cell(*a, *b));
        let cells = cells.collect::<Vec<_>>().join(" | ");
        writeln!(text, "| {run} | {state} | {kind} | {from}-{to} | {cells} |")
            .expect("text takes all");
    }
    text
}

/// A table for each run: a line for each window, a column for each metric that occurs in it.
fn tables() -> String {
    let mut text = String::new();
    let all: Vec<_> = rig::compared().collect();
    for run in all.chunk_by(|(one, _), (next, _)| one.run == next.run) {
        let occurs =
            |metric: &usize| run.iter().any(|(window, _)| 0.05 <= window.measured[*metric]);
        let metrics: Vec<usize> = (0..METRICS.len()).filter(occurs).collect();
        let names = metrics.iter().map(|metric| match METRICS[*metric] {
            (name, "") => name.to_owned(),
            (name, unit) => format!("{name}, {unit}"),
        });
        let names: Vec<_> = names.collect();
        writeln!(text, "\n### {}\n", run[0].0.run).expect("text takes all");
        writeln!(text, "| rows | {} | nodes by height |", names.join(" | ")).expect("text");
        writeln!(text, "|{}", " --- |".repeat(metrics.len() + 2)).expect("text takes all");
        for (window, simulated) in run {
            let thousands = |rows: u64| rows / 1_000;
            let cells = metrics
                .iter()
                .map(|metric| cell(window.measured[*metric], simulated.values[*metric]));
            writeln!(
                text,
                "| {} {}k-{}k | {} | {:?} / {:?} |",
                window.phase,
                thousands(window.from),
                thousands(window.to),
                cells.collect::<Vec<_>>().join(" | "),
                window.nodes,
                simulated.nodes,
            )
            .expect("text takes all");
        }
    }
    text
}

fn cell(measured: f64, simulated: f64) -> String {
    let digits = match measured {
        0.0..10.0 => 3,
        10.0..1_000.0 => 1,
        _ => 0,
    };
    if measured < 0.05 {
        return format!("{measured:.3} / {simulated:.3}");
    }
    format!("{measured:.digits$} / {simulated:.digits$} / {:.2}", simulated / measured)
}
