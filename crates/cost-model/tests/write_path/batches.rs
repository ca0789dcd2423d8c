//! The timeline of a flush batch: collect, log, doublewrite, places, sync.

use std::collections::VecDeque;

use cost_model::device::{Device, DeviceSpec, IoOp, IoRequest};
use cost_model::{
    Bytes, Cause, Lsn, Machine, MachineConfig, Neighbours, PageId, PoolConfig, Purpose,
    SimDuration, SimThread, SimTime, WriteBackConfig,
};

use crate::rig::{Actor, INNODB_5_1, act, array, disk, machine, pool};

const PAGE: u64 = 16 << 10;
/// Where the doublewrite buffer and the log lie on the device.
const DOUBLEWRITE_AT: u64 = 1 << 46;
const LOG_AT: u64 = 1 << 47;
/// Pages of an area, which one thread writes.
const AREA: u32 = 64;

/// Pages that were created, one after the other with a gap of `step`, and logged 100 bytes each.
fn dirty(config: MachineConfig, pages: u32, step: usize) -> Machine {
    let mut machine = Machine::new(config, 1);
    let mut thread = SimThread::new(SimTime::ZERO);
    for page in (0..).step_by(step).take(pages as usize).map(PageId) {
        assert!(machine.reserve(&mut thread, 1).is_ok());
        machine.log(100);
        machine.create(&mut thread, page);
    }
    machine
}

/// When a thread has written the `pages` pages that have been dirty for longest.
fn flushed(machine: &mut Machine, pages: u32) -> SimTime {
    let mut thread = SimThread::new(SimTime::ZERO);
    machine.flush_oldest(&mut thread, pages, Lsn::MAX);
    while machine.work(&mut thread).is_err() {}
    machine.verify();
    assert_eq!(thread.pages_flushed(), u64::from(pages));
    thread.now()
}

/// The same batches on a device of their own, by the rules.
struct Schedule {
    device: Device,
    threads: u32,
    now: SimTime,
}

impl Schedule {
    fn write(&mut self, offset: u64, len: u64) -> SimTime {
        self.device.submit(self.now, IoRequest { op: IoOp::Write, offset, len })
    }

    fn log(&mut self, bytes: u64) {
        let written = self.write(LOG_AT, bytes.div_ceil(512) * 512);
        self.now = self.device.sync(self.now, written);
    }

    fn doublewrite(&mut self, pages: u64) {
        let half = |from: u64| (pages.saturating_sub(from).min(64)) * PAGE;
        let mut written = self.write(DOUBLEWRITE_AT, half(0));
        if 0 < half(64) {
            written = written.max(self.write(DOUBLEWRITE_AT + 64 * PAGE, half(64)));
        }
        self.now = self.device.sync(self.now, written);
    }

    /// Adjacent pages to their places: all at once, or each thread those of its areas, in order.
    fn places(&mut self, runs: &[(u32, u32)]) {
        let mut queues = vec![VecDeque::new(); (self.threads as usize).max(runs.len())];
        for (number, (first, pages)) in runs.iter().enumerate() {
            match self.threads {
                0 => queues[number].push_back((*first, *pages)),
                // Runs of these tests end where areas end.
                threads => queues[(first / AREA % threads) as usize].push_back((*first, *pages)),
            }
        }
        let mut free: Vec<_> = queues.iter().map(|_| self.now).collect();
        while let Some(next) =
            (0..queues.len()).filter(|n| !queues[*n].is_empty()).min_by_key(|n| (free[*n], *n))
        {
            let (first, pages) = queues[next].pop_front().expect("it is not empty");
            self.now = free[next];
            free[next] = self.write(u64::from(first) * PAGE, u64::from(pages) * PAGE);
        }
        let written = free.into_iter().max().expect("there are runs");
        self.now = self.device.sync(written, written);
    }
}

fn schedule(disks: &DeviceSpec, threads: u32) -> Schedule {
    Schedule { device: Device::new(disks, 1), threads, now: SimTime::ZERO }
}

fn configured(disks: &DeviceSpec, threads: u32) -> MachineConfig {
    let mut config = machine(disks.clone(), 4_096, Bytes::gib(1));
    config.write_back = WriteBackConfig { threads, ..INNODB_5_1 };
    config
}

/// Log bytes of so many changes of 100 bytes, with headers of blocks.
const fn logged(changes: u64) -> u64 {
    changes * 100 + changes * 100 / 496 * 16
}

