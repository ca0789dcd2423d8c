//! The keys between the children of a node, and the search among them.

use index::Key;

/// Keys compared together: two registers of four.
const BLOCK: usize = 8;

/// The last key that may be in each child but the last, ascending.
///
/// A new message is sought in every node on its way, so that the search is most of what an insert
/// computes. It counts the smaller ones of all top halves of words, without a branch, and looks at
/// whole keys only if one of these ties.
pub(crate) struct Pivots {
    keys: Vec<Key>,
    /// The top 32 bits of the keys; all ones beyond the last.
    tops: Vec<[u32; BLOCK]>,
}

impl Pivots {
    pub(crate) fn new(keys: Vec<Key>) -> Self {
        let mut pivots = Self { keys, tops: Vec::new() };
        pivots.index();
        pivots
    }

    #[inline]
    pub(crate) fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// The keys, all of which leave.
    pub(crate) fn take(&mut self) -> Vec<Key> {
        self.tops.clear();
        std::mem::take(&mut self.keys)
    }

    /// Changes the keys.
    pub(crate) fn change<T>(&mut self, change: impl FnOnce(&mut Vec<Key>) -> T) -> T {
        let changed = change(&mut self.keys);
        self.index();
        changed
    }

    /// How many keys are below `key`.
    #[inline]
    pub(crate) fn below(&self, key: Key) -> usize {
        let sought = top(key);
        let (mut below, mut ties) = (0, 0);
        for top in self.tops.as_flattened() {
            below += u32::from(*top < sought);
            ties += u32::from(*top == sought);
        }
        if ties == 0 { below as usize } else { self.keys.partition_point(|pivot| *pivot < key) }
    }

    fn index(&mut self) {
        self.tops.clear();
        for keys in self.keys.chunks(BLOCK) {
            let mut tops = [u32::MAX; BLOCK];
            tops.iter_mut().zip(keys).for_each(|(slot, key)| *slot = top(*key));
            self.tops.push(tops);
        }
    }
}

#[inline]
fn top(key: Key) -> u32 {
    (key.prefix() >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_are_below_as_a_search_says() {
        let key = |top: u32, rest: u32| Key(u128::from(top) << 96 | u128::from(rest));
        let tops = [0, 0, 3, 3, 3, 7, 9, 9, 12, 40, 41, u32::MAX, u32::MAX];
        let all: Vec<Key> = (1..).zip(tops).map(|(rest, top)| key(top, rest)).collect();
        for len in 0..=all.len() {
            let pivots = Pivots::new(all[..len].to_vec());
            for sought in [0, 1, 3, 8, 9, 39, 40, 50, u32::MAX] {
                for rest in 0..16 {
                    let sought = key(sought, rest);
                    let expected = all[..len].iter().filter(|pivot| **pivot < sought).count();
                    assert_eq!(pivots.below(sought), expected, "{len} keys, {sought:?}");
                }
            }
        }
    }
}
