//! Writes on their way to the device: by native asynchronous I/O all at once, or through threads
//! that write one request at a time, lowest place first, joining adjacent pages.
//!
//! Rules from `MySQL` 5.1 source, os0file.c (simulated asynchronous I/O).

use std::collections::VecDeque;

use super::batches::BatchId;
use super::under_way::UnderWay;
use crate::{PageId, SimTime};

/// Pages that are being written, and those that wait for a thread that writes.
#[derive(Debug)]
pub(super) struct Writers {
    under_way: UnderWay<Writing>,
    threads: Vec<Writer>,
    join_pages: u32,
    area_pages: u32,
}

/// A request under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Writing {
    pub(super) first: PageId,
    pub(super) pages: u32,
    pub(super) batch: BatchId,
    /// The thread that writes it; none with native asynchronous I/O.
    thread: Option<u32>,
}

/// A thread that writes.
#[derive(Debug, Default)]
struct Writer {
    /// In the order of places. Batches come in this order, so that a page nearly always goes to
    /// the end.
    queue: VecDeque<(PageId, BatchId)>,
    is_busy: bool,
}

/// Adjacent pages that can be given to the device as one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) first: PageId,
    pub(super) pages: u32,
    pub(super) batch: BatchId,
    thread: Option<u32>,
}

impl Writers {
    pub(super) fn new(threads: u32, join_pages: u32, area_pages: u32) -> Self {
        Self {
            under_way: UnderWay::new(),
            threads: (0..threads).map(|_| Writer::default()).collect(),
            join_pages: join_pages.max(1),
            area_pages,
        }
    }

    /// When the first request under way is done.
    #[inline]
    pub(super) fn next_done(&self) -> SimTime {
        self.under_way.next_done()
    }

    /// Adjacent pages that the device gets now; `None` if they have to [`queue`](Self::queue).
    pub(super) fn direct(&self, first: PageId, pages: u32, batch: BatchId) -> Option<Request> {
        self.threads.is_empty().then_some(Request { first, pages, batch, thread: None })
    }

    /// A page waits for the thread of its area; [`next`](Self::next) has it when that is free.
    /// Tells which batch waited with the same page, which came into being anew since: it need
    /// not be written for that one.
    pub(super) fn queue(&mut self, page: PageId, batch: BatchId) -> Option<BatchId> {
        let thread = (page.0 / self.area_pages) as usize % self.threads.len();
        let queue = &mut self.threads[thread].queue;
        if queue.back().is_none_or(|(last, _)| *last < page) {
            queue.push_back((page, batch));
            return None;
        }
        match queue.binary_search_by_key(&page, |(page, _)| *page) {
            Ok(place) => Some(std::mem::replace(&mut queue[place].1, batch)),
            Err(place) => {
                queue.insert(place, (page, batch));
                None
            }
        }
    }

    /// The next request of a thread that is free.
    pub(super) fn next(&mut self) -> Option<Request> {
        let free = |writer: &Writer| !writer.is_busy && !writer.queue.is_empty();
        let number = self.threads.iter().position(free)?;
        let writer = &mut self.threads[number];
        writer.is_busy = true;
        let (first, batch) = writer.queue.pop_front()?;
        let mut pages = 1;
        while pages < self.join_pages
            && writer.queue.front() == Some(&(PageId(first.0 + pages), batch))
        {
            writer.queue.pop_front();
            pages += 1;
        }
        Some(Request { first, pages, batch, thread: Some(number as u32) })
    }

    /// The device has taken a request.
    pub(super) fn started(&mut self, request: Request, done: SimTime) {
        let Request { first, pages, batch, thread } = request;
        self.under_way.push(done, Writing { first, pages, batch, thread });
    }

    /// Takes a request that is done at `now`, and tells when it was; its thread is free again.
    pub(super) fn take_done(&mut self, now: SimTime) -> Option<(SimTime, Writing)> {
        let (done, writing) = self.under_way.take_done(now)?;
        if let Some(thread) = writing.thread {
            self.threads[thread as usize].is_busy = false;
        }
        Some((done, writing))
    }
}
