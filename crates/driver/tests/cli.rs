//! The command line as a user sees it: output, messages, exit codes, files.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use assert_cmd::Command;
use driver::report::RunResult;
use driver::scenario::catalogue;
use expect_test::{Expect, expect, expect_file};

const SMALL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/small.toml");

/// How a command ended.
struct Ended {
    code: i32,
    stdout: String,
    stderr: String,
}

fn iisim(args: &[&str]) -> Ended {
    iisim_in(Path::new(env!("CARGO_MANIFEST_DIR")), args)
}

fn iisim_in(folder: &Path, args: &[&str]) -> Ended {
    let mut command = Command::cargo_bin("iisim").unwrap();
    let output = command.args(args).current_dir(folder).output().unwrap();
    Ended {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// What a command that ends well prints; it has nothing to say on stderr.
fn stdout(args: &[&str]) -> String {
    let Ended { code, stdout, stderr } = iisim(args);
    assert_eq!((code, stderr.as_str()), (0, ""), "{args:?}");
    stdout
}

/// Bad input ends with 2, prints no result and one message.
fn check_refused(commands: &[&[&str]], expect: &Expect) {
    let mut messages = String::new();
    for args in commands {
        let Ended { code, stdout, stderr } = iisim(args);
        assert_eq!((code, stdout.as_str()), (2, ""), "{args:?}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        // The catalogue grows.
        let message = stderr.split("; there are: ").next().unwrap_or_default().trim_end();
        messages.push_str(message);
        messages.push('\n');
    }
    expect.assert_eq(&messages);
}

#[test]
fn help_has_examples_for_every_command() {
    let mut pages = String::new();
    for command in
        ["", "reproduce", "run", "sweep", "explain", "device", "stream", "record", "list", "schema"]
    {
        let args: Vec<_> = Some(command).filter(|c| !c.is_empty()).into_iter().collect();
        let page = stdout(&[args.as_slice(), &["--help"]].concat());
        assert!(page.contains("\nExamples:\n  iisim "), "{page}");
        let _ = write!(pages, "$ iisim {command} --help\n{page}\n");
    }
    expect_file!["cli/help.txt"].assert_eq(&pages);
}

#[test]
fn list_has_a_line_for_every_built_in_file() {
    let all = stdout(&["list"]);
    for entry in catalogue() {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let line = words(&format!("{} {}", entry.name, entry.title));
        assert!(all.lines().any(|found| words(found) == line), "{line:?}");
        let folder = stdout(&["list", entry.kind.folder()]);
        assert!(folder.lines().any(|found| words(found) == line), "{line:?}");
    }
}

#[test]
fn schema_prints_all_keys_or_those_of_a_prefix() {
    let all = stdout(&["schema"]);
    for key in ["[pool]", "# size =", "[workload.queries]", "# every_rows ="] {
        assert!(all.contains(key), "{key}");
    }
    expect![[r#"
        # Keys of scenario files. Quantities are texts with their unit ("16GiB", "5ms",
        # "120MB/s", "37%"), counts are whole numbers (1_000_000). A value may carry where it
        # is from: { value = "16GiB", source = "..." } or { value = "16GiB", assumed = "..." }.

        [pool]
        # Independent parts with lists of their own; an area of pages stays in one.
        # instances: 1 to 64.
        # Source: Percona Server 5.5 source, buf0buf: instances came with 5.5.
        # instances = 1
    "#]]
    .assert_eq(&stdout(&["schema", "pool.instances"]));
}

#[test]
fn stream_prints_the_published_rows() {
    let published = include_str!("data/purchases_seed_42.csv");
    assert_eq!(stdout(&["stream", "s4-insert-buffer-off"]), published);
    let lines = |range: std::ops::Range<usize>| {
        let lines: Vec<_> = published.lines().collect();
        format!("{}\n{}\n", lines[0], lines[range].join("\n"))
    };
    assert_eq!(stdout(&["stream", "s4-insert-buffer-off", "--rows", "4..7"]), lines(5..8));
    assert_eq!(stdout(&["stream", SMALL, "--rows", "59_999.."]).lines().count(), 2);
}

#[test]
fn device_measures_machines_of_every_kind() {
    let mut pages = String::new();
    for machine in ["machines/sas-15k", "machines/x25e", "ec2-2012", "machines/ram-disk"] {
        let page = stdout(&["device", machine]);
        let _ = write!(pages, "$ iisim device {machine}\n{page}\n");
    }
    expect_file!["cli/device.txt"].assert_eq(&pages);
}

#[test]
fn device_json_has_the_documented_keys() {
    let page = include_str!("../../../docs/reports.md");
    let documented: std::collections::BTreeSet<_> = page
        .lines()
        .skip_while(|line| !line.ends_with("(`device`)"))
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` |"))
        .map(|(key, _)| key.to_owned())
        .collect();
    let json = stdout(&["device", "callaghan-2011", "--block", "4KiB", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["block_bytes"], 4_096);
    let mut found = std::collections::BTreeSet::new();
    for (key, value) in json.as_object().unwrap() {
        match value.as_array().and_then(|points| points.first()?.as_object()) {
            Some(point) => found.extend(point.keys().map(|name| format!("{key}[].{name}"))),
            None => drop(found.insert(key.clone())),
        }
    }
    assert_eq!(found, documented);
    assert!(!stdout(&["device", "ram-disk", "--format", "json"]).contains("null"));
}

#[test]
fn run_prints_every_format() {
    let table = stdout(&["run", SMALL]);
    // What follows lists the values of the scenario, which have snapshots of their own.
    let (measured, _) = table.split_once("\nAssumed, ").unwrap();
    expect_file!["cli/run.txt"].assert_eq(measured);
    let json = stdout(&["run", SMALL, "--format", "json"]);
    let result: RunResult = serde_json::from_str(&json).unwrap();
    assert_eq!(result.points.len(), 3);
    assert_eq!((result.totals.rows, result.manifest.name.as_str()), (60_000, "small"));
    let csv = stdout(&["run", SMALL, "--format", "csv"]);
    assert_eq!(csv.lines().count(), 1 + 3);
    assert!(csv.starts_with("rows,rows_full_scale,"), "{csv}");
}

#[test]
fn settings_and_scale_change_the_run() {
    let result = |args: &[&str]| {
        let json = stdout(&[&["run", SMALL, "--format", "json"], args].concat());
        serde_json::from_str::<RunResult>(&json).unwrap()
    };
    let (small, set) = (result(&[]), result(&["--set", "workload.secondary_indexes=0"]));
    assert_eq!(set.points[0].pages.len(), 1);
    assert!(set.totals.reads_per_row_mean < small.totals.reads_per_row_mean);
    assert_eq!(set.totals.rows, small.totals.rows);
    let args = ["--set", "workload.rows=400000", "--set", "pool.size=36MiB", "--scale", "1/2"];
    let halved = result(&args);
    assert_eq!((halved.totals.rows, halved.totals.rows_full_scale), (200_000, 400_000));
}

#[test]
fn the_same_scenario_gives_the_same_bytes_on_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other.toml");
    let text = fs::read_to_string(SMALL).unwrap();
    fs::write(&other, text.replace("size = \"2MiB\"", "size = \"3MiB\"")).unwrap();
    let other = other.to_str().unwrap();
    for format in ["table", "json", "csv"] {
        let run = |jobs| stdout(&["run", SMALL, other, "--format", format, "--jobs", jobs]);
        let (one, two) = (run("1"), run("2"));
        assert_eq!(one, two, "{format}");
        assert_eq!(one, run("1"), "{format}");
        if format == "json" {
            let names = one
                .lines()
                .map(|line| serde_json::from_str::<RunResult>(line).unwrap().manifest.name);
            assert_eq!(names.collect::<Vec<_>>(), ["small", "other"]);
        }
    }
}

#[test]
fn out_writes_all_forms_beside_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let Ended { code, stdout: table, stderr } =
        iisim_in(folder.path(), &["run", SMALL, "--out", "results/today"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    let plain = stdout(&["run", SMALL]);
    let files = "\nFigure: results/today/small.svg\n\nReport: results/today/report.html\n";
    assert_eq!(table, format!("{plain}{files}"));
    let results = folder.path().join("results/today");
    let names = fs::read_dir(&results).unwrap();
    let mut names: Vec<_> = names.map(|file| file.unwrap().file_name()).collect();
    names.sort();
    let all = ["report.html", "small.csv", "small.json", "small.scenario.txt", "small.svg"];
    assert_eq!(names, all);
    let file = |name: &str| fs::read_to_string(results.join(name)).unwrap();
    assert_eq!(file("small.json"), stdout(&["run", SMALL, "--format", "json"]));
    assert_eq!(file("small.csv"), stdout(&["run", SMALL, "--format", "csv"]));
    assert!(file("small.scenario.txt").contains("size = \"2MiB\""));
    roxmltree::Document::parse(&file("small.svg")).unwrap();
    assert!(file("report.html").contains("60,000 rows into a pool of 2 MiB"));
}

#[test]
fn a_run_without_io_says_so_on_stderr_too() {
    let ended = iisim(&["run", SMALL, "--set", "pool.size=1GiB", "--set", "redo.file_size=1GiB"]);
    assert_eq!(ended.code, 0);
    expect![[r"
        note: small: no I/O happened: all pages stayed in the buffer pool
    "]]
    .assert_eq(&ended.stderr);
    assert!(ended.stdout.contains("note: no I/O happened"), "{}", ended.stdout);
}

#[test]
fn explain_follows_an_insert_and_gives_reasons() {
    expect_file!["cli/explain.txt"].assert_eq(&stdout(&["explain", SMALL]));
    let early = stdout(&["explain", SMALL, "--at", "0"]);
    assert!(early.contains("There is no average yet"), "{early}");
    let clients = ["explain", SMALL, "--set", "workload.clients=3", "--at", "50_000"];
    let several = stdout(&clients);
    assert!(several.contains("each of 3 clients has one read outstanding"), "{several}");
    for line in [early, several].iter().flat_map(|text| text.lines()) {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

#[test]
fn explain_calls_pages_of_no_index_what_they_are() {
    let buffered = ["explain", SMALL, "--set", "engine.kind=change-buffer", "--at", "58_000"];
    let story = stdout(&buffered);
    let roles: Vec<&str> = story
        .lines()
        .skip_while(|line| !line.ends_with("PRIMARY, 2 levels"))
        .take_while(|line| !line.ends_with("registersegment, 2 levels"))
        .filter_map(|line| line.strip_prefix("  ")?.split("  ").next())
        .collect();
    expect![[r#"
        [
            "undo log",
            "root",
            "leaf",
            "change buffer page 260",
            "change buffer page 61",
            "root",
            "bitmap",
            "change buffer page 274",
            "The leaf is not in the pool: the entry waits for it in the change buffer.",
        ]
    "#]]
    .assert_debug_eq(&roles);
}

#[test]
fn explain_says_why_it_follows_no_insert() {
    let at = ["--scale", "1/128", "--at", "1_000_000"];
    let sorted = stdout(&[&["explain", "s4-myisam"], &at[..]].concat());
    assert!(sorted.contains("(statement.bulk_rows)"), "{sorted}");
    let nodes = ["explain", "s2-fractal-insert", "--scale", "1/16", "--at", "1_000_000"];
    let nodes = stdout(&nodes);
    assert!(nodes.contains("has no pages of its own"), "{nodes}");
    assert!(nodes.contains("the cache of nodes holds 512 MiB"), "{nodes}");
    assert!(!nodes.contains("hits"), "{nodes}");
}

#[test]
fn a_list_of_purchases_becomes_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    let list = stdout(&["stream", "s4-insert-buffer-off", "--rows", "..3000"]);
    fs::write(folder.path().join("purchases.csv"), &list).unwrap();
    let ended = iisim_in(folder.path(), &["record", "purchases.csv", "purchases.rows"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, "purchases.rows: 3000 rows\n"));
    let scenario = "use = [\"machines/callaghan-2011\", \"engines/innodb-5.1\"]\npool.size = \"64MiB\"\n\
                    workload.kind = \"recorded\"\nworkload.file = \"purchases.rows\"\n\
                    workload.rows = 3_000\n";
    fs::write(folder.path().join("own.toml"), scenario).unwrap();
    let printed = iisim_in(folder.path(), &["stream", "own.toml", "--rows", "..3000"]);
    assert_eq!(printed.stdout, list);
    let ran = iisim_in(folder.path(), &["run", "own.toml", "--format", "csv"]);
    assert_eq!((ran.code, ran.stdout.lines().count()), (0, 1 + 3), "{}", ran.stderr);
}

#[test]
fn bad_files_are_refused() {
    check_refused(
        &[
            &["run", "absent.toml"],
            &["run", "tests"],
            &["run", "s4-insert-bufer-off"],
            &["device", "machines/x25"],
            &["stream", "nothing-like-it-at-all"],
        ],
        &expect![[r"
            error: absent.toml: no such file
            error: tests: is a directory; expected a scenario file, such as one of sim-configs/experiments
            error: s4-insert-bufer-off: no such file or built-in experiment (did you mean s4-insert-buffer-off?)
            error: machines/x25: no such file or built-in machine or experiment (did you mean machines/x25e?)
            error: nothing-like-it-at-all: no such file or built-in experiment
        "]],
    );
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("binary.toml"), b"title = \"\xff\xfe\"\n").unwrap();
    fs::write(folder.path().join("empty.toml"), b"").unwrap();
    for (name, message) in [
        ("binary.toml", "is not text (byte 9 is not UTF-8): not a scenario file"),
        ("empty.toml", "is empty: a scenario sets at least one key (see docs/scenarios.md)"),
    ] {
        for command in ["run", "explain", "device", "stream"] {
            let ended = iisim_in(folder.path(), &[command, name]);
            assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
            assert_eq!(ended.stderr, format!("error: {name}: {message}\n"));
        }
    }
}

#[test]
fn bad_options_are_refused() {
    check_refused(
        &[
            &["run", "s4-insert-buffer-off", "--set", "pool.sise=1GiB"],
            &["run", "s4-insert-buffer-off", "--set", "pool.size"],
            &["run", "s4-insert-buffer-off", "--set", "pool.size=1"],
            &["run", "s4-insert-buffer-off", "--scale", "1/100"],
            &["run", "s4-insert-buffer-off", "--scale", "2"],
            &["run", SMALL, SMALL, "--out", "results"],
            &["run", SMALL, "--out", "Cargo.toml"],
            &["stream", SMALL, "--rows", "5"],
            &["stream", SMALL, "--rows", "5..x"],
            &["stream", SMALL, "--rows", "7..7"],
            &["stream", SMALL, "--rows", "60000.."],
            &["device", "x25e", "--block", "16"],
            &["device", "x25e", "--block", "1GiB"],
            &["explain", SMALL, "--at", "60000"],
            &["explain", SMALL, "--at=-5"],
            &["run", SMALL, "--jobs", "0"],
            &["sweep", "redo-size", "--jobs", "many"],
            &["schema", "pool.sise"],
            &["schema", "machine.dsk"],
        ],
        &expect![[r#"
            error: --set: pool.sise: unknown key (did you mean pool.size?)
            error: --set: pool.size: expected key=value, such as pool.size=1GiB
            error: --set: pool.size = 1: no unit; expected a size from 1KiB to 64TiB, such as "16MiB" (units: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB)
            error: --scale: "1/100": expected 1 over a power of two, such as 1/128: at other scales the waves of page splits would not be those of the full run
            error: --scale: "2": expected 1 or 1 over a power of two, such as 1/128
            error: --out: two scenarios are called small: their files would overwrite each other
            error: Cargo.toml: cannot be written: File exists (os error 17)
            error: --rows 5: expected FROM..TO with FROM below TO, rows counted from 0 and TO left out, such as 0..10
            error: --rows = x: no whole number; expected a whole number from 0 to 1_099_511_627_776 (rows)
            error: --rows 7..7: expected FROM..TO with FROM below TO, rows counted from 0 and TO left out, such as 0..10
            error: --rows 60000..: the stream has rows 0..60000
            error: --block = 16: no unit; expected a size from 512B to 16MiB, such as "16MiB" (units: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB)
            error: --block = 1GiB: out of range; expected a size from 512B to 16MiB, such as "16MiB" (units: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB)
            error: --at 60000: the last row that can be followed is 59999 (at full scale)
            error: --at = -5: negative; expected a whole number from 0 to 1_099_511_627_776 (rows)
            error: --jobs = 0: out of range; expected a whole number from 1 to 1_024 (runs)
            error: --jobs = many: no whole number; expected a whole number from 1 to 1_024 (runs)
            error: pool.sise: no such key or table of keys (did you mean pool.size?)
            error: machine.dsk: no such key or table of keys (did you mean machine.disk?)
        "#]],
    );
}

#[test]
fn unknown_commands_and_choices_are_refused_with_those_that_exist() {
    for (args, message) in [
        (&["rum"][..], "unrecognized subcommand 'rum'"),
        (&["run"], "required arguments were not provided"),
        (&["run", SMALL, "--format", "xml"], "[possible values: table, json, csv]"),
        (&["list", "articles"], "[possible values: experiments, "),
    ] {
        let ended = iisim(args);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{args:?}");
        assert!(ended.stderr.contains(message), "{}", ended.stderr);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_simulation_larger_than_memory_is_refused_with_a_scale_that_fits() {
    // The frames of such a pool alone take more than any machine that runs tests has.
    let pool = "pool.size=64TiB";
    for command in ["run", "explain"] {
        let ended = iisim(&[command, "s4-insert-buffer-off", "--set", pool]);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
        let start = "error: s4-insert-buffer-off: the simulation needs ";
        assert!(ended.stderr.starts_with(start), "{}", ended.stderr);
        assert!(ended.stderr.contains(" are available; --scale 1/"), "{}", ended.stderr);
        assert!(ended.stderr.ends_with(" would fit\n"), "{}", ended.stderr);
    }
}

#[cfg(unix)]
mod on_unix {
    use std::io::{BufRead, BufReader, Read};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn an_interrupt_ends_the_run_and_keeps_what_was_finished() {
        let folder = tempfile::tempdir().unwrap();
        let bin = assert_cmd::cargo::cargo_bin("iisim");
        // Far more rows than a test runs; the first, short scenario tells that the second runs.
        let text = fs::read_to_string(SMALL).unwrap();
        let text = text.replace("rows = 60_000", "rows = 50_000_000");
        fs::write(folder.path().join("long.toml"), text).unwrap();
        let mut child = Command::new(bin)
            .args(["run", SMALL, "long.toml", "--jobs", "1", "--out", "results"])
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.starts_with("Figure: ") {
            line.clear();
            assert!(0 < out.read_line(&mut line).unwrap(), "the first scenario is reported");
        }
        // The second one is about to begin.
        std::thread::sleep(std::time::Duration::from_millis(300));
        let pid = child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        let mut notes = String::new();
        child.stderr.take().unwrap().read_to_string(&mut notes).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{notes}");
        let json = folder.path().join("results/long.json");
        let result: RunResult = serde_json::from_slice(&fs::read(json).unwrap()).unwrap();
        assert!(result.totals.rows < 50_000_000);
        assert_eq!(result.manifest.notes[0], format!("stopped after {} rows", result.totals.rows));
        assert!(notes.contains("note: long: stopped after "), "{notes}");
        assert!(rest.contains("stopped after"), "{rest}");
    }

    #[test]
    fn a_reader_that_has_seen_enough_is_no_error() {
        let bin = assert_cmd::cargo::cargo_bin("iisim");
        let mut child = Command::new(bin)
            .args(["stream", "s4-insert-buffer-off", "--rows", "0..1000000"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut header = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut header).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(header.starts_with("transactionid,"));
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
    }
}
