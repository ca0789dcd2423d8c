//! The changes that wait, by the page they wait for: row numbers, and what happens to them.

use bytemuck::{Pod, Zeroable};
use cost_model::{HugeVec, PageId};

/// Entries in a chunk; with what they do and the link they fill a cache line.
const CHUNK: usize = 14;
const NONE: u32 = u32::MAX;

/// What waits for one page.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Waiting {
    newest: u32,
    entries: u16,
    /// Those of them that insert.
    inserts: u16,
    index: u16,
    reserved: u16,
}

/// What a change that waits does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Insert,
    Mark,
    Remove,
}

impl Op {
    const ALL: [Self; 3] = [Self::Insert, Self::Mark, Self::Remove];
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Chunk {
    rows: [u32; CHUNK],
    /// Two bits for each.
    ops: u32,
    older: u32,
}

/// See the module's documentation.
pub(crate) struct Pending {
    pages: HugeVec<Waiting>,
    chunks: HugeVec<Chunk>,
    free_chunk: u32,
    entries: u64,
}

impl Pending {
    pub(crate) fn new(pages: usize) -> Self {
        Self {
            pages: HugeVec::with_capacity(pages),
            chunks: HugeVec::with_capacity(1 << 10),
            free_chunk: NONE,
            entries: 0,
        }
    }

    /// Entries that wait for a page.
    #[inline]
    pub(crate) fn count(&self, page: PageId) -> u16 {
        (*self.pages).get(page.index()).map_or(0, |waiting| waiting.entries)
    }

    /// The index of the entries that wait for a page, if any do.
    #[inline]
    pub(crate) fn index(&self, page: u32) -> Option<u16> {
        let waiting = (*self.pages).get(page as usize)?;
        (0 < waiting.entries).then_some(waiting.index)
    }

    /// Entries that wait for a page to be inserted.
    pub(crate) fn inserts(&self, page: PageId) -> u16 {
        (*self.pages).get(page.index()).map_or(0, |waiting| waiting.inserts)
    }

    /// By how many entries the leaves of an index will grow: for checks.
    pub(crate) fn growth(&self, index: u16) -> i64 {
        let mut growth = 0;
        for (page, waiting) in self.pages.iter().enumerate() {
            if waiting.index == index {
                self.for_each(PageId(page as u32), |_, op| match op {
                    Op::Insert => growth += 1,
                    Op::Mark => {}
                    Op::Remove => growth -= 1,
                });
            }
        }
        growth
    }

    /// The change of a row that came last, of those that wait for a page.
    pub(crate) fn last(&self, page: PageId, row: u32) -> Option<Op> {
        let mut last = None;
        self.for_each(page, |other, op| {
            if other == row {
                last = Some(op);
            }
        });
        last
    }

    /// How many records a page will have at least when all is done that waits for it, by what
    /// waits alone: each that was inserted or marked is there until it is removed (`MySQL` 5.5
    /// source, ibuf0ibuf.c: `ibuf_get_volume_buffered_count`).
    pub(crate) fn records_min(&self, page: PageId) -> i64 {
        let (mut there, mut removed) = (Vec::new(), 0);
        self.for_each(page, |row, op| match op {
            Op::Insert | Op::Mark => there.push(row),
            Op::Remove => removed += 1,
        });
        there.sort_unstable();
        there.dedup();
        there.len().cast_signed() as i64 - removed
    }

    /// All entries that wait.
    pub(crate) fn total(&self) -> u64 {
        self.entries
    }

    /// Loads the processor's caches with what a push for a page needs, in two rounds, the second
    /// for a page that something waits for.
    pub(crate) fn prefetch(&self, page: PageId, round: u32) {
        match round {
            0 => self.pages.prefetch(page.index()),
            _ => self.chunks.prefetch(self.pages[page.index()].newest as usize),
        }
    }

    /// A change waits for a page.
    pub(crate) fn push(&mut self, page: PageId, index: u16, op: Op, row: u32) {
        if self.pages.len() <= page.index() {
            self.pages.extend_to(page.index() + 64, Waiting::zeroed());
        }
        let Waiting { newest, entries, inserts, .. } = self.pages[page.index()];
        let slot = entries as usize % CHUNK;
        let newest = match slot {
            0 => self.new_chunk(if entries == 0 { NONE } else { newest }),
            _ => newest,
        };
        let chunk = &mut self.chunks[newest as usize];
        chunk.rows[slot] = row;
        chunk.ops = chunk.ops & !(3 << (2 * slot)) | (op as u32) << (2 * slot);
        let inserts = inserts + u16::from(op == Op::Insert);
        let entries = entries + 1;
        self.pages[page.index()] = Waiting { newest, entries, inserts, index, reserved: 0 };
        self.entries += 1;
    }

