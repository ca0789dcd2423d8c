//! The same seed gives the same counters and the same virtual time.

use btree::{SplitPolicy, TreeConfig};
use cost_model::{MachineConfig, SimDuration};
use index::testkit::{TestKeys, null_machine, one_disk};
use index::{IndexEngine, IndexId};

use crate::support::{Table, innodb, innodb_pool, shapes};

/// Everything a run leaves behind, as text.
fn run(seed: u64) -> String {
    let mut machine = innodb_pool(300, null_machine(300));
    machine.prices.index_entry = SimDuration::from_us(5);
    let machine = MachineConfig { disks: one_disk(), seed, ..machine };
    let split = SplitPolicy::Random { spread: 0.2 };
    let config = TreeConfig { split, seed, ..innodb() };
    let mut table = Table::new(machine, config, &shapes(47, &[60, 90]), TestKeys::uniform(seed));
    table.load(0..40_000);
    for row in 0..10_000 {
        table.delete(IndexId(1), row);
    }
    let stats: Vec<_> = (0..3).map(|index| table.tree.stats(IndexId(index))).collect();
    let leaves: Vec<_> = (0..3).map(|index| table.leaves(IndexId(index))).collect();
    format!(
        "{:?} {:?} {:?} {:?} {:?} {stats:?} {leaves:?}",
        table.client.now(),
        table.client.time(),
        table.machine.io(),
        table.machine.pool_stats(),
        table.machine.device().totals(),
    )
}

#[test]
fn the_seed_decides_everything() {
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}
