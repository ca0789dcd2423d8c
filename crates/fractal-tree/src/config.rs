//! The rules of a fractal tree, as settings.

use cost_model::{NodeCacheConfig, SimDuration};
use index::IndexShape;

use crate::message::Kind;
use crate::sizes::Sizes;

/// What a fractal tree is and by which rules it works.
#[derive(Clone, Debug, PartialEq)]
pub struct FractalConfig {
    /// Bytes of a full node, serialized and uncompressed.
    pub node_bytes: u64,
    /// Bytes of a basement, the part of a leaf that a query reads; as many as a node has where
    /// leaves are read whole.
    pub basement_bytes: u64,
    /// A node with more children is split, one with fewer than a quarter is joined.
    pub fanout: u32,
    /// How far down a new message goes at once.
    pub promotion: Promotion,
    /// Who moves messages down.
    pub flushing: Flushing,
    /// What queries do with messages on their way.
    pub queries: QueryRule,
    /// How much a range query reads at once.
    pub range_reads: RangeReads,
    /// Where a leaf at an edge of the tree is split.
    pub edge_split: EdgeSplit,
    /// Whether the commit of a delete sends a message of its own to every index.
    pub delete_commits: bool,
    /// Whether a delete reads the row first, as a server does that needs the keys of the other
    /// indexes: a query of the clustered index.
    pub delete_reads_row: bool,
    /// Sizes of entries, messages and nodes.
    pub format: NodeFormat,
    /// The cache of nodes.
    pub cache: NodeCacheConfig,
    /// Whether clean nodes may lose unused parts.
    pub partial_eviction: bool,
    /// Bytes that the operating system keeps of compressed nodes; `None` with direct I/O.
    pub os_cache_bytes: Option<u64>,
    /// From one checkpoint to the next; `None` for no checkpoint unless asked for.
    pub checkpoint_period: Option<SimDuration>,
    /// The thread that flushes nodes that are not gorged; `None` without.
    pub cleaner: Option<Cleaner>,
    /// What computing costs.
    pub prices: FractalPrices,
    /// Threads that flush in the background.
    pub flusher_threads: u32,
    /// Threads that compress and write nodes.
    pub writer_threads: u32,
}

impl FractalConfig {
    /// Whether a node can hold four entries of an index, and four messages for it.
    pub fn has_room_for(&self, shape: &IndexShape) -> bool {
        let sizes = Sizes::new(&self.format, self.basement_bytes, shape);
        let messages = 4 * (sizes.message(Kind::Insert) + sizes.message_offset);
        sizes.leaf(0, 4).max(messages) <= self.node_bytes
    }
}

/// How far down a new message goes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promotion {
    /// Into the root.
    Root,
    /// Through every child that is in memory and whose buffer is empty, into leaves too
    /// (`TokuDB` until May 2011).
    Eager,
    /// To height 1 or depth 2, whichever is higher, as long as buffers are empty and the child
    /// is dirty or much has flowed to it of late; into leaves at both edges (since November 2012).
    Flow,
}

/// Who moves messages down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flushing {
    /// The thread whose message made a node too big.
    Foreground,
    /// A pool of threads; others wait for the nodes these work on.
    Background,
}

/// What queries do with messages on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryRule {
    /// Apply them to the basement in memory and leave them where they are.
    Apply,
    /// Flush every buffer on the path (until 2011).
    Flush,
}

/// How much a range query reads at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeReads {
    /// The basement it is in.
    Basement,
    /// What its bounds take in: with a basement those after it in its leaf, and from the second
    /// entry on the next leaf below the same node beside it (`PerconaFT` source, ft-ops.cc).
    Ahead,
}

/// Where a leaf at an edge of the tree is split when a message is promoted into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeSplit {
    /// At the right edge everything stays on the left, at the left edge one entry does.
    Uneven,
    /// If most entries came in order, the last 1/128 goes to the right (2009).
    Sequential,
}

/// The thread that flushes nodes that are not gorged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cleaner {
    /// From one round to the next.
    pub period: SimDuration,
    /// Nodes flushed in a round.
    pub iterations: u32,
}

