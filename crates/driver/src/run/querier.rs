//! A client that queries.

use std::ops::ControlFlow;

use cost_model::{Draw, SimDuration, SimThread, SimTime, Step};
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
    turn: u16,
    current: Option<Query>,
    next_start: SimTime,
    spacing: SimDuration,
}

struct Query {
    started: SimTime,
    rows_left: u32,
    rows_returned: u32,
    /// A place in each partition that has to be asked.
    cursors: Vec<Cursor>,
}

/// A place in one of the engine's indexes.
struct Cursor {
    index: IndexId,
    from: Key,
    /// The entry there, once it was read.
    head: Head,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Head {
    Unread,
    Entry(Key),
    End,
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
        let done = if self.queries.limit.is_none() {
            query.look_up(thread, world)
        } else {
            query.scan(thread, world)
        };
        if done.is_err() {
            return false;
        }
        world.machine.release(thread);
        let price = world.machine.prices().row_returned;
        world.machine.compute(thread, price * u64::from(query.rows_returned));
        world.operations += 1;
        world.query_latency.record(query.started, thread.now());
        self.current = None;
        true
    }

    fn start(&mut self, thread: &SimThread, world: &World) -> Query {
        let index = self.next_index(world.partitions.indexes());
        let live = world.rows_done - world.oldest_row.min(world.rows_done);
        let row = RowId(world.oldest_row + self.draw.below(live.max(1)));
        let of_table = IndexId(index);
        let from = match self.queries.limit {
            None => world.source.key(of_table, row),
            Some(_) => world.source.lower_bound(of_table, row, ALL_COLUMNS),
        };
        let partitions = if of_table == IndexId::PRIMARY && self.queries.limit.is_none() {
            // The server knows where the row must be.
            let partition = world.partitions.of(row);
            partition..partition + 1
        } else {
            0..world.partitions.count()
        };
        let cursor = |partition| Cursor {
            index: world.partitions.index_of(partition, index),
            from,
            head: Head::Unread,
        };
        Query {
            started: thread.now(),
            rows_left: self.queries.limit.unwrap_or(1),
            rows_returned: 0,
            cursors: partitions.map(cursor).collect(),
        }
    }

    fn next_index(&mut self, indexes: u16) -> u16 {
        match self.queries.kind {
            QueryKind::Primary => 0,
            QueryKind::Market => 1,
            QueryKind::Register => 2,
            QueryKind::Pdc => 3,
            QueryKind::RoundRobin => {
                self.turn = (self.turn + 1) % indexes;
                self.turn
            }
        }
    }
}

impl Query {
    /// Looks the entry up in one partition after the other.
    fn look_up(&mut self, thread: &mut SimThread, world: &mut World) -> Step {
        while let Some(cursor) = self.cursors.last() {
            let (machine, engine) = (&mut world.machine, &mut world.engine);
            let found = engine.get(machine, thread, cursor.index, cursor.from)?;
            self.rows_returned += u32::from(found.is_some());
            world.machine.release(thread);
            self.cursors.pop();
        }
        Ok(())
    }

    /// Visits entries in key order until there are enough.
    fn scan(&mut self, thread: &mut SimThread, world: &mut World) -> Step {
        let (machine, engine) = (&mut world.machine, &mut world.engine);
        if let [only] = &mut self.cursors[..] {
            let (left, returned) = (&mut self.rows_left, &mut self.rows_returned);
            let mut visit = |_: Key, _: RowId| {
                *left -= 1;
                *returned += 1;
                if *left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            return engine.range(machine, thread, only.index, &mut only.from, &mut visit);
        }
        // The first entry of each partition is read, then always the next one of that partition
        // whose entry was taken (MySQL 5.5 source, ha_partition.cc: ordered index scan).
        while 0 < self.rows_left {
            for cursor in self.cursors.iter_mut().filter(|cursor| cursor.head == Head::Unread) {
                let Cursor { index, from, head } = cursor;
                let mut found = Head::End;
                let mut visit = |key: Key, _: RowId| {
                    found = Head::Entry(key);
                    ControlFlow::Break(())
                };
                engine.range(machine, thread, *index, from, &mut visit)?;
                machine.release(thread);
                *head = found;
            }
            let entries = self.cursors.iter_mut().filter_map(|cursor| match cursor.head {
                Head::Entry(key) => Some((key, cursor)),
                Head::Unread | Head::End => None,
            });
            let Some((_, first)) = entries.min_by_key(|(key, _)| *key) else { break };
            first.head = Head::Unread;
            self.rows_left -= 1;
            self.rows_returned += 1;
        }
        Ok(())
    }
}
