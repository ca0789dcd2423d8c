//! What the simulation counts in the same places; every run is done once.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use driver::report::{PageCounts, Point};
use driver::scenario::Scenario;

use crate::measured::{INTERVAL_ROWS, MICRO, PAGES_EVERY_ROWS, READS, REDO, SAMPLE_ROWS};
use crate::measured::{MeasuredMicro, MeasuredPages, MeasuredReads, MeasuredRedo};

/// Pages read.
pub(crate) struct Reads {
    /// Siblings of split leaves included, as the server counts.
    pub(crate) leaf: u64,
    pub(crate) internal: u64,
}

/// The run of 5,000,000 rows in a pool that holds them.
static IN_MEMORY: LazyLock<Vec<Point>> = LazyLock::new(|| {
    let every = format!("report.every_rows={PAGES_EVERY_ROWS}");
    points(&load("measured-none-160m", &["pool.size=1GiB".to_owned(), every]))
});

/// The runs of [`READS`] and [`REDO`] by name.
static OUT_OF_MEMORY: LazyLock<BTreeMap<&str, Vec<Point>>> = LazyLock::new(|| {
    let every = [format!("report.every_rows={SAMPLE_ROWS}")];
    let is_file = |run: &&'static str| !MICRO_ORDERS.contains_key(run);
    let names = REDO.iter().map(|redo| redo.run).filter(is_file);
    once_each(READS.iter().map(|reads| reads.run).chain(names), |run| points(&load(run, &every)))
});

/// The runs of [`MICRO`] by order.
static MICRO_ORDERS: LazyLock<BTreeMap<&str, Vec<Point>>> = LazyLock::new(|| {
    let run = |order: &str| {
        let text = format!(
            "use = ['machines/ram-disk', 'engines/mariadb-10.11']\n\
             pool.size = '256MiB'\n\
             workload = {{ kind = 'micro', order = '{order}', rows = 1_000_000 }}\n\
             report = {{ every_rows = 1_000_000 }}\n",
        );
        points(&Scenario::parse("micro", &text, &[], None).unwrap())
    };
    once_each(MICRO.iter().map(|micro| micro.order), run)
});

/// Pages of the same index at the same rows.
pub(crate) fn pages(measured: &MeasuredPages) -> PageCounts {
    at(&IN_MEMORY, measured.rows).pages[measured.index]
}

/// Pages of the same index after all rows.
pub(crate) fn micro_pages(measured: &MeasuredMicro) -> PageCounts {
    MICRO_ORDERS[measured.order].last().expect("a run has points").pages[measured.index]
}

/// Pages read in the same interval of the same run.
pub(crate) fn reads(measured: &MeasuredReads) -> Reads {
    let within =
        |point: &&Point| measured.rows - INTERVAL_ROWS < point.rows && point.rows <= measured.rows;
    let sum = |of: fn(&Point) -> u64| {
        OUT_OF_MEMORY[measured.run].iter().filter(within).map(of).sum::<u64>()
    };
    Reads { leaf: sum(leaf_reads), internal: sum(|point| pages_read(point, &["node_read"])) }
}

/// Leaves read, for whatever reason.
pub(crate) fn leaf_reads(point: &Point) -> u64 {
    pages_read(point, &["leaf_read", "sibling_read", "merge_read"])
}

fn pages_read(point: &Point, purposes: &[&str]) -> u64 {
    purposes.iter().filter_map(|purpose| point.io.get(*purpose)).map(|count| count.pages).sum()
}

/// Redo bytes of the same interval of the same run.
pub(crate) fn redo_bytes(measured: &MeasuredRedo) -> u64 {
    let (points, rows) = match MICRO_ORDERS.get(measured.run) {
        Some(points) => (points, measured.rows),
        None => (&OUT_OF_MEMORY[measured.run], SAMPLE_ROWS),
    };
    let per_row = at(points, measured.rows).redo_bytes_per_row.expect("the engine has a log");
    (per_row * rows as f64).round() as u64
}

/// Pages of the pool of a run of [`READS`].
pub(crate) fn pool_pages(run: &str) -> u64 {
    let scenario = load(run, &[]);
    scenario.pool.pages(scenario.engine.page_size)
}

fn once_each(
    names: impl Iterator<Item = &'static str>,
    run: impl Fn(&str) -> Vec<Point>,
) -> BTreeMap<&'static str, Vec<Point>> {
    let mut runs = BTreeMap::new();
    for name in names {
        runs.entry(name).or_insert_with(|| run(name));
    }
    runs
}

pub(crate) fn load(name: &str, sets: &[String]) -> Scenario {
    Scenario::load(name, sets, None).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn points(scenario: &Scenario) -> Vec<Point> {
    driver::run::run(scenario, &AtomicBool::new(false), &mut |_| {}).unwrap().points
}

fn at(points: &[Point], rows: u64) -> &Point {
    points.iter().find(|point| point.rows == rows).expect("intervals end where counts were taken")
}
