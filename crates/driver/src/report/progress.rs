//! The progress of a run, on a terminal only.

use std::fmt::Write;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::text;
use crate::run::Update;

/// The bars of all runs of a command, one below the other on stderr.
///
/// They draw nothing if stderr is not a terminal, and they never enter a report: the time left is
/// the one number of the program that comes from the wall clock.
#[derive(Clone, Debug)]
pub struct ProgressBars(MultiProgress);

/// The bar of a whole command: runs done of those asked for.
#[derive(Debug)]
pub struct Overall(ProgressBar);

/// The bar of one run: rows done, virtual time, current rate, and the wall time that is left.
#[derive(Debug)]
pub struct Progress {
    name: String,
    bar: ProgressBar,
}

impl ProgressBars {
    /// No bars yet; they stay hidden if `quiet` or if stderr is not a terminal.
    pub fn new(quiet: bool) -> Self {
        let target =
            if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        Self(MultiProgress::with_draw_target(target))
    }

    /// The bar of the run called `name`, below those that are there.
    pub fn add(&self, name: &str) -> Progress {
        let style = ProgressStyle::with_template("[{bar:10}] {percent:>3} %  {wide_msg}")
            .expect("the template is a constant")
            .progress_chars("=> ");
        let bar = self.0.add(ProgressBar::new(1).with_style(style));
        Progress { name: name.to_owned(), bar }
    }

    /// The bar of a command with so many runs, above theirs; nothing to see with one run.
    pub fn overall(&self, runs: usize) -> Overall {
        if runs < 2 {
            return Overall(ProgressBar::hidden());
        }
        let style = ProgressStyle::with_template("[{bar:10}] {pos}/{len} runs, {elapsed} so far")
            .expect("the template is a constant")
            .progress_chars("=> ");
        let bar = self.0.insert(0, ProgressBar::new(runs as u64).with_style(style));
        bar.tick();
        Overall(bar)
    }

    /// Takes the bars off the terminal while something else is written to it.
    pub fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        self.0.suspend(write)
    }
}

impl Overall {
    /// Another run is done.
    pub fn one_done(&self) {
        self.0.inc(1);
    }
}

impl Drop for Overall {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

impl Progress {
    /// Shows the state at the end of a reporting interval.
    pub fn update(&self, update: &Update) {
        if self.bar.is_hidden() {
            return;
        }
        self.bar.set_length(update.rows_total);
        self.bar.set_position(update.rows);
        let mut message = message(update, self.bar.eta());
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

fn message(update: &Update, left: Duration) -> String {
    let mut message = format!(
        "{}/{} rows, {} virtual, {} rows/s",
        text::count(update.rows),
        text::count(update.rows_total),
        text::duration(update.virtual_time.as_secs_f64()),
        text::rate(update.rows_per_s),
    );
    if 0 < left.as_secs() {
        let _ = write!(message, ", {} left", text::duration(left.as_secs_f64().round()));
    }
    message
}

#[cfg(test)]
mod tests {
    use cost_model::SimTime;

    use super::*;

    #[test]
    fn message_shows_rows_virtual_time_rate_and_wall_time_left() {
        let update = Update {
            rows: 131_000_000,
            rows_total: 1_000_000_000,
            virtual_time: SimTime::from_ns(11_520_000_000_000),
            rows_per_s: 1_234.4,
        };
        let text = message(&update, Duration::from_millis(41_700));
        assert_eq!(text, "131M/1B rows, 3.2 h virtual, 1,234 rows/s, 42 s left");
        let update = Update {
            rows: 1_000,
            rows_total: 1_000_000,
            virtual_time: SimTime::ZERO,
            rows_per_s: 12.5,
        };
        let text = message(&update, Duration::ZERO);
        assert_eq!(text, "1,000/1M rows, 0 s virtual, 12.5 rows/s");
    }

    #[test]
    fn a_quiet_run_draws_nothing() {
        let progress = ProgressBars::new(true).add("s4");
        let nothing =
            Update { rows: 1, rows_total: 2, virtual_time: SimTime::ZERO, rows_per_s: 0.0 };
        progress.update(&nothing);
        assert!(progress.bar.is_hidden());
        assert_eq!(progress.bar.message(), "");
        progress.finish();
    }
}
