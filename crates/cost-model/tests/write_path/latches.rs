//! Pages under write can be read and not changed, also before the device has them.

use cost_model::device::DeviceSpec;
use cost_model::{
    Bytes, Cause, Lsn, Machine, MachineConfig, PageId, PoolConfig, Purpose, SimDuration, SimThread,
    SimTime, Step,
};

use crate::rig::{Actor, act, disk, machine, pool};

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
