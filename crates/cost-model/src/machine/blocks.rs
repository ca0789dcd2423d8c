//! Transfers of any length, for engines whose nodes have no common size and their own cache.

use super::Machine;
use crate::device::{IoOp, IoRequest};
use crate::{Bytes, Purpose, SimTime};

impl Machine {
    /// Reads or writes (as the purpose says) `bytes` bytes from byte `offset` of the data files on, at
    /// `now`; tells when that is done. Neither the buffer pool nor the page cache of the operating
    /// system sees it.
    ///
    /// Requests of all threads must come in the order of time.
    pub fn transfer_block(
        &mut self,
        now: SimTime,
        purpose: Purpose,
        offset: u64,
        bytes: Bytes,
    ) -> SimTime {
        let op = if purpose.writes() { IoOp::Write } else { IoOp::Read };
        let pages = bytes.get().div_ceil(self.config.page_size.get());
        self.io.add(purpose, pages, bytes);
        if op == IoOp::Read {
            self.block_pages_read += pages;
        }
        self.device.submit(now, IoRequest { op, offset, len: bytes.get() })
    }

    /// Pages, or parts of them, that such transfers have read.
    pub fn block_pages_read(&self) -> u64 {
        self.block_pages_read
    }
}
