//! What an event did to the load that it came upon: how long nothing moved, how deep the rate fell, when it was back, what was
//! lost until then (method §6.3). The same rule for every event; what a trial is too short for is printed as "more than".

mod cuts;
mod recovery;
mod words;

use crate::charts;
use crate::findings::{CaseFinding, FaultFinding, FaultTrial};
use crate::series::{self, INTERVAL};
use crate::trials::CaseTrials;
pub use cuts::ended_by_cut;
pub use recovery::Recovery;
use stend_base::{Histogram, Nanos, Say, Share};
use stend_plan::Plan;
use stend_record::{EventKind, FaultMoment, RunRecord, TrialOutcome, TrialRecord};
use stend_spec::fault::{Act, Fault};
use stend_spec::workload::Op;
pub(crate) use words::verdict;
pub use words::{beyond, seconds};

/// Findings of the cases that have events, in the order of the plan.
pub(crate) fn findings(run: &RunRecord, plan: &Plan) -> Vec<FaultFinding> {
    let with = (0u32..).zip(&plan.cases).filter(|(_, case)| !case.faults.is_empty());
    let found = with.map(|(index, case)| FaultFinding {
        chart: None,
        case: index,
        label: case.label(),
        events: case.faults.iter().map(Fault::say).collect(),
        loses: case.faults.iter().any(|fault| {
            matches!(
                fault.act,
                Act::DriveFail(_)
                    | Act::DriveReplace(_)
                    | Act::DriveError(_)
                    | Act::DriveCorrupt { .. }
                    | Act::DaemonKill(_)
                    | Act::PeerDown
            )
        }),
        trials: match is_cut(plan, index) {
            // One that was not cut was stopped before it could be.
            true => Vec::new(),
            false => run.trials.iter().filter(|t| t.case == index).filter_map(|trial| of_trial(run, trial)).collect(),
        },
        cuts: cuts::of_case(run, plan, index),
    });
    let drawn = |found: FaultFinding| FaultFinding { chart: charts::fault::chart(run, &found), ..found };
    found.filter(|found| !found.trials.is_empty() || found.cuts.is_some()).map(drawn).collect()
}

/// Whether the trials of a case end with a cut of power: nothing is asked of their rate.
pub(crate) fn is_cut(plan: &Plan, case: u32) -> bool {
    plan.cases.get(case as usize).is_some_and(|case| case.faults.iter().any(Fault::is_cut))
}

/// Whether that is so of every case that was run, and there is one.
pub(crate) fn is_all_cut(plan: &Plan, cases: &[CaseFinding]) -> bool {
    !cases.is_empty() && cases.iter().all(|case| is_cut(plan, case.case))
}

/// A trial that a cut of power ended did what it was for: it has no rate, and is not one that was left out.
pub(crate) fn not_left_out(found: &[FaultFinding], cases: &mut [CaseFinding]) {
    for (case, cuts) in found.iter().filter_map(|found| Some((found.case, found.cuts?.cuts))) {
        for finding in cases.iter_mut().filter(|finding| finding.case == case) {
            finding.trials_left_out = finding.trials_left_out.saturating_sub(cuts as u32);
        }
    }
}

/// Whether anything was done to the storage in a trial of a case.
pub(crate) fn had_events(run: &RunRecord, case: &CaseTrials<'_>) -> bool {
    let of_case = |ordinal: u32| case.all.iter().any(|trial| trial.trial == ordinal);
    run.events.iter().any(|event| matches!(&event.kind, EventKind::Fault { trial, .. } if of_case(*trial)))
}

/// An event of a trial: when, how far, what.
type Moment<'a> = (Nanos, FaultMoment, &'a Say);

fn of_trial(run: &RunRecord, trial: &TrialRecord) -> Option<FaultTrial> {
    let outcome = trial.outcome.as_ref()?;
    let ours = run.events.iter().filter_map(|event| match &event.kind {
        EventKind::Fault { trial: of, moment, what, .. } if *of == trial.trial => Some((event.at, *moment, what)),
        _ => None,
    });
    let ours: Vec<Moment> = ours.collect();
    let at = ours.iter().find(|(_, moment, _)| *moment == FaultMoment::Begins)?.0;
    let last = |wanted: FaultMoment| ours.iter().rfind(|(_, moment, _)| *moment == wanted).map(|(at, ..)| *at);
    let began = |with: FaultMoment, what: &Say| ours.iter().any(|(_, moment, words)| *moment == with && *words == what);
    let is_more = |moment: &FaultMoment, what: &Say| match moment {
        FaultMoment::Done => !began(FaultMoment::Begins, what),
        FaultMoment::Undone => !began(FaultMoment::Ends, what),
        _ => false,
    };
    let told = |moment: &FaultMoment, what: &Say| {
        matches!(moment, FaultMoment::Begins | FaultMoment::Ends | FaultMoment::Whole) || is_more(moment, what)
    };
    let whole = last(FaultMoment::Whole);
    Some(FaultTrial {
        trial: trial.trial,
        moments: ours
            .iter()
            .filter(|(_, moment, what)| told(moment, what))
            .map(|(then, _, what)| (then.saturating_sub(at).as_secs(), (*what).clone()))
            .collect(),
        came: ours.iter().filter(|(_, moment, what)| is_more(moment, what)).map(|(.., what)| (*what).clone()).collect(),
        recovery: recovery::of(&rates(trial), interval_of(trial, outcome, at)),
        silence: silence(outcome, at),
        tail: tail(trial, outcome, at),
        errors: outcome.errors.iter().fold(0, |sum, error| sum.saturating_add(error.count)),
        mismatches: outcome.verification.as_ref().map(|found| found.all().wrong()),
        whole: whole.map(|then| then.saturating_sub(at)),
        rebuilt: whole.zip(last(FaultMoment::Ends)).and_then(|(then, ended)| Some(Nanos(then.0.checked_sub(ended.0)?))),
    })
}

/// I/Os of each interval of the window, syncs left out.
fn rates(trial: &TrialRecord) -> Vec<f64> {
    let cells = series::cells(&trial.slices, |slice| slice.op != Op::Sync);
    series::inside_window(trial, cells).iter().map(|cell| cell.ops).collect()
}

/// The interval of the window in which a moment lies.
fn interval_of(trial: &TrialRecord, outcome: &TrialOutcome, at: Nanos) -> usize {
    let index = at.saturating_sub(outcome.load_start).0 / INTERVAL.0;
    (index as usize).saturating_sub(series::window(trial).start)
}

fn silence(outcome: &TrialOutcome, at: Nanos) -> Option<Nanos> {
    let longest = outcome.probes.as_ref()?.longest?;
    (longest.until > at).then(|| longest.length())
}

/// Seconds that lie wholly before the event, and those from it on. Where one of both is empty nothing can be compared.
fn tail(trial: &TrialRecord, outcome: &TrialOutcome, at: Nanos) -> Option<(Nanos, Nanos)> {
    let second = |at: Nanos| at.saturating_sub(outcome.load_start).0 / Nanos::SECOND.0;
    let first = outcome.window_start.saturating_sub(outcome.load_start).0.div_ceil(Nanos::SECOND.0);
    let (event, end) = (second(at), second(outcome.window_end));
    let (mut before, mut after) = (Histogram::new(), Histogram::new());
    for op in Op::IO {
        series::each_second(&trial.slices, op, |second, histogram| match second {
            second if second < first || second >= end => {}
            second if second < event => before.merge(histogram),
            _ => after.merge(histogram),
        });
    }
    before.quantile(Share(0.99)).zip(after.quantile(Share(0.99)))
}

#[cfg(test)]
mod tests;
