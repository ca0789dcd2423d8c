//! The rows of a stream as comma-separated text.

use std::fmt;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::ops::Range;

use index::RowId;

use super::micro::Micro;
use super::profile::{Domain, Profile};
use super::purchases::{ColumnSource, Purchases};

/// `dateandtime` of the first statement, in seconds since 1970: 2013-01-01 00:00:00 UTC. Each
/// further statement is one second later.
const FIRST_STATEMENT_S: u64 = 1_356_998_400;

/// The names of the columns of purchases.
pub(super) const PURCHASES_HEADER: &str =
    "transactionid,dateandtime,cashregisterid,customerid,productid,price";

/// A stream whose rows can be printed.
pub trait PrintRow {
    /// Rows of the stream.
    fn rows(&self) -> u64;

    /// The names of the columns.
    fn header(&self) -> &'static str;

    /// Writes one row and the end of its line.
    ///
    /// # Errors
    /// Those of the writer.
    fn print_row(&self, out: &mut dyn Write, row: RowId) -> io::Result<()>;
}

/// Writes a header and those of the rows `rows` that the stream has, one per line. A reader that has seen enough and closed the
/// pipe is no error.
///
/// # Errors
/// Those of the writer, except a broken pipe.
pub fn write_rows(out: impl Write, stream: &impl PrintRow, rows: Range<u64>) -> io::Result<()> {
    match write_all_rows(BufWriter::new(out), stream, rows) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

fn write_all_rows(mut out: impl Write, stream: &impl PrintRow, rows: Range<u64>) -> io::Result<()> {
    writeln!(out, "{}", stream.header())?;
    for row in rows.start..rows.end.min(stream.rows()) {
        stream.print_row(&mut out, RowId(row))?;
    }
    out.flush()
}

impl<C: ColumnSource> PrintRow for Purchases<C> {
    fn rows(&self) -> u64 {
        self.domain().rows
    }

    fn header(&self) -> &'static str {
        PURCHASES_HEADER
    }

    fn print_row(&self, out: &mut dyn Write, row: RowId) -> io::Result<()> {
        let columns = self.columns(row);
        writeln!(
            out,
            "{},{},{},{},{},{}",
            row.0 + 1,
            DateTime(FIRST_STATEMENT_S + columns.batch),
            columns.cash_register,
            columns.customer,
            columns.product,
            Price { code: columns.price, domain: self.domain() },
        )
    }
}

impl PrintRow for Micro {
    fn rows(&self) -> u64 {
        Micro::rows(self)
    }

    fn header(&self) -> &'static str {
        "id,k"
    }

    fn print_row(&self, out: &mut dyn Write, row: RowId) -> io::Result<()> {
        writeln!(out, "{},{}", row.0 + 1, self.k(row))
    }
}

/// A price as the benchmark sends it.
struct Price<'a> {
    code: u32,
    domain: &'a Domain,
}

impl fmt::Display for Price<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = u64::from(self.code) * u64::from(self.domain.price_step);
        match self.domain.profile {
            Profile::Python2009 | Profile::Layout2017 => {
                write!(f, "{}.{:02}", units / 100, units % 100)
            }
            Profile::Unrounded => write!(f, "{}", f32::from_bits(self.code)),
            Profile::Layout2023 => write!(f, "{units}"),
        }
    }
}

/// Seconds since 1970 as `YYYY-MM-DD hh:mm:ss` in UTC.
struct DateTime(u64);

impl fmt::Display for DateTime {
    /// Counts in years that start in March, so that the leap day is the last of its year, and in
    /// eras of 400 years, which all have the same length.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DAYS_FROM_MARCH_0000_TO_1970: u64 = 719_468;
        const DAYS_PER_ERA: u64 = 146_097;
        let (days, second) = (self.0 / 86_400 + DAYS_FROM_MARCH_0000_TO_1970, self.0 % 86_400);
        let (era, day) = (days / DAYS_PER_ERA, days % DAYS_PER_ERA);
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let (month, next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
        let year = 400 * era + year + next_year;
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        let print = |seconds| DateTime(seconds).to_string();
        assert_eq!(print(0), "1970-01-01 00:00:00");
        assert_eq!(print(951_782_399), "2000-02-28 23:59:59");
        assert_eq!(print(951_782_400), "2000-02-29 00:00:00");
        assert_eq!(print(1_356_998_400), "2013-01-01 00:00:00");
        assert_eq!(print(1_356_998_399), "2012-12-31 23:59:59");
        assert_eq!(print(4_107_542_400), "2100-03-01 00:00:00");
        assert_eq!(print(4_107_542_399), "2100-02-28 23:59:59");
    }
}
