//! How a background thread's rules pace what is written.

use cost_model::device::DeviceSpec;
use cost_model::{
    Adaptive, BackgroundConfig, Bytes, Cause, MachineConfig, Neighbours, Purpose, SimDuration,
};

use crate::rig::{Load, Rig, array, background, machine};

const PAGES: u32 = 4_000;
const AGE_MAX: Bytes = Bytes::mib(48);
/// 300 bytes every 200 us: 1.5 MB of redo a second, a greatest age in 33 s.
const CHANGES_PER_S: u64 = 5_000;

fn config(disks: DeviceSpec) -> MachineConfig {
    let mut config = machine(disks, 2 * PAGES, AGE_MAX);
    config.write_back.threads = 0;
    config
}

fn load(seconds: u64) -> Load {
    Load {
        clients: 1,
        changes: seconds * CHANGES_PER_S,
        pages: PAGES,
        redo_bytes: 300,
        per_commit: 1_000,
        compute: SimDuration::from_us(1_000_000 / CHANGES_PER_S),
    }
}

/// What a rule did in a run of three minutes.
struct Outcome {
    pages: u64,
    /// Age at which the background thread wrote its first page, as a share of the greatest.
    first_at: f64,
    preflushes: u64,
    stalled: f64,
    /// Pages of each second from the 60th on.
    per_second: Vec<u64>,
}

fn outcome(thread: &BackgroundConfig) -> Outcome {
    let rig = Rig::new(config(DeviceSpec::Hdd(array())), load(180), Some(thread.clone()));
    let mut rig = rig.with_resident_pages();
    let (mut first_at, mut per_second) = (None, vec![0; 200]);
    let mut before = 0;
    let mut changes = 0.0;
    rig.run_with(|machine| {
        let pages = machine.io().get(Purpose::Checkpoint).pages;
        let age = machine.log_end().since(machine.oldest_change()) as f64;
        if 0 < pages {
            first_at.get_or_insert(changes);
        }
        changes = age / AGE_MAX.get() as f64;
        // The load logs at a constant rate: its length tells the time.
        let second = machine.log_end().0 / (CHANGES_PER_S * 309);
        per_second[second as usize] += pages - before;
        before = pages;
    });
    let stats = rig.machine.redo_stats().expect("there is a log");
    Outcome {
        pages: before,
        first_at: first_at.unwrap_or(1.0),
        preflushes: stats.preflushes_async + stats.preflushes_sync,
        stalled: rig.spent(Cause::CheckpointStall).as_secs_f64() / rig.seconds(),
        per_second: per_second[60..175].to_vec(),
    }
}

fn with(adaptive: Adaptive) -> BackgroundConfig {
    BackgroundConfig { adaptive, ..background() }
}

/// Standard deviation over mean.
fn unevenness(values: &[u64]) -> f64 {
    let mean = values.iter().sum::<u64>() as f64 / values.len() as f64;
    let square = |value: &u64| (*value as f64 - mean) * (*value as f64 - mean);
    (values.iter().map(square).sum::<f64>() / values.len() as f64).sqrt() / mean
}

#[test]
fn without_a_rule_there_are_only_storms() {
    let off = outcome(&with(Adaptive::Off));
    assert!(0.87 < off.first_at, "nothing before the limit: {}", off.first_at);
    assert!(0 < off.preflushes && 0.0 < off.stalled);
}

#[test]
fn estimate_begins_at_a_quarter_and_leaves_nothing_to_clients() {
    let estimate = outcome(&with(Adaptive::Estimate));
    // Ticks of a second: up to one more of them, 3 % of the age.
    assert!((0.25..0.29).contains(&estimate.first_at), "{}", estimate.first_at);
    // The pages that were dirty from the start are all of one age: the last of them may be late.
    assert!(estimate.preflushes <= 1 && estimate.stalled < 1e-4, "{}", estimate.stalled);
}

