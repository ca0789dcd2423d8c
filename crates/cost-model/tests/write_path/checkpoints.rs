//! What a redo log that fills up makes threads do.

use cost_model::device::DeviceSpec;
use cost_model::{Bytes, Cause, Neighbours, Purpose, RedoConfig, SimDuration, WriteBackConfig};

use crate::rig::{Load, Rig, array, disk, machine};

const REDO_BYTES: u64 = 300;
const PAGES: u32 = 2_000;

fn load(clients: usize, compute: SimDuration) -> Load {
    Load {
        clients,
        changes: 60_000 / clients as u64,
        pages: PAGES,
        redo_bytes: REDO_BYTES,
        per_commit: 1_000,
        compute,
    }
}

/// A pool that holds everything: only the log makes anybody write.
fn rig(disks: DeviceSpec, age_max: Bytes, instances: u32, load: Load) -> Rig {
    let mut config = machine(disks, 2 * PAGES, age_max);
    config.pool.instances = instances;
    config.pool.neighbours = Neighbours::Area;
    config.write_back = WriteBackConfig { threads: 4, ..config.write_back };
    Rig::new(config, load, None).with_resident_pages()
}

#[test]
fn the_age_stays_within_its_limits() {
    for disks in [DeviceSpec::Hdd(disk()), DeviceSpec::Hdd(array())] {
        for clients in [1, 2, 5] {
            for instances in [1, 4] {
                let age_max = Bytes::mib(2);
                let load = load(clients, SimDuration::from_us(50));
                let mut rig = rig(disks.clone(), age_max, instances, load);
                let mut oldest_max = 0;
                rig.run_with(|machine| {
                    let age = machine.log_end().since(machine.oldest_change());
                    oldest_max = oldest_max.max(age);
                });
                let stats = rig.machine.redo_stats().expect("there is a log");
                let under_way = clients as u64 * (REDO_BYTES + 16);
                assert!(stats.age_max <= age_max.get() + under_way, "{stats:?}");
                let limits = RedoConfig::innodb(age_max, 1.0, Bytes::ZERO);
                assert!(oldest_max <= limits.age_sync.get() + under_way, "{oldest_max}");
                // 60,000 changes of 300 bytes are 8.6 times 2 MiB.
                let logged = rig.machine.log_end().0;
                assert_eq!(logged / (1 << 20), 17);
                assert!(5 <= stats.checkpoints && 0 < rig.pages(Purpose::Checkpoint));
                assert_eq!(rig.pages(Purpose::WriteBack), 0, "no frame was needed");
            }
        }
    }
}

#[test]
fn an_asynchronous_preflush_keeps_one_thread_busy() {
    // Changes as slow as this leave an array time between two limits.
    let load = Load { changes: 4_000, ..load(5, SimDuration::from_ms(2)) };
    let mut rig = rig(DeviceSpec::Hdd(array()), Bytes::mib(2), 1, load);
    rig.run();
    let stats = *rig.machine.redo_stats().expect("there is a log");
    assert!(0 < stats.preflushes_async, "{stats:?}");
    assert_eq!(stats.preflushes_sync, 0, "{stats:?}");
    let stalled = rig.spent(Cause::CheckpointStall).as_secs_f64();
    assert!(stalled < rig.seconds(), "{stalled} s of five threads in {} s", rig.seconds());
}

#[test]
fn a_synchronous_preflush_stops_all() {
    let mut rig = rig(DeviceSpec::Hdd(disk()), Bytes::mib(2), 1, load(5, SimDuration::from_us(1)));
    let (mut logged_while_stopped, mut stops, mut stopped) = (0, 0, false);
    let mut end = 0;
    rig.run_with(|machine| {
        let age = machine.log_end().since(machine.oldest_change());
        let limit = RedoConfig::innodb(Bytes::mib(2), 1.0, Bytes::ZERO).age_sync.get();
        if limit < age {
            stops += u64::from(!stopped);
            logged_while_stopped += machine.log_end().0 - end;
        }
        stopped = limit < age;
        end = machine.log_end().0;
    });
    let stats = *rig.machine.redo_stats().expect("there is a log");
    assert!(0 < stats.preflushes_sync, "{stats:?}");
    // Each time the limit is passed, five threads have a change under way at most.
    let most = stops * 5 * (REDO_BYTES + 16);
    assert!(logged_while_stopped <= most, "{logged_while_stopped} bytes, {most} allowed");
    let stalled = rig.spent(Cause::CheckpointStall).as_secs_f64();
    assert!(4.0 * rig.seconds() < stalled, "{stalled} s of five threads in {} s", rig.seconds());
}

#[test]
fn pages_written_are_the_distinct_pages_of_a_window() {
    let mut written_before = f64::INFINITY;
    for age_max_kib in [128, 256, 512, 1_024, 2_048] {
        let mut load = load(1, SimDuration::from_us(50));
        load.changes = 200_000;
        let changes = load.changes as f64;
        let age_max = Bytes::kib(age_max_kib);
        let mut config = machine(DeviceSpec::Hdd(array()), 2 * PAGES, age_max);
        config.write_back.doublewrite_pages = 0;
        let mut rig = Rig::new(config, load, None).with_resident_pages();
        rig.run();
        let per_change = rig.machine.log_end().0 as f64 / changes;
        let window = 0.875 * age_max.get() as f64 / per_change;
        let written = rig.pages(Purpose::Checkpoint) as f64 / (changes - window);
        // Oldest first: a page is dirty for a window after its first change, then it waits for the
        // next one.
        let windows = window / f64::from(PAGES);
        let expected = 1.0 / (1.0 + windows);
        assert!((written / expected - 1.0).abs() < 0.08, "{written} a change, {expected} expected");
        // All dirty pages at once at the end of each window (Cardenas) would be more.
        let sweeps = (1.0 - (-windows).exp()) / windows;
        assert!(written < 1.02 * sweeps, "{written} a change, {sweeps} in sweeps");
        assert!(written < written_before);
        written_before = written;
    }
}
