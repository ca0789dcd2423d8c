//! What a statement writes when it ends, in engines without a log of their own.
//!
//! Rules from `MySQL` 5.1 source, `mi_locking.c`, `mi_statrec.c` and `mf_keycache.c`: when a
//! table's lock is given back, every index page that the statement changed is written to its file,
//! in the order of their places, by one system call each; so is the state of the table at the head
//! of the index file. Nothing is synced. One statement at a time has the table, so the dirty pages
//! of the pool are those of the statement that ends.

use super::Machine;
use crate::os_cache::File;
use crate::{Bytes, Cause, Lsn, SimThread, SimTime, Step};

/// Rows that a statement has stored apart from all indexes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredRows {
    /// Their bytes, which lie at the end of the file of the rows.
    pub bytes: Bytes,
    /// System calls that write them.
    pub calls: u64,
}

impl Machine {
    /// Writes what a statement has changed to the page cache of the operating system, if that is
    /// the engine's way.
    ///
    /// # Errors
    /// [`Blocked`](crate::Blocked) until the cache has taken all of it.
    pub fn end_statement(&mut self, thread: &mut SimThread, rows: StoredRows) -> Step {
        let Some(header) = self.config.statement_header else { return Ok(()) };
        let (until, cause) = if let Some(ends) = thread.statement_ends {
            ends
        } else {
            self.begin(thread)?;
            let ends = self.write_statement(thread, rows, header);
            *thread.statement_ends.insert(ends)
        };
        self.wait(thread, until, cause)?;
        thread.statement_ends = None;
        thread.in_turn()
    }

    /// The writes of a statement; tells until when its thread waits, and for what.
    fn write_statement(
        &mut self,
        thread: &mut SimThread,
        rows: StoredRows,
        header: Bytes,
    ) -> (SimTime, Cause) {
        let (now, page_size) = (thread.now(), self.config.page_size);
        let mut there = self.write_cached(now, File::Rows, self.rows_end, rows.bytes.get());
        self.rows_end += rows.bytes.get();
        let mut frames = Vec::new();
        for instance in 0..self.config.pool.instances as usize {
            let mut at = None;
            while let Some(frame) = self.pool.next_dirty(instance, at, Lsn::MAX) {
                frames.push((self.pool.page_of(frame), frame));
                at = Some(frame);
            }
        }
        frames.sort_unstable_by_key(|(page, _)| *page);
        for (page, frame) in &frames {
            let offset = u64::from(page.0) * page_size.get();
            there = there.max(self.write_cached(now, File::Pages, offset, page_size.get()));
            self.pool.write_done(*frame);
            self.note(now, |_| super::Event::Write(*page, 1));
        }
        there = there.max(self.write_cached(now, File::Pages, 0, header.get()));
        let throttled =
            if self.is_cache_full_of_changes() { self.write_old_cached(now) } else { None };
        let pages = frames.len() as u64;
        let copied = self.copy_time(rows.bytes + page_size * pages + header);
        let calls = self.config.prices.write_call * (rows.calls + pages + 1);
        self.compute(thread, calls + copied);
        match throttled {
            Some(until) if there < until => (until, Cause::Flush),
            _ => (there, Cause::Read),
        }
    }
}
