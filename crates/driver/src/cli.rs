//! The command line: what a user asks for, and how the program ends.
//!
//! Results go to stdout, progress and notes to stderr. The program ends with 0, with 1 if a claim is
//! lost, with 2 after bad input (one message on stderr), and with 130 after Ctrl-C.

mod device;
mod error;
mod explain;
mod list;
mod memory;
mod output;
mod record;
mod reproduce;
mod run;
mod schema;
mod stream;
mod sweep;

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::panic;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use driver::jobs::message;
use driver::scenario::{Kind, Problem, Scale, Scenario, ScenarioError, Value};

use error::CliError;

/// How the program ends if a claim is no longer shown, and after bad input.
const LOST: u8 = 1;
const BAD_INPUT: u8 = 2;

/// Simulates how storage engines maintain secondary indexes.
///
/// Replays the key stream of the insert benchmark through an index engine on a simulated machine
/// and answers in virtual time: rows per second, page reads per row, and what each row waited for.
#[derive(Debug, Parser)]
#[command(name = "iisim", version, max_term_width = 100, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  iisim reproduce                                         the claims of the articles, judged
  iisim list                                              what there is to run
  iisim run s4-insert-buffer-off --scale 1/128            a billion rows, 1/128 of them simulated
  iisim sweep redo-size                                   many runs that differ in a value
  iisim explain s4-insert-buffer-off --scale 1/128        where the time of a row goes, and why
  iisim device callaghan-2011                             what the disks of a machine deliver";

#[derive(Debug, Subcommand)]
enum Command {
    Reproduce(reproduce::ReproduceArgs),
    Run(run::RunArgs),
    Sweep(sweep::SweepArgs),
    Explain(explain::ExplainArgs),
    Device(device::DeviceArgs),
    Stream(stream::StreamArgs),
    Record(record::RecordArgs),
    List(list::ListArgs),
    Schema(schema::SchemaArgs),
}

/// How a scenario differs from its file.
#[derive(Debug, Args)]
struct Overrides {
    /// Set a key of the scenario, such as pool.size=8GiB; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,
    /// Shrink rows and memory alike by a power of two, such as 1/128 [default: 1, the full size]
    #[arg(long)]
    scale: Option<String>,
}

/// How much is done at the same time.
#[derive(Debug, Args)]
struct JobCount {
    /// Runs at the same time [default: as many as there are cores]
    #[arg(long)]
    jobs: Option<String>,
}

impl JobCount {
    const RUNS: Kind = Kind::Count("runs", 1, 1 << 10);

    fn get(&self) -> Result<Option<NonZeroUsize>, Problem> {
        let Some(text) = &self.jobs else { return Ok(None) };
        match Self::RUNS.parse_option("--jobs", text)? {
            Value::Whole(runs) => Ok(NonZeroUsize::new(runs as usize)),
            _ => Ok(None),
        }
    }
}

/// The form of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people
    Table,
    /// For programs: the names and units of docs/reports.md
    Json,
    /// For spreadsheets: one line per point
    Csv,
}

/// Runs the program and tells how it ended.
pub(crate) fn main() -> ExitCode {
    panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(
            io::stderr(),
            "error: internal error: {} ({place}); this is a bug, please report the command line",
            message(panic.payload())
        );
    }));
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help that nobody reads to its end is no error.
            let _ = error.print();
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    match panic::catch_unwind(|| execute(&cli)) {
        Ok(Ok(code)) => code,
        Ok(Err(error)) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Ok(Err(error)) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(BAD_INPUT)
        }
        Err(_) => ExitCode::from(BAD_INPUT),
    }
}

fn execute(cli: &Cli) -> Result<ExitCode, CliError> {
    let done = |()| ExitCode::SUCCESS;
    match &cli.command {
        Command::Reproduce(args) => reproduce::execute(args),
        Command::Run(args) => run::execute(args),
        Command::Sweep(args) => sweep::execute(args),
        Command::Explain(args) => explain::execute(args).map(done),
        Command::Device(args) => device::execute(args).map(done),
        Command::Stream(args) => stream::execute(args).map(done),
        Command::Record(args) => record::execute(args).map(done),
        Command::List(args) => list::execute(args).map(done),
        Command::Schema(args) => schema::execute(args).map(done),
    }
}

impl Overrides {
    /// The scenario of this path or name with these settings.
    fn load(&self, path_or_name: &str) -> Result<Scenario, ScenarioError> {
        Scenario::load(path_or_name, &self.sets, self.scale()?)
    }

    fn scale(&self) -> Result<Option<Scale>, ScenarioError> {
        self.scale.as_deref().map(str::parse).transpose()
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn options_do_not_contradict_each_other() {
        Cli::command().debug_assert();
    }
}
