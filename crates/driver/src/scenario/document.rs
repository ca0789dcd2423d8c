//! One scenario file: its TOML as a list of dotted keys, each with its line and its origin.

use toml_edit::{Document, Item, TableLike, Value as Toml};

use super::error::{Place, Problem, ScenarioError};
use super::kind::{Form, Kind, Raw};
use super::param::{self, Param};

/// A file that was read.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// Where the reader finds it, for error messages.
    pub(super) shown: String,
    /// What it is called in results, which must not depend on where it lies.
    pub(super) name: String,
    pub(super) text: String,
}

/// One key set in a file.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) param: &'static Param,
    pub(super) raw: Raw,
    pub(super) line: usize,
    /// Whence the value is, if the file says so.
    pub(super) source: Option<String>,
    /// Why this value was chosen, if the file says so.
    pub(super) assumed: Option<String>,
}

/// The table that makes a scenario a study.
pub(crate) const STUDY: &str = "study";

/// All keys set in a file, in its order; those of a study's own table are left out.
pub(super) fn read(source: &Source) -> Result<Vec<Entry>, ScenarioError> {
    let document = source.parse()?;
    let mut entries = Vec::new();
    Reader { source, entries: &mut entries }.table("", document.as_table(), None)?;
    if entries.is_empty() {
        return Err(source.error(None, Problem::Empty));
    }
    Ok(entries)
}

impl Source {
    pub(super) fn place(&self, line: Option<usize>) -> Place {
        Place::File { file: self.shown.clone(), line }
    }

    /// Its TOML.
    pub(super) fn parse(&self) -> Result<Document<&str>, ScenarioError> {
        Document::parse(self.text.as_str()).map_err(|error| {
            let message = error.message().lines().collect::<Vec<_>>().join(", ");
            let line = error.span().map_or(1, |span| self.line_of(span.start));
            self.error(Some(line), Problem::Syntax { message })
        })
    }

    pub(super) fn error(&self, line: Option<usize>, problem: Problem) -> ScenarioError {
        ScenarioError::new(self.place(line), problem)
    }

    pub(super) fn line_of(&self, byte: usize) -> usize {
        let before = self.text.get(..byte).unwrap_or(&self.text);
        1 + before.bytes().filter(|byte| *byte == b'\n').count()
    }
}

struct Reader<'a> {
    source: &'a Source,
    entries: &'a mut Vec<Entry>,
}

