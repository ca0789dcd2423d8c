//! Files through the operating system's page cache: what is read, written and synced there, and
//! what the system writes by itself.

use super::Machine;
use crate::device::{IoOp, IoRequest};
use crate::os_cache::{CachePage, File, Leaving};
use crate::{Bytes, PageId, Purpose, SimDuration, SimTime};

/// Where rows that lie apart from the indexes lie on the device.
const ROWS_AT: u64 = 1 << 45;

/// The price of a copy is that of so many bytes.
const COPY: Bytes = Bytes::kib(16);

/// Pages the operating system writes at a time before it looks again (Linux 2.6,
/// fs-writeback.c: `MAX_WRITEBACK_PAGES`).
const WRITE_AT_ONCE: usize = 1_024;

impl Machine {
    /// Reads a page of the buffer pool from the cache; tells when it is there, or `None` without a
    /// cache.
    pub(super) fn read_cached(
        &mut self,
        now: SimTime,
        page: PageId,
        purpose: Purpose,
    ) -> Option<SimTime> {
        let page_size = self.config.page_size;
        let cache = self.os_cache.as_mut()?;
        let at = cache.page_at(File::Pages, u64::from(page.0) * page_size.get());
        let (cached, leaving) = cache.access(at, None);
        self.displace(now, leaving);
        let there =
            if cached { now } else { self.transfer_cached(now, IoOp::Read, purpose, at, 1) };
        Some(there + self.copy_time(page_size))
    }

    /// Writes to a file in the cache; tells when those pages are there of which it replaces only a
    /// part. Copying is not included.
    pub(super) fn write_cached(
        &mut self,
        now: SimTime,
        file: File,
        offset: u64,
        len: u64,
    ) -> SimTime {
        let mut there = now;
        let mut from = offset;
        while from < offset + len {
            let Some(cache) = &mut self.os_cache else { break };
            let size = cache.page_size().get();
            let (page, begins) = (cache.page_at(file, from), from / size * size);
            let is_whole = offset <= begins && begins + size <= offset + len;
            let needs_rest = !is_whole && cache.exists(page);
            let (cached, leaving) = cache.access(page, Some(now));
            self.displace(now, leaving);
            if needs_rest && !cached {
                let read = self.transfer_cached(now, IoOp::Read, Purpose::FillRead, page, 1);
                there = there.max(read);
            }
            from = begins + size;
        }
        there
    }

    /// Time to copy `bytes` between the cache and the engine.
    pub(super) fn copy_time(&self, bytes: Bytes) -> SimDuration {
        let ns = self.config.os_copy.as_ns() * bytes.get() / COPY.get();
        SimDuration::from_ns(ns)
    }

    /// Writes pages of the cache, in the order of their places, to the device, adjacent ones as
    /// one request; tells when they are there.
    pub(super) fn write_out(&mut self, now: SimTime, pages: &[CachePage]) -> SimTime {
        let follows = |a: &CachePage, b: &CachePage| a.file == b.file && a.number + 1 == b.number;
        let mut written = now;
        for run in pages.chunk_by(follows) {
            let count = run.len() as u64;
            let purpose = Purpose::OsWriteBack;
            written = written.max(self.transfer_cached(now, IoOp::Write, purpose, run[0], count));
        }
        written
    }

    /// The operating system writes some pages of its cache that are dirty for long enough, or any
    /// if too many are; tells when they are there, or `None` if there is nothing to write.
    pub(crate) fn write_old_cached(&mut self, now: SimTime) -> Option<SimTime> {
        let rules = self.config.os_write;
        let cache = self.os_cache.as_mut()?;
        let too_many = rules.background * (cache.capacity() as f64) < cache.dirty_len() as f64;
        let since = SimTime::from_ns(now.as_ns().saturating_sub(rules.age.as_ns()));
        let since = match (too_many, rules.age.as_ns() <= now.as_ns()) {
            (true, _) => SimTime::NEVER,
            (false, true) => since,
            (false, false) => return None,
        };
        let pages = cache.take_old(since, WRITE_AT_ONCE);
        (!pages.is_empty()).then(|| self.write_out(now, &pages))
    }

    /// Whether so many pages of the cache are dirty that who writes has to write some out.
    pub(super) fn is_cache_full_of_changes(&self) -> bool {
        let limit = self.config.os_write.limit;
        self.os_cache
            .as_ref()
            .is_some_and(|cache| limit * (cache.capacity() as f64) < cache.dirty_len() as f64)
    }

    fn displace(&mut self, now: SimTime, leaving: Option<Leaving>) {
        if let Some(dirty) = leaving.filter(|leaving| leaving.dirty) {
            self.transfer_cached(now, IoOp::Write, Purpose::OsWriteBack, dirty.page, 1);
        }
    }

    /// One request for adjacent pages of the cache, booked to its purpose; tells when it is done.
    fn transfer_cached(
        &mut self,
        now: SimTime,
        op: IoOp,
        purpose: Purpose,
        first: CachePage,
        pages: u64,
    ) -> SimTime {
        let Some(cache) = &self.os_cache else { return now };
        let size = cache.page_size();
        let file_at = match first.file {
            File::Pages => 0,
            File::Rows => ROWS_AT,
        };
        let (offset, length) = (file_at + u64::from(first.number) * size.get(), size * pages);
        self.io.add(purpose, pages, length);
        self.data_unsynced |= op == IoOp::Write;
        self.device.submit(now, IoRequest { op, offset, len: length.get() })
    }
}
