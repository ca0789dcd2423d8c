//! A cache of nodes of any size: who stays in memory, counted in bytes.
//!
//! It decides and does no I/O, as the buffer pool does: the engine asks for the next victim, writes it if
//! it is dirty, and tells when that is done.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::{Draw, SimThread, SimTime};

const NONE: u32 = u32::MAX;

/// How a cache chooses whom to evict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// The least recently used node.
    Lru,
    /// A clock with counts: the hand lowers the count of each node it passes, of small ones less
    /// often, and evicts those that have none left (`PerconaFT` source, cachetable.cc).
    Clock {
        /// Count of a node that enters.
        initial: u8,
        /// A use adds one up to this.
        saturation: u8,
    },
}

/// The rules of a cache of nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeCacheConfig {
    /// Bytes the cache may hold.
    pub bytes: u64,
    /// Whom to evict.
    pub replacement: Replacement,
    /// Eviction begins above this share of the bytes, and goes on down to all of them.
    pub wake_share: f64,
    /// Threads wait above this share of the bytes,
    pub sleep_share: f64,
    /// until writes have brought it down to this.
    pub resume_share: f64,
    /// No threshold is further above the one below than this many bytes.
    pub gap_bytes_max: u64,
    /// Seed of the hand's draws.
    pub seed: u64,
}

/// What the cache wants to be rid of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// The hand passed this node: if it is clean, the engine may drop unused parts of it.
    Trim(u32),
    /// This node must go; if it is dirty, it must be written.
    Evict(u32),
}

/// A cache of nodes, each known by a dense number.
#[derive(Clone, Debug)]
pub struct NodeCache {
    config: NodeCacheConfig,
    entries: Vec<Entry>,
    /// The next node that the hand looks at; under LRU the least recently used one.
    hand: u32,
    resident: u64,
    bytes: u64,
    /// Bytes of nodes that are being written on their way out: when each is gone.
    leaving: BinaryHeap<Reverse<(SimTime, u64)>>,
    leaving_bytes: u64,
    wake: u64,
    sleep: u64,
    resume: u64,
    draw: Draw,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    bytes: u64,
    busy_until: SimTime,
    next: u32,
    prev: u32,
    pins: u16,
    count: u8,
    resident: bool,
    dirty: bool,
}

const ABSENT: Entry = Entry {
    bytes: 0,
    busy_until: SimTime::ZERO,
    next: NONE,
    prev: NONE,
    pins: 0,
    count: 0,
    resident: false,
    dirty: false,
};

/// The part of a run whose random numbers the hand draws.
const DRAW_PART: u64 = u64::from_be_bytes(*b"\0\0\0clock");

impl NodeCache {
    /// An empty cache.
    pub fn new(config: NodeCacheConfig) -> Self {
        let above = |below: u64, share: f64| {
            (config.bytes as f64 * share).min((below + config.gap_bytes_max) as f64) as u64
        };
        let wake = above(config.bytes, config.wake_share);
        let resume = above(wake, config.resume_share);
        let sleep = above(resume, config.sleep_share);
        Self {
            draw: Draw::new(config.seed, DRAW_PART),
            entries: Vec::new(),
            hand: NONE,
            resident: 0,
            bytes: 0,
            leaving: BinaryHeap::new(),
            leaving_bytes: 0,
            wake,
            sleep,
            resume,
            config,
        }
    }

    /// Whether `node` is in memory, or on its way there.
    #[inline]
    pub fn is_resident(&self, node: u32) -> bool {
        self.entry(node).resident
    }

    /// Whether `node` is in memory and differs from its image in the file.
    #[inline]
    pub fn is_dirty(&self, node: u32) -> bool {
        self.entry(node).dirty
    }

    /// Until when nobody may use `node`: it is being read, or somebody works on it.
    #[inline]
    pub fn busy_until(&self, node: u32) -> SimTime {
        self.entry(node).busy_until
    }

    /// Nobody may use `node` before `until`.
    pub fn set_busy(&mut self, node: u32, until: SimTime) {
        let entry = &mut self.entries[node as usize];
        entry.busy_until = entry.busy_until.max(until);
    }

    /// Bytes in memory now, of nodes that are being written out as well.
    pub fn bytes(&self) -> u64 {
        self.bytes + self.leaving_bytes
    }

    /// Nodes in memory now.
    pub fn resident(&self) -> u64 {
        self.resident
    }

    /// Dirty nodes in memory now.
    pub fn dirty(&self) -> u64 {
        self.entries.iter().filter(|entry| entry.dirty).count() as u64
    }

