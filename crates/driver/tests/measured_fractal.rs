//! The measured runs of a fractal tree library as scenario files: what their reports count.
//!
//! The tests of the crate `fractal-tree` hold all measured runs; these hold that a scenario says
//! as much as they do.

use std::sync::atomic::AtomicBool;

use driver::report::{Point, RunResult};
use driver::scenario::Scenario;
use index::LevelStats;

/// As `docs/results/measured-fractal.md` shows them.
const WINDOWS: &str = include_str!("../../fractal-tree/tests/it/measured/windows.csv");

/// What is compared, by its column of the file.
const METRICS: [&str; 10] = [
    "leaf_evict_write_B",
    "leaf_ckpt_write_B",
    "nonleaf_ckpt_write_B",
    "leaf_read_B",
    "log_B",
    "flush_to_leaf_per_krow",
    "msgs_per_leaf_flush",
    "inject_h1_per_row",
    "leaves",
    "h1",
];

fn run(name: &str, sets: &[&str]) -> RunResult {
    let sets: Vec<_> = sets.iter().map(|&set| set.to_owned()).collect();
    let scenario = Scenario::load(name, &sets, None).unwrap();
    driver::run::run(&scenario, &AtomicBool::new(false), &mut |_| {}).unwrap()
}

/// What a run counted between two numbers of rows.
fn simulated(points: &[Point], from: u64, to: u64) -> [f64; METRICS.len()] {
    let window: Vec<_> =
        points.iter().filter(|point| from < point.rows && point.rows <= to).collect();
    let rows = (to - from) as f64;
    let sum = |count: fn(&LevelStats) -> u64, leaves: bool| {
        let levels = window.iter().flat_map(|point| &point.levels);
        let of_height = levels.filter(|(height, _)| (**height == 0) == leaves);
        of_height.map(|(_, level)| count(level)).sum::<u64>() as f64
    };
    let at_height_1 = |count: fn(&LevelStats) -> u64| {
        window.iter().map(|point| count(&point.levels[&1])).sum::<u64>() as f64
    };
    let interval = points[0].rows as f64;
    let end = window.last().unwrap();
    [
        sum(|level| level.evicted_bytes, true) / rows,
        sum(|level| level.checkpointed_bytes, true) / rows,
        sum(|level| level.checkpointed_bytes, false) / rows,
        sum(|level| level.read_bytes, true) / rows,
        window.iter().map(|point| point.redo_bytes_per_row.unwrap() * interval).sum::<f64>() / rows,
        sum(|level| level.flushes, true) / rows * 1_000.0,
        sum(|level| level.flushed, true) / sum(|level| level.flushes, true),
        at_height_1(|level| level.injected) / rows,
        end.levels[&0].nodes as f64,
        end.levels[&1].nodes as f64,
    ]
}

/// Holds the windows of a phase to the measured ones, each metric within a tenth or as far as
/// `bound` says for a window from that row on; returns how many values these were.
fn compare(
    run: &str,
    phase: &str,
    result: &RunResult,
    bound: impl Fn(&str, u64) -> Option<f64>,
) -> usize {
    let mut lines = WINDOWS.lines().filter(|line| !line.starts_with('#'));
    let columns: Vec<_> = lines.next().unwrap().split(',').collect();
    let mut compared = 0;
    for fields in lines.map(|line| line.split(',').collect::<Vec<_>>()) {
        if fields[..2] != [run, phase] {
            continue;
        }
        let rows = |at: usize| fields[at].parse::<u64>().unwrap();
        let simulated = simulated(&result.points, rows(2), rows(3));
        for (metric, simulated) in METRICS.iter().zip(simulated) {
            let at = columns.iter().position(|column| column == metric).unwrap();
            let measured: f64 = fields[at].parse().unwrap();
            let off = (simulated - measured).abs();
            // Of nodes that are few, one more or less.
            let least = if ["leaves", "h1"].contains(metric) { 1.0 } else { 0.0 };
            assert!(
                off <= (bound(metric, rows(2)).unwrap_or(0.1) * measured).max(least),
                "{run} from {}: {metric} is {simulated}, measured {measured}",
                fields[2]
            );
            compared += 1;
        }
    }
    compared
}

/// Leaves that a checkpoint writes are those that are dirty at one moment.
#[test]
fn one_index_with_a_small_cache() {
    let result = run("measured-fractal-512k-32m", &[]);
    let bound = |metric: &str, _| (metric == "leaf_ckpt_write_B").then_some(0.15);
    assert_eq!(compare("s512k_c32M", "load_all", &result, bound), METRICS.len());
    let levels = result.points.iter().flat_map(|point| point.levels.values());
    assert_eq!(levels.map(|level| level.injected).sum::<u64>(), 5_000_000);
}

