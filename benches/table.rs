//! A purchases table of constant size, for benchmarks of single operations.

use std::ops::Range;

use btree::{BTree, PageFormat, RedoFormat, SpaceConfig, SplitPolicy, TreeConfig};
use change_buffer::{ChangeBufferConfig, ChangeBuffered};
use cost_model::device::DeviceSpec;
use cost_model::{Machine, MachineConfig, Margin, MarginCounts, PoolConfig, SimThread, SimTime};
use driver::workload::{IiBench, IiBenchSpec, Profile, RowLayout, below, hash, shapes};
use index::testkit::{finish, null_machine, scan};
use index::{BufferStats, IndexEngine, IndexId, IndexShape, KeySource, RowId};

/// Rows in the table.
const ROWS: u64 = 1 << 20;

/// The stream begins anew after so many rows: keys of rows that are long deleted.
const ROWS_IN_STREAM: u64 = 2 * ROWS;

/// The clustered index and three secondary ones.
pub(crate) const INDEXES: u16 = 4;

/// All indexes.
const ALL: Range<u16> = 0..INDEXES;

/// Those that a change buffer is for.
pub(crate) const SECONDARY: Range<u16> = 1..INDEXES;

/// Bytes that the check of a leaf's room adds to a record (`MySQL` 5.1 source, ibuf0ibuf.c).
pub(crate) const CHECK_EXTRA: u32 = 1;

/// So many that no leaf ever has room.
pub(crate) const CHECK_NEVER_FITS: u32 = 1 << 14;

/// Rows whose ways are looked up together, as the run loop does.
const LOOK_AHEAD: u64 = 64;

/// Entries of a range scan.
const SCAN_ENTRIES: u64 = 10;

const SEED: u64 = 42;

/// The table, the machine it lies on and one client.
pub(crate) struct Table<E> {
    machine: Machine,
    client: SimThread,
    engine: E,
    keys: IiBench,
    /// The oldest row, counted without end.
    oldest: u64,
    /// Rows inserted so far, counted without end.
    inserted: u64,
    /// Look-ups and scans so far: the next one's number.
    read: u64,
}

/// A B+tree of [`ROWS`] rows over a pool of `frames` pages.
pub(crate) fn plain(frames: u32, disks: DeviceSpec) -> Table<BTree<IiBench>> {
    Table::load(frames, disks, |shapes, keys, machine, client| {
        BTree::new(innodb(), shapes, keys, ROWS, machine, client)
    })
}

/// The same with a change buffer of up to half of the pool, which reckons with `check_extra` bytes
/// more than a record takes when it looks whether a leaf has room.
pub(crate) fn buffered(
    frames: u32,
    disks: DeviceSpec,
    check_extra: u32,
) -> Table<ChangeBuffered<IiBench>> {
    let buffer = change_buffer(frames / 2, check_extra);
    Table::load(frames, disks, |shapes, keys, machine, client| {
        ChangeBuffered::new(innodb(), buffer, shapes, keys, ROWS, machine, client)
    })
}

impl<E: IndexEngine> Table<E> {
    fn load(
        frames: u32,
        disks: DeviceSpec,
        build: impl FnOnce(&[IndexShape], IiBench, &mut Machine, &mut SimThread) -> E,
    ) -> Self {
        let mut machine = Machine::new(machine(frames, disks), 1);
        let mut client = SimThread::new(SimTime::ZERO);
        let profile = Profile::Python2009;
        let spec = IiBenchSpec::published(profile, SEED, ROWS_IN_STREAM);
        let keys = IiBench::new(&spec).expect("published values are allowed");
        let shapes = shapes(profile, RowLayout::of(profile), 3);
        let engine = build(&shapes, keys.clone(), &mut machine, &mut client);
        let mut table = Self { machine, client, engine, keys, oldest: 0, inserted: 0, read: 0 };
        table.insert(ROWS);
        table
    }

    /// Leaves of all indexes.
    pub(crate) fn leaf_pages(&self) -> u64 {
        ALL.map(|index| self.engine.stats(IndexId(index)).leaf_pages).sum()
    }

    /// What the change buffer has done so far.
    pub(crate) fn buffer_stats(&self) -> BufferStats {
        self.engine.buffered().expect("the engine has a change buffer")
    }

    /// Inserts the next `rows` rows, a multiple of [`LOOK_AHEAD`], into all indexes.
    pub(crate) fn insert(&mut self, rows: u64) {
        self.insert_into(ALL, rows);
    }

    /// The same into some indexes alone; what follows must leave the others alone.
    pub(crate) fn insert_into(&mut self, indexes: Range<u16>, rows: u64) {
        for _ in 0..rows / LOOK_AHEAD {
            let first = self.inserted % ROWS_IN_STREAM;
            self.engine.prepare(&self.machine, first..first + LOOK_AHEAD, ALL);
            for row in (first..first + LOOK_AHEAD).map(RowId) {
                for index in indexes.clone().map(IndexId) {
                    finish(&mut self.machine, &mut self.client, |machine, client| {
                        self.engine.insert(machine, client, index, row)
                    });
                }
            }
            self.inserted += LOOK_AHEAD;
        }
    }

    /// Deletes the oldest `rows` rows from all indexes.
    pub(crate) fn delete(&mut self, rows: u64) {
        self.delete_from(ALL, rows);
    }

    /// The same from some indexes alone.
    pub(crate) fn delete_from(&mut self, indexes: Range<u16>, rows: u64) {
        for row in self.oldest..self.oldest + rows {
            for index in indexes.clone().map(IndexId) {
                finish(&mut self.machine, &mut self.client, |machine, client| {
                    self.engine.delete(machine, client, index, RowId(row % ROWS_IN_STREAM))
                });
            }
        }
        self.oldest += rows;
    }

    /// Looks up a random row by its key in one index after the other, `rows` rows.
    pub(crate) fn get(&mut self, rows: u64) {
        for _ in 0..rows {
            for index in ALL.map(IndexId) {
                let row = self.random_row();
                self.look_up(index, row);
            }
        }
    }

    /// Looks up the youngest `rows` rows by their keys in some indexes.
    pub(crate) fn get_youngest(&mut self, indexes: Range<u16>, rows: u64) {
        for row in self.inserted - rows..self.inserted {
            for index in indexes.clone().map(IndexId) {
                self.look_up(index, RowId(row % ROWS_IN_STREAM));
            }
        }
    }

    fn look_up(&mut self, index: IndexId, row: RowId) {
        let key = self.keys.key(index, row);
        let found = finish(&mut self.machine, &mut self.client, |machine, client| {
            self.engine.get(machine, client, index, key)
        });
        assert_eq!(found, Some(row));
    }

    /// Scans some entries from a random row on in one index after the other, from `rows` rows.
    pub(crate) fn range(&mut self, rows: u64) {
        for _ in 0..rows {
            for index in ALL.map(IndexId) {
                let row = self.random_row();
                let from = (index, self.keys.key(index, row));
                scan(&mut self.engine, &mut self.machine, &mut self.client, from, SCAN_ENTRIES);
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
        format: PageFormat::INNODB,
        space: SpaceConfig::INNODB,
        split: SplitPolicy::InnoDb,
        sibling_reads: true,
        join_right: false,
        redo: Some(RedoFormat::mysql_5_1(150, 200)),
        undo: None,
        seed: SEED,
    }
}

/// The buffer of `MySQL` 5.1, but for the room that it takes a record to need.
fn change_buffer(pages_max: u32, check_extra: u32) -> ChangeBufferConfig {
    ChangeBufferConfig { check_extra, ..ChangeBufferConfig::mysql_5_1(&innodb(), pages_max) }
}
