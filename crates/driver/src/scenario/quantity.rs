//! Numbers with units: `16GiB`, `5ms`, `120MB/s`, `37%`, `3/8`.

use super::error::nearest;

/// A unit and how many of the smallest unit it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    /// As it is written.
    pub(super) name: &'static str,
    /// How many bytes, nanoseconds or bytes per second.
    pub(super) size: u64,
}

const fn unit(name: &'static str, size: u64) -> Unit {
    Unit { name, size }
}

/// Units of data, smallest first.
pub(super) const BYTES: &[Unit] = &[
    unit("B", 1),
    unit("kB", 1_000),
    unit("KiB", 1 << 10),
    unit("MB", 1_000_000),
    unit("MiB", 1 << 20),
    unit("GB", 1_000_000_000),
    unit("GiB", 1 << 30),
    unit("TB", 1_000_000_000_000),
    unit("TiB", 1 << 40),
];

/// Units of time, smallest first; the smallest is the nanosecond.
pub(super) const DURATION: &[Unit] = &[
    unit("ns", 1),
    unit("us", 1_000),
    unit("ms", 1_000_000),
    unit("s", 1_000_000_000),
    unit("min", 60_000_000_000),
    unit("h", 3_600_000_000_000),
];

/// Units of data per time, smallest first.
pub(super) const RATE: &[Unit] = &[
    unit("B/s", 1),
    unit("kB/s", 1_000),
    unit("KiB/s", 1 << 10),
    unit("MB/s", 1_000_000),
    unit("MiB/s", 1 << 20),
    unit("GB/s", 1_000_000_000),
    unit("GiB/s", 1 << 30),
];

/// Why a text is no quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    NotANumber,
    Negative,
    NoUnit,
    UnknownUnit(String),
    TooLarge,
}

/// The amount in the smallest unit, to the nearest one.
pub(super) fn parse(text: &str, units: &[Unit]) -> Result<u64, Fault> {
    let (number, rest) = split(text)?;
    if rest.is_empty() {
        return Err(Fault::NoUnit);
    }
    let unit = units.iter().find(|unit| unit.name == rest);
    let unit = unit.ok_or_else(|| Fault::UnknownUnit(rest.to_owned()))?;
    let amount = number.digits.checked_mul(u128::from(unit.size)).ok_or(Fault::TooLarge)?;
    let rounded = (amount + number.divisor / 2) / number.divisor;
    u64::try_from(rounded).map_err(|_| Fault::TooLarge)
}

/// A share written in percent or as a fraction.
pub(super) fn parse_share(text: &str) -> Result<f64, Fault> {
    let (number, rest) = split(text)?;
    let above = number.digits as f64 / number.divisor as f64;
    match rest {
        "%" => Ok(above / 100.0),
        "" => Err(Fault::NoUnit),
        _ => {
            let below = rest.strip_prefix('/').ok_or(Fault::UnknownUnit(rest.to_owned()))?;
            let (below, rest) = split(below)?;
            match below.digits as f64 / below.divisor as f64 {
                below if rest.is_empty() && 0.0 < below => Ok(above / below),
                _ => Err(Fault::NotANumber),
            }
        }
    }
}

/// An unsigned decimal number: `digits / divisor`, so that no binary fraction rounds it.
struct Decimal {
    digits: u128,
    divisor: u128,
}

/// The number a text starts with, and what follows it.
fn split(text: &str) -> Result<(Decimal, &str), Fault> {
    const DIGITS_MAX: usize = 19;
    let text = text.trim();
    if let Some(rest) = text.strip_prefix('-') {
        return Err(split(rest).map_or(Fault::NotANumber, |_| Fault::Negative));
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_');
    let (number, rest) = text.split_at(end.unwrap_or(text.len()));
    let number = number.replace('_', "");
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    if whole.is_empty() || fraction.contains('.') || number.ends_with('.') {
        return Err(Fault::NotANumber);
    }
    if DIGITS_MAX < whole.len() + fraction.len() {
        return Err(Fault::TooLarge);
    }
    let digits = format!("{whole}{fraction}").parse().map_err(|_| Fault::NotANumber)?;
    Ok((Decimal { digits, divisor: 10u128.pow(fraction.len() as u32) }, rest.trim()))
}

/// The unit most likely meant by one that does not exist.
pub(super) fn similar_unit(unit: &str, units: &[Unit]) -> Option<String> {
    let by_case = units.iter().find(|known| known.name.eq_ignore_ascii_case(unit));
    by_case
        .map(|known| known.name.to_owned())
        .or_else(|| nearest(unit, units.iter().map(|known| known.name)))
}

/// An amount in the largest unit that it is a whole number of.
pub(super) fn show(amount: u64, units: &[Unit]) -> String {
    let fits = |unit: &&Unit| amount != 0 && amount.is_multiple_of(unit.size);
    let unit = units.iter().rev().find(fits).unwrap_or(&units[0]);
    format!("{}{}", amount / unit.size, unit.name)
}

/// `min to max`.
pub(super) fn range(min: u64, max: u64, units: &[Unit]) -> String {
    format!("{} to {}", show(min, units), show(max, units))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_exact() {
        assert_eq!(parse("16GiB", BYTES), Ok(16 << 30));
        assert_eq!(parse(" 1.5 KiB ", BYTES), Ok(1_536));
        assert_eq!(parse("0.1ms", DURATION), Ok(100_000));
        assert_eq!(parse("1_000us", DURATION), Ok(1_000_000));
        assert_eq!(parse("0.0000001us", DURATION), Ok(0));
        assert_eq!(parse("120MB/s", RATE), Ok(120_000_000));
    }

    #[test]
    fn faults_are_told_apart() {
        assert_eq!(parse("16", BYTES), Err(Fault::NoUnit));
        assert_eq!(parse("-1GiB", BYTES), Err(Fault::Negative));
        assert_eq!(parse("1 gb", BYTES), Err(Fault::UnknownUnit("gb".to_owned())));
        assert_eq!(parse("999999999999TiB", BYTES), Err(Fault::TooLarge));
        assert_eq!(parse("99999999999999999999B", BYTES), Err(Fault::TooLarge));
        for text in ["", "GiB", "1.2.3B", ".5s", "5.s", "-", "-x"] {
            assert_eq!(parse(text, BYTES), Err(Fault::NotANumber), "{text}");
        }
    }

    #[test]
    fn shares_are_percent_or_fractions() {
        assert_eq!(parse_share("37%"), Ok(0.37));
        assert_eq!(parse_share("3/8"), Ok(0.375));
        assert_eq!(parse_share("1 / 16"), Ok(0.0625));
        assert_eq!(parse_share("1/0"), Err(Fault::NotANumber));
        assert_eq!(parse_share("0.5"), Err(Fault::NoUnit));
    }

    #[test]
    fn amounts_are_shown_as_they_are_written() {
        for text in ["16GiB", "64896KiB", "100GB", "5001B", "0B"] {
            assert_eq!(show(parse(text, BYTES).unwrap(), BYTES), text);
        }
        assert_eq!(show(85_000, DURATION), "85us");
    }
}
