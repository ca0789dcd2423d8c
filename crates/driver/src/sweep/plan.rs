//! The points of a study: which scenarios are run, in which order, under which names.

use std::sync::Arc;

use serde::Serialize;

use super::study::{Axis, Choice, Design, Study, Vary};
use crate::jobs::store::Program;
use crate::report::scenario_hash;
use crate::scenario::{Change, Problem, Scale, Scenario, ScenarioError, ScenarioValue};

/// The version of `plan.json`; it grows when a key changes its meaning.
const SCHEMA: u32 = 1;

/// All points of a study, in their order.
#[derive(Debug)]
pub struct Plan {
    /// What it is the plan of.
    pub study: Study,
    /// The points.
    pub points: Vec<Point>,
    /// Values that were to vary and do not.
    pub kept: Vec<Kept>,
}

/// One scenario of a study.
#[derive(Debug)]
pub struct Point {
    /// What it takes of each axis; of values that vary one at a time, the key and its value. The
    /// base has no labels.
    pub labels: Vec<String>,
    /// What is run.
    pub scenario: Arc<Scenario>,
}

/// A value that is not varied.
#[derive(Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its key.
    pub key: String,
    /// As the base has it.
    pub value: String,
    /// Why it is left alone.
    pub reason: String,
}

impl Plan {
    /// The points of a study; a scale given here is that of all of them.
    ///
    /// # Errors
    /// A point that is no scenario, with the line of the study that makes it so.
    pub fn new(study: Study, scale: Option<Scale>) -> Result<Self, ScenarioError> {
        let (points, kept) = match &study.design {
            Design::Grid(axes) => (grid(&study, axes, scale)?, Vec::new()),
            Design::Vary(values) => vary(&study, values, scale)?,
        };
        let mut names: Vec<_> = points.iter().map(|point| &point.scenario.name).collect();
        names.sort_unstable();
        if let Some([name, _]) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            let key = format!("study: the point {name}");
            return Err(study.base.error(None, Problem::Duplicate { key }));
        }
        Ok(Self { study, points, kept })
    }

    /// The plan as it is written before the first point is run. It is the same only if every point
    /// would have the same result.
    pub fn frozen(&self, program: &Program) -> String {
        let points = self.points.iter().map(|point| FrozenPoint {
            name: &point.scenario.name,
            scale: point.scenario.scale.to_string(),
            scenario_hash: scenario_hash(&point.scenario.text),
        });
        let frozen = Frozen {
            schema: SCHEMA,
            study: self.study.base.name(),
            program: program.to_string(),
            points: points.collect(),
        };
        let mut text = serde_json::to_string_pretty(&frozen).unwrap_or_default();
        text.push('\n');
        text
    }
}

#[derive(Serialize)]
struct Frozen<'a> {
    schema: u32,
    study: &'a str,
    program: String,
    points: Vec<FrozenPoint<'a>>,
}

#[derive(Serialize)]
struct FrozenPoint<'a> {
    name: &'a str,
    scale: String,
    scenario_hash: String,
}

fn grid(study: &Study, axes: &[Axis], scale: Option<Scale>) -> Result<Vec<Point>, ScenarioError> {
    let mut combinations: Vec<Vec<&Choice>> = vec![Vec::new()];
    for axis in axes {
        let mut longer = Vec::new();
        for before in &combinations {
            for choice in &axis.choices {
                longer.push(before.iter().copied().chain([choice]).collect());
            }
        }
        combinations = longer;
    }
    let point = |choices: Vec<&Choice>| {
        let pairs = axes.iter().zip(&choices);
        let words: Vec<_> = pairs.map(|(axis, c)| format!("{}={}", axis.name, c.label)).collect();
        let own = choices.iter().filter_map(|choice| choice.scale).next_back();
        let changes: Vec<_> = choices.iter().map(|choice| &choice.change).collect();
        let scale = scale.or(own).or(study.scale);
        let scenario = study.base.derive(&words.join(" "), &changes, scale)?;
        let labels = choices.iter().map(|choice| choice.label.clone()).collect();
        Ok(Point { labels, scenario: Arc::new(scenario) })
    };
    combinations.into_iter().map(point).collect()
}

fn vary(
    study: &Study,
    vary: &Vary,
    scale: Option<Scale>,
) -> Result<(Vec<Point>, Vec<Kept>), ScenarioError> {
    let scale = scale.or(study.scale);
    let base = Arc::new(study.base.derive("base", &[], scale)?);
    let mut points = vec![Point { labels: Vec::new(), scenario: Arc::clone(&base) }];
    let mut kept = Vec::new();
    let derive = |set: &str, line: usize| {
        let change = Change { uses: Vec::new(), sets: vec![set.to_owned()], line };
        let scenario = study.base.derive(set, &[&change], scale)?;
        let (key, value) = set.split_once('=').unwrap_or((set, ""));
        let labels = vec![key.to_owned(), value.trim_matches('"').to_owned()];
        Ok(Point { labels, scenario: Arc::new(scenario) })
    };

    for (key, values, line) in &vary.keys {
        for value in values {
            points.push(derive(&format!("{key}={value}"), *line)?);
        }
        if values.is_empty() {
            let found = base.values.iter().find(|value| value.key == key);
            let sets = found.map(|value| multiples(value, &vary.factors)).unwrap_or_default();
            if sets.is_empty() {
                // An unknown key says so itself; any other is no amount, or 0.
                derive(&format!("{key}=no amount"), *line)?;
            }
            for set in sets {
                points.push(derive(&set, *line)?);
            }
        }
    }

    let named = |key: &str| vary.keys.iter().any(|(named, ..)| named == key);
    let assumed = base.values.iter().filter(|value| vary.assumed && value.assumed.is_some());
    for value in assumed.filter(|value| !named(value.key)) {
        let mut keep = |reason: String| {
            let (key, value) = (value.key.to_owned(), value.value.clone());
            kept.push(Kept { key, value, reason });
        };
        if let Some((_, reason)) = vary.except.iter().find(|(key, _)| key == value.key) {
            keep(reason.clone());
            continue;
        }
        let sets = multiples(value, &vary.factors);
        if sets.is_empty() {
            keep("no amount that a factor changes".to_owned());
        }
        for set in sets {
            match derive(&set, 0) {
                Ok(point) => points.push(point),
                Err(error) => keep(error.problem().to_string()),
            }
        }
    }
    Ok((points, kept))
}

/// The settings that multiply a value, without those that leave it as it is.
fn multiples(value: &ScenarioValue, factors: &[f64]) -> Vec<String> {
    let same = value.times(1.0);
    let sets = factors.iter().filter_map(|factor| value.times(*factor));
    sets.filter(|set| same.as_ref() != Some(set)).collect()
}
