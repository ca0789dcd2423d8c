//! The machine: cores, prices of computing, memory, disks.

use cost_model::device::{DeviceSpec, HddSpec, Raid, SsdSpec, Tail, VolumeSpec};
use cost_model::{Bytes, CpuPrices, OsWriteConfig, SimDuration};

use super::kind::{Kind, Word};
use super::param::{Param, When};
use super::values::{Choice, Values, words};

/// The machine of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Processor cores.
    pub cores: u32,
    /// Memory of the machine, if it matters; at the scale of the run.
    pub memory: Option<Bytes>,
    /// The disks; their caches are at the scale of the run.
    pub disk: DeviceSpec,
    /// What computing costs.
    pub cpu: CpuPrices,
    /// Copying 16 KiB between the page cache of the operating system and the engine.
    pub os_copy: SimDuration,
    /// What the operating system writes of its cache by itself; times at the scale of the run.
    pub os_write: OsWriteConfig,
}

const TIB: u64 = 1 << 40;
const SECOND: u64 = 1_000_000_000;
const RATE: Kind = Kind::Rate(1_000_000, 1_000_000_000_000);
const PRICE: Kind = Kind::Duration(0, SECOND);
const LATENCY: Kind = Kind::Duration(0, SECOND);

pub(super) const PARAMS: &[Param] = &[
    Param::new(
        "machine.cores",
        Kind::Count("cores", 1, 1_024),
        "Processor cores that clients and background threads share.",
    ),
    Param::new(
        "machine.memory",
        Kind::Bytes(1 << 20, 64 * TIB),
        "Memory of the machine; what the buffer pool leaves of it caches files under buffered I/O.",
    )
    .absent()
    .shrinks(),
    Param::new("machine.cpu.statement", PRICE, "CPU time of a client per statement.")
        .preset("0us")
        .assumed("contained in the price per row of multi-row statements"),
    Param::new(
        "machine.cpu.row",
        PRICE,
        "CPU time per row that a client inserts or deletes, or that is purged.",
    )
    .preset("85us")
    .assumed("70-100 us: python iiBench on a server of 2011"),
    Param::new("machine.cpu.index_entry", PRICE, "CPU time per index entry inserted or deleted.")
        .preset("0us")
        .assumed("contained in the price per row"),
    Param::new("machine.cpu.page_read", PRICE, "CPU time per page read: call, checksum, lists.")
        .preset("0us")
        .assumed("small beside the read itself"),
    Param::new("machine.cpu.page_split", PRICE, "CPU time per page that is split.")
        .preset("0us")
        .assumed("one split in hundreds of rows"),
    Param::new("machine.cpu.commit", PRICE, "CPU time per commit.")
        .preset("0us")
        .assumed("contained in the price per row"),
    Param::new(
        "machine.cpu.write_call",
        PRICE,
        "CPU time per system call that writes to a file when a statement ends, without the copy.",
    )
    .preset("3us")
    .assumed("2 to 5 us on a desktop of 2011: pwrite into the page cache"),
    Param::new("machine.cpu.query", Kind::Duration(1_000, SECOND), "CPU time per query.")
        .preset("100us")
        .assumed("50 to 200 us on servers of 2010: parsing, optimiser, network"),
    Param::new("machine.cpu.row_returned", PRICE, "CPU time per row that a query returns.")
        .preset("1us")
        .assumed("0.5 to 2 us on servers of 2010: index-only scans of short rows"),
    Param::new(
        "machine.cpu.os_copy",
        PRICE,
        "Time to copy 16 KiB between the page cache and the engine under buffered I/O.",
    )
    .preset("10us")
    .assumed("5 to 20 us on servers of 2010: a system call and 16 KiB of memory traffic"),
    Param::new(
        "machine.os.write_period",
        Kind::Duration(1_000_000, 1_000 * SECOND),
        "Time between two looks of the system for old dirty pages of its cache.",
    )
    .preset("5s")
    .source("Linux 2.6, page-writeback.c: dirty_writeback_centisecs")
    .shrinks(),
    Param::new(
        "machine.os.write_age",
        Kind::Duration(1_000_000, 100_000 * SECOND),
        "The system writes a page of its cache that is dirty for so long.",
    )
    .preset("30s")
    .source("Linux 2.6, page-writeback.c: dirty_expire_centisecs")
    .shrinks(),
    Param::new(
        "machine.os.dirty_background",
        Kind::Share(0.0, 1.0),
        "Share of dirty pages in its cache beyond which the system also writes younger ones.",
    )
    .preset("10%")
    .source("Linux 2.6, page-writeback.c: dirty_background_ratio"),
    Param::new(
        "machine.os.dirty_limit",
        Kind::Share(0.0, 1.0),
        "The same, beyond which a statement that writes has to write some out and wait.",
    )
    .preset("20%")
    .source("Linux 2.6, page-writeback.c: dirty_ratio"),
];

