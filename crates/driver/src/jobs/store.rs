//! Finished runs, kept by what determines them.
//!
//! A result follows from the scenario's text, its scale and the program, so these are its address,
//! the program by the bytes of its own executable: whatever changes in the simulator, no result of
//! before is served again. Runs that read a recorded stream are not kept, since that file may
//! change under its name.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::{env, fmt};

use thiserror::Error;

use crate::files;
use crate::report::{RunResult, fingerprint};
use crate::scenario::Scenario;
use crate::workload::StreamSpec;

/// The first word of a file of the store; it changes with the form of these files.
const FORM: &str = "iisim-result-1";

/// A folder with finished runs.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    program: Program,
}

/// The build of the simulator that is running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program(String);

/// A file of the store that is none any more. The run is simulated again.
#[derive(Debug, Error)]
#[error("{}: {reason}; the run is simulated again", path.display())]
pub struct Damaged {
    path: PathBuf,
    reason: String,
}

impl Program {
    /// The fingerprint of the executable.
    ///
    /// # Errors
    /// The executable cannot be read, for example because it was replaced since the start.
    pub fn running() -> io::Result<Self> {
        Ok(Self(fingerprint(&fs::read(env::current_exe()?)?)))
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Store {
    /// The store in a folder, which is created when the first result is kept.
    pub fn new(folder: PathBuf, program: Program) -> Self {
        Self { folder, program }
    }

    /// Where results are kept if nobody says where: below `target` if the current folder has it,
    /// in the user's folder for caches otherwise. `None` if the system names no such folder.
    pub fn default_folder() -> Option<PathBuf> {
        if Path::new("target").is_dir() {
            return Some(PathBuf::from("target/iisim"));
        }
        let folder = |name: &str| env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        // XDG Base Directory Specification; Windows and macOS name theirs.
        let caches = folder("XDG_CACHE_HOME").or_else(|| folder("LOCALAPPDATA")).or_else(|| {
            let below_home = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
            Some(folder("HOME")?.join(below_home))
        });
        Some(caches?.join("iisim"))
    }

    /// The result of a scenario, if it was kept.
    ///
    /// # Errors
    /// There is a file and it holds no such result.
    pub fn get(&self, scenario: &Scenario) -> Result<Option<RunResult>, Damaged> {
        let Some(address) = self.address(scenario) else { return Ok(None) };
        let path = self.path(&address);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Damaged { path, reason: error.to_string() }),
        };
        let damaged = |reason: &str| Damaged { path: path.clone(), reason: reason.to_owned() };
        let (head, body) = text.split_once('\n').ok_or_else(|| damaged("is cut short"))?;
        if head != heading(&address, body) {
            return Err(damaged("is damaged"));
        }
        serde_json::from_str(body).map(Some).map_err(|_| damaged("is no result"))
    }

    /// Keeps the result of a scenario that came to its end.
    ///
    /// # Errors
    /// The folder or the disk refuses it.
    pub fn put(&self, scenario: &Scenario, result: &RunResult) -> io::Result<()> {
        let Some(address) = self.address(scenario) else { return Ok(()) };
        let body = serde_json::to_string(result)?;
        fs::create_dir_all(&self.folder)?;
        files::write_whole(&self.path(&address), |out| {
            write!(out, "{}\n{body}", heading(&address, &body))
        })
    }

    /// Everything that a result follows from; nothing if a file beside the scenario is part of it.
    fn address(&self, scenario: &Scenario) -> Option<String> {
        if let StreamSpec::Recorded { .. } = scenario.workload.stream {
            return None;
        }
        // The parts are told apart by their lengths; the name is written into the result.
        let parts = [&self.program.0, &scenario.name, &scenario.scale.to_string(), &scenario.text];
        let text: String = parts.map(|part| format!("{}:{part}", part.len())).concat();
        Some(fingerprint(text.as_bytes()))
    }

    fn path(&self, address: &str) -> PathBuf {
        self.folder.join(format!("{address}.json"))
    }
}

/// The first line of a file: what it is, whose result, and whether the rest is whole.
fn heading(address: &str, body: &str) -> String {
    format!("{FORM} {address} {}", fingerprint(body.as_bytes()))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::run::run;

    fn scenario(rows: u64, seed: u64) -> Scenario {
        let text = format!(
            r#"
use = ["machines/ram-disk", "engines/innodb-5.1"]
seed = {seed}
pool.size = "1MiB"
workload.kind = "iibench"
workload.profile = "python-2009"
workload.rows = {rows}
"#
        );
        Scenario::parse("kept", &text, &[], None).unwrap()
    }

    fn store(folder: &Path, program: &str) -> Store {
        Store::new(folder.join("kept"), Program(program.to_owned()))
    }

    #[test]
    fn a_result_comes_back_unless_anything_is_different() {
        let folder = tempfile::tempdir().unwrap();
        let kept = scenario(2_000, 1);
        let result = run(&kept, &AtomicBool::new(false), &mut |_| {}).unwrap();
        let store_1 = store(folder.path(), "1");
        assert_eq!(store_1.get(&kept).unwrap(), None);
        store_1.put(&kept, &result).unwrap();
        assert_eq!(store_1.get(&kept).unwrap(), Some(result));
        let smaller = Scenario { scale: "1/2".parse().unwrap(), ..kept.clone() };
        let renamed = Scenario { name: "other".to_owned(), ..kept.clone() };
        for other in [scenario(2_000, 2), scenario(3_000, 1), smaller, renamed] {
            assert_eq!(store_1.get(&other).unwrap(), None);
        }
        assert_eq!(store(folder.path(), "2").get(&kept).unwrap(), None);
    }

    #[test]
    fn no_damaged_file_is_a_result() {
        let folder = tempfile::tempdir().unwrap();
        let kept = scenario(1_000, 1);
        let result = run(&kept, &AtomicBool::new(false), &mut |_| {}).unwrap();
        let store = store(folder.path(), "1");
        store.put(&kept, &result).unwrap();
        let path = fs::read_dir(&store.folder).unwrap().next().unwrap().unwrap().path();
        let whole = fs::read(&path).unwrap();
        for length in [0, 20, 100, whole.len() / 2, whole.len() - 1] {
            fs::write(&path, &whole[..length]).unwrap();
            let damaged = store.get(&kept).unwrap_err().to_string();
            assert!(damaged.ends_with("; the run is simulated again"), "{damaged}");
        }
        for byte in (0..whole.len()).step_by(97) {
            let mut bytes = whole.clone();
            bytes[byte] ^= 0x15;
            fs::write(&path, &bytes).unwrap();
            assert!(store.get(&kept).is_err(), "byte {byte}");
        }
        store.put(&kept, &result).unwrap();
        assert_eq!(fs::read(&path).unwrap(), whole);
    }

    #[test]
    fn the_program_is_known_by_its_bytes() {
        let program = Program::running().unwrap();
        assert_eq!(program, Program::running().unwrap());
        assert_eq!(program.to_string().len(), 32);
    }
}
