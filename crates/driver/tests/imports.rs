//! The import of a dump, row by row: what a commit waits for, and what an engine without a log
//! does instead.

use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use driver::report::RunResult;
use driver::run::{Run, run};
use driver::scenario::Scenario;

/// Three times what the log holds between two checkpoints.
const ROWS: u64 = 60_000;

/// One turn of the disk in microseconds.
const TURN_US: f64 = 60e6 / 7_200.0;

struct Import {
    result: RunResult,
    /// Times that the redo log was made durable, per row.
    log_syncs: f64,
}

impl Import {
    fn new(name: &str) -> Self {
        let sets = [format!("workload.rows={ROWS}")];
        let scenario = Scenario::load(name, &sets, None).unwrap();
        let mut run = Run::new(&scenario).unwrap();
        run.advance(ROWS);
        let (machine, engine) = run.parts();
        let flushes = machine.redo_stats().map_or(0, |redo| redo.flushes);
        machine.verify();
        engine.verify();
        Self { log_syncs: flushes as f64 / ROWS as f64, result: run.finish() }
    }

    fn row_us(&self) -> f64 {
        self.result.totals.virtual_s * 1e6 / ROWS as f64
    }

    fn share(&self, cause: &str) -> f64 {
        self.result.totals.time.get(cause).copied().unwrap_or_default()
    }

    fn pages(&self, purpose: &str) -> u64 {
        self.result.totals.io.get(purpose).map_or(0, |count| count.pages)
    }
}

static FLUSH_BUFFERED: LazyLock<Import> = LazyLock::new(|| Import::new("s1-flush-buffered"));
static FLUSH_DIRECT: LazyLock<Import> = LazyLock::new(|| Import::new("s1-flush-direct"));
static NOTHING_BUFFERED: LazyLock<Import> = LazyLock::new(|| Import::new("s1-nothing-buffered"));
static NOTHING_DIRECT: LazyLock<Import> = LazyLock::new(|| Import::new("s1-nothing-direct"));
static MYISAM: LazyLock<Import> = LazyLock::new(|| Import::new("s1-myisam"));

#[test]
fn a_commit_that_syncs_costs_a_turn_of_the_disk_and_sometimes_two() {
    for import in [&*FLUSH_BUFFERED, &*FLUSH_DIRECT] {
        assert!((0.999..1.01).contains(&import.log_syncs), "{} syncs a row", import.log_syncs);
        assert!(0.98 < import.share("log"), "{:?}", import.result.totals.time);
        let turns = import.result.totals.latency_us.p50 / TURN_US;
        assert!((0.99..2.01).contains(&turns), "{turns} turns");
        // The way to the journal and back, 2.4 of the 8.3 ms of a turn, and the statement: in so
        // many cases the block has gone by.
        let mean = import.row_us() / TURN_US;
        assert!((1.28..1.32).contains(&mean), "{mean} turns");
    }
}

#[test]
fn a_commit_that_waits_for_nothing_leaves_the_log_to_the_background() {
    for import in [&*NOTHING_BUFFERED, &*NOTHING_DIRECT] {
        assert!(import.log_syncs < 0.001, "{} syncs a row", import.log_syncs);
        assert!(import.share("log").abs() < 1e-9, "nobody waits for it");
        assert!((46.0..47.0).contains(&import.result.totals.latency_us.p50));
        assert!(0.2 < import.share("checkpoint_stall"), "a log of 10 MB fills up");
        assert!(150.0 < FLUSH_BUFFERED.row_us() / import.row_us());
    }
}

/// Every batch syncs what it wrote, so the page cache keeps no page from the disk: it only adds
/// copies. The runs may stand a batch apart at their end.
#[test]
fn buffered_files_cost_copies_alone() {
    let pairs = [(&*FLUSH_BUFFERED, &*FLUSH_DIRECT), (&*NOTHING_BUFFERED, &*NOTHING_DIRECT)];
    for (buffered, direct) in pairs {
        assert_eq!(buffered.pages("checkpoint") + buffered.pages("write_back"), 0);
        assert_eq!(direct.pages("os_write_back"), 0);
        let (through, past) = (buffered.pages("os_write_back"), direct.pages("checkpoint"));
        assert!(through.abs_diff(past) <= 128, "{through} and {past} pages");
        let ratio = buffered.row_us() / direct.row_us();
        assert!((0.97..1.03).contains(&ratio), "{ratio}");
    }
}

#[test]
fn myisam_waits_for_no_disk_and_pays_for_system_calls() {
    let import = &*MYISAM;
    assert!(0.999 < import.share("cpu"), "{:?}", import.result.totals.time);
    assert!(import.result.totals.io.is_empty(), "nothing is 30 s old yet");
    // 46 us, a call each for the row, one block and the state, 1.4 KB of copies; every 70th row
    // fills a block and changes three.
    let row_us = import.row_us();
    assert!((55.8..56.6).contains(&row_us), "{row_us} us");
    assert!(row_us < NOTHING_DIRECT.row_us(), "InnoDB waits for its log and its batches");
}

/// The price of a statement on this machine is what this run says it is.
#[test]
fn the_calibrated_run_takes_the_published_time() {
    let scenario = Scenario::load("s1-nothing-direct", &[], None).unwrap();
    let result = run(&scenario, &AtomicBool::new(false), &mut |_| {}).unwrap();
    let seconds = result.totals.virtual_s;
    assert!((seconds / 68.0 - 1.0).abs() < 0.02, "{seconds} s");
}

/// Statements of a thousand rows: sorted entries of one index come in the order of their keys, so
/// that a small key cache reads a block once for all of them.
#[test]
fn sorted_entries_read_fewer_blocks() {
    let import = |bulk_rows: u32| {
        let sets = [
            "workload.kind=micro",
            "workload.order=random",
            "workload.secondary_indexes=1",
            "workload.rows=200000",
            "workload.rows_per_statement=1000",
            "workload.rows_per_commit=1000",
            "pool.size=64KiB",
        ];
        let mut sets: Vec<_> = sets.into_iter().map(str::to_owned).collect();
        sets.push(format!("statement.bulk_rows={bulk_rows}"));
        let scenario = Scenario::load("s1-myisam", &sets, None).unwrap();
        let mut run = Run::new(&scenario).unwrap();
        run.advance(scenario.workload.rows);
        let (machine, engine) = run.parts();
        machine.verify();
        engine.verify();
        let stats: Vec<_> =
            (0..2).map(|index| engine.stats(index::IndexId(index)).entries).collect();
        assert_eq!(stats, [200_000, 200_000], "no entry is lost");
        run.finish().totals
    };
    let (sorted, unsorted) = (import(100), import(0));
    assert!(sorted.hit_ratio_mean > unsorted.hit_ratio_mean + 0.1, "{sorted:?}\n{unsorted:?}");
    assert_eq!(sorted.rows, unsorted.rows);
}

#[test]
fn what_the_rules_of_myisam_do_not_cover_is_refused() {
    let refused = [
        ("workload.clients=2", "one statement at a time has the table"),
        ("workload.window=1000", "the chain of deleted rows of engine.rows is not modelled"),
        ("statement.end=nothing", "needs statement.end = \"write-pages\", which writes the rows"),
        ("pool.io=direct", "statement.end writes to the page cache: must be buffered"),
        ("redo.files=2", "pages must not be written before their log (redo.files = 0)"),
    ];
    for (set, reason) in refused {
        let error = Scenario::load("s1-myisam", &[set.to_owned()], None).unwrap_err().to_string();
        assert!(error.contains(reason), "{set}: {error}");
    }
}
