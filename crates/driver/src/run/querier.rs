//! A client that queries.

use std::ops::ControlFlow;

use cost_model::{Draw, SimDuration, SimThread, SimTime, Step};
use index::{Estimate, IndexId, Key, LevelStats, RowId};

use super::world::World;
use super::{Cause, Turn};
use crate::scenario::{Predicate, Queries, QueryKind, RangeQuery};
use crate::workload::price_column;

/// How often a client looks whether it may begin.
const POLL: SimDuration = SimDuration::from_ms(1);

/// Columns by which a query says where its scan starts: all that an index has.
const ALL_COLUMNS: u32 = 3;

/// Sends one query after the other: beside the inserts without end, after them as many as asked
/// for of every kind.
pub(super) struct Querier {
    queries: Queries,
    draw: Draw,
    /// Which index is next in turn.
    turn: u16,
    current: Option<Query>,
    next_start: SimTime,
    spacing: SimDuration,
    counts: Asked,
    /// Whether the first query is still to come.
    is_first: bool,
}

/// What a query asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Entries of a range, in key order, up to a limit.
    Range(RangeQuery),
    /// The row with a primary key, or the entry with the whole key of an index.
    Row,
    /// All entries with the values of a row in all columns of the index.
    Equal,
}

/// What queries of one kind did in one round.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) index: u16,
    pub(super) form: Form,
    pub(super) round: u32,
    pub(super) queries: u64,
    pub(super) rows: u64,
    pub(super) reads: u64,
    pub(super) requests: u64,
    /// The levels of a fractal tree after these queries, and before them.
    pub(super) levels: Vec<LevelStats>,
    pub(super) levels_before: Vec<LevelStats>,
    pub(super) time: SimDuration,
}

struct Query {
    started: SimTime,
    form: Form,
    rows_left: u32,
    rows_returned: u32,
    /// Where the range ends.
    to: Key,
    /// A place in each partition that has to be asked, and those of them that were estimated.
    cursors: Vec<Cursor>,
    estimated: usize,
}

/// A place in one of the engine's indexes.
struct Cursor {
    index: IndexId,
    estimate: Estimate,
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
        let counts = Asked::nothing(0, Form::Row, 0);
        let is_first = true;
        Self { queries, draw, turn, current, next_start, spacing, counts, is_first }
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
            if self.current.is_none() && self.is_over(thread, world) {
                return Turn::Finished;
            }
            let before = *world.machine.pool_stats();
            let blocks_before = world.machine.block_pages_read();
            let began = thread.now();
            let returned = self.go_on(thread, world);
            let after = world.machine.pool_stats();
            let blocks = world.machine.block_pages_read() - blocks_before;
            let reads = after.reads - before.reads + blocks;
            self.counts.reads += reads;
            self.counts.requests += after.requests - before.requests;
            self.counts.time += thread.now().since(began);
            if self.queries.after_load.is_none() {
                world.query_reads += reads;
                world.queries_done += u64::from(returned.is_some());
            }
            if let Some(rows) = returned {
                self.counts.queries += 1;
                self.counts.rows += u64::from(rows);
            }
        }
    }

    /// After the load: whether all queries of all kinds were sent; begins the next round of a kind,
    /// or the first of the next kind.
    fn is_over(&mut self, thread: &mut SimThread, world: &mut World) -> bool {
        let Some(after_load) = self.queries.after_load else { return false };
        if self.counts.queries != 0 && self.counts.queries < after_load.queries {
            return false;
        }
        if after_load.cold && self.is_first {
            let written = world.engine.reopen(&mut world.machine, thread.now());
            let _ = thread.wait_until(written, Cause::Think);
        }
        self.is_first = false;
        let levels = world.engine.levels();
        if self.counts.queries != 0 {
            world.asked.push(Asked { levels: levels.clone(), ..self.counts.clone() });
        }
        let rounds = after_load.rounds as usize;
        let (kind, round) = (world.asked.len() / rounds, world.asked.len() % rounds);
        let Some(&(index, form)) = self.kinds(world).get(kind) else {
            return true;
        };
        self.counts = Asked { levels_before: levels, ..Asked::nothing(index, form, round as u32) };
        false
    }

    /// The kinds of queries, by the place of their index among those there are, in the order in
    /// which they are sent.
    fn kinds(&self, world: &World) -> Vec<(u16, Form)> {
        let (first, indexes) = (world.workload.first_index(), world.partitions.indexes());
        let form = |place| match (self.queries.range, place) {
            (Some(range), _) => Form::Range(range),
            (None, 0) => Form::Row,
            (None, _) => Form::Equal,
        };
        let of = |place| (place, form(place));
        if let Some(index) = self.queries.kind.index() {
            return vec![of(index - first)];
        }
        if self.queries.kind == QueryKind::RoundRobin {
            return (0..indexes).map(of).collect();
        }
        let secondary = u16::from(first == 0)..indexes;
        let of_range = |range| secondary.clone().map(move |place| (place, Form::Range(range)));
        let ranges = self.queries.range.into_iter().flat_map(of_range);
        let equal = secondary.clone().take(1).map(|place| (place, Form::Equal));
        ranges.chain([(0, Form::Row)]).chain(equal).collect()
    }

    /// Does what is possible now; tells how many rows a query returned if it was completed.
    fn go_on(&mut self, thread: &mut SimThread, world: &mut World) -> Option<u32> {
        if self.current.is_none() {
            thread.wait_until(self.next_start, Cause::Think);
            self.next_start = thread.now() + self.spacing;
            self.current = Some(self.start(thread, world));
            let price = world.machine.prices().query;
            world.machine.compute(thread, price);
        }
        let query = self.current.as_mut()?;
        let done = match query.form {
            Form::Row => query.look_up(thread, world),
            Form::Range(_) | Form::Equal => query.scan(thread, world),
        };
        done.ok()?;
        world.machine.release(thread);
        let rows = query.rows_returned;
        let price = world.machine.prices().row_returned;
        world.machine.compute(thread, price * u64::from(rows));
        world.operations += 1;
        world.query_latency.record(query.started, thread.now());
        self.current = None;
        Some(rows)
    }

    fn start(&mut self, thread: &SimThread, world: &World) -> Query {
        let (index, form) = if self.queries.after_load.is_some() {
            (self.counts.index, self.counts.form)
        } else {
            let kinds = self.kinds(world);
            self.turn = (self.turn + 1) % kinds.len() as u16;
            kinds[usize::from(self.turn)]
        };
        let live = world.rows_done - world.oldest_row.min(world.rows_done);
        let row = RowId(world.oldest_row + self.draw.below(live.max(1)));
        let of_table = IndexId(index);
        let in_table = world.workload.first_index() + index;
        let source = &world.source;
        // Columns that are bounded, and those of them that are equal.
        let (columns, equal) = match form {
            Form::Row => (ALL_COLUMNS, 0),
            Form::Equal => {
                // The last one is the primary key, which the query does not know.
                let columns = source.columns(of_table) - 1;
                (columns, columns)
            }
            Form::Range(range) => match (range.predicate, world.profile) {
                (Predicate::FirstColumn, _) => (1, 0),
                (Predicate::Price, Some(profile)) if in_table != 0 => {
                    let price = price_column(profile, in_table);
                    (price, price - 1)
                }
                (Predicate::AllColumns | Predicate::Price, _) => (ALL_COLUMNS, 0),
            },
        };
        let to = source.upper_bound(of_table, row, equal);
        let (from, partitions) = match form {
            Form::Row => {
                // The server knows where the row must be.
                let partition = world.partitions.of(row);
                (source.key(of_table, row), partition..partition + 1)
            }
            Form::Range(_) | Form::Equal => {
                (source.lower_bound(of_table, row, columns), 0..world.partitions.count())
            }
        };
        let leaves = self.queries.estimate_leaves;
        let cursor = |partition| Cursor {
            index: world.partitions.index_of(partition, index),
            estimate: Estimate::new(from, to, leaves),
            from,
            head: Head::Unread,
        };
        let cursors: Vec<Cursor> = partitions.map(cursor).collect();
        Query {
            started: thread.now(),
            form,
            rows_left: match form {
                Form::Range(range) => range.limit,
                Form::Row | Form::Equal => u32::MAX,
            },
            rows_returned: 0,
            to,
            estimated: if leaves == 0 { cursors.len() } else { 0 },
            cursors,
        }
    }
}

