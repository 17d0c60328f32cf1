//! Where an earlier session of a run got to. Pure.

use crate::learned::{Learned, Which};
use stend_base::{Error, Nanos, Result, Say, say};
use stend_plan::{Decision, Outcome, Plan, PlanInputs};
use stend_record::{
    ArmFacts, Crash, Event, EventKind, HostFacts, HostId, HostRecord, Role, RunRecord, RunState, Slice, TargetFacts,
    TrialOutcome, TrialRecord, TrialStatus, together,
};
use stend_spec::workload::Trial;

/// What the next session goes on from.
#[derive(Debug, Clone)]
pub struct Progressed {
    /// Everything the plan follows from.
    pub inputs: PlanInputs,
    /// The plan of the first session, which is the plan of all.
    pub plan: Plan,
    /// Outcomes of the decisions that count.
    pub history: Vec<Outcome>,
    /// What the trials that count have shown.
    pub learned: Learned,
    /// Decisions recorded so far.
    pub decisions: u32,
    /// Trials begun so far.
    pub trials: u32,
    /// Planned time of the trials that count.
    pub measured: Nanos,
    /// The range was filled; it is filled again, because nobody kept it.
    pub filled: bool,
    /// I/Os that failed so far.
    pub errors: u64,
    /// Blocks so far that were not as written.
    pub mismatches: u64,
    /// The last trial kept a ledger that was not judged: its end is not recorded, or the target failed under it.
    pub pending_ledger: bool,
    /// Ceilings were measured on every load host, and something came after them.
    pub calibrated: bool,
    /// Zeros were sampled.
    pub zeros_sampled: bool,
    /// The load hosts by their ids, as the last session found them; one at least.
    pub loads: Vec<EarlierHost>,
    /// The hosts that were watched beside them, by their ids behind those: what each did, and its name.
    pub beside: Vec<(Role, String)>,
    /// What the times of that session were moved by, ns.
    pub shift_ns: i64,
    /// The boot of its coordinator; empty: unknown.
    pub boot_id: String,
    /// The last time in the run file, on the run's axis.
    pub last: Nanos,
    /// (arm, facts) of every time that an arm was entered, in order.
    pub arms: Vec<(u32, ArmFacts)>,
    /// The arm before which the run waits for a person.
    pub suspended: Option<u32>,
    /// That arm replaces targets by others.
    pub new_target: bool,
    /// The arm that it waits for may put another file system, or other drives, below the same path.
    pub new_storage: bool,
}

/// A load host as the last session found it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EarlierHost {
    /// As the user calls it; empty where there is one.
    pub name: String,
    /// The machine.
    pub host: HostFacts,
    /// Its targets.
    pub targets: Vec<TargetFacts>,
}

impl Progressed {
    /// Whether the coordinator's clock, which shows `now` after this boot, is another one than in the last session: after a reboot, or on another
    /// machine. A file of an earlier version does not know its boot. Then a host that was rebooted is taken for the coordinator, which it
    /// usually is; and a clock that has not reached the end of the file has begun anew. `rebooted`: the host that is measured was.
    pub(crate) fn clock_began_anew(&self, boot_id: &str, rebooted: bool, now: Nanos) -> bool {
        match self.boot_id.is_empty() || boot_id.is_empty() {
            true => rebooted || now.shifted(self.shift_ns) < self.last,
            false => self.boot_id != boot_id,
        }
    }

    /// What times of a session are moved by, ns, that began at `begun` of a new clock, where the wall clock gives `by_wall_clock`; and what the
    /// user should know. The wall clock may have been set back meanwhile, but the axis of a run never goes back.
    pub(crate) fn shift_behind(&self, by_wall_clock: i64, begun: Nanos) -> (i64, Option<Say>) {
        let least = self.last.0 as i64 + 1 - begun.0 as i64;
        if by_wall_clock >= least {
            return (by_wall_clock, None);
        }
        let went_back = say!(
            "the system clock shows a time before the end of the earlier session; in the run file this session follows right after it",
            "системные часы показывают время раньше конца прошлой сессии; в файле прогона эта сессия идёт сразу за ней"
        );
        (least, Some(went_back))
    }

    /// The machine that was measured, or the first of those.
    pub fn first_host(&self) -> &HostFacts {
        &self.loads[0].host
    }
}

fn nothing_to_resume(name: &str) -> Box<Error> {
    let message = say!("the run is complete; there is nothing to resume", "прогон завершён; продолжать нечего");
    Error::run_file(message)
        .hint(say!("`stend show {name}` prints its results", "результаты напечатает `stend show {name}`"))
}

