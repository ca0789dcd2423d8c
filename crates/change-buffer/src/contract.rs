//! Making room: leaves are read so that what waits for them is merged.

use cost_model::{Machine, PageId, Purpose, SimThread};
use index::KeySource;

use crate::buffer::run;
use crate::engine::ChangeBuffered;

impl<K: KeySource> ChangeBuffered<K> {
    /// Merges the group of pages around an entry drawn at random, or those of it whose entries lie
    /// on the same page of the buffer. Returns the pages that were asked for, those on
    /// their way already included.
    pub(crate) fn contract(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        waits: bool,
    ) -> u32 {
        let buffer = &mut self.buffer;
        let (pending, sizes) = (&buffer.pending, &buffer.entry_bytes);
        let Some((leaf, page)) =
            buffer.runs.random(&mut buffer.draw, |page| run(pending, sizes, page))
        else {
            return 0;
        };
        let group = buffer.config.group_pages;
        let first = page / group * group;
        let pages: Vec<PageId> = buffer
            .runs
            .shares(leaf, |page| run(pending, sizes, page))
            .map(|(page, _)| PageId(page))
            .filter(|page| (first..first + group).contains(&page.0))
            .collect();
        machine.read_ahead(thread, &pages, Purpose::MergeRead, waits);
        pages.len() as u32
    }

    /// Merges about so many pages, without waiting.
    pub(crate) fn merge_pages(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        pages: u32,
    ) -> u32 {
        let mut read = 0;
        while read < pages && 0 < self.buffer.pending.total() && !machine.readers_are_full() {
            match self.contract(machine, thread, false) {
                0 => break,
                more => read += more,
            }
        }
        read
    }

    /// An insert was refused for lack of space on its leaf: the other pages of the group with much
    /// waiting for them are read too.
    pub(crate) fn merge_group(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        leaf: PageId,
    ) {
        let group = self.buffer.config.group_pages;
        let first = leaf.0 / group * group;
        let much = self.buffer.config.group_volume;
        let pages: Vec<PageId> = (first..first + group)
            .map(PageId)
            .filter(|page| *page != leaf && much < self.buffer.volume(*page))
            .collect();
        machine.read_ahead(thread, &pages, Purpose::MergeRead, false);
    }
}
