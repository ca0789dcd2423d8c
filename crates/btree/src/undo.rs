//! The undo log: what transactions write so that they can be undone, and what a purge reads to
//! know which entries it has to remove.
//!
//! A transaction has a log of its own for each kind of record: a chain of pages in the same pool
//! and file as the trees. When it ends, a log that nobody needs any more is freed, the others join
//! the history in the order of commits. A log that has used little of its only page leaves the
//! page to the next transaction's (`MySQL` 5.1 source, trx0undo.c).

use std::collections::VecDeque;

use cost_model::{Machine, PageId, Purpose, SimThread, Step};
use index::{HistoryStats, IndexId, RowId};

use crate::space::{Direction, SegmentId, Space};

/// The rules of an undo log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoConfig {
    /// Bytes of a page that records can take.
    pub page_usable: u32,
    /// Bytes of the record of a deleted row: its header, and all columns that are in an index.
    pub delete: u32,
    /// A log of one page with at most so many bytes used leaves it to the next log.
    pub reuse_below: u32,
    /// Whether the records of inserts wait for the purge too (`MariaDB` since 10.3); else they
    /// are freed when the transaction ends.
    pub keeps_inserts: bool,
}

/// Bytes of the record of an inserted row beside its primary key: type, number (two bytes for most
/// rows of a long statement), table, length of the key (`MySQL` 5.1 source, trx0rec.c).
pub(crate) const INSERT: u32 = 5;

/// Bytes by which records on a page point to each other (trx0rec.c).
const LINKS: u32 = 4;

/// What is undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Insert,
    Delete,
}

/// A record as the log sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub(crate) kind: Kind,
    /// The clustered index and the row.
    pub(crate) index: IndexId,
    pub(crate) row: u32,
    /// Bytes of it, and of what the redo log has of it.
    pub(crate) bytes: u32,
    pub(crate) logged: u64,
}

/// Rows that were deleted one after the other.
#[derive(Clone, Copy, Debug)]
struct Run {
    index: IndexId,
    first: u32,
    rows: u32,
}

/// The records of one log on one page.
#[derive(Debug)]
struct Part {
    page: u32,
    deleted: Vec<Run>,
}

#[derive(Debug)]
struct Log {
    transaction: u32,
    kind: Kind,
    parts: Vec<Part>,
    /// The row of the last record: a change that is tried again has written its own.
    last: Option<(IndexId, u32)>,
}

#[derive(Debug)]
struct UndoPage {
    page: PageId,
    used: u32,
    /// Logs with records on it.
    logs: u32,
    is_cached: bool,
}

/// What a purge does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next<T> {
    /// Nothing: there is no history.
    Nothing,
    /// A page of the undo log, or a whole log, was done with.
    Log,
    /// This entry is to be removed.
    Entry(T),
}

impl<T> Next<T> {
    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Next<U> {
        match self {
            Self::Nothing => Next::Nothing,
            Self::Log => Next::Log,
            Self::Entry(entry) => Next::Entry(change(entry)),
        }
    }
}

/// How far the purge is in the oldest log of the history.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    part: usize,
    run: usize,
    row: u32,
    /// Whether the page of the record has been looked at.
    is_read: bool,
    /// Entries of the row that are done.
    entries: u16,
}

/// The undo logs of an engine.
#[derive(Debug)]
pub(crate) struct UndoLogs {
    config: UndoConfig,
    segment: SegmentId,
    pages: Vec<UndoPage>,
    free: Vec<u32>,
    /// Pages that the next log of a kind begins on.
    cached: [Vec<u32>; 2],
    active: Vec<Log>,
    history: VecDeque<Log>,
    history_rows: u64,
    at: Cursor,
}

impl UndoLogs {
    pub(crate) fn new(config: UndoConfig, space: &mut Space) -> Self {
        Self {
            config,
            segment: space.new_segment(),
            pages: Vec::new(),
            free: Vec::new(),
            cached: [Vec::new(), Vec::new()],
            active: Vec::new(),
            history: VecDeque::new(),
            history_rows: 0,
            at: Cursor::default(),
        }
    }