impl Asked {
    fn nothing(index: u16, form: Form, round: u32) -> Self {
        let time = SimDuration::ZERO;
        Self {
            index,
            form,
            round,
            queries: 0,
            rows: 0,
            reads: 0,
            requests: 0,
            levels: Vec::new(),
            levels_before: Vec::new(),
            time,
        }
    }
}

impl Form {
    /// The word of reports.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Range(_) => "range",
            Self::Row => "row",
            Self::Equal => "equal",
        }
    }
}

impl Query {
    /// Looks the row up in its partition.
    fn look_up(&mut self, thread: &mut SimThread, world: &mut World) -> Step {
        let Cursor { index, from, .. } = self.cursors[0];
        let found = world.engine.get(&mut world.machine, thread, index, from)?;
        self.rows_returned = u32::from(found.is_some());
        Ok(())
    }

    /// Visits entries in key order until there are enough or the range ends, after all partitions
    /// were estimated.
    fn scan(&mut self, thread: &mut SimThread, world: &mut World) -> Step {
        let (machine, engine) = (&mut world.machine, &mut world.engine);
        while let Some(cursor) = self.cursors.get_mut(self.estimated) {
            engine.estimate(machine, thread, cursor.index, &mut cursor.estimate)?;
            self.estimated += 1;
        }
        let to = self.to;
        if let [only] = &mut self.cursors[..] {
            let (left, returned) = (&mut self.rows_left, &mut self.rows_returned);
            let mut visit = |key: Key, _: RowId| {
                if to < key {
                    return ControlFlow::Break(());
                }
                *left -= 1;
                *returned += 1;
                if *left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            return engine.range(machine, thread, only.index, &mut only.from, to, &mut visit);
        }
        // The first entry of each partition is read, then always the next one of that partition
        // whose entry was taken (MySQL 5.5 source, ha_partition.cc: ordered index scan).
        while 0 < self.rows_left {
            for cursor in self.cursors.iter_mut().filter(|cursor| cursor.head == Head::Unread) {
                let Cursor { index, from, head, .. } = cursor;
                let mut found = Head::End;
                let mut visit = |key: Key, _: RowId| {
                    if key <= to {
                        found = Head::Entry(key);
                    }
                    ControlFlow::Break(())
                };
                engine.range(machine, thread, *index, from, to, &mut visit)?;
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
