//! A client that queries.

use std::ops::ControlFlow;

use cost_model::{Draw, SimDuration, SimThread, SimTime};
use index::{IndexId, Key, RowId};

use super::world::World;
use super::{Cause, Turn};
use crate::scenario::{Queries, QueryKind};

/// How often a client looks whether it may begin.
const POLL: SimDuration = SimDuration::from_ms(1);

/// Columns by which a query says where its scan starts: all that an index has.
const ALL_COLUMNS: u32 = 3;

/// Sends one query after the other: scans of a few entries from a random place, or lookups of
/// one row.
pub(super) struct Querier {
    queries: Queries,
    draw: Draw,
    /// Which index is next in turn.
    turn: u8,
    current: Option<Query>,
    next_start: SimTime,
    spacing: SimDuration,
}

struct Query {
    index: IndexId,
    from: Key,
    started: SimTime,
    rows_left: u32,
}

impl Querier {
    pub(super) fn new(queries: Queries, draw: Draw) -> Self {
        let spacing = queries.rate_limit.map_or(SimDuration::ZERO, |queries_per_s| {
            SimDuration::from_secs_f64(f64::from(queries.clients) / queries_per_s as f64)
        });
        let (turn, current, next_start) = (0, None, SimTime::ZERO);
        Self { queries, draw, turn, current, next_start, spacing }
    }

    pub(super) fn step(&mut self, thread: &mut SimThread, world: &mut World) -> Turn {
        loop {
            if thread.is_ahead() || world.pause_at <= world.rows_done {
                return Turn::Again;
            }
            if world.rows_done <= self.queries.start_after_rows || world.rows_live() == 0 {
                thread.spend(Cause::Think, POLL);
                continue;
            }
            let reads_before = world.machine.pool_stats().reads;
            let is_done = self.go_on(thread, world);
            world.query_reads += world.machine.pool_stats().reads - reads_before;
            if is_done {
                world.queries_done += 1;
            }
        }
    }

    /// Does what is possible now; tells whether a query was completed.
    fn go_on(&mut self, thread: &mut SimThread, world: &mut World) -> bool {
        if self.current.is_none() {
            thread.wait_until(self.next_start, Cause::Think);
            self.next_start = thread.now() + self.spacing;
            self.current = Some(self.start(thread, world));
            let price = world.machine.prices().query;
            world.machine.compute(thread, price);
        }
        let Some(query) = &mut self.current else { return false };
        let (machine, engine) = (&mut world.machine, &mut world.engine);
        let done = if self.queries.limit.is_none() {
            engine.get(machine, thread, query.index, query.from).map(|found| {
                query.rows_left -= u32::from(found.is_some());
            })
        } else {
            let rows_left = &mut query.rows_left;
            let mut visit = |_: Key, _: RowId| {
                *rows_left -= 1;
                if *rows_left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            engine.range(machine, thread, query.index, &mut query.from, &mut visit)
        };
        if done.is_err() {
            return false;
        }
        machine.release(thread);
        let returned = self.queries.limit.unwrap_or(1) - query.rows_left;
        let price = machine.prices().row_returned;
        machine.compute(thread, price * u64::from(returned));
        world.operations += 1;
        world.query_latency.record(query.started, thread.now());
        self.current = None;
        true
    }

    fn start(&mut self, thread: &SimThread, world: &World) -> Query {
        let index = self.next_index(world.engine.index_count());
        let live = world.rows_done - world.oldest_row.min(world.rows_done);
        let row = RowId(world.oldest_row + self.draw.below(live.max(1)));
        let from = match self.queries.limit {
            None => world.source.key(index, row),
            Some(_) => world.source.lower_bound(index, row, ALL_COLUMNS),
        };
        let rows_left = self.queries.limit.unwrap_or(1);
        Query { index, from, started: thread.now(), rows_left }
    }

    fn next_index(&mut self, indexes: usize) -> IndexId {
        let number = match self.queries.kind {
            QueryKind::Primary => 0,
            QueryKind::Market => 1,
            QueryKind::Register => 2,
            QueryKind::Pdc => 3,
            QueryKind::RoundRobin => {
                self.turn = (self.turn + 1) % indexes as u8;
                self.turn
            }
        };
        IndexId(number)
    }
}
