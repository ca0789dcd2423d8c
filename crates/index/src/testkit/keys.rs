//! Key streams for tests.

use cost_model::mix;

use crate::{IndexId, Key, KeySource, RowId};

/// In which order the keys of secondary indexes arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyOrder {
    /// Independent and uniform, another permutation for every index.
    Uniform,
    /// Each key above the one before.
    Ascending,
    /// Each key below the one before.
    Descending,
    /// Uniform over so few values of the key's top half that most comparisons go on to the row
    /// number.
    Ties {
        /// Different values, at least 1.
        values: u64,
    },
}

/// A key stream without a table behind it. Index 0 is keyed by the row number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestKeys {
    /// Order of the secondary keys.
    pub order: KeyOrder,
    /// Seed of the uniform orders.
    pub seed: u64,
}

impl TestKeys {
    /// Independent uniform keys.
    pub const fn uniform(seed: u64) -> Self {
        Self { order: KeyOrder::Uniform, seed }
    }

    fn column(&self, index: IndexId, row: RowId) -> u64 {
        if index == IndexId::PRIMARY {
            return row.0;
        }
        match self.order {
            KeyOrder::Ascending => row.0,
            KeyOrder::Descending => u64::MAX - row.0,
            KeyOrder::Uniform => self.uniform_column(index, row),
            KeyOrder::Ties { values } => self.uniform_column(index, row) % values,
        }
    }

    fn uniform_column(&self, index: IndexId, row: RowId) -> u64 {
        mix(mix(row.0 ^ mix(self.seed)).wrapping_add(u64::from(index.0)))
    }
}

impl KeySource for TestKeys {
    fn key(&self, index: IndexId, row: RowId) -> Key {
        Key(u128::from(self.column(index, row)) << 64 | u128::from(row.0))
    }

    fn lower_bound(&self, index: IndexId, row: RowId, columns: u32) -> Key {
        if columns == 0 { Key::MIN } else { Key(u128::from(self.column(index, row)) << 64) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_what_their_names_say() {
        let keys = |order| TestKeys { order, seed: 7 };
        let at = |order, row| keys(order).key(IndexId(1), RowId(row));
        for row in 0..100 {
            assert!(at(KeyOrder::Ascending, row) < at(KeyOrder::Ascending, row + 1));
            assert!(at(KeyOrder::Descending, row + 1) < at(KeyOrder::Descending, row));
            assert!(at(KeyOrder::Ties { values: 2 }, row).prefix() < 2);
            let bound = keys(KeyOrder::Uniform).lower_bound(IndexId(1), RowId(row), 1);
            assert_eq!(at(KeyOrder::Uniform, row).0 - bound.0, u128::from(row));
        }
    }
}
