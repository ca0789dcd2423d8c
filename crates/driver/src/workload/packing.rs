//! How do the columns of an index become one number with their order?
//!
//! ```text
//! market    | (product) | price or customer | customer or price | row    ...0 |
//! register  | register  | price or customer | customer or price | row    ...0 |
//! pdc       | price     | batch             | customer          | row    ...0 |
//! PRIMARY   | row                                                        ...0 |
//!           ^ bit 127                                                bit 0 ^
//! ```
//!
//! Each column is as wide as its largest value, so the top 64 bits, on which searches interpolate,
//! hold as much of the key as possible.

use index::{IndexId, Key, RowId};

use super::columns::Columns;
use super::error::SpecError;
use super::profile::{Domain, Profile};

/// Bits that fit in each of the two words of a key.
const MAX_BITS: u32 = 63;

/// Bits and places of the columns in the keys of all indexes.
#[derive(Clone, Debug)]
pub(super) struct Packing {
    /// Since 2023 the customer comes before the price, and the product leads marketsegment.
    customer_first: bool,
    rows: u64,
    batch_max: u64,
    row_shift: u32,
    /// What a customer's number is made relative to where it follows the price: this many less
    /// than the price's own steps, in steps of 2^n cents.
    relative: Option<Relative>,
    customer_shift: u32,
    customer_row_shift: u32,
    market: Head,
    register: Head,
    pdc: Head,
    /// Per index: bits of its first 0, 1, 2 … columns, the primary key being the last.
    prefix_bits: [Vec<u32>; 4],
}

/// Customers of one price are neighbours: their numbers are counted from the first possible one.
#[derive(Clone, Copy, Debug)]
struct Relative {
    reach: u32,
    step_log2: u32,
}

impl Relative {
    /// A price of p steps belongs to customers from p * step - spread - step / 2 on and below
    /// (p + 1) * step.
    fn new(spread: u32, step: u32) -> Self {
        Self { reach: spread + step, step_log2: step.trailing_zeros() }
    }

    /// Above every relative number.
    fn limit(self) -> u64 {
        u64::from(self.reach) + (1 << self.step_log2)
    }

    #[inline]
    fn of(self, customer: u32, price: u32) -> u64 {
        u64::from(customer + self.reach - (price << self.step_log2))
    }
}

/// The columns that lie in the top word of a key: a shift for each, and their bits together.
#[derive(Clone, Debug)]
struct Head {
    shifts: [u32; 3],
    bits: u32,
}

impl Packing {
    /// Lays out the keys of a stream.
    ///
    /// # Errors
    /// The columns of an index need more bits than a key has.
    pub(super) fn new(domain: &Domain) -> Result<Self, SpecError> {
        let customer_first = domain.profile == Profile::Layout2023;
        let [register, product, customer, price, batch] =
            domain.limits.in_order().map(|limit| bits(limit - 1));
        // The number after the last row is a place to end a scan at.
        let row = bits(domain.rows);

        if MAX_BITS < customer + row {
            let (index, columns) = ("pdc", "customer and row");
            return Err(SpecError::KeyTooWide { index, columns, bits: customer + row });
        }
        let product = if customer_first { product } else { 0 };
        let spread = domain.price_spread.filter(|_| !customer_first);
        let relative = spread.map(|spread| Relative::new(spread, domain.price_step));
        let behind_price = relative.map_or(customer, |relative| bits(relative.limit() - 1));
        let [first, second] =
            if customer_first { [customer, price] } else { [price, behind_price] };
        let mut market_columns = vec![product, first, second, row];
        market_columns.retain(|&bits| bits != 0);
        Ok(Self {
            customer_first,
            rows: domain.rows,
            batch_max: domain.limits.batch - 1,
            row_shift: 64 - row,
            relative,
            customer_shift: 64 - customer,
            customer_row_shift: 64 - customer - row,
            market: Head::new("marketsegment", "customer and price", [product, first, second])?,
            register: Head::new(
                "registersegment",
                "register, customer and price",
                [register, first, second],
            )?,
            pdc: Head::new("pdc", "price and batch", [price, batch, 0])?,
            prefix_bits: [
                prefix_sums(&[row]),
                prefix_sums(&market_columns),
                prefix_sums(&[register, first, second, row]),
                prefix_sums(&[price, batch, customer, row]),
            ],
        })
    }

    #[inline]
    pub(super) fn primary(&self, row: RowId) -> Key {
        key(row.0 << self.row_shift, 0)
    }

    /// The key of a row in a secondary index (1 to 3) from the row's columns.
    #[inline]
    pub(super) fn secondary(&self, index: IndexId, row: RowId, columns: &Columns) -> Key {
        debug_assert!(row.0 <= self.rows && columns.batch <= self.batch_max, "{row:?} is too far");
        match index.0 {
            1 => self.market(row, columns),
            2 => self.register(row, columns),
            3 => self.pdc(row, columns),
            _ => unreachable!("the purchases table has three secondary indexes, not {index:?}"),
        }
    }

