//! Every nanosecond and every byte has one entry, in every interval.

use btree::TreeConfig;
use cost_model::device::DeviceTotals;
use cost_model::{
    Cause, IoLedger, Machine, MachineConfig, SimDuration, SimThread, SimTime, TimeLedger,
};
use index::testkit::{TestKeys, null_machine, one_disk, run_threads};
use index::{IndexEngine, IndexId, RowId};

use crate::support::{Table, innodb, innodb_pool, shapes};

const INDEXES: u16 = 3;
/// Rows of each client.
const ROWS: u64 = 6_000;
const INTERVAL: SimDuration = SimDuration::from_ms(10_000);

/// Everything the accounts say at one moment.
struct Snapshot {
    clocks: Vec<(SimTime, TimeLedger)>,
    io: IoLedger,
    device: DeviceTotals,
}

impl Snapshot {
    fn of(machine: &Machine, clients: &[SimThread]) -> Self {
        let clocks = clients.iter().map(|client| (client.now(), client.time().clone())).collect();
        Self { clocks, io: machine.io().clone(), device: machine.device().totals() }
    }

    fn assert_adds_up_since(&self, earlier: &Self) {
        for ((now, ledger), (then, old)) in self.clocks.iter().zip(&earlier.clocks) {
            assert_eq!(ledger.since(old).total(), now.since(*then), "time of an interval");
        }
        let (reads, writes) = self.io.since(&earlier.io).reads_and_writes();
        let (now, then) = (&self.device, &earlier.device);
        let device_reads = (now.reads - then.reads, now.read_bytes - then.read_bytes);
        let device_writes = (now.writes - then.writes, now.write_bytes - then.write_bytes);
        assert_eq!((reads.requests, reads.bytes), device_reads, "reads of an interval");
        assert_eq!((writes.requests, writes.bytes), device_writes, "writes of an interval");
        assert_eq!((reads.pages * 16_384, writes.pages * 16_384), (reads.bytes, writes.bytes));
    }
}

/// Clients insert 6,000 rows of their own and delete them again, each operation tried until it is
/// done; the books are closed every ten seconds.
fn account(machine: MachineConfig, clients: usize) -> Snapshot {
    let config = TreeConfig { sibling_reads: true, ..innodb() };
    let keys = TestKeys::uniform(1);
    let shapes = shapes(300, &[1_200, 1_200]);
    let table = Table::with_clients(machine, clients, config, &shapes, keys);
    let Table { mut machine, client, mut tree } = table;
    let mut threads: Vec<_> = (0..clients).map(|_| SimThread::new(client.now())).collect();
    threads[0] = client;
    let operations = 2 * ROWS * u64::from(INDEXES);
    let mut done = vec![0; clients];
    let mut intervals = 0;
    while done.iter().any(|done| *done < operations) {
        let before = Snapshot::of(&machine, &threads);
        intervals += 1;
        let end = SimTime::ZERO + INTERVAL * intervals;
        run_threads(&mut threads, |number, thread| {
            if end <= thread.now() || done[number] == operations {
                return false;
            }
            let row = done[number] / u64::from(INDEXES);
            let index = IndexId((done[number] % u64::from(INDEXES)) as u16);
            let own = |row: u64| RowId(row * clients as u64 + number as u64);
            let step = match row.checked_sub(ROWS) {
                None => tree.insert(&mut machine, thread, index, own(row)),
                Some(row) => tree.delete(&mut machine, thread, index, own(row)),
            };
            if step.is_ok() {
                machine.release(thread);
                done[number] += 1;
            }
            true
        });
        machine.verify();
        Snapshot::of(&machine, &threads).assert_adds_up_since(&before);
    }
    assert!(4 < intervals, "{intervals} intervals");
    tree.verify();
    assert!((0..INDEXES).all(|index| tree.stats(IndexId(index)).entries == 0), "all deleted");
    Snapshot::of(&machine, &threads)
}

fn machine() -> MachineConfig {
    let mut machine = innodb_pool(400, null_machine(400));
    machine.disks = one_disk();
    machine.prices.index_entry = SimDuration::from_us(5);
    machine.prices.page_read = SimDuration::from_us(20);
    machine
}

#[test]
fn one_client() {
    let end = account(machine(), 1);
    let (_, time) = &end.clocks[0];
    assert_eq!(time.get(Cause::Lock), SimDuration::ZERO, "nobody to wait for");
    assert!(SimDuration::ZERO < time.get(Cause::Read) && SimDuration::ZERO < time.get(Cause::Cpu));
}

#[test]
fn three_clients_on_one_core() {
    let end = account(MachineConfig { cores: 1, ..machine() }, 3);
    let waited = |cause| end.clocks.iter().any(|(_, time)| SimDuration::ZERO < time.get(cause));
    assert!(waited(Cause::Lock) && waited(Cause::Read), "cores and disk are shared");
}
