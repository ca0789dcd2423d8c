//! The same runs in the simulation; each is done once.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use cost_model::{Machine, SimThread, SimTime};
use fractal_tree::{FractalConfig, FractalTree, TreeCounters};
use index::testkit::{finish, null_machine};
use index::{IndexEngine, IndexId, KeySource, RowId};

use super::stream::{Dictionary, Stream};
use super::windows::{METRICS, WINDOWS, Window};
use crate::support::perconaft;

/// Rows of a transaction.
const BATCH: u64 = 1_000;

/// What the simulation counts in a window.
pub(crate) struct Simulated {
    pub(crate) values: [f64; METRICS.len()],
    pub(crate) nodes: [u64; 4],
}

/// A run under way.
pub(crate) struct Rig {
    machine: Machine,
    client: SimThread,
    tree: FractalTree<Stream>,
    checkpoint_rows: u64,
    rows: u64,
    deleted: u64,
    queries: u64,
}

/// A state of a run in which queries were counted.
pub(crate) struct Queries {
    pub(crate) run: &'static str,
    pub(crate) state: &'static str,
    /// Queries of this state before these, and with these.
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// Per query, as [`QUERY_METRICS`] names them.
    pub(crate) measured: [f64; 4],
    pub(crate) simulated: [f64; 4],
}

/// What is compared of queries.
pub(crate) const QUERY_METRICS: [&str; 4] =
    ["leaf headers", "nodes of height 1", "basements", "bytes"];

/// All measured queries with their counterparts, after the same loads.
pub(crate) static QUERIES: LazyLock<Vec<Queries>> = LazyLock::new(|| {
    let lines = include_str!("queries.csv").lines().filter(|line| !line.starts_with('#'));
    let mut rigs: BTreeMap<&str, Rig> = BTreeMap::new();
    let mut queries = Vec::new();
    for line in lines.skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |at: usize| -> f64 { fields[at].parse().expect("a number") };
        let (run, state) = (fields[0], fields[1]);
        let rig = rigs.entry(run).or_insert_with(|| {
            let rows = WINDOWS.iter().filter(|window| window.run == run).map(|window| window.to);
            let mut rig = Rig::of(run);
            rig.load(rows.max().expect("a run has windows"));
            rig
        });
        let (from, to) = (number(2) as u64, number(3) as u64);
        if state == "cold" && from == 0 {
            rig.tree.reopen(&mut rig.machine, rig.client.now());
        }
        queries.push(Queries {
            run,
            state,
            from,
            to,
            measured: std::array::from_fn(|metric| number(4 + metric)),
            simulated: rig.look_up(to - from),
        });
    }
    queries
});

/// All windows with their counterparts.
pub(crate) fn compared() -> impl Iterator<Item = (&'static Window, &'static Simulated)> {
    WINDOWS.iter().zip(SIMULATED.iter())
}

static SIMULATED: LazyLock<Vec<Simulated>> = LazyLock::new(|| {
    let mut rigs: BTreeMap<&str, (Rig, BTreeMap<u64, TreeCounters>)> = BTreeMap::new();
    let mut simulated = Vec::new();
    for window in WINDOWS.iter() {
        let (rig, at) = rigs.entry(window.run).or_insert_with(|| {
            (Rig::of(window.run), BTreeMap::from([(0, TreeCounters::default())]))
        });
        if window.phase == "fifo" {
            rig.roll(window.to);
        } else {
            rig.load(window.to);
        }
        let counters = *at.entry(window.to).or_insert_with(|| rig.counters());
        simulated.push(Simulated {
            values: values(&counters.since(&at[&window.from]), window.rows()),
            nodes: rig.nodes(),
        });
    }
    simulated
});

impl Rig {
    /// A run as the notes of the measurement describe it.
    fn of(run: &str) -> Self {
        use Dictionary::{Main, Market, PriceDateCustomer, Register};
        let all = vec![Main, Market, Register, PriceDateCustomer];
        let (mib, kib) = (1 << 20, 1 << 10);
        match run {
            "s4M_c256M" => {
                Self::new(vec![Register], perconaft(4 * mib, 128 * kib, 256 * mib), 1_000_000)
            }
            "s512k_c128M" => {
                Self::new(vec![Register], perconaft(512 * kib, 32 * kib, 128 * mib), 1_000_000)
            }
            "s512k_c32M" => {
                Self::new(vec![Register], perconaft(512 * kib, 32 * kib, 32 * mib), 1_000_000)
            }
            "n128k_c4M_ck8k_q" => {
                Self::new(vec![Register], perconaft(128 * kib, 16 * kib, 4 * mib), 8_000)
            }
            "d4_1M_ins_c64M" | "d4_1M_fifo_c64M" => {
                Self::new(all, perconaft(mib, 64 * kib, 64 * mib), 500_000)
            }
            other => panic!("no such run: {other}"),
        }
    }

