//! Whether this machine has the memory that a simulation needs.

use cost_model::Bytes;
use driver::run::memory_needed;
use driver::scenario::{Scale, Scenario};

use super::Overrides;
use super::error::CliError;

/// Memory that this machine can give to programs; `None` where it does not say.
///
/// Source: proc(5), field `MemAvailable`.
pub(super) fn available() -> Option<Bytes> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(Bytes::kib(kib))
}

/// Refuses a scenario that needs more than there is, and says at which scale it would fit.
pub(super) fn check(
    scenario: &Scenario,
    path_or_name: &str,
    overrides: &Overrides,
) -> Result<(), CliError> {
    let needed = memory_needed(scenario);
    let Some(available) = available().filter(|available| *available < needed) else {
        return Ok(());
    };
    let mut smaller = (scenario.scale.halvings() + 1..=Scale::HALVINGS_MAX).map(Scale::new);
    let fits = smaller.find(|scale| {
        Scenario::load(path_or_name, &overrides.sets, Some(*scale))
            .is_ok_and(|scenario| memory_needed(&scenario) <= available)
    });
    let name = scenario.name.clone();
    Err(CliError::Memory { name, needed, available, fits })
}

/// How many of these scenarios, at most `jobs`, fit into memory at the same time.
pub(super) fn jobs_that_fit<'a>(
    scenarios: impl Iterator<Item = &'a Scenario>,
    jobs: usize,
) -> usize {
    let Some(available) = available() else { return jobs };
    let mut needs: Vec<_> = scenarios.map(memory_needed).collect();
    needs.sort_unstable_by(|a, b| b.cmp(a));
    let mut sum = Bytes::ZERO;
    let fitting = needs.into_iter().take(jobs).take_while(|needed| {
        sum += *needed;
        sum <= available
    });
    fitting.count().max(1)
}
