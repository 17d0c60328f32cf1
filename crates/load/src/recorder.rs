//! The load thread's side of measuring: phases, interval edges, and handing parts over. Must not wait,
//! allocate or lock between the start of load and the end of the drain.

use crate::INTERVAL;
use crate::io_log::{Ended, Log};
use crate::message::{Finished, Lateness, Message};
use crate::part::{Part, Phase};
use crate::shared::{InFlight, Shared, Times};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use stend_base::histogram::{BUCKETS, Histogram};
use stend_base::{Error, Nanos};
use stend_spec::workload::Op;
use stend_sys::affinity::{CpusSeen, ThreadTimes, thread_times};
use stend_sys::clock;

/// Parts that travel between a thread and the collector. Four: a collector that is 0.3 s late still gets
/// every interval on its own; later than that, intervals merge and nothing is lost.
const PARTS: usize = 4;
/// Parts kept back for the two changes of phase, at which a thread must cut whatever the collector does.
const RESERVE: usize = 2;
/// Histograms that a thread needs for one kind of operation: its parts, the sum of its job, and how late an open loop was.
const HISTOGRAMS: u64 = (1 + PARTS + RESERVE) as u64 + 2;
/// What a thread takes besides, bytes: stack, queue, what the allocator keeps. With it the bound is above what 256 threads of an
/// open loop (343 MiB) and 10,000 threads of a closed one (6017 MiB) took (`make truth`).
const BESIDES: u64 = 384 << 10;
/// Most messages of one thread that can be under way: all its parts, that it is ready, that it is done.
pub(crate) const MESSAGES_PER_THREAD: usize = PARTS + RESERVE + 1 + 2;

