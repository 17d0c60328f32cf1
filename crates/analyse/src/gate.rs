//! A comparison or a run held against a gate: what passes, what fails, and of what it cannot be told. Decides nothing that
//! the comparison has not said already.

mod limit;
mod missing;

pub use crate::compare::{
    Asked, Blocks, GateFinding, GatedCell, GatedGap, Limited, LimitedValue, Open, Outcome, UnfitLimit,
};
use crate::compare::{Cell, Comparison, Doubt, Metric, Verdict};
use crate::findings::Findings;
use stend_spec::gate::{Gate, GateRule, GateVerdict};
use stend_spec::workload::Op;

/// Holds one run against the limits of a gate.
pub fn of_run(gate: &Gate, findings: &Findings) -> GateFinding {
    let held = limit::hold(&gate.limits, &[(None, findings)]);
    let unapplied = gate.rules.len() as u32;
    GateFinding {
        name: gate.name.clone(),
        outcome: held.outcome(),
        limits: held.values,
        unfit: held.unfit,
        gaps: held.gaps,
        unapplied,
        cells: Vec::new(),
        idle: Vec::new(),
        free: 0,
    }
}

/// Holds a comparison against the rules of a gate, and what is compared with the baseline against its limits: `runs` as
/// they were compared, or the one whose arms were.
pub fn of_comparison(gate: &Gate, comparison: &Comparison, runs: &[&Findings]) -> GateFinding {
    let ours: Vec<(Option<usize>, &Findings)> = match runs {
        [one] => vec![(None, *one)],
        several => several.iter().enumerate().skip(1).map(|(run, findings)| (Some(run), *findings)).collect(),
    };
    let held = limit::hold(&gate.limits, &ours);
    let mut found = rules(gate, comparison, runs);
    found.outcome = found.outcome.max(held.outcome());
    found.gaps.splice(..0, held.gaps);
    GateFinding { limits: held.values, unfit: held.unfit, ..found }
}

fn rules(gate: &Gate, comparison: &Comparison, runs: &[&Findings]) -> GateFinding {
    let arms: Vec<String> = runs.iter().flat_map(|findings| findings.arms.iter().cloned()).collect();
    let mut used = vec![false; gate.rules.len()];
    let (mut cells, mut free) = (Vec::new(), 0);
    for cell in comparison.cells() {
        let op = op_of(cell.metric);
        // A rule is idle only if nothing is like it, not if earlier rules took all that is.
        let fitting: Vec<usize> = (0..used.len()).filter(|i| gate.rules[*i].is_about(cell.label, op, &arms)).collect();
        fitting.iter().for_each(|i| used[*i] = true);
        match fitting.first() {
            Some(first) => cells.push(gated(&cell, &gate.rules[*first])),
            None => free += 1,
        }
    }
    let idle: Vec<u32> = gate.rules.iter().zip(&used).filter(|(_, used)| !**used).map(|(rule, _)| rule.line).collect();
    let gaps = missing::gaps(gate, comparison, (runs, &arms));
    let outcomes = cells.iter().map(|cell| cell.outcome).chain(gaps.iter().map(|gap| gap.outcome));
    let worst = outcomes.max().unwrap_or(Outcome::Passed);
    let unused = if idle.is_empty() { Outcome::Passed } else { Outcome::Undecided };
    let (limits, unfit) = Default::default();
    let outcome = worst.max(unused);
    GateFinding { name: gate.name.clone(), outcome, limits, unfit, gaps, unapplied: 0, cells, idle, free }
}

fn op_of(metric: Metric) -> Option<Op> {
    match metric {
        Metric::Rate => None,
        Metric::P99(op) => Some(op),
    }
}

fn gated(cell: &Cell<'_>, rule: &GateRule) -> GatedCell {
    let found = outcome(cell, rule);
    let (outcome, undecided) = (found.counted_as(rule.inconclusive), found == Outcome::Undecided);
    let Cell { label, run, metric, stream, .. } = *cell;
    GatedCell { label: label.to_string(), run, metric, stream, rule: rule.clone(), outcome, undecided }
}

