//! Limits for the values of a run: met if the whole 95 % interval is on the right side, missed if all of it is on the wrong one.

use crate::compare::{Asked, Blocks, GatedGap, Limited, LimitedValue, Open, Outcome, UnfitLimit};
use crate::findings::{CaseFinding, CheckId, CheckStatus, Estimate, Findings, OpFinding, Quantile, QuantileValue};
use crate::limits::TRIALS_PUBLISHABLE;
use stend_base::{Millionths, Say, say};
use stend_spec::gate::{Bound, GateLimit, Side};
use stend_spec::keys::repeats::BLOCKS;
use stend_spec::parse::nearest;
use stend_spec::workload::Op;
use stend_stats::{levels, t_interval};

/// What limits hold.
#[derive(Default)]
pub(super) struct Held {
    /// Every value that a limit fits, in the order of the limits.
    pub values: Vec<LimitedValue>,
    /// The limits that fit none.
    pub unfit: Vec<UnfitLimit>,
    /// Cases without a value that the other limits are about.
    pub gaps: Vec<GatedGap>,
}

impl Held {
    /// What all of them together say.
    pub fn outcome(&self) -> Outcome {
        let values = self.values.iter().map(|value| value.outcome);
        let worst = values.chain(self.gaps.iter().map(|gap| gap.outcome)).max().unwrap_or(Outcome::Passed);
        worst.max(if self.unfit.is_empty() { Outcome::Passed } else { Outcome::Undecided })
    }
}

/// Holds runs against limits. A case that a limit is about needs a value, whatever kept it from being measured: else a gate would pass
/// where half of the suite did not run.
pub(super) fn hold(limits: &[GateLimit], runs: &[(Option<usize>, &Findings)]) -> Held {
    let mut held = Held::default();
    for limit in limits {
        let (mut values, mut gaps, mut fits) = (Vec::new(), Vec::new(), false);
        for (run, findings) in runs {
            let cases = findings.cases.iter().filter(|case| limit.is_about(&case.label, &findings.arms));
            let own: Vec<LimitedValue> = cases.flat_map(|case| of_case(limit, *run, case)).collect();
            let lacking = without_value(limit, *run, findings);
            if own.is_empty() && lacking.is_empty() {
                let reason = say!("nothing in the run fits it", "в прогоне ничего ему не подходит");
                gaps.push(gap(limit, *run, (&limit.cases, reason)));
            }
            fits |= !own.is_empty() || !lacking.is_empty();
            values.extend(own);
            gaps.extend(lacking);
        }
        match fits {
            true => held.gaps.extend(gaps),
            false => held.unfit.push(UnfitLimit { limit: limit.clone(), near: near(limit, runs) }),
        }
        held.values.extend(values);
    }
    held
}

/// The cases of a run that a limit is about, and of which nothing was measured.
fn without_value(limit: &GateLimit, run: Option<usize>, findings: &Findings) -> Vec<GatedGap> {
    let about = findings
        .unmeasured
        .iter()
        .filter(|case| limit.is_about(&case.label, &findings.arms) && limit.op.is_none_or(|op| case.ops.contains(&op)));
    about.map(|case| gap(limit, run, (&case.label, case.reason.clone()))).collect()
}

fn gap(limit: &GateLimit, run: Option<usize>, (label, reason): (&str, Say)) -> GatedGap {
    let outcome = Outcome::Undecided.counted_as(limit.inconclusive);
    GatedGap { run, label: label.to_string(), asked: Asked::Limit(limit.clone()), reason, outcome }
}

/// A case with a name like that of the limit, if no case has it.
fn near(limit: &GateLimit, runs: &[(Option<usize>, &Findings)]) -> Option<String> {
    let cases = || runs.iter().flat_map(|(_, findings)| &findings.cases).map(|case| case.label.as_str());
    let names = cases().map(|label| label.split(", ").next().unwrap_or(label));
    let about = |(_, findings): &(Option<usize>, &Findings)| {
        let labels = findings.cases.iter().map(|case| &case.label);
        labels
            .chain(findings.unmeasured.iter().map(|case| &case.label))
            .any(|label| limit.is_about(label, &findings.arms))
    };
    match runs.iter().any(about) {
        true => None,
        false => nearest(&limit.cases, cases().chain(names)).map(str::to_string),
    }
}

