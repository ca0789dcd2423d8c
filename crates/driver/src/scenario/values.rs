//! The settled value of every key: layers merged, presets filled in, kinds checked, scale applied.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use cost_model::{Bytes, SimDuration};

use super::document::{self, Source};
use super::error::{Place, Problem, ScenarioError};
use super::kind::{Kind, Raw, Value, Word};
use super::layers::{Layer, Location};
use super::param::{self, Basis, Param, Preset, Scaling, When, registry};
use super::scale::Scale;

/// The settled values of a scenario.
#[derive(Clone, Debug)]
pub struct Values {
    settings: BTreeMap<&'static str, Setting>,
    scale: Scale,
    /// Where a key that no file sets is missed: the scenario itself.
    whole: Place,
}

/// One settled value.
#[derive(Clone, Debug)]
struct Setting {
    value: Value,
    /// As it was written.
    shown: String,
    /// The same without quotes.
    text: String,
    place: Option<Place>,
    origin: Origin,
    source: Option<String>,
    assumed: Option<String>,
    /// Number of the layer that set it: 0 for a preset.
    layer: usize,
    /// Whether the scenario's own file or the command line set it.
    own: bool,
    /// The file that set it; no file for the command line and presets.
    location: Location,
}

/// Who chose a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A line of a file.
    File {
        /// Its path from `sim-configs` on, or its bare name: the same wherever it lies.
        file: String,
        /// Counted from 1.
        line: usize,
    },
    /// The parameter's own default.
    Default,
    /// A `--set` of the command line.
    Set,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { file, line } => write!(f, "{file}:{line}"),
            Self::Default => write!(f, "default"),
            Self::Set => write!(f, "--set"),
        }
    }
}

/// A value of the scenario as the manifest of a run shows it, before `--scale`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioValue {
    /// Dotted key.
    pub key: &'static str,
    /// As it was written, without quotes.
    pub value: String,
    /// What it counts.
    pub unit: &'static str,
    /// Who chose it.
    pub origin: Origin,
    /// Whence it is, if that is known.
    pub source: Option<String>,
    /// Why it was assumed, if it was.
    pub assumed: Option<String>,
}

impl Values {
    /// Merges `layers`, lowest first, and `sets` over them. Keys outside of `needed` may be
    /// missing.
    pub(super) fn settle(
        layers: &[Layer],
        sets: &[String],
        scale: Scale,
        needed: fn(&Param) -> bool,
    ) -> Result<Self, ScenarioError> {
        let whole = match layers.last() {
            Some(top) => top.source.place(None),
            None => Place::Name,
        };
        let mut values = Self { settings: BTreeMap::new(), scale, whole };
        for (below, layer) in layers.iter().enumerate() {
            values.add_layer(layer, below + 1)?;
        }
        values.add_sets(sets, layers.len() + 1)?;
        values.drop_overruled()?;
        values.fill_in(needed)?;
        Ok(values)
    }

    fn add_layer(&mut self, layer: &Layer, number: usize) -> Result<(), ScenarioError> {
        for entry in layer.entries.iter().filter(|entry| entry.param.starts_anew) {
            self.discard_table(entry.param.table());
        }
        for entry in &layer.entries {
            let param = entry.param;
            let line = Some(entry.line);
            let value = param.kind.parse(param.key, &entry.raw);
            let value = value.map_err(|problem| layer.source.error(line, problem))?;
            if !param.inherited && !layer.own {
                continue;
            }
            let setting = Setting {
                value,
                shown: entry.raw.shown.clone(),
                text: entry.raw.text().to_owned(),
                place: Some(layer.source.place(line)),
                origin: Origin::File { file: layer.source.name.clone(), line: entry.line },
                source: entry.source.clone(),
                assumed: entry.assumed.clone(),
                layer: number,
                own: layer.own,
                location: layer.location.clone(),
            };
            self.settings.insert(param.key, setting);
        }
        Ok(())
    }

    /// The command line is one layer, whatever the order of its settings.
    fn add_sets(&mut self, sets: &[String], number: usize) -> Result<(), ScenarioError> {
        let refuse = |problem| ScenarioError::new(Place::Set, problem);
        let mut given = BTreeMap::new();
        for set in sets {
            let (param, raw) = document::read_set(set)?;
            let value = param.kind.parse(param.key, &raw).map_err(refuse)?;
            if given.insert(param.key, (param, value, raw)).is_some() {
                return Err(refuse(Problem::Duplicate { key: param.key.to_owned() }));
            }
        }
        for (param, ..) in given.values().filter(|(param, ..)| param.starts_anew) {
            self.discard_table(param.table());
        }
        for (key, (_, value, raw)) in given {
            let setting = Setting {
                value,
                text: raw.text().to_owned(),
                shown: raw.shown,
                place: Some(Place::Set),
                origin: Origin::Set,
                source: None,
                assumed: None,
                layer: number,
                own: true,
                location: Location::Text,
            };
            self.settings.insert(key, setting);
        }
        Ok(())
    }

