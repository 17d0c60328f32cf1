//! Fits the lengths of trials into a time budget. Pure.

use crate::ladder::Ladder;
use std::collections::BTreeSet;
use stend_base::text::{plural_en, plural_ru};
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
    let Nominal { fixed, spans } = Nominal::of(cases, ladders, blocks);
    let least = fixed + spans.iter().map(Span::least_secs).fold(0.0, |sum, secs| sum + secs);
    let wanted = budget.as_secs() * TRIAL_SHARE;
    if wanted < least {
        let [en, ru] = [Lang::En, Lang::Ru].map(|lang| format::duration(enough(least / TRIAL_SHARE), lang));
        let count = cases.iter().filter(|case| case.not_run.is_none()).count() as u64;
        let (cases, need) = (plural_en(count, "case", "cases"), plural_en(count, "needs", "need"));
        let cases_ru = plural_ru(count, "случая", "случаев", "случаев");
        return Err(Error::usage(say!(
            "--time-budget is too small: {count} {cases} {need} at least {en}",
            "--time-budget слишком мал: для {count} {cases_ru} нужно не менее {ru}"
        ))
        .hint(say!("raise it, or lower `--repeats`", "увеличьте его или уменьшите `--repeats`")));
    }
    let factor = factor(&spans, wanted - fixed);
    let scaled = |span: Nanos, least: Nanos| match span {
        // No ramp was asked for.
        Nanos(0) => span,
        span => Nanos(((span.0 as f64 * factor) as u64).max(least.0)),
    };
    for case in cases.iter_mut().filter(|case| case.not_run.is_none() && !is_fixed(case)) {
        case.trial.ramp = scaled(case.trial.ramp, RAMP_MIN);
        case.trial.window = scaled(case.trial.window, WINDOW_MIN);
    }
    Ok(())
}

/// By what spans are multiplied so that all of them take so many seconds. Those that would be shorter than they may keep their
/// least, and the others share what these leave.
fn factor(spans: &[Span], seconds: f64) -> f64 {
    let (mut free, mut left): (Vec<&Span>, f64) = (spans.iter().collect(), seconds);
    loop {
        let length = free.iter().fold(0.0, |sum, span| sum + span.secs());
        if length <= 0.0 {
            return 0.0;
        }
        let factor = left / length;
        let (short, rest): (Vec<&Span>, Vec<&Span>) =
            free.into_iter().partition(|span| span.length.0 as f64 * factor < span.least.0 as f64);
        if short.is_empty() {
            return factor;
        }
        left -= short.iter().fold(0.0, |sum, span| sum + span.least_secs());
        free = rest;
    }
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
    /// Ramps and windows of the others.
    spans: Vec<Span>,
}

/// A ramp or a window that may be stretched.
struct Span {
    length: Nanos,
    /// It may not be shorter.
    least: Nanos,
    /// So many trials have it.
    times: u32,
}

impl Span {
    fn secs(&self) -> f64 {
        self.length.as_secs() * f64::from(self.times)
    }

    fn least_secs(&self) -> f64 {
        self.least.as_secs() * f64::from(self.times)
    }
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
        let (ramp, window) = (case.trial.ramp, case.trial.window);
        if is_fixed(case) {
            self.fixed += (ramp.as_secs() + window.as_secs()) * f64::from(times);
            return;
        }
        let both = [(ramp, RAMP_MIN), (window, WINDOW_MIN)].into_iter().filter(|(length, _)| *length > Nanos(0));
        self.spans.extend(both.map(|(length, least)| Span { length, least, times }));
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
            error: --time-budget is too small: 2 cases need at least 14 s
            hint: raise it, or lower `--repeats`"#]]
        .assert_eq(&plan(13).unwrap_err().render(Lang::En));
    }

    #[test]
    fn what_cannot_be_shorter_is_taken_from_the_others_and_no_ramp_stays_none() {
        let stream = "{op: read, pattern: random, block_size: 4KiB}";
        let lengths = |ramps: [&str; 2], budget: u64| -> Vec<(u64, u64)> {
            let [one, other] = ramps;
            let text = format!(
                "suite: x\ncases:\n  - {{name: a, ramp: {one}, trial: 20s, streams: [{stream}]}}\n  \
                 - {{name: b, ramp: {other}, trial: 1s, streams: [{stream}]}}\nrepeats: {{blocks: 1}}\n"
            );
            let time_budget = Some(Nanos::millis(budget));
            let plan = Plan::new(&PlanInputs { time_budget, ..inputs(suite(&text, "s.yaml").unwrap()) }).unwrap();
            let ms = |span: Nanos| (span.0 + 500_000) / 1_000_000;
            plan.cases.iter().map(|case| (ms(case.trial.ramp), ms(case.trial.window))).collect()
        };
        // 4 s for trials: both ramps and the second window cannot be shorter, so the first window has what they leave.
        assert_eq!(lengths(["200ms", "200ms"], 5000), [(100, 3400), (100, 400)]);
        assert_eq!(lengths(["0s", "200ms"], 5000), [(0, 3500), (100, 400)]);
    }

    #[test]
    fn a_prober_is_decided_by_the_window_that_the_budget_leaves() {
        let probing = |budget: u64| {
            let text = "suite: x\nfill: {size: 64MiB}\ncases:\n  - {name: a, trial: 60s, streams: [{op: read, pattern: random, block_size: 4KiB, rate: 200/s}]}\nrepeats: {blocks: 1}\n";
            let time_budget = Some(Nanos::secs(budget));
            let plan = Plan::new(&PlanInputs { time_budget, ..inputs(suite(text, "s.yaml").unwrap()) }).unwrap();
            plan.cases[0].trial.probing
        };
        use stend_spec::prober::{NoProber, Probing};
        assert!(matches!(probing(100), Probing::By(_)), "{:?}", probing(100));
        assert_eq!(probing(5), Probing::None(NoProber::TooShort), "four seconds have four probes");
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
