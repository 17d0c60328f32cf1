//! What a lane makes of the answers of a queue, by a queue whose answers are written down.

use super::completion::{EAGAIN, EINTR};
use super::*;
use crate::layout::tests::{stream, trial};
use crate::message::{Finished, Message};
use crate::recorder::MESSAGES_PER_THREAD;
use crate::shared::{InFlight, Shared, Times};
use std::cell::Cell;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::sync_channel;
use stend_base::{Bytes, Histogram};
use stend_record::observed::IoErrors;
use stend_spec::workload::{Mix, OPS, Pattern, Stream, Submit};
use stend_sys::clock;

thread_local! {
    /// Calls that submit and do not wait.
    static SUBMITS: Cell<u64> = const { Cell::new(0) };
}

const IOS: u64 = 200;
const EIO: i32 = 5;
const EOPNOTSUPP: i32 = 95;

/// What is written down: the n-th request is answered with what `answer` makes of n and the right result, so many come at a time
/// even if fewer are waited for, whether the first of them is there before that, how many are complete with each submission, and how long one takes.
#[derive(Clone, Copy)]
struct Script {
    answer: fn(u64, i32) -> i32,
    come: usize,
    ready: bool,
    at_once: usize,
    call: Nanos,
}

const SCRIPT: Script = Script { answer: |_, right| right, come: 1, ready: false, at_once: 0, call: Nanos(0) };

/// What comes out: I/Os by operation, failures by class, how often completions were waited for, how the thread ended, and latencies.
type Made = ([u64; OPS], Vec<IoErrors>, u64, Finished, Histogram);

struct Scripted {
    script: Script,
    memory: Vec<Vec<u8>>,
    pending: Vec<Completion>,
    seen: u64,
    wanted: usize,
    rounds: Arc<AtomicU64>,
}

impl Queue for Scripted {
    fn registered(&self) -> bool {
        false
    }

    fn in_flight(&self) -> u32 {
        self.pending.len() as u32
    }

    fn slot_mut(&mut self, slot: u32) -> &mut [u8] {
        &mut self.memory[slot as usize]
    }

    fn push(&mut self, slot: u32, request: Request, _at: usize, len: usize, _offset: u64) {
        let right = if request.moves_data() { len as i32 } else { 0 };
        self.pending.push(Completion { slot, result: (self.script.answer)(self.seen, right) });
        self.seen += 1;
    }

    fn submit(&mut self) -> io::Result<()> {
        SUBMITS.set(SUBMITS.get() + 1);
        std::thread::sleep(self.script.call.duration());
        self.wanted = self.pending.len().min(self.wanted + self.script.at_once);
        Ok(())
    }

    fn is_ready(&mut self) -> bool {
        self.script.ready
    }