/// Reads from a run file how far its plan was walked.
///
/// A trial that was cut short stays in the file but does not count: it is run again. A trial that stalled counts as
/// failed: a user who resumes has seen to the target. Errors are of kind `RunFile` for a run that is complete or that
/// ended before its target was known.
pub fn progressed(run: &RunRecord) -> Result<Progressed> {
    if run.state == RunState::Complete {
        return Err(nothing_to_resume(&run.header.id));
    }
    let loads = loads(run)?;
    let plan = run.plan()?.into_owned();
    let filled = is_filled(run, &plan);
    let suspended = match run.state {
        RunState::Suspended { arm, .. } => Some(arm),
        _ => None,
    };
    let (mut history, mut learned) = (Vec::new(), Learned::default());
    let mut measured = Nanos(0);
    if filled {
        history.push(Outcome::Ok);
    }
    // Without its fill a plan begins anew.
    let executed = if filled || plan.fill.is_none() { executed(run) } else { Vec::new() };
    let mut begun = None;
    for (trial, round) in executed {
        // It did what it was for, and is not run again.
        let cut = !round && stend_analyse::ended_by_cut(run, &plan, trial);
        let found = if cut { Some(Outcome::Ok) } else { outcome(run, &plan, (trial, round), &mut learned) };
        let Some(found) = found else { continue };
        if !cut && round && trial.block == 0 && begun == Some(trial.case) {
            history.push(Outcome::Paused);
        }
        begun = Some(trial.case);
        history.push(if found == Outcome::Stalled { Outcome::Failed } else { found });
        measured = measured + trial.asked.ramp + trial.asked.window;
    }
    // The load of a case stands still until this session goes on with it.
    if begun.is_some_and(|case| steady_goes_on(&plan, case, &history)) {
        history.push(Outcome::Paused);
    }
    let all = run.executed();
    let (errors, mismatches) = faults(run, &all);
    Ok(Progressed {
        errors,
        mismatches,
        pending_ledger: all.last().is_some_and(|trial| leaves_ledger(trial) && !is_judged(run, trial)),
        inputs: run.header.inputs.clone(),
        history,
        learned,
        decisions: run.decisions.len() as u32,
        trials: all.last().map_or(0, |t| t.trial + 1),
        measured,
        filled,
        calibrated: is_calibrated(run),
        zeros_sampled: run.loads().all(|(_, host)| host.zeros.is_some_and(|zeros| zeros.sampled > 0)),
        arms: run.arms_entered().map(|(_, arm, facts)| (arm, facts.clone())).collect(),
        new_target: suspended.and_then(|arm| plan.arms.get(arm as usize)).is_some_and(replaces_target),
        new_storage: suspended.and_then(|arm| plan.arms.get(arm as usize)).is_some_and(may_replace_storage),
        suspended,
        beside: run.hosts().iter().skip(loads.len()).map(|host| (host.role, host.name.clone())).collect(),
        loads,
        shift_ns: last_shift(run),
        boot_id: last_boot(run),
        last: last_time(run),
        plan,
    })
}

/// The load hosts, all of them.
///
/// Errors: `RunFile` where the run ended before all had looked at their targets.
fn loads(run: &RunRecord) -> Result<Vec<EarlierHost>> {
    let of = |(_, host): (HostId, &HostRecord)| {
        let facts = host.facts.clone().filter(|_| !host.targets.is_empty())?;
        Some(EarlierHost { name: host.name.clone(), host: facts, targets: host.targets.clone() })
    };
    let found: Option<Vec<EarlierHost>> = run.loads().map(of).collect();
    let all = run.header.inputs.target.hosts.max(1) as usize;
    let mut found = found.filter(|found| found.len() == all).ok_or_else(ended_too_early)?;
    if let [only] = found.as_mut_slice() {
        // Events have what later sessions and arms found, where there is one host.
        run.last_host().into_iter().for_each(|host| only.host.clone_from(host));
        run.arms_entered().last().into_iter().for_each(|(.., facts)| only.targets.clone_from(&facts.targets));
    }
    Ok(found)
}

