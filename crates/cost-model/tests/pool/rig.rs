//! A machine with one thread that uses pages one at a time.

use cost_model::device::{DeviceSpec, HddSpec, Raid};
use cost_model::{
    Bytes, Event, FrameId, Machine, MachineConfig, MakeYoung, Margin, MarginCounts, Neighbours,
    PageId, PoolConfig, Purpose, ReadAheadConfig, SimDuration, SimThread, SimTime, Step,
};

/// No page is written before its frame is needed.
pub(crate) const NO_MARGIN: Margin =
    Margin { scan: 0, low: 0, high: 0, counts: MarginCounts::FreeAndClean };

/// The midpoint may be this many pages off its place (buf0lru.c).
pub(crate) const OLD_TOLERANCE: u32 = 20;

/// A pool with a midpoint at 3/8 (buf0lru.c) and without a flush margin.
pub(crate) fn midpoint_pool(frames: u32) -> PoolConfig {
    PoolConfig {
        frames,
        instances: 1,
        old_fraction: 0.375,
        old_len_min: 80,
        old_blocks_ms: 0,
        young_distance: 0.25,
        make_young: MakeYoung::Any,
        reads_check_bitmap: false,
        margin: NO_MARGIN,
        neighbours: Neighbours::None,
        area_pages: 64,
    }
}

/// Plain LRU.
pub(crate) fn lru_pool(frames: u32) -> PoolConfig {
    PoolConfig { old_fraction: 0.0, young_distance: 0.0, ..midpoint_pool(frames) }
}

/// One disk without a write cache: 10 ms for a page.
pub(crate) fn disk() -> DeviceSpec {
    DeviceSpec::Hdd(HddSpec {
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
    })
}

pub(crate) struct Rig {
    pub(crate) machine: Machine,
    pub(crate) thread: SimThread,
}

impl Rig {
    pub(crate) fn new(pool: PoolConfig, disks: DeviceSpec) -> Self {
        let config = MachineConfig::new(disks, pool);
        Self { machine: Machine::new(config, 1), thread: SimThread::new(SimTime::ZERO) }
    }

    /// The same with pages that nobody waits for read in this way.
    pub(crate) fn reading_ahead(
        pool: PoolConfig,
        disks: DeviceSpec,
        read_ahead: ReadAheadConfig,
    ) -> Self {
        let config = MachineConfig { read_ahead, ..MachineConfig::new(disks, pool) };
        Self { machine: Machine::new(config, 1), thread: SimThread::new(SimTime::ZERO) }
    }

    /// An operation of the thread, from its beginning to its end.
    pub(crate) fn operate<T>(
        &mut self,
        mut operation: impl FnMut(&mut Machine, &mut SimThread) -> Step<T>,
    ) -> T {
        let (machine, thread) = (&mut self.machine, &mut self.thread);
        loop {
            let outcome = machine.begin(thread).and_then(|()| operation(machine, thread));
            if let Ok(value) = outcome {
                machine.release(thread);
                machine.verify();
                return value;
            }
        }
    }

    /// Gets a page and does not use it, as read-ahead does.
    pub(crate) fn fetch(&mut self, page: u32) -> FrameId {
        self.operate(|machine, thread| machine.fetch(thread, PageId(page), Purpose::LeafRead))
    }

    /// Looks at a page.
    pub(crate) fn read(&mut self, page: u32) {
        self.operate(|machine, thread| {
            let frame = machine.fetch(thread, PageId(page), Purpose::LeafRead)?;
            machine.touch(thread, frame);
            Ok(())
        });
    }

    /// Changes a page.
    pub(crate) fn change(&mut self, page: u32) {
        self.operate(|machine, thread| {
            let frame = machine.fetch_for_change(thread, PageId(page), Purpose::LeafRead)?;
            machine.change(thread, frame);
            Ok(())
        });
    }

    pub(crate) fn create(&mut self, page: u32) {
        self.operate(|machine, thread| {
            machine.reserve(thread, 1)?;
            machine.create(thread, PageId(page));
            Ok(())
        });
    }

    pub(crate) fn is_resident(&self, page: u32) -> bool {
        self.machine.is_resident(PageId(page))
    }

    /// The writes that happen during `work`: first page and length of each.
    pub(crate) fn writes(&mut self, work: impl FnOnce(&mut Self)) -> Vec<(u32, u32)> {
        self.machine.follow(Vec::new());
        work(self);
        let events = self.machine.followed().into_iter();
        events
            .filter_map(|(_, event)| match event {
                Event::Write(page, pages) => Some((page.0, pages)),
                _ => None,
            })
            .collect()
    }
}
