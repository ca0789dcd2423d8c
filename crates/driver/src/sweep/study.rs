//! The table `[study]`: what varies, and what is drawn.

use toml_edit::Item;

use super::measure::Measure;
use super::table::{Field, Table};
use crate::scenario::{Base, Change, Problem, STUDY, Scale, ScenarioError};

/// A study file.
#[derive(Debug)]
pub struct Study {
    /// What all points have in common.
    pub base: Base,
    /// What it is about, in one line; its name if the file has no title.
    pub title: String,
    /// What it answers; may be empty.
    pub question: String,
    /// What a reader must know of its limits; may be empty.
    pub note: String,
    /// The scale of points that name none.
    pub scale: Option<Scale>,
    /// How the points differ.
    pub design: Design,
    /// Rows at full scale at which the heat map has a column; empty for equal parts of the longest
    /// run.
    pub rows: Vec<u64>,
    /// What the colours of the heat map stand for.
    pub heat: Measure,
    /// What the curves show, a row of panels each.
    pub curves: Vec<Measure>,
}

/// How the points of a study differ.
#[derive(Debug)]
pub enum Design {
    /// Every combination of the choices of all axes; the last axis runs fastest.
    Grid(Vec<Axis>),
    /// One value at a time, the others as in the base.
    Vary(Vary),
}

/// Something that takes several values.
#[derive(Debug)]
pub struct Axis {
    /// What it is called.
    pub name: String,
    /// Its values.
    pub choices: Vec<Choice>,
}

/// One value of an axis.
#[derive(Debug)]
pub struct Choice {
    /// What it is called; unique within its axis.
    pub label: String,
    /// What it makes of the base.
    pub change: Change,
    /// The scale that it needs, if it needs one of its own.
    pub scale: Option<Scale>,
}

/// Which values are varied, and how far.
#[derive(Debug, Default)]
pub struct Vary {
    /// By what amounts are multiplied.
    pub factors: Vec<f64>,
    /// Whether every amount that the base marks as assumed is varied.
    pub assumed: bool,
    /// Keys that are varied by the factors, or that take the values given.
    pub keys: Vec<(String, Vec<String>, usize)>,
    /// Keys that are left alone, with the reason.
    pub except: Vec<(String, String)>,
}

const KEYS: &[&str] = &["note", "scale", "rows", "heat", "curves", "axis", "vary"];
const VALUE: &str =
    "a value, or { label = ..., value = ..., use = [...], set = {...}, scale = ... }";
/// More points than anybody waits for: a mistake.
const POINTS_MAX: usize = 10_000;

impl Study {
    /// The study at a path, or a built-in one by its name.
    ///
    /// # Errors
    /// A file that cannot be read, that is no study, or that says what is not allowed.
    pub fn load(path_or_name: &str) -> Result<Self, ScenarioError> {
        let base = Base::load(path_or_name)?;
        let document = base.document()?;
        let table = document.as_table();
        let text = |key: &str| table.get(key).and_then(Item::as_str).unwrap_or_default().to_owned();
        let (title, question) = (text("title"), text("question"));
        let item = table
            .get(STUDY)
            .ok_or_else(|| base.error(None, Problem::IsNoStudy { name: base.name().to_owned() }))?;
        let table = Table::of(&Field::top(&base, STUDY, item), KEYS)?;

        let scale = table.field("scale").map(|field| scale(&field)).transpose()?;
        let note = table.field("note").map(|field| field.text()).transpose()?.unwrap_or_default();
        let measures = |name: &str, preset: &[&str]| match table.field(name) {
            Some(field) => {
                let names = field.list("a list of texts, such as [\"rows_per_s\"]")?;
                names.iter().map(measure).collect::<Result<Vec<_>, _>>()
            }
            None => Ok(preset.iter().filter_map(|name| Measure::find(name)).collect()),
        };
        let curves = measures("curves", &["rows_per_s", "reads_per_row"])?;
        let heat = match table.field("heat") {
            Some(field) => measure(&field)?,
            None => curves[0],
        };
        let rows = table.field("rows").map(|field| rows(&field)).transpose()?.unwrap_or_default();
        let design = design(&table)?;
        let title = if title.is_empty() { base.name().to_owned() } else { title };
        drop(document);
        Ok(Self { base, title, question, note, scale, design, rows, heat, curves })
    }
}

fn scale(field: &Field) -> Result<Scale, ScenarioError> {
    let scale = field.text()?.parse::<Scale>();
    scale.map_err(|error: ScenarioError| field.error(error.problem().clone()))
}

fn measure(field: &Field) -> Result<Measure, ScenarioError> {
    let name = field.text()?;
    Measure::find(&name)
        .ok_or_else(|| field.unknown(Measure::ALL.iter().map(|measure| measure.name)))
}

fn rows(field: &Field) -> Result<Vec<u64>, ScenarioError> {
    let rows = field.list("a list of whole numbers, such as [10_000_000, 100_000_000]")?;
    let rows = rows.iter().map(|rows| rows.number(1.0, 1e12).map(|rows| rows as u64));
    let rows = rows.collect::<Result<Vec<_>, _>>()?;
    if rows.is_sorted_by(|a, b| a < b) {
        Ok(rows)
    } else {
        Err(field.conflict("must grow from one to the next".to_owned()))
    }
}

