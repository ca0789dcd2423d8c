//! The machine as an engine sees it: pages that cost time, and the account of it.

mod blocks;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::device::{Device, DeviceSpec, IoOp, IoRequest};
use crate::os_cache::OsCache;
use crate::pool::{BufferPool, MarginCounts, Neighbours};
use crate::{
    Blocked, Bytes, Cause, FrameId, IoLedger, PageId, PoolConfig, PoolStats, Purpose, SimDuration,
    SimThread, SimTime, Station, Step,
};

/// What computing costs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuPrices {
    /// Once per statement: parsing, network, client.
    pub statement: SimDuration,
    /// Once per row of a statement.
    pub row: SimDuration,
    /// Once per index entry inserted or deleted.
    pub index_entry: SimDuration,
    /// Once per page that is read: system call, checksum, bookkeeping.
    pub page_read: SimDuration,
    /// Once per page that is split.
    pub page_split: SimDuration,
    /// Once per commit.
    pub commit: SimDuration,
    /// Once per query: parsing, optimiser, network.
    pub query: SimDuration,
    /// Once per row that a query returns.
    pub row_returned: SimDuration,
}

/// What a machine is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineConfig {
    /// Processor cores.
    pub cores: u32,
    /// Prices of computing.
    pub prices: CpuPrices,
    /// The disks.
    pub disks: DeviceSpec,
    /// The buffer pool.
    pub pool: PoolConfig,
    /// Bytes of a page.
    pub page_size: Bytes,
    /// Bytes of the operating system's page cache under the pool; `None` with direct I/O.
    pub os_cache: Option<Bytes>,
    /// What it costs to copy a page between that cache and the pool, system call included.
    pub os_copy: SimDuration,
    /// Seed of everything random in the machine.
    pub seed: u64,
    /// About how many pages the data files will have.
    pub pages_expected: u64,
}

/// What happened to a page while an operation was followed (see [`Machine::follow`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The page was in the pool.
    Hit(PageId),
    /// The page was read; the second page, if any, lost its frame for it.
    Read(PageId, Option<PageId>),
    /// This many adjacent pages from this one on were given to the device to write.
    Write(PageId, u32),
    /// The page came into being.
    Create(PageId),
    /// The thread waited for this cause until then.
    Wait(Cause, SimTime),
}

/// The simulated machine.
///
/// An operation [`begin`](Self::begin)s, then asks for all its pages ([`fetch`](Self::fetch),
/// [`fetch_for_change`](Self::fetch_for_change)); each call may answer
/// [`Blocked`](crate::Blocked), and then the whole operation is tried again when its thread has
/// waited. Only when it has all of them does it change anything and tell so
/// ([`touch`](Self::touch), [`change`](Self::change), [`create`](Self::create)). Frames stay
/// valid from `begin` to the first `create`; a page needed after that is
/// [held](Self::hold).
pub struct Machine {
    config: MachineConfig,
    pool: BufferPool,
    device: Device,
    os_cache: Option<OsCache>,
    cores: Option<Station>,
    io: IoLedger,
    /// Writes under way: when each is done, and its frame.
    writes: BinaryHeap<Reverse<(SimTime, FrameId)>>,
    next_write_done: SimTime,
    /// Pages of the area that an LRU flush is about to write; kept to save allocations.
    batch: Vec<(PageId, FrameId)>,
    events: Option<Vec<(SimTime, Event)>>,
}

impl Machine {
    /// A machine at rest with an empty pool, used by `threads` threads.
    pub fn new(config: MachineConfig, threads: usize) -> Self {
        let cores = config.cores as usize;
        Self {
            pool: BufferPool::new(config.pool.clone(), config.pages_expected as usize),
            device: Device::new(&config.disks, config.seed),
            // Threads that never outnumber the cores never wait for one.
            cores: (cores < threads).then(|| Station::new(cores)),
            os_cache: config
                .os_cache
                .map(|size| OsCache::new(size.whole(config.page_size) as usize)),
            io: IoLedger::default(),
            writes: BinaryHeap::new(),
            next_write_done: SimTime::NEVER,
            batch: Vec::new(),
            events: None,
            config,
        }
    }

    /// The settings it was built from.
    pub fn config(&self) -> &MachineConfig {
        &self.config
    }

    /// Prices of computing.
    pub fn prices(&self) -> &CpuPrices {
        &self.config.prices
    }

    /// The disks.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// All I/O so far by purpose.
    pub fn io(&self) -> &IoLedger {
        &self.io
    }

