//! Which version of the insert benchmark is it, and what values can its columns take?

/// A version of the insert benchmark that differs in what its keys look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// The Python tool of 2009 to 2012: the price is printed with two decimals, so there are
    /// about 100,500 prices and the index pdc appends at as many places.
    Python2009,
    /// The Java tools (and a variant of the C++ one): the price is a float and not rounded, so
    /// all three secondary indexes are random.
    Unrounded,
    /// The Python tool of 2017 to 2023: as 2009 with wider rows.
    Layout2017,
    /// The Python tool since December 2023: the price is a whole number below 500, the first two
    /// secondary indexes are (product, customer, price) and (register, customer, price).
    Layout2023,
}

impl Profile {
    /// All profiles; the place of one is its number in a recording.
    pub const ALL: [Self; 4] =
        [Self::Python2009, Self::Unrounded, Self::Layout2017, Self::Layout2023];

    /// The name in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Python2009 => "python-2009",
            Self::Unrounded => "unrounded",
            Self::Layout2017 => "layout-2017",
            Self::Layout2023 => "layout-2023",
        }
    }
}

/// Most rows that a stream can have.
pub(super) const ROWS_MAX: u64 = 1 << 40;

/// [`ROWS_MAX`] in messages.
pub(super) const ROWS_ALLOWED: &str = "1 to 2^40";

/// The values a stream of purchases draws from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain {
    /// The version of the benchmark, which says what a price means and what the indexes are.
    pub profile: Profile,
    /// Rows of the stream.
    pub rows: u64,
    /// Price units per step: a price of `n` stands for `n * price_step` cents, or whole money
    /// where prices are whole. 1 where prices are not rounded.
    pub price_step: u32,
    /// For each column, a number above all its values.
    pub limits: Limits,
    /// If a price is its customer's number and up to this many cents, rounded to steps: then few
    /// customers share a price, and keys that begin with the price can say so in few bits.
    pub price_spread: Option<u32>,
}

/// For each column, a number above all its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Above every cash register.
    pub cash_register: u64,
    /// Above every product.
    pub product: u64,
    /// Above every customer.
    pub customer: u64,
    /// Above every price.
    pub price: u64,
    /// Above every batch.
    pub batch: u64,
}

impl Limits {
    /// Register, product, customer, price, batch.
    pub(super) const fn in_order(&self) -> [u64; 5] {
        [self.cash_register, self.product, self.customer, self.price, self.batch]
    }

    /// The inverse of [`Self::in_order`].
    pub(super) const fn from_order(limits: [u64; 5]) -> Self {
        let [cash_register, product, customer, price, batch] = limits;
        Self { cash_register, product, customer, price, batch }
    }
}
