//! A file of claims: its TOML, and what must hold in it beyond its types.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::Deserialize;
use serde_spanned::Spanned;

use super::ClaimError;
use super::judge::Test;
use super::metric::Metric;
use crate::scorecard::{Figure, Kind, Stated};

/// The claims of one article.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) article: Header,
    #[serde(default, rename = "figure")]
    pub(super) figures: Vec<Figure>,
    #[serde(default)]
    pub(super) runs: BTreeMap<String, Run>,
    #[serde(default, rename = "claim")]
    pub(super) claims: Vec<Claim>,
}

/// The article.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) author: String,
    pub(super) date: String,
    pub(super) url: String,
}

/// An experiment, and what is set over it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Run {
    pub(super) experiment: Spanned<String>,
    #[serde(default)]
    pub(super) set: Vec<String>,
    /// The smallest scale that the experiment bears, or that its claims need.
    pub(super) scale: Option<Spanned<String>>,
}

/// One claim and how it is judged.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Claim {
    pub(super) id: Spanned<String>,
    pub(super) who: String,
    pub(super) quote: String,
    pub(super) kind: Kind,
    /// What was published.
    pub(super) published: Option<Stated>,
    #[serde(default)]
    pub(super) unit: String,
    /// What is computed, of a claim that is a number.
    pub(super) measure: Option<Metric>,
    /// What decides, of a theory.
    #[serde(default, rename = "test")]
    pub(super) tests: Vec<Test>,
    /// The settings that carry it, of an input.
    pub(super) input: Option<Input>,
    /// Why it is not judged.
    pub(super) because: Option<String>,
    /// Which measured sensitivity explains a miss.
    #[serde(default)]
    pub(super) note: String,
}

/// The settings of a run that are taken from the article.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    pub(super) run: String,
    pub(super) keys: Vec<String>,
}

/// Reads a file and checks it.
pub(super) fn read(name: &str, text: &str) -> Result<File, ClaimError> {
    let file: File = toml_edit::de::from_str(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        let message = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
        ClaimError::at(name, text, span.clone(), format!("{}{message}", line_at(text, span)))
    })?;
    for claim in &file.claims {
        claim.check(&file).map_err(|message| {
            let message = format!("{}: {message}", claim.id.get_ref());
            ClaimError::at(name, text, claim.id.span(), message)
        })?;
    }
    Ok(file)
}

/// The line in which the span begins, as a head of a message: key and value stand in it.
fn line_at(text: &str, span: Range<usize>) -> String {
    let start = text.get(..span.start).and_then(|before| before.rfind('\n')).map_or(0, |n| n + 1);
    let line = text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default().trim();
    if line.is_empty() { String::new() } else { format!("{line}: ") }
}

impl Claim {
    /// The metrics that judge it.
    pub(super) fn metrics(&self) -> impl Iterator<Item = &Metric> {
        self.measure.iter().chain(self.tests.iter().map(|test| &test.measure))
    }

    /// The runs it rests on, each once, in the order in which it names them.
    pub(super) fn runs(&self) -> Vec<String> {
        let mut runs = Vec::new();
        self.metrics().for_each(|metric| metric.collect_runs(&mut runs));
        runs.extend(self.input.iter().map(|input| input.run.clone()));
        let mut seen = BTreeSet::new();
        runs.retain(|run| seen.insert(run.clone()));
        runs
    }

    fn check(&self, file: &File) -> Result<(), String> {
        let article = &file.article.id;
        if !self.id.get_ref().strip_prefix(article.as_str()).is_some_and(|n| n.starts_with('.')) {
            return Err(format!("expected an id such as {article}.1"));
        }
        if let Some(name) = self.metrics().find_map(Metric::unknown_name) {
            return Err(format!("\"{name}\": expected a name of docs/reports.md"));
        }
        let parts = (self.measure.is_some(), !self.tests.is_empty(), self.input.is_some());
        let expected = match (self.kind, parts, self.because.is_some()) {
            (Kind::NotTestable | Kind::Prediction | Kind::Theory, (false, false, false), true)
            | (Kind::Theory, (false, true, false), false)
            | (Kind::Input, (false, false, true), false) => None,
            (Kind::Calibration | Kind::Prediction, (true, false, false), false) => {
                self.published.is_none().then_some("published, the number that was measured")
            }
            (Kind::Calibration, ..) => Some("measure and published"),
            (Kind::Prediction, ..) => Some("measure and published, or because"),
            (Kind::Theory, ..) => Some("one [[claim.test]] or more, or because"),
            (Kind::Input, ..) => Some("input = { run = ..., keys = [...] }"),
            (Kind::NotTestable, ..) => Some("because, and nothing to measure"),
        };
        if let Some(expected) = expected {
            return Err(format!("expected {expected}"));
        }
        let ends = self.published.map(Stated::ends);
        if ends.is_some_and(|[from, to]| !(0.0 < from && from <= to && to.is_finite())) {
            return Err(
                "published: expected a number above 0, or two, the smaller first".to_owned()
            );
        }
        let relative = self.tests.iter().find(|test| test.needs_published());
        if self.published.is_none() && relative.is_some() {
            return Err("within and beyond need published".to_owned());
        }
        Ok(())
    }
}
