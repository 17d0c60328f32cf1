//! How precise a case is, for machines.

use serde::Serialize;
use stend_analyse::findings::PrecisionFinding;
use stend_base::Say;

/// How precise the headline rate is, and what it takes to be as precise as it should.
#[derive(Serialize)]
pub(super) struct PrecisionOut {
    /// Half of the 95 % interval, relative to the value.
    half_width: f64,
    /// What it should be: as the suite says, or 0.02.
    goal: f64,
    /// Blocks of trials of `window_ns` that it takes; `null`: more than 1000.
    blocks_needed: Option<u32>,
    window_ns: u64,
    /// Another length of trials that takes clearly less time.
    #[serde(skip_serializing_if = "Option::is_none")]
    better: Option<BetterOut>,
    text: Say,
}

#[derive(Serialize)]
struct BetterOut {
    window_ns: u64,
    blocks_needed: u32,
}

/// In the form for machines.
pub(super) fn out(precision: &PrecisionFinding) -> PrecisionOut {
    PrecisionOut {
        half_width: precision.half_width.0,
        goal: precision.goal.0,
        blocks_needed: precision.needed,
        window_ns: precision.window.0,
        better: precision.better.map(|(window, blocks_needed)| BetterOut { window_ns: window.0, blocks_needed }),
        text: precision.say(),
    }
}
