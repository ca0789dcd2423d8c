//! Every published figure of the devices of the articles, against what the probe measures.

use std::fmt::Write;

use cost_model::Bytes;
use cost_model::device::{DepthPoint, DeviceSpec, PROBE_DEPTHS, ProbeReport, probe};

use super::specs;
use Figure::{
    DeepReads, Reads, ReadsAtLeast, SequentialRead, SequentialReadAtMost, SequentialWrite,
    SequentialWriteAtMost, Syncs, Writes,
};

/// How far a measured figure may lie from the published one.
const TOLERANCE: f64 = 0.15;

/// What a figure says: reads and writes at a queue depth, streams in MB/s, syncs of one committer.
#[derive(Clone, Copy, Debug)]
enum Figure {
    Reads(u32),
    /// The best of all depths.
    DeepReads,
    /// The best of all depths is no less.
    ReadsAtLeast,
    Writes(u32),
    SequentialRead,
    SequentialWrite,
    SequentialReadAtMost,
    SequentialWriteAtMost,
    Syncs,
}

/// A published figure, the midpoint where a range was published, and where it is from.
/// [A]: assumed, no measurement was found; [D]: follows from other rows.
type Row = (Figure, f64, &'static str);

const SLIDES: &str = "matsunobu, SSD deployment strategies for MySQL";
const CURVE: &str = "queue-depth curve [A] between published ends";

#[test]
fn single_disks() {
    let one_15k = [
        (Reads(1), 200.0, "S4 article: 200 a disk"),
        (Reads(4), 260.0, CURVE),
        (Reads(8), 300.0, SLIDES),
        (Reads(16), 330.0, CURVE),
        (Reads(32), 350.0, CURVE),
        (Reads(64), 360.0, CURVE),
        (Writes(1), 200.0, "same as reads without a cache [D]"),
        (Writes(8), 300.0, "same as reads without a cache [D]"),
        (SequentialRead, 125.0, "100-150 MB/s [D]"),
        (SequentialWrite, 125.0, "100-150 MB/s [D]"),
        (Syncs, 250.0, "PostgreSQL 9.0 High Performance: one turn"),
    ];
    check("one 15K SAS", &DeviceSpec::Hdd(specs::sas_15k()), &one_15k);
    let one_10k = [
        (Reads(1), 140.0, "7 ms [D]"),
        (Reads(8), 200.0, "~200 queued [D]"),
        (Writes(1), 140.0, "same as reads without a cache [D]"),
        (SequentialRead, 100.0, "80-120 MB/s [D]"),
        (SequentialWrite, 100.0, "80-120 MB/s [D]"),
        (Syncs, 166.0, "PostgreSQL 9.0 High Performance: one turn"),
    ];
    check("one 10K SAS", &DeviceSpec::Hdd(specs::sas_10k()), &one_10k);
    let one_7k = [
        (Reads(1), 77.5, "75-80 [D]"),
        (Reads(8), 120.0, "~120 queued [D]"),
        (Writes(1), 77.5, "same as reads without a cache [D]"),
        (SequentialRead, 105.0, "80-130 MB/s [D]"),
        (SequentialWrite, 105.0, "80-130 MB/s [D]"),
        (Syncs, 120.0, "PostgreSQL 9.0 High Performance: one turn"),
    ];
    check("one 7.2K SATA", &DeviceSpec::Hdd(specs::sata_7k()), &one_7k);
}

#[test]
fn arrays_with_a_battery_backed_cache() {
    let raid10 = [
        (Reads(1), 200.0, "S4 article: one disk's rate"),
        (Reads(4), 720.0, CURVE),
        (Reads(8), 1_200.0, CURVE),
        (Reads(16), 1_600.0, "S4 article: 1600 for 8 disks"),
        (Reads(32), 2_000.0, CURVE),
        (Reads(64), 2_400.0, CURVE),
        (Writes(1), 1_400.0, "4 x 200, elevator and adjacency gain 1.5-2 [D]"),
        (Writes(16), 1_400.0, "4 x 200, elevator and adjacency gain 1.5-2 [D]"),
        (SequentialRead, 400.0, "~400 MB/s [D]"),
        (SequentialWrite, 400.0, "~400 MB/s [D]"),
        (Syncs, 5_370.0, "Percona blog 2010-03-04, PERC 6/i"),
    ];
    check("8 x 15K RAID 10 + BBU", &DeviceSpec::Hdd(specs::raid10_bbu()), &raid10);
    let eight = [
        (Reads(1), 200.0, "S4 article: one disk's rate"),
        (Reads(4), 720.0, CURVE),
        (Reads(8), 1_200.0, CURVE),
        (Reads(16), 1_600.0, CURVE),
        (Reads(32), 2_000.0, CURVE),
        (Reads(64), 2_400.0, CURVE),
        (Writes(16), 8.0 * 360.0, "8 x one disk with a deep queue [D]"),
        (SequentialRead, 8.0 * 125.0, "8 x one disk [D]"),
        (SequentialWrite, 8.0 * 125.0, "8 x one disk [D]"),
        (Syncs, 5_000.0, "~5,000/s [D]"),
    ];
    check("8 x 15K RAID 0 + BBU", &DeviceSpec::Hdd(specs::raid0_eight()), &eight);
    let six = [
        (Reads(1), 140.0, "one disk's rate [D]"),
        (DeepReads, 6.0 * 200.0, "6 x one queued disk [D]"),
        (Writes(16), 6.0 * 240.0, "6 x one disk, 1.2 x its rate at depth 8 as for 15K [D]"),
        (SequentialRead, 6.0 * 100.0, "6 x one disk [D]"),
        (SequentialWrite, 6.0 * 100.0, "6 x one disk [D]"),
        (Syncs, 5_000.0, "~5,000/s [D]"),
    ];
    check("6 x 10K RAID 0 + BBU", &DeviceSpec::Hdd(specs::raid0_six()), &six);
}

#[test]
fn networked_volumes() {
    let one = [
        (Reads(1), 100.0, "Amazon RDS user guide: ~100 I/Os a second on average"),
        (Writes(1), 100.0, "similar to reads"),
        (Syncs, 1_000.0 / 7.5, "5-10 ms [A]"),
    ];
    check("one EBS volume", &DeviceSpec::Volumes(specs::ebs_volume()), &one);
    let eight = [
        (Reads(1), 120.0, CURVE),
        (Reads(4), 450.0, CURVE),
        (Reads(8), 750.0, CURVE),
        (Reads(16), 1_000.0, CURVE),
        (Reads(32), 1_100.0, CURVE),
        (Reads(64), 1_200.0, CURVE),
        (Writes(64), 600.0, "half the reads: two copies [D]"),
        (SequentialReadAtMost, 120.0, "instance link of ~1 Gb/s"),
        (SequentialWriteAtMost, 60.0, "instance link, mirrors counted twice"),
    ];
    check("8 EBS volumes RAID 10", &DeviceSpec::Volumes(specs::ebs_raid10()), &eight);
}

#[test]
fn solid_state_drives() {
    const PERCONA: &str = "Percona blog 2009-12-08";
    let slc = [
        (Reads(1), 8_900.0, PERCONA),
        (Reads(4), 28_000.0, PERCONA),
        (Reads(8), 36_000.0, CURVE),
        (Reads(16), 42_000.0, CURVE),
        (Reads(32), 45_000.0, PERCONA),
        (Reads(64), 45_000.0, CURVE),
        (Writes(32), 600e6 / 16_384.0, "up to ~600 MB/s with spare space, Tom's Hardware"),
        (SequentialRead, 700.0, "Tom's Hardware ioDrive review"),
        (SequentialWrite, 550.0, "500-600 MB/s, Tom's Hardware ioDrive review"),
        (Syncs, 9_229.0, "Percona blog 2010-03-04"),
    ];
    check("FusionIO SLC", &DeviceSpec::Ssd(specs::iodrive_slc()), &slc);
    let mlc = [
        (Writes(16), 7_000.0, "110-120 MB/s full, ssdperformanceblog 2011-06"),
        (SequentialRead, 700.0, "ssdperformanceblog 2011-06"),
        (SequentialWrite, 500.0, "ssdperformanceblog 2011-06"),
        (Syncs, 9_229.0, "similar to the SLC card"),
    ];
    let device = DeviceSpec::Ssd(specs::iodrive_mlc());
    check("FusionIO MLC", &device, &mlc);
    let alibaba = "Alibaba FusionIO performance test";
    check_blocks("FusionIO MLC", &device, Bytes::kib(4), &[(DeepReads, 70_000.0, alibaba)]);
    check_blocks("FusionIO MLC", &device, Bytes::kib(8), &[(ReadsAtLeast, 50_000.0, alibaba)]);
    let x25e = [
        (Reads(1), 5_000.0, SLIDES),
        (Reads(4), 11_000.0, CURVE),
        (Reads(8), 13_000.0, CURVE),
        (Reads(16), 14_000.0, CURVE),
        (Reads(32), 14_000.0, CURVE),
        (Reads(64), 14_000.0, CURVE),
        (Writes(16), 3_500.0, "2,000-5,000 with the cache on, bigdbahead 518"),
        (SequentialRead, 250.0, "AnandTech 2739"),
        (SequentialWrite, 170.0, "AnandTech 2739"),
        (Syncs, 50.0, "Percona blog 2009-03-02, barriers on"),
    ];
    check("Intel X25-E", &DeviceSpec::Ssd(specs::x25e()), &x25e);
    let no_barriers = [(Syncs, 5_300.0, "Percona blog 2009-03-02, barriers off")];
    check("Intel X25-E unsafe", &DeviceSpec::Ssd(specs::x25e_unsafe()), &no_barriers);
    let samsung = [
        (Reads(1), 5_000.0, CURVE),
        (Reads(4), 15_000.0, CURVE),
        (Reads(8), 24_000.0, CURVE),
        (Reads(16), 29_000.0, CURVE),
        (Reads(32), 31_000.0, CURVE),
        (Reads(64), 31_000.0, CURVE),
        (Writes(8), 323.0 * 64.0, "323 MiB/s at 8 threads, rimzy.net 2012-04"),
        (SequentialRead, 520.0, "data sheet"),
        (SequentialWrite, 400.0, "data sheet"),
        (Syncs, 1_000.0 / 5.5, "1-10 ms [A]"),
    ];
    check("Samsung 830", &DeviceSpec::Ssd(specs::samsung_830()), &samsung);
}

fn check(device: &str, spec: &DeviceSpec, rows: &[Row]) {
    check_blocks(device, spec, Bytes::kib(16), rows);
}

fn check_blocks(device: &str, spec: &DeviceSpec, block: Bytes, rows: &[Row]) {
    let report = probe(spec, 1, block);
    assert_eq!((report.reads.len(), report.writes.len()), (PROBE_DEPTHS.len(), PROBE_DEPTHS.len()));
    let mut table = format!("{device}, {block}: measured / published\n");
    let mut holds = true;
    for (figure, published, source) in rows {
        let measured = measured(&report, *figure);
        let ratio = measured / published;
        let good = match figure {
            ReadsAtLeast => 1.0 <= ratio,
            SequentialReadAtMost | SequentialWriteAtMost => ratio <= 1.0,
            _ => (1.0 - TOLERANCE..=1.0 + TOLERANCE).contains(&ratio),
        };
        holds &= good;
        let mark = if good { ' ' } else { '!' };
        let name = format!("{figure:?}");
        writeln!(table, "{mark} {name:22} {measured:9.1} {published:9.1} {ratio:5.2}  {source}")
            .expect("a string takes what is written to it");
    }
    assert!(holds, "{table}");
}

fn measured(report: &ProbeReport, figure: Figure) -> f64 {
    match figure {
        Reads(depth) => at_depth(&report.reads, depth),
        Writes(depth) => at_depth(&report.writes, depth),
        DeepReads | ReadsAtLeast => {
            report.reads.iter().map(|point| point.requests_per_s).fold(0.0, f64::max)
        }
        SequentialRead | SequentialReadAtMost => report.sequential_read_bytes_per_s / 1e6,
        SequentialWrite | SequentialWriteAtMost => report.sequential_write_bytes_per_s / 1e6,
        Syncs => report.syncs_per_s,
    }
}

fn at_depth(points: &[DepthPoint], depth: u32) -> f64 {
    let point = points.iter().find(|point| point.depth == depth);
    point.expect("the probe measures this depth").requests_per_s
}
