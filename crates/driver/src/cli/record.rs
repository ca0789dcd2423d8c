//! `iisim record`: a list of purchases as a recording.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use driver::files;
use driver::workload::{Profile, Purchases, record};

use super::error::CliError;
use super::output;

/// Turn purchases listed as CSV into a recording that a scenario replays
#[derive(Debug, Args)]
#[command(after_help = "\
The list has the columns that `iisim stream` prints, in key order; a scenario replays the recording
with workload.kind = \"recorded\" and workload.file.

Examples:
  iisim record purchases.csv purchases.rows
  iisim record purchases.csv purchases.rows --profile unrounded")]
pub(super) struct RecordArgs {
    /// The list
    #[arg(value_name = "CSV")]
    list: PathBuf,
    /// The recording to write
    #[arg(value_name = "OUT")]
    out: PathBuf,
    /// Version of the benchmark, which says what a price is
    #[arg(long, default_value = Profile::Python2009.name(), value_parser = profiles())]
    profile: String,
}

fn profiles() -> PossibleValuesParser {
    PossibleValuesParser::new(Profile::ALL.map(Profile::name))
}

pub(super) fn execute(args: &RecordArgs) -> Result<(), CliError> {
    let profile = Profile::ALL.into_iter().find(|profile| profile.name() == args.profile);
    let profile = profile.expect("one of those that are allowed");
    let path = || args.list.clone();
    let list = File::open(&args.list).map_err(|error| CliError::File { path: path(), error })?;
    let listed = Purchases::listed(BufReader::new(list), profile);
    let stream = listed.map_err(|error| CliError::List { path: path(), error })?;
    let rows = stream.domain().rows;
    files::write_whole(&args.out, |mut out| record(&mut out, &stream, rows))
        .map_err(|error| CliError::File { path: args.out.clone(), error })?;
    output::note(&format!("{}: {rows} rows", args.out.display()));
    Ok(())
}
