//! A scenario that others are derived from: the study of a sweep without its own table.

use toml_edit::Document;

use super::document::Source;
use super::error::{Place, Problem, ScenarioError};
use super::layers::{self, Layer, Location};
use super::scale::Scale;
use super::values::ScenarioValue;
use super::{Scenario, registry};

/// What is common to the points of a study.
#[derive(Debug)]
pub struct Base {
    layers: Vec<Layer>,
    location: Location,
    source: Source,
}

/// How a scenario differs from its base.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Files that lie over the base, by the names that a `use` in it would take.
    pub uses: Vec<String>,
    /// Settings over all files, as `key=value`.
    pub sets: Vec<String>,
    /// The line of the study that says so.
    pub line: usize,
}

impl Base {
    /// The study at a path, or a built-in one by its name.
    ///
    /// # Errors
    /// A file that cannot be read, a key that does not exist, a file that is no study.
    pub fn load(path_or_name: &str) -> Result<Self, ScenarioError> {
        let (layers, location, source) = layers::load_study(path_or_name)?;
        Ok(Self { layers, location, source })
    }

    /// What the study is called: the name of its file without folder and `.toml`.
    pub fn name(&self) -> &str {
        let file = self.source.name.rsplit(['/', '\\']).next().unwrap_or_default();
        file.strip_suffix(".toml").unwrap_or(file)
    }

    /// The TOML of the study itself.
    pub(crate) fn document(&self) -> Result<Document<&str>, ScenarioError> {
        self.source.parse()
    }

    /// The line of a byte of the study's text.
    pub(crate) fn line_of(&self, byte: usize) -> usize {
        self.source.line_of(byte)
    }

    /// Something that is wrong in a line of the study, or with all of it.
    pub(crate) fn error(&self, line: Option<usize>, problem: Problem) -> ScenarioError {
        self.source.error(line, problem)
    }

    /// The scenario of this name that differs from the base by these changes, each over those
    /// before it.
    ///
    /// # Errors
    /// As [`Scenario::load`]; what is wrong with a change is told of its line.
    pub fn derive(
        &self,
        name: &str,
        changes: &[&Change],
        scale: Option<Scale>,
    ) -> Result<Scenario, ScenarioError> {
        let mut layers = self.layers.clone();
        for change in changes {
            layers =
                layers::add_over(layers, &self.location, &self.source, &change.uses, change.line)?;
        }
        let sets: Vec<_> = changes.iter().flat_map(|change| change.sets.clone()).collect();
        let scenario = Scenario::build(&layers, &sets, scale);
        let mut scenario = scenario.map_err(|error| self.at_change(changes, error))?;
        name.clone_into(&mut scenario.name);
        name.clone_into(&mut scenario.title);
        Ok(scenario)
    }

    /// An error about a setting, at the line of the study that makes it.
    fn at_change(&self, changes: &[&Change], error: ScenarioError) -> ScenarioError {
        if *error.place() != Place::Set {
            return error;
        }
        let problem = error.problem().clone();
        let makes = |change: &&&Change| {
            let keys = change.sets.iter().filter_map(|set| set.split_once('='));
            problem.key().is_some_and(|wrong| keys.clone().any(|(key, _)| key == wrong))
        };
        // A key that two axes set is an error of the later one.
        let line = changes.iter().rev().find(makes).or(changes.last()).map(|change| change.line);
        self.error(line, problem)
    }
}

impl ScenarioValue {
    /// The setting `key=value` that multiplies a number or an amount; `None` for other values.
    pub fn times(&self, factor: f64) -> Option<String> {
        let param = registry().find(|param| param.key == self.key)?;
        let value = param.kind.parse_option(self.key, &self.value).ok()?;
        let value = value.times(factor)?;
        Some(format!("{}={}", self.key, param.kind.show(&value)))
    }
}