    fn submit_and_wait(&mut self, want: u32, _timeout: Nanos) -> io::Result<()> {
        self.wanted = self.pending.len().min(self.script.come.max(want as usize));
        self.rounds.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn reap(&mut self, done: &mut Vec<Completion>) {
        done.extend(self.pending.drain(..std::mem::take(&mut self.wanted)));
    }
}

/// Makes so many I/Os of a stream: those that completed by operation, and failures by class.
fn made(spec: Stream, answer: fn(u64, i32) -> i32) -> ([u64; OPS], Vec<IoErrors>) {
    let (done, failures, ..) = made_by(spec, Script { answer, ..SCRIPT });
    (done, failures)
}

/// The same by a whole script, with all that comes out.
fn made_by(spec: Stream, script: Script) -> Made {
    made_of(IOS, spec, script)
}

/// So many I/Os.
fn made_of(ios: u64, spec: Stream, script: Script) -> Made {
    let job = crate::layout::jobs(&trial(Bytes::mib(1), vec![spec]), ios).unwrap().remove(0);
    let shared = Arc::new(Shared::new(u64::MAX));
    let (out, inbox) = sync_channel(MESSAGES_PER_THREAD);
    let in_flight = Arc::new(InFlight::new(job.spec.queue_depth as usize, false));
    let (mut recorder, _give_back) = Recorder::new(0, (0, false), shared.clone(), in_flight, out);
    let now = clock::now().0;
    let end = now + Nanos::secs(600).0;
    shared.publish(Times { load_start: now, window_start: now }, end, end, end);
    let rounds = Arc::new(AtomicU64::new(0));
    let queue = |slots: u32, len| {
        let memory = vec![vec![0; len]; slots as usize];
        Ok(Scripted { script, memory, pending: Vec::new(), seen: 0, wanted: 0, rounds: rounds.clone() })
    };
    let mut lane = QueueLane::new(&job, &Arc::new(Progress::new(None)), queue).unwrap();
    // A file that is not the lane's to empty.
    let others = IoFile::create_scratch(std::path::Path::new(crate::tests::support::DISK), 4096, false).unwrap();
    lane.append_to(&job, &Arc::new(others));
    let start = recorder.wait_for_start(Ok(false));
    lane.run(recorder, start);
    let (mut done, mut ended, mut latency) = ([0; OPS], Finished::default(), Histogram::new());
    while let Ok(message) = inbox.try_recv() {
        match message {
            Message::Part(_, part) => {
                done.iter_mut().zip(Op::ALL).for_each(|(sum, op)| *sum += part.counter(op).ops);
                part.latencies.iter().for_each(|of| latency.merge(of));
            }
            Message::Finished(_, finished) => ended = finished,
            Message::Ready(_) | Message::Log(..) => {}
        }
    }
    (done, shared.faults(), rounds.load(Ordering::Relaxed), ended, latency)
}

#[test]
fn a_single_io_is_submitted_by_a_call_of_its_own_while_its_thread_waits_and_seldom_otherwise() {
    let submits = |submit, ready| {
        SUBMITS.set(0);
        let (done, ..) = made_by(Stream { submit, ..stream() }, Script { ready, ..SCRIPT });
        assert_eq!(done.iter().sum::<u64>(), IOS);
        SUBMITS.get()
    };
    assert_eq!(submits(Submit::Auto, false), IOS);
    // Eight until it is known, and one of the hundred after them.
    assert_eq!(submits(Submit::Auto, true), 8 + 1);
    assert_eq!(submits(Submit::Batch, false), 0);
}

#[test]
fn a_file_that_cannot_be_emptied_is_a_failure_of_the_target_and_not_of_the_engine() {
    let spec = Stream { mix: Mix::of_reads(0), pattern: Pattern::Append, queue_depth: 1, ..stream() };
    // 1 MiB has 256 blocks.
    let (done, failures, _, ended, _) = made_of(300, spec, SCRIPT);
    assert!(ended.failure.is_none(), "{:?}", ended.failure);
    let [failure] = failures.as_slice() else { panic!("{failures:?}") };
    // Nothing is written over what is there.
    assert_eq!((failure.op, failure.count, done[Op::Write.index()]), (Op::Write, 300 - 256, 256));
}

fn deep(mix: Mix) -> Stream {
    Stream { mix, queue_depth: 8, ..stream() }
}

#[test]
fn what_a_signal_or_a_shortage_interrupted_is_made_again_and_is_no_failure() {
    let answer = |n: u64, right: i32| match n {
        _ if n % 3 == 1 => -EINTR,
        _ if n % 5 == 2 => -EAGAIN,
        _ => right,
    };
    let mix = Mix { read: 25, write: 25, discard: 25, write_zeroes: 25 };
    for spec in [deep(Mix::of_reads(100)), deep(mix), Stream { sync: Sync::Dsync, ..deep(Mix::of_reads(0)) }] {
        let (done, failures) = made(spec, answer);
        assert_eq!((done.iter().sum::<u64>(), failures), (IOS, Vec::new()));
    }
}

#[test]
fn a_batch_is_waited_for_together_and_the_last_is_as_long_as_what_is_left() {
    let rounds = |size, one_stamp| {
        let spec = Stream { batch: Batch { size, one_stamp }, ..deep(Mix::of_reads(100)) };
        let (done, failures, rounds, ended, _) = made_by(spec, SCRIPT);
        assert_eq!((done[Op::Read.index()], failures, ended.batch_span.is_some()), (IOS, Vec::new(), one_stamp));
        rounds
    };
    assert_eq!((rounds(1, false), rounds(1, true), rounds(4, true), rounds(8, false)), (IOS, IOS, IOS / 4, IOS / 8));
    // 200 I/Os in sevens: the first 28 times leave four.
    assert_eq!(rounds(7, false), IOS.div_ceil(7));
}

#[test]
fn each_is_submitted_by_itself_unless_the_thread_never_waits_or_is_told_otherwise() {
    let submitted = |submit, size, come, ready| {
        let spec = Stream { submit, batch: Batch { size, one_stamp: false }, ..deep(Mix::of_reads(100)) };
        let (done, .., ended, _) = made_by(spec, Script { come, ready, ..SCRIPT });
        assert_eq!(done[Op::Read.index()], IOS);
        let done = ended.submissions.unwrap();
        assert_eq!(done.ios, IOS);
        (done.calls, done.together)
    };
    assert_eq!(submitted(Submit::Auto, 1, 4, false), (IOS, 0), "it waits for each four");
    // Eight at first, then four at a time.
    assert_eq!(submitted(Submit::Batch, 1, 4, false), (1 + (IOS - 8) / 4, IOS));
    assert_eq!(submitted(Submit::Auto, 4, 1, false), (1 + (IOS - 8) / 4, IOS), "a batch goes as one");
    assert_eq!(submitted(Submit::Each, 4, 1, false), (IOS, 0));
    // After eight waits that were none: all that was begun before them one by one.
    let before = 8 + 7 * 4;
    assert_eq!(submitted(Submit::Auto, 1, 4, true), (before + (IOS - before) / 4, IOS - before));
    // What was all complete at once was complete when it was submitted: eight at a time, eight times.
    assert_eq!(submitted(Submit::Auto, 1, 8, false), (8 * 8 + (IOS - 64) / 8, IOS - 64));
    assert_eq!(submitted(Submit::Each, 1, 8, true), (IOS, 0));
}

#[test]
fn a_thread_that_never_waits_submits_a_deep_queue_in_parts() {
    let spec = Stream { queue_depth: 128, ..deep(Mix::of_reads(100)) };
    let (done, _, _, ended, _) = made_of(2000, spec, Script { come: 128, ready: true, ..SCRIPT });
    let submitted = ended.submissions.unwrap();
    // Eight times 128 one by one; then the rest in parts of 16.
    assert_eq!((done[Op::Read.index()], submitted.together), (2000, 976));
    assert_eq!(submitted.calls, 8 * 128 + 976 / 16);
}

#[test]
fn what_is_complete_is_read_between_two_submissions_and_its_slot_is_used_again() {
    let waits = |submit, size, at_once| {
        let spec = Stream { submit, batch: Batch { size, one_stamp: false }, ..deep(Mix::of_reads(100)) };
        let (done, failures, waits, ended, _) = made_by(spec, Script { at_once, ..SCRIPT });
        assert_eq!((done[Op::Read.index()], failures, ended.submissions.unwrap().ios), (IOS, Vec::new(), IOS));
        waits
    };
    assert_eq!(waits(Submit::Each, 1, 0), IOS, "nothing is complete before it is waited for");
    // Only the last one is: nothing is submitted after it.
    assert_eq!(waits(Submit::Each, 1, 1), 1);
    // A thread that never waits submits together at some time, and then waits for each.
    assert!((1..IOS).contains(&waits(Submit::Auto, 1, 1)));
    assert_eq!(waits(Submit::Each, 4, 1), IOS / 4, "a batch is waited for, whatever is complete");
}

#[test]
fn an_io_begins_when_its_turn_comes_unless_the_target_holds_up_the_one_before() {
    let with = |call| {
        let spec = Stream { submit: Submit::Each, queue_depth: 4, ..deep(Mix::of_reads(100)) };
        let (.., ended, latency) = made_of(4, spec, Script { call, come: 4, ..SCRIPT });
        assert_eq!(latency.count(), 4);
        (Nanos(ended.submissions.unwrap().waited_ns), latency.min().unwrap(), latency.max().unwrap())
    };
    // One waits for one call, the next for two, the last for three; it is in flight after that.
    let (waited, least, most) = with(Nanos::millis(5));
    assert!(
        waited >= Nanos::millis(5 * (1 + 2 + 3)) && most >= Nanos::millis(15) && least < most,
        "{waited:?}, {least:?}, {most:?}"
    );
    // The first call blocks, so that all were due before it.
    let (waited, least, _) = with(STALL);
    assert!(waited < STALL && least.0 >= 3 * STALL.0, "{waited:?}, {least:?}");
}

#[test]
fn an_io_that_waited_for_a_stall_in_the_last_call_of_a_turn_has_it_in_its_latency() {
    let spec = Stream { submit: Submit::Each, queue_depth: 2, ..deep(Mix::of_reads(100)) };
    let (.., latency) = made_of(4, spec, Script { call: STALL, at_once: 1, ..SCRIPT });
    // Each call ends one: the first waits for its own, the next two for two calls, the last one for the call before it.
    assert!(latency.count() == 4 && latency.sum_ns() >= 6 * u128::from(STALL.0), "{}", latency.sum_ns());
}

#[test]
fn completions_that_a_busy_thread_reads_late_are_told_as_late() {
    let late = |call, at_once| {
        let spec = Stream { submit: Submit::Each, queue_depth: 4, ..deep(Mix::of_reads(100)) };
        made_of(8, spec, Script { call, at_once, ..SCRIPT }).3.submissions.unwrap().late_ns
    };
    // Nothing is complete before it is waited for.
    assert_eq!(late(Nanos::millis(5), 0), 0);
    // Each call but the last completes one I/O at a time that the lane cannot see, so all of the call counts.
    let told = late(Nanos::millis(5), 1);
    assert!(told >= 6 * Nanos::millis(5).0, "{told}");
}

#[test]
fn what_is_made_again_and_syncs_are_submitted_by_themselves_too() {
    let spec = Stream { sync: Sync::Fdatasync(1), submit: Submit::Each, ..deep(Mix::of_reads(0)) };
    let answer = |n: u64, right: i32| if n.is_multiple_of(5) { -EAGAIN } else { right };
    let (.., ended, _) = made_by(spec, Script { answer, come: 4, ..SCRIPT });
    let done = ended.submissions.unwrap();
    assert!(done.ios > 2 * IOS && done.calls == done.ios && done.together == 0, "{done:?}");
}

#[test]
fn errors_and_short_transfers_are_counted_by_class() {
    let answer = |n: u64, right: i32| match n % 4 {
        0 => -EIO,
        1 => right / 2,
        _ => right,
    };
    let (done, failures) = made(deep(Mix::of_reads(100)), answer);
    let classes: Vec<(i32, u64)> = failures.iter().map(|class| (class.errno, class.count)).collect();
    assert_eq!((done[Op::Read.index()], classes), (IOS / 2, vec![(0, IOS / 4), (EIO, IOS / 4)]));
}

#[test]
fn what_moves_no_data_is_right_with_a_result_of_nothing() {
    for op in [Op::Discard, Op::WriteZeroes] {
        let (done, failures) = made(deep(Mix::only(op)), |n, right| if n < 7 { -EOPNOTSUPP } else { right });
        assert_eq!(done[op.index()], IOS - 7);
        assert_eq!(failures.iter().map(|f| (f.op, f.errno, f.count)).collect::<Vec<_>>(), [(op, EOPNOTSUPP, 7)]);
    }
}
