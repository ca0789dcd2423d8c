//! Where do the keys of the purchases table come from? From its columns, wherever these come from.

use index::{IndexId, Key, KeySource, RowId};

use super::columns::Columns;
use super::error::SpecError;
use super::packing::Packing;
use super::profile::Domain;

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
}

impl<C: ColumnSource> Purchases<C> {
    /// The stream with the columns of `source`, which all lie in `domain`.
    ///
    /// # Errors
    /// The columns of an index need more bits than a key has.
    pub(super) fn from_columns(source: C, domain: Domain) -> Result<Self, SpecError> {
        Ok(Self { source, packing: Packing::new(&domain)?, domain })
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
}

impl<C: ColumnSource> KeySource for Purchases<C> {
    #[inline]
    fn key(&self, index: IndexId, row: RowId) -> Key {
        match index {
            IndexId::PRIMARY => self.packing.primary(row),
            _ => self.packing.secondary(index, row, &self.source.columns(row)),
        }
    }

    #[inline]
    fn keys(&self, row: RowId, keys: &mut [Key]) {
        match keys {
            [primary] => *primary = self.packing.primary(row),
            _ => self.packing.keys(row, &self.source.columns(row), keys),
        }
    }

    fn lower_bound(&self, index: IndexId, row: RowId, columns: u32) -> Key {
        self.packing.lower_bound(index, row, &self.source.constants(row), columns)
    }
}
