//! The parameter registry: every key of a scenario file is declared once, and everything that
//! speaks of keys (parsing, errors, `iisim schema`, the pages in `docs/`) reads it here.

use std::fmt;

use super::error::nearest;
use super::kind::{Kind, Value};
use super::values::Values;
use super::{
    change_buffer, commit, engine, flush, fractal, general, machine, pool, purge, redo, report,
    statement, workload,
};

/// One key of a scenario file.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Dotted key.
    pub key: &'static str,
    /// What its values are, with the range allowed.
    pub kind: Kind,
    /// Its value where no file sets it.
    pub preset: Preset,
    /// One sentence on what it is.
    pub doc: &'static str,
    /// Where the preset and the range come from.
    pub basis: Basis,
    /// Under which kinds of thing it has an effect; all of them must hold.
    pub when: &'static [When],
    /// What `--scale` does to it.
    pub scaling: Scaling,
    /// Whether it reaches the files that use the one it stands in.
    pub inherited: bool,
    /// Whether a file that others use may set it where it has no effect, for those that give it one.
    pub carried: bool,
    /// Whether a file that sets it discards what the files beneath said in its table.
    pub starts_anew: bool,
}

/// The value of a key that no file sets.
#[derive(Clone, Copy, Debug)]
pub enum Preset {
    /// There is none: the scenario is refused.
    Required,
    /// The thing it describes is absent.
    Absent,
    /// This one, written as in a file.
    Is(&'static str),
    /// Follows from other keys, as the words say; `None` leaves it absent.
    From(&'static str, fn(&Values) -> Option<Value>),
}

/// What a preset and its range rest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// A description of the thing itself, for which there is no general source.
    Definition,
    /// A published source.
    Source(&'static str),
    /// Chosen; the words say from which range or by which habit.
    Assumed(&'static str),
}

/// A key has an effect only under a condition on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct When {
    /// The other key.
    pub key: &'static str,
    /// What must hold of its value.
    pub is: Is,
}

/// What must hold of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Is {
    /// It is one of these words.
    Word(&'static [&'static str]),
    /// It is no.
    No,
    /// It is more than 0.
    Positive,
}

impl When {
    pub(super) const fn word(key: &'static str, words: &'static [&'static str]) -> Self {
        Self { key, is: Is::Word(words) }
    }

    /// Whether a value of the other key gives this one an effect.
    pub(super) fn holds(&self, value: &Value) -> bool {
        match (self.is, value) {
            (Is::Word(words), Value::Word(word)) => words.contains(word),
            (Is::No, Value::Bool(yes)) => !yes,
            (Is::Positive, Value::Whole(n)) => *n != 0,
            _ => false,
        }
    }
}

/// What `--scale` does to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scaling {
    /// Nothing: devices, page format, rates per second, fixed page counts.
    Stays,
    /// Shrinks with the rows: amounts of rows, caches, periods of timers.
    Shrinks,
}

impl Param {
    pub(super) const fn new(key: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self {
            key,
            kind,
            preset: Preset::Required,
            doc,
            basis: Basis::Definition,
            when: &[],
            scaling: Scaling::Stays,
            inherited: true,
            carried: false,
            starts_anew: false,
        }
    }

    pub(super) const fn preset(self, text: &'static str) -> Self {
        Self { preset: Preset::Is(text), ..self }
    }

    pub(super) const fn absent(self) -> Self {
        Self { preset: Preset::Absent, ..self }
    }

    pub(super) const fn from(
        self,
        words: &'static str,
        derive: fn(&Values) -> Option<Value>,
    ) -> Self {
        Self { preset: Preset::From(words, derive), ..self }
    }

    pub(super) const fn source(self, source: &'static str) -> Self {
        Self { basis: Basis::Source(source), ..self }
    }

    pub(super) const fn assumed(self, reason: &'static str) -> Self {
        Self { basis: Basis::Assumed(reason), ..self }
    }

    pub(super) const fn when(self, when: &'static [When]) -> Self {
        Self { when, ..self }
    }

    pub(super) const fn shrinks(self) -> Self {
        Self { scaling: Scaling::Shrinks, ..self }
    }

    pub(super) const fn of_this_file(self) -> Self {
        Self { inherited: false, ..self }
    }