/// The words of `machine.disk.kind`.
const DISK_KINDS: &[Word] = &[
    Word { word: "hdd", doc: "Spinning disks, one or an array." },
    Word { word: "ssd", doc: "Flash behind one interface." },
    Word { word: "volumes", doc: "Networked volumes behind one link." },
    Word { word: "null", doc: "A device that answers at once, for studies of counts." },
];

const fn on(words: &'static [&'static str]) -> When {
    When::word("machine.disk.kind", words)
}
const HDD: &[When] = &[on(&["hdd"])];
const SSD: &[When] = &[on(&["ssd"])];
const VOLUMES: &[When] = &[on(&["volumes"])];
const ARRAY: &[When] = &[on(&["hdd", "volumes"])];
const ANY: &[When] = &[on(&["hdd", "ssd", "volumes"])];

pub(super) const DISK_PARAMS: &[Param] = &[
    Param::new(
        "machine.disk.kind",
        Kind::Word(DISK_KINDS),
        "What holds the files; a file that sets it describes the disk anew.",
    )
    .starts_anew(),
    Param::new("machine.disk.spindles", Kind::Count("disks", 1, 1_024), "Disks of the array.")
        .when(HDD),
    Param::new("machine.disk.volumes", Kind::Count("volumes", 1, 1_024), "Volumes of the array.")
        .when(VOLUMES),
    Param::new("machine.disk.raid", Kind::Word(Raid::WORDS), "How disks or volumes are joined.")
        .preset("0")
        .assumed("one disk is an array of one stripe")
        .when(ARRAY),
    Param::new(
        "machine.disk.stripe",
        Kind::Bytes(4_096, 1 << 30),
        "Bytes that lie together on one disk or volume.",
    )
    .preset("64KiB")
    .assumed("default of the RAID controllers of the time; 64 KiB to 1 MiB")
    .when(ARRAY),
    Param::new(
        "machine.disk.seek",
        Kind::Duration(0, SECOND),
        "Average time of a seek with one request outstanding.",
    )
    .when(HDD),
    Param::new("machine.disk.rpm", Kind::Count("turns a minute", 1_000, 100_000), "Rotation.")
        .when(HDD),
    Param::new(
        "machine.disk.service",
        Kind::Duration(1_000, 10 * SECOND),
        "Mean service time of one volume with one request outstanding.",
    )
    .when(VOLUMES),
    Param::new(
        "machine.disk.tail",
        Kind::Word(Tail::WORDS),
        "How service times of a volume spread about their mean.",
    )
    .preset("exponential")
    .assumed("heavy tail of networked volumes")
    .when(VOLUMES),
    Param::new("machine.disk.transfer", RATE, "Sequential rate of one disk or volume.").when(ARRAY),
    Param::new(
        "machine.disk.queue_floor",
        Kind::Number(0.0, 1.0),
        "Share of the positioning time that remains however deep the queue of a disk is.",
    )
    .preset("0.5")
    .assumed("one 15K SAS disk: 200 reads/s alone, 360 with 64 outstanding")
    .when(ARRAY),
    Param::new(
        "machine.disk.queue_max",
        Kind::Count("requests", 1, 1_024),
        "Requests outstanding at one disk beyond which depth helps no more.",
    )
    .preset("64")
    .assumed("32 (SATA) to 128 (SAS)")
    .when(ARRAY),
    Param::new(
        "machine.disk.write_cache",
        Kind::Bytes(0, TIB),
        "Battery-backed write cache of the controller; 0B: none.",
    )
    .preset("0B")
    .assumed("only where a machine's description has one")
    .when(HDD)
    .shrinks(),
    Param::new(
        "machine.disk.link_bandwidth",
        RATE,
        "Rate of the network link that all volumes share.",
    )
    .when(VOLUMES),
    Param::new(
        "machine.disk.copies",
        Kind::Count("copies", 1, 16),
        "How often a byte written to a volume crosses the link, beyond what RAID multiplies.",
    )
    .preset("1")
    .assumed("mirrors behind the link cost the link nothing")
    .when(VOLUMES),
    Param::new(
        "machine.disk.slow_volume",
        Kind::Count("number of the volume", 0, 1_023),
        "A volume slower than the others, counted from 0; goes with slow_factor.",
    )
    .absent()
    .when(VOLUMES),
    Param::new(
        "machine.disk.slow_factor",
        Kind::Number(1.0, 1_000.0),
        "How many times longer the slow volume takes.",
    )
    .absent()
    .when(VOLUMES),
    Param::new(
        "machine.disk.channels",
        Kind::Count("channels", 1, 1_024),
        "Requests that the flash serves at once.",
    )
    .when(SSD),
    Param::new("machine.disk.read_latency", LATENCY, "Time of one read on its channel.").when(SSD),
    Param::new("machine.disk.write_latency", LATENCY, "Time of one write on its channel.")
        .when(SSD),
    Param::new("machine.disk.read_bandwidth", RATE, "Reading rate of the interface.").when(SSD),
    Param::new("machine.disk.write_bandwidth", RATE, "Writing rate of the interface.").when(SSD),
    Param::new(
        "machine.disk.steady_write_bandwidth",
        RATE,
        "Rate of random writes that last: what garbage collection leaves.",
    )
    .from("write_bandwidth", |values| {
        values.full_scale("machine.disk.write_bandwidth").map(super::kind::Value::Whole)
    })
    .when(SSD),
    Param::new(
        "machine.disk.steady_after",
        Kind::Bytes(0, TIB),
        "Bytes of random writes at full rate before the lasting rate binds.",
    )
    .preset("0B")
    .assumed("a device without spare area")
    .when(SSD)
    .shrinks(),
    Param::new(
        "machine.disk.sync_latency",
        Kind::Duration(0, 10 * SECOND),
        "Time of an fsync once everything is in a durable cache.",
    )
    .preset("0ms")
    .assumed("a disk without durable cache waits for its platter instead")
    .when(ANY),
    Param::new(
        "machine.disk.destage_depth",
        Kind::Count("writes", 1, 256),
        "Cached writes that the controller gives a disk at a time; reads queue with them.",
    )
    .preset("8")
    .assumed("4 to 32: the least depth at which their order gains the 1.5 times that were measured")
    .when(HDD),
    Param::new(
        "machine.disk.journal_seek",
        Kind::Duration(0, SECOND),
        "Seek to the file system's journal, whose commit record an fsync without a durable cache waits for; without it no journal.",
    )
    .absent()
    .when(HDD),
    Param::new(
        "machine.disk.max_request",
        Kind::Bytes(512, 1 << 30),
        "The largest request the device takes; longer ones are cut.",
    )
    .preset("512KiB")
    .assumed("the block layer's limit of the time; 44 KiB on Xen")
    .when(ANY),
];

