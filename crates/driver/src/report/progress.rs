//! The progress of a run, on a terminal only.

use std::fmt::Write;
use std::time::Duration;

use cost_model::SimTime;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::text;

/// A bar on stderr: rows done, virtual time, current rate, and the wall time that is left.
///
/// It draws nothing if stderr is not a terminal, and it never enters a report: the time left is
/// the one number of the program that comes from the wall clock.
#[derive(Debug)]
pub struct Progress {
    name: String,
    bar: ProgressBar,
}

impl Progress {
    /// The bar of the run called `name`; hidden if `quiet` or if stderr is not a terminal.
    pub fn new(name: &str, quiet: bool) -> Self {
        let target =
            if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let style = ProgressStyle::with_template("[{bar:10}] {percent:>3} %  {wide_msg}")
            .expect("the template is a constant")
            .progress_chars("=> ");
        let bar = ProgressBar::with_draw_target(Some(1), target).with_style(style);
        Self { name: name.to_owned(), bar }
    }

    /// Shows the state at the end of a reporting interval: rows inserted so far and asked for,
    /// virtual time so far, and the rows inserted per virtual second in the interval.
    pub fn update(&self, rows: u64, rows_total: u64, virtual_time: SimTime, rows_per_s: f64) {
        if self.bar.is_hidden() {
            return;
        }
        self.bar.set_length(rows_total);
        self.bar.set_position(rows);
        let mut message = message(rows, rows_total, virtual_time, rows_per_s, self.bar.eta());
        // Last, because a narrow terminal cuts the line at its end.
        message.push_str("  ");
        message.push_str(&self.name);
        self.bar.set_message(message);
    }

    /// Removes the bar, so that the result follows on a clean line.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn message(rows: u64, rows_total: u64, time: SimTime, rows_per_s: f64, left: Duration) -> String {
    let mut message = format!(
        "{}/{} rows, {} virtual, {} rows/s",
        text::count(rows),
        text::count(rows_total),
        text::duration(time.as_secs_f64()),
        text::rate(rows_per_s),
    );
    if 0 < left.as_secs() {
        let _ = write!(message, ", {} left", text::duration(left.as_secs_f64().round()));
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_shows_rows_virtual_time_rate_and_wall_time_left() {
        let time = SimTime::from_ns(11_520_000_000_000);
        let text =
            message(131_000_000, 1_000_000_000, time, 1_234.4, Duration::from_millis(41_700));
        assert_eq!(text, "131M/1B rows, 3.2 h virtual, 1,234 rows/s, 42 s left");
        let text = message(1_000, 1_000_000, SimTime::ZERO, 12.5, Duration::ZERO);
        assert_eq!(text, "1,000/1M rows, 0 s virtual, 12.5 rows/s");
    }

    #[test]
    fn a_quiet_run_draws_nothing() {
        let progress = Progress::new("s4", true);
        progress.update(1, 2, SimTime::ZERO, 0.0);
        assert!(progress.bar.is_hidden());
        assert_eq!(progress.bar.message(), "");
        progress.finish();
    }
}
