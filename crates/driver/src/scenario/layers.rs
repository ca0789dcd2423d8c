//! The files of a scenario: each `use` names files that lie beneath.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Component, Path, PathBuf};

use super::catalogue::{self, CatalogueKind};
use super::document::{self, Entry, Source};
use super::error::{Place, Problem, ScenarioError, nearest};
use super::kind::Value;

/// A file and the keys it sets.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    pub(super) source: Source,
    pub(super) entries: Vec<Entry>,
    pub(super) location: Location,
    /// Whether it is the scenario's own file, not one that is used.
    pub(super) own: bool,
}

/// Where a file lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Location {
    Disk(PathBuf),
    /// Path in the copies inside the binary, with `.toml`.
    BuiltIn(String),
    /// No file: what it uses is built in, or lies in the current folder.
    Text,
}

impl Location {
    /// The folder that paths in the file start from.
    pub(super) fn folder(&self) -> &Path {
        match self {
            Self::Disk(path) => path.parent().unwrap_or(Path::new("")),
            Self::BuiltIn(_) | Self::Text => Path::new(""),
        }
    }
}

/// What a name is expected to name, and what there is of it.
#[derive(Debug)]
pub(super) struct Wanted {
    what: &'static str,
    kinds: &'static [CatalogueKind],
    /// Whether experiments and studies are called by their names without folder.
    bare: bool,
}

impl Wanted {
    pub(super) const SCENARIO: Self = Self {
        what: "file or built-in experiment",
        kinds: &[CatalogueKind::Experiment],
        bare: true,
    };
    pub(super) const DISKS: Self = Self {
        what: "file or built-in machine or experiment",
        kinds: &[CatalogueKind::Machine, CatalogueKind::Experiment],
        bare: true,
    };
    const STUDY: Self =
        Self { what: "file or built-in study", kinds: &[CatalogueKind::Study], bare: true };
    const USED: Self = Self {
        what: "scenario file to use",
        kinds: &[CatalogueKind::Experiment, CatalogueKind::Machine, CatalogueKind::Engine],
        bare: false,
    };
}

/// The files of the scenario at a path or of a name, lowest first; the last is the file itself.
pub(super) fn load(path_or_name: &str, wanted: &Wanted) -> Result<Vec<Layer>, ScenarioError> {
    let location = locate(path_or_name, wanted)?;
    let source = read(&location)?;
    if let Some(line) = study_line(&source)? {
        return Err(source.error(Some(line), Problem::IsStudy { name: path_or_name.to_owned() }));
    }
    stack(location, source)
}

/// As [`load`], of a study, whose own table is not read; with where it lies and its text.
pub(super) fn load_study(
    path_or_name: &str,
) -> Result<(Vec<Layer>, Location, Source), ScenarioError> {
    let location = locate(path_or_name, &Wanted::STUDY)?;
    let source = read(&location)?;
    if study_line(&source)?.is_none() {
        return Err(source.error(None, Problem::IsNoStudy { name: path_or_name.to_owned() }));
    }
    Ok((stack(location.clone(), source.clone())?, location, source))
}

/// As [`load`], of the file that `name` means in a file at `user`, as a `use` there would find it.
pub(super) fn load_used(name: &str, user: &Location) -> Result<Vec<Layer>, ScenarioError> {
    let location =
        resolve(name, user).ok_or_else(|| unknown_name(Place::Name, name, &Wanted::USED))?;
    let source = read(&location)?;
    if study_line(&source)?.is_some() {
        return Err(source.error(None, Problem::IsStudy { name: name.to_owned() }));
    }
    stack(location, source)
}

/// Lays more files over those of a scenario at `user`, by the names that a `use` there would take.
pub(super) fn add_over(
    layers: Vec<Layer>,
    user: &Location,
    source: &Source,
    names: &[String],
    line: usize,
) -> Result<Vec<Layer>, ScenarioError> {
    let mut stack = Stack { layers, done: Vec::new(), open: Vec::new() };
    for name in names {
        stack.add_used(name, line, source, user)?;
    }
    Ok(stack.layers)
}

/// The line in which the table of a study begins, if the file is one.
fn study_line(source: &Source) -> Result<Option<usize>, ScenarioError> {
    let document = source.parse()?;
    let Some((key, item)) = document.as_table().get_key_value(document::STUDY) else {
        return Ok(None);
    };
    let span = key.span().or_else(|| item.span());
    Ok(Some(span.map_or(1, |span| source.line_of(span.start))))
}

