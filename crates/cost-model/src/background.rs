//! Background threads: what is written back when nobody waits for it.
//!
//! A [`Background`] is stepped by the run loop like any other thread: it wakes at every tick of
//! its period, decides how many pages to write by its rule, writes them, and sleeps again. The
//! periods of its decisions shrink with the scale of a run and its rates in pages per second do
//! not, so a tick may be due a fraction of a page: quotas keep their remainder, and what a batch
//! writes beyond its quota is taken from the next ones.

mod adaptive;
mod log_sync;

pub use adaptive::Adaptive;
pub use log_sync::LogSync;

use crate::{Lsn, Machine, Purpose, SimDuration, SimThread, SimTime, Step};
use adaptive::Pace;

/// The rules of a background thread.
#[derive(Clone, Debug, PartialEq)]
pub struct BackgroundConfig {
    /// Time between two decisions.
    pub period: SimDuration,
    /// Time between two syncs of the redo log that no commit asked for; `None` if each commit
    /// syncs it.
    pub log_sync: Option<SimDuration>,
    /// Pages per second that the engine believes the device can do.
    pub io_capacity: u32,
    /// Pages per second at most, when the redo log fills up.
    pub io_capacity_max: u32,
    /// Share of dirty pages beyond which `io_capacity` pages at a time are written.
    pub dirty_max: f64,
    /// Whether it sleeps between these, and between the batches of the native adaptive rule when
    /// that asks for `io_capacity` pages.
    pub dirty_sleeps: bool,
    /// How the redo log's growth decides what is written.
    pub adaptive: Adaptive,
    /// Whether every tenth tick writes some pages whatever the state (the master thread).
    pub tenth_tick: bool,
    /// Whether it keeps free frames at the tails of the LRU lists (the page cleaner).
    pub cleans_tails: bool,
    /// Ticks between two checkpoints.
    pub checkpoint_ticks: u32,
}

/// A background thread: its rules and how far it is.
#[derive(Debug)]
pub struct Background {
    config: BackgroundConfig,
    /// The engine's second in this run: a tick is one, ten, or a tenth of it.
    pace: Pace,
    ticks: u64,
    next_tick: SimTime,
    log: Option<LogSync>,
    /// Pages it may still write; below 0 if it wrote too many.
    credit: f64,
    /// The batch it decided on last.
    decided: Option<Decided>,
    /// Requests to the device at the last tenth tick.
    requests_before: u64,
}

/// A batch that a background thread decided on.
#[derive(Clone, Copy, Debug)]
struct Decided {
    at: SimTime,
    /// Pages this thread had written before.
    flushed: u64,
    /// Whether it counts against the quota.
    is_quota: bool,
}

impl Background {
    /// A thread at the start of a run.
    pub fn new(config: BackgroundConfig) -> Self {
        Self {
            pace: Pace::new(config.adaptive),
            next_tick: SimTime::ZERO + config.period,
            log: config.log_sync.map(LogSync::new),
            config,
            ticks: 0,
            credit: 0.0,
            decided: None,
            requests_before: 0,
        }
    }

    /// Goes on until the thread waits, sleeps, or must let another go first.
    pub fn step(&mut self, thread: &mut SimThread, machine: &mut Machine) {
        thread.rise();
        while self.act(thread, machine).is_ok() {
            let moved = self.settle_quota(thread);
            if self.config.cleans_tails && machine.take_cleaner_call().is_some() {
                machine.flush_tails(thread);
            } else if self.next_tick <= thread.now() {
                self.tick(thread, machine);
            } else if !moved || !self.writes_on(thread, machine) {
                thread.sleep_until(self.next_alarm());
                break;
            }
        }
    }

    /// Works off what was decided.
    fn act(&mut self, thread: &mut SimThread, machine: &mut Machine) -> Step {
        machine.begin(thread)?;
        match &mut self.log {
            Some(log) => log.act(thread, machine),
            None => Ok(()),
        }
    }

    /// Syncs the log if that is due, for a thread that does other work for a while.
    ///
    /// # Errors
    /// [`Blocked`](crate::Blocked) while it lasts.
    pub fn sync_log(&mut self, thread: &mut SimThread, machine: &mut Machine) -> Step {
        match &mut self.log {
            Some(log) if log.is_due(thread.now()) => {
                machine.begin(thread)?;
                log.act(thread, machine)
            }
            _ => Ok(()),
        }
    }

