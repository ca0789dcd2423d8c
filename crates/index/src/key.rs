//! Keys are functions of row numbers.

use std::fmt;

/// The number of a row in the order of the key stream, counted from 0. The primary key is this
/// number plus one where a server would print it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId(pub u64);

/// An index that an engine keeps: 0 is the clustered index, the secondary indexes follow. Of a
/// table in partitions each has all of them, one partition after the other (see
/// [`Partitions`](crate::Partitions)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IndexId(pub u16);

impl IndexId {
    /// The clustered index, or that of the first partition.
    pub const PRIMARY: Self = Self(0);

    /// The number as an array index.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A key as an unsigned number with the order of its columns.
///
/// The columns are packed from the top bit down, most significant first, and the row number is
/// the last of them, so that no two rows share a key (a secondary index ends in the primary key).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub u128);

impl Key {
    /// Before every key.
    pub const MIN: Self = Self(0);
    /// After every key.
    pub const MAX: Self = Self(u128::MAX);

    /// The top half: enough to order most keys, and what searches interpolate on.
    #[inline]
    pub const fn prefix(self) -> u64 {
        (self.0 >> 64) as u64
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "k{:032x}", self.0)
    }
}

/// A key stream: a pure function of the row number (its seed is part of the value).
///
/// Any key can be recomputed at any time, so a simulated page keeps row numbers and no keys.
pub trait KeySource {
    /// The key of `row` in `index`. Keys of the clustered index must grow with the row number.
    fn key(&self, index: IndexId, row: RowId) -> Key;

    /// The keys of `row` in the indexes 0, 1, … `keys.len() - 1`: the columns are computed once.
    fn keys(&self, row: RowId, keys: &mut [Key]) {
        for (index, key) in keys.iter_mut().enumerate() {
            *key = self.key(IndexId(index as u16), row);
        }
    }

    /// Where a scan of `index` starts that asks for the values `row` has in the first `columns`
    /// columns of the index: the smallest key with these values.
    fn lower_bound(&self, index: IndexId, row: RowId, columns: u32) -> Key;

    /// Where such a scan ends: no entry beyond this key has the values. A source that cannot tell
    /// where they end says that the whole rest of the index may have them.
    fn upper_bound(&self, _index: IndexId, _row: RowId, _columns: u32) -> Key {
        Key::MAX
    }

    /// Leading bytes that the stored entries of two rows have in common, in the format in which an
    /// index stores its columns; what a redo log that writes differences leaves out.
    fn shared_bytes(&self, _index: IndexId, _a: RowId, _b: RowId) -> u32 {
        0
    }

    /// Columns of a stored entry of an index, without those that an engine adds.
    fn columns(&self, _index: IndexId) -> u32 {
        1
    }
}

impl<K: KeySource> KeySource for std::sync::Arc<K> {
    fn key(&self, index: IndexId, row: RowId) -> Key {
        (**self).key(index, row)
    }

    fn keys(&self, row: RowId, keys: &mut [Key]) {
        (**self).keys(row, keys);
    }

    fn lower_bound(&self, index: IndexId, row: RowId, columns: u32) -> Key {
        (**self).lower_bound(index, row, columns)
    }

    fn upper_bound(&self, index: IndexId, row: RowId, columns: u32) -> Key {
        (**self).upper_bound(index, row, columns)
    }

    fn shared_bytes(&self, index: IndexId, a: RowId, b: RowId) -> u32 {
        (**self).shared_bytes(index, a, b)
    }

    fn columns(&self, index: IndexId) -> u32 {
        (**self).columns(index)
    }
}
