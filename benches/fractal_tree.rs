//! Operations of the fractal tree on iiBench keys, in memory and with a cache that holds an eighth
//! of the leaves: messages put in, nodes flushed, leaves that take messages, queries.

mod timed;

use cost_model::{Machine, NodeCacheConfig, Replacement, SimThread, SimTime};
use criterion::{Criterion, Throughput};
use driver::workload::{IiBench, IiBenchSpec, Profile, RowLayout, below, hash, shapes};
use fractal_tree::{
    EdgeSplit, Flushing, FractalConfig, FractalPrices, FractalTree, NodeFormat, Promotion,
    QueryRule, RangeReads,
};
use index::testkit::{finish, null_machine, scan};
use index::{IndexEngine, IndexId, KeySource, RowId};

use timed::timed;

/// Rows in the table.
const ROWS: u64 = 1 << 20;

/// The stream begins anew after so many rows: keys of rows that are long deleted.
const ROWS_IN_STREAM: u64 = 2 * ROWS;

/// Rows between two looks at the clock.
const STEP: u64 = 1 << 10;

/// Rows whose keys are computed together, as the run loop does.
const LOOK_AHEAD: u64 = 64;

const INDEXES: u64 = 4;
const SEED: u64 = 42;
const NODE_BYTES: u64 = 512 << 10;

/// In memory: so much that nothing is evicted.
const CACHE_ALL: u64 = 1 << 40;

/// An eighth of the 2^20 rows of 118 bytes, which take about twice that in memory.
const CACHE_EIGHTH: u64 = 32 << 20;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    for (place, cache_bytes) in [("in memory", CACHE_ALL), ("1/8 in memory", CACHE_EIGHTH)] {
        // Into height 1 and from there into leaves, and on every level on the way.
        for (way, promotion) in [("flow", Promotion::Flow), ("root", Promotion::Root)] {
            let mut table = Table::load(promotion, cache_bytes);
            bench(&mut criterion, &format!("fractal tree, {way}, {place}"), &mut table);
        }
    }
    criterion.final_summary();
}

fn bench(criterion: &mut Criterion, name: &str, table: &mut Table) {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(STEP * INDEXES));
    group.bench_function("insert", |bencher| {
        bencher.iter_custom(|rounds| {
            timed(rounds, table, |table| table.insert(STEP), |table| table.delete(STEP))
        });
    });
    group.bench_function("delete", |bencher| {
        bencher.iter_custom(|rounds| {
            timed(rounds, table, |table| table.delete(STEP), |table| table.insert(STEP))
        });
    });
    group.throughput(Throughput::Elements(INDEXES));
    group.sample_size(20);
    group.bench_function("get", |bencher| bencher.iter(|| table.get()));
    group.bench_function("range of 10", |bencher| bencher.iter(|| table.range()));
    group.finish();
}

/// A purchases table of constant size.
struct Table {
    machine: Machine,
    client: SimThread,
    tree: FractalTree<IiBench>,
    keys: IiBench,
    /// The oldest row, counted without end.
    oldest: u64,
    /// Rows inserted so far, counted without end.
    inserted: u64,
    /// Queries so far: the next one's number.
    queries: u64,
}

impl Table {
    fn load(promotion: Promotion, cache_bytes: u64) -> Self {
        let profile = Profile::Python2009;
        let spec = IiBenchSpec::published(profile, SEED, ROWS_IN_STREAM);
        let keys = IiBench::new(&spec).expect("published values are allowed");
        let shapes = shapes(profile, RowLayout::of(profile), 3);
        let config = rules(promotion, cache_bytes);
        let mut table = Self {
            machine: Machine::new(null_machine(16), 1),
            client: SimThread::new(SimTime::ZERO),
            tree: FractalTree::new(config, &shapes, keys.clone(), ROWS_IN_STREAM),
            keys,
            oldest: 0,
            inserted: 0,
            queries: 0,
        };
        table.insert(ROWS);
        table
    }

    /// Inserts the next `rows` rows, a multiple of [`LOOK_AHEAD`], into all indexes.
    fn insert(&mut self, rows: u64) {
        for _ in 0..rows / LOOK_AHEAD {
            let first = self.inserted % ROWS_IN_STREAM;
            self.tree.prepare(&self.machine, first..first + LOOK_AHEAD, 0..INDEXES as u16);
            for row in (first..first + LOOK_AHEAD).map(RowId) {
                for index in indexes() {
                    finish(&mut self.machine, &mut self.client, |machine, client| {
                        self.tree.insert(machine, client, index, row)
                    });
                }
            }
            self.inserted += LOOK_AHEAD;
        }
    }

    /// Deletes the oldest `rows` rows from all indexes.
    fn delete(&mut self, rows: u64) {
        for row in self.oldest..self.oldest + rows {
            for index in indexes() {
                finish(&mut self.machine, &mut self.client, |machine, client| {
                    self.tree.delete(machine, client, index, RowId(row % ROWS_IN_STREAM))
                });
            }
        }
        self.oldest += rows;
    }

    /// Looks up a random row by its key in each index.
    fn get(&mut self) {
        for index in indexes() {
            let row = self.random_row();
            let key = self.keys.key(index, row);
            let found = finish(&mut self.machine, &mut self.client, |machine, client| {
                self.tree.get(machine, client, index, key)
            });
            assert_eq!(found, Some(row));
        }
    }

    /// Scans ten entries from a random row on in each index.
    fn range(&mut self) {
        for index in indexes() {
            let row = self.random_row();
            let from = (index, self.keys.key(index, row));
            scan(&mut self.tree, &mut self.machine, &mut self.client, from, 10);
        }
    }

    fn random_row(&mut self) -> RowId {
        self.queries += 1;
        let offset = below(hash(SEED, RowId(self.queries), 0), ROWS as u32);
        RowId((self.oldest + u64::from(offset)) % ROWS_IN_STREAM)
    }
}

/// The library's rules with smaller nodes, so that the table has three levels.
fn rules(promotion: Promotion, cache_bytes: u64) -> FractalConfig {
    FractalConfig {
        node_bytes: NODE_BYTES,
        basement_bytes: NODE_BYTES / 16,
        fanout: 16,
        promotion,
        flushing: Flushing::Background,
        queries: QueryRule::Apply,
        range_reads: RangeReads::Ahead,
        edge_split: EdgeSplit::Uneven,
        delete_commits: true,
        delete_reads_row: true,
        format: NodeFormat::PERCONAFT,
        cache: NodeCacheConfig {
            bytes: cache_bytes,
            replacement: Replacement::Clock { initial: 3, saturation: 15 },
            wake_share: 1.1,
            resume_share: 1.25,
            sleep_share: 1.5,
            gap_bytes_max: 512 << 20,
            seed: SEED,
        },
        partial_eviction: true,
        os_cache_bytes: None,
        checkpoint_period: None,
        cleaner: None,
        prices: FractalPrices::default(),
        flusher_threads: 8,
        writer_threads: 16,
    }
}

fn indexes() -> impl Iterator<Item = IndexId> {
    (0..INDEXES as u16).map(IndexId)
}
