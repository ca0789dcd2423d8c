//! Every format of a result, from results made by hand: nothing is simulated here.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use cost_model::{Cause, Purpose};
use driver::report::svg::PublishedPoint;
use driver::report::{
    ChangeBuffer, DeviceTotal, History, IoCount, Latency, Manifest, ManifestValue, Messages,
    NodesPerQuery, PageCounts, Point, QueriesAfterLoad, RunResult, SCHEMA, Stalls, Totals, csv,
    json, scenario_hash, svg, table,
};
use expect_test::expect_file;
use index::LevelStats;

/// A billion rows in 16 GiB without an insert buffer.
fn sample(points: u64) -> RunResult {
    with_memory_for(130e6, points)
}

/// A run of the shape that arithmetic suggests: each of 1.3 leaves per row is read with the
/// probability 1 - M/n, at 160 reads per second.
fn with_memory_for(rows_in_memory: f64, points: u64) -> RunResult {
    let scale = 128;
    let mut rows_full_scale = 0;
    let mut virtual_s = 0.0;
    let mut all = Vec::new();
    for number in 1..=points {
        let before = rows_full_scale;
        rows_full_scale = 1_000_000_000 * number / points;
        let rows = (rows_full_scale - before) / scale;
        let missing = (1.0 - rows_in_memory / rows_full_scale as f64).max(0.0);
        let reads_per_row = 1.3 * missing;
        let seconds_per_row = 85e-6 + reads_per_row * 6.25e-3;
        let interval_s = rows as f64 * seconds_per_row;
        virtual_s += interval_s;
        let reads = (reads_per_row * rows as f64) as u64;
        all.push(Point {
            rows: rows_full_scale / scale,
            rows_full_scale,
            rows_live: rows_full_scale / scale,
            virtual_s,
            virtual_s_full_scale: virtual_s * scale as f64,
            rows_per_s: 1.0 / seconds_per_row,
            rows_per_s_mean: (rows_full_scale / scale) as f64 / virtual_s,
            reads_per_row,
            writes_per_row: 1.1 * reads_per_row,
            read_bytes_per_row: 16_384.0 * reads_per_row,
            write_bytes_per_row: 1.1 * 16_384.0 * reads_per_row,
            hit_ratio: 1.0 - reads_per_row / 14.0,
            dirty_pages: 6_000,
            pages: pages(rows_full_scale / scale),
            splits: rows / 170,
            time: shares(85e-6 / seconds_per_row),
            io: io_of(reads),
            latency_us: latency(seconds_per_row),
            ..Point::default()
        });
    }
    let totals = Totals { rows_full_scale, ..totals(&all, virtual_s, scale) };
    RunResult { schema: SCHEMA, manifest: manifest(), points: all, totals, queries: Vec::new() }
}

fn manifest() -> Manifest {
    let scenario = "title = \"InnoDB without an insert buffer\"\n".to_owned();
    let value = |key: &str, value: &str, origin: &str| ManifestValue {
        key: key.to_owned(),
        value: value.to_owned(),
        origin: origin.to_owned(),
        source: None,
        assumed: None,
    };
    Manifest {
        name: "s4-insert-buffer-off".to_owned(),
        title: "InnoDB without an insert buffer: a billion rows in a 16 GiB pool".to_owned(),
        question: "How far does the insert rate fall when every secondary index entry is written \
                   to its leaf at once, and the leaves no longer fit in memory?"
            .to_owned(),
        machine: "8 x 15K SAS in RAID 10, 512 MiB write cache, 16 GiB pool, 1 client".to_owned(),
        scenario_hash: scenario_hash(&scenario),
        scenario,
        seed: 42,
        scale: "1/128".to_owned(),
        iisim_version: "0.0.0".to_owned(),
        values: vec![
            ManifestValue {
                source: Some("Facebook note, Feb 2011".to_owned()),
                ..value("pool.size", "16GiB", "s4-insert-buffer-off.toml:12")
            },
            ManifestValue {
                assumed: Some("70-100 us; the note does not say".to_owned()),
                ..value("machine.cpu.row", "85us", "machines/callaghan-2011.toml:31")
            },
            value("workload.clients", "1", "default"),
        ],
        notes: Vec::new(),
    }
}

