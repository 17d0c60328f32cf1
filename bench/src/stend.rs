//! Stend as a contender: the binary under test as a worker that keeps the target ready between trials.

use crate::{Outcome, Settings, cpu};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use stend_base::{Bytes, Error, Nanos};
use stend_record::io_log::Logged;
use stend_record::{Slice, TrialOutcome, TrialStatus};
use stend_spec::permission::Permission;
use stend_spec::workload::{Region, Trial};
use stend_wire::protocol::Reply;
use stend_wire::{FromHost, Host, Inspect, Prepare, Request};

/// Longest wait for an answer: a fill under the limit takes seconds.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long the worker may take to undo what it made.
const END_LIMIT: Duration = Duration::from_secs(15);
/// Telemetry as in a run.
const SAMPLE_EVERY: Nanos = Nanos::SECOND;

/// The end of an I/O as Stend logged it.
#[derive(Debug, Clone, Copy)]
pub struct End {
    /// When, CLOCK_MONOTONIC.
    pub at: Nanos,
    /// First byte.
    pub offset: u64,
}

/// A worker with a filled target.
pub struct Stend {
    host: Host,
    /// Process id of the worker.
    pid: u32,
    replies: Receiver<FromHost>,
    /// What fio is given: the same file or device.
    pub target: PathBuf,
    trials: u32,
}

/// Memory that is really there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Memory {
    /// Now.
    pub now: Bytes,
    /// The most that it ever was.
    pub most: Bytes,
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
        let mut stend = Stend::start(settings, device, device.to_path_buf(), Vec::new())?;
        stend.fill(range)?;
        Ok(stend)
    }

    /// Makes a test file of `range` bytes in a directory and fills it.
    pub fn in_directory(settings: &Settings, directory: &Path, range: Bytes) -> Outcome<Stend> {
        Stend::in_files(settings, directory, 1, range)
    }

    /// The same in so many files.
    pub fn in_files(settings: &Settings, directory: &Path, count: u64, range: Bytes) -> Outcome<Stend> {
        let target = directory.join(format!(".stend-{}", run_id())).join("data");
        let each = Bytes((range.0 / count).next_multiple_of(4096));
        let files = vec![each; count as usize];
        let mut stend = Stend::start(settings, directory, target, files)?;
        stend.fill(range)?;
        Ok(stend)
    }

    /// A null device.
    pub fn on_null(settings: &Settings, device: &Path) -> Outcome<Stend> {
        Stend::start(settings, device, device.to_path_buf(), Vec::new())
    }

    fn start(settings: &Settings, named: &Path, target: PathBuf, files: Vec<Bytes>) -> Outcome<Stend> {
        let mut command = Command::new(&settings.stend);
        command.arg("worker");
        let (sender, replies) = channel();
        let mut host = Host::reach(command, PATIENCE).map_err(|error| words(&error))?;
        // A contest that was given up no longer listens.
        host.listen(move |message| drop(sender.send(message))).map_err(|error| words(&error))?;
        let pid = host.pid().ok_or("the worker is no process of this machine")?;
        let mut stend = Stend { host, pid, replies, target, trials: 0 };
        let mut inspect = Inspect {
            programs: Vec::new(),
            targets: vec![named.to_string_lossy().into_owned()],
            // Two workers of one bench take turns.
            permission: Permission { beside: true, ..Permission::default() },
            run_directory: std::env::temp_dir().to_string_lossy().into_owned(),
            fio: None,
        };
        let identity = stend.ask(&Request::Inspect(inspect.clone()), |reply| match reply {
            Reply::Facts(facts) => Some(facts.targets.into_iter().next().and_then(|target| target.identity)),
            _ => None,
        })?;
        if let (true, Some(identity)) = (files.is_empty(), identity) {
            inspect.permission.confirm = vec![identity];
            stend.ask(&Request::Inspect(inspect), |reply| matches!(reply, Reply::Facts(_)).then_some(()))?;
        }
        let prepare = Prepare {
            share: Bytes(files.iter().map(|size| size.0).sum()),
            begin: None,
            files,
            write: true,
            run: run_id(),
            run_file: "none: a bench".to_string(),
            coordinator: std::process::id(),
            sample_every: SAMPLE_EVERY,
            ledger: None,
        };
        stend.ask(&Request::Prepare(prepare), |reply| matches!(reply, Reply::Prepared).then_some(()))?;
        Ok(stend)
    }

    fn fill(&mut self, range: Bytes) -> Outcome<()> {
        let fill = Request::Fill { region: Region { start: Bytes(0), len: range }, parts: 1, how: None, seed: 1 };
        self.ask(&fill, |reply| matches!(reply, Reply::Filled(_)).then_some(()))
    }

    /// Memory of the worker.
    pub fn memory(&self) -> Outcome<Memory> {
        let path = format!("/proc/{}/status", self.pid);
        let text = std::fs::read_to_string(&path).map_err(|e| format!("cannot read `{path}`: {e}"))?;
        memory(&text).ok_or_else(|| format!("cannot understand `{path}`"))
    }

    /// One trial with its intervals.
    pub fn trial_in_slices(&mut self, trial: Trial) -> Outcome<(TrialOutcome, Vec<Slice>)> {
        let mut all = Vec::new();
        let (outcome, _) = self.observed(trial, &mut |reply| {
            if let Reply::Slices { slices, .. } = reply {
                all.extend_from_slice(slices);
            }
        })?;
        Ok((outcome, all))
    }

    /// One trial that keeps a log of every I/O, and their ends.
    pub fn trial_with_log(&mut self, trial: Trial) -> Outcome<(TrialOutcome, Vec<End>)> {
        let mut ends = Vec::new();
        let (outcome, _) = self.observed(trial, &mut |reply| {
            if let Reply::Log { chunk, .. } = reply {
                let of = |io: Logged| End { at: Nanos(chunk.base.0 + io.end), offset: io.offset };
                ends.extend(chunk.ios().flatten().map(of));
            }
        })?;
        Ok((outcome, ends))
    }

    /// One trial, and what it cost.
    pub fn trial(&mut self, trial: Trial) -> Outcome<(TrialOutcome, Cost)> {
        self.observed(trial, &mut |_| {})
    }

    fn observed(&mut self, trial: Trial, see: &mut dyn FnMut(&Reply)) -> Outcome<(TrialOutcome, Cost)> {
        let ordinal = self.trials;
        self.trials += 1;
        let (mut ios, before) = (0, cpu::of_process(self.pid)?);
        let outcome = self.ask(
            &Request::Trial { ordinal, trial: Box::new(trial), faults: Vec::new(), block: 0, begin: Nanos(0) },
            |reply| {
                see(&reply);
                match reply {
                    Reply::TrialDone { outcome, .. } => Some(outcome),
                    Reply::Slices { slices, .. } => {
                        ios += slices.iter().map(|slice| slice.ops).sum::<u64>();
                        None
                    }
                    _ => None,
                }
            },
        )?;
        ios += outcome.drained.iter().map(|drained| drained.latency.count()).sum::<u64>();
        Ok((*outcome, Cost { ios, cpu: cpu::of_process(self.pid)?.saturating_sub(before) }))
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

/// Refuses a trial whose latencies leave something out: it did not end as planned, an I/O failed, is still in flight or
/// never began.
pub fn whole(outcome: &TrialOutcome) -> Outcome<()> {
    let failed: u64 = outcome.errors.iter().map(|errors| errors.count).sum();
    let (out, left) = (outcome.censored.len(), never_begun(outcome));
    match outcome.status {
        TrialStatus::Complete if failed == 0 && out == 0 && left == 0 => Ok(()),
        status => Err(format!(
            "a trial of Stend ended as {status:?}: {failed} I/Os failed, {out} are still in flight, {left} never began"
        )),
    }
}

/// I/Os that were due in the window and never began.
pub fn never_begun(outcome: &TrialOutcome) -> u64 {
    outcome.open.iter().flat_map(|open| &open.never_begun).map(|ages| ages.count()).sum()
}

/// From /proc/PID/status, whose kB are KiB (proc(5)).
fn memory(status: &str) -> Option<Memory> {
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix(" kB")?.parse().ok().map(Bytes::kib)
    };
    Some(Memory { now: of("VmRSS:")?, most: of("VmHWM:")? })
}

