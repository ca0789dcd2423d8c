//! Several connections that insert at once, one row a statement and a commit.

use std::sync::atomic::AtomicBool;

use driver::report::RunResult;
use driver::scenario::Scenario;

/// The load of the EC2 article, in one partition and into memory.
fn run(rows: u64, sets: &[&str]) -> RunResult {
    run_in("512MiB", rows, sets)
}

fn run_in(pool: &str, rows: u64, sets: &[&str]) -> RunResult {
    let mut all = vec!["workload.partition_rows=0".to_owned(), format!("pool.size={pool}")];
    all.extend([format!("workload.rows={rows}"), format!("report.every_rows={rows}")]);
    all.extend(sets.iter().map(|&set| set.to_owned()));
    let scenario = Scenario::load("s0-indexed", &all, None).unwrap();
    driver::run::run(&scenario, &AtomicBool::new(false), &mut |_| {}).unwrap()
}

fn rows_per_primary_leaf(result: &RunResult) -> f64 {
    let last = result.points.last().expect("a run has points");
    result.totals.rows as f64 / last.pages["PRIMARY"].leaf as f64
}

/// Rows do not arrive in the order of their numbers: a page whose last insert is not the
/// predecessor of the new row is split in the middle.
#[test]
fn several_clients_leave_primary_pages_half_full() {
    let [one, five] = ["workload.clients=1", "workload.clients=5"]
        .map(|clients| rows_per_primary_leaf(&run(400_000, &[clients])));
    // 15/16 of a page are 320 rows. S0's published 56 GB are 272 to 292 rows a page.
    assert!((318.0..=321.0).contains(&one), "{one} rows a leaf with one client");
    assert!((180.0..310.0).contains(&five), "{five} rows a leaf with five clients");
}

/// 65 to 70 bytes for the row, about 20 for its undo record, 30 to 38 for each entry and 12 of its
/// leaf's header, and 40 for the transaction, 222 with a binary log; splits and
/// headers of blocks besides.
#[test]
fn a_transaction_of_one_row_logs_300_or_500_bytes() {
    let bytes = |set: &str| {
        let result = run(200_000, &[set]);
        result.points[0].redo_bytes_per_row.expect("there is a log")
    };
    let [without, with] = ["commit.binlog=off", "commit.binlog=written"].map(bytes);
    assert!((290.0..320.0).contains(&without), "{without} bytes");
    assert!((188.0 - (with - without)).abs() < 2.0, "{with} bytes with a binary log");
}

/// A commit that finds the log being synced waits for that, and then shares the next sync with the
/// others that waited.
#[test]
fn commits_share_syncs_of_the_log() {
    let syncs_per_row = |clients: &str| {
        let result = run(4_000, &["commit.log=flush", clients]);
        let log = &result.totals.io["log"];
        assert!(result.totals.time["log"] > 0.9, "{:?}", result.totals.time);
        log.requests as f64 / 4_000.0
    };
    let one = syncs_per_row("workload.clients=1");
    let five = syncs_per_row("workload.clients=5");
    assert!((1.0..1.01).contains(&one), "{one} log writes a row with one client");
    // Four wait while the fifth syncs, and go together: 2 syncs for 5 commits.
    assert!((0.35..0.55).contains(&five), "{five} log writes a row with five");
}

/// A connection that is alone waits for no latch; among five, splits stop the others.
#[test]
fn one_client_waits_for_no_latch() {
    let lock = |clients: &str| {
        let result = run_in("24MiB", 100_000, &[clients, "engine.kind=btree"]);
        result.totals.time.get("lock").copied().unwrap_or(0.0)
    };
    assert!(lock("workload.clients=1") < f64::EPSILON);
    let five = lock("workload.clients=5");
    assert!((0.001..0.5).contains(&five), "{five} of the time of five clients");
}
