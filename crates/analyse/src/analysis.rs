//! A whole run in, its findings out.

use crate::charts::Charts;
use crate::findings::{CaseFinding, Findings, Grade, NotRun};
use crate::limits::LIMITS_VERSION;
use crate::searched::Searched;
use crate::trials::CaseTrials;
use crate::verdict::Verdict;
use crate::{
    by_host, case, caveat, ceilings, charts, check, cost, density, faults, grade, host_search, numa, precision, search,
    series, sources, steady, sweeps, trials, unmeasured, verdict,
};
use stend_base::{Result, Say, say};
use stend_plan::{Decision, Plan, StopReason};
use stend_record::{RunRecord, RunState};

/// Everything that a run says. Takes any record, however early the run ended.
///
/// Errors: only those of [`Plan::new`], if the recorded inputs no longer make a plan.
pub fn analyse(run: &RunRecord) -> Result<Findings> {
    findings(run, Charts::Drawn)
}

/// As [`analyse`], but the charts of cases and of the run are left empty: a terminal and a table show none, and drawing them takes
/// as long as all the rest.
///
/// Errors: as [`analyse`].
pub fn judge(run: &RunRecord) -> Result<Findings> {
    findings(run, Charts::LeftOut)
}

fn findings(run: &RunRecord, drawn: Charts) -> Result<Findings> {
    let plan = run.plan()?;
    let (start, end) = series::span(run);
    let mut trials = trials::by_case(run);
    let mut cases: Vec<CaseFinding> = trials
        .iter()
        .map(|t| case::finding(run, t, (label(&plan, t.case), axes(&plan, t.case)), (drawn, start)))
        .collect();
    let hosts = by_host::insert(run, by_host::apart(run, &plan, &trials), &trials, &mut cases);
    precision::insert(&plan, &trials, &mut cases);
    steady::insert(run, &plan, &mut cases);
    check::insert(&plan, &trials, &mut cases);
    if hosts.is_empty() {
        ceilings::insert(run, &plan, &trials, &mut cases);
    }
    // What was run to test the cause of another case has said it there, and is no result of its own.
    trials.retain(|case| plan.confirming(case.case).is_none());
    cases.retain(|case| plan.confirming(case.case).is_none());
    let faults = faults::findings(run, &plan);
    faults::not_left_out(&faults, &mut cases);
    let caveats = caveat::all(run, &plan, (&trials, &cases));
    let (searches, density) = (search::findings(run, &plan), density::findings(run, &plan));
    let host_searches = host_search::findings(run, &plan);
    let across = charts::across(&plan, &cases, &searches, &density);
    let verdict = match density.as_slice() {
        [] if !faults.is_empty() => Verdict::alone(faults::verdict(&faults, &caveats)),
        [] => {
            let searched = Searched::of(run, &plan, &searches, &host_searches);
            verdict::verdict(&trials, &cases, &caveats, &searched)
        }
        found => Verdict::alone(density::verdict(found, &caveats)),
    };
    let not_run = not_run(run, &plan);
    let cost = by_host::most(&hosts).unwrap_or_else(|| cost::cost(run));
    Ok(Findings {
        run: run.header.id.clone(),
        label: run.header.label.clone(),
        suite: run.header.inputs.suite.name.clone(),
        targets: targets(run),
        stand: run.header.stand.as_ref().map(|stand| stand.name.clone()),
        started_unix: run.header.started_unix,
        elapsed: end.saturating_sub(start),
        state: run.state.clone(),
        grade: grade(&plan, (&trials, &cases), density.is_empty()),
        headline: verdict.headline,
        telling: verdict::stand_out(&trials, &plan),
        verdict: verdict.whole,
        hosts,
        sources: sources::findings(run, &trials),
        density,
        faults,
        searches: searches.clone(),
        host_searches,
        sweeps: sweeps::findings(&plan, &cases),
        numa: numa::findings(run, &plan, &trials, &cases),
        unmeasured: unmeasured::cases(&plan, &not_run, &cases),
        tried: cases.iter().filter(|case| plan.rung(case.case).is_some()).map(|case| case.label.clone()).collect(),
        not_run: not_run.into_iter().map(|(_, case)| case).collect(),
        arms: plan.arms.iter().map(|arm| arm.name.clone()).collect(),
        across,
        charts: match drawn {
            Charts::Drawn => charts::of_run(run, &trials, &cases, (start, end)),
            Charts::LeftOut => Vec::new(),
        },
        cases,
        caveats,
        cost,
        limits_version: LIMITS_VERSION.to_string(),
    })
}

