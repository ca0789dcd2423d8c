//! Requests to the devices, each booked to its purpose, and what happens when writes are done.

use super::Machine;
use super::batches::{BatchId, List};
use super::writers::Request;
use crate::device::{Device, IoOp, IoRequest};
use crate::os_cache::File;
use crate::{Bytes, FrameId, PageId, Purpose, SimTime};

/// Where the doublewrite buffer lies on the device: beyond all pages of the data files.
const DOUBLEWRITE_AT: u64 = 1 << 46;
/// Where the redo log lies, on its own device or beside the data.
const LOG_AT: u64 = 1 << 47;
/// Where the binary log lies.
const BINLOG_AT: u64 = 1 << 48;

/// The largest request to the doublewrite buffer: half of it (`MySQL` 5.1 source, buf0flu.c).
const DOUBLEWRITE_REQUEST_PAGES: u32 = 64;

impl Machine {
    /// Brings a page into a frame: from the device, or from the page cache of the operating
    /// system. Tells when it is there.
    pub(super) fn read_page(&mut self, now: SimTime, page: PageId, purpose: Purpose) -> SimTime {
        match self.read_cached(now, page, purpose) {
            Some(there) => there,
            None => self.transfer(now, IoOp::Read, purpose, page, 1),
        }
    }

    /// Brings adjacent pages into frames; tells when they are there.
    pub(super) fn read_pages(
        &mut self,
        now: SimTime,
        first: PageId,
        pages: u32,
        purpose: Purpose,
    ) -> SimTime {
        if self.os_cache.is_none() {
            return self.transfer(now, IoOp::Read, purpose, first, pages);
        }
        let there =
            (first.0..first.0 + pages).map(|page| self.read_page(now, PageId(page), purpose));
        there.max().unwrap_or(now)
    }

    /// Gives adjacent pages of a batch to the device, or to the threads that write.
    pub(super) fn post(&mut self, now: SimTime, first: PageId, pages: u32, batch: BatchId) {
        self.batches.posted(batch, pages);
        if let Some(request) = self.writers.direct(first, pages, batch) {
            self.start_write(now, request);
            return;
        }
        for page in (first.0..first.0 + pages).map(PageId) {
            if let Some(superseded) = self.writers.queue(page, batch) {
                self.batches.written(superseded, 1);
            }
        }
    }

    /// Lets every free thread that writes take its next request.
    pub(super) fn start_writers(&mut self, now: SimTime) {
        while let Some(request) = self.writers.next() {
            self.start_write(now, request);
        }
    }

    fn start_write(&mut self, now: SimTime, request: Request) {
        let Request { first, pages, batch, .. } = request;
        let done = self.write_pages(now, first, pages, purpose_of(batch.list));
        for page in (first.0..first.0 + pages).map(PageId) {
            if let Some(frame) = self.pool.frame_of(page) {
                self.pool.write_ends_at(frame, done);
            }
        }
        self.writers.started(request, done);
        self.note(now, |_| super::Event::Write(first, pages));
    }

    /// Writes adjacent pages; tells when their frames may be used for something else. Under
    /// buffered I/O that is when they are copied, and the device sees them when they are synced or
    /// leave the page cache.
    fn write_pages(
        &mut self,
        now: SimTime,
        first: PageId,
        pages: u32,
        purpose: Purpose,
    ) -> SimTime {
        let page_size = self.config.page_size;
        if self.os_cache.is_none() {
            return self.transfer(now, IoOp::Write, purpose, first, pages);
        }
        let (offset, len) = (u64::from(first.0) * page_size.get(), page_size * u64::from(pages));
        self.write_cached(now, File::Pages, offset, len.get()) + self.copy_time(len)
    }

    /// Makes the data files durable; tells when they are. Files that nothing was written to since
    /// they were synced last are not synced again (`MySQL` 5.1 source, fil0fil.c: `fil_flush`).
    pub(super) fn sync_data(&mut self, now: SimTime) -> SimTime {
        let dirty = self.os_cache.as_mut().map(super::OsCache::take_dirty).unwrap_or_default();
        if dirty.is_empty() && !self.data_unsynced {
            return now;
        }
        let written = self.write_out(now, &dirty);
        self.data_unsynced = false;
        self.device.sync(now, written)
    }

