//! Where results go: stdout, or files.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use driver::files;

use super::error::CliError;

/// Writes a result to stdout.
pub(super) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliError> {
    let mut out = BufWriter::new(io::stdout().lock());
    write(&mut out).and_then(|()| out.flush()).map_err(CliError::Stdout)
}

/// Writes lines for the user that are no result.
pub(super) fn note(text: &str) {
    // There is nobody left to tell if stderr is closed.
    let _ = writeln!(io::stderr(), "{text}");
}

/// Writes a file of `folder`, which is created with all above it.
pub(super) fn write_file(
    folder: &Path,
    name: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<PathBuf, CliError> {
    let path = folder.join(name);
    create_folder(folder)?;
    match files::write_whole(&path, write) {
        Ok(()) => Ok(path),
        Err(error) => Err(CliError::File { path, error }),
    }
}

/// Creates a folder and all above it.
pub(super) fn create_folder(folder: &Path) -> Result<(), CliError> {
    fs::create_dir_all(folder).map_err(|error| CliError::File { path: folder.to_owned(), error })
}

/// The same for a folder that nobody else writes to now: what a killed program left behind in it
/// is removed.
pub(super) fn create_own_folder(folder: &Path) -> Result<(), CliError> {
    create_folder(folder)?;
    files::remove_unfinished(folder)
        .map_err(|error| CliError::File { path: folder.to_owned(), error })
}