fn of_case<'a>(
    limit: &'a GateLimit,
    run: Option<usize>,
    case: &'a CaseFinding,
) -> impl Iterator<Item = LimitedValue> + 'a {
    let ops = case.ops.iter().filter(|op| limit.op.is_none_or(|asked| asked == op.op));
    let part = |op: &OpFinding| Some((op.stream, op.op));
    let values: Vec<(Option<(u16, Op)>, Limited)> = match (limit.bound, limit.op) {
        (Bound::Iops(_), None) => vec![(None, Limited::Rate(case.total.iops.clone()))],
        (Bound::Throughput(_), None) => vec![(None, Limited::Rate(case.total.throughput.clone()))],
        (Bound::Iops(_), Some(_)) => ops.map(|op| (part(op), Limited::Rate(op.rates.iops.clone()))).collect(),
        (Bound::Throughput(_), Some(_)) => {
            ops.map(|op| (part(op), Limited::Rate(op.rates.throughput.clone()))).collect()
        }
        (Bound::Latency(q, _), _) => {
            ops.filter_map(|op| Some((part(op), Limited::Latency(quantile(op, q)?.clone())))).collect()
        }
    };
    let streams = case.ops.iter().any(|op| op.stream > 0);
    // One without a trial that counts is a gap, not a value of nothing.
    let values = if case.trials > 0 { values } else { Vec::new() };
    values.into_iter().map(move |(part, value)| {
        let (outcome, open) = judge(limit, case, &value);
        let (label, outcome) = (case.label.clone(), outcome.counted_as(limit.inconclusive));
        LimitedValue { run, label, part, streams, value, limit: limit.clone(), outcome, open }
    })
}

fn quantile(op: &OpFinding, q: Millionths) -> Option<&Quantile> {
    // Shares are sums of tenths of a percent: they are the same if they are as many millionths.
    op.quantiles.iter().find(|of| (of.q.0 * 1e6).round() == f64::from(q.0))
}

fn judge(limit: &GateLimit, case: &CaseFinding, value: &Limited) -> (Outcome, Option<Open>) {
    let bound = match limit.bound {
        Bound::Iops(rate) => rate.as_iops(),
        Bound::Throughput(bytes) => bytes.0 as f64,
        Bound::Latency(_, latency) => latency.0 as f64,
    };
    // I/Os whose end nobody saw took at least so long: no more of them could bring the value down.
    let longer = match value {
        Limited::Latency(Quantile { value: QuantileValue::Above(least), .. }) => least.0 as f64 >= bound,
        Limited::Latency(_) | Limited::Rate(_) => false,
    };
    if longer && matches!(limit.side, Side::Below | Side::AtMost) {
        return (Outcome::Failed, None);
    }
    let failed = case.checks.iter().filter(|check| check.status == CheckStatus::Fail).map(|check| check.id);
    let failed: Vec<CheckId> = failed.collect();
    let open = |open| (Outcome::Undecided, Some(open));
    if !failed.is_empty() {
        return open(Open::Failed(failed));
    }
    let have = case.trials;
    match interval(value) {
        Err(Missing::Printed) => open(Open::Printed),
        Err(Missing::Interval(need)) => open(Open::NoInterval(Blocks { have, need: need(have) })),
        Ok((_, interval)) if holds(limit.side, bound, interval) => (Outcome::Passed, None),
        Ok((_, interval)) if holds(other(limit.side), bound, interval) => (Outcome::Failed, None),
        Ok((at, interval)) => open(Open::BothSides(Blocks { have, need: needed(have, at, interval, bound) })),
    }
}

enum Missing {
    Printed,
    /// With the blocks that would give one.
    Interval(Box<dyn Fn(u32) -> Option<u32>>),
}

