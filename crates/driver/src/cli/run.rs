//! `iisim run`: one or more scenarios over the cores.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use driver::jobs::{INTERRUPTED, Jobs, Outcome};
use driver::report::html::html;
use driver::report::{ProgressBars, RunResult, csv, json, svg, table};
use driver::scenario::Scenario;
use driver::scorecard::Scorecard;

use super::error::CliError;
use super::{BAD_INPUT, Format, JobCount, Overrides, memory, output};

/// Run scenarios and report what they cost
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iisim run s4-insert-buffer-off --scale 1/128
  iisim run s4-insert-buffer-off --scale 1/128 --set pool.size=64GiB
  iisim run s4-insert-buffer-off what-if-pool what-if-flash --scale 1/128 --out results
  iisim run my-scenario.toml --format csv > curve.csv

Many runs that differ in a value are a study, which iisim sweep runs.
A result is the same bytes for the same scenario, settings and scale, whatever --jobs is.
Ctrl-C ends the runs at their next reporting interval; what was finished is reported.")]
pub(super) struct RunArgs {
    /// Scenario files, or names of built-in experiments (iisim list experiments)
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    #[command(flatten)]
    overrides: Overrides,
    /// Form of the result on stdout; json of several scenarios is one line for each
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Write NAME.json, NAME.csv, NAME.svg and NAME.scenario.txt to this folder as well, and
    /// report.html with the charts of all of them
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    jobs: JobCount,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
}

pub(super) fn execute(args: &RunArgs) -> Result<ExitCode, CliError> {
    let at_once = args.jobs.get()?;
    let scenarios = load(args)?;
    if let Some(folder) = &args.out {
        check_names(&scenarios)?;
        output::create_folder(folder)?;
    }
    let jobs = Jobs::new(at_once, ProgressBars::new(args.quiet)).map_err(CliError::Start)?;
    let ended = run(&jobs, &scenarios, args);
    let interrupted = jobs.is_interrupted();
    jobs.shut_down();
    ended.map(|failed| match (failed, interrupted) {
        (_, true) => ExitCode::from(INTERRUPTED),
        (true, false) => ExitCode::from(BAD_INPUT),
        (false, false) => ExitCode::SUCCESS,
    })
}

/// Runs all scenarios and reports each as soon as those before it are reported. Tells whether one
/// has no result.
fn run(jobs: &Jobs, scenarios: &[Arc<Scenario>], args: &RunArgs) -> Result<bool, CliError> {
    let several = 1 < scenarios.len();
    let (mut results, mut failed) = (Vec::new(), false);
    let ended = jobs.run_in_order(scenarios, |number, outcome| {
        let result = match outcome {
            Outcome::Finished(result) | Outcome::Stopped(Some(result)) => *result,
            Outcome::Stopped(None) => return ControlFlow::Continue(()),
            Outcome::Failed(error) => {
                let name = &scenarios[number].name;
                jobs.suspend(|| output::note(&format!("error: {name}: {error}")));
                failed = true;
                return ControlFlow::Continue(());
            }
        };
        match jobs.suspend(|| report(&result, several, results.is_empty(), args)) {
            Ok(()) => {
                results.push(result);
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    });
    if let ControlFlow::Break(error) = ended {
        return Err(error);
    }
    if args.format == Format::Csv && !(failed && results.is_empty()) {
        output::print(|out| csv::write(&results, out))?;
    }
    if let Some(folder) = args.out.as_deref().filter(|_| !results.is_empty()) {
        let page = write_page(results, folder)?;
        if args.format == Format::Table {
            output::print(|out| writeln!(out, "\nReport: {}", page.display()))?;
        }
    }
    Ok(failed)
}

fn load(args: &RunArgs) -> Result<Vec<Arc<Scenario>>, CliError> {
    let scenarios = args.files.iter().map(|file| {
        let scenario = args.overrides.load(file)?;
        memory::check(&scenario, file, &args.overrides)?;
        Ok(Arc::new(scenario))
    });
    scenarios.collect()
}

/// Results in one folder need names of their own.
fn check_names(scenarios: &[Arc<Scenario>]) -> Result<(), CliError> {
    let mut names: Vec<_> = scenarios.iter().map(|scenario| &scenario.name).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(CliError::SameName { name: pair[0].clone() }),
        None => Ok(()),
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

/// Writes the page of all results; tells where it is.
fn write_page(results: Vec<RunResult>, folder: &Path) -> Result<PathBuf, CliError> {
    let runs = results.into_iter().map(|run| (run.manifest.name.clone(), run)).collect();
    let page = html(&Scorecard::without_claims(), &runs);
    output::write_file(folder, "report.html", |out| out.write_all(page.as_bytes()))
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