    fn discard_table(&mut self, table: &str) {
        self.settings.retain(|key, _| !key.strip_prefix(table).is_some_and(|k| k.starts_with('.')));
    }

    /// A key of another kind of thing is an error, unless a layer above it chose the kind or a
    /// profile carries it for scenarios that choose that kind.
    fn drop_overruled(&mut self) -> Result<(), ScenarioError> {
        for param in registry() {
            let Some(setting) = self.settings.get(param.key) else { continue };
            let Some((condition, value)) = self.unmet(param) else { continue };
            let chosen = self.settings.get(condition.key);
            let is_overruled = chosen.is_some_and(|chosen| setting.layer < chosen.layer);
            if is_overruled || param.carried && !setting.own {
                self.settings.remove(param.key);
                continue;
            }
            // A kind that is required and missing is the error to report.
            let Some(value) = value else { continue };
            let place = setting.place.clone().unwrap_or_else(|| self.whole.clone());
            let problem = Problem::NoEffect {
                key: param.key.to_owned(),
                value: setting.shown.clone(),
                belongs: condition.to_string(),
                kind: match chosen {
                    Some(_) => format!("this one is {value}"),
                    None => format!("by default it is {value}"),
                },
            };
            return Err(ScenarioError::new(place, problem));
        }
        Ok(())
    }

    /// The first condition of `param` that does not hold, and the value there is instead, if there
    /// is one.
    fn unmet(&self, param: &Param) -> Option<(&'static When, Option<String>)> {
        param.when.iter().find_map(|when| {
            let other = param::find(when.key)?;
            let value = match (self.settings.get(when.key), other.preset) {
                (Some(setting), _) => Some(setting.value.clone()),
                (None, Preset::Is(text)) => other.kind.parse(when.key, &Raw::bare(text)).ok(),
                (None, _) => None,
            };
            let met = value.as_ref().is_some_and(|value| when.holds(value));
            let shown = |value: Value| match value {
                Value::Word(word) => format!("\"{word}\""),
                value => other.kind.show(&value),
            };
            (!met).then(|| (when, value.map(shown)))
        })
    }

    /// Presets for what is not set; an error for what must be.
    fn fill_in(&mut self, needed: fn(&Param) -> bool) -> Result<(), ScenarioError> {
        let mut missing = Vec::new();
        for param in registry() {
            if self.settings.contains_key(param.key) || self.unmet(param).is_some() {
                continue;
            }
            let value = match param.preset {
                Preset::Required if needed(param) => {
                    missing.push(param);
                    continue;
                }
                Preset::Required | Preset::Absent => continue,
                Preset::Is(text) => {
                    let raw = Raw::bare(text);
                    let value = param.kind.parse(param.key, &raw);
                    value.map_err(|problem| ScenarioError::new(self.whole.clone(), problem))?
                }
                Preset::From(_, derive) => match derive(self) {
                    Some(value) => value,
                    None => continue,
                },
            };
            let (source, assumed) = match param.basis {
                Basis::Definition => (None, None),
                Basis::Source(source) => (Some(source.to_owned()), None),
                Basis::Assumed(reason) => (None, Some(reason.to_owned())),
            };
            let text = match param.preset {
                Preset::Is(text) => text.to_owned(),
                _ => param.kind.show(&value),
            };
            let setting = Setting {
                shown: text.clone(),
                text,
                value,
                place: None,
                origin: Origin::Default,
                source,
                assumed,
                layer: 0,
                own: false,
                location: Location::Text,
            };
            self.settings.insert(param.key, setting);
        }
        let Some(first) = missing.first() else { return Ok(()) };
        let problem = Problem::Missing {
            key: first.key.to_owned(),
            expected: first.kind.expected(),
            doc: first.doc.trim_end_matches('.'),
            also: missing[1..].iter().map(|param| param.key.to_owned()).collect(),
        };
        Err(ScenarioError::new(self.whole.clone(), problem))
    }

    /// The value of `key` at the scale of the run.
    ///
    /// The registry and the code that builds a scenario must agree on keys and kinds; a scenario
    /// file cannot make this panic.
    pub(super) fn get<T: FromValue>(&self, key: &'static str) -> T {
        let value = self.settings.get(key).map(|setting| &setting.value);
        let scaling = param::find(key).map_or(Scaling::Stays, |param| param.scaling);
        let scaled = match (value, scaling) {
            (Some(Value::Whole(n)), Scaling::Shrinks) => Some(Value::Whole(self.scale.apply(*n))),
            (value, _) => value.cloned(),
        };
        T::from_value(scaled).unwrap_or_else(|| panic!("{key} has no value of this type"))
    }

    /// The whole number of `key` as it is written, if it has one.
    pub(super) fn full_scale(&self, key: &str) -> Option<u64> {
        match self.settings.get(key)?.value {
            Value::Whole(n) => Some(n),
            _ => None,
        }
    }

