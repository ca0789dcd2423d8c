//! Making room: leaves are read so that what waits for them is merged.

use cost_model::{Machine, PageId, Purpose, SimThread};
use index::KeySource;

use crate::buffer::run;
use crate::engine::ChangeBuffered;

impl<K: KeySource> ChangeBuffered<K> {
    /// Merges the group of pages around an entry drawn at random, or those of it whose entries lie
    /// on the same page of the buffer. Returns the pages that are read for it.
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
        machine.read_ahead(thread, &pages, Purpose::MergeRead, waits)
    }

    /// Merges about so many pages, without waiting.
    pub(crate) fn merge_pages(
        &mut self,
        machine: &mut Machine,
        thread: &mut SimThread,
        pages: u32,
    ) -> u32 {
        let mut read = 0;
        while read < pages && 0 < self.buffer.pending.total() {
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

#[cfg(test)]
mod tests {
    use cost_model::{Draw, PageId};

    use crate::buffer::run;
    use crate::pending::{Op, Pending};
    use crate::runs::{Entry, Runs, Sizes};

    const ENTRY: u32 = 60;
    const DATA_PAGES: u32 = 3_000;

    /// A buffer with so many entries, each for a data page drawn uniformly.
    fn filled(entries: u32) -> (Pending, Runs, Draw) {
        let sizes = Sizes {
            usable: 16_247,
            directory_halves: 1,
            reorganize_limit: 512,
            reserve: 1_024,
            join_below: 8_192,
            join_right: false,
            fan_out: 230,
        };
        let mut pending = Pending::new(DATA_PAGES as usize);
        let mut runs = Runs::new(sizes, PageId(0), DATA_PAGES as usize);
        let (mut draw, mut next) = (Draw::new(7, 0), 0);
        let mut allocate = || {
            next += 1;
            PageId(next)
        };
        for row in 0..entries {
            let page = PageId(draw.below(u64::from(DATA_PAGES)) as u32);
            let place = u32::from(pending.count(page));
            let entry = Entry { page, place };
            let mut leaf = runs.leaf_for(entry);
            if !runs.fits(leaf, entry, ENTRY, |page| run(&pending, &[ENTRY], page)) {
                let new = allocate();
                runs.split(
                    leaf,
                    (entry, ENTRY),
                    new,
                    |page| run(&pending, &[ENTRY], page),
                    &mut allocate,
                );
                leaf = runs.leaf_for(entry);
            }
            runs.add(leaf, entry, ENTRY);
            pending.push(page, 0, Op::Insert, row);
        }
        runs.verify(|page| run(&pending, &[ENTRY], page), u64::from(entries));
        (pending, runs, draw)
    }

    /// A page found through an entry drawn at random has one entry more than the average page:
    /// pages with many are found more often (1 + K/n for K entries of n pages).
    #[test]
    fn a_page_found_through_an_entry_has_one_more_than_the_average() {
        for mean in [1, 5, 20] {
            let (pending, runs, mut draw) = filled(mean * DATA_PAGES);
            let draws = 20_000;
            let mut found = 0;
            for _ in 0..draws {
                let (_, page) = runs
                    .random(&mut draw, |page| run(&pending, &[ENTRY], page))
                    .expect("there are entries");
                found += u32::from(pending.count(PageId(page)));
            }
            let found = f64::from(found) / f64::from(draws);
            let expected = 1.0 + f64::from(mean);
            assert!((found / expected - 1.0).abs() < 0.03, "{found:.2} against {expected}");
        }
    }

    /// Pages of a tree that grows at random are between half full and full, as any B+tree's.
    #[test]
    fn its_pages_are_filled_like_those_of_any_tree() {
        let (_, runs, _) = filled(60_000);
        let fill = f64::from(60_000 * ENTRY) / f64::from(runs.pages() * 16_247);
        assert!((0.55..0.85).contains(&fill), "{fill:.3}");
    }
}
