//! What can be wrong with a file of claims.

use std::ops::Range;

use thiserror::Error;

/// Why the claims were refused: one message with file, line and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{place}: {message}")]
pub struct ClaimError {
    place: String,
    message: String,
}

impl ClaimError {
    /// Something wrong with the part of `text` that `span` covers.
    pub(super) fn at(file: &str, text: &str, span: Range<usize>, message: String) -> Self {
        let before = text.get(..span.start).unwrap_or(text);
        let line = 1 + before.bytes().filter(|byte| *byte == b'\n').count();
        Self { place: format!("{file}:{line}"), message }
    }

    /// Something wrong with the whole file, or with what was asked of the claims.
    pub(super) fn new(place: &str, message: String) -> Self {
        Self { place: place.to_owned(), message }
    }
}
