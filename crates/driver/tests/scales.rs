//! The same experiment at several scales draws the same curve.
//!
//! What does not shrink with the rows and the pool shows at the smallest scales: the LRU margin of
//! 69 to 186 pages, and the split waves, which are a little sharper in a table that has doubled
//! less often. The 128 pages of a doublewrite batch do not shrink either, but their latches do.

use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use driver::report::Point;
use driver::scenario::Scenario;

/// The last is what the others are held against.
const SCALES: [&str; 3] = ["1/128", "1/64", "1/32"];

/// Rows at full scale of an interval: 78,125 rows at the smallest scale.
const INTERVAL_ROWS: u64 = 10_000_000;

/// Before, trees of the smallest scale have a few hundred leaves.
const FROM_ROWS: u64 = 60_000_000;

/// Difference that is allowed, as a share.
const TOLERANCE: f64 = 0.05;

/// Up to so many reads per row, while seven of eight of the leaves are resident, reads are compared
/// by their difference: they are three times the share of leaves that are not in the pool, and a
/// small difference of two large numbers.
const READS_COMPARED_ABSOLUTELY: f64 = 0.4;

/// One in a hundred of the three leaves of a row.
const READS_TOLERANCE: f64 = 0.03;

/// Hours at the smallest scale until the leaves outgrow the pool: its ticks of the flushing thread
/// are due less than a page.
const HOURS_TOLERANCE_SMALLEST: f64 = 0.14;

const INDEXES: [&str; 4] = ["PRIMARY", "marketsegment", "registersegment", "pdc"];

/// A run at each scale.
static RUNS: LazyLock<[Vec<Point>; 3]> = LazyLock::new(|| SCALES.map(points));

#[test]
fn reads_per_row_agree() {
    for (scale, point, largest) in matching_points() {
        let (reads, reads_largest) = (point.reads_per_row, largest.reads_per_row);
        let allowed = if reads_largest < READS_COMPARED_ABSOLUTELY {
            READS_TOLERANCE
        } else {
            TOLERANCE * reads_largest
        };
        assert!(
            (reads - reads_largest).abs() <= allowed,
            "{reads:.4} reads per row at {scale} where {reads_largest:.4} are right: {} rows",
            point.rows_full_scale,
        );
    }
}

#[test]
fn leaf_pages_agree() {
    for (scale, point, largest) in matching_points() {
        for index in INDEXES {
            let leaves = |point: &Point| point.pages[index].leaf as f64 / point.rows as f64;
            let ratio = leaves(point) / leaves(largest);
            assert!(
                (ratio - 1.0).abs() <= TOLERANCE,
                "{ratio:.3} times the leaves of {index} at {scale}: {} rows",
                point.rows_full_scale,
            );
        }
    }
}

#[test]
fn hours_agree() {
    for (scale, point, largest) in matching_points() {
        let ratio = point.virtual_s_full_scale / largest.virtual_s_full_scale;
        let allowed = if scale == SCALES[0] { HOURS_TOLERANCE_SMALLEST } else { TOLERANCE };
        assert!(
            (ratio - 1.0).abs() <= allowed,
            "{ratio:.3} times the hours at {scale}: {} rows",
            point.rows_full_scale,
        );
    }
}

/// Scale and point of each smaller run beside the point of the largest after as many rows.
fn matching_points() -> Vec<(&'static str, &'static Point, &'static Point)> {
    let [smaller @ .., largest] = &*RUNS;
    let mut matching = Vec::new();
    for (scale, run) in SCALES.iter().zip(smaller) {
        let pairs = run.iter().zip(largest);
        let pairs = pairs.filter(|(point, _)| FROM_ROWS < point.rows_full_scale);
        matching.extend(pairs.map(|(point, largest)| (*scale, point, largest)));
    }
    assert_eq!(matching.len(), 2 * 94, "70M to 1,000M rows at two scales");
    for (_, point, largest) in &matching {
        assert_eq!(point.rows_full_scale, largest.rows_full_scale);
    }
    matching
}

fn points(scale: &str) -> Vec<Point> {
    let every = format!("report.every_rows={INTERVAL_ROWS}");
    let scale = scale.parse().unwrap();
    let scenario = Scenario::load("s4-insert-buffer-off", &[every], Some(scale)).unwrap();
    driver::run::run(&scenario, &AtomicBool::new(false), &mut |_| {}).unwrap().points
}
