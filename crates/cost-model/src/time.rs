//! Virtual time: instants and durations are different types over whole nanoseconds.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

use bytemuck::{Pod, Zeroable};

/// An instant of virtual time in nanoseconds since the start of the run (584 years fit).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct SimTime(u64);

/// A length of virtual time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimDuration(u64);

impl SimTime {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// Later than any instant a run reaches: the deadline of a thread that has none.
    pub const NEVER: Self = Self(u64::MAX);

    /// The instant `ns` nanoseconds after the start.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// Nanoseconds since the start.
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// Seconds since the start, for reports only.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The time that passed since `earlier`; panics if `earlier` is later, which is a bug.
    #[inline]
    pub fn since(self, earlier: Self) -> SimDuration {
        debug_assert!(earlier.0 <= self.0, "time ran backwards: {} after {}", earlier.0, self.0);
        SimDuration(self.0 - earlier.0)
    }
}

impl SimDuration {
    /// No time.
    pub const ZERO: Self = Self(0);

    /// A duration of `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// A duration of `us` microseconds.
    pub const fn from_us(us: u64) -> Self {
        Self(us * 1_000)
    }

    /// A duration of `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * 1_000_000)
    }

    /// The duration nearest to `seconds`, which must be finite and not negative.
    pub fn from_secs_f64(seconds: f64) -> Self {
        assert!(seconds.is_finite() && seconds >= 0.0, "not a duration: {seconds} s");
        Self((seconds * 1e9).round() as u64)
    }

    /// Length in nanoseconds.
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// Length in seconds, for reports and device arithmetic.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// This duration times a factor that is finite and not negative, to the nearest nanosecond.
    #[must_use]
    #[inline]
    pub fn scaled(self, factor: f64) -> Self {
        debug_assert!(factor.is_finite() && factor >= 0.0);
        Self((self.0 as f64 * factor + 0.5) as u64)
    }
}

impl Add<SimDuration> for SimTime {
    type Output = Self;
    #[inline]
    fn add(self, rhs: SimDuration) -> Self {
        Self(self.0 + rhs.0)
    }
}

impl AddAssign<SimDuration> for SimTime {
    #[inline]
    fn add_assign(&mut self, rhs: SimDuration) {
        self.0 += rhs.0;
    }
}

impl Add for SimDuration {
    type Output = Self;
    #[inline]
    fn add(self, rhs: Self) -> Self {
        Self(self.0 + rhs.0)
    }
}

impl AddAssign for SimDuration {
    #[inline]
    fn add_assign(&mut self, rhs: Self) {
        self.0 += rhs.0;
    }
}

impl Sub for SimDuration {
    type Output = Self;
    #[inline]
    fn sub(self, rhs: Self) -> Self {
        Self(self.0 - rhs.0)
    }
}

impl SubAssign for SimDuration {
    #[inline]
    fn sub_assign(&mut self, rhs: Self) {
        self.0 -= rhs.0;
    }
}

impl Mul<u64> for SimDuration {
    type Output = Self;
    #[inline]
    fn mul(self, rhs: u64) -> Self {
        Self(self.0 * rhs)
    }
}

impl fmt::Display for SimDuration {
    /// The length in the largest unit that keeps three digits before the point at most.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0 as f64;
        match self.0 {
            0..1_000 => write!(f, "{} ns", self.0),
            1_000..1_000_000 => write!(f, "{:.1} us", ns / 1e3),
            1_000_000..1_000_000_000 => write!(f, "{:.2} ms", ns / 1e6),
            _ => write!(f, "{:.2} s", ns / 1e9),
        }
    }
}
