//! The load thread's side of measuring: phases, interval edges, and handing parts over. Must not wait,
//! allocate or lock between the start of load and the end of the drain.

use crate::INTERVAL;
use crate::part::{Part, Phase};
use crate::shared::{InFlight, Shared, Times};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use stend_base::{Error, Nanos};
use stend_spec::workload::Op;
use stend_sys::affinity::{ThreadTimes, thread_times};
use stend_sys::clock;

/// Parts that travel between a thread and the collector. Four: a collector that is 0.3 s late still gets
/// every interval on its own; later than that, intervals merge and nothing is lost.
const PARTS: usize = 4;
/// Parts kept back for the two changes of phase, at which a thread must cut whatever the collector does.
const RESERVE: usize = 2;
/// Most messages of one thread that can be under way: all its parts, that it is ready, that it is done.
pub(crate) const MESSAGES_PER_THREAD: usize = PARTS + RESERVE + 1 + 2;

/// What a load thread tells the collector.
#[derive(Debug)]
pub(crate) enum Message {
    /// Set up: whether file and buffers are registered, or why it failed.
    Ready(Result<bool, Box<Error>>),
    /// Counters of intervals that are over.
    Part(usize, Box<Part>),
    /// It issues nothing any more.
    Finished(usize, Finished),
}

/// How a load thread ended.
#[derive(Debug, Default)]
pub(crate) struct Finished {
    /// CPU time and run delay over the window; `None` if the kernel does not tell or no window was seen.
    pub usage: Option<ThreadTimes>,
    /// I/O was still in flight when waiting ended.
    pub stalled: bool,
    /// The way of submitting itself broke.
    pub failure: Option<io::Error>,
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
}

impl Recorder {
    /// A recorder for one thread and the way by which emptied parts come back to it.
    pub fn new(
        thread: usize,
        stream: u16,
        shared: Arc<Shared>,
        in_flight: Arc<InFlight>,
        out: SyncSender<Message>,
    ) -> (Recorder, SyncSender<Box<Part>>) {
        let (give_back, spare) = sync_channel(PARTS + RESERVE + 1);
        for _ in 0..PARTS {
            // Cannot fail: the channel is empty and has room for all.
            let _ = give_back.try_send(Box::new(Part::new()));
        }
        let recorder = Recorder {
            thread,
            stream,
            shared,
            in_flight,
            times: Times { load_start: 0, window_start: 0 },
            current: Box::new(Part::new()),
            spare,
            reserve: std::array::from_fn(|_| Some(Box::new(Part::new()))),
            out,
            next_cut: 0,
            halted: false,
            usage_start: None,
            usage: None,
        };
        (recorder, give_back)
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

    /// Whether waiting for I/O in flight is over.
    #[inline]
    pub fn given_up(&self, now: Nanos) -> bool {
        self.current.phase == Phase::Drain && now.0 >= self.shared.give_up()
    }

    /// How long a thread may sleep: to its next cut, and never so long that it misses an early end.
    #[inline]
    pub fn patience(&self, now: Nanos) -> Nanos {
        let wake = if self.current.phase == Phase::Drain { self.shared.give_up() } else { self.next_cut };
        Nanos(wake.saturating_sub(now.0).min(INTERVAL.0))
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
        self.in_flight.set(slot, op, start.0);
    }

    /// When the slot's I/O began.
    #[inline(always)]
    pub fn started(&self, slot: usize) -> u64 {
        self.in_flight.start(slot)
    }

    /// Counts a completed I/O.
    #[inline(always)]
    pub fn done(&mut self, op: Op, bytes: u64, latency: Nanos) {
        self.current.record(op, bytes, latency);
    }

    /// Notes that nothing is in flight in a slot.
    #[inline(always)]
    pub fn release(&mut self, slot: usize) {
        self.in_flight.clear(slot);
    }

    /// Counts a failed I/O.
    #[cold]
    pub fn fault(&mut self, op: Op, errno: i32, offset: u64) {
        self.current.counters[op.index()].errors += 1;
        self.halted |= self.shared.fault(self.stream, op, errno, offset);
    }

    /// Hands over what is left and says goodbye.
    pub fn finish(mut self, stalled: bool, failure: Option<io::Error>) {
        self.note_usage();
        if !self.current.is_empty() {
            self.current.span = self.times.interval(clock::now().0).saturating_sub(self.current.interval) + 1;
            let _ = self.out.send(Message::Part(self.thread, self.current));
        }
        let finished = Finished { usage: self.usage, stalled, failure };
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
        let mut reserved = || if turned { self.reserve.iter_mut().find_map(Option::take) } else { None };
        let next = self.spare.try_recv().ok().or_else(|| reserved());
        let Some(next) = next else {
            // The collector is late: this part goes on and will span more than one interval.
            return self.schedule_cut(phase, now);
        };
        let mut full = std::mem::replace(&mut self.current, next);
        full.span = self.times.interval(crossed.saturating_sub(1)).saturating_sub(full.interval) + 1;
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
