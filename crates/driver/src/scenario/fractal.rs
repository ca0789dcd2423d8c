//! The fractal tree: nodes, how messages travel, the cache of nodes, sizes and prices.

use cost_model::{Bytes, NodeCacheConfig, Replacement, SimDuration};
use fractal_tree::{
    Cleaner, EdgeSplit, Flushing, FractalConfig, FractalPrices, NodeFormat, NodeMemory, Promotion,
    QueryRule, ROWS_MAX, RangeReads,
};

use super::Scenario;
use super::check::{refused, table_shapes, with_smallest};
use super::error::ScenarioError;
use super::kind::{Kind, grouped};
use super::param::{Param, When};
use super::scale::Scale;
use super::values::{Choice, Values, words};

/// The rules of a fractal tree, without what the pool and the machine say of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fractal {
    rules: FractalConfig,
    /// Rows that a client inserts before it asks for a checkpoint; `None` if none does.
    pub checkpoint_rows: Option<u64>,
}

/// The words of `engine.fractal.memory.rule`.
enum MemoryWord {
    Allocated,
    Proportional,
}

/// The words of `engine.fractal.replacement`.
enum ReplacementWord {
    Lru,
    Clock,
}

words!(Promotion {
    "root" => Root: "Into the root (5.2 to 6.6).";
    "eager" => Eager: "Through every child in memory whose buffer is empty, leaves too (until 2011).";
    "flow" => Flow: "To height 1 or depth 2 while much flows, into leaves at the edges (since 7.0).";
});

words!(Flushing {
    "foreground" => Foreground: "The thread whose message made a node too big (until 2011).";
    "background" => Background: "A pool of threads.";
});

words!(QueryRule {
    "apply" => Apply: "Apply them to the basement in memory and leave them where they are.";
    "flush" => Flush: "Flush every buffer on the path (until 2011).";
});

words!(RangeReads {
    "basement" => Basement: "The basement it is in.";
    "ahead" => Ahead: "With a basement the rest of its leaf, and beside it the next leaf below the same node.";
});

words!(EdgeSplit {
    "uneven" => Uneven: "Everything stays on the left at the right edge, one entry at the left one.";
    "sequential" => Sequential: "The last 1/128 goes to the right after entries in order (2009).";
});

words!(ReplacementWord {
    "lru" => Lru: "The least recently used.";
    "clock" => Clock: "A clock with counts: 3 at first, 1 more for each use up to 15.";
});

words!(MemoryWord {
    "allocated" => Allocated: "What was allocated for its entries or messages, in use or not.";
    "proportional" => Proportional: "In proportion to its serialized bytes.";
});

const FRACTAL: &[When] = &[When::word("engine.kind", &["fractal"])];
const PROPORTIONAL: &[When] = &[
    When::word("engine.kind", &["fractal"]),
    When::word("engine.fractal.memory.rule", &["proportional"]),
];
const OVERHEAD: Kind = Kind::Bytes(0, 1 << 16);
const RATIO: Kind = Kind::Number(0.1, 100.0);
const PRICE: Kind = Kind::Duration(0, 1_000_000_000);
const RATE: Kind = Kind::Rate(1_000_000, 100_000_000_000);
const LIBRARY: &str = "PerconaFT source, revision 74d500ff of 2023";
const COUNTED: &str = "counters of the PerconaFT library of 2023; see results/measured-fractal.md";

const fn key(key: &'static str, kind: Kind, doc: &'static str) -> Param {
    Param::new(key, kind, doc).when(FRACTAL)
}

