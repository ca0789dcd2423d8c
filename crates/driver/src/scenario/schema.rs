//! The registry as text: for `iisim schema` and for the pages in `docs/`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::error::{Place, Problem, ScenarioError, nearest};
use super::kind::Kind;
use super::param::{Basis, Param, Preset, Scaling, When, registry, suggestion};

/// Every key as `iisim schema` prints it: a scenario file of comments.
pub fn schema() -> String {
    commented(registry())
}

/// As [`schema`], of the keys that begin with `prefix` alone.
///
/// # Errors
/// No key begins with it; the message names the tables.
pub fn schema_of(prefix: &str) -> Result<String, ScenarioError> {
    let mut params = registry().filter(|param| param.key.starts_with(prefix)).peekable();
    if params.peek().is_none() {
        let known: BTreeSet<_> = registry().map(Param::table).filter(|t| !t.is_empty()).collect();
        let suggestion = nearest(prefix, known.iter().copied()).or_else(|| suggestion(prefix));
        let (name, known) = (prefix.to_owned(), known.into_iter().map(str::to_owned).collect());
        let what = "key or table of keys";
        let problem = Problem::UnknownName { name, what, suggestion, known };
        return Err(ScenarioError::new(Place::Name, problem));
    }
    Ok(commented(params))
}

fn commented(params: impl Iterator<Item = &'static Param>) -> String {
    let mut text = String::from(
        "# Keys of scenario files. Quantities are texts with their unit (\"16GiB\", \"5ms\",\n\
         # \"120MB/s\", \"37%\"), counts are whole numbers (1_000_000). A value may carry where it\n\
         # is from: { value = \"16GiB\", source = \"...\" } or { value = \"16GiB\", assumed = \"...\" }.\n",
    );
    let mut table = "";
    for param in params {
        text.push('\n');
        if param.table() != table {
            table = param.table();
            let _ = writeln!(text, "[{table}]");
        }
        let name = param.key.rsplit('.').next().unwrap_or(param.key);
        let _ = writeln!(text, "# {}", param.doc);
        if let Kind::Word(words) = param.kind {
            for word in words {
                let _ = writeln!(text, "#   \"{}\": {}", word.word, word.doc);
            }
        } else {
            let _ = writeln!(text, "# {}: {}.", param.kind.unit(), param.kind.allowed());
        }
        for line in [effect(param), scaling(param), basis(param)].into_iter().flatten() {
            let _ = writeln!(text, "# {line}");
        }
        let _ = match param.preset {
            Preset::Required => writeln!(text, "# {name} =   (required)"),
            Preset::Absent => writeln!(text, "# {name} =   (may be absent)"),
            Preset::From(words, _) => writeln!(text, "# {name} =   (default: {words})"),
            Preset::Is(preset) => writeln!(text, "# {name} = {}", quoted(param, preset)),
        };
    }
    text
}

/// Every key as one table in Markdown: key, unit, default, allowed values, what `--scale` does,
/// meaning, source.
pub fn markdown_table() -> String {
    let mut text = String::from(
        "| key | unit | default | allowed | scaled | meaning | source |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for param in registry() {
        let scaled = if param.scaling == Scaling::Shrinks { "yes" } else { "" };
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} | {scaled} | {} | {} |",
            param.key,
            param.kind.unit(),
            preset(param),
            param.kind.allowed(),
            meaning(param),
            match param.basis {
                Basis::Definition => String::new(),
                Basis::Source(source) => source.to_owned(),
                Basis::Assumed(reason) => format!("assumed: {reason}"),
            }
        );
    }
    text
}

/// Every key as a section of the reference for authors of scenario files, one table of TOML after
/// the other, in Markdown.
pub fn reference() -> String {
    let mut text = String::new();
    let mut table = None;
    for param in registry() {
        if table != Some(param.table()) {
            table = Some(param.table());
            let _ = match param.table() {
                "" => writeln!(text, "### At the top"),
                table => writeln!(text, "\n### `[{table}]`"),
            };
            text.push_str("\n| key | default | allowed | meaning |\n| --- | --- | --- | --- |\n");
        }
        let name = param.key.rsplit('.').next().unwrap_or(param.key);
        let mut doc = meaning(param);
        if let Kind::Word(words) = param.kind {
            for word in words {
                let _ = write!(doc, "<br>`{}`: {}", word.word, word.doc);
            }
        }
        let allowed = match param.kind {
            Kind::Word(_) => "see right".to_owned(),
            kind => kind.allowed(),
        };
        let _ = writeln!(text, "| `{name}` | {} | {allowed} | {doc} |", preset(param));
    }
    text
}

fn preset(param: &Param) -> String {
    match param.preset {
        Preset::Is(text) => format!("`{}`", quoted(param, text)),
        _ => param.preset_text().to_owned(),
    }
}

/// A preset as a file would write it.
fn quoted(param: &Param, text: &str) -> String {
    match param.kind {
        Kind::Count(..) | Kind::OneOf(..) | Kind::Number(..) | Kind::Bool => text.to_owned(),
        _ => format!("\"{text}\""),
    }
}

/// What a key is and under which kinds of thing it has an effect.
fn meaning(param: &Param) -> String {
    match effect(param) {
        None => param.doc.to_owned(),
        Some(effect) => format!("{} {effect}", param.doc),
    }
}

/// Under which kinds of thing a key has an effect.
fn effect(param: &Param) -> Option<String> {
    let conditions = param.when.iter().map(When::to_string).collect::<Vec<_>>();
    (!conditions.is_empty()).then(|| format!("Only with {}.", conditions.join(" and ")))
}

fn scaling(param: &Param) -> Option<String> {
    (param.scaling == Scaling::Shrinks).then(|| "Shrinks with --scale.".to_owned())
}

fn basis(param: &Param) -> Option<String> {
    match param.basis {
        Basis::Definition => None,
        Basis::Source(source) => Some(format!("Source: {source}.")),
        Basis::Assumed(reason) => Some(format!("Assumed: {reason}.")),
    }
}
