//! How many bytes do the rows and index entries of the purchases table take?

use index::IndexShape;

use super::profile::Profile;

/// Bytes of an INT column.
pub(super) const INT: u32 = 4;

/// The widths in which versions of the purchases table differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowLayout {
    /// Bytes of `transactionid`: 4 as INT, 8 as BIGINT.
    pub key_bytes: u32,
    /// Bytes of `dateandtime`: 8 up to `MySQL` 5.5, 5 from 5.6.4 on.
    pub datetime_bytes: u32,
    /// Bytes of `price`: 4 as FLOAT, 8 as DOUBLE.
    pub price_bytes: u32,
    /// Mean bytes of the column `data`; 0 where the table has none.
    pub data_bytes: u32,
}

impl RowLayout {
    /// The table of a profile, as the benchmark's scripts of that time made it.
    ///
    /// Source: the history of iibench.py (`data` holds 10 to 20 bytes since 2017).
    pub const fn of(profile: Profile) -> Self {
        match profile {
            Profile::Python2009 | Profile::Unrounded => {
                Self { key_bytes: 4, datetime_bytes: 8, price_bytes: 4, data_bytes: 0 }
            }
            Profile::Layout2017 | Profile::Layout2023 => {
                Self { key_bytes: 8, datetime_bytes: 5, price_bytes: 4, data_bytes: 15 }
            }
        }
    }
}

/// The indexes of the purchases table: PRIMARY and the first `secondary_indexes` (0 to 3) of
/// marketsegment, registersegment and pdc, in the order of their numbers.
pub fn shapes(profile: Profile, layout: RowLayout, secondary_indexes: usize) -> Vec<IndexShape> {
    let RowLayout { key_bytes, datetime_bytes, price_bytes, data_bytes } = layout;
    let has_data = u32::from(data_bytes != 0);
    let primary = IndexShape {
        name: "PRIMARY".into(),
        clustered: true,
        entry_bytes: key_bytes + datetime_bytes + 3 * INT + price_bytes + data_bytes,
        key_bytes,
        nullable_columns: 1 + has_data,
        variable_columns: has_data,
    };
    let market_integers = if profile == Profile::Layout2023 { 2 } else { 1 };
    let secondary = [
        ("marketsegment", market_integers * INT + price_bytes, 0),
        ("registersegment", 2 * INT + price_bytes, 0),
        ("pdc", INT + price_bytes + datetime_bytes, 1),
    ];
    let entries = secondary.into_iter().take(secondary_indexes);
    let entries = entries.map(|(name, columns_bytes, nullable_columns)| IndexShape {
        name: name.into(),
        clustered: false,
        entry_bytes: columns_bytes + key_bytes,
        key_bytes: columns_bytes + key_bytes,
        nullable_columns,
        variable_columns: 0,
    });
    std::iter::once(primary).chain(entries).collect()
}

/// The indexes of a table whose rows lie in a file of their own: an entry has the columns of its
/// index and `pointer_bytes`, and none has the primary key unless it is that.
pub fn pointing(mut shapes: Vec<IndexShape>, pointer_bytes: u32) -> Vec<IndexShape> {
    let primary_bytes = shapes.first().map_or(0, |primary| primary.key_bytes);
    for shape in &mut shapes {
        let key = if shape.clustered { primary_bytes } else { shape.key_bytes - primary_bytes };
        shape.entry_bytes = key + pointer_bytes;
        shape.key_bytes = key + pointer_bytes;
        if shape.clustered {
            (shape.nullable_columns, shape.variable_columns) = (0, 0);
        }
    }
    shapes
}

/// The place of the price among the columns of an index, counted from 1: 0 in the primary key.
pub(crate) fn price_column(profile: Profile, index: u16) -> u32 {
    match (index, profile) {
        (0, _) => 0,
        (1 | 2, Profile::Layout2023) => 3,
        (2, _) => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of a leaf record in `InnoDB`'s COMPACT format: a 5-byte header, a null bitmap, length
    /// bytes, the columns, and transaction id and roll pointer (6 + 7) in a clustered index.
    fn record_bytes(shape: &IndexShape) -> u32 {
        let hidden = if shape.clustered { 13 } else { 0 };
        let null_bitmap = shape.nullable_columns.div_ceil(8);
        5 + null_bitmap + shape.variable_columns + hidden + shape.entry_bytes
    }

    fn records(profile: Profile, layout: RowLayout) -> Vec<u32> {
        shapes(profile, layout, 3).iter().map(record_bytes).collect()
    }

    #[test]
    fn records_have_the_widths_of_the_published_tables() {
        let of = |profile| records(profile, RowLayout::of(profile));
        assert_eq!(of(Profile::Python2009), [47, 17, 21, 26]);
        assert_eq!(of(Profile::Unrounded), [47, 17, 21, 26]);
        assert_eq!(of(Profile::Layout2017), [64, 21, 25, 27]);
        assert_eq!(of(Profile::Layout2023), [64, 25, 25, 27]);

        let layout_2009 = RowLayout::of(Profile::Python2009);
        let newer_server = RowLayout { datetime_bytes: 5, ..layout_2009 };
        assert_eq!(records(Profile::Python2009, newer_server), [44, 17, 21, 23]);
        let with_data = RowLayout { data_bytes: 10, ..layout_2009 };
        assert_eq!(records(Profile::Python2009, with_data), [58, 17, 21, 26]);
    }

    #[test]
    fn records_have_the_widths_measured_in_mariadb_10_11() {
        let measured = RowLayout { key_bytes: 8, datetime_bytes: 5, price_bytes: 4, data_bytes: 0 };
        assert_eq!(records(Profile::Python2009, measured), [48, 21, 25, 27]);
    }

    /// Keys and rows as the dictionaries of a fractal tree library were measured.
    #[test]
    fn a_price_may_be_a_double() {
        let layout =
            RowLayout { key_bytes: 8, price_bytes: 8, ..RowLayout::of(Profile::Unrounded) };
        let bytes =
            shapes(Profile::Unrounded, layout, 3).into_iter().map(|shape| shape.entry_bytes);
        assert_eq!(bytes.collect::<Vec<_>>(), [36, 20, 24, 28]);
    }

    /// Of rows apart, by the formats of `MyISAM`: 4 + 6, 8 + 6, 12 + 6, and 16 + 6 with a byte
    /// that says whether the date is null.
    #[test]
    fn entries_that_point_to_rows_have_no_primary_key() {
        let table = shapes(Profile::Python2009, RowLayout::of(Profile::Python2009), 3);
        let bytes = |shape: &IndexShape| shape.nullable_columns.div_ceil(8) + shape.entry_bytes;
        let entries = pointing(table, 6);
        assert_eq!(entries.iter().map(bytes).collect::<Vec<_>>(), [10, 14, 18, 23]);
    }

    #[test]
    fn indexes_come_in_the_order_of_their_numbers() {
        let layout = RowLayout::of(Profile::Python2009);
        let names = |n| {
            let of = |shape: IndexShape| shape.name;
            shapes(Profile::Python2009, layout, n).into_iter().map(of).collect::<Vec<_>>()
        };
        assert_eq!(names(0), ["PRIMARY"]);
        assert_eq!(names(2), ["PRIMARY", "marketsegment", "registersegment"]);
        assert_eq!(names(3), ["PRIMARY", "marketsegment", "registersegment", "pdc"]);
    }
}
