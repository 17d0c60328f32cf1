//! What was planned and has no value: what asks whether everything holds must know of it.

use crate::faults;
use crate::findings::{CaseFinding, NotRun, Unmeasured};
use stend_base::say;
use stend_plan::Plan;
use stend_spec::workload::{Op, Trial};

/// Cases that were not run, cases of which no trial counts, and searches of which none counts. Left out is what would have no value
/// either way: applications, cuts of power, tests of the cause of another case.
pub(crate) fn cases(plan: &Plan, not_run: &[(u32, NotRun)], cases: &[CaseFinding]) -> Vec<Unmeasured> {
    let not_run = not_run.iter().map(|(index, case)| (*index, case.label.clone(), case.reason.clone()));
    let empty = cases.iter().filter(|case| case.trials == 0 && plan.rung(case.case).is_none());
    let nothing = || say!("no trial of it counts", "ни одно испытание не засчитано");
    let empty = empty.map(|case| (case.case, case.label.clone(), nothing()));
    let searches = plan.ladders.iter().filter_map(|ladder| {
        let mut tried = cases.iter().filter(|case| ladder.cells.contains(&case.case)).peekable();
        tried.peek()?;
        tried.all(|case| case.trials == 0).then(|| (ladder.cells[0], ladder.label.clone(), nothing()))
    });
    let gap = |(index, label, reason)| {
        let trial = &plan.cases.get(index as usize)?.trial;
        let has_values = trial.app.is_none() && !faults::is_cut(plan, index) && plan.confirming(index).is_none();
        has_values.then(|| Unmeasured { label, reason, ops: ops(trial) })
    };
    not_run.chain(empty).chain(searches).filter_map(gap).collect()
}

/// Operations that the streams of a trial do.
fn ops(trial: &Trial) -> Vec<Op> {
    let does = |op: &Op| match op {
        Op::Sync => trial.streams.iter().any(|stream| stream.sync.every() > 0),
        _ => trial.streams.iter().any(|stream| stream.mix.share(*op) > 0),
    };
    Op::ALL.into_iter().filter(does).collect()
}
