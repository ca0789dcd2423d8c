//! Sweeps as a user sees them: the same bytes whatever happens on the way, and what is refused.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use driver::report::{Manifest, Point, RunResult, Totals};
use driver::scenario::{CatalogueKind, Problem, Scenario, ScenarioError, catalogue};
use driver::sweep::{Plan, Study, report};
use expect_test::{Expect, expect, expect_file};
use tempfile::TempDir;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sweep");

fn command(study: &Path, out: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("iisim"));
    command.arg("sweep").arg(study).arg("--out").arg(out).args(more);
    command
}

/// Runs a sweep to its end.
fn sweep(out: &Path, more: &[&str]) -> Output {
    let output = command(&Path::new(FOLDER).join("tiny.toml"), out, more).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*errors), (Some(0), ""));
    output
}

fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    entries.map(|path| (name(&path), fs::read(path).unwrap())).collect()
}

/// A sweep that nobody disturbed.
fn undisturbed() -> (TempDir, BTreeMap<String, Vec<u8>>) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    sweep(&out, &["--jobs", "1"]);
    let contents = contents(&out);
    (folder, contents)
}

fn assert_same(folder: &Path, expected: &BTreeMap<String, Vec<u8>>, what: &str) {
    let found = contents(folder);
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&found), names(expected), "{what}");
    for (name, bytes) in expected {
        assert!(found[name] == *bytes, "{what}: {name} differs");
    }
}

#[test]
fn one_and_two_jobs_give_the_same_bytes() {
    let (_folder, expected) = undisturbed();
    let names: Vec<_> = expected.keys().map(String::as_str).collect();
    let all = ["README.md", "curves.svg", "heatmap.svg", "plan.json", "points.csv", "points.jsonl"];
    assert_eq!(names, all);
    let other = tempfile::tempdir().unwrap();
    let first = sweep(other.path(), &["--jobs", "2"]);
    assert_same(other.path(), &expected, "two jobs");
    let again = sweep(other.path(), &["--jobs", "2"]);
    assert_eq!(first.stdout, again.stdout);
    assert_same(other.path(), &expected, "again");
    sweep(other.path(), &["--restart"]);
    assert_same(other.path(), &expected, "anew");
}

/// Kills a sweep as soon as it has this many finished points, or lets it end if it is faster.
fn kill_after(out: &Path, lines: usize) {
    let study = Path::new(FOLDER).join("tiny.toml");
    let mut child =
        command(&study, out, &["--jobs", "2", "--quiet"]).stdout(Stdio::null()).spawn().unwrap();
    let finished = || {
        let bytes = fs::read(out.join("points.jsonl")).unwrap_or_default();
        bytes.split(|byte| *byte == b'\n').count().saturating_sub(1)
    };
    while finished() < lines && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_micros(200));
    }
    let _ = child.kill();
    child.wait().unwrap();
}

#[test]
fn killed_after_any_line_it_ends_alike() {
    let (_folder, expected) = undisturbed();
    let out = tempfile::tempdir().unwrap();
    for lines in 0..=8 {
        fs::remove_dir_all(out.path()).unwrap();
        kill_after(out.path(), lines);
        sweep(out.path(), &["--jobs", "2"]);
        assert_same(out.path(), &expected, &format!("killed after {lines} points"));
    }
    // Killed again and again in the same folder.
    fs::remove_dir_all(out.path()).unwrap();
    for lines in 1..=8 {
        kill_after(out.path(), lines);
    }
    sweep(out.path(), &[]);
    assert_same(out.path(), &expected, "killed eight times");
}

#[test]
fn cut_off_at_any_byte_it_ends_alike() {
    let (_folder, expected) = undisturbed();
    let points = &expected["points.jsonl"];
    let plan = &expected["plan.json"];
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let first_line = points.iter().position(|byte| *byte == b'\n').unwrap();
    let mut cuts = vec![0, 1, first_line, first_line + 1, first_line + 2, points.len() - 1];
    cuts.extend((1..6).map(|n| n * points.len() / 6));
    for cut in cuts {
        let _ = fs::remove_dir_all(&out);
        fs::create_dir(&out).unwrap();
        fs::write(out.join("plan.json"), plan).unwrap();
        fs::write(out.join("points.jsonl"), &points[..cut]).unwrap();
        fs::write(out.join(".points.csv.1.unfinished"), "half").unwrap();
        sweep(&out, &["--jobs", "2"]);
        assert_same(&out, &expected, &format!("cut at byte {cut}"));
    }
}