    /// Calls `visit` with every change that waits for a page, in the order in which they came.
    pub(crate) fn for_each(&self, page: PageId, mut visit: impl FnMut(u32, Op)) {
        let entries = self.count(page) as usize;
        if 0 < entries {
            self.visit_in_order(self.pages[page.index()].newest, entries, &mut visit);
        }
    }

    /// Visits the changes of a chunk, of which so many are in it and in older ones, after those.
    fn visit_in_order(&self, chunk: u32, entries: usize, visit: &mut impl FnMut(u32, Op)) {
        let used = (entries - 1) % CHUNK + 1;
        let chunk = &self.chunks[chunk as usize];
        if used < entries {
            self.visit_in_order(chunk.older, entries - used, visit);
        }
        for (slot, row) in chunk.rows[..used].iter().enumerate() {
            visit(*row, Op::ALL[(chunk.ops >> (2 * slot) & 3) as usize]);
        }
    }

    /// Nothing waits for a page any more.
    pub(crate) fn clear(&mut self, page: PageId) {
        let Waiting { newest: mut chunk, entries, .. } = self.pages[page.index()];
        for _ in 0..(entries as usize).div_ceil(CHUNK) {
            let older = self.chunks[chunk as usize].older;
            self.chunks[chunk as usize].older = self.free_chunk;
            self.free_chunk = chunk;
            chunk = older;
        }
        (self.pages[page.index()].entries, self.pages[page.index()].inserts) = (0, 0);
        self.entries -= u64::from(entries);
    }

    fn new_chunk(&mut self, older: u32) -> u32 {
        match self.free_chunk {
            NONE => {
                self.chunks.push(Chunk { rows: [0; CHUNK], ops: 0, older });
                self.chunks.len() as u32 - 1
            }
            chunk => {
                self.free_chunk = self.chunks[chunk as usize].older;
                self.chunks[chunk as usize].older = older;
                chunk
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_and_their_chunks_are_used_again() {
        let mut pending = Pending::new(8);
        let (one, other) = (PageId(3), PageId(70));
        for row in 0..40 {
            pending.push(one, 1, Op::ALL[row as usize % 3], row);
            pending.push(other, 2, Op::Insert, 100 + row);
        }
        let mut rows = Vec::new();
        pending.for_each(one, |row, op| rows.push((row, op)));
        assert_eq!(rows, (0..40).map(|row| (row, Op::ALL[row as usize % 3])).collect::<Vec<_>>());
        assert_eq!((pending.inserts(one), pending.growth(1)), (14, 14 - 13));
        assert_eq!((pending.last(one, 7), pending.last(one, 40)), (Some(Op::Mark), None));
        assert_eq!((pending.count(one), pending.index(70), pending.total()), (40, Some(2), 80));
        let chunks = pending.chunks.len();
        pending.clear(one);
        assert_eq!((pending.count(one), pending.index(3), pending.total()), (0, None, 40));
        (0..42).for_each(|row| pending.push(PageId(9), 0, Op::Insert, row));
        assert_eq!(pending.chunks.len(), chunks, "42 entries take three chunks, as 40 did");
    }

    #[test]
    fn what_waits_tells_how_many_records_there_will_be_at_least() {
        let (mut pending, page) = (Pending::new(8), PageId(0));
        let changes = [(Op::Insert, 1), (Op::Mark, 1), (Op::Mark, 2), (Op::Mark, 3)];
        for (op, row) in changes {
            pending.push(page, 1, op, row);
        }
        assert_eq!(pending.records_min(page), 3, "1, 2 and 3 are there");
        pending.push(page, 1, Op::Remove, 1);
        assert_eq!(pending.records_min(page), 2, "1 will be gone");
        pending.push(page, 1, Op::Remove, 9);
        assert_eq!(pending.records_min(page), 1, "9 may have been the only other one");
    }
}
