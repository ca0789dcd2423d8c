//! Which purchases does a text list? One a line, as `iisim stream` prints them.

use std::io::{self, BufRead};

use index::RowId;
use thiserror::Error;

use super::columns::Columns;
use super::csv::PURCHASES_HEADER;
use super::error::SpecError;
use super::profile::{Domain, Limits, Profile};
use super::purchases::{ColumnSource, Purchases};

/// Purchases in memory.
#[derive(Clone, Debug)]
pub struct Listed(Vec<Columns>);

impl ColumnSource for Listed {
    fn columns(&self, row: RowId) -> Columns {
        self.0[row.0 as usize]
    }
}

/// Why a text is no list of purchases.
#[derive(Debug, Error)]
#[error("line {line}: {problem}")]
pub struct ListedError {
    /// Counted from 1.
    pub line: u64,
    /// What is wrong with it.
    pub problem: ListedProblem,
}

/// What is wrong with a line.
#[derive(Debug, Error)]
pub enum ListedProblem {
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(#[from] io::Error),
    /// The first one does not name the columns.
    #[error("{found:?}: expected the names of the columns, {PURCHASES_HEADER}")]
    Header {
        /// What it says.
        found: String,
    },
    /// It is not one value for each column.
    #[error("{found} values, expected one for each of {PURCHASES_HEADER}")]
    Values {
        /// How many there are.
        found: usize,
    },
    /// A value is not allowed.
    #[error("{column} = {value:?}: expected {expected}")]
    Value {
        /// The column.
        column: &'static str,
        /// The value.
        value: String,
        /// What is allowed.
        expected: String,
    },
    /// There is no row.
    #[error("no row follows the names of the columns")]
    NoRows,
    /// The columns of an index are too wide for a key.
    #[error(transparent)]
    Keys(#[from] SpecError),
}

impl Purchases<Listed> {
    /// The stream that a text lists, of a version of the benchmark, which says what a price is.
    ///
    /// # Errors
    /// A line that cannot be read or has values that are not allowed: primary keys count the rows
    /// from 1, dates do not descend.
    pub fn listed(text: impl BufRead, profile: Profile) -> Result<Self, ListedError> {
        let mut rows: Vec<Columns> = Vec::new();
        let (mut line, mut date) = (1, String::new());
        let fail = |line, problem| ListedError { line, problem };
        let mut lines = text.lines();
        let header = lines.next().unwrap_or_else(|| Ok(String::new()));
        let header = header.map_err(|error| fail(line, error.into()))?;
        if header.trim_end() != PURCHASES_HEADER {
            return Err(fail(line, ListedProblem::Header { found: header }));
        }
        for text in lines {
            line += 1;
            let text = text.map_err(|error| fail(line, error.into()))?;
            let row = parse(text.trim_end(), profile, &rows, &mut date);
            rows.push(row.map_err(|problem| fail(line, problem))?);
        }
        if rows.is_empty() {
            return Err(fail(line, ListedProblem::NoRows));
        }
        let domain = domain(&rows, profile);
        Self::from_columns(Listed(rows), domain).map_err(|error| fail(1, error.into()))
    }
}

/// The columns of the row after `rows`, the last of which has the date `date`.
fn parse(
    line: &str,
    profile: Profile,
    rows: &[Columns],
    date: &mut String,
) -> Result<Columns, ListedProblem> {
    let values: Vec<&str> = line.split(',').collect();
    let [id, at, cash_register, customer, product, price] = values[..] else {
        return Err(ListedProblem::Values { found: values.len() });
    };
    let bad = |column, value: &str, expected: &str| {
        let (value, expected) = (value.to_owned(), expected.to_owned());
        ListedProblem::Value { column, value, expected }
    };
    let number = |column, value: &str| {
        value.parse::<u32>().map_err(|_| bad(column, value, "a whole number below 2^32"))
    };
    let next = (rows.len() + 1).to_string();
    if id != next {
        return Err(bad("transactionid", id, &format!("{next}: it counts the rows")));
    }
    if at < date.as_str() {
        return Err(bad("dateandtime", at, &format!("{date} or later, as in the row before")));
    }
    let batch = rows.last().map_or(0, |last| last.batch + u64::from(at != date.as_str()));
    at.clone_into(date);
    Ok(Columns {
        cash_register: number("cashregisterid", cash_register)?,
        product: number("productid", product)?,
        customer: number("customerid", customer)?,
        price: code(price, profile).map_err(|expected| bad("price", price, expected))?,
        batch,
    })
}

/// A price in the unit of a version of the benchmark; else what is expected of it.
fn code(price: &str, profile: Profile) -> Result<u32, &'static str> {
    match profile {
        Profile::Python2009 | Profile::Layout2017 => cents(price).ok_or("money with two decimals"),
        Profile::Unrounded => match price.parse::<f32>() {
            Ok(price) if 0.0 <= price && price.is_finite() => Ok(price.abs().to_bits()),
            _ => Err("a number of at least 0"),
        },
        Profile::Layout2023 => price.parse().map_err(|_| "a whole number below 2^32"),
    }
}

fn cents(price: &str) -> Option<u32> {
    let (whole, decimals) = price.split_once('.')?;
    let is_cents = decimals.len() == 2 && decimals.bytes().all(|digit| digit.is_ascii_digit());
    let decimals = decimals.parse::<u32>().ok().filter(|_| is_cents)?;
    whole.parse::<u32>().ok()?.checked_mul(100)?.checked_add(decimals)
}

fn domain(rows: &[Columns], profile: Profile) -> Domain {
    let above =
        |column: fn(&Columns) -> u64| rows.iter().map(column).max().map_or(1, |max| max + 1);
    Domain {
        profile,
        rows: rows.len() as u64,
        price_step: 1,
        limits: Limits {
            cash_register: above(|row| row.cash_register.into()),
            product: above(|row| row.product.into()),
            customer: above(|row| row.customer.into()),
            price: above(|row| row.price.into()),
            batch: above(|row| row.batch),
        },
        price_spread: None,
    }
}
