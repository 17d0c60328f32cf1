//! One trial from the order to its outcome: checks, choice of backend, and the run. Must not retry.

use crate::Control;
use crate::backend::{Choice, Lane, choose_backend};
use crate::engine;
use crate::io_log;
use crate::layout::{self, Job};
use crate::payload::Payload;
use crate::prober::Prober;
use crate::recorder::memory_per_thread;
use crate::replay::{self, Traces};
use crate::target::{Target, own_file};
use crate::task::{Sinks, Task};
use crate::threads;
use crate::verify;
use crate::verify::ledger::{self, LedgerIn, LedgerThread};
use crate::verify::marks::Marks;
use stend_base::{Bytes, Error, Lang, Result, Say, format, say};
use stend_record::io_log::{OFFSET_LIMIT, SIZES_MAX};
use stend_record::observed::{Slice, TrialOutcome};
use stend_spec::workload::{Backend, Data, OPS, Op, Pattern, Sync, Trial};
use stend_sys::buffer::{self, Pages};
use stend_sys::{IoFile, clock, queue};

/// After so many failed I/Os a trial is over: enough to see whether they are of one kind and where they
/// lie, few enough not to hammer a drive that is on its way out.
const FAULT_LIMIT: u64 = 100;
/// Most threads of the psync lane; each costs a stack and more than a megabyte of histograms.
const PSYNC_THREADS_MAX: u64 = 1024;
/// Largest I/O: the kernel cuts longer ones at 2 GiB less a page (MAX_RW_COUNT).
const BLOCK_MAX: u64 = 1 << 30;

/// Runs `trial` on `file`, which must have been opened as the trial says (direct, writable).
///
/// `emit` is called from this thread about every 100 ms with what became known since; it should return
/// soon, and while it does not, intervals are merged and the load goes on. Failed and stalled I/O is part
/// of the outcome. Errors are `Preflight` (cannot start), `Interrupted` (stopped before the start) or
/// `Bug`.
pub fn run_trial(
    trial: &Trial,
    file: &IoFile,
    control: &Control,
    emit: &mut dyn FnMut(Vec<Slice>),
) -> Result<TrialOutcome> {
    // A run of its own, which began now: what an earlier one left on the target is not taken for its own.
    let (.., realtime) = clock::stamps();
    let sinks = Sinks { slices: emit, log: &mut drop, note: &mut drop };
    run_trial_of(Marks::of_session(realtime, 0), None, trial, &[], file, control, sinks)
}

/// The same for a trial of a run, whose `marks` verified streams write into every sector, and whose `traces` are replayed by
/// the streams that name them. `ledger` is where the writes of streams are kept whose crash is to be judged; it stays there
/// until somebody removes it. Reading back after the
/// window, where a stream asks for it, is part of the call and takes [`Trial::read_back_limit`] at most; nothing is
/// emitted meanwhile. What was not as written is part of the outcome, too.
pub fn run_trial_of(
    marks: Marks,
    ledger: Option<LedgerIn>,
    trial: &Trial,
    traces: &Traces,
    file: &IoFile,
    control: &Control,
    sinks: Sinks,
) -> Result<TrialOutcome> {
    let (choice, mut jobs) = set_up(trial, traces, file)?;
    verify::attach(&mut jobs, marks);
    let keeper = ledger::open(&mut jobs, marks, ledger, file.is_direct(), control)?;
    replay::attach(&mut jobs, trial, traces);
    let target = Target::new(file, trial, &jobs)?;
    let task = Task { trial, jobs: &jobs, lane: choice.lane, target: &target, fault_limit: FAULT_LIMIT };
    let cpus = threads::places(&jobs, |job| threads::threads_of(job, choice.lane));
    let prober = Prober::start(trial, file, &cpus)?;
    let ran = engine::run_logged(&task, control, sinks);
    // A ledger that fails stops the load, so its reason comes first.
    if let Some(Err(failure)) = keeper.map(LedgerThread::end) {
        return Err(Error::run_file(failure));
    }
    let mut outcome = ran?;
    if let Some(prober) = prober {
        prober.conclude(trial, control.stopped(), &mut outcome);
    }
    verify::read_back::conclude(&task, control, &mut outcome);
    outcome.engine.chosen = choice.chosen;
    outcome.engine.fallback_reason = choice.fallback_reason;
    Ok(outcome)
}

