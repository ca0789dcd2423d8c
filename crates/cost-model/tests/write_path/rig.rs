//! A machine whose clients change random pages, with the run loop of several threads.

use cost_model::device::{DeviceSpec, HddSpec, Raid};
use cost_model::{
    Background, BackgroundConfig, Bytes, Cause, Draw, LogAtCommit, LruWriter, Machine,
    MachineConfig, MakeYoung, Margin, MarginCounts, Neighbours, PageId, PoolConfig, Purpose,
    RedoConfig, SimDuration, SimThread, SimTime, Step, WriteBackConfig,
};

/// So many calls in a row without any time passing are an endless loop.
const CALLS_PER_INSTANT: u64 = 10_000;

/// So many calls for one change are a wait in steps that are too small.
const CALLS_PER_CHANGE: u64 = 100_000;

/// Plain LRU, no margin, no neighbours, one instance.
pub(crate) fn pool(frames: u32) -> PoolConfig {
    PoolConfig {
        frames,
        instances: 1,
        old_fraction: 0.0,
        old_len_min: 80,
        old_blocks_ms: 0,
        young_distance: 0.0,
        make_young: MakeYoung::Any,
        reads_check_bitmap: false,
        margin: Margin { scan: 0, low: 0, high: 0, counts: MarginCounts::FreeAndClean },
        neighbours: Neighbours::None,
        area_pages: 64,
    }
}

/// One disk without a write cache: 6 ms seek, 8 ms a turn, 100 MB/s.
pub(crate) fn disk() -> HddSpec {
    HddSpec {
        spindles: 1,
        raid: Raid::R0,
        stripe: Bytes::gib(1),
        seek: SimDuration::from_ms(6),
        rotation: SimDuration::from_ms(8),
        transfer_bytes_per_s: 100_000_000,
        queue_floor: 1.0,
        queue_max: 1,
        write_cache: Bytes::ZERO,
        sync_latency: SimDuration::ZERO,
        destage_depth: 8,
        journal_seek: None,
        max_request: Bytes::mib(1),
    }
}

/// 8 x 15K SAS in RAID 10 behind a battery-backed cache (PERC 6/i: 5,370 syncs a second).
pub(crate) fn array() -> HddSpec {
    HddSpec {
        spindles: 8,
        raid: Raid::R10,
        stripe: Bytes::kib(64),
        seek: SimDuration::from_us(2_850),
        rotation: SimDuration::from_ms(4),
        transfer_bytes_per_s: 110_000_000,
        queue_floor: 0.48,
        queue_max: 64,
        write_cache: Bytes::mib(512),
        sync_latency: SimDuration::from_us(186),
        max_request: Bytes::kib(256),
        ..disk()
    }
}

/// How built-in `InnoDB` 5.1 writes: doublewrite, one thread that writes.
pub(crate) const INNODB_5_1: WriteBackConfig = WriteBackConfig {
    doublewrite_pages: 128,
    threads: 1,
    join_pages: 64,
    lru: LruWriter::Reader,
    file_growth: Bytes::ZERO,
    latches_one_in: 1,
};

/// A redo log whose greatest age is `age_max`.
pub(crate) fn redo(age_max: Bytes) -> RedoConfig {
    RedoConfig::innodb(age_max, 1.0, Bytes::ZERO)
}

/// The master thread's frame: ticks of a second, nothing adaptive.
pub(crate) fn background() -> BackgroundConfig {
    BackgroundConfig {
        period: SimDuration::from_ms(1_000),
        log_sync: None,
        io_capacity: 200,
        io_capacity_max: 2_000,
        dirty_max: 1.0,
        dirty_sleeps: true,
        adaptive: cost_model::Adaptive::Off,
        tenth_tick: false,
        cleans_tails: false,
        checkpoint_ticks: 10,
    }
}

/// What the clients do.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    pub(crate) clients: usize,
    /// Changes of each client.
    pub(crate) changes: u64,
    /// Pages that are changed, uniformly.
    pub(crate) pages: u32,
    /// Redo bytes of a change.
    pub(crate) redo_bytes: u64,
    /// Changes between two commits.
    pub(crate) per_commit: u64,
    /// Time a client computes for a change on average; uniform within a half to either side, so
    /// that clients do not run in step.
    pub(crate) compute: SimDuration,
}

