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

#[test]
fn a_partition_is_dropped_whole_and_for_nothing() {
    let window = ["workload.window=40_000", FIFTHS, "redo.file_size=512MiB"];
    let keeping = |drop: &str| run("percona-5.5", &[&window[..], &[drop]].concat());
    let (dropped, deleted) =
        (keeping("workload.drop_partitions=true"), keeping("workload.drop_partitions=false"));
    // Two partitions are full, one is being filled.
    assert_eq!(dropped.totals.deletes, 40_000);
    let last = &dropped.points[4];
    assert_eq!(last.rows_live, 60_000);
    let three = 3.0 * dropped.points[0].pages["registersegment"].leaf as f64;
    let left = last.pages["registersegment"].leaf as f64;
    assert!((left / three - 1.0).abs() < 0.1, "{left} leaves left, three partitions have {three}");
    // Nothing is read for it, nor written any more, and its rows take no time.
    let kept = run("percona-5.5", &[FIFTHS, "redo.file_size=512MiB"]);
    let leaf_reads = |run: &RunResult| run.totals.io.get("leaf_read").map_or(0, |io| io.pages);
    assert!(leaf_reads(&dropped) <= leaf_reads(&kept));
    assert!(dropped.totals.virtual_s < 1.01 * kept.totals.virtual_s);
    assert!(1.2 * dropped.totals.virtual_s < deleted.totals.virtual_s);
}
