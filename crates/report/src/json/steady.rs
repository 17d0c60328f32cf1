//! The rounds of a case, for machines.

use serde::Serialize;
use stend_analyse::findings::SteadyFinding;
use stend_base::Say;

/// Rounds of the load before the case was measured, until its rate was steady or there were no more.
#[derive(Serialize)]
pub(super) struct SteadyOut<'a> {
    /// The rule held whenever trials of the case began.
    reached: bool,
    /// Rounds before its trials.
    rounds: u32,
    /// As many there might have been.
    rounds_most: u32,
    round_ns: u64,
    /// Rate of each round since the last one with failed I/O: I/Os or bytes per second, as `headline` of the case says.
    rates_per_s: &'a [f64],
    /// Largest less smallest of the last five, relative to their mean.
    range: Option<f64>,
    /// How far the line fitted through them moves, relative to their mean.
    slope: Option<f64>,
    text: Say,
}

/// In the form for machines.
pub(super) fn out(steady: &SteadyFinding) -> SteadyOut<'_> {
    SteadyOut {
        reached: steady.reached,
        rounds: steady.rounds,
        rounds_most: steady.rounds_most,
        round_ns: steady.round.0,
        rates_per_s: &steady.values,
        range: steady.range.map(|range| range.0),
        slope: steady.slope.map(|slope| slope.0),
        text: steady.say(),
    }
}
