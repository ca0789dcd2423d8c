//! `iisim stream`: the rows of a key stream.

use std::ops::Range;

use clap::Args;
use driver::scenario::{Kind, Problem, Value};
use driver::workload::{PrintRow, Stream, write_rows};

use super::error::CliError;
use super::{Overrides, output};

/// Rows printed unless others are asked for.
const ROWS_DEFAULT: &str = "0..10";

const ROW: Kind = Kind::Count("rows", 0, 1 << 40);

/// Print rows of a scenario's key stream as CSV
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iisim stream s4-insert-buffer-off
  iisim stream s4-insert-buffer-off --rows 0..1000000 > purchases.csv
  iisim stream s4-insert-buffer-off --rows 5_000_000.. | head -1000")]
pub(super) struct StreamArgs {
    /// Scenario file, or name of a built-in experiment
    #[arg(value_name = "FILE")]
    file: String,
    /// Rows to print, counted from 0, without row TO
    #[arg(long, value_name = "FROM..TO", default_value = ROWS_DEFAULT)]
    rows: String,
    #[command(flatten)]
    overrides: Overrides,
}

pub(super) fn execute(args: &StreamArgs) -> Result<(), CliError> {
    let rows = range(&args.rows)?;
    let scenario = args.overrides.load(&args.file)?;
    let stream = scenario.workload.stream.open();
    match stream.map_err(|error| CliError::Stream { name: scenario.name, error })? {
        Stream::IiBench(stream) => print(&stream, rows, &args.rows),
        Stream::Micro(stream) => print(&stream, rows, &args.rows),
        Stream::Recorded(stream) => print(&stream, rows, &args.rows),
    }
}

fn print(stream: &impl PrintRow, rows: Range<u64>, text: &str) -> Result<(), CliError> {
    if stream.rows() <= rows.start {
        return Err(CliError::NoSuchRows { text: text.to_owned(), rows: stream.rows() });
    }
    output::print(|out| write_rows(out, stream, rows))
}

/// `FROM..TO` where each may be absent.
fn range(text: &str) -> Result<Range<u64>, CliError> {
    let bad = || CliError::Rows { text: text.to_owned() };
    let (from, to) = text.split_once("..").ok_or_else(bad)?;
    let row = |text: &str, absent: u64| -> Result<u64, Problem> {
        if text.is_empty() {
            return Ok(absent);
        }
        match ROW.parse_option("--rows", text)? {
            Value::Whole(row) => Ok(row),
            _ => Ok(absent),
        }
    };
    let rows = row(from, 0)?..row(to, u64::MAX)?;
    if rows.is_empty() { Err(bad()) } else { Ok(rows) }
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn either_end_of_a_range_may_be_absent() {
        assert_eq!(range("1_000..2000").unwrap(), 1_000..2_000);
        assert_eq!(range("..5").unwrap(), 0..5);
        assert_eq!(range("7..").unwrap(), 7..u64::MAX);
    }

    #[test]
    fn a_range_without_rows_is_refused() {
        for text in ["5", "5..5", "6..5", "a..b", "-1..5", "..."] {
            assert!(range(text).is_err(), "{text}");
        }
    }
}
