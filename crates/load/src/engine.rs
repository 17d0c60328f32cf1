//! Runs jobs to their end and says what was seen: the one loop between load threads and caller. Must not
//! know what the load is for (trial or fill).

use crate::backend::Lane;
use crate::collector::{Collector, JobSum};
use crate::io_log::{LogBudget, Missed};
use crate::layout::Job;
use crate::message::Message;
use crate::offered::{self, Offered};
use crate::shared::Times;
use crate::task::{Sinks, Task};
use crate::threads::{LoadThreads, Member, died, stopped_before_start};
use crate::{Control, INTERVAL};
use std::io;
use std::time::Duration;
use stend_base::{Nanos, Result};
use stend_record::EventKind;
use stend_record::observed::{Censored, EngineFacts, IoErrors, JobFacts, JobTotals, Slice, TrialOutcome, TrialStatus};
use stend_spec::workload::Op;
use stend_sys::aio::Syncs;
use stend_sys::ticker::Ticker;
use stend_sys::{affinity, clock};

/// Slices of an interval are made this long after its end, ns, so that the parts of all threads that are
/// not stuck have arrived; by eye: threads hand over within microseconds when they have a CPU.
const GRACE: u64 = 10_000_000;
/// From the order to start until load starts, ns: all threads must be awake by then.
const START_DELAY: u64 = 5_000_000;
/// More of that per thread, ns: one wake-up.
const START_DELAY_PER_THREAD: u64 = 20_000;
/// After a stop, I/O in flight may take this long, ns: the worker promises to be quiet within 2 s.
const STOP_PATIENCE: u64 = 1_000_000_000;
/// A thread that could go on says goodbye within this time after waiting ended, ns.
const FAREWELL: u64 = 200_000_000;
/// A target from which only errors came for this long is not waited for, ns.
const ONLY_ERRORS: u64 = 1_000_000_000;
/// So many of them, at least, before the load is ended early: a slow open loop may have begun a single I/O by then.
const ONLY_ERRORS_LEAST: u64 = 10;

/// The number of an error of which the system says none.
const EIO: i32 = 5;

/// Kernel workers are counted once in this many intervals: idle ones live for 5 s (io_uring/io-wq.c), and
/// counting reads a file per thread.
const WORKERS_EVERY: u32 = 10;

/// Readings of the clock that its cost is taken from: 20 µs where the vDSO answers, 0.5 ms where the kernel must.
const CLOCK_READINGS: u64 = 512;
/// Longest wait for the clock of the load threads to count by itself.
const CLOCK_WARM_UP: Nanos = Nanos::millis(5);

/// Runs the task, which keeps no log; calls `emit` about every 100 ms.
pub(crate) fn run(task: &Task, control: &Control, emit: &mut dyn FnMut(Vec<Slice>)) -> Result<TrialOutcome> {
    run_logged(task, control, Sinks { slices: emit, log: &mut drop, note: &mut drop })
}

/// Runs the task.
pub(crate) fn run_logged(task: &Task, control: &Control, mut sinks: Sinks) -> Result<TrialOutcome> {
    let crew = LoadThreads::muster(task, control)?;
    if control.stopped() {
        return Err(stopped_before_start());
    }
    let clock_read_ns = clock_read_ns();
    let clocks = clock::stamps();
    let mut watch = Watch::begin(task, crew, control, clock_read_ns);
    watch.until_the_end(control, &mut sinks)?;
    watch.outcome(clocks, &mut sinks)
}

/// The state of the loop.
struct Watch<'a> {
    task: &'a Task<'a>,
    crew: LoadThreads,
    times: Times,
    offered: Offered,
    collector: Collector<'a>,
    budget: Option<LogBudget>,
    sums: Vec<JobSum>,
    /// The interval whose slices are due next.
    interval: u32,
    kernel_workers: u32,
    clock_read_ns: u32,
    interrupted: bool,
    only_errors: bool,
    /// The first thread whose way of submitting broke, as a failed I/O.
    broken: Option<IoErrors>,
}

