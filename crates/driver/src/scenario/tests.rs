//! Layers, scale and origin of values, and that the pages in `docs/` say what the code says.

#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes snapshots this way")]

use std::path::Path;
use std::{env, fs};

use cost_model::device::{DeviceSpec, Raid};
use cost_model::{Bytes, SimDuration};
use expect_test::expect;

use super::*;
use crate::workload::{Profile, StreamSpec};

fn s4(sets: &[&str], scale: &str) -> Scenario {
    let sets: Vec<_> = sets.iter().map(|&set| set.to_owned()).collect();
    Scenario::load("s4-insert-buffer-off", &sets, Some(scale.parse().unwrap())).unwrap()
}

fn value<'a>(scenario: &'a Scenario, key: &str) -> &'a ScenarioValue {
    scenario.values.iter().find(|value| value.key == key).unwrap()
}

#[test]
fn the_experiment_of_the_note_is_what_the_note_says() {
    let scenario = s4(&[], "1");
    assert_eq!(scenario.name, "s4-insert-buffer-off");
    assert_eq!(scenario.article.as_deref(), Some("S4"));
    assert_eq!(scenario.workload.rows, 1_000_000_000);
    assert_eq!(scenario.pool.pages(scenario.engine.page_size), 1 << 20);
    assert_eq!(scenario.engine.page_usable(), Bytes::new(16_252));
    assert_eq!(scenario.os_cache(), None);
    let DeviceSpec::Hdd(disk) = &scenario.machine.disk else { panic!("disks turn") };
    assert_eq!((disk.spindles, disk.raid), (8, Raid::R10));
    assert_eq!(disk.rotation, SimDuration::from_ms(4));
    assert_eq!(disk.write_cache, Bytes::mib(512));
    let StreamSpec::IiBench(stream) = &scenario.workload.stream else { panic!("iiBench") };
    assert_eq!((stream.profile, stream.price_step), (Profile::Python2009, 1));
    assert_eq!(
        scenario.layers,
        [
            "machines/sas-15k.toml",
            "machines/callaghan-2011.toml",
            "engines/innodb-5.1.toml",
            "engines/innodb-plugin-1.0.toml",
            "engines/facebook-5.1.toml",
            "experiments/s4-insert-buffer-off.toml",
        ]
    );
}

#[test]
fn scale_shrinks_rows_and_memory_and_nothing_else() {
    let (full, small) =
        (s4(&["workload.window=1_280_000"], "1"), s4(&["workload.window=1_280_000"], "1/128"));
    assert_eq!(small.workload.rows, 7_812_500);
    assert_eq!(small.pool.size, Bytes::mib(128));
    assert_eq!(small.report.every_rows, 7_813);
    assert_eq!(small.workload.window.unwrap().rows, 10_000);
    let DeviceSpec::Hdd(disk) = &small.machine.disk else { panic!("disks turn") };
    assert_eq!(disk.write_cache, Bytes::mib(4));
    assert_eq!(disk.stripe, Bytes::kib(64));
    let StreamSpec::IiBench(stream) = &small.workload.stream else { panic!("iiBench") };
    assert_eq!((stream.price_step, stream.customers, stream.rows), (128, 100_000, 7_812_500));
    assert_eq!(small.engine, full.engine);
    assert_eq!(small.machine.cpu, full.machine.cpu);
    assert_eq!(small.pool.margin, full.pool.margin);
    // The manifest shows what the file says.
    assert_eq!(small.values, full.values);
    assert_eq!(value(&small, "workload.rows").value, "1_000_000_000");

    let unrounded = s4(&["workload.profile=unrounded"], "1/128");
    let StreamSpec::IiBench(stream) = &unrounded.workload.stream else { panic!("iiBench") };
    assert_eq!(stream.price_step, 1);
}

#[test]
fn every_value_knows_who_chose_it() {
    let scenario = s4(&["pool.instances=2"], "1");
    let size = value(&scenario, "pool.size");
    assert_eq!((size.value.as_str(), size.unit), ("16GiB", "bytes"));
    assert!(size.source.as_ref().unwrap().contains("February 2011"));
    let file = "experiments/s4-insert-buffer-off.toml".to_owned();
    assert_eq!(size.origin, Origin::File { file, line: 12 });
    assert!(value(&scenario, "machine.cpu.row").assumed.as_ref().unwrap().contains("70 to 100"));
    assert_eq!(value(&scenario, "pool.instances").origin, Origin::Set);
    let margin = value(&scenario, "pool.margin_scan");
    assert_eq!((margin.value.as_str(), &margin.origin), ("133", &Origin::Default));
    assert!(margin.source.as_ref().unwrap().contains("buf0flu.h"));
    assert_eq!(value(&scenario, "workload.key_bytes").value, "4");
    assert!(scenario.text.contains("# machines/sas-15k.toml\n"));
    assert!(scenario.text.ends_with("# --set pool.instances=2\n"));
}

