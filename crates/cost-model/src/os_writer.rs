//! The operating system's own thread that writes dirty pages of its cache.

use crate::{Cause, Machine, SimDuration, SimThread, SimTime};

/// By which rules the operating system writes dirty pages of its cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OsWriteConfig {
    /// Time between two looks.
    pub period: SimDuration,
    /// A page that is dirty for so long is written.
    pub age: SimDuration,
    /// Share of the cache: with more dirty pages, younger ones are written too.
    pub background: f64,
    /// Share of the cache: with more dirty pages, who writes has to write some out first.
    pub limit: f64,
}

/// The thread that does so.
#[derive(Debug)]
pub struct OsWriter {
    period: SimDuration,
    next: SimTime,
}

impl OsWriteConfig {
    /// Linux from 2.6.30 on: every 5 s, what is dirty for 30 s; 10 % and 20 % of the memory
    /// (page-writeback.c).
    pub const LINUX: Self = Self {
        period: SimDuration::from_ms(5_000),
        age: SimDuration::from_ms(30_000),
        background: 0.1,
        limit: 0.2,
    };
}

impl OsWriter {
    /// The thread at the start of a run.
    pub fn new(period: SimDuration) -> Self {
        Self { period, next: SimTime::ZERO + period }
    }

    /// Goes on until the thread waits, sleeps, or must let another go first.
    pub fn step(&mut self, thread: &mut SimThread, machine: &mut Machine) {
        thread.rise();
        while machine.begin(thread).is_ok() {
            let now = thread.now();
            let written = if self.next <= now { machine.write_old_cached(now) } else { None };
            if let Some(done) = written {
                thread.wait_until(done, Cause::Flush);
                continue;
            }
            if self.next <= now {
                self.next = now + self.period;
            }
            thread.sleep_until(self.next);
            break;
        }
    }
}
