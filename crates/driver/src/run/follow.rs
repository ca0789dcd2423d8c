//! One insert, followed page by page.

use cost_model::{Event, PageId, SimTime, TimeLedger};
use index::{IndexId, IndexStats, PageUse, RowId};

use super::world::World;
use super::{Client, Role, Run, Turn, furthest_behind};

/// What one insert did.
#[derive(Clone, Debug)]
pub struct FollowedInsert {
    /// The row.
    pub row: RowId,
    /// When its client began with it.
    pub began: SimTime,
    /// Where the client's time went until the row was in all indexes.
    pub time: TimeLedger,
    /// What happened in each index, in the order in which they were changed.
    pub indexes: Vec<FollowedIndex>,
}

/// What an insert did in one index.
#[derive(Clone, Debug)]
pub struct FollowedIndex {
    /// Its name in the table definition.
    pub name: String,
    /// When the insert came to it.
    pub began: SimTime,
    /// The index after the insert.
    pub stats: IndexStats,
    /// What happened to pages, in order of time.
    pub events: Vec<(SimTime, Event)>,
}

impl Run {
    /// Inserts the next row, outside of any statement, while all others go on as ever.
    ///
    /// Nothing if no client is between two rows, or no row is left.
    pub fn follow_insert(&mut self) -> Option<FollowedInsert> {
        let mut client = self.clients.iter().position(|client| match &client.role {
            Role::Insert(inserter) => inserter.is_between_rows(),
            _ => false,
        })?;
        if self.world.rows_total <= self.world.next_row {
            return None;
        }
        let row = RowId(self.world.next_row);
        self.world.next_row += 1;
        let Client { thread, .. } = &mut self.clients[client];
        let (began, time) = (thread.now(), thread.time().clone());
        let price = self.world.machine.prices().row;
        self.world.machine.compute(thread, price);
        let mut indexes = Vec::new();
        for number in 0..self.world.partitions.indexes() {
            let index = self.world.index_of(row, number);
            let began = self.clients[client].thread.now();
            let events = self.follow_entry(&mut client, index, row);
            let name = self.meter.index_names()[usize::from(number)].clone();
            let stats = self.world.engine.stats(index);
            indexes.push(FollowedIndex { name, began, stats, events });
        }
        let thread = &self.clients[client].thread;
        self.world.row_done(thread);
        Some(FollowedInsert { row, began, time: thread.time().since(&time), indexes })
    }

    /// Inserts one entry; what others do meanwhile is not noted.
    fn follow_entry(
        &mut self,
        client: &mut usize,
        index: IndexId,
        row: RowId,
    ) -> Vec<(SimTime, Event)> {
        let mut events = Vec::new();
        loop {
            let (next, horizon) = furthest_behind(&self.clients);
            if next != *client {
                if self.step(next, horizon) == Turn::Finished && next < *client {
                    *client -= 1;
                }
                continue;
            }
            let World { machine, engine, .. } = &mut self.world;
            let thread = &mut self.clients[*client].thread;
            thread.set_horizon(horizon);
            machine.follow(events);
            let inserted = engine.insert(machine, thread, index, row).is_ok();
            events = machine.followed();
            if inserted {
                machine.release(thread);
                return events;
            }
        }
    }

    /// What a page belongs to now, by its name, and what it is used for.
    pub fn locate(&self, page: PageId) -> Option<(&str, PageUse)> {
        let used = self.world.engine.locate(page)?;
        let name = match used {
            PageUse::Index(index, _) => {
                let index = self.world.partitions.table_index(index);
                self.meter.index_names().get(index.index())?
            }
            PageUse::UndoLog => "undo log",
            PageUse::ChangeBuffer => "change buffer",
            PageUse::Bitmap => "bitmap",
        };
        Some((name, used))
    }

    /// Levels of an index now, leaves included.
    pub fn levels(&self, index: IndexId) -> u32 {
        self.world.engine.stats(index).height
    }

    /// Bytes of the entries in the leaves of all indexes now.
    pub fn leaf_bytes(&self) -> u64 {
        let engine = &self.world.engine;
        let indexes = (0..engine.index_count()).map(|index| IndexId(index as u16));
        indexes.map(|index| engine.stats(index).leaf_bytes).sum()
    }

    /// Whether the rows of a statement are sorted before they enter the secondary indexes.
    pub fn sorts_rows(&self) -> bool {
        0 < self.world.statements.bulk_capacity
    }
}
