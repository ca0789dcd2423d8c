//! Storage devices: what one request costs, and what many at once wait for.

use crate::SimTime;

/// Whether a request reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoOp {
    /// Data travels from the device.
    Read,
    /// Data travels to the device.
    Write,
}

/// One request: a contiguous run of bytes of the device's address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoRequest {
    /// Read or write.
    pub op: IoOp,
    /// First byte.
    pub offset: u64,
    /// Length in bytes, at least 1.
    pub len: u64,
}

/// What a device has done so far, counted by the device itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceTotals {
    /// Read requests received.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Write requests received.
    pub writes: u64,
    /// Bytes written, mirrors not counted.
    pub write_bytes: u64,
}

/// A device that does everything at once: for tests of counts.
#[derive(Clone, Debug, Default)]
pub struct Null;

impl Null {
    /// Done as soon as asked.
    pub fn submit(&mut self, now: SimTime, _request: IoRequest) -> SimTime {
        now
    }
}
