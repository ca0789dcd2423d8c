//! The write path of whole runs: what the size of the redo log decides, and what it does not.

use std::sync::atomic::AtomicBool;

use driver::report::RunResult;
use driver::scenario::Scenario;

/// 200,000 rows into a pool that holds them: only the redo log makes anybody write.
fn run(engine: &str, sets: &[&str]) -> RunResult {
    let text = format!(
        r#"
use = ["machines/callaghan-2011", "engines/{engine}"]
pool.size = "256MiB"
workload.kind = "iibench"
workload.profile = "python-2009"
workload.rows = 200_000
report.every_rows = 20_000
"#
    );
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("redo.toml");
    std::fs::write(&file, text).unwrap();
    let scenario = Scenario::load(file.to_str().unwrap(), &sets, None).unwrap();
    driver::run::run(&scenario, &AtomicBool::new(false), &mut |_| {}).unwrap()
}

/// Pages written to their places per row.
fn writes_per_row(result: &RunResult) -> f64 {
    let points = &result.points;
    points.iter().map(|point| point.writes_per_row).sum::<f64>() / points.len() as f64
}

#[test]
fn four_files_are_two_of_twice_the_size() {
    let four = run("innodb-5.1", &["redo.files=4", "redo.file_size=4MiB"]);
    let two = run("innodb-5.1", &["redo.files=2", "redo.file_size=8MiB"]);
    assert_eq!(four.points, two.points);
    assert_eq!(four.totals, two.totals);
    assert!(0.0 < writes_per_row(&four), "the log is too small for the run");
}

#[test]
fn a_larger_log_writes_fewer_pages() {
    let written = ["4MiB", "8MiB", "16MiB", "64MiB"].map(|size| {
        let size = format!("redo.file_size={size}");
        writes_per_row(&run("innodb-5.1", &["redo.files=2", &size]))
    });
    assert!(written.is_sorted_by(|a, b| b < a), "{written:?}");
}

/// All that is logged goes to disks that hold nothing else.
#[test]
fn logs_on_disks_of_their_own() {
    let sets = ["redo.file_size=4MiB", "commit.log=flush", "commit.binlog=synced"];
    let (beside, apart) = (
        run("innodb-5.1", &sets),
        run("innodb-5.1", &[&sets[..], &["redo.disk=machines/x25e"]].concat()),
    );
    let bytes = |result: &RunResult, purpose: &str| result.totals.io[purpose].bytes;
    let written = |result: &RunResult, device: &str| result.totals.device[device].write_bytes;
    assert!(!beside.totals.device.contains_key("log"));
    let logs = bytes(&apart, "log") + bytes(&apart, "binlog");
    assert!(0 < logs && written(&apart, "log") == logs, "{:?}", apart.totals);
    let all: u64 = apart.totals.io.values().map(|count| count.bytes).sum();
    assert_eq!(written(&apart, "data"), all - logs);
}

#[test]
fn every_engine_profile_with_a_log_runs() {
    for engine in ["innodb-5.1", "innodb-plugin-1.0", "percona-5.5", "mysql-5.7", "mariadb-10.11"] {
        let result = run(engine, &["redo.files=2", "redo.file_size=8MiB", "pool.size=96MiB"]);
        assert_eq!(result.totals.rows, 200_000, "{engine}");
    }
}

#[test]
fn the_master_syncs_the_log_beside_its_purge() {
    let sets = ["commit.log=write", "workload.window=50_000", "pool.size=2MiB"];
    let result = run("innodb-5.1", &sets);
    let (syncs, seconds) = (result.totals.io["log"].requests as f64, result.totals.virtual_s);
    assert!(0.95 * seconds < syncs, "{syncs} in {seconds} s");
    assert!(result.points[9].history.is_some(), "there was something to purge");
}

#[test]
fn without_a_background_thread_another_syncs_the_log() {
    let result = run("innodb-5.1", &["commit.log=nothing", "flush.background=none"]);
    assert!(result.totals.io.contains_key("log"));
}