    fn new(dictionaries: Vec<Dictionary>, config: FractalConfig, checkpoint_rows: u64) -> Self {
        let stream = Stream { dictionaries };
        let shapes = stream.shapes();
        Self {
            machine: Machine::new(null_machine(16), 1),
            client: SimThread::new(SimTime::ZERO),
            tree: FractalTree::new(config, &shapes, stream, 1 << 24),
            checkpoint_rows,
            rows: 0,
            deleted: 0,
            queries: 0,
        }
    }

    /// Inserts rows until there are so many; a checkpoint every so often.
    fn load(&mut self, to: u64) {
        while self.rows < to {
            self.each_index(self.rows, true);
            self.rows += 1;
            if self.rows.is_multiple_of(self.checkpoint_rows) {
                self.tree.checkpoint(&mut self.machine, self.client.now());
            }
        }
    }

    /// Inserts as many, and deletes as many of the oldest after each batch.
    fn roll(&mut self, to: u64) {
        while self.rows < to {
            self.load(self.rows + BATCH);
            for row in self.deleted..self.deleted + BATCH {
                self.each_index(row, false);
            }
            self.deleted += BATCH;
        }
    }

    fn each_index(&mut self, row: u64, insert: bool) {
        for index in (0..self.tree.index_count()).map(|index| IndexId(index as u16)) {
            finish(&mut self.machine, &mut self.client, |machine, client| {
                if insert {
                    self.tree.insert(machine, client, index, RowId(row))
                } else {
                    self.tree.delete(machine, client, index, RowId(row))
                }
            });
        }
    }

    /// Looks up so many random rows in the last index; tells what that takes per query.
    fn look_up(&mut self, queries: u64) -> [f64; 4] {
        let index = IndexId(self.tree.index_count() as u16 - 1);
        let before = self.counters();
        for _ in 0..queries {
            self.queries += 1;
            let row = RowId(super::stream::mix(self.queries, 7) % self.rows);
            let key = self.tree.source().key(index, row);
            let found = finish(&mut self.machine, &mut self.client, |machine, client| {
                self.tree.get(machine, client, index, key)
            });
            assert_eq!(found, Some(row));
        }
        let counted = self.counters().since(&before);
        [
            counted.fetches[0],
            counted.fetches[1],
            counted.basements_read[0],
            counted.read_bytes.total(),
        ]
        .map(|count| count as f64 / queries as f64)
    }

    fn counters(&self) -> TreeCounters {
        let mut sum = TreeCounters::default();
        for index in 0..self.tree.index_count() {
            sum.merge(self.tree.counters(IndexId(index as u16)));
        }
        sum
    }

    fn nodes(&self) -> [u64; 4] {
        let of = |index, height| self.tree.nodes_by_height(IndexId(index as u16))[height];
        let indexes = 0..self.tree.index_count();
        std::array::from_fn(|height| indexes.clone().map(|index| of(index, height)).sum())
    }
}

fn values(counted: &TreeCounters, rows: f64) -> [f64; METRICS.len()] {
    let per_row = |count: u64| count as f64 / rows;
    let ratio = |a: u64, b: u64| if b == 0 { 0.0 } else { a as f64 / b as f64 };
    let (flushes, messages) = (&counted.flushes, &counted.flushed_messages);
    [
        per_row(counted.evict_write_bytes[0]),
        per_row(counted.evict_write_bytes.internal()),
        per_row(counted.checkpoint_write_bytes[0]),
        per_row(counted.checkpoint_write_bytes.internal()),
        per_row(counted.read_bytes[0]),
        per_row(counted.read_bytes.internal()),
        per_row(counted.log_bytes),
        per_row(flushes[0]) * 1_000.0,
        ratio(messages[0], flushes[0]),
        per_row(flushes.internal()) * 1_000.0,
        ratio(messages.internal(), flushes.internal()),
        per_row(counted.injected[0]),
        per_row(counted.injected[1]),
        per_row(counted.injected[2]),
    ]
}
