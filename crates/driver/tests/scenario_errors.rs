//! What is wrong with a scenario is said in one message: file, line, key, value, what is allowed.

#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes snapshots this way")]

#[path = "scenario_errors/engines.rs"]
mod engines;

use std::fmt::Write as _;
use std::fs;

use driver::scenario::{CatalogueKind, DiskProfile, Scale, Scenario, catalogue};
use expect_test::{Expect, expect};

/// A complete scenario of seven lines; tests put lines beneath it.
const COMPLETE: &str = r#"machine.cores = 4
machine.disk.kind = "null"
pool.size = "1GiB"
engine.kind = "btree"
workload.kind = "iibench"
workload.profile = "python-2009"
workload.rows = 1_000_000
"#;

/// The error of a scenario file with this text.
fn check_text(text: &str, expect: &Expect) {
    check(text, &[], None, expect);
}

/// The errors of the complete scenario with each of these lines put beneath it, as line 8.
fn check_lines(lines: &[&str], expect: &Expect) {
    let mut found = String::new();
    for line in lines {
        let _ = writeln!(found, "{}", error(&format!("{COMPLETE}{line}\n"), &[], None));
    }
    expect.assert_eq(&found);
}

/// The errors of the complete scenario with each of these settings alone over it.
fn check_sets(sets: &[&[&str]], expect: &Expect) {
    let mut found = String::new();
    for sets in sets {
        let _ = writeln!(found, "{}", error(COMPLETE, sets, None));
    }
    expect.assert_eq(&found);
}

/// The errors of a built-in scenario at these scales.
fn check_scales(name: &str, scales: &[&str], expect: &Expect) {
    let mut found = String::new();
    for scale in scales {
        let scenario =
            scale.parse::<Scale>().and_then(|scale| Scenario::load(name, &[], Some(scale)));
        let _ = writeln!(found, "{}", scenario.expect_err(scale));
    }
    expect.assert_eq(&found);
}

fn check(text: &str, sets: &[&str], scale: Option<&str>, expect: &Expect) {
    expect.assert_eq(&format!("{}\n", error(text, sets, scale)));
}

fn error(text: &str, sets: &[&str], scale: Option<&str>) -> String {
    let sets: Vec<_> = sets.iter().map(|&set| set.to_owned()).collect();
    let scale = scale.map(|scale| scale.parse().unwrap());
    match Scenario::parse("s4.toml", text, &sets, scale) {
        Ok(_) => panic!("nothing is wrong with {text}{sets:?}"),
        Err(error) => error.to_string(),
    }
}

/// The errors of loading each of these names, with a folder of these files as the current one.
fn check_files(files: &[(&str, &[u8])], names: &[&str], expect: &Expect) {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let here = format!("{}/", folder.path().display());
    let mut found = String::new();
    for name in names {
        let path = format!("{here}{name}");
        let error = Scenario::load(&path, &[], None).expect_err(name);
        let _ = writeln!(found, "{}", error.to_string().replace(&here, ""));
    }
    expect.assert_eq(&found);
}

#[test]
fn the_complete_scenario_is_complete() {
    Scenario::parse("s4.toml", COMPLETE, &[], None).unwrap();
}