words!(Raid {
    "0" => R0: "Stripes.";
    "1" => R1: "Every disk holds the same.";
    "10" => R10: "Stripes over mirrored pairs.";
});

words!(Tail {
    "fixed" => Fixed: "Every request takes the mean.";
    "exponential" => Exponential: "Exponentially distributed.";
});

impl Machine {
    pub(super) fn from_values(values: &Values) -> Self {
        Self {
            cores: values.get("machine.cores"),
            memory: values.get("machine.memory"),
            disk: disk(values),
            cpu: CpuPrices {
                statement: values.get("machine.cpu.statement"),
                row: values.get("machine.cpu.row"),
                index_entry: values.get("machine.cpu.index_entry"),
                page_read: values.get("machine.cpu.page_read"),
                page_split: values.get("machine.cpu.page_split"),
                commit: values.get("machine.cpu.commit"),
                write_call: values.get("machine.cpu.write_call"),
                query: values.get("machine.cpu.query"),
                row_returned: values.get("machine.cpu.row_returned"),
            },
            os_copy: values.get("machine.cpu.os_copy"),
            os_write: OsWriteConfig {
                period: values.get("machine.os.write_period"),
                age: values.get("machine.os.write_age"),
                background: values.get("machine.os.dirty_background"),
                limit: values.get("machine.os.dirty_limit"),
            },
        }
    }
}

