//! What the values of a key are: how they are written, which are allowed, how they are shown.

use std::fmt::Write as _;

use super::error::{Problem, nearest};
use super::quantity::{self, BYTES, DURATION, Fault, RATE, Unit};

/// What the values of a key are, with the range allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// An amount of data; bounds in bytes.
    Bytes(u64, u64),
    /// A length of time; bounds in nanoseconds.
    Duration(u64, u64),
    /// Data per time; bounds in bytes per second.
    Rate(u64, u64),
    /// A share of a whole; bounds as fractions of 1.
    Share(f64, f64),
    /// A number without unit.
    Number(f64, f64),
    /// A whole number of something, and its bounds.
    Count(&'static str, u64, u64),
    /// One of a few whole numbers of something.
    OneOf(&'static str, &'static [u64]),
    /// One of a few words.
    Word(&'static [Word]),
    /// Yes or no.
    Bool,
    /// Any text.
    Text,
    /// A list of texts.
    List,
}

/// A choice and what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// As it is written.
    pub word: &'static str,
    /// What it means.
    pub doc: &'static str,
}

/// A value that its kind allows.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Bytes, nanoseconds, bytes per second or a count.
    Whole(u64),
    /// A share or a number.
    Real(f64),
    /// A choice.
    Word(&'static str),
    /// Yes or no.
    Bool(bool),
    /// A text.
    Text(String),
    /// Texts.
    List(Vec<String>),
}

impl Value {
    /// A number times `factor`, to the nearest whole one where it counts; `None` for what is none.
    pub(super) fn times(&self, factor: f64) -> Option<Self> {
        match self {
            Self::Whole(n) => Some(Self::Whole((*n as f64 * factor).round() as u64)),
            Self::Real(number) => Some(Self::Real(number * factor)),
            _ => None,
        }
    }
}

/// A value as it was written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Raw {
    /// Its text, with quotes if it has any.
    pub(super) shown: String,
    pub(super) form: Form,
}

/// The TOML type of a value as it was written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Form {
    Quoted(String),
    Integer(i64),
    Float(f64),
    Bool(bool),
    List(Vec<String>),
    /// None of these; the words name it.
    Other(&'static str),
    /// Not from TOML, so its type is whatever the key needs.
    Bare(String),
}

impl Raw {
    pub(super) fn bare(text: &str) -> Self {
        Self { shown: text.to_owned(), form: Form::Bare(text.to_owned()) }
    }

    /// Its text without quotes.
    pub(super) fn text(&self) -> &str {
        match &self.form {
            Form::Quoted(text) | Form::Bare(text) => text,
            _ => &self.shown,
        }
    }
}

