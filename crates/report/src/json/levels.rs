//! Two levels of a rate, for machines.

use serde::Serialize;
use stend_analyse::findings::LevelsFinding;
use stend_base::Say;

/// Rates are I/Os or bytes per second, as `headline` of the case says.
#[derive(Serialize)]
pub(super) struct LevelsOut {
    first_per_s: f64,
    lasted_ns: u64,
    then_per_s: f64,
    /// I/Os or bytes that a bucket of credits would hold.
    bucket: f64,
    /// How long that takes to be full again without load.
    refill_ns: u64,
    text: Say,
}

pub(super) fn out(found: &LevelsFinding) -> LevelsOut {
    LevelsOut {
        first_per_s: found.first,
        lasted_ns: found.lasted.0,
        then_per_s: found.then,
        bucket: found.bucket,
        refill_ns: found.refill.0,
        text: found.say(),
    }
}
