//! The simulation against servers of `MySQL` 5.5 that were fed with the same key stream: what they
//! counted, and how long a row took them when their files lay on a device of known speed.
//!
//! `docs/results/measured-mysql.md` holds the tables of these tests, and a test holds it to them;
//! with `UPDATE_EXPECT=1` in the environment that test rewrites them.

#[path = "measured_mysql/counts.rs"]
mod counts;
#[path = "measured_mysql/waits.rs"]
mod waits;

use std::sync::atomic::AtomicBool;

use driver::report::Point;
use driver::scenario::Scenario;

#[test]
fn counts_of_intervals() {
    assert_eq!(counts::COMPARED.len(), 5, "runs");
    for run in counts::COMPARED.iter() {
        for interval in run.held() {
            for part in &counts::PARTS {
                let Some(ratio) = part.ratio(interval) else { continue };
                let bound = run.bound(part);
                assert!(
                    (ratio - 1.0).abs() <= bound,
                    "{} {}: {ratio:.3}: {interval:?}",
                    run.name,
                    part.name
                );
            }
        }
    }
}

#[test]
fn redo_of_transactions_of_one_row() {
    for transaction in &counts::TRANSACTIONS {
        let ratio = transaction.simulated() / transaction.measured;
        assert!((ratio - 1.0).abs() <= 0.05, "{}: {ratio:.3}", transaction.settings);
    }
}

#[test]
fn time_of_a_row_on_a_device_of_known_speed() {
    for (wait, simulated) in waits::WAITS.iter().zip(waits::SIMULATED.iter()) {
        let ratio = simulated / wait.measured;
        assert!((ratio - 1.0).abs() <= waits::TOLERANCE, "{wait:?}: {ratio:.3}");
    }
}

#[test]
fn the_document_shows_these_figures() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results/measured-mysql.md");
    let text = std::fs::read_to_string(path).unwrap();
    let tables = [
        ("counts", counts::table()),
        ("transactions", counts::transactions_table()),
        ("waits", waits::table()),
    ];
    let current = tables.iter().fold(text, |text, (name, table)| {
        let (begin, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->\n"));
        let (before, rest) = text.split_once(&begin).expect("a table begins");
        let (_, after) = rest.split_once(&end).expect("a table ends");
        format!("{before}{begin}\n{table}\n\n{end}{after}")
    });
    expect_test::expect_file![path].assert_eq(&current);
}

/// The points of an experiment with some settings changed.
fn points(experiment: &str, sets: &[&str]) -> Vec<Point> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    run(&Scenario::load(experiment, &sets, None).unwrap_or_else(|error| panic!("{error}")))
}

fn run(scenario: &Scenario) -> Vec<Point> {
    driver::run::run(scenario, &AtomicBool::new(false), &mut |_| {}).unwrap().points
}
