//! Shapes of a curve: extremes, spread, crossings, period and phase.

use super::metric::{Limit, Take};
use super::series::Mean;

/// A period counts when the curve, moved by it, resembles itself at least so much (correlation).
const RESEMBLANCE_MIN: f64 = 0.3;

/// Of several such periods the shortest that comes this close to the best is taken: a wave also
/// repeats after two periods.
const SHORTEST: f64 = 0.9;

/// The highest or the lowest mean.
pub(super) fn extreme(means: &[Mean], take: Take) -> Option<f64> {
    at_extreme(means, take).map(|mean| mean.value)
}

fn at_extreme(means: &[Mean], take: Take) -> Option<Mean> {
    let best = |a: Mean, b: Mean| match take {
        Take::Min => {
            if b.value < a.value {
                b
            } else {
                a
            }
        }
        _ => {
            if a.value < b.value {
                b
            } else {
                a
            }
        }
    };
    means.iter().copied().reduce(best)
}

/// Standard deviation by mean.
pub(super) fn spread(means: &[Mean]) -> Option<f64> {
    let n = means.len() as f64;
    let mean = means.iter().map(|m| m.value).sum::<f64>() / n;
    let variance = means.iter().map(|m| (m.value - mean) * (m.value - mean)).sum::<f64>() / n;
    (1 < means.len()).then(|| variance.sqrt() / mean)
}

/// Rows at the start of the first window beyond the limit.
pub(super) fn crossing(means: &[Mean], limit: Limit) -> Option<f64> {
    let highest = extreme(means, Take::Max)?;
    let mut peak = f64::MIN;
    let crossed = means.iter().find(|mean| {
        peak = peak.max(mean.value);
        match limit {
            Limit::Above(value) => value < mean.value,
            Limit::AbovePeak(share) => share * highest < mean.value,
            Limit::BelowPeak(share) => mean.value < share * peak,
        }
    });
    crossed.map(|mean| mean.rows[0])
}

/// The distance in rows after which the curve resembles itself, if there is one: the
/// autocorrelation of what is left when the straight line through the curve is taken away.
pub(super) fn period(means: &[Mean], width: f64) -> Option<f64> {
    let values = without_line(means)?;
    let n = values.len();
    let power = values.iter().map(|v| v * v).sum::<f64>() / n as f64;
    let resemblance = |lag: usize| {
        let products = values.iter().zip(&values[lag..]).map(|(a, b)| a * b);
        products.sum::<f64>() / (n - lag) as f64 / power
    };
    let all: Vec<_> = (0..=n / 2).map(resemblance).collect();
    // Neighbouring windows resemble each other: a period begins beyond the first that do not.
    let apart = all.iter().position(|r| *r <= 0.0)?;
    let best = all[apart..].iter().copied().reduce(f64::max)?;
    if best < RESEMBLANCE_MIN {
        return None;
    }
    let is_peak = |lag: usize| {
        let next = all.get(lag + 1).copied().unwrap_or(f64::MIN);
        all[lag - 1] <= all[lag] && next <= all[lag] && SHORTEST * best <= all[lag]
    };
    (apart.max(1)..all.len()).find(|lag| is_peak(*lag)).map(|lag| lag as f64 * width)
}

fn without_line(means: &[Mean]) -> Option<Vec<f64>> {
    let n = means.len() as f64;
    if means.len() < 8 {
        return None;
    }
    let (middle, mean) = ((n - 1.0) / 2.0, means.iter().map(|m| m.value).sum::<f64>() / n);
    let (mut up, mut across) = (0.0, 0.0);
    for (i, m) in means.iter().enumerate() {
        let x = i as f64 - middle;
        up += x * (m.value - mean);
        across += x * x;
    }
    let slope = up / across;
    let rest = means.iter().enumerate().map(|(i, m)| m.value - mean - slope * (i as f64 - middle));
    Some(rest.collect())
}

