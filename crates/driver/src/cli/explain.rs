//! `iisim explain`: where the time of a row goes.

use clap::Args;
use driver::explain::{Explanation, last_row};
use driver::report::ProgressBars;
use driver::scenario::{Kind, Value};

use super::error::CliError;
use super::{Overrides, memory, output};

const ROWS: Kind = Kind::Count("rows", 0, 1 << 40);

/// Follow one insert page by page, and tell where the time of the average row goes
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iisim explain s4-insert-buffer-off --scale 1/128
  iisim explain s4-insert-buffer-off --scale 1/128 --at 50_000_000
  iisim explain s4-insert-buffer-off --scale 1/128 --set machine.disk.spindles=1")]
pub(super) struct ExplainArgs {
    /// Scenario file, or name of a built-in experiment
    #[arg(value_name = "FILE")]
    file: String,
    /// Rows in the table when the insert comes, at full scale [default: all but the last]
    #[arg(long, value_name = "ROWS")]
    at: Option<String>,
    #[command(flatten)]
    overrides: Overrides,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
}

pub(super) fn execute(args: &ExplainArgs) -> Result<(), CliError> {
    let at = match &args.at {
        None => None,
        Some(text) => match ROWS.parse_option("--at", text)? {
            Value::Whole(rows) => Some(rows),
            _ => None,
        },
    };
    let scenario = args.overrides.load(&args.file)?;
    memory::check(&scenario, &args.file, &args.overrides)?;
    let last = last_row(&scenario);
    let rows = at.map_or(last, |at| scenario.scale.apply(at));
    if let Some(at) = at.filter(|_| last < rows) {
        return Err(CliError::AtTooFar { at, last: scenario.scale.full(last) });
    }
    let progress = ProgressBars::new(args.quiet).add(&scenario.name);
    let explanation = Explanation::new(&scenario, rows, &mut |update| progress.update(update));
    progress.finish();
    let name = scenario.name.clone();
    let explanation = explanation.map_err(|error| CliError::Run { name, error })?;
    output::print(|out| explanation.write(out))
}