    /// Counters of the buffer pool.
    pub fn pool_stats(&self) -> &PoolStats {
        self.pool.stats()
    }

    /// Dirty pages in the pool now.
    pub fn dirty_pages(&self) -> u64 {
        self.pool.dirty_len()
    }

    /// Free frames in the pool now.
    pub fn free_frames(&self) -> u64 {
        self.pool.free_len()
    }

    /// Whether `page` is in the pool: for reports and tests, not for engines.
    pub fn is_resident(&self, page: PageId) -> bool {
        self.pool.frame_of(page).is_some()
    }

    /// From now on notes what happens to pages.
    pub fn follow(&mut self) {
        self.events = Some(Vec::new());
    }

    /// Stops following and returns what happened.
    pub fn followed(&mut self) -> Vec<(SimTime, Event)> {
        self.events.take().unwrap_or_default()
    }

    /// Computes for `demand`.
    #[inline]
    pub fn compute(&mut self, thread: &mut SimThread, demand: SimDuration) {
        match &mut self.cores {
            None => thread.spend(Cause::Cpu, demand),
            Some(cores) => {
                let done = cores.submit(thread.now(), demand);
                let waited = done.since(thread.now()) - demand;
                thread.spend(Cause::Lock, waited);
                thread.spend(Cause::Cpu, demand);
            }
        }
    }

    /// An operation begins or is tried again: the read its thread has waited for is done.
    ///
    /// # Errors
    /// [`Blocked`](crate::Blocked) if another thread must go first.
    #[inline]
    pub fn begin(&mut self, thread: &mut SimThread) -> Step {
        thread.in_turn()?;
        if self.next_write_done <= thread.now() {
            self.settle(thread.now());
        }
        if let Some(frame) = thread.arrival.take() {
            self.pool.read_done(frame);
            let instance = self.pool.instance_of(self.pool.page_of(frame));
            self.keep_margin(thread.now(), instance);
        }
        Ok(())
    }

    /// Loads the processor's caches with what a use of `page` will need, in three rounds (0, 1,
    /// 2), each of which needs the one before to be done. Changes nothing.
    #[inline]
    pub fn prefetch(&self, page: PageId, round: u32) {
        match round {
            0 => self.pool.prefetch_entry(page),
            1 => self.pool.prefetch_frame(page),
            _ => self.pool.prefetch_neighbours(page),
        }
    }

    /// The frame of a page that is to be looked at.
    ///
    /// # Errors
    /// [`Blocked`](crate::Blocked) if the page must be read first.
    #[inline]
    pub fn fetch(
        &mut self,
        thread: &mut SimThread,
        page: PageId,
        purpose: Purpose,
    ) -> Step<FrameId> {
        match self.pool.frame_of(page) {
            Some(frame) => {
                // Another thread reads the page, or has read it and not gone on yet.
                if let Some(until) = self.pool.reading_until(frame) {
                    self.wait(thread, until, Cause::Read)?;
                    self.pool.read_done(frame);
                }
                Ok(frame)
            }
            None => self.start_read(thread, page, purpose),
        }
    }

    /// The frame of a page that is to be changed: a page under write is latched until its write
    /// is done.
    ///
    /// # Errors
    /// [`Blocked`](crate::Blocked) if the page must be read, or its write waited for.
    #[inline]
    pub fn fetch_for_change(
        &mut self,
        thread: &mut SimThread,
        page: PageId,
        purpose: Purpose,
    ) -> Step<FrameId> {
        let frame = self.fetch(thread, page, purpose)?;
        if let Some(until) = self.pool.writing_until(frame) {
            self.wait(thread, until, Cause::Flush)?;
            self.pool.write_done(frame);
        }
        Ok(frame)
    }

    /// The operation used a page it has fetched.
    #[inline]
    pub fn touch(&mut self, thread: &SimThread, frame: FrameId) {
        self.note(thread.now(), |pool| Event::Hit(pool.page_of(frame)));
        self.pool.touch(frame, thread.now());
    }

    /// The operation changed a page it has fetched for that.
    #[inline]
    pub fn change(&mut self, thread: &SimThread, frame: FrameId) {
        self.touch(thread, frame);
        self.pool.mark_dirty(frame);
    }

    /// Keeps a fetched page in its frame until the operation is over.
    pub fn hold(&mut self, thread: &mut SimThread, frame: FrameId) {
        // However often the operation is tried again, one pin will do.
        if !thread.pins.contains(&frame) {
            self.pool.pin(frame);
            thread.pins.push(frame);
        }
    }

