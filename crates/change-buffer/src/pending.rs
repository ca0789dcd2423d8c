//! The entries that wait, by the page they wait for: their row numbers.

use bytemuck::{Pod, Zeroable};
use cost_model::{HugeVec, PageId};

/// Row numbers in a chunk; with the link it fills a cache line.
const CHUNK: usize = 15;
const NONE: u32 = u32::MAX;

/// What waits for one page.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Waiting {
    newest: u32,
    entries: u16,
    index: u16,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Chunk {
    rows: [u32; CHUNK],
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

    /// All entries of an index that wait: for checks.
    pub(crate) fn of_index(&self, index: u16) -> u64 {
        let of_index = self.pages.iter().filter(|waiting| waiting.index == index);
        of_index.map(|waiting| u64::from(waiting.entries)).sum()
    }

    /// All entries that wait.
    pub(crate) fn total(&self) -> u64 {
        self.entries
    }

    /// An entry waits for a page.
    pub(crate) fn push(&mut self, page: PageId, index: u16, row: u32) {
        if self.pages.len() <= page.index() {
            self.pages.extend_to(page.index() + 64, Waiting::zeroed());
        }
        let Waiting { newest, entries, .. } = self.pages[page.index()];
        let slot = entries as usize % CHUNK;
        let newest = match slot {
            0 => self.new_chunk(if entries == 0 { NONE } else { newest }),
            _ => newest,
        };
        self.chunks[newest as usize].rows[slot] = row;
        self.pages[page.index()] = Waiting { newest, entries: entries + 1, index };
        self.entries += 1;
    }

    /// Calls `visit` with every row that waits for a page.
    pub(crate) fn for_each(&self, page: PageId, mut visit: impl FnMut(u32)) {
        let mut left = self.count(page) as usize;
        if left == 0 {
            return;
        }
        let mut chunk = self.pages[page.index()].newest;
        while 0 < left {
            let used = (left - 1) % CHUNK + 1;
            let rows = &self.chunks[chunk as usize];
            rows.rows[..used].iter().for_each(|row| visit(*row));
            left -= used;
            chunk = rows.older;
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
        self.pages[page.index()].entries = 0;
        self.entries -= u64::from(entries);
    }

    fn new_chunk(&mut self, older: u32) -> u32 {
        match self.free_chunk {
            NONE => {
                self.chunks.push(Chunk { rows: [0; CHUNK], older });
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
            pending.push(one, 1, row);
            pending.push(other, 2, 100 + row);
        }
        let mut rows = Vec::new();
        pending.for_each(one, |row| rows.push(row));
        rows.sort_unstable();
        assert_eq!(rows, (0..40).collect::<Vec<_>>());
        assert_eq!((pending.count(one), pending.index(70), pending.total()), (40, Some(2), 80));
        let chunks = pending.chunks.len();
        pending.clear(one);
        assert_eq!((pending.count(one), pending.index(3), pending.total()), (0, None, 40));
        (0..45).for_each(|row| pending.push(PageId(9), 0, row));
        assert_eq!(pending.chunks.len(), chunks, "45 entries take three chunks, as 40 did");
    }
}
