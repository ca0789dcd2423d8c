//! What a commit waits for.
//!
//! Rules from `MySQL` 5.1 source, `trx0trx.c` and `ha_innodb.cc`: with a binary log a transaction
//! is prepared, written there, and committed. Threads that wait for the same part of the redo log
//! share a sync of it.

use super::Machine;
use super::batches::NEXT_INSTANT;
use super::config::{Binlog, LogAtCommit, SerialCommit};
use crate::{Cause, Lsn, SimThread, Step};

/// Bytes of an event in the binary log: its size decides nothing beside the sync.
const BINLOG_EVENT: u64 = 512;

/// Bytes of redo that a transaction's preparation for the binary log adds: the XID goes to the undo
/// header. Servers of `MySQL` 5.5.34 logged 502 bytes a row with a binary log and 314 without, one
/// row a transaction, headers of blocks included.
const PREPARE: u64 = 181;

/// Bytes of redo by which the commit has a place in the log, so that making it durable takes a sync
/// of its own.
const STATE: u64 = 1;

/// How far a commit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Commit {
    /// Its changes are made durable, up to here.
    Prepare(Lsn),
    /// It waits for its turn to write to the binary log.
    Binlog,
    /// The binary log is synced.
    BinlogSynced,
    /// Its commit is made durable, up to here.
    Engine(Lsn),
}

impl Machine {
    /// Goes on with the commit of what `thread` has logged.
    ///
    /// # Errors
    /// [`Blocked`](crate::Blocked) until it is durable as far as the settings ask.
    pub fn commit(&mut self, thread: &mut SimThread) -> Step {
        self.begin(thread)?;
        let config = self.config.commit;
        let mut at = match thread.commit {
            Some(at) => at,
            None if config.binlog == Binlog::Off => Commit::Engine(self.log_end()),
            None => {
                self.enter_commit(thread, SerialCommit::Whole)?;
                self.log(PREPARE);
                Commit::Prepare(self.log_end())
            }
        };
        loop {
            thread.commit = Some(at);
            at = match at {
                Commit::Prepare(lsn) => {
                    self.flush_at_commit(thread, lsn)?;
                    Commit::Binlog
                }
                Commit::Binlog => {
                    self.enter_commit(thread, SerialCommit::Binlog)?;
                    thread.commit = Some(Commit::BinlogSynced);
                    self.sync_binlog(thread)?;
                    Commit::BinlogSynced
                }
                Commit::BinlogSynced => {
                    self.leave_commit(SerialCommit::Binlog);
                    self.log(STATE);
                    Commit::Engine(self.log_end())
                }
                Commit::Engine(lsn) => {
                    self.flush_at_commit(thread, lsn)?;
                    if config.binlog != Binlog::Off {
                        self.leave_commit(SerialCommit::Whole);
                    }
                    thread.commit = None;
                    return Ok(());
                }
            };
        }
    }

    fn flush_at_commit(&mut self, thread: &mut SimThread, lsn: Lsn) -> Step {
        if self.config.commit.log != LogAtCommit::Flush {
            return Ok(());
        }
        let flushed = self.flush_log(thread, lsn, Cause::Log);
        self.others_wait(thread);
        flushed
    }

    fn sync_binlog(&mut self, thread: &mut SimThread) -> Step {
        if self.config.commit.binlog != Binlog::Synced {
            return Ok(());
        }
        let now = thread.now();
        let written = self.write_binlog(now, self.binlog_end, BINLOG_EVENT);
        self.binlog_end += BINLOG_EVENT;
        let done = self.log_device().sync(now, written);
        let waited = self.wait(thread, done, Cause::Log);
        self.others_wait(thread);
        waited
    }

    /// From here on one commit at a time, if that is where this version begins it.
    fn enter_commit(&mut self, thread: &mut SimThread, from: SerialCommit) -> Step {
        thread.in_turn()?;
        if self.config.commit.serial != from {
            return Ok(());
        }
        if let Some(until) = self.committing {
            let until = until.max(thread.now() + NEXT_INSTANT);
            return Err(thread.wait_until(until, Cause::Lock));
        }
        self.committing = Some(thread.now());
        Ok(())
    }

    /// The commit that holds the others up waits itself.
    fn others_wait(&mut self, thread: &SimThread) {
        if let Some(until) = &mut self.committing
            && thread.commit.is_some_and(|at| self.config.commit.serial.holds(at))
        {
            *until = thread.now();
        }
    }

    fn leave_commit(&mut self, to: SerialCommit) {
        if self.config.commit.serial == to {
            self.committing = None;
        }
    }
}

impl SerialCommit {
    /// Whether a commit at this point holds the others up.
    fn holds(self, at: Commit) -> bool {
        match self {
            Self::Whole => true,
            Self::Binlog => matches!(at, Commit::BinlogSynced),
        }
    }
}