    /// All nodes in memory, in the order of their numbers.
    pub fn residents(&self) -> impl Iterator<Item = u32> + '_ {
        self.entries.iter().zip(0..).filter(|(entry, _)| entry.resident).map(|(_, node)| node)
    }

    /// `node` enters with so many bytes, last in the hand's round.
    pub fn enter(&mut self, node: u32, bytes: u64, dirty: bool) {
        if self.entries.len() <= node as usize {
            self.entries.resize(node as usize + 1, ABSENT);
        }
        let count = match self.config.replacement {
            Replacement::Lru => 0,
            Replacement::Clock { initial, .. } => initial,
        };
        let entry = &mut self.entries[node as usize];
        assert!(!entry.resident, "node {node} enters twice");
        *entry = Entry { bytes, count, dirty, resident: true, ..ABSENT };
        self.resident += 1;
        self.bytes += bytes;
        self.link(node);
    }

    /// `node` is used.
    #[inline]
    pub fn touch(&mut self, node: u32) {
        match self.config.replacement {
            Replacement::Clock { saturation, .. } => {
                let entry = &mut self.entries[node as usize];
                entry.count = (entry.count + 1).min(saturation);
            }
            // Behind the hand is the place of the most recently used.
            Replacement::Lru => {
                if self.entries[self.hand as usize].prev != node {
                    self.unlink(node);
                    self.link(node);
                }
            }
        }
    }

    /// `node` has so many bytes in memory now.
    #[inline]
    pub fn resize(&mut self, node: u32, bytes: u64) {
        let entry = &mut self.entries[node as usize];
        self.bytes = self.bytes - entry.bytes + bytes;
        entry.bytes = bytes;
    }

    /// `node` differs from its image now, or does no more.
    #[inline]
    pub fn set_dirty(&mut self, node: u32, dirty: bool) {
        self.entries[node as usize].dirty = dirty;
    }

    /// `node` leaves memory. If it is being written, its bytes stay until that is done.
    pub fn leave(&mut self, node: u32, written: Option<SimTime>) {
        let entry = self.entries[node as usize];
        debug_assert!(entry.resident && entry.pins == 0, "node {node} cannot leave");
        self.unlink(node);
        self.entries[node as usize] = ABSENT;
        self.resident -= 1;
        self.bytes -= entry.bytes;
        if let Some(done) = written {
            self.leaving.push(Reverse((done, entry.bytes)));
            self.leaving_bytes += entry.bytes;
        }
    }

    /// `node` ceases to exist, whoever keeps it.
    pub fn vanish(&mut self, node: u32) {
        if self.is_resident(node) {
            self.entries[node as usize].pins = 0;
            self.leave(node, None);
        }
    }

    /// Keeps `node` for the operation of `thread` until [`release`](Self::release).
    pub fn hold(&mut self, thread: &mut SimThread, node: u32) {
        if !thread.nodes.contains(&node) {
            self.pin(node);
            thread.nodes.push(node);
        }
    }

    /// The operation of `thread` is over: what it kept may leave again.
    #[inline]
    pub fn release(&mut self, thread: &mut SimThread) {
        while let Some(node) = thread.nodes.pop() {
            self.unpin(node);
        }
    }

    /// Keeps `node` in memory until [`unpin`](Self::unpin).
    pub fn pin(&mut self, node: u32) {
        self.entries[node as usize].pins += 1;
    }

    /// Ends one [`pin`](Self::pin). A node that has ceased to exist may be meant.
    pub fn unpin(&mut self, node: u32) {
        let entry = &mut self.entries[node as usize];
        entry.pins = entry.pins.saturating_sub(1);
    }

    /// Whether so much is in memory that eviction begins.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.wake < self.bytes
    }

    /// Whether so much is in memory that threads wait.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.sleep < self.bytes()
    }

    /// The next node to be rid of, as long as more is in memory than may be.
    pub fn next_victim(&mut self, now: SimTime) -> Option<Victim> {
        let mut in_use = 0;
        while self.config.bytes < self.bytes && in_use < self.resident {
            let node = self.hand;
            self.hand = self.entry(node).next;
            let entry = self.entry(node);
            if 0 < entry.pins || now < entry.busy_until {
                in_use += 1;
                continue;
            }
            if entry.count == 0 {
                return Some(Victim::Evict(node));
            }
            if self.loses_count(&entry) {
                self.entries[node as usize].count -= 1;
            }
            return Some(Victim::Trim(node));
        }
        None
    }

    /// When a thread that wants to add to the cache may go on: at once, or when enough of the
    /// writes under way are done.
    pub fn room_at(&mut self, now: SimTime) -> SimTime {
        self.settle(now);
        if self.bytes() <= self.sleep {
            return now;
        }
        let mut until = now;
        while self.resume < self.bytes()
            && let Some(Reverse((done, bytes))) = self.leaving.pop()
        {
            self.leaving_bytes -= bytes;
            until = done;
        }
        until
    }

    fn settle(&mut self, now: SimTime) {
        while let Some(Reverse((done, bytes))) = self.leaving.peek().copied()
            && done <= now
        {
            self.leaving.pop();
            self.leaving_bytes -= bytes;
        }
    }

    /// Large nodes lose a count with every pass of the hand, small ones with the probability of
    /// their share of the average size.
    fn loses_count(&mut self, entry: &Entry) -> bool {
        let weight = entry.bytes * self.resident;
        self.bytes <= weight || self.draw.below(self.bytes) < weight
    }

    #[inline]
    fn entry(&self, node: u32) -> Entry {
        self.entries.get(node as usize).copied().unwrap_or(ABSENT)
    }

    /// Puts `node` behind the hand: all others come first.
    fn link(&mut self, node: u32) {
        if self.hand == NONE {
            self.hand = node;
            self.entries[node as usize].next = node;
            self.entries[node as usize].prev = node;
            return;
        }
        let (next, prev) = (self.hand, self.entries[self.hand as usize].prev);
        let entry = &mut self.entries[node as usize];
        (entry.next, entry.prev) = (next, prev);
        self.entries[next as usize].prev = node;
        self.entries[prev as usize].next = node;
    }

    fn unlink(&mut self, node: u32) {
        let Entry { next, prev, .. } = self.entries[node as usize];
        self.entries[next as usize].prev = prev;
        self.entries[prev as usize].next = next;
        if self.hand == node {
            self.hand = if next == node { NONE } else { next };
        }
    }

    /// Panics if the cache contradicts itself: for tests.
    pub fn verify(&self) {
        let bytes: u64 = self.entries.iter().map(|entry| entry.bytes).sum();
        assert_eq!(bytes, self.bytes, "bytes of the nodes in memory");
        let leaving: u64 = self.leaving.iter().map(|Reverse((_, bytes))| bytes).sum();
        assert_eq!(leaving, self.leaving_bytes, "bytes on their way out");
        let mut round = 0;
        let mut at = self.hand;
        while at != NONE {
            assert!(self.entry(at).resident, "node {at} is in the round and not in memory");
            round += 1;
            at = self.entry(at).next;
            if at == self.hand {
                break;
            }
        }
        assert_eq!(round, self.resident, "nodes in the hand's round");
    }
}

