//! fio as an engine: runs the same trial through the fio of the host and yields the same slices and totals. What it
//! cannot express was refused by `stend_spec::external`, which also says where it means something else.
//!
//! It gets the target as its descriptor 0 and never a name, a job file and a place for its logs in memory, and as much
//! time as our engine would take. Its numbers are taken from its summary (totals, latencies with the submission) and its
//! histogram logs (intervals, latencies without it). Must not correct what it measured.

mod document;
mod faults;
mod job;
mod logs;
mod outcome;
mod probe;
mod ran;
mod scratch;
mod slices;

pub use probe::{Fio, probe_fio};
pub use scratch::remove_dead_scratches;

use crate::backend::{Lane, choose_backend, ring_works};
use crate::child::{self, Order};
use crate::layout::{self, Job};
use crate::prober::Prober;
use crate::threads::stopped_before_start;
use crate::{Control, threads, trial};
use outcome::Printed;
use ran::Ran;
use scratch::Scratch;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::os::fd::AsFd;
use std::time::Duration;
use stend_base::{Error, Result, say};
use stend_record::observed::{Slice, TrialOutcome};
use stend_record::{Chosen, EventKind};
use stend_spec::external::{self, FioNeed};
use stend_spec::workload::{Backend, Sync, Trial};
use stend_sys::{IoFile, clock};

/// From the start of fio to its first I/O: it looks at clocks and target; 0.2 to 0.4 s were measured.
const STARTUP: Duration = Duration::from_secs(8);
/// Most lines of histogram logs that a trial makes: fio keeps each in memory, with 15 KB, until its end, and writes all
/// before its summary. 10,292 lines took 1.5 s after SIGINT, and one that was stopped has 1 s.
const ROWS_MAX: u64 = 3_000;
/// As many slices go into one message.
const SLICES_AT_ONCE: usize = 2000;

/// The way in which fio submits.
#[derive(Debug)]
struct Way {
    /// Name of the backend, which is that of fio's engine.
    name: &'static str,
    chosen: Chosen,
    fallback_reason: String,
}

/// Runs `trial` on `file` by the fio of this host. As [`run_trial`](crate::run_trial), but slices come when the trial has
/// ended, because fio writes its logs then; `log` gets the command. Errors are `Preflight` too if fio failed in a way
/// that is not the target's, or said what cannot be understood.
pub fn run_trial_by_fio(
    trial: &Trial,
    file: &IoFile,
    control: &Control,
    emit: &mut dyn FnMut(Vec<Slice>),
    log: &mut dyn FnMut(EventKind),
) -> Result<TrialOutcome> {
    trial::check(trial, file)?;
    let fio = probe_fio()?;
    let jobs = layout::jobs(trial, u64::MAX)?;
    fio.check(FioNeed { o_dsync: trial.streams.iter().any(|stream| stream.sync == Sync::ODsync) })?;
    let way = choose(trial, file, &fio)?;
    if control.stopped() {
        return Err(stopped_before_start());
    }
    let cpus = threads::places(&jobs, |_| 1);
    let scratch = Scratch::new().map_err(|e| no_scratch(&e))?;
    let hist_ms = interval_ms(trial, &jobs);
    let setting =
        job::Setting { ioengine: way.name, cpus: &cpus, logs: scratch.path(), hist_ms, monotonic: fio.monotonic };
    let job_file = job::text(trial, &jobs, &setting);
    let clocks = clock::stamps();
    let prober = Prober::start(trial, file, &cpus)?;
    let (ended, argv) = start(trial, file, control, (&scratch, &job_file))?;
    let exit = ended.status.and_then(|status| status.code());
    log(EventKind::Command { argv, exit, output: ended.words.clone() });
    let told = match read(&ended, &jobs, &scratch) {
        Ok(told) => Some(told),
        // It was ended before it could say anything.
        Err(_) if ended.cut.is_some() => None,
        Err(why) => return Err(given_up(&ended, &why, &job_file, log)),
    };
    if ended.status.is_none() {
        // It hangs in the kernel with the target open: what the claim holds must not be let go under it.
        std::mem::forget(file.try_clone());
    }
    let ran = Ran { trial, jobs: &jobs, ended: &ended, hist_ms, monotonic: fio.monotonic };
    let (mut outcome, slices) = match outcome::conclude(&ran, told) {
        Ok(concluded) => concluded,
        Err(why) => return Err(given_up(&ended, &why, &job_file, log)),
    };
    if let Some(prober) = prober {
        prober.conclude(trial, control.stopped(), &mut outcome);
    }
    outcome.clocks = [clocks, clock::stamps()];
    outcome.engine.backend = way.name.into();
    (outcome.engine.chosen, outcome.engine.fallback_reason) = (way.chosen, way.fallback_reason);
    outcome.engine.cpus = cpus.iter().flatten().copied().collect::<BTreeSet<u32>>().into_iter().collect();
    outcome.engine.direct = file.is_direct();
    if let Some(external) = &mut outcome.engine.external {
        (external.version, external.job_file) = (fio.version, job_file);
    }
    slices.chunks(SLICES_AT_ONCE).for_each(|chunk| emit(chunk.to_vec()));
    Ok(outcome)
}

