//! Replays a scenario's key stream through its engine, in virtual time.
//!
//! [`run`] does the whole of it. [`Run`] is the same in steps, for those who want to stop at a
//! row and look.

mod background;
mod build;
mod deleter;
mod follow;
mod inserter;
mod merger;
mod meter;
mod purger;
mod querier;
mod statement;
mod world;

use std::sync::atomic::{AtomicBool, Ordering};

use cost_model::{Cause, LogSync, Machine, OsWriter, SimThread, SimTime};
use index::IndexEngine;
use thiserror::Error;

use crate::report::RunResult;
use crate::scenario::Scenario;
use crate::workload::StreamError;

use background::EngineThread;
use deleter::Deleter;
use inserter::Inserter;
use meter::Meter;
use purger::Purger;
use querier::Querier;
use world::World;

pub use build::memory_needed;
pub use follow::{FollowedIndex, FollowedInsert};

/// Why a run could not begin.
#[derive(Debug, Error)]
pub enum RunError {
    /// The key stream could not be opened.
    #[error(transparent)]
    Stream(#[from] StreamError),
}

/// How far a run is, at the end of a reporting interval.
#[derive(Clone, Copy, Debug)]
pub struct Update {
    /// Rows inserted so far.
    pub rows: u64,
    /// Rows asked for.
    pub rows_total: u64,
    /// Virtual time so far.
    pub virtual_time: SimTime,
    /// Rows per virtual second in the interval.
    pub rows_per_s: f64,
}

/// Runs a scenario to its end, or until `stop` is set: then the result has the intervals that
/// were finished, and says so in a note.
///
/// # Errors
/// The key stream cannot be opened.
pub fn run(
    scenario: &Scenario,
    stop: &AtomicBool,
    observe: &mut dyn FnMut(&Update),
) -> Result<RunResult, RunError> {
    let mut run = Run::new(scenario)?;
    while !run.is_finished() {
        if stop.load(Ordering::Relaxed) {
            run.meter.note(format!("stopped after {} rows", run.rows()));
            break;
        }
        run.advance(run.meter.next_point());
        observe(&run.update());
    }
    if run.is_finished() && !stop.load(Ordering::Relaxed) {
        run.ask();
    }
    Ok(run.finish())
}

/// A run under way.
pub struct Run {
    world: World,
    clients: Vec<Client>,
    meter: Meter,
    /// Who queries after the load.
    asker: Option<Querier>,
}

/// A simulated connection, or a thread of the engine.
struct Client {
    thread: SimThread,
    role: Role,
}

/// What a thread does.
enum Role {
    Insert(Inserter),
    Delete(Deleter),
    Query(Box<Querier>),
    Background(Box<EngineThread>),
    Purge(Purger),
    Log(LogSync),
    System(OsWriter),
}

/// What a client wants of the run loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// To go on when it is the furthest behind.
    Again,
    /// Nothing any more.
    Finished,
}

impl Run {
    /// A run at its start.
    ///
    /// # Errors
    /// The key stream cannot be opened.
    pub fn new(scenario: &Scenario) -> Result<Self, RunError> {
        Self::measured_up_to(scenario, scenario.workload.rows)
    }

    /// A run at its start whose reporting intervals end at `rows` rows, or soon after.
    ///
    /// # Errors
    /// As [`Run::new`].
    pub fn measured_up_to(scenario: &Scenario, rows: u64) -> Result<Self, RunError> {
        let mut world = build::world(scenario)?;
        let clients = build::clients(scenario, &world);
        let meter = Meter::new(scenario, &mut world, rows);
        let asker = build::querier_after_load(scenario);
        Ok(Self { world, clients, meter, asker })
    }

    /// Rows inserted so far.
    pub fn rows(&self) -> u64 {
        self.world.rows_done
    }

    /// Whether all rows are inserted.
    pub fn is_finished(&self) -> bool {
        self.world.rows_total <= self.world.rows_done
    }

    /// The simulated machine and the engine on it.
    pub fn parts(&mut self) -> (&mut Machine, &mut dyn IndexEngine) {
        (&mut self.world.machine, &mut *self.world.engine)
    }

    /// The result of the intervals that are complete so far.
    pub fn finish(self) -> RunResult {
        self.meter.finish(&self.world)
    }