pub(super) const PARAMS: &[Param] = &[
    key("engine.fractal.node_size", Kind::Bytes(1 << 12, 1 << 30), "Bytes of a full node.")
        .preset("4MiB")
        .source(LIBRARY),
    key(
        "engine.fractal.basement_size",
        Kind::Bytes(1 << 9, 1 << 30),
        "Bytes of the part of a leaf that a query reads; those of a node: leaves are read whole.",
    )
    .preset("64KiB")
    .source("TokuDB documentation: default of the MySQL handler"),
    key(
        "engine.fractal.fanout",
        Kind::Count("children", 4, 1 << 12),
        "A node with more children is split, one with fewer than a quarter joined.",
    )
    .preset("16")
    .source(LIBRARY),
    key(
        "engine.fractal.promotion",
        Kind::Word(Promotion::WORDS),
        "How far down a new message goes at once.",
    )
    .preset("flow")
    .source("PerconaFT source, ft-ops.cc"),
    key("engine.fractal.flushing", Kind::Word(Flushing::WORDS), "Who moves messages down.")
        .preset("background")
        .source("PerconaFT source, ft-flusher.cc"),
    key(
        "engine.fractal.queries",
        Kind::Word(QueryRule::WORDS),
        "What queries do with messages on their way.",
    )
    .preset("apply")
    .source(LIBRARY),
    key(
        "engine.fractal.range_reads",
        Kind::Word(RangeReads::WORDS),
        "How much a range query reads at once.",
    )
    .preset("ahead")
    .source("TokuDB handler source (prelock_range), PerconaFT source, ft-ops.cc"),
    key(
        "engine.fractal.edge_split",
        Kind::Word(EdgeSplit::WORDS),
        "Where a leaf at an edge of the tree is split.",
    )
    .preset("uneven")
    .source("PerconaFT source, ft-flusher.cc"),
    key(
        "engine.fractal.delete_commits",
        Kind::Bool,
        "Whether the commit of a delete sends a second message to every index.",
    )
    .preset("true")
    .source("PerconaFT source, roll.cc: so since October 2008"),
    key(
        "engine.fractal.replacement",
        Kind::Word(ReplacementWord::WORDS),
        "Which node leaves the cache.",
    )
    .preset("clock")
    .source("PerconaFT source, cachetable.cc"),
    key(
        "engine.fractal.evict_above",
        Kind::Share(1.0, 2.0),
        "Share of the cache above which eviction begins; it ends at all of it.",
    )
    .preset("110%")
    .source("PerconaFT source, cachetable.cc"),
    key(
        "engine.fractal.wait_above",
        Kind::Share(1.0, 4.0),
        "Share of the cache above which clients wait, nodes under write counted.",
    )
    .preset("150%")
    .source("PerconaFT source, cachetable.cc"),
    key(
        "engine.fractal.wait_until",
        Kind::Share(1.0, 4.0),
        "Share of the cache at which they go on.",
    )
    .preset("125%")
    .source("PerconaFT source, cachetable.cc"),
    key(
        "engine.fractal.partial_eviction",
        Kind::Bool,
        "Whether clean nodes may lose unused parts.",
    )
    .preset("true")
    .source("PerconaFT source, cachetable.cc"),
    key(
        "engine.fractal.checkpoint_period",
        Kind::Duration(0, 86_400_000_000_000),
        "From one checkpoint to the next; 0s: none.",
    )
    .preset("60s")
    .source("TokuDB documentation: default since April 2009")
    .shrinks(),
    key(
        "engine.fractal.checkpoint_rows",
        Kind::Count("rows", 0, 1_000_000_000_000),
        "Rows inserted from one checkpoint that a client asks for, and waits for, to the next; \
         0: none does.",
    )
    .preset("0")
    .source("PerconaFT source: checkpoints come by time")
    .shrinks(),
    key(
        "engine.fractal.cleaner_period",
        Kind::Duration(0, 3_600_000_000_000),
        "From one round of the cleaner to the next; 0s: none.",
    )
    .preset("1s")
    .source("TokuDB documentation: default of the MySQL handler")
    .shrinks(),
    key(
        "engine.fractal.cleaner_iterations",
        Kind::Count("nodes", 1, 1 << 20),
        "Nodes the cleaner flushes in a round.",
    )
    .preset("5")
    .source("TokuDB documentation: default of the MySQL handler"),
    key(
        "engine.fractal.flusher_threads",
        Kind::Count("threads", 1, 1 << 10),
        "Threads that flush in the background.",
    )
    .preset("8")
    .assumed("one for each core of the machines of the articles"),
    key(
        "engine.fractal.writer_threads",
        Kind::Count("threads", 1, 1 << 10),
        "Threads that compress and write nodes.",
    )
    .preset("16")
    .assumed("two for each core of the machines of the articles"),
    key("engine.fractal.size.key", OVERHEAD, "Bytes of a key beyond its columns.")
        .preset("0B")
        .source(COUNTED),
    key(
        "engine.fractal.size.entry",
        OVERHEAD,
        "Bytes of a leaf entry beyond key and value when no transaction is of interest any more.",
    )
    .preset("9B")
    .source(COUNTED),
    key(
        "engine.fractal.size.entry_versioned",
        OVERHEAD,
        "The same until the leaf is written for the first time since the entry came.",
    )
    .preset("26B")
    .source(COUNTED),
    key(
        "engine.fractal.size.message",
        OVERHEAD,
        "Bytes of a message in a buffer beyond key and value.",
    )
    .preset("27B")
    .source(COUNTED),
    key(
        "engine.fractal.size.message_offset",
        OVERHEAD,
        "Further bytes of a message in a serialized node.",
    )
    .preset("4B")
    .source(COUNTED),
    key(
        "engine.fractal.memory.rule",
        Kind::Word(MemoryWord::WORDS),
        "How much memory a node takes.",
    )
    .preset("allocated")
    .source("PerconaFT source: bndata.cc, dmt.cc, mempool.cc, msg_buffer.cc, omt.cc"),
    key("engine.fractal.memory.leaf", RATIO, "Bytes in memory of a serialized byte of a leaf.")
        .preset("2.0")
        .source(COUNTED)
        .when(PROPORTIONAL),
    key(
        "engine.fractal.memory.message",
        RATIO,
        "Bytes in memory of a serialized byte of an internal node.",
    )
    .preset("1.44")
    .source(COUNTED)
    .when(PROPORTIONAL),
    key(
        "engine.fractal.compression.leaf",
        RATIO,
        "Serialized bytes of a leaf in one byte of the file.",
    )
    .preset("2.3")
    .source("zlib level 5 on synthetic iiBench basements of 64 KiB: 2.2 to 2.45"),
    key(
        "engine.fractal.compression.node",
        RATIO,
        "Serialized bytes of an internal node in one byte of the file.",
    )
    .preset("3")
    .source("zlib level 5 on synthetic iiBench messages: 2.8 to 3.3"),
    key("engine.fractal.cpu.inject", PRICE, "A client puts a message into the tree.")
        .preset("4us")
        .assumed("3 to 5 us on the machines of 2012"),
    key("engine.fractal.cpu.move", PRICE, "A message goes from one buffer to another.")
        .preset("400ns")
        .assumed("0.3 to 0.5 us"),
    key("engine.fractal.cpu.apply", PRICE, "A message of a buffer is applied to a leaf.")
        .preset("2500ns")
        .assumed("2 to 3 us: a search, a copy, a leaf entry made anew"),
    key(
        "engine.fractal.cpu.deserialize",
        PRICE,
        "An entry or message of a node that was read is made ready for use.",
    )
    .preset("125ns")
    .assumed("0.1 to 0.15 us"),
    key("engine.fractal.cpu.decompress", RATE, "Serialized bytes decompressed in a second.")
        .preset("150MB/s")
        .assumed("100 to 200 MB/s of zlib on a core of 2009"),
    key("engine.fractal.cpu.compress", RATE, "Serialized bytes compressed in a second.")
        .preset("30MB/s")
        .assumed("20 to 40 MB/s of zlib level 5 on a core of 2009"),
    key("engine.fractal.cpu.copy", RATE, "Bytes copied from the page cache in a second.")
        .preset("1500MB/s")
        .assumed("memory copy of a system call in 2009, 1 to 2 GB/s"),
];

