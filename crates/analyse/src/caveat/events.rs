//! Whether the events of a case came in its trials.

use crate::findings::Caveat;
use stend_plan::Plan;
use stend_record::{EventKind, FaultMoment, RunRecord, TrialRecord, TrialStatus};

/// Trials that are complete although an event of their case did not come: they measured a load to which nothing was done.
pub(super) fn missing(run: &RunRecord, plan: &Plan) -> Option<Caveat> {
    let lacks = |trial: &&TrialRecord| {
        let planned = plan.cases.get(trial.case as usize).map_or(0, |case| case.faults.len());
        let complete = trial.outcome.as_ref().is_some_and(|outcome| outcome.status == TrialStatus::Complete);
        complete && came(run, trial.trial) < planned
    };
    let mut cases: Vec<u32> = run.trials.iter().filter(lacks).map(|trial| trial.case).collect();
    let trials = cases.len() as u32;
    cases.sort_unstable();
    cases.dedup();
    let case = plan.cases.get(*cases.first()? as usize)?.label();
    Some(Caveat::EventsMissing { trials, case, cases: cases.len() as u32 })
}

/// Events of a trial that began. They are counted: the worker and the coordinator, which have some each, number their own.
fn came(run: &RunRecord, trial: u32) -> usize {
    let begun = run.events.iter().filter(
        |event| matches!(event.kind, EventKind::Fault { trial: of, moment: FaultMoment::Begins, .. } if of == trial),
    );
    begun.count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use crate::fixture::{case, run_of};
    use stend_base::{Nanos, Say};
    use stend_record::Event;
    use stend_spec::fault::{Act, Fault, Which};
    use stend_spec::suite::SuiteCase;
    use stend_spec::workload::Sync;

    /// A trial of a case with two events, of which these came.
    fn caveats(came: &[u32]) -> Vec<Caveat> {
        let fault = |at| Fault { at: Nanos::secs(at), lasts: None, act: Act::DriveFail(Which::Each) };
        let failing = SuiteCase { faults: vec![fault(0), fault(1)], ..case("mix", 100, 32, Sync::None) };
        let mut record = run_of(vec![failing]).trial(0).done().record();
        let (trial, moment) = (record.trials[0].trial, FaultMoment::Begins);
        let of = |fault| EventKind::Fault { trial, fault, moment, what: Say::same("out") };
        record.events.extend(came.iter().map(|fault| Event::new(Nanos::secs(1), of(*fault))));
        let found = analyse(&record).unwrap().caveats;
        found.into_iter().filter(|caveat| matches!(caveat, Caveat::EventsMissing { .. })).collect()
    }

    #[test]
    fn a_trial_that_ended_before_its_events_is_a_reason_to_doubt() {
        let missing = vec![Caveat::EventsMissing { trials: 1, case: "mix".into(), cases: 1 }];
        assert_eq!(caveats(&[]), missing);
        assert_eq!(caveats(&[0]), missing, "one of two is not what was asked for");
        assert_eq!(caveats(&[0, 1]), []);
        assert_eq!(caveats(&[0, 0]), [], "one of the worker and one of the coordinator");
    }
}
