//! What can be wrong with a scenario: one message each, with place, key, value and what is allowed.

use std::fmt;

use thiserror::Error;

/// Why a scenario was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{place}{problem}")]
pub struct ScenarioError {
    place: Place,
    problem: Box<Problem>,
}

impl ScenarioError {
    pub(crate) fn new(place: Place, problem: Problem) -> Self {
        Self { place, problem: Box::new(problem) }
    }

    /// Where it is wrong.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// What is wrong.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A scenario file as a whole, or a line of it.
    File {
        /// The file as the reader can find it.
        file: String,
        /// The line, counted from 1.
        line: Option<usize>,
    },
    /// A `--set` of the command line.
    Set,
    /// The `--scale` of the command line.
    Scale,
    /// The name of a scenario, which was not found.
    Name,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { file, line: Some(line) } => write!(f, "{file}:{line}: "),
            Self::File { file, line: None } => write!(f, "{file}: "),
            Self::Set => write!(f, "--set: "),
            Self::Scale => write!(f, "--scale: "),
            Self::Name => Ok(()),
        }
    }
}

/// What is wrong. Values are as written, with their quotes.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "each variant's message says what its fields are")]
pub enum Problem {
    // The file.
    /// No such file.
    #[error("no such file")]
    NoSuchFile,
    /// The system refuses to read it.
    #[error("cannot be read: {reason}")]
    Unreadable { reason: String },
    /// A folder stands where a file is expected.
    #[error("is a directory; expected a scenario file, such as one of sim-configs/experiments")]
    Directory,
    /// Longer than any scenario.
    #[error("is longer than {limit_kib} KiB: not a scenario file")]
    TooLong { limit_kib: u64 },
    /// Not text.
    #[error("is not text (byte {byte} is not UTF-8): not a scenario file")]
    NotText { byte: usize },
    /// No key in it.
    #[error("is empty: a scenario sets at least one key (see docs/scenarios.md)")]
    Empty,
    /// A study stands where a scenario is expected.
    #[error("is a study, not a scenario; `iisim sweep {name}` runs it")]
    IsStudy { name: String },
    /// A scenario stands where a study is expected.
    #[error(
        "is no study: it has no table [study] (see docs/studies.md); `iisim run {name}` runs a \
         scenario"
    )]
    IsNoStudy { name: String },
    /// Not TOML.
    #[error("not TOML: {message}")]
    Syntax { message: String },

    // Names of scenarios.
    /// A name that no file has.
    #[error("{name}: no such {what}{}; there are: {}", did_you_mean(.suggestion.as_ref()), .known.join(", "))]
    UnknownName { name: String, what: &'static str, suggestion: Option<String>, known: Vec<String> },
    /// A file that is used and cannot be read.
    #[error("use: {file}: {problem}")]
    Used { file: String, problem: Box<Problem> },
    /// Files that use each other.
    #[error("use: a circle: {}", .chain.join(" uses "))]
    Cycle { chain: Vec<String> },

    // Keys.
    /// A key that no parameter has.
    #[error("{key}: unknown key{}", did_you_mean(.suggestion.as_ref()))]
    UnknownKey { key: String, suggestion: Option<String> },
    /// A key or a name given twice.
    #[error("{key}: given twice")]
    Duplicate { key: String },
    /// A key that must be given is not.
    #[error("{key}: missing ({doc}); expected {expected}{}", also_missing(.also))]
    Missing { key: String, expected: String, doc: &'static str, also: Vec<String> },
    /// A key of another kind of thing.
    #[error("{key} = {value}: has no effect: it belongs to {belongs}, and {kind}")]
    NoEffect { key: String, value: String, belongs: String, kind: String },
    /// A `--set` that is no `key=value`.
    #[error("{text}: expected key=value, such as pool.size=1GiB")]
    MalformedSet { text: String },

    // Values.
    /// A value of another type.
    #[error("{key} = {value}: {found}; expected {expected}")]
    WrongType { key: String, value: String, found: &'static str, expected: String },
    /// A quantity without a unit.
    #[error("{key} = {value}: no unit; expected {expected}")]
    MissingUnit { key: String, value: String, expected: String },
    /// A quantity with a unit of something else.
    #[error("{key} = {value}: unknown unit {unit}{}; expected {expected}", did_you_mean(.suggestion.as_ref()))]
    UnknownUnit {
        key: String,
        value: String,
        unit: String,
        suggestion: Option<String>,
        expected: String,
    },
    /// Below zero.
    #[error("{key} = {value}: negative; expected {expected}")]
    Negative { key: String, value: String, expected: String },
    /// Outside of what is allowed.
    #[error("{key} = {value}: out of range; expected {expected}")]
    OutOfRange { key: String, value: String, expected: String },
    /// A word that is no choice.
    #[error("{key} = {value}: unknown choice{}; expected {expected}", did_you_mean(.suggestion.as_ref()))]
    UnknownChoice { key: String, value: String, suggestion: Option<String>, expected: String },
    /// A value that does not go with another.
    #[error("{key} = {value}: {reason}")]
    Conflict { key: String, value: String, reason: String },

    // Scale.
    /// Not a scale.
    #[error("\"{text}\": {why}")]
    MalformedScale { text: String, why: &'static str },
    /// A scale that this experiment cannot have.
    #[error("{scale}: {reason}")]
    ScaleRefused { scale: String, reason: String },
}

impl Problem {
    /// The key of which it is, if it is of one.
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::UnknownKey { key, .. }
            | Self::Duplicate { key }
            | Self::Missing { key, .. }
            | Self::NoEffect { key, .. }
            | Self::WrongType { key, .. }
            | Self::MissingUnit { key, .. }
            | Self::UnknownUnit { key, .. }
            | Self::Negative { key, .. }
            | Self::OutOfRange { key, .. }
            | Self::UnknownChoice { key, .. }
            | Self::Conflict { key, .. } => Some(key),
            _ => None,
        }
    }
}

fn did_you_mean(suggestion: Option<&String>) -> String {
    suggestion.map_or_else(String::new, |word| format!(" (did you mean {word}?)"))
}

fn also_missing(keys: &[String]) -> String {
    if keys.is_empty() { String::new() } else { format!("; also missing: {}", keys.join(", ")) }
}

/// The word of `known` nearest to `word`, if one is near enough to be what was meant.
pub(crate) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    const NEAR_ENOUGH: f64 = 0.6;
    // The first of equals is kept: names are listed in a fixed order.
    let mut best: Option<(f64, &str)> = None;
    for candidate in known {
        let likeness = strsim::normalized_damerau_levenshtein(word, candidate);
        if NEAR_ENOUGH <= likeness && best.is_none_or(|(found, _)| found < likeness) {
            best = Some((likeness, candidate));
        }
    }
    best.map(|(_, candidate)| candidate.to_owned())
}
