//! How many pages a tick writes so that the redo log does not fill up.

use std::collections::VecDeque;

use super::{BackgroundConfig, evicted_pages};
use crate::{Lsn, Machine};

/// The rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Adaptive {
    /// None: user threads write when the log is nearly full.
    Off,
    /// As many as the redo rate of the last 20 ticks asks for, whatever the age (`InnoDB` plugin
    /// 1.0.6 source, buf0flu.c).
    Native,
    /// From a quarter of the greatest age on, each page before its remaining age has run out
    /// (Percona Server 5.5 source, srv0srv.c: "estimate").
    Estimate,
    /// Dirty pages times the redo of the tick over the asynchronous limit (Percona Server 5.5
    /// source, srv0srv.c: "`keep_average`").
    KeepAverage,
    /// A share of the I/O capacity that grows with the age to the power of 1.5, from a low-water
    /// mark on, averaged with what was written and what the log's growth asks for (`MySQL` 5.7
    /// and `MariaDB` 10.11 source, buf0flu.cc).
    Age {
        /// The low-water mark, as a share of the log's capacity.
        low_water: f64,
    },
}

/// Ticks over which the native rule averages.
const NATIVE_TICKS: usize = 20;
/// Ticks after which the age rule renews its averages (`innodb_flushing_avg_loops`).
const AGE_TICKS: u64 = 30;
/// How far ahead in the log's growth the age rule counts pages (`buf_flush_lsn_scan_factor`).
const AGE_SCAN_FACTOR: f64 = 3.0;

/// What a tick is to write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) pages: f64,
    pub(super) older_than: Lsn,
}

/// What a rule remembers from tick to tick.
#[derive(Debug)]
pub(super) struct Pace {
    rule: Adaptive,
    /// Redo bytes and evicted pages of the last ticks.
    history: VecDeque<(u64, u64)>,
    /// Both summed over these ticks.
    history_sum: (u64, u64),
    lsn: Lsn,
    evicted: u64,
    /// Redo bytes since the tick before.
    redo: u64,
    /// Redo bytes and pages per tick, averaged.
    redo_rate: f64,
    page_rate: f64,
    pages_given: f64,
    renewed: (u64, Lsn),
    ticks: u64,
}

impl Pace {
    pub(super) fn new(rule: Adaptive) -> Self {
        Self {
            rule,
            history: VecDeque::new(),
            history_sum: (0, 0),
            lsn: Lsn(0),
            evicted: 0,
            redo: 0,
            redo_rate: 0.0,
            page_rate: 0.0,
            pages_given: 0.0,
            renewed: (0, Lsn(0)),
            ticks: 0,
        }
    }

    /// A tick begins, `ticks` periods after the one before.
    pub(super) fn observe(&mut self, machine: &Machine, ticks: u64) {
        let (lsn, evicted) = (machine.log_end(), evicted_pages(machine));
        self.redo = lsn.since(self.lsn) / ticks;
        let tick = (self.redo, (evicted - self.evicted) / ticks);
        self.history.push_back(tick);
        self.history_sum = (self.history_sum.0 + tick.0, self.history_sum.1 + tick.1);
        if NATIVE_TICKS < self.history.len()
            && let Some(first) = self.history.pop_front()
        {
            self.history_sum = (self.history_sum.0 - first.0, self.history_sum.1 - first.1);
        }
        (self.lsn, self.evicted) = (lsn, evicted);
        self.ticks += ticks;
    }

    /// How many pages this tick is to write.
    pub(super) fn pages(&mut self, machine: &Machine, config: &BackgroundConfig) -> Wanted {
        let everything = |pages: f64| Wanted { pages, older_than: Lsn::MAX };
        let Some(redo) = &machine.config().redo else { return everything(0.0) };
        let period = config.period.as_secs_f64();
        let age = machine.log_end().since(machine.oldest_change()) as f64;
        let age_async = redo.age_async.get() as f64;
        match self.rule {
            Adaptive::Off => everything(0.0),
            Adaptive::Native => {
                let ticks = self.history.len().max(1) as f64;
                let (bytes, evicted) = self.history_sum;
                let (now, evicted_now) = self.history.back().copied().unwrap_or_default();
                let bytes = bytes as f64 / ticks + now as f64;
                let evicted = evicted as f64 / ticks + evicted_now as f64;
                let usable = 0.9 * redo.capacity.get() as f64;
                let wanted = machine.dirty_pages() as f64 * bytes / usable - evicted;
                everything(wanted.clamp(0.0, f64::from(config.io_capacity) * period))
            }
            Adaptive::Estimate => {
                if age <= redo.age_max.get() as f64 / 4.0 || age_async <= age {
                    return everything(0.0);
                }
                let mut pages = 0.0;
                for instance in 0..machine.config().pool.instances as usize {
                    let (dirty, remaining) = machine.mean_remaining_age(instance, redo.age_max);
                    if 0.0 < remaining {
                        pages += f64::from(dirty) * self.redo as f64 / remaining;
                    }
                }
                if machine.config().write_back.doublewrite_pages == 0 {
                    pages *= 7.0 / 8.0;
                }
                Wanted { pages, older_than: machine.oldest_change().plus(self.redo) }
            }
            Adaptive::KeepAverage => {
                let evicted = self.history.back().map_or(0, |(_, evicted)| *evicted) as f64;
                let wanted = machine.dirty_pages() as f64 * self.redo as f64 / age_async - evicted;
                everything(wanted.max(0.0))
            }
            Adaptive::Age { low_water } => {
                everything(self.by_age(machine, config, age, low_water, age_async))
            }
        }
    }

    /// Whether the native rule asks for as many pages as it may.
    pub(super) fn is_at_capacity(&mut self, machine: &Machine, config: &BackgroundConfig) -> bool {
        let capacity = f64::from(config.io_capacity) * config.period.as_secs_f64();
        self.rule == Adaptive::Native && capacity <= self.pages(machine, config).pages
    }

    fn by_age(
        &mut self,
        machine: &Machine,
        config: &BackgroundConfig,
        age: f64,
        low_water: f64,
        age_async: f64,
    ) -> f64 {
        let Some(redo) = &machine.config().redo else { return 0.0 };
        let period = config.period.as_secs_f64();
        let (capacity, capacity_max) =
            (f64::from(config.io_capacity) * period, f64::from(config.io_capacity_max) * period);
        if AGE_TICKS <= self.ticks - self.renewed.0 {
            let ticks = (self.ticks - self.renewed.0) as f64;
            self.page_rate = f64::midpoint(self.page_rate, self.pages_given / ticks);
            let bytes = self.lsn.since(self.renewed.1) as f64 / ticks;
            self.redo_rate = f64::midpoint(self.redo_rate, bytes);
            self.pages_given = 0.0;
            self.renewed = (self.ticks, self.lsn);
        }
        let share = if age < low_water * redo.capacity.get() as f64 {
            0.0
        } else {
            let percent = (age * 100.0 / age_async).floor();
            capacity_max / capacity * (percent * percent.sqrt()) / 7.5
        };
        if share == 0.0 {
            return 0.0;
        }
        let ahead = (self.redo_rate * AGE_SCAN_FACTOR) as u64;
        let most = (capacity_max * 2.0 * AGE_SCAN_FACTOR) as u32;
        let growth = f64::from(machine.dirty_before(machine.oldest_change().plus(ahead), most))
            / AGE_SCAN_FACTOR;
        let pages = (capacity * share / 100.0 + self.page_rate + growth) / 3.0;
        let pages = pages.min(capacity_max);
        self.pages_given += pages;
        pages
    }
}
