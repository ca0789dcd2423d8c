//! What a thread has to do, by the engine's rules, before it may go on with its own work.

use super::Machine;
use super::batches::{BatchId, List};
use super::config::LruWriter;
use super::flush::{FlushBatch, Wanted};
use crate::{Cause, Lsn, MarginCounts, SimThread, SimTime, Step};

/// One duty and how far it is.
#[derive(Debug)]
pub(crate) enum Duty {
    /// Writes dirty pages.
    Flush(Box<FlushBatch>),
    /// Waits until another thread's batch is over.
    Behind(BatchId, Cause),
    /// Moves the checkpoint.
    Checkpoint(Checkpoint),
    /// Waits until the file has grown.
    Growth,
    /// Waits until then.
    Await(SimTime, Cause),
    /// Waits until the threads that read can take another request.
    Readers,
}

/// How far a checkpoint is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checkpoint {
    /// Where its waits are booked.
    pub(crate) cause: Cause,
    pub(crate) phase: CheckpointPhase,
}

/// A checkpoint syncs the data files, then the log, then writes where it is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CheckpointPhase {
    Begin,
    DataSynced(Lsn),
    Log(Lsn),
    Written(Lsn),
}

impl Machine {
    /// Goes on with what `thread` has to do before anything else: flush batches, checkpoints.
    ///
    /// # Errors
    /// [`Blocked`](crate::Blocked) until it is done.
    #[inline]
    pub fn work(&mut self, thread: &mut SimThread) -> Step {
        if thread.duties.is_empty() { Ok(()) } else { self.work_on(thread) }
    }

    #[cold]
    fn work_on(&mut self, thread: &mut SimThread) -> Step {
        thread.in_turn()?;
        self.settle(thread.now());
        while let Some(mut duty) = thread.duties.pop_front() {
            if let Duty::Flush(batch) = &duty
                && let Some((other, list)) = self.rival(batch)
            {
                if (list, self.config.write_back.lru) != (List::Lru, LruWriter::Reader) {
                    continue;
                }
                duty = Duty::Behind(other, Cause::FreePage);
            }
            let step = match &mut duty {
                Duty::Flush(batch) => self.flush(thread, batch),
                Duty::Behind(id, cause) => match self.batches.until(*id) {
                    Some(_) => Err(self.wait_for_batch(thread, *id, *cause, None)),
                    None => Ok(()),
                },
                Duty::Checkpoint(checkpoint) => self.checkpoint(thread, checkpoint),
                Duty::Growth => self.grow_file(thread),
                Duty::Await(until, cause) => self.wait(thread, *until, *cause),
                Duty::Readers => self.await_readers(thread),
            };
            if step.is_err() {
                thread.duties.push_front(duty);
                self.keep_latch(thread);
                return step;
            }
        }
        thread.in_turn()
    }

    /// The batch that writes from the same list, if this one has not begun: another thread was
    /// faster.
    fn rival(&self, batch: &FlushBatch) -> Option<(BatchId, List)> {
        let (list, instance) = batch.waits_for_list()?;
        Some((self.batches.running(list, instance)?, list))
    }

    /// The LRU flush margin: when too little of the tail could be replaced, some of it is written.
    pub(super) fn keep_margin(&mut self, thread: &mut SimThread, instance: usize) {
        let want = self.pool.margin_shortage(instance);
        if 0 < want {
            self.flush_tail(thread, instance, want);
        }
    }

    /// Has `want` pages at the tail of the LRU list written, by whoever has to.
    pub(super) fn flush_tail(&mut self, thread: &mut SimThread, instance: usize, want: u32) {
        let running = self.batches.running(List::Lru, instance);
        match (self.config.write_back.lru, running) {
            (LruWriter::Cleaner, _) => self.call_cleaner(thread),
            (_, None) => {
                thread.duties.push_back(Duty::Flush(Box::new(self.lru_batch(instance, want, 0))));
            }
            (LruWriter::Reader, Some(other)) => {
                thread.duties.push_back(Duty::Behind(other, Cause::FreePage));
            }
            (LruWriter::ReaderAlone, Some(_)) => {}
        }
    }

