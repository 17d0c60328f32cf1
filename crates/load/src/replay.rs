//! The traces of a run: which jobs replay them, whether they can, and what memory they take.

use crate::layout::Job;
use crate::replaying::Replaying;
use std::sync::Arc;
use stend_base::{Error, Result, say};
use stend_spec::trace::{Beyond, TracedIo};
use stend_spec::workload::{Op, Stream, Trial};

/// The I/Os of the traces of a run, by the number that [`Replay`](stend_spec::trace::Replay) gives them.
pub type Traces = [Arc<Vec<TracedIo>>];

/// Gives the jobs of streams that replay a trace their share of it.
pub(crate) fn attach(jobs: &mut [Job], trial: &Trial, traces: &Traces) {
    for job in jobs {
        let ios = job.spec.replay.and_then(|replay| traces.get(replay.trace as usize));
        job.replay = ios.and_then(|ios| Replaying::new(ios.clone(), trial, &job.spec, job.job));
    }
}

/// Bytes of memory that the I/Os of the traces of a trial take.
pub(crate) fn memory(trial: &Trial, traces: &Traces) -> u64 {
    let replayed = |number: usize| trial.streams.iter().any(|s| s.replay.is_some_and(|r| r.trace as usize == number));
    let bytes = |(_, ios): (usize, &Arc<Vec<TracedIo>>)| (ios.len() * size_of::<TracedIo>()) as u64;
    traces.iter().enumerate().filter(|(number, _)| replayed(*number)).map(bytes).sum()
}

