//! `iisim reproduce`: the claims of the articles beside what the simulation says.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use driver::baseline::Baseline;
use driver::claims::{self, Catalogue, NamedRun};
use driver::jobs::store::{Program, Store};
use driver::jobs::{INTERRUPTED, Jobs, Outcome};
use driver::report::{ProgressBars, RunResult, csv, html, json, scorecard_table, svg};
use driver::scenario::{Problem, Scale, Scenario, ScenarioError};
use driver::scorecard::Scorecard;

use super::error::CliError;
use super::{BAD_INPUT, JobCount, LOST, output};

/// The scale of the committed scorecard; runs whose claims need a larger one have their own.
const DEFAULT_SCALE: &str = "1/128";

/// Run the experiments of the articles and judge what they claim
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iisim reproduce
  iisim reproduce --only S4
  iisim reproduce --only S4.3 --scale 1/16
  iisim reproduce --format json > scorecard.json

Writes report.html, scorecard.json and runs/NAME.json, .csv and .svg to the folder of --out.
Finished runs are kept, so a second call and one after Ctrl-C compute only what is missing. They
are kept by their content and by the program: a program that was built anew computes them anew.

Ends with 1 if a claim that sim-configs/claims/baseline.toml calls reproduced or confirmed no
longer is. That file has the verdicts at the default scale: nothing is compared at another, and
with --only just the claims that were asked for.")]
pub(super) struct ReproduceArgs {
    /// The claims of an article (S0 to S4) alone, or one of them, such as S4.3
    #[arg(long, value_name = "CLAIM")]
    only: Option<String>,
    /// Shrink rows and memory of every run by a power of two; a run that cannot be that small is
    /// as small as it can be
    #[arg(long, default_value = DEFAULT_SCALE)]
    scale: String,
    /// Form of the scorecard on stdout
    #[arg(long, value_enum, default_value_t = ScorecardFormat::Table)]
    format: ScorecardFormat,
    /// The folder of the report
    #[arg(long, value_name = "DIR", default_value = "iisim-report")]
    out: PathBuf,
    #[command(flatten)]
    jobs: JobCount,
    /// The folder of finished runs [default: target/iisim if there is a folder target, else
    /// iisim in the user's folder for caches]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Neither take finished runs nor keep any
    #[arg(long, conflicts_with = "cache")]
    no_cache: bool,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
}

/// The form of a scorecard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ScorecardFormat {
    /// For people
    Table,
    /// For programs: the names and units of docs/reports.md
    Json,
}

/// What became of all runs.
struct Runs {
    results: BTreeMap<String, RunResult>,
    failed: bool,
}

pub(super) fn execute(args: &ReproduceArgs) -> Result<ExitCode, CliError> {
    let at_once = args.jobs.get()?;
    let scale: Scale = args.scale.parse().map_err(CliError::Scenario)?;
    let mut catalogue = claims::catalogue()?;
    if let Some(only) = &args.only {
        catalogue = catalogue.chosen(only)?;
    }
    let runs = catalogue.runs();
    let load = |run| scenario(run, scale).map(Arc::new);
    let scenarios = runs.iter().map(load).collect::<Result<Vec<_>, _>>()?;
    output::create_own_folder(&args.out)?;

    let jobs = Jobs::new(at_once, ProgressBars::new(args.quiet)).map_err(CliError::Start)?;
    let store = store(args);
    let runs = run(&jobs, &scenarios, store.as_ref());
    let interrupted = jobs.is_interrupted();
    jobs.shut_down();
    if interrupted {
        let (done, all) = (runs.results.len(), scenarios.len());
        let kept =
            if store.is_some() { " and kept; the same command goes on from there" } else { "" };
        output::note(&format!("note: {done} of {all} runs are finished{kept}"));
        return Ok(ExitCode::from(INTERRUPTED));
    }
    report(args, &catalogue, &runs, scale)
}

/// The scenario of a run at the wanted scale, or at the next larger one that it bears.
fn scenario(run: &NamedRun, wanted: Scale) -> Result<Scenario, ScenarioError> {
    let mut scale = run.scale_for(wanted);
    loop {
        match Scenario::load(&run.scenario, &run.sets, Some(scale)) {
            Ok(scenario) => return Ok(Scenario { name: run.name.clone(), ..scenario }),
            Err(error) => match (error.problem(), scale.halvings()) {
                (Problem::ScaleRefused { .. }, 1..) => scale = Scale::new(scale.halvings() - 1),
                _ => return Err(error),
            },
        }
    }
}

