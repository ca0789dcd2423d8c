//! Tables, page formats and load loops that the tests share.

use btree::{BTree, PageFormat, SpaceConfig, SplitPolicy, TreeConfig};
use cost_model::{
    Machine, MachineConfig, MakeYoung, Margin, MarginCounts, Neighbours, PoolConfig, SimThread,
    SimTime,
};
use index::testkit::{TestKeys, finish};
use index::{IndexEngine, IndexId, IndexShape, RowId};

/// `InnoDB`'s rules, without reads of siblings that no link needs.
pub(crate) fn innodb() -> TreeConfig {
    TreeConfig {
        format: PageFormat::INNODB,
        space: SpaceConfig::INNODB,
        split: SplitPolicy::InnoDb,
        sibling_reads: false,
        join_right: true,
        redo: None,
        undo: None,
        seed: 1,
    }
}

/// The machine with `InnoDB`'s pool: midpoint, LRU flush margin with neighbours (`MySQL` 5.1
/// source, buf0lru.c, buf0buf.ic, buf0flu.h).
pub(crate) fn innodb_pool(frames: u32, machine: MachineConfig) -> MachineConfig {
    let pool = PoolConfig {
        frames,
        old_fraction: 0.375,
        old_len_min: 80,
        young_distance: 0.25,
        make_young: MakeYoung::Any,
        reads_check_bitmap: false,
        margin: Margin { scan: 133, low: 69, high: 186, counts: MarginCounts::FreeAndClean },
        neighbours: Neighbours::Area,
        ..machine.pool
    };
    MachineConfig { pool, ..machine }
}

/// Pages of `InnoDB`'s format but for so many secondary records of 21 bytes and no rule that
/// splits a page before it is full.
pub(crate) fn pages_of(records: u32) -> TreeConfig {
    let usable = 21 * records + (2 * records).div_ceil(4);
    TreeConfig { format: PageFormat::of_usable(usable), ..innodb() }
}

/// A clustered index with rows of `row_bytes` bytes on the page and secondary ones with records
/// of these bytes.
pub(crate) fn shapes(row_bytes: u32, records: &[u32]) -> Vec<IndexShape> {
    let shape = |number: usize, bytes: u32, overhead: u32| IndexShape {
        name: format!("index {number}"),
        clustered: number == 0,
        entry_bytes: bytes - overhead,
        key_bytes: if number == 0 { 4 } else { bytes - overhead },
        nullable_columns: 0,
        variable_columns: 0,
    };
    let clustered = shape(0, row_bytes, 5 + 13);
    let secondary = records.iter().zip(1..).map(|(bytes, number)| shape(number, *bytes, 5));
    std::iter::once(clustered).chain(secondary).collect()
}

/// A table on its machine, with one client.
pub(crate) struct Table {
    pub(crate) machine: Machine,
    pub(crate) client: SimThread,
    pub(crate) tree: BTree<TestKeys>,
}

impl Table {
    pub(crate) fn new(
        machine: MachineConfig,
        config: TreeConfig,
        shapes: &[IndexShape],
        keys: TestKeys,
    ) -> Self {
        Self::with_clients(machine, 1, config, shapes, keys)
    }

    /// On a machine that more clients will use.
    pub(crate) fn with_clients(
        machine: MachineConfig,
        clients: usize,
        config: TreeConfig,
        shapes: &[IndexShape],
        keys: TestKeys,
    ) -> Self {
        let mut machine = Machine::new(machine, clients);
        let mut client = SimThread::new(SimTime::ZERO);
        let tree = BTree::new(config, shapes, keys, 1 << 20, &mut machine, &mut client);
        Self { machine, client, tree }
    }

    pub(crate) fn insert(&mut self, index: IndexId, row: u64) {
        finish(&mut self.machine, &mut self.client, |machine, client| {
            self.tree.insert(machine, client, index, RowId(row))
        });
    }

    pub(crate) fn delete(&mut self, index: IndexId, row: u64) {
        finish(&mut self.machine, &mut self.client, |machine, client| {
            self.tree.delete(machine, client, index, RowId(row))
        });
    }

    /// Inserts rows into one index only.
    pub(crate) fn fill(&mut self, index: IndexId, rows: std::ops::Range<u64>) {
        for row in rows {
            self.insert(index, row);
        }
    }

    /// Inserts rows into all indexes.
    pub(crate) fn load(&mut self, rows: std::ops::Range<u64>) {
        for row in rows {
            for index in 0..self.tree.index_count() {
                self.insert(IndexId(index as u16), row);
            }
        }
    }

    /// Entries of each leaf in key order.
    pub(crate) fn leaves(&self, index: IndexId) -> Vec<u32> {
        let mut leaves = Vec::new();
        self.tree.for_each_leaf(index, |_, entries| leaves.push(entries));
        leaves
    }
}
