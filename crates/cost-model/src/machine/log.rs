//! The redo log at work: what is logged, when it is made durable, and what a log that fills up
//! makes threads do.
//!
//! Rules from `MySQL` 5.1 source, log0log.c.

use super::Machine;
use super::batches::RETRY;
use super::duty::{Checkpoint, CheckpointPhase, Duty};
use crate::{Cause, Lsn, SimThread, SimTime, Step};

/// Between two looks at a log that is too old while another thread works on it.
const LOOK_AGAIN: u64 = 4 << 10;

impl Machine {
    /// A mini-transaction of `bytes` enters the redo log, if there is one: called before the
    /// pages it changes are marked as changed.
    #[inline]
    pub fn log(&mut self, bytes: u64) {
        if let Some(redo) = &mut self.redo {
            redo.append(bytes);
        }
    }

    /// An operation that changes something begins or is tried again: as [`begin`](Self::begin),
    /// after the redo log was given room where that is due.
    ///
    /// # Errors
    /// [`Blocked`](crate::Blocked) if another thread must go first, or this one has to write back
    /// or to wait for the log.
    #[inline]
    pub fn begin_change(&mut self, thread: &mut SimThread) -> Step {
        self.begin(thread)?;
        match &self.redo {
            Some(redo) if redo.check_at <= redo.end() && thread.pins.is_empty() => {
                self.check_log(thread)?;
                self.work(thread)
            }
            _ => Ok(()),
        }
    }

    /// Where the log ends now; zero without a log.
    pub fn log_end(&self) -> Lsn {
        self.redo.as_ref().map_or(Lsn(0), crate::redo::RedoLog::end)
    }

    /// The oldest change that is not on the device; the end of the log if there is none.
    pub fn oldest_change(&self) -> Lsn {
        self.pool.oldest_lsn().unwrap_or_else(|| self.log_end())
    }

    /// Makes the log durable up to `lsn` for a thread that waits for it.
    ///
    /// # Errors
    /// [`Blocked`](crate::Blocked) until it is.
    pub(super) fn flush_log(&mut self, thread: &mut SimThread, lsn: Lsn, cause: Cause) -> Step {
        thread.in_turn()?;
        let now = thread.now();
        let Some(redo) = &mut self.redo else { return Ok(()) };
        if lsn <= redo.durable(now) {
            return Ok(());
        }
        if let Some(until) = redo.flushing_until() {
            // What was logged after that flush began needs one of its own.
            return Err(thread.wait_until(until, cause));
        }
        let mut written = now;
        for write in redo.writes() {
            written = written.max(self.write_log(now, write.offset, write.len));
        }
        let done = self.log_device().sync(now, written);
        if let Some(redo) = &mut self.redo {
            redo.flush_begins(done);
        }
        self.flush_log_done(thread, done, lsn, cause)
    }

    fn flush_log_done(
        &mut self,
        thread: &mut SimThread,
        done: SimTime,
        lsn: Lsn,
        cause: Cause,
    ) -> Step {
        if done <= thread.now() {
            return self.flush_log(thread, lsn, cause);
        }
        self.wait(thread, done, cause)
    }

    /// Makes all that is logged so far durable, for the thread that does so about once a second.
    ///
    /// # Errors
    /// [`Blocked`](crate::Blocked) until it is.
    pub fn sync_log(&mut self, thread: &mut SimThread, upto: Lsn) -> Step {
        self.flush_log(thread, upto, Cause::Log)
    }

    /// An engine that writes checkpoints by itself has finished one: the log before `lsn` is of no
    /// use any more.
    pub fn checkpoint_done(&mut self, lsn: Lsn) {
        if let Some(redo) = &mut self.redo {
            redo.checkpoint_done(lsn);
        }
    }