fn start(
    trial: &Trial,
    file: &IoFile,
    control: &Control,
    (scratch, job_file): (&Scratch, &str),
) -> Result<(child::Ended, Vec<String>)> {
    let path = scratch.write("trial.fio", job_file).map_err(|e| no_scratch(&e))?;
    let mut arguments = vec!["--output-format=json+".to_string(), "--eta=never".into()];
    if !trial.writes() {
        arguments.push("--readonly".into());
    }
    arguments.push(path.display().to_string());
    let target = file.as_fd().try_clone_to_owned().map_err(|e| probe::missing(&e))?;
    let order = Order {
        program: probe::PROGRAM,
        arguments: arguments.clone(),
        directory: Some(scratch.path()),
        input: Some(target),
        // As our own engine has them; huge ones were refused.
        ordinary_pages: true,
        ..Order::default()
    };
    let limit = STARTUP + (trial.ramp + trial.window + trial.drain_limit).duration();
    let mut ended = child::run(order, limit, &|| control.stopped()).map_err(|e| probe::missing(&e))?;
    // What ended a job stands before the summary, what the kernel said to a single I/O on standard error.
    let said = [document::outside(&ended.output), std::mem::take(&mut ended.words)];
    ended.words = said.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
    let argv = std::iter::once(probe::PROGRAM.to_string()).chain(arguments).collect();
    Ok((ended, argv))
}

/// Reads the summary and the logs of all jobs; the error says what about them is wrong.
fn read(ended: &child::Ended, jobs: &[Job], scratch: &Scratch) -> std::result::Result<Printed, String> {
    let document = document::Document::parse(&ended.output)?;
    let mut rows = Vec::with_capacity(jobs.len());
    for job in jobs {
        // A job without a completed I/O has no log, or an empty one.
        let path = scratch.find(&format!("{}_", job::name(job))).map_err(|e| e.to_string())?;
        rows.push(match path {
            Some(path) => logs::rows(BufReader::new(File::open(path).map_err(|e| e.to_string())?))?,
            None => Vec::new(),
        });
    }
    Ok(Printed { document, rows })
}

/// Time between two lines of a log: an interval, or as many as keep all logs small.
fn interval_ms(trial: &Trial, jobs: &[Job]) -> u64 {
    let interval = crate::INTERVAL.0 / 1_000_000;
    let kinds: u64 = jobs.iter().map(|job| job.spec.mix.shares().count() as u64).sum();
    let rows = kinds.saturating_mul(trial.window.0.div_ceil(crate::INTERVAL.0));
    interval * rows.div_ceil(ROWS_MAX).max(1)
}

/// The way of fio that is nearest to the one that our own engine would take, among those that tell of failed syncs.
fn choose(trial: &Trial, file: &IoFile, fio: &Fio) -> Result<Way> {
    let choice = choose_backend(trial, file)?;
    let single = trial.streams.iter().all(|stream| stream.queue_depth == 1);
    let way = match choice.lane {
        // Through io_uring fio takes a sync that failed for done (`stend_spec::external`).
        Lane::IoUring(_) | Lane::Psync if trial.streams.iter().any(external::syncs) => Way {
            name: if single { "psync" } else { "libaio" },
            chosen: if trial.backend == Backend::Psync { choice.chosen } else { Chosen::Syncs },
            fallback_reason: String::new(),
        },
        // A job of fio with psync has one I/O in flight.
        Lane::Psync if !single => match ring_works() {
            Ok(()) => Way { name: "io_uring", chosen: Chosen::Works, fallback_reason: String::new() },
            Err(no_ring) => Way { name: "libaio", chosen: Chosen::Fallback, fallback_reason: no_ring.to_string() },
        },
        lane => Way { name: lane.name(), chosen: choice.chosen, fallback_reason: choice.fallback_reason },
    };
    if fio.engines.iter().any(|engine| engine == way.name) {
        return Ok(way);
    }
    let (version, name) = (&fio.version, way.name);
    let error = say!(
        "{version} of this host cannot submit through `{name}`",
        "{version} на этой машине не умеет подавать ввод-вывод через `{name}`"
    );
    let error = Error::preflight(error);
    Err(if trial.backend == Backend::Auto {
        error.hint(say!("name another `backend` in the suite", "укажите в наборе другой `backend`"))
    } else {
        error.hint(say!("use `backend: auto`", "укажите `backend: auto`"))
    })
}

fn no_scratch(e: &std::io::Error) -> Box<Error> {
    let message = say!("no place in memory for the logs of fio: {e}", "нет места в памяти для журналов fio: {e}");
    Error::preflight(message).hint(say!("make room in /dev/shm or /tmp", "освободите место в /dev/shm или /tmp"))
}

/// The error for a trial without an outcome; its job file goes to the log, because no outcome will hold it.
fn given_up(ended: &child::Ended, why: &str, job_file: &str, log: &mut dyn FnMut(EventKind)) -> Box<Error> {
    log(EventKind::Note { text: format!("job file of the fio that failed:\n{job_file}") });
    not_understood(ended, why)
}

/// fio failed, or said something strange. Its own last words stand first.
fn not_understood(ended: &child::Ended, why: &str) -> Box<Error> {
    let words = ended.words.lines().last().unwrap_or(why);
    match ended.status.filter(|status| ended.cut.is_none() && !status.success()) {
        Some(status) => {
            Error::preflight(say!("fio failed ({status}): {words}", "fio завершился неудачей ({status}): {words}"))
                .hint(say!(
                    "its command, output and job file are in the run file: `stend export RUN --format json`",
                    "его команда, сообщения и файл задания — в файле прогона: `stend export ПРОГОН --format json`"
                ))
        }
        None => {
            Error::preflight(say!("the output of fio cannot be used: {why}", "вывод fio использовать нельзя: {why}"))
        }
    }
}

#[cfg(test)]
mod tests;
