//! Where an earlier session of a run got to, and whether what it measured is still the same thing. Pure.

use std::slice;
use stend_analyse::{Ended, Looks};
use stend_base::{Error, Nanos, Result, say};
use stend_plan::{Decision, Outcome, Plan, PlanInputs};
use stend_record::{
    ArmFacts, Crash, Device, Event, EventKind, HostFacts, Role, RunRecord, RunState, TargetFacts, TargetKind,
    TrialOutcome, TrialRecord, TrialStatus, targets,
};
use stend_spec::workload::Trial;
use stend_wire::Facts;

/// What the next session goes on from.
#[derive(Debug, Clone)]
pub struct Progressed {
    /// Everything the plan follows from.
    pub inputs: PlanInputs,
    /// The plan of the first session, which is the plan of all.
    pub plan: Plan,
    /// Outcomes of the decisions that count.
    pub history: Vec<Outcome>,
    /// What the trials that count say about when their cases are precise enough.
    pub looks: Looks,
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
    /// Ceilings were measured, and something came after them.
    pub calibrated: bool,
    /// Zeros were sampled.
    pub zeros_sampled: bool,
    /// The targets as they were.
    pub targets: Vec<TargetFacts>,
    /// The host of the last session.
    pub host: HostFacts,
    /// The hosts that were watched beside it, by their ids from 1: what each did, and its name.
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
    let (Some(host), [_, ..]) = (&run.load().facts, run.load().targets.as_slice()) else {
        return Err(ended_too_early());
    };
    let plan = run.plan()?.into_owned();
    let filled = is_filled(run, &plan);
    let suspended = match run.state {
        RunState::Suspended { arm, .. } => Some(arm),
        _ => None,
    };
    let (mut history, mut looks) = (Vec::new(), Looks::default());
    let mut measured = Nanos(0);
    if filled {
        history.push(Outcome::Ok);
    }
    // Without its fill a plan begins anew.
    let executed = if filled || plan.fill.is_none() { executed(run) } else { Vec::new() };
    let mut begun = None;
    for (trial, round) in executed {
        // It did what it was for, and is not run again.
        if !round && stend_analyse::ended_by_cut(run, &plan, trial) {
            begun = Some(trial.case);
            history.push(Outcome::Ok);
            measured = measured + trial.asked.ramp + trial.asked.window;
            continue;
        }
        let ended = Ended::of(trial).filter(|ended| ended.whole.status != TrialStatus::Interrupted);
        let Some(ended) = ended else { continue };
        if round && trial.block == 0 && begun == Some(trial.case) {
            history.push(Outcome::Paused);
        }
        begun = Some(trial.case);
        let at = (trial.case, trial.block);
        let found = if round { looks.round(&plan, at, &ended) } else { looks.step(&plan, at, &ended) };
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
        looks,
        decisions: run.decisions.len() as u32,
        trials: all.last().map_or(0, |t| t.trial + 1),
        measured,
        filled,
        calibrated: run.calibrations().next().is_some() && !run.decisions.is_empty(),
        zeros_sampled: run.load().zeros.is_some_and(|zeros| zeros.sampled > 0),
        targets: run.arms_entered().last().map_or(&run.load().targets, |(.., facts)| &facts.targets).clone(),
        arms: run.arms_entered().map(|(_, arm, facts)| (arm, facts.clone())).collect(),
        new_target: suspended.and_then(|arm| plan.arms.get(arm as usize)).is_some_and(replaces_target),
        new_storage: suspended.and_then(|arm| plan.arms.get(arm as usize)).is_some_and(may_replace_storage),
        suspended,
        host: run.last_host().unwrap_or(host).clone(),
        beside: run.hosts().iter().skip(1).map(|host| (host.role, host.name.clone())).collect(),
        shift_ns: last_shift(run),
        boot_id: last_boot(run),
        last: last_time(run),
        plan,
    })
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
    let whole = run.load().fill.is_some_and(|fill| fill.written >= plan.fill_bytes());
    plan.fill.is_some() && (whole || !run.executed().is_empty())
}

