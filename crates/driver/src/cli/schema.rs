//! `iisim schema`: the keys of scenario files.

use clap::Args;
use driver::scenario::{schema, schema_of};

use super::error::CliError;
use super::output;

/// Print the keys of scenario files with their units, ranges, defaults and sources
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iisim schema
  iisim schema machine.disk")]
pub(super) struct SchemaArgs {
    /// Print the keys alone that begin with this
    #[arg(value_name = "KEY-PREFIX")]
    prefix: Option<String>,
}

pub(super) fn execute(args: &SchemaArgs) -> Result<(), CliError> {
    let text = match &args.prefix {
        Some(prefix) => schema_of(prefix)?,
        None => schema(),
    };
    output::print(|out| out.write_all(text.as_bytes()))
}
