//! Stend as a contender: the binary under test as a worker that keeps the target ready between trials.

use crate::cell::{Cell, Measured, RANGE};
use crate::{Outcome, Settings};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use stend_base::{Bytes, Error, Nanos};
use stend_host::protocol::Reply;
use stend_host::{FromHost, Host, Inspect, Permission, Prepare, Request};
use stend_record::{TrialOutcome, TrialStatus};
use stend_spec::workload::Region;

/// Longest wait for an answer: a fill under the limit takes seconds.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long the worker may take to undo what it made.
const END_LIMIT: Duration = Duration::from_secs(15);
/// Telemetry as in a run.
const SAMPLE_EVERY: Nanos = Nanos::SECOND;

/// A worker with a filled target.
pub struct Stend {
    host: Host,
    replies: Receiver<FromHost>,
    /// What fio is given: the same file or device.
    pub target: PathBuf,
    trials: u32,
}

impl Stend {
    /// Claims a device and fills its range.
    pub fn on_device(settings: &Settings, device: &Path) -> Outcome<Stend> {
        Stend::start(settings, device, device.to_path_buf(), None)
    }

    /// Makes a test file in a directory and fills it.
    pub fn in_directory(settings: &Settings, directory: &Path) -> Outcome<Stend> {
        let target = directory.join(format!(".stend-{}", run_id())).join("data");
        Stend::start(settings, directory, target, Some(RANGE))
    }

    fn start(settings: &Settings, named: &Path, target: PathBuf, file_size: Option<Bytes>) -> Outcome<Stend> {
        let mut command = Command::new(&settings.stend);
        command.arg("worker");
        let (sender, replies) = channel();
        // A contest that was given up no longer listens.
        let host = Host::start(command, move |message| drop(sender.send(message))).map_err(|error| words(&error))?;
        let mut stend = Stend { host, replies, target, trials: 0 };
        let mut inspect = Inspect {
            target: named.to_string_lossy().into_owned(),
            permission: Permission::default(),
            run_directory: std::env::temp_dir().to_string_lossy().into_owned(),
        };
        let identity = stend.ask(&Request::Inspect(inspect.clone()), |reply| match reply {
            Reply::Facts(facts) => Some(facts.target.identity),
            _ => None,
        })?;
        if let (None, Some(identity)) = (file_size, identity) {
            inspect.permission.confirm = vec![identity];
            stend.ask(&Request::Inspect(inspect), |reply| matches!(reply, Reply::Facts(_)).then_some(()))?;
        }
        let prepare = Prepare {
            file_size,
            write: true,
            run: run_id(),
            run_file: "none: make agree".to_string(),
            coordinator: std::process::id(),
            sample_every: SAMPLE_EVERY,
        };
        stend.ask(&Request::Prepare(prepare), |reply| matches!(reply, Reply::Prepared).then_some(()))?;
        let region = Region { start: Bytes(0), len: RANGE };
        let fill = Request::Fill { region, seed: 1 };
        stend.ask(&fill, |reply| matches!(reply, Reply::Filled(_)).then_some(()))?;
        Ok(stend)
    }

    /// One trial.
    pub fn measure(&mut self, cell: &Cell, window: Duration, seed: u64) -> Outcome<Measured> {
        let ordinal = self.trials;
        self.trials += 1;
        let trial = Box::new(cell.trial(Nanos(window.as_nanos() as u64), seed));
        let outcome = self.ask(&Request::Trial { ordinal, trial }, |reply| match reply {
            Reply::TrialDone { outcome, .. } => Some(outcome),
            _ => None,
        })?;
        numbers(&outcome).ok_or_else(|| format!("a trial of Stend has no numbers; it ended as {:?}", outcome.status))
    }

    /// Undoes what was made; whether that worked.
    pub fn end(mut self) -> Outcome<()> {
        self.ask(&Request::Release, |reply| matches!(reply, Reply::Released).then_some(()))?;
        if self.host.end(END_LIMIT) { Ok(()) } else { Err("the worker did not end".to_string()) }
    }

    fn ask<T>(&mut self, request: &Request, mut answer: impl FnMut(Reply) -> Option<T>) -> Outcome<T> {
        self.host.send(request);
        loop {
            match self.replies.recv_timeout(PATIENCE) {
                Ok(FromHost::Reply(Reply::Failed(error))) => return Err(words(&error)),
                Ok(FromHost::Reply(reply)) => {
                    if let Some(found) = answer(reply) {
                        return Ok(found);
                    }
                }
                Ok(FromHost::Lost(why)) => return Err(format!("the worker is gone: {why}")),
                Err(_) => return Err("the worker does not answer".to_string()),
            }
        }
    }
}

fn run_id() -> String {
    format!("agree-{}", std::process::id())
}

fn words(error: &Error) -> String {
    error.render(stend_base::Lang::En)
}

/// Rate over the window, and the mean over everything that began in it, drained I/O included, as fio does.
fn numbers(outcome: &TrialOutcome) -> Option<Measured> {
    let window = outcome.window_end.saturating_sub(outcome.window_start).as_secs();
    let ops: u64 = outcome.jobs.iter().flat_map(|job| job.done).map(|(ops, _)| ops).sum();
    let in_window = outcome.jobs.iter().flat_map(|job| &job.latency);
    let latencies: Vec<_> = in_window.chain(outcome.drained.iter().map(|drained| &drained.latency)).collect();
    let count: u64 = latencies.iter().map(|latency| latency.count()).sum();
    let sum: u128 = latencies.iter().map(|latency| latency.sum_ns).sum();
    let whole = outcome.status == TrialStatus::Complete && outcome.errors.is_empty();
    (whole && window > 0.0 && count > 0)
        .then(|| Measured { iops: ops as f64 / window, latency_ns: sum as f64 / count as f64 })
}
