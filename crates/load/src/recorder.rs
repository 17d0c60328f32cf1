//! The load thread's side of measuring: phases, interval edges, and handing parts over. Must not wait,
//! allocate or lock between the start of load and the end of the drain.

use crate::INTERVAL;
use crate::part::{Part, Phase};
use crate::shared::{InFlight, Shared, Times};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use stend_base::histogram::{BUCKETS, Histogram};
use stend_base::{Error, Nanos};
use stend_spec::workload::{OPS, Op};
use stend_sys::affinity::{ThreadTimes, thread_times};
use stend_sys::clock;

/// Parts that travel between a thread and the collector. Four: a collector that is 0.3 s late still gets
/// every interval on its own; later than that, intervals merge and nothing is lost.
const PARTS: usize = 4;
/// Parts kept back for the two changes of phase, at which a thread must cut whatever the collector does.
const RESERVE: usize = 2;
/// Memory of one thread's parts, bytes.
const MEMORY: u64 = (1 + PARTS + RESERVE) as u64 * OPS as u64 * BUCKETS as u64 * 8;
/// Most messages of one thread that can be under way: all its parts, that it is ready, that it is done.
pub(crate) const MESSAGES_PER_THREAD: usize = PARTS + RESERVE + 1 + 2;

/// Memory of one thread's parts, bytes; an open loop has two histograms for each of a closed one.
pub(crate) const fn memory_per_thread(open: bool) -> u64 {
    if open { 2 * MEMORY } else { MEMORY }
}

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
    /// How late the I/Os of an open loop began.
    pub late: Option<Box<Lateness>>,
    /// Mean time over which the one stamp of a batch was shared; `None`: every I/O has its own.
    pub batch_span: Option<Nanos>,
}

/// How late the I/Os of an open loop began.
#[derive(Debug)]
pub(crate) struct Lateness {
    /// After they were due, whoever's fault it was.
    pub all: Histogram,
    /// After they were due and there was a place for them: by fault of the thread alone.
    pub own: Histogram,
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
    late: Option<Box<Lateness>>,
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
            late: open.then(|| Box::new(Lateness { all: Histogram::new(), own: Histogram::new() })),
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
        self.in_flight.set_due(slot, start.0);
        self.in_flight.set(slot, op, start.0);
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
    pub fn complete(&mut self, slot: usize, op: Op, bytes: u64, now: Nanos) {
        let latency = now.saturating_sub(Nanos(self.in_flight.due(slot)));
        let service = now.saturating_sub(Nanos(self.in_flight.start(slot)));
        self.current.record(op, bytes, latency, service);
    }

    /// Counts a completed I/O that is no arrival of its own: a sync that follows writes.
    #[inline(always)]
    pub fn done(&mut self, op: Op, bytes: u64, latency: Nanos) {
        self.current.record(op, bytes, latency, latency);
    }

    /// Notes that nothing is in flight in a slot.
    #[inline(always)]
    pub fn release(&mut self, slot: usize) {
        self.in_flight.clear(slot);
    }

    /// Counts a failed I/O.
    #[cold]
    pub fn fault(&mut self, op: Op, errno: i32, offset: u64) {
        self.current.fault(op);
        self.halted |= self.shared.fault(self.stream, op, errno, offset);
    }

