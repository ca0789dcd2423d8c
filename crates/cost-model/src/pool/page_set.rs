//! A set of pages: a bit for each page of the file.

use std::ops::Range;

use crate::PageId;

const WORD: u32 = u64::BITS;

/// See the module's documentation.
#[derive(Default)]
pub(super) struct PageSet {
    words: Vec<u64>,
}

impl PageSet {
    /// Makes room for the pages below `pages`.
    pub(super) fn extend_to(&mut self, pages: usize) {
        self.words.resize(pages.div_ceil(WORD as usize).max(self.words.len()), 0);
    }

    #[inline]
    pub(super) fn insert(&mut self, page: PageId) {
        self.words[(page.0 / WORD) as usize] |= 1 << (page.0 % WORD);
    }

    #[inline]
    pub(super) fn remove(&mut self, page: PageId) {
        self.words[(page.0 / WORD) as usize] &= !(1 << (page.0 % WORD));
    }

    /// The members of a range, in order.
    #[inline]
    pub(super) fn within(&self, range: Range<u32>) -> impl Iterator<Item = PageId> {
        let (first, last) = (range.start / WORD, range.end.div_ceil(WORD));
        (first..last).flat_map(move |number| {
            let start = number * WORD;
            let mut word = self.words.get(number as usize).copied().unwrap_or(0);
            if start < range.start {
                word &= u64::MAX << (range.start - start);
            }
            if range.end - start < WORD {
                word &= !(u64::MAX << (range.end - start));
            }
            std::iter::from_fn(move || {
                let bit = (word != 0).then(|| word.trailing_zeros())?;
                word &= word - 1;
                Some(PageId(start + bit))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_begin_and_end_anywhere() {
        let mut set = PageSet::default();
        set.extend_to(300);
        let members = [0, 63, 64, 70, 127, 128, 200, 299];
        for page in members {
            set.insert(PageId(page));
        }
        set.insert(PageId(65));
        set.remove(PageId(65));
        for start in 0..300 {
            for end in start..320 {
                let within: Vec<_> = set.within(start..end).map(|page| page.0).collect();
                let expected: Vec<_> =
                    members.into_iter().filter(|page| (start..end).contains(page)).collect();
                assert_eq!(within, expected, "{start}..{end}");
            }
        }
    }
}