    /// Makes sure that `count` pages can be created without waiting.
    ///
    /// # Errors
    /// [`Blocked`](crate::Blocked) if a dirty page must be written first.
    pub fn reserve(&mut self, thread: &mut SimThread, count: u32) -> Step {
        if self.pool.can_take(count) {
            return Ok(());
        }
        for instance in 0..self.config.pool.instances as usize {
            self.flush_tail(thread.now(), instance, count);
        }
        Err(self.wait_for_write(thread))
    }

    /// A page comes into being, dirty, at the head of the LRU list. Call
    /// [`reserve`](Self::reserve) before the operation changes anything.
    pub fn create(&mut self, thread: &mut SimThread, page: PageId) -> FrameId {
        let instance = self.pool.instance_of(page);
        let (frame, _) = self.pool.take(instance).expect("a frame was reserved");
        self.pool.place_new(frame, page, thread.now());
        self.note(thread.now(), |_| Event::Create(page));
        self.keep_margin(thread.now(), instance);
        frame
    }

    /// A page ceases to exist: its frame is free, it will not be written.
    pub fn discard(&mut self, page: PageId) {
        self.pool.discard(page);
    }

    /// The operation is over: pages it kept while it waited may leave the pool again.
    #[inline]
    pub fn release(&mut self, thread: &mut SimThread) {
        for frame in thread.pins.drain(..) {
            self.pool.unpin(frame);
        }
    }

    /// Panics if the pool contradicts itself: for tests.
    pub fn verify(&self) {
        self.pool.verify();
        let totals = self.device.totals();
        let (reads, writes) = self.io.reads_and_writes();
        assert_eq!((reads.bytes, writes.bytes), (totals.read_bytes, totals.write_bytes), "bytes");
    }

    /// Goes on at `until`, or now if that has passed.
    #[cold]
    fn wait(&mut self, thread: &mut SimThread, until: SimTime, cause: Cause) -> Step {
        if until <= thread.now() {
            return Ok(());
        }
        self.note(until, |_| Event::Wait(cause, until));
        Err(thread.wait_until(until, cause))
    }

    #[cold]
    fn start_read(
        &mut self,
        thread: &mut SimThread,
        page: PageId,
        purpose: Purpose,
    ) -> Step<FrameId> {
        thread.in_turn()?;
        let instance = self.pool.instance_of(page);
        let Some((frame, left)) = self.pool.take(instance) else {
            let margin = self.config.pool.margin.high.max(1);
            self.flush_tail(thread.now(), instance, margin);
            return Err(self.wait_for_write(thread));
        };
        let done = self.read_page(thread.now(), page, purpose);
        self.pool.place_read(frame, page, done);
        self.hold(thread, frame);
        thread.arrival = Some(frame);
        self.note(thread.now(), |_| Event::Read(page, left));
        self.note(done, |_| Event::Wait(Cause::Read, done));
        let price = self.config.prices.page_read;
        self.compute(thread, price);
        Err(thread.wait_until(done, Cause::Read))
    }

    /// Brings a page into a frame: from the device, or from the page cache of the operating
    /// system. Tells when it is there.
    fn read_page(&mut self, now: SimTime, page: PageId, purpose: Purpose) -> SimTime {
        let Some(cache) = &mut self.os_cache else {
            return self.transfer(now, IoOp::Read, purpose, page, 1);
        };
        let (cached, leaving) = cache.access(page, false);
        if let Some(dirty) = leaving.filter(|leaving| leaving.dirty) {
            self.transfer(now, IoOp::Write, Purpose::WriteBack, dirty.page, 1);
        }
        let there = if cached { now } else { self.transfer(now, IoOp::Read, purpose, page, 1) };
        there + self.config.os_copy
    }

    /// Writes adjacent pages; tells when their frames may be used for something else. Under
    /// buffered I/O that is when they are copied, and the device sees them when they leave the
    /// page cache.
    fn write_pages(&mut self, now: SimTime, first: PageId, pages: u32) -> SimTime {
        if self.os_cache.is_none() {
            return self.transfer(now, IoOp::Write, Purpose::WriteBack, first, pages);
        }
        for page in (first.0..first.0 + pages).map(PageId) {
            let leaving = self.os_cache.as_mut().and_then(|cache| cache.access(page, true).1);
            if let Some(dirty) = leaving.filter(|leaving| leaving.dirty) {
                self.transfer(now, IoOp::Write, Purpose::WriteBack, dirty.page, 1);
            }
        }
        now + self.config.os_copy * u64::from(pages)
    }