fn pages(rows: u64) -> BTreeMap<String, PageCounts> {
    let of = |per_leaf: u64| PageCounts {
        leaf: rows / per_leaf + 1,
        internal: rows / per_leaf / 700 + 1,
    };
    [("PRIMARY", 300), ("marketsegment", 550), ("registersegment", 460), ("pdc", 430)]
        .map(|(name, per_leaf)| (name.to_owned(), of(per_leaf)))
        .into()
}

fn shares(cpu: f64) -> BTreeMap<String, f64> {
    [("cpu", cpu), ("free_page", 0.04 * (1.0 - cpu)), ("read", 0.96 * (1.0 - cpu))]
        .map(|(cause, share)| (cause.to_owned(), share))
        .into()
}

fn io_of(reads: u64) -> BTreeMap<String, IoCount> {
    let of = |requests: u64| IoCount { requests, pages: requests, bytes: requests * 16_384 };
    [("leaf_read", of(reads)), ("write_back", of(reads + reads / 10))]
        .map(|(purpose, io)| (purpose.to_owned(), io))
        .into()
}

fn latency(seconds_per_row: f64) -> Latency {
    let p50 = (seconds_per_row * 1e9).round();
    Latency { p50, p99: 1.25 * p50, p999: 1.5 * p50, max: 2.0 * p50 }
}

fn totals(points: &[Point], virtual_s: f64, scale: u64) -> Totals {
    let rows = points.last().map_or(0, |point| point.rows);
    let reads: u64 = points.iter().map(|point| point.io["leaf_read"].pages).sum();
    let io = io_of(reads);
    let (read, written) = (io["leaf_read"], io["write_back"]);
    let per_row = |n: u64| if rows == 0 { 0.0 } else { n as f64 / rows as f64 };
    let data = DeviceTotal {
        reads: read.requests,
        read_bytes: read.bytes,
        writes: written.requests,
        write_bytes: written.bytes,
        syncs: rows / 1_000,
        busy_s: 2.5 * virtual_s,
    };
    Totals {
        rows,
        virtual_s,
        virtual_s_full_scale: virtual_s * scale as f64,
        client_s: virtual_s,
        rows_per_s_mean: if rows == 0 { 0.0 } else { rows as f64 / virtual_s },
        reads_per_row_mean: per_row(read.pages),
        writes_per_row_mean: per_row(written.pages),
        read_bytes_per_row_mean: per_row(read.bytes),
        write_bytes_per_row_mean: per_row(written.bytes),
        hit_ratio_mean: 1.0 - per_row(read.pages) / 14.0,
        splits: points.iter().map(|point| point.splits).sum(),
        index_operations: 4 * rows,
        time: shares(if rows == 0 { 1.0 } else { 85e-6 * rows as f64 / virtual_s }),
        io,
        device: [("data".to_owned(), data)].into(),
        latency_us: latency(6e-3),
        ..Totals::default()
    }
}

