//! Closed forms: what a fractal tree must do whatever its code looks like.

use cost_model::MachineConfig;
use cost_model::{Machine, SimThread, SimTime};
use fractal_tree::{FractalConfig, FractalTree, Promotion, TreeCounters};
use index::testkit::{TestKeys, finish, null_machine, one_disk};
use index::{IndexEngine, IndexId, RowId};

use crate::support::{perconaft, shape, tokudb_2009};

/// Key of the one index: 55 bytes a serialized message, 33 a collected entry.
const KEY_BYTES: u32 = 24;
const MESSAGE_BYTES: f64 = 55.0;
const NODE_BYTES: u64 = 128 << 10;
const INDEX: IndexId = IndexId(1);

struct Table {
    machine: Machine,
    client: SimThread,
    tree: FractalTree<TestKeys>,
}

impl Table {
    fn new(config: FractalConfig) -> Self {
        Self::on(null_machine(16), config)
    }

    fn on(machine: MachineConfig, config: FractalConfig) -> Self {
        let shapes = [shape(0, 8, 28), shape(1, KEY_BYTES, 0)];
        Self {
            machine: Machine::new(machine, 1),
            client: SimThread::new(SimTime::ZERO),
            tree: FractalTree::new(config, &shapes, TestKeys::uniform(5), 1 << 22),
        }
    }

    fn insert(&mut self, rows: std::ops::Range<u64>) {
        for row in rows.map(RowId) {
            finish(&mut self.machine, &mut self.client, |machine, client| {
                self.tree.insert(machine, client, INDEX, row)
            });
        }
    }

    fn delete(&mut self, rows: std::ops::Range<u64>) {
        for row in rows.map(RowId) {
            finish(&mut self.machine, &mut self.client, |machine, client| {
                self.tree.delete(machine, client, INDEX, row)
            });
        }
    }

    fn counters(&self) -> TreeCounters {
        *self.tree.counters(INDEX)
    }

    /// Number of leaves below a node of height 1 as the mean message meets it: nodes with more
    /// children get more messages.
    fn children(&self) -> f64 {
        let (mut sum, mut squares) = (0.0, 0.0);
        self.tree.for_each_node(INDEX, |height, children| {
            if height == 1 {
                sum += f64::from(children);
                squares += f64::from(children * children);
            }
        });
        squares / sum
    }

    /// Loads in steps of so many rows, and hands those to `look` in which no node was created.
    fn quiet_steps(
        &mut self,
        from: u64,
        to: u64,
        step: u64,
        mut look: impl FnMut(&Self, &TreeCounters),
    ) {
        let mut row = from;
        while row < to {
            let (before, nodes) = (self.counters(), self.tree.nodes_by_height(INDEX).to_vec());
            self.insert(row..row + step);
            row += step;
            if nodes == self.tree.nodes_by_height(INDEX) {
                look(self, &self.counters().since(&before));
            }
        }
    }
}

fn in_memory() -> FractalConfig {
    perconaft(NODE_BYTES, NODE_BYTES / 8, 1 << 40)
}

/// The heaviest of k children, whose occupancies are an even staircase, has 2S / (k + 1).
#[test]
fn a_flush_moves_twice_the_mean_of_a_buffer() {
    let mut table = Table::new(in_memory());
    table.insert(0..1_000_000);
    let (mut moved, mut expected, mut steps) = (0.0, 0.0, 0);
    table.quiet_steps(1_000_000, 2_000_000, 25_000, |table, step| {
        let buffer = NODE_BYTES as f64 / MESSAGE_BYTES;
        moved += step.flushed_messages[0] as f64 / step.flushes[0] as f64;
        expected += 2.0 * buffer / (table.children() + 1.0);
        steps += 1;
    });
    let ratio = moved / expected;
    assert!(5 <= steps && (0.95..1.05).contains(&ratio), "{ratio:.3} over {steps} steps");
}

/// With a share h of the leaves in memory, eager promotion leaves (1 - h) k buffers in use, so
/// that leaves are flushed to (1 - h) ((1 - h) k + 1) / 2S times a message.
#[test]
fn eager_promotion_saves_by_the_square_of_what_is_absent() {
    for cache_mib in [8, 16, 24] {
        let config = FractalConfig {
            edge_split: fractal_tree::EdgeSplit::Uneven,
            ..tokudb_2009(NODE_BYTES, cache_mib << 20)
        };
        let mut table = Table::new(config);
        table.insert(0..500_000);
        let (mut flushes, mut expected, mut steps) = (0.0, 0.0, 0);
        table.quiet_steps(500_000, 900_000, 20_000, |table, step| {
            let messages = step.injected.total() as f64;
            let absent = 1.0 - step.injected[0] as f64 / messages;
            let buffer = NODE_BYTES as f64 / MESSAGE_BYTES;
            flushes += step.flushes[0] as f64;
            expected += messages * absent * (absent * table.children() + 1.0) / (2.0 * buffer);
            steps += 1;
        });
        let ratio = flushes / expected;
        assert!(
            3 <= steps && (0.85..1.15).contains(&ratio),
            "{ratio:.3} over {steps} steps with {cache_mib} MiB"
        );
    }
}

#[test]
fn every_message_is_applied_or_pending() {
    for promotion in [Promotion::Root, Promotion::Eager, Promotion::Flow] {
        let mut table =
            Table::new(FractalConfig { promotion, ..perconaft(16 << 10, 4 << 10, 1 << 20) });
        table.insert(0..200_000);
        table.delete(0..50_000);
        let counters = table.counters();
        let pending: u64 = table.tree.pending_messages(INDEX).iter().sum();
        // A delete is a message and one of its commit.
        assert_eq!(counters.injected.total(), 200_000 + 2 * 50_000);
        assert_eq!(counters.injected.internal(), counters.flushed_messages[0] + pending);
        let stats = table.tree.stats(INDEX);
        assert_eq!((stats.entries, stats.messages_pending), (150_000, pending));
        table.tree.verify();
    }
}