#[test]
fn a_later_disk_is_described_anew() {
    let flash = Scenario::load("what-if-flash", &[], None).unwrap();
    let alone = DiskProfile::load("fusionio-slc", &[]).unwrap();
    assert_eq!(flash.machine.disk, alone.spec);
    assert_eq!(flash.workload.rows, 1_000_000_000);
    assert_eq!(flash.article, None, "another machine is not the article's");

    let counts = s4(&["machine.disk.kind=null"], "1");
    assert_eq!(counts.machine.disk, DeviceSpec::Null);
    let mlc = DiskProfile::load("fusionio-mlc", &[]).unwrap();
    let DeviceSpec::Ssd(mlc) = mlc.spec else { panic!("flash") };
    assert_eq!(mlc.write_latency, SimDuration::from_us(90), "from the file it uses");
}

#[test]
fn logs_may_have_disks_of_their_own() {
    let scenario = s4(&["redo.disk=machines/x25e"], "1");
    let x25e = DiskProfile::load("machines/x25e", &[]).unwrap();
    assert_eq!(scenario.log_disk.unwrap().spec, x25e.spec);
    assert!(scenario.text.contains("# machines/x25e.toml\n"), "part of what a run is known by");

    // The cache of an array shrinks with the run, as that of the data does.
    let scenario = s4(&["redo.disk=machines/callaghan-2011"], "1/128");
    assert_eq!(scenario.log_disk.unwrap().spec, scenario.machine.disk);

    // A path starts from the folder of the file that gives it.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logs.toml");
    let disk =
        "use = [\"machines/sas-15k\"]\nmachine.disk.spindles = 2\nmachine.disk.raid = \"1\"\n";
    fs::write(folder.path().join("pair.toml"), disk).unwrap();
    fs::write(&path, "use = [\"experiments/s4-insert-buffer-off\"]\nredo.disk = \"pair.toml\"\n")
        .unwrap();
    let scenario = Scenario::load(path.to_str().unwrap(), &[], None).unwrap();
    let DeviceSpec::Hdd(pair) = scenario.log_disk.unwrap().spec else { panic!("disks turn") };
    assert_eq!((pair.spindles, pair.raid), (2, Raid::R1));

    fs::write(folder.path().join("pair.toml"), "machine.disk.raid = \"10\"\n").unwrap();
    let error = Scenario::load(path.to_str().unwrap(), &[], None).unwrap_err().to_string();
    assert!(error.contains("logs.toml:2: redo.disk = \"pair.toml\": "), "{error}");
    assert!(error.contains("pair.toml: machine.disk.kind: missing"), "{error}");
}

#[test]
fn a_profile_may_have_a_change_buffer_that_its_scenario_does_not_use() {
    let of_buffer = |scenario: &Scenario| {
        let keys = scenario.values.iter().map(|value| value.key);
        keys.filter(|key| key.starts_with("change_buffer.")).count()
    };
    let (off, on) = (s4(&[], "1"), s4(&["engine.kind=change-buffer"], "1"));
    assert!(off.text.contains("[change_buffer]"), "in the text of its layers");
    assert_eq!((off.change_buffer.clone(), of_buffer(&off)), (None, 0));
    assert_eq!(value(&on, "change_buffer.background").value, "10", "as the profile has it");

    let set = ["change_buffer.max_size=25%".to_owned()];
    let ignored = Scenario::load("s4-insert-buffer-off", &set, None).unwrap_err();
    assert!(ignored.to_string().contains("has no effect"), "{ignored}");
}

#[test]
fn another_kind_on_top_drops_the_keys_it_does_not_have() {
    let sets = ["workload.kind=micro", "workload.order=random", "workload.secondary_indexes=1"];
    let micro = s4(&sets, "1/128");
    assert_eq!(micro.workload.rows, 7_812_500);
    assert!(!micro.values.iter().any(|value| value.key == "workload.profile"));

    let scans = ["workload.window=2_000_000", "workload.delete_connection=separate"];
    assert_eq!(s4(&scans, "1").workload.window.unwrap().connection, DeleteConnection::Separate);
    let point = ["workload.queries.kind=market", "workload.queries.point=true"];
    assert_eq!(s4(&point, "1").workload.queries.unwrap().range, None);
    let beneath = "use = [\"experiments/queries-beside-inserts\"]\nworkload.queries.point = true\n";
    let above = Scenario::parse("a.toml", beneath, &[], None).unwrap();
    assert_eq!(above.workload.queries.unwrap().range, None, "its limit is not asked for");
}