/// The sample with every optional part present in its last point only, and with text that every
/// format has to escape.
fn everything() -> RunResult {
    let mut result = sample(3);
    "window, \"all\" <parts>".clone_into(&mut result.manifest.name);
    "Reads & writes < 2 per row".clone_into(&mut result.manifest.title);
    result.manifest.notes = vec![
        "no query ran: the run ended before queries.start_after_rows".to_owned(),
        "the table fits in the buffer pool: no page was read in the last interval, so that this \
         run says nothing about I/O"
            .to_owned(),
    ];
    let point = &mut result.points[2];
    point.deletes_per_s = 1.0 / 3.0;
    point.queries_per_s = 0.1 + 0.2;
    point.reads_per_query = Some(1.5);
    point.redo_bytes_per_row = Some(412.5);
    point.checkpoint_age_bytes = Some(1 << 31);
    point.coalesces = 3;
    point.change_buffer = Some(ChangeBuffer {
        entries: 1_000,
        pages: 9,
        merges: 12,
        merged_entries: 77,
        merged_delete_marks: 20,
        merged_deletes: 9,
        splits: 3,
        joins: 2,
    });
    point.history = Some(History { transactions: 3, rows: 2_500, undo_pages: 14 });
    point.messages = Some(Messages { pending: 5_000, injected: 40_000, flushes: 21 });
    let level = LevelStats { nodes: 64, flushes: 21, flushed: 33_000, ..LevelStats::default() };
    point.levels = [(0, level), (1, LevelStats { nodes: 6, injected: 40_000, ..level })].into();
    point.stalls = Stalls { count: 2, longest_ms: 1_250.5, spacing_ms: Some(4_000.0) };
    let delete = Latency { p50: 400.0, p99: 800.0, p999: 900.0, max: 1_000.0 };
    let query = Latency { p50: 900.0, p99: 7_000.0, p999: 9_500.0, max: 12_000.0 };
    (point.delete_latency_us, point.query_latency_us) = (Some(delete), Some(query));
    let totals = &mut result.totals;
    (totals.deletes, totals.queries, totals.coalesces) = (1_000, 2_000, 3);
    totals.reads_per_query_mean = Some(1.5);
    totals.redo_bytes_per_row_mean = Some(412.5);
    totals.change_buffer = point.change_buffer;
    totals.stalls = Stalls { count: 2, longest_ms: 1_250.5, spacing_ms: Some(4_000.0) };
    (totals.delete_latency_us, totals.query_latency_us) = (Some(delete), Some(query));
    result.queries = vec![QueriesAfterLoad {
        index: "pdc".to_owned(),
        form: "range".to_owned(),
        round: 1,
        queries: 2_000,
        rows_per_query: 10.0,
        reads_per_query: 5.75,
        requests_per_query: 51.125,
        queries_per_s: 44.5,
        nodes: Some(NodesPerQuery {
            leaf_headers: 0.8,
            internal: 0.2,
            basements: 0.99,
            bytes: 834_000.0,
        }),
    }];
    result
}

fn published() -> Vec<PublishedPoint> {
    let point = |rows, rows_per_s, label: &str| PublishedPoint {
        rows,
        rows_per_s,
        label: label.to_owned(),
    };
    vec![
        point(596_000_000, 125.0, "S4.10: 125 rows/s"),
        point(1_000_000_000, 30.0, "S4.4: about 30 rows/s expected"),
    ]
}

fn text(write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes).expect("writing to memory succeeds");
    String::from_utf8(bytes).expect("every format is UTF-8")
}

#[test]
fn formats_match_their_snapshots() {
    let (result, all) = (sample(3), everything());
    expect_file!["report_formats/run.json"].assert_eq(&text(|out| json::write(&result, out)));
    expect_file!["report_formats/everything.json"].assert_eq(&text(|out| json::write(&all, out)));
    let runs = [result, all];
    expect_file!["report_formats/points.csv"].assert_eq(&text(|out| csv::write(&runs[..1], out)));
    expect_file!["report_formats/two_runs.csv"].assert_eq(&text(|out| csv::write(&runs, out)));
    expect_file!["report_formats/everything.txt"]
        .assert_eq(&text(|out| table::write(&runs[1], out)));
    let long = sample(200);
    expect_file!["report_formats/run.txt"].assert_eq(&text(|out| table::write(&long, out)));
    let figure = text(|out| svg::write(&[sample(60)], &published(), out));
    expect_file!["report_formats/run.svg"].assert_eq(&figure);
    let mut large_pool = with_memory_for(400e6, 60);
    "The same with a 48 GiB pool".clone_into(&mut large_pool.manifest.title);
    "what-if-pool-48g".clone_into(&mut large_pool.manifest.name);
    let figure = text(|out| svg::write(&[sample(60), large_pool], &published(), out));
    expect_file!["report_formats/two_runs.svg"].assert_eq(&figure);
}

