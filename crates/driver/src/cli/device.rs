//! `iisim device`: what the disks of a machine deliver.

use std::io::{self, Write};

use clap::Args;
use cost_model::device::{DepthPoint, ProbeReport, probe};
use cost_model::{Bytes, SimDuration};
use driver::report::text;
use driver::scenario::{DiskProfile, Kind, Value};
use serde::Serialize;

use super::error::CliError;
use super::output;

/// Bytes of a block: a sector at least, and not more than the largest write cache holds many of.
const BLOCK: Kind = Kind::Bytes(512, 16 << 20);

/// Measure what the disks of a machine deliver by queue depth, as a load generator would
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iisim device callaghan-2011
  iisim device s4-insert-buffer-off --set machine.disk.spindles=16
  iisim device machines/x25e --block 4KiB --format json")]
pub(super) struct DeviceArgs {
    /// Machine or scenario file, or name of a built-in one
    #[arg(value_name = "FILE_OR_NAME")]
    file: String,
    /// Bytes of a random request, such as 4KiB [default: a page of the engine]
    #[arg(long, value_name = "SIZE")]
    block: Option<String>,
    /// Set a key of the machine, such as machine.disk.spindles=16; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,
    /// Form of the result
    #[arg(long, value_parser = ["table", "json"], default_value = "table")]
    format: String,
}

/// The names and units of docs/reports.md.
#[derive(Debug, Serialize)]
struct Report {
    schema: u32,
    name: String,
    title: String,
    seed: u64,
    block_bytes: u64,
    reads: Vec<LoadPoint>,
    writes: Vec<LoadPoint>,
    burst_writes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    sequential_read_bytes_per_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sequential_write_bytes_per_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    syncs_per_s: Option<f64>,
}

/// Random requests at one queue depth. What takes no time has no rate.
#[derive(Debug, Serialize)]
struct LoadPoint {
    depth: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    requests_per_s: Option<f64>,
    latency_mean_us: f64,
    latency_p99_us: f64,
}

pub(super) fn execute(args: &DeviceArgs) -> Result<(), CliError> {
    let disks = DiskProfile::load(&args.file, &args.sets)?;
    let block = match &args.block {
        None => disks.page_size,
        Some(text) => match BLOCK.parse_option("--block", text)? {
            Value::Whole(bytes) => Bytes::new(bytes),
            _ => disks.page_size,
        },
    };
    let measured = probe(&disks.spec, disks.seed, block);
    output::print(|out| match args.format.as_str() {
        "json" => {
            serde_json::to_writer_pretty(&mut *out, &Report::new(disks, &measured))?;
            writeln!(out)
        }
        _ => write_table(&disks, &measured, out),
    })
}

impl Report {
    fn new(disks: DiskProfile, measured: &ProbeReport) -> Self {
        let points = |points: &[DepthPoint]| points.iter().map(LoadPoint::new).collect();
        Self {
            schema: driver::report::SCHEMA,
            name: disks.name,
            title: disks.title,
            seed: disks.seed,
            block_bytes: measured.block.get(),
            reads: points(&measured.reads),
            writes: points(&measured.writes),
            burst_writes: measured.burst_writes,
            sequential_read_bytes_per_s: finite(measured.sequential_read_bytes_per_s),
            sequential_write_bytes_per_s: finite(measured.sequential_write_bytes_per_s),
            syncs_per_s: finite(measured.syncs_per_s),
        }
    }
}

impl LoadPoint {
    fn new(point: &DepthPoint) -> Self {
        Self {
            depth: point.depth,
            requests_per_s: finite(point.requests_per_s),
            latency_mean_us: point.latency_mean.as_ns() as f64 / 1e3,
            latency_p99_us: point.latency_p99.as_ns() as f64 / 1e3,
        }
    }
}

fn finite(rate: f64) -> Option<f64> {
    Some(rate).filter(|rate| rate.is_finite())
}

fn write_table(disks: &DiskProfile, measured: &ProbeReport, out: &mut dyn Write) -> io::Result<()> {
    let block = measured.block;
    writeln!(out, "{}\n", disks.title)?;
    writeln!(out, "Random requests of {block}, virtual time; writes sustained, caches full")?;
    let head = ["mean", "99 %"].map(|name| format!("{name:>10}")).join("  ");
    writeln!(out, "{:>5}  {:>10}  {head}  {:>10}  {head}", "depth", "reads/s", "writes/s")?;
    for (read, write) in measured.reads.iter().zip(&measured.writes) {
        writeln!(out, "{:>5}  {}  {}", read.depth, cells(read), cells(write))?;
    }
    writeln!(out)?;
    let mut line = |name: &str, value: &str| writeln!(out, "{name:<20}{value}");
    if 0 < measured.burst_writes {
        let data = block * measured.burst_writes;
        let count = text::grouped(measured.burst_writes);
        line(
            "burst of writes",
            &format!("{count} ({data}) that an idle write cache takes at once"),
        )?;
    }
    line("sequential read", &bandwidth(measured.sequential_read_bytes_per_s))?;
    line("sequential write", &bandwidth(measured.sequential_write_bytes_per_s))?;
    line(
        "fsync/s",
        &format!("{} (512-byte appends of one committer)", rate(measured.syncs_per_s)),
    )?;
    write_values(disks, out)
}

fn cells(point: &DepthPoint) -> String {
    let time = |time: SimDuration| text::duration(time.as_secs_f64());
    let (mean, p99) = (time(point.latency_mean), time(point.latency_p99));
    format!("{:>10}  {mean:>10}  {p99:>10}", rate(point.requests_per_s))
}

/// What the disks were built from and where that is from.
fn write_values(disks: &DiskProfile, out: &mut dyn Write) -> io::Result<()> {
    let values = &disks.values;
    let key_width = values.iter().map(|value| value.key.len()).max().unwrap_or(0);
    let value_width = values.iter().map(|value| value.value.len()).max().unwrap_or(0);
    writeln!(out, "\nMade of")?;
    for value in values {
        let basis = match (&value.source, &value.assumed) {
            (Some(source), _) => source.clone(),
            (None, Some(reason)) => format!("assumed: {reason}"),
            (None, None) => "-".to_owned(),
        };
        let head = format!("  {:key_width$}  {:value_width$}  ", value.key, value.value);
        text::write_hanging(&head, &basis, out)?;
    }
    Ok(())
}

fn rate(per_s: f64) -> String {
    if per_s.is_finite() { text::rate(per_s) } else { "no limit".to_owned() }
}

fn bandwidth(bytes_per_s: f64) -> String {
    if bytes_per_s.is_finite() {
        format!("{} MB/s", text::rate(bytes_per_s / 1e6))
    } else {
        "no limit".to_owned()
    }
}
