//! Scripts on an engine beside the model.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::ops::{ControlFlow, Range, RangeInclusive};

use cost_model::{Machine, MachineConfig, SimThread, SimTime, Step};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

use super::keys::{KeyOrder, TestKeys};
use super::machines::{Host, hosts};
use super::model::Model;
use super::ops::{Op, scripts};
use super::threads::Helper;
use crate::{IndexEngine, IndexId, Key, KeySource, RowId};

/// An operation that is tried so often without success will never succeed.
const ATTEMPTS_MAX: u32 = 20_000;

/// Random scripts on random machines.
#[derive(Clone, Debug)]
pub struct Suite {
    /// Scripts to try.
    pub cases: u32,
    /// Simulated threads, each with rows of its own.
    pub threads: usize,
    /// Rows of each thread.
    pub rows: u64,
    /// Frames of a pool instance: enough for the pages that all threads need at one time.
    pub frames: RangeInclusive<u32>,
}

impl Suite {
    /// Runs scripts on engines that `build` makes from `configs`; panics with the shortest script
    /// that fails. The scripts are the same in every run.
    pub fn run<C: Clone + Debug, E: IndexEngine>(
        &self,
        configs: impl Strategy<Value = C>,
        build: impl Fn(&C, TestKeys, &mut Machine, &mut SimThread) -> E,
    ) {
        let orders = prop_oneof![
            3 => Just(KeyOrder::Uniform),
            1 => Just(KeyOrder::Ascending),
            1 => Just(KeyOrder::Descending),
            2 => (1..4u64).prop_map(|values| KeyOrder::Ties { values }),
        ];
        let keys = orders.prop_map(|order| TestKeys { order, seed: 1 });
        let setups = (scripts(self.threads, self.rows), keys, hosts(self.frames.clone()));
        let config = Config { cases: self.cases, failure_persistence: None, ..Config::default() };
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
        let outcome = TestRunner::new_with_rng(config, rng).run(
            &(setups, configs),
            |((scripts, keys, host), config)| {
                let build = |machine: &mut Machine, thread: &mut SimThread| {
                    build(&config, keys, machine, thread)
                };
                Trial::new(host, scripts.len(), keys, build).play(&scripts);
                Ok(())
            },
        );
        match outcome {
            Ok(()) => {}
            Err(TestError::Fail(reason, script)) => panic!("{reason}, with {script:?}"),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Plays one script on each thread of an engine, and compares every answer with the model.
pub fn replay<E: IndexEngine>(
    machine: MachineConfig,
    keys: TestKeys,
    scripts: &[Vec<Op>],
    build: impl FnOnce(&mut Machine, &mut SimThread) -> E,
) {
    let host = Host { machine, background: None };
    Trial::new(host, scripts.len(), keys, build).play(scripts);
}

/// An engine on its machine, beside its model.
struct Trial<E> {
    machine: Machine,
    threads: Vec<SimThread>,
    helper: Option<Helper>,
    engine: E,
    keys: TestKeys,
    model: Model,
}

/// One call of the engine that is going on.
#[derive(Clone, Debug)]
enum Call {
    Insert(IndexId, RowId),
    Delete(IndexId, RowId),
    Truncate,
    Get(IndexId, RowId),
    Range { index: IndexId, from: Key, left: usize },
    Prepare(Range<u64>),
    Purge(u16),
    Commit,
}

impl<E: IndexEngine> Trial<E> {
    fn new(
        host: Host,
        threads: usize,
        keys: TestKeys,
        build: impl FnOnce(&mut Machine, &mut SimThread) -> E,
    ) -> Self {
        let all = threads + usize::from(host.background.is_some());
        let mut machine = Machine::new(host.machine, all);
        let mut threads: Vec<_> = (0..threads).map(|_| SimThread::new(SimTime::ZERO)).collect();
        let engine = build(&mut machine, &mut threads[0]);
        if 1 < threads.len() {
            machine.use_latches(engine.index_count());
        }
        let model = Model::new(engine.index_count());
        let helper = host.background.map(Helper::new);
        Self { machine, threads, helper, engine, keys, model }
    }

    /// Plays one script on each thread, then compares everything.
    fn play(&mut self, scripts: &[Vec<Op>]) {
        let mut scripts: Vec<_> = scripts.iter().map(|script| script.iter()).collect();
        let mut calls: Vec<VecDeque<Call>> = vec![VecDeque::new(); scripts.len()];
        let mut attempts = vec![0; scripts.len()];
        let mut threads = std::mem::take(&mut self.threads);
        let mut running: Vec<usize> = (0..threads.len()).collect();
        while let Some(at) = (0..running.len()).min_by_key(|at| threads[running[*at]].now()) {
            let number = running[at];
            let mut script = || scripts[number].next();
            while calls[number].is_empty()
                && let Some(op) = script()
            {
                // As on a server, whose lock of the table waits for its transactions.
                if op == &Op::Truncate && calls.iter().any(|calls| !calls.is_empty()) {
                    continue;
                }
                calls[number] = self.calls(*op, number as u64, threads.len() as u64);
                calls[number].push_back(Call::Commit);
                self.engine.begin_transaction(&mut self.machine, &mut threads[number]);
            }
            let others = running.iter().filter(|other| **other != number);
            let horizon = others.map(|other| threads[*other].now()).min();
            let thread = &mut threads[number];
            self.give_turn(thread, horizon.unwrap_or(SimTime::NEVER));
            let Some(call) = calls[number].front_mut() else {
                running.remove(at);
                continue;
            };
            attempts[number] += 1;
            assert!(attempts[number] < ATTEMPTS_MAX, "{call:?} never succeeds");
            if self.attempt(thread, call).is_ok() {
                self.machine.release(thread);
                self.engine.verify();
                calls[number].pop_front();
                attempts[number] = 0;
            }
            self.machine.verify();
        }
        self.threads = threads;
        self.compare();
        self.purge();
        self.compare();
    }

    /// Purges all there is to purge.
    fn purge(&mut self) {
        let mut threads = std::mem::take(&mut self.threads);
        let thread = threads.iter_mut().max_by_key(|thread| thread.now()).expect("one thread");
        let mut attempts = 0;
        loop {
            self.give_turn(thread, SimTime::NEVER);
            attempts += 1;
            assert!(attempts < ATTEMPTS_MAX, "the purge never ends");
            match self.engine.purge(&mut self.machine, thread) {
                Ok(true) => attempts = 0,
                Ok(false) => break,
                Err(_) => continue,
            }
            self.machine.release(thread);
            self.engine.verify();
        }
        self.machine.release(thread);
        let stats = |index| self.engine.stats(IndexId(index as u16));
        assert!((0..self.engine.index_count()).all(|index| stats(index).marked == 0));
        assert!(self.engine.history().is_none_or(|history| history.transactions == 0));
        self.threads = threads;
    }

    /// Lets the background thread act first, if it is further behind; then this one may act until
    /// another's turn comes at `others`.
    fn give_turn(&mut self, thread: &mut SimThread, others: SimTime) {
        let helper = self.helper.as_mut().map_or(SimTime::NEVER, |helper| {
            helper.catch_up(&mut self.machine, thread.now());
            helper.due()
        });
        thread.set_horizon(others.min(helper));
    }

    /// Compares all entries and counts with the model.
    fn compare(&mut self) {
        let mut threads = std::mem::take(&mut self.threads);
        for number in 0..self.engine.index_count() {
            let index = IndexId(number as u16);
            let mut call = Call::Range { index, from: Key::MIN, left: usize::MAX };
            let thread = threads.iter_mut().max_by_key(|thread| thread.now()).expect("one thread");
            loop {
                self.give_turn(thread, SimTime::NEVER);
                if self.attempt(thread, &mut call).is_ok() {
                    break;
                }
            }
            self.machine.release(thread);
            assert_eq!(self.engine.stats(index).entries, self.model.len(index), "{index:?}");
        }
        for thread in &threads {
            let since_start = thread.now().since(SimTime::ZERO);
            assert_eq!(thread.time().total(), since_start, "every nanosecond has a cause");
        }
        self.threads = threads;
    }

    /// The calls that carry out one step of a thread's script.
    fn calls(&self, op: Op, thread: u64, threads: u64) -> VecDeque<Call> {
        let row = |own: u64| RowId(own * threads + thread);
        let indexes = || (0..self.engine.index_count()).map(|index| IndexId(index as u16));
        let key = |index, row| self.keys.key(index, row);
        let pick = |selector: u8| IndexId(u16::from(selector) % self.engine.index_count() as u16);
        match op {
            Op::Insert(own) => indexes()
                .filter(|index| self.model.get(*index, key(*index, row(own))).is_none())
                .map(|index| Call::Insert(index, row(own)))
                .collect(),
            Op::Delete(own) => indexes().map(|index| Call::Delete(index, row(own))).collect(),
            Op::DeleteLive(nth) => {
                let live = self.model.range(IndexId::PRIMARY, Key::MIN);
                let mine: Vec<_> =
                    live.map(|(_, row)| row).filter(|row| row.0 % threads == thread).collect();
                match nth.checked_rem(mine.len()) {
                    Some(nth) => indexes().map(|index| Call::Delete(index, mine[nth])).collect(),
                    None => VecDeque::new(),
                }
            }
            Op::Get(index, own) => [Call::Get(pick(index), row(own))].into(),
            Op::Range(index, own, left) => {
                let index = pick(index);
                [Call::Range { index, from: key(index, row(own)), left }].into()
            }
            Op::Truncate => [Call::Truncate].into(),
            Op::Purge(entries) => [Call::Purge(entries)].into(),
            Op::Prepare(own) => [Call::Prepare(row(own).0..row(own).0 + 5)].into(),
        }
    }

    /// Tries a call, and compares what it answers with what the model says now.
    fn attempt(&mut self, thread: &mut SimThread, call: &mut Call) -> Step {
        let (machine, engine) = (&mut self.machine, &mut self.engine);
        match call {
            Call::Insert(index, row) => {
                engine.insert(machine, thread, *index, *row)?;
                self.model.insert(*index, self.keys.key(*index, *row), *row);
            }
            Call::Delete(index, row) => {
                engine.delete(machine, thread, *index, *row)?;
                self.model.remove(*index, self.keys.key(*index, *row));
            }
            Call::Truncate => {
                for index in (0..engine.index_count()).map(|index| IndexId(index as u16)) {
                    engine.truncate(machine, index);
                    self.model.clear(index);
                }
            }
            Call::Get(index, row) => {
                let key = self.keys.key(*index, *row);
                let found = engine.get(machine, thread, *index, key)?;
                assert_eq!(found, self.model.get(*index, key), "get {row:?} in {index:?}");
            }
            Call::Range { index, from, left } => {
                // Other threads may have come in between two attempts: each continues from the
                // state it finds.
                let mut expected = self.model.range(*index, *from);
                let mut visit = |key, row| {
                    assert_eq!(Some((key, row)), expected.next(), "range in {index:?}");
                    *left = left.saturating_sub(1);
                    if *left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                };
                engine.range(machine, thread, *index, from, Key::MAX, &mut visit)?;
                if 0 < *left {
                    assert_eq!(None, expected.next(), "range in {index:?} ends too early");
                }
            }
            Call::Prepare(rows) => {
                let indexes = 0..engine.index_count() as u16;
                engine.prepare(machine, rows.clone(), indexes);
            }
            Call::Purge(entries) => {
                while 0 < *entries && engine.purge(machine, thread)? {
                    machine.release(thread);
                    *entries -= 1;
                }
            }
            Call::Commit => {
                engine.end_transaction(machine, thread)?;
                machine.commit(thread)?;
            }
        }
        Ok(())
    }
}
