//! A rate as a bar with its interval and its number. Draws, and judges nothing.

use crate::markup::{Markup, coordinate};
use crate::rates;
use stend_analyse::findings::{Estimate, Headline};

/// Part of its column that the longest bar takes, percent: the rest is for the number.
const LONGEST: f64 = 62.0;
/// How far beyond the longest bar an interval may reach: wider ones would leave no room for the bars, and are cut there.
const BEYOND: f64 = 1.5;

/// The value of an estimate, if it can be drawn.
pub fn drawable(estimate: &Estimate) -> Option<f64> {
    (estimate.value.is_finite() && estimate.value > 0.0).then_some(estimate.value)
}

/// What the whole length stands for, where these are drawn beneath each other.
pub fn longest<'a>(estimates: impl Iterator<Item = &'a Estimate> + Clone) -> f64 {
    let most = estimates.clone().filter_map(drawable).fold(0.0, f64::max);
    let ends = estimates.filter_map(|estimate| estimate.interval).map(|(_, high)| high).filter(|high| high.is_finite());
    ends.fold(most, f64::max).min(most * BEYOND)
}

/// A bar of this class, as long as its value is of the `longest`; `before` stands in front of the number.
pub fn bar(
    m: &mut Markup,
    class: &'static str,
    (estimate, headline): (&Estimate, Headline),
    longest: f64,
    before: impl FnOnce(&mut Markup),
) {
    let part = |value: f64| coordinate((value / longest).clamp(0.0, 1.0) * LONGEST);
    let interval = estimate.interval.filter(|(low, high)| low.is_finite() && high.is_finite());
    let (low, high) = interval.unwrap_or((estimate.value, estimate.value));
    let places = format!("--low:{}%;--value:{}%;--high:{}%", part(low), part(estimate.value), part(high));
    m.with("span", &[("class", "bar-box"), ("style", &places)], |m| {
        m.el("i", class, |_| {});
        if interval.is_some() {
            m.el("i", "whisker", |_| {});
        }
        m.el("span", "rate", |m| {
            before(m);
            m.say(&rates::rate(estimate, headline));
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_analyse::findings::Basis;

    #[test]
    fn the_widest_interval_ends_where_room_for_numbers_begins() {
        let estimate = |value, high| Estimate { value, interval: Some((0.0, high)), basis: Basis::Trials { n: 2 } };
        let wide = [estimate(100.0, 130.0), estimate(80.0, 90.0)];
        assert_eq!(longest(wide.iter()), 130.0);
        let wider = [estimate(100.0, 900.0), estimate(80.0, f64::INFINITY)];
        assert_eq!(longest(wider.iter()), 150.0);
        let mut m = Markup::new();
        bar(&mut m, "length iops", (&wider[0], Headline::Iops), 150.0, |_| {});
        assert!(m.finish().contains("--high:62%"));
    }
}
