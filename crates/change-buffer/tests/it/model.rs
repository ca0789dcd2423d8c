//! The shared model suite: whatever waits, queries return exactly the model's rows.

use btree::{BTree, TreeConfig};
use change_buffer::{ChangeBufferConfig, ChangeBuffered, WhenFull};
use cost_model::{Machine, SimThread};
use index::testkit::{Suite, TestKeys};
use proptest::prelude::*;

use crate::support::{buffer, shapes, tree};

type Config = (usize, TreeConfig, ChangeBufferConfig);

fn configs() -> impl Strategy<Value = Config> {
    let when_full = prop_oneof![Just(WhenFull::Contract), Just(WhenFull::Refuse)];
    let sizes = (160..700u32, 2..12u32, 100..400u32);
    (2..4usize, sizes, when_full, any::<bool>(), any::<bool>(), 0.0..0.7).prop_map(
        |(indexes, (usable, pages_max, own), when_full, active_contract, by_arrival, coalesce)| {
            let mut tree = tree(usable);
            tree.format.coalesce_below = (f64::from(usable) * coalesce) as u32;
            let buffer = ChangeBufferConfig {
                when_full,
                active_contract,
                by_arrival,
                ..buffer(pages_max, own)
            };
            (indexes, tree, buffer)
        },
    )
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
