//! What a person reads in the terminal: the curve as a table, where the time of a row goes, and
//! the totals, in at most 100 columns.

use std::collections::BTreeMap;
use std::io::{self, Write};

use index::LevelStats;

use super::text::{
    WIDTH, bytes, count, duration, grouped, percent, rate, trimmed, wrap, write_hanging,
};
use super::{Manifest, Point, QueriesAfterLoad, RunResult, Totals};

const ROWS_MAX: usize = 20;
const BAR_WIDTH: f64 = 50.0;

/// Writes one result as text.
///
/// # Errors
/// Those of `out`.
pub fn write(result: &RunResult, out: &mut dyn Write) -> io::Result<()> {
    write_heading(&result.manifest, out)?;
    write_curve(&result.points, out)?;
    write_time(&result.totals, out)?;
    write_totals(&result.totals, out)?;
    write_levels(&result.points, out)?;
    write_queries(&result.queries, out)?;
    write_assumed(&result.manifest, out)?;
    write_notes(&result.manifest, out)
}

fn write_heading(manifest: &Manifest, out: &mut dyn Write) -> io::Result<()> {
    for line in wrap(&manifest.title, WIDTH).iter().chain(&wrap(&manifest.question, WIDTH)) {
        writeln!(out, "{line}")?;
    }
    writeln!(out)?;
    write_hanging("machine  ", &manifest.machine, out)?;
    let Manifest { name, scale, seed, iisim_version, .. } = manifest;
    let run = format!("{name}, scale {scale}, seed {seed}, iisim {iisim_version}");
    write_hanging("run      ", &run, out)
}

