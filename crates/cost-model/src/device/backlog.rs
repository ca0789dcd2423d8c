//! Cached writes that still have to reach one spindle.

/// Byte ranges of a spindle, disjoint and sorted; what touches is joined, what is written again
/// is absorbed.
///
/// A full cache keeps thousands of runs here and every write adds one and takes one, so they lie
/// in a sorted array cut into chunks: one search finds a place together with its neighbours. With a
/// `BTreeMap` a write into a full cache took 1.8 times as long.
#[derive(Clone, Debug)]
pub(super) struct Backlog {
    /// Runs as (start, end), end not included; no chunk is empty unless it is the only one.
    chunks: Vec<Vec<(u64, u64)>>,
    /// The end of the last run of each chunk, 0 if it has none.
    ends: Vec<u64>,
    runs: usize,
    /// Where the last run was taken: the next one is there, unless chunks have changed since.
    taken_at: Place,
}

/// Runs of a chunk at most: an insertion moves half of them, 512 bytes.
const CHUNK: usize = 64;

/// A run's place: chunk and position in it.
type Place = (usize, usize);

impl Backlog {
    pub(super) fn new() -> Self {
        Self { chunks: vec![Vec::with_capacity(CHUNK)], ends: vec![0], runs: 0, taken_at: (0, 0) }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.runs == 0
    }

