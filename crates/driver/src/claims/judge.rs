//! From values to verdicts.

use serde::Deserialize;

use super::metric::Metric;
use crate::scorecard::{Stated, Verdict};

/// A number counts as reproduced up to this distance of its ratio from 1.
const REPRODUCED: f64 = 0.10;

/// A number counts as close up to this distance of its ratio from 1.
const CLOSE: f64 = 0.25;

/// What decides about a theory: a value and what it must be.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Test {
    /// What the value is, in words.
    pub(super) what: String,
    #[serde(default)]
    pub(super) unit: String,
    pub(super) measure: Metric,
    pub(super) confirmed_if: Threshold,
    pub(super) refuted_if: Threshold,
}

/// What a value must be.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Threshold {
    /// As it is written, such as `>= 1.25`.
    pub(super) text: String,
    bound: Bound,
    limit: f64,
}

/// How a value is compared with a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    AtLeast,
    AtMost,
    Above,
    Below,
    /// Not farther from the published value than so much of it.
    Within,
    /// Farther from the published value.
    Beyond,
}

/// The verdict on a measured number.
pub(super) fn number(ratio: f64) -> Verdict {
    match (ratio - 1.0).abs() {
        d if d <= REPRODUCED => Verdict::Reproduced,
        d if d <= CLOSE => Verdict::Close,
        _ => Verdict::Off,
    }
}

/// The verdict on a theory from those of its tests: all must confirm it, one can refute it.
pub(super) fn theory(verdicts: &[Verdict]) -> Verdict {
    if verdicts.contains(&Verdict::Refuted) {
        Verdict::Refuted
    } else if verdicts.contains(&Verdict::NotYet) {
        Verdict::NotYet
    } else if verdicts.iter().all(|verdict| *verdict == Verdict::Confirmed) {
        Verdict::Confirmed
    } else {
        Verdict::Open
    }
}

impl Test {
    pub(super) fn verdict(&self, value: f64, published: Option<Stated>) -> Verdict {
        if self.confirmed_if.holds(value, published) {
            Verdict::Confirmed
        } else if self.refuted_if.holds(value, published) {
            Verdict::Refuted
        } else {
            Verdict::Open
        }
    }

    /// Whether a threshold is relative to a published value.
    pub(super) fn needs_published(&self) -> bool {
        let relative =
            |threshold: &Threshold| matches!(threshold.bound, Bound::Within | Bound::Beyond);
        relative(&self.confirmed_if) || relative(&self.refuted_if)
    }
}

impl Threshold {
    fn holds(&self, value: f64, published: Option<Stated>) -> bool {
        let off = published.map(|published| (published.ratio(value) - 1.0).abs());
        match self.bound {
            Bound::AtLeast => self.limit <= value,
            Bound::AtMost => value <= self.limit,
            Bound::Above => self.limit < value,
            Bound::Below => value < self.limit,
            Bound::Within => off.is_some_and(|off| off <= self.limit),
            Bound::Beyond => off.is_some_and(|off| self.limit < off),
        }
    }
}

impl TryFrom<String> for Threshold {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let refuse = || {
            format!(
                "\"{text}\": expected >=, <=, > or < and a number, or \"within 25 %\" or \"beyond 50 %\" of the published value"
            )
        };
        let (word, rest) = text.split_once(' ').ok_or_else(refuse)?;
        let bound = match word {
            ">=" => Bound::AtLeast,
            "<=" => Bound::AtMost,
            ">" => Bound::Above,
            "<" => Bound::Below,
            "within" => Bound::Within,
            "beyond" => Bound::Beyond,
            _ => return Err(refuse()),
        };
        let limit = match bound {
            Bound::Within | Bound::Beyond => {
                rest.strip_suffix(" %").and_then(|n| n.parse::<f64>().ok()).map(|n| n / 100.0)
            }
            _ => rest.parse().ok(),
        };
        let limit = limit.filter(|limit| limit.is_finite()).ok_or_else(refuse)?;
        Ok(Self { text, bound, limit })
    }
}
