//! Who may have which frame.

use cost_model::device::DeviceSpec;
use cost_model::{Cause, Event, Machine, PageId, PoolConfig, Purpose, SimThread, Step};

use crate::rig::{Rig, disk, lru_pool};

const FRAMES: u32 = 100;
const HELD: u32 = 9_000;

#[test]
fn a_held_page_never_leaves() {
    let mut rig = Rig::new(lru_pool(FRAMES), DeviceSpec::Null);
    let mut holder = SimThread::new(rig.thread.now());
    let frame = rig.fetch(HELD);
    rig.machine.hold(&mut holder, frame);
    (0..10 * FRAMES).for_each(|page| rig.change(page));
    assert!(rig.is_resident(HELD));
    rig.machine.release(&mut holder);
    (0..FRAMES).for_each(|page| rig.read(1_000 + page));
    assert!(!rig.is_resident(HELD));
}

/// A page that was read stays until the operation that needs it is over, however many others the
/// operation reads.
#[test]
fn an_operation_keeps_the_pages_it_has_read() {
    let mut rig = Rig::new(lru_pool(FRAMES), disk());
    (0..3 * FRAMES).for_each(|page| rig.change(page));
    let needs = FRAMES - 5;
    let before = rig.machine.io().get(Purpose::NodeRead).pages;
    rig.operate(|machine, thread| {
        for page in 0..needs {
            machine.fetch_for_change(thread, PageId(1_000 + page), Purpose::NodeRead)?;
        }
        Ok(())
    });
    let reads = rig.machine.io().get(Purpose::NodeRead).pages - before;
    assert_eq!(reads, u64::from(needs), "each once");
}

#[test]
fn instances_keep_areas_together() {
    let pool = PoolConfig { instances: 2, ..lru_pool(2 * FRAMES) };
    let mut rig = Rig::new(pool, DeviceSpec::Null);
    let instance = |page: PageId| page.0 / 64 % 2;
    // Areas 0, 2, 4 and 6: 256 pages for the 100 frames of the first instance.
    let even = (0..512).filter(|page| instance(PageId(*page)) == 0);
    even.for_each(|page| rig.read(page));
    assert_eq!(rig.machine.free_frames(), u64::from(FRAMES), "the second has no page");
    (0..512).for_each(|page| rig.read(page));
    rig.machine.follow(Vec::new());
    (512..2_048).for_each(|page| rig.read(page));
    let mut evictions = 0;
    for (_, event) in rig.machine.followed() {
        if let Event::Read(page, left) = event {
            let left = left.expect("the pool is full");
            assert_eq!(instance(left), instance(page), "{left:?} left for {page:?}");
            evictions += 1;
        }
    }
    assert_eq!(evictions, 2_048 - 512);
}

#[test]
fn two_threads_wait_for_one_read() {
    let mut rig = Rig::new(lru_pool(FRAMES), disk());
    let mut other = SimThread::new(rig.thread.now());
    let read = |machine: &mut Machine, thread: &mut SimThread| -> Step {
        machine.begin(thread)?;
        let frame = machine.fetch(thread, PageId(7), Purpose::LeafRead)?;
        machine.touch(thread, frame);
        machine.release(thread);
        Ok(())
    };
    assert!(read(&mut rig.machine, &mut rig.thread).is_err(), "starts the read");
    assert!(read(&mut rig.machine, &mut other).is_err(), "finds it under way");
    assert_eq!(other.now(), rig.thread.now(), "both wait until it is done");
    assert_eq!(other.time().get(Cause::Read), rig.thread.time().get(Cause::Read));
    // In either order they go on without another wait.
    assert!(read(&mut rig.machine, &mut other).is_ok());
    assert!(read(&mut rig.machine, &mut rig.thread).is_ok());
    assert_eq!(rig.machine.device().totals().reads, 1);
    rig.machine.verify();
}

/// A thread reads a page and joins it with another in the same operation: the frame is free when
/// the operation is over, not twice and not before.
#[test]
fn a_page_may_cease_to_exist_while_it_is_held() {
    let mut rig = Rig::new(lru_pool(FRAMES), disk());
    rig.operate(|machine, thread| {
        machine.fetch_for_change(thread, PageId(1), Purpose::LeafRead)?;
        machine.discard(PageId(1));
        assert_eq!(machine.free_frames(), u64::from(FRAMES) - 1);
        Ok(())
    });
    assert!(!rig.is_resident(1));
    assert_eq!(rig.machine.free_frames(), u64::from(FRAMES));
    rig.create(1);
    assert_eq!(rig.machine.free_frames(), u64::from(FRAMES) - 1);
}
