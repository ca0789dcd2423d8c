//! `iisim reproduce` as a user sees it: nothing is lost on the way, nothing is computed twice.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use driver::scorecard::Scorecard;
use expect_test::{Expect, expect};

/// The article whose runs are the shortest: a million rows without secondary indexes each.
const SMALL: [&str; 4] = ["--only", "S1", "--format", "json"];

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("iisim"));
    command.arg("reproduce").args(args).current_dir(folder);
    command
}

/// Runs to the end, and tells what it printed and what it had to say.
fn reproduce(folder: &Path, more: &[&str]) -> Output {
    let args = [&SMALL[..], &["--cache", "kept"], more].concat();
    let output = command(folder, &args).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The files below a folder by their paths.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(contents(&path));
        } else {
            files.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    files
}

/// As [`contents`], by the paths below the folder itself.
fn report(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let root = folder.join("iisim-report");
    let below = |path: PathBuf| path.strip_prefix(&root).unwrap().to_owned();
    contents(&root).into_iter().map(|(path, bytes)| (below(path), bytes)).collect()
}

#[test]
fn killed_or_cached_it_ends_alike() {
    let undisturbed = tempfile::tempdir().unwrap();
    let first = reproduce(undisturbed.path(), &["--jobs", "1"]);
    let expected = report(undisturbed.path());
    let names: Vec<_> = expected.keys().map(|path| path.to_str().unwrap()).collect();
    for name in ["report.html", "scorecard.json", "baseline.toml", "runs/s1-myisam.csv"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let scorecard: Scorecard = serde_json::from_slice(&first.stdout).unwrap();
    assert_eq!(expected[Path::new("scorecard.json")], first.stdout);
    assert!(scorecard.rows.iter().all(|row| row.id.starts_with("S1.")));
    assert!(scorecard.rows.iter().any(|row| row.simulated.is_some()));

    // A second call takes every run from where it was kept.
    let kept = contents(&undisturbed.path().join("kept"));
    let again = reproduce(undisturbed.path(), &[]);
    assert_eq!(first.stdout, again.stdout);
    assert_eq!(report(undisturbed.path()), expected);
    assert_eq!(contents(&undisturbed.path().join("kept")), kept);

    // A kept run that was damaged is told of and simulated again; what a kill left of a file that
    // was being written is removed.
    fs::write(undisturbed.path().join("iisim-report/.report.html.1.unfinished"), "half").unwrap();
    let damaged = kept.keys().next().unwrap();
    fs::write(damaged, &kept[damaged][..kept[damaged].len() / 2]).unwrap();
    let repaired = reproduce(undisturbed.path(), &[]);
    let notes = String::from_utf8(repaired.stderr).unwrap();
    assert!(notes.contains("is damaged; the run is simulated again"), "{notes}");
    assert_eq!(report(undisturbed.path()), expected);
    assert_eq!(contents(&undisturbed.path().join("kept")), kept);

    // Two at a time, and killed after each number of finished runs.
    for finished in 0..=kept.len() {
        let other = tempfile::tempdir().unwrap();
        let args = [&SMALL[..], &["--cache", "kept", "--jobs", "2"]].concat();
        let mut child = command(other.path(), &args)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let there = || {
            let files = fs::read_dir(other.path().join("kept")).into_iter().flatten().flatten();
            files.filter(|file| !file.file_name().to_string_lossy().starts_with('.')).count()
        };
        while there() < finished && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = child.kill();
        child.wait().unwrap();
        reproduce(other.path(), &["--jobs", "2"]);
        assert_eq!(report(other.path()), expected, "killed after {finished} runs");
    }
}

#[test]
fn a_wrong_command_line_is_refused() {
    let check = |args: &[&str], expect: &Expect| {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let output = command(folder.path(), args).output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
        expect.assert_eq(&String::from_utf8(output.stderr).unwrap());
    };
    check(
        &["--only", "S9"],
        &expect![[r"
            error: --only S9: no such claim; expected an article (S0, S1, S2, S3, S4) or a claim of one, such as S4.3
        "]],
    );
    check(
        &["--only", "S4.99"],
        &expect![[r"
            error: --only S4.99: no such claim; expected an article (S0, S1, S2, S3, S4) or a claim of one, such as S4.3
        "]],
    );
    check(
        &["--only", "S4.3", "--scale", "1/3"],
        &expect![[r#"
        error: --scale: "1/3": expected 1 over a power of two, such as 1/128: at other scales the waves of page splits would not be those of the full run
    "#]],
    );
    check(
        &["--only", "S4.3", "--out", "file"],
        &expect![[r"
        error: file: cannot be written: File exists (os error 17)
    "]],
    );
}
