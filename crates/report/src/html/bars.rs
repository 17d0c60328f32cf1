//! A rate as a bar with its interval and its number. Draws, and judges nothing.

use crate::markup::{Markup, coordinate};
use crate::rates;
use stend_analyse::findings::{Estimate, Headline};

/// Part of its column that the longest bar takes, percent: the rest is for the number.
const LONGEST: f64 = 62.0;

/// The value of an estimate, if it can be drawn.
pub fn drawable(estimate: &Estimate) -> Option<f64> {
    (estimate.value.is_finite() && estimate.value > 0.0).then_some(estimate.value)
}

/// A bar of this class, as long as its value is of the `longest`; `before` stands in front of the number.
pub fn bar(
    m: &mut Markup,
    class: &'static str,
    (estimate, headline): (&Estimate, Headline),
    longest: f64,
    before: impl FnOnce(&mut Markup),
) {
    let part = |value: f64| coordinate((value / longest).clamp(0.0, 1.5) * LONGEST);
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
