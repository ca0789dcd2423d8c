//! Flush batches that are running: who may wait for which, and until when at least.

use std::collections::VecDeque;

use super::flush::Latched;
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
    /// The one that writes the doublewrite buffer, and those that wait for it.
    doublewrite: Option<BatchId>,
    doublewrite_queue: VecDeque<BatchId>,
    /// How often it was written.
    round: u64,
    /// Pages of others that there is room for until it is written, and those they have added.
    open: u32,
    joined: Vec<Latched>,
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
        self.doublewrite_queue.retain(|waiting| *waiting != id);
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

    /// Takes the doublewrite buffer, or waits in line for it.
    ///
    /// # Errors
    /// Another batch has it, or is to have it next.
    pub(super) fn take_doublewrite(&mut self, id: BatchId) -> Result<(), BatchId> {
        let first = self.doublewrite.or_else(|| self.doublewrite_queue.front().copied());
        match first {
            Some(other) if other != id => {
                if !self.doublewrite_queue.contains(&id) {
                    self.doublewrite_queue.push_back(id);
                }
                Err(other)
            }
            _ => {
                self.doublewrite_queue.retain(|waiting| *waiting != id);
                self.doublewrite = Some(id);
                Ok(())
            }
        }
    }

    pub(super) fn release_doublewrite(&mut self, id: BatchId) {
        if self.doublewrite == Some(id) {
            self.doublewrite = None;
            self.round += 1;
        }
    }

    /// Whether any batch is in line for the doublewrite buffer.
    pub(super) fn others_wait(&self) -> bool {
        !self.doublewrite_queue.is_empty()
    }

    /// Others may add so many pages to the doublewrite buffer.
    pub(super) fn open(&mut self, pages: u32) {
        self.open = pages;
    }

    /// Pages that may be added to it now.
    pub(super) fn room_to_join(&self) -> u32 {
        self.open
    }

    /// A batch adds pages; tells in which round they are written.
    pub(super) fn join(&mut self, pages: &mut Vec<Latched>) -> u64 {
        self.open -= pages.len() as u32;
        self.joined.append(pages);
        self.round
    }

    /// No more pages are added; returns those that were.
    pub(super) fn close(&mut self) -> Vec<Latched> {
        self.open = 0;
        std::mem::take(&mut self.joined)
    }

    /// The batch that writes the doublewrite buffer in a round, if that is not over.
    pub(super) fn writer(&self, round: u64) -> Option<BatchId> {
        self.doublewrite.filter(|_| self.round == round)
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

    /// Whether pages of a batch, or of any, are on their way to the device.
    pub(super) fn is_outstanding(&self, id: BatchId, any: bool) -> bool {
        let of = |slot: &Slot| 0 < slot.outstanding;
        if any { self.slots.iter().any(of) } else { of(&self.slots[id.slot as usize]) }
    }

    /// When the first batch goes on.
    pub(super) fn next(&self) -> SimTime {
        let running = self.slots.iter().filter(|slot| slot.is_running);
        running.map(|slot| slot.until).min().unwrap_or(SimTime::NEVER)
    }
}