/// Nodes among which the cleaner picks one (`PerconaFT` source, cachetable.cc, cleaner thread).
pub(crate) const CLEANER_LOOKS: u32 = 8;

/// How much memory a node takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NodeMemory {
    /// What has been allocated for its entries or messages, in use or not: a quarter more than was
    /// asked for, two and a half times the keys when more have come between others than that had
    /// room for, blocks of messages of a power of two bytes (`PerconaFT` source: bndata.cc,
    /// dmt.cc, mempool.cc, `msg_buffer.cc`, omt.cc).
    Allocated,
    /// In proportion to its serialized bytes.
    Proportional {
        /// Bytes in memory of a serialized byte of a leaf.
        leaf: f64,
        /// Bytes in memory of a serialized byte of an internal node.
        message: f64,
    },
}

/// Sizes of entries, messages and nodes in bytes.
///
/// A size is kept on three scales: serialized (limits of nodes), in a buffer (who is heaviest,
/// how much has flowed) and in memory (the cache). Files have the serialized size by the
/// compression ratio.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeFormat {
    /// What a key has beyond its columns.
    pub key_overhead: u32,
    /// What a collected leaf entry has beyond key and value.
    pub entry_overhead: u32,
    /// What a leaf entry has that still knows its transaction.
    pub versioned_overhead: u32,
    /// What a message in a buffer has beyond key and value.
    pub message_overhead: u32,
    /// What a message has more when it is serialized.
    pub message_offset: u32,
    /// What a child has in its parent beyond its pivot key and its messages.
    pub child_overhead: u32,
    /// What a basement has in its leaf beyond its pivot key and its entries.
    pub basement_overhead: u32,
    /// How much memory a node takes.
    pub memory: NodeMemory,
    /// Serialized bytes of a leaf in one byte of the file.
    pub leaf_compression: f64,
    /// Serialized bytes of an internal node in one byte of the file.
    pub node_compression: f64,
    /// Serialized bytes of an internal node by those of the same node compressed in memory.
    pub memory_compression: f64,
    /// Nodes are padded to multiples of this in the file.
    pub padding: u32,
    /// Nodes begin at multiples of this in the file.
    pub alignment: u32,
    /// The first read of an absent leaf brings at most this much of it: pivots and basement table.
    pub header_bytes: u32,
    /// What a log record of an insert has beyond key and value; 0 without a log.
    pub insert_log_overhead: u32,
    /// What a log record of a delete has beyond the key; 0 without a log.
    pub delete_log_overhead: u32,
}

impl NodeFormat {
    /// The format measured on the `PerconaFT` library of 2023 without compression: entries and
    /// messages from dumps of the files, log records from bytes per row of one and of four
    /// dictionaries. Read in its source are the padding (ft-serialize) and the header read of
    /// 32 KiB (`ft_node_serialize`).
    ///
    /// `memory_compression` is assumed: about what a fast compressor gets from buffers that zlib
    /// shrinks by 2.4.
    pub const PERCONAFT: Self = Self {
        key_overhead: 0,
        entry_overhead: 9,
        versioned_overhead: 26,
        message_overhead: 27,
        message_offset: 4,
        child_overhead: 44,
        basement_overhead: 37,
        memory: NodeMemory::Allocated,
        leaf_compression: 1.0,
        node_compression: 1.0,
        memory_compression: 2.0,
        padding: 512,
        alignment: 4_096,
        header_bytes: 32_768,
        insert_log_overhead: 49,
        delete_log_overhead: 45,
    };
}

/// What computing costs beyond what a machine charges for statements and rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FractalPrices {
    /// A message is put into the tree by its client.
    pub inject: SimDuration,
    /// A message is moved from one buffer to another.
    pub move_message: SimDuration,
    /// A message is applied to a leaf.
    pub apply: SimDuration,
    /// An entry or message of a node that was read is made ready for use.
    pub deserialize: SimDuration,
    /// A KiB of a serialized node is decompressed.
    pub decompress_kib: SimDuration,
    /// A KiB of a serialized node is compressed.
    pub compress_kib: SimDuration,
    /// A KiB is copied from the page cache of the operating system.
    pub copy_kib: SimDuration,
}
