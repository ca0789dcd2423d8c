use std::sync::Mutex;

use super::*;

/// A scenario of so many rows, in a pool of a MiB on a device that takes no time.
fn scenario(name: &str, rows: u64) -> Arc<Scenario> {
    let text = format!(
        r#"
use = ["machines/ram-disk", "engines/innodb-5.1"]
pool.size = "1MiB"
workload.kind = "iibench"
workload.profile = "python-2009"
workload.rows = {rows}
"#
    );
    Arc::new(Scenario::parse(name, &text, &[], None).unwrap())
}

fn jobs(at_a_time: usize) -> Jobs {
    Jobs::new(NonZeroUsize::new(at_a_time), ProgressBars::new(true)).unwrap()
}

/// The results of the scenarios by name, in the order in which they were handed over.
fn results(jobs: &Jobs, scenarios: &[Arc<Scenario>]) -> Vec<(String, RunResult)> {
    let mut results = Vec::new();
    let ended = jobs.run_in_order(scenarios, |number, outcome| {
        let Outcome::Finished(result) = outcome else { panic!("{outcome:?}") };
        results.push((scenarios[number].name.clone(), *result));
        ControlFlow::<()>::Continue(())
    });
    assert_eq!(ended, ControlFlow::Continue(()));
    results
}

#[test]
fn one_and_three_at_a_time_give_the_same_in_the_order_asked() {
    let scenarios =
        [("a", 3_000), ("b", 9_000), ("c", 1_000), ("d", 5_000)].map(|(n, rows)| scenario(n, rows));
    let alone = results(&jobs(1), &scenarios);
    let names: Vec<_> = alone.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c", "d"]);
    assert_eq!(alone, results(&jobs(3), &scenarios));
}

#[test]
fn the_longest_begins_first() {
    let scenarios =
        [("a", 3_000), ("b", 9_000), ("c", 1_000), ("d", 9_000)].map(|(n, rows)| scenario(n, rows));
    assert_eq!(longest_first(&scenarios), [1, 3, 0, 2]);
}

#[test]
fn a_panic_is_the_error_of_its_run_alone() {
    fn run(scenario: &Scenario, stop: &AtomicBool, bars: &ProgressBars) -> Outcome {
        assert_ne!(scenario.name, "broken");
        run_one(scenario, stop, bars)
    }
    let scenarios = [scenario("broken", 2_000), scenario("sound", 2_000)];
    let mut ends = Vec::new();
    let ended =
        jobs(2).run_within(&scenarios, longest_first(&scenarios), None, run, |number, outcome| {
            ends.push((number, matches!(outcome, Outcome::Failed(JobError::Panic { .. }))));
            ControlFlow::<()>::Continue(())
        });
    assert_eq!(ended, ControlFlow::Continue(()));
    ends.sort_unstable();
    assert_eq!(ends, [(0, true), (1, false)]);
}

#[test]
fn runs_that_do_not_fit_together_follow_each_other() {
    static UNDER_WAY: Mutex<(usize, usize)> = Mutex::new((0, 0));
    fn run(_: &Scenario, _: &AtomicBool, _: &ProgressBars) -> Outcome {
        {
            let mut counts = UNDER_WAY.lock().unwrap();
            counts.0 += 1;
            counts.1 = counts.1.max(counts.0);
        }
        thread::yield_now();
        UNDER_WAY.lock().unwrap().0 -= 1;
        Outcome::Stopped(None)
    }
    let scenarios = [(); 8].map(|()| scenario("a", 2_000));
    let needed = memory_needed(&scenarios[0]);
    let memory = Bytes::new(needed.get() * 2 - 1);
    let mut ended = 0;
    let _ = jobs(4).run_within(&scenarios, longest_first(&scenarios), Some(memory), run, |_, _| {
        ended += 1;
        ControlFlow::<()>::Continue(())
    });
    assert_eq!((ended, UNDER_WAY.lock().unwrap().1), (8, 1));
}

#[test]
fn a_run_that_never_fits_fails_and_the_others_go_on() {
    let scenarios = [scenario("large", 50_000_000), scenario("small", 2_000)];
    let memory = Some(Bytes::mib(128));
    let mut ends = Vec::new();
    let _ = jobs(2).run_within(
        &scenarios,
        longest_first(&scenarios),
        memory,
        run_one,
        |number, outcome| {
            ends.push(match outcome {
                Outcome::Finished(_) => format!("{number}: finished"),
                Outcome::Failed(JobError::Memory { .. }) => format!("{number}: too large"),
                outcome => format!("{number}: {outcome:?}"),
            });
            ControlFlow::<()>::Continue(())
        },
    );
    ends.sort();
    assert_eq!(ends, ["0: too large", "1: finished"]);
}

#[test]
fn what_is_interrupted_is_not_finished() {
    let jobs = jobs(1);
    jobs.stop.store(true, Ordering::Relaxed);
    let mut ends = 0;
    let _ = jobs.run(&[scenario("a", 2_000)], |_, outcome| {
        assert!(matches!(outcome, Outcome::Stopped(None)));
        ends += 1;
        ControlFlow::<()>::Continue(())
    });
    assert!(jobs.is_interrupted());
    assert_eq!(ends, 1);
}
