//! The same runs in the simulation; each is done once.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{LazyLock, Mutex};

use cost_model::{Machine, SimDuration, SimThread, SimTime};
use fractal_tree::{FractalConfig, FractalPrices, FractalTree, RangeReads, TreeCounters};
use index::testkit::{finish, null_machine, scan};
use index::{IndexEngine, IndexId, KeySource, RowId};

use super::stream::{Dictionary, Stream};
use super::windows::{METRICS, WINDOWS, Window};
use crate::support::perconaft;

/// Rows of a transaction.
const BATCH: u64 = 1_000;

/// What computing costs, from a profile of the library's threads on two cores of 2025: 4.0 us of
/// the client's thread a row, and 1.4 us of the two flushers'. It decides which messages find a
/// node in use by a flush and stay above it.
const PRICES: FractalPrices = FractalPrices {
    inject: SimDuration::from_us(4),
    move_message: SimDuration::from_ns(300),
    apply: SimDuration::from_ns(700),
    deserialize: SimDuration::from_ns(60),
    decompress_kib: SimDuration::ZERO,
    compress_kib: SimDuration::ZERO,
    copy_kib: SimDuration::ZERO,
};

/// What the simulation counts in a window.
pub(crate) struct Simulated {
    pub(crate) values: [f64; METRICS.len()],
    pub(crate) nodes: [u64; 4],
}

/// What the names of the runs stand for.
struct Settings {
    run: &'static str,
    dictionaries: usize,
    node: u64,
    basement: u64,
    cache: u64,
    /// Rows from one checkpoint to the next.
    checkpoint_rows: u64,
    fanout: u32,
}

impl Settings {
    const fn of(run: &'static str, dictionaries: usize, node: u64, cache: u64) -> Self {
        let (basement, checkpoint_rows) = match node {
            NODE_4M => (128 << 10, 1_000_000),
            NODE_1M => (64 << 10, 500_000),
            NODE_512K => (32 << 10, if dictionaries == 4 { 125_000 } else { 1_000_000 }),
            _ => (16 << 10, 8_000),
        };
        Self { run, dictionaries, node, basement, cache: cache << 20, checkpoint_rows, fanout: 16 }
    }

    const fn checkpoint(self, checkpoint_rows: u64) -> Self {
        Self { checkpoint_rows, ..self }
    }

    const fn fanout(self, fanout: u32) -> Self {
        Self { fanout, ..self }
    }
}

const NODE_4M: u64 = 4 << 20;
const NODE_1M: u64 = 1 << 20;
const NODE_512K: u64 = 512 << 10;
const NODE_128K: u64 = 128 << 10;

const SETTINGS: [Settings; 20] = [
    Settings::of("d4_1M_fifo_c64M", 4, NODE_1M, 64),
    Settings::of("d4_1M_ins_c64M", 4, NODE_1M, 64),
    Settings::of("n128k_c4M_ck8k_q", 1, NODE_128K, 4),
    Settings::of("s4M_c256M", 1, NODE_4M, 256),
    Settings::of("s512k_c128M", 1, NODE_512K, 128),
    Settings::of("s512k_c32M", 1, NODE_512K, 32),
    Settings::of("s512k_c64M", 1, NODE_512K, 64),
    Settings::of("s512k_c256M", 1, NODE_512K, 256),
    Settings::of("s512k_c512M", 1, NODE_512K, 512),
    Settings::of("s512k_c32M_nock", 1, NODE_512K, 32).checkpoint(u64::MAX),
    Settings::of("s512k_c32M_ck200k", 1, NODE_512K, 32).checkpoint(200_000),
    Settings::of("s512k_c32M_fan8", 1, NODE_512K, 32).fanout(8),
    Settings::of("s512k_c32M_fan64", 1, NODE_512K, 32).fanout(64),
    Settings::of("s4M_c64M", 1, NODE_4M, 64),
    Settings::of("d4_1M_c128M", 4, NODE_1M, 128),
    Settings::of("d4_4M_c256M", 4, NODE_4M, 256),
    Settings::of("d4_512k_c64M_fifo", 4, NODE_512K, 64),
    Settings::of("n128k_c8M_ck16k", 1, NODE_128K, 8).checkpoint(16_000),
    Settings::of("n128k_c16M_ck125k", 1, NODE_128K, 16).checkpoint(125_000),
    Settings::of("n128k_c64M_ck125k", 1, NODE_128K, 64).checkpoint(125_000),
];

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

/// Queries of one kind in a state of a run.
pub(crate) struct Queries {
    pub(crate) run: &'static str,
    pub(crate) state: &'static str,
    pub(crate) kind: &'static str,
    /// Queries of this kind before these, and with these.
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// Per query, as [`QUERY_METRICS`] names them.
    pub(crate) measured: [f64; 4],
    pub(crate) simulated: [f64; 4],
}