fn outcome(cell: &Cell<'_>, rule: &GateRule) -> Outcome {
    let judged = &cell.ratio.judged;
    match rule.loss {
        Some(loss) => within(cell, 1.0 - loss.as_share()),
        None if judged.verdict == Verdict::Inconclusive => Outcome::Undecided,
        None if rule.verdicts.is_empty() && judged.verdict == Verdict::Worse => Outcome::Failed,
        None if rule.verdicts.is_empty() => Outcome::Passed,
        None if rule.verdicts.iter().any(|good| is(*good, judged.verdict)) => Outcome::Passed,
        None => Outcome::Failed,
    }
}

/// Whether at least this part of the baseline's value is left: passed if the whole interval agrees, failed if all of it
/// says otherwise and the cell is called worse.
fn within(cell: &Cell<'_>, least: f64) -> Outcome {
    let judged = &cell.ratio.judged;
    let left_out = matches!(
        judged.doubt,
        Some(Doubt::Failed(_) | Doubt::OtherWorkload | Doubt::NoInterval | Doubt::TooFew { .. })
    );
    let Some((low, high)) = cell.ratio.interval.filter(|_| !left_out) else { return Outcome::Undecided };
    let (low, high) = match cell.metric {
        Metric::Rate => (low, high),
        Metric::P99(_) => (1.0 / high, 1.0 / low),
    };
    match () {
        () if low >= least => Outcome::Passed,
        () if high < least && judged.verdict == Verdict::Worse => Outcome::Failed,
        () => Outcome::Undecided,
    }
}

