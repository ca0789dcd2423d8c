//! Timing an operation that has to be undone.

use std::time::{Duration, Instant};

/// The time of `operation` in so many rounds, without that of `undo`, which keeps the table's
/// size.
pub(crate) fn timed<T>(
    rounds: u64,
    table: &mut T,
    mut operation: impl FnMut(&mut T),
    undo: impl Fn(&mut T),
) -> Duration {
    let mut total = Duration::ZERO;
    for _ in 0..rounds {
        let start = Instant::now();
        operation(table);
        total += start.elapsed();
        undo(table);
    }
    total
}
