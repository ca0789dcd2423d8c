//! Machines for tests: small pools, simple devices.

use std::ops::RangeInclusive;

use cost_model::device::{DeviceSpec, HddSpec, Raid, SsdSpec};
use cost_model::{
    Adaptive, BackgroundConfig, Binlog, Bytes, CommitConfig, LogAtCommit, LruWriter, MachineConfig,
    MakeYoung, Margin, MarginCounts, Neighbours, PoolConfig, RedoConfig, SerialCommit, SimDuration,
    WriteBackConfig,
};
use proptest::prelude::*;

/// A pool has an old part only above tolerance plus minimum of the young part (20 + 5 pages, buf0lru.c).
const OLD_LEN_MIN: u32 = 26;

/// A machine whose device takes no time, with a plain LRU pool of `frames` frames that writes a
/// page only when it needs its frame: for tests of counts.
pub fn null_machine(frames: u32) -> MachineConfig {
    let pool = PoolConfig {
        frames,
        instances: 1,
        old_fraction: 0.0,
        old_len_min: OLD_LEN_MIN,
        old_blocks_ms: 0,
        young_distance: 0.0,
        make_young: MakeYoung::Any,
        reads_check_bitmap: false,
        margin: Margin { scan: 0, low: 0, high: 0, counts: MarginCounts::FreeAndClean },
        neighbours: Neighbours::None,
        area_pages: 64,
    };
    MachineConfig { pages_expected: 1 << 10, ..MachineConfig::new(DeviceSpec::Null, pool) }
}

/// One disk of 15,000 turns per minute without a write cache: 3.5 ms seek, 4 ms rotation.
pub fn one_disk() -> DeviceSpec {
    DeviceSpec::Hdd(HddSpec {
        spindles: 1,
        raid: Raid::R0,
        stripe: Bytes::gib(1),
        seek: SimDuration::from_us(3_500),
        rotation: SimDuration::from_ms(4),
        transfer_bytes_per_s: 120_000_000,
        queue_floor: 0.5,
        queue_max: 32,
        write_cache: Bytes::ZERO,
        sync_latency: SimDuration::ZERO,
        destage_depth: 8,
        journal_seek: None,
        max_request: Bytes::mib(1),
    })
}

/// One solid-state drive: 8 channels, 100 us.
pub fn one_drive() -> DeviceSpec {
    DeviceSpec::Ssd(SsdSpec {
        channels: 8,
        read_latency: SimDuration::from_us(100),
        write_latency: SimDuration::from_us(100),
        sync_latency: SimDuration::from_us(20),
        read_bytes_per_s: 500_000_000,
        write_bytes_per_s: 400_000_000,
        steady_write_bytes_per_s: 400_000_000,
        steady_after: Bytes::ZERO,
        max_request: Bytes::kib(128),
    })
}

/// A machine and the background thread of the engine on it.
#[derive(Clone, Debug)]
pub(super) struct Host {
    pub(super) machine: MachineConfig,
    pub(super) background: Option<BackgroundConfig>,
}

/// Machines of all kinds with pools of `frames` frames per instance, and all ways of writing: a
/// third of them write pages at once and have no log.
pub(super) fn hosts(frames: RangeInclusive<u32>) -> impl Strategy<Value = Host> {
    let writing = prop_oneof![
        1 => Just(None),
        2 => (write_backs(), logs(), commits(), backgrounds()).prop_map(Some)
    ];
    (machines(frames), writing).prop_map(|(mut machine, writing)| {
        let Some((write_back, redo, commit, background)) = writing else {
            return Host { machine, background: None };
        };
        (machine.write_back, machine.redo, machine.commit) = (write_back, redo, commit);
        // Only a page cleaner answers a call for one.
        let cleaner = background.as_ref().is_some_and(|thread| thread.cleans_tails);
        if machine.write_back.lru == LruWriter::Cleaner && !cleaner {
            machine.write_back.lru = LruWriter::Reader;
        }
        Host { machine, background }
    })
}

fn write_backs() -> impl Strategy<Value = WriteBackConfig> {
    let writers = prop_oneof![
        Just(LruWriter::Reader),
        Just(LruWriter::ReaderAlone),
        Just(LruWriter::Cleaner)
    ];
    let doublewrite = prop_oneof![Just(0u32), Just(3), Just(128)];
    let growth = prop_oneof![Just(Bytes::ZERO), Just(Bytes::kib(64))];
    let threads = prop_oneof![Just(0u32), Just(1), Just(4)];
    let latches = prop_oneof![Just(1u64), Just(4)];
    (doublewrite, threads, writers, growth, latches).prop_map(
        |(doublewrite_pages, threads, lru, file_growth, latches_one_in)| WriteBackConfig {
            doublewrite_pages,
            threads,
            join_pages: 64,
            lru,
            file_growth,
            latches_one_in,
        },
    )
}