fn run_id() -> String {
    format!("bench-{}", std::process::id())
}

fn words(error: &Error) -> String {
    error.render(stend_base::Lang::En)
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use stend_base::Histogram;
    use stend_base::histogram::Sparse;
    use stend_record::observed::OpenTotals;
    use stend_record::{Censored, JobTotals};
    use stend_spec::workload::{OPS, Op};

    /// So many latencies of a millisecond, by operation: all of writes.
    pub fn latencies(count: u64) -> [Sparse; OPS] {
        Op::ALL.map(|op| {
            let mut histogram = Histogram::new();
            (0..if op == Op::Write { count } else { 0 }).for_each(|_| histogram.record(Nanos(1_000_000)));
            histogram.sparse()
        })
    }

    /// An I/O that is still out.
    pub fn censored() -> Censored {
        Censored { stream: 0, op: Op::Write, age: Nanos::SECOND, in_flight: Nanos::SECOND }
    }

    /// An open-loop trial of a second in which so many writes were due and made.
    pub fn outcome(writes: u64) -> TrialOutcome {
        let job = JobTotals {
            done: Op::ALL.map(|op| if op == Op::Write { (writes, writes * 4096) } else { (0, 0) }),
            latency: latencies(writes),
            ..JobTotals::default()
        };
        TrialOutcome {
            jobs: vec![job],
            open: vec![OpenTotals {
                stream: 0,
                due: writes,
                late: Sparse::default(),
                own_late: Sparse::default(),
                never_begun: latencies(0),
            }],
            ..TrialOutcome::empty(Nanos(0), (Nanos(0), Nanos::SECOND))
        }
    }

    #[test]
    fn memory_is_read_in_kib() {
        let status = "Name:\tstend\nVmHWM:\t   20480 kB\nVmRSS:\t    1024 kB\n";
        assert_eq!(memory(status), Some(Memory { now: Bytes::mib(1), most: Bytes::mib(20) }));
        assert_eq!(memory("VmRSS: 1 kB\n"), None);
    }

    #[test]
    fn a_trial_is_whole_if_every_io_of_it_has_a_latency() {
        let told = |change: fn(&mut TrialOutcome)| {
            let mut outcome = outcome(3);
            change(&mut outcome);
            whole(&outcome)
        };
        assert_eq!(told(|_| ()), Ok(()));
        let left = told(|outcome| outcome.open[0].never_begun = latencies(2));
        assert_eq!(
            left,
            Err("a trial of Stend ended as Complete: 0 I/Os failed, 0 are still in flight, 2 never began".to_string())
        );
        assert!(told(|outcome| outcome.censored = vec![censored()]).is_err());
        assert!(told(|outcome| outcome.status = TrialStatus::Stalled).is_err());
        let error = stend_record::IoErrors { stream: 0, op: Op::Write, errno: 5, count: 1, first_offset: Some(0) };
        let mut failed = outcome(3);
        failed.errors.push(error);
        assert!(whole(&failed).is_err());
    }
}
