//! Sizes of the entries, messages and nodes of one index.

use index::IndexShape;

use crate::config::{NodeFormat, NodeMemory};
use crate::message::Kind;
use crate::pools::EntryBytes;

/// Bytes, for one index.
#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    /// A leaf entry.
    pub(crate) entry: EntryBytes,
    /// A message in a buffer, by kind.
    messages: [u64; 4],
    /// What a message has more when it is serialized.
    pub(crate) message_offset: u64,
    /// A child without its messages.
    pub(crate) child: u64,
    basement: u64,
    basement_bytes: u64,
    pub(crate) memory: NodeMemory,
    leaf_compression: f64,
    node_compression: f64,
    padding: u64,
    /// A log record of an insert and of a delete.
    pub(crate) log: [u64; 2],
}

impl Sizes {
    pub(crate) fn new(format: &NodeFormat, basement_bytes: u64, shape: &IndexShape) -> Self {
        let key = u64::from(shape.key_bytes + format.key_overhead);
        let value = u64::from(shape.entry_bytes.saturating_sub(shape.key_bytes));
        let message = |value| key + value + u64::from(format.message_overhead);
        let log =
            |overhead: u32, bytes: u64| if overhead == 0 { 0 } else { u64::from(overhead) + bytes };
        Self {
            entry: EntryBytes {
                key,
                collected: key + value + u64::from(format.entry_overhead),
                versioned: key + value + u64::from(format.versioned_overhead),
            },
            messages: [message(value), message(0), message(0), message(0)],
            message_offset: u64::from(format.message_offset),
            child: key + u64::from(format.child_overhead),
            basement: key + u64::from(format.basement_overhead),
            basement_bytes,
            memory: format.memory,
            leaf_compression: format.leaf_compression,
            node_compression: format.node_compression,
            padding: u64::from(format.padding),
            log: [
                log(format.insert_log_overhead, key + value),
                log(format.delete_log_overhead, key),
            ],
        }
    }

    /// A message in a buffer.
    #[inline]
    pub(crate) fn message(&self, kind: Kind) -> u64 {
        self.messages[kind as usize]
    }

    /// Basements of a leaf with so many bytes of entries: each is filled, the last takes the rest.
    pub(crate) fn basements(&self, entry_bytes: u64) -> u64 {
        entry_bytes / self.basement_bytes + 1
    }

    /// So many collected entries and so many others, serialized.
    #[inline]
    pub(crate) fn entries(&self, collected: u64, versioned: u64) -> u64 {
        collected * self.entry.collected + versioned * self.entry.versioned
    }

    /// A serialized leaf with so many collected entries and so many others.
    #[inline]
    pub(crate) fn leaf(&self, collected: u64, versioned: u64) -> u64 {
        let entries = self.entries(collected, versioned);
        entries + self.basements(entries) * self.basement
    }

    /// What a leaf of so many serialized bytes has in memory beside its entries.
    pub(crate) fn basement_table(&self, serialized: u64) -> u64 {
        self.basements(serialized) * self.basement
    }

    /// An internal node in memory that has so many bytes when serialized, and for whose buffers so
    /// many were allocated.
    #[inline]
    pub(crate) fn node_in_memory(&self, serialized: u64, allocated: u64) -> u64 {
        match self.memory {
            NodeMemory::Allocated => allocated,
            NodeMemory::Proportional { message, .. } => (serialized as f64 * message) as u64,
        }
    }

    /// A node in the file, padded.
    pub(crate) fn in_file(&self, serialized: u64, is_leaf: bool) -> u64 {
        let ratio = if is_leaf { self.leaf_compression } else { self.node_compression };
        ((serialized as f64 / ratio) as u64).max(1).next_multiple_of(self.padding)
    }
}
