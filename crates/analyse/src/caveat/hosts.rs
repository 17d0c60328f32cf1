//! Doubts about a run on several load hosts: those that were not there to its end, and those that are not as the first is.

use crate::findings::Caveat;
use crate::forewarn::forewarn_others;
use crate::series;
use crate::trials::CaseTrials;
use stend_base::Kind;
use stend_plan::Plan;
use stend_record::{HostId, HostInfo, RunRecord, RunState};

/// Load hosts that were lost in a run that went on without them. A run that ended by a loss has a caveat for that.
pub fn lost(run: &RunRecord, cases: &[CaseTrials<'_>]) -> Option<Caveat> {
    let several = run.several_loads();
    let lost: Vec<_> = run.lost_loads().filter(|(_, host, _)| several.iter().any(|(id, _)| id == host)).collect();
    let (at, host, why) = *lost.first()?;
    let ended = matches!(run.state, RunState::Ended { kind: Kind::HostLost, .. });
    if ended && at >= run.last_session() && run.executed().iter().all(|trial| trial.started < at) {
        return None;
    }
    let is_whole = |trial: &&stend_record::TrialRecord| {
        trial.parts.len() == trial.hosts_asked(several.len()) && trial.parts.iter().all(|part| part.outcome.is_some())
    };
    // One that was repeated by the next session, because its own ended early, lacks no host.
    let sessions: Vec<usize> = lost.iter().map(|(at, ..)| run.session_of(*at)).collect();
    let lacks =
        |trial: &&stend_record::TrialRecord| !is_whole(trial) && sessions.contains(&run.session_of(trial.started));
    let fewer = |case: &&CaseTrials<'_>| !case.counting.is_empty() && case.lacks_hosts(several.len());
    Some(Caveat::LoadHostLost {
        hosts: lost.len() as u32,
        of_hosts: several.len() as u32,
        host: several.iter().find(|(id, _)| *id == host).map_or(String::new(), |(_, name)| name.to_string()),
        after: at.saturating_sub(series::span(run).0),
        why: why.to_string(),
        trials: run.trials.iter().filter(lacks).count() as u32,
        of_trials: run.trials.len() as u32,
        cases: cases.iter().filter(fewer).count() as u32,
        of_others: cases.iter().map(|case| case.of_other_hosts).sum(),
    })
}

/// What was said before measuring of load hosts other than the first, and still holds.
pub fn others(run: &RunRecord, plan: &Plan) -> Vec<Caveat> {
    let loads: Vec<(HostId, &HostInfo)> = run.loads().map(|(id, host)| (id, &host.info)).collect();
    let lasting = |caveat: &Caveat| match caveat {
        Caveat::OnLoadHosts { caveat, .. } => !caveat.is_preliminary() && **caveat != Caveat::NotFilled,
        _ => true,
    };
    forewarn_others(&loads, plan).into_iter().filter(lasting).collect()
}