#[test]
fn a_run_without_points_has_every_format() {
    let empty = sample(0);
    expect_file!["report_formats/empty.txt"].assert_eq(&text(|out| table::write(&empty, out)));
    expect_file!["report_formats/empty.json"].assert_eq(&text(|out| json::write(&empty, out)));
    let runs = [empty];
    assert_eq!(text(|out| csv::write(&runs, out)), "\n");
    let figure = text(|out| svg::write(&runs, &[], out));
    assert!(figure.contains("no reporting interval was reached"));
    roxmltree::Document::parse(&figure).expect("well-formed");
}

#[test]
fn json_reads_back_as_the_same_result() {
    for result in [sample(0), sample(50), everything()] {
        let document = text(|out| json::write(&result, out));
        let read: RunResult = serde_json::from_str(&document).expect("valid JSON");
        assert_eq!(read, result);
        assert_eq!(text(|out| json::write(&read, out)), document);

        let line = text(|out| json::write_lines(std::slice::from_ref(&result), out));
        assert_eq!(line.lines().count(), 1);
        assert_eq!(serde_json::from_str::<RunResult>(&line).expect("valid JSON"), result);
    }
}

#[test]
fn csv_has_the_names_and_numbers_of_the_json() {
    let result = everything();
    let table = text(|out| csv::write(std::slice::from_ref(&result), out));
    let mut lines = table.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let mut names = BTreeSet::new();
    for (point, line) in result.points.iter().zip(lines.by_ref()) {
        let mut leaves = BTreeMap::new();
        flatten(&serde_json::to_value(point).expect("plain data"), "", &mut leaves);
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells.len(), header.len());
        for (name, cell) in header.iter().zip(cells) {
            assert_eq!(leaves.get(*name).map_or("", String::as_str), cell, "{name}");
        }
        names.extend(leaves.into_keys());
    }
    assert_eq!(lines.next(), None);
    assert_eq!(names, header.into_iter().map(str::to_owned).collect());
}

fn flatten(value: &serde_json::Value, path: &str, leaves: &mut BTreeMap<String, String>) {
    let Some(map) = value.as_object() else {
        leaves.insert(path.to_owned(), value.to_string());
        return;
    };
    for (key, value) in map {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        flatten(value, &path, leaves);
    }
}

#[test]
fn the_table_fits_a_hundred_columns() {
    for result in [sample(0), sample(7), sample(1_000), everything()] {
        for line in text(|out| table::write(&result, out)).lines() {
            assert!(line.chars().count() <= 100, "{line}");
            assert_eq!(line, line.trim_end());
        }
    }
}

#[test]
fn the_table_shows_twenty_points_and_the_last_one() {
    let table = text(|out| table::write(&sample(1_000), out));
    let rows = table
        .lines()
        .skip_while(|line| !line.starts_with("    rows "))
        .skip(1)
        .take_while(|line| !line.starts_with("20 of 1,000 "))
        .count();
    assert_eq!(rows, 20, "{table}");
    assert!(table.lines().any(|line| line.starts_with("      1B")), "{table}");
}

