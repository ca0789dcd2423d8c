//! The shared model suite on trees with pages of 4 to 10 entries.
//!
//! With 3, middle splits of ascending keys leave one child on each page: such trees grow a level
//! every few rows, and are only tried with few.

use btree::{BTree, PageFormat, RedoFormat, SpaceConfig, SplitPolicy, TreeConfig, UndoConfig};
use cost_model::{Machine, SimThread};
use index::IndexShape;
use index::testkit::{KeyOrder, Op, Suite, TestKeys, exhaust, null_machine, replay};
use proptest::prelude::*;

/// A clustered index with records of 28 bytes (21 in internal pages) and secondary ones with 21
/// (25).
fn shapes(indexes: usize) -> Vec<IndexShape> {
    let shape = |number| IndexShape {
        name: format!("index {number}"),
        clustered: number == 0,
        entry_bytes: if number == 0 { 10 } else { 16 },
        key_bytes: if number == 0 { 12 } else { 16 },
        nullable_columns: 0,
        variable_columns: 0,
    };
    (0..indexes).map(shape).collect()
}

fn tiny(usable: u32) -> TreeConfig {
    let space = SpaceConfig {
        extent_pages: 4,
        fragment_pages: 3,
        reserve_share: 8,
        large_extents: 3,
        extra_extents: 2,
    };
    let (split, sibling_reads) = (SplitPolicy::InnoDb, true);
    let redo = Some(RedoFormat::mysql_5_1(150, 200));
    let (join_right, undo) = (true, None);
    let format = PageFormat::of_usable(usable);
    TreeConfig { format, space, split, sibling_reads, join_right, redo, undo, seed: 1 }
}

/// Undo logs on pages of 3 to 20 records.
fn undo_logs() -> impl Strategy<Value = Option<UndoConfig>> {
    let rules = (100..400u32, 10..29u32, 0..300u32, any::<bool>());
    prop::option::weighted(0.7, rules).prop_map(|rules| {
        let (page_usable, delete, reuse_below, keeps_inserts) = rules?;
        Some(UndoConfig { page_usable, delete, reuse_below, keeps_inserts })
    })
}

fn configs() -> impl Strategy<Value = (usize, TreeConfig)> {
    let limits =
        (120..220u32, prop_oneof![Just(0u32), 1..40u32], prop_oneof![Just(0u32), 1..40u32]);
    let split = prop_oneof![
        4 => Just(SplitPolicy::InnoDb),
        1 => Just(SplitPolicy::Middle),
        1 => Just(SplitPolicy::Random { spread: 0.4 }),
    ];
    // A share of the usable bytes below which pages are joined; 0: only empty ones are freed.
    let coalesce = prop_oneof![Just(0.0), Just(0.5), 0.2..0.7];
    let space = (prop_oneof![Just(2u32), Just(4), Just(64)], 0..6u32);
    let joins = (coalesce, any::<bool>());
    (1..4usize, limits, split, joins, any::<bool>(), space, undo_logs()).prop_map(
        |(indexes, (usable, reserve, reorganize), split, joins, sibling_reads, space, undo)| {
            let (coalesce, join_right) = joins;
            let mut config = tiny(usable);
            config.format.clustered_reserve = reserve;
            config.format.reorganize_limit = reorganize;
            config.format.coalesce_below = (f64::from(usable) * coalesce) as u32;
            (config.split, config.sibling_reads) = (split, sibling_reads);
            (config.join_right, config.undo) = (join_right, undo);
            (config.space.extent_pages, config.space.fragment_pages) = space;
            (indexes, config)
        },
    )
}

fn build(
    (indexes, config): &(usize, TreeConfig),
    keys: TestKeys,
    machine: &mut Machine,
    thread: &mut SimThread,
) -> BTree<TestKeys> {
    BTree::new(config.clone(), &shapes(*indexes), keys, 100, machine, thread)
}

#[test]
fn one_thread() {
    // An operation on a tree of six levels needs up to three pages of each: its path, and the
    // siblings or the new pages beside it. The data is several times that.
    let suite = Suite { cases: 3_000, threads: 1, rows: 160, frames: 24..=40 };
    suite.run(configs(), build);
}

#[test]
fn two_threads() {
    let suite = Suite { cases: 2_000, threads: 2, rows: 100, frames: 36..=50 };
    suite.run(configs(), build);
}

#[test]
fn three_threads() {
    let suite = Suite { cases: 2_000, threads: 3, rows: 80, frames: 48..=64 };
    suite.run(configs(), build);
}

fn play(config: TreeConfig, frames: u32, script: Vec<Op>) {
    let keys = TestKeys::uniform(1);
    replay(null_machine(frames), keys, &[script], |machine, thread| {
        build(&(1, config), keys, machine, thread)
    });
}

/// A leaf whose left neighbour is full was joined with the right one, and its key range went to
/// the left one: the entry could not be found again.
#[test]
fn a_join_to_the_right_takes_the_key_range_along() {
    let mut config = tiny(95);
    config.split = SplitPolicy::Middle;
    config.format.coalesce_below = 60;
    // Leaves of three: 0 | 10 11 12 | 20 21 | 30 40. Without 20, 21 fits on the right only.
    let inserts = [0, 10, 20, 30, 40, 50, 11, 12, 21].map(Op::Insert);
    let script = inserts.into_iter().chain([Op::Delete(50), Op::Delete(20), Op::Get(0, 21)]);
    play(config, 24, script.collect());
}

/// A scan kept every page it had read until it was over: the pool ran out of frames.
#[test]
fn a_scan_may_be_longer_than_the_pool() {
    let inserts = (0..300).map(Op::Insert);
    play(tiny(95), 24, inserts.chain([Op::Range(0, 0, 300)]).collect());
}

/// Three rows come and go in every order on a tree of two or three levels whose leaves are full
/// or have one row each.
#[test]
fn every_short_sequence() {
    let full: Vec<_> = (0..12).map(|row| Op::Insert(10 * row)).collect();
    let empty: Vec<_> = (0..30)
        .map(|row| Op::Insert(4 * row))
        .chain((0..30).filter(|row| row % 4 != 0).map(|row| Op::Delete(4 * row)))
        .collect();
    for (before, rows) in [(full, [41, 42, 43]), (empty, [0, 32, 33])] {
        for coalesce_below in [0, 50] {
            let mut config = tiny(95);
            config.format.coalesce_below = coalesce_below;
            let keys = TestKeys { order: KeyOrder::Descending, seed: 1 };
            let machine = null_machine(24);
            let sequences = exhaust(&machine, keys, &before, &rows, 6, |machine, thread| {
                build(&(2, config.clone()), keys, machine, thread)
            });
            // Each step has three deletes and an insert of every absent row: 3 to 6 choices.
            assert!(3u64.pow(6) < sequences && sequences < 6u64.pow(6), "{sequences} sequences");
        }
    }
}
