//! Numbers as people read them, with three significant digits and a unit; lines that fit.

use std::io::{self, Write};

use cost_model::Bytes;

use crate::scorecard::Stated;

/// Columns of a line on the terminal.
pub const WIDTH: usize = 100;

/// A count: whole up to 9,999, then `12.5k`, `596M`, `1B`.
pub fn count(n: u64) -> String {
    if n < 10_000 { grouped(n) } else { scaled(n as f64, &["", "k", "M", "B", "T"], 1e3, "") }
}

/// A whole number with its thousands separated by commas.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if 0 < place && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A rate in events per second without its unit: `0.25`, `34.6`, `125`, `11,236`.
pub fn rate(per_s: f64) -> String {
    if per_s < 99.95 { three_digits(per_s) } else { grouped(per_s.round() as u64) }
}

/// Any number: three digits, whole from a hundred, with M and B from a million.
pub fn number(value: f64) -> String {
    match value {
        v if v < 0.0 => format!("-{}", number(-v)),
        v if v < 999_999.5 => rate(v),
        v => count(v.round() as u64),
    }
}

/// What was said of a quantity: `9,000`, `2 to 3`.
pub fn stated(published: Stated) -> String {
    match published {
        Stated::Number(value) => number(value),
        Stated::Range(ends) => ends.map(number).join(" to "),
    }
}

/// A length of time given in seconds: `85 us`, `8.01 ms`, `68 s`, `3.2 h`. Hours are the largest
/// unit, because that is what the field compares loads in.
pub fn duration(seconds: f64) -> String {
    if seconds < 119.5 {
        return match seconds {
            0.0 => "0 s".to_owned(),
            s if s < 0.999_5 => scaled(s * 1e9, &["ns", "us", "ms"], 1e3, " "),
            s => format!("{} s", three_digits(s)),
        };
    }
    let minutes = seconds / 60.0;
    if minutes < 59.95 {
        format!("{} min", three_digits(minutes))
    } else {
        format!("{} h", rate(seconds / 3600.0))
    }
}

/// An amount of data in binary units.
pub fn bytes(n: u64) -> String {
    Bytes::new(n).to_string()
}

/// A share from 0 to 1 as a percentage with one decimal.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// The words of `text` in lines of at most `width` characters; a longer word has its own line.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Writes `text` after `head` in lines of at most [`WIDTH`] columns, the further ones indented to
/// where it starts.
///
/// # Errors
/// Those of `out`.
pub fn write_hanging(head: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
    let indent = head.chars().count();
    for (number, line) in wrap(text, WIDTH.saturating_sub(indent)).iter().enumerate() {
        writeln!(out, "{:indent$}{line}", if number == 0 { head } else { "" })?;
    }
    Ok(())
}

/// Three significant digits, more if the number has them before the point; no trailing zeros.
pub fn three_digits(value: f64) -> String {
    let decimals = match value.abs() {
        v if v < 0.099_95 => 4,
        v if v < 0.999_5 => 3,
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    trimmed(value, decimals)
}

/// The number rounded to `decimals` places, without trailing zeros.
pub fn trimmed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Three digits in the largest of `units`, each `factor` times the one before, that keeps the
/// rounded number below `factor`.
fn scaled(mut value: f64, units: &[&str], factor: f64, gap: &str) -> String {
    let mut unit = 0;
    while factor - 0.5 <= value && unit + 1 < units.len() {
        value /= factor;
        unit += 1;
    }
    format!("{}{gap}{}", three_digits(value), units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_keep_three_digits_and_carry_to_the_next_unit() {
        let cases = [
            (0, "0"),
            (9_999, "9,999"),
            (12_345, "12.3k"),
            (999_499, "999k"),
            (999_500, "1M"),
            (1_250_000, "1.25M"),
            (596_000_000, "596M"),
            (1_000_000_000, "1B"),
            (27_300_000_000_000, "27.3T"),
        ];
        for (n, text) in cases {
            assert_eq!(count(n), text, "{n}");
        }
    }

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(grouped(100), "100");
        assert_eq!(grouped(1_000), "1,000");
        assert_eq!(grouped(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn rates_are_whole_from_a_hundred() {
        let cases = [(0.0, "0"), (0.25, "0.25"), (34.56, "34.6"), (99.96, "100"), (124.8, "125")];
        for (per_s, text) in cases {
            assert_eq!(rate(per_s), text);
        }
        assert_eq!(rate(11_236.4), "11,236");
        let numbers = [-0.5, 0.012_34, 9_000.4, 999_999.4, 999_999.6, 1.02e8].map(number);
        assert_eq!(numbers, ["-0.5", "0.0123", "9,000", "999,999", "1M", "102M"]);
    }

    #[test]
    fn durations_take_the_unit_of_their_size() {
        let cases = [
            (0.0, "0 s"),
            (4e-8, "40 ns"),
            (85e-6, "85 us"),
            (0.008_012, "8.01 ms"),
            (0.999_6, "1 s"),
            (68.0, "68 s"),
            (119.6, "1.99 min"),
            (3_599.0, "1 h"),
            (11_520.0, "3.2 h"),
            (1_620_000.0, "450 h"),
            (46_800_000.0, "13,000 h"),
        ];
        for (seconds, text) in cases {
            assert_eq!(duration(seconds), text, "{seconds}");
        }
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("incomprehensibilities end", 5), ["incomprehensibilities", "end"]);
        assert_eq!(wrap("", 5), Vec::<String>::new());
    }
}