/// What the planner must not ask for: a trace that is not here, or an I/O that cannot lie in the range.
pub(crate) fn check(trial: &Trial, traces: &Traces) -> Result<()> {
    let sane = |stream: &Stream| {
        let Some(replay) = stream.replay else { return true };
        let Some(ios) = traces.get(replay.trace as usize).filter(|ios| !ios.is_empty()) else { return false };
        let range = stream.region.unwrap_or(trial.region).len.0;
        let fits = |io: &TracedIo| {
            let end = io.offset.saturating_add(u64::from(io.len));
            let largest = if matches!(io.op, Op::Read | Op::Write) { stream.block_size.0 } else { range };
            u64::from(io.len) <= largest.min(range) && end <= replay.end.0
        };
        (1..=1 << 20).contains(&replay.alignment.0)
            && (replay.beyond != Beyond::Refuse || replay.end.0 <= range)
            && stream.rate.is_none()
            && stream.verify.is_none()
            && ios.iter().all(fits)
    };
    if trial.streams.iter().all(sane) {
        return Ok(());
    }
    Err(Error::bug(say!(
        "a trial replays a trace that it was not given, or one that does not fit its range",
        "испытание воспроизводит трассу, которой ему не дали или которая не помещается в его область"
    )))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::layout::tests::trial;
    use stend_base::{Bytes, Kind, Nanos};
    use stend_spec::trace::{Pace, Replay};
    use stend_spec::workload::{Mix, Pattern, Region};

    /// An I/O of 4 KiB at so many KiB, due after so many milliseconds.
    pub(crate) fn io(ms: u64, op: Op, kib: u64) -> TracedIo {
        TracedIo { at: Nanos::millis(ms), offset: kib << 10, len: 4096, op, durable: false }
    }

    /// A stream that replays these I/Os, the first trace of its run.
    pub(crate) fn replaying(ios: &[TracedIo], pace: Pace, beyond: Beyond) -> Stream {
        let end = ios.iter().map(|io| io.offset + u64::from(io.len)).max().unwrap_or(0);
        let syncs = ios.iter().any(|io| io.op == Op::Sync);
        let durable = ios.iter().any(|io| io.durable);
        let span = ios.last().map_or(Nanos(0), |io| io.at);
        let (end, alignment) = (Bytes(end), Bytes::kib(4));
        let replay = Replay { trace: 0, pace, beyond, end, alignment, syncs, durable, span };
        let mut stream = Stream::new(Mix::of_reads(50), Pattern::Traced, Bytes::kib(4));
        (stream.queue_depth, stream.replay) = (8, Some(replay));
        stream
    }

    fn shares(stream: &Stream, region: Region, ios: &[TracedIo]) -> Vec<Replaying> {
        let trial = Trial { region, ..trial(region.len, vec![stream.clone()]) };
        let mut jobs = crate::layout::jobs(&trial, u64::MAX).unwrap();
        attach(&mut jobs, &trial, &[Arc::new(ios.to_vec())]);
        jobs.into_iter().map(|job| job.replay.unwrap()).collect()
    }

    fn region(start_kib: u64, kib: u64) -> Region {
        Region { start: Bytes::kib(start_kib), len: Bytes::kib(kib) }
    }

    #[test]
    fn jobs_take_the_ios_in_turn_and_go_on_from_the_first() {
        let ios: Vec<_> = (0..5).map(|n| io(n * 10, Op::Read, n * 4)).collect();
        let stream = Stream { jobs: 2, ..replaying(&ios, Pace::Asap, Beyond::Refuse) };
        let shares = shares(&stream, region(64, 20), &ios);
        let of = |job: usize| (0..6).map(|n| (shares[job].at(n).offset >> 10) - 64).collect::<Vec<_>>();
        assert_eq!((of(0), of(1)), (vec![0, 8, 16, 4, 12, 0], vec![4, 12, 0, 8, 16, 4]));
        assert_eq!(shares[0].due(0), None, "as soon as possible is never due");
    }

    #[test]
    fn times_follow_the_pace() {
        let ios: Vec<_> = (0..5).map(|n| io(n * 10, Op::Read, 0)).collect();
        let share = &shares(&replaying(&ios, Pace::Timed(2000), Beyond::Refuse), region(0, 4), &ios)[0];
        assert_eq!((share.due(3), share.due(5)), (Some(15_000_000), None));
        assert_eq!((share.before(0), share.before(5_000_000), share.before(5_000_001)), (0, 1, 2));
        assert_eq!(share.before(u64::MAX), 5);
    }

    #[test]
    fn what_lies_beyond_is_wrapped_or_scaled_and_stays_inside() {
        let ios = [io(0, Op::Read, 0), io(0, Op::Write, 36), io(0, Op::Read, 40), io(0, Op::Read, 76)];
        let placed = |beyond| {
            let share = &shares(&replaying(&ios, Pace::Asap, beyond), region(8, 40), &ios)[0];
            (0..4).map(|n| (share.at(n).offset >> 10) - 8).collect::<Vec<_>>()
        };
        assert_eq!(placed(Beyond::Wrap), [0, 36, 0, 36]);
        // The end of the last is at 80 KiB, so all is halved: 18 and 38 are no multiples of 4.
        assert_eq!(placed(Beyond::Scale), [0, 16, 20, 36]);
        let odd = [TracedIo { len: 8192, ..io(0, Op::Read, 36) }, io(0, Op::Read, 76)];
        let share = &shares(&replaying(&odd, Pace::Asap, Beyond::Wrap), region(0, 40), &odd)[0];
        assert_eq!(share.at(0).offset, 32 << 10, "it would have reached over the end");
    }

    #[test]
    fn a_trace_that_is_not_there_or_does_not_fit_is_our_defect() {
        let ios = [io(0, Op::Read, 36)];
        let stream = replaying(&ios, Pace::Asap, Beyond::Refuse);
        let checked = |kib, traces: &Traces| check(&trial(Bytes::kib(kib), vec![stream.clone()]), traces);
        assert!(checked(40, &[Arc::new(ios.to_vec())]).is_ok());
        for error in [checked(36, &[Arc::new(ios.to_vec())]), checked(40, &[]), checked(40, &[Arc::default()])] {
            assert_eq!(error.unwrap_err().kind, Kind::Bug);
        }
        let larger = [TracedIo { len: 8192, ..ios[0] }];
        assert_eq!(checked(80, &[Arc::new(larger.to_vec())]).unwrap_err().kind, Kind::Bug);
    }
}
