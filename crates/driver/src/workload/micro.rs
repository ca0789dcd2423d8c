//! Four one-index streams that show how a tree splits.

use index::{IndexId, IndexShape, Key, KeySource, RowId};

use super::columns::{below, hash};
use super::error::SpecError;
use super::packing::bits;
use super::profile::{ROWS_ALLOWED, ROWS_MAX};
use super::stored::Stored;

/// The order in which the indexed numbers arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MicroOrder {
    /// Ascending: k = row.
    Sequential,
    /// Uniform over 63 bits.
    Random,
    /// k = 2^40 - row.
    Descending,
    /// k = row * 1000 + a random number below 1,000,000: a key lands among the last 1,000.
    NearlySorted,
}

impl MicroOrder {
    /// All orders.
    pub const ALL: [Self; 4] =
        [Self::Sequential, Self::Random, Self::Descending, Self::NearlySorted];

    /// The name in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Random => "random",
            Self::Descending => "descending",
            Self::NearlySorted => "nearly-sorted",
        }
    }
}

/// What a micro stream is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MicroSpec {
    /// The order of arrival.
    pub order: MicroOrder,
    /// The seed of the random orders.
    pub seed: u64,
    /// Rows of the stream.
    pub rows: u64,
}

/// The key stream of the table (id BIGINT PRIMARY KEY, k BIGINT, KEY k (k)).
#[derive(Clone, Debug)]
pub struct Micro {
    spec: MicroSpec,
    row_shift: u32,
    k_shift: u32,
}

/// Bytes of a BIGINT column.
const BIGINT: u32 = 8;

/// k of the first row in descending order; at least [`ROWS_MAX`].
const DESCENDING_START: u64 = 1 << 40;

/// Distance of neighbours and reach of the disorder in the nearly sorted order.
const NEAR_STEP: u64 = 1_000;
const NEAR_REACH: u32 = 1_000_000;

impl Micro {
    /// The stream a spec describes.
    ///
    /// # Errors
    /// The number of rows is outside of its range.
    pub fn new(spec: &MicroSpec) -> Result<Self, SpecError> {
        let rows = spec.rows;
        if !(1..=ROWS_MAX).contains(&rows) {
            let (name, allowed) = ("rows", ROWS_ALLOWED);
            return Err(SpecError::OutOfRange { name, value: rows, allowed });
        }
        let k_max = match spec.order {
            MicroOrder::Sequential => rows,
            MicroOrder::Random => u64::MAX >> 1,
            MicroOrder::Descending => DESCENDING_START,
            MicroOrder::NearlySorted => rows * NEAR_STEP + u64::from(NEAR_REACH),
        };
        Ok(Self { spec: *spec, row_shift: 64 - bits(rows), k_shift: 64 - bits(k_max) })
    }

    /// Rows of the stream.
    pub fn rows(&self) -> u64 {
        self.spec.rows
    }

    /// The indexed number of a row.
    #[inline]
    pub fn k(&self, row: RowId) -> u64 {
        match self.spec.order {
            MicroOrder::Sequential => row.0,
            MicroOrder::Random => hash(self.spec.seed, row, 0) >> 1,
            MicroOrder::Descending => DESCENDING_START - row.0,
            MicroOrder::NearlySorted => {
                row.0 * NEAR_STEP + u64::from(below(hash(self.spec.seed, row, 0), NEAR_REACH))
            }
        }
    }
}

impl KeySource for Micro {
    #[inline]
    fn key(&self, index: IndexId, row: RowId) -> Key {
        let row_bits = u128::from(row.0 << self.row_shift);
        match index {
            IndexId::PRIMARY => Key(row_bits << 64),
            _ => Key(u128::from(self.k(row)) << (64 + self.k_shift) | row_bits << self.k_shift),
        }
    }

    fn lower_bound(&self, index: IndexId, row: RowId, columns: u32) -> Key {
        let row = RowId(row.0.min(self.spec.rows));
        let whole = self.key(index, row);
        match (index, columns) {
            (_, 0) => Key::MIN,
            (IndexId::PRIMARY, _) | (_, 2..) => whole,
            _ => Key(whole.0 & !(u128::MAX >> (64 - self.k_shift))),
        }
    }

    fn shared_bytes(&self, index: IndexId, a: RowId, b: RowId) -> u32 {
        let stored = |row: RowId| {
            let start = Stored::new();
            let k =
                if index == IndexId::PRIMARY { start } else { start.integer(self.k(row), BIGINT) };
            k.integer(row.0 + 1, BIGINT)
        };
        stored(a).shared_bytes(&stored(b))
    }

    fn columns(&self, _index: IndexId) -> u32 {
        2
    }
}

/// Bytes of a row that has no columns but id and k.
pub const MICRO_ROW_BYTES: u32 = 2 * BIGINT;

/// The indexes of the table: PRIMARY and, if asked for, k. A row has `row_bytes`, the columns that
/// no index needs included.
pub fn micro_shapes(with_secondary: bool, row_bytes: u32) -> Vec<IndexShape> {
    let shape = |name: &str, clustered, key_bytes| IndexShape {
        name: name.into(),
        clustered,
        entry_bytes: if clustered { row_bytes } else { 2 * BIGINT },
        key_bytes,
        nullable_columns: 0,
        variable_columns: 0,
    };
    let mut shapes = vec![shape("PRIMARY", true, BIGINT)];
    if with_secondary {
        shapes.push(shape("k", false, 2 * BIGINT));
    }
    shapes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_have_the_measured_widths() {
        let shapes = micro_shapes(true, MICRO_ROW_BYTES);
        assert_eq!(5 + 13 + shapes[0].entry_bytes, 34);
        assert_eq!(5 + shapes[1].entry_bytes, 21);
        assert_eq!(micro_shapes(false, 150)[0].entry_bytes, 150);
        assert_eq!(micro_shapes(false, 150).len(), 1);
    }
}