fn store(args: &ReproduceArgs) -> Option<Store> {
    let folder = args.cache.clone().or_else(Store::default_folder).filter(|_| !args.no_cache)?;
    match Program::running() {
        Ok(program) => Some(Store::new(folder, program)),
        Err(error) => {
            output::note(&format!(
                "note: runs are not kept: the executable is unreadable: {error}"
            ));
            None
        }
    }
}

fn run(jobs: &Jobs, scenarios: &[Arc<Scenario>], store: Option<&Store>) -> Runs {
    let mut runs = Runs { results: BTreeMap::new(), failed: false };
    let done = |number: usize, outcome| {
        let name = &scenarios[number].name;
        match outcome {
            Outcome::Finished(result) => drop(runs.results.insert(name.clone(), *result)),
            Outcome::Stopped(_) => {}
            Outcome::Failed(error) => {
                jobs.suspend(|| output::note(&format!("error: {name}: {error}")));
                runs.failed = true;
            }
        }
        ControlFlow::<()>::Continue(())
    };
    let tell = |text: &str| jobs.suspend(|| output::note(&format!("note: {text}")));
    let _ = match store {
        Some(store) => jobs.run_kept(scenarios, store, tell, done),
        None => jobs.run(scenarios, done),
    };
    runs
}

/// Writes the folder, prints the scorecard, and compares it with the baseline.
fn report(
    args: &ReproduceArgs,
    catalogue: &Catalogue,
    runs: &Runs,
    scale: Scale,
) -> Result<ExitCode, CliError> {
    let scorecard = catalogue.score(&runs.results, scale);
    let page = html::html(&scorecard, &runs.results);
    output::write_file(&args.out, "report.html", |out| out.write_all(page.as_bytes()))?;
    let scorecard_json = |out: &mut dyn std::io::Write| {
        serde_json::to_writer_pretty(&mut *out, &scorecard)?;
        writeln!(out)
    };
    output::write_file(&args.out, "scorecard.json", scorecard_json)?;
    let baseline = Baseline::of(&scorecard).text();
    output::write_file(&args.out, "baseline.toml", |out| out.write_all(baseline.as_bytes()))?;
    let folder = args.out.join("runs");
    output::create_own_folder(&folder)?;
    for (name, result) in &runs.results {
        write_run(&folder, name, result)?;
    }
    output::print(|out| match args.format {
        ScorecardFormat::Json => scorecard_json(out),
        ScorecardFormat::Table => {
            scorecard_table::write(&scorecard, out)?;
            writeln!(out, "\nReport: {}", args.out.join("report.html").display())
        }
    })?;
    let lost = lost(&scorecard)?;
    Ok(match (lost, runs.failed) {
        (_, true) => ExitCode::from(BAD_INPUT),
        (true, false) => ExitCode::from(LOST),
        (false, false) => ExitCode::SUCCESS,
    })
}

fn write_run(folder: &Path, name: &str, result: &RunResult) -> Result<(), CliError> {
    let alone = std::slice::from_ref(result);
    output::write_file(folder, &format!("{name}.json"), |out| json::write(result, out))?;
    output::write_file(folder, &format!("{name}.csv"), |out| csv::write(alone, out))?;
    output::write_file(folder, &format!("{name}.svg"), |out| svg::write(alone, &[], out))?;
    Ok(())
}

/// Tells of every claim that the baseline shows and this scorecard does not.
fn lost(scorecard: &Scorecard) -> Result<bool, CliError> {
    let Some(baseline) = Baseline::committed()? else {
        output::note("note: there is no baseline to compare with");
        return Ok(false);
    };
    if baseline.scale != scorecard.scale {
        let (now, then) = (&scorecard.scale, &baseline.scale);
        output::note(&format!(
            "note: the baseline is of scale {then}, this is {now}: not compared"
        ));
        return Ok(false);
    }
    let lost = baseline.lost(scorecard);
    for lost in &lost {
        output::note(&format!("lost: {lost}"));
    }
    Ok(!lost.is_empty())
}
