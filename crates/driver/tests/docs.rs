//! The pages say what the code says, and lead somewhere.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use cost_model::device::DeviceSpec;
use driver::scenario::{DiskProfile, Scenario, markdown_table};

/// What the tests of the devices hold against published figures.
#[path = "../../cost-model/tests/devices/specs.rs"]
#[expect(dead_code, reason = "a drive without barriers and a single volume are no machine files")]
mod specs;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The files below `folder` with this extension, in order.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|end| end == extension) {
            found.push(path);
        }
    }
    found
}

/// `README.md` and everything below `docs`.
fn pages() -> Vec<PathBuf> {
    let mut pages = files(&root().join("docs"), "md");
    pages.insert(0, root().join("README.md"));
    pages
}

/// The part between the markers equals the registry's; `UPDATE_EXPECT=1` rewrites it.
#[test]
fn the_page_of_the_model_has_every_parameter() {
    const BEGIN: &str = "<!-- parameters: begin -->\n";
    const END: &str = "<!-- parameters: end -->";
    let path = root().join("docs/model.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let current = format!("{before}{BEGIN}\n{}\n{END}{after}", markdown_table());
    if env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, &current).unwrap();
    } else {
        assert!(page == current, "docs/model.md is stale: run with UPDATE_EXPECT=1");
    }
}

#[test]
fn every_link_leads_somewhere() {
    let mut dead = Vec::new();
    let mut links = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for target in targets(&text).filter(|target| !target.contains("://")) {
            links += 1;
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() { page.clone() } else { page.with_file_name(file) };
            let leads = match fs::read_to_string(&path) {
                Ok(text) => anchor.is_empty() || anchors(&text).contains(anchor),
                Err(_) => path.is_dir(),
            };
            if !leads {
                dead.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(dead.is_empty(), "dead links:\n{}", dead.join("\n"));
    assert!(20 < links, "only {links} links were found");
}

#[test]
fn links_and_anchors_are_recognised() {
    let text = "[a](b.md) and ![c](d/e.svg) `[f](g.md)` ```\n[h](i.md)\n```\n[j](#k-l)";
    assert_eq!(targets(text).collect::<Vec<_>>(), ["b.md", "d/e.svg", "#k-l"]);
    let anchors = anchors("# A page: `x`, y\n```\n# no heading\n```\n## B-1\n");
    assert_eq!(anchors.into_iter().collect::<Vec<_>>(), ["a-page-x-y", "b-1"]);
}

/// What the links of a Markdown text point to; code does not link.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    let prose = text.split('`').step_by(2);
    let after_brackets = prose.flat_map(|part| part.split("](").skip(1));
    after_brackets.filter_map(|rest| rest.split_once(')').map(|(target, _)| target))
}

/// The names under which a page's headings can be linked to.
fn anchors(text: &str) -> BTreeSet<String> {
    let prose = text.split("```").step_by(2).flat_map(str::lines);
    let headings = prose.filter_map(|line| line.trim_start_matches('#').strip_prefix(' '));
    let slug = |heading: &str| {
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.collect::<String>().to_lowercase().replace(' ', "-")
    };
    headings.map(slug).collect()
}

#[test]
fn every_experiment_loads_from_its_file() {
    let experiments = files(&root().join("sim-configs/experiments"), "toml");
    assert!(!experiments.is_empty());
    for path in experiments {
        let scenario = Scenario::load(path.to_str().unwrap(), &[], None);
        assert!(scenario.is_ok(), "{}", scenario.unwrap_err());
    }
}

/// The disks of the machine files are those that were held against published figures.
#[test]
fn the_disks_of_the_machines_are_the_tested_ones() {
    let tested = [
        ("sas-15k", DeviceSpec::Hdd(specs::sas_15k())),
        ("sas-10k", DeviceSpec::Hdd(specs::sas_10k())),
        ("sata-7200", DeviceSpec::Hdd(specs::sata_7k())),
        ("desktop-2011", {
            let journal_seek = Some(cost_model::SimDuration::from_us(1_200));
            DeviceSpec::Hdd(cost_model::device::HddSpec { journal_seek, ..specs::sata_7k() })
        }),
        ("callaghan-2011", DeviceSpec::Hdd(specs::raid10_bbu())),
        ("raid0-8x15k", DeviceSpec::Hdd(specs::raid0_eight())),
        ("x4150-2009", DeviceSpec::Hdd(specs::raid0_six())),
        ("fusionio-slc", DeviceSpec::Ssd(specs::iodrive_slc())),
        ("fusionio-mlc", DeviceSpec::Ssd(specs::iodrive_mlc())),
        ("x25e", DeviceSpec::Ssd(specs::x25e())),
        ("samsung-830", DeviceSpec::Ssd(specs::samsung_830())),
        ("ram-disk", DeviceSpec::Null),
        (
            "ram-disk-4us",
            DeviceSpec::Ssd(cost_model::device::SsdSpec {
                channels: 2,
                read_latency: cost_model::SimDuration::from_ns(300),
                write_latency: cost_model::SimDuration::from_ns(500),
                sync_latency: cost_model::SimDuration::ZERO,
                read_bytes_per_s: 6_000_000_000,
                write_bytes_per_s: 4_600_000_000,
                steady_write_bytes_per_s: 4_600_000_000,
                steady_after: cost_model::Bytes::ZERO,
                max_request: cost_model::Bytes::kib(512),
            }),
        ),
        ("measured-device", {
            let latency = cost_model::SimDuration::from_ms(5);
            let rate = 100_000_000_000;
            DeviceSpec::Ssd(cost_model::device::SsdSpec {
                channels: 8,
                read_latency: latency,
                write_latency: latency,
                sync_latency: cost_model::SimDuration::ZERO,
                read_bytes_per_s: rate,
                write_bytes_per_s: rate,
                steady_write_bytes_per_s: rate,
                steady_after: cost_model::Bytes::ZERO,
                max_request: cost_model::Bytes::kib(256),
            })
        }),
        ("ec2-2012", {
            // No published figure says what a sync of eight volumes takes.
            let sync_latency = cost_model::SimDuration::from_ms(10);
            DeviceSpec::Volumes(cost_model::device::VolumeSpec {
                sync_latency,
                ..specs::ebs_raid10()
            })
        }),
    ];
    let machines = files(&root().join("sim-configs/machines"), "toml");
    let stem = |path: &PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let names: BTreeSet<_> = machines.iter().map(stem).collect();
    assert_eq!(names, tested.iter().map(|(name, _)| (*name).to_owned()).collect());
    for (name, spec) in tested {
        assert_eq!(DiskProfile::load(name, &[]).unwrap().spec, spec, "{name}");
    }
}
