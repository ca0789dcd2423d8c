//! Where do the keys of the purchases table come from? From its columns, wherever these come from.

use index::{IndexId, Key, KeySource, RowId};

use super::columns::Columns;
use super::error::SpecError;
use super::layout::{INT, RowLayout};
use super::packing::Packing;
use super::profile::{Domain, Profile};
use super::stored::Stored;

/// Columns as a pure function of the row number.
pub trait ColumnSource {
    /// The columns of a row of the stream.
    fn columns(&self, row: RowId) -> Columns;

    /// The columns a query takes its constants from, which may be those of a row beyond the
    /// stream.
    fn constants(&self, row: RowId) -> Columns {
        self.columns(row)
    }
}

/// The key stream of the purchases table: PRIMARY, marketsegment, registersegment and pdc.
#[derive(Clone, Debug)]
pub struct Purchases<C> {
    source: C,
    packing: Packing,
    domain: Domain,
    layout: RowLayout,
    /// The number in the table of the index that is numbered 0 here.
    first: u16,
}

impl<C: ColumnSource> Purchases<C> {
    /// The stream with the columns of `source`, which all lie in `domain`.
    ///
    /// # Errors
    /// The columns of an index need more bits than a key has.
    pub(super) fn from_columns(source: C, domain: Domain) -> Result<Self, SpecError> {
        let layout = RowLayout::of(domain.profile);
        Ok(Self { source, packing: Packing::new(&domain)?, domain, layout, first: 0 })
    }

    /// The same stream in a table with other widths.
    #[must_use]
    pub fn with_layout(self, layout: RowLayout) -> Self {
        Self { layout, ..self }
    }

    /// The same stream for the table's indexes from number `first` on.
    #[must_use]
    pub fn starting_at(self, first: u16) -> Self {
        Self { first, ..self }
    }

    /// The table's index that has this number here.
    #[inline]
    fn of_table(&self, index: IndexId) -> IndexId {
        IndexId(index.0 + self.first)
    }

    /// What the columns range over.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// The columns of a row.
    #[inline]
    pub fn columns(&self, row: RowId) -> Columns {
        self.source.columns(row)
    }

    /// The leading columns of an entry as `InnoDB` stores it, with a price of 4 bytes, up to what tells it from all others.
    fn stored(&self, index: IndexId, row: RowId) -> Stored {
        let RowLayout { key_bytes, datetime_bytes, .. } = self.layout;
        let index = self.of_table(index);
        let id = |stored: Stored| stored.integer(row.0 + 1, key_bytes);
        if index == IndexId::PRIMARY {
            return id(Stored::new());
        }
        let columns = self.source.columns(row);
        let (customer, product) = (u64::from(columns.customer), u64::from(columns.product));
        let register = u64::from(columns.cash_register);
        let money = |stored: Stored| match self.domain.profile {
            Profile::Unrounded => stored.float(f32::from_bits(columns.price)),
            Profile::Layout2023 => {
                stored.integer(u64::from(columns.price) * u64::from(self.domain.price_step), INT)
            }
            Profile::Python2009 | Profile::Layout2017 => {
                let cents = u64::from(columns.price) * u64::from(self.domain.price_step);
                stored.float((cents as f64 / 100.0) as f32)
            }
        };
        let market = |stored: Stored| match self.domain.profile {
            Profile::Layout2023 => money(stored.integer(customer, INT)),
            _ => money(stored).integer(customer, INT),
        };
        let start = Stored::new();
        id(match (index.0, self.domain.profile) {
            (1, Profile::Layout2023) => market(start.integer(product, INT)),
            (1, _) => market(start),
            (2, _) => market(start.integer(register, INT)),
            _ => money(start).datetime(columns.batch, datetime_bytes).integer(customer, INT),
        })
    }
}

impl<C: ColumnSource> KeySource for Purchases<C> {
    #[inline]
    fn key(&self, index: IndexId, row: RowId) -> Key {
        match self.of_table(index) {
            IndexId::PRIMARY => self.packing.primary(row),
            index => self.packing.secondary(index, row, &self.source.columns(row)),
        }
    }

    #[inline]
    fn keys(&self, row: RowId, keys: &mut [Key]) {
        match (self.first, keys) {
            (0, [primary]) => *primary = self.packing.primary(row),
            (first, keys) => self.packing.keys(row, &self.source.columns(row), first, keys),
        }
    }

    fn lower_bound(&self, index: IndexId, row: RowId, columns: u32) -> Key {
        self.packing.lower_bound(self.of_table(index), row, &self.source.constants(row), columns)
    }

    fn upper_bound(&self, index: IndexId, row: RowId, columns: u32) -> Key {
        self.packing.upper_bound(self.of_table(index), row, &self.source.constants(row), columns)
    }

    fn shared_bytes(&self, index: IndexId, a: RowId, b: RowId) -> u32 {
        self.stored(index, a).shared_bytes(&self.stored(index, b))
    }

    fn columns(&self, index: IndexId) -> u32 {
        let leads_with_product = self.domain.profile == Profile::Layout2023;
        match self.of_table(index).0 {
            0 => 6 + u32::from(self.layout.data_bytes != 0),
            1 => 3 + u32::from(leads_with_product),
            _ => 4,
        }
    }
}