    /// The word chosen for `key`, if it has an effect.
    pub(super) fn word(&self, key: &str) -> Option<&'static str> {
        match self.settings.get(key)?.value {
            Value::Word(word) => Some(word),
            _ => None,
        }
    }

    /// The scale of the run.
    pub(super) fn scale(&self) -> Scale {
        self.scale
    }

    /// The path that a file gives as the text of `key`, seen from where the simulator runs.
    pub(super) fn path(&self, key: &'static str) -> PathBuf {
        let text = self.get::<String>(key);
        self.settings.get(key).map_or(Path::new(""), |setting| setting.location.folder()).join(text)
    }

    /// The file that sets `key`.
    pub(super) fn location(&self, key: &'static str) -> &Location {
        self.settings.get(key).map_or(&Location::Text, |setting| &setting.location)
    }

    /// An error about the value of `key`.
    pub(super) fn conflict(&self, key: &'static str, reason: String) -> ScenarioError {
        let setting = self.settings.get(key);
        let place = setting.and_then(|setting| setting.place.clone());
        let problem = Problem::Conflict {
            key: key.to_owned(),
            value: setting.map_or_else(|| "not set".to_owned(), |setting| setting.shown.clone()),
            reason,
        };
        ScenarioError::new(place.unwrap_or_else(|| self.whole.clone()), problem)
    }

    /// Every value in the order of the registry.
    pub(super) fn list(&self) -> Vec<ScenarioValue> {
        let settled = registry().filter_map(|param| Some((param, self.settings.get(param.key)?)));
        let shown = settled.filter(|(param, _)| param.kind != Kind::List);
        shown
            .map(|(param, setting)| ScenarioValue {
                key: param.key,
                value: setting.text.clone(),
                unit: param.kind.unit(),
                origin: setting.origin.clone(),
                source: setting.source.clone(),
                assumed: setting.assumed.clone(),
            })
            .collect()
    }
}

/// A type that values of a key are turned into.
pub(super) trait FromValue: Sized {
    /// `None` if the value is of another kind.
    fn from_value(value: Option<Value>) -> Option<Self>;
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: Option<Value>) -> Option<Self> {
        match value {
            None => Some(None),
            value => T::from_value(value).map(Some),
        }
    }
}

impl FromValue for u64 {
    fn from_value(value: Option<Value>) -> Option<Self> {
        match value? {
            Value::Whole(n) => Some(n),
            _ => None,
        }
    }
}

impl FromValue for u32 {
    fn from_value(value: Option<Value>) -> Option<Self> {
        u64::from_value(value)?.try_into().ok()
    }
}

impl FromValue for Bytes {
    fn from_value(value: Option<Value>) -> Option<Self> {
        u64::from_value(value).map(Self::new)
    }
}

impl FromValue for SimDuration {
    fn from_value(value: Option<Value>) -> Option<Self> {
        u64::from_value(value).map(Self::from_ns)
    }
}

impl FromValue for f64 {
    fn from_value(value: Option<Value>) -> Option<Self> {
        match value? {
            Value::Real(number) => Some(number),
            _ => None,
        }
    }
}

impl FromValue for bool {
    fn from_value(value: Option<Value>) -> Option<Self> {
        match value? {
            Value::Bool(yes) => Some(yes),
            _ => None,
        }
    }
}

impl FromValue for String {
    fn from_value(value: Option<Value>) -> Option<Self> {
        match value? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// An enum whose variants are the words of a key.
pub(super) trait Choice: Sized {
    /// The words, in the order of the variants.
    const WORDS: &'static [Word];

    /// The variant of a word.
    fn from_word(word: &str) -> Option<Self>;
}

/// Says by which words a key chooses among the variants of an enum.
macro_rules! words {
    ($type:ty { $($word:literal => $variant:ident: $doc:literal;)+ }) => {
        impl $crate::scenario::values::Choice for $type {
            const WORDS: &'static [$crate::scenario::kind::Word] =
                &[$($crate::scenario::kind::Word { word: $word, doc: $doc }),+];

            fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }

        impl $crate::scenario::values::FromValue for $type {
            fn from_value(value: Option<$crate::scenario::kind::Value>) -> Option<Self> {
                match value? {
                    $crate::scenario::kind::Value::Word(word) => {
                        <Self as $crate::scenario::values::Choice>::from_word(word)
                    }
                    _ => None,
                }
            }
        }
    };
}
pub(super) use words;

/// The text of all files, lowest first, and of the settings over them.
pub(super) fn text_of<'a>(layers: impl Iterator<Item = &'a Layer>, sets: &[String]) -> String {
    let file = |source: &Source| format!("# {}\n{}\n", source.name, source.text.trim_end());
    let mut text: String = layers.map(|layer| file(&layer.source)).collect();
    for set in sets {
        text.push_str("# --set ");
        text.push_str(set);
        text.push('\n');
    }
    text
}