/// Whether the trial could be run: its errors before the first I/O, from way of submitting to memory. Makes no load; a
/// device that is to be polled is asked for one block.
pub fn foresee(trial: &Trial, traces: &Traces, file: &IoFile) -> Result<()> {
    set_up(trial, traces, file).map(|_| ())
}

/// How to submit, and the jobs; nothing is started.
fn set_up(trial: &Trial, traces: &Traces, file: &IoFile) -> Result<(Choice, Vec<Job>)> {
    check(trial, file)?;
    replay::check(trial, traces)?;
    let choice = choose_backend(trial, file)?;
    let jobs = layout::jobs(trial, u64::MAX)?;
    check_size(trial, &jobs, choice.lane, replay::memory(trial, traces))?;
    verify::check_areas(&jobs)?;
    if let Some(appending) = jobs.iter().find(|job| job.spec.pattern == Pattern::Append) {
        own_file(file, appending)?;
    }
    Ok((choice, jobs))
}

/// The same for what is kept and made beside the load.
fn check_beside(trial: &Trial, file: &IoFile) -> Result<()> {
    let defect = |text: Say| Err(Error::bug(text));
    let reach = trial.region.start.0.saturating_add(trial.region.len.0);
    let told = |s: &stend_spec::workload::Stream| s.replay.is_none() && s.sizes().count() <= SIZES_MAX;
    if trial.io_log.is_some() && !(reach <= OFFSET_LIMIT.0 && trial.streams.iter().all(told)) {
        return defect(say!(
            "a trial with a log of every I/O has I/Os that do not fit its records",
            "в испытании с журналом операций есть такие, которые его записи не вмещают"
        ));
    }
    let misplaced = |prober: &stend_spec::prober::Prober| {
        let sane = (1..=BLOCK_MAX).contains(&prober.block.0) && prober.block <= prober.region.len;
        !sane || !trial.region.holds(prober.region) || prober.op == Op::Write && !file.is_writable()
    };
    if trial.prober().is_some_and(misplaced) {
        return defect(say!(
            "the prober of the trial works outside of the trial's region, or writes to what is open for reading only",
            "пробы испытания выходят за пределы его области или пишут туда, что открыто только на чтение"
        ));
    }
    Ok(())
}

/// What the planner must not ask for.
pub(crate) fn check(trial: &Trial, file: &IoFile) -> Result<()> {
    let defect = |text: Say| Err(Error::bug(text));
    check_beside(trial, file)?;
    if trial.writes() && !file.is_writable() {
        return defect(say!(
            "a trial that writes was given a target that is open for reading only",
            "испытанию с записью передан объект, открытый только на чтение"
        ));
    }
    if trial.direct != file.is_direct() {
        return defect(say!(
            "the trial and the open target disagree about direct I/O",
            "у испытания и открытого объекта разный режим прямого ввода-вывода"
        ));
    }
    if trial.backend == Backend::Libaio && !trial.direct {
        return defect(say!(
            "a trial with libaio must use direct I/O",
            "испытание с libaio должно идти с прямым вводом-выводом"
        ));
    }
    if trial.backend == Backend::Libaio && trial.erases() {
        return defect(say!(
            "a trial with libaio must not discard or write zeroes",
            "испытание с libaio не должно выполнять освобождений и записи нулей"
        ));
    }
    let ranges = trial.streams.iter().any(|s| matches!(s.sync, Sync::SyncFileRange(_)));
    let by_ring = matches!(trial.backend, Backend::IoUring | Backend::IoUringSqpoll | Backend::IoUringIopoll);
    if ranges && (trial.direct || by_ring) {
        return defect(say!(
            "a trial with sync_file_range must be buffered and made by plain calls",
            "испытание с sync_file_range должно идти через страничный кэш и обычными вызовами"
        ));
    }
    let sane = |s: &stend_spec::workload::Stream| {
        s.jobs > 0
            && (1..=queue::SLOTS_MAX).contains(&s.queue_depth)
            && (s.think.is_none() || !s.is_open())
            && (1..=BLOCK_MAX).contains(&s.block_size.0)
            && s.mix.shares().map(|(_, share)| u32::from(share)).sum::<u32>() == 100
            && (s.verify.is_none()
                || s.mix.write > 0 && !s.mix.erases() && s.block_mix.is_empty() && s.data == Data::default())
    };
    check_parts(trial)?;
    let sizes = |s: &stend_spec::workload::Stream| {
        s.sizes().map(|share| u32::from(share.percent)).sum::<u32>() == 100
            && s.sizes().all(|share| share.percent > 0 && (1..=s.block_size.0).contains(&share.size.0))
            && s.sizes().any(|share| share.size == s.block_size)
    };
    if trial.streams.is_empty() || !trial.streams.iter().all(|s| sane(s) && sizes(s)) {
        return defect(say!(
            "a stream of the trial is out of range (jobs, queue depth, block size, mix or verification)",
            "поток испытания вне допустимых границ (задания, глубина очереди, размер блока, доля чтения или сверка)"
        ));
    }
    Ok(())
}

