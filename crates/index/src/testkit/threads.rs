//! The run loop of tests.

use std::ops::ControlFlow;

use cost_model::{Background, BackgroundConfig, Machine, SimThread, SimTime, Step};

use crate::{IndexEngine, IndexId, Key};

/// Tries an operation until it is done: for one thread alone.
pub fn finish<T>(
    machine: &mut Machine,
    thread: &mut SimThread,
    mut operation: impl FnMut(&mut Machine, &mut SimThread) -> Step<T>,
) -> T {
    loop {
        if let Ok(value) = operation(machine, thread) {
            machine.release(thread);
            return value;
        }
    }
}

/// Visits so many entries of an index from `from` on, or all there are: for one thread alone.
pub fn scan<E: IndexEngine>(
    engine: &mut E,
    machine: &mut Machine,
    thread: &mut SimThread,
    (index, mut from): (IndexId, Key),
    mut entries: u64,
) {
    finish(machine, thread, |machine, thread| {
        engine.range(machine, thread, index, &mut from, Key::MAX, &mut |_, _| {
            entries -= 1;
            if entries == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    });
}

/// Calls `turn` with the number of the thread that is furthest behind (the first of several),
/// until each has answered that it is done: `false`.
pub fn run_threads(threads: &mut [SimThread], mut turn: impl FnMut(usize, &mut SimThread) -> bool) {
    let mut running: Vec<usize> = (0..threads.len()).collect();
    while let Some(at) = (0..running.len()).min_by_key(|at| threads[running[*at]].now()) {
        let number = running[at];
        let others = running.iter().filter(|other| **other != number);
        let horizon = others.map(|other| threads[*other].now()).min().unwrap_or(SimTime::NEVER);
        threads[number].set_horizon(horizon);
        if !turn(number, &mut threads[number]) {
            running.remove(at);
        }
    }
}

/// The engine's background thread, beside those of a test.
pub(super) struct Helper {
    thread: SimThread,
    background: Background,
}

impl Helper {
    pub(super) fn new(config: BackgroundConfig) -> Self {
        Self { thread: SimThread::new(SimTime::ZERO), background: Background::new(config) }
    }

    /// When it acts next.
    pub(super) fn due(&self) -> SimTime {
        self.thread.due()
    }

    /// Acts up to `now`, and after `now` if it was called for.
    pub(super) fn catch_up(&mut self, machine: &mut Machine, now: SimTime) {
        if let Some(at) = machine.cleaner_call() {
            self.thread.wake(at);
        }
        self.thread.set_horizon(now);
        while self.thread.due() <= now {
            self.background.step(&mut self.thread, machine);
        }
        assert_eq!(
            self.thread.time().total(),
            self.thread.now().since(SimTime::ZERO),
            "every nanosecond has a cause"
        );
    }
}
