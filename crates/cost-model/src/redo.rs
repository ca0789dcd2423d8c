//! The redo log: one circular file, whatever its number of parts, and what of it is durable.
//!
//! Rules from `MySQL` 5.1 source, log0log.c. The log knows sequence numbers and bytes;
//! [`crate::Machine`] does the writing.

use bytemuck::{Pod, Zeroable};

use crate::{Bytes, SimTime};

/// A log sequence number: bytes of redo logged since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct Lsn(pub u64);

impl Lsn {
    /// After everything that will ever be logged.
    pub const MAX: Self = Self(u64::MAX);

    /// Bytes logged since `earlier`; 0 if that is later.
    #[inline]
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The number `bytes` later.
    #[must_use]
    pub const fn plus(self, bytes: u64) -> Self {
        Self(self.0.saturating_add(bytes))
    }
}

/// A redo log and the limits that its size sets.
#[derive(Clone, Debug, PartialEq)]
pub struct RedoConfig {
    /// Bytes of all its files together: only this matters, not how many files there are.
    pub capacity: Bytes,
    /// Bytes of a block: every write begins and ends at a block's border.
    pub block: Bytes,
    /// Header and trailer of a block: they are logged along with every block begun.
    pub block_overhead: Bytes,
    /// The checkpoint may never be further behind than this.
    pub age_max: Bytes,
    /// Oldest change not yet written back from which on a thread that changes something writes
    /// back what is too old, while others go on.
    pub age_async: Bytes,
    /// The same, from which on all threads that change something wait.
    pub age_sync: Bytes,
    /// Bytes behind the log's end from which on a thread makes a checkpoint.
    pub age_checkpoint: Bytes,
}

/// What happened to the log so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RedoStats {
    /// Bytes logged, block headers included.
    pub bytes: u64,
    /// Times the log was made durable.
    pub flushes: u64,
    /// Checkpoints made.
    pub checkpoints: u64,
    /// Times a thread began to write back because the oldest change was too old, while others
    /// went on.
    pub preflushes_async: u64,
    /// The same, while all waited.
    pub preflushes_sync: u64,
    /// The longest distance of the last checkpoint from the end of the log that was seen.
    pub age_max: u64,
}

/// See the module's documentation.
#[derive(Clone, Debug)]
pub(crate) struct RedoLog {
    pub(crate) config: RedoConfig,
    pub(crate) stats: RedoStats,
    end: Lsn,
    /// Where the last mini-transaction begins.
    last_start: Lsn,
    /// Payload bytes in the block being filled.
    block_filled: u64,
    durable: Lsn,
    /// A flush under way: up to where, and when it is done.
    flush: Option<(Lsn, SimTime)>,
    pub(crate) checkpoint: Lsn,
    /// Nobody needs to look at the limits before the log is this long.
    pub(crate) check_at: Lsn,
}

/// A write that makes the log durable: offset in the circular file and length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogWrite {
    pub(crate) offset: u64,
    pub(crate) len: u64,
}

impl RedoLog {
    pub(crate) fn new(config: RedoConfig) -> Self {
        let check_at = Lsn(config.age_async.get().min(config.age_checkpoint.get()));
        Self {
            config,
            stats: RedoStats::default(),
            end: Lsn(0),
            last_start: Lsn(0),
            block_filled: 0,
            durable: Lsn(0),
            flush: None,
            checkpoint: Lsn(0),
            check_at,
        }
    }

    /// Where the next record will begin.
    #[inline]
    pub(crate) fn end(&self) -> Lsn {
        self.end
    }

    /// Where the last mini-transaction begins: what it changes is older than all that follows.
    #[inline]
    pub(crate) fn last_start(&self) -> Lsn {
        self.last_start
    }

    /// A mini-transaction enters the log.
    #[inline]
    pub(crate) fn append(&mut self, bytes: u64) {
        self.last_start = self.end;
        let overhead = self.config.block_overhead.get();
        let payload = self.config.block.get() - overhead;
        self.block_filled += bytes;
        let mut logged = bytes;
        while payload <= self.block_filled {
            self.block_filled -= payload;
            logged += overhead;
        }
        self.end.0 += logged;
        self.stats.bytes += logged;
        self.stats.age_max = self.stats.age_max.max(self.end.since(self.checkpoint));
    }

    /// Up to where the log is durable at `now`.
    pub(crate) fn durable(&mut self, now: SimTime) -> Lsn {
        if let Some((upto, done)) = self.flush
            && done <= now
        {
            self.durable = upto;
            self.flush = None;
        }
        self.durable
    }

