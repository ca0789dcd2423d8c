//! One frame of the pool: 32 bytes, two to a cache line.

use bytemuck::{Pod, Zeroable};

use crate::{FrameId, PageId, SimTime};

/// The page differs from its copy on the device.
pub(super) const DIRTY: u8 = 1;
/// The page is in the old part of the LRU list.
pub(super) const OLD: u8 = 2;
/// The page's read is not done.
pub(super) const READING: u8 = 4;
/// The page is being written: it can be read, not changed.
pub(super) const WRITING: u8 = 8;
/// The page is counted as replaceable among those at the tail.
pub(super) const SPARE: u8 = 16;
/// Neither this page nor any between it and the tail can be replaced.
pub(super) const BLOCKED: u8 = 32;
/// The page was changed while it was being written, and stays dirty.
pub(super) const CHANGED: u8 = 64;
/// The page was written at the tail of the LRU list and stays there, clean.
pub(super) const LEFT: u8 = 128;

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Frame {
    pub(super) page: PageId,
    /// Towards the head of the LRU list, the most recently used end.
    pub(super) prev: FrameId,
    /// Towards the tail; also links the free list.
    pub(super) next: FrameId,
    /// The eviction counter when the page was put at the head.
    pub(super) stamp: u32,
    pub(super) flags: u8,
    /// Operations that wait with this page in hand.
    pub(super) pins: u8,
    pub(super) instance: u16,
    pub(super) dirty_prev: FrameId,
    pub(super) dirty_next: FrameId,
    /// When a page of the old part was first used, in milliseconds and never 0; 0: not yet. The
    /// number wraps after 49 days of virtual time, and its differences with it.
    pub(super) first_use_ms: u32,
}

impl Frame {
    pub(super) const EMPTY: Self = Self {
        page: PageId::NONE,
        prev: FrameId::NONE,
        next: FrameId::NONE,
        stamp: 0,
        flags: 0,
        pins: 0,
        instance: 0,
        dirty_prev: FrameId::NONE,
        dirty_next: FrameId::NONE,
        first_use_ms: 0,
    };

    /// Clean, not in I/O, in nobody's hands.
    #[inline]
    pub(super) fn is_replaceable(&self) -> bool {
        self.flags & (DIRTY | READING | WRITING) == 0 && self.pins == 0
    }

    /// Dirty, not in I/O, in nobody's hands.
    #[inline]
    pub(super) fn is_writable(&self) -> bool {
        self.flags & (DIRTY | READING | WRITING) == DIRTY && self.pins == 0
    }
}

/// Milliseconds of virtual time as a frame keeps them.
pub(super) fn milliseconds(now: SimTime) -> u32 {
    ((now.as_ns() / 1_000_000) as u32).max(1)
}