#[test]
fn scattered_pages_go_to_their_places_one_by_one() {
    for disks in [DeviceSpec::Hdd(disk()), DeviceSpec::Hdd(array())] {
        for threads in [0, 1, 4] {
            let mut machine = dirty(configured(&disks, threads), 300, 3);
            let mut expected = schedule(&disks, threads);
            expected.log(logged(300));
            for batch in [0..128, 128..256, 256..300] {
                expected.doublewrite(u64::from(batch.end - batch.start));
                let runs: Vec<(u32, u32)> = batch.map(|page| (page * 3, 1)).collect();
                expected.places(&runs);
            }
            let done = flushed(&mut machine, 300);
            assert_eq!(done, expected.now, "{threads} threads, {disks:?}");
            let written = machine.io().get(Purpose::Checkpoint);
            assert_eq!((written.requests, written.pages), (300, 300));
            assert_eq!(machine.io().get(Purpose::Doublewrite).pages, 300, "all of it twice");
        }
    }
}

#[test]
fn adjacent_pages_are_joined() {
    for disks in [DeviceSpec::Hdd(disk()), DeviceSpec::Hdd(array())] {
        for (threads, runs) in [
            (0, &[(0, 128)][..]),
            // A thread joins 64 pages at most; with several, each has its own areas.
            (1, &[(0, 64), (64, 64)]),
            (4, &[(0, 64), (64, 64)]),
        ] {
            let mut machine = dirty(configured(&disks, threads), 128, 1);
            let mut expected = schedule(&disks, threads);
            expected.log(logged(128));
            expected.doublewrite(128);
            expected.places(runs);
            assert_eq!(flushed(&mut machine, 128), expected.now, "{threads} threads, {disks:?}");
            let requests = machine.io().get(Purpose::Checkpoint).requests;
            assert_eq!(requests, runs.len() as u64);
        }
    }
}

#[test]
fn more_threads_write_faster_on_an_array_and_alike_on_one_disk() {
    let took = |disks: &DeviceSpec, threads| {
        let done = flushed(&mut dirty(configured(disks, threads), 1_280, 647), 1_280);
        done.as_secs_f64()
    };
    let mut uncached = array();
    uncached.write_cache = Bytes::ZERO;
    let uncached = DeviceSpec::Hdd(uncached);
    let [one, four, native] = [1, 4, 0].map(|threads| took(&uncached, threads));
    assert!(four < 0.6 * one && native < 0.7 * four, "{one} s, {four} s, {native} s");
    let single = DeviceSpec::Hdd(disk());
    let [one, four] = [1, 4].map(|threads| took(&single, threads));
    assert!((0.95..1.05).contains(&(four / one)), "{one} s, {four} s");
}

#[test]
fn no_faster_than_the_phases_of_a_batch_allow() {
    // 6 ms seek, 8 ms a turn, 100 MB/s: 128 pages in one piece, and one by one.
    let disks = DeviceSpec::Hdd(disk());
    let done = flushed(&mut dirty(configured(&disks, 1), 1_280, 640), 1_280).as_secs_f64();
    let sequential = 128.0 * 16_384.0 / 100e6;
    let scattered = 128.0 * (0.006 + 0.004 + 16_384.0 / 100e6);
    let positionings = 2.0 * 0.010;
    let rate_max = 128.0 / (sequential + scattered);
    let rate_expected = 128.0 / (sequential + scattered + positionings);
    let rate = 1_280.0 / done;
    assert!(rate < 1.02 * rate_max, "{rate} pages/s");
    assert!((rate / rate_expected - 1.0).abs() < 0.02, "{rate} pages/s, {rate_expected} expected");
}

/// Two instances, and in each the pages of every other area.
fn two_instances(disks: &DeviceSpec) -> Machine {
    let config = configured(disks, 0);
    let pool = PoolConfig { instances: 2, ..pool(4_096) };
    dirty(MachineConfig { pool, ..config }, 256, 1)
}

