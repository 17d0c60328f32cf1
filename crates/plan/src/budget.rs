//! Fits the lengths of trials into a time budget. Pure.

use crate::ladder::Ladder;
use std::collections::BTreeSet;
use stend_base::{Error, Lang, Nanos, Result, format, say};
use stend_spec::case::Case;

/// Part of a time budget that goes to trials; the rest is left for the fill and the steps between.
const TRIAL_SHARE: f64 = 0.8;
/// Shortest window a time budget may shrink a trial to, by eye: four counter intervals.
const WINDOW_MIN: Nanos = Nanos::millis(400);
/// Shortest ramp, by eye: the first interval after start-up.
const RAMP_MIN: Nanos = Nanos::millis(100);

/// Stretches ramps and windows of the cases that run so that the plan meets the time budget; a search counts with the
/// trials that it usually takes, rounds with all that there may be. A case with a schedule, a replay at a pace or events keeps its
/// length: what happens in it is at times of its own.
pub(crate) fn stretch(cases: &mut [Case], ladders: &[Ladder], blocks: u32, budget: Nanos) -> Result<()> {
    let Nominal { fixed, free, trials } = Nominal::of(cases, ladders, blocks);
    let least = fixed + Nanos(trials * (RAMP_MIN.0 + WINDOW_MIN.0)).as_secs();
    let wanted = budget.as_secs() * TRIAL_SHARE;
    if wanted < least {
        let [en, ru] = [Lang::En, Lang::Ru].map(|lang| format::duration(enough(least / TRIAL_SHARE), lang));
        return Err(Error::usage(say!(
            "--time-budget is too small for this suite",
            "--time-budget слишком мал для этого набора"
        ))
        .hint(say!("give it at least {en}", "дайте ему не менее {ru}")));
    }
    let factor = (wanted - fixed) / free;
    let scaled = |span: Nanos, least: Nanos| Nanos(((span.0 as f64 * factor) as u64).max(least.0));
    for case in cases.iter_mut().filter(|case| case.not_run.is_none() && !is_fixed(case)) {
        case.trial.ramp = scaled(case.trial.ramp, RAMP_MIN);
        case.trial.window = scaled(case.trial.window, WINDOW_MIN);
    }
    Ok(())
}

/// So many seconds, rounded up to what [`format::duration`] shows of them, so that the typed value is enough.
fn enough(seconds: f64) -> Nanos {
    let whole = seconds.ceil() as u64;
    Nanos::secs(if whole < 3600 { whole } else { whole.next_multiple_of(60) })
}

/// What a plan takes as it was asked for.
#[derive(Default)]
struct Nominal {
    /// Seconds of the trials that keep their length.
    fixed: f64,
    /// Seconds of the others.
    free: f64,
    /// How many those others are.
    trials: u64,
}

impl Nominal {
    fn of(cases: &[Case], ladders: &[Ladder], blocks: u32) -> Nominal {
        let rungs: BTreeSet<usize> =
            ladders.iter().flat_map(|ladder| ladder.cells.iter().map(|cell| *cell as usize)).collect();
        let mut nominal = Nominal::default();
        for (_, case) in cases.iter().enumerate().filter(|(i, case)| case.not_run.is_none() && !rungs.contains(i)) {
            nominal.add(case, blocks);
            nominal.fixed += case.steady.map_or(0.0, |steady| steady.longest().as_secs());
        }
        // Rungs of one ladder differ in the rate alone.
        for ladder in ladders {
            let first = ladder.cells.first().and_then(|cell| cases.get(*cell as usize));
            first.into_iter().for_each(|case| nominal.add(case, ladder.usual_trials()));
        }
        nominal
    }

    fn add(&mut self, case: &Case, times: u32) {
        let length = (case.trial.ramp.as_secs() + case.trial.window.as_secs()) * f64::from(times);
        if is_fixed(case) {
            self.fixed += length;
        } else {
            self.free += length;
            self.trials += u64::from(times);
        }
    }
}

