//! Many runs over the cores of this machine.
//!
//! A run is one thread of the host and knows nothing of those beside it, so results do not depend
//! on how many there are at a time. No run begins that would not fit into memory beside those
//! under way.

pub mod memory;
pub mod store;

use std::any::Any;
use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use cost_model::Bytes;
use thiserror::Error;
use tokio::runtime::{Builder, Runtime};
use tokio::signal;
use tokio::task::JoinSet;

use crate::report::{ProgressBars, RunResult};
use crate::run::{RunError, memory_needed, run};
use crate::scenario::Scenario;

use store::Store;

/// What became of a run.
#[derive(Debug)]
pub enum Outcome {
    /// It came to its end.
    Finished(Box<RunResult>),
    /// It was interrupted; the result has the intervals that were complete, if it had begun.
    Stopped(Option<Box<RunResult>>),
    /// It has no result.
    Failed(JobError),
}

/// Why a run has no result. The others go on.
#[derive(Debug, Error)]
pub enum JobError {
    /// It could not begin.
    #[error(transparent)]
    Run(#[from] RunError),
    /// It would not fit into memory even alone.
    #[error("the simulation needs {needed} of memory, {available} are available")]
    Memory {
        /// What it needs.
        needed: Bytes,
        /// What this machine has to give.
        available: Bytes,
    },
    /// The simulator is wrong.
    #[error("internal error: {message}")]
    Panic {
        /// What the panic said.
        message: String,
    },
}

/// The threads that run scenarios, and what the runs have in common.
///
/// From its making on, the first Ctrl-C asks the runs to stop at their next reporting interval,
/// and the second ends the program.
#[derive(Debug)]
pub struct Jobs {
    runtime: Runtime,
    at_a_time: usize,
    bars: ProgressBars,
    stop: Arc<AtomicBool>,
}

/// How the program ends at the second Ctrl-C.
pub const INTERRUPTED: u8 = 130;

impl Jobs {
    /// `at_a_time` runs at the same time, as many as there are cores without it.
    ///
    /// # Errors
    /// The system gives no threads or signals.
    pub fn new(at_a_time: Option<NonZeroUsize>, bars: ProgressBars) -> io::Result<Self> {
        let at_a_time = at_a_time.or_else(|| thread::available_parallelism().ok());
        let at_a_time = at_a_time.map_or(1, NonZeroUsize::get);
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(at_a_time)
            .enable_all()
            .build()?;
        let stop = Arc::new(AtomicBool::new(false));
        runtime.spawn(stop_at_interrupt(Arc::clone(&stop)));
        Ok(Self { runtime, at_a_time, bars, stop })
    }

    /// Whether somebody pressed Ctrl-C.
    pub fn is_interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Takes the progress off the terminal while something else is written to it.
    pub fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bars.suspend(write)
    }

    /// Runs the scenarios and hands over what became of each, with its place in the list, as soon
    /// as it is known. If that answers with a break, the runs under way are left alone. Those that
    /// are much work begin first, so that the last ones are short.
    pub fn run<B>(
        &self,
        scenarios: &[Arc<Scenario>],
        done: impl FnMut(usize, Outcome) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.run_within(scenarios, longest_first(scenarios), memory::available(), run_one, done)
    }

    /// As [`Jobs::run`], begun and handed over in the order of the list: what is known too early
    /// waits.
    pub fn run_in_order<B>(
        &self,
        scenarios: &[Arc<Scenario>],
        mut done: impl FnMut(usize, Outcome) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let mut early = BTreeMap::new();
        let mut next = 0;
        let order = (0..scenarios.len()).collect();
        self.run_within(scenarios, order, memory::available(), run_one, |number, outcome| {
            early.insert(number, outcome);
            while let Some(outcome) = early.remove(&next) {
                done(next, outcome)?;
                next += 1;
            }
            ControlFlow::Continue(())
        })
    }

    /// As [`Jobs::run`], with the results that a store has taken from it, and what comes to its
    /// end kept in it. What is wrong with the store is told and hinders nobody.
    pub fn run_kept<B>(
        &self,
        scenarios: &[Arc<Scenario>],
        store: &Store,
        mut tell: impl FnMut(&str),
        mut done: impl FnMut(usize, Outcome) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let mut numbers = Vec::new();
        for (number, scenario) in scenarios.iter().enumerate() {
            match store.get(scenario) {
                Ok(Some(result)) => done(number, Outcome::Finished(Box::new(result)))?,
                Ok(None) => numbers.push(number),
                Err(damaged) => {
                    tell(&damaged.to_string());
                    numbers.push(number);
                }
            }
        }
        let rest: Vec<_> = numbers.iter().map(|number| Arc::clone(&scenarios[*number])).collect();
        let mut refused = false;
        self.run(&rest, |place, outcome| {
            if let Outcome::Finished(result) = &outcome
                && let Err(error) = store.put(&rest[place], result)
                && !std::mem::replace(&mut refused, true)
            {
                tell(&format!("results cannot be kept: {error}"));
            }
            done(numbers[place], outcome)
        })
    }

