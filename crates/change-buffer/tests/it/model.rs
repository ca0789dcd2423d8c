//! The shared model suite: whatever waits, queries return exactly the model's rows.

use btree::{BTree, TreeConfig, UndoConfig};
use change_buffer::{Buffered, ChangeBufferConfig, ChangeBuffered, WhenFull};
use cost_model::{Machine, SimThread};
use index::testkit::{Suite, TestKeys};
use proptest::prelude::*;

use crate::support::{buffer, shapes, tree};

type Config = (usize, TreeConfig, ChangeBufferConfig);

fn configs() -> impl Strategy<Value = Config> {
    let when_full = prop_oneof![Just(WhenFull::Contract), Just(WhenFull::Refuse)];
    let sizes = (160..700u32, 2..12u32, 100..400u32);
    let rules = (any::<bool>(), any::<bool>(), any::<bool>());
    (2..4usize, sizes, when_full, rules, buffers(), undo_logs(), 0.0..0.7).prop_map(
        |(indexes, sizes, when_full, rules, buffers, undo, coalesce)| {
            let (usable, pages_max, own) = sizes;
            let (active_contract, by_arrival, join_right) = rules;
            let mut tree = tree(usable);
            (tree.join_right, tree.undo) = (join_right, undo);
            tree.format.coalesce_below = (f64::from(usable) * coalesce) as u32;
            let buffer = ChangeBufferConfig {
                when_full,
                active_contract,
                by_arrival,
                buffers,
                ..buffer(pages_max, own)
            };
            (indexes, tree, buffer)
        },
    )
}

fn buffers() -> impl Strategy<Value = Buffered> {
    let any = (any::<bool>(), any::<bool>(), any::<bool>());
    let any = any.prop_map(|(inserts, delete_marks, deletes)| Buffered {
        inserts,
        delete_marks,
        deletes,
    });
    prop_oneof![Just(Buffered { inserts: true, delete_marks: true, deletes: true }), any]
}

/// Undo logs on pages of 3 to 20 records.
fn undo_logs() -> impl Strategy<Value = Option<UndoConfig>> {
    let rules = (100..400u32, 10..29u32, 0..300u32, any::<bool>());
    prop::option::weighted(0.8, rules).prop_map(|rules| {
        let (page_usable, delete, reuse_below, keeps_inserts) = rules?;
        Some(UndoConfig { page_usable, delete, reuse_below, keeps_inserts })
    })
}

fn build(
    (indexes, tree, buffer): &Config,
    keys: TestKeys,
    machine: &mut Machine,
    thread: &mut SimThread,
) -> ChangeBuffered<TestKeys> {
    let (tree, buffer) = (tree.clone(), buffer.clone());
    ChangeBuffered::new(tree, buffer, &shapes(*indexes), keys, 100, machine, thread)
}

#[test]
fn one_thread() {
    let suite = Suite { cases: 2_000, threads: 1, rows: 200, frames: 36..=44 };
    suite.run(configs(), build);
}

#[test]
fn three_threads() {
    let suite = Suite { cases: 1_000, threads: 3, rows: 120, frames: 72..=90 };
    suite.run(configs(), build);
}

/// The suite's scripts must meet what it is for.
#[test]
fn entries_do_wait_and_are_merged() {
    use cost_model::SimTime;
    use index::testkit::null_machine;
    use index::{IndexEngine, IndexId, RowId};
    let mut machine = Machine::new(null_machine(40), 1);
    let mut thread = SimThread::new(SimTime::ZERO);
    let config = (2, tree(400), buffer(8, 300));
    let mut engine = build(&config, TestKeys::uniform(1), &mut machine, &mut thread);
    for row in (0..2_000).map(RowId) {
        for index in [IndexId(0), IndexId(1)] {
            while engine.insert(&mut machine, &mut thread, index, row).is_err() {}
            machine.release(&mut thread);
        }
        engine.verify();
    }
    let stats = engine.buffered().expect("it has a buffer");
    assert!(100 < stats.merges && stats.merged_entries + stats.entries == stats.buffered);
    assert!(8 <= stats.pages && stats.pages <= 8 + 12, "{} pages", stats.pages);
}

/// Each merge keeps the pages it works on, so that they stay while others are read for it. While
/// an operation completes what has arrived, more arrives: all its merges together must not keep
/// more than the pool has.
#[test]
fn what_arrives_while_an_operation_merges_does_not_fill_the_pool_with_kept_pages() {
    use cost_model::{MachineConfig, SimTime};
    use index::testkit::{null_machine, one_drive};
    use index::{IndexEngine, IndexId, RowId};
    let pool = null_machine(60).pool;
    let mut machine = Machine::new(MachineConfig::new(one_drive(), pool), 1);
    let mut thread = SimThread::new(SimTime::ZERO);
    let config = (2, tree(400), buffer(400, 300));
    let mut engine = build(&config, TestKeys::uniform(1), &mut machine, &mut thread);
    let mut merging = 0;
    for row in (0..4_000).map(RowId) {
        for index in [IndexId(0), IndexId(1)] {
            let mut tries = 0;
            while engine.insert(&mut machine, &mut thread, index, row).is_err() {
                tries += 1;
                assert!(tries < 10_000, "{row:?} is never inserted");
                if 3_000 <= row.0 && tries < 500 {
                    merging += engine.merge_some(&mut machine, &mut thread, 8);
                }
            }
            machine.release(&mut thread);
        }
    }
    engine.verify();
    assert!(1_000 < merging, "{merging} pages arrived during operations");
}

/// Without pages the buffer is not there: every count is the plain tree's.
#[test]
fn a_buffer_of_size_0_is_the_plain_tree() {
    use cost_model::SimTime;
    use index::testkit::null_machine;
    use index::{IndexEngine, IndexId, RowId};
    let load = |engine: &mut dyn IndexEngine, machine: &mut Machine, thread: &mut SimThread| {
        for row in (0..3_000).map(RowId) {
            for index in (0..3).map(IndexId) {
                while engine.insert(machine, thread, index, row).is_err() {}
                machine.release(thread);
            }
        }
        let stats: Vec<_> = (0..3).map(|index| engine.stats(IndexId(index))).collect();
        (stats, machine.io().clone(), *machine.pool_stats(), thread.now())
    };
    let keys = TestKeys::uniform(1);
    let mut thread = SimThread::new(SimTime::ZERO);
    let mut machine = Machine::new(null_machine(40), 1);
    let mut plain = BTree::new(tree(400), &shapes(3), keys, 100, &mut machine, &mut thread);
    let expected = load(&mut plain, &mut machine, &mut thread);
    let mut thread = SimThread::new(SimTime::ZERO);
    let mut machine = Machine::new(null_machine(40), 1);
    let mut empty = build(&(3, tree(400), buffer(0, 300)), keys, &mut machine, &mut thread);
    assert_eq!(load(&mut empty, &mut machine, &mut thread), expected);
    assert!(0 < expected.1.reads_and_writes().0.pages, "the pool is smaller than the data");
}
