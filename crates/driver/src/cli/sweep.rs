//! `iisim sweep`: the points of a study over the cores.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use driver::jobs::store::Program;
use driver::jobs::{INTERRUPTED, Jobs, Outcome};
use driver::report::ProgressBars;
use driver::scenario::Scale;
use driver::sweep::{Journal, Plan, Study, report};

use super::error::CliError;
use super::{BAD_INPUT, JobCount, output};

/// Run the points of a study and draw them together
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iisim list studies
  iisim sweep redo-size
  iisim sweep memory-wall --jobs 4 --out memory-wall
  iisim sweep my-study.toml --scale 1/256

The folder of a sweep gets the plan first, then a line of points.jsonl for every finished point.
A sweep that was interrupted, or killed, goes on when the same command is given again. When all
points are there it writes points.csv, README.md and, for a grid, curves.svg and heatmap.svg: the
same bytes whatever --jobs is and however often it was interrupted.")]
pub(super) struct SweepArgs {
    /// Study file, or name of a built-in study (iisim list studies)
    #[arg(value_name = "FILE")]
    file: String,
    /// Scale of every point, such as 1/128 [default: as the study says]
    #[arg(long)]
    scale: Option<String>,
    /// The folder of the sweep [default: iisim-sweep/NAME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    jobs: JobCount,
    /// Throw away what the folder has of an earlier sweep
    #[arg(long)]
    restart: bool,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
}

pub(super) fn execute(args: &SweepArgs) -> Result<ExitCode, CliError> {
    let at_once = args.jobs.get()?;
    let scale = args.scale.as_deref().map(str::parse::<Scale>).transpose()?;
    let plan = Plan::new(Study::load(&args.file)?, scale)?;
    let folder = match &args.out {
        Some(folder) => folder.clone(),
        None => PathBuf::from("iisim-sweep").join(plan.study.base.name()),
    };
    let program = Program::running().map_err(CliError::Program)?;
    let mut journal = Journal::open(&folder, &plan, &program, args.restart)?;
    let jobs = Jobs::new(at_once, ProgressBars::new(args.quiet)).map_err(CliError::Start)?;
    let ended = run(&jobs, &plan, &mut journal);
    let interrupted = jobs.is_interrupted();
    jobs.shut_down();
    let failed = ended?;
    if interrupted {
        let (done, all) = (journal.finished().len(), plan.points.len());
        output::note(&format!(
            "note: {done} of {all} points are finished; the same command goes on from there"
        ));
        return Ok(ExitCode::from(INTERRUPTED));
    }
    journal.settle()?;
    let files = report::files(&plan, journal.finished()).map_err(CliError::Stdout)?;
    for (name, bytes) in &files {
        output::write_file(&folder, name, |out| out.write_all(bytes))?;
    }
    let page = files.iter().find(|(name, _)| *name == "README.md");
    output::print(|out| {
        out.write_all(page.map_or(&[][..], |(_, bytes)| bytes))?;
        writeln!(out, "\nFolder: {}", folder.display())
    })?;
    Ok(if failed { ExitCode::from(BAD_INPUT) } else { ExitCode::SUCCESS })
}

/// Runs what is not finished yet; tells whether a point has no result.
fn run(jobs: &Jobs, plan: &Plan, journal: &mut Journal) -> Result<bool, CliError> {
    let is_missing = |place: &usize| !journal.finished().contains_key(place);
    let missing: Vec<_> = (0..plan.points.len()).filter(is_missing).collect();
    let scenario = |place: &usize| Arc::clone(&plan.points[*place].scenario);
    let scenarios: Vec<_> = missing.iter().map(scenario).collect();
    let mut failed = false;
    let ended = jobs.run(&scenarios, |number, outcome| match outcome {
        Outcome::Finished(result) => match journal.add(missing[number], *result) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        },
        Outcome::Stopped(_) => ControlFlow::Continue(()),
        Outcome::Failed(error) => {
            let name = &scenarios[number].name;
            jobs.suspend(|| output::note(&format!("error: {name}: {error}")));
            failed = true;
            ControlFlow::Continue(())
        }
    });
    match ended {
        ControlFlow::Break(error) => Err(error.into()),
        ControlFlow::Continue(()) => Ok(failed),
    }
}