fn is(good: GateVerdict, verdict: Verdict) -> bool {
    let like = match good {
        GateVerdict::Better => Verdict::Better,
        GateVerdict::Worse => Verdict::Worse,
        GateVerdict::DiffersSlightly => Verdict::Differs,
        GateVerdict::Equivalent => Verdict::Equivalent,
    };
    like == verdict
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use crate::compare::{Options, compare_arms};
    use crate::fixture::{case, run_of};
    use stend_spec::arm::Switch;
    use stend_spec::workload::Sync;

    /// Two cases in two arms: the first falls to 90 % with a spread of a percent, the second stays.
    fn compared(blocks: u32) -> Comparison {
        let command = Switch::Command { enter: vec!["x".into()], leave: vec!["y".into()] };
        let cases = ["rand-read", "seq-read"].map(|name| case(name, 100, 32, Sync::None)).to_vec();
        let mut run = run_of(cases).arms(&[("old", Switch::None, "6.1"), ("new", command, "6.2")]);
        for block in 0..blocks {
            let noise = 1.0 + 0.005 * (f64::from(block % 3) - 1.0);
            for (index, rate) in [(0, 1.0), (1, 1.0), (2, 0.9 * noise), (3, noise)] {
                // No two trials are exactly alike, which would be copies (H05).
                let unlike = 1.0 + 1e-4 * f64::from(block) + 1e-5 * f64::from(index);
                run = run.trial(index).block(block).iops(1_000_000.0 * rate * unlike).done();
            }
        }
        let record = run.record();
        compare_arms(&record, &analyse(&record).unwrap(), &Options::default()).unwrap().unwrap()
    }

    fn held(rules: &str, blocks: u32) -> GateFinding {
        let parsed = stend_spec::parse::gate(&format!("gate: g\nrules:\n{rules}\n"), "g.yaml").unwrap();
        of_comparison(&parsed, &compared(blocks), &[])
    }

    fn outcome_of(rules: &str) -> Outcome {
        held(rules, 9).outcome
    }

    #[test]
    fn a_loss_is_held_against_the_whole_interval() {
        let rate = |loss: &str| outcome_of(&format!("  - {{metric: rate, loss: {loss}}}"));
        assert_eq!(rate("12%"), Outcome::Passed);
        assert_eq!(rate("10%"), Outcome::Undecided);
        assert_eq!(rate("5%"), Outcome::Failed);
        // In a closed loop nine tenths of the rate are ten ninths of the latency: a loss of a tenth, too.
        let latency = |loss: &str| outcome_of(&format!("  - {{metric: p99, loss: {loss}}}"));
        assert_eq!((latency("14%"), latency("5%")), (Outcome::Passed, Outcome::Failed));
    }

    #[test]
    fn without_a_loss_only_what_is_called_worse_fails() {
        assert_eq!(outcome_of("  - {cases: 'seq-*'}"), Outcome::Passed);
        assert_eq!(outcome_of("  - {cases: 'rand-*'}"), Outcome::Failed);
        let found = held("  - {cases: 'seq-*'}", 9);
        assert_eq!((found.cells.len(), found.free, found.idle.len()), (2, 2, 0));
    }

    /// A run of these cases, twelve blocks each: enough for a verdict on every cell.
    fn of_cases(names: &[&str]) -> stend_record::RunRecord {
        let cases: Vec<_> = names.iter().map(|name| case(name, 100, 32, Sync::None)).collect();
        let mut run = run_of(cases);
        for block in 0..12 {
            for index in 0..names.len() as u32 {
                let unlike = 1e-4 * f64::from(block) + 1e-5 * f64::from(index);
                run = run.trial(index).block(block).iops(1_000_000.0 * (1.0 + unlike)).done();
            }
        }
        run.record()
    }

    #[test]
    fn a_case_of_the_baseline_that_another_run_lacks_leaves_its_rule_undecided() {
        let records =
            [of_cases(&["rand-read", "seq-read"]), of_cases(&["rand-read"]), of_cases(&["rand-read", "seq-read"])];
        let found: Vec<Findings> = records.iter().map(|record| analyse(record).unwrap()).collect();
        let gate = |rules: &str, of: &[usize]| {
            let parsed = stend_spec::parse::gate(&format!("gate: g\nrules:\n{rules}\n"), "g.yaml").unwrap();
            let runs: Vec<_> = of.iter().map(|run| (&records[*run], &found[*run])).collect();
            let findings: Vec<&Findings> = runs.iter().map(|(_, findings)| *findings).collect();
            of_comparison(&parsed, &crate::compare(&runs, &Options::default()), &findings)
        };
        let gaps = |found: &GateFinding| -> Vec<(Option<usize>, String)> {
            found.gaps.iter().map(|gap| (gap.run, gap.label.clone())).collect()
        };
        let lacks = gate("  - {loss: 90%}", &[0, 1]);
        assert_eq!((lacks.outcome, gaps(&lacks)), (Outcome::Undecided, vec![(Some(1), "seq-read".to_string())]));
        let one_of_two = gate("  - {loss: 90%}", &[0, 1, 2]);
        assert_eq!((one_of_two.outcome, gaps(&one_of_two).len()), (Outcome::Undecided, 1), "the third run has it");
        assert_eq!(gate("  - {loss: 90%}", &[0, 2]).outcome, Outcome::Passed);
        assert_eq!(
            gate("  - {loss: 90%}", &[1, 0]).outcome,
            Outcome::Passed,
            "what only the other run has is not asked for"
        );
        assert_eq!(gate("  - {cases: 'rand-*', loss: 90%}", &[0, 1]).outcome, Outcome::Passed, "no rule is about it");
        assert_eq!(gate("  - {loss: 90%, inconclusive: fail}", &[0, 1]).outcome, Outcome::Failed);
    }

    fn of_runs(rules: &str, records: &[stend_record::RunRecord]) -> GateFinding {
        let parsed = stend_spec::parse::gate(&format!("gate: g\nrules:\n{rules}\n"), "g.yaml").unwrap();
        let found: Vec<Findings> = records.iter().map(|record| analyse(record).unwrap()).collect();
        let runs: Vec<_> = records.iter().zip(&found).collect();
        let findings: Vec<&Findings> = found.iter().collect();
        of_comparison(&parsed, &crate::compare(&runs, &Options::default()), &findings)
    }

    fn told(found: &GateFinding) -> Vec<(Option<usize>, &str, &str)> {
        found.gaps.iter().map(|gap| (gap.run, gap.label.as_str(), gap.reason.en.as_str())).collect()
    }

    #[test]
    fn rates_that_one_search_tried_and_another_did_not_are_no_gaps() {
        let searched = crate::fixture_rounds::searched_case("oltp");
        let tried = |rung: u32| run_of(vec![searched.clone()]).trial(0).done().trial(rung).done().record();
        for runs in [vec![tried(1), tried(2)], vec![tried(1), tried(1), tried(2)]] {
            assert_eq!(told(&of_runs("  - {loss: 90%}", &runs)), []);
        }
        let none = run_of(vec![searched])
            .trial(0)
            .change(|outcome, _| outcome.status = stend_record::TrialStatus::Failed)
            .done()
            .record();
        let unmeasured = analyse(&none).unwrap().unmeasured;
        assert_eq!(unmeasured.iter().map(|case| case.label.as_str()).collect::<Vec<_>>(), ["oltp"], "{unmeasured:?}");
    }

    #[test]
    fn a_case_of_which_no_trial_counts_and_an_arm_that_was_never_entered_are_gaps() {
        let mut failed = of_cases(&["rand-read", "seq-read"]);
        let second = failed.trials.iter_mut().filter(|trial| trial.case == 1);
        second.filter_map(|trial| trial.outcome.as_mut()).for_each(|outcome| {
            outcome.status = stend_record::TrialStatus::Failed;
        });
        let found = of_runs("  - {metric: p99, loss: 90%}", &[of_cases(&["rand-read", "seq-read"]), failed]);
        assert_eq!(told(&found), [(Some(1), "seq-read", "no trial of it counts")]);
        assert_eq!(found.outcome, Outcome::Undecided);

        let command = |enter: &str| Switch::Command { enter: vec![enter.into()], leave: vec!["y".into()] };
        let arms = [("a", Switch::None, "6.1"), ("b", command("x"), "6.2"), ("c", command("z"), "6.3")];
        let mut run = run_of(vec![case("rand-read", 100, 32, Sync::None)]).arms(&arms);
        for block in 0..12 {
            for index in 0..2 {
                let unlike = 1e-4 * f64::from(block) + 1e-5 * f64::from(index);
                run = run.trial(index).block(block).iops(1_000_000.0 * (1.0 + unlike)).done();
            }
        }
        let mut record = run.record();
        record.events.retain(|event| !matches!(event.kind, stend_record::EventKind::Arm { arm: 2, .. }));
        let findings = analyse(&record).unwrap();
        let compared = compare_arms(&record, &findings, &Options::default()).unwrap().unwrap();
        let gate = stend_spec::parse::gate("gate: g\nrules:\n  - {loss: 90%}\n", "g.yaml").unwrap();
        let found = of_comparison(&gate, &compared, &[&findings]);
        assert_eq!(told(&found), [(None, "c: rand-read", "the run ended before its turn")]);
        assert_eq!(found.outcome, Outcome::Undecided);
    }

    #[test]
    fn verdicts_that_are_asked_for_must_show() {
        assert_eq!(outcome_of("  - {cases: 'seq-*', verdicts: [equivalent]}"), Outcome::Passed);
        assert_eq!(outcome_of("  - {cases: 'seq-*', verdicts: [better]}"), Outcome::Failed);
        assert_eq!(outcome_of("  - {cases: 'rand-*', verdicts: [worse, equivalent]}"), Outcome::Passed);
    }

    #[test]
    fn what_cannot_be_told_counts_as_the_rule_says() {
        let few = |rest: &str| held(&format!("  - {{cases: 'rand-*'{rest}}}"), 6).outcome;
        assert_eq!(few(""), Outcome::Undecided);
        assert_eq!(few(", loss: 5%"), Outcome::Undecided);
        assert_eq!(few(", inconclusive: pass"), Outcome::Passed);
        assert_eq!(few(", inconclusive: fail"), Outcome::Failed);
    }

    #[test]
    fn the_first_rule_decides_and_one_that_holds_nothing_is_no_pass() {
        let found = held("  - {cases: 'rand-*', loss: 20%}\n  - {}\n  - {cases: 'seq-*'}\n  - {cases: oltp}", 9);
        assert_eq!(found.idle, [6], "the third rule has cells, though the second takes them");
        assert_eq!(found.outcome, Outcome::Undecided);
        assert!(found.cells.iter().all(|cell| cell.outcome == Outcome::Passed), "{found:?}");
        assert_eq!(found.cells.iter().map(|cell| cell.rule.line).collect::<Vec<_>>(), [3, 3, 4, 4]);
    }
}
