//! What a machine is made of.

use crate::device::DeviceSpec;
use crate::{Bytes, OsWriteConfig, PoolConfig, RedoConfig, SimDuration};

/// What computing costs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuPrices {
    /// Once per statement: parsing, network, client.
    pub statement: SimDuration,
    /// Once per row of a statement.
    pub row: SimDuration,
    /// Once per index entry inserted or deleted.
    pub index_entry: SimDuration,
    /// Once per page that is read: system call, checksum, bookkeeping.
    pub page_read: SimDuration,
    /// Once per page that is split.
    pub page_split: SimDuration,
    /// Once per commit.
    pub commit: SimDuration,
    /// Once per system call that writes to a file in the page cache of the operating system, when
    /// a statement ends; copying is not included.
    pub write_call: SimDuration,
    /// Once per query: parsing, optimiser, network.
    pub query: SimDuration,
    /// Once per row that a query returns.
    pub row_returned: SimDuration,
}

/// What a machine is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineConfig {
    /// Processor cores.
    pub cores: u32,
    /// Prices of computing.
    pub prices: CpuPrices,
    /// The disks.
    pub disks: DeviceSpec,
    /// Disks of their own for the redo log; `None`: it lies beside the data.
    pub log_disks: Option<DeviceSpec>,
    /// The buffer pool.
    pub pool: PoolConfig,
    /// How pages are read that nobody waits for.
    pub read_ahead: ReadAheadConfig,
    /// How dirty pages are written.
    pub write_back: WriteBackConfig,
    /// The redo log, if there is one.
    pub redo: Option<RedoConfig>,
    /// What a commit waits for.
    pub commit: CommitConfig,
    /// Bytes of a page.
    pub page_size: Bytes,
    /// Bytes of the operating system's page cache under the pool; `None` with direct I/O.
    pub os_cache: Option<Bytes>,
    /// What it costs to copy 16 KiB between that cache and the engine.
    pub os_copy: SimDuration,
    /// What the operating system writes of that cache by itself.
    pub os_write: OsWriteConfig,
    /// Bytes of the table's state, where a statement's end writes it with all index pages that the
    /// statement changed; `None` where pages are written as the pool and the log ask for it.
    pub statement_header: Option<Bytes>,
    /// Seed of everything random in the machine.
    pub seed: u64,
    /// About how many pages the data files will have.
    pub pages_expected: u64,
}

impl MachineConfig {
    /// A machine of disks and a pool on which computing costs nothing: 8 cores, pages of 16 KiB,
    /// direct I/O, no redo log, pages written straight to their places.
    pub fn new(disks: DeviceSpec, pool: PoolConfig) -> Self {
        Self {
            cores: 8,
            prices: CpuPrices::default(),
            disks,
            log_disks: None,
            pages_expected: 2 * u64::from(pool.frames),
            pool,
            read_ahead: ReadAheadConfig::NATIVE,
            write_back: WriteBackConfig::IMMEDIATE,
            redo: None,
            commit: CommitConfig::NOTHING,
            page_size: Bytes::kib(16),
            os_cache: None,
            os_copy: SimDuration::ZERO,
            os_write: OsWriteConfig::LINUX,
            statement_header: None,
            seed: 1,
        }
    }
}

/// How pages that nobody waits for are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadAheadConfig {
    /// Threads that read, one request at a time each; 0: the operating system takes all requests
    /// at once (native asynchronous I/O).
    pub threads: u32,
    /// Pages for each of them that may wait or be read; who asks for more waits.
    pub queue_pages: u32,
    /// Adjacent pages that a thread reads as one request at most.
    pub join_pages: u32,
}

/// How dirty pages travel to the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteBackConfig {
    /// Pages of the doublewrite buffer, which is written and synced before any page is written to
    /// its place; 0 for none.
    pub doublewrite_pages: u32,
    /// Threads that write, one request at a time each; 0: the operating system takes all
    /// requests at once (native asynchronous I/O).
    pub threads: u32,
    /// Adjacent pages that a thread writes as one request at most.
    pub join_pages: u32,
    /// Who writes the tail of the LRU list when too little of it could be replaced.
    pub lru: LruWriter,
    /// Bytes by which the data file grows: zeros are written and synced by the thread that needs
    /// the first page of them; 0: the file has its size from the start.
    pub file_growth: Bytes,
    /// Of so many changes to pages under write, one waits for the write: 1, but more in a scaled
    /// run, where the pages of a batch, whose number does not shrink, are a larger share of all.
    pub latches_one_in: u64,
}

/// Who writes the tail of the LRU list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LruWriter {
    /// The thread that found it short, which also waits for a batch of another thread.
    Reader,
    /// The thread that found it short; it does not wait for a batch of another thread.
    ReaderAlone,
    /// A background thread that is woken for it.
    Cleaner,
}

/// What a commit waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitConfig {
    /// The redo log at a commit.
    pub log: LogAtCommit,
    /// The binary log.
    pub binlog: Binlog,
    /// What only one commit at a time may do while there is a binary log.
    pub serial: SerialCommit,
}

/// What only one commit at a time may do while there is a binary log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SerialCommit {
    /// All of it, from its prepare to the end (the built-in `InnoDB` of `MySQL` 5.1).
    Whole,
    /// Writing the binary log (the plugin and later).
    Binlog,
}

/// What happens to the redo log at a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogAtCommit {
    /// Nothing: about once a second it is written and synced.
    Nothing,
    /// It is handed to the operating system, and synced about once a second.
    Write,
    /// It is written and synced.
    Flush,
}

/// The binary log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binlog {
    /// Switched off.
    Off,
    /// Written, and synced by the operating system some time.
    Written,
    /// Synced at every commit.
    Synced,
}

impl ReadAheadConfig {
    /// All reads go to the device at once.
    pub const NATIVE: Self = Self { threads: 0, queue_pages: 0, join_pages: 64 };
}

impl WriteBackConfig {
    /// Pages go straight to their places, all at once, and nobody waits.
    pub const IMMEDIATE: Self = Self {
        doublewrite_pages: 0,
        threads: 0,
        join_pages: 64,
        lru: LruWriter::ReaderAlone,
        file_growth: Bytes::ZERO,
        latches_one_in: 1,
    };
}

impl CommitConfig {
    /// A commit waits for nothing.
    pub const NOTHING: Self =
        Self { log: LogAtCommit::Nothing, binlog: Binlog::Off, serial: SerialCommit::Whole };
}
