//! Amounts of data.

use std::fmt;
use std::ops::{Add, AddAssign, Mul};

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

impl Bytes {
    /// No bytes.
    pub const ZERO: Self = Self(0);

    /// `n` bytes.
    pub const fn new(n: u64) -> Self {
        Self(n)
    }

    /// `n` KiB.
    pub const fn kib(n: u64) -> Self {
        Self(n << 10)
    }

    /// `n` MiB.
    pub const fn mib(n: u64) -> Self {
        Self(n << 20)
    }

    /// `n` GiB.
    pub const fn gib(n: u64) -> Self {
        Self(n << 30)
    }

    /// The number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// How many whole units of `unit` bytes fit.
    pub const fn whole(self, unit: Bytes) -> u64 {
        self.0 / unit.0
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, rhs: Self) -> Self {
        Self(self.0 + rhs.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, rhs: Self) {
        self.0 += rhs.0;
    }
}

impl Mul<u64> for Bytes {
    type Output = Self;
    fn mul(self, rhs: u64) -> Self {
        Self(self.0 * rhs)
    }
}

impl fmt::Display for Bytes {
    /// Binary units, one decimal where the amount is not whole.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = ["B", "KiB", "MiB", "GiB", "TiB"];
        let power = (0..units.len() - 1).rev().find(|&p| self.0 >> (10 * p) > 0).unwrap_or(0);
        let whole = 1u64 << (10 * power);
        if self.0.is_multiple_of(whole) {
            write!(f, "{} {}", self.0 / whole, units[power])
        } else {
            write!(f, "{:.1} {}", self.0 as f64 / whole as f64, units[power])
        }
    }
}