impl Queries {
    /// What they have in common with the next steps of the same.
    pub(crate) fn key(&self) -> [&'static str; 3] {
        [self.run, self.state, self.kind]
    }
}

/// What is compared of queries.
pub(crate) const QUERY_METRICS: [&str; 4] =
    ["leaf headers", "nodes of height 1", "basements", "bytes"];

/// All measured queries with their counterparts, after the same loads.
pub(crate) static QUERIES: LazyLock<Vec<&'static Queries>> =
    LazyLock::new(|| RUNS.iter().flat_map(|run| &run.queries).collect());

/// All windows with their counterparts.
pub(crate) fn compared() -> impl Iterator<Item = (&'static Window, &'static Simulated)> {
    WINDOWS.iter().zip(RUNS.iter().flat_map(|run| &run.windows))
}

/// What is compared of a run.
struct Run {
    windows: Vec<Simulated>,
    queries: Vec<Queries>,
}

/// All runs, two at a time, in the order of their windows.
static RUNS: LazyLock<Vec<Run>> = LazyLock::new(|| {
    let runs: Vec<&[Window]> = WINDOWS.chunk_by(|one, next| one.run == next.run).collect();
    let next = AtomicUsize::new(0);
    let done = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(windows) = runs.get(next.fetch_add(1, Relaxed)) {
                    let run = simulate(windows);
                    done.lock().expect("no other thread panics").insert(windows[0].run, run);
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no thread panicked");
    runs.iter().map(|windows| done.remove(windows[0].run).expect("it was done")).collect()
});

fn simulate(windows: &[Window]) -> Run {
    let name = windows[0].run;
    let mut rig = Rig::of(name);
    let mut at = BTreeMap::from([(0, TreeCounters::default())]);
    let mut simulated = Vec::new();
    for window in windows {
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
    let lines = include_str!("queries.csv").lines().map(|line| line.split(',').collect());
    let of_run = lines.filter(|line: &Vec<&str>| line[0] == name);
    Run { windows: simulated, queries: of_run.map(|line| rig.ask(&line)).collect() }
}

impl Rig {
    /// A run as the notes of the measurement describe it.
    fn of(run: &str) -> Self {
        use Dictionary::{Main, Market, PriceDateCustomer, Register};
        let settings = SETTINGS.iter().find(|settings| settings.run == run);
        let settings = settings.unwrap_or_else(|| panic!("no such run: {run}"));
        let config = perconaft(settings.node, settings.basement, settings.cache);
        let dictionaries = match settings.dictionaries {
            4 => vec![Main, Market, Register, PriceDateCustomer],
            _ => vec![Register],
        };
        let config = FractalConfig { fanout: settings.fanout, ..config };
        Self::new(dictionaries, config, settings.checkpoint_rows)
    }

    fn new(dictionaries: Vec<Dictionary>, config: FractalConfig, checkpoint_rows: u64) -> Self {
        let config = FractalConfig { prices: PRICES, flusher_threads: 2, ..config };
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

    /// The queries of a line of the measurement.
    fn ask(&mut self, line: &[&'static str]) -> Queries {
        let number = |at: usize| -> f64 { line[at].parse().expect("a number") };
        let (run, state, kind) = (line[0], line[1], line[2]);
        let (from, to) = (number(3) as u64, number(4) as u64);
        if state == "cold" && from == 0 {
            self.tree.reopen(&mut self.machine, self.client.now());
        }
        let index = u16::from(kind != "key" && 1 < self.tree.index_count());
        let entries = kind.strip_prefix("range of ").map(|rest| {
            let digits = rest.trim_end_matches(" ahead");
            digits.parse().expect("a number of entries")
        });
        let ahead = kind.ends_with(" ahead");
        self.tree.set_range_reads(if ahead { RangeReads::Ahead } else { RangeReads::Basement });
        let before = self.counters();
        for _ in from..to {
            self.queries += 1;
            let left = self.rows - self.deleted;
            let row = RowId(self.deleted + super::stream::mix(self.queries, 7) % left);
            match entries {
                Some(entries) => {
                    let from = (IndexId(index), self.tree.source().key(IndexId(index), row));
                    scan(&mut self.tree, &mut self.machine, &mut self.client, from, entries);
                }
                None => self.look_up(IndexId(index), row),
            }
        }
        let counted = self.counters().since(&before);
        let simulated = [
            counted.fetches[0],
            counted.fetches[1],
            counted.basements_read[0],
            counted.read_bytes.total(),
        ];
        Queries {
            run,
            state,
            kind,
            from,
            to,
            measured: std::array::from_fn(|metric| number(5 + metric)),
            simulated: simulated.map(|count| count as f64 / (to - from) as f64),
        }
    }

    fn look_up(&mut self, index: IndexId, row: RowId) {
        let key = self.tree.source().key(index, row);
        let found = finish(&mut self.machine, &mut self.client, |machine, client| {
            self.tree.get(machine, client, index, key)
        });
        assert_eq!(found, Some(row));
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
