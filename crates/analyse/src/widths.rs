//! How wide the intervals of a case are, and how narrow they have to be at a look.

use crate::findings::{Headline, OpFinding, QuantileValue, Rates};
use stend_base::{Millionths, Share};
use stend_spec::until::{FIRST_LOOK, SECOND_LOOK, Until};

/// Half-widths relative to their values, each for 95 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Widths {
    /// Width for the rate that the case is known by; `None` without an interval.
    pub rate: Option<f64>,
    /// The widest p99 of an operation; `None` if one has no interval.
    pub p99: Option<f64>,
}

impl Widths {
    /// Whether both are narrow enough.
    pub fn hold(&self, until: &Until) -> bool {
        let within = |width: Option<f64>, goal: f64| width.is_some_and(|width| width <= goal);
        within(self.rate, until.width.as_share()) && until.p99.is_none_or(|goal| within(self.p99, goal.as_share()))
    }
}

/// The widths of what is found of a case.
pub(crate) fn widths(headline: Headline, total: &Rates, ops: &[OpFinding]) -> Widths {
    // An interval of a ratio scale: e^h − 1 of its half-width h on logarithms.
    let p99 = |op: &OpFinding| {
        let found = op.quantiles.iter().find(|q| q.q == Share(0.99))?;
        let QuantileValue::At(_) = found.value else { return None };
        found.interval.filter(|(low, _)| low.0 > 0).map(|(low, high)| (high.0 as f64 / low.0 as f64).sqrt() - 1.0)
    };
    let all: Option<Vec<f64>> = ops.iter().map(p99).collect();
    Widths { rate: total.of(headline).half_width(), p99: all.and_then(|all| all.into_iter().reduce(f64::max)) }
}

/// What is asked of a look after so many trials: of the first one a fifth of the width of the rate, of the second three fifths. Few trials
/// often look much more alike than they are, and who stops then publishes an interval that is too narrow: with the whole width at all
/// looks it held the truth in 92.8 % of simulated runs whose trials differ by 3 % (docs/method/precision.md).
pub fn at_look(until: Until, trials: u32) -> Until {
    let width = match trials {
        FIRST_LOOK => Millionths(until.width.0 / 5),
        SECOND_LOOK => Millionths(until.width.0 / 5 * 3),
        _ => until.width,
    };
    Until { width, ..until }
}