    /// Bytes of the record of a deleted row.
    pub(crate) fn delete_bytes(&self) -> u32 {
        self.config.delete
    }

    /// Writes a record for the transaction of a thread, before what it undoes is done; once, however
    /// often that is tried.
    #[inline]
    pub(crate) fn write(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        space: &mut Space,
        record: Record,
    ) -> Step {
        let transaction = thread.transaction.unwrap_or_default();
        let known = |log: &Log| (log.transaction, log.kind) == (transaction, record.kind);
        let at = match self.active.iter().position(known) {
            Some(at) => at,
            None => self.begin(transaction, record.kind),
        };
        if self.active[at].last == Some((record.index, record.row)) {
            return Ok(());
        }
        let bytes = record.bytes + LINKS;
        let current = self.active[at].parts.last().map(|part| part.page);
        let fits = |page: &u32| self.pages[*page as usize].used + bytes <= self.config.page_usable;
        if let Some(page) = current.filter(fits) {
            let page = self.pages[page as usize].page;
            let frame = machine.fetch_for_change(thread, page, Purpose::UndoRead)?;
            machine.log(record.logged);
            machine.change(thread, frame);
        } else {
            machine.reserve(thread, 1)?;
            machine.log(record.logged);
            let near = current.map_or(PageId(0), |page| self.pages[page as usize].page);
            let page = space.allocate(self.segment, PageId(near.0 + 1), Direction::Up);
            machine.create(thread, page);
            let page = self.add_page(page);
            self.active[at].parts.push(Part { page, deleted: Vec::new() });
        }
        let log = &mut self.active[at];
        log.last = Some((record.index, record.row));
        let part = log.parts.last_mut().expect("a log has a page");
        self.pages[part.page as usize].used += bytes;
        if record.kind == Kind::Delete {
            part.add(record.index, record.row);
        }
        Ok(())
    }

    fn begin(&mut self, transaction: u32, kind: Kind) -> usize {
        let mut parts = Vec::new();
        if let Some(page) = self.cached[kind as usize].pop() {
            let cached = &mut self.pages[page as usize];
            cached.is_cached = false;
            cached.logs += 1;
            parts.push(Part { page, deleted: Vec::new() });
        }
        self.active.push(Log { transaction, kind, parts, last: None });
        self.active.len() - 1
    }

    fn add_page(&mut self, page: PageId) -> u32 {
        let page = UndoPage { page, used: 0, logs: 1, is_cached: false };
        if let Some(number) = self.free.pop() {
            self.pages[number as usize] = page;
            number
        } else {
            self.pages.push(page);
            self.pages.len() as u32 - 1
        }
    }

    /// The transaction of a thread ends.
    pub(crate) fn end(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        space: &mut Space,
    ) -> Step {
        let transaction = thread.transaction.unwrap_or_default();
        while let Some(at) = self.active.iter().position(|log| log.transaction == transaction) {
            let (kind, parts) = (self.active[at].kind, self.active[at].parts.len());
            let keeps = kind == Kind::Delete || self.config.keeps_inserts;
            // The header on the first page says what becomes of the log.
            if let Some(first) = self.active[at].parts.first() {
                let header = self.pages[first.page as usize].page;
                let frame = machine.fetch_for_change(thread, header, Purpose::UndoRead)?;
                machine.change(thread, frame);
                let number = first.page;
                let page = &mut self.pages[number as usize];
                if parts == 1 && page.used <= self.config.reuse_below && !page.is_cached {
                    page.is_cached = true;
                    page.used = if keeps { page.used } else { 0 };
                    self.cached[kind as usize].push(number);
                }
            }
            if keeps && 0 < parts {
                let log = self.active.swap_remove(at);
                self.history_rows += log.rows();
                self.history.push_back(log);
                continue;
            }
            while let Some(part) = self.active[at].parts.last() {
                self.leave(machine, thread, space, part.page)?;
                self.active[at].parts.pop();
            }
            self.active.swap_remove(at);
        }
        Ok(())
    }