/// Where the mean wave has its extreme: distance from the nearest multiple of the period, as a
/// share of it.
pub(super) fn phase(means: &[Mean], period: f64, take: Take) -> Option<f64> {
    let width = means.first().map(|mean| mean.rows[1] - mean.rows[0])?;
    let bins = (period / width).round().max(1.0) as usize;
    let mut sums = vec![(0.0, 0_u32); bins];
    for mean in means {
        let phase = (mean.rows[0] / period).fract();
        let bin = (phase * bins as f64 + 1e-6) as usize;
        let (sum, count) = &mut sums[bin.min(bins - 1)];
        (*sum, *count) = (*sum + mean.value, *count + 1);
    }
    let wave: Vec<_> = sums
        .iter()
        .enumerate()
        .filter(|(_, (_, count))| 0 < *count)
        .map(|(bin, (sum, count))| {
            let start = bin as f64 / bins as f64;
            Mean { rows: [start, start + 1.0 / bins as f64], value: sum / f64::from(*count) }
        })
        .collect();
    let middle = at_extreme(&wave, take).map(|mean| f64::midpoint(mean.rows[0], mean.rows[1]))?;
    Some(middle.min(1.0 - middle))
}

/// The same part of every whole period between two row counts.
pub(super) fn parts(
    [from, to]: [f64; 2],
    period: f64,
    [start, end]: [f64; 2],
) -> impl Iterator<Item = [f64; 2]> {
    let first = (from / period - 1e-6).ceil() as u64;
    let last = (to / period + 1e-6).floor() as u64;
    (first..last).map(move |n| [(n as f64 + start) * period, (n as f64 + end) * period])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A saw-tooth that falls from 12 to 6 within 50 windows, from the middle of a tooth on.
    fn teeth() -> Vec<Mean> {
        let windows = (0..500_u32).map(|n| {
            let rows = [f64::from(n), f64::from(n + 1)];
            Mean { rows, value: 12.0 - 6.0 * f64::from(n % 50) / 50.0 }
        });
        windows.collect()
    }

    #[test]
    fn a_saw_tooth_has_its_period_and_its_trough_before_the_switch() {
        let teeth = teeth();
        assert_eq!(period(&teeth, 1.0), Some(50.0));
        assert!(phase(&teeth, 50.0, Take::Min).unwrap() < 0.02);
        assert!(phase(&teeth[20..], 50.0, Take::Max).unwrap() < 0.02);
        assert!((phase(&teeth, 100.0, Take::Mean).unwrap() - 0.005).abs() < 1e-9);
    }

    #[test]
    fn a_straight_line_and_noise_have_none() {
        let line: Vec<_> = teeth().iter().map(|m| Mean { value: m.rows[0], ..*m }).collect();
        assert_eq!(period(&line[..7], 1.0), None);
        // Bits of the row number, mixed as hashes do.
        let noise = |m: &Mean| {
            let mixed = (m.rows[0] as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
            Mean { value: (mixed >> 40) as f64, ..*m }
        };
        assert_eq!(period(&teeth().iter().map(noise).collect::<Vec<_>>(), 1.0), None);
    }

    #[test]
    fn extremes_spread_and_crossings_of_a_saw_tooth() {
        let teeth = teeth();
        assert_eq!(extreme(&teeth, Take::Max), Some(12.0));
        assert!((extreme(&teeth, Take::Min).unwrap() - 6.12).abs() < 1e-9);
        // A uniform wave from 6 to 12: 6 / sqrt(12) around 9.06.
        assert!((spread(&teeth).unwrap() - 1.732 / 9.06).abs() < 1e-3);
        assert_eq!(crossing(&teeth[30..], Limit::AbovePeak(0.9)), Some(50.0));
        assert_eq!(crossing(&teeth, Limit::BelowPeak(0.75)), Some(26.0));
        assert_eq!(crossing(&teeth, Limit::Above(12.0)), None);
    }

    #[test]
    fn parts_are_of_whole_periods() {
        let parts: Vec<_> = parts([100.0, 399.0], 100.0, [0.5, 1.0]).collect();
        assert_eq!(parts, [[150.0, 200.0], [250.0, 300.0]]);
    }
}