#[test]
fn files_on_disk_come_before_built_in_ones() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    write(
        "sim-configs/machines/ram-disk.toml",
        "machine.cores = 7\nmachine.disk.kind = \"null\"\n",
    );
    write("sim-configs/mine/pool.toml", "pool.size = \"2GiB\"\n");
    let text = "use = [\"experiments/measured-none-64m\", \"machines/ram-disk\", \"mine/pool\"]\n";
    let inside = Scenario::load(&write("sim-configs/mine/a.toml", text), &[], None).unwrap();
    assert_eq!((inside.machine.cores, inside.pool.size), (7, Bytes::gib(2)));
    let beside = Scenario::load(&write("b.toml", text), &[], None).unwrap();
    assert_eq!(beside.machine, inside.machine);
    assert_eq!(beside.layers[0], "machines/ram-disk.toml");
    assert_eq!((beside.name.as_str(), beside.title.as_str()), ("b", "b"));

    // A file used from two sides lies where it came first: the experiment's own machine.
    let origin = &value(&beside, "machine.cores").origin;
    assert_eq!(*origin, Origin::File { file: "machines/ram-disk.toml".to_owned(), line: 1 });

    let recorded = "use = [\"experiments/measured-none-64m\"]\n\
                    workload.kind = \"recorded\"\nworkload.file = \"keys.bin\"\n";
    let recorded = Scenario::load(&write("c/d.toml", recorded), &[], None).unwrap();
    let StreamSpec::Recorded { file, rows } = recorded.workload.stream else { panic!("recorded") };
    assert_eq!((file, rows), (folder.path().join("c/keys.bin"), 3_000_000));
}

#[test]
fn every_built_in_file_has_a_header_and_says_where_its_values_are_from() {
    for entry in catalogue() {
        let path = match entry.kind {
            CatalogueKind::Experiment | CatalogueKind::Study => {
                format!("{}/{}.toml", entry.kind.folder(), entry.name)
            }
            CatalogueKind::Machine | CatalogueKind::Engine => format!("{}.toml", entry.name),
        };
        assert!(!entry.title.is_empty(), "{path} has no title");
        let (_, text) = catalogue::file(&path).unwrap();
        let bare = entry.name.rsplit('/').next().unwrap();
        assert!(text.starts_with(&format!("# {bare}")), "{path}: no name");
        assert!(text.contains("\n# Question: "), "{path}: no question");
        assert!(text.contains("\n# Source: "), "{path}: no source");
        let source =
            document::Source { shown: path.clone(), name: path.clone(), text: text.to_owned() };
        for set in document::read(&source).unwrap() {
            let told =
                set.source.is_some() || set.assumed.is_some() || set.param.table().is_empty();
            assert!(told, "{path}: {} has no origin", set.param.key);
        }
        if entry.kind == CatalogueKind::Experiment {
            let scenario = Scenario::load(&entry.name, &[], None).unwrap();
            assert!(!scenario.question.is_empty(), "{path} has no question");
        }
    }
}

#[test]
fn the_schema_names_every_key_and_is_a_scenario_of_comments() {
    let schema = schema();
    for param in registry() {
        let name = param.key.rsplit('.').next().unwrap();
        assert!(schema.contains(&format!("\n# {name} =")), "{}", param.key);
        assert!(markdown_table().contains(&format!("\n| `{}` |", param.key)), "{}", param.key);
    }
    let pool =
        schema.split("\n\n").find(|part| part.contains("pool.size") || part.contains("[pool]"));
    expect![[r#"
        [pool]
        # Bytes of page frames, all instances together.
        # bytes: 1KiB to 64TiB.
        # Shrinks with --scale.
        # size =   (required)"#]]
    .assert_eq(pool.unwrap());
}

/// The page's part between the markers equals the registry's; `UPDATE_EXPECT=1` rewrites it.
#[test]
fn the_reference_page_says_what_the_registry_says() {
    const BEGIN: &str = "<!-- keys: begin -->\n";
    const END: &str = "<!-- keys: end -->";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scenarios.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let current = format!("{before}{BEGIN}\n{}\n{END}{after}", reference());
    if env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, &current).unwrap();
    } else {
        assert!(page == current, "docs/scenarios.md is stale: run with UPDATE_EXPECT=1");
    }
}

/// Every example of the page works: files of a TOML block are named by its first line.
#[test]
fn the_examples_of_the_reference_page_work() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scenarios.md");
    let page = fs::read_to_string(path).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut experiments = Vec::new();
    for block in page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()) {
        let name = block.lines().next().and_then(|line| line.strip_prefix("# ")).unwrap();
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, block).unwrap();
        if block.contains("[workload]") {
            experiments.push(path);
        }
    }
    assert!(!experiments.is_empty());
    for path in experiments {
        let scenario = Scenario::load(&path.display().to_string(), &[], None);
        assert!(scenario.is_ok(), "{}", scenario.unwrap_err());
    }
}
