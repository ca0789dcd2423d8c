//! Seeded randomness with the same bits on every platform.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::SimDuration;

/// A stream of random numbers that belongs to one part of the machine.
///
/// The generator is `ChaCha8`, named because a result must not change with a library's default;
/// the logarithm is `libm`'s, because a platform's own may differ in its last bit.
#[derive(Clone, Debug)]
pub struct Draw(ChaCha8Rng);

impl Draw {
    /// The stream of part number `part` of the run with this seed.
    pub fn new(seed: u64, part: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(part);
        Self(rng)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in 0..n.
    pub fn below(&mut self, n: u64) -> u64 {
        debug_assert!(0 < n);
        ((u128::from(self.0.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// A duration uniform in [0, max).
    pub fn uniform(&mut self, max: SimDuration) -> SimDuration {
        max.scaled(self.unit())
    }

    /// An exponentially distributed duration.
    pub fn exponential(&mut self, mean: SimDuration) -> SimDuration {
        mean.scaled(-libm::log(1.0 - self.unit()))
    }
}

/// The output function of `SplitMix64` (Steele, Lea, Flood, OOPSLA 2014): a permutation of the
/// 64-bit numbers in which every bit depends on every bit.
pub const fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    /// The first output of the published generator for seed 0.
    #[test]
    fn mix_is_splitmix64() {
        assert_eq!(super::mix(0), 0xe220_a839_7b1d_cdaf);
    }
}
