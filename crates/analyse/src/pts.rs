//! The steady-state rule of SNIA's Solid State Storage Performance Test Specification over the last rounds of a load.

use crate::limits::{STEADY_RANGE, STEADY_ROUNDS, STEADY_SLOPE};
use stend_stats::{line, mean};

/// What the rule looks at: the last rounds, relative to their mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Mean of the values, above 0.
    pub mean: f64,
    /// Largest less smallest value, relative to the mean.
    pub range: f64,
    /// First and last value of the least-squares line through them.
    pub ends: (f64, f64),
}

impl Window {
    /// The window of the last rounds. `None` for fewer than five, values that are not finite, or a mean that is not above 0.
    pub fn last(values: &[f64]) -> Option<Window> {
        let last = &values[values.len().checked_sub(STEADY_ROUNDS)?..];
        let (mean, ends) = (mean(last).filter(|mean| *mean > 0.0)?, line::ends(last)?);
        let (least, most) = last.iter().fold((f64::INFINITY, 0.0f64), |(a, b), v| (a.min(*v), b.max(*v)));
        Some(Window { mean, range: (most - least) / mean, ends })
    }

    /// How far the line moves inside the window, |slope| · (5 − 1), relative to the mean.
    pub fn excursion(&self) -> f64 {
        (self.ends.1 - self.ends.0).abs() / self.mean
    }

    /// Whether the load is steady.
    //= SNIA SSS PTS, steady state: max(y) − min(y) <= 20 % of the mean and the excursion of the fitted line <= 10 % of it.
    pub fn is_steady(&self) -> bool {
        self.range <= STEADY_RANGE && self.excursion() <= STEADY_SLOPE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (range, excursion) in percent to a tenth, and whether it is steady.
    fn of(values: &[f64]) -> (f64, f64, bool) {
        let window = Window::last(values).unwrap();
        let percent = |share: f64| (share * 1000.0).round() / 10.0;
        (percent(window.range), percent(window.excursion()), window.is_steady())
    }

    #[test]
    fn the_examples_of_the_method() {
        assert_eq!(of(&[100.0, 104.0, 98.0, 102.0, 101.0]), (5.9, 0.0, true));
        assert_eq!(of(&[95.0, 98.0, 100.0, 103.0, 106.0]), (11.0, 10.8, false), "the range alone would pass it");
        let (range, excursion, steady) = of(&[130.0, 118.0, 110.0, 104.0, 100.0]);
        assert!(range > 20.0 && excursion > 10.0 && !steady, "{range} {excursion}");
        assert_eq!(of(&[90.0, 110.0, 90.0, 110.0, 90.0]), (20.4, 0.0, false));
    }

    #[test]
    fn only_the_last_five_rounds_count() {
        let settled = [500.0, 300.0, 100.0, 104.0, 98.0, 102.0, 101.0];
        assert!(Window::last(&settled).unwrap().is_steady());
        assert!(!Window::last(&settled[..6]).unwrap().is_steady());
    }

    #[test]
    fn limits_belong_to_what_is_steady_and_a_scale_changes_nothing() {
        // 90, 110, 100, 100, 100: a range of exactly 20 % of 100, and an excursion of 4 · 1 = 4 %.
        assert_eq!(of(&[90.0, 110.0, 100.0, 100.0, 100.0]), (20.0, 4.0, true));
        assert_eq!(of(&[90e9, 110e9, 100e9, 100e9, 100e9]), (20.0, 4.0, true));
    }

    #[test]
    fn there_is_no_window_of_four_rounds_of_nothing_or_of_what_is_no_number() {
        assert_eq!(Window::last(&[100.0; 4]), None);
        assert_eq!(Window::last(&[0.0; 5]), None);
        assert_eq!(Window::last(&[1.0, 1.0, f64::NAN, 1.0, 1.0]), None);
    }
}