/// Where the file of a path or of a name lies.
fn locate(path_or_name: &str, wanted: &Wanted) -> Result<Location, ScenarioError> {
    let path = Path::new(path_or_name);
    let is_path = path.extension().is_some_and(|extension| extension == "toml");
    let built_in = catalogue::find(path_or_name);
    match built_in {
        Some(name) if !is_path => Ok(Location::BuiltIn(name)),
        _ if is_path || path.exists() => Ok(Location::Disk(normal(path))),
        _ => Err(unknown_name(Place::Name, path_or_name, wanted)),
    }
}

/// As [`load`], of a text that lies in no file.
pub(super) fn of_text(name: &str, text: &str) -> Result<Vec<Layer>, ScenarioError> {
    let source = Source { shown: name.to_owned(), name: name.to_owned(), text: text.to_owned() };
    stack(Location::Text, source)
}

fn stack(location: Location, source: Source) -> Result<Vec<Layer>, ScenarioError> {
    let mut stack = Stack { layers: Vec::new(), done: Vec::new(), open: Vec::new() };
    stack.add(location, source)?;
    if let Some(last) = stack.layers.last_mut() {
        last.own = true;
    }
    Ok(stack.layers)
}

struct Stack {
    layers: Vec<Layer>,
    /// Files that are part of the stack: one used from two sides counts where it came first.
    done: Vec<Location>,
    /// The file being read, with those that use it.
    open: Vec<(Location, String)>,
}

impl Stack {
    fn add(&mut self, location: Location, source: Source) -> Result<(), ScenarioError> {
        let entries = document::read(&source)?;
        self.open.push((location.clone(), source.shown.clone()));
        if let Some(entry) = entries.iter().find(|entry| entry.param.key == "use") {
            for name in names(entry, &source)? {
                self.add_used(&name, entry.line, &source, &location)?;
            }
        }
        self.open.pop();
        self.done.push(location.clone());
        self.layers.push(Layer { source, entries, location, own: false });
        Ok(())
    }

    fn add_used(
        &mut self,
        name: &str,
        line: usize,
        user: &Source,
        user_location: &Location,
    ) -> Result<(), ScenarioError> {
        let location = resolve(name, user_location)
            .ok_or_else(|| unknown_name(user.place(Some(line)), name, &Wanted::USED))?;
        if let Some(first) = self.open.iter().position(|(open, _)| *open == location) {
            let mut chain: Vec<_> = self.open[first..].iter().map(|(_, n)| n.clone()).collect();
            chain.push(chain[0].clone());
            return Err(user.error(Some(line), Problem::Cycle { chain }));
        }
        if self.done.contains(&location) {
            return Ok(());
        }
        let source = read(&location).map_err(|error| {
            let problem = Box::new(error.problem().clone());
            user.error(Some(line), Problem::Used { file: name.to_owned(), problem })
        })?;
        if study_line(&source)?.is_some() {
            let problem = Box::new(Problem::IsStudy { name: name.to_owned() });
            return Err(user.error(Some(line), Problem::Used { file: name.to_owned(), problem }));
        }
        self.add(location, source)
    }
}

/// The names in a `use`.
fn names(entry: &Entry, source: &Source) -> Result<Vec<String>, ScenarioError> {
    let fail = |problem| source.error(Some(entry.line), problem);
    let Value::List(names) = entry.param.kind.parse("use", &entry.raw).map_err(fail)? else {
        return Ok(Vec::new());
    };
    let twice = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name));
    match twice {
        Some((_, name)) => Err(fail(Problem::Duplicate { key: format!("use: {name}") })),
        None => Ok(names),
    }
}

/// The file that `name` means in a file at `user`.
fn resolve(name: &str, user: &Location) -> Option<Location> {
    if Path::new(name).extension().is_some_and(|extension| extension == "toml") {
        return match user {
            Location::Disk(_) => Some(Location::Disk(normal(&user.folder().join(name)))),
            Location::BuiltIn(path) => {
                let path = normal(&Path::new(path).parent()?.join(name));
                catalogue::file(path.to_str()?).map(|(name, _)| Location::BuiltIn(name))
            }
            Location::Text => Some(Location::Disk(normal(Path::new(name)))),
        };
    }
    if let Location::Disk(path) = user
        && let Some(root) = root_of(path)
    {
        let path = root.join(format!("{name}.toml"));
        if path.is_file() {
            return Some(Location::Disk(path));
        }
    }
    catalogue::file(&format!("{name}.toml")).map(|(name, _)| Location::BuiltIn(name))
}

