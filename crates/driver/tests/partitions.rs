//! A table cut into ranges of its primary key, in whole runs.

use std::sync::atomic::AtomicBool;

use driver::report::RunResult;
use driver::scenario::Scenario;

/// 100,000 rows: the secondary indexes of all of them have more leaves than the pool has frames,
/// those of a fifth of them fewer.
fn run(engine: &str, sets: &[&str]) -> RunResult {
    let text = format!(
        r#"
use = ["machines/callaghan-2011", "engines/{engine}"]
pool.size = "4MiB"
redo.files = 2
redo.file_size = "64MiB"
workload.kind = "iibench"
workload.profile = "python-2009"
workload.rows = 100_000
report.every_rows = 20_000
"#
    );
    let text = match engine {
        "perconaft" => text.replace("redo.files = 2\nredo.file_size = \"64MiB\"\n", ""),
        _ => text,
    };
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("partitions.toml");
    std::fs::write(&file, text).unwrap();
    let scenario = Scenario::load(file.to_str().unwrap(), &sets, None).unwrap();
    driver::run::run(&scenario, &AtomicBool::new(false), &mut |_| {}).unwrap()
}

const FIFTHS: &str = "workload.partition_rows=20_000";

#[test]
fn what_is_inserted_into_lies_in_memory() {
    for kind in ["btree", "change-buffer"] {
        let kind = format!("engine.kind={kind}");
        let whole = run("percona-5.5", &[&kind]).totals.reads_per_row_mean;
        let parts = run("percona-5.5", &[&kind, FIFTHS]).totals.reads_per_row_mean;
        assert!(
            0.02 < whole && 10.0 * parts < whole,
            "{kind}: {whole} in one piece, {parts} in five"
        );
    }
}

#[test]
fn pages_are_reported_for_the_indexes_of_the_table() {
    let parts = run("percona-5.5", &[FIFTHS]);
    let names = |point: usize| parts.points[point].pages.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(4), ["PRIMARY", "marketsegment", "pdc", "registersegment"]);
    // Every partition is as large as the first was when it was full.
    for (name, first) in &parts.points[0].pages {
        let all = parts.points[4].pages[name].leaf as f64;
        let ratio = all / (5.0 * (first.leaf - 4) as f64);
        assert!((0.9..1.15).contains(&ratio), "{name}: {ratio}");
    }
}

#[test]
fn one_partition_is_a_table_in_one_piece() {
    let whole = run("percona-5.5", &[]);
    let one = run("percona-5.5", &["workload.partition_rows=100_000"]);
    assert_eq!(whole.points, one.points);
}

#[test]
fn a_fractal_tree_has_partitions_too() {
    let parts = run("perconaft", &[FIFTHS, "pool.size=64MiB"]);
    assert_eq!(parts.totals.rows, 100_000);
    assert!(parts.points[4].pages["pdc"].leaf >= 5, "each partition has a tree of its own");
}
