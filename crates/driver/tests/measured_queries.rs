//! Queries after the load against counters of a real `InnoDB` fed with the same key stream, for a
//! table in five partitions and for one in one piece.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use driver::report::RunResult;
use driver::scenario::Scenario;

/// Pages read per query in the first round may differ from the measured ones by this share. In the
/// second round the server finds more in its pool than the simulation does, up to half of the reads
/// of ranges over partitions: which rule keeps those pages is not known.
const TOLERANCE: f64 = 0.27;

/// Pages read per query: the run, the index, what is asked for, the round, as measured.
///
/// From the measured reference runs: `MariaDB` 10.11.19, 5M rows, 160 MB, 2,000 queries a row.
const MEASURED: &str = include_str!("measured_innodb/queries.csv");

static RUNS: LazyLock<BTreeMap<&str, RunResult>> = LazyLock::new(|| {
    let run = |name| {
        let scenario = Scenario::load(name, &[], None).unwrap();
        driver::run::run(&scenario, &AtomicBool::new(false), &mut |_| {}).unwrap()
    };
    ["measured-part5-none-160m", "measured-queries-none-160m"].map(|n| (n, run(n))).into()
});

#[test]
fn a_load_into_partitions_reads_nothing() {
    let load = &RUNS["measured-part5-none-160m"].totals;
    let reads: u64 =
        load.io.iter().filter(|(name, _)| name.ends_with("_read")).map(|(_, io)| io.pages).sum();
    // 207 were measured, 149 of them before the first insert.
    assert!(reads <= 58, "{reads} pages read in 5,000,000 rows");
}

#[test]
fn queries_read_what_a_real_server_reads() {
    let mut problems = Vec::new();
    let rows: Vec<_> = MEASURED.lines().skip(1).collect();
    assert_eq!(rows.len(), 2 * 5 * 2);
    for row in rows {
        let [run, index, form, round, rows_returned, reads] =
            row.split(',').collect::<Vec<_>>()[..]
        else {
            panic!("{row}: six columns")
        };
        let asked = RUNS[run]
            .queries
            .iter()
            .find(|asked| {
                asked.index == index && asked.form == form && asked.round.to_string() == round
            })
            .unwrap_or_else(|| panic!("no such queries: {row}"));
        assert_eq!(asked.queries, 2_000);
        let number = |text: &str| text.parse::<f64>().unwrap();
        assert!((asked.rows_per_query - number(rows_returned)).abs() < 0.1, "{row}: {asked:?}");
        let ratio = asked.reads_per_query / number(reads);
        if round == "0" && TOLERANCE < (ratio - 1.0).abs() {
            problems.push(format!("{row}: {:.2} read, ratio {ratio:.3}", asked.reads_per_query));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