/// A client: the change it is at.
struct Client {
    thread: SimThread,
    draw: Draw,
    page: Option<PageId>,
    changes: u64,
    committing: bool,
}

/// Machine, clients and background thread.
pub(crate) struct Rig {
    pub(crate) machine: Machine,
    pub(crate) load: Load,
    clients: Vec<Client>,
    background: Option<(SimThread, Background)>,
    calls_now: (SimTime, u64),
}

impl Rig {
    pub(crate) fn new(
        config: MachineConfig,
        load: Load,
        background: Option<BackgroundConfig>,
    ) -> Self {
        let threads = load.clients + usize::from(background.is_some());
        let clients = (0..load.clients).map(|number| Client {
            thread: SimThread::new(SimTime::ZERO),
            draw: Draw::new(config.seed, 1 + number as u64),
            page: None,
            changes: 0,
            committing: false,
        });
        Self {
            clients: clients.collect(),
            machine: Machine::new(config, threads),
            load,
            background: background
                .map(|config| (SimThread::new(SimTime::ZERO), Background::new(config))),
            calls_now: (SimTime::ZERO, 0),
        }
    }

    /// A pool that holds all pages, each of them changed once already without any log.
    pub(crate) fn with_resident_pages(mut self) -> Self {
        let mut nobody = SimThread::new(SimTime::ZERO);
        for page in 0..self.load.pages {
            assert!(self.machine.reserve(&mut nobody, 1).is_ok(), "the pool holds all pages");
            self.machine.create(&mut nobody, PageId(page));
        }
        assert_eq!(self.machine.io().reads_and_writes().1.pages, 0, "nothing was written");
        self
    }

    /// Runs until every client has made its changes.
    pub(crate) fn run(&mut self) -> &mut Self {
        self.run_with(|_| {})
    }

    /// The same; looks at the machine after every call.
    pub(crate) fn run_with(&mut self, mut look: impl FnMut(&Machine)) -> &mut Self {
        let mut calls = vec![0; self.clients.len()];
        while let Some(next) = self.next() {
            let before = self.clients.get(next).map(|client| client.changes);
            self.step(next);
            look(&self.machine);
            if let Some(before) = before {
                let moved = before < self.clients[next].changes;
                calls[next] = if moved { 0 } else { calls[next] + 1 };
                assert!(calls[next] < CALLS_PER_CHANGE, "client {next} waits in tiny steps");
            }
        }
        self.machine.verify();
        self.check_time();
        self
    }

    /// Lets the background thread go on alone until `at`.
    pub(crate) fn idle_until(&mut self, at: SimTime) {
        let (thread, background) = self.background.as_mut().expect("a background thread");
        thread.set_horizon(SimTime::NEVER);
        while thread.due() < at {
            background.step(thread, &mut self.machine);
        }
        self.machine.verify();
    }

    /// The latest present of a client.
    pub(crate) fn now(&self) -> SimTime {
        self.clients.iter().map(|client| client.thread.now()).max().unwrap_or_default()
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.now().as_secs_f64()
    }

    /// Time of all clients spent on `cause`.
    pub(crate) fn spent(&self, cause: Cause) -> SimDuration {
        let times = self.clients.iter().map(|client| client.thread.time().get(cause));
        times.fold(SimDuration::ZERO, |sum, time| sum + time)
    }

    /// Pages written by `purpose` so far.
    pub(crate) fn pages(&self, purpose: Purpose) -> u64 {
        self.machine.io().get(purpose).pages
    }

    /// The thread that is furthest behind, clients first; none when all clients are done.
    fn next(&self) -> Option<usize> {
        let at_work = |client: &Client| client.changes < self.load.changes || client.committing;
        if !self.clients.iter().any(at_work) {
            return None;
        }
        let clients = self.clients.iter().enumerate().filter(|(_, client)| at_work(client));
        let due = clients.map(|(number, client)| (client.thread.due(), number));
        let background = self.background.iter().map(|(thread, _)| (thread.due(), usize::MAX));
        due.chain(background).min().map(|(_, number)| number)
    }

