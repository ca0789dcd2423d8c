//! What can be wrong with a stream that was asked for?

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// A stream that cannot be built.
#[derive(Debug, Error)]
pub enum StreamError {
    /// The numbers of a generated stream do not go together.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The file of a recorded stream is no good.
    #[error(transparent)]
    Recorded(#[from] RecordedError),
}

/// A generated stream that cannot be: a number outside of its range, or keys that do not fit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpecError {
    /// A number is outside of its range.
    #[error("{name} = {value}: allowed are {allowed}")]
    OutOfRange {
        /// The name of the number.
        name: &'static str,
        /// Its value.
        value: u64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// Columns of an index need more bits than there are in a key.
    #[error(
        "keys of {index}: {columns} need {bits} bits, allowed are 63; \
         fewer rows, customers or prices need less"
    )]
    KeyTooWide {
        /// The name of the index.
        index: &'static str,
        /// Which of its columns.
        columns: &'static str,
        /// The bits they need.
        bits: u32,
    },
}

/// A file that is no recording, or not the one that a run needs.
#[derive(Debug, Error)]
#[error("{}: {problem}", file.display())]
pub struct RecordedError {
    /// The file.
    pub file: PathBuf,
    /// What is wrong with it.
    pub problem: RecordedProblem,
}

/// What can be wrong with the file of a recording.
#[derive(Debug, Error)]
pub enum RecordedProblem {
    /// It cannot be opened or mapped.
    #[error("cannot read the recording: {0}")]
    Unreadable(io::Error),
    /// It is a directory, a pipe or a device.
    #[error("not a regular file, as a recording is")]
    NotAFile,
    /// It has no bytes.
    #[error("the file is empty; a recording starts with a header of 80 bytes")]
    Empty,
    /// It is something else.
    #[error("not a recording: it does not start with the word iisimrow")]
    WrongMagic,
    /// It is of another version of the format.
    #[error("format version {found}; this program reads version {supported}")]
    WrongVersion {
        /// Its version.
        found: u32,
        /// The version that can be read.
        supported: u32,
    },
    /// A number in its header is outside of its range.
    #[error("bad header: {name} is {value}, allowed are {allowed}")]
    BadHeader {
        /// What the number is.
        name: &'static str,
        /// Its value.
        value: u64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// Its columns are too wide for a key.
    #[error(transparent)]
    BadKeys(SpecError),
    /// It is shorter or longer than its header says.
    #[error("{found} bytes long, its header says {expected}: cut off or damaged")]
    WrongLength {
        /// Its length in bytes.
        found: u64,
        /// The length its header implies.
        expected: u64,
    },
    /// It is good but too short for the run.
    #[error("holds {found} rows, the workload needs {needed}: record more or set fewer")]
    TooFewRows {
        /// Its rows.
        found: u64,
        /// Rows the run needs.
        needed: u64,
    },
    /// A value does not fit in the width that its column has in keys.
    #[error("row {row}: {column} is {value}, the header allows 0 to {max}")]
    ValueOutOfRange {
        /// The row, counted from 0.
        row: u64,
        /// The column.
        column: &'static str,
        /// The value.
        value: u64,
        /// The largest value the header allows.
        max: u64,
    },
}