fn design(study: &Table) -> Result<Design, ScenarioError> {
    match (study.field("axis"), study.field("vary")) {
        (Some(axes), None) => {
            let axes_of = axes.list("tables, such as [[study.axis]]")?;
            let parsed = axes_of.iter().map(axis).collect::<Result<Vec<_>, _>>()?;
            let points = parsed.iter().try_fold(1, |n: usize, a| n.checked_mul(a.choices.len()));
            if points.is_none_or(|points| POINTS_MAX < points) {
                return Err(axes_of[0].error(too_many()));
            }
            for (number, axis) in parsed.iter().enumerate() {
                if parsed[..number].iter().any(|other| other.name == axis.name) {
                    let key = format!("study.axis.name: {}", axis.name);
                    return Err(axes_of[number].error(Problem::Duplicate { key }));
                }
            }
            Ok(Design::Grid(parsed))
        }
        (None, Some(field)) => vary(&field).map(Design::Vary),
        (Some(_), Some(vary)) => {
            let reason = "a study has either axes or values that vary one at a time";
            Err(vary.conflict(reason.to_owned()))
        }
        (None, None) => {
            Err(study.missing("axis", "[[study.axis]], or [study.vary]", "What varies"))
        }
    }
}

fn too_many() -> Problem {
    Problem::Conflict {
        key: "study.axis".to_owned(),
        value: "all combinations".to_owned(),
        reason: format!("more than {POINTS_MAX} points"),
    }
}

fn axis(field: &Field) -> Result<Axis, ScenarioError> {
    let table = Table::of(field, &["name", "key", "values"])?;
    let key = table.field("key").map(|key| key.text()).transpose()?;
    let name = match (table.field("name"), &key) {
        (Some(name), _) => name.text()?,
        (None, Some(key)) => key.clone(),
        (None, None) => return Err(table.missing("name", "a text in quotes", "What varies")),
    };
    let values = table.field("values");
    let values = values.ok_or_else(|| table.missing("values", "a list of values", "What it is"))?;
    let parts = values.list("a list of values")?;
    let mut choices: Vec<Choice> = Vec::new();
    for part in &parts {
        let choice = choice(part, key.as_deref())?;
        if choices.iter().any(|other| other.label == choice.label) {
            let key = format!("study.axis.values: {}", choice.label);
            return Err(part.error(Problem::Duplicate { key }));
        }
        choices.push(choice);
    }
    Ok(Axis { name, choices })
}

fn choice(field: &Field, key: Option<&str>) -> Result<Choice, ScenarioError> {
    let line = field.line;
    let set = |value: &Field| match key {
        Some(key) => Ok(format!("{key}={}", value.shown())),
        None => Err(value.conflict("belongs to no key: the axis names none".to_owned())),
    };
    if !field.is_table() {
        let label = field.shown().trim_matches('"').to_owned();
        let change = Change { uses: Vec::new(), sets: vec![set(field)?], line };
        return Ok(Choice { label, change, scale: None });
    }
    let table = Table::of(field, &["label", "value", "use", "set", "scale"])?;
    let value = table.field("value");
    let mut sets = value.iter().map(set).collect::<Result<Vec<_>, _>>()?;
    if let Some(more) = table.field("set") {
        let pairs =
            more.pairs("a table of keys and values, such as { \"pool.size\" = \"1GiB\" }")?;
        sets.extend(pairs.iter().map(|(key, value)| format!("{key}={}", value.shown())));
    }
    let uses = table.field("use").map(|names| names.texts("a list of texts")).transpose()?;
    let label = match (table.field("label"), &value) {
        (Some(label), _) => label.text()?,
        (None, Some(value)) => value.shown().trim_matches('"').to_owned(),
        (None, None) => return Err(table.missing("label", "a text in quotes", VALUE)),
    };
    let scale = table.field("scale").map(|field| scale(&field)).transpose()?;
    let change = Change { uses: uses.unwrap_or_default(), sets, line: table.line() };
    Ok(Choice { label, change, scale })
}

fn vary(field: &Field) -> Result<Vary, ScenarioError> {
    let table = Table::of(field, &["factors", "assumed", "keys", "except"])?;
    let mut vary = Vary::default();
    if let Some(factors) = table.field("factors") {
        let factors = factors.list("a list of numbers, such as [0.75, 1.25]")?;
        let factor = |field: &Field| match field.number(0.001, 1_000.0)? {
            factor if (factor - 1.0).abs() < 1e-9 => {
                Err(field.conflict("is the base itself".to_owned()))
            }
            factor => Ok(factor),
        };
        vary.factors = factors.iter().map(factor).collect::<Result<_, _>>()?;
    }
    if let Some(assumed) = table.field("assumed") {
        vary.assumed = assumed.bool()?;
    }
    if let Some(keys) = table.field("keys") {
        for part in keys.list("a list of keys, or of { key = ..., values = [...] }")? {
            vary.keys.push(varied(&part)?);
        }
    }
    if let Some(except) = table.field("except") {
        for (key, reason) in except.pairs("a table of keys and reasons")? {
            vary.except.push((key, reason.text()?));
        }
    }
    let by_factors = vary.assumed || vary.keys.iter().any(|(_, values, _)| values.is_empty());
    if by_factors && vary.factors.is_empty() {
        return Err(table.missing("factors", "a list of numbers", "By how much values vary"));
    }
    if !vary.assumed && vary.keys.is_empty() {
        return Err(table.missing("keys", "a list of keys, or assumed = true", "What varies"));
    }
    Ok(vary)
}

fn varied(field: &Field) -> Result<(String, Vec<String>, usize), ScenarioError> {
    if !field.is_table() {
        return Ok((field.text()?, Vec::new(), field.line));
    }
    let table = Table::of(field, &["key", "values"])?;
    let key = table.field("key").ok_or_else(|| table.missing("key", "a key", "What varies"))?;
    let values = table.field("values");
    let values = values.ok_or_else(|| table.missing("values", "a list of values", "What it is"))?;
    let values = values.list("a list of values")?;
    Ok((key.text()?, values.iter().map(Field::shown).collect(), field.line))
}
