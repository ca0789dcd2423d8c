//! Files that are whole or not there.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// The end of the name of a file that is being written.
const UNFINISHED: &str = ".unfinished";

/// Writes a file under another name in the same folder, which must exist, and gives it its own
/// when it is complete and on the disk.
///
/// # Errors
/// The folder or the disk refuses it; then the file is as it was before.
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let unfinished = path.with_file_name(format!(".{name}.{}{UNFINISHED}", std::process::id()));
    let written = write_and_sync(&unfinished, write).and_then(|()| fs::rename(&unfinished, path));
    if written.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    written
}

/// Removes what killed programs left behind in a folder that nobody else writes to now.
///
/// # Errors
/// The folder cannot be read.
pub fn remove_unfinished(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with('.') && name.ends_with(UNFINISHED) {
            let _ = fs::remove_file(path);
        }
    }
    Ok(())
}

fn write_and_sync(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    write(&mut out)?;
    out.into_inner()?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_whole_or_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_whole(&path, |out| out.write_all(b"one")).unwrap();
        let failing = write_whole(&path, |out| {
            out.write_all(b"tw")?;
            Err(io::Error::other("no more"))
        });
        assert_eq!(failing.unwrap_err().to_string(), "no more");
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

        fs::write(folder.path().join(".a.txt.1.unfinished"), "left").unwrap();
        remove_unfinished(folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
