//! The machine as an engine sees it: pages that cost time, and the account of it.

mod arrivals;
mod batches;
mod blocks;
mod commit;
mod config;
mod duty;
mod files;
mod flush;
mod io;
mod latches;
mod log;
mod readers;
mod statement;
mod under_way;
mod writers;

pub(crate) use batches::List;
pub(crate) use commit::Commit;
pub use config::{
    Binlog, CommitConfig, CpuPrices, LogAtCommit, LruWriter, MachineConfig, ReadAheadConfig,
    SerialCommit, WriteBackConfig,
};
pub(crate) use duty::Duty;
pub use statement::StoredRows;

use crate::device::Device;
use crate::os_cache::OsCache;
use crate::pool::BufferPool;
use crate::redo::RedoLog;
use crate::{
    Blocked, Bytes, Cause, FrameId, IoLedger, Lsn, PageId, PoolStats, Purpose, RedoStats,
    SimDuration, SimThread, SimTime, Station, Step, mix,
};
use arrivals::Arrivals;
use batches::Batches;
use latches::Latch;
use readers::Readers;
use writers::Writers;

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
    /// The device of the redo log, if it has one of its own.
    log_device: Option<Device>,
    os_cache: Option<OsCache>,
    cores: Option<Station>,
    io: IoLedger,
    redo: Option<RedoLog>,
    writers: Writers,
    readers: Readers,
    batches: Batches,
    arrivals: Arrivals,
    checkpoint_under_way: bool,
    /// While a commit holds others up: until when it waits itself.
    committing: Option<SimTime>,
    binlog_end: u64,
    /// Whether data files were written to since they were synced.
    data_unsynced: bool,
    /// Bytes of the file of rows that lie apart from the indexes.
    rows_end: u64,
    /// Pages of the data file, and the highest page in use.
    file_end: u64,
    file_needed: u32,
    cleaner_wanted: Option<SimTime>,
    latches: Vec<Latch>,
    /// Frames of each instance for which somebody waits who may not write himself.
    frames_wanted: Vec<u32>,
    /// Pages read in blocks, past the pool.
    block_pages_read: u64,
    events: Option<Vec<(SimTime, Event)>>,
}

/// More pages than this part of the pool are never read ahead (`MySQL` 5.1 source, buf0rea.c:
/// `BUF_READ_AHEAD_PEND_LIMIT`).
const PENDING_PART: u32 = 2;