/// What a trial or round means that has ended; `None`: it did not end, and is run again.
fn outcome(
    run: &RunRecord,
    plan: &Plan,
    (trial, round): (&TrialRecord, bool),
    learned: &mut Learned,
) -> Option<Outcome> {
    let ended = |(host, _, outcome): (HostId, &[Slice], Option<&'_ TrialOutcome>)| Some((host, outcome.cloned()?));
    let parts: Vec<(HostId, TrialOutcome)> = trial.by_host().into_iter().filter_map(ended).collect();
    let parts: Vec<(HostId, &TrialOutcome)> = parts.iter().map(|(host, outcome)| (*host, outcome)).collect();
    // Its hosts were lost, of which not all must have been, and the run went on.
    let cut_short = trial.outcome.is_none();
    if cut_short && (run.loads().nth(1).is_none() || !run.went_on_after(trial)) {
        return None;
    }
    let of_hosts: Vec<&TrialOutcome> = parts.iter().map(|(_, outcome)| *outcome).collect();
    let Some(whole) = together(&of_hosts) else { return Some(learned.lost()) };
    if whole.status == TrialStatus::Interrupted {
        return None;
    }
    let which = Which { case: trial.case, number: trial.block, round };
    Some(learned.ended(plan, which, (&whole, &parts), (cut_short, run.loads().count() as u32)))
}

fn ended_too_early() -> Box<Error> {
    let message = say!(
        "the run ended before its target was known; start it anew",
        "прогон прервался до осмотра объекта; запустите его заново"
    );
    Error::run_file(message)
}

/// Whether the range was filled once: trials begin on one that was, and a later session may have been ended while it filled it again.
fn is_filled(run: &RunRecord, plan: &Plan) -> bool {
    let whole = run.loads().all(|(_, host)| host.fill.is_some_and(|fill| fill.written >= plan.fill_bytes()));
    plan.fill.is_some() && (whole || !run.executed().is_empty())
}

fn is_calibrated(run: &RunRecord) -> bool {
    let is_reading = |event: &Event| matches!(event.kind, EventKind::Calibrated(_));
    let is_read = |host: HostId| run.events.iter().any(|event| event.host == host && is_reading(event));
    !run.decisions.is_empty() && run.loads().all(|(host, _)| is_read(host))
}

/// (I/Os that failed, blocks that were not as written) of all trials and rounds.
fn faults(run: &RunRecord, all: &[&TrialRecord]) -> (u64, u64) {
    let outcomes = || all.iter().flat_map(|trial| trial.known_outcomes());
    let wrong = |outcome: &TrialOutcome| outcome.verification.as_ref().map_or(0, |found| found.all().wrong());
    let errors = outcomes().flat_map(|outcome| &outcome.errors).fold(0, |sum: u64, e| sum.saturating_add(e.count));
    (errors, outcomes().map(wrong).chain(run.crashes().map(Crash::wrong)).fold(0, u64::saturating_add))
}

/// What times of the last session were moved by: one on the same boot has the same clock.
fn last_shift(run: &RunRecord) -> i64 {
    let shift = |event: &Event| match event.kind {
        EventKind::Resumed { shift_ns, .. } => Some(shift_ns),
        _ => None,
    };
    run.events.iter().rev().find_map(shift).unwrap_or_default()
}

/// The boot of the coordinator of the last session. One that did not know its own leaves none.
fn last_boot(run: &RunRecord) -> String {
    let resumed = |event: &Event| match &event.kind {
        EventKind::Resumed { boot_id, .. } => Some(boot_id.clone()),
        _ => None,
    };
    run.events.iter().rev().find_map(resumed).unwrap_or_else(|| run.header.boot_id.clone())
}

/// The last time that anything in the file has.
fn last_time(run: &RunRecord) -> Nanos {
    let events = run.events.iter().map(|event| event.at);
    let samples = run.hosts().iter().filter_map(|host| host.samples.last()).map(|sample| sample.at);
    let ends = |trial: &&TrialRecord| {
        trial.known_outcomes().iter().map(|outcome| outcome.window_end).max().unwrap_or(trial.started)
    };
    let trials = run.executed();
    events.chain(samples).chain(trials.iter().map(ends)).max().unwrap_or_default()
}

/// (trial, whether it is a round), in the order in which they ran.
fn executed(run: &RunRecord) -> Vec<(&TrialRecord, bool)> {
    let trials = run.trials.iter().map(|trial| (trial, false));
    let mut all: Vec<(&TrialRecord, bool)> = trials.chain(run.rounds.iter().map(|round| (round, true))).collect();
    all.sort_by_key(|(trial, _)| trial.trial);
    all
}

/// Whether a case with rounds that has begun is not at its end.
fn steady_goes_on(plan: &Plan, case: u32, history: &[Outcome]) -> bool {
    match plan.next(history) {
        Decision::Round { case: next, .. } | Decision::Trial { case: next, .. } => {
            next == case && plan.cases[case as usize].steady.is_some()
        }
        Decision::Fill { .. } | Decision::Stop(_) => false,
    }
}

fn keeps_ledger(trial: &Trial) -> bool {
    trial.streams.iter().any(|stream| stream.verify.is_some_and(|verify| verify.crash))
}

/// Whether a worker leaves the ledger of a trial to a judge, if it is the last one.
fn leaves_ledger(trial: &TrialRecord) -> bool {
    let failed = |outcome: &TrialOutcome| {
        matches!(outcome.status, TrialStatus::Failed | TrialStatus::Stalled) || !outcome.errors.is_empty()
    };
    keeps_ledger(&trial.asked) && trial.outcome.as_ref().is_none_or(failed)
}

/// Whether a later session has looked at what it left.
fn is_judged(run: &RunRecord, trial: &TrialRecord) -> bool {
    let judged = |event: &Event| event.at >= trial.started && matches!(event.kind, EventKind::Crash(_));
    run.events.iter().any(judged)
}

/// Whether an arm says itself that its target is another one.
fn replaces_target(arm: &stend_spec::arm::Arm) -> bool {
    arm.expect.iter().any(|fact| ["target", "target_identity"].contains(&fact.as_str()))
}

/// Whether an arm may put other storage below a target with the same path: a person does whatever the suite asks for, and a reboot what
/// the arm expects of it.
fn may_replace_storage(arm: &stend_spec::arm::Arm) -> bool {
    const STORAGE: [&str; 6] =
        ["file_system", "mount_options", "device_kinds", "device_identities", "device_models", "arrays"];
    matches!(arm.switch, stend_spec::arm::Switch::Person { .. })
        || arm.expect.iter().any(|fact| STORAGE.contains(&fact.as_str()))
}
