//! After the window: everything that was written is read once more by the same lane, and what verification found in the
//! whole trial is put together. Must not measure.

use super::Check;
use super::expected::{EXAMPLES, Expected};
use crate::engine;
use crate::layout::Job;
use crate::task::Task;
use crate::{Control, INTERVAL};
use std::sync::Arc;
use stend_base::{Bytes, Error, Kind, Nanos, Say};
use stend_record::observed::{IoErrors, TrialOutcome, TrialStatus};
use stend_record::verification::{Checked, ReadBack, Verification};
use stend_spec::workload::{Data, Mix, Pattern, Stream, Sync, Trial};
use stend_sys::clock;

/// A target that completes nothing for this long has stalled; as in a fill.
const STALL: Nanos = Nanos::secs(60);

/// Reads back what the suite asks for after the trial with this outcome, and adds to it what was found.
pub(crate) fn conclude(task: &Task, control: &Control, outcome: &mut TrialOutcome) {
    let verified: Vec<&Job> = once(task.jobs);
    if verified.is_empty() {
        return;
    }
    let asked = |job: &&Job| job.spec.verify.is_some_and(|verify| verify.after);
    let after = if !verified.iter().any(asked) {
        ReadBack::NotAsked
    } else if control.stopped() {
        ReadBack::Stopped
    } else if outcome.status == TrialStatus::Stalled || !outcome.censored.is_empty() {
        ReadBack::Stalled
    } else {
        let jobs: Vec<Job> = verified.iter().copied().filter(asked).filter_map(listed).collect();
        read_back(task, jobs, control, outcome)
    };
    let verification = sum(&verified, after);
    if verification.all().wrong() > 0 && outcome.status == TrialStatus::Complete {
        outcome.status = TrialStatus::Mismatch;
    }
    outcome.verification = Some(verification);
}

/// The verified jobs, of those that share an area the first.
fn once(jobs: &[Job]) -> Vec<&Job> {
    let state = |job: &Job| job.check.as_ref().map(|check| check.expected.clone());
    let mut found: Vec<&Job> = Vec::new();
    for job in jobs {
        let Some(expected) = state(job) else { continue };
        if !found.iter().filter_map(|job| state(job)).any(|other| Arc::ptr_eq(&other, &expected)) {
            found.push(job);
        }
    }
    found
}

/// The job that reads back what another has written; `None` if that is nothing.
pub(super) fn listed(job: &Job) -> Option<Job> {
    let expected = job.check.as_ref()?.expected.clone();
    let blocks = expected.written();
    let limit = blocks.len() as u64;
    let check = Some(Check { expected, listed: Some(blocks.into()), account: None });
    (limit > 0).then(|| Job { spec: reading(&job.spec), limit, check, cursor: None, course: None, ..job.clone() })
}

/// A stream as it is read back.
fn reading(stream: &Stream) -> Stream {
    Stream {
        mix: Mix::of_reads(100),
        pattern: Pattern::Sequential,
        sync: Sync::None,
        data: Data::default(),
        rate: None,
        think: None,
        ..stream.clone()
    }
}

fn read_back(task: &Task, jobs: Vec<Job>, control: &Control, outcome: &mut TrialOutcome) -> ReadBack {
    let blocks: u64 = jobs.iter().map(|job| job.limit).sum();
    if blocks == 0 {
        return ReadBack::Made { checked: Checked::default(), unread: 0 };
    }
    let trial = Trial {
        streams: task.trial.streams.iter().map(reading).collect(),
        ramp: Nanos(0),
        // It ends by count, or by the limits below; no clock of ours reaches this.
        window: Nanos(u64::MAX / 4),
        io_log: None,
        ..task.trial.clone()
    };
    let again =
        Task { trial: &trial, jobs: &jobs, lane: task.lane, target: task.target, fault_limit: task.fault_limit };
    let (inner, started) = (Control::new(), clock::now());
    let (limit, mut last, mut stalled) = (started + task.trial.read_back_limit(), started, false);
    let ended = engine::run(&again, &inner, &mut |slices| {
        let now = clock::now();
        if slices.iter().any(|slice| slice.ops > 0) {
            last = now;
        }
        stalled |= now.saturating_sub(last) >= STALL;
        if stalled || control.stopped() || now + INTERVAL >= limit {
            inner.stop();
        }
    });
    match ended {
        Ok(ended) => {
            outcome.errors = errors(std::mem::take(&mut outcome.errors), &ended.errors);
            if (stalled || ended.status == TrialStatus::Stalled) && outcome.status == TrialStatus::Complete {
                outcome.status = TrialStatus::Stalled;
            }
        }
        Err(error) if error.kind == Kind::Interrupted => return ReadBack::Stopped,
        // What was measured and found before stays, whatever became of this: check H79 tells it.
        Err(error) => return ReadBack::Impossible { reason: with_hint(*error) },
    }
    let checked = sum_of(jobs.iter().collect::<Vec<_>>().as_slice(), true);
    let read = checked.ok + checked.unsettled + checked.never_written + checked.wrong();
    ReadBack::Made { checked, unread: blocks.saturating_sub(read) }
}

/// An error in one line.
fn with_hint(error: Error) -> Say {
    let Some(hint) = error.hint else { return error.message };
    let (en, ru) = (error.message.en, error.message.ru);
    Say { en: format!("{en}; {}", hint.en), ru: format!("{ru}; {}", hint.ru) }
}

/// Failed I/Os of both passes by class.
fn errors(mut first: Vec<IoErrors>, then: &[IoErrors]) -> Vec<IoErrors> {
    for class in then {
        let same =
            |other: &&mut IoErrors| (other.stream, other.op, other.errno) == (class.stream, class.op, class.errno);
        match first.iter_mut().find(same) {
            Some(other) => other.count += class.count,
            None => first.push(class.clone()),
        }
    }
    first
}

fn states<'a>(jobs: &'a [&Job]) -> impl Iterator<Item = &'a Arc<Expected>> {
    jobs.iter().filter_map(|job| Some(&job.check.as_ref()?.expected))
}

fn sum_of(jobs: &[&Job], after: bool) -> Checked {
    let mut sum = Checked::default();
    states(jobs).for_each(|expected| {
        expected.noted(|noted| sum.add(if after { &noted.after } else { &noted.running }));
    });
    sum
}

fn sum(jobs: &[&Job], after: ReadBack) -> Verification {
    let mut examples = Vec::new();
    states(jobs).for_each(|expected| expected.noted(|noted| examples.extend_from_slice(&noted.examples)));
    examples.truncate(EXAMPLES);
    let memory = Bytes(states(jobs).map(|expected| expected.memory_used()).sum());
    Verification { memory, running: sum_of(jobs, false), after, examples }
}
