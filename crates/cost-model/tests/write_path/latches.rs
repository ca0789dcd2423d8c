//! Pages under write can be read and not changed, also before the device has them.

use cost_model::device::DeviceSpec;
use cost_model::{
    BackgroundConfig, Bytes, Cause, Lsn, Machine, MachineConfig, PageId, PoolConfig, Purpose,
    SimDuration, SimThread, SimTime, Step,
};

use crate::rig::{Actor, Load, Rig, act, background, disk, machine, pool};

/// The last of 256 dirty pages in two instances: it is in the second one's batch.
const LAST: PageId = PageId(255);

fn machine_with_dirty_pages() -> Machine {
    let config = machine(DeviceSpec::Hdd(disk()), 4_096, Bytes::gib(1));
    let pool = PoolConfig { instances: 2, ..pool(4_096) };
    let mut machine = Machine::new(MachineConfig { pool, ..config }, 3);
    let mut thread = SimThread::new(SimTime::ZERO);
    for page in (0..256).map(PageId) {
        assert!(machine.reserve(&mut thread, 1).is_ok());
        machine.create(&mut thread, page);
    }
    machine
}

/// Writes what has been dirty for longest.
fn writer<'a>() -> Actor<'a> {
    let mut asked = false;
    let act = move |machine: &mut Machine, thread: &mut SimThread| -> Step<bool> {
        if !std::mem::replace(&mut asked, true) {
            machine.flush_oldest(thread, 256, Lsn::MAX);
        }
        machine.work(thread).map(|()| true)
    };
    (SimThread::new(SimTime::ZERO), Box::new(act))
}

/// Uses a page at `at`.
fn user<'a>(page: PageId, at: SimTime, changes: bool) -> Actor<'a> {
    let act = move |machine: &mut Machine, thread: &mut SimThread| -> Step<bool> {
        thread.wait_until(at, Cause::Think);
        machine.begin(thread)?;
        if changes {
            let frame = machine.fetch_for_change(thread, page, Purpose::LeafRead)?;
            machine.change(thread, frame);
        } else {
            let frame = machine.fetch(thread, page, Purpose::LeafRead)?;
            machine.touch(thread, frame);
        }
        Ok(true)
    };
    (SimThread::new(SimTime::ZERO), Box::new(act))
}

#[test]
fn a_change_waits_for_the_write_and_a_read_does_not() {
    // One writer: the second instance's batch follows the first one's.
    for page in [PageId(0), PageId(127)] {
        let at = SimTime::from_ns(1_000_000);
        let mut machine = machine_with_dirty_pages();
        let mut actors = [writer(), user(PageId(0), at, false), user(page, at, true)];
        act(&mut machine, &mut actors);
        assert_eq!(actors[1].0.now(), at, "the reader did not wait");
        let waited = actors[2].0.time().get(Cause::Flush);
        assert_eq!(actors[2].0.now(), at + waited);
        let in_doublewrite = SimDuration::from_ms(20);
        assert_eq!(in_doublewrite < waited, page == PageId(0), "{waited}");
    }
}

#[test]
fn no_page_is_latched_while_its_batch_waits_for_the_doublewrite_buffer() {
    // Two writers at once: the second waits for the first.
    let at = SimTime::from_ns(1_000_000);
    let mut machine = machine_with_dirty_pages();
    let mut actors = [writer(), writer(), user(LAST, at, true), user(LAST, at, false)];
    act(&mut machine, &mut actors);
    let [first, second, changed, read] = [0, 1, 2, 3].map(|n: usize| actors[n].0.now());
    assert_eq!(read, at, "reading it is free");
    assert_eq!(changed, at, "its write has not begun");
    assert!(first < second, "one batch after the other");
    assert_eq!(machine.dirty_pages(), 0, "written after the change");
}

/// How long changes wait in all for a page that is written, in microseconds, at a size of
/// `1 / divisor`: pages and log shrink, batches do not.
fn mean_wait(divisor: u32, latches_one_in: u64) -> f64 {
    let pages = 32_768 / divisor;
    let mut config =
        machine(DeviceSpec::Hdd(disk()), pages, Bytes::mib(1_024 / u64::from(divisor)));
    config.write_back.latches_one_in = latches_one_in;
    let load = Load {
        clients: 1,
        changes: 400_000,
        pages,
        redo_bytes: 200,
        per_commit: u64::MAX,
        compute: SimDuration::from_us(500),
    };
    let background = BackgroundConfig { dirty_max: 0.5, ..background() };
    let mut rig = Rig::new(config, load, Some(background)).with_resident_pages();
    rig.run();
    rig.spent(Cause::Flush).as_secs_f64() * 1e6 / rig.pages(Purpose::Checkpoint) as f64
}

#[test]
fn a_smaller_machine_waits_as_long_for_pages_under_write() {
    let full = mean_wait(1, 1);
    let scaled = mean_wait(16, 16);
    assert!((scaled / full - 1.0).abs() < 0.15, "{scaled} us for {full} us");
    let uncorrected = mean_wait(16, 1);
    assert!(
        1.5 * full < uncorrected,
        "{uncorrected} us for {full} us: there is nothing to correct"
    );
}

#[test]
fn a_page_changed_under_write_stays_dirty() {
    let at = SimTime::from_ns(1_000_000);
    let mut config = machine(DeviceSpec::Hdd(disk()), 4_096, Bytes::gib(1));
    config.write_back.latches_one_in = u64::MAX;
    let mut machine = Machine::new(config, 2);
    let mut thread = SimThread::new(SimTime::ZERO);
    for page in (0..64).map(PageId) {
        assert!(machine.reserve(&mut thread, 1).is_ok());
        machine.create(&mut thread, page);
    }
    let mut actors = [writer(), user(PageId(0), at, true)];
    act(&mut machine, &mut actors);
    assert_eq!(actors[1].0.now(), at, "it did not wait");
    assert_eq!(machine.dirty_pages(), 1, "the copy on the device lacks the change");
    thread.wait_until(actors[0].0.now(), Cause::Think);
    act(&mut machine, &mut [(thread, writer().1)]);
    assert_eq!(machine.dirty_pages(), 0);
    assert_eq!(machine.io().get(Purpose::Checkpoint).pages, 65);
}