    /// The keys of a row in `keys.len()` indexes from the `first` on.
    #[inline]
    pub(super) fn keys(&self, row: RowId, columns: &Columns, first: u16, keys: &mut [Key]) {
        for (index, key) in (first..).zip(keys) {
            *key = match index {
                0 => self.primary(row),
                _ => self.secondary(IndexId(index), row, columns),
            };
        }
    }

    /// The smallest key with the values `columns` and `row` in the first `count` columns of an
    /// index. Rows beyond the stream, whose values a query may use as its constants, count as the
    /// end of the stream.
    pub(super) fn lower_bound(
        &self,
        index: IndexId,
        row: RowId,
        columns: &Columns,
        count: u32,
    ) -> Key {
        Key(self.key_of_constants(index, row, columns).0 & !self.behind(index, count))
    }

    /// The largest key with these values.
    pub(super) fn upper_bound(
        &self,
        index: IndexId,
        row: RowId,
        columns: &Columns,
        count: u32,
    ) -> Key {
        Key(self.key_of_constants(index, row, columns).0 | self.behind(index, count))
    }

    fn key_of_constants(&self, index: IndexId, row: RowId, columns: &Columns) -> Key {
        let row = RowId(row.0.min(self.rows));
        let columns = Columns { batch: columns.batch.min(self.batch_max), ..*columns };
        match index {
            IndexId::PRIMARY => self.primary(row),
            _ => self.secondary(index, row, &columns),
        }
    }

    /// The bits behind the first `count` columns of an index.
    fn behind(&self, index: IndexId, count: u32) -> u128 {
        let prefix_bits = &self.prefix_bits[index.index()];
        let bits = prefix_bits[prefix_bits.len().min(count as usize + 1) - 1];
        u128::MAX.checked_shr(bits).unwrap_or(0)
    }

    #[inline]
    fn market(&self, row: RowId, columns: &Columns) -> Key {
        let product = if self.customer_first { columns.product } else { 0 };
        let [first, second] = self.customer_and_price(columns);
        self.market.key([product.into(), first, second], row.0 << self.row_shift)
    }

    #[inline]
    fn register(&self, row: RowId, columns: &Columns) -> Key {
        let [first, second] = self.customer_and_price(columns);
        self.register.key([columns.cash_register.into(), first, second], row.0 << self.row_shift)
    }

    #[inline]
    fn pdc(&self, row: RowId, columns: &Columns) -> Key {
        let customer = u64::from(columns.customer) << self.customer_shift;
        let tail = customer | row.0 << self.customer_row_shift;
        self.pdc.key([columns.price.into(), columns.batch, 0], tail)
    }

    #[inline]
    fn customer_and_price(&self, columns: &Columns) -> [u64; 2] {
        let (customer, price) = (columns.customer, columns.price);
        match self.relative {
            Some(relative) => [price.into(), relative.of(customer, price)],
            None if self.customer_first => [customer.into(), price.into()],
            None => [price.into(), customer.into()],
        }
    }
}

impl Head {
    fn new(
        index: &'static str,
        columns: &'static str,
        widths: [u32; 3],
    ) -> Result<Self, SpecError> {
        let bits: u32 = widths.iter().sum();
        if MAX_BITS < bits {
            return Err(SpecError::KeyTooWide { index, columns, bits });
        }
        let mut end = 64;
        let shifts = widths.map(|width| {
            end -= width;
            end
        });
        Ok(Self { shifts, bits })
    }

    /// The columns in their places, and after them the left-aligned `tail`.
    #[inline]
    fn key(&self, columns: [u64; 3], tail: u64) -> Key {
        // A column that an index lacks has the value 0, the width 0 and perhaps the shift 64,
        // which wraps.
        let [a, b, c] = self.shifts;
        let head =
            columns[0].wrapping_shl(a) | columns[1].wrapping_shl(b) | columns[2].wrapping_shl(c);
        key(head | tail >> self.bits, tail << (64 - self.bits))
    }
}

#[inline]
const fn key(high: u64, low: u64) -> Key {
    Key((high as u128) << 64 | low as u128)
}

/// Bits that hold the numbers 0 to `max`; at least one.
pub(super) const fn bits(max: u64) -> u32 {
    if max == 0 { 1 } else { u64::BITS - max.leading_zeros() }
}

fn prefix_sums(widths: &[u32]) -> Vec<u32> {
    let mut sum = 0;
    let ends = widths.iter().map(|width| {
        sum += width;
        sum
    });
    std::iter::once(0).chain(ends).collect()
}