/// A value with its interval.
fn interval(value: &Limited) -> Result<(f64, (f64, f64)), Missing> {
    let few = || Missing::Interval(Box::new(|have| Some(TRIALS_PUBLISHABLE.max(have + 1).next_multiple_of(2))));
    match value {
        Limited::Rate(Estimate { value, interval, .. }) => interval.map(|interval| (*value, interval)).ok_or_else(few),
        Limited::Latency(Quantile { value: QuantileValue::NotEnough { have, need }, .. }) => {
            let (have, need) = (*have, *need);
            Err(Missing::Interval(Box::new(move |trials| more(trials, have, need))))
        }
        Limited::Latency(Quantile { value: QuantileValue::Printed(_), .. }) => Err(Missing::Printed),
        Limited::Latency(Quantile { value, interval, .. }) => {
            let interval = interval.map(|(low, high)| (low.0 as f64, high.0 as f64));
            let at = value.single().map(|at| at.0 as f64);
            at.zip(interval).ok_or_else(few)
        }
    }
}

/// Trials for so many I/Os, if `trials` had `have`; at most as many as a suite may have.
fn more(trials: u32, have: u64, need: u64) -> Option<u32> {
    let trials = u64::from(trials).checked_mul(need)?.div_ceil(have.max(1)).next_multiple_of(2);
    u32::try_from(trials).ok().filter(|trials| have > 0 && *trials <= BLOCKS.most)
}

/// Trials with which the end of the interval that reaches over the bound would stop short of it.
fn needed(have: u32, at: f64, (low, high): (f64, f64), bound: f64) -> Option<u32> {
    if have < 2 {
        return Some(TRIALS_PUBLISHABLE);
    }
    // The lower end of a rate is cut at 0, the upper one is not.
    let half = if at < bound || low <= 0.0 { high - at } else { at - low };
    // The interval is ± t · s / √n; s stays.
    let deviation = half / t_interval::quantile_975(have as usize - 1);
    let variance = f64::from(have) * deviation * deviation;
    let need = levels::needed(variance, (bound - at).abs(), BLOCKS.most as usize)? as u32;
    Some(need.max(have + 1).next_multiple_of(2))
}

fn holds(side: Side, bound: f64, (low, high): (f64, f64)) -> bool {
    match side {
        Side::Below => high < bound,
        Side::AtMost => high <= bound,
        Side::Above => low > bound,
        Side::AtLeast => low >= bound,
    }
}

