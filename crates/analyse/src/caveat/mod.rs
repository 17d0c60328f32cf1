//! Reasons to doubt a whole run: which apply, most serious first. Their words are in [`words`].

mod arms;
mod events;
mod hosts;
mod imported;
mod words;

use crate::between_arms;
use crate::check::{bound, clock, left_in_caches};
use crate::compare::block_time;
use crate::faults;
use crate::findings::{CaseFinding, Caveat, IoLogFinding};
use crate::forewarn::{forewarn, no_storage};
use crate::limits::{NEVER_WRITTEN, TRIALS_PUBLISHABLE};
use crate::trials::CaseTrials;
use crate::widths::{Widths, widths};
use std::collections::BTreeSet;
use stend_base::{Nanos, Say, Share, say};
use stend_plan::{Case, Plan};
use stend_record::targets::drives;
use stend_record::{Aftermath, Crash, EngineFacts, Event, EventKind, HostId, Role, RunRecord, RunState, TrialRecord};
use stend_spec::workload::Pages;

/// Every caveat that applies, most serious first.
pub fn all(run: &RunRecord, plan: &Plan, measured: (&[CaseTrials<'_>], &[CaseFinding])) -> Vec<Caveat> {
    let cases = measured.1;
    let mut found = Vec::new();
    found.extend(state(run, plan));
    found.extend(imported::doubts(run));
    found.extend(crashes(run));
    found.extend(hosts::lost(run, measured.0));
    found.extend(no_storage(&run.load().targets, plan));
    found.extend(never_written(run));
    found.extend(left_out(measured));
    found.extend(events::missing(run, plan));
    found.extend(not_filled(run, plan));
    found.extend(beside(run));
    found.extend(arms::doubts(run, plan));
    found.extend(engine(run));
    let (minor, before): (Vec<_>, Vec<_>) =
        said_before(run, plan).into_iter().partition(|caveat| matches!(caveat, Caveat::FewCpus { .. }));
    found.extend(storage(run));
    found.extend(before);
    found.extend(hosts::others(run, plan));
    found.extend(prober_heavy(cases));
    found.extend(not_steady(cases));
    found.extend(not_precise(plan, measured));
    found.extend(few_trials(run, plan, cases));
    found.extend(clock_step(run));
    found.extend(volatile_cache(run, measured.0));
    found.extend(minor);
    found.extend(no_spool(run));
    found.extend(merged(run));
    found.extend(log_incomplete(cases));
    found
}

impl Caveat {
    /// Whether it says that data are missing or not what they seem, not only what surrounds them.
    pub fn is_about_data(&self) -> bool {
        if let Caveat::NoStorage { cases, .. } = self {
            return cases.is_empty();
        }
        matches!(
            self,
            Caveat::NoEnd
                | Caveat::EndedEarly { .. }
                | Caveat::LoadHostLost { .. }
                | Caveat::Suspended { .. }
                | Caveat::CrashUnknown { .. }
                | Caveat::NeverWritten { .. }
                | Caveat::TrialsLeftOut { .. }
                | Caveat::EventsMissing { .. }
                | Caveat::NotFilled
                | Caveat::ReadsErased { .. }
                | Caveat::ImportedInPart { .. }
        )
    }
}

fn state(run: &RunRecord, plan: &Plan) -> Option<Caveat> {
    match &run.state {
        RunState::Open => Some(Caveat::NoEnd),
        RunState::Complete => None,
        RunState::Suspended { arm, instruction } => {
            Some(Caveat::Suspended { arm: arms::name(plan, *arm), instruction: instruction.clone() })
        }
        RunState::Ended { reason, .. } => Some(Caveat::EndedEarly { reason: reason.clone() }),
    }
}

/// What is known of crashes; those that took something are for the checks.
fn crashes(run: &RunRecord) -> Vec<Caveat> {
    let unknown = run.events.iter().rev().filter_map(|event| match &event.kind {
        EventKind::Crash(Aftermath::Unknown { reason }) => Some(Caveat::CrashUnknown { reason: reason.clone() }),
        _ => None,
    });
    let count = |keep: fn(&Crash) -> bool| run.crashes().filter(|crash| keep(crash)).count() as u64;
    let (crashes, rebooted) = (count(|crash| crash.acknowledged > 0), count(|c| c.acknowledged > 0 && c.rebooted));
    let survived = crashes > 0 && count(|crash| crash.wrong() > 0) == 0;
    let below = bound(crashes);
    let replays = || run.crashes().filter_map(|crash| crash.replayed.as_ref());
    if let (true, Some(of)) = (survived, replays().map(|replayed| replayed.states).max()) {
        return unknown.take(1).chain([Caveat::ReplaysSurvived { states: replays().count() as u64, of }]).collect();
    }
    unknown.take(1).chain(survived.then_some(Caveat::CrashesSurvived { crashes, rebooted, below })).collect()
}

fn never_written(run: &RunRecord) -> Option<Caveat> {
    let zeros = run.load().zeros.filter(|z| z.sampled > 0)?;
    let share = f64::from(zeros.zero) / f64::from(zeros.sampled);
    (share > NEVER_WRITTEN).then_some(Caveat::NeverWritten { share: Share(share) })
}

/// What is known of hosts beside the one that is measured: that they were not watched first.
fn storage(run: &RunRecord) -> Vec<Caveat> {
    let storage = unwatched(run, Role::Storage).map(|(host, why)| Caveat::StorageUnwatched { host, why });
    let watched = run.storages().map(|(_, storage)| Caveat::StorageWatched {
        host: storage.name.clone(),
        drives: drives(&storage.targets).len() as u32,
    });
    let observed = unwatched(run, Role::Observe).map(|(host, why)| Caveat::HostUnwatched { host, why });
    storage.chain(watched).chain(observed).collect()
}

/// Hosts of this role that were not watched all the time, each with the last reason. One that spoke again lacks data of what lies between, which
/// says nothing where no load ran meanwhile.
fn unwatched(run: &RunRecord, role: Role) -> impl Iterator<Item = (String, Say)> {
    let hosts = (0..).map(HostId).zip(run.hosts()).filter(move |(_, host)| host.role == role);
    hosts.filter_map(|(id, host)| {
        let why = |event: &Event| match &event.kind {
            EventKind::Unwatched { why } if event.host == id => Some((event.at, why.clone())),
            _ => None,
        };
        let (mut last, mut missing, mut heard, mut silent) = (None, Nanos(0), Nanos(0), None);
        for (from, why) in run.events.iter().filter_map(why) {
            let Some(again) = host.samples.iter().map(|sample| sample.at).find(|at| *at > from) else {
                silent = Some(why);
                continue;
            };
            // A silence with two events counts once.
            let from = from.max(heard);
            if again.saturating_sub(from) > GAP_MIN && is_loaded(run, from, again) {
                missing = missing + (again - from);
                last = Some(why);
            }
            heard = again;
        }
        if let Some(why) = silent {
            return Some((host.name.clone(), why));
        }
        let (Say { en, ru }, seconds) = (last?, missing.as_secs().round());
        let why = say!("{en}; data of {seconds} s are missing", "{ru}; нет данных за {seconds} с");
        Some((host.name.clone(), why))
    })
}

/// Readings come twice a second. What was late and came all at once leaves a gap of one, and by eye ten of them hide nothing.
const GAP_MIN: Nanos = Nanos::secs(5);

/// Whether a trial or a round was going on at some time between these.
fn is_loaded(run: &RunRecord, from: Nanos, to: Nanos) -> bool {
    let ends = |trial: &TrialRecord| trial.outcome.as_ref().map(|outcome| outcome.window_end);
    run.executed().into_iter().any(|trial| trial.started < to && ends(trial).is_none_or(|end| end > from))
}

/// Trials that do not count by themselves; those of other hosts have a caveat of their own.
fn left_out((trials, cases): (&[CaseTrials<'_>], &[CaseFinding])) -> Option<Caveat> {
    let of_other_hosts = trials.iter().fold(0u32, |sum, case| sum.saturating_add(case.of_other_hosts));
    let count = cases.iter().fold(0u32, |sum, case| sum.saturating_add(case.trials_left_out));
    let count = count.saturating_sub(of_other_hosts);
    (count > 0).then_some(Caveat::TrialsLeftOut { count })
}

/// Reads were measured over a range that this run has not written as a whole.
fn not_filled(run: &RunRecord, plan: &Plan) -> Option<Caveat> {
    let reads = run.trials.iter().any(|trial| trial.asked.streams.iter().any(|s| s.mix.reads()));
    let filled = match (plan.fill, run.load().fill) {
        (Some(planned), Some(fill)) => fill.written >= planned,
        _ => false,
    };
    // Unknown for an imported run; its own caveat mentions that.
    (reads && !filled && run.header.imported.is_none()).then_some(Caveat::NotFilled)
}

fn engine(run: &RunRecord) -> Vec<Caveat> {
    let engines = || run.trials.iter().filter_map(|trial| Some(&trial.outcome.as_ref()?.engine));
    let fallback = engines().find(|e| !e.fallback_reason.is_empty());
    let workers = engines().filter_map(|e| e.kernel_workers).max().unwrap_or(0);
    let said = |e: &EngineFacts| Caveat::Fallback { backend: e.backend.clone(), reason: e.fallback_reason.clone() };
    let punted = (workers > 0).then_some(Caveat::KernelWorkers { count: workers });
    fallback.map(said).into_iter().chain(punted).chain(ordinary_pages(run)).collect()
}

/// Huge pages that were asked for and not got, of the trial that got the fewest.
fn ordinary_pages(run: &RunRecord) -> Option<Caveat> {
    let asked = run.trials.iter().filter(|trial| trial.asked.pages == Pages::Huge);
    let got = asked.filter_map(|trial| trial.outcome.as_ref()?.engine.buffers);
    let shares = got.filter(|b| b.huge < b.size).map(|b| b.huge.0 as f64 / b.size.0 as f64);
    shares.min_by(f64::total_cmp).map(|huge| Caveat::OrdinaryPages { huge: Share(huge) })
}

/// What was said before measuring and still holds; without plan and facts nothing was.
fn said_before(run: &RunRecord, plan: &Plan) -> Vec<Caveat> {
    let (Some(host), [_, ..]) = (&run.load().facts, run.load().targets.as_slice()) else { return Vec::new() };
    // Whether the range was filled is judged by what was done, what is most serious stands first, and of a host that is watched more
    // is known.
    let told = |caveat: &Caveat| match caveat {
        Caveat::NotFilled | Caveat::NoStorage { .. } => true,
        Caveat::OverNetwork { .. } | Caveat::OverFabric { .. } => run.storages().next().is_some(),
        _ => false,
    };
    let lasting = |caveat: &Caveat| !caveat.is_preliminary() && !told(caveat);
    forewarn(host, &run.load().targets, plan).into_iter().filter(lasting).collect()
}

/// The case whose prober made most of what its load did, if that is too much.
fn prober_heavy(cases: &[CaseFinding]) -> Option<Caveat> {
    let heavy = |case: &CaseFinding| {
        let share = case.prober.as_ref().filter(|prober| prober.is_heavy())?.share?;
        Some(Caveat::ProberHeavy { case: case.label.clone(), share })
    };
    let share = |caveat: &Caveat| if let Caveat::ProberHeavy { share, .. } = caveat { share.0 } else { 0.0 };
    cases.iter().filter_map(heavy).max_by(|a, b| share(a).total_cmp(&share(b)))
}

/// Cases that stopped by the number of blocks and not because they were precise enough: of arms, because their difference was.
fn not_precise(plan: &Plan, (trials, cases): (&[CaseTrials<'_>], &[CaseFinding])) -> Option<Caveat> {
    let until = plan.until?;
    let goals = (until.width.as_share(), until.p99.map(|goal| goal.as_share()));
    let between_arms = !plan.arms.is_empty();
    let label = |case: u32| plan.cases.get(case as usize).map(Case::label_in_arm);
    let of = |case: &CaseFinding| -> Option<(String, Widths)> {
        match between_arms {
            false => Some((case.label.clone(), widths(case.headline, &case.total, &case.ops))),
            // Once for all arms, by the first of them.
            true if plan.arm_of(case.case) != Some(0) => None,
            true => Some((label(case.case)?, between_arms::widths_of(case.case, plan, trials, cases)?)),
        }
    };
    let measured = cases.iter().filter(|case| plan.rung(case.case).is_none() && case.trials > 0);
    let wide: Vec<(String, Widths)> = measured.filter_map(of).filter(|(_, widths)| !widths.hold(&until)).collect();
    let far = |(_, widths): &(String, Widths)| widths.rate.unwrap_or(f64::INFINITY);
    let (case, found) = wide.iter().max_by(|a, b| far(a).total_cmp(&far(b)))?;
    let beyond = |width: Option<f64>, goal: f64| width.filter(|width| *width > goal).map(Share);
    Some(Caveat::NotPrecise {
        cases: wide.len() as u32,
        case: case.clone(),
        between_arms,
        rate: beyond(found.rate, goals.0),
        p99: goals.1.and_then(|goal| beyond(found.p99, goal)),
        no_p99: goals.1.is_some() && found.p99.is_none(),
    })
}

/// Cases whose rounds were not enough.
fn not_steady(cases: &[CaseFinding]) -> Option<Caveat> {
    let unsteady = || cases.iter().filter_map(|case| Some((case, case.steady.as_ref().filter(|s| !s.reached)?)));
    let (case, steady) = unsteady().next()?;
    Some(Caveat::NotSteady {
        cases: unsteady().count() as u32,
        case: case.label.clone(),
        rounds: steady.rounds,
        range: steady.range,
        slope: steady.slope,
    })
}

/// Rates that a search tried are looked at as often as its own rule says, and where power is cut there is no rate.
fn few_trials(run: &RunRecord, plan: &Plan, cases: &[CaseFinding]) -> Option<Caveat> {
    let few = || {
        let repeated = |case: &&CaseFinding| plan.rung(case.case).is_none() && !faults::is_cut(plan, case.case);
        cases.iter().filter(repeated).filter(|case| case.trials < TRIALS_PUBLISHABLE)
    };
    let trials = few().map(|case| case.trials).min()?;
    let needed = few().filter_map(|case| case.precision.as_ref()?.needed).max();
    let blocks = needed.unwrap_or(0).max(TRIALS_PUBLISHABLE);
    let takes = block_time(run).map(|block| Nanos(block.0.saturating_mul(u64::from(blocks))));
    Some(Caveat::FewTrials { cases: few().count() as u32, trials, need: TRIALS_PUBLISHABLE, blocks, takes })
}

/// The largest step of the wall clock against the monotonic one between two recorded readings.
/// One note for all cases that write without syncs: most programs write so.
fn volatile_cache(run: &RunRecord, trials: &[CaseTrials<'_>]) -> Option<Caveat> {
    let left: Vec<Say> = trials.iter().filter_map(|case| left_in_caches(run, case)).collect();
    let cases = left.len() as u32;
    left.into_iter().next().map(|drives| Caveat::VolatileCache { drives, cases })
}

fn clock_step(run: &RunRecord) -> Option<Caveat> {
    let readings: Vec<(u64, u64, u64)> =
        run.trials.iter().filter_map(|t| t.outcome.as_ref()).flat_map(|o| o.clocks).collect();
    let largest = readings.windows(2).filter_map(clock::step).max_by_key(|step| step.unsigned_abs())?;
    let by_ns = largest.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
    Some(Caveat::ClockStep { by_ns })
}

fn merged(run: &RunRecord) -> Option<Caveat> {
    let count = run.events.iter().fold(0u64, |sum, event| match event.kind {
        EventKind::IntervalsMerged { count } => sum.saturating_add(count),
        _ => sum,
    });
    (count > 0).then_some(Caveat::IntervalsMerged { count })
}

fn beside(run: &RunRecord) -> Option<Caveat> {
    let (mut runs, mut drives) = (BTreeSet::new(), BTreeSet::new());
    for event in &run.events {
        let EventKind::Beside { run_file, drives: common, .. } = &event.kind else { continue };
        runs.insert(run_file.as_str());
        drives.extend(common.iter().map(String::as_str));
    }
    let list = |names: BTreeSet<&str>| names.into_iter().collect::<Vec<_>>().join(", ");
    (!runs.is_empty()).then(|| Caveat::RunBeside { runs: list(runs), drives: list(drives) })
}

fn no_spool(run: &RunRecord) -> Option<Caveat> {
    run.events.iter().find_map(|event| match &event.kind {
        EventKind::NoSpool { why } => Some(Caveat::NoSpool { why: why.clone() }),
        _ => None,
    })
}

fn log_incomplete(cases: &[CaseFinding]) -> Option<Caveat> {
    let logs = || cases.iter().flat_map(|case| &case.io_logs);
    let sum = |of: fn(&IoLogFinding) -> u64| logs().map(of).fold(0, u64::saturating_add);
    let (dropped, recorded) = (sum(|log| log.dropped), sum(|log| log.recorded));
    (dropped > 0).then_some(Caveat::LogIncomplete { dropped, recorded })
}

#[cfg(test)]
mod tests;
