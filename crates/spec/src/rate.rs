//! When the I/Os of an open-loop stream are due, as asked for. What the n-th one's time is follows from this and
//! a seed alone, and is computed by the load engine.

use serde::{Deserialize, Serialize};
use stend_base::random::draw;
use stend_base::{Lang, MilliIops, Nanos, format};

/// Arrivals of an open-loop stream: of all its jobs together, whatever the target does with them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// How arrivals are spread at a given rate.
    pub gaps: Gaps,
    /// The rate over time: at least one step, the first at 0, in ascending order. Time counts from the
    /// start of the load; the last step holds for ever.
    pub steps: Vec<Step>,
}

/// How arrivals are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gaps {
    /// At equal distances.
    Even,
    /// As those of many independent users: a Poisson process.
    Poisson,
}

/// A change of the rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// When, since the start of the load.
    pub at: Nanos,
    /// The rate from here on.
    pub rate: MilliIops,
    /// How it is reached, or what happens around it.
    pub shape: Shape,
}

impl Step {
    /// Whether it never comes in a trial that is so long, ramp and window. A ramp is over when its step comes, so it may end with the
    /// trial.
    pub fn is_late(&self, length: Nanos) -> bool {
        if self.shape == Shape::Ramp { self.at > length } else { self.at >= length }
    }
}

/// The shape of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// The rate jumps.
    Jump,
    /// The rate changes evenly from the one before until it is reached at the time of this step.
    Ramp,
    /// From here on it swings around its value, beginning with the rise.
    Sine {
        /// Largest distance from the value; not above it.
        amplitude: MilliIops,
        /// Length of a swing.
        period: Nanos,
    },
    /// From here on it rises to `rate` again and again, the first time at once.
    Burst {
        /// Rate inside a burst.
        rate: MilliIops,
        /// From the beginning of one burst to the next.
        every: Nanos,
        /// Length of a burst; less than `every`.
        lasting: Nanos,
    },
}

impl Rate {
    /// One rate for ever.
    pub fn constant(rate: MilliIops, gaps: Gaps) -> Rate {
        Rate { gaps, steps: vec![Step { at: Nanos(0), rate, shape: Shape::Jump }] }
    }

    /// The rate, if it is the same all the time.
    pub fn level(&self) -> Option<MilliIops> {
        match self.steps.as_slice() {
            [Step { rate, shape: Shape::Jump, .. }] => Some(*rate),
            _ => None,
        }
    }

    /// As one writes it in a suite, shortened: `5000/s`, `poisson 5000/s`, `schedule of 3 from 100/s to 900/s (5d0c19)`. The
    /// digest tells schedules apart that begin and end alike; it follows from the steps alone, so that it is the same in every run.
    pub fn label(&self) -> String {
        let rate = match self.level() {
            Some(rate) => format::rate(rate, Lang::En),
            None => self.schedule_label(),
        };
        if self.gaps == Gaps::Poisson { format!("poisson {rate}") } else { rate }
    }

    fn schedule_label(&self) -> String {
        let rate = |step: Option<&Step>| step.map_or(String::new(), |step| format::rate(step.rate, Lang::En));
        let (first, last) = (rate(self.steps.first()), rate(self.steps.last()));
        let digest = self.steps.iter().flat_map(Step::numbers).fold(0, draw) >> 40;
        format!("schedule of {} from {first} to {last} ({digest:06x})", self.steps.len())
    }
}

impl Step {
    /// Everything it is.
    fn numbers(&self) -> [u64; 6] {
        let (kind, parts) = match self.shape {
            Shape::Jump => (0, [0; 3]),
            Shape::Ramp => (1, [0; 3]),
            Shape::Sine { amplitude, period } => (2, [amplitude.0, period.0, 0]),
            Shape::Burst { rate, every, lasting } => (3, [rate.0, every.0, lasting.0]),
        };
        [self.at.0, self.rate.0, kind, parts[0], parts[1], parts[2]]
    }
}

impl Rate {
    /// The mean from the start until `length`, cut to thousandths.
    pub fn mean(&self, length: Nanos) -> MilliIops {
        let mut sum = 0u128;
        for (index, step) in self.steps.iter().enumerate() {
            let next = self.steps.get(index + 1);
            let until = next.map_or(length.0, |next| next.at.0).min(length.0);
            let (time, own) = (u128::from(until.saturating_sub(step.at.0)), u128::from(step.rate.0));
            sum += time
                * match (next, step.shape) {
                    (Some(next), _) if next.shape == Shape::Ramp => own.midpoint(u128::from(next.rate.0)),
                    (_, Shape::Burst { rate, every, lasting }) => {
                        let (every, lasting) = (u128::from(every.0.max(1)), u128::from(lasting.0));
                        (u128::from(rate.0) * lasting + own * every.saturating_sub(lasting)) / every
                    }
                    _ => own,
                };
        }
        MilliIops((sum / u128::from(length.0.max(1))) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn schedules_with_as_many_steps_have_labels_of_their_own() {
        let step = |at, rate, shape| Step { at: Nanos::secs(at), rate: MilliIops::per_second(rate), shape };
        let label = |middle| {
            let steps = vec![step(0, 100, Shape::Jump), middle, step(9, 900, Shape::Jump)];
            Rate { gaps: Gaps::Even, steps }.label()
        };
        let all = [
            label(step(1, 200, Shape::Jump)),
            label(step(1, 200, Shape::Ramp)),
            label(step(2, 200, Shape::Jump)),
            label(step(1, 201, Shape::Jump)),
        ];
        // Runs are compared by the labels of their cases: they may not change.
        expect![[r#"
            schedule of 3 from 100/s to 900/s (cb4dec)
            schedule of 3 from 100/s to 900/s (0b44a7)
            schedule of 3 from 100/s to 900/s (de439a)
            schedule of 3 from 100/s to 900/s (bdf777)"#]]
        .assert_eq(&all.join("\n"));
    }
}
