//! Where the bytes of an array lie: stripes over sets, each set one disk or several mirrors.

use std::cmp::Ordering;
use std::ops::Range;

use super::require;
use crate::Draw;

/// How the disks or volumes of an array hold the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Raid {
    /// Striped, no copies. One disk is RAID 0 of one.
    R0,
    /// Every member holds everything.
    R1,
    /// Stripes over mirrored pairs.
    R10,
}

/// More than any array has, so that a slip in a machine file is found.
const MEMBERS_MAX: u32 = 1_024;
/// A stripe above any disk's size only means that the first disk holds everything.
const STRIPE_MAX: u64 = 1 << 40;

/// The mapping from array addresses to members.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    sets: u64,
    mirrors: usize,
    stripe: u64,
}

/// The part of a request that one set holds; on a member it is contiguous, because what lies
/// between two of its stripes belongs to the other sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) set: usize,
    pub(super) start: u64,
    pub(super) len: u64,
}

impl Layout {
    /// Whether `members` can form the array.
    pub(super) fn check(raid: Raid, members: u32, stripe: u64) -> Result<(), &'static str> {
        require((1..=MEMBERS_MAX).contains(&members), "an array has 1 to 1024 disks")?;
        require((1..=STRIPE_MAX).contains(&stripe), "a stripe has 1 byte to 1 TiB")?;
        require(
            raid != Raid::R10 || members.is_multiple_of(2),
            "RAID 10 needs an even number of disks",
        )
    }

    pub(super) fn new(raid: Raid, members: u32, stripe: u64) -> Self {
        let (sets, mirrors) = match raid {
            Raid::R0 => (members, 1),
            Raid::R1 => (1, members),
            Raid::R10 => (members / 2, 2),
        };
        Self { sets: u64::from(sets), mirrors: mirrors as usize, stripe }
    }

    /// Copies of every byte.
    pub(super) fn mirrors(&self) -> usize {
        self.mirrors
    }

    /// The members that hold this set, at least one.
    #[inline]
    pub(super) fn members(&self, set: usize) -> Range<usize> {
        set * self.mirrors..(set + 1) * self.mirrors
    }

    /// The parts of `len` bytes from `offset`, one for each set concerned.
    #[inline]
    pub(super) fn runs(self, offset: u64, len: u64) -> impl Iterator<Item = Run> {
        let (first, within) = (offset / self.stripe, offset % self.stripe);
        let is_one = within + len <= self.stripe;
        let stripes = if is_one { 1 } else { (within + len).div_ceil(self.stripe) };
        (first..first + stripes.min(self.sets)).map(move |stripe| {
            let set = stripe % self.sets;
            let (start, len) = if is_one {
                // Nearly every request: two divisions instead of six.
                (stripe / self.sets * self.stripe + within, len)
            } else {
                let start = self.held(set, offset);
                (start, self.held(set, offset + len) - start)
            };
            Run { set: set as usize, start, len }
        })
    }

    /// How many of the bytes before `address` the set holds.
    #[inline]
    fn held(self, set: u64, address: u64) -> u64 {
        let row = self.sets * self.stripe;
        let rest = (address % row).saturating_sub(set * self.stripe);
        address / row * self.stripe + rest.min(self.stripe)
    }
}

/// The member with the least load; of several the choice is drawn.
#[inline]
pub(super) fn least_loaded(
    loads: impl Iterator<Item = (usize, usize)>,
    draw: &mut Draw,
) -> Option<usize> {
    let (mut best, mut best_load, mut ties) = (None, usize::MAX, 0);
    for (member, load) in loads {
        match load.cmp(&best_load) {
            Ordering::Less => (best, best_load, ties) = (Some(member), load, 1),
            Ordering::Equal => {
                ties += 1;
                if draw.below(ties) == 0 {
                    best = Some(member);
                }
            }
            Ordering::Greater => {}
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(layout: Layout, offset: u64, len: u64) -> Vec<(usize, u64, u64)> {
        layout.runs(offset, len).map(|run| (run.set, run.start, run.len)).collect()
    }

    #[test]
    fn a_request_becomes_one_contiguous_run_per_set() {
        let layout = Layout::new(Raid::R0, 3, 100);
        assert_eq!(runs(layout, 250, 40), [(2, 50, 40)]);
        assert_eq!(runs(layout, 250, 100), [(2, 50, 50), (0, 100, 50)]);
        assert_eq!(runs(layout, 50, 600), [(0, 50, 200), (1, 0, 200), (2, 0, 200)]);
    }

    #[test]
    fn every_byte_has_a_place_of_its_own() {
        let layout = Layout::new(Raid::R10, 6, 7);
        let mut places: Vec<_> = (0..420).flat_map(|byte| runs(layout, byte, 1)).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 420);
        let whole: u64 = layout.runs(13, 399).map(|run| run.len).sum();
        assert_eq!(whole, 399);
    }

    #[test]
    fn mirrors_share_a_set() {
        assert_eq!(Layout::new(Raid::R10, 8, 64).members(3), 6..8);
        assert_eq!(Layout::new(Raid::R1, 3, 64).members(0), 0..3);
        assert_eq!(Layout::new(Raid::R0, 8, 64).members(5), 5..6);
    }

    #[test]
    fn the_least_loaded_member_is_chosen_and_ties_are_shared() {
        let mut draw = Draw::new(1, 0);
        let mut chosen = [0; 4];
        for _ in 0..3_000 {
            let loads = [(0, 2), (1, 1), (2, 1), (3, 1)];
            let member = least_loaded(loads.into_iter(), &mut draw).expect("four members");
            chosen[member] += 1;
        }
        assert_eq!(chosen[0], 0);
        assert!(chosen[1..].iter().all(|times| (900..1_100).contains(times)), "{chosen:?}");
    }
}
