//! The scale of a run: the same experiment with 2^-k of its rows and of its memory.

use std::fmt;
use std::str::FromStr;

use super::error::{Place, Problem, ScenarioError};

/// A power of two, 1 or smaller, by which an experiment shrinks.
///
/// Leaves fill and split in waves that depend on log2 of the rows, so only powers of two compare
/// the same phase of a wave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scale {
    halvings: u32,
}

impl Scale {
    /// The experiment as it is written.
    pub const FULL: Self = Self { halvings: 0 };

    /// Halvings of the smallest scale: smaller than any experiment bears; keeps the arithmetic
    /// inside its integers.
    pub const HALVINGS_MAX: u32 = 20;

    /// 2^-`halvings`; panics above 20, which no experiment bears.
    pub const fn new(halvings: u32) -> Self {
        assert!(halvings <= Self::HALVINGS_MAX, "a scale is 1/2^20 at least");
        Self { halvings }
    }

    /// How often the experiment is halved.
    pub const fn halvings(self) -> u32 {
        self.halvings
    }

    /// 1 / scale: 128 for 1/128.
    pub const fn divisor(self) -> u64 {
        1 << self.halvings
    }

    /// `amount` at this scale, to the nearest whole number; what is there stays there: at least 1
    /// unless `amount` is 0.
    pub fn apply(self, amount: u64) -> u64 {
        let nearest = (u128::from(amount) + u128::from(self.divisor() / 2)) >> self.halvings;
        (nearest as u64).max(u64::from(0 < amount))
    }

    /// What `amount` at this scale stands for at full scale.
    pub const fn full(self, amount: u64) -> u64 {
        amount.saturating_mul(self.divisor())
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.halvings {
            0 => write!(f, "1"),
            _ => write!(f, "1/{}", self.divisor()),
        }
    }
}

impl FromStr for Scale {
    type Err = ScenarioError;

    fn from_str(text: &str) -> Result<Self, ScenarioError> {
        let refuse = |why: &'static str| {
            let problem = Problem::MalformedScale { text: text.to_owned(), why };
            Err(ScenarioError::new(Place::Scale, problem))
        };
        let divisor = match text.trim().split_once('/').map(|(n, d)| (n.trim(), d.trim())) {
            None if text.trim() == "1" => "1",
            Some(("1", divisor)) => divisor,
            _ => return refuse("expected 1 or 1 over a power of two, such as 1/128"),
        };
        match divisor.parse::<u64>() {
            Err(_) | Ok(0) => refuse("expected 1 or 1 over a power of two, such as 1/128"),
            Ok(divisor) if !divisor.is_power_of_two() => refuse(
                "expected 1 over a power of two, such as 1/128: at other scales the waves of page \
                 splits would not be those of the full run",
            ),
            Ok(divisor) if Self::HALVINGS_MAX < divisor.ilog2() => {
                refuse("the smallest scale is 1/1048576")
            }
            Ok(divisor) => Ok(Self::new(divisor.ilog2())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Scale;

    #[test]
    fn shrinks_to_the_nearest_and_keeps_what_is_there() {
        let scale: Scale = "1/128".parse().unwrap();
        assert_eq!(scale.apply(1_000_000_000), 7_812_500);
        assert_eq!(scale.apply(1_000_000), 7_813);
        assert_eq!((scale.apply(0), scale.apply(1)), (0, 1));
        assert_eq!(scale.full(scale.apply(1 << 30)), 1 << 30);
        assert_eq!(scale.to_string(), "1/128");
        assert_eq!("1".parse::<Scale>().unwrap(), Scale::FULL);
        assert_eq!("1/1".parse::<Scale>().unwrap().to_string(), "1");
        assert_eq!(Scale::new(20).apply(u64::MAX), 1 << 44);
    }
}
