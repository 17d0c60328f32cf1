//! Fits the lengths of trials into a time budget. Pure.

use crate::ladder::Ladder;
use crate::plan::Case;
use std::collections::BTreeSet;
use stend_base::{Error, Kind, Nanos, Result, format, say};

/// Part of a time budget that goes to trials; the rest is left for the fill and the steps between.
const TRIAL_SHARE: f64 = 0.8;
/// Shortest window a time budget may shrink a trial to, by eye: four counter intervals.
const WINDOW_MIN: Nanos = Nanos::millis(400);
/// Shortest ramp, by eye: the first interval after start-up.
const RAMP_MIN: Nanos = Nanos::millis(100);

/// Stretches ramps and windows of the cases that run so that the plan meets the time budget; a search counts with the
/// trials that it usually takes.
pub(crate) fn stretch(cases: &mut [Case], ladders: &[Ladder], blocks: u32, budget: Nanos) -> Result<()> {
    let rungs: BTreeSet<usize> =
        ladders.iter().flat_map(|ladder| ladder.cells.iter().map(|cell| *cell as usize)).collect();
    let length = |case: &Case| case.trial.ramp.as_secs() + case.trial.window.as_secs();
    let (mut nominal, mut trials) = (0.0, 0u64);
    for (_, case) in cases.iter().enumerate().filter(|(i, case)| case.not_run.is_none() && !rungs.contains(i)) {
        trials += u64::from(blocks);
        nominal += length(case) * f64::from(blocks);
    }
    for ladder in ladders {
        trials += u64::from(ladder.usual_trials());
        nominal += ladder.trial_time(cases).as_secs() * f64::from(ladder.usual_trials());
    }
    let least = Nanos(trials * (RAMP_MIN.0 + WINDOW_MIN.0));
    let wanted = budget.0 as f64 * TRIAL_SHARE;
    if wanted < least.0 as f64 {
        let least = Nanos((least.0 as f64 / TRIAL_SHARE) as u64);
        let (en, ru) = (format::duration(least, stend_base::Lang::En), format::duration(least, stend_base::Lang::Ru));
        return Err(Error::new(
            Kind::Usage,
            say!("--time-budget is too small for this suite", "--time-budget слишком мал для этого набора"),
        )
        .hint(say!("give it at least {en}", "дайте ему не менее {ru}")));
    }
    let factor = wanted / 1e9 / nominal;
    let scaled = |span: Nanos, least: Nanos| Nanos(((span.0 as f64 * factor) as u64).max(least.0));
    for case in cases.iter_mut().filter(|case| case.not_run.is_none()) {
        case.trial.ramp = scaled(case.trial.ramp, RAMP_MIN);
        case.trial.window = scaled(case.trial.window, WINDOW_MIN);
    }
    Ok(())
}
