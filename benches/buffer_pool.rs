//! What a page costs in the simulated buffer pool: one that is there, and one that is not.

use cost_model::device::DeviceSpec;
use cost_model::{Draw, Machine, MachineConfig, PageId, Purpose, SimThread, SimTime};
use criterion::{Criterion, Throughput};
use index::testkit::{finish, null_machine};

/// Frames: 1 GiB of pages of 16 KiB, so that lists and tables do not fit in the caches of the
/// processor.
const FRAMES: u32 = 1 << 16;

/// Pages of one measurement.
const PAGES: u64 = 1 << 10;

/// What is done to each page.
#[derive(Clone, Copy)]
enum Use {
    Look,
    Change,
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("pool");
    group.throughput(Throughput::Elements(PAGES));
    group.bench_function("touch a random page that is there", |bencher| {
        let mut pool = Pool::new();
        let mut draw = Draw::new(1, 0);
        bencher.iter(|| {
            let pages_read = pool.use_pages(Use::Look, || draw.below(u64::from(FRAMES)) as u32);
            assert_eq!(pages_read, 0);
        });
    });
    group.bench_function("read a page, evict a clean one", |bencher| {
        let mut pool = Pool::new();
        let mut page = FRAMES;
        bencher.iter(|| {
            let pages_read = pool.use_pages(Use::Look, || next_absent(&mut page));
            assert_eq!(pages_read, PAGES);
        });
    });
    group.bench_function("read a page and change it, write and evict one", |bencher| {
        let mut pool = Pool::new();
        let mut page = FRAMES;
        bencher.iter(|| {
            let pages_read = pool.use_pages(Use::Change, || next_absent(&mut page));
            assert_eq!(pages_read, PAGES);
        });
    });
    group.finish();
    criterion.final_summary();
}

/// A plain LRU list of twice as many pages in turn never has the next one.
fn next_absent(page: &mut u32) -> u32 {
    *page = (*page + 1) % (2 * FRAMES);
    *page
}

/// A full pool and one client.
struct Pool {
    machine: Machine,
    client: SimThread,
}

impl Pool {
    fn new() -> Self {
        let disks = DeviceSpec::Null;
        let config =
            MachineConfig { disks, pages_expected: 2 * u64::from(FRAMES), ..null_machine(FRAMES) };
        let machine = Machine::new(config, 1);
        let mut pool = Self { machine, client: SimThread::new(SimTime::ZERO) };
        let mut page = 0..FRAMES;
        for _ in 0..u64::from(FRAMES) / PAGES {
            pool.use_pages(Use::Look, || page.next().unwrap_or(0));
        }
        pool
    }

    /// Uses pages one after the other; tells how many of them were read.
    fn use_pages(&mut self, used: Use, mut page: impl FnMut() -> u32) -> u64 {
        let reads_before = self.machine.pool_stats().reads;
        for _ in 0..PAGES {
            let page = PageId(page());
            finish(&mut self.machine, &mut self.client, |machine, client| {
                machine.begin(client)?;
                let frame = machine.fetch_for_change(client, page, Purpose::LeafRead)?;
                match used {
                    Use::Look => machine.touch(client, frame),
                    Use::Change => machine.change(client, frame),
                }
                Ok(())
            });
        }
        self.machine.pool_stats().reads - reads_before
    }
}