    /// The page cleaner is to come now.
    pub(super) fn call_cleaner(&mut self, thread: &mut SimThread) {
        self.cleaner_wanted = Some(thread.now());
        thread.let_go_first(thread.now());
    }

    /// When a thread wanted the page cleaner to come at once, if one did and it has not come.
    #[inline]
    pub fn cleaner_call(&self) -> Option<SimTime> {
        self.cleaner_wanted
    }

    /// The page cleaner has come.
    pub(crate) fn take_cleaner_call(&mut self) -> Option<SimTime> {
        self.cleaner_wanted.take()
    }

    /// Gives `thread` the duty to write `pages` dirty pages, those that have been dirty for
    /// longest, the instances in equal parts; only such whose oldest change is older than
    /// `older_than`. An instance of which another thread does so already is left out.
    pub fn flush_oldest(&mut self, thread: &mut SimThread, pages: u32, older_than: Lsn) {
        let instances = self.config.pool.instances;
        for instance in 0..instances {
            self.flush_oldest_of(
                thread,
                instance as usize,
                pages.div_ceil(instances),
                older_than,
                None,
            );
        }
    }

    /// The same for one instance; tells which batch does so already.
    pub(super) fn flush_oldest_of(
        &mut self,
        thread: &mut SimThread,
        instance: usize,
        pages: u32,
        older_than: Lsn,
        cause: Option<Cause>,
    ) -> Option<BatchId> {
        let running = self.batches.running(List::Dirty, instance);
        let any = || self.pool.next_dirty(instance, None, older_than).is_some();
        if running.is_none() && 0 < pages && any() {
            let wanted = Wanted { list: List::Dirty, instance, pages, older_than, frames: 0 };
            thread.duties.push_back(Duty::Flush(Box::new(FlushBatch::new(wanted, cause))));
        }
        running
    }

    /// Gives `thread` the duty to write `pages` pages at the tail of each LRU list where as many
    /// are dirty.
    pub fn flush_tails(&mut self, thread: &mut SimThread) {
        for instance in 0..self.config.pool.instances as usize {
            if self.batches.running(List::Lru, instance).is_some() {
                continue;
            }
            let wanted = std::mem::take(&mut self.frames_wanted[instance]);
            let want = self.pool.margin_shortage(instance).max(wanted);
            if 0 < want {
                thread
                    .duties
                    .push_back(Duty::Flush(Box::new(self.lru_batch(instance, want, wanted))));
            }
        }
    }

    /// Gives `thread` the duty to make a checkpoint.
    pub fn make_checkpoint(&mut self, thread: &mut SimThread) {
        self.add_checkpoint(thread, Cause::Flush);
    }

    pub(super) fn add_checkpoint(&mut self, thread: &mut SimThread, cause: Cause) {
        if self.redo.is_some() {
            let phase = CheckpointPhase::Begin;
            thread.duties.push_back(Duty::Checkpoint(Checkpoint { cause, phase }));
        }
    }

    /// The first pages beyond the end of the file are needed: it grows.
    fn grow_file(&mut self, thread: &mut SimThread) -> Step {
        let growth = self.config.write_back.file_growth;
        let page_size = self.config.page_size;
        while self.file_end <= u64::from(self.file_needed) {
            let offset = self.file_end * page_size.get();
            self.file_end += growth.whole(page_size).max(1);
            let len = self.file_end * page_size.get() - offset;
            let done = self.write_zeros(thread.now(), offset, len);
            self.wait(thread, done, Cause::Flush)?;
        }
        self.give_latch_back(thread);
        Ok(())
    }

    /// A batch that writes `want` pages at the tail; a page cleaner's ends by its own rule, or
    /// when there are the free `frames` that somebody waits for.
    pub(super) fn lru_batch(&self, instance: usize, want: u32, frames: u32) -> FlushBatch {
        let pages = match self.config.pool.margin.counts {
            MarginCounts::FreeAndClean => want,
            MarginCounts::Free { writes_max, .. } => writes_max.max(frames),
        };
        let wanted = Wanted { list: List::Lru, instance, pages, older_than: Lsn::MAX, frames };
        FlushBatch::new(wanted, None)
    }
}
