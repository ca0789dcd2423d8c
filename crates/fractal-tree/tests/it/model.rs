//! The shared model suite on trees with nodes of a few entries.

use cost_model::{Machine, SimDuration, SimThread};
use fractal_tree::{
    Cleaner, EdgeSplit, Flushing, FractalConfig, FractalTree, Promotion, QueryRule, RangeReads,
};
use index::testkit::{KeyOrder, Op, Suite, TestKeys, exhaust, finish, null_machine, replay};
use index::{IndexEngine, IndexId, RowId};
use proptest::prelude::*;

use crate::support::{perconaft, prices, shape, tokudb_2009};

/// An index and its number, in nodes of 600 to 1,200 bytes: 10 to 30 entries, 8 to 20 messages.
fn configs() -> impl Strategy<Value = (usize, FractalConfig)> {
    let sizes = (600..1_200u64, 1..12u64, 4..9u32);
    let promotion =
        prop_oneof![Just(Promotion::Flow), Just(Promotion::Eager), Just(Promotion::Root)];
    let flushing = prop_oneof![Just(Flushing::Foreground), Just(Flushing::Background)];
    let queries = prop_oneof![Just(QueryRule::Apply), Just(QueryRule::Flush)];
    let edge_split = prop_oneof![Just(EdgeSplit::Uneven), Just(EdgeSplit::Sequential)];
    let basements = 1..4u64;
    let ahead = prop_oneof![Just(RangeReads::Basement), Just(RangeReads::Ahead)];
    let switches =
        (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), ahead);
    let rules = (promotion, flushing, queries, edge_split, switches);
    (1..4usize, sizes, basements, rules).prop_map(|(indexes, sizes, basements, rules)| {
        let (node_bytes, cache_nodes, fanout) = sizes;
        let (promotion, flushing, queries, edge_split, switches) = rules;
        let (commits, lru, buffered, timers, priced, range_reads) = switches;
        let cache_bytes = cache_nodes * node_bytes;
        let eras = [
            perconaft(node_bytes, node_bytes / basements, cache_bytes),
            tokudb_2009(node_bytes, cache_bytes),
        ];
        let config = FractalConfig {
            basement_bytes: node_bytes / basements,
            fanout,
            promotion,
            flushing,
            queries,
            range_reads,
            edge_split,
            delete_commits: commits,
            delete_reads_row: !timers,
            os_cache_bytes: buffered.then_some(cache_bytes),
            checkpoint_period: timers.then_some(SimDuration::from_ms(50)),
            cleaner: timers.then_some(Cleaner { period: SimDuration::from_ms(20), iterations: 2 }),
            prices: if priced { prices() } else { eras[0].prices.clone() },
            ..eras[usize::from(lru)].clone()
        };
        (indexes, config)
    })
}

fn build(
    (indexes, config): &(usize, FractalConfig),
    keys: TestKeys,
    _machine: &mut Machine,
    _thread: &mut SimThread,
) -> FractalTree<TestKeys> {
    let shapes: Vec<_> = (0..*indexes)
        .map(|number| shape(number, 8 + 4 * number as u32, if number == 0 { 20 } else { 0 }))
        .collect();
    FractalTree::new(config.clone(), &shapes, keys, 100)
}

#[test]
fn one_thread() {
    let suite = Suite { cases: 1_500, threads: 1, rows: 300, frames: 24..=40 };
    suite.run(configs(), build);
}

#[test]
fn two_threads() {
    let suite = Suite { cases: 1_000, threads: 2, rows: 160, frames: 36..=50 };
    suite.run(configs(), build);
}

#[test]
fn three_threads() {
    let suite = Suite { cases: 700, threads: 3, rows: 120, frames: 48..=64 };
    suite.run(configs(), build);
}

/// Three rows come and go in every order on a tree of three levels, where messages wait on two.
#[test]
fn every_short_sequence() {
    let before: Vec<_> = (0..150).map(|row| Op::Insert(4 * row)).collect();
    for promotion in [Promotion::Flow, Promotion::Root] {
        let config = FractalConfig { promotion, fanout: 4, ..perconaft(600, 200, 3_000) };
        let keys = TestKeys { order: KeyOrder::Uniform, seed: 1 };
        let machine = null_machine(24);
        let rows = [0, 41, 402];
        let sequences = exhaust(&machine, keys, &before, &rows, 5, |machine, thread| {
            build(&(2, config.clone()), keys, machine, thread)
        });
        assert!(3u64.pow(5) < sequences, "{sequences} sequences");
    }
}

/// The tests mean nothing if no message ever waits.
#[test]
fn messages_wait_on_several_levels() {
    let config =
        FractalConfig { promotion: Promotion::Root, fanout: 4, ..perconaft(600, 200, 3_000) };
    let keys = TestKeys::uniform(1);
    let rows: Vec<_> = (0..800).map(Op::Insert).collect();
    let mut pending = Vec::new();
    replay(null_machine(24), keys, &[rows], |machine, thread| {
        let mut tree = build(&(2, config.clone()), keys, machine, thread);
        let both = [IndexId(0), IndexId(1)];
        let rows = || (800..1_600).flat_map(|row| both.map(|index| (index, RowId(row))));
        for (index, row) in rows() {
            finish(machine, thread, |machine, thread| tree.insert(machine, thread, index, row));
        }
        pending = tree.pending_messages(IndexId(1));
        for (index, row) in rows() {
            finish(machine, thread, |machine, thread| tree.delete(machine, thread, index, row));
        }
        tree
    });
    assert!(pending[1..4].iter().all(|messages| 0 < *messages), "{pending:?}");
}