/// Full nodes that the cache of a scaled run must hold: node sizes do not shrink with it, and
/// with fewer a tree loses the levels whose cost is asked for.
const SCALED_NODES_MIN: u64 = 128;

/// Which values do not go together, and which scales a fractal tree cannot have?
pub(super) fn check(scenario: &Scenario, values: &Values) -> Result<(), ScenarioError> {
    let Some(Fractal { rules, checkpoint_rows }) = &scenario.fractal else { return Ok(()) };
    let fail = |key, reason: String| Err(values.conflict(key, reason));
    let node = Bytes::new(rules.node_bytes);
    if rules.node_bytes < rules.basement_bytes {
        let reason = format!("a basement is a part of a leaf, which has {node}");
        return fail("engine.fractal.basement_size", reason);
    }
    if rules.cache.sleep_share < rules.cache.wake_share.max(rules.cache.resume_share) {
        let reason = "clients wait above the shares at which eviction begins and they go on";
        return fail("engine.fractal.wait_above", reason.to_owned());
    }
    if let Some(shape) = table_shapes(scenario).iter().find(|shape| !rules.has_room_for(shape)) {
        let reason = format!("a node must have room for four entries of index {}", shape.name);
        return fail("engine.fractal.node_size", reason);
    }
    if ROWS_MAX < scenario.workload.rows {
        let reason = format!("a fractal tree numbers {} rows at most", grouped(ROWS_MAX));
        return fail("workload.rows", reason);
    }
    let nodes_at = |scale: &Scale| {
        Bytes::new(scale.apply(values.full_scale("pool.size").unwrap_or_default())).whole(node)
    };
    let trees = table_shapes(scenario).len() as u64;
    if nodes_at(&Scale::FULL) < trees {
        let reason = format!(
            "is less than a node of {node} for each of {trees} indexes, which a row needs at once"
        );
        return fail("pool.size", reason);
    }
    if checkpoint_rows.is_some() && 0 < scenario.statement.bulk_rows {
        let reason = "a statement that sorts its rows (statement.bulk_rows) has no place for one";
        return fail("engine.fractal.checkpoint_rows", reason.to_owned());
    }
    let scale = scenario.scale;
    let fits = |scale: &Scale| SCALED_NODES_MIN <= nodes_at(scale);
    if scale != Scale::FULL && !fits(&scale) {
        let reason = format!(
            "nodes of {node} do not shrink; the cache would hold {} of them, and \
             {SCALED_NODES_MIN} are needed",
            nodes_at(&scale)
        );
        return Err(refused(scale, with_smallest(scale, &reason, fits)));
    }
    Ok(())
}

