//! A purchases table of constant size, for benchmarks of single operations.

use std::ops::ControlFlow;

use btree::{BTree, PageFormat, RedoFormat, SpaceConfig, SplitPolicy, TreeConfig};
use cost_model::device::DeviceSpec;
use cost_model::{Machine, MachineConfig, Margin, MarginCounts, PoolConfig, SimThread, SimTime};
use driver::workload::{IiBench, IiBenchSpec, Profile, RowLayout, below, hash, shapes};
use index::testkit::{finish, null_machine};
use index::{IndexEngine, IndexId, KeySource, RowId};

/// Rows in the table.
const ROWS: u64 = 1 << 20;

/// The stream begins anew after so many rows: keys of rows that are long deleted.
const ROWS_IN_STREAM: u64 = 2 * ROWS;

/// The clustered index and three secondary ones.
pub(crate) const INDEXES: u64 = 4;

/// Rows whose ways are looked up together, as the run loop does.
const LOOK_AHEAD: u64 = 64;

/// Entries of a range scan.
const SCAN_ENTRIES: u32 = 10;

const SEED: u64 = 42;

/// The table, the machine it lies on and one client.
pub(crate) struct Table {
    machine: Machine,
    client: SimThread,
    tree: BTree<IiBench>,
    keys: IiBench,
    /// The oldest row, counted without end.
    oldest: u64,
    /// Rows inserted so far, counted without end.
    inserted: u64,
    /// Look-ups and scans so far: the next one's number.
    read: u64,
}

impl Table {
    /// A table of [`ROWS`] rows over a pool of `frames` pages.
    pub(crate) fn load(frames: u32, disks: DeviceSpec) -> Self {
        let mut machine = Machine::new(machine(frames, disks), 1);
        let mut client = SimThread::new(SimTime::ZERO);
        let profile = Profile::Python2009;
        let spec = IiBenchSpec::published(profile, SEED, ROWS_IN_STREAM);
        let keys = IiBench::new(&spec).expect("published values are allowed");
        let shapes = shapes(profile, RowLayout::of(profile), 3);
        let tree = BTree::new(innodb(), &shapes, keys.clone(), ROWS, &mut machine, &mut client);
        let mut table = Self { machine, client, tree, keys, oldest: 0, inserted: 0, read: 0 };
        table.insert(ROWS);
        table
    }

    /// Leaves of all indexes.
    pub(crate) fn leaf_pages(&self) -> u64 {
        (0..INDEXES).map(|index| self.tree.stats(IndexId(index as u16)).leaf_pages).sum()
    }

    /// Inserts the next `rows` rows, a multiple of [`LOOK_AHEAD`], into all indexes.
    pub(crate) fn insert(&mut self, rows: u64) {
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
    pub(crate) fn delete(&mut self, rows: u64) {
        for row in self.oldest..self.oldest + rows {
            for index in indexes() {
                finish(&mut self.machine, &mut self.client, |machine, client| {
                    self.tree.delete(machine, client, index, RowId(row % ROWS_IN_STREAM))
                });
            }
        }
        self.oldest += rows;
    }

    /// Looks up a random row by its key in one index after the other, `rows` rows.
    pub(crate) fn get(&mut self, rows: u64) {
        for _ in 0..rows {
            for index in indexes() {
                let row = self.random_row();
                let key = self.keys.key(index, row);
                let found = finish(&mut self.machine, &mut self.client, |machine, client| {
                    self.tree.get(machine, client, index, key)
                });
                assert_eq!(found, Some(row));
            }
        }
    }

    /// Scans some entries from a random row on in one index after the other, from `rows` rows.
    pub(crate) fn range(&mut self, rows: u64) {
        for _ in 0..rows {
            for index in indexes() {
                let row = self.random_row();
                let mut from = self.keys.key(index, row);
                let mut left = SCAN_ENTRIES;
                finish(&mut self.machine, &mut self.client, |machine, client| {
                    self.tree.range(machine, client, index, &mut from, &mut |_, _| {
                        left -= 1;
                        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                    })
                });
            }
        }
    }

    fn random_row(&mut self) -> RowId {
        self.read += 1;
        let offset = below(hash(SEED, RowId(self.read), 0), ROWS as u32);
        RowId((self.oldest + u64::from(offset)) % ROWS_IN_STREAM)
    }
}

/// A machine with the buffer pool of the `InnoDB` plugin 1.0.
fn machine(frames: u32, disks: DeviceSpec) -> MachineConfig {
    let config = null_machine(frames);
    MachineConfig {
        disks,
        pool: PoolConfig {
            old_fraction: 0.37,
            old_len_min: 512,
            young_distance: 0.157_5,
            margin: Margin { scan: 133, low: 69, high: 186, counts: MarginCounts::FreeAndClean },
            ..config.pool
        },
        pages_expected: 1 << 16,
        ..config
    }
}

fn innodb() -> TreeConfig {
    TreeConfig {
        format: PageFormat {
            page_bytes: 16_384,
            page_overhead: 132,
            record_header: 5,
            clustered_extra: 13,
            child_pointer: PageFormat::CHILD_POINTER,
            directory_slot: 2,
            directory_records: 4,
            clustered_reserve: 1_024,
            reorganize_limit: 512,
            coalesce_below: 8_192,
        },
        space: SpaceConfig::INNODB,
        split: SplitPolicy::InnoDb,
        sibling_reads: true,
        join_right: false,
        redo: Some(RedoFormat::mysql_5_1(150, 200)),
        undo: None,
        seed: SEED,
    }
}

fn indexes() -> impl Iterator<Item = IndexId> {
    (0..INDEXES as u16).map(IndexId)
}
