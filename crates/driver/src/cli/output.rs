//! Where results go: stdout, or files that are whole or not there.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

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

/// Writes a file of `folder`, which is created with all above it. The file appears under its name
/// when it is complete.
pub(super) fn write_file(
    folder: &Path,
    name: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<PathBuf, CliError> {
    let path = folder.join(name);
    let unfinished = folder.join(format!(".{name}.{}.unfinished", std::process::id()));
    create_folder(folder)?;
    let written = write_whole(&unfinished, write).and_then(|()| fs::rename(&unfinished, &path));
    written.map_err(|error| {
        let _ = fs::remove_file(&unfinished);
        CliError::File { path: path.clone(), error }
    })?;
    Ok(path)
}

/// Creates a folder and all above it.
pub(super) fn create_folder(folder: &Path) -> Result<(), CliError> {
    fs::create_dir_all(folder).map_err(|error| CliError::File { path: folder.to_owned(), error })
}

fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    write(&mut out)?;
    out.into_inner()?.sync_all()
}