/// The same of the parts of its region.
fn check_parts(trial: &Trial) -> Result<()> {
    let defect = |text: Say| Err(Error::bug(text));
    let part = trial.region.part(trial.parts, 0);
    if trial.streams.iter().any(|s| s.region.is_some_and(|region| !part.holds(region))) {
        return defect(say!(
            "a stream of the trial works outside of the trial's region",
            "поток испытания работает за пределами его области"
        ));
    }
    if trial.streams.iter().any(|s| !s.jobs.is_multiple_of(trial.parts.max(1))) {
        return defect(say!(
            "a stream of the trial has not as many jobs in each part of the region",
            "у потока испытания разное число заданий в частях области"
        ));
    }
    Ok(())
}

/// Kinds of operations that a stream may make; a trace any.
fn kinds(stream: &stend_spec::workload::Stream) -> u64 {
    match &stream.replay {
        Some(_) => OPS as u64,
        None => stream.mix.shares().count() as u64 + u64::from(stream.sync.every() > 0),
    }
}

/// Memory of the I/Os of a job with so many threads, in bytes.
pub(crate) fn buffers(job: &Job, threads: u64, pages: Pages) -> u64 {
    let places = u64::from(job.spec.queue_depth) / threads.max(1);
    let each = Payload::new(job).slot_len().saturating_mul(places as usize);
    threads.saturating_mul(pages.round_up(each) as u64)
}

/// Refuses what would take the machine down before it measures anything. `traces`: bytes of recorded I/Os.
fn check_size(trial: &Trial, jobs: &[Job], lane: Lane, traces: u64) -> Result<()> {
    let in_flight = trial.in_flight();
    if lane == Lane::Psync && in_flight > PSYNC_THREADS_MAX {
        return Err(Error::preflight(say!(
            "with psync {in_flight} I/Os in flight need as many threads; the limit is {PSYNC_THREADS_MAX}",
            "с psync одновременный ввод-вывод в {in_flight} операций требует столько же потоков; предел — {PSYNC_THREADS_MAX}"
        ))
        .hint(say!("lower queue depth or jobs", "уменьшите глубину очереди или число заданий")));
    }
    let threads_of = |job: &Job| if lane == Lane::Psync { u64::from(job.spec.queue_depth) } else { 1 };
    let of = |job: &Job| {
        let (threads, buffers) = (threads_of(job), buffers(job, threads_of(job), threads::pages_of(trial)));
        let course = job.course.as_ref().filter(|_| job.job == 0).map_or(0, |course| course.memory());
        let recorded = threads * memory_per_thread(job.spec.is_open(), kinds(&job.spec));
        buffers.saturating_add(recorded + verify::memory(job) + course)
    };
    let log = trial.io_log.map_or(0, |_| io_log::memory(jobs.iter().map(threads_of).sum()));
    let need = jobs.iter().fold(traces.saturating_add(log), |sum, job| sum.saturating_add(of(job)));
    let have = buffer::memory_total();
    if need > have / 2 {
        let sizes = |lang| (format::bytes(Bytes(need), lang), format::bytes(Bytes(have), lang));
        let ((need, have), (need_ru, have_ru)) = (sizes(Lang::En), sizes(Lang::Ru));
        let message = Say {
            en: format!("the trial needs {need} of memory, more than half of this machine's {have}"),
            ru: format!("испытанию нужно {need_ru} памяти, больше половины имеющейся ({have_ru})"),
        };
        return Err(Error::preflight(message).hint(say!(
            "lower queue depth, jobs or block size; for `verify` take a smaller range or larger blocks",
            "уменьшите глубину очереди, число заданий или размер блока; для `verify` возьмите область меньше или блоки крупнее"
        )));
    }
    Ok(())
}
