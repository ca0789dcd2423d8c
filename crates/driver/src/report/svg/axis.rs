//! Axes: where a value falls between two ends, and which values are worth a tick.

use crate::report::text::{grouped, trimmed};

/// A linear or logarithmic axis.
pub(super) struct Axis {
    low: f64,
    high: f64,
    logarithmic: bool,
    pub(super) ticks: Vec<Tick>,
}

/// A grid line; the lesser ones have no label.
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) label: Option<String>,
}

impl Axis {
    /// From 0 to the first tick that is not below `value_max`, with about `intervals` intervals.
    pub(super) fn linear(value_max: f64, intervals: u32) -> Self {
        let step = step(value_max, intervals);
        let last = (value_max / step - 1e-9).ceil().max(1.0) as u32;
        Self::with_steps(step, last, f64::from(last) * step)
    }

    /// From 0 to exactly `value_max`, so that a curve uses the whole width.
    pub(super) fn linear_exact(value_max: f64, intervals: u32) -> Self {
        let step = step(value_max, intervals);
        Self::with_steps(step, (value_max / step + 1e-9).floor() as u32, value_max)
    }

    /// Linear from 0, or logarithmic if the positive values span more than a decade. The ends of
    /// a logarithmic axis are 1, 2 or 5 times a power of ten.
    pub(super) fn for_rates(values: impl Iterator<Item = f64>, intervals: u32) -> Self {
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
        for value in values.filter(|value| 0.0 < *value && value.is_finite()) {
            least = least.min(value);
            most = most.max(value);
        }
        if most <= 10.0 * least {
            let most = if 0.0 < most { most } else { 1.0 };
            return Self::linear(most, intervals);
        }
        Self::logarithmic(least, most)
    }

    /// Whether equal distances are equal factors.
    pub(super) fn is_logarithmic(&self) -> bool {
        self.logarithmic
    }

    /// The place of a value from 0 at the low end to 1 at the high end; none for a value that
    /// the axis does not reach.
    pub(super) fn fraction(&self, value: f64) -> Option<f64> {
        let fraction = if self.logarithmic {
            libm::log10(value / self.low) / libm::log10(self.high / self.low)
        } else {
            (value - self.low) / (self.high - self.low)
        };
        (-1e-9..=1.0 + 1e-9).contains(&fraction).then_some(fraction)
    }

    fn with_steps(step: f64, last: u32, high: f64) -> Self {
        let ticks = (0..=last)
            .map(|n| f64::from(n) * step)
            .map(|value| Tick { value, label: Some(label(value)) })
            .collect();
        Self { low: 0.0, high, logarithmic: false, ticks }
    }

    /// From 1, 2 or 5 times a power of ten to another, which enclose the two positive values.
    pub(super) fn logarithmic(least: f64, most: f64) -> Self {
        let unit = power_of_ten_below(least);
        let low = [5.0, 2.0, 1.0].map(|m| m * unit).into_iter().find(|low| *low <= least);
        let low = low.unwrap_or(unit);
        let unit = power_of_ten_below(most);
        let high = [1.0, 2.0, 5.0, 10.0].map(|m| m * unit).into_iter().find(|high| most <= *high);
        let high = high.unwrap_or(10.0 * unit);

        let few_decades = high / low < 2_000.0;
        let mut ticks = Vec::new();
        let mut decade = power_of_ten_below(low);
        while decade <= high {
            for digit in 1..10 {
                let value = f64::from(digit) * decade;
                if low * (1.0 - 1e-9) <= value && value <= high * (1.0 + 1e-9) {
                    let labelled = digit == 1 || (few_decades && (digit == 2 || digit == 5));
                    ticks.push(Tick { value, label: labelled.then(|| label(value)) });
                }
            }
            decade *= 10.0;
        }
        Self { low, high, logarithmic: true, ticks }
    }
}

/// 1, 2 or 5 times a power of ten, so that about `intervals` of them reach `value_max`.
fn step(value_max: f64, intervals: u32) -> f64 {
    let least = value_max / f64::from(intervals);
    let unit = power_of_ten_below(least);
    [1.0, 2.0, 5.0].map(|m| m * unit).into_iter().find(|s| least <= *s).unwrap_or(10.0 * unit)
}

/// The largest power of ten that is not above `value`, which must be positive and finite. Only
/// exact or correctly rounded operations, so that it is the same everywhere.
fn power_of_ten_below(value: f64) -> f64 {
    debug_assert!(0.0 < value && value.is_finite());
    let (mut up, mut down) = (1.0, 1.0);
    while up * 10.0 <= value {
        up *= 10.0;
    }
    while value < 1.0 / down {
        down *= 10.0;
    }
    up / down
}

fn label(value: f64) -> String {
    if 1_000.0 <= value { grouped(value.round() as u64) } else { trimmed(value, 6) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().filter_map(|tick| tick.label.as_deref()).collect()
    }

    fn close(axis: &Axis, value: f64, fraction: f64) -> bool {
        axis.fraction(value).is_some_and(|f| (f - fraction).abs() < 1e-12)
    }

    #[test]
    fn linear_axis_ends_on_a_tick() {
        let axis = Axis::linear(1.08, 4);
        assert_eq!(labels(&axis), ["0", "0.5", "1", "1.5"]);
        assert!(close(&axis, 0.75, 0.5));
        assert_eq!(axis.fraction(1.6), None);
    }

    #[test]
    fn exact_axis_ends_on_its_value() {
        let axis = Axis::linear_exact(596.0, 8);
        assert_eq!(labels(&axis), ["0", "100", "200", "300", "400", "500"]);
        assert!(close(&axis, 596.0, 1.0));
    }

    #[test]
    fn rates_within_a_decade_start_at_zero() {
        let axis = Axis::for_rates([6_500.0, 12_500.0].into_iter(), 4);
        assert!(!axis.is_logarithmic());
        assert_eq!(labels(&axis), ["0", "5,000", "10,000", "15,000"]);
    }

    #[test]
    fn rates_over_more_than_a_decade_are_logarithmic() {
        let axis = Axis::for_rates([81.0, 11_000.0, 0.0].into_iter(), 4);
        assert!(axis.is_logarithmic());
        let expected = ["50", "100", "200", "500", "1,000", "2,000", "5,000", "10,000", "20,000"];
        assert_eq!(labels(&axis), expected);
        assert!(close(&axis, 1_000.0, 0.5));
        assert_eq!(axis.fraction(0.0), None);
    }

    #[test]
    fn many_decades_are_labelled_by_the_decade() {
        let axis = Axis::for_rates([0.3, 9_000.0].into_iter(), 4);
        assert_eq!(labels(&axis), ["1", "10", "100", "1,000", "10,000"]);
    }

    #[test]
    fn no_rate_at_all_still_has_an_axis() {
        assert_eq!(labels(&Axis::for_rates([0.0, f64::NAN].into_iter(), 4)), ["0", "0.5", "1"]);
    }
}
