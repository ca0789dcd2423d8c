//! The tables of the document.

use std::fmt::Write;

use driver::report::text::grouped;

use crate::buffered;
use crate::measured::{INTERVAL_ROWS, MICRO, PAGES, READS, REDO, SAMPLE_ROWS};
use crate::queries::READS as QUERIES;
use crate::settings;
use crate::simulated;
use crate::window::{COUNTS, Count};

/// Makes a table.
type Table = fn() -> String;

const TABLES: [(&str, Table); 11] = [
    ("leaf pages", leaf_pages),
    ("internal pages", internal_pages),
    ("micro orders", micro_orders),
    ("reads", reads),
    ("redo of runs", redo_of_runs),
    ("redo", redo),
    ("buffered", buffered),
    ("buffered, held", buffered_held),
    ("window", window),
    ("settings", settings),
    ("queries", queries),
];

/// `page` with what stands between the markers of each table made anew.
pub(crate) fn with_current_tables(page: &str) -> String {
    TABLES.iter().fold(page.to_owned(), |page, (name, table)| {
        let (begin, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->\n"));
        let (before, rest) = page.split_once(&begin).expect("a table begins");
        let (_, after) = rest.split_once(&end).expect("a table ends");
        format!("{before}{begin}\n{}\n{end}{after}", table())
    })
}

fn leaf_pages() -> String {
    pages(|measured| {
        let simulated = simulated::pages(measured);
        compared(measured.leaf, simulated.leaf)
    })
}

fn internal_pages() -> String {
    pages(|measured| {
        let simulated = simulated::pages(measured);
        compared(measured.internal, simulated.internal)
    })
}

/// A line for each number of rows, a column for each index.
fn pages(cell: impl Fn(&crate::measured::MeasuredPages) -> String) -> String {
    let indexes = PAGES.chunk_by(|one, next| one.rows == next.rows);
    let names: Vec<_> = PAGES.iter().take(4).map(|pages| pages.index).collect();
    let mut table = header(&format!("rows | {}", names.join(" | ")));
    for indexes in indexes {
        let cells: Vec<_> = indexes.iter().map(&cell).collect();
        line(&mut table, &format!("{} | {}", grouped(indexes[0].rows), cells.join(" | ")));
    }
    table
}

fn micro_orders() -> String {
    let mut table = header("order | index | leaf pages | internal pages");
    for measured in MICRO.iter() {
        let simulated = simulated::micro_pages(measured);
        let leaf = compared(measured.leaf, simulated.leaf);
        let internal = compared(measured.internal, simulated.internal);
        line(&mut table, &format!("{} | {} | {leaf} | {internal}", measured.order, measured.index));
    }
    table
}

fn reads() -> String {
    let mut table = header(
        "run | rows | leaves / pool | measured | simulated | ratio | held to 5 % | \
         internal, measured | internal, simulated",
    );
    let per_row = |pages: u64| pages as f64 / INTERVAL_ROWS as f64;
    for measured in READS.iter() {
        let simulated = simulated::reads(measured);
        let held = if measured.is_beyond_pool() { "yes" } else { "no" };
        let cells = format!(
            "{} | {} | {:.2} | {:.4} | {:.4} | {} | {held} | {:.5} | {:.5}",
            measured.run,
            grouped(measured.rows),
            measured.leaves_least() as f64 / measured.pool_pages as f64,
            per_row(measured.leaf),
            per_row(simulated.leaf),
            ratio(measured.leaf, simulated.leaf),
            per_row(measured.internal),
            per_row(simulated.internal),
        );
        line(&mut table, &cells);
    }
    table
}

fn redo_of_runs() -> String {
    let mut table = header("run | rows | measured | simulated | ratio");
    for run in REDO.chunk_by(|one, next| one.run == next.run) {
        let rows = run.iter().map(|redo| redo.rows).max().expect("a run has intervals");
        let measured = run.iter().map(|redo| redo.bytes).sum();
        let simulated = run.iter().map(simulated::redo_bytes).sum();
        let cells = format!(
            "{} | {} | {:.2} | {:.2} | {}",
            run[0].run,
            grouped(rows),
            measured as f64 / rows as f64,
            simulated as f64 / rows as f64,
            ratio(measured, simulated),
        );
        line(&mut table, &cells);
    }
    table
}

/// The run with secondary indexes.
fn redo() -> String {
    let mut table = header("rows | measured | simulated | ratio");
    let per_row = |bytes: u64| bytes as f64 / SAMPLE_ROWS as f64;
    for measured in REDO.iter().filter(|redo| redo.run == "measured-none-64m") {
        let simulated = simulated::redo_bytes(measured);
        let cells = format!(
            "{} | {:.2} | {:.2} | {}",
            grouped(measured.rows),
            per_row(measured.bytes),
            per_row(simulated),
            ratio(measured.bytes, simulated),
        );
        line(&mut table, &cells);
    }
    table
}

/// The run with the change buffer: the last interval of every 500,000 rows, and the first that is
/// held to bounds.
fn buffered() -> String {
    let names: Vec<_> = buffered::PARTS.iter().map(|part| part.name).collect();
    let mut table = header(&format!("rows | {}", names.join(" | ")));
    let first = buffered::held().next().map(|(measured, _)| measured.rows);
    let shown = |rows: u64| rows.is_multiple_of(INTERVAL_ROWS) || Some(rows) == first;
    for interval in buffered::INTERVALS.iter().filter(|(measured, _)| shown(measured.rows)) {
        let cells: Vec<_> =
            buffered::PARTS.iter().map(|part| compared_part(part, interval)).collect();
        line(&mut table, &format!("{} | {}", grouped(interval.0.rows), cells.join(" | ")));
    }
    table
}

/// The same run as a whole, its end, and of all intervals that are held the one that is farthest off.
fn buffered_held() -> String {
    let mut table = header(
        "count | in all | held to | at the end | held to | farthest off | of the rows up to | held to",
    );
    for part in &buffered::PARTS {
        let all = compared_part(part, &buffered::ALL);
        let end = compared_part(part, &buffered::END);
        let of = |interval| part.ratio(interval).map(|ratio| (ratio, interval.0.rows));
        let (ratio, rows) = buffered::held()
            .filter_map(of)
            .max_by(|one, other| (one.0 - 1.0).abs().total_cmp(&(other.0 - 1.0).abs()))
            .expect("something was counted");
        let percent = |bound: f64| format!("{} %", (1_000.0 * bound).round() / 10.0);
        let cells = format!(
            "{} | {all} | {} | {end} | {} | {ratio:.3} | {} | {}",
            part.name,
            percent(part.in_all),
            percent(part.at_end),
            grouped(rows),
            percent(part.bound(rows)),
        );
        line(&mut table, &cells);
    }
    table
}

fn compared_part(part: &buffered::Part, counts: &(buffered::Counts, buffered::Counts)) -> String {
    let Some(ratio) = part.ratio(counts) else { return "-".to_owned() };
    let number = |counts| match part.digits {
        0 => grouped((part.of)(counts) as u64),
        digits => format!("{:.digits$}", (part.of)(counts)),
    };
    format!("{} / {} / {ratio:.3}", number(&counts.0), number(&counts.1))
}

/// The counts of a window of rows, per row inserted and deleted.
fn window() -> String {
    let mut table = header("run | count | measured | simulated | ratio | held to");
    for count in COUNTS.iter().filter(|count| 0.0 < count.measured) {
        let Count { run, name, measured, simulated, bound } = count;
        let (ratio, held) = (simulated / measured, 100.0 * bound);
        let cells =
            format!("{run} | {name} | {measured:.3} | {simulated:.3} | {ratio:.3} | {held:.0} %");
        line(&mut table, &cells);
    }
    table
}

/// A line for each run with other settings, a column for each count.
fn settings() -> String {
    let runs = || settings::COUNTS.chunk_by(|one, next| one.run == next.run);
    let names = settings::PARTS.map(|(name, _)| name);
    let mut table = header(&format!("run | {}", names.join(" | ")));
    for run in runs() {
        let cell = |name: &&str| match run.iter().find(|count| count.name == *name) {
            Some(settings::Count { measured, simulated, .. }) => {
                format!("{:.3}", simulated / measured)
            }
            None => "-".to_owned(),
        };
        let cells: Vec<_> = names.iter().map(cell).collect();
        line(&mut table, &format!("{} | {}", run[0].run, cells.join(" | ")));
    }
    table
}

/// Pages read per query, of both measurements and simulated.
fn queries() -> String {
    let mut table = header(
        "run | index | query | round | reference | measured again | simulated | / reference | \
         / again",
    );
    for measured in QUERIES.iter() {
        let (simulated, _) = measured.simulated();
        let cells = format!(
            "{} | {} | {} | {} | {:.2} | {:.2} | {simulated:.2} | {:.3} | {:.3}",
            measured.run,
            measured.index,
            measured.form,
            measured.round + 1,
            measured.reference,
            measured.again,
            simulated / measured.reference,
            simulated / measured.again,
        );
        line(&mut table, &cells);
    }
    table
}

fn header(names: &str) -> String {
    let rules: Vec<_> = names.split('|').map(|_| "---").collect();
    format!("| {names} |\n| {} |\n", rules.join(" | "))
}

fn line(table: &mut String, cells: &str) {
    writeln!(table, "| {cells} |").expect("a text takes every line");
}

/// Measured / simulated / ratio.
fn compared(measured: u64, simulated: u64) -> String {
    format!("{} / {} / {}", grouped(measured), grouped(simulated), ratio(measured, simulated))
}

fn ratio(measured: u64, simulated: u64) -> String {
    if measured == 0 {
        "-".to_owned()
    } else {
        format!("{:.4}", simulated as f64 / measured as f64)
    }
}
