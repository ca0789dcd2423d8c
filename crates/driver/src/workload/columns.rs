//! What columns does a row have? A counter-based hash of (seed, row, column) says so.

use index::RowId;

use super::purchases::ColumnSource;

/// The columns of a purchase as numbers that keep their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns {
    /// `cashregisterid`.
    pub cash_register: u32,
    /// `productid`.
    pub product: u32,
    /// `customerid`.
    pub customer: u32,
    /// `price` in the unit of its [`Domain`](super::Domain): cents, steps of several cents, the
    /// bits of a float, or whole money.
    pub price: u32,
    /// The statement that inserted the row, counted from 0: `dateandtime` in its place, because
    /// all rows of a statement share one time and later statements have later times.
    pub batch: u64,
}

/// 2^64 divided by the golden ratio: the step of splitmix64.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// How columns are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draws {
    /// Four positions of the hash a row, made numbers below n by a multiplication: the measured
    /// reference runs of `MariaDB` and `MySQL`.
    Multiplied,
    /// Eight positions a row, made numbers below n by the remainder of a division: the measured
    /// reference runs of a fractal tree library.
    Remainder,
}

impl Draws {
    /// Positions of the hash that a row has.
    #[inline]
    const fn positions(self) -> u64 {
        match self {
            Self::Multiplied => 4,
            Self::Remainder => 8,
        }
    }

    #[inline]
    const fn below(self, bits: u64, n: u32) -> u32 {
        match self {
            Self::Multiplied => below(bits, n),
            Self::Remainder => (bits % n as u64) as u32,
        }
    }
}

/// 64 random bits for each of four columns (0 to 3) of a row.
#[inline]
pub fn hash(seed: u64, row: RowId, column: u64) -> u64 {
    hash_at(seed, row.0.wrapping_mul(Draws::Multiplied.positions()).wrapping_add(column))
}

/// 64 random bits: splitmix64 at `position + 1`.
#[inline]
fn hash_at(seed: u64, position: u64) -> u64 {
    let position = position.wrapping_add(1);
    let z = seed.wrapping_add(position.wrapping_mul(STEP));
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Maps 64 random bits to 0..n by multiplication of their upper half.
#[inline]
pub const fn below(bits: u64, n: u32) -> u32 {
    (((bits >> 32) * n as u64) >> 32) as u32
}

/// Columns drawn from the hash.
#[derive(Clone, Debug)]
pub struct Generator {
    pub(super) seed: u64,
    pub(super) draws: Draws,
    pub(super) cash_registers: u32,
    pub(super) products: u32,
    pub(super) customers: u32,
    pub(super) price: PriceRule,
    pub(super) statement: Divisor,
}

impl ColumnSource for Generator {
    #[inline]
    fn columns(&self, row: RowId) -> Columns {
        let first = row.0.wrapping_mul(self.draws.positions());
        let bits = |column| hash_at(self.seed, first.wrapping_add(column));
        let customer = self.draws.below(bits(2), self.customers);
        Columns {
            cash_register: self.draws.below(bits(0), self.cash_registers),
            product: self.draws.below(bits(1), self.products),
            customer,
            price: self.price.of(self.draws, bits(3), customer),
            batch: self.statement.quotient(row.0),
        }
    }
}

/// How the price follows from 64 random bits and the customer.
#[derive(Clone, Debug)]
pub(super) enum PriceRule {
    /// (u * `max_price` + customer) cents, u in [0, 1), rounded to steps of 2^`step_log2` cents.
    Cents { max_price: u32, step_log2: u32 },
    /// The same in money, as the order-preserving bits of the nearest `f32`.
    Float { max_price: u32 },
    /// Whole money below `max_price`, cut to steps of 2^`step_log2`.
    Whole { max_price: u32, step_log2: u32 },
}

impl PriceRule {
    #[inline]
    pub(super) fn of(&self, draws: Draws, bits: u64, customer: u32) -> u32 {
        match *self {
            Self::Cents { max_price, step_log2 } => {
                cents(bits >> 11, customer, max_price, step_log2)
            }
            Self::Float { max_price } => {
                let unit = (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64);
                let price = (unit * f64::from(max_price) + f64::from(customer)) / 100.0;
                (price as f32).to_bits()
            }
            Self::Whole { max_price, step_log2 } => draws.below(bits, max_price) >> step_log2,
        }
    }

    /// One more than the largest price of `customers` customers.
    pub(super) fn limit(&self, customers: u32) -> u64 {
        u64::from(self.of(Draws::Multiplied, u64::MAX, customers - 1)) + 1
    }
}

/// The exact value of floor((m / 2^53 * `max_price` + customer) / step + 1/2) in integers.
///
/// Both terms fit: m < 2^53, `max_price` < 2^10 and step <= 2^10 are checked with the spec.
#[inline]
fn cents(m: u64, customer: u32, max_price: u32, step_log2: u32) -> u32 {
    let half_step = 1 << (52 + step_log2);
    ((u64::from(customer) + ((m * u64::from(max_price) + half_step) >> 53)) >> step_log2) as u32
}

/// Division by a number that is known once per run: a multiplication per row.
///
/// With multiplier = ceil(2^63 / divisor) the quotient is exact as long as
/// dividend * divisor <= 2^63, which the spec guarantees.
#[derive(Clone, Debug)]
pub(super) struct Divisor {
    multiplier: u64,
}

impl Divisor {
    pub(super) fn new(divisor: u64) -> Self {
        Self { multiplier: (1u64 << 63).div_ceil(divisor) }
    }

    #[inline]
    pub(super) fn quotient(&self, dividend: u64) -> u64 {
        ((u128::from(dividend) * u128::from(self.multiplier)) >> 63) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotient_equals_division() {
        for divisor in [1, 2, 3, 5, 7, 50, 250, 1000, 1023, 1 << 20] {
            let by = Divisor::new(divisor);
            for i in 0..10_000 {
                let dividend = hash(7, RowId(i), 0) >> 24;
                for n in [i, dividend, dividend / divisor * divisor, (1 << 40) - 1 - i] {
                    assert_eq!(by.quotient(n), n / divisor, "{n} / {divisor}");
                }
            }
        }
    }

    #[test]
    fn integer_cents_equal_the_printed_price() {
        for i in 0..200_000 {
            let row = RowId(i);
            let customer = below(hash(42, row, 2), 100_000);
            let bits = hash(42, row, 3);
            let unit = (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64);
            let printed = format!("{:.2}", (unit * 500.0 + f64::from(customer)) / 100.0);
            let cents = cents(bits >> 11, customer, 500, 0);
            assert_eq!(printed, format!("{}.{:02}", cents / 100, cents % 100), "row {i}");
        }
    }

    #[test]
    fn wider_steps_round_the_exact_price() {
        for i in 0..10_000 {
            let row = RowId(i);
            let customer = below(hash(1, row, 2), 100_000);
            let m = hash(1, row, 3) >> 11;
            let exact = u128::from(m) * 500 + (u128::from(customer) << 53);
            for step_log2 in 0..=10 {
                let unit = 1u128 << (53 + step_log2);
                let nearest = (exact + unit / 2) / unit;
                assert_eq!(u128::from(cents(m, customer, 500, step_log2)), nearest, "row {i}");
            }
        }
    }
}