/// Whether anything happens in a case at times that the suite or a trace names: events, steps, swings and bursts of a rate.
fn is_fixed(case: &Case) -> bool {
    if case.trial.app.is_some() || !case.faults.is_empty() {
        return true;
    }
    case.trial.streams.iter().any(|stream| {
        let changes = stream.rate.as_ref().is_some_and(|rate| rate.level().is_none());
        changes || stream.replay.is_some() && stream.is_open()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::inputs;
    use crate::{Plan, PlanInputs};
    use expect_test::expect;
    use stend_spec::parse::suite;

    /// One block of a case with 4 s of plain load, and of one with 10 s whose last step is at 9 s.
    fn plan(budget: u64) -> Result<Plan> {
        let stream = "op: read, pattern: random, block_size: 4KiB";
        let steps = "{schedule: [{at: 0s, rate: 5/s}, {at: 9s, rate: 6/s}]}";
        let text = format!(
            "suite: x\ncases:\n  - {{name: plain, streams: [{{{stream}}}]}}\n  \
             - {{name: steps, trial: 9s, streams: [{{{stream}, rate: {steps}}}]}}\nrepeats: {{blocks: 1}}\n"
        );
        let time_budget = Some(Nanos::secs(budget));
        Plan::new(&PlanInputs { time_budget, ..inputs(suite(&text, "s.yaml").unwrap()) })
    }

    #[test]
    fn a_budget_never_cuts_a_schedule() {
        let lengths = |budget| -> Vec<u64> {
            let cases = plan(budget).unwrap().cases;
            cases.iter().map(|case| (case.trial.ramp.0 + case.trial.window.0) / 1_000_000).collect()
        };
        assert!(plan(14).is_ok(), "what the hint says is enough");
        // 80 % of the budget, less the 10 s of the schedule.
        assert_eq!(lengths(15), [2000, 10_000]);
        assert_eq!(lengths(100), [70_000, 10_000]);
        expect![[r#"
            error: --time-budget is too small for this suite
            hint: give it at least 14 s"#]]
        .assert_eq(&plan(13).unwrap_err().render(Lang::En));
    }

    /// Milliseconds of a case of 10 s with these keys, on a budget of 15 s beside 4 s of plain load.
    fn length(events: &str, stream: &str) -> u64 {
        let plain = "op: read, pattern: random, block_size: 4KiB";
        let text = format!(
            "suite: x\ncases:\n  - {{name: plain, streams: [{{{plain}}}]}}\n  \
             - {{name: own, trial: 9s{events}, streams: [{{{plain}{stream}}}]}}\nrepeats: {{blocks: 1}}\n"
        );
        let time_budget = Some(Nanos::secs(15));
        let plan = Plan::new(&PlanInputs { time_budget, ..inputs(suite(&text, "s.yaml").unwrap()) }).unwrap();
        (plan.cases[1].trial.ramp.0 + plan.cases[1].trial.window.0) / 1_000_000
    }

    #[test]
    fn a_budget_never_ends_a_trial_before_its_events() {
        assert_eq!(length(", events: [{at: 5s, for: 2s, do: cpu.offline, cpu: 1}]", ""), 10_000);
        assert!(length("", "") < 10_000, "without events it is shorter");
    }

    #[test]
    fn a_budget_never_cuts_a_swing_or_a_burst_of_a_single_step() {
        let shape =
            |shape: &str| length("", &format!(", rate: {{schedule: [{{at: 0s, rate: 50/s, shape: {shape}}}]}}"));
        assert_eq!(shape("{sine: {amplitude: 20/s, period: 4s}}"), 10_000);
        assert_eq!(shape("{burst: {rate: 90/s, every: 4s, lasting: 1s}}"), 10_000);
        assert!(length("", ", rate: 50/s") < 10_000, "one rate for ever has no times of its own");
    }

    #[test]
    fn the_budget_that_an_error_names_is_enough_when_it_is_typed_as_it_was_shown() {
        let shown = |seconds| format::duration(enough(seconds), Lang::En);
        assert_eq!(shown(3599.2), "1 h 00 min");
        assert_eq!(shown(3600.1), "1 h 01 min");
        assert_eq!(shown(7259.9), "2 h 01 min");
        assert_eq!(shown(61.2), "1 min 02 s");
    }
}
