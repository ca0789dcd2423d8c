//! `iisim list`: what is built in.

use clap::Args;
use clap::builder::PossibleValuesParser;
use driver::scenario::{CatalogueEntry, CatalogueKind, catalogue};

use super::error::CliError;
use super::output;

/// List the built-in experiments, studies, machines and engines, a line each
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iisim list
  iisim list machines")]
pub(super) struct ListArgs {
    /// List these alone
    #[arg(value_parser = PossibleValuesParser::new(folders()))]
    kind: Option<String>,
}

pub(super) fn execute(args: &ListArgs) -> Result<(), CliError> {
    let asked = args.kind.as_deref();
    let entries = catalogue();
    output::print(|out| {
        let mut kinds = kinds(&entries);
        kinds.retain(|kind| asked.is_none_or(|asked| asked == kind.folder()));
        for (number, kind) in kinds.iter().enumerate() {
            if asked.is_none() {
                writeln!(out, "{}{}", if number == 0 { "" } else { "\n" }, kind.folder())?;
            }
            let of_kind = || entries.iter().filter(|entry| entry.kind == *kind);
            let width = of_kind().map(|entry| entry.name.len()).max().unwrap_or(0);
            let indent = if asked.is_none() { "  " } else { "" };
            for entry in of_kind() {
                let line = format!("{indent}{:width$}  {}", entry.name, entry.title);
                writeln!(out, "{}", line.trim_end())?;
            }
        }
        Ok(())
    })
}

/// The kinds that there are files of.
fn kinds(entries: &[CatalogueEntry]) -> Vec<CatalogueKind> {
    let mut kinds = CatalogueKind::ALL.to_vec();
    kinds.retain(|kind| entries.iter().any(|entry| entry.kind == *kind));
    kinds
}

fn folders() -> Vec<&'static str> {
    kinds(&catalogue()).into_iter().map(CatalogueKind::folder).collect()
}
