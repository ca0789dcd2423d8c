//! Whether this machine has the memory that a simulation needs.

use driver::jobs::memory::available;
use driver::run::memory_needed;
use driver::scenario::{Scale, Scenario};

use super::Overrides;
use super::error::CliError;

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