/// The disks that the values describe.
pub(super) fn disk(values: &Values) -> DeviceSpec {
    match values.word("machine.disk.kind") {
        Some("hdd") => DeviceSpec::Hdd(HddSpec {
            spindles: values.get("machine.disk.spindles"),
            raid: values.get("machine.disk.raid"),
            stripe: values.get("machine.disk.stripe"),
            seek: values.get("machine.disk.seek"),
            rotation: SimDuration::from_ns(60 * SECOND / values.get::<u64>("machine.disk.rpm")),
            transfer_bytes_per_s: values.get("machine.disk.transfer"),
            queue_floor: values.get("machine.disk.queue_floor"),
            queue_max: values.get("machine.disk.queue_max"),
            write_cache: values.get("machine.disk.write_cache"),
            destage_depth: values.get("machine.disk.destage_depth"),
            sync_latency: values.get("machine.disk.sync_latency"),
            journal_seek: values.get("machine.disk.journal_seek"),
            max_request: values.get("machine.disk.max_request"),
        }),
        Some("ssd") => DeviceSpec::Ssd(SsdSpec {
            channels: values.get("machine.disk.channels"),
            read_latency: values.get("machine.disk.read_latency"),
            write_latency: values.get("machine.disk.write_latency"),
            sync_latency: values.get("machine.disk.sync_latency"),
            read_bytes_per_s: values.get("machine.disk.read_bandwidth"),
            write_bytes_per_s: values.get("machine.disk.write_bandwidth"),
            steady_write_bytes_per_s: values.get("machine.disk.steady_write_bandwidth"),
            steady_after: values.get("machine.disk.steady_after"),
            max_request: values.get("machine.disk.max_request"),
        }),
        Some("volumes") => DeviceSpec::Volumes(VolumeSpec {
            volumes: values.get("machine.disk.volumes"),
            raid: values.get("machine.disk.raid"),
            stripe: values.get("machine.disk.stripe"),
            service: values.get("machine.disk.service"),
            tail: values.get("machine.disk.tail"),
            transfer_bytes_per_s: values.get("machine.disk.transfer"),
            queue_floor: values.get("machine.disk.queue_floor"),
            queue_max: values.get("machine.disk.queue_max"),
            link_bytes_per_s: values.get("machine.disk.link_bandwidth"),
            copies: values.get("machine.disk.copies"),
            slow_volume: values
                .get::<Option<u32>>("machine.disk.slow_volume")
                .zip(values.get("machine.disk.slow_factor")),
            sync_latency: values.get("machine.disk.sync_latency"),
            max_request: values.get("machine.disk.max_request"),
        }),
        _ => DeviceSpec::Null,
    }
}
