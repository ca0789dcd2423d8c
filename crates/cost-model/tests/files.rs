//! Files through the page cache of the operating system: what the end of a statement writes, what
//! the system writes by itself, what a sync does.

use cost_model::device::{DeviceSpec, HddSpec, Raid};
use cost_model::{
    Bytes, Cause, CpuPrices, Lsn, Machine, MachineConfig, MakeYoung, Margin, MarginCounts,
    Neighbours, OsWriteConfig, OsWriter, PageId, PoolConfig, Purpose, RedoConfig, SimDuration,
    SimThread, SimTime, Step, StoredRows, WriteBackConfig,
};

const CALL: SimDuration = SimDuration::from_us(3);
const COPY: SimDuration = SimDuration::from_us(16);
const HEADER: Bytes = Bytes::new(256);

/// One disk, 64 frames of 1 KiB, a page cache of `cache`, and calls that cost time.
fn config(cache: Bytes) -> MachineConfig {
    let disk = DeviceSpec::Hdd(HddSpec {
        spindles: 1,
        raid: Raid::R0,
        stripe: Bytes::gib(1),
        seek: SimDuration::from_ms(6),
        rotation: SimDuration::from_ms(8),
        transfer_bytes_per_s: 100_000_000,
        queue_floor: 1.0,
        queue_max: 1,
        write_cache: Bytes::ZERO,
        sync_latency: SimDuration::ZERO,
        destage_depth: 8,
        journal_seek: None,
        max_request: Bytes::mib(1),
    });
    let pool = PoolConfig {
        frames: 64,
        instances: 1,
        old_fraction: 0.0,
        old_len_min: 80,
        old_blocks_ms: 0,
        young_distance: 0.0,
        make_young: MakeYoung::Any,
        reads_check_bitmap: false,
        margin: Margin { scan: 0, low: 0, high: 0, counts: MarginCounts::FreeAndClean },
        neighbours: Neighbours::None,
        area_pages: 64,
    };
    MachineConfig {
        prices: CpuPrices { write_call: CALL, ..CpuPrices::default() },
        page_size: Bytes::kib(1),
        os_cache: Some(cache),
        os_copy: COPY,
        statement_header: Some(HEADER),
        ..MachineConfig::new(disk, pool)
    }
}

struct Rig {
    machine: Machine,
    thread: SimThread,
}

impl Rig {
    fn new(config: MachineConfig) -> Self {
        Self { machine: Machine::new(config, 1), thread: SimThread::new(SimTime::ZERO) }
    }

    fn operate(&mut self, operation: impl Fn(&mut Machine, &mut SimThread) -> Step) {
        while operation(&mut self.machine, &mut self.thread).is_err() {}
        self.machine.release(&mut self.thread);
        self.machine.verify();
    }

    fn create(&mut self, page: u32) {
        self.operate(|machine, thread| {
            machine.begin(thread)?;
            machine.reserve(thread, 1)?;
            machine.create(thread, PageId(page));
            Ok(())
        });
    }

    fn change(&mut self, page: u32) {
        self.operate(|machine, thread| {
            machine.begin(thread)?;
            let frame = machine.fetch_for_change(thread, PageId(page), Purpose::LeafRead)?;
            machine.change(thread, frame);
            Ok(())
        });
    }

    fn end_statement(&mut self, bytes: u64, calls: u64) {
        let rows = StoredRows { bytes: Bytes::new(bytes), calls };
        self.operate(|machine, thread| machine.end_statement(thread, rows));
    }

    fn written(&self) -> (u64, u64) {
        let count = self.machine.io().get(Purpose::OsWriteBack);
        (count.requests, count.pages)
    }
}