#[test]
fn the_figure_is_well_formed_and_keeps_its_text_inside() {
    let runs = [sample(60), everything()];
    for figure in [
        text(|out| svg::write(&runs, &published(), out)),
        text(|out| svg::write(&runs[..1], &published(), out)),
        text(|out| svg::write(&runs[1..], &[], out)),
        text(|out| svg::write(&[], &[], out)),
    ] {
        let document = roxmltree::Document::parse(&figure).expect("well-formed");
        let size = |name| document.root_element().attribute(name).and_then(|n| n.parse().ok());
        let (width, height): (f64, f64) = (size("width").unwrap(), size("height").unwrap());
        for node in document.descendants().filter(|node| node.has_tag_name("text")) {
            let at = |name| node.attribute(name).and_then(|n| n.parse::<f64>().ok()).unwrap();
            let text_width = 6.4 * node.text().unwrap_or_default().chars().count() as f64;
            let left = match node.attribute("text-anchor") {
                Some("end") => at("x") - text_width,
                Some("middle") => at("x") - text_width / 2.0,
                _ => at("x"),
            };
            assert!(0.0 <= left && left + text_width <= width, "{node:?}");
            assert!(12.0 <= at("y") && at("y") <= height - 4.0, "{node:?}");
        }
    }
}

#[test]
fn the_figure_draws_a_curve_per_run_and_a_marker_per_published_point() {
    let runs = [sample(60), everything()];
    let figure = text(|out| svg::write(&runs, &published(), out));
    let document = roxmltree::Document::parse(&figure).expect("well-formed");
    let of_class = |class: &str| {
        let has = |node: &roxmltree::Node<'_, '_>| {
            node.attribute("class").is_some_and(|names| names.split(' ').any(|name| name == class))
        };
        document.descendants().filter(has).count()
    };
    // Two panels and the legend; the markers have one sample in the legend.
    assert_eq!(of_class("curve"), 2 * (2 + 1));
    assert_eq!(of_class("mark"), published().len() + 1);
    assert_eq!(of_class("note"), published().len());
}

#[test]
fn the_page_documents_exactly_the_keys_of_the_json() {
    let page = include_str!("../../../docs/reports.md");
    let document = serde_json::to_value(everything()).expect("plain data");
    let mut keys = BTreeMap::new();
    for section in ["manifest", "points", "totals", "queries"] {
        let mut found = BTreeSet::new();
        collect_keys(&document[section], "", &mut found);
        keys.insert(section, found);
    }
    let top = document.as_object().expect("an object").keys().cloned().collect();
    assert_eq!(documented_keys(page, "run"), top);
    for (section, found) in keys {
        assert_eq!(documented_keys(page, section), found, "section {section}");
    }
}

#[test]
fn the_page_documents_exactly_the_causes_and_purposes_of_the_machine() {
    let page = include_str!("../../../docs/reports.md");
    let causes = Cause::ALL.iter().map(|cause| cause.name().to_owned()).collect();
    assert_eq!(documented_keys(page, "time"), causes);
    let purposes = Purpose::ALL.iter().map(|purpose| purpose.name().to_owned()).collect();
    assert_eq!(documented_keys(page, "io"), purposes);
}

/// The paths of all leaves, with a placeholder for the keys that are names of the scenario.
fn collect_keys(value: &serde_json::Value, path: &str, keys: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Array(values) if values.iter().any(serde_json::Value::is_object) => {
            for value in values {
                collect_keys(value, &format!("{path}[]"), keys);
            }
        }
        serde_json::Value::Object(map) => {
            for (key, value) in map {
                let key = match path.trim_start_matches("[]") {
                    "pages" => "<index>",
                    "levels" => "<height>",
                    "time" => "<cause>",
                    "io" => "<purpose>",
                    "device" => "<device>",
                    _ => key,
                };
                let parent = path.trim_start_matches("[]");
                let path =
                    if parent.is_empty() { key.to_owned() } else { format!("{parent}.{key}") };
                collect_keys(value, &path, keys);
            }
        }
        _ => {
            keys.insert(path.to_owned());
        }
    }
}

/// The keys in the first column of the tables of the section that has this name in its heading.
fn documented_keys(page: &str, section: &str) -> BTreeSet<String> {
    let heading = format!("(`{section}`)");
    page.lines()
        .skip_while(|line| !(line.starts_with('#') && line.ends_with(&heading)))
        .skip(1)
        .take_while(|line| !line.starts_with("## "))
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` |"))
        .map(|(key, _)| key.to_owned())
        .collect()
}