/// The first window has two checkpoints.
#[test]
fn a_window_of_rows_in_four_indexes() {
    let result = run("measured-fractal-fifo", &[]);
    let bound =
        |metric: &str, from| (metric == "leaf_ckpt_write_B" && from == 1_500_000).then_some(0.5);
    assert_eq!(compare("d4_1M_fifo_c64M", "fifo", &result, bound), 2 * METRICS.len());
}

/// Without anything in memory a query reads the leaf's header and one basement, and nodes above.
#[test]
fn queries_are_hot_or_cold() {
    let asked = |cold: &str| {
        let sets = [
            "workload.rows=1_000_000",
            "workload.queries.kind=register",
            "workload.queries.point=true",
            "workload.queries.after_load=100",
            cold,
        ];
        let result = run("measured-fractal-512k-32m", &sets);
        let [queries] = &result.queries[..] else { panic!("{:?}", result.queries) };
        assert_eq!(
            (queries.form.as_str(), queries.rows_per_query.to_bits()),
            ("row", 1.0f64.to_bits())
        );
        queries.nodes.unwrap()
    };
    let (hot, cold) = (asked("workload.queries.cold=false"), asked("workload.queries.cold=true"));
    assert!(hot.internal == 0.0 && (0.2..0.3).contains(&hot.leaf_headers), "{hot:?}");
    assert!((0.4..0.5).contains(&hot.basements), "{hot:?}");
    // 66 leaves, 6 nodes above them and the root, each read once; then basements of 32 KiB.
    assert!((0.45..=0.66).contains(&cold.leaf_headers), "{cold:?}");
    assert!((0.06..=0.07).contains(&cold.internal), "{cold:?}");
    assert!((0.8..=1.0).contains(&cold.basements), "{cold:?}");
}

/// Whoever completes the row asks, and one does; the others go on.
#[test]
fn clients_share_checkpoints_by_rows() {
    let sets = [
        "workload.rows=400_000",
        "workload.clients=4",
        "engine.fractal.checkpoint_rows=100_000",
        "report.every_rows=100_000",
    ];
    let result = run("measured-fractal-512k-32m", &sets);
    let written: Vec<_> = (result.points.iter())
        .map(|point| point.levels.values().map(|level| level.checkpointed).sum::<u64>())
        .collect();
    // 4 leaves and the root at first, then twice as many leaves each time they split.
    assert!(written.iter().all(|nodes| (4..80).contains(nodes)), "{written:?}");
}

/// A client waits until its checkpoint is written, and so does who reopens the files.
#[test]
fn a_checkpoint_takes_the_time_of_its_writes() {
    let sets = |more: &'static str| {
        [
            "machine.disk.kind=hdd",
            "machine.disk.spindles=1",
            "machine.disk.seek=4ms",
            "machine.disk.rpm=15_000",
            "machine.disk.transfer=10MB/s",
            "redo.disk=machines/ram-disk",
            "workload.rows=300_000",
            "report.every_rows=300_000",
            "workload.queries.kind=register",
            "workload.queries.point=true",
            "workload.queries.after_load=20",
            "workload.queries.rounds=2",
            more,
        ]
    };
    let asked = run("measured-fractal-512k-32m", &sets("engine.fractal.checkpoint_rows=100_000"));
    let bytes = asked.totals.io["checkpoint"].bytes as f64;
    let waited = asked.totals.time["checkpoint_stall"] * asked.totals.client_s;
    assert!((0.9..1.3).contains(&(waited / (bytes / 10e6))), "{waited} s for {bytes} bytes");

    // Those by time follow each other where they take longer than their period.
    let late = run("measured-fractal-512k-32m", &sets("engine.fractal.checkpoint_period=10ms"));
    let (busy_s, virtual_s) = (late.totals.device["data"].busy_s, late.totals.virtual_s);
    assert!((0.7..1.1).contains(&(busy_s / virtual_s)), "{busy_s} of {virtual_s} s");

    let cold = run("measured-fractal-512k-32m", &sets("workload.queries.cold=true"));
    let [first, second] = &cold.queries[..] else { panic!("{:?}", cold.queries) };
    assert!(second.nodes.unwrap().bytes < first.nodes.unwrap().bytes, "what was read stays");
    let (alone, then) = (first.queries_per_s, second.queries_per_s);
    assert!(0.2 * then < alone, "{alone} and {then} a second: the checkpoint is not theirs");
}