    fn next_alarm(&self) -> SimTime {
        self.log.as_ref().map_or(self.next_tick, |log| log.next.min(self.next_tick))
    }

    /// Pages that a rate allows in the time of one tick.
    fn per_tick(&self, pages_per_s: u32) -> f64 {
        f64::from(pages_per_s) * self.config.period.as_secs_f64()
    }

    fn tick(&mut self, thread: &mut SimThread, machine: &mut Machine) {
        // A thread that was busy for several periods makes up for none of them.
        let passed = thread.now().since(self.next_tick).as_ns() / self.config.period.as_ns();
        self.next_tick += self.config.period * (passed + 1);
        self.ticks += 1;
        self.pace.observe(machine, passed + 1);
        if self.config.cleans_tails {
            machine.flush_tails(thread);
        }
        let capacity = self.per_tick(self.config.io_capacity);
        let mut older_than = Lsn::MAX;
        let quota = if self.too_dirty(machine) {
            if self.config.dirty_sleeps { capacity } else { 0.0 }
        } else {
            let wanted = self.pace.pages(machine, &self.config);
            older_than = wanted.older_than;
            wanted.pages
        };
        self.give(thread, machine, quota, older_than);
        if self.config.tenth_tick && self.ticks.is_multiple_of(10) {
            self.tenth(thread, machine, capacity);
        }
        if self.ticks.is_multiple_of(u64::from(self.config.checkpoint_ticks)) {
            machine.make_checkpoint(thread);
        }
    }

    /// What the master thread does every tenth tick.
    fn tenth(&mut self, thread: &mut SimThread, machine: &mut Machine, capacity: f64) {
        let (reads, writes) = machine.io().reads_and_writes();
        let requests = reads.requests + writes.requests;
        let idle = ((requests - self.requests_before) as f64) < 2.0 * capacity;
        self.requests_before = requests;
        let always =
            if machine.dirty_share() > DIRTY_AT_TENTH { capacity } else { capacity / 10.0 };
        let more = if idle { capacity } else { 0.0 };
        self.give(thread, machine, always + more, Lsn::MAX);
    }

    /// Adds to what may be written, and has it written if that is a page or more.
    fn give(&mut self, thread: &mut SimThread, machine: &mut Machine, pages: f64, older: Lsn) {
        if pages <= 0.0 {
            return;
        }
        self.credit += pages;
        if self.credit < 1.0 {
            return;
        }
        self.decide(thread, true);
        machine.flush_oldest(thread, self.credit as u32, older);
    }

    fn decide(&mut self, thread: &SimThread, is_quota: bool) {
        let flushed = thread.pages_flushed();
        self.decided.get_or_insert(Decided { at: thread.now(), flushed, is_quota });
    }

    /// After a batch: what it wrote is taken from the quota. Tells whether it, if there was one,
    /// wrote anything and took time.
    fn settle_quota(&mut self, thread: &SimThread) -> bool {
        let Some(decided) = self.decided.take() else { return true };
        let flushed = thread.pages_flushed() - decided.flushed;
        if decided.is_quota {
            // What could not be written is not made up for later.
            self.credit = (self.credit - flushed as f64).min(1.0);
        }
        0 < flushed && decided.at < thread.now()
    }

    /// Goes on without sleep while too many pages are dirty, or the native rule asks for all it
    /// may (srv0srv.c, `skip_sleep`), if that is the rule. Tells whether
    /// there is something to do.
    fn writes_on(&mut self, thread: &mut SimThread, machine: &mut Machine) -> bool {
        let presses = self.too_dirty(machine) || self.pace.is_at_capacity(machine, &self.config);
        if self.config.dirty_sleeps || !presses {
            return false;
        }
        self.decide(thread, false);
        machine.flush_oldest(thread, self.config.io_capacity, Lsn::MAX);
        true
    }

    fn too_dirty(&self, machine: &Machine) -> bool {
        self.config.dirty_max < machine.dirty_share()
    }
}

/// Beyond this share of dirty pages the master thread writes a full quota every tenth tick
/// (`MySQL` 5.1 source, srv0srv.c).
const DIRTY_AT_TENTH: f64 = 0.7;

/// Pages that were written to make room in the pool so far.
fn evicted_pages(machine: &Machine) -> u64 {
    machine.io().get(Purpose::WriteBack).pages
}