impl Reader<'_> {
    /// Reads the table at `path`, which starts in `line`.
    fn table(
        &mut self,
        path: &str,
        table: &dyn TableLike,
        line: Option<usize>,
    ) -> Result<(), ScenarioError> {
        if table.is_empty() && !path.is_empty() && !param::is_table(path) {
            return Err(self.unknown(path, line));
        }
        let is_scenarios = |(name, _): &(&str, _)| !(path.is_empty() && *name == STUDY);
        for (name, item) in table.iter().filter(is_scenarios) {
            let key = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            let span = table.key(name).and_then(toml_edit::Key::span).or_else(|| item.span());
            let line = span.map(|span| self.source.line_of(span.start)).or(line);
            match (param::find(&key), item.as_table_like()) {
                (Some(param), None) => {
                    let raw = self.raw(item);
                    self.push(param, raw, line, None, None);
                }
                (Some(param), Some(inner)) => self.with_origin(param, inner, item, line)?,
                (None, Some(inner)) => self.table(&key, inner, line)?,
                (None, None) if param::is_table(&key) => {
                    let raw = self.raw(item);
                    let (found, value) = (raw.form.name(), raw.shown);
                    let expected = format!("a table, such as [{key}]");
                    let problem = Problem::WrongType { key, value, found, expected };
                    return Err(self.source.error(line, problem));
                }
                (None, None) => return Err(self.unknown(&key, line)),
            }
        }
        Ok(())
    }

    /// Reads `{ value = ..., source = "..." }` or `{ value = ..., assumed = "..." }`.
    fn with_origin(
        &mut self,
        param: &'static Param,
        table: &dyn TableLike,
        item: &Item,
        line: Option<usize>,
    ) -> Result<(), ScenarioError> {
        const SHAPE: &str = "a value, or { value = ..., source = \"...\" }, \
                             or { value = ..., assumed = \"...\" }";
        let malformed = |found| {
            let (key, value) = (param.key.to_owned(), self.raw(item).shown);
            let expected = SHAPE.to_owned();
            self.source.error(line, Problem::WrongType { key, value, found, expected })
        };
        if table.iter().any(|(name, _)| !matches!(name, "value" | "source" | "assumed")) {
            return Err(malformed("a table with other keys than value, source and assumed"));
        }
        let words = |name| match table.get(name).map(Item::as_str) {
            Some(None) => Err(malformed("its source or assumed is no text")),
            words => Ok(words.flatten().map(str::to_owned)),
        };
        let (source, assumed) = (words("source")?, words("assumed")?);
        if source.is_some() && assumed.is_some() {
            return Err(malformed("both a source and assumed"));
        }
        let value = table.get("value").ok_or_else(|| malformed("a table without a value"))?;
        let raw = self.raw(value);
        self.push(param, raw, line, source, assumed);
        Ok(())
    }

    fn push(
        &mut self,
        param: &'static Param,
        raw: Raw,
        line: Option<usize>,
        source: Option<String>,
        assumed: Option<String>,
    ) {
        self.entries.push(Entry { param, raw, line: line.unwrap_or(1), source, assumed });
    }

    fn raw(&self, item: &Item) -> Raw {
        let written = item.span().and_then(|span| self.source.text.get(span));
        let shown = written.map_or_else(|| item.to_string().trim().to_owned(), str::to_owned);
        let form = match item {
            Item::Value(Toml::String(text)) => Form::Quoted(text.value().clone()),
            Item::Value(Toml::Integer(number)) => Form::Integer(*number.value()),
            Item::Value(Toml::Float(number)) => Form::Float(*number.value()),
            Item::Value(Toml::Boolean(yes)) => Form::Bool(*yes.value()),
            Item::Value(Toml::Datetime(_)) => Form::Other("a date"),
            Item::Value(Toml::Array(items)) => {
                let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
                match texts.collect() {
                    Some(texts) => Form::List(texts),
                    None => Form::Other("a list of other things than texts"),
                }
            }
            Item::ArrayOfTables(_) => Form::Other("a list of tables"),
            Item::None | Item::Table(_) | Item::Value(Toml::InlineTable(_)) => {
                Form::Other("a table")
            }
        };
        Raw { shown: one_line(&shown), form }
    }

    fn unknown(&self, key: &str, line: Option<usize>) -> ScenarioError {
        let suggestion = param::suggestion(key);
        self.source.error(line, Problem::UnknownKey { key: key.to_owned(), suggestion })
    }
}

/// A value as an error message can show it: without line breaks and not for ever.
fn one_line(text: &str) -> String {
    const SHOWN_MAX: usize = 60;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// The setting of a `--set key=value`.
pub(super) fn read_set(text: &str) -> Result<(&'static Param, Raw), ScenarioError> {
    let refuse = |problem| ScenarioError::new(Place::Set, problem);
    let Some((key, value)) = text.split_once('=') else {
        return Err(refuse(Problem::MalformedSet { text: one_line(text) }));
    };
    let (key, value) = (key.trim(), value.trim());
    if key.is_empty() || value.is_empty() {
        return Err(refuse(Problem::MalformedSet { text: one_line(text) }));
    }
    let Some(param) = param::find(key) else {
        let suggestion = param::suggestion(key);
        return Err(refuse(Problem::UnknownKey { key: key.to_owned(), suggestion }));
    };
    // A list names the files beneath, which are read before the command line counts.
    if param.kind == Kind::List {
        let (key, value) = (key.to_owned(), value.to_owned());
        let (found, expected) = ("not for the command line", "it in a file".to_owned());
        return Err(refuse(Problem::WrongType { key, value, found, expected }));
    }
    // Quotes that a shell leaves in place are what a file would have.
    let bare = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value);
    Ok((param, Raw { shown: one_line(value), form: Form::Bare(bare.to_owned()) }))
}
