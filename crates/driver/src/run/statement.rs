//! What becomes of the rows of one statement: stored apart, sorted before they enter the indexes.

use cost_model::{Bytes, SimThread, StoredRows};
use index::{Key, RowId};

use super::world::World;

/// The rules of statements, for one table.
#[derive(Clone, Debug, Default)]
pub(super) struct Statements {
    /// Bytes of a row that lies apart; `None` if rows lie in an index.
    pub(super) row: Option<Bytes>,
    /// Statements of more rows write them through a cache.
    pub(super) row_cache_above: u64,
    /// Bytes that one call writes out of it.
    pub(super) row_cache: Bytes,
    /// Rows whose entries in secondary indexes are sorted together at most; 0: none are.
    pub(super) bulk_capacity: usize,
}

impl Statements {
    /// What a statement of `rows` rows stores apart.
    pub(super) fn stored(&self, rows: u64) -> StoredRows {
        let Some(row) = self.row else { return StoredRows::default() };
        let bytes = row * rows;
        let calls = if self.row_cache_above < rows {
            bytes.get().div_ceil(self.row_cache.get().max(1))
        } else {
            rows
        };
        StoredRows { bytes, calls }
    }
}

/// Rows that are in the first index and not yet in the others, which get them one index after the
/// other in the order of their keys.
#[derive(Debug, Default)]
pub(super) struct Bulk {
    rows: Vec<RowId>,
    sorted: Vec<(Key, RowId)>,
    /// The index under way, and how far it is; 0: none.
    index: u16,
    at: usize,
}

impl Bulk {
    pub(super) fn push(&mut self, row: RowId) {
        self.rows.push(row);
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Goes on inserting until an entry has to wait, a reporting interval is complete, or all are
    /// in; tells whether they are.
    pub(super) fn step(&mut self, thread: &mut SimThread, world: &mut World) -> bool {
        let indexes = world.partitions.indexes();
        loop {
            if self.at == self.sorted.len() {
                self.index += 1;
                self.at = 0;
                if self.index == indexes {
                    *self = Self::default();
                    return true;
                }
                let index = self.index;
                let key = |row| world.source.key(world.index_of(row, index), row);
                let entry = |row: &RowId| (key(*row), *row);
                self.sorted.clear();
                self.sorted.extend(self.rows.iter().map(entry));
                self.sorted.sort_unstable();
            }
            let (_, row) = self.sorted[self.at];
            let index = world.index_of(row, self.index);
            if world.engine.insert(&mut world.machine, thread, index, row).is_err() {
                return false;
            }
            world.machine.release(thread);
            world.operations += 1;
            self.at += 1;
            if self.index + 1 == indexes {
                world.row_done(thread);
                if world.pause_at <= world.rows_done {
                    return false;
                }
            }
        }
    }
}