#[test]
fn a_statement_writes_its_pages_by_a_call_each_and_waits_for_no_device() {
    let mut rig = Rig::new(config(Bytes::mib(1)));
    for page in [9, 2, 5] {
        rig.create(page);
    }
    rig.end_statement(768, 2);
    assert_eq!(rig.machine.dirty_pages(), 0);
    assert_eq!(rig.machine.device().totals().writes, 0);
    // Two calls for rows, three for pages, one for the state; 4 KiB in all at 16 us per 16 KiB.
    let time = CALL * 6 + SimDuration::from_us(4);
    assert_eq!(rig.thread.time().get(Cause::Cpu), time);
    assert_eq!(rig.thread.now().since(SimTime::ZERO), time);
    rig.end_statement(0, 0);
    let state_alone = CALL + SimDuration::from_ns(250);
    assert_eq!(rig.thread.now().since(SimTime::ZERO), time + state_alone);
}

#[test]
fn the_system_writes_what_is_old_in_the_order_of_its_place() {
    let mut rig = Rig::new(config(Bytes::mib(1)));
    let mut writer = OsWriter::new(OsWriteConfig::LINUX.period);
    let mut system = SimThread::new(SimTime::ZERO);
    rig.thread.spend(Cause::Think, SimDuration::from_ms(1_000));
    // Blocks 0 to 7 are two pages of the system, block 40 a third, rows a fourth.
    for page in [7, 0, 40, 4] {
        rig.create(page);
    }
    rig.end_statement(100, 1);
    let mut last_alarm = SimTime::ZERO;
    while rig.written() == (0, 0) {
        system.set_horizon(SimTime::NEVER);
        last_alarm = system.due();
        writer.step(&mut system, &mut rig.machine);
        assert!(last_alarm < SimTime::ZERO + SimDuration::from_ms(36_000), "never written");
    }
    let looks = last_alarm.as_ns() / 5_000_000_000;
    assert_eq!(looks, 7, "the first look after the pages became 30 s old, at 35 s");
    assert_eq!(rig.written(), (3, 4), "two adjacent pages go as one request");
    rig.machine.verify();
}

#[test]
fn who_dirties_too_much_of_the_cache_writes_some_out() {
    let mut settings = config(Bytes::kib(4 * 100));
    settings.os_write.limit = 0.2;
    let mut rig = Rig::new(settings);
    rig.end_statement(4_096 * 19, 1);
    assert_eq!(rig.written(), (0, 0), "20 of 100 pages, the state's included");
    rig.end_statement(4_096, 1);
    assert_eq!(rig.written(), (2, 21));
    assert!(SimDuration::ZERO < rig.thread.time().get(Cause::Flush));
}

#[test]
fn a_part_of_a_page_that_left_the_cache_is_read_before_it_is_written() {
    let mut settings = config(Bytes::kib(4 * 3));
    settings.os_write.limit = 1.0;
    let mut rig = Rig::new(settings);
    rig.create(0);
    rig.create(8);
    rig.end_statement(0, 0);
    assert_eq!(rig.machine.io().get(Purpose::FillRead).pages, 0, "nothing was there before");
    for page in [100, 200, 300] {
        rig.create(page);
        rig.end_statement(0, 0);
    }
    rig.change(8);
    rig.end_statement(0, 0);
    assert_eq!(rig.machine.io().get(Purpose::FillRead).pages, 1);
    assert_eq!(rig.machine.io().get(Purpose::LeafRead).pages, 0, "the pool has the block itself");
    assert!(SimDuration::ZERO < rig.thread.time().get(Cause::Read));
}

/// A batch syncs the log, the doublewrite buffer and the data; a checkpoint right after it finds
/// all of that done and syncs its own block alone.
#[test]
fn files_are_synced_if_something_was_written_to_them() {
    let mut rig = Rig::new(MachineConfig {
        statement_header: None,
        redo: Some(RedoConfig::innodb(Bytes::mib(1), 0.8, Bytes::ZERO)),
        write_back: WriteBackConfig { doublewrite_pages: 128, ..WriteBackConfig::IMMEDIATE },
        ..config(Bytes::mib(1))
    });
    rig.machine.log(100);
    rig.create(3);
    rig.machine.flush_oldest(&mut rig.thread, 1, Lsn::MAX);
    rig.operate(Machine::begin);
    assert_eq!(rig.machine.device().totals().syncs, 3);
    rig.machine.make_checkpoint(&mut rig.thread);
    rig.operate(Machine::begin);
    assert_eq!(rig.machine.device().totals().syncs, 4);
}