#[test]
fn files() {
    let longest = vec![b'#'; 2 << 20];
    let files: &[(&str, &[u8])] = &[
        ("empty.toml", b""),
        ("blank.toml", b"\n  \n"),
        ("comments.toml", b"# title\n"),
        ("tables.toml", b"[pool]\n"),
        ("binary.toml", b"title = \"\xff\xfe\"\n"),
        ("long.toml", &longest),
        ("folder.toml/file", b""),
        ("latin1", b"title = \"Gr\xfc\xdfe\"\n"),
    ];
    let names = [
        "absent.toml",
        "empty.toml",
        "blank.toml",
        "comments.toml",
        "tables.toml",
        "binary.toml",
        "long.toml",
        "folder.toml",
        "folder.toml/file/below.toml",
        "latin1",
    ];
    check_files(
        files,
        &names,
        &expect![[r#"
        absent.toml: no such file
        empty.toml: is empty: a scenario sets at least one key (see docs/scenarios.md)
        blank.toml: is empty: a scenario sets at least one key (see docs/scenarios.md)
        comments.toml: is empty: a scenario sets at least one key (see docs/scenarios.md)
        tables.toml: is empty: a scenario sets at least one key (see docs/scenarios.md)
        binary.toml: is not text (byte 9 is not UTF-8): not a scenario file
        long.toml: is longer than 1024 KiB: not a scenario file
        folder.toml: is a directory; expected a scenario file, such as one of sim-configs/experiments
        folder.toml/file/below.toml: cannot be read: Not a directory (os error 20)
        latin1: is not text (byte 11 is not UTF-8): not a scenario file
    "#]],
    );
}

#[test]
fn syntax() {
    check_text(
        "title = \"a\"\npool.size = \n",
        &expect![[r#"
            s4.toml:2: not TOML: string values must be quoted, expected literal string
        "#]],
    );
    check_text(
        "[pool\nsize = 1",
        &expect![[r#"
        s4.toml:1: not TOML: unclosed table, expected `]`
    "#]],
    );
    check_text(
        "title = \"a\"\n\n[pool]\nsize = \"1GiB\"\nsize = \"2GiB\"\n",
        &expect![[r#"
            s4.toml:5: not TOML: duplicate key
        "#]],
    );
    check_text(
        "[pool]\nio = \"direct\"\n[engine]\n[pool]\n",
        &expect![[r#"
            s4.toml:4: not TOML: duplicate key
        "#]],
    );
    check_text(
        "seed = 99999999999999999999\n",
        &expect![[r#"
            s4.toml:1: not TOML: integer number overflowed
        "#]],
    );
}

#[test]
fn unknown_keys() {
    check_lines(
        &[
            "pool.sise = \"1GiB\"",
            "size = \"1GiB\"",
            "[pol]\nsize = \"1GiB\"",
            "[polo]",
            "machine.disk.spindels = 8",
            "entirely.wrong = 1",
            "engine.record = 5",
            "report = { every = 1 }",
            "[[report]]\nevery_rows = 1",
        ],
        &expect![[r#"
            s4.toml:8: pool.sise: unknown key (did you mean pool.size?)
            s4.toml:8: size: unknown key (did you mean pool.size?)
            s4.toml:9: pol.size: unknown key (did you mean pool.size?)
            s4.toml:8: polo: unknown key
            s4.toml:8: machine.disk.spindels: unknown key (did you mean machine.disk.spindles?)
            s4.toml:8: entirely.wrong: unknown key
            s4.toml:8: engine.record = 5: a whole number; expected a table, such as [engine.record]
            s4.toml:8: report.every: unknown key (did you mean report.every_rows?)
            s4.toml:8: report = [[report]]: a list of tables; expected a table, such as [report]
        "#]],
    );
}

#[test]
fn quantities() {
    check_lines(
        &[
            "machine.memory = 17179869184",
            "machine.memory = 1.5",
            "machine.memory = \"16\"",
            "machine.memory = \"16gb\"",
            "machine.memory = \"16 parsecs\"",
            "machine.memory = \"-1GiB\"",
            "machine.memory = \"lots\"",
            "machine.memory = \"1kB\"",
            "machine.memory = \"99999999999999999999GiB\"",
            "machine.memory = true",
            "machine.memory = [\"1GiB\", \"2GiB\"]",
            "machine.memory = 2011-02-01",
            "machine.cpu.row = \"85\"",
            "machine.cpu.row = \"85usec\"",
            "machine.cpu.row = \"2h\"",
            "pool.old_fraction = 0.37",
            "pool.old_fraction = \"0.37\"",
            "pool.old_fraction = \"137%\"",
            "pool.old_fraction = \"-3/8\"",
            "pool.old_fraction = \"3/x\"",
        ],
        &expect![[r#"
            s4.toml:8: machine.memory = 17179869184: no unit; expected a size from 1MiB to 64TiB, such as "16MiB" (units: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB)
            s4.toml:8: machine.memory = 1.5: no unit; expected a size from 1MiB to 64TiB, such as "16MiB" (units: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB)
            s4.toml:8: machine.memory = "16": no unit; expected a size from 1MiB to 64TiB, such as "16MiB" (units: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB)
            s4.toml:8: machine.memory = "16gb": unknown unit gb (did you mean GB?); expected a size from 1MiB to 64TiB, such as "16MiB" (units: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB)
            s4.toml:8: machine.memory = "16 parsecs": unknown unit parsecs; expected a size from 1MiB to 64TiB, such as "16MiB" (units: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB)
            s4.toml:8: machine.memory = "-1GiB": negative; expected a size from 1MiB to 64TiB, such as "16MiB" (units: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB)
            s4.toml:8: machine.memory = "lots": no quantity; expected a size from 1MiB to 64TiB, such as "16MiB" (units: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB)
            s4.toml:8: machine.memory = "1kB": out of range; expected a size from 1MiB to 64TiB, such as "16MiB" (units: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB)
            s4.toml:8: machine.memory = "99999999999999999999GiB": out of range; expected a size from 1MiB to 64TiB, such as "16MiB" (units: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB)
            s4.toml:8: machine.memory = true: a truth value; expected a size from 1MiB to 64TiB, such as "16MiB" (units: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB)
            s4.toml:8: machine.memory = ["1GiB", "2GiB"]: a list; expected a size from 1MiB to 64TiB, such as "16MiB" (units: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB)
            s4.toml:8: machine.memory = 2011-02-01: a date; expected a size from 1MiB to 64TiB, such as "16MiB" (units: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB)
            s4.toml:8: machine.cpu.row = "85": no unit; expected a time from 0ns to 1s, such as "5ms" (units: ns, us, ms, s, min, h)
            s4.toml:8: machine.cpu.row = "85usec": unknown unit usec; expected a time from 0ns to 1s, such as "5ms" (units: ns, us, ms, s, min, h)
            s4.toml:8: machine.cpu.row = "2h": out of range; expected a time from 0ns to 1s, such as "5ms" (units: ns, us, ms, s, min, h)
            s4.toml:8: pool.old_fraction = 0.37: no unit; expected a share from 0% to 95%, such as "37%" or "3/8"
            s4.toml:8: pool.old_fraction = "0.37": no unit; expected a share from 0% to 95%, such as "37%" or "3/8"
            s4.toml:8: pool.old_fraction = "137%": out of range; expected a share from 0% to 95%, such as "37%" or "3/8"
            s4.toml:8: pool.old_fraction = "-3/8": negative; expected a share from 0% to 95%, such as "37%" or "3/8"
            s4.toml:8: pool.old_fraction = "3/x": no share; expected a share from 0% to 95%, such as "37%" or "3/8"
        "#]],
    );
}

#[test]
fn counts_words_and_texts() {
    check_lines(
        &[
            "workload.clients = \"5\"",
            "workload.clients = 5.5",
            "workload.clients = -5",
            "workload.clients = 0",
            "workload.key_bytes = 6",
            "engine.split = \"midle\"",
            "engine.split = 5",
            "engine.sibling_reads = \"yes\"",
            "title = 5",
            "use = \"machines/x25e\"",
            "use = [1, 2]",
            "workload.queries.kind = \"maket\"",
            "workload.delete_connection = true",
            "workload.rows = 2_000_000",
        ],
        &expect![[r#"
            s4.toml:8: workload.clients = "5": a text; expected a whole number from 1 to 4_096 (clients)
            s4.toml:8: workload.clients = 5.5: a number with a fraction; expected a whole number from 1 to 4_096 (clients)
            s4.toml:8: workload.clients = -5: negative; expected a whole number from 1 to 4_096 (clients)
            s4.toml:8: workload.clients = 0: out of range; expected a whole number from 1 to 4_096 (clients)
            s4.toml:8: workload.key_bytes = 6: out of range; expected one of 4, 8
            s4.toml:8: engine.split = "midle": unknown choice (did you mean middle?); expected one of innodb, middle, random
            s4.toml:8: engine.split = 5: unknown choice; expected one of innodb, middle, random
            s4.toml:8: engine.sibling_reads = "yes": a text; expected true or false
            s4.toml:8: title = 5: a whole number; expected a text in quotes
            s4.toml:8: use = "machines/x25e": a text; expected a list of texts, such as ["machines/callaghan-2011"]
            s4.toml:8: use = [1, 2]: a list of other things than texts; expected a list of texts, such as ["machines/callaghan-2011"]
            s4.toml:8: workload.queries.kind = "maket": unknown choice (did you mean market?); expected one of none, market, register, pdc, primary, round-robin, each
            s4.toml:8: workload.delete_connection = true: a truth value; expected one of same, separate
            s4.toml:8: not TOML: duplicate key
        "#]],
    );
}

#[test]
fn origins() {
    check_lines(
        &[
            "pool.instances = { value = 4, source = \"a\", assumed = \"b\" }",
            "pool.instances = { source = \"a\" }",
            "pool.instances = { value = 4, since = \"a\" }",
            "pool.instances = { value = 4, source = 5 }",
            "pool.instances = { value = \"4\", source = \"a\" }",
        ],
        &expect![[r#"
            s4.toml:8: pool.instances = { value = 4, source = "a", assumed = "b" }: both a source and assumed; expected a value, or { value = ..., source = "..." }, or { value = ..., assumed = "..." }
            s4.toml:8: pool.instances = { source = "a" }: a table without a value; expected a value, or { value = ..., source = "..." }, or { value = ..., assumed = "..." }
            s4.toml:8: pool.instances = { value = 4, since = "a" }: a table with other keys than value, source and assumed; expected a value, or { value = ..., source = "..." }, or { value = ..., assumed = "..." }
            s4.toml:8: pool.instances = { value = 4, source = 5 }: its source or assumed is no text; expected a value, or { value = ..., source = "..." }, or { value = ..., assumed = "..." }
            s4.toml:8: pool.instances = "4": a text; expected a whole number from 1 to 64 (instances)
        "#]],
    );
}

#[test]
fn missing_keys() {
    check_text(
        "title = \"nothing else\"\n",
        &expect![[r#"
            s4.toml: machine.cores: missing (Processor cores that clients and background threads share); expected a whole number from 1 to 1_024 (cores); also missing: machine.disk.kind, pool.size, engine.kind, workload.kind, workload.rows
        "#]],
    );
    check_text(
        &COMPLETE.replace("pool.size = \"1GiB\"", ""),
        &expect![[r#"
            s4.toml: pool.size: missing (Bytes of page frames, all instances together); expected a size from 1KiB to 64TiB, such as "16MiB" (units: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB)
        "#]],
    );
    check_text(
        &COMPLETE.replace("\"null\"", "\"hdd\"\nmachine.disk.spindles = 8"),
        &expect![[r#"
            s4.toml: machine.disk.seek: missing (Average time of a seek with one request outstanding); expected a time from 0ns to 1s, such as "5ms" (units: ns, us, ms, s, min, h); also missing: machine.disk.rpm, machine.disk.transfer
        "#]],
    );
}

#[test]
fn keys_of_another_kind() {
    check_lines(
        &[
            "machine.disk.channels = 8",
            "machine.disk.stripe = \"64KiB\"",
            "engine.split_spread = \"20%\"",
            "workload.order = \"random\"",
            "workload.queries.limit = 10",
            "workload.queries = { kind = \"market\", point = true, limit = 10 }",
            "workload.delete_connection = \"separate\"",
            "workload.window = 0\nworkload.delete_connection = \"same\"",
            "change_buffer.max_size = \"25%\"",
        ],
        &expect![[r#"
            s4.toml:8: machine.disk.channels = 8: has no effect: it belongs to machine.disk.kind = "ssd", and this one is "null"
            s4.toml:8: machine.disk.stripe = "64KiB": has no effect: it belongs to machine.disk.kind = "hdd" or "volumes", and this one is "null"
            s4.toml:8: engine.split_spread = "20%": has no effect: it belongs to engine.split = "random", and by default it is "innodb"
            s4.toml:8: workload.order = "random": has no effect: it belongs to workload.kind = "micro", and this one is "iibench"
            s4.toml:8: workload.queries.limit = 10: has no effect: it belongs to workload.queries.kind other than "none", and by default it is "none"
            s4.toml:8: workload.queries.limit = 10: has no effect: it belongs to workload.queries.point = false, and this one is true
            s4.toml:8: workload.delete_connection = "separate": has no effect: it belongs to workload.window other than 0, and by default it is 0
            s4.toml:9: workload.delete_connection = "same": has no effect: it belongs to workload.window other than 0, and this one is 0
            s4.toml:8: change_buffer.max_size = "25%": has no effect: it belongs to engine.kind = "change-buffer", and this one is "btree"
        "#]],
    );
    check_sets(
        &[
            &["workload.queries.kind=none", "workload.queries.limit=10"],
            &["change_buffer.buffers=all"],
        ],
        &expect![[r#"
            --set: workload.queries.limit = 10: has no effect: it belongs to workload.queries.kind other than "none", and this one is "none"
            --set: change_buffer.buffers = all: has no effect: it belongs to engine.kind = "change-buffer", and this one is "btree"
        "#]],
    );
}

#[test]
fn values_that_do_not_go_together() {
    check_lines(
        &[
            "engine.page_size = \"12KiB\"",
            "engine.page_size = \"1KiB\"\nengine.page.overhead = \"600B\"",
            "engine.page_size = \"1KiB\"\nworkload.data_bytes = 127\nengine.record.header = \"120B\"",
            "machine.memory = \"512MiB\"",
            "pool.io = \"buffered\"",
            "pool.margin_low = 200",
            "workload.rows_per_commit = 1_500",
            "workload.clients = 2_000",
            "workload.window = 1_000_000",
            "workload.window = 500",
            "workload.secondary_indexes = 2\nworkload.queries.kind = \"pdc\"",
            "workload.queries = { kind = \"market\", start_after_rows = 1_000_000 }",
            "report.every_rows = 2_000_000",
            "report.every_rows = 500",
            "report.every_rows = 1_000\nreport.window = 999",
        ],
        &expect![[r#"
            s4.toml:8: engine.page_size = "12KiB": must be a power of two from 1KiB to 64KiB: extents, areas and stripes are aligned to whole pages
            s4.toml:9: engine.page.overhead = "600B": at least half of a page of 1 KiB must be left for records
            s4.toml:8: engine.page_size = "1KiB": a page has room for 3 of the largest records; a tree needs 4
            s4.toml:3: pool.size = "1GiB": is larger than machine.memory (512 MiB)
            s4.toml:8: pool.io = "buffered": needs machine.memory: what the pool leaves of it caches the files
            s4.toml: pool.margin_high = 186: is below margin_low (200)
            s4.toml:8: workload.rows_per_commit = 1_500: must be a multiple of rows_per_statement (1_000): a commit ends a statement
            s4.toml:7: workload.rows = 1_000_000: is less than one commit of each client (2000 x 1_000 rows)
            s4.toml:8: workload.window = 1_000_000: nothing would ever be deleted: workload.rows is 1_000_000
            s4.toml:8: workload.window = 500: is less than the rows of one commit of each client (1_000)
            s4.toml:9: workload.queries.kind = "pdc": is secondary index 3, but workload.secondary_indexes is 2
            s4.toml:8: workload.queries.start_after_rows = 1_000_000: no query would start: it is not below workload.rows
            s4.toml:8: report.every_rows = 2_000_000: is more than workload.rows (1_000_000)
            s4.toml:8: report.every_rows = 500: is less than the 1_000 rows of a statement, which a point covers whole
            s4.toml:9: report.window = 999: is less than report.every_rows (1_000)
        "#]],
    );
    check_sets(
        &[
            &["pool.size=500KiB"],
            &["pool.size=1MiB", "pool.instances=4"],
            &["pool.size=1MiB", "workload.partition_rows=100_000"],
            &["pool.size=2MiB", "pool.instances=4", "workload.partition_rows=100_000"],
            &["workload.rows=10_000_000_000"],
            &["workload.kind=micro", "workload.order=random", "workload.secondary_indexes=2"],
        ],
        &expect![[r#"
            --set: pool.size = 500KiB: is 31 pages of 16 KiB in each pool instance (1 of them); at least 32 must hold one path through every index and the pages of a split, for each connection
            --set: pool.size = 1MiB: is 16 pages of 16 KiB in each pool instance (4 of them); at least 32 must hold one path through every index and the pages of a split, for each connection
            --set: pool.size = 1MiB: the roots of 40 indexes of partitions are made in the pool before the first row, and an instance must hold 2 times as many pages as it has of them (40)
            --set: pool.size = 2MiB: the roots of 40 indexes of partitions are made in the pool before the first row, and an instance must hold 2 times as many pages as it has of them (40)
            --set: workload.rows = 10_000_000_000: the exact store numbers 2^32 rows at most; run it with --scale 1/4 or smaller
            --set: workload.secondary_indexes = 2: the table of a micro workload has one secondary index
        "#]],
    );
}

#[test]
fn disks_that_cannot_be_built() {
    let array = "machine.disk.kind=hdd machine.disk.spindles=8 machine.disk.seek=3ms \
                 machine.disk.rpm=15_000 machine.disk.transfer=100MB/s";
    let volumes = "machine.disk.kind=volumes machine.disk.volumes=4 machine.disk.service=8ms \
                   machine.disk.transfer=100MB/s machine.disk.link_bandwidth=120MB/s";
    let mut found = String::new();
    for (disk, more) in [
        (array, "machine.disk.raid=5"),
        (array, "machine.disk.raid=10 machine.disk.spindles=7"),
        (array, "machine.disk.raid=1 machine.disk.spindles=1"),
        (array, "machine.disk.stripe=40KiB"),
        (array, "machine.disk.queue_floor=1.5"),
        (array, "machine.disk.queue_floor=-0.5"),
        (array, "machine.disk.queue_floor=nan"),
        (array, "machine.disk.queue_floor=half"),
        (volumes, "machine.disk.slow_volume=1"),
        (volumes, "machine.disk.slow_factor=2"),
        (volumes, "machine.disk.slow_factor=2 machine.disk.slow_volume=4"),
    ] {
        // The later of two settings of a key counts here.
        let overruled = |set: &&str| !more.contains(set.split('=').next().unwrap());
        let sets: Vec<_> =
            disk.split(' ').filter(|set| !set.is_empty()).filter(overruled).collect();
        let sets: Vec<_> = sets.into_iter().chain(more.split(' ')).collect();
        let _ = writeln!(found, "{}", error(COMPLETE, &sets, None));
    }
    expect![[r#"
        --set: machine.disk.raid = 5: unknown choice; expected one of 0, 1, 10
        --set: machine.disk.spindles = 7: RAID 10 stripes over mirrored pairs: an even number
        --set: machine.disk.spindles = 1: RAID 1 mirrors at least 2 of them
        --set: machine.disk.stripe = 40KiB: must be a multiple of the page size (16 KiB): a page lies on one disk or volume
        --set: machine.disk.queue_floor = 1.5: out of range; expected a number from 0 to 1
        --set: machine.disk.queue_floor = -0.5: negative; expected a number from 0 to 1
        --set: machine.disk.queue_floor = nan: out of range; expected a number from 0 to 1
        --set: machine.disk.queue_floor = half: no number; expected a number from 0 to 1
        --set: machine.disk.slow_volume = 1: needs machine.disk.slow_factor
        --set: machine.disk.slow_factor = 2: needs machine.disk.slow_volume
        --set: machine.disk.slow_volume = 4: there are 4 volumes, counted from 0
    "#]].assert_eq(&found);
}

#[test]
fn settings_of_the_command_line() {
    check_sets(
        &[
            &["pool.sise=1GiB"],
            &["pool.size"],
            &["=1GiB"],
            &["pool.size="],
            &["pool.size=1073741824"],
            &["pool.size=\"-1GiB\""],
            &["pool.size=1GiB", "pool.size=2GiB"],
            &["workload.rows=many"],
            &["workload.rows=1e9"],
            &["workload.rows=-5"],
            &["engine.sibling_reads=maybe"],
            &["machine.disk.kind=tape"],
            &["machine.disk.kind=ssd"],
            &["use=machines/x25e"],
        ],
        &expect![[r#"
            --set: pool.sise: unknown key (did you mean pool.size?)
            --set: pool.size: expected key=value, such as pool.size=1GiB
            --set: =1GiB: expected key=value, such as pool.size=1GiB
            --set: pool.size=: expected key=value, such as pool.size=1GiB
            --set: pool.size = 1073741824: no unit; expected a size from 1KiB to 64TiB, such as "16MiB" (units: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB)
            --set: pool.size = "-1GiB": negative; expected a size from 1KiB to 64TiB, such as "16MiB" (units: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB)
            --set: pool.size: given twice
            --set: workload.rows = many: no whole number; expected a whole number from 1 to 1_000_000_000_000 (rows)
            --set: workload.rows = 1e9: no whole number; expected a whole number from 1 to 1_000_000_000_000 (rows)
            --set: workload.rows = -5: negative; expected a whole number from 1 to 1_000_000_000_000 (rows)
            --set: engine.sibling_reads = maybe: neither of them; expected true or false
            --set: machine.disk.kind = tape: unknown choice; expected one of hdd, ssd, volumes, null
            s4.toml: machine.disk.channels: missing (Requests that the flash serves at once); expected a whole number from 1 to 1_024 (channels); also missing: machine.disk.read_latency, machine.disk.write_latency, machine.disk.read_bandwidth, machine.disk.write_bandwidth
            --set: use = machines/x25e: not for the command line; expected it in a file
        "#]],
    );
}

#[test]
fn names_that_no_file_has() {
    check_text(
        "use = [\"machines/x25\"]\n",
        &expect![[r#"
            s4.toml:1: machines/x25: no such scenario file to use (did you mean machines/x25e?); there are: machines/callaghan-2011, machines/desktop-2011, machines/ec2-2012, machines/fusionio-mlc, machines/fusionio-slc, machines/measured-device, machines/raid0-8x15k, machines/ram-disk, machines/ram-disk-4us, machines/samsung-830, machines/sas-10k, machines/sas-15k, machines/sata-7200, machines/x25e, machines/x4150-2009
        "#]],
    );
    check_text(
        "title = \"a\"\nuse = [\"innodb-plugin\"]\n",
        &expect![[r#"
            s4.toml:2: innodb-plugin: no such scenario file to use (did you mean engines/innodb-plugin-1.0?); there are: experiments/lesson, experiments/measured-all-64m, experiments/measured-fifo-all-32m, experiments/measured-fifo-none-32m, experiments/measured-fractal-512k-32m, experiments/measured-fractal-fifo, experiments/measured-mysql-all-64m, experiments/measured-mysql-inserts-64m, experiments/measured-mysql-none-64m, experiments/measured-noindex-64m, experiments/measured-none-160m, experiments/measured-none-64m, experiments/measured-part5-none-160m, experiments/measured-queries-none-160m, experiments/queries-beside-inserts, experiments/s0-indexed, experiments/s0-indexed-ssd, experiments/s0-no-secondary, experiments/s1-flush-buffered, experiments/s1-flush-direct, experiments/s1-myisam, experiments/s1-nothing-buffered, experiments/s1-nothing-direct, experiments/s2-fractal-insert, experiments/s2-fractal-window, experiments/s2-fractal-window-x25e, experiments/s2-innodb-insert, experiments/s2-innodb-window, experiments/s2-innodb-window-x25e, experiments/s4-insert-buffer-off, experiments/s4-insert-buffer-on, experiments/s4-myisam, experiments/s4-no-secondary, experiments/what-if-flash, experiments/what-if-pool, experiments/what-if-redo, machines/callaghan-2011, machines/desktop-2011, machines/ec2-2012, machines/fusionio-mlc, machines/fusionio-slc, machines/measured-device, machines/raid0-8x15k, machines/ram-disk, machines/ram-disk-4us, machines/samsung-830, machines/sas-10k, machines/sas-15k, machines/sata-7200, machines/x25e, machines/x4150-2009, engines/facebook-5.1, engines/innodb-5.1, engines/innodb-plugin-1.0, engines/mariadb-10.11, engines/myisam, engines/mysql-5.5, engines/mysql-5.7, engines/percona-5.5, engines/perconaft, engines/tokudb-2009
        "#]],
    );
    check_text(
        "use = [\"machines/x25e\", \"machines/x25e\"]\n",
        &expect![[r#"
            s4.toml:1: use: machines/x25e: given twice
        "#]],
    );
    check_text(
        "use = [\"./absent.toml\"]\n",
        &expect![[r#"
            s4.toml:1: use: ./absent.toml: no such file
        "#]],
    );
    let unknown = Scenario::load("s4-insert-buffer-of", &[], None).unwrap_err();
    expect![[r#"
        s4-insert-buffer-of: no such file or built-in experiment (did you mean s4-insert-buffer-off?); there are: lesson, measured-all-64m, measured-fifo-all-32m, measured-fifo-none-32m, measured-fractal-512k-32m, measured-fractal-fifo, measured-mysql-all-64m, measured-mysql-inserts-64m, measured-mysql-none-64m, measured-noindex-64m, measured-none-160m, measured-none-64m, measured-part5-none-160m, measured-queries-none-160m, queries-beside-inserts, s0-indexed, s0-indexed-ssd, s0-no-secondary, s1-flush-buffered, s1-flush-direct, s1-myisam, s1-nothing-buffered, s1-nothing-direct, s2-fractal-insert, s2-fractal-window, s2-fractal-window-x25e, s2-innodb-insert, s2-innodb-window, s2-innodb-window-x25e, s4-insert-buffer-off, s4-insert-buffer-on, s4-myisam, s4-no-secondary, what-if-flash, what-if-pool, what-if-redo
    "#]].assert_eq(&format!("{unknown}\n"));
    let disk = DiskProfile::load("machines/x26e", &[]).unwrap_err().to_string();
    assert!(disk.starts_with("machines/x26e: no such"), "{disk}");
}

#[test]
fn files_that_use_each_other() {
    let files: &[(&str, &[u8])] = &[
        ("self.toml", b"title = \"a\"\nuse = [\"./self.toml\"]\n"),
        ("a.toml", b"use = [\"machines/x25e\", \"b.toml\"]\n"),
        ("b.toml", b"use = [\"folder/c.toml\"]\n"),
        ("folder/c.toml", b"use = [\"../a.toml\"]\n"),
        ("below.toml", b"use = [\"wrong.toml\"]\n"),
        ("wrong.toml", b"\n\npool.size = \"1\"\n"),
    ];
    check_files(
        files,
        &["self.toml", "a.toml", "below.toml"],
        &expect![[r#"
        self.toml:2: use: a circle: self.toml uses self.toml
        folder/c.toml:1: use: a circle: a.toml uses b.toml uses folder/c.toml uses a.toml
        wrong.toml:3: pool.size = "1": no unit; expected a size from 1KiB to 64TiB, such as "16MiB" (units: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB)
    "#]],
    );
}

#[test]
fn scales() {
    check_scales(
        "s4-insert-buffer-off",
        &["1/3", "128", "0.5", "1/0", "2/128", "", "1/x", "1/2097152", "1/1024", "1/2048"],
        &expect![[r#"
            --scale: "1/3": expected 1 over a power of two, such as 1/128: at other scales the waves of page splits would not be those of the full run
            --scale: "128": expected 1 or 1 over a power of two, such as 1/128
            --scale: "0.5": expected 1 or 1 over a power of two, such as 1/128
            --scale: "1/0": expected 1 or 1 over a power of two, such as 1/128
            --scale: "2/128": expected 1 or 1 over a power of two, such as 1/128
            --scale: "": expected 1 or 1 over a power of two, such as 1/128
            --scale: "1/x": expected 1 or 1 over a power of two, such as 1/128
            --scale: "1/2097152": the smallest scale is 1/1048576
            --scale: 1/1024: leaves 1_024 pages in each pool instance; 1_064 are needed (8 times the 133 pages of pool.margin_scan, which do not shrink); the smallest scale of this scenario is 1/512
            --scale: 1/2048: rounded prices would be too few; the smallest scale is 1/1024
        "#]],
    );
    check_scales(
        "measured-none-64m",
        &["1/4", "1/128"],
        &expect![[r#"
            --scale: 1/4: leaves 1_014 pages in each pool instance; 1_024 are needed (8 times the 128 pages of pool.margin_high, which do not shrink); the smallest scale of this scenario is 1/2
            --scale: 1/128: leaves 31 pages in each pool instance; 1_024 are needed (8 times the 128 pages of pool.margin_high, which do not shrink); the smallest scale of this scenario is 1/2
        "#]],
    );
    check(
        COMPLETE,
        &["workload.kind=recorded", "workload.file=keys.bin"],
        Some("1/2"),
        &expect![[r#"
            --scale: 1/2: a recorded stream has the keys of its own size; run it at --scale 1
        "#]],
    );
    check(
        COMPLETE,
        &["report.every_rows=1_000"],
        Some("1/2"),
        &expect![[r#"
            --set: report.every_rows = 1_000: at scale 1/2 this is 500, which is less than the 1_000 rows of a statement, which a point covers whole
        "#]],
    );
    check(
        COMPLETE,
        &["workload.window=50_000_000", "pool.margin_scan=1"],
        Some("1/4"),
        &expect![[r#"
            --set: workload.window = 50_000_000: nothing would ever be deleted: workload.rows is 1_000_000
        "#]],
    );
    check(
        COMPLETE,
        &["pool.margin_scan=1", "pool.size=64GiB"],
        Some("1/2048"),
        &expect![[r#"
            s4.toml:7: workload.rows = 1_000_000: at scale 1/2048 this is 488, which is less than one commit of each client (1 x 1_000 rows)
        "#]],
    );
}

#[test]
fn disks_are_read_from_machines_and_from_experiments() {
    for entry in catalogue() {
        let result = DiskProfile::load(&entry.name, &[]);
        let has_disks = matches!(entry.kind, CatalogueKind::Experiment | CatalogueKind::Machine);
        assert_eq!(result.is_ok(), has_disks, "{}", entry.name);
    }
    let missing = DiskProfile::load("engines/innodb-5.1", &[]).unwrap_err();
    expect![[r#"
        built-in engines/innodb-5.1.toml: machine.disk.kind: missing (What holds the files; a file that sets it describes the disk anew); expected one of hdd, ssd, volumes, null
    "#]].assert_eq(&format!("{missing}\n"));
}
