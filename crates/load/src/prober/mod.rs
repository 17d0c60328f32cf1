//! The prober of a trial: single I/Os at times that were fixed before, beside whatever makes the load, ours or another
//! engine. Must not count for the load, and must not hurry it or wait for it.
//!
//! Each of a few threads waits for one I/O at a time, as a client does: plain calls need nothing of the kernel that the
//! load might have used up, and work on every target. One of the threads that are free waits until the next probe is due
//! and makes it. While all hang, none begins, and each that follows counts from when it was due, so that none is lost.
//! (A queue as deep as all probes of a trial would need a kernel worker for each durable write, which would look as
//! if the load had them.)

mod outcome;

use crate::target::share;
use outcome::{Probe, Seen};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use stend_base::own_data::{self, StampScope};
use stend_base::random::{Random, below, draw};
use stend_base::{Error, Nanos, Result, say};
use stend_record::observed::TrialOutcome;
use stend_spec::prober as spec;
use stend_spec::workload::{Op, Trial};
use stend_sys::buffer::Pool;
use stend_sys::{IoFile, affinity, clock};

/// Threads: one probe for 200 I/Os of the load has a 200th of the load's I/Os in flight, so that these wait for none of
/// their own beside a load of 3200 in flight.
const THREADS: usize = 16;
/// Stack of a thread; its buffer is elsewhere, and it calls nothing deep.
const STACK: usize = 128 << 10;
/// The prober begins so long after it was made, when all its threads are awake; its first probe may be late all the same.
const START_DELAY: Nanos = Nanos::millis(2);
/// After a stop probes may take this long, as I/O of the load may.
const STOP_PATIENCE: Nanos = Nanos::SECOND;
/// Apart from what the trial draws for its streams.
const SEED: u64 = 0x7072_6f62_6572;

/// A prober at work. Dropping it ends it without waiting for what hangs.
pub(crate) struct Prober {
    shared: Arc<Shared>,
    /// Closed when the last thread is gone.
    gone: Receiver<()>,
    cpus: Vec<u32>,
}

/// What its threads share.
struct Shared {
    asks: spec::Prober,
    file: IoFile,
    seed: u64,
    /// When the first probe is due.
    origin: Nanos,
    /// Number of the next probe; held by the thread that waits for its time.
    turn: Mutex<u64>,
    end: Mutex<End>,
    changed: Condvar,
    log: Mutex<Vec<Probe>>,
    cpu_ns: AtomicU64,
    cpu_unknown: AtomicBool,
}

/// When to stop.
#[derive(Debug, Clone, Copy)]
struct End {
    /// Probes that are due from here on are not made, ns.
    before: u64,
    /// No probe begins any more.
    at_once: bool,
}

/// A thread that panicked leaves nothing half done: every change is one assignment or one push.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Prober {
    /// Starts the prober of a trial, if it has one: on CPUs that load threads leave free if all of those are kept on CPUs, else where the
    /// scheduler puts it.
    pub fn start(trial: &Trial, file: &IoFile, load_cpus: &[Option<u32>]) -> Result<Option<Prober>> {
        let Some(&asks) = trial.prober() else { return Ok(None) };
        let kept = load_cpus.iter().all(Option::is_some);
        let allowed = if kept { affinity::allowed().unwrap_or_default() } else { Vec::new() };
        let cpus: Vec<u32> = allowed.into_iter().filter(|cpu| !load_cpus.contains(&Some(*cpu))).collect();
        let file = share(file)?.try_clone().map_err(|e| no_thread(&e))?;
        let shared = Arc::new(Shared {
            asks,
            file,
            seed: draw(trial.seed, SEED),
            origin: clock::now() + START_DELAY,
            turn: Mutex::new(0),
            end: Mutex::new(End { before: u64::MAX, at_once: false }),
            changed: Condvar::new(),
            log: Mutex::new(Vec::with_capacity(expected(trial, &asks))),
            cpu_ns: AtomicU64::new(0),
            cpu_unknown: AtomicBool::new(false),
        });
        let (sender, gone) = sync_channel(0);
        let prober = Prober { shared, gone, cpus };
        for _ in 0..THREADS {
            prober.start_thread(sender.clone())?;
        }
        Ok(Some(prober))
    }

    fn start_thread(&self, alive: SyncSender<()>) -> Result<()> {
        let (shared, cpus) = (self.shared.clone(), self.cpus.clone());
        let pool = Pool::new(1, shared.asks.block.0 as usize).map_err(|e| no_thread(&e))?;
        let work = move || {
            shared.work(pool, &cpus);
            drop(alive);
        };
        let builder = std::thread::Builder::new().name("prober".into()).stack_size(STACK);
        builder.spawn(work).map(drop).map_err(|e| no_thread(&e))
    }

    /// Ends it when the load has ended, waits for what is due in the window as long as the load's own I/O may take, and puts
    /// what it saw into the outcome of the trial.
    pub fn conclude(self, trial: &Trial, stopped: bool, outcome: &mut TrialOutcome) {
        let window = (outcome.window_start, outcome.window_end);
        let limit = if stopped { STOP_PATIENCE } else { trial.drain_limit };
        self.end(|end| end.before = window.1.0);
        let patience = (window.1 + limit).saturating_sub(clock::now());
        let all_came_back = self.wait(patience);
        self.end(|end| end.at_once = true);
        let until = clock::now();
        let shared = &self.shared;
        let next = *lock(&shared.turn);
        let never_begun = (next..).map(|number| shared.due(number)).take_while(|due| *due < window.1);
        let seen = Seen { log: &lock(&shared.log), block: shared.asks.block, window, until };
        let mut probes = seen.probes(never_begun);
        probes.lasted = until.saturating_sub(shared.origin);
        let cpu_known = all_came_back && !shared.cpu_unknown.load(Ordering::Relaxed);
        probes.cpu_ns = cpu_known.then(|| shared.cpu_ns.load(Ordering::Relaxed));
        probes.cpus.clone_from(&self.cpus);
        outcome.probes = Some(probes);
    }

    fn end(&self, change: impl FnOnce(&mut End)) {
        change(&mut lock(&self.shared.end));
        self.shared.changed.notify_all();
    }

    /// Whether all threads have ended in this time.
    fn wait(&self, patience: Nanos) -> bool {
        self.gone.recv_timeout(patience.duration()) == Err(RecvTimeoutError::Disconnected)
    }
}

