//! When the I/Os of an open-loop stream are due, as asked for. What the n-th one's time is follows from this and
//! a seed alone, and is computed by the load engine.

use serde::{Deserialize, Serialize};
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

    /// As one writes it in a suite, shortened: `5000/s`, `poisson 5000/s`, `schedule of 3`.
    pub fn label(&self) -> String {
        let rate = match self.level() {
            Some(rate) => format::rate(rate, Lang::En),
            None => format!("schedule of {}", self.steps.len()),
        };
        if self.gaps == Gaps::Poisson { format!("poisson {rate}") } else { rate }
    }
}
