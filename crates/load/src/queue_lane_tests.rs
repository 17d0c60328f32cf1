//! What a lane makes of the answers of a queue, by a queue whose answers are written down.

use super::*;
use crate::layout::tests::{stream, trial};
use crate::recorder::{MESSAGES_PER_THREAD, Message};
use crate::shared::{InFlight, Shared, Times};
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::sync_channel;
use stend_base::Bytes;
use stend_record::observed::IoErrors;
use stend_spec::workload::{Mix, OPS, Stream};
use stend_sys::clock;

const IOS: u64 = 200;
const EIO: i32 = 5;
const EOPNOTSUPP: i32 = 95;

/// Completes as many as are waited for of what it is given, the n-th request with what `answer` makes of n and the right
/// result.
struct Scripted {
    memory: Vec<Vec<u8>>,
    pending: Vec<Completion>,
    seen: u64,
    answer: fn(u64, i32) -> i32,
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
        self.pending.push(Completion { slot, result: (self.answer)(self.seen, right) });
        self.seen += 1;
    }

    fn submit_and_wait(&mut self, want: u32, _timeout: Nanos) -> io::Result<()> {
        self.wanted = want as usize;
        self.rounds.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn reap(&mut self, done: &mut Vec<Completion>) {
        done.extend(self.pending.drain(..self.wanted));
    }
}

/// Makes so many I/Os of a stream: those that completed by operation, and failures by class.
fn made(spec: Stream, answer: fn(u64, i32) -> i32) -> ([u64; OPS], Vec<IoErrors>) {
    let (done, failures, ..) = made_in_rounds(spec, answer);
    (done, failures)
}

/// The same, with how often completions were waited for, and how long the stamp of a batch was shared.
fn made_in_rounds(spec: Stream, answer: fn(u64, i32) -> i32) -> ([u64; OPS], Vec<IoErrors>, u64, Option<Nanos>) {
    let job = crate::layout::jobs(&trial(Bytes::mib(1), vec![spec]), IOS).unwrap().remove(0);
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
        Ok(Scripted { memory, pending: Vec::new(), seen: 0, answer, wanted: 0, rounds: rounds.clone() })
    };
    let lane = QueueLane::new(&job, &Arc::new(Progress::new(None)), queue).unwrap();
    let start = recorder.wait_for_start(Ok(false));
    lane.run(recorder, start);
    let (mut done, mut span) = ([0; OPS], None);
    while let Ok(message) = inbox.try_recv() {
        match message {
            Message::Part(_, part) => {
                done.iter_mut().zip(Op::ALL).for_each(|(sum, op)| *sum += part.counter(op).ops);
            }
            Message::Finished(_, finished) => span = finished.batch_span,
            Message::Ready(_) | Message::Log(..) => {}
        }
    }
    (done, shared.faults(), rounds.load(Ordering::Relaxed), span)
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
        let (done, failures, rounds, span) = made_in_rounds(spec, |_, right| right);
        assert_eq!((done[Op::Read.index()], failures, span.is_some()), (IOS, Vec::new(), one_stamp));
        rounds
    };
    assert_eq!((rounds(1, false), rounds(1, true), rounds(4, true), rounds(8, false)), (IOS, IOS, IOS / 4, IOS / 8));
    // 200 I/Os in sevens: the first 28 times leave four.
    assert_eq!(rounds(7, false), IOS.div_ceil(7));
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