#[test]
fn one_batch_at_a_time_has_the_doublewrite_buffer() {
    let disks = DeviceSpec::Hdd(disk());
    let mut machine = two_instances(&disks);
    // Each thread is asked for both instances; the second finds the first one taken.
    let actor = || -> Actor<'_> {
        let mut asked = false;
        let act = move |machine: &mut Machine, thread: &mut SimThread| {
            if !std::mem::replace(&mut asked, true) {
                machine.flush_oldest(thread, 256, Lsn::MAX);
            }
            machine.work(thread).map(|()| true)
        };
        (SimThread::new(SimTime::ZERO), Box::new(act))
    };
    let mut actors = [actor(), actor()];
    act(&mut machine, &mut actors);
    let mut expected = schedule(&disks, 0);
    expected.log(logged(256));
    let mut ends = Vec::new();
    for instance in [0, 1] {
        expected.doublewrite(128);
        expected.places(&[(instance * 64, 64), (128 + instance * 64, 64)]);
        ends.push(expected.now);
    }
    let [first, second] = [0, 1].map(|n: usize| actors[n].0.now());
    assert_eq!(actors[0].0.pages_flushed(), 128);
    assert_eq!(actors[1].0.pages_flushed(), 128);
    assert_eq!(first, ends[0]);
    let late = second.since(ends[1]).as_ns();
    assert!(late <= 8_000_000, "{late} ns after two batches in a row: at most a turn");
}

#[test]
fn a_batch_needs_the_log_of_its_own_pages_only() {
    // Another thread goes on logging a change every 100 us; a flush of the log takes 8 ms.
    let disks = DeviceSpec::Hdd(disk());
    let mut machine = dirty(configured(&disks, 0), 128, 1);
    let mut asked = false;
    let writer = move |machine: &mut Machine, thread: &mut SimThread| {
        if !std::mem::replace(&mut asked, true) {
            machine.flush_oldest(thread, 128, Lsn::MAX);
        }
        machine.work(thread).map(|()| true)
    };
    let logger = |machine: &mut Machine, thread: &mut SimThread| {
        machine.begin_change(thread)?;
        machine.log(100);
        thread.wait_until(thread.now() + SimDuration::from_us(100), Cause::Think);
        Ok(SimTime::from_ns(1_000_000_000) < thread.now())
    };
    let start = || SimThread::new(SimTime::ZERO);
    let mut actors: [Actor<'_>; 2] = [(start(), Box::new(writer)), (start(), Box::new(logger))];
    act(&mut machine, &mut actors);
    assert_eq!(machine.redo_stats().map(|stats| stats.flushes), Some(1));
    let mut expected = schedule(&disks, 0);
    expected.log(logged(128));
    expected.doublewrite(128);
    expected.places(&[(0, 128)]);
    assert_eq!(actors[0].0.now(), expected.now);
}

#[test]
fn without_doublewrite_each_page_is_written_once() {
    let disks = DeviceSpec::Hdd(disk());
    for threads in [0, 1] {
        let mut config = configured(&disks, threads);
        config.write_back.doublewrite_pages = 0;
        config.pool.neighbours = Neighbours::Area;
        let mut machine = dirty(config, 300, 1);
        let done = flushed(&mut machine, 300);
        let mut expected = schedule(&disks, threads);
        expected.log(logged(300));
        let runs = [(0, 300)];
        let joined = [(0, 64), (64, 64), (128, 64), (192, 64), (256, 44)];
        expected.places(if threads == 0 { &runs } else { &joined });
        assert_eq!(done, expected.now);
        assert_eq!(machine.io().get(Purpose::Doublewrite).pages, 0);
    }
}

/// Three batches have 128, 96 and 64 pages, and the doublewrite buffer takes 128: while the first
/// is written, two wait, and then fill it together.
#[test]
fn batches_that_wait_for_the_doublewrite_buffer_fill_it_together() {
    let disks = DeviceSpec::Hdd(disk());
    let config = configured(&disks, 0);
    let pool = PoolConfig { instances: 3, ..pool(4_096) };
    let mut machine = dirty(MachineConfig { pool, ..config }, 288, 1);
    let actor = || -> Actor<'_> {
        let mut asked = false;
        let act = move |machine: &mut Machine, thread: &mut SimThread| {
            if !std::mem::replace(&mut asked, true) {
                machine.flush_oldest(thread, 1_000, Lsn::MAX);
            }
            machine.work(thread).map(|()| true)
        };
        (SimThread::new(SimTime::ZERO), Box::new(act))
    };
    let mut actors = [actor(), actor(), actor()];
    act(&mut machine, &mut actors);
    let written: u64 = actors.iter().map(|(thread, _)| thread.pages_flushed()).sum();
    assert_eq!((written, machine.dirty_pages()), (288, 0));
    // Of the 160 pages of the last two, 128 go together.
    let doublewrite = machine.io().get(Purpose::Doublewrite);
    assert_eq!((doublewrite.pages, doublewrite.requests), (288, 2 + 2 + 1));
}