#[cfg(test)]
mod tests {
    use super::{NodeCache, NodeCacheConfig, Replacement, Victim};
    use crate::SimTime;

    fn cache(replacement: Replacement) -> NodeCache {
        NodeCache::new(NodeCacheConfig {
            bytes: 100,
            replacement,
            wake_share: 1.1,
            sleep_share: 1.5,
            resume_share: 1.25,
            gap_bytes_max: u64::MAX / 2,
            seed: 1,
        })
    }

    #[test]
    fn lru_evicts_what_was_used_longest_ago() {
        let mut cache = cache(Replacement::Lru);
        for node in 0..4 {
            cache.enter(node, 30, true);
        }
        assert!(cache.is_over());
        cache.touch(0);
        assert_eq!(cache.next_victim(SimTime::ZERO), Some(Victim::Evict(1)));
        cache.leave(1, None);
        assert_eq!(cache.next_victim(SimTime::ZERO), None);
        cache.verify();
    }

    #[test]
    fn the_hand_takes_as_many_rounds_as_a_node_has_counts() {
        let mut cache = cache(Replacement::Clock { initial: 3, saturation: 15 });
        for node in 0..4 {
            cache.enter(node, 30, true);
        }
        cache.touch(0);
        let mut trims = 0;
        let victim = loop {
            match cache.next_victim(SimTime::ZERO) {
                Some(Victim::Trim(_)) => trims += 1,
                other => break other,
            }
        };
        // Three rounds of four, and the first node has one count left.
        assert_eq!((victim, trims), (Some(Victim::Evict(1)), 13));
    }

    #[test]
    fn nodes_in_use_stay_and_threads_wait_for_writes() {
        let mut cache = cache(Replacement::Lru);
        cache.enter(0, 120, true);
        cache.enter(1, 60, true);
        cache.pin(0);
        cache.set_busy(1, SimTime::from_ns(5));
        assert_eq!(cache.next_victim(SimTime::ZERO), None);
        cache.unpin(0);
        assert_eq!(cache.next_victim(SimTime::ZERO), Some(Victim::Evict(0)));
        cache.leave(0, Some(SimTime::from_ns(9)));
        assert_eq!(cache.room_at(SimTime::ZERO), SimTime::from_ns(9));
        assert_eq!(cache.bytes(), 60);
    }
}