#[test]
fn native_looks_at_the_log_alone() {
    let mut thread = with(Adaptive::Native);
    thread.io_capacity = 2_000;
    let native = outcome(&thread);
    let estimate = outcome(&with(Adaptive::Estimate));
    assert!(native.first_at < 0.2, "it begins at once: {}", native.first_at);
    assert!(
        estimate.pages < native.pages,
        "{} pages where estimate writes {}",
        native.pages,
        estimate.pages
    );
    let off = outcome(&with(Adaptive::Off));
    let [steady, storms] = [&estimate, &off].map(|outcome| unevenness(&outcome.per_second));
    assert!(steady < 0.5 * storms, "estimate {steady}, storms {storms}");
}

#[test]
fn native_stops_at_its_capacity_only_if_it_sleeps() {
    let mut thread = with(Adaptive::Native);
    thread.io_capacity = 50;
    let sleeping = outcome(&thread);
    assert!(0 < sleeping.preflushes, "50 pages a second are too few");
    thread.dirty_sleeps = false;
    let restless = outcome(&thread);
    assert_eq!(restless.preflushes, 0, "it goes on while it asks for all it may");
}

#[test]
fn keep_average_leaves_hardly_anything_to_clients() {
    let mut thread = with(Adaptive::KeepAverage);
    thread.period = SimDuration::from_ms(100);
    let average = outcome(&thread);
    // It balances just at the asynchronous limit: clients have single pages left to write.
    let off = outcome(&with(Adaptive::Off));
    let [steady, storms] = [&average, &off].map(|outcome| unevenness(&outcome.per_second));
    assert!(average.stalled < 0.01 && 3.0 * steady < storms, "{} {steady}", average.stalled);
}

#[test]
fn the_age_rule_begins_at_its_low_water_mark() {
    for low_water in [0.1, 0.3, 0.5] {
        let thread = with(Adaptive::Age { low_water });
        let age = outcome(&thread);
        assert!((low_water..low_water + 0.1).contains(&age.first_at), "{}", age.first_at);
        assert_eq!(age.preflushes, 0);
    }
}

/// Pages written in a minute by a thread that is always due `io_capacity` pages, with neighbours.
fn written_by_quota(period: SimDuration, io_capacity: u32, instances: u32) -> u64 {
    let mut config = config(DeviceSpec::Hdd(array()));
    config.pool.neighbours = Neighbours::Area;
    config.pool.instances = instances;
    config.redo = None;
    let thread = BackgroundConfig { period, io_capacity, dirty_max: 0.0, ..background() };
    let mut rig = Rig::new(config, load(60), Some(thread)).with_resident_pages();
    rig.run();
    assert!(0 < rig.machine.dirty_pages(), "there is always something to write");
    rig.pages(Purpose::Checkpoint)
}

#[test]
fn quotas_keep_their_remainder_and_what_a_batch_wrote_too_much() {
    for scale in [1, 16, 128, 1_024] {
        for (io_capacity, instances) in [(10, 1), (10, 4), (150, 1)] {
            let period = SimDuration::from_ns(1_000_000_000 / scale);
            let written = written_by_quota(period, io_capacity, instances);
            let due = u64::from(io_capacity) * 60;
            // The last batch of each instance may run ahead by an area.
            let ahead = 64 * u64::from(instances) + u64::from(io_capacity);
            assert!(
                written.abs_diff(due) <= ahead,
                "{written} pages at scale 1/{scale}, {due} were due"
            );
        }
    }
}

#[test]
fn a_batch_that_outlasts_its_ticks_is_not_granted_again() {
    // A disk that cannot do 1,000 pages a second, asked for them every 10 ms.
    let mut slow = array();
    slow.write_cache = Bytes::ZERO;
    let mut config = config(DeviceSpec::Hdd(slow));
    config.redo = None;
    let thread = BackgroundConfig {
        period: SimDuration::from_ms(10),
        io_capacity: 1_000,
        dirty_max: 0.0,
        ..background()
    };
    let mut rig = Rig::new(config, load(20), Some(thread)).with_resident_pages();
    let (mut before, mut largest) = (0, 0);
    rig.run_with(|machine| {
        let pages = machine.io().get(Purpose::Doublewrite).pages;
        largest = largest.max(pages - before);
        before = pages;
    });
    assert!(largest <= 11, "{largest} pages in a batch whose quota is 10");
}
