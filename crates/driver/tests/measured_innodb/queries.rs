//! Queries after the load, of a table in one piece and of one in five partitions.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use driver::report::RunResult;

use crate::measured::lines;
use crate::simulated::load;

/// Queries of each kind in a round.
pub(crate) const QUERIES: u64 = 2_000;

/// The run whose table has partitions.
pub(crate) const PARTITIONED: &str = "measured-part5-none-160m";

/// Reads of the queries of one kind in one round, per query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reads {
    pub(crate) run: &'static str,
    pub(crate) index: &'static str,
    pub(crate) form: &'static str,
    pub(crate) round: u32,
    /// Rows that a query returned.
    pub(crate) rows: f64,
    /// Of the reference runs.
    pub(crate) reference: f64,
    /// Measured again, the queries without a pause.
    pub(crate) again: f64,
}

/// In the order in which they were asked.
pub(crate) static READS: LazyLock<Vec<Reads>> = LazyLock::new(|| {
    let number = |text: &str| text.parse().expect("a number");
    lines(include_str!("queries.csv"))
        .map(|[run, index, form, round, rows, reference, again]| Reads {
            run,
            index,
            form,
            round: round.parse().expect("a whole number"),
            rows: number(rows),
            reference: number(reference),
            again: number(again),
        })
        .collect()
});

static RUNS: LazyLock<BTreeMap<&str, RunResult>> = LazyLock::new(|| {
    std::thread::scope(|scope| {
        let run = |name: &'static str| {
            let run = move || {
                driver::run::run(&load(name, &[]), &AtomicBool::new(false), &mut |_| {}).unwrap()
            };
            (name, scope.spawn(run))
        };
        let runs: Vec<_> = READS.chunk_by(|one, next| one.run == next.run).collect();
        let runs: Vec<_> = runs.into_iter().map(|reads| run(reads[0].run)).collect();
        runs.into_iter().map(|(name, run)| (name, run.join().expect("a run ends"))).collect()
    })
});

impl Reads {
    /// Pages read and rows returned per query in the simulation.
    pub(crate) fn simulated(&self) -> (f64, f64) {
        let is_it = |index: &str, form: &str, round| {
            index == self.index && form == self.form && round == self.round
        };
        let asked = RUNS[self.run].queries.iter().find(|q| is_it(&q.index, &q.form, q.round));
        let asked = asked.unwrap_or_else(|| panic!("no such queries: {self:?}"));
        assert_eq!(asked.queries, QUERIES);
        (asked.reads_per_query, asked.rows_per_query)
    }

    /// What the simulation is held to: both measurements of the table in one piece, and of the
    /// partitions, where a pause decides much, the one without pauses.
    pub(crate) fn held(&self) -> Vec<f64> {
        if self.run == PARTITIONED { vec![self.again] } else { vec![self.reference, self.again] }
    }
}

/// Pages that the load into partitions reads.
pub(crate) fn reads_of_the_partitioned_load() -> u64 {
    let io = &RUNS[PARTITIONED].totals.io;
    io.iter().filter(|(name, _)| name.ends_with("_read")).map(|(_, io)| io.pages).sum()
}
