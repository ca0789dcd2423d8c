//! JSON: the names and units of the contract, nothing scaled for the eye.
//!
//! Equal results give equal bytes: fields have a fixed order, maps are sorted, and a float is
//! written with the fewest digits that read back as the same number.

use std::io::{self, Write};

use super::RunResult;

/// Writes one result as a document with one point per line.
///
/// # Errors
/// Those of `out`; a float that is not finite, which JSON has no number for, is written as `null`.
pub fn write(result: &RunResult, out: &mut dyn Write) -> io::Result<()> {
    let RunResult { schema, manifest, points, totals, queries } = result;
    write!(out, "{{\n\"schema\": {schema},\n\"manifest\": ")?;
    serde_json::to_writer_pretty(&mut *out, manifest)?;
    write!(out, ",\n\"points\": [")?;
    for (number, point) in points.iter().enumerate() {
        writeln!(out, "{}", if number == 0 { "" } else { "," })?;
        serde_json::to_writer(&mut *out, point)?;
    }
    write!(out, "\n],\n\"totals\": ")?;
    serde_json::to_writer_pretty(&mut *out, totals)?;
    if !queries.is_empty() {
        write!(out, ",\n\"queries\": ")?;
        serde_json::to_writer_pretty(&mut *out, queries)?;
    }
    writeln!(out, "\n}}")
}

/// Writes results as JSON lines: one document per line, as a sweep keeps them.
///
/// # Errors
/// As [`write()`].
pub fn write_lines(results: &[RunResult], out: &mut dyn Write) -> io::Result<()> {
    for result in results {
        serde_json::to_writer(&mut *out, result)?;
        writeln!(out)?;
    }
    Ok(())
}