    /// Writes `pages` pages to the doublewrite buffer and syncs it; tells when that is done.
    pub(super) fn write_doublewrite(&mut self, now: SimTime, pages: u32) -> SimTime {
        let page_size = self.config.page_size;
        let mut written = now;
        for first in (0..pages).step_by(DOUBLEWRITE_REQUEST_PAGES as usize) {
            let count = (pages - first).min(DOUBLEWRITE_REQUEST_PAGES);
            let len = page_size * u64::from(count);
            self.io.add(Purpose::Doublewrite, u64::from(count), len);
            let offset = DOUBLEWRITE_AT + u64::from(first) * page_size.get();
            let request = IoRequest { op: IoOp::Write, offset, len: len.get() };
            written = written.max(self.device.submit(now, request));
        }
        self.device.sync(now, written)
    }

    /// Writes bytes to the redo log's file; tells when they are there.
    pub(super) fn write_log(&mut self, now: SimTime, offset: u64, len: u64) -> SimTime {
        self.io.add(Purpose::Log, 0, Bytes::new(len));
        let request = IoRequest { op: IoOp::Write, offset: LOG_AT + offset, len };
        self.log_device().submit(now, request)
    }

    /// Appends to the binary log; tells when the bytes are there.
    pub(super) fn write_binlog(&mut self, now: SimTime, offset: u64, len: u64) -> SimTime {
        self.io.add(Purpose::Binlog, 0, Bytes::new(len));
        let request = IoRequest { op: IoOp::Write, offset: BINLOG_AT + offset, len };
        self.log_device().submit(now, request)
    }

    /// Fills new pages of the data file with zeros and syncs it; tells when that is done.
    pub(super) fn write_zeros(&mut self, now: SimTime, offset: u64, len: u64) -> SimTime {
        self.io.add(Purpose::Growth, len / self.config.page_size.get(), Bytes::new(len));
        let written = self.device.submit(now, IoRequest { op: IoOp::Write, offset, len });
        self.device.sync(now, written)
    }

    /// The device that holds the redo log.
    pub(super) fn log_device(&mut self) -> &mut Device {
        self.log_device.as_mut().unwrap_or(&mut self.device)
    }

    /// One request for pages of the data files, booked to its purpose; tells when it is done.
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
        self.data_unsynced |= op == IoOp::Write;
        self.device.submit(now, IoRequest { op, offset, len: length.get() })
    }

    /// Carries out the completions of writes that are done at `now`, and starts the next requests
    /// of the threads that write, each at its time.
    #[cold]
    pub(super) fn settle(&mut self, now: SimTime) {
        loop {
            // What follows a completion goes to the device at its time, so the first comes first.
            if self.readers.next_done() <= self.writers.next_done() {
                let Some((done, reading)) = self.readers.take_done(now) else { break };
                self.settle_arrival(done, reading);
                continue;
            }
            let Some((done, writing)) = self.writers.take_done(now) else { break };
            for page in (writing.first.0..writing.first.0 + writing.pages).map(PageId) {
                let Some(frame) = self.pool.frame_of(page) else { continue };
                if self.pool.writing_until(frame) == Some(done) {
                    self.written(frame, writing.batch.list);
                }
            }
            self.batches.written(writing.batch, writing.pages);
            self.start_writers(done);
        }
    }

    fn written(&mut self, frame: FrameId, list: List) {
        match list {
            List::Lru => self.pool.lru_write_done(frame),
            List::Dirty => self.pool.write_done(frame),
        }
    }
}

/// What the writes of a batch are for.
fn purpose_of(list: List) -> Purpose {
    match list {
        List::Lru => Purpose::WriteBack,
        List::Dirty => Purpose::Checkpoint,
    }
}