impl<'a> Watch<'a> {
    /// Lets the threads go.
    fn begin(task: &'a Task<'a>, crew: LoadThreads, control: &Control, clock_read_ns: u32) -> Watch<'a> {
        let now = clock::now().0;
        let soonest = now + START_DELAY + START_DELAY_PER_THREAD * crew.members.len() as u64;
        let load_start = soonest.max(control.begin().0);
        let times = Times { load_start, window_start: load_start.saturating_add(task.trial.ramp.0) };
        let end = times.window_start.saturating_add(task.trial.window.0);
        let drain = task.trial.drain_limit.0;
        // What an open loop is behind with tells little more once it took as long as the window; and what then is in
        // flight must have time left to end.
        let begin_until = end.saturating_add(task.trial.window.0.min(drain / 2));
        crew.go(times, end, begin_until, end.saturating_add(drain));
        Watch {
            task,
            crew,
            times,
            offered: Offered::new(task.jobs, task.trial.ramp.0),
            collector: Collector::new(&task.trial.streams),
            budget: task.trial.io_log.map(LogBudget::new),
            sums: task.jobs.iter().map(|job| JobSum::new(job.spec.is_open())).collect(),
            interval: 0,
            kernel_workers: 0,
            clock_read_ns,
            interrupted: false,
            only_errors: false,
            broken: None,
        }
    }

    /// The loop: the only place that waits.
    fn until_the_end(&mut self, control: &Control, sinks: &mut Sinks) -> Result<()> {
        loop {
            let last = self.crew.shared.give_up().saturating_add(FAREWELL);
            let wait = Duration::from_nanos(self.due().min(last).saturating_sub(clock::now().0));
            let message = match self.everybody_finished() {
                // Nobody is left who could send anything.
                true => {
                    std::thread::sleep(wait);
                    None
                }
                false => self.crew.inbox.recv_timeout(wait).ok(),
            };
            let idle = message.is_none();
            message.map_or(Ok(()), |message| self.receive(message, sinks))?;
            let now = clock::now().0;
            if now >= last || self.everybody_finished() && !self.window_goes_on(now) {
                return self.receive_all(sinks);
            }
            if idle && self.someone_died(sinks)? {
                return Err(died());
            }
            if now >= self.due() {
                self.interval_over(now, sinks);
            }
            self.end_early_if_needed(now, control);
        }
    }

    fn everybody_finished(&self) -> bool {
        self.crew.members.iter().all(|member| member.finished.is_some())
    }

    /// A window of an open loop lasts to its end, also when nothing is due any more: ending it with the last
    /// I/O would leave out the quiet time behind it and make the rate too high.
    fn window_goes_on(&self, now: u64) -> bool {
        let paced = self.task.trial.streams.iter().any(|stream| stream.is_open());
        paced && now < self.crew.shared.end()
    }

    /// When slices of the current interval are made.
    fn due(&self) -> u64 {
        self.times.load_start + (u64::from(self.interval) + 1) * INTERVAL.0 + GRACE
    }

    fn receive(&mut self, message: Message, sinks: &mut Sinks) -> Result<()> {
        match message {
            Message::Part(thread, part) => {
                let member = &self.crew.members[thread];
                self.collector.absorb(&part, member.stream, &mut self.sums[member.job]);
                member.give_back(part);
            }
            Message::Log(thread, chunk) => {
                let member = &self.crew.members[thread];
                if let Some(budget) = &mut self.budget {
                    let (kept, full) = budget.take(&chunk, member.stream, self.task.jobs[member.job].job);
                    if full {
                        self.crew.shared.fill_log();
                    }
                    kept.into_iter().for_each(&mut sinks.log);
                }
                member.give_back_chunk(chunk);
            }
            Message::Finished(thread, mut finished) => {
                if let Some(error) = finished.failure.take() {
                    self.broke(thread, &error, sinks);
                }
                self.crew.members[thread].finished = Some(finished);
            }
            Message::Ready(_) => {}
        }
        Ok(())
    }

    /// The system refuses I/Os of a thread: its load has failed, and what was measured until then stays.
    fn broke(&mut self, thread: usize, error: &io::Error, sinks: &mut Sinks) {
        (sinks.note)(EventKind::Note { text: format!("a load thread could not go on: {error}") });
        let stream = self.crew.members[thread].stream;
        let mix = self.task.trial.streams[usize::from(stream)].mix;
        // Which I/O it was is not known, only what most of them are.
        let op = mix.shares().max_by_key(|(_, share)| *share).map_or(Op::Read, |(op, _)| op);
        let errno = error.raw_os_error().unwrap_or(EIO);
        self.broken.get_or_insert(IoErrors { stream, op, errno, count: 1, first_offset: None });
    }

    fn receive_all(&mut self, sinks: &mut Sinks) -> Result<()> {
        while let Ok(message) = self.crew.inbox.try_recv() {
            self.receive(message, sinks)?;
        }
        Ok(())
    }

    /// A thread is gone without a goodbye. Whatever it sent before is looked at first.
    fn someone_died(&mut self, sinks: &mut Sinks) -> Result<bool> {
        let gone: Vec<usize> = (0..self.crew.members.len())
            .filter(|&i| self.crew.members[i].finished.is_none() && self.crew.members[i].is_gone())
            .collect();
        if !gone.is_empty() {
            self.receive_all(sinks)?;
        }
        Ok(gone.iter().any(|&i| self.crew.members[i].finished.is_none()))
    }

    fn interval_over(&mut self, now: u64, sinks: &mut Sinks) {
        // After the end of the load there is nothing to say until everything is drained. What was due in an interval that
        // the end cuts is known now; its slices come with the rest. Behind it nothing was due.
        let (edge, end) = (self.due() - GRACE, self.crew.shared.end());
        if edge - INTERVAL.0 < end {
            self.offer(self.interval, edge.min(end));
        }
        if edge <= end {
            (sinks.slices)(self.collector.interval_over(self.interval));
        }
        if self.interval.is_multiple_of(WORKERS_EVERY) {
            self.count_kernel_workers();
        }
        let nothing_done = self.collector.completed() == 0 && self.crew.shared.fault_count() >= ONLY_ERRORS_LEAST;
        self.only_errors |= nothing_done && now >= self.times.load_start + ONLY_ERRORS;
        self.interval += 1;
    }

    /// Counts the I/Os of open loops that were due before `edge` in an interval.
    fn offer(&mut self, interval: u32, edge: u64) {
        for (stream, due) in self.offered.until(edge.saturating_sub(self.times.load_start)) {
            self.collector.due(interval, stream, due);
        }
    }

    fn count_kernel_workers(&mut self) {
        if matches!(self.task.lane, Lane::IoUring(_)) {
            self.kernel_workers = self.kernel_workers.max(affinity::kernel_workers());
        }
    }

    fn end_early_if_needed(&mut self, now: u64, control: &Control) {
        if control.stopped() && !self.interrupted {
            self.interrupted = true;
            self.crew.shared.end_early(now, STOP_PATIENCE);
        } else if (self.only_errors || self.broken.is_some() || self.crew.shared.too_many_faults())
            && now < self.crew.shared.end()
        {
            self.crew.shared.end_early(now, self.task.trial.drain_limit.0);
        }
    }

    fn outcome(mut self, start: (u64, u64, u64), sinks: &mut Sinks) -> Result<TrialOutcome> {
        let now = clock::now().0;
        let shared = self.crew.shared.clone();
        self.count_kernel_workers();
        let censored = censored(&self.crew.members, now);
        let window_end = shared.end().min(now);
        for interval in self.interval..=self.times.interval(window_end.saturating_sub(1)) {
            self.offer(interval, window_end.min(self.times.load_start + (u64::from(interval) + 1) * INTERVAL.0));
        }
        let open =
            offered::totals(self.task.jobs, (&self.crew, &self.offered), self.times.load_start, (window_end, now));
        let rest = self.collector.rest(self.times.interval(window_end.saturating_sub(1)));
        if !rest.is_empty() {
            (sinks.slices)(rest);
        }
        let planned = self.times.window_start.saturating_add(self.task.trial.window.0);
        let cut_short = self.interrupted && (window_end < planned || !censored.is_empty());
        let nothing_else = self.collector.completed() == 0 && shared.fault_count() > 0;
        let only_errors = self.only_errors || nothing_else && !cut_short && censored.is_empty();
        let status = if only_errors || self.broken.is_some() || shared.too_many_faults() {
            TrialStatus::Failed
        } else if cut_short {
            TrialStatus::Interrupted
        } else if censored.is_empty() {
            TrialStatus::Complete
        } else {
            TrialStatus::Stalled
        };
        let engine = EngineFacts {
            backend: self.task.lane.name().into(),
            kernel_workers: Some(self.kernel_workers),
            cpus: self.crew.cpus(),
            registered: self.crew.registered,
            direct: self.task.target.file().is_direct(),
            buffers: self.crew.buffers,
            clock_read_ns: self.clock_read_ns,
            jobs: self.job_facts(),
            plain_syncs: self.task.lane == Lane::Libaio(Syncs::Plain),
            ..EngineFacts::default()
        };
        let outcome = TrialOutcome {
            status,
            load_start: Nanos(self.times.load_start),
            window_start: Nanos(self.times.window_start.min(window_end)),
            window_end: Nanos(window_end),
            engine,
            jobs: self.job_totals(),
            drained: self.collector.drained(),
            censored,
            open,
            errors: shared.faults().into_iter().chain(self.broken.take()).collect(),
            probes: None,
            verification: None,
            io_log: self.budget.as_ref().map(|budget| budget.totals(self.missed(), self.failed())),
            tool_output: None,
            app: None,
            clocks: [start, clock::stamps()],
        };
        self.crew.dismiss();
        Ok(outcome)
    }

    fn missed(&self) -> impl Iterator<Item = Missed> + '_ {
        self.crew.members.iter().filter_map(|member| Some(member.finished.as_ref()?.missed))
    }

    /// I/Os of the window that failed.
    fn failed(&self) -> u64 {
        self.sums.iter().map(JobSum::failed).sum()
    }

    /// What was really set up: places are counted over the threads, areas are those that they were given.
    fn job_facts(&self) -> Vec<JobFacts> {
        let mut in_flight = vec![0u32; self.task.jobs.len()];
        self.crew.members.iter().for_each(|member| in_flight[member.job] += member.slots);
        // The node that all threads of a job agree on.
        let mut nodes: Vec<Option<Option<u32>>> = vec![None; self.task.jobs.len()];
        for member in &self.crew.members {
            let node = &mut nodes[member.job];
            *node = Some(node.map_or(member.node(), |before| before.filter(|b| Some(*b) == member.node())));
        }
        let facts = |(index, (job, in_flight)): (usize, (&Job, u32))| {
            let (block_size, area) = (job.spec.block_size, job.region());
            let dsync = self.task.target.of(job).is_dsync();
            let memory_node = nodes[index].flatten();
            JobFacts { stream: job.stream, job: job.job, in_flight, block_size, area, dsync, memory_node }
        };
        self.task.jobs.iter().zip(in_flight).enumerate().map(facts).collect()
    }

    fn job_totals(&self) -> Vec<JobTotals> {
        let mut totals: Vec<JobTotals> =
            self.task.jobs.iter().zip(&self.sums).map(|(job, sum)| sum.totals(job.stream, job.job)).collect();
        for member in &self.crew.members {
            let Some(finished) = &member.finished else { continue };
            let job = &mut totals[member.job];
            job.batch_span_ns = job.batch_span_ns.max(finished.batch_span.map(|span| span.0));
            if let Some(more) = finished.submissions {
                job.submissions.get_or_insert_default().add(more);
            }
            let Some(usage) = finished.usage else { continue };
            job.cpu_ns = Some(job.cpu_ns.unwrap_or(0) + usage.cpu_ns);
            job.cpu_max_ns = job.cpu_max_ns.max(Some(usage.cpu_ns));
            job.run_delay_ns = job.run_delay_ns.max(Some(usage.run_delay_ns));
        }
        totals
    }
}