    /// The limits of the log's age: below the first nobody does anything; from there on the thread
    /// that notices writes back what is too old; from the second on all wait until that is done.
    #[cold]
    fn check_log(&mut self, thread: &mut SimThread) -> Step {
        let oldest = self.oldest_change();
        let Some(redo) = &mut self.redo else { return Ok(()) };
        let (end, config) = (redo.end(), &redo.config);
        let age = end.since(oldest);
        let (all_wait, one_writes) = (config.age_sync.get(), config.age_async.get());
        let behind = redo.checkpoint_age();
        let (age_checkpoint, age_max) = (config.age_checkpoint.get(), config.age_max.get());
        let soft = oldest.plus(one_writes).min(redo.checkpoint.plus(age_checkpoint));
        let hard = oldest.plus(all_wait).min(redo.checkpoint.plus(age_max));
        redo.check_at = soft.max(end.plus(LOOK_AGAIN)).min(hard).plus(1);
        let cause = Cause::CheckpointStall;
        if all_wait < age {
            redo.check_at = end;
            let target = oldest.plus(2 * (age - all_wait));
            if self.preflush(thread, target, true) {
                self.redo_stats_mut(|stats| stats.preflushes_sync += 1);
            }
            self.work(thread)?;
            if oldest == self.oldest_change() {
                // Operations of other threads hold the oldest pages.
                return Err(thread.wait_until(thread.now() + RETRY, cause));
            }
            return self.check_log(thread);
        }
        if one_writes < age && self.preflush(thread, oldest.plus(age - one_writes), false) {
            self.redo_stats_mut(|stats| stats.preflushes_async += 1);
        }
        if age_checkpoint < behind {
            if !self.checkpoint_under_way {
                self.add_checkpoint(thread, cause);
            } else if age_max < behind {
                if let Some(redo) = &mut self.redo {
                    redo.check_at = end;
                }
                return Err(thread.wait_until(thread.now() + RETRY, cause));
            }
        }
        Ok(())
    }

    /// Gives the thread the duty to write all that became dirty before `target`, and to wait where
    /// another does so already if it `waits`. Tells whether there is anything left to write.
    fn preflush(&mut self, thread: &mut SimThread, target: Lsn, waits: bool) -> bool {
        let cause = Cause::CheckpointStall;
        let duties = thread.duties.len();
        let mut behind = Vec::new();
        for instance in 0..self.config.pool.instances as usize {
            behind.extend(self.flush_oldest_of(thread, instance, u32::MAX, target, Some(cause)));
        }
        let begins = duties < thread.duties.len();
        if waits {
            thread.duties.extend(behind.into_iter().map(|other| Duty::Behind(other, cause)));
        }
        begins
    }

    fn redo_stats_mut(&mut self, count: impl FnOnce(&mut crate::RedoStats)) {
        if let Some(redo) = &mut self.redo {
            count(&mut redo.stats);
        }
    }

    /// Goes on with a checkpoint.
    pub(super) fn checkpoint(
        &mut self,
        thread: &mut SimThread,
        checkpoint: &mut Checkpoint,
    ) -> Step {
        let cause = checkpoint.cause;
        loop {
            checkpoint.phase = match checkpoint.phase {
                CheckpointPhase::Begin => {
                    let oldest = self.oldest_change();
                    let known = self.redo.as_ref().map(|redo| redo.checkpoint);
                    if self.checkpoint_under_way || known.is_none_or(|known| oldest <= known) {
                        return Ok(());
                    }
                    self.checkpoint_under_way = true;
                    let done = self.sync_data(thread.now());
                    checkpoint.phase = CheckpointPhase::DataSynced(oldest);
                    self.wait(thread, done, cause)?;
                    continue;
                }
                CheckpointPhase::DataSynced(lsn) => {
                    self.flush_log(thread, lsn, cause)?;
                    CheckpointPhase::Log(lsn)
                }
                CheckpointPhase::Log(lsn) => {
                    let now = thread.now();
                    let block = self.redo.as_ref().map_or(0, |redo| redo.config.block.get());
                    let written = self.write_log(now, 0, block);
                    let done = self.log_device().sync(now, written);
                    checkpoint.phase = CheckpointPhase::Written(lsn);
                    self.wait(thread, done, cause)?;
                    continue;
                }
                CheckpointPhase::Written(lsn) => {
                    self.checkpoint_under_way = false;
                    self.checkpoint_done(lsn);
                    return Ok(());
                }
            };
        }
    }
}
