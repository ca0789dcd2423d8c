//! A table cut into ranges of its primary key, each with trees of its own.

use std::ops::Range;

use crate::{IndexId, Key, KeySource, RowId};

/// How the rows of a table are spread over the indexes that an engine keeps.
///
/// An engine knows no partitions: it has more indexes. Those of partition p are the numbers from
/// p · n on, n being the indexes of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partitions {
    indexes: u16,
    count: u16,
    /// Rows of each partition but the last.
    rows: u64,
}

impl Partitions {
    /// Partitions a table can have at most: `MySQL` 5.5 has no more.
    pub const MAX: u64 = 1_024;

    /// A table of `indexes` indexes for `table_rows` rows in partitions of `rows` rows each;
    /// without, in one piece.
    ///
    /// # Panics
    /// If there would be more than [`MAX`](Self::MAX) partitions.
    pub fn new(indexes: usize, rows: Option<u64>, table_rows: u64) -> Self {
        let count = rows.map_or(1, |rows| table_rows.div_ceil(rows).max(1));
        assert!(count <= Self::MAX, "{count} partitions");
        let rows = if count == 1 { u64::MAX } else { rows.unwrap_or(u64::MAX) };
        Self { indexes: indexes as u16, count: count as u16, rows }
    }

    /// Indexes of the table.
    pub fn indexes(self) -> u16 {
        self.indexes
    }

    /// Partitions; 1 if the table is in one piece.
    pub fn count(self) -> u16 {
        self.count
    }

    /// Rows of each partition but the last; of a table in one piece, more than there are.
    pub fn rows(self) -> u64 {
        self.rows
    }

    /// The partition of a row.
    #[inline]
    pub fn of(self, row: RowId) -> u16 {
        if self.count == 1 { 0 } else { (row.0 / self.rows) as u16 }
    }

    /// The engine's index for one of the table's in a partition.
    #[inline]
    pub fn index_of(self, partition: u16, index: u16) -> IndexId {
        IndexId(partition * self.indexes + index)
    }

    /// The engine's indexes of a partition.
    #[inline]
    pub fn indexes_of(self, partition: u16) -> Range<u16> {
        let first = partition * self.indexes;
        first..first + self.indexes
    }

    /// Which of the table's indexes one of the engine's is a part of.
    pub fn table_index(self, index: IndexId) -> IndexId {
        IndexId(index.0 % self.indexes)
    }
}

/// The keys of a table in the indexes of all its partitions.
#[derive(Clone, Debug)]
pub struct Partitioned<K> {
    keys: K,
    indexes: u16,
}

impl<K> Partitioned<K> {
    /// The keys of a table with so many indexes.
    pub fn new(keys: K, indexes: u16) -> Self {
        Self { keys, indexes }
    }

    #[inline]
    fn of_table(&self, index: IndexId) -> IndexId {
        // The division is for tables that are in partitions.
        if index.0 < self.indexes { index } else { IndexId(index.0 % self.indexes) }
    }
}

impl<K: KeySource> KeySource for Partitioned<K> {
    #[inline]
    fn key(&self, index: IndexId, row: RowId) -> Key {
        self.keys.key(self.of_table(index), row)
    }

    #[inline]
    fn keys(&self, row: RowId, keys: &mut [Key]) {
        self.keys.keys(row, keys);
    }

    fn lower_bound(&self, index: IndexId, row: RowId, columns: u32) -> Key {
        self.keys.lower_bound(self.of_table(index), row, columns)
    }

    fn upper_bound(&self, index: IndexId, row: RowId, columns: u32) -> Key {
        self.keys.upper_bound(self.of_table(index), row, columns)
    }

    fn shared_bytes(&self, index: IndexId, a: RowId, b: RowId) -> u32 {
        self.keys.shared_bytes(self.of_table(index), a, b)
    }

    fn columns(&self, index: IndexId) -> u32 {
        self.keys.columns(self.of_table(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_partition_has_all_indexes() {
        let table = Partitions::new(4, Some(100), 1_000);
        assert_eq!(table.count(), 10);
        assert_eq!([0, 99, 100, 999].map(|row| table.of(RowId(row))), [0, 0, 1, 9]);
        assert_eq!(table.index_of(9, 3), IndexId(39));
        assert_eq!(table.indexes_of(9), 36..40);
        assert_eq!(table.table_index(IndexId(39)), IndexId(3));
    }

    #[test]
    fn a_table_in_one_piece_has_its_own_indexes() {
        for table in [Partitions::new(4, None, 1_000), Partitions::new(4, Some(1_000), 1_000)] {
            assert_eq!((table.count(), table.of(RowId(u64::MAX))), (1, 0));
            assert_eq!(table.indexes_of(0), 0..4);
        }
    }
}
