//! The key stream the library was measured with.

use index::{IndexId, IndexShape, Key, KeySource, RowId};

use crate::support::shape;

/// Rows per second of the date column: a batch has one date.
const ROWS_PER_DATE: u64 = 1_000;

/// One of the table's dictionaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dictionary {
    Main,
    Market,
    Register,
    PriceDateCustomer,
}

/// Independent uniform columns from a counter; the seed is 42.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    pub(crate) dictionaries: Vec<Dictionary>,
}

impl Dictionary {
    /// Key and value as the library stored them.
    fn shape(self, number: usize) -> IndexShape {
        let (key, value) = match self {
            Self::Main => (8, 28),
            Self::Market => (20, 0),
            Self::Register => (24, 0),
            Self::PriceDateCustomer => (28, 0),
        };
        IndexShape { clustered: self == Self::Main, ..shape(number, key, value) }
    }
}

impl Stream {
    pub(crate) fn shapes(&self) -> Vec<IndexShape> {
        (0..).zip(&self.dictionaries).map(|(number, one)| one.shape(number)).collect()
    }
}

impl KeySource for Stream {
    /// Only the order of keys matters: columns behind the price decide nothing, as no two rows
    /// have the same one.
    fn key(&self, index: IndexId, row: RowId) -> Key {
        let unit = (mix(row.0, 3) >> 11) as f64 / (1u64 << 53) as f64;
        let customer = (mix(row.0, 2) % 100_000) as f64;
        let price = (unit * 500.0 + customer) / 100.0;
        let by_price = u128::from(price.to_bits()) << 32 | u128::from(row.0);
        match self.dictionaries[index.index()] {
            Dictionary::Main => Key(u128::from(row.0)),
            Dictionary::Market => Key(by_price),
            Dictionary::Register => Key(u128::from(mix(row.0, 0) % 1_000) << 96 | by_price),
            Dictionary::PriceDateCustomer => {
                let date = u128::from(row.0 / ROWS_PER_DATE);
                Key(u128::from(price.to_bits()) << 64 | date << 32 | u128::from(row.0))
            }
        }
    }

    fn lower_bound(&self, index: IndexId, row: RowId, columns: u32) -> Key {
        if columns == 0 { Key::MIN } else { self.key(index, row) }
    }
}

pub(crate) fn mix(row: u64, column: u64) -> u64 {
    let step = 0x9e37_79b9_7f4a_7c15_u64;
    cost_model::mix(42_u64.wrapping_add((row * 8 + column).wrapping_mul(step)))
}

/// The first row as the measurement's notes have it.
#[test]
fn the_stream_is_the_measured_one() {
    let stream = Stream { dictionaries: vec![Dictionary::Market, Dictionary::Register] };
    let price = u128::from(0x4084_0268_5a5a_17ac_u64) << 32;
    assert_eq!(stream.key(IndexId(0), RowId(0)), Key(price));
    assert_eq!(stream.key(IndexId(1), RowId(0)), Key(0x19d << 96 | price));
}
