//! Pages that are read while nobody waits for them.

use cost_model::device::{DeviceSpec, SsdSpec};
use cost_model::{Bytes, PageId, Purpose, ReadAheadConfig, SimDuration, SimTime};

use crate::rig::{Rig, lru_pool};

/// A drive that takes 5 ms for each of very many requests at once.
fn drive() -> DeviceSpec {
    let rate = 1_000_000_000_000;
    DeviceSpec::Ssd(SsdSpec {
        channels: 1_024,
        read_latency: SimDuration::from_ms(5),
        write_latency: SimDuration::from_ms(5),
        sync_latency: SimDuration::ZERO,
        read_bytes_per_s: rate,
        write_bytes_per_s: rate,
        steady_write_bytes_per_s: rate,
        steady_after: Bytes::ZERO,
        max_request: Bytes::mib(1),
    })
}

/// Pages of areas of their own.
const PAGES: [PageId; 8] = [
    PageId(0),
    PageId(100),
    PageId(200),
    PageId(300),
    PageId(400),
    PageId(500),
    PageId(600),
    PageId(700),
];

/// Asks for all pages with so many threads that read and pages in their queues.
fn ask(threads: u32, queue_pages: u32) -> Rig {
    let read_ahead = ReadAheadConfig { threads, queue_pages, join_pages: 64 };
    let mut rig = Rig::reading_ahead(lru_pool(100), drive(), read_ahead);
    rig.operate(|machine, thread| {
        assert_eq!(machine.read_ahead(thread, &PAGES, Purpose::MergeRead, false), 8);
        Ok(())
    });
    rig
}

/// After so many milliseconds the last page is there.
fn last_is_there(rig: &mut Rig) -> u64 {
    rig.operate(|machine, thread| machine.fetch(thread, PAGES[7], Purpose::LeafRead));
    passed_ms(rig)
}

fn passed_ms(rig: &Rig) -> u64 {
    (rig.thread.now().since(SimTime::ZERO).as_secs_f64() * 1_000.0).round() as u64
}

/// Native asynchronous I/O gives all to the drive, a thread one page at a time.
#[test]
fn threads_read_one_page_at_a_time_whatever_the_drive() {
    let [native, one, four] = [0, 1, 4].map(|threads| last_is_there(&mut ask(threads, 256)));
    assert_eq!([native, one, four], [5, 40, 10]);
}

#[test]
fn who_asks_for_more_than_the_queue_holds_waits() {
    let waited = |queue_pages| {
        let mut rig = ask(1, queue_pages);
        rig.operate(|_, _| Ok(()));
        passed_ms(&rig)
    };
    assert_eq!(waited(2), 6 * 5, "two of eight may be left");
    assert_eq!(waited(8), 0);
}

/// A page that ceases to exist while it waits to be read, and comes into being anew, is not taken
/// for the one that is read then.
#[test]
fn a_page_that_is_discarded_while_it_waits_is_left_alone() {
    let mut rig = ask(1, 256);
    rig.machine.note_arrivals();
    rig.machine.discard(PAGES[7]);
    rig.operate(|machine, thread| machine.reserve(thread, 1));
    rig.operate(|machine, thread| Ok(machine.create(thread, PAGES[7])));
    rig.operate(|machine, thread| machine.fetch(thread, PAGES[6], Purpose::LeafRead));
    while let Some(page) = rig.machine.arrived() {
        assert_ne!(page, PAGES[7]);
        rig.machine.complete_arrival();
    }
    let before = rig.thread.now();
    rig.operate(|machine, thread| machine.fetch_for_change(thread, PAGES[7], Purpose::LeafRead));
    assert_eq!(rig.thread.now(), before, "it is in the pool");
}
