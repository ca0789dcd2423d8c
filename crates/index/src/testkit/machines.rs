//! Machines for tests: small pools, simple devices.

use std::ops::RangeInclusive;

use cost_model::device::{DeviceSpec, HddSpec, Raid, SsdSpec};
use cost_model::{Bytes, MachineConfig, Margin, MarginCounts, Neighbours, PoolConfig, SimDuration};
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

/// Machines of all kinds with pools of `frames` frames per instance.
pub(super) fn machines(frames: RangeInclusive<u32>) -> impl Strategy<Value = MachineConfig> {
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
