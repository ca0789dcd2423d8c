//! The fractal tree in whole runs: what the reports say of it.

use std::sync::atomic::AtomicBool;

use driver::report::RunResult;
use driver::scenario::Scenario;

fn run(name: &str, sets: &[&str]) -> RunResult {
    let sets: Vec<_> = sets.iter().map(|&set| set.to_owned()).collect();
    let scenario = Scenario::load(name, &sets, None).unwrap();
    driver::run::run(&scenario, &AtomicBool::new(false), &mut |_| {}).unwrap()
}

/// A hundredth of the article's window with a cache and nodes of a 64th: the same order of levels.
const SMALL: [&str; 6] = [
    "workload.rows=1_000_000",
    "workload.window=500_000",
    "pool.size=24MiB",
    "machine.memory=48MiB",
    "engine.fractal.node_size=64KiB",
    "report.every_rows=250_000",
];

#[test]
fn a_window_costs_three_times_the_messages() {
    let sets = [&SMALL[..], &["engine.fractal.basement_size=64KiB"]].concat();
    let result = run("s2-fractal-window", &sets);
    let messages: Vec<_> = result.points.iter().map(|point| point.messages.unwrap()).collect();
    // 4 messages a row, and 12 a pair.
    assert_eq!(messages[0].injected, 4 * 250_000);
    assert_eq!(messages[3].injected, 12 * 250_000);
    assert!(0 < messages[3].pending && 0 < messages[3].flushes);
    let rates: Vec<_> = result.points.iter().map(|point| point.rows_per_s).collect();
    // 10 us a row and 10 us a message are the limit: 20,000 rows/s, and 140 us a pair.
    assert!((15_000.0..20_001.0).contains(&rates[0]), "{rates:?}");
    assert!((3_500.0..7_150.0).contains(&rates[3]), "{rates:?}");
    assert!(result.totals.io.contains_key("node_write"));
}

#[test]
fn the_library_of_2023_checkpoints_and_flushes_beside_its_clients() {
    let sets = [
        &SMALL[..],
        &[
            "engine.fractal.basement_size=8KiB",
            "engine.fractal.promotion=flow",
            "engine.fractal.flushing=background",
            "engine.fractal.queries=apply",
            "engine.fractal.replacement=clock",
            "pool.io=direct",
            "engine.fractal.checkpoint_period=2s",
            "engine.fractal.cleaner_period=1s",
            "workload.queries.kind=pdc",
            "workload.queries.rate_limit=50",
        ],
    ];
    let result = run("s2-fractal-window", &sets.concat());
    let io = &result.totals.io;
    assert!(
        ["checkpoint", "node_write", "leaf_read"].iter().all(|key| io.contains_key(*key)),
        "{io:?}"
    );
    assert!(0 < result.totals.queries);
}

#[test]
fn two_runs_are_the_same_run() {
    let sets = [&SMALL[..], &["engine.fractal.basement_size=64KiB", "workload.clients=3"]].concat();
    let [first, second] = [0, 1].map(|_| run("s2-fractal-window", &sets));
    assert_eq!(first, second);
}

#[test]
fn the_log_of_the_library_has_a_record_for_each_message_and_that_of_2009_none() {
    let sets = [&SMALL[..1], &SMALL[2..], &["engine.fractal.basement_size=64KiB"]].concat();
    let silent = run("s2-fractal-insert", &sets);
    assert!(silent.points.iter().all(|point| point.redo_bytes_per_row.is_none()));
    let logged = run("s2-fractal-insert", &[&sets[..], &["redo.files=1"]].concat());
    let last = logged.points.last().unwrap();
    // 49 bytes a record beyond keys and values: 5 + 24, 13, 17 and 21 bytes.
    assert_eq!(last.redo_bytes_per_row, Some(f64::from(4 * 49 + 29 + 13 + 17 + 21)));
}

/// The library of 2023 with small nodes and one client.
const LIBRARY: [&str; 8] = [
    "engine.fractal.basement_size=8KiB",
    "engine.fractal.promotion=flow",
    "engine.fractal.flushing=background",
    "engine.fractal.queries=apply",
    "pool.io=direct",
    "redo.files=1",
    "redo.file_size=1TiB",
    "engine.fractal.checkpoint_period=2s",
];

#[test]
fn a_log_that_no_commit_syncs_is_written_and_cut_off_at_checkpoints() {
    let sets = [&SMALL[..], &LIBRARY, &["commit.log=write", "flush.background=none"]].concat();
    let result = run("s2-fractal-window", &sets);
    let logged: f64 =
        result.points.iter().map(|point| point.redo_bytes_per_row.unwrap() * 250_000.0).sum();
    let written = result.totals.io["log"].bytes as f64;
    assert!((0.9 * logged..1.2 * logged).contains(&written), "{written} of {logged}");
    let age = result.points[3].checkpoint_age_bytes.unwrap() as f64;
    assert!(0.0 < age && age < 0.5 * logged, "{age} of {logged}");
}

#[test]
fn queries_count_what_they_read() {
    let queries = ["workload.queries.kind=pdc", "workload.queries.rate_limit=50"];
    let sets = [&SMALL[..], &LIBRARY, &queries].concat();
    let result = run("s2-fractal-window", &sets);
    assert!(0.0 < result.totals.reads_per_query_mean.unwrap());
}
