//! Index operations that whole runs simulate per second; the README has the floor.

use std::sync::atomic::AtomicBool;

use criterion::{Criterion, Throughput};
use driver::run::run;
use driver::scenario::Scenario;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("s4-insert-buffer-off");
    group.sample_size(10);
    for scale in ["1/512", "1/128"] {
        let divisor = Some(scale.parse().expect("a power of two"));
        let scenario = Scenario::load("s4-insert-buffer-off", &[], divisor);
        let scenario = scenario.expect("a built-in scenario at a scale it bears");
        let whole_run = || {
            let result = run(&scenario, &AtomicBool::new(false), &mut |_| {});
            result.expect("computed keys need no file").totals.index_operations
        };
        group.throughput(Throughput::Elements(whole_run()));
        group.bench_function(scale, |bencher| bencher.iter(whole_run));
    }
    group.finish();
    criterion.final_summary();
}