impl Machine {
    /// A machine at rest with an empty pool, used by `threads` threads.
    pub fn new(config: MachineConfig, threads: usize) -> Self {
        let cores = config.cores as usize;
        let write_back = &config.write_back;
        Self {
            pool: BufferPool::new(config.pool.clone(), config.pages_expected as usize),
            device: Device::new(&config.disks, config.seed),
            // With numbers of their own, should the disks be alike.
            log_device: config.log_disks.as_ref().map(|spec| Device::new(spec, mix(config.seed))),
            // Threads that never outnumber the cores never wait for one.
            cores: (cores < threads).then(|| Station::new(cores)),
            os_cache: config.os_cache.map(|size| OsCache::new(size, config.page_size)),
            io: IoLedger::default(),
            redo: config.redo.clone().map(RedoLog::new),
            writers: Writers::new(
                write_back.threads,
                write_back.join_pages,
                config.pool.area_pages,
            ),
            readers: Readers::new(
                config.read_ahead.threads,
                (config.read_ahead.threads * config.read_ahead.queue_pages)
                    .min(config.pool.frames / PENDING_PART),
                config.read_ahead.join_pages,
                config.pool.area_pages,
            ),
            batches: Batches::default(),
            arrivals: Arrivals::default(),
            checkpoint_under_way: false,
            committing: None,
            binlog_end: 0,
            data_unsynced: false,
            rows_end: 0,
            file_end: 0,
            file_needed: 0,
            cleaner_wanted: None,
            frames_wanted: vec![0; config.pool.instances as usize],
            block_pages_read: 0,
            latches: Vec::new(),
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

    /// The disks of the redo log, if it has some of its own.
    pub fn log_disks(&self) -> Option<&Device> {
        self.log_device.as_ref()
    }

    /// What happened to the redo log; `None` without one.
    pub fn redo_stats(&self) -> Option<&RedoStats> {
        self.redo.as_ref().map(|redo| &redo.stats)
    }

    /// Bytes of redo since the last checkpoint; `None` without a redo log.
    pub fn checkpoint_age(&self) -> Option<Bytes> {
        self.redo.as_ref().map(|redo| Bytes::new(redo.checkpoint_age()))
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

    /// Dirty pages as a share of all frames in use or free, as the background threads count them:
    /// with those that were written and have not left the list of dirty pages.
    pub fn dirty_share(&self) -> f64 {
        let frames = self.pool.used_len() + self.pool.free_len() + 1;
        self.pool.listed_dirty_len() as f64 / frames as f64
    }

    /// Dirty pages of an instance, and how many bytes of redo each may get older on average
    /// before its change is `age_max` old; 0 if they are older already.
    pub fn mean_remaining_age(&self, instance: usize, age_max: Bytes) -> (u32, f64) {
        let (pages, lsn_sum) = self.pool.dirty_of(instance);
        let oldest_mean = lsn_sum as f64 / f64::from(pages.max(1));
        let remaining = age_max.get() as f64 - (self.log_end().0 as f64 - oldest_mean);
        (pages, remaining.max(0.0))
    }

    /// Dirty pages with changes older than `lsn`, counted up to `most`.
    pub fn dirty_before(&self, lsn: Lsn, most: u32) -> u32 {
        self.pool.dirty_before(lsn, most)
    }

    /// Free frames in the pool now.
    pub fn free_frames(&self) -> u64 {
        self.pool.free_len()
    }

    /// Whether `page` is in the pool: for reports and tests, not for engines.
    pub fn is_resident(&self, page: PageId) -> bool {
        self.pool.frame_of(page).is_some()
    }

    /// From now on notes what happens to pages, after the events of earlier.
    pub fn follow(&mut self, earlier: Vec<(SimTime, Event)>) {
        self.events = Some(earlier);
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
        if self.next_io_done() <= thread.now() {
            self.settle(thread.now());
        }
        if let Some(frame) = thread.arrival.take() {
            self.read_arrived(frame);
            let instance = self.pool.instance_of(self.pool.page_of(frame));
            self.keep_margin(thread, instance);
        }
        self.work(thread)
    }

    /// Loads the processor's caches with what a use of `page`, last found in frame `guess`, will
    /// need, in two rounds (0, 1), the second of which needs the first to be done. A third (2) is
    /// for pages that were not where they were guessed. Changes nothing.
    #[inline]
    pub fn prefetch(&self, page: PageId, guess: FrameId, round: u32) {
        match round {
            0 => self.pool.prefetch_guess(guess),
            1 => self.pool.prefetch_use(page, guess),
            _ => self.pool.prefetch_frame(page),
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
        self.fetch_near(thread, page, FrameId::NONE, purpose)
    }

    /// The same for a page that was found in frame `guess` last time.
    ///
    /// # Errors
    /// [`Blocked`](crate::Blocked) if the page must be read first.
    #[inline]
    pub fn fetch_near(
        &mut self,
        thread: &mut SimThread,
        page: PageId,
        guess: FrameId,
        purpose: Purpose,
    ) -> Step<FrameId> {
        match self.pool.frame_near(page, guess) {
            Some(frame) => {
                // Another thread reads the page, or has read it and not gone on yet.
                if let Some(until) = self.pool.reading_until(frame) {
                    let until = match until {
                        SimTime::NEVER => self.next_event(thread.now()),
                        until => until,
                    };
                    self.wait(thread, until, Cause::Read)?;
                    self.read_arrived(frame);
                    if self.arrived().is_some() {
                        // The engine has something to do with it first.
                        return Err(Blocked);
                    }
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
        self.fetch_near_for_change(thread, page, FrameId::NONE, purpose)
    }

    /// The same for a page that was found in frame `guess` last time.
    ///
    /// # Errors
    /// [`Blocked`](crate::Blocked) if the page must be read, or its write waited for.
    #[inline]
    pub fn fetch_near_for_change(
        &mut self,
        thread: &mut SimThread,
        page: PageId,
        guess: FrameId,
        purpose: Purpose,
    ) -> Step<FrameId> {
        let frame = self.fetch_near(thread, page, guess, purpose)?;
        if let Some(until) = self.pool.writing_until(frame) {
            if !self.is_kept_up(thread, page) {
                return Ok(frame);
            }
            let until = match until {
                SimTime::NEVER => self.next_event(thread.now()),
                until => until,
            };
            self.wait(thread, until, Cause::Flush)?;
            self.pool.write_done(frame);
        }
        Ok(frame)
    }

    /// Whether the operation of a thread is among those that wait for a page under write; the
    /// same however often it is tried again.
    fn is_kept_up(&self, thread: &SimThread, page: PageId) -> bool {
        let one_in = self.config.write_back.latches_one_in;
        let operation = self.config.seed ^ thread.operations.rotate_left(32) ^ u64::from(page.0);
        one_in == 1 || mix(operation).is_multiple_of(one_in)
    }

    /// The operation used a page it has fetched.
    #[inline]
    pub fn touch(&mut self, thread: &SimThread, frame: FrameId) {
        self.note(thread.now(), |pool| Event::Hit(pool.page_of(frame)));
        self.pool.touch(frame, thread.now());
    }

    /// The operation used a page it has fetched, beside the way of a search: the sibling before a
    /// leaf, or a page that describes others.
    #[inline]
    pub fn visit(&mut self, thread: &SimThread, frame: FrameId) {
        self.note(thread.now(), |pool| Event::Hit(pool.page_of(frame)));
        self.pool.visit(frame, thread.now());
    }

    /// The same of a page that it changed.
    #[inline]
    pub fn visit_to_change(&mut self, thread: &SimThread, frame: FrameId) {
        self.visit(thread, frame);
        let lsn = self.last_logged();
        self.pool.mark_dirty(frame, lsn);
    }

    /// The operation asked for a page that is absent, and can do without it.
    #[inline]
    pub fn miss(&mut self) {
        self.pool.miss();
    }

    /// A page was changed that the operation has used already, or by what happened to it on its way
    /// into the pool: that is no use of it.
    pub fn change_quietly(&mut self, frame: FrameId) {
        let lsn = self.last_logged();
        self.pool.mark_dirty(frame, lsn);
    }

    /// Moves a page to the head of the LRU list.
    pub fn make_young(&mut self, frame: FrameId) {
        self.pool.make_young(frame);
    }

    /// Frees the clean pages that flushes have left at the tails of the LRU lists.
    pub fn free_flushed(&mut self) {
        self.pool.free_flushed();
    }

    /// When the first read or write that nobody waits for is done.
    #[inline]
    fn next_io_done(&self) -> SimTime {
        self.writers.next_done().min(self.readers.next_done())
    }

    /// The operation changed a page it has fetched for that.
    #[inline]
    pub fn change(&mut self, thread: &SimThread, frame: FrameId) {
        self.touch(thread, frame);
        let lsn = self.last_logged();
        self.pool.mark_dirty(frame, lsn);
    }

    /// Keeps a fetched page in its frame until the operation is over.
    pub fn hold(&mut self, thread: &mut SimThread, frame: FrameId) {
        // However often the operation is tried again, one pin will do.
        if !thread.pins.contains(&frame) {
            self.pool.pin(frame);
            thread.pins.push(frame);
        }
    }

    /// The operation no longer needs a page it kept.
    pub fn let_go(&mut self, thread: &mut SimThread, frame: FrameId) {
        if let Some(place) = thread.pins.iter().rposition(|pin| *pin == frame) {
            thread.pins.swap_remove(place);
            self.pool.unpin(frame);
        }
    }

    /// Makes sure that `count` pages can be created without waiting.
    ///
    /// # Errors
    /// [`Blocked`](crate::Blocked) if a dirty page must be written first.
    pub fn reserve(&mut self, thread: &mut SimThread, count: u32) -> Step {
        match self.pool.short_of(count) {
            Some(instance) => Err(self.wait_for_frames(thread, instance, count)),
            None => Ok(()),
        }
    }

    /// A page comes into being, dirty, at the head of the LRU list. Call
    /// [`reserve`](Self::reserve) before the operation changes anything.
    pub fn create(&mut self, thread: &mut SimThread, page: PageId) -> FrameId {
        let instance = self.pool.instance_of(page);
        let (frame, _) = self.pool.take(instance).expect("a frame was reserved");
        let lsn = self.last_logged();
        self.pool.place_new(frame, page, thread.now(), lsn);
        self.note(thread.now(), |_| Event::Create(page));
        self.keep_margin(thread, instance);
        self.file_needed = self.file_needed.max(page.0);
        let grows = Bytes::ZERO < self.config.write_back.file_growth;
        if grows && self.file_end <= u64::from(page.0) {
            thread.duties.push_back(Duty::Growth);
        }
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
        self.leave_latch(thread);
        thread.operations += 1;
    }

    /// Panics if the pool contradicts itself: for tests.
    pub fn verify(&self) {
        self.pool.verify();
        let devices = || std::iter::once(&self.device).chain(&self.log_device).map(Device::totals);
        let read: u64 = devices().map(|totals| totals.read_bytes).sum();
        let written: u64 = devices().map(|totals| totals.write_bytes).sum();
        let (reads, writes) = self.io.reads_and_writes();
        assert_eq!((reads.bytes, writes.bytes), (read, written), "bytes");
    }

    /// Where the last mini-transaction begins in the log.
    #[inline]
    fn last_logged(&self) -> Lsn {
        self.redo.as_ref().map_or(Lsn(0), RedoLog::last_start)
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
        if self.next_io_done() <= thread.now() {
            self.settle(thread.now());
        }
        let Some((frame, left)) = self.pool.take(instance) else {
            let margin = self.config.pool.margin.high.max(1);
            return Err(self.wait_for_frames(thread, instance, margin));
        };
        let done = self.read_page(thread.now(), page, purpose);
        self.pool.place_read(frame, (page, purpose), done);
        self.hold(thread, frame);
        thread.arrival = Some(frame);
        self.note(thread.now(), |_| Event::Read(page, left));
        self.note(done, |_| Event::Wait(Cause::Read, done));
        let price = self.config.prices.page_read;
        self.compute(thread, price);
        Err(thread.wait_until(done, Cause::Read))
    }

    /// There is no frame: the tail of the list has to be written, or its writes waited for.
    fn wait_for_frames(&mut self, thread: &mut SimThread, instance: usize, want: u32) -> Blocked {
        let now = thread.now();
        if let Some(other) = self.batches.running(List::Lru, instance) {
            return self.wait_for_batch(thread, other, Cause::FreePage, None);
        }
        let under_way = self.writers.next_done();
        if under_way < SimTime::NEVER {
            self.note(under_way, |_| Event::Wait(Cause::FreePage, under_way));
            return thread.wait_until(under_way, Cause::FreePage);
        }
        if self.config.write_back.lru == LruWriter::Cleaner {
            self.call_cleaner(thread);
            let wanted = &mut self.frames_wanted[instance];
            *wanted = want.max(*wanted);
        } else if self.pool.next_writable(instance, None).is_some() {
            let batch = self.lru_batch(instance, want, want);
            thread.duties.push_back(Duty::Flush(Box::new(batch)));
            return Blocked;
        }
        thread.wait_until(self.next_event(now), Cause::FreePage)
    }

    #[inline]
    fn note(&mut self, at: SimTime, event: impl FnOnce(&BufferPool) -> Event) {
        if let Some(events) = &mut self.events {
            events.push((at, event(&self.pool)));
        }
    }
}
