//! Workloads: key streams that are pure functions of the row number.
//!
//! [`IiBench`] draws its columns from a counter-based hash, [`Recorded`] reads them from a
//! memory-mapped file, [`Micro`] computes the key of a two-column table. Each is a
//! [`KeySource`](index::KeySource) of its own type, so that an engine is compiled for it and
//! computes keys without a call. [`StreamSpec`] names one of them, [`StreamSpec::open`] builds it.
//!
//! ```
//! use driver::workload::{IiBench, IiBenchSpec, Profile};
//! use index::{IndexId, KeySource, RowId};
//!
//! let stream = IiBench::new(&IiBenchSpec::published(Profile::Python2009, 42, 1_000_000))?;
//! let row = RowId(0);
//! assert_eq!(stream.columns(row).price, 28_032, "the first row costs 280.32");
//! let pdc = IndexId(3);
//! assert!(stream.lower_bound(pdc, row, 1) <= stream.key(pdc, row));
//! # Ok::<(), driver::workload::SpecError>(())
//! ```

mod columns;
mod csv;
mod error;
mod iibench;
mod layout;
mod listed;
mod micro;
mod packing;
mod profile;
mod purchases;
mod recorded;
mod stored;

use std::path::PathBuf;

pub use columns::{Columns, Draws, Generator, below, hash};
pub use csv::{PrintRow, write_rows};
pub use error::{RecordedError, RecordedProblem, SpecError, StreamError};
pub use iibench::{IiBench, IiBenchSpec};
pub(crate) use layout::price_column;
pub use layout::{RowLayout, pointing, shapes};
pub use listed::{Listed, ListedError, ListedProblem};
pub use micro::{MICRO_ROW_BYTES, Micro, MicroOrder, MicroSpec, micro_shapes};
pub use profile::{Domain, Limits, Profile};
pub use purchases::{ColumnSource, Purchases};
pub use recorded::{Recorded, Recording, record};

/// Which key stream a run replays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamSpec {
    /// The insert benchmark's table of purchases.
    IiBench(IiBenchSpec),
    /// A table of a primary key and one indexed number.
    Micro(MicroSpec),
    /// Purchases recorded in a file.
    Recorded {
        /// The file.
        file: PathBuf,
        /// Rows the run needs.
        rows: u64,
    },
}

/// An open key stream. It is no [`KeySource`](index::KeySource) itself: match on it once, outside
/// of the loop over the rows, and run an engine compiled for what it holds.
#[derive(Debug)]
pub enum Stream {
    /// See [`StreamSpec::IiBench`].
    IiBench(IiBench),
    /// See [`StreamSpec::Micro`].
    Micro(Micro),
    /// See [`StreamSpec::Recorded`].
    Recorded(Recorded),
}

impl StreamSpec {
    /// Builds the stream; a recording is mapped and checked.
    ///
    /// # Errors
    /// A number outside of its range, keys that do not fit, or a file that is no recording of
    /// enough rows.
    pub fn open(&self) -> Result<Stream, StreamError> {
        Ok(match self {
            Self::IiBench(spec) => Stream::IiBench(IiBench::new(spec)?),
            Self::Micro(spec) => Stream::Micro(Micro::new(spec)?),
            Self::Recorded { file, rows } => Stream::Recorded(Recorded::open(file, *rows)?),
        })
    }
}