fn write_curve(points: &[Point], out: &mut dyn Write) -> io::Result<()> {
    let Some(last) = points.last() else {
        return writeln!(out, "\nThe run ended before its first reporting interval.");
    };
    let (unit, unit_s) = match last.virtual_s_full_scale {
        s if 3600.0 <= s => ("hours", 3600.0),
        s if 120.0 <= s => ("minutes", 60.0),
        _ => ("seconds", 1.0),
    };
    writeln!(
        out,
        "\n{:>8}  {unit:>9}  {:>9}  {:>9}  {:>10}  {:>9}  where the time goes",
        "rows", "rows/s", "reads/row", "writes/row", "hit ratio"
    )?;
    for point in sample(points) {
        writeln!(
            out,
            "{:>8}  {:>9.2}  {:>9}  {:>9.3}  {:>10.3}  {:>9.4}  {}",
            count(point.rows_full_scale),
            point.virtual_s_full_scale / unit_s,
            rate(point.rows_per_s),
            point.reads_per_row,
            point.writes_per_row,
            point.hit_ratio,
            top_two(&point.time),
        )?;
    }
    let shown = if ROWS_MAX < points.len() {
        format!("{ROWS_MAX} of {} reporting intervals, evenly spread", grouped(points.len() as u64))
    } else {
        "All reporting intervals".to_owned()
    };
    let explained = format!(
        "{shown}. Rows and {unit} count from the start and are those of the full scale; the other \
         columns are of the one interval that ends there."
    );
    for line in wrap(&explained, WIDTH) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// At most [`ROWS_MAX`] points at even distances, the last one always among them.
fn sample(points: &[Point]) -> impl Iterator<Item = &Point> {
    let rows = points.len().min(ROWS_MAX);
    (1..=rows).map(move |row| &points[row * points.len() / rows - 1])
}

pub(super) fn top_two(time: &BTreeMap<String, f64>) -> String {
    let shares: Vec<_> = by_share(time)
        .into_iter()
        .filter(|(_, share)| 0.000_5 <= *share)
        .take(2)
        .map(|(cause, share)| format!("{cause} {}", percent(share)))
        .collect();
    shares.join(", ")
}

/// Causes by falling share; equal shares by name.
pub(super) fn by_share(time: &BTreeMap<String, f64>) -> Vec<(&str, f64)> {
    let mut causes: Vec<_> = time.iter().map(|(cause, share)| (cause.as_str(), *share)).collect();
    causes.sort_by(|a, b| b.1.total_cmp(&a.1));
    causes
}

fn write_time(totals: &Totals, out: &mut dyn Write) -> io::Result<()> {
    if totals.rows == 0 {
        return Ok(());
    }
    let row_s = totals.client_s / totals.rows as f64;
    let mean = duration(row_s);
    // Clients that wait for each other's last rows make it differ in the last digits.
    let whose = if totals.virtual_s * 1.5 < totals.client_s { "all clients" } else { "a client" };
    writeln!(out, "\nWhere the time of a row goes: {mean} of {whose}, mean of the run")?;
    for (cause, share) in by_share(&totals.time).into_iter().filter(|(_, share)| 0.0 < *share) {
        let bar = "#".repeat((share * BAR_WIDTH).round() as usize);
        let line =
            format!("  {cause:<18}{:>10}{:>9}  {bar}", duration(share * row_s), percent(share));
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn write_totals(totals: &Totals, out: &mut dyn Write) -> io::Result<()> {
    let per_row = |n: f64| trimmed(n, 3);
    writeln!(out, "\nTotals")?;
    let mut line = |name: &str, value: String| writeln!(out, "  {name:<18}{value}");
    let full_scale = if totals.rows == totals.rows_full_scale {
        String::new()
    } else {
        format!(" ({} at full scale)", count(totals.rows_full_scale))
    };
    let (rows, rows_per_s) = (grouped(totals.rows), rate(totals.rows_per_s_mean));
    line("rows", format!("{rows}{full_scale}, {rows_per_s} rows/s"))?;
    if 0 < totals.deletes {
        line("rows deleted", grouped(totals.deletes))?;
    }
    if 0 < totals.queries {
        let reads = totals
            .reads_per_query_mean
            .map_or(String::new(), |reads| format!(", {} page reads each", per_row(reads)));
        line("queries", format!("{}{reads}", grouped(totals.queries)))?;
    }
    let full_scale = duration(totals.virtual_s_full_scale);
    let simulated = duration(totals.virtual_s);
    line(
        "virtual time",
        if full_scale == simulated {
            simulated
        } else {
            format!("{simulated} ({full_scale} at full scale)")
        },
    )?;
    line(
        "pages per row",
        format!(
            "{} read, {} written",
            per_row(totals.reads_per_row_mean),
            per_row(totals.writes_per_row_mean)
        ),
    )?;
    line("hit ratio", format!("{:.4}", totals.hit_ratio_mean))?;
    line("page splits", grouped(totals.splits))?;
    if 0 < totals.coalesces {
        line("pages coalesced", grouped(totals.coalesces))?;
    }
    if totals.stalls.count == 0 {
        line("stalls", "none of a second or more".to_owned())?;
    } else {
        let longest = duration(totals.stalls.longest_ms / 1e3);
        let apart = totals
            .stalls
            .spacing_ms
            .map_or(String::new(), |ms| format!(", {} from start to start", duration(ms / 1e3)));
        line("stalls", format!("{}, the longest {longest}{apart}", grouped(totals.stalls.count)))?;
    }
    let latencies = [
        ("insert", Some(totals.latency_us)),
        ("delete", totals.delete_latency_us),
        ("query", totals.query_latency_us),
    ];
    for (statement, latency) in latencies.iter().filter_map(|(name, l)| Some((name, (*l)?))) {
        let [p50, p99, p999, max] =
            [latency.p50, latency.p99, latency.p999, latency.max].map(|us| duration(us / 1e6));
        let value = format!("median {p50}, 99 % within {p99}, 99.9 % within {p999}, longest {max}");
        line(&format!("{statement} latency"), value)?;
    }
    line("index operations", grouped(totals.index_operations))?;
    write_io(totals, out)
}

/// A line for each kind of query and round after the load.
fn write_queries(queries: &[QueriesAfterLoad], out: &mut dyn Write) -> io::Result<()> {
    if queries.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\nQueries after the load\n  {:<26}{:>6}{:>10}{:>12}{:>14}{:>14}",
        "", "round", "queries", "rows each", "reads each", "pages each"
    )?;
    for asked in queries {
        let name = format!("{} {}", asked.index, asked.form);
        writeln!(
            out,
            "  {name:<26}{:>6}{:>10}{:>12.1}{:>14.2}{:>14.1}",
            asked.round,
            grouped(asked.queries),
            asked.rows_per_query,
            asked.reads_per_query,
            asked.requests_per_query
        )?;
    }
    write_query_nodes(queries, out)
}

/// The same for what they read of the nodes of a fractal tree.
fn write_query_nodes(queries: &[QueriesAfterLoad], out: &mut dyn Write) -> io::Result<()> {
    let of_nodes = queries.iter().filter_map(|asked| Some((asked, asked.nodes?)));
    for (number, (asked, nodes)) in of_nodes.enumerate() {
        if number == 0 {
            writeln!(
                out,
                "\n  {:<26}{:>6}{:>14}{:>14}{:>14}{:>14}",
                "Nodes read by each", "round", "leaf headers", "nodes above", "basements", "data"
            )?;
        }
        let name = format!("{} {}", asked.index, asked.form);
        let [headers, above, basements] =
            [nodes.leaf_headers, nodes.internal, nodes.basements].map(|each| trimmed(each, 3));
        let data = bytes(nodes.bytes.round() as u64);
        let round = asked.round;
        writeln!(out, "  {name:<26}{round:>6}{headers:>14}{above:>14}{basements:>14}{data:>14}")?;
    }
    Ok(())
}

/// A line for each level of a fractal tree: what happened to its nodes in the whole run.
fn write_levels(points: &[Point], out: &mut dyn Write) -> io::Result<()> {
    let Some(last) = points.last().filter(|point| !point.levels.is_empty()) else { return Ok(()) };
    writeln!(
        out,
        "\n  {:<18}{:>9}{:>15}{:>11}{:>11}{:>11}{:>11}{:>12}",
        "Nodes by height",
        "now",
        "injected",
        "flushes",
        "per flush",
        "read",
        "evicted",
        "checkpoint"
    )?;
    for (height, end) in last.levels.iter().rev() {
        let sum = |count: fn(&LevelStats) -> u64| {
            points.iter().filter_map(|point| point.levels.get(height)).map(count).sum::<u64>()
        };
        let flushes = sum(|level| level.flushes);
        let each = sum(|level| level.flushed).checked_div(flushes).unwrap_or(0);
        let name = if *height == 0 { "leaves".to_owned() } else { format!("height {height}") };
        writeln!(
            out,
            "  {name:<18}{:>9}{:>15}{:>11}{:>11}{:>11}{:>11}{:>12}",
            grouped(end.nodes),
            grouped(sum(|level| level.injected)),
            grouped(flushes),
            grouped(each),
            bytes(sum(|level| level.read_bytes)),
            bytes(sum(|level| level.evicted_bytes)),
            bytes(sum(|level| level.checkpointed_bytes)),
        )?;
    }
    Ok(())
}

fn write_io(totals: &Totals, out: &mut dyn Write) -> io::Result<()> {
    if totals.io.values().any(|io| 0 < io.requests) {
        writeln!(
            out,
            "\n  {:<18}{:>16}{:>16}{:>12}",
            "I/O by purpose", "requests", "pages", "data"
        )?;
    }
    for (purpose, io) in totals.io.iter().filter(|(_, io)| 0 < io.requests) {
        let [requests, pages] = [io.requests, io.pages].map(grouped);
        writeln!(out, "  {purpose:<18}{requests:>16}{pages:>16}{:>12}", bytes(io.bytes))?;
    }
    for (name, device) in &totals.device {
        let value = format!(
            "{} reads of {}, {} writes of {}, {} of work",
            grouped(device.reads),
            bytes(device.read_bytes),
            grouped(device.writes),
            bytes(device.write_bytes),
            duration(device.busy_s)
        );
        write_hanging(&format!("  {:<18}", format!("{name} device")), &value, out)?;
    }
    Ok(())
}

fn write_assumed(manifest: &Manifest, out: &mut dyn Write) -> io::Result<()> {
    let assumed: Vec<_> = manifest
        .values
        .iter()
        .filter_map(|value| Some((value, value.assumed.as_deref()?)))
        .collect();
    if !assumed.is_empty() {
        writeln!(out, "\nAssumed, because no source states it")?;
    }
    for (value, reason) in assumed {
        write_hanging("  ", &format!("{} = {} ({reason})", value.key, value.value), out)?;
    }
    Ok(())
}

fn write_notes(manifest: &Manifest, out: &mut dyn Write) -> io::Result<()> {
    if !manifest.notes.is_empty() {
        writeln!(out)?;
    }
    for note in &manifest.notes {
        write_hanging("note: ", note, out)?;
    }
    Ok(())
}
