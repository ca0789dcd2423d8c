//! Counters of the simulation beside those of the real library in the same runs.

mod document;
mod rig;
pub(crate) mod stream;
mod windows;

use rig::{QUERIES, QUERY_METRICS, Queries};
use windows::{METRICS, Window};

/// Differences of more than a tenth over whole runs, and how far they may go. What is known of
/// each is on the page with the tables.
const BEYOND: [(&str, &str, f64); 19] = [
    ("d4_1M_fifo_c64M", "checkpointed leaves", 0.5),
    ("d4_1M_fifo_c64M", "injected at leaves", 0.15),
    ("d4_512k_c64M_fifo", "injected at leaves", 0.2),
    ("n128k_c4M_ck8k_q", "evicted nodes", 0.5),
    ("n128k_c4M_ck8k_q", "checkpointed leaves", 0.15),
    ("n128k_c4M_ck8k_q", "nodes read", 0.15),
    ("n128k_c4M_ck8k_q", "flushes above", 0.15),
    ("n128k_c4M_ck8k_q", "injected at height 1", 0.2),
    ("n128k_c4M_ck8k_q", "nodes", 0.15),
    ("n128k_c8M_ck16k", "checkpointed leaves", 0.15),
    ("n128k_c64M_ck125k", "evicted leaves", 0.15),
    ("s4M_c256M", "evicted leaves", 0.2),
    ("s4M_c256M", "leaves read", 0.15),
    ("s4M_c256M", "flushes into leaves", 0.15),
    ("s4M_c64M", "checkpointed leaves", 0.15),
    ("s512k_c32M", "checkpointed leaves", 0.15),
    ("s512k_c32M_fan8", "evicted nodes", 0.25),
    ("s512k_c32M_fan8", "checkpointed leaves", 0.15),
    ("s512k_c32M_fan8", "messages a flush above", 0.25),
];

/// What the library has a few of and the simulation none; the page says what.
const ABSENT: [(&str, &str); 2] = [
    ("d4_512k_c64M_fifo", "injected at height 2"),
    ("d4_512k_c64M_fifo", "messages a flush above"),
];

fn tolerance(run: &str, metric: &str) -> f64 {
    let known = BEYOND.iter().find(|(of, name, _)| *of == run && *name == metric);
    known.map_or(0.1, |(_, _, tolerance)| *tolerance)
}

/// Rates below this many bytes or flushes count too few events to be compared.
fn is_rare(window: &Window, metric: usize) -> bool {
    let (name, _) = METRICS[metric];
    let value = window.measured[metric];
    match name {
        "injected at leaves" | "injected at height 1" | "injected at height 2" => value < 0.05,
        "flushes into leaves" | "flushes above" => value * window.rows() / 1_000.0 < 100.0,
        "messages a flush" | "messages a flush above" => value == 0.0,
        _ => value < 5.0,
    }
}

#[test]
fn whole_runs_are_within_a_tenth() {
    let mut beyond = Vec::new();
    for (window, simulated) in rig::compared() {
        if window.phase == "load" {
            continue;
        }
        for (metric, (name, _)) in METRICS.iter().enumerate() {
            let tolerance = tolerance(window.run, name);
            let ratio = simulated.values[metric] / window.measured[metric];
            if window.phase == "fifo" && ABSENT.contains(&(window.run, *name)) {
                assert_eq!(simulated.values[metric].to_bits(), 0, "{} {name}", window.run);
                continue;
            }
            if !is_rare(window, metric) && tolerance < (ratio - 1.0).abs() {
                beyond.push(format!("{} {} {name}: {ratio:.3}", window.run, window.phase));
            }
        }
        for (measured, simulated) in window.nodes.iter().zip(&simulated.nodes) {
            let difference = measured.abs_diff(*simulated) as f64;
            if 1.0f64.max(*measured as f64 * tolerance(window.run, "nodes")) < difference {
                beyond.push(format!(
                    "{} {} nodes: {measured}, simulated {simulated}",
                    window.run, window.phase
                ));
            }
        }
    }
    assert!(beyond.is_empty(), "{beyond:#?}");
}

/// Kinds of queries and counts of which more than that differs, and how far they may go. What is
/// known of each is on the page.
const QUERIES_BEYOND: [([&str; 3], &str, f64); 7] = [
    (["d4_1M_fifo_c64M", "hot", "range of 10 ahead"], "basements", 0.25),
    (["d4_1M_fifo_c64M", "hot", "range of 10 ahead"], "bytes", 0.25),
    (["n128k_c4M_ck8k_q", "hot", "range of 1000 ahead"], "basements", 0.25),
    (["n128k_c4M_ck8k_q", "hot", "range of 1000 ahead"], "bytes", 0.2),
    (["n128k_c4M_ck8k_q", "cold", "range of 10"], "bytes", 0.2),
    (["n128k_c4M_ck8k_q", "cold", "range of 1000"], "bytes", 0.2),
    (["s4M_c256M", "hot", "range of 1000"], "bytes", 0.35),
];

/// A hundred queries and more of a kind are within a tenth, or within two standard deviations of
/// their count beyond it; their bytes within 15 %.
#[test]
fn queries_read_what_the_library_reads() {
    let mut beyond = Vec::new();
    for steps in QUERIES.chunk_by(|one, next| one.key() == next.key()) {
        let (key, queries) = (steps[0].key(), steps.iter().map(|step| step.to - step.from));
        if queries.sum::<u64>() < 100 {
            continue;
        }
        for (metric, name) in QUERY_METRICS.iter().enumerate() {
            let sum = |values: fn(&Queries) -> &[f64; 4]| -> f64 {
                steps.iter().map(|step| values(step)[metric] * (step.to - step.from) as f64).sum()
            };
            let (measured, simulated) = (sum(|step| &step.measured), sum(|step| &step.simulated));
            let known = QUERIES_BEYOND.iter().find(|(of, count, _)| *of == key && count == name);
            let allowed = match (known, *name) {
                (Some((_, _, tolerance)), _) => tolerance * measured,
                (None, "bytes") => 0.15 * measured,
                (None, _) => 0.1 * measured + 2.0 * measured.sqrt(),
            };
            if 20.0 < measured.max(simulated) && allowed < (simulated - measured).abs() {
                beyond.push(format!("{key:?} {name}: {simulated:.0}, measured {measured:.0}"));
            }
        }
    }
    assert!(beyond.is_empty(), "{beyond:#?}");
}

#[test]
fn the_document_shows_these_figures() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results/measured-fractal.md");
    let page = std::fs::read_to_string(path).unwrap();
    expect_test::expect_file![path].assert_eq(&document::with_current_tables(&page));
}
