//! The scenario files inside the binary.

use include_dir::{Dir, include_dir};

use super::document::{self, Source};
use super::kind::Form;

static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../sim-configs");

/// The verdicts that are expected, which are no claims.
const BASELINE: &str = "claims/baseline.toml";

/// What a built-in file describes, by the folder it lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CatalogueKind {
    /// A complete scenario.
    Experiment,
    /// A grid of scenarios.
    Study,
    /// Cores, disks and prices.
    Machine,
    /// An engine's version: its pool, page and split rules.
    Engine,
}

/// A built-in file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CatalogueEntry {
    /// What it describes.
    pub kind: CatalogueKind,
    /// What to call it: `s4-insert-buffer-off` for an experiment or a study, and
    /// `machines/callaghan-2011` for what a scenario uses.
    pub name: String,
    /// Its title.
    pub title: String,
}

impl CatalogueKind {
    /// All kinds, in the order of the catalogue.
    pub const ALL: [Self; 4] = [Self::Experiment, Self::Study, Self::Machine, Self::Engine];

    /// The folder of its files.
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Experiment => "experiments",
            Self::Study => "studies",
            Self::Machine => "machines",
            Self::Engine => "engines",
        }
    }
}

/// Every built-in file, sorted by kind and name.
pub fn catalogue() -> Vec<CatalogueEntry> {
    let mut entries = Vec::new();
    for kind in CatalogueKind::ALL {
        for name in names_in(kind) {
            let title = file(&format!("{name}.toml")).map_or("", |(_, text)| text);
            let title = title_of(&name, title);
            entries.push(CatalogueEntry { kind, name: called(&name).to_owned(), title });
        }
    }
    entries.sort();
    entries
}

/// The built-in files of claims, one for each article, in the order of their names: path and text.
pub(crate) fn claim_files() -> Vec<(String, &'static str)> {
    let files = FILES.get_dir("claims").into_iter().flat_map(Dir::files);
    let paths = files.filter_map(|file| file.path().to_str());
    let mut files: Vec<_> = paths.filter(|path| *path != BASELINE).filter_map(file).collect();
    files.sort();
    files
}

/// The committed verdicts of the scorecard, if there are any.
pub(crate) fn baseline() -> Option<&'static str> {
    file(BASELINE).map(|(_, text)| text)
}

/// The names of all built-in files with their folders, without `.toml`.
pub(super) fn names() -> Vec<String> {
    CatalogueKind::ALL.into_iter().flat_map(names_in).collect()
}

/// The built-in file at a path such as `machines/x25e.toml`: its path and its text.
pub(super) fn file(path: &str) -> Option<(String, &'static str)> {
    let text = FILES.get_file(path)?.contents_utf8()?;
    Some((path.to_owned(), text))
}

/// The path of the built-in file of a name, with or without its folder.
pub(super) fn find(name: &str) -> Option<String> {
    let name = names().into_iter().find(|known| known == name || bare(known) == name)?;
    Some(format!("{name}.toml"))
}

/// What to call the built-in file of a name with its folder (see [`CatalogueEntry::name`]).
pub(super) fn called(name: &str) -> &str {
    let is_in = |kind: CatalogueKind| name.split('/').next() == Some(kind.folder());
    let by_bare_name = is_in(CatalogueKind::Experiment) || is_in(CatalogueKind::Study);
    if by_bare_name { bare(name) } else { name }
}

/// The names of all built-in files of a kind with their folder, without `.toml`.
pub(super) fn names_in(kind: CatalogueKind) -> Vec<String> {
    let files = FILES.get_dir(kind.folder()).into_iter().flat_map(Dir::files);
    let paths = files.filter_map(|file| file.path().to_str()?.strip_suffix(".toml"));
    let mut names: Vec<_> = paths.map(str::to_owned).collect();
    names.sort();
    names
}

fn bare(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn title_of(name: &str, text: &str) -> String {
    let source = Source { shown: name.to_owned(), name: name.to_owned(), text: text.to_owned() };
    let entries = document::read(&source).unwrap_or_default();
    let title = entries.into_iter().find(|entry| entry.param.key == "title");
    match title.map(|entry| entry.raw.form) {
        Some(Form::Quoted(title)) => title,
        _ => String::new(),
    }
}