/// What the numbers may be used for; those of clients of applications by a rule of their own.
fn grade(plan: &Plan, (trials, cases): (&[CaseTrials<'_>], &[CaseFinding]), has_cases: bool) -> Grade {
    match (has_cases, faults::is_all_cut(plan, cases)) {
        (true, true) => grade::of_cuts(),
        (true, false) => grade::grade(plan, trials, cases),
        (false, _) => grade::of_clients(),
    }
}

fn label(plan: &Plan, case: u32) -> String {
    plan.cases.get(case as usize).map_or_else(|| format!("case {case}"), |case| case.label())
}

fn axes(plan: &Plan, case: u32) -> Vec<(String, String)> {
    plan.cases.get(case as usize).map_or_else(Vec::new, |case| case.axes.clone())
}

/// The targets by their names, behind their load host where hosts have different ones; as the user named them if the run ended before they
/// were looked at.
fn targets(run: &RunRecord) -> Vec<String> {
    let first = stend_record::targets::names(&run.load().targets);
    if run.loads().any(|(_, host)| stend_record::targets::names(&host.targets) != first) {
        let of = |host: &'_ stend_record::HostRecord| {
            let name = host.called().to_string();
            stend_record::targets::names(&host.targets).into_iter().map(move |target| format!("{name}:{target}"))
        };
        return run.loads().flat_map(|(_, host)| of(host)).collect();
    }
    if !first.is_empty() {
        return first;
    }
    if let Some(imported) = &run.header.imported {
        let unknown = || vec!["?".to_string()];
        return if imported.targets.is_empty() { unknown() } else { imported.targets.clone() };
    }
    run.header.named.clone()
}

/// Cases of the plan without any trial, each with its index.
fn not_run(run: &RunRecord, plan: &Plan) -> Vec<(u32, NotRun)> {
    let gave_up = matches!(run.decisions.last(), Some(Decision::Stop(StopReason::TargetFailed)));
    let in_rounds = |case: usize| run.rounds.iter().any(|round| round.case as usize == case);
    let reason = |index: usize, planned: &stend_plan::Case| -> Say {
        match (&planned.not_run, &run.state) {
            (Some(reason), _) => reason.clone(),
            (None, _) if gave_up => say!("the target had failed before its turn", "до него объект уже отказал"),
            (None, RunState::Open) if in_rounds(index) => say!("its rounds are in progress", "идут его раунды"),
            (None, _) if in_rounds(index) => {
                say!("its rounds did not finish", "его раунды не завершились")
            }
            (None, RunState::Open) => say!("its turn has not come yet", "его очередь ещё не наступила"),
            (None, _) => say!("the run ended before its turn", "прогон закончился раньше его очереди"),
        }
    };
    let ran = |index: usize| run.trials.iter().any(|trial| trial.case as usize == index);
    // A search tries what it needs: a rung that it left out is missing only if none was tried.
    let begun = |index: usize| {
        plan.rung(index as u32)
            .is_some_and(|(ladder, rung)| rung > 0 || ladder.cells.iter().any(|cell| ran(*cell as usize)))
    };
    let missing = plan.cases.iter().enumerate().filter(|(index, _)| !ran(*index) && !begun(*index));
    let told = |(index, case)| {
        let label = plan.listed_as(index as u32)?;
        Some((index as u32, NotRun { label, reason: reason(index, case) }))
    };
    missing.filter_map(told).collect()
}

#[cfg(test)]
mod tests;