    fn step(&mut self, next: usize) {
        let load = &self.load;
        let at_work = |client: &Client| client.changes < load.changes || client.committing;
        let others = self.clients.iter().enumerate().filter(|(number, _)| *number != next);
        let dues = others.filter(|(_, client)| at_work(client)).map(|(_, c)| c.thread.due());
        let sleeper = self.background.iter().filter(|_| next != usize::MAX);
        let horizon = dues.chain(sleeper.map(|(thread, _)| thread.due())).min();
        let horizon = horizon.unwrap_or(SimTime::NEVER);
        let now = if let Some(client) = self.clients.get_mut(next) {
            client.thread.set_horizon(horizon);
            client.go_on(&mut self.machine, &self.load);
            client.thread.now()
        } else {
            let (thread, background) = self.background.as_mut().expect("it was due");
            thread.set_horizon(horizon);
            background.step(thread, &mut self.machine);
            thread.now()
        };
        if let (Some(at), Some((thread, _))) = (self.machine.cleaner_call(), &mut self.background) {
            thread.wake(at);
        }
        let calls = if self.calls_now.0 == now { self.calls_now.1 + 1 } else { 0 };
        assert!(calls < CALLS_PER_INSTANT, "no time passes any more at {} ns", now.as_ns());
        self.calls_now = (now, calls);
    }

    fn check_time(&self) {
        let threads = self.clients.iter().map(|client| &client.thread);
        for thread in threads.chain(self.background.iter().map(|(thread, _)| thread)) {
            let since_start = thread.now().since(SimTime::ZERO);
            assert_eq!(thread.time().total(), since_start, "every nanosecond has a cause");
        }
    }
}

impl Client {
    /// One step: a commit, or the computing for a change, or a change.
    fn go_on(&mut self, machine: &mut Machine, load: &Load) {
        if self.committing {
            self.committing = machine.commit(&mut self.thread).is_err();
            return;
        }
        let Some(page) = self.page else {
            self.page = Some(PageId(self.draw.below(load.pages.into()) as u32));
            let jitter = 0.5 + self.draw.unit();
            machine.compute(&mut self.thread, load.compute.scaled(jitter));
            return;
        };
        if self.change(machine, page, load).is_ok() {
            machine.release(&mut self.thread);
            self.page = None;
            self.changes += 1;
            self.committing = self.changes.is_multiple_of(load.per_commit);
        }
    }

    fn change(&mut self, machine: &mut Machine, page: PageId, load: &Load) -> Step {
        machine.begin_change(&mut self.thread)?;
        let frame = machine.fetch_for_change(&mut self.thread, page, Purpose::LeafRead)?;
        machine.log(load.redo_bytes);
        machine.change(&self.thread, frame);
        Ok(())
    }
}

/// A machine on these disks with a pool of `frames` frames, a redo log and the writes of 5.1.
pub(crate) fn machine(disks: DeviceSpec, frames: u32, age_max: Bytes) -> MachineConfig {
    let mut config = MachineConfig::new(disks, pool(frames));
    config.write_back = INNODB_5_1;
    config.redo = Some(redo(age_max));
    config.commit.log = LogAtCommit::Nothing;
    config
}

/// A thread and what it does: called until it says that it is done.
pub(crate) type Actor<'a> =
    (SimThread, Box<dyn FnMut(&mut Machine, &mut SimThread) -> Step<bool> + 'a>);

/// Lets actors act, always the one that is furthest behind, until all are done.
pub(crate) fn act(machine: &mut Machine, actors: &mut [Actor<'_>]) {
    let mut running: Vec<usize> = (0..actors.len()).collect();
    while let Some(at) = (0..running.len()).min_by_key(|at| actors[running[*at]].0.now()) {
        let number = running[at];
        let others = running.iter().filter(|other| **other != number);
        let horizon = others.map(|other| actors[*other].0.now()).min().unwrap_or(SimTime::NEVER);
        let (thread, action) = &mut actors[number];
        thread.set_horizon(horizon);
        if let Ok(true) = action(machine, thread) {
            machine.release(thread);
            running.remove(at);
        }
        machine.verify();
    }
}
