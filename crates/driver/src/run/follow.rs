//! One insert, followed page by page.

use cost_model::{Event, PageId, SimTime, TimeLedger};
use index::{IndexId, IndexStats, RowId};

use super::{Client, Role, Run};

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
    /// Inserts the next row, outside of any statement and with all other clients standing still.
    ///
    /// Nothing if no client is between two rows, or no row is left.
    pub fn follow_insert(&mut self) -> Option<FollowedInsert> {
        let Self { world, clients, meter } = self;
        let Client { thread, .. } = clients.iter_mut().find(|client| match &client.role {
            Role::Insert(inserter) => inserter.is_between_rows(),
            Role::Delete(_) | Role::Query(_) => false,
        })?;
        if world.rows_total <= world.next_row {
            return None;
        }
        let row = RowId(world.next_row);
        world.next_row += 1;
        thread.set_horizon(SimTime::NEVER);
        let (began, time) = (thread.now(), thread.time().clone());
        let price = world.machine.prices().row;
        world.machine.compute(thread, price);
        let mut indexes = Vec::new();
        for (number, name) in meter.index_names().iter().enumerate() {
            let index = IndexId(number as u8);
            let began = thread.now();
            world.machine.follow();
            while world.engine.insert(&mut world.machine, thread, index, row).is_err() {}
            world.machine.release(thread);
            let (stats, events) = (world.engine.stats(index), world.machine.followed());
            indexes.push(FollowedIndex { name: name.clone(), began, stats, events });
        }
        world.row_done(thread);
        Some(FollowedInsert { row, began, time: thread.time().since(&time), indexes })
    }

    /// Which index a page belongs to now, by its name, and how high above the leaves it lies.
    pub fn locate(&self, page: PageId) -> Option<(&str, u32)> {
        let (index, level) = self.world.engine.locate(page)?;
        Some((self.meter.index_names().get(index.index())?, level))
    }

    /// Pages that the buffer pool holds at most.
    pub fn pool_pages(&self) -> u64 {
        u64::from(self.world.machine.config().pool.frames)
    }
}