    /// One request to the device, booked to its purpose; tells when it is done.
    fn transfer(
        &mut self,
        now: SimTime,
        op: IoOp,
        purpose: Purpose,
        first: PageId,
        pages: u32,
    ) -> SimTime {
        let length = self.config.page_size * u64::from(pages);
        let offset = u64::from(first.0) * self.config.page_size.get();
        self.io.add(purpose, u64::from(pages), length);
        self.device.submit(now, IoRequest { op, offset, len: length.get() })
    }

    /// Carries out the completions of writes that are done at `now`.
    #[cold]
    fn settle(&mut self, now: SimTime) {
        while let Some(Reverse((done, frame))) = self.writes.peek().copied() {
            if now < done {
                break;
            }
            self.writes.pop();
            // Unless somebody waited for this very page and has gone on.
            if self.pool.writing_until(frame) == Some(done) {
                self.pool.lru_write_done(frame);
            }
        }
        self.next_write_done =
            self.writes.peek().map_or(SimTime::NEVER, |Reverse((done, _))| *done);
    }

    fn wait_for_write(&mut self, thread: &mut SimThread) -> Blocked {
        let Reverse((done, _)) = *self
            .writes
            .peek()
            .expect("the pool is so small that operations under way use all of it");
        self.note(done, |_| Event::Wait(Cause::FreePage, done));
        thread.wait_until(done, Cause::FreePage)
    }

    /// The LRU flush margin: the thread that used up a frame has the tail of the list written
    /// when too little of it could be replaced.
    fn keep_margin(&mut self, now: SimTime, instance: usize) {
        let mut want = self.pool.margin_shortage(instance);
        if 0 < want && self.config.pool.margin.counts == MarginCounts::Free {
            want = self.pool.free_clean_tail(instance, want);
        }
        if 0 < want {
            self.flush_tail(now, instance, want);
        }
    }

    /// Writes at least `want` pages from the tail of the LRU list, if there are as many that can
    /// be written, each with its neighbours.
    fn flush_tail(&mut self, now: SimTime, instance: usize, want: u32) {
        let mut flushed = 0;
        let mut at = None;
        while flushed < want {
            let Some(frame) = self.pool.next_writable(instance, at) else { break };
            flushed += self.write_area(now, frame);
            at = Some(frame);
        }
        if let Some(frame) = at {
            self.pool.flush_ended(instance, frame);
        }
    }

    /// Writes a page and the neighbours that go with it; tells how many.
    fn write_area(&mut self, now: SimTime, victim: FrameId) -> u32 {
        let page = self.pool.page_of(victim);
        let mut batch = std::mem::take(&mut self.batch);
        batch.clear();
        let area = self.config.pool.area_pages;
        let first = page.0 / area * area;
        match self.config.pool.neighbours {
            Neighbours::None => batch.push((page, victim)),
            Neighbours::Area => {
                // Two rounds, so that the processor loads all frames at once.
                for neighbour in (first..first + area).map(PageId) {
                    self.pool.prefetch_frame(neighbour);
                }
                for neighbour in (first..first + area).map(PageId) {
                    if neighbour == page {
                        batch.push((page, victim));
                    } else if let Some(frame) = self.pool.goes_along(neighbour) {
                        batch.push((neighbour, frame));
                    }
                }
            }
            Neighbours::Contiguous => {
                let along = |p: &u32| self.pool.goes_along(PageId(*p)).map(|f| (PageId(*p), f));
                let below = (first..page.0).rev().map_while(|p| along(&p));
                batch.extend(below);
                batch.reverse();
                batch.push((page, victim));
                batch.extend((page.0 + 1..first + area).map_while(|p| along(&p)));
            }
        }
        for run in batch.chunk_by(|(a, _), (b, _)| a.0 + 1 == b.0) {
            let pages = run.len() as u32;
            let done = self.write_pages(now, run[0].0, pages);
            for (_, frame) in run {
                self.pool.prefetch_links(*frame);
                self.pool.write_begins(*frame, done);
                self.writes.push(Reverse((done, *frame)));
            }
            self.next_write_done = self.next_write_done.min(done);
            self.note(now, |_| Event::Write(run[0].0, pages));
        }
        let flushed = batch.len() as u32;
        self.batch = batch;
        flushed
    }

    #[inline]
    fn note(&mut self, at: SimTime, event: impl FnOnce(&BufferPool) -> Event) {
        if let Some(events) = &mut self.events {
            events.push((at, event(&self.pool)));
        }
    }
}
