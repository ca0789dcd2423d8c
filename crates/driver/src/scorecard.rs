//! The scorecard as plain data: every claim of the articles, what the simulation says of it, and
//! the verdict. The field names are a versioned contract like those of a run.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::report::VERSION;

/// The version of the names below; it grows when one of them changes its meaning.
pub const SCHEMA: u32 = 1;

/// What `iisim reproduce` found out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scorecard {
    /// [`SCHEMA`] when the scorecard was written.
    pub schema: u32,
    /// The version of the program that computed it.
    pub iisim_version: String,
    /// The scale of the runs, such as `1/128`; runs that do not bear it, or whose claims need a
    /// larger one, have their own.
    pub scale: String,
    /// The articles, in their order.
    pub articles: Vec<Article>,
    /// The claims, in the order of their articles.
    pub rows: Vec<Row>,
}

impl Scorecard {
    /// The scorecard of runs that no claim is about.
    pub fn without_claims() -> Self {
        Self {
            schema: SCHEMA,
            iisim_version: VERSION.to_owned(),
            scale: String::new(),
            articles: Vec::new(),
            rows: Vec::new(),
        }
    }
}

/// An article whose claims are judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Article {
    /// Such as `S4`.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Who wrote it.
    pub author: String,
    /// Day of publication, such as `2012-05-16`; or as much of it as is known.
    pub date: String,
    /// Where it is; empty if it is no longer.
    pub url: String,
    /// What it shows or tells of, drawn from simulated runs.
    pub figures: Vec<Figure>,
}

/// A chart in the axes of an article.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What it shows.
    pub title: String,
    /// The column of the points that goes upwards, such as `rows_per_s`.
    pub y: String,
    /// Label of that axis with its unit.
    pub y_label: String,
    /// Whether the values span decades.
    pub log: bool,
    /// The curves; `run` names a [`crate::report::RunResult`] that was computed for the scorecard.
    pub series: Vec<Series>,
    /// What the article published, in the units of the axes.
    pub published: Vec<Published>,
}

/// A simulated curve of a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The name under which the run was computed.
    pub run: String,
    /// What the legend says.
    pub label: String,
}

/// A published point of a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// Rows at full scale.
    pub rows: f64,
    /// The value in the unit of the axis.
    pub value: f64,
    /// What the tooltip says.
    pub label: String,
}

/// One claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Such as `S4.3`.
    pub id: String,
    /// Who said it.
    pub who: String,
    /// What was said, in few words.
    pub quote: String,
    /// What sort of claim it is.
    pub kind: Kind,
    /// What the simulation computes to judge it, in words.
    pub measure: String,
    /// Unit of the values, such as `rows/s`; empty for plain numbers.
    pub unit: String,
    /// What was published, if that is a number.
    pub published: Option<Stated>,
    /// The simulated value, if it was computed.
    pub simulated: Option<f64>,
    /// `simulated` divided by `published`: [`Stated::ratio`].
    pub ratio: Option<f64>,
    /// What the program concludes.
    pub verdict: Verdict,
    /// The numbers, thresholds and runs that the verdict rests on.
    pub evidence: String,
    /// The names of the runs it rests on.
    pub runs: Vec<String>,
    /// Why a number misses, and which sensitivity would close the gap; empty if there is nothing
    /// to explain.
    pub note: String,
}

/// What was said of a quantity: a number, or two that it lies between.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number, or two as in [2, 3]")]
pub enum Stated {
    /// Such as 9,000.
    Number(f64),
    /// Such as two to three times.
    Range([f64; 2]),
}

impl Stated {
    /// `value` by what was said: 1 within a range, and beyond it by the end that is nearer.
    pub fn ratio(self, value: f64) -> f64 {
        let [from, to] = self.ends();
        value / value.max(from).min(to)
    }

    /// The least and the greatest that was said, of a number twice the same.
    pub fn ends(self) -> [f64; 2] {
        match self {
            Self::Number(number) => [number, number],
            Self::Range(ends) => ends,
        }
    }
}

impl fmt::Display for Stated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Range([from, to]) => write!(f, "{from} to {to}"),
        }
    }
}

/// What sort of claim it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The one number per machine that a processor price was fitted to; never a success.
    Calibration,
    /// A measured number, judged by its ratio.
    Prediction,
    /// A shape, an opinion or an extrapolation, judged by a threshold.
    Theory,
    /// A number that the scenario takes from the article.
    Input,
    /// Nothing a simulation of storage can show.
    NotTestable,
}

/// What the program concludes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// A number within 10 %.
    Reproduced,
    /// A number within 25 %.
    Close,
    /// A number further away.
    Off,
    /// A theory that the evidence supports.
    Confirmed,
    /// A theory that the evidence contradicts.
    Refuted,
    /// A theory that the evidence does not decide.
    Open,
    /// The calibration of its machine.
    Calibration,
    /// Nothing to judge.
    None,
    /// What would judge it does not exist yet.
    NotYet,
}