impl Kind {
    /// The unit its values are counted in.
    pub fn unit(&self) -> &'static str {
        match self {
            Self::Bytes(..) => "bytes",
            Self::Duration(..) => "time",
            Self::Rate(..) => "bytes/s",
            Self::Share(..) => "share",
            Self::Number(..) => "number",
            Self::Count(unit, ..) | Self::OneOf(unit, _) => unit,
            Self::Word(_) => "choice",
            Self::Bool => "yes or no",
            Self::Text => "text",
            Self::List => "list",
        }
    }

    /// The values allowed, in short: `1 MiB to 16 TiB`.
    pub fn allowed(&self) -> String {
        match self {
            Self::Bytes(min, max) => quantity::range(*min, *max, BYTES),
            Self::Duration(min, max) => quantity::range(*min, *max, DURATION),
            Self::Rate(min, max) => quantity::range(*min, *max, RATE),
            Self::Share(min, max) => format!("{}% to {}%", min * 100.0, max * 100.0),
            Self::Number(min, max) => format!("{min} to {max}"),
            Self::Count(_, min, max) => format!("{} to {}", grouped(*min), grouped(*max)),
            Self::OneOf(_, allowed) => listed(allowed.iter().map(u64::to_string)),
            Self::Word(words) => listed(words.iter().map(|word| word.word.to_owned())),
            Self::Bool => "true or false".to_owned(),
            Self::Text => "any text".to_owned(),
            Self::List => "texts".to_owned(),
        }
    }

    /// What a value must look like, for error messages.
    pub fn expected(&self) -> String {
        let allowed = self.allowed();
        let units = |units: &[Unit]| listed(units.iter().map(|unit| unit.name.to_owned()));
        match self {
            Self::Bytes(..) => {
                format!("a size from {allowed}, such as \"16MiB\" (units: {})", units(BYTES))
            }
            Self::Duration(..) => {
                format!("a time from {allowed}, such as \"5ms\" (units: {})", units(DURATION))
            }
            Self::Rate(..) => {
                format!("a rate from {allowed}, such as \"120MB/s\" (units: {})", units(RATE))
            }
            Self::Share(..) => format!("a share from {allowed}, such as \"37%\" or \"3/8\""),
            Self::Number(..) => format!("a number from {allowed}"),
            Self::Count(unit, ..) => format!("a whole number from {allowed} ({unit})"),
            Self::OneOf(..) | Self::Word(_) => format!("one of {allowed}"),
            Self::Bool => allowed,
            Self::Text => "a text in quotes".to_owned(),
            Self::List => "a list of texts, such as [\"machines/callaghan-2011\"]".to_owned(),
        }
    }

    /// The value that an option of the command line gives as `text`.
    ///
    /// # Errors
    /// As for a value in a file, with the option in the place of the key.
    pub fn parse_option(&self, option: &str, text: &str) -> Result<Value, Problem> {
        self.parse(option, &Raw::bare(text))
    }

    /// The value of `key` that `raw` writes.
    pub(super) fn parse(&self, key: &str, raw: &Raw) -> Result<Value, Problem> {
        let given = Given { key, raw, kind: self };
        match (self, &raw.form) {
            (Self::Bytes(min, max), _) => given.quantity(BYTES, *min, *max),
            (Self::Duration(min, max), _) => given.quantity(DURATION, *min, *max),
            (Self::Rate(min, max), _) => given.quantity(RATE, *min, *max),
            (Self::Share(min, max), _) => given.share(*min, *max),
            (Self::Number(min, max), _) => given.number(*min, *max),
            (Self::Count(_, min, max), _) => {
                let count = given.count()?;
                let inside = (*min..=*max).contains(&count);
                if inside { Ok(Value::Whole(count)) } else { Err(given.out_of_range()) }
            }
            (Self::OneOf(_, allowed), _) => {
                let count = given.count()?;
                let inside = allowed.contains(&count);
                if inside { Ok(Value::Whole(count)) } else { Err(given.out_of_range()) }
            }
            (Self::Word(words), _) => given.word(words),
            (Self::Bool, Form::Bool(yes)) => Ok(Value::Bool(*yes)),
            (Self::Bool, Form::Bare(text)) => {
                text.parse().map(Value::Bool).map_err(|_| given.wrong_type("neither of them"))
            }
            (Self::Text, Form::Quoted(text) | Form::Bare(text)) => Ok(Value::Text(text.clone())),
            (Self::List, Form::List(texts)) => Ok(Value::List(texts.clone())),
            (Self::Bool | Self::Text | Self::List, form) => Err(given.wrong_type(form.name())),
        }
    }

    /// A value as a file would write it, without quotes.
    pub fn show(&self, value: &Value) -> String {
        match (self, value) {
            (Self::Bytes(..), Value::Whole(n)) => quantity::show(*n, BYTES),
            (Self::Duration(..), Value::Whole(n)) => quantity::show(*n, DURATION),
            (Self::Rate(..), Value::Whole(n)) => quantity::show(*n, RATE),
            (Self::Share(..), Value::Real(share)) => format!("{}%", share * 100.0),
            (_, Value::Whole(n)) => grouped(*n),
            (_, Value::Real(number)) => number.to_string(),
            (_, Value::Word(word)) => (*word).to_owned(),
            (_, Value::Bool(yes)) => yes.to_string(),
            (_, Value::Text(text)) => text.clone(),
            (_, Value::List(texts)) => texts.join(", "),
        }
    }
}

/// A raw value beside the key and kind it is read for.
struct Given<'a> {
    key: &'a str,
    raw: &'a Raw,
    kind: &'a Kind,
}