    /// When the flush under way is done.
    pub(crate) fn flushing_until(&self) -> Option<SimTime> {
        self.flush.map(|(_, done)| done)
    }

    /// What a flush of everything logged so far writes: whole blocks, in one piece or, where the
    /// file begins anew, two.
    pub(crate) fn writes(&self) -> impl Iterator<Item = LogWrite> + use<> {
        let (block, capacity) = (self.config.block.get(), self.config.capacity.get());
        let from = self.durable.0 / block * block;
        let to = self.end.0.div_ceil(block) * block;
        let offset = from % capacity;
        let first = (to - from).min(capacity - offset);
        let second = to - from - first;
        [LogWrite { offset, len: first }, LogWrite { offset: 0, len: second }]
            .into_iter()
            .filter(|write| 0 < write.len)
    }

    /// A flush of everything logged so far has begun.
    pub(crate) fn flush_begins(&mut self, done: SimTime) {
        debug_assert!(self.flush.is_none(), "one flush at a time");
        self.stats.flushes += 1;
        self.flush = Some((self.end, done));
    }

    /// The checkpoint is at `lsn` now.
    pub(crate) fn checkpoint_done(&mut self, lsn: Lsn) {
        self.stats.checkpoints += 1;
        self.checkpoint = self.checkpoint.max(lsn);
    }

    /// Bytes between the last checkpoint and the end.
    pub(crate) fn checkpoint_age(&self) -> u64 {
        self.end.since(self.checkpoint)
    }
}

impl RedoConfig {
    /// Bytes of a block and of its header and trailer (`MySQL` 5.1 source, log0log.h).
    pub const BLOCK: (Bytes, Bytes) = (Bytes::new(512), Bytes::new(16));

    /// A log of `capacity` bytes with the limits of `InnoDB` up to 5.7: its greatest age is
    /// `share` of the capacity less `reserve` bytes, and 7/8, 15/16 and 31/32 of it are the limits
    /// below.
    pub fn innodb(capacity: Bytes, share: f64, reserve: Bytes) -> Self {
        let (block, block_overhead) = Self::BLOCK;
        let usable = (capacity.get() as f64 * share) as u64;
        let age_max = usable.saturating_sub(reserve.get()).max(usable / 8).max(1);
        Self {
            capacity,
            block,
            block_overhead,
            age_max: Bytes::new(age_max),
            age_async: Bytes::new(age_max - age_max / 8),
            age_sync: Bytes::new(age_max - age_max / 16),
            age_checkpoint: Bytes::new(age_max - age_max / 32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SimDuration;

    fn log(capacity: u64) -> RedoLog {
        RedoLog::new(RedoConfig::innodb(Bytes::new(capacity), 0.81, Bytes::ZERO))
    }

    #[test]
    fn every_block_has_a_header() {
        let mut log = log(1 << 20);
        log.append(495);
        assert_eq!(log.end(), Lsn(495));
        log.append(1);
        assert_eq!(log.end(), Lsn(512), "496 bytes fill a block of 512");
        log.append(10 * 496);
        assert_eq!(log.end(), Lsn(11 * 512));
    }

    #[test]
    fn a_flush_writes_whole_blocks_and_wraps() {
        let mut log = log(8 * 512);
        log.append(100);
        let writes = |log: &RedoLog| log.writes().map(|w| (w.offset, w.len)).collect::<Vec<_>>();
        assert_eq!(writes(&log), [(0, 512)], "a lone commit writes a block");
        let done = SimTime::ZERO + SimDuration::from_ms(1);
        log.flush_begins(done);
        log.append(100);
        assert_eq!(log.durable(SimTime::ZERO), Lsn(0));
        assert_eq!(log.durable(done), Lsn(100), "what came later waits for the next flush");
        assert_eq!(writes(&log), [(0, 512)], "the last block is written again");
        log.append(7 * 496);
        assert_eq!(writes(&log), [(0, 8 * 512)]);
        log.flush_begins(done);
        log.durable(done);
        log.append(2 * 496);
        assert_eq!(writes(&log), [(7 * 512, 512), (0, 2 * 512)]);
    }

    #[test]
    fn the_limits_are_eighths_of_the_greatest_age() {
        // 2 x 5 MB: 0.81 of it less 10 x 64 KB + 8 x 64 KB + 128 KB.
        let config = RedoConfig::innodb(Bytes::mib(10), 0.81, Bytes::kib(19 * 64 + 64));
        assert_eq!(config.age_max.get(), 8_493_465 - (20 << 16));
        assert_eq!(
            config.age_sync.get(),
            config.age_max.get() / 16 * 15 + config.age_max.get() % 16
        );
    }
}