    pub(super) const fn carried(self) -> Self {
        Self { carried: true, ..self }
    }

    pub(super) const fn starts_anew(self) -> Self {
        Self { starts_anew: true, ..self }
    }

    /// The table it stands in: `machine.disk` of `machine.disk.kind`, nothing at the top.
    pub fn table(&self) -> &'static str {
        self.key.rsplit_once('.').map_or("", |(table, _)| table)
    }

    /// What a file without this key means by that, in words.
    pub fn preset_text(&self) -> &'static str {
        match self.preset {
            Preset::Required => "required",
            Preset::Absent => "none",
            Preset::Is(text) => text,
            Preset::From(words, _) => words,
        }
    }
}

impl fmt::Display for When {
    /// `key = "word" or "word"`, or `key other than "word"` where that is all but one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self.is {
            Is::Word(words) => words,
            Is::No => return write!(f, "{} = false", self.key),
            Is::Positive => return write!(f, "{} other than 0", self.key),
        };
        if let Some(Param { kind: Kind::Word(all), .. }) = find(self.key) {
            let mut others = all.iter().filter(|other| !words.contains(&other.word));
            if let (Some(other), None) = (others.next(), others.next())
                && 1 < words.len()
            {
                return write!(f, "{} other than \"{}\"", self.key, other.word);
            }
        }
        let quoted = words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>();
        write!(f, "{} = {}", self.key, quoted.join(" or "))
    }
}

/// All keys in the order of the documentation. A key comes after those it depends on.
pub fn registry() -> impl Iterator<Item = &'static Param> {
    [
        general::PARAMS,
        machine::PARAMS,
        machine::DISK_PARAMS,
        pool::PARAMS,
        redo::PARAMS,
        commit::PARAMS,
        flush::PARAMS,
        engine::PARAMS,
        purge::PARAMS,
        change_buffer::PARAMS,
        statement::PARAMS,
        fractal::PARAMS,
        workload::PARAMS,
        report::PARAMS,
    ]
    .into_iter()
    .flatten()
}

/// The parameter of a key.
pub(super) fn find(key: &str) -> Option<&'static Param> {
    registry().find(|param| param.key == key)
}

/// Whether some key lies below `table`.
pub(super) fn is_table(table: &str) -> bool {
    registry().any(|param| {
        param.key.strip_prefix(table).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// The key most likely meant by one that does not exist.
pub(super) fn suggestion(key: &str) -> Option<String> {
    let last = |key: &str| key.rsplit('.').next().map(str::to_owned);
    nearest(key, registry().map(|param| param.key)).or_else(|| {
        // Right word, wrong table: suggested only if there is one such word.
        let mut same = registry().filter(|param| last(param.key) == last(key));
        same.next().filter(|_| same.next().is_none()).map(|param| param.key.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::kind::Raw;
    use super::*;

    #[test]
    fn every_key_is_declared_once_after_those_it_depends_on() {
        let mut seen = BTreeSet::new();
        for param in registry() {
            for when in param.when {
                assert!(seen.contains(when.key), "{} comes before {}", param.key, when.key);
                let other = find(when.key).map(|other| other.kind);
                match (when.is, other) {
                    (Is::Word(words), Some(Kind::Word(known))) => {
                        let known = known.iter().map(|word| word.word).collect::<BTreeSet<_>>();
                        assert!(words.iter().all(|word| known.contains(word)), "{}", param.key);
                    }
                    (Is::No, Some(Kind::Bool)) | (Is::Positive, Some(Kind::Count(..))) => {}
                    _ => panic!("{} asks of {} what it cannot be", param.key, when.key),
                }
            }
            assert!(seen.insert(param.key), "{} is declared twice", param.key);
        }
    }

    #[test]
    fn every_preset_is_allowed_and_has_a_basis() {
        for param in registry() {
            if let Preset::Is(text) = param.preset {
                param.kind.parse(param.key, &Raw::bare(text)).unwrap();
                assert_ne!(param.basis, Basis::Definition, "{}: whence {text}?", param.key);
            }
            assert!(param.doc.ends_with('.'), "{}: its doc is no sentence", param.key);
            assert!(!param.doc.contains('|'), "{}: its doc breaks a table", param.key);
        }
    }
}
