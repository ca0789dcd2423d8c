//! Random loads on random machines: everything goes on, and every nanosecond and byte is booked.

use cost_model::device::DeviceSpec;
use cost_model::{
    Adaptive, BackgroundConfig, Binlog, Bytes, CommitConfig, LogAtCommit, LruWriter, MachineConfig,
    Margin, MarginCounts, Neighbours, PoolConfig, SerialCommit, SimDuration, WriteBackConfig,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::rig::{Load, Rig, array, background, disk, pool, redo};

const CASES: u32 = 1500;

#[derive(Clone, Debug)]
struct Setup {
    machine: MachineConfig,
    background: Option<BackgroundConfig>,
    load: Load,
}

#[test]
fn everything_goes_on_and_is_booked() {
    each(setups(), |setup| {
        let age_limit = setup.machine.redo.as_ref().map_or(0, |redo| redo.age_max.get());
        let mut rig = Rig::new(setup.machine, setup.load, setup.background);
        rig.run();
        let most = rig.machine.redo_stats().map_or(0, |stats| stats.age_max);
        // What the threads under way log meanwhile comes on top.
        assert!(most <= age_limit + 4 * LOGGED_MAX, "{most} bytes of age, {age_limit} allowed");
    });
}

/// Bytes of the largest change, with the headers of the blocks it fills.
const LOGGED_MAX: u64 = 3_500;

#[test]
fn every_dirty_page_is_written_some_time() {
    let idle = setups().prop_map(|mut setup| {
        let mut thread = setup.background.unwrap_or_else(background);
        thread.period = SimDuration::from_ms(10);
        thread.tenth_tick = true;
        setup.background = Some(thread);
        setup
    });
    each(idle, |setup| {
        let mut rig = Rig::new(setup.machine, setup.load, setup.background);
        rig.run();
        let end = rig.now() + SimDuration::from_ms(120_000);
        rig.idle_until(end);
        assert_eq!(rig.machine.dirty_pages(), 0);
    });
}

#[test]
fn two_runs_are_the_same() {
    each(setups(), |setup| {
        let run = || {
            let Setup { machine, load, background } = setup.clone();
            let mut rig = Rig::new(machine, load, background);
            rig.run();
            (rig.now(), rig.machine.io().clone(), rig.machine.redo_stats().copied())
        };
        assert_eq!(run(), run());
    });
}

fn each(setups: impl Strategy<Value = Setup>, check: impl Fn(Setup)) {
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[3; 32]);
    let outcome = TestRunner::new_with_rng(config, rng).run(&setups, |setup| {
        check(setup);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

fn setups() -> impl Strategy<Value = Setup> {
    (machines(), loads(), threads()).prop_map(|(mut machine, load, background)| {
        // Only a page cleaner answers a call for one.
        let cleaner = background.as_ref().is_some_and(|thread| thread.cleans_tails);
        if machine.write_back.lru == LruWriter::Cleaner && !cleaner {
            machine.write_back.lru = LruWriter::Reader;
        }
        Setup { machine, background, load }
    })
}

fn machines() -> impl Strategy<Value = MachineConfig> {
    let disks = prop_oneof![
        Just(DeviceSpec::Null),
        Just(DeviceSpec::Hdd(disk())),
        Just(DeviceSpec::Hdd(array()))
    ];
    let log_disks = prop_oneof![Just(None), Just(Some(DeviceSpec::Hdd(disk())))];
    let logs = prop::option::weighted(0.8, (8..200u64, prop_oneof![Just(512), Just(4096)]));
    let os_cache = prop_oneof![3 => Just(None), 1 => Just(Some(Bytes::kib(16 * 20)))];
    (disks, log_disks, logs, pools(), write_backs(), commits(), os_cache).prop_map(
        |(disks, log_disks, log, pool, write_back, commit, os_cache)| {
            let mut machine = MachineConfig::new(disks, pool);
            machine.redo = log.map(|(kib, block)| {
                let mut config = redo(Bytes::kib(kib));
                config.block = Bytes::new(block);
                config
            });
            machine.log_disks = log_disks;
            machine.write_back = write_back;
            machine.commit = commit;
            machine.os_cache = os_cache;
            machine.prices.page_read = SimDuration::from_us(10);
            machine
        },
    )
}

fn pools() -> impl Strategy<Value = PoolConfig> {
    let counts = prop_oneof![
        Just(MarginCounts::FreeAndClean),
        Just(MarginCounts::Free { writes_max: 4, frees_written: true }),
        Just(MarginCounts::Free { writes_max: 9, frees_written: false })
    ];
    let margins = prop_oneof![Just((0, 0, 0)), Just((8, 3, 6)), Just((40, 5, 20))];
    let neighbours =
        prop_oneof![Just(Neighbours::None), Just(Neighbours::Area), Just(Neighbours::Contiguous)];
    let areas = prop_oneof![Just(4u32), Just(64)];
    (1..=3u32, 12..=60u32, counts, margins, neighbours, areas).prop_map(
        |(instances, frames, counts, (scan, low, high), neighbours, area_pages)| PoolConfig {
            instances,
            neighbours,
            area_pages,
            margin: Margin { scan, low, high, counts },
            ..pool(instances * frames)
        },
    )
}

fn write_backs() -> impl Strategy<Value = WriteBackConfig> {
    let writers = prop_oneof![
        Just(LruWriter::Reader),
        Just(LruWriter::ReaderAlone),
        Just(LruWriter::Cleaner)
    ];
    let doublewrite = prop_oneof![Just(0u32), Just(1), Just(5), Just(128)];
    let growth = prop_oneof![Just(Bytes::ZERO), Just(Bytes::kib(64)), Just(Bytes::mib(4))];
    let joins = prop_oneof![Just(1u32), Just(64)];
    let threads = prop_oneof![Just(0u32), Just(1), Just(4)];
    let latches = prop_oneof![Just(1u64), Just(4)];
    (doublewrite, threads, joins, writers, growth, latches).prop_map(
        |(doublewrite_pages, threads, join_pages, lru, file_growth, latches_one_in)| {
            WriteBackConfig {
                doublewrite_pages,
                threads,
                join_pages,
                lru,
                file_growth,
                latches_one_in,
            }
        },
    )
}

fn commits() -> impl Strategy<Value = CommitConfig> {
    let logs =
        prop_oneof![Just(LogAtCommit::Nothing), Just(LogAtCommit::Write), Just(LogAtCommit::Flush)];
    let binlogs = prop_oneof![Just(Binlog::Off), Just(Binlog::Written), Just(Binlog::Synced)];
    let serial = prop_oneof![Just(SerialCommit::Whole), Just(SerialCommit::Binlog)];
    (logs, binlogs, serial).prop_map(|(log, binlog, serial)| CommitConfig { log, binlog, serial })
}

fn loads() -> impl Strategy<Value = Load> {
    let compute = prop_oneof![Just(0u64), Just(20), Just(3_000)].prop_map(SimDuration::from_us);
    (1..=4usize, 20..200u64, 20..300u32, 0..3_000u64, 1..10u64, compute).prop_map(
        |(clients, changes, pages, redo_bytes, per_commit, compute)| Load {
            clients,
            changes,
            pages,
            redo_bytes,
            per_commit,
            compute,
        },
    )
}

fn threads() -> impl Strategy<Value = Option<BackgroundConfig>> {
    let adaptive = prop_oneof![
        Just(Adaptive::Off),
        Just(Adaptive::Native),
        Just(Adaptive::Estimate),
        Just(Adaptive::KeepAverage),
        Just(Adaptive::Age { low_water: 0.1 })
    ];
    let periods = prop_oneof![Just(1u64), Just(20), Just(1_000)].prop_map(SimDuration::from_ms);
    let rules = (adaptive, periods, prop_oneof![Just(0.1), Just(0.9)], any::<[bool; 4]>());
    prop::option::weighted(0.8, rules).prop_map(|rules| {
        let (adaptive, period, dirty_max, [sleeps, tenth_tick, cleans_tails, syncs]) = rules?;
        Some(BackgroundConfig {
            adaptive,
            period,
            dirty_max,
            dirty_sleeps: sleeps,
            tenth_tick,
            cleans_tails,
            log_sync: syncs.then_some(SimDuration::from_ms(100)),
            ..background()
        })
    })
}