/// Memory of one thread without its buffers, bytes, with so many kinds of operations: histograms of others are never touched, and so the
/// kernel gives none for them. An open loop has two histograms for each of a closed one.
pub(crate) const fn memory_per_thread(open: bool, kinds: u64) -> u64 {
    let each = HISTOGRAMS * BUCKETS as u64 * 8;
    BESIDES + kinds * if open { 2 * each } else { each }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Recorder {
    thread: usize,
    stream: u16,
    shared: Arc<Shared>,
    in_flight: Arc<InFlight>,
    times: Times,
    current: Box<Part>,
    spare: Receiver<Box<Part>>,
    reserve: [Option<Box<Part>>; RESERVE],
    out: SyncSender<Message>,
    next_cut: u64,
    halted: bool,
    usage_start: Option<ThreadTimes>,
    usage: Option<ThreadTimes>,
    cpus: Box<CpusSeen>,
    late: Option<Box<Lateness>>,
    log: Option<Box<Log>>,
}

impl Recorder {
    /// A recorder for one thread, `open` in an open loop, and the way by which emptied parts come back to it.
    pub fn new(
        thread: usize,
        (stream, open): (u16, bool),
        shared: Arc<Shared>,
        in_flight: Arc<InFlight>,
        out: SyncSender<Message>,
    ) -> (Recorder, SyncSender<Box<Part>>) {
        let (give_back, spare) = sync_channel(PARTS + RESERVE + 1);
        for _ in 0..PARTS {
            // Cannot fail: the channel is empty and has room for all.
            let _ = give_back.try_send(Box::new(Part::new(open)));
        }
        let recorder = Recorder {
            thread,
            stream,
            shared,
            in_flight,
            times: Times { load_start: 0, window_start: 0 },
            current: Box::new(Part::new(open)),
            spare,
            reserve: std::array::from_fn(|_| Some(Box::new(Part::new(open)))),
            out,
            next_cut: 0,
            halted: false,
            usage_start: None,
            usage: None,
            cpus: Box::default(),
            late: open.then(|| Box::new(Lateness { all: Histogram::new(), own: Histogram::new() })),
            log: None,
        };
        (recorder, give_back)
    }

    /// Has every I/O of the window recorded.
    pub fn keep_log(&mut self, log: Log) {
        self.log = Some(Box::new(log));
    }

    /// Reports that the thread is set up (or not), then sleeps until load starts.
    pub fn wait_for_start(&mut self, ready: Result<bool, Box<Error>>) -> Nanos {
        let _ = self.out.send(Message::Ready(ready));
        self.times = loop {
            match self.shared.times() {
                Some(times) => break times,
                None => std::thread::park(),
            }
        };
        let start = self.times.load_start;
        self.enter(self.phase_at(start), start);
        if self.accepting() {
            clock::sleep_until(Nanos(start));
        }
        Nanos(start)
    }

    /// Whether new I/O may be issued.
    #[inline(always)]
    pub fn accepting(&self) -> bool {
        self.current.phase != Phase::Drain && !self.halted
    }

    /// Whether an I/O of an open loop may begin that was due `due` ns after the start of the load: inside the
    /// window of time, and not only after all patience with a target that is behind.
    #[inline]
    pub fn wants(&self, due: u64, now: Nanos) -> bool {
        let end = self.shared.end();
        self.times.load_start.saturating_add(due) < end
            && !self.halted
            && (now.0 < end || now.0 < self.shared.begin_until())
    }

    /// Start of the load.
    #[inline]
    pub fn origin(&self) -> u64 {
        self.times.load_start
    }

    /// Whether waiting for I/O in flight is over.
    #[inline]
    pub fn given_up(&self, now: Nanos) -> bool {
        self.current.phase == Phase::Drain && now.0 >= self.shared.give_up()
    }

    /// How long a thread may sleep: never so long that it misses an early end. It may be behind its next cut then, which loses nothing: a
    /// thread that sleeps has nothing to count, and what it counts later comes with the time of its completion.
    #[inline]
    pub fn patience(&self, now: Nanos) -> Nanos {
        if self.current.phase == Phase::Drain {
            return Nanos(self.shared.give_up().saturating_sub(now.0).min(INTERVAL.0));
        }
        INTERVAL
    }

    /// Must be told the time before completions of that time are recorded.
    #[inline(always)]
    pub fn observe(&mut self, now: Nanos) {
        if now.0 >= self.next_cut || (now.0 >= self.shared.end() && self.current.phase != Phase::Drain) {
            self.cut(now.0);
        }
    }

    /// Notes that an I/O begins.
    #[inline(always)]
    pub fn begin(&mut self, slot: usize, op: Op, start: Nanos) {
        self.in_flight.set_due(slot, start.0);
        self.in_flight.set(slot, op, start.0);
    }

    /// Notes that an I/O that was to begin before begins only now, unless that is `limit` later or more; how much later it is.
    #[inline(always)]
    pub fn postpone(&mut self, slot: usize, op: Op, start: Nanos, limit: Nanos) -> Option<Nanos> {
        let waited = start.saturating_sub(Nanos(self.in_flight.start(slot)));
        (waited < limit).then(|| {
            self.begin(slot, op, start);
            waited
        })
    }

    /// Notes that an I/O of an open loop begins that was due at `due` and could begin at `possible`: when it was
    /// due and there was a place for it.
    #[inline(always)]
    pub fn begin_due(&mut self, slot: usize, op: Op, start: Nanos, due: Nanos, possible: Nanos) {
        self.in_flight.set_due(slot, due.0);
        self.in_flight.set(slot, op, start.0);
        self.current.begin(op, start.saturating_sub(due));
        if let Some(late) = &mut self.late {
            late.all.record(start.saturating_sub(due));
            late.own.record(start.saturating_sub(possible));
        }
    }

    /// Counts the slot's I/O, completed at `now`.
    #[inline(always)]
    pub fn complete(&mut self, slot: usize, io: Ended) {
        let (due, start) = self.in_flight.since(slot);
        let (latency, service) = (io.now.saturating_sub(Nanos(due)), io.now.saturating_sub(Nanos(start)));
        self.current.record(io.op, u64::from(io.len), latency, service);
        self.log(io, latency, false);
    }

    /// Counts a completed I/O that is no arrival of its own: a sync that follows writes and began at `start`.
    #[inline(always)]
    pub fn done(&mut self, start: Nanos, io: Ended) {
        let latency = io.now.saturating_sub(start);
        self.current.record(io.op, u64::from(io.len), latency, latency);
        self.log(io, latency, false);
    }

    /// Keeps an I/O that ended inside the window, if a log is kept.
    #[inline(always)]
    fn log(&mut self, io: Ended, latency: Nanos, failed: bool) {
        if let Some(log) = &mut self.log
            && self.current.phase == Phase::Window
        {
            log.add(io, latency, failed);
        }
    }

    /// Notes that nothing is in flight in a slot.
    #[inline(always)]
    pub fn release(&mut self, slot: usize) {
        self.in_flight.clear(slot);
    }

    /// Counts an I/O of a slot that failed; a sync that follows a write has a `start` of its own.
    #[cold]
    pub fn fault(&mut self, slot: usize, io: Ended, start: Option<Nanos>, errno: i32) {
        self.current.fault(io.op);
        let start = start.unwrap_or(Nanos(self.in_flight.due(slot)));
        self.log(io, io.now.saturating_sub(start), true);
        self.halted |= self.shared.fault(self.stream, io.op, errno, io.offset);
    }

    /// Hands over what is left and says goodbye with what the thread itself knows of its end.
    pub fn finish(mut self, known: Finished) {
        self.note_usage();
        if !self.current.is_empty() {
            // What was counted before the end lies before the end, however late it is handed over.
            let now = clock::now().0;
            let until =
                if self.current.phase == Phase::Drain { now } else { now.min(self.shared.end().saturating_sub(1)) };
            self.current.span = self.times.interval(until).saturating_sub(self.current.interval) + 1;
            let _ = self.out.send(Message::Part(self.thread, self.current));
        }
        let missed = self.log.map(|log| log.finish()).unwrap_or_default();
        let finished = Finished { usage: self.usage, cpus: self.cpus, late: self.late, missed, ..known };
        let _ = self.out.send(Message::Finished(self.thread, finished));
    }

    fn phase_at(&self, at: u64) -> Phase {
        if at >= self.shared.end() {
            Phase::Drain
        } else if at >= self.times.window_start {
            Phase::Window
        } else {
            Phase::Ramp
        }
    }

    /// Sets the current, empty part up for what is counted from `at` on.
    fn enter(&mut self, phase: Phase, at: u64) {
        self.cpus.note_current();
        match phase {
            Phase::Window if self.usage_start.is_none() => self.usage_start = thread_times(),
            Phase::Drain => self.note_usage(),
            _ => {}
        }
        self.current.phase = phase;
        self.current.interval = self.times.interval(at);
        self.schedule_cut(phase, at);
    }

    fn schedule_cut(&mut self, phase: Phase, at: u64) {
        let edge = self.times.edge_after(at);
        self.next_cut = match phase {
            Phase::Ramp => edge.min(self.times.window_start),
            Phase::Window => edge,
            Phase::Drain => u64::MAX,
        };
    }

    /// An edge or a change of phase has been crossed: what was counted so far belongs before it.
    #[cold]
    fn cut(&mut self, now: u64) {
        let crossed = self.next_cut.min(self.shared.end());
        let phase = self.phase_at(now);
        if self.current.is_empty() {
            return self.enter(phase, now);
        }
        let turned = phase != self.current.phase;
        let reserved = || if turned { self.reserve.iter_mut().find_map(Option::take) } else { None };
        let next = self.spare.try_recv().ok().or_else(reserved);
        let Some(next) = next else {
            // The collector is late: this part goes on and will span more than one interval.
            return self.schedule_cut(phase, now);
        };
        let mut full = std::mem::replace(&mut self.current, next);
        full.span = self.times.interval(crossed.saturating_sub(1)).saturating_sub(full.interval) + 1;
        // With the part that counts them, so that a thread that hangs from here on takes neither along.
        if let Some(log) = &mut self.log {
            log.hand_over();
        }
        // Never waits: the channel has room for every part there is.
        let _ = self.out.try_send(Message::Part(self.thread, full));
        self.enter(phase, now);
    }

    fn note_usage(&mut self) {
        if let (Some(start), None) = (self.usage_start, self.usage) {
            self.usage = thread_times().map(|end| ThreadTimes {
                cpu_ns: end.cpu_ns.saturating_sub(start.cpu_ns),
                run_delay_ns: end.run_delay_ns.saturating_sub(start.run_delay_ns),
            });
        }
    }
}

#[cfg(test)]
mod tests;