    /// A log leaves a page, which is freed if it was the last one; what is in the pool of it is not
    /// written any more.
    fn leave(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        space: &mut Space,
        number: u32,
    ) -> Step {
        let UndoPage { page, logs, is_cached, .. } = self.pages[number as usize];
        if logs == 1 && !is_cached {
            if machine.resident(page).is_some() {
                machine.fetch_for_change(thread, page, Purpose::UndoRead)?;
                machine.discard(page);
            }
            space.free(self.segment, page);
            self.free.push(number);
        }
        self.pages[number as usize].logs -= 1;
        Ok(())
    }

    /// Goes on in the oldest log of the history: tells the row that is to be purged next, by its
    /// clustered index, and how many of its entries are done, or passes on to the next page, or
    /// frees the log.
    pub(crate) fn next(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        space: &mut Space,
    ) -> Step<Next<(IndexId, RowId, u16)>> {
        let Some(log) = self.history.front() else { return Ok(Next::Nothing) };
        let Some(part) = log.parts.get(self.at.part) else {
            while let Some(part) = self.history[0].parts.last() {
                self.leave(machine, thread, space, part.page)?;
                self.history[0].parts.pop();
            }
            self.history.pop_front();
            self.at = Cursor::default();
            return Ok(Next::Log);
        };
        if !self.at.is_read {
            let page = self.pages[part.page as usize].page;
            let frame = machine.fetch(thread, page, Purpose::UndoRead)?;
            machine.touch(thread, frame);
            self.at.is_read = true;
        }
        let Some(run) = part.deleted.get(self.at.run) else {
            self.at = Cursor { part: self.at.part + 1, ..Cursor::default() };
            return Ok(Next::Log);
        };
        let row = RowId(u64::from(run.first + self.at.row));
        Ok(Next::Entry((run.index, row, self.at.entries)))
    }

    /// An entry of the row is done; of those it has, it may have been the last.
    pub(crate) fn advance(&mut self, is_last: bool) {
        self.at.entries += 1;
        if !is_last {
            return;
        }
        (self.at.entries, self.at.is_read) = (0, false);
        self.history_rows -= 1;
        self.at.row += 1;
        if self.history[0].parts[self.at.part].deleted[self.at.run].rows == self.at.row {
            (self.at.run, self.at.row) = (self.at.run + 1, 0);
        }
    }

    /// Whether a page is one of the logs', for reports: they are searched one by one.
    pub(crate) fn has(&self, page: PageId) -> bool {
        let in_use = |known: &&UndoPage| 0 < known.logs || known.is_cached;
        self.pages.iter().filter(in_use).any(|known| known.page == page)
    }

    pub(crate) fn stats(&self) -> HistoryStats {
        HistoryStats {
            transactions: self.history.len() as u64,
            rows: self.history_rows,
            undo_pages: (self.pages.len() - self.free.len()) as u64,
        }
    }

    /// Panics if the logs contradict themselves: for tests.
    pub(crate) fn verify(&self, space: &Space) {
        let mut logs = vec![0; self.pages.len()];
        // Of a log that is being freed, some pages may be gone.
        for part in self.active.iter().chain(&self.history).flat_map(|log| &log.parts) {
            logs[part.page as usize] += 1;
        }
        for (number, page) in self.pages.iter().enumerate() {
            if self.free.contains(&(number as u32)) {
                continue;
            }
            assert_eq!(page.logs, logs[number], "logs on undo page {:?}", page.page);
            assert!(page.used <= self.config.page_usable, "{:?} is overfull", page.page);
            assert!(space.is_used(page.page), "{:?} is allocated", page.page);
            assert!(0 < page.logs || page.is_cached, "{:?} is forgotten", page.page);
        }
    }
}

impl Part {
    fn add(&mut self, index: IndexId, row: u32) {
        match self.deleted.last_mut() {
            Some(run) if (run.index, run.first + run.rows) == (index, row) => run.rows += 1,
            _ => self.deleted.push(Run { index, first: row, rows: 1 }),
        }
    }
}

impl Log {
    fn rows(&self) -> u64 {
        self.parts.iter().flat_map(|part| &part.deleted).map(|run| u64::from(run.rows)).sum()
    }
}
