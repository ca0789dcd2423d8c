//! A stream of purchases recorded in a file and mapped into memory.
//!
//! # Format, version 1
//!
//! All numbers are little-endian. A header of 80 bytes:
//!
//! | offset | bytes | field |
//! |---:|---:|---|
//! | 0 | 8 | `iisimrow` |
//! | 8 | 4 | format version: 1 |
//! | 12 | 4 | profile: its place in [`Profile::ALL`] |
//! | 16 | 8 | rows |
//! | 24 | 4 | price step (see [`Domain::price_step`]) |
//! | 28 | 5 | bytes of a value of each column: register, product, customer, price, batch; 1 to 8 |
//! | 33 | 7 | 0 |
//! | 40 | 40 | for each column a number above all its values, 8 bytes each |
//!
//! Then the rows in order, each the values of its five columns, and 8 bytes of 0 at the end, so
//! that every value can be read as eight bytes.
//!
//! A recording must not change while a run reads it: the run would see other rows, or end when
//! the file is cut.

mod header;

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use index::RowId;
use memmap2::Mmap;

use super::columns::Columns;
use super::error::{RecordedError, RecordedProblem};
use super::profile::Domain;
use super::purchases::{ColumnSource, Purchases};
use header::{HEADER_BYTES, Header, PADDING_BYTES};

/// A recorded stream.
pub type Recorded = Purchases<Recording>;

impl Purchases<Recording> {
    /// Maps a recording of which a run needs the first `rows_needed` rows, and checks all of it.
    ///
    /// # Errors
    /// The file cannot be read, is no recording of this version, is damaged, or is too short for
    /// the run.
    pub fn open(file: &Path, rows_needed: u64) -> Result<Self, RecordedError> {
        open(file, rows_needed).map_err(|problem| RecordedError { file: file.into(), problem })
    }
}

/// Columns read from a mapped file.
#[derive(Debug)]
pub struct Recording {
    map: Mmap,
    rows: u64,
    row_bytes: usize,
    fields: [Field; 5],
}

/// Where a column lies in a row.
#[derive(Clone, Copy, Debug)]
struct Field {
    offset: usize,
    mask: u64,
}

impl ColumnSource for Recording {
    #[inline]
    fn columns(&self, row: RowId) -> Columns {
        let [cash_register, product, customer, price, batch] = self.values(row);
        Columns {
            cash_register: cash_register as u32,
            product: product as u32,
            customer: customer as u32,
            price: price as u32,
            batch,
        }
    }

    /// Beyond the end the recording starts anew.
    fn constants(&self, row: RowId) -> Columns {
        self.columns(RowId(row.0 % self.rows))
    }
}

impl Recording {
    fn new(map: Mmap, header: &Header) -> Self {
        let mut end = 0;
        let fields = header.widths.map(|bytes| {
            let offset = end;
            end += usize::from(bytes);
            Field { offset, mask: u64::MAX >> (64 - 8 * u32::from(bytes)) }
        });
        Self { map, rows: header.domain.rows, row_bytes: end, fields }
    }

    /// The values of a row in the order of the file.
    #[inline]
    fn values(&self, row: RowId) -> [u64; 5] {
        assert!(row.0 < self.rows, "{row:?} is beyond the recording");
        let bytes = &self.map[HEADER_BYTES + row.0 as usize * self.row_bytes..];
        self.fields.map(|Field { offset, mask }| {
            bytes[offset..].first_chunk().map_or(0, |chunk| u64::from_le_bytes(*chunk)) & mask
        })
    }

    /// Whether every value is below the limit that the header gives: a larger one would spill
    /// into the neighbouring columns of its keys.
    fn check_values(&self, limits: [u64; 5]) -> Result<(), RecordedProblem> {
        const NAMES: [&str; 5] = ["cash register", "product", "customer", "price", "batch"];
        for row in 0..self.rows {
            let values = self.values(RowId(row));
            for ((value, limit), column) in values.into_iter().zip(limits).zip(NAMES) {
                if limit <= value {
                    let max = limit - 1;
                    return Err(RecordedProblem::ValueOutOfRange { row, column, value, max });
                }
            }
        }
        Ok(())
    }
}

fn open(file: &Path, rows_needed: u64) -> Result<Recorded, RecordedProblem> {
    let handle = File::open(file).map_err(RecordedProblem::Unreadable)?;
    let metadata = handle.metadata().map_err(RecordedProblem::Unreadable)?;
    if !metadata.is_file() {
        return Err(RecordedProblem::NotAFile);
    }
    if metadata.len() == 0 {
        return Err(RecordedProblem::Empty);
    }
    let map = map(&handle).map_err(RecordedProblem::Unreadable)?;
    let header = Header::read(&map)?;
    let recording = Recording::new(map, &header);
    let domain = header.domain;
    if domain.rows < rows_needed {
        let (found, needed) = (domain.rows, rows_needed);
        return Err(RecordedProblem::TooFewRows { found, needed });
    }
    recording.check_values(domain.limits.in_order())?;
    Purchases::from_columns(recording, domain).map_err(RecordedProblem::BadKeys)
}

/// Writes the first `rows` rows of a stream as a recording.
///
/// # Errors
/// Those of the writer; invalid input if the stream does not have that many rows, or none are
/// asked for.
pub fn record(
    out: &mut impl Write,
    stream: &Purchases<impl ColumnSource>,
    rows: u64,
) -> io::Result<()> {
    let available = stream.domain().rows;
    if !(1..=available).contains(&rows) {
        let message =
            format!("cannot record {rows} rows of a stream: allowed are 1 to {available}");
        return Err(io::Error::new(ErrorKind::InvalidInput, message));
    }
    let header = Header::new(Domain { rows, price_spread: None, ..stream.domain().clone() });
    out.write_all(&header.to_bytes())?;
    for row in 0..rows {
        let Columns { cash_register, product, customer, price, batch } = stream.columns(RowId(row));
        let values = [cash_register.into(), product.into(), customer.into(), price.into(), batch];
        for (value, width) in values.into_iter().zip(header.widths) {
            out.write_all(&u64::to_le_bytes(value)[..usize::from(width)])?;
        }
    }
    out.write_all(&[0; PADDING_BYTES])?;
    out.flush()
}

#[expect(unsafe_code, reason = "a recording may be larger than memory, so it has to be mapped")]
fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the mapping is read-only, and the documentation of the format asks that the file
    // stay unchanged while it is mapped.
    unsafe { Mmap::map(file) }
}

#[cfg(test)]
mod tests;