/// What one reading of the clock of the load threads costs here, ns: the mean of [`CLOCK_READINGS`]. Until that clock counts
/// by itself takes it a few milliseconds.
fn clock_read_ns() -> u32 {
    let (mut ticker, start) = (Ticker::new(), clock::now());
    while !ticker.counts() && clock::now() < start + CLOCK_WARM_UP {
        ticker.now();
    }
    let start = clock::now();
    for _ in 0..CLOCK_READINGS {
        std::hint::black_box(ticker.now());
    }
    (clock::now().saturating_sub(start).0 / CLOCK_READINGS) as u32
}

fn censored(members: &[Member], now: u64) -> Vec<Censored> {
    let stuck = members.iter().filter(|m| m.finished.as_ref().is_none_or(|f| f.stalled));
    stuck
        .flat_map(|m| m.in_flight().into_iter().map(|flying| (m.stream, flying)))
        .map(|(stream, flying)| Censored {
            stream,
            op: flying.op,
            age: Nanos(now.saturating_sub(flying.due)),
            in_flight: Nanos(now.saturating_sub(flying.started)),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout;
    use crate::layout::tests::{stream, trial};
    use crate::message::Finished;
    use crate::target::Target;
    use stend_base::Bytes;
    use stend_spec::workload::Trial;
    use stend_sys::IoFile;

    #[test]
    fn a_way_of_submitting_that_breaks_ends_the_load_and_keeps_what_was_measured() {
        // The test does not wait for that: what broke ends the load.
        let trial = Trial { window: Nanos::secs(600), ..trial(Bytes::mib(1), vec![stream()]) };
        let jobs = layout::jobs(&trial, u64::MAX).unwrap();
        let file = IoFile::create_scratch(std::path::Path::new("/var/tmp"), 1 << 20, true).unwrap();
        let target = Target::new(&file, &trial, &jobs).unwrap();
        let task = Task { trial: &trial, jobs: &jobs, lane: Lane::Null, target: &target, fault_limit: 1 };
        let (control, mut notes) = (Control::new(), Vec::new());
        let mut watch = Watch::begin(&task, LoadThreads::muster(&task, &control).unwrap(), &control, 0);
        let mut sinks = Sinks { slices: &mut drop, log: &mut drop, note: &mut |kind| notes.push(kind) };
        let failure = Some(io::Error::from_raw_os_error(22));
        watch.receive(Message::Finished(0, Finished { failure, ..Finished::default() }), &mut sinks).unwrap();
        let now = clock::now().0;
        watch.end_early_if_needed(now, &control);
        assert!(watch.crew.shared.end() < now + Nanos::SECOND.0, "the others make no more I/O");
        watch.until_the_end(&control, &mut sinks).unwrap();
        let outcome = watch.outcome(clock::stamps(), &mut sinks).unwrap();
        let failed = IoErrors { stream: 0, op: Op::Read, errno: 22, count: 1, first_offset: None };
        assert_eq!((outcome.status, outcome.errors), (TrialStatus::Failed, vec![failed]));
        let [EventKind::Note { text }] = notes.as_slice() else { panic!("{notes:?}") };
        assert!(text.contains("could not go on"), "{text}");
    }
}