#[test]
fn another_plan_in_the_folder_is_not_overwritten() {
    let (folder, expected) = undisturbed();
    let out = folder.path().join("out");
    let study = Path::new(FOLDER).join("vary.toml");
    let output = command(&study, &out, &[]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    let message = message.replace(&*folder.path().to_string_lossy(), "");
    expect![[r"
        error: /out/plan.json: another study, another scale or another build of the program began the sweep in this folder; finish it with that, name another --out, or begin anew with --restart
    "]]
    .assert_eq(&message);
    assert_same(&out, &expected, "refused");
}

/// The files of a study whose points have results that follow a rule instead of a simulation.
fn made_up(study: &str) -> BTreeMap<&'static str, String> {
    let path = Path::new(FOLDER).join(study);
    let plan = Plan::new(Study::load(path.to_str().unwrap()).unwrap(), None).unwrap();
    let result = |place: usize| {
        let point = |n: u64| Point {
            rows: n * 4_000,
            rows_full_scale: n * 4_000,
            rows_per_s: 12_000.0 / (n * (1 + place as u64 % 4)) as f64,
            reads_per_row: (n - 1) as f64 * 0.25 * (place % 3) as f64,
            ..Point::default()
        };
        let totals = Totals {
            rows_full_scale: 20_000,
            virtual_s_full_scale: 3_600.0 * (10.0 + (place % 7) as f64),
            rows_per_s_mean: 1_000.0 / (1.0 + place as f64),
            reads_per_row_mean: 0.5 * (place % 3) as f64,
            writes_per_row_mean: 1.25,
            ..Totals::default()
        };
        let manifest = Manifest {
            name: plan.points[place].scenario.name.clone(),
            title: String::new(),
            question: String::new(),
            machine: String::new(),
            scenario: String::new(),
            scenario_hash: String::new(),
            seed: 42,
            scale: "1".to_owned(),
            iisim_version: "0".to_owned(),
            values: Vec::new(),
            notes: Vec::new(),
        };
        let points = (1..=5).map(point).collect();
        RunResult { schema: 1, manifest, points, queries: Vec::new(), totals }
    };
    let results = (0..plan.points.len()).map(|place| (place, result(place))).collect();
    let files = report::files(&plan, &results).unwrap();
    files.into_iter().map(|(name, bytes)| (name, String::from_utf8(bytes).unwrap())).collect()
}

#[test]
fn the_page_of_a_grid_has_its_memory_walls() {
    let files = made_up("tiny.toml");
    expect_file!["sweep/tiny.md"].assert_eq(&files["README.md"]);
    expect_file!["sweep/tiny.csv"].assert_eq(&files["points.csv"]);
    for name in ["curves.svg", "heatmap.svg"] {
        assert!(roxmltree::Document::parse(&files[name]).is_ok(), "{name}");
    }
}

#[test]
fn the_page_of_a_sensitivity_has_every_assumed_value() {
    let files = made_up("vary.toml");
    let page = &files["README.md"];
    let varied = ["seed", "machine.cpu.row", "engine.split", "machine.disk.seek"];
    let kept = ["workload.rows", "pool.io", "machine.cpu.statement"];
    for key in varied.iter().chain(&kept) {
        assert!(page.contains(&format!("`{key}`")), "{key} is not on the page:\n{page}");
    }
    let header = "key,base,value,hours_full_scale,";
    assert!(files["points.csv"].starts_with(header));

    let study = Path::new(FOLDER).join("vary.toml");
    let plan = Plan::new(Study::load(study.to_str().unwrap()).unwrap(), None).unwrap();
    let base = &plan.points[0].scenario;
    for value in base.values.iter().filter(|value| value.assumed.is_some()) {
        assert!(page.contains(&format!("`{}`", value.key)), "{}", value.key);
    }
    let lines =
        page.lines().filter(|line| line.starts_with("| `engine.split` | innodb | middle |"));
    assert_eq!(lines.count(), 1, "{page}");
}

#[test]
fn every_study_has_a_plan() {
    let studies = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sim-configs/studies");
    let mut names = Vec::new();
    for entry in fs::read_dir(studies).unwrap() {
        let path = entry.unwrap().path();
        let study = Study::load(path.to_str().unwrap()).unwrap();
        let built_in = Study::load(study.base.name()).unwrap();
        assert_eq!(built_in.title, study.title);
        let plan = Plan::new(study, None).unwrap_or_else(|error| panic!("{error}"));
        assert!(2 < plan.points.len(), "{}", path.display());
        names.push(plan.study.base.name().to_owned());
    }
    assert!(9 < names.len(), "{names:?}");
}

/// The studies that the page shows are studies.
#[test]
fn the_examples_of_the_page_have_plans() {
    let page = include_str!("../../../docs/studies.md");
    let blocks = page.split("```").skip(1).step_by(2);
    let examples: Vec<_> = blocks.filter_map(|block| block.strip_prefix("toml\n")).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("example.toml");
    for example in &examples {
        fs::write(&path, example).unwrap();
        let plan = Study::load(path.to_str().unwrap()).and_then(|study| Plan::new(study, None));
        assert!(2 < plan.unwrap().points.len(), "{example}");
    }
    assert_eq!(examples.len(), 2);
    let measures = driver::sweep::Measure::ALL.iter();
    for measure in measures {
        assert!(page.contains(&format!("`{}`", measure.name)), "{}", measure.name);
    }
}

#[test]
fn an_unknown_name_is_answered_with_those_that_would_do() {
    let known = |error: ScenarioError| match error.problem() {
        Problem::UnknownName { known, .. } => known.clone(),
        problem => panic!("{problem}"),
    };
    let names = |kind| {
        let entries = catalogue().into_iter().filter(|entry| entry.kind == kind);
        entries.map(|entry| entry.name).collect::<Vec<_>>()
    };
    let study = Study::load("none-such").unwrap_err();
    assert_eq!(known(study), names(CatalogueKind::Study));
    let scenario = Scenario::load("none-such", &[], None).unwrap_err();
    assert_eq!(known(scenario), names(CatalogueKind::Experiment));
}

#[test]
fn a_study_is_no_scenario_and_a_scenario_no_study() {
    let study = Scenario::load("redo-size", &[], None).unwrap_err().to_string();
    let scenario = Study::load("s4-insert-buffer-off").unwrap_err().to_string();
    let used = Scenario::parse("a.toml", "use = [\"studies/redo-size\"]", &[], None);
    expect![[r"
        built-in studies/redo-size.toml:10: is a study, not a scenario; `iisim sweep redo-size` runs it
        built-in experiments/s4-insert-buffer-off.toml: is no study: it has no table [study] (see docs/studies.md); `iisim run s4-insert-buffer-off` runs a scenario
        a.toml:1: use: studies/redo-size: is a study, not a scenario; `iisim sweep studies/redo-size` runs it
    "]]
    .assert_eq(&format!("{study}\n{scenario}\n{}\n", used.unwrap_err()));
}

/// Every message names the line of the study, the key, the value and what is allowed.
#[test]
fn what_is_wrong_with_a_study_is_told() {
    check_refused(
        &[
            "scale = \"1/2\"",
            "axis = 3",
            "axis = []",
            "axes = []",
            "axis = [{ name = \"pool\" }]",
            "axis = [{ values = [1] }]",
            "axis = [{ key = \"pool.sise\", values = [\"1MiB\"] }]",
            "axis = [{ key = \"pool.size\", values = [16] }]",
            "axis = [{ key = \"pool.size\", values = [\"1MiB\", \"1MiB\"] }]",
            "axis = [{ name = \"pool\", values = [\"1MiB\"] }]",
            "axis = [{ key = \"pool.size\", values = [{ value = \"1MiB\", lable = \"a\" }] }]",
            "axis = [{ name = \"disk\", values = [{ label = \"a\", use = [\"machines/x25\"] }] }]",
            "axis = [{ name = \"disk\", values = [{ use = [\"machines/x25e\"] }] }]",
            "axis = [{ key = \"seed\", values = [1] }, { key = \"seed\", values = [2] }]",
            "scale = \"1/3\"\naxis = [{ key = \"seed\", values = [1] }]",
            "heat = \"rows\"\naxis = [{ key = \"seed\", values = [1] }]",
            "curves = [\"reads_per_rows\"]\naxis = [{ key = \"seed\", values = [1] }]",
            "rows = [2, 1]\naxis = [{ key = \"seed\", values = [1] }]",
            "rows = [-2]\naxis = [{ key = \"seed\", values = [1] }]",
            "vary = {}",
            "vary = { keys = [\"machine.cores\"] }",
            "vary = { factors = [1.0], assumed = true }",
            "vary = { factors = [2], keys = [\"engine.kind\"] }",
            "vary = { factors = [2], keys = [\"machine.core\"] }",
            "vary = { factors = [2], assumed = 1 }",
            "vary = { factors = [2], assumed = true }\naxis = [{ key = \"seed\", values = [1] }]",
        ],
        &expect_file!["sweep/errors.txt"],
    );
}

fn check_refused(cases: &[&str], expect: &expect_test::ExpectFile) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.toml");
    let tiny = fs::read_to_string(Path::new(FOLDER).join("tiny.toml")).unwrap();
    let (base, _) = tiny.split_once("[study]").unwrap();
    let base = format!("{base}[engine]\nkind = \"btree\"\n\n[pool]\nsize = \"1MiB\"\n\n[study]\n");
    let mut messages = String::new();
    for table in cases {
        fs::write(&path, format!("{base}{table}\n")).unwrap();
        let plan = Study::load(path.to_str().unwrap()).and_then(|study| Plan::new(study, None));
        let message = plan.expect_err(table).to_string();
        let message = message.replace(path.to_str().unwrap(), "bad.toml");
        let message = message.split("; there are: ").next().unwrap_or_default();
        let _ = writeln!(messages, "{table}\n  {message}");
    }
    expect.assert_eq(&messages);
}

/// A sweep whose base is wrong is refused before its folder is made.
#[test]
fn a_wrong_command_line_is_refused() {
    let check = |args: &[&str], expect: &Expect| {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("iisim"));
        let output = command.args(args).current_dir(folder.path()).output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
        let message = String::from_utf8(output.stderr).unwrap();
        expect.assert_eq(message.split("; there are: ").next().unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    };
    check(
        &["sweep", "redo-sise"],
        &expect!["error: redo-sise: no such file or built-in study (did you mean redo-size?)"],
    );
    check(
        &["sweep", "redo-size", "--scale", "1/512"],
        &expect![[r"
            error: --scale: 1/512: leaves 205.9 KiB between the last checkpoint and the end of the redo log; changes need 1 MiB; the smallest scale of this scenario is 1/64
        "]],
    );
}
