//! Rules and tables that the tests share.

use cost_model::{NodeCacheConfig, Replacement, SimDuration};
use fractal_tree::{
    EdgeSplit, Flushing, FractalConfig, FractalPrices, NodeFormat, Promotion, QueryRule, RangeReads,
};
use index::IndexShape;

/// The rules of `PerconaFT` without prices, cleaner and timed checkpoints.
pub(crate) fn perconaft(node_bytes: u64, basement_bytes: u64, cache_bytes: u64) -> FractalConfig {
    FractalConfig {
        node_bytes,
        basement_bytes,
        fanout: 16,
        promotion: Promotion::Flow,
        flushing: Flushing::Background,
        queries: QueryRule::Apply,
        range_reads: RangeReads::Ahead,
        edge_split: EdgeSplit::Uneven,
        delete_commits: true,
        delete_reads_row: true,
        format: NodeFormat::PERCONAFT,
        cache: clock(cache_bytes),
        partial_eviction: true,
        os_cache_bytes: None,
        checkpoint_period: None,
        cleaner: None,
        prices: FractalPrices::default(),
        flusher_threads: 8,
        writer_threads: 16,
    }
}

/// The library's clock and watermarks.
pub(crate) fn clock(bytes: u64) -> NodeCacheConfig {
    NodeCacheConfig {
        bytes,
        replacement: Replacement::Clock { initial: 3, saturation: 15 },
        wake_share: 1.1,
        resume_share: 1.25,
        sleep_share: 1.5,
        gap_bytes_max: 512 << 20,
        seed: 1,
    }
}

/// The rules of January 2009 without prices.
pub(crate) fn tokudb_2009(node_bytes: u64, cache_bytes: u64) -> FractalConfig {
    let cache = NodeCacheConfig { replacement: Replacement::Lru, ..clock(cache_bytes) };
    FractalConfig {
        promotion: Promotion::Eager,
        flushing: Flushing::Foreground,
        queries: QueryRule::Flush,
        edge_split: EdgeSplit::Sequential,
        cache,
        partial_eviction: false,
        ..perconaft(node_bytes, node_bytes, cache_bytes)
    }
}

/// Prices that make the clocks of threads drift apart.
pub(crate) fn prices() -> FractalPrices {
    FractalPrices {
        inject: SimDuration::from_us(3),
        move_message: SimDuration::from_us(1),
        apply: SimDuration::from_us(2),
        deserialize: SimDuration::from_us(1),
        decompress_kib: SimDuration::from_us(9),
        compress_kib: SimDuration::from_us(30),
        copy_kib: SimDuration::from_us(1),
    }
}

/// An index with these bytes of key and value.
pub(crate) fn shape(number: usize, key_bytes: u32, value_bytes: u32) -> IndexShape {
    IndexShape {
        name: format!("index {number}"),
        clustered: number == 0,
        entry_bytes: key_bytes + value_bytes,
        key_bytes,
        nullable_columns: 0,
        variable_columns: 0,
    }
}
