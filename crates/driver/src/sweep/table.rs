//! A table of a study file, read key by key; whatever is wrong is told with its line.

use toml_edit::{Item, TableLike, Value};

use crate::scenario::{Base, Problem, ScenarioError, nearest};

/// A table and where it stands.
pub(super) struct Table<'a> {
    base: &'a Base,
    entries: &'a dyn TableLike,
    path: String,
    line: usize,
}

/// A value and where it stands.
#[derive(Clone)]
pub(super) struct Field<'a> {
    base: &'a Base,
    item: &'a Item,
    path: String,
    pub(super) line: usize,
}

impl<'a> Table<'a> {
    /// The table of this item, in which only the keys `allowed` may stand.
    pub(super) fn of(field: &Field<'a>, allowed: &[&str]) -> Result<Self, ScenarioError> {
        let Some(entries) = field.item.as_table_like() else {
            return Err(field.wrong("a table", ""));
        };
        let Field { base, path, line, .. } = field.clone();
        let table = Self { base, entries, path, line };
        for (name, _) in entries.iter() {
            if !allowed.contains(&name) {
                let suggestion = nearest(name, allowed.iter().copied());
                let key = table.path_of(name);
                let line = table.field(name).map_or(table.line, |field| field.line);
                return Err(base.error(Some(line), Problem::UnknownKey { key, suggestion }));
            }
        }
        Ok(table)
    }

    /// The line in which it begins.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    pub(super) fn field(&self, name: &str) -> Option<Field<'a>> {
        let (key, item) = self.entries.get_key_value(name)?;
        let span = key.span().or_else(|| item.span());
        let line = span.map_or(self.line, |span| self.base.line_of(span.start));
        Some(Field { base: self.base, item, path: self.path_of(name), line })
    }

    /// An error about a key that must be there and is not.
    pub(super) fn missing(&self, name: &str, expected: &str, doc: &'static str) -> ScenarioError {
        let problem = Problem::Missing {
            key: self.path_of(name),
            expected: expected.to_owned(),
            doc,
            also: Vec::new(),
        };
        self.base.error(Some(self.line), problem)
    }

    fn path_of(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }
}

impl<'a> Field<'a> {
    /// The table of this name at the top of a study.
    pub(super) fn top(base: &'a Base, name: &str, item: &'a Item) -> Self {
        let line = item.span().map_or(1, |span| base.line_of(span.start));
        Self { base, item, path: name.to_owned(), line }
    }

    pub(super) fn text(&self) -> Result<String, ScenarioError> {
        self.item.as_str().map(str::to_owned).ok_or_else(|| self.wrong("a text in quotes", ""))
    }

    /// The parts of a list, of values or of tables, that is not empty.
    pub(super) fn list(&self, of_what: &str) -> Result<Vec<Field<'a>>, ScenarioError> {
        let values = self.item.as_array().map(toml_edit::Array::len);
        let tables = self.item.as_array_of_tables().map(toml_edit::ArrayOfTables::len);
        let parts = match values.or(tables) {
            None => return Err(self.wrong(of_what, "")),
            Some(0) => return Err(self.wrong(of_what, "an empty list")),
            Some(parts) => parts,
        };
        let parts = (0..parts).filter_map(|number| self.item.get(number));
        let field = |item: &'a Item| {
            let line = item.span().map_or(self.line, |span| self.base.line_of(span.start));
            Field { base: self.base, item, path: self.path.clone(), line }
        };
        Ok(parts.map(field).collect())
    }

    /// The keys and values of a table, in its order.
    pub(super) fn pairs(&self, of_what: &str) -> Result<Vec<(String, Field<'a>)>, ScenarioError> {
        let Some(table) = self.item.as_table_like() else { return Err(self.wrong(of_what, "")) };
        let pairs = table.iter().map(|(name, item)| {
            let path = format!("{}.{name}", self.path);
            (name.to_owned(), Field { base: self.base, item, path, line: self.line })
        });
        Ok(pairs.collect())
    }

    pub(super) fn texts(&self, of_what: &str) -> Result<Vec<String>, ScenarioError> {
        self.list(of_what)?.iter().map(Field::text).collect()
    }

    pub(super) fn number(&self, least: f64, most: f64) -> Result<f64, ScenarioError> {
        let expected = format!("a number from {least} to {most}");
        let number = match self.item.as_value() {
            Some(Value::Float(number)) => *number.value(),
            Some(Value::Integer(number)) => *number.value() as f64,
            _ => return Err(self.wrong(&expected, "")),
        };
        if (least..=most).contains(&number) {
            return Ok(number);
        }
        let (key, value) = (self.path.clone(), self.shown());
        Err(self.error(Problem::OutOfRange { key, value, expected }))
    }

    pub(super) fn is_table(&self) -> bool {
        self.item.is_table_like()
    }

    pub(super) fn bool(&self) -> Result<bool, ScenarioError> {
        self.item.as_bool().ok_or_else(|| self.wrong("true or false", ""))
    }

    /// As it is written, with quotes if it has any.
    pub(super) fn shown(&self) -> String {
        self.item.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// An error about this value, which is none of a few words.
    pub(super) fn unknown<'b>(
        &self,
        known: impl Iterator<Item = &'b str> + Clone,
    ) -> ScenarioError {
        let word = self.item.as_str().unwrap_or_default();
        let suggestion = nearest(word, known.clone());
        let expected = format!("one of {}", known.collect::<Vec<_>>().join(", "));
        let (key, value) = (self.path.clone(), self.shown());
        self.error(Problem::UnknownChoice { key, value, suggestion, expected })
    }

    /// An error about this value and others.
    pub(super) fn conflict(&self, reason: String) -> ScenarioError {
        let (key, value) = (self.path.clone(), self.shown());
        self.error(Problem::Conflict { key, value, reason })
    }

    pub(super) fn error(&self, problem: Problem) -> ScenarioError {
        self.base.error(Some(self.line), problem)
    }

    fn wrong(&self, expected: &str, found: &'static str) -> ScenarioError {
        let found = match (found, self.item) {
            ("", Item::Value(Value::String(_))) => "a text",
            ("", Item::Value(Value::Integer(_))) => "a whole number",
            ("", Item::Value(Value::Float(_))) => "a number with a fraction",
            ("", Item::Value(Value::Boolean(_))) => "a truth value",
            ("", Item::Value(Value::Array(_)) | Item::ArrayOfTables(_)) => "a list",
            ("", Item::Value(Value::InlineTable(_)) | Item::Table(_)) => "a table",
            ("", _) => "something else",
            (found, _) => found,
        };
        let (key, value, expected) = (self.path.clone(), self.shown(), expected.to_owned());
        self.error(Problem::WrongType { key, value, found, expected })
    }
}