    /// Goes on until at least `rows` rows are inserted (or all of them), finishing a reporting
    /// interval at every multiple of its rows on the way; the last may be up to half as long again.
    pub fn advance(&mut self, rows: u64) {
        let rows = rows.min(self.world.rows_total);
        while self.world.rows_done < rows {
            self.world.pause_at = rows.min(self.meter.next_point());
            self.pass();
            if self.meter.next_point() <= self.world.rows_done || self.is_finished() {
                self.meter.record(&mut self.world, &threads(&self.clients));
            }
        }
    }

    /// Sends the queries that follow the load, if there are any, while the threads of the engine
    /// go on.
    fn ask(&mut self) {
        let Some(asker) = self.asker.take() else { return };
        self.world.pause_at = u64::MAX;
        // The last statement has yet to be committed, and its deletes to be done.
        let is_loading = |client: &Client| matches!(client.role, Role::Insert(_) | Role::Delete(_));
        while self.clients.iter().any(is_loading) {
            self.step_next();
        }
        let clocks = self.clients.iter().map(|client| client.thread.now());
        let thread = SimThread::new(clocks.fold(self.world.last_row_at, SimTime::max));
        self.clients.push(Client { thread, role: Role::Query(Box::new(asker)) });
        let is_asking = |client: &Client| matches!(client.role, Role::Query(_));
        while self.clients.iter().any(is_asking) {
            self.step_next();
        }
    }

    /// How far this is.
    pub fn update(&self) -> Update {
        Update {
            rows: self.world.rows_done,
            rows_total: self.world.rows_total,
            virtual_time: self.meter.virtual_time(),
            rows_per_s: self.meter.last_rate(),
        }
    }

    /// Steps the clients, always the one furthest behind, until the world says to pause.
    fn pass(&mut self) {
        while self.world.rows_done < self.world.pause_at {
            self.step_next();
        }
    }

    /// Steps the client furthest behind.
    fn step_next(&mut self) {
        let (next, horizon) = furthest_behind(&self.clients);
        self.step(next, horizon);
    }

    /// Steps a thread up to the present of the one next behind it, and parts from it when it has
    /// finished.
    fn step(&mut self, next: usize, horizon: SimTime) -> Turn {
        let Client { thread, role } = &mut self.clients[next];
        thread.set_horizon(horizon);
        let turn = match role {
            Role::Insert(inserter) => inserter.step(thread, &mut self.world),
            Role::Delete(deleter) => deleter.step(thread, &mut self.world),
            Role::Query(querier) => querier.step(thread, &mut self.world),
            Role::Background(background) => {
                background.step(thread, &mut self.world);
                Turn::Again
            }
            Role::Purge(purger) => {
                purger.step(thread, &mut self.world);
                Turn::Again
            }
            Role::Log(log) => {
                log.step(thread, &mut self.world.machine);
                Turn::Again
            }
            Role::System(writer) => {
                writer.step(thread, &mut self.world.machine);
                Turn::Again
            }
        };
        if let Some(at) = self.world.machine.cleaner_call() {
            self.wake(at, |role| matches!(role, Role::Background(_)));
        }
        if let Some(at) = self.world.purge_call.take() {
            self.wake(at, |role| matches!(role, Role::Purge(_)));
        }
        if turn == Turn::Finished {
            self.meter.retire(&self.clients[next].thread);
            self.clients.remove(next);
        }
        turn
    }

    #[cold]
    fn wake(&mut self, at: SimTime, who: impl Fn(&Role) -> bool) {
        for client in self.clients.iter_mut().filter(|client| who(&client.role)) {
            client.thread.wake(at);
        }
    }
}

/// The client with the earliest present, and the present of the one next behind it.
fn furthest_behind(clients: &[Client]) -> (usize, SimTime) {
    let (mut next, mut horizon) = (0, SimTime::NEVER);
    for (number, client) in clients.iter().enumerate().skip(1) {
        if client.thread.due() < clients[next].thread.due() {
            horizon = clients[next].thread.due();
            next = number;
        } else {
            horizon = horizon.min(client.thread.due());
        }
    }
    (next, horizon)
}

/// The threads whose time is accounted for: the connections.
fn threads(clients: &[Client]) -> Vec<&SimThread> {
    let is_connection = |client: &&Client| {
        !matches!(
            client.role,
            Role::Background(_) | Role::Purge(_) | Role::Log(_) | Role::System(_)
        )
    };
    let connections = clients.iter().filter(is_connection);
    connections.map(|client| &client.thread).collect()
}
