//! What the committed scorecard says of each claim, so that a change that loses one is noticed.

use std::collections::BTreeMap;
use std::fmt;

use thiserror::Error;
use toml_edit::{DocumentMut, InlineTable, Item, Table, Value};

use crate::scenario;
use crate::scorecard::{Row, Scorecard, Stated, Verdict};

/// The verdicts of a scorecard at one scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Baseline {
    /// The scale of the runs, as the scorecard has it.
    pub scale: String,
    claims: BTreeMap<String, Was>,
}

/// What was said of a claim.
#[derive(Clone, Debug, PartialEq)]
struct Was {
    verdict: Verdict,
    simulated: Option<f64>,
}

/// A claim that was shown and no longer is.
#[derive(Clone, Debug, PartialEq)]
pub struct Lost {
    /// Its name, such as `S4.3`.
    pub id: String,
    was: Was,
    is: Was,
    published: Option<Stated>,
}

/// A baseline that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("claims/baseline.toml: {message}")]
pub struct BaselineError {
    message: String,
}

impl Baseline {
    /// The committed one; `None` as long as there is none.
    ///
    /// # Errors
    /// It cannot be understood.
    pub fn committed() -> Result<Option<Self>, BaselineError> {
        scenario::baseline().map(Self::parse).transpose()
    }

    /// What a scorecard says.
    pub fn of(scorecard: &Scorecard) -> Self {
        let claims = scorecard.rows.iter().map(|row| (row.id.clone(), Was::of(row))).collect();
        Self { scale: scorecard.scale.clone(), claims }
    }

    /// The baseline in a text.
    ///
    /// # Errors
    /// It cannot be understood; the message names what is wrong.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let error = |message: String| BaselineError { message };
        let document: DocumentMut = text
            .parse()
            .map_err(|e: toml_edit::TomlError| error(format!("not TOML: {}", e.message())))?;
        let scale = document.get("scale").and_then(Item::as_str);
        let scale = scale.ok_or_else(|| error("scale: missing; expected a text".to_owned()))?;
        let table = document.get("claims").and_then(Item::as_table_like);
        let table = table.ok_or_else(|| error("[claims]: missing".to_owned()))?;
        let mut claims = BTreeMap::new();
        for (id, item) in table.iter() {
            let entry = item.as_table_like();
            let word = entry.and_then(|entry| entry.get("verdict")?.as_str());
            let verdict = word.and_then(verdict_of).ok_or_else(|| {
                error(format!("{id}: expected {{ verdict = ..., simulated = ... }}, found {item}"))
            })?;
            let number = |item: &Item| {
                item.as_float().or_else(|| item.as_integer().map(|number| number as f64))
            };
            let simulated = entry.and_then(|entry| entry.get("simulated")).and_then(number);
            claims.insert(id.to_owned(), Was { verdict, simulated });
        }
        Ok(Self { scale: scale.to_owned(), claims })
    }

    /// The text of it, as it is committed.
    pub fn text(&self) -> String {
        let mut claims = Table::new();
        for (id, was) in &self.claims {
            let mut entry = InlineTable::new();
            entry.insert("verdict", Value::from(word(was.verdict)));
            if let Some(simulated) = was.simulated {
                entry.insert("simulated", Value::from(simulated));
            }
            claims.insert(id, Item::Value(entry.into()));
        }
        let mut document = DocumentMut::new();
        document.insert("scale", Item::Value(self.scale.as_str().into()));
        document.insert("claims", Item::Table(claims));
        document.to_string()
    }

    /// The claims that this one shows and the scorecard, which has the same scale, no longer does.
    /// Claims that the scorecard did not compute are not lost.
    pub fn lost(&self, scorecard: &Scorecard) -> Vec<Lost> {
        let lost = scorecard.rows.iter().filter_map(|row| {
            let (was, is) = (self.claims.get(&row.id)?.clone(), Was::of(row));
            let shown = matches!(was.verdict, Verdict::Reproduced | Verdict::Confirmed);
            if !shown || is.verdict == was.verdict || is.verdict == Verdict::NotYet {
                return None;
            }
            Some(Lost { id: row.id.clone(), was, is, published: row.published })
        });
        lost.collect()
    }
}