impl Drop for Prober {
    fn drop(&mut self) {
        self.end(|end| end.at_once = true);
    }
}

impl Shared {
    /// A thread from its first to its last instruction. May hang in the kernel for good; nobody waits for that.
    fn work(&self, mut pool: Pool, cpus: &[u32]) {
        // Where it runs and how precisely it sleeps is better or worse, never wrong: what counts is when a probe was due.
        if !cpus.is_empty() {
            let _ = affinity::keep_current_on(cpus);
        }
        let _ = clock::sleep_precisely();
        let before = affinity::thread_times();
        while let Some((number, due)) = self.next() {
            self.probe(number, due, pool.slot_mut(0));
        }
        match (before, affinity::thread_times()) {
            (Some(before), Some(after)) => {
                self.cpu_ns.fetch_add(after.cpu_ns.saturating_sub(before.cpu_ns), Ordering::Relaxed);
            }
            _ => self.cpu_unknown.store(true, Ordering::Relaxed),
        }
    }

    /// When a probe is due. A rate is in thousandths per second: 10^12 ns over it are one gap.
    fn due(&self, number: u64) -> Nanos {
        let after = u128::from(number) * 1_000_000_000_000 / u128::from(self.asks.rate.0.max(1));
        self.origin + Nanos(u64::try_from(after).unwrap_or(u64::MAX))
    }

    /// Waits until the next probe is due, and takes it.
    fn next(&self) -> Option<(u64, Nanos)> {
        let mut turn = lock(&self.turn);
        let due = self.due(*turn);
        let mut end = lock(&self.end);
        loop {
            if end.at_once || due.0 >= end.before {
                return None;
            }
            let left = due.saturating_sub(clock::now());
            if left == Nanos(0) {
                break;
            }
            let (woken, _) = self.changed.wait_timeout(end, left.duration()).unwrap_or_else(PoisonError::into_inner);
            end = woken;
        }
        let number = *turn;
        *turn += 1;
        Some((number, due))
    }

    fn probe(&self, number: u64, due: Nanos, memory: &mut [u8]) {
        let spec::Prober { op, block, region, .. } = self.asks;
        let blocks = (region.len.0 / block.0.max(1)).max(1);
        let memory = &mut memory[..block.0 as usize];
        // Writes go round, so that two of them never meet.
        let chosen = if op == Op::Write { number % blocks } else { below(draw(self.seed, number), blocks) };
        let offset = region.start.0 + chosen * block.0;
        if op == Op::Write {
            Random::new(draw(self.seed, number)).fill(memory);
            for (sector, word) in memory.chunks_mut(own_data::SECTOR).zip(number << 16..) {
                let stamp = own_data::stamp(draw(self.seed, word), StampScope::Sector);
                sector.first_chunk_mut().into_iter().for_each(|first| *first = stamp);
            }
        }
        let begun = clock::now();
        let index = {
            let mut log = lock(&self.log);
            log.push(Probe { due, begun, ended: None });
            log.len() - 1
        };
        let result = until_uninterrupted(|| match op {
            Op::Write => self.file.write_durably_at(memory, offset),
            _ => self.file.read_at(memory, offset),
        });
        let answer = match result {
            Ok(moved) if moved == memory.len() => Ok(()),
            Ok(_) => Err(0),
            Err(e) => Err(e.raw_os_error().unwrap_or(0)),
        };
        let at = clock::now();
        lock(&self.log)[index].ended = Some((at, answer));
    }
}

fn until_uninterrupted(mut call: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match call() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Probes that a trial makes unless it drains.
fn expected(trial: &Trial, asks: &spec::Prober) -> usize {
    let length = u128::from(trial.ramp.0) + u128::from(trial.window.0);
    (length * u128::from(asks.rate.0) / 1_000_000_000_000) as usize + THREADS
}

fn no_thread(e: &io::Error) -> Box<Error> {
    Error::preflight(say!("cannot start the prober: {e}", "не удаётся запустить пробы: {e}")).hint(say!(
        "raise the limits of memory and threads, or set `prober: off`",
        "поднимите пределы памяти и числа потоков или укажите `prober: off`"
    ))
}

#[cfg(test)]
mod tests;
