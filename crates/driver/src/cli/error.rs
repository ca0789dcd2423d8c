//! What can go wrong on the command line: one message each.

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use cost_model::Bytes;
use driver::baseline::BaselineError;
use driver::claims::ClaimError;
use driver::run::RunError;
use driver::scenario::{Problem, Scale, ScenarioError};
use driver::sweep::JournalError;
use driver::workload::{ListedError, StreamError};
use thiserror::Error;

/// Why the program ends without a result.
#[derive(Debug, Error)]
pub(super) enum CliError {
    /// A scenario that is refused.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// An option with a value that is not allowed.
    #[error(transparent)]
    Option(#[from] Problem),
    /// A range of rows that is none.
    #[error(
        "--rows {text}: expected FROM..TO with FROM below TO, rows counted from 0 and TO left out, \
         such as 0..10"
    )]
    Rows {
        /// As given.
        text: String,
    },
    /// A range of rows that the stream does not have.
    #[error("--rows {text}: the stream has rows 0..{rows}")]
    NoSuchRows {
        /// As given.
        text: String,
        /// Rows of the stream.
        rows: u64,
    },
    /// A place that a run does not reach.
    #[error("--at {at}: the last row that can be followed is {last} (at full scale)")]
    AtTooFar {
        /// Row at full scale, as given.
        at: u64,
        /// The last one possible.
        last: u64,
    },
    /// A key stream that cannot be opened.
    #[error("{name}: {error}")]
    Stream {
        /// Name of the scenario.
        name: String,
        /// What is wrong with it.
        error: StreamError,
    },
    /// A list of purchases that is none.
    #[error("{}: {error}", path.display())]
    List {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: ListedError,
    },
    /// A run that cannot begin.
    #[error("{name}: {error}")]
    Run {
        /// Name of the scenario.
        name: String,
        /// What is wrong with it.
        error: RunError,
    },
    /// A run that needs more memory than there is.
    #[error(
        "{name}: the simulation needs {needed} of memory, {available} are available; {}",
        advice(*.fits)
    )]
    Memory {
        /// Name of the scenario.
        name: String,
        /// What the run needs.
        needed: Bytes,
        /// What this machine has to give.
        available: Bytes,
        /// The largest scale that needs no more.
        fits: Option<Scale>,
    },
    /// Two results that would have the same files.
    #[error("--out: two scenarios are called {name}: their files would overwrite each other")]
    SameName {
        /// The name.
        name: String,
    },
    /// A file that cannot be written.
    #[error("{}: cannot be written: {error}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// Claims that are refused.
    #[error(transparent)]
    Claims(#[from] ClaimError),
    /// A baseline that is refused.
    #[error(transparent)]
    Baseline(#[from] BaselineError),
    /// A sweep whose folder is refused.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The program does not know itself.
    #[error(
        "the executable cannot be read, so results cannot be told from those of another build: {0}"
    )]
    Program(io::Error),
    /// Results that cannot be written.
    #[error("the result cannot be written: {0}")]
    Stdout(io::Error),
    /// The system gives no threads or signals.
    #[error("the run cannot be started: {0}")]
    Start(io::Error),
}

impl CliError {
    /// Whether the reader of stdout has seen enough.
    pub(super) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Stdout(error) if error.kind() == ErrorKind::BrokenPipe)
    }
}

fn advice(fits: Option<Scale>) -> String {
    match fits {
        Some(scale) => format!("--scale {scale} would fit"),
        None => "no scale of this scenario would fit".to_owned(),
    }
}
