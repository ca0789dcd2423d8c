//! `iisim run`: one or more scenarios over the cores.

use std::num::NonZeroUsize;
use std::panic;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use driver::report::{ProgressBars, RunResult, csv, json, svg, table};
use driver::run::{RunError, run};
use driver::scenario::Scenario;
use tokio::runtime::{Builder, Runtime};
use tokio::signal;
use tokio::task::JoinHandle;

use super::error::CliError;
use super::{Format, INTERRUPTED, Overrides, memory, output};

/// Run scenarios and report what they cost
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iisim run s4-insert-buffer-off --scale 1/128
  iisim run s4-insert-buffer-off --scale 1/128 --set pool.size=64GiB
  iisim run s4-insert-buffer-off what-if-pool what-if-flash --scale 1/128 --out results
  iisim run my-scenario.toml --format csv > curve.csv

A result is the same bytes for the same scenario, settings and scale, whatever --jobs is.
Ctrl-C ends the runs at their next reporting interval; what was finished is reported.")]
pub(super) struct RunArgs {
    /// Scenario files, or names of built-in experiments
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    #[command(flatten)]
    overrides: Overrides,
    /// Form of the result on stdout; json of several scenarios is one line for each
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Write NAME.json, NAME.csv, NAME.svg and NAME.scenario.txt to this folder as well
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Scenarios that run at the same time [default: as many as there are cores]
    #[arg(long)]
    jobs: Option<NonZeroUsize>,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
}

/// What a task brings back; nothing if it was interrupted before it began.
type Outcome = Option<Result<RunResult, RunError>>;

/// The scenarios of one command, and what they have in common.
struct Batch {
    runtime: Runtime,
    bars: ProgressBars,
    stop: Arc<AtomicBool>,
}

pub(super) fn execute(args: &RunArgs) -> Result<ExitCode, CliError> {
    let scenarios = load(args)?;
    if let Some(folder) = &args.out {
        check_names(&scenarios)?;
        output::create_folder(folder)?;
    }
    let wanted = args.jobs.or_else(|| std::thread::available_parallelism().ok());
    let wanted = wanted.map_or(1, NonZeroUsize::get);
    let jobs = memory::jobs_that_fit(scenarios.iter(), wanted);
    if jobs < wanted.min(scenarios.len()) {
        output::note(&format!("note: --jobs {jobs}, because more would not fit in memory"));
    }
    let batch = Batch::new(jobs, args.quiet)?;
    let result = batch.run(scenarios, args);
    // Runs that go on after an error are of no use to anybody.
    batch.runtime.shutdown_background();
    let interrupted = batch.stop.load(Ordering::Relaxed);
    result.map(|()| if interrupted { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}

fn load(args: &RunArgs) -> Result<Vec<Scenario>, CliError> {
    let scenarios = args.files.iter().map(|file| {
        let scenario = args.overrides.load(file)?;
        memory::check(&scenario, file, &args.overrides)?;
        Ok(scenario)
    });
    scenarios.collect()
}

/// Results in one folder need names of their own.
fn check_names(scenarios: &[Scenario]) -> Result<(), CliError> {
    let mut names: Vec<_> = scenarios.iter().map(|scenario| &scenario.name).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(CliError::SameName { name: pair[0].clone() }),
        None => Ok(()),
    }
}

impl Batch {
    /// Threads for `jobs` simulations; from now on Ctrl-C asks them to stop.
    fn new(jobs: usize, quiet: bool) -> Result<Self, CliError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(jobs)
            .enable_all()
            .build()
            .map_err(CliError::Start)?;
        let stop = Arc::new(AtomicBool::new(false));
        runtime.spawn(stop_at_interrupt(Arc::clone(&stop)));
        Ok(Self { runtime, bars: ProgressBars::new(quiet), stop })
    }

    /// Runs all scenarios and reports each as soon as those before it are reported.
    fn run(&self, scenarios: Vec<Scenario>, args: &RunArgs) -> Result<(), CliError> {
        let several = 1 < scenarios.len();
        let tasks: Vec<_> = scenarios
            .into_iter()
            .map(|scenario| (scenario.name.clone(), self.start(scenario)))
            .collect();
        let mut results = Vec::new();
        for (name, task) in tasks {
            let outcome = match self.runtime.block_on(task) {
                Ok(outcome) => outcome,
                Err(error) => match error.try_into_panic() {
                    Ok(cause) => panic::resume_unwind(cause),
                    Err(_) => None,
                },
            };
            let Some(result) = outcome else { continue };
            let result = result.map_err(|error| CliError::Run { name, error })?;
            self.bars.suspend(|| report(&result, several, results.is_empty(), args))?;
            results.push(result);
        }
        if args.format == Format::Csv {
            output::print(|out| csv::write(&results, out))?;
        }
        Ok(())
    }

    fn start(&self, scenario: Scenario) -> JoinHandle<Outcome> {
        let (bars, stop) = (self.bars.clone(), Arc::clone(&self.stop));
        self.runtime.spawn_blocking(move || {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            let progress = bars.add(&scenario.name);
            let result = run(&scenario, &stop, &mut |update| progress.update(update));
            progress.finish();
            Some(result)
        })
    }
}

/// Asks the runs to stop at the first interrupt, and ends the program at the second.
async fn stop_at_interrupt(stop: Arc<AtomicBool>) {
    while signal::ctrl_c().await.is_ok() {
        if stop.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(INTERRUPTED));
        }
    }
}

/// Writes one result; the first one begins the output.
fn report(
    result: &RunResult,
    several: bool,
    is_first: bool,
    args: &RunArgs,
) -> Result<(), CliError> {
    for note in &result.manifest.notes {
        output::note(&format!("note: {}: {note}", result.manifest.name));
    }
    let figure = args.out.as_deref().map(|folder| write_files(result, folder)).transpose()?;
    match args.format {
        Format::Table => output::print(|out| {
            if !is_first {
                writeln!(out, "\n")?;
            }
            table::write(result, out)?;
            match figure {
                Some(figure) => writeln!(out, "\nFigure: {}", figure.display()),
                None => Ok(()),
            }
        }),
        Format::Json if several => {
            output::print(|out| json::write_lines(std::slice::from_ref(result), out))
        }
        Format::Json => output::print(|out| json::write(result, out)),
        // All points of a command have the same columns, which the last result may add to.
        Format::Csv => Ok(()),
    }
}

/// Writes all forms of a result; tells where the figure is.
fn write_files(result: &RunResult, folder: &Path) -> Result<PathBuf, CliError> {
    let alone = std::slice::from_ref(result);
    let name = |ending: &str| format!("{}.{ending}", result.manifest.name);
    let scenario = result.manifest.scenario.as_bytes();
    output::write_file(folder, &name("scenario.txt"), |out| out.write_all(scenario))?;
    output::write_file(folder, &name("json"), |out| json::write(result, out))?;
    output::write_file(folder, &name("csv"), |out| csv::write(alone, out))?;
    output::write_file(folder, &name("svg"), |out| svg::write(alone, &[], out))
}