    /// Separate runs: the depth of the elevator's queue.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.runs
    }

    /// Adds a range; returns how many of its bytes were not waiting already.
    #[inline]
    pub(super) fn add(&mut self, start: u64, end: u64) -> u64 {
        let (mut joined_start, mut joined_end, mut present) = (start, end, 0);
        let mut place = self.find(start);
        while let Some((run_start, run_end)) = self.get(place) {
            if end < run_start {
                break;
            }
            present += run_end - run_start;
            joined_start = joined_start.min(run_start);
            joined_end = joined_end.max(run_end);
            place = self.remove(place);
        }
        self.insert(place, (joined_start, joined_end));
        joined_end - joined_start - present
    }

    /// Takes the next run at or after `head`, or the first one: an elevator that sweeps one way.
    /// At most `limit` bytes, the rest stays.
    #[inline]
    pub(super) fn take(&mut self, head: u64, limit: u64) -> Option<(u64, u64)> {
        let place = if self.is_first_from(self.taken_at, head) {
            self.taken_at
        } else {
            self.at_or_after(head)
        };
        let (start, end) = self.get(place)?;
        if limit < end - start {
            self.chunks[place.0][place.1].0 = start + limit;
            return Some((start, start + limit));
        }
        self.taken_at = self.remove(place);
        Some((start, end))
    }

    /// Whether the run at this place is the first one at or after `head`.
    #[inline]
    fn is_first_from(&self, (chunk, position): Place, head: u64) -> bool {
        let before = match (position.checked_sub(1), chunk.checked_sub(1)) {
            (Some(before), _) => self.get((chunk, before)).map_or(u64::MAX, |(start, _)| start),
            (None, Some(before)) => self.ends.get(before).map_or(u64::MAX, |end| *end),
            (None, None) => 0,
        };
        before < head && self.get((chunk, position)).is_some_and(|(start, _)| head <= start)
    }

    /// Whether every byte of the range is waiting here.
    #[inline]
    pub(super) fn holds(&self, start: u64, end: u64) -> bool {
        self.get(self.find(end)).is_some_and(|(run_start, _)| run_start <= start)
    }

    /// The first run that ends at or after `address`, or the place behind the last run.
    #[inline]
    fn find(&self, address: u64) -> Place {
        let chunk = self.ends.partition_point(|end| *end < address);
        let position = match self.chunks.get(chunk) {
            Some(runs) => runs.partition_point(|(_, end)| *end < address),
            None => 0,
        };
        (chunk, position)
    }

    #[inline]
    fn at_or_after(&self, head: u64) -> Place {
        let (chunk, position) = self.find(head);
        match self.get((chunk, position)) {
            Some((start, _)) if head <= start => (chunk, position),
            Some(_) if position + 1 < self.chunks[chunk].len() => (chunk, position + 1),
            Some(_) if chunk + 1 < self.chunks.len() => (chunk + 1, 0),
            _ => (0, 0),
        }
    }

    #[inline]
    fn get(&self, (chunk, position): Place) -> Option<(u64, u64)> {
        self.chunks.get(chunk)?.get(position).copied()
    }

    /// Removes a run; returns the place of the one after it.
    #[inline]
    fn remove(&mut self, (chunk, position): Place) -> Place {
        self.runs -= 1;
        let only = self.chunks.len() == 1;
        let runs = &mut self.chunks[chunk];
        runs.remove(position);
        if let Some((_, end)) = runs.last() {
            self.ends[chunk] = *end;
            return if position < runs.len() { (chunk, position) } else { (chunk + 1, 0) };
        }
        if only {
            self.ends[chunk] = 0;
        } else {
            self.chunks.remove(chunk);
            self.ends.remove(chunk);
        }
        (chunk, 0)
    }

    /// Puts a run before the one at this place.
    #[inline]
    fn insert(&mut self, (chunk, position): Place, run: (u64, u64)) {
        self.runs += 1;
        let last = self.chunks.len() - 1;
        let (chunk, position) =
            if last < chunk { (last, self.chunks[last].len()) } else { (chunk, position) };
        let runs = &mut self.chunks[chunk];
        runs.insert(position, run);
        self.ends[chunk] = self.ends[chunk].max(run.1);
        if runs.len() == CHUNK {
            self.split(chunk);
        }
    }

    fn split(&mut self, chunk: usize) {
        let mut upper = Vec::with_capacity(CHUNK);
        upper.extend(self.chunks[chunk].drain(CHUNK / 2..));
        let end = self.ends[chunk];
        self.ends[chunk] = self.chunks[chunk][CHUNK / 2 - 1].1;
        self.chunks.insert(chunk + 1, upper);
        self.ends.insert(chunk + 1, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_join_and_rewrites_are_absorbed() {
        let mut backlog = Backlog::new();
        assert_eq!(backlog.add(10, 20), 10);
        assert_eq!(backlog.add(30, 40), 10);
        assert_eq!(backlog.add(50, 60), 10);
        assert_eq!(backlog.len(), 3);
        assert_eq!(backlog.add(20, 30), 10, "fills the gap");
        assert_eq!(backlog.len(), 2);
        assert_eq!(backlog.add(12, 38), 0, "all of it waits already");
        assert_eq!(backlog.add(5, 55), 15);
        assert_eq!((backlog.len(), backlog.holds(5, 60)), (1, true));
        assert!(!backlog.holds(4, 10) && !backlog.holds(50, 61));
    }

    #[test]
    fn the_elevator_sweeps_up_and_starts_again() {
        let mut backlog = Backlog::new();
        for start in [10, 40, 70] {
            backlog.add(start, start + 10);
        }
        assert_eq!(backlog.take(35, 100), Some((40, 50)));
        assert_eq!(backlog.take(50, 4), Some((70, 74)));
        assert_eq!(backlog.take(74, 100), Some((74, 80)));
        assert_eq!(backlog.take(80, 100), Some((10, 20)));
        assert_eq!(backlog.take(20, 100), None);
    }

    /// Random ranges against a plain set of bytes.
    #[test]
    fn agrees_with_a_set_of_bytes() {
        let mut draw = crate::Draw::new(3, 0);
        let mut backlog = Backlog::new();
        let mut most = 0;
        let mut bytes = [false; 8_192];
        for _ in 0..40_000 {
            let start = draw.below(8_180);
            let end = start + 1 + draw.below(12);
            if draw.below(5) < 2 {
                if let Some((start, end)) = backlog.take(start, 8) {
                    assert!(bytes[start as usize..end as usize].iter().all(|byte| *byte));
                    bytes[start as usize..end as usize].fill(false);
                }
            } else {
                let fresh = (start..end).filter(|&byte| !bytes[byte as usize]).count() as u64;
                assert_eq!(backlog.add(start, end), fresh);
                bytes[start as usize..end as usize].fill(true);
            }
            most = most.max(backlog.len());
            let held = (start..end).all(|byte| bytes[byte as usize]);
            assert_eq!(backlog.holds(start, end), held);
        }
        assert!(4 * CHUNK < most, "the runs fill several chunks: {most}");
        while let Some((start, end)) = backlog.take(0, u64::MAX) {
            bytes[start as usize..end as usize].fill(false);
        }
        assert!(backlog.is_empty() && bytes.iter().all(|byte| !byte), "nothing is lost");
    }
}
