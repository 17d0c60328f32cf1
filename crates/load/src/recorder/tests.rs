//! When a thread cuts its parts, and what is in them.

use super::*;
use std::sync::mpsc::TryRecvError;

const LOAD_START: u64 = 1_000_000;

/// A recorder whose ramp lasts 250 ms and whose window ends at 2 s, its inbox, and the way back.
fn recorder() -> (Recorder, Arc<Shared>, Receiver<Message>, SyncSender<Box<Part>>) {
    let shared = Arc::new(Shared::new(3));
    let end = LOAD_START + 2_000_000_000;
    shared.publish(Times { load_start: LOAD_START, window_start: LOAD_START + 250_000_000 }, end, end + 50, end + 100);
    let (out, inbox) = sync_channel(MESSAGES_PER_THREAD);
    let (mut recorder, give_back) = Recorder::new(0, (0, true), shared.clone(), Arc::new(InFlight::new(1, true)), out);
    recorder.wait_for_start(Ok(true));
    assert!(matches!(inbox.try_recv(), Ok(Message::Ready(Ok(true)))));
    (recorder, shared, inbox, give_back)
}

/// One I/O completes `ms` after the start of load.
fn complete(recorder: &mut Recorder, ms: u64) {
    recorder.observe(Nanos(LOAD_START + ms * 1_000_000));
    let now = Nanos(LOAD_START + ms * 1_000_000);
    recorder.done(Nanos(now.0 - 1000), Ended { op: Op::Read, offset: 0, len: 4096, now });
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
    recorder.finish(Finished::default());
    assert_eq!(parts(&inbox)[0], (Phase::Window, 5, 1, 1));
}

#[test]
fn a_late_collector_costs_resolution_and_nothing_else() {
    let (mut recorder, _shared, inbox, _give_back) = recorder();
    (0..25).for_each(|i| complete(&mut recorder, i * 100));
    recorder.finish(Finished::default());
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
    recorder.complete(0, Ended { op: Op::Read, offset: 0, len: 4096, now: at(80) });
    recorder.finish(Finished::default());
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
    let io = Ended { op: Op::Read, offset: 0, len: 4096, now: Nanos(LOAD_START) };
    (0..2).for_each(|_| recorder.fault(0, io, None, 5));
    assert!(recorder.accepting());
    recorder.fault(0, io, None, 5);
    assert!(!recorder.accepting());
}

#[test]
fn the_bound_of_a_threads_memory_is_above_what_was_measured() {
    // docs/bench/truth.md, "Many threads": reads, without buffers to speak of.
    let (mib, open, closed) = (1u64 << 20, 256 * memory_per_thread(true, 1), 10_000 * memory_per_thread(false, 1));
    assert!(open > 343 * mib && closed > 6017 * mib, "{} and {} MiB", open / mib, closed / mib);
    assert!(memory_per_thread(false, 2) > memory_per_thread(false, 1));
}
