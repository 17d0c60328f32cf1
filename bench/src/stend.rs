//! Stend as a contender: the binary under test as a worker that keeps the target ready between trials.

use crate::{Outcome, Settings, cpu};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use stend_base::{Bytes, Error, Nanos};
use stend_host::protocol::Reply;
use stend_host::{FromHost, Host, Inspect, Permission, Prepare, Request};
use stend_record::TrialOutcome;
use stend_spec::workload::{Region, Trial};

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

/// What a trial took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// I/Os that completed, ramp and drain included.
    pub ios: u64,
    /// User and system time of the whole worker, from the order to the answer.
    pub cpu: Duration,
}

impl Stend {
    /// Claims a device and fills its first `range` bytes.
    pub fn on_device(settings: &Settings, device: &Path, range: Bytes) -> Outcome<Stend> {
        let mut stend = Stend::start(settings, device, device.to_path_buf(), None)?;
        stend.fill(range)?;
        Ok(stend)
    }

    /// Makes a test file of `range` bytes in a directory and fills it.
    pub fn in_directory(settings: &Settings, directory: &Path, range: Bytes) -> Outcome<Stend> {
        let target = directory.join(format!(".stend-{}", run_id())).join("data");
        let mut stend = Stend::start(settings, directory, target, Some(range))?;
        stend.fill(range)?;
        Ok(stend)
    }

    /// A null device.
    pub fn on_null(settings: &Settings, device: &Path) -> Outcome<Stend> {
        Stend::start(settings, device, device.to_path_buf(), None)
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
            run_file: "none: a bench".to_string(),
            coordinator: std::process::id(),
            sample_every: SAMPLE_EVERY,
        };
        stend.ask(&Request::Prepare(prepare), |reply| matches!(reply, Reply::Prepared).then_some(()))?;
        Ok(stend)
    }

    fn fill(&mut self, range: Bytes) -> Outcome<()> {
        let fill = Request::Fill { region: Region { start: Bytes(0), len: range }, seed: 1 };
        self.ask(&fill, |reply| matches!(reply, Reply::Filled(_)).then_some(()))
    }

    /// One trial, and what it cost.
    pub fn trial(&mut self, trial: Trial) -> Outcome<(TrialOutcome, Cost)> {
        let ordinal = self.trials;
        self.trials += 1;
        let (mut ios, before) = (0, cpu::of_process(self.host.pid())?);
        let outcome = self.ask(&Request::Trial { ordinal, trial: Box::new(trial) }, |reply| match reply {
            Reply::TrialDone { outcome, .. } => Some(outcome),
            Reply::Slices { slices, .. } => {
                ios += slices.iter().map(|slice| slice.ops).sum::<u64>();
                None
            }
            _ => None,
        })?;
        ios += outcome.drained.iter().map(|drained| drained.latency.count()).sum::<u64>();
        Ok((*outcome, Cost { ios, cpu: cpu::of_process(self.host.pid())?.saturating_sub(before) }))
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
    format!("bench-{}", std::process::id())
}

fn words(error: &Error) -> String {
    error.render(stend_base::Lang::En)
}
