//! Reasons to doubt a whole run: which apply, most serious first. Their words are in [`words`].

mod words;

use crate::findings::{CaseFinding, Caveat};
use crate::limits::{CLOCK_SLEW, CLOCK_STEP, FEW_CPUS, NEVER_WRITTEN, TRIALS_PUBLISHABLE};
use stend_base::{Say, Share};
use stend_record::{Device, EngineFacts, EventKind, Refusal, RunRecord, RunState, WriteAccess};
use stend_spec::plan::Plan;

/// Every caveat that applies, most serious first.
pub fn all(run: &RunRecord, plan: &Plan, cases: &[CaseFinding]) -> Vec<Caveat> {
    let mut found = Vec::new();
    found.extend(state(run));
    found.extend(never_written(run));
    found.extend(left_out(cases));
    found.extend(not_filled(run, plan));
    found.extend(engine(run));
    found.extend(target(run));
    found.extend(few_trials(cases));
    found.extend(clock_step(run));
    found.extend(few_cpus(run));
    found.extend(merged(run));
    found
}

impl Caveat {
    /// Whether it says that data are missing or not what they seem, not only what surrounds them.
    pub fn is_about_data(&self) -> bool {
        matches!(
            self,
            Caveat::NoEnd
                | Caveat::EndedEarly { .. }
                | Caveat::NeverWritten { .. }
                | Caveat::TrialsLeftOut { .. }
                | Caveat::NotFilled
        )
    }
}

fn state(run: &RunRecord) -> Option<Caveat> {
    match &run.state {
        RunState::Open => Some(Caveat::NoEnd),
        RunState::Complete => None,
        RunState::Ended { reason, .. } => Some(Caveat::EndedEarly { reason: reason.clone() }),
    }
}

fn never_written(run: &RunRecord) -> Option<Caveat> {
    let zeros = run.zeros.filter(|z| z.sampled > 0)?;
    let share = f64::from(zeros.zero) / f64::from(zeros.sampled);
    (share > NEVER_WRITTEN).then_some(Caveat::NeverWritten { share: Share(share) })
}

fn left_out(cases: &[CaseFinding]) -> Option<Caveat> {
    let count = cases.iter().fold(0u32, |sum, case| sum.saturating_add(case.trials_left_out));
    (count > 0).then_some(Caveat::TrialsLeftOut { count })
}

/// Reads were measured over a range that this run has not written as a whole.
fn not_filled(run: &RunRecord, plan: &Plan) -> Option<Caveat> {
    let reads = run.trials.iter().any(|trial| trial.asked.streams.iter().any(|s| s.mix.reads()));
    let filled = match (plan.fill, run.fill) {
        (Some(planned), Some(fill)) => fill.written >= planned,
        _ => false,
    };
    (reads && !filled).then_some(Caveat::NotFilled)
}

fn engine(run: &RunRecord) -> Vec<Caveat> {
    let engines = || run.trials.iter().filter_map(|trial| Some(&trial.outcome.as_ref()?.engine));
    let fallback = engines().find(|e| !e.fallback_reason.is_empty());
    let workers = engines().map(|e| e.kernel_workers).max().unwrap_or(0);
    let said = |e: &EngineFacts| Caveat::Fallback { backend: e.backend.clone(), reason: e.fallback_reason.clone() };
    let punted = (workers > 0).then_some(Caveat::KernelWorkers { count: workers });
    fallback.map(said).into_iter().chain(punted).collect()
}

fn target(run: &RunRecord) -> Vec<Caveat> {
    let Some(target) = &run.target else { return Vec::new() };
    let mut found = Vec::new();
    if let WriteAccess::Refused(refusals) = &target.access {
        let reasons: Vec<Say> = refusals.iter().filter(|r| in_use(r)).map(Refusal::say).collect();
        if !reasons.is_empty() {
            found.push(Caveat::TargetInUse { reasons });
        }
    }
    if target.devices.is_empty() {
        found.push(Caveat::NoDevice);
    }
    let lowest_virtual: Option<&Device> = target.devices.iter().filter(|d| d.is_virtual).max_by_key(|d| d.depth);
    found.extend(lowest_virtual.map(|d| Caveat::VirtualDisk { device: d.name.clone() }));
    found
}

/// Whether a refusal means that others may do I/O to the target while it is measured.
fn in_use(refusal: &Refusal) -> bool {
    use Refusal::*;
    matches!(
        refusal,
        Mounted { .. }
            | RelativeMounted { .. }
            | Swap { .. }
            | Member { .. }
            | Holder { .. }
            | HeldBy { .. }
            | RootDisk { .. }
            | InUseByRun { .. }
    )
}

fn few_trials(cases: &[CaseFinding]) -> Option<Caveat> {
    let few = || cases.iter().map(|case| case.trials).filter(|&n| n < TRIALS_PUBLISHABLE);
    let trials = few().min()?;
    Some(Caveat::FewTrials { cases: few().count() as u32, trials, need: TRIALS_PUBLISHABLE })
}

/// The largest step of the wall clock against the monotonic one between two recorded readings.
fn clock_step(run: &RunRecord) -> Option<Caveat> {
    let readings: Vec<(u64, u64, u64)> =
        run.trials.iter().filter_map(|t| t.outcome.as_ref()).flat_map(|o| o.clocks).collect();
    let step = |pair: &[(u64, u64, u64)]| {
        let elapsed = i128::from(pair[1].0) - i128::from(pair[0].0);
        let step = i128::from(pair[1].2) - i128::from(pair[0].2) - elapsed;
        let allowed = CLOCK_STEP.0 as f64 + elapsed.unsigned_abs() as f64 * CLOCK_SLEW;
        (step.unsigned_abs() as f64 > allowed).then_some(step)
    };
    let largest = readings.windows(2).filter_map(step).max_by_key(|step| step.unsigned_abs())?;
    let by_ns = largest.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
    Some(Caveat::ClockStep { by_ns })
}

fn few_cpus(run: &RunRecord) -> Option<Caveat> {
    let cpus = run.host.as_ref()?.cpus;
    (cpus > 0 && cpus <= FEW_CPUS).then_some(Caveat::FewCpus { cpus })
}

fn merged(run: &RunRecord) -> Option<Caveat> {
    let count = run.events.iter().fold(0u64, |sum, event| match event.kind {
        EventKind::IntervalsMerged { count } => sum.saturating_add(count),
        _ => sum,
    });
    (count > 0).then_some(Caveat::IntervalsMerged { count })
}

#[cfg(test)]
mod tests;