impl Was {
    fn of(row: &Row) -> Self {
        Self { verdict: row.verdict, simulated: row.simulated }
    }
}

impl fmt::Display for Was {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", word(self.verdict))?;
        self.simulated.map_or(Ok(()), |value| write!(f, " with {value}"))
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was {} and is {}", self.id, self.was, self.is)?;
        self.published.map_or(Ok(()), |published| write!(f, "; published: {published}"))
    }
}

/// The word of the results for a verdict.
fn word(verdict: Verdict) -> String {
    let word = serde_json::to_value(verdict).ok();
    word.and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}

fn verdict_of(word: &str) -> Option<Verdict> {
    serde_json::from_value(serde_json::Value::from(word)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scorecard::{Kind, SCHEMA};

    fn scorecard(rows: &[(&str, Verdict, Option<f64>)]) -> Scorecard {
        let row = |(id, verdict, simulated): &(&str, Verdict, Option<f64>)| Row {
            id: (*id).to_owned(),
            who: String::new(),
            quote: String::new(),
            kind: Kind::Prediction,
            measure: String::new(),
            unit: String::new(),
            published: Some(Stated::Number(36.0)),
            simulated: *simulated,
            ratio: None,
            verdict: *verdict,
            evidence: String::new(),
            runs: Vec::new(),
            note: String::new(),
        };
        Scorecard {
            schema: SCHEMA,
            iisim_version: "0".to_owned(),
            scale: "1/128".to_owned(),
            articles: Vec::new(),
            rows: rows.iter().map(row).collect(),
        }
    }

    #[test]
    fn a_baseline_reads_back() {
        let scorecard = scorecard(&[
            ("S4.3", Verdict::Reproduced, Some(34.5)),
            ("S4.4", Verdict::NotYet, None),
            ("S1.1", Verdict::Confirmed, Some(2.0)),
        ]);
        let baseline = Baseline::of(&scorecard);
        assert_eq!(Baseline::parse(&baseline.text()).unwrap(), baseline);
        assert_eq!(baseline.lost(&scorecard), []);
    }

    #[test]
    fn what_is_no_longer_shown_is_lost_and_what_was_not_computed_is_not() {
        let baseline = Baseline::of(&scorecard(&[
            ("S4.3", Verdict::Reproduced, Some(34.5)),
            ("S4.4", Verdict::Confirmed, None),
            ("S4.5", Verdict::Off, Some(1.0)),
            ("S4.6", Verdict::Reproduced, Some(1.0)),
            ("S4.7", Verdict::Reproduced, Some(1.0)),
        ]));
        let now = scorecard(&[
            ("S4.3", Verdict::Close, Some(30.0)),
            ("S4.4", Verdict::Refuted, None),
            ("S4.5", Verdict::Close, Some(40.0)),
            ("S4.6", Verdict::NotYet, None),
        ]);
        let lost: Vec<_> = baseline.lost(&now).iter().map(ToString::to_string).collect();
        assert_eq!(
            lost,
            [
                "S4.3 was reproduced with 34.5 and is close with 30; published: 36",
                "S4.4 was confirmed and is refuted; published: 36",
            ]
        );
    }

    #[test]
    fn a_wrong_baseline_is_refused() {
        let message = |text: &str| Baseline::parse(text).unwrap_err().to_string();
        assert_eq!(message("[claims]"), "claims/baseline.toml: scale: missing; expected a text");
        assert_eq!(
            message("scale = \"1\"\n[claims]\n\"S4.3\" = \"fine\"\n"),
            "claims/baseline.toml: S4.3: expected { verdict = ..., simulated = ... }, found  \
             \"fine\""
        );
    }
}