impl Fractal {
    pub(super) fn from_values(values: &Values) -> Self {
        let bytes = |key: &'static str| values.get::<Bytes>(key).get();
        let small = |key: &'static str| bytes(key) as u32;
        let period = |key: &'static str| {
            Some(values.get::<SimDuration>(key)).filter(|period| *period != SimDuration::ZERO)
        };
        let kib_at =
            |key: &'static str| SimDuration::from_secs_f64(1_024.0 / values.get::<u64>(key) as f64);
        let replacement = match values.get("engine.fractal.replacement") {
            ReplacementWord::Lru => Replacement::Lru,
            ReplacementWord::Clock => Replacement::Clock { initial: 3, saturation: 15 },
        };
        let memory = match values.get("engine.fractal.memory.rule") {
            MemoryWord::Allocated => NodeMemory::Allocated,
            MemoryWord::Proportional => NodeMemory::Proportional {
                leaf: values.get("engine.fractal.memory.leaf"),
                message: values.get("engine.fractal.memory.message"),
            },
        };
        let format = NodeFormat {
            key_overhead: small("engine.fractal.size.key"),
            entry_overhead: small("engine.fractal.size.entry"),
            versioned_overhead: small("engine.fractal.size.entry_versioned"),
            message_overhead: small("engine.fractal.size.message"),
            message_offset: small("engine.fractal.size.message_offset"),
            memory,
            leaf_compression: values.get("engine.fractal.compression.leaf"),
            node_compression: values.get("engine.fractal.compression.node"),
            ..NodeFormat::PERCONAFT
        };
        let prices = FractalPrices {
            inject: values.get("engine.fractal.cpu.inject"),
            move_message: values.get("engine.fractal.cpu.move"),
            apply: values.get("engine.fractal.cpu.apply"),
            deserialize: values.get("engine.fractal.cpu.deserialize"),
            decompress_kib: kib_at("engine.fractal.cpu.decompress"),
            compress_kib: kib_at("engine.fractal.cpu.compress"),
            copy_kib: kib_at("engine.fractal.cpu.copy"),
        };
        let rules = FractalConfig {
            node_bytes: bytes("engine.fractal.node_size"),
            basement_bytes: bytes("engine.fractal.basement_size"),
            fanout: values.get("engine.fractal.fanout"),
            promotion: values.get("engine.fractal.promotion"),
            flushing: values.get("engine.fractal.flushing"),
            queries: values.get("engine.fractal.queries"),
            range_reads: values.get("engine.fractal.range_reads"),
            edge_split: values.get("engine.fractal.edge_split"),
            delete_commits: values.get("engine.fractal.delete_commits"),
            delete_reads_row: true,
            format,
            cache: NodeCacheConfig {
                bytes: bytes("pool.size"),
                replacement,
                wake_share: values.get("engine.fractal.evict_above"),
                sleep_share: values.get("engine.fractal.wait_above"),
                resume_share: values.get("engine.fractal.wait_until"),
                gap_bytes_max: 512 << 20,
                seed: values.get("seed"),
            },
            partial_eviction: values.get("engine.fractal.partial_eviction"),
            os_cache_bytes: None,
            checkpoint_period: period("engine.fractal.checkpoint_period"),
            cleaner: period("engine.fractal.cleaner_period").map(|period| Cleaner {
                period,
                iterations: values.get("engine.fractal.cleaner_iterations"),
            }),
            prices,
            flusher_threads: values.get("engine.fractal.flusher_threads"),
            writer_threads: values.get("engine.fractal.writer_threads"),
        };
        let checkpoint_rows =
            Some(values.get("engine.fractal.checkpoint_rows")).filter(|rows| *rows != 0);
        Self { rules, checkpoint_rows }
    }

    /// The rules, over files of which the operating system keeps so many bytes.
    pub fn config(&self, os_cache: Option<Bytes>) -> FractalConfig {
        FractalConfig { os_cache_bytes: os_cache.map(Bytes::get), ..self.rules.clone() }
    }
}