/// The `sim-configs` folder nearest above a file, or beside one of the folders above it.
fn root_of(path: &Path) -> Option<PathBuf> {
    const ROOT: &str = "sim-configs";
    let absolute = std::path::absolute(path).ok()?;
    let root = absolute.ancestors().skip(1).find_map(|folder| {
        if folder.file_name().is_some_and(|name| name == ROOT) {
            return Some(folder.to_owned());
        }
        Some(folder.join(ROOT)).filter(|folder| folder.is_dir())
    })?;
    // Shown as the user would type it.
    let current = std::env::current_dir().ok();
    let near = current.and_then(|current| root.strip_prefix(current).ok().map(Path::to_owned));
    Some(near.unwrap_or(root))
}

/// A path without `.` and, where a folder precedes it, `..`: one name for each file.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if normal.file_name().is_some() => {
                normal.pop();
            }
            _ => normal.push(part),
        }
    }
    normal
}

/// The text at a location.
fn read(location: &Location) -> Result<Source, ScenarioError> {
    match location {
        Location::Disk(path) => {
            let shown = path.display().to_string();
            let text = read_file(path).map_err(|problem| {
                ScenarioError::new(Place::File { file: shown.clone(), line: None }, problem)
            })?;
            let name = name_in_results(path);
            Ok(Source { shown, name, text })
        }
        Location::BuiltIn(name) => {
            let text = catalogue::file(name).map(|(_, text)| text.to_owned()).unwrap_or_default();
            let shown = format!("built-in {name}");
            Ok(Source { shown, name: name.clone(), text })
        }
        Location::Text => unreachable!("a text is not read"),
    }
}

/// What a file is called in results: its path from `sim-configs` on, or its bare name.
fn name_in_results(path: &Path) -> String {
    let bare = || path.file_name().map(|name| name.to_string_lossy().into_owned());
    let in_root = || {
        let root = std::path::absolute(root_of(path)?).ok()?;
        let absolute = std::path::absolute(path).ok()?;
        absolute.strip_prefix(root).ok().map(|rest| rest.display().to_string())
    };
    in_root().or_else(bare).unwrap_or_else(|| path.display().to_string())
}

fn read_file(path: &Path) -> Result<String, Problem> {
    const LIMIT_KIB: u64 = 1_024;
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => Problem::NoSuchFile,
        _ => Problem::Unreadable { reason: error.to_string() },
    };
    if path.is_dir() {
        return Err(Problem::Directory);
    }
    let file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take((LIMIT_KIB << 10) + 1).read_to_end(&mut bytes).map_err(failed)?;
    if LIMIT_KIB << 10 < bytes.len() as u64 {
        return Err(Problem::TooLong { limit_kib: LIMIT_KIB });
    }
    let text = String::from_utf8(bytes)
        .map_err(|error| Problem::NotText { byte: error.utf8_error().valid_up_to() })?;
    if text.trim().is_empty() { Err(Problem::Empty) } else { Ok(text) }
}

fn unknown_name(place: Place, name: &str, wanted: &Wanted) -> ScenarioError {
    let known: Vec<_> = wanted.kinds.iter().flat_map(|kind| catalogue::names_in(*kind)).collect();
    let suggestion = similar_name(name, &known).or_else(|| similar_name(name, &catalogue::names()));
    // Within a folder if the name has one.
    let folder = name.split_once('/').map(|(folder, _)| format!("{folder}/"));
    let is_within =
        |known: &String| folder.as_ref().is_some_and(|within| known.starts_with(within));
    let some_within = known.iter().any(is_within);
    let called =
        |name: String| if wanted.bare { catalogue::called(&name).to_owned() } else { name };
    let problem = Problem::UnknownName {
        name: name.to_owned(),
        what: wanted.what,
        suggestion: suggestion.map(called),
        known: known.into_iter().filter(|n| !some_within || is_within(n)).map(called).collect(),
    };
    ScenarioError::new(place, problem)
}

/// The one of `known` most likely meant, by its whole name or without folders.
fn similar_name(name: &str, known: &[String]) -> Option<String> {
    let bare = |name: &str| name.rsplit('/').next().unwrap_or_default().to_owned();
    nearest(name, known.iter().map(String::as_str)).or_else(|| {
        let bare_names: Vec<_> = known.iter().map(|known| bare(known)).collect();
        let same = nearest(&bare(name), bare_names.iter().map(String::as_str))?;
        known.iter().find(|known| bare(known) == same).cloned()
    })
}
