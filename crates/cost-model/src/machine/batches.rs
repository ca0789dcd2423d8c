//! Flush batches that are running: who may wait for which, and until when at least.

use crate::{SimDuration, SimTime};

/// The least time that somebody waits who does not know for how long.
pub(super) const NEXT_INSTANT: SimDuration = SimDuration::from_ns(1);

/// The same where nothing is under way that could be waited for: operations of other threads hold
/// the pages.
pub(super) const RETRY: SimDuration = SimDuration::from_us(10);

/// A batch, also after it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BatchId {
    slot: u32,
    generation: u32,
    pub(super) list: List,
}

/// Which end of which list a batch writes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum List {
    /// Pages that were not used for longest.
    Lru,
    /// Pages that have been dirty for longest.
    Dirty,
}

/// The batches that are running.
#[derive(Debug, Default)]
pub(super) struct Batches {
    slots: Vec<Slot>,
    /// The one that uses the doublewrite buffer.
    doublewrite: Option<BatchId>,
}

#[derive(Debug)]
struct Slot {
    generation: u32,
    is_running: bool,
    list: List,
    instance: usize,
    /// Its thread waits until then.
    until: SimTime,
    /// Pages given to the writers that are not on the device.
    outstanding: u32,
}

impl Batches {
    pub(super) fn begin(&mut self, list: List, instance: usize, now: SimTime) -> BatchId {
        debug_assert!(self.running(list, instance).is_none(), "one batch for each list");
        let slot = self.slots.iter().position(|slot| !slot.is_running).unwrap_or_else(|| {
            let generation = 0;
            let idle =
                Slot { generation, is_running: false, list, instance, until: now, outstanding: 0 };
            self.slots.push(idle);
            self.slots.len() - 1
        });
        let generation = self.slots[slot].generation + 1;
        self.slots[slot] =
            Slot { generation, is_running: true, list, instance, until: now, outstanding: 0 };
        BatchId { slot: slot as u32, generation, list }
    }

    pub(super) fn end(&mut self, id: BatchId) {
        self.release_doublewrite(id);
        self.slots[id.slot as usize].is_running = false;
    }

    /// The batch that is writing from this list.
    pub(super) fn running(&self, list: List, instance: usize) -> Option<BatchId> {
        let wanted =
            |slot: &Slot| slot.is_running && slot.list == list && slot.instance == instance;
        let slot = self.slots.iter().position(wanted)?;
        Some(BatchId { slot: slot as u32, generation: self.slots[slot].generation, list })
    }

    /// Until when a batch waits now; `None` if it has ended.
    pub(super) fn until(&self, id: BatchId) -> Option<SimTime> {
        let slot = &self.slots[id.slot as usize];
        (slot.is_running && slot.generation == id.generation).then_some(slot.until)
    }

    /// The thread of a batch waits until then.
    pub(super) fn waits(&mut self, id: BatchId, until: SimTime) {
        self.slots[id.slot as usize].until = until;
    }

    /// Takes the doublewrite buffer.
    ///
    /// # Errors
    /// Another batch has it.
    pub(super) fn take_doublewrite(&mut self, id: BatchId) -> Result<(), BatchId> {
        match self.doublewrite {
            Some(other) if other != id => Err(other),
            _ => {
                self.doublewrite = Some(id);
                Ok(())
            }
        }
    }

    pub(super) fn release_doublewrite(&mut self, id: BatchId) {
        if self.doublewrite == Some(id) {
            self.doublewrite = None;
        }
    }

    /// Pages were given to the writers.
    pub(super) fn posted(&mut self, id: BatchId, pages: u32) {
        self.slots[id.slot as usize].outstanding += pages;
    }

    /// Pages are on the device, or need not get there any more. A batch that waits for nothing
    /// may have ended.
    pub(super) fn written(&mut self, id: BatchId, pages: u32) {
        let slot = &mut self.slots[id.slot as usize];
        if slot.generation == id.generation {
            slot.outstanding -= pages;
        }
    }

    pub(super) fn outstanding(&self, id: BatchId) -> u32 {
        self.slots[id.slot as usize].outstanding
    }

    /// When the first batch goes on.
    pub(super) fn next(&self) -> SimTime {
        let running = self.slots.iter().filter(|slot| slot.is_running);
        running.map(|slot| slot.until).min().unwrap_or(SimTime::NEVER)
    }
}
