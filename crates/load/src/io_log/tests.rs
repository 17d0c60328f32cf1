//! What a thread records, what it leaves out, and what is passed on.

use super::*;
use crate::message::Finished;
use crate::shared::{InFlight, Times};
use crate::{recorder::Recorder, shared::Shared};
use std::sync::mpsc::TryRecvError;
use stend_spec::workload::{BlockShare, Mix, Pattern};

const MS: u64 = 1_000_000;

fn stream() -> Stream {
    let mix = [(4, 70), (8, 30)].map(|(kib, percent)| BlockShare { size: Bytes::kib(kib), percent });
    Stream { block_mix: mix.to_vec(), ..Stream::new(Mix::of_reads(100), Pattern::Random, Bytes::kib(8)) }
}

fn io(at: u64) -> Ended {
    Ended { op: Op::Read, offset: 8192, len: 4096, now: Nanos(at) }
}

/// A log of the only thread of a thousand, so that it has [`CHUNKS_MIN`] chunks; its inbox, and the way back.
fn log() -> (Log, Arc<Shared>, Receiver<Message>, SyncSender<Box<Chunk>>) {
    let shared = Arc::new(Shared::new(1));
    let (out, inbox) = sync_channel(16);
    let (log, give_back) = Log::new((0, 1000), &stream(), shared.clone(), out);
    (log, shared, inbox, give_back)
}

fn chunks(inbox: &Receiver<Message>) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    loop {
        match inbox.try_recv() {
            Ok(Message::Log(0, chunk)) => chunks.push(*chunk),
            Ok(_) => {}
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => return chunks,
        }
    }
}

#[test]
fn what_is_taken_over_late_costs_ios_of_the_log_and_each_is_counted() {
    let (mut log, _shared, inbox, give_back) = log();
    let room = (CHUNKS_MIN * CHUNK_RECORDS) as u64;
    (0..room + 1000).for_each(|i| log.add(io(i), Nanos(5), false));
    assert_eq!(log.missed, Missed { dropped: 1000, beyond: 0 });
    let taken = chunks(&inbox);
    assert_eq!(taken.len(), CHUNKS_MIN);
    for mut chunk in taken {
        chunk.clear();
        give_back.try_send(Box::new(chunk)).unwrap();
    }
    // The thread looks for a chunk now and then, not for each I/O.
    (0..LOOK_EVERY + 10).for_each(|i| log.add(io(room + i), Nanos(5), false));
    let missed = log.finish();
    assert!((1000..=1000 + LOOK_EVERY).contains(&missed.dropped), "{missed:?}");
    let kept: usize = chunks(&inbox).iter().map(|chunk| chunk.len).sum();
    assert_eq!(kept as u64 + missed.dropped, 1000 + LOOK_EVERY + 10);
}

#[test]
fn what_comes_when_the_size_is_used_up_is_told_apart_from_what_was_dropped() {
    let (mut log, shared, inbox, _give_back) = log();
    let mut budget = LogBudget::new(Bytes(16 * 5000));
    (0..2 * CHUNK_RECORDS as u64).for_each(|i| log.add(io(i), Nanos(5), false));
    let full: Vec<bool> = chunks(&inbox)
        .iter()
        .map(|chunk| {
            let (kept, full) = budget.take(chunk, 1, 2);
            assert!(kept.is_some_and(|kept| (kept.stream, kept.job) == (1, 2)));
            full
        })
        .collect();
    assert_eq!(full, [false, true]);
    shared.fill_log();
    (0..10).for_each(|i| log.add(io(9000 + i), Nanos(5), false));
    log.hand_over();
    (0..7).for_each(|i| log.add(io(9100 + i), Nanos(5), false));
    // A chunk that was begun before comes late, and has no room.
    let late = chunks(&inbox);
    assert_eq!((late.len(), budget.take(&late[0], 1, 2)), (1, (None, true)));
    let totals = budget.totals([log.finish()].into_iter(), 3);
    assert_eq!(
        totals,
        IoLogTotals { recorded: 5000, dropped: 0, beyond: 3192 + 10 + 7, failed: 3, placed: 5000, places: 1 }
    );
}

#[test]
fn a_record_says_when_where_and_how_large_and_a_chunk_never_reaches_beyond_its_field() {
    let (mut log, _shared, inbox, _give_back) = log();
    log.add(io(1000), Nanos(7), false);
    log.add(Ended { len: 8192, offset: 4096, ..io(1500) }, Nanos(8), true);
    // A thread that hung for hours goes on.
    log.add(io(1000 + END_MAX + 1), Nanos(END_MAX), false);
    log.finish();
    let mut budget = LogBudget::new(Bytes::mib(1));
    let chunks: Vec<IoChunk> = chunks(&inbox).iter().filter_map(|chunk| budget.take(chunk, 0, 0).0).collect();
    assert_eq!(
        chunks.iter().map(|chunk| (chunk.base.0, chunk.len())).collect::<Vec<_>>(),
        [(1000, 2), (1001 + END_MAX, 1)]
    );
    let ios: Vec<Logged> = chunks[0].ios().map(Option::unwrap).collect();
    let first = Logged { end: 0, latency: Nanos(7), op: Op::Read, failed: false, offset: 8192, size: 0 };
    assert_eq!(ios, [first, Logged { end: 500, latency: Nanos(8), failed: true, offset: 4096, size: 1, ..first }]);
    let long = chunks[1].ios().next().flatten().unwrap();
    assert_eq!(long.latency.0, stend_record::io_log::LATENCY_MAX);
}

#[test]
fn only_the_window_is_recorded_and_what_was_counted_was_handed_over() {
    let shared = Arc::new(Shared::new(3));
    let (out, inbox) = sync_channel(64);
    let end = 2_000 * MS;
    shared.publish(Times { load_start: MS, window_start: 251 * MS }, end, end, end + MS);
    let (mut recorder, _parts) =
        Recorder::new(0, (0, false), shared.clone(), Arc::new(InFlight::new(1, false)), out.clone());
    let (log, _give_back) = Log::new((0, 1000), &stream(), shared, out);
    recorder.keep_log(log);
    recorder.wait_for_start(Ok(true));
    let mut complete = |ms: u64| {
        let now = Nanos(ms * MS);
        recorder.observe(now);
        recorder.begin(0, Op::Read, Nanos(now.0 - 1000));
        recorder.complete(0, io(now.0));
    };
    [100, 250, 251, 252, 340].into_iter().for_each(&mut complete);
    // The edge at 301 ms was crossed: what lies before it does not wait for a full chunk.
    let counts = |inbox: &Receiver<Message>| chunks(inbox).iter().map(|chunk| chunk.len).collect::<Vec<_>>();
    assert_eq!(counts(&inbox), [2]);
    [1999, 2000, 2001].into_iter().for_each(&mut complete);
    let now = Nanos(2_002 * MS);
    recorder.fault(0, io(now.0), None, 5);
    recorder.finish(Finished::default());
    assert_eq!(counts(&inbox), [1, 1], "those of 340 and 1999 ms, and nothing of the drain");
}

#[test]
fn the_memory_of_all_threads_has_a_bound() {
    let mib = |threads: u64| memory(threads) >> 20;
    assert_eq!([1, 4, 16, 64, 256, 1024].map(mib), [16, 64, 64, 64, 64, 256]);
}