fn logs() -> impl Strategy<Value = Option<RedoConfig>> {
    let log = |kib| RedoConfig::innodb(Bytes::kib(kib), 1.0, Bytes::ZERO);
    prop::option::of((8..64u64).prop_map(log))
}

fn commits() -> impl Strategy<Value = CommitConfig> {
    let logs = prop_oneof![Just(LogAtCommit::Nothing), Just(LogAtCommit::Flush)];
    let binlogs = prop_oneof![Just(Binlog::Off), Just(Binlog::Written), Just(Binlog::Synced)];
    let serial = prop_oneof![Just(SerialCommit::Whole), Just(SerialCommit::Binlog)];
    (logs, binlogs, serial).prop_map(|(log, binlog, serial)| CommitConfig { log, binlog, serial })
}

fn backgrounds() -> impl Strategy<Value = Option<BackgroundConfig>> {
    let adaptive = prop_oneof![
        Just(Adaptive::Off),
        Just(Adaptive::Native),
        Just(Adaptive::Estimate),
        Just(Adaptive::KeepAverage),
        Just(Adaptive::Age { low_water: 0.1 })
    ];
    let rules = (adaptive, prop_oneof![Just(0.1), Just(0.9)], any::<[bool; 3]>());
    prop::option::weighted(0.8, rules).prop_map(|rules| {
        let (adaptive, dirty_max, [dirty_sleeps, tenth_tick, cleans_tails]) = rules?;
        Some(BackgroundConfig {
            period: SimDuration::from_ms(10),
            log_sync: Some(SimDuration::from_ms(50)),
            io_capacity: 200,
            io_capacity_max: 2_000,
            dirty_max,
            dirty_sleeps,
            adaptive,
            tenth_tick,
            cleans_tails,
            checkpoint_ticks: 10,
        })
    })
}

/// Machines of all kinds with pools of `frames` frames per instance.
fn machines(frames: RangeInclusive<u32>) -> impl Strategy<Value = MachineConfig> {
    let lists = (1..=2u32, frames, prop_oneof![Just(0.0), Just(0.37)]);
    let touches = (prop_oneof![Just(0u32), Just(5)], prop_oneof![Just(0.0), Just(0.16)]);
    let device =
        prop_oneof![1 => Just(DeviceSpec::Null), 3 => Just(one_disk()), 1 => Just(one_drive())];
    let counts = prop_oneof![
        Just(MarginCounts::FreeAndClean),
        Just(MarginCounts::Free { writes_max: 4, frees_written: true }),
        Just(MarginCounts::Free { writes_max: 9, frees_written: false })
    ];
    let margin = prop_oneof![
        counts.clone().prop_map(|counts| Margin { scan: 0, low: 0, high: 0, counts }),
        counts.prop_map(|counts| Margin { scan: 8, low: 3, high: 6, counts }),
    ];
    let neighbours =
        prop_oneof![Just(Neighbours::None), Just(Neighbours::Area), Just(Neighbours::Contiguous)];
    let flushing = (margin, neighbours, prop_oneof![Just(4u32), Just(64)]);
    let os_cache = prop_oneof![3 => Just(None), 1 => Just(Some(Bytes::kib(16 * 20)))];
    let system = (prop_oneof![Just(8u32), Just(1)], device, os_cache);
    (lists, touches, system, flushing).prop_map(
        |((instances, frames, old_fraction), (old_blocks_ms, young_distance), system, flushing)| {
            let (margin, neighbours, area_pages) = flushing;
            let mut machine = null_machine(instances * frames);
            (machine.cores, machine.disks, machine.os_cache) = system;
            machine.os_copy = SimDuration::from_us(8);
            // Clocks of threads that only compute drift apart too.
            machine.prices.index_entry = SimDuration::from_us(3);
            machine.prices.page_read = SimDuration::from_us(10);
            machine.prices.page_split = SimDuration::from_us(20);
            machine.pool = PoolConfig {
                instances,
                old_fraction,
                old_blocks_ms,
                young_distance,
                margin,
                neighbours,
                area_pages,
                ..machine.pool
            };
            machine
        },
    )
}