/// Internal nodes are nearly full of messages, and there is one for F leaves: about 1 / (F - 1)
/// of the bytes that the leaves have room for.
#[test]
fn internal_nodes_are_a_tenth_of_the_data() {
    let mut table = Table::new(in_memory());
    table.insert(0..500_000);
    let mut ratios = Vec::new();
    for part in 4..16 {
        table.insert(part * 125_000..(part + 1) * 125_000);
        let pending: u64 = table.tree.pending_messages(INDEX).iter().sum();
        let leaves = table.tree.nodes_by_height(INDEX)[0] * NODE_BYTES;
        let share = pending as f64 * MESSAGE_BYTES / leaves as f64;
        ratios.push(share * (table.children() - 1.0));
    }
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    assert!((0.8..1.1).contains(&mean), "{mean:.3} of 1 / (F - 1): {ratios:.2?}");
}

/// Leaves of thousands of entries fill and split together.
#[test]
fn the_fill_of_leaves_is_a_saw_tooth() {
    let mut table = Table::new(FractalConfig {
        format: fractal_tree::NodeFormat { versioned_overhead: 9, ..in_memory().format },
        ..in_memory()
    });
    table.insert(0..500_000);
    let (mut least, mut most) = (1.0f64, 0.0f64);
    for part in 20..80 {
        table.insert(part * 25_000..(part + 1) * 25_000);
        let pending: u64 = table.tree.pending_messages(INDEX).iter().sum();
        let entries = table.tree.stats(INDEX).entries - pending;
        let leaves = table.tree.nodes_by_height(INDEX)[0];
        let fill = entries as f64 * 33.0 / (leaves * NODE_BYTES) as f64;
        (least, most) = (least.min(fill), most.max(fill));
    }
    assert!((0.48..0.62).contains(&least) && (0.88..1.05).contains(&most), "{least:.2} {most:.2}");
}

/// Messages go to all nodes of height 1 between two checkpoints: all of them are written, and of
/// the leaves those that were flushed to.
#[test]
fn a_checkpoint_writes_the_injection_level() {
    let mut table = Table::new(in_memory());
    table.insert(0..1_000_000);
    table.tree.checkpoint(&mut table.machine, table.client.now());
    table.insert(1_000_000..1_100_000);
    let before = table.counters();
    let nodes = table.tree.nodes_by_height(INDEX).to_vec();
    table.insert(1_100_000..1_110_000);
    let flushed = table.counters().since(&before).flushes[0];
    table.tree.checkpoint(&mut table.machine, table.client.now());
    let written = table.counters().since(&before);
    assert_eq!(written.checkpoint_writes[1], nodes[1], "all nodes of height 1");
    let leaves = written.checkpoint_writes[0];
    assert!(flushed <= leaves && leaves <= nodes[0], "{leaves} leaves, {flushed} flushes");
    table.tree.checkpoint(&mut table.machine, table.client.now());
    assert_eq!(table.counters().since(&before), written, "nothing is dirty any more");
}

/// A window of constant size keeps the leaves it has: as many entries come to each as leave it.
#[test]
fn a_rolling_window_neither_splits_nor_merges_large_leaves() {
    let config = FractalConfig {
        format: fractal_tree::NodeFormat { versioned_overhead: 9, ..in_memory().format },
        ..in_memory()
    };
    let mut table = Table::new(config);
    let window = 200_000;
    table.insert(0..window);
    let before = table.counters();
    for batch in (window..4 * window).step_by(1_000) {
        table.insert(batch..batch + 1_000);
        table.delete(batch - window..batch - window + 1_000);
    }
    let counted = table.counters().since(&before);
    assert_eq!(table.tree.stats(INDEX).entries, window);
    let leaves = table.tree.nodes_by_height(INDEX)[0];
    let (splits, merges) = (counted.splits[0], counted.merges[0]);
    assert!(
        splits * 20 <= leaves && merges == 0,
        "{splits} splits, {merges} merges, {leaves} leaves"
    );
    assert_eq!(counted.injected.total(), 3 * window * 3, "three messages a pair");
}

/// A disk positions for 7.5 ms and then moves 120 MB/s, so a node is worth its positioning from
/// about 900 KB on. Per message a leaf costs (setup + transfer) / 2S times (k + 1): four times
/// larger nodes cost nearly a quarter while setup decides, and no less once transfer does.
#[test]
fn large_nodes_suit_disks() {
    let busy_per_row = |node_kib: u64| {
        let node_bytes = node_kib << 10;
        let machine = MachineConfig { disks: one_disk(), ..null_machine(16) };
        let mut table = Table::on(machine, perconaft(node_bytes, node_bytes, 16 << 20));
        table.insert(0..400_000);
        let before = table.machine.device().totals();
        table.insert(400_000..1_200_000);
        let busy = table.machine.device().totals().station_busy - before.station_busy;
        busy.as_secs_f64() / 800_000.0
    };
    let costs = [64, 256, 1_024].map(busy_per_row);
    let gains: Vec<_> = costs.windows(2).map(|pair| pair[0] / pair[1]).collect();
    assert!((2.5..4.5).contains(&gains[0]), "{costs:?}");
    assert!((1.2..3.0).contains(&gains[1]), "{costs:?}");
}