fn other(side: Side) -> Side {
    match side {
        Side::Below => Side::AtLeast,
        Side::AtMost => Side::Above,
        Side::Above => Side::AtMost,
        Side::AtLeast => Side::Below,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use crate::fixture::{case, run_of};
    use crate::gate::{GateFinding, of_run};
    use stend_base::Nanos;
    use stend_spec::gate::{Gate, Undecided};
    use stend_spec::parse::expect;
    use stend_spec::workload::Sync;

    /// Two cases of closed loops, about 1,000,000 I/Os per second, in so many blocks that spread by one percent.
    fn found(blocks: u32) -> Findings {
        let cases = ["rand-read", "seq-read"].map(|name| case(name, 100, 32, Sync::None)).to_vec();
        let mut run = run_of(cases);
        for block in 0..blocks {
            for index in 0..2 {
                let noise = 1.0 + 0.01 * (f64::from(block % 3) - 1.0);
                // No two trials are exactly alike, which would be copies (H05).
                let unlike = 1.0 + 1.37e-4 * f64::from(block) + 1.9e-5 * f64::from(index);
                run = run.trial(index).block(block).iops(1_000_000.0 * noise * unlike).done();
            }
        }
        analyse(&run.record()).unwrap()
    }

    fn held(text: &str, findings: &Findings) -> GateFinding {
        let limits = vec![expect(text).unwrap()];
        of_run(&Gate { name: Some("g".into()), margin: None, rules: Vec::new(), limits }, findings)
    }

    #[test]
    fn a_limit_is_met_if_the_whole_interval_is_inside_missed_if_it_is_outside_and_else_open() {
        let six = found(6);
        for (text, outcome) in [
            ("rand-read iops >= 950k", Outcome::Passed),
            ("rand-read iops > 1050k", Outcome::Failed),
            ("rand-read iops > 1000k", Outcome::Undecided),
            ("rand-read iops < 1050k", Outcome::Passed),
            ("rand-read iops <= 950k", Outcome::Failed),
            ("iops < 1000k", Outcome::Undecided),
            ("p99 < 1s", Outcome::Passed),
            ("p99 read < 1us", Outcome::Failed),
            ("p50 > 1us", Outcome::Passed),
            ("throughput > 1MB/s", Outcome::Passed),
        ] {
            assert_eq!(held(text, &six).outcome, outcome, "{text}: {:?}", held(text, &six));
        }
        assert_eq!(held("iops > 1", &six).limits.len(), 2, "every case that it fits");
    }

    #[test]
    fn what_is_open_says_how_many_blocks_would_tell_and_so_many_do() {
        let open = |blocks, text| held(text, &found(blocks)).limits[0].open.clone();
        let Some(Open::BothSides(Blocks { have: 6, need: Some(need) })) = open(6, "rand-read iops > 995k") else {
            panic!("{:?}", open(6, "rand-read iops > 995k"))
        };
        assert!((10..60).contains(&need), "{need}");
        assert_eq!(held("rand-read iops > 995k", &found(need)).outcome, Outcome::Passed);
        assert!(matches!(open(1, "rand-read p99.9 < 1ns"), Some(Open::NoInterval(_)) | None), "a single trial");
        let none = held("rand-read p99 < 1s", &found(0));
        assert_eq!(
            (none.outcome, none.unfit.len(), none.gaps.len()),
            (Outcome::Undecided, 0, 1),
            "nothing was measured"
        );
    }

    #[test]
    fn an_interval_that_is_cut_at_zero_is_as_wide_as_its_upper_half() {
        assert_eq!(needed(4, 100.0, (0.0, 300.0), 50.0), needed(4, 100.0, (50.0, 300.0), 150.0));
        assert!(needed(4, 100.0, (0.0, 300.0), 50.0) > needed(4, 100.0, (20.0, 180.0), 50.0));
    }

    #[test]
    fn a_failed_check_leaves_a_value_open_whatever_it_is() {
        let mut six = found(6);
        let check = six.cases[0].checks.first_mut().expect("there are checks");
        check.status = CheckStatus::Fail;
        let id = check.id;
        let held = held("rand-read iops > 1", &six);
        assert_eq!((held.outcome, &held.limits[0].open), (Outcome::Undecided, &Some(Open::Failed(vec![id]))));
        // A drive that hangs has missed it, whatever else is wrong.
        let p99 = &mut six.cases[0].ops[0].quantiles[1];
        (p99.value, p99.interval) = (QuantileValue::Above(Nanos::secs(30)), None);
        let held = self::held("rand-read p99 < 5ms", &six);
        assert_eq!((held.outcome, &held.limits[0].open), (Outcome::Failed, &None));
    }

    #[test]
    fn ios_whose_end_nobody_saw_miss_a_limit_that_they_are_above() {
        let mut six = found(6);
        let p99 = &mut six.cases[0].ops[0].quantiles[1];
        (p99.value, p99.interval) = (QuantileValue::Above(Nanos::secs(30)), None);
        assert_eq!(held("rand-read p99 < 5ms", &six).outcome, Outcome::Failed);
        assert_eq!(held("rand-read p99 < 60s", &six).outcome, Outcome::Undecided);
    }

    #[test]
    fn a_limit_that_fits_nothing_does_not_pass_and_names_a_case_like_it() {
        let six = found(6);
        let near = |text: &str| held(text, &six).unfit[0].near.clone();
        assert_eq!(near("rnd-read p99 < 5ms"), Some("rand-read".to_string()));
        assert_eq!(near("oltp p99 < 5ms"), None);
        assert_eq!(near("rand-read p99 write < 5ms"), None, "the case is right, and it has no writes");
        assert_eq!(held("oltp p99 < 5ms", &six).outcome, Outcome::Undecided);
    }

    /// Both cases are planned, and the second one was not measured.
    fn half() -> Findings {
        let cases = ["rand-read", "seq-read"].map(|name| case(name, 100, 32, Sync::None)).to_vec();
        let mut run = run_of(cases);
        for block in 0..6 {
            run = run.trial(0).block(block).iops(1_000_000.0 + 1_370.0 * f64::from(block)).done();
        }
        analyse(&run.record()).unwrap()
    }

    #[test]
    fn a_case_that_was_not_measured_leaves_a_limit_about_it_undecided() {
        let half = half();
        for text in ["iops >= 1", "p99 < 1s", "p99 read < 1s"] {
            let found = held(text, &half);
            assert_eq!((found.outcome, found.limits.len()), (Outcome::Undecided, 1), "{text}");
            let [gap] = &found.gaps[..] else { panic!("{found:?}") };
            assert_eq!((gap.label.as_str(), gap.reason.en.as_str()), ("seq-read", "the run ended before its turn"));
        }
        assert_eq!(held("rand-read p99 < 1s", &half).outcome, Outcome::Passed, "the limit is about another case");
        // A limit about nothing else has the reason, too.
        let alone = held("seq-read p99 < 1s", &half);
        assert_eq!((alone.outcome, alone.unfit.len(), alone.limits.len()), (Outcome::Undecided, 0, 0));
        assert_eq!(alone.gaps[0].reason.en, "the run ended before its turn");
        let failed = run_of(["rand-read", "seq-read"].map(|name| case(name, 100, 32, Sync::None)).to_vec())
            .trial(0)
            .done()
            .trial(1)
            .change(|outcome, _| outcome.status = stend_record::TrialStatus::Failed)
            .done()
            .record();
        let found = held("p99 < 1s", &analyse(&failed).unwrap());
        assert_eq!(found.gaps.iter().map(|gap| gap.label.as_str()).collect::<Vec<_>>(), ["seq-read"]);
    }

    #[test]
    fn a_limit_is_not_about_a_case_without_its_operation_and_counts_a_gap_as_the_gate_says() {
        let half = half();
        assert_eq!(held("rand-read p99 write < 1s", &half).gaps, []);
        for text in ["iops >= 1", "seq-read iops >= 1"] {
            let of = |inconclusive| {
                let limits = vec![GateLimit { inconclusive, ..expect(text).unwrap() }];
                of_run(&Gate { name: None, margin: None, rules: Vec::new(), limits }, &half).outcome
            };
            assert_eq!([Undecided::Pass, Undecided::Fail].map(of), [Outcome::Passed, Outcome::Failed], "{text}");
        }
    }

    #[test]
    fn a_limit_that_names_a_case_is_about_it_in_every_arm() {
        let command = stend_spec::arm::Switch::Command { enter: vec!["x".into()], leave: vec!["y".into()] };
        let mut run = run_of(vec![case("rand-read", 100, 32, Sync::None)]);
        run = run.arms(&[("old", stend_spec::arm::Switch::None, "6.1"), ("new", command, "6.2")]);
        for block in 0..6 {
            for index in 0..2 {
                let unlike = 1.37e-4 * f64::from(block) + 1.9e-5 * f64::from(index);
                run = run.trial(index).block(block).iops(1_000_000.0 * (1.0 + unlike)).done();
            }
        }
        let findings = analyse(&run.record()).unwrap();
        let labels =
            |text: &str| -> Vec<String> { held(text, &findings).limits.into_iter().map(|value| value.label).collect() };
        assert_eq!(labels("rand-read iops > 1"), ["old: rand-read", "new: rand-read"]);
        assert_eq!(labels("new: rand-read iops > 1"), ["new: rand-read"]);
    }

    #[test]
    fn what_cannot_be_told_counts_as_the_gate_says() {
        let six = found(6);
        let counted = |inconclusive| {
            let limits = vec![GateLimit { inconclusive, ..expect("rand-read iops > 1000k").unwrap() }];
            of_run(&Gate { name: Some("g".into()), margin: None, rules: Vec::new(), limits }, &six).outcome
        };
        assert_eq!(
            [Undecided::Pass, Undecided::Fail, Undecided::Undecided].map(counted),
            [Outcome::Passed, Outcome::Failed, Outcome::Undecided]
        );
    }
}