impl Given<'_> {
    fn quantity(&self, units: &'static [Unit], min: u64, max: u64) -> Result<Value, Problem> {
        let text = match &self.raw.form {
            Form::Quoted(text) | Form::Bare(text) => text,
            Form::Integer(_) | Form::Float(_) => return Err(self.missing_unit()),
            form => return Err(self.wrong_type(form.name())),
        };
        match quantity::parse(text, units) {
            Ok(amount) if (min..=max).contains(&amount) => Ok(Value::Whole(amount)),
            Ok(_) | Err(Fault::TooLarge) => Err(self.out_of_range()),
            Err(Fault::NotANumber) => Err(self.wrong_type("no quantity")),
            Err(Fault::Negative) => Err(self.negative()),
            Err(Fault::NoUnit) => Err(self.missing_unit()),
            Err(Fault::UnknownUnit(unit)) => Err(Problem::UnknownUnit {
                suggestion: quantity::similar_unit(&unit, units),
                unit,
                key: self.key.to_owned(),
                value: self.raw.shown.clone(),
                expected: self.kind.expected(),
            }),
        }
    }

    fn share(&self, min: f64, max: f64) -> Result<Value, Problem> {
        let text = match &self.raw.form {
            Form::Quoted(text) | Form::Bare(text) => text,
            Form::Integer(_) | Form::Float(_) => return Err(self.missing_unit()),
            form => return Err(self.wrong_type(form.name())),
        };
        match quantity::parse_share(text) {
            Ok(share) if (min..=max).contains(&share) => Ok(Value::Real(share)),
            Ok(_) | Err(Fault::TooLarge) => Err(self.out_of_range()),
            Err(Fault::Negative) => Err(self.negative()),
            Err(Fault::NoUnit | Fault::UnknownUnit(_)) => Err(self.missing_unit()),
            Err(Fault::NotANumber) => Err(self.wrong_type("no share")),
        }
    }

    fn number(&self, min: f64, max: f64) -> Result<Value, Problem> {
        let number = match &self.raw.form {
            Form::Float(number) => *number,
            Form::Integer(number) => *number as f64,
            Form::Bare(text) => text.parse().map_err(|_| self.wrong_type("no number"))?,
            form => return Err(self.wrong_type(form.name())),
        };
        match number {
            _ if (min..=max).contains(&number) => Ok(Value::Real(number)),
            _ if number < 0.0 => Err(self.negative()),
            _ => Err(self.out_of_range()),
        }
    }

    fn count(&self) -> Result<u64, Problem> {
        match &self.raw.form {
            Form::Integer(count) => u64::try_from(*count).map_err(|_| self.negative()),
            Form::Bare(text) => match text.replace('_', "").parse::<i128>() {
                Ok(count) if count < 0 => Err(self.negative()),
                Ok(count) => u64::try_from(count).map_err(|_| self.out_of_range()),
                Err(_) => Err(self.wrong_type("no whole number")),
            },
            form => Err(self.wrong_type(form.name())),
        }
    }

    fn word(&self, words: &'static [Word]) -> Result<Value, Problem> {
        let text = match &self.raw.form {
            Form::Quoted(text) | Form::Bare(text) => text.clone(),
            // RAID levels are words that look like numbers.
            Form::Integer(number) => number.to_string(),
            form => return Err(self.wrong_type(form.name())),
        };
        match words.iter().find(|known| known.word == text) {
            Some(known) => Ok(Value::Word(known.word)),
            None => Err(Problem::UnknownChoice {
                key: self.key.to_owned(),
                value: self.raw.shown.clone(),
                suggestion: nearest(&text, words.iter().map(|known| known.word)),
                expected: self.kind.expected(),
            }),
        }
    }

    fn wrong_type(&self, found: &'static str) -> Problem {
        let (key, value, expected) = self.parts();
        Problem::WrongType { key, value, found, expected }
    }

    fn missing_unit(&self) -> Problem {
        let (key, value, expected) = self.parts();
        Problem::MissingUnit { key, value, expected }
    }

    fn negative(&self) -> Problem {
        let (key, value, expected) = self.parts();
        Problem::Negative { key, value, expected }
    }

    fn out_of_range(&self) -> Problem {
        let (key, value, expected) = self.parts();
        Problem::OutOfRange { key, value, expected }
    }

    fn parts(&self) -> (String, String, String) {
        (self.key.to_owned(), self.raw.shown.clone(), self.kind.expected())
    }
}

impl Form {
    /// The type as error messages name it.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Quoted(_) => "a text",
            Self::Integer(_) => "a whole number",
            Self::Float(_) => "a number with a fraction",
            Self::Bool(_) => "a truth value",
            Self::List(_) => "a list",
            Self::Other(name) => name,
            Self::Bare(_) => "not allowed on the command line",
        }
    }
}

/// 1000000 as `1_000_000`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place != 0 && (digits.len() - place).is_multiple_of(3) {
            text.push('_');
        }
        text.push(digit);
    }
    text
}

/// `a, b, c`.
fn listed(items: impl Iterator<Item = String>) -> String {
    let mut text = String::new();
    for item in items {
        let comma = if text.is_empty() { "" } else { ", " };
        let _ = write!(text, "{comma}{item}");
    }
    text
}
