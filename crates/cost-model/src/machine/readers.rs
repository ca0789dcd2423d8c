//! Reads that nobody waits for, on their way to the device: by native asynchronous I/O all at once,
//! or through threads that read one request at a time.
//!
//! Rules from `MySQL` 5.1 source, os0file.c (simulated asynchronous I/O): a thread takes the oldest
//! request if that has waited for two seconds, else the one with the lowest place, together with
//! all that are adjacent to it.

use std::collections::VecDeque;

use super::under_way::UnderWay;
use crate::{PageId, Purpose, SimDuration, SimTime};

/// A request that has waited so long goes first.
const OLD: SimDuration = SimDuration::from_ms(2_000);

/// Pages that are being read while nobody waits for them, and those that wait for a thread that
/// reads.
#[derive(Debug)]
pub(super) struct Readers {
    under_way: UnderWay<Reading>,
    threads: Vec<Reader>,
    join_pages: u32,
    area_pages: u32,
    /// Pages that may wait or be read before who asks for more has to wait.
    queue_pages: usize,
    queued: usize,
}

/// A request under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reading {
    pub(super) first: PageId,
    pub(super) pages: u32,
    /// The thread that reads it; none with native asynchronous I/O.
    thread: Option<usize>,
}

/// Adjacent pages that are given to the device as one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReadRequest {
    pub(super) first: PageId,
    pub(super) pages: u32,
    pub(super) purpose: Purpose,
    thread: Option<usize>,
}

impl ReadRequest {
    /// A page that its thread reads itself.
    pub(super) fn own(page: PageId, purpose: Purpose) -> Self {
        Self { first: page, pages: 1, purpose, thread: None }
    }
}

/// A thread that reads.
#[derive(Debug, Default)]
struct Reader {
    /// The oldest first.
    queue: VecDeque<Waiting>,
    is_busy: bool,
}

/// A page that waits for its thread.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    page: PageId,
    purpose: Purpose,
    since: SimTime,
}

impl Readers {
    pub(super) fn new(threads: u32, queue_pages: u32, join_pages: u32, area_pages: u32) -> Self {
        Self {
            under_way: UnderWay::new(),
            threads: (0..threads).map(|_| Reader::default()).collect(),
            join_pages: join_pages.max(1),
            area_pages,
            queue_pages: queue_pages as usize,
            queued: 0,
        }
    }

    /// When the first request under way is done.
    #[inline]
    pub(super) fn next_done(&self) -> SimTime {
        self.under_way.next_done()
    }

    /// Adjacent pages that the device gets now; `None` if they have to [`queue`](Self::queue).
    pub(super) fn direct(
        &self,
        first: PageId,
        pages: u32,
        purpose: Purpose,
    ) -> Option<ReadRequest> {
        let native = self.threads.is_empty();
        native.then_some(ReadRequest { first, pages, purpose, thread: None })
    }

    /// A page waits for the thread of its area; [`next`](Self::next) has it when that is free.
    pub(super) fn queue(&mut self, now: SimTime, page: PageId, purpose: Purpose) {
        let thread = (page.0 / self.area_pages) as usize % self.threads.len();
        self.threads[thread].queue.push_back(Waiting { page, purpose, since: now });
        self.queued += 1;
    }

    /// Whether so much waits that who asked for it has to wait as well.
    pub(super) fn is_full(&self) -> bool {
        self.queue_pages < self.queued
    }

    /// The next request of a thread that is free.
    pub(super) fn next(&mut self, now: SimTime) -> Option<ReadRequest> {
        let free = |reader: &Reader| !reader.is_busy && !reader.queue.is_empty();
        let thread = self.threads.iter().position(free)?;
        let reader = &mut self.threads[thread];
        reader.is_busy = true;
        let oldest = *reader.queue.front()?;
        let lowest = *reader.queue.iter().min_by_key(|waiting| waiting.page)?;
        let Waiting { page: first, purpose, .. } =
            if OLD <= now.since(oldest.since) { oldest } else { lowest };
        let mut pages = 0;
        while pages < self.join_pages
            && let Some(place) =
                reader.queue.iter().position(|other| other.page.0 == first.0 + pages)
        {
            reader.queue.remove(place);
            pages += 1;
        }
        Some(ReadRequest { first, pages, purpose, thread: Some(thread) })
    }

    /// The device has taken a request.
    pub(super) fn started(&mut self, request: ReadRequest, done: SimTime) {
        let ReadRequest { first, pages, thread, .. } = request;
        self.under_way.push(done, Reading { first, pages, thread });
    }

    /// Takes a request that is done at `now`, and tells when it was; its thread is free again.
    pub(super) fn take_done(&mut self, now: SimTime) -> Option<(SimTime, Reading)> {
        let (done, reading) = self.under_way.take_done(now)?;
        if let Some(thread) = reading.thread {
            self.threads[thread].is_busy = false;
            self.queued -= reading.pages as usize;
        }
        Some((done, reading))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PURPOSE: Purpose = Purpose::MergeRead;

    fn ms(ms: u64) -> SimTime {
        SimTime::ZERO + SimDuration::from_ms(ms)
    }

    /// Pages wait for one thread; it takes them up, each read taking 10 ms.
    fn order(readers: &mut Readers, from: SimTime) -> Vec<(u32, u32)> {
        let (mut now, mut order) = (from, Vec::new());
        while let Some(request) = readers.next(now) {
            order.push((request.first.0, request.pages));
            now += SimDuration::from_ms(10);
            readers.started(request, now);
            assert!(readers.next(now).is_none(), "one at a time");
            assert_eq!(
                readers.take_done(now).map(|(_, reading)| reading.first),
                Some(request.first)
            );
        }
        order
    }

    #[test]
    fn a_thread_reads_the_lowest_page_with_all_that_are_adjacent() {
        let mut readers = Readers::new(1, 256, 64, 64);
        for page in [900, 12, 500, 11, 10] {
            readers.queue(ms(0), PageId(page), PURPOSE);
        }
        assert_eq!(order(&mut readers, ms(0)), [(10, 3), (500, 1), (900, 1)]);
    }

    #[test]
    fn what_has_waited_for_two_seconds_goes_first() {
        let mut readers = Readers::new(1, 256, 64, 64);
        readers.queue(ms(0), PageId(900), PURPOSE);
        readers.queue(ms(1_995), PageId(10), PURPOSE);
        readers.queue(ms(1_995), PageId(20), PURPOSE);
        assert_eq!(order(&mut readers, ms(1_995)), [(10, 1), (900, 1), (20, 1)]);
    }

    #[test]
    fn each_area_has_its_thread_and_the_queue_an_end() {
        let mut readers = Readers::new(2, 4, 64, 64);
        for page in [0, 64, 2, 66] {
            readers.queue(ms(0), PageId(page), PURPOSE);
        }
        assert!(!readers.is_full());
        readers.queue(ms(0), PageId(130), PURPOSE);
        assert!(readers.is_full());
        let both = [readers.next(ms(0)), readers.next(ms(0))];
        assert_eq!(both.map(|request| request.map(|r| r.first.0)), [Some(0), Some(64)]);
        assert!(readers.next(ms(0)).is_none(), "both are busy");
        readers.started(both[0].unwrap(), ms(5));
        assert!(readers.take_done(ms(4)).is_none());
        assert!(readers.take_done(ms(5)).is_some());
        assert!(!readers.is_full(), "four are left");
        assert!(Readers::new(0, 2, 64, 64).direct(PageId(1), 3, PURPOSE).is_some(), "native");
    }
}