    fn run_within<B>(
        &self,
        scenarios: &[Arc<Scenario>],
        order: Vec<usize>,
        memory: Option<Bytes>,
        run: fn(&Scenario, &AtomicBool, &ProgressBars) -> Outcome,
        mut done: impl FnMut(usize, Outcome) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let job = |number: usize| Job { number, memory: memory_needed(&scenarios[number]) };
        let mut waiting: Vec<_> = order.into_iter().map(job).collect();
        let memory = memory.unwrap_or(Bytes::new(u64::MAX));
        let mut free = memory;
        let mut under_way = JoinSet::new();
        let overall = self.bars.overall(scenarios.len());
        loop {
            while under_way.len() < self.at_a_time
                && let Some(next) = waiting.iter().position(|job| job.memory <= free)
            {
                let job = waiting.remove(next);
                free = Bytes::new(free.get() - job.memory.get());
                let (stop, bars) = (Arc::clone(&self.stop), self.bars.clone());
                let scenario = Arc::clone(&scenarios[job.number]);
                let task = move || (job, or_panic(|| run(&scenario, &stop, &bars)));
                under_way.spawn_blocking_on(task, self.runtime.handle());
            }
            match self.runtime.block_on(under_way.join_next()) {
                Some(Ok((job, outcome))) => {
                    free += job.memory;
                    overall.one_done();
                    done(job.number, outcome)?;
                }
                // A task ends by itself or with the program; it catches what panics in it.
                Some(Err(_)) => {}
                None if waiting.is_empty() => return ControlFlow::Continue(()),
                None => {
                    let job = waiting.remove(0);
                    let error = JobError::Memory { needed: job.memory, available: memory };
                    done(job.number, Outcome::Failed(error))?;
                }
            }
        }
    }

    /// Ends the threads without waiting for runs that nobody wants any more.
    pub fn shut_down(self) {
        self.runtime.shutdown_background();
    }
}

/// A run that is waiting or under way.
struct Job {
    /// Its place in the list.
    number: usize,
    memory: Bytes,
}

/// The places of the runs by the work they are, that with the most first; of equals the one asked
/// for first.
fn longest_first(scenarios: &[Arc<Scenario>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scenarios.len()).collect();
    order.sort_by_key(|number| std::cmp::Reverse(index_operations(&scenarios[*number])));
    order
}

/// Inserts and deletes on single indexes: what the time of a run is nearly proportional to.
fn index_operations(scenario: &Scenario) -> u64 {
    let workload = &scenario.workload;
    let deletes = workload.window.map_or(0, |window| workload.rows.saturating_sub(window.rows));
    (workload.rows + deletes) * u64::from(workload.indexes())
}

fn run_one(scenario: &Scenario, stop: &AtomicBool, bars: &ProgressBars) -> Outcome {
    if stop.load(Ordering::Relaxed) {
        return Outcome::Stopped(None);
    }
    let progress = bars.add(&scenario.name);
    let result = run(scenario, stop, &mut |update| progress.update(update));
    progress.finish();
    match result {
        Ok(result) if result.totals.rows < scenario.workload.rows => {
            Outcome::Stopped(Some(Box::new(result)))
        }
        Ok(result) => Outcome::Finished(Box::new(result)),
        Err(error) => Outcome::Failed(error.into()),
    }
}

fn or_panic(run: impl FnOnce() -> Outcome) -> Outcome {
    panic::catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|cause| {
        Outcome::Failed(JobError::Panic { message: message(&*cause).to_owned() })
    })
}

/// What a panic said.
pub fn message(cause: &(dyn Any + Send)) -> &str {
    let text = cause.downcast_ref::<&str>().copied();
    text.or_else(|| cause.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// Asks the runs to stop at the first interrupt, and ends the program at the second.
async fn stop_at_interrupt(stop: Arc<AtomicBool>) {
    while signal::ctrl_c().await.is_ok() {
        if stop.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(INTERRUPTED));
        }
    }
}

#[cfg(test)]
mod tests;