    /// Hands over what is left and says goodbye.
    pub fn finish(mut self, stalled: bool, failure: Option<io::Error>, batch_span: Option<Nanos>) {
        self.note_usage();
        if !self.current.is_empty() {
            // What was counted before the end lies before the end, however late it is handed over.
            let now = clock::now().0;
            let until =
                if self.current.phase == Phase::Drain { now } else { now.min(self.shared.end().saturating_sub(1)) };
            self.current.span = self.times.interval(until).saturating_sub(self.current.interval) + 1;
            let _ = self.out.send(Message::Part(self.thread, self.current));
        }
        let finished = Finished { usage: self.usage, stalled, failure, late: self.late, batch_span };
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
        let reserved = || if turned { self.reserve.iter_mut().find_map(Option::take) } else { None };
        let next = self.spare.try_recv().ok().or_else(reserved);
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::TryRecvError;

    const LOAD_START: u64 = 1_000_000;

    /// A recorder whose ramp lasts 250 ms and whose window ends at 2 s, its inbox, and the way back.
    fn recorder() -> (Recorder, Arc<Shared>, Receiver<Message>, SyncSender<Box<Part>>) {
        let shared = Arc::new(Shared::new(3));
        let end = LOAD_START + 2_000_000_000;
        shared.publish(
            Times { load_start: LOAD_START, window_start: LOAD_START + 250_000_000 },
            end,
            end + 50,
            end + 100,
        );
        let (out, inbox) = sync_channel(MESSAGES_PER_THREAD);
        let (mut recorder, give_back) =
            Recorder::new(0, (0, true), shared.clone(), Arc::new(InFlight::new(1, true)), out);
        recorder.wait_for_start(Ok(true));
        assert!(matches!(inbox.try_recv(), Ok(Message::Ready(Ok(true)))));
        (recorder, shared, inbox, give_back)
    }

    /// One I/O completes `ms` after the start of load.
    fn complete(recorder: &mut Recorder, ms: u64) {
        recorder.observe(Nanos(LOAD_START + ms * 1_000_000));
        recorder.done(Op::Read, 4096, Nanos(1000));
    }

    /// (phase, interval, span, ops) of every part handed over so far; the parts are not given back.
    fn parts(inbox: &Receiver<Message>) -> Vec<(Phase, u32, u32, u64)> {
        let mut parts = Vec::new();
        loop {
            match inbox.try_recv() {
                Ok(Message::Part(0, part)) => {
                    parts.push((part.phase, part.interval, part.span, part.counter(Op::Read).ops))
                }
                Ok(_) => {}
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return parts,
            }
        }
    }

    #[test]
    fn an_io_belongs_to_the_interval_and_phase_of_its_completion() {
        let (mut recorder, _shared, inbox, _give_back) = recorder();
        [0, 99, 100, 249, 250, 299, 520].iter().for_each(|&ms| complete(&mut recorder, ms));
        assert_eq!(
            parts(&inbox),
            [(Phase::Ramp, 0, 1, 2), (Phase::Ramp, 1, 1, 1), (Phase::Ramp, 2, 1, 1), (Phase::Window, 2, 1, 2)]
        );
        complete(&mut recorder, 2000);
        assert!(!recorder.accepting());
        recorder.finish(false, None, None);
        assert_eq!(parts(&inbox)[0], (Phase::Window, 5, 1, 1));
    }

    #[test]
    fn a_late_collector_costs_resolution_and_nothing_else() {
        let (mut recorder, _shared, inbox, _give_back) = recorder();
        (0..25).for_each(|i| complete(&mut recorder, i * 100));
        recorder.finish(false, None, None);
        let parts = parts(&inbox);
        assert_eq!(parts.iter().map(|p| p.3).sum::<u64>(), 25);
        assert!(parts.contains(&(Phase::Window, 4, 16, 16)), "16 intervals in one part: {parts:?}");
        assert!(parts.last().is_some_and(|p| (p.0, p.3) == (Phase::Drain, 5)), "{parts:?}");
    }

    #[test]
    fn parts_that_come_back_are_used_again() {
        let (mut recorder, _shared, inbox, give_back) = recorder();
        for i in 0..20 {
            complete(&mut recorder, i * 100);
            if let Ok(Message::Part(_, mut part)) = inbox.try_recv() {
                assert_eq!(part.span, 1);
                part.clear();
                give_back.try_send(part).unwrap();
            }
        }
    }

    #[test]
    fn an_early_end_cuts_the_window_where_everybody_cuts_it() {
        let (mut recorder, shared, inbox, _give_back) = recorder();
        complete(&mut recorder, 300);
        shared.end_early(LOAD_START + 330_000_000, 7);
        complete(&mut recorder, 330);
        complete(&mut recorder, 332);
        assert!(!recorder.accepting() && !recorder.given_up(Nanos(LOAD_START + 331_000_000)));
        assert!(recorder.given_up(Nanos(LOAD_START + 331_000_007)));
        assert_eq!(parts(&inbox), [(Phase::Window, 3, 1, 2)]);
    }

    #[test]
    fn an_open_loop_begins_what_was_due_inside_the_window_until_patience_ends() {
        let (recorder, shared, ..) = recorder();
        let (end, late) = (LOAD_START + 2_000_000_000, 1_999_999_999);
        assert!(recorder.wants(late, Nanos(end - 1)) && recorder.wants(late, Nanos(end + 49)));
        assert!(!recorder.wants(late + 1, Nanos(end - 1)), "due after the end");
        assert!(!recorder.wants(late, Nanos(end + 50)), "out of patience");
        shared.end_early(end - 10, 7);
        assert!(!recorder.wants(late, Nanos(end)));
    }

    #[test]
    fn the_wait_of_an_io_counts_from_when_it_was_due_and_only_ours_as_ours() {
        let (mut recorder, _shared, inbox, _give_back) = recorder();
        let at = |us: u64| Nanos(LOAD_START + us * 1000);
        recorder.begin_due(0, Op::Read, at(50), at(10), at(45));
        recorder.complete(0, Op::Read, 4096, at(80));
        recorder.finish(false, None, None);
        let mut messages = inbox.try_iter();
        let Some(Message::Part(0, part)) = messages.next() else { panic!("no part") };
        let counter = part.counter(Op::Read);
        assert_eq!((counter.begun, counter.late_sum_ns, counter.late_max_ns), (1, 40_000, 40_000));
        assert_eq!(part.latencies[0].max(), Some(Nanos(70_000)));
        assert_eq!(part.services.unwrap()[0].max(), Some(Nanos(30_000)));
        let Some(Message::Finished(0, finished)) = messages.next() else { panic!("no goodbye") };
        let late = finished.late.unwrap();
        assert_eq!((late.own.max(), late.all.max()), (Some(Nanos(5_000)), Some(Nanos(40_000))));
    }

    #[test]
    fn too_many_faults_stop_the_thread_that_meets_them() {
        let (mut recorder, ..) = recorder();
        (0..2).for_each(|_| recorder.fault(Op::Read, 5, 0));
        assert!(recorder.accepting());
        recorder.fault(Op::Read, 5, 0);
        assert!(!recorder.accepting());
    }
}
