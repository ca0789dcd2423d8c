//! The insert benchmark's key stream.

use super::columns::{Divisor, Draws, Generator, PriceRule};
use super::error::SpecError;
use super::profile::{Domain, Limits, Profile, ROWS_ALLOWED, ROWS_MAX};
use super::purchases::Purchases;

/// What a stream of the insert benchmark is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IiBenchSpec {
    /// The version of the benchmark.
    pub profile: Profile,
    /// The seed; streams of different seeds have nothing in common.
    pub seed: u64,
    /// How columns are drawn.
    pub draws: Draws,
    /// Rows of the stream.
    pub rows: u64,
    /// Rows that share a statement and so a `dateandtime`.
    pub rows_per_statement: u64,
    /// Number of cash registers.
    pub cash_registers: u32,
    /// Number of products.
    pub products: u32,
    /// Number of customers.
    pub customers: u32,
    /// The random part of the price is below this many cents (whole money where prices are whole).
    pub max_price: u32,
    /// Rounded prices only: the rounding step in cents (whole money where prices are whole), a
    /// power of two. 1 as published; a run at scale 1/128 takes 128, which keeps the rows per
    /// price. Prices that are not rounded stay as they are.
    pub price_step: u32,
}

impl IiBenchSpec {
    /// A stream with the sizes that all published versions have by default: 1,000 cash registers,
    /// 10,000 products, 100,000 customers, `max_price` 500 and 1,000 rows per statement.
    ///
    /// Source: iibench.py and iibench-mysql, command line defaults.
    pub const fn published(profile: Profile, seed: u64, rows: u64) -> Self {
        Self {
            profile,
            seed,
            draws: Draws::Multiplied,
            rows,
            rows_per_statement: 1_000,
            cash_registers: 1_000,
            products: 10_000,
            customers: 100_000,
            max_price: 500,
            price_step: 1,
        }
    }

    fn check(&self) -> Result<(), SpecError> {
        let check = |name, value, max: u64, allowed| {
            if (1..=max).contains(&value) {
                Ok(())
            } else {
                Err(SpecError::OutOfRange { name, value, allowed })
            }
        };
        check("rows", self.rows, ROWS_MAX, ROWS_ALLOWED)?;
        check("rows_per_statement", self.rows_per_statement, 1 << 20, "1 to 2^20")?;
        check("cash_registers", self.cash_registers.into(), 1 << 30, "1 to 2^30")?;
        check("products", self.products.into(), 1 << 30, "1 to 2^30")?;
        check("customers", self.customers.into(), 1 << 30, "1 to 2^30")?;
        check("max_price", self.max_price.into(), 1_000, "1 to 1000")?;
        let (name, allowed) = ("price_step", "powers of two from 1 to 1024");
        check(name, self.price_step.into(), 1_024, allowed)?;
        if !self.price_step.is_power_of_two() {
            return Err(SpecError::OutOfRange { name, value: self.price_step.into(), allowed });
        }
        Ok(())
    }

    fn price_rule(&self) -> PriceRule {
        let max_price = self.max_price;
        let step_log2 = self.price_step.trailing_zeros();
        match self.profile {
            Profile::Python2009 | Profile::Layout2017 => PriceRule::Cents { max_price, step_log2 },
            Profile::Unrounded => PriceRule::Float { max_price },
            Profile::Layout2023 => PriceRule::Whole { max_price, step_log2 },
        }
    }
}

/// The key stream of the insert benchmark.
pub type IiBench = Purchases<Generator>;

impl Purchases<Generator> {
    /// The stream a spec describes.
    ///
    /// # Errors
    /// A number of the spec is outside of its range, or its keys do not fit.
    pub fn new(spec: &IiBenchSpec) -> Result<Self, SpecError> {
        spec.check()?;
        let price = spec.price_rule();
        let domain = Domain {
            profile: spec.profile,
            rows: spec.rows,
            price_step: if spec.profile == Profile::Unrounded { 1 } else { spec.price_step },
            limits: Limits {
                cash_register: spec.cash_registers.into(),
                product: spec.products.into(),
                customer: spec.customers.into(),
                price: price.limit(spec.customers),
                batch: spec.rows.div_ceil(spec.rows_per_statement),
            },
            price_spread: matches!(price, PriceRule::Cents { .. }).then_some(spec.max_price),
        };
        let generator = Generator {
            seed: spec.seed,
            draws: spec.draws,
            cash_registers: spec.cash_registers,
            products: spec.products,
            customers: spec.customers,
            price,
            statement: Divisor::new(spec.rows_per_statement),
        };
        Self::from_columns(generator, domain)
    }
}
