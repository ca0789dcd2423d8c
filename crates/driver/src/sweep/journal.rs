//! The folder of a sweep: the plan, and every point that is finished.
//!
//! `plan.json` is there before the first point begins and does not change. `points.jsonl` has a
//! line for every finished point, in the order in which they ended, each on the disk before the
//! next is begun; a last line that was cut short does not count. When all points are there the
//! file is written anew in the order of the plan.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::plan::Plan;
use crate::files;
use crate::jobs::store::Program;
use crate::report::{RunResult, json, scenario_hash};

/// The name of the plan.
pub const PLAN: &str = "plan.json";
/// The name of the results.
pub const POINTS: &str = "points.jsonl";

/// The finished points of a sweep.
#[derive(Debug)]
pub struct Journal {
    folder: PathBuf,
    finished: BTreeMap<usize, RunResult>,
    lines: File,
    /// Held as long as the sweep goes on; the system lets go of it however the program ends.
    _lock: Option<File>,
}

/// Why a sweep cannot write its folder, or go on in it.
#[derive(Debug, Error)]
pub enum JournalError {
    /// The folder or the disk refuses a file.
    #[error("{}: cannot be written: {error}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// The folder holds a sweep of something else.
    #[error(
        "{}: another study, another scale or another build of the program began the sweep in this \
         folder; finish it with that, name another --out, or begin anew with --restart",
        path.display()
    )]
    OtherPlan {
        /// The plan that is there.
        path: PathBuf,
    },
    /// Another program is at it.
    #[error("{}: another sweep is writing to this folder", path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
    },
}

impl Journal {
    /// Begins a sweep in a folder, or goes on with the same that is there; `restart` throws away
    /// what is there.
    ///
    /// # Errors
    /// The folder holds something else, or cannot be written.
    pub fn open(
        folder: &Path,
        plan: &Plan,
        program: &Program,
        restart: bool,
    ) -> Result<Self, JournalError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error| JournalError::File { path, error }
        };
        fs::create_dir_all(folder).map_err(failed(folder))?;
        let plan_path = folder.join(PLAN);
        let points_path = folder.join(POINTS);
        let frozen = plan.frozen(program);
        let there = match fs::read_to_string(&plan_path) {
            Ok(there) => Some(there),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(failed(&plan_path)(error)),
        };
        let mut lock = None;
        if let Some(there) = there {
            lock = Some(locked(folder, &plan_path)?);
            if !restart && there != frozen {
                return Err(JournalError::OtherPlan { path: plan_path });
            }
        }
        if lock.is_none() || restart {
            remove(&points_path).map_err(failed(&points_path))?;
            let write = files::write_whole(&plan_path, |out| out.write_all(frozen.as_bytes()));
            write.map_err(failed(&plan_path))?;
            lock = Some(locked(folder, &plan_path)?);
        }
        files::remove_unfinished(folder).map_err(failed(folder))?;

        let finished = read(&points_path, plan).map_err(failed(&points_path))?;
        // Whatever is not a whole line of a finished point goes before the next one is added.
        write_lines(&points_path, finished.values()).map_err(failed(&points_path))?;
        let lines = OpenOptions::new().append(true).open(&points_path);
        let lines = lines.map_err(failed(&points_path))?;
        Ok(Self { folder: folder.to_owned(), finished, lines, _lock: lock })
    }

    /// The results by the place of their point in the plan.
    pub fn finished(&self) -> &BTreeMap<usize, RunResult> {
        &self.finished
    }

    /// Keeps the result of a point; when this returns, it is on the disk.
    ///
    /// # Errors
    /// The disk refuses it.
    pub fn add(&mut self, place: usize, result: RunResult) -> Result<(), JournalError> {
        let mut line = Vec::new();
        let written = json::write_lines(std::slice::from_ref(&result), &mut line)
            .and_then(|()| self.lines.write_all(&line))
            .and_then(|()| self.lines.sync_data());
        written.map_err(|error| JournalError::File { path: self.folder.join(POINTS), error })?;
        self.finished.insert(place, result);
        Ok(())
    }

    /// Writes all lines in the order of the plan.
    ///
    /// # Errors
    /// The disk refuses it.
    pub fn settle(&self) -> Result<(), JournalError> {
        let path = self.folder.join(POINTS);
        write_lines(&path, self.finished.values())
            .map_err(|error| JournalError::File { path, error })
    }
}

/// The plan, held so that no other sweep writes to its folder.
fn locked(folder: &Path, plan: &Path) -> Result<File, JournalError> {
    let file =
        File::open(plan).map_err(|error| JournalError::File { path: plan.to_owned(), error })?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(JournalError::Busy { path: folder.to_owned() }),
        // A file system without locks has no way to tell.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The points of the plan that have a whole line.
fn read(path: &Path, plan: &Plan) -> io::Result<BTreeMap<usize, RunResult>> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let whole = lines.filter_map(|line| line.strip_suffix(b"\n"));
    let results = whole.filter_map(|line| serde_json::from_slice::<RunResult>(line).ok());
    let names = plan.points.iter().enumerate();
    let places: BTreeMap<_, _> =
        names.map(|(n, point)| (point.scenario.name.as_str(), n)).collect();
    let known = results.filter_map(|result| {
        let place = *places.get(result.manifest.name.as_str())?;
        let (scenario, manifest) = (&plan.points[place].scenario, &result.manifest);
        let same = scenario.scale.to_string() == manifest.scale
            && scenario_hash(&scenario.text) == manifest.scenario_hash;
        same.then_some((place, result))
    });
    Ok(known.collect())
}

fn write_lines<'a>(path: &Path, results: impl Iterator<Item = &'a RunResult>) -> io::Result<()> {
    files::write_whole(path, |out| {
        results
            .into_iter()
            .try_for_each(|result| json::write_lines(std::slice::from_ref(result), out))
    })
}