/// (I/Os that failed, blocks that were not as written) of all trials and rounds.
fn faults(run: &RunRecord, all: &[&TrialRecord]) -> (u64, u64) {
    let outcomes = || all.iter().filter_map(|trial| trial.outcome.as_ref());
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
    let ends = |trial: &&TrialRecord| trial.outcome.as_ref().map_or(trial.started, |outcome| outcome.window_end);
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

/// Whether the targets that are there now are those of the earlier session, in the same order, and may still be written.
pub(crate) fn same_targets(earlier: &Progressed, now: &Facts, rebuilt: bool) -> Result<()> {
    same_host(earlier, now)?;
    let (then, found) = (earlier.targets.len(), now.targets.len());
    if then != found {
        return Err(Error::refused(say!(
            "the run began with {then} targets, not with {found}",
            "прогон начался с объектами числом {then}, а не {found}"
        )));
    }
    let same_boot = earlier.host.boot_id == now.host.boot_id;
    let other_storage = rebuilt || earlier.new_target || earlier.new_storage;
    for (then, found) in earlier.targets.iter().zip(&now.targets) {
        same_target(earlier.new_target, rebuilt, then, found)?;
        if !other_storage {
            same_file_system(then, found, same_boot)?;
        }
    }
    still_written(earlier, now)
}

/// A directory may have the same path on two hosts, and a run that began on one of them must not go on on the other. One boot is one
/// host; after another boot it is known by its name, unless the run waited for a person, who may have changed all of it.
fn same_host(earlier: &Progressed, now: &Facts) -> Result<()> {
    let (then, found) = (&earlier.host.hostname, &now.host.hostname);
    if earlier.host.boot_id == now.host.boot_id || then == found || earlier.suspended.is_some() {
        return Ok(());
    }
    Err(Error::refused(say!(
        "the run began on the host `{then}`, and this is `{found}`",
        "прогон начался на машине `{then}`, а это `{found}`"
    ))
    .hint(say!(
        "resume with the same `--ssh` or `--lab`; if the host was renamed, give it its old name back",
        "продолжайте с тем же `--ssh` или `--lab`, что и в начале; переименованной машине верните прежнее имя"
    )))
}

/// A stand that was put up anew has the layers of before, not the devices.
fn same_target(replaced: bool, rebuilt: bool, then: &TargetFacts, found: &TargetFacts) -> Result<()> {
    if replaced && then.kind == found.kind {
        return Ok(());
    }
    let same_size = found.kind == TargetKind::Directory || then.size == found.size;
    let same_device = (&then.identity, &then.path) == (&found.identity, &found.path);
    if then.kind != found.kind || !(same_device || rebuilt) || !same_size {
        let path = &found.path;
        return Err(Error::refused(say!(
            "`{path}` is not the target that the run began with",
            "`{path}` — не тот объект, с которым прогон начался"
        )));
    }
    Ok(())
}

/// A directory or file is on the file system of before.
fn same_file_system(then: &TargetFacts, found: &TargetFacts, same_boot: bool) -> Result<()> {
    if lies_on_same(then, found, same_boot) {
        return Ok(());
    }
    let path = &found.path;
    Err(Error::refused(say!(
        "`{path}` is not on the file system that the run began on",
        "`{path}` лежит не на той файловой системе, на которой начался прогон"
    ))
    .hint(say!(
        "mount that file system at this path and resume again",
        "смонтируйте по этому пути прежнюю файловую систему и продолжите прогон"
    )))
}

/// Whether a directory or file lies on the file system of before: where nothing is mounted after a boot, its path leads to that of the
/// system. It is known by its type and the devices that it is on, one of which is enough: an array may have lost another.
fn lies_on_same(then: &TargetFacts, found: &TargetFacts, same_boot: bool) -> bool {
    if !matches!(then.kind, TargetKind::Directory | TargetKind::File) {
        return true;
    }
    if then.file_system.is_some() && then.file_system != found.file_system {
        return false;
    }
    // What the file system itself is on, which tells partitions apart; where that has no identity, the drives below.
    let (own, lowest) = (of_file_system(then, same_boot), of_drives(then, same_boot));
    let own = meets(&own, &of_file_system(found, same_boot));
    let lowest = meets(&lowest, &of_drives(found, same_boot));
    match own {
        // A rebuilt mapping has another kernel name, which proves nothing where the drives are known.
        Some((false, false)) => lowest.is_some_and(|(same, by_identity)| same && by_identity),
        Some((same, _)) => same,
        None => lowest.is_none_or(|(same, _)| same),
    }
}

/// Whether devices of before and of now have one in common, and whether that was decided by identities. `None`: they are known by names of
/// different kinds, because a user may read less of them than root, and nothing can be said.
fn meets(then: &[&str], found: &[&str]) -> Option<(bool, bool)> {
    let kind = |name: &&str| name.split_once(':').map_or("", |(kind, _)| kind).to_string();
    let kinds: Vec<String> = then.iter().map(kind).filter(|of| found.iter().any(|name| kind(name) == *of)).collect();
    let same = then.iter().any(|name| found.contains(name));
    (!kinds.is_empty()).then(|| (same, kinds.iter().any(|kind| !kind.is_empty())))
}

fn of_file_system(target: &TargetFacts, same_boot: bool) -> Vec<&str> {
    names(target.devices.iter().filter(|device| device.depth == 0), same_boot)
}

fn of_drives(target: &TargetFacts, same_boot: bool) -> Vec<&str> {
    names(targets::drives(slice::from_ref(target)).into_iter(), same_boot)
}

/// What devices are known by, if all of them are. Kernel names, files behind loop devices, whose identity has the number of a device, and
/// places on a bus are those of one boot.
fn names<'a>(devices: impl Iterator<Item = &'a Device>, same_boot: bool) -> Vec<&'a str> {
    let name = |device: &'a Device| match device.identity.as_deref() {
        Some(identity) if same_boot || !["loop:", "path:"].iter().any(|of| identity.starts_with(of)) => Some(identity),
        _ => same_boot.then_some(device.name.as_str()),
    };
    devices.map(name).collect::<Option<Vec<_>>>().unwrap_or_default()
}

fn still_written(earlier: &Progressed, now: &Facts) -> Result<()> {
    match (&earlier.inputs.target.writes, &now.writes) {
        (Ok(()), Err(reason)) => {
            let (en, ru) = (&reason.en, &reason.ru);
            Err(Error::refused(say!("the run writes: {en}", "прогон пишет: {ru}")))
        }
        _ => Ok(()),
    }
}
