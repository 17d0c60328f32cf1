//! A load thread on `pread` and `pwrite`, one I/O in flight. As many threads as the job has queue depth
//! share its sequence, so that the experiment is the same as with io_uring.

use crate::append::Appended;
use crate::arrivals::{Arrivals, Progress};
use crate::io_log::Ended;
use crate::layout::Job;
use crate::message::Finished;
use crate::payload::Payload;
use crate::recorder::Recorder;
use crate::sequence::Sequence;
use crate::step::Step;
use crate::verify::Verifier;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use stend_base::Nanos;
use stend_spec::workload::{Op, Pattern, Region, Sync, Think};
use stend_sys::buffer::{Pages, Pool};
use stend_sys::ticker::Ticker;
use stend_sys::{IoFile, clock};

/// One thread of a job.
pub(crate) struct SyncLane {
    file: Arc<IoFile>,
    progress: Arc<Progress>,
    pool: Pool,
    clock: Ticker,
    sequence: Sequence,
    payload: Payload,
    limit: u64,
    sync: Sync,
    /// First byte and length of what the job works on.
    area: (u64, u64),
    /// Where its next data to be written begin.
    turn: usize,
    arrivals: Option<Arrivals>,
    verifier: Option<Verifier>,
    think: Option<Think>,
    append: Option<Appended>,
}

/// When an I/O of an open loop was due, and when its thread was free for it.
#[derive(Debug, Clone, Copy)]
struct Due {
    at: Nanos,
    free: Nanos,
}

/// What a sync of a range is about: the area of the job, from the begin of its own file where it appends to one.
fn synced(job: &Job) -> (u64, u64) {
    let Region { start, len } = job.region();
    let start = if job.spec.pattern == Pattern::Append { 0 } else { start.0 };
    (start, len.0)
}

impl SyncLane {
    /// Sets the memory of the job's thread number `thread` up, in such pages.
    pub fn new(
        job: &Job,
        thread: u32,
        file: Arc<IoFile>,
        pages: Pages,
        progress: Arc<Progress>,
    ) -> io::Result<SyncLane> {
        let payload = Payload::new(job);
        let mut pool = Pool::in_pages(1, payload.slot_len(), pages)?;
        payload.prime(u64::from(thread), pool.slot_mut(0));
        let sequence = Sequence::new(job);
        Ok(SyncLane {
            append: Appended::new(job, &sequence, &file),
            file,
            progress,
            pool,
            clock: Ticker::new(),
            sequence,
            payload,
            limit: job.limit,
            sync: job.spec.sync,
            area: synced(job),
            turn: 0,
            arrivals: Arrivals::new(job),
            verifier: Verifier::new(job, 1),
            think: job.spec.think,
        })
    }

    /// Its buffer.
    pub fn buffers(&self) -> &[u8] {
        self.pool.slot(0)
    }

    /// Makes I/O from `start` until the recorder says stop. May be stuck in the kernel for good; the
    /// collector does not wait for that.
    pub fn run(mut self, mut recorder: Recorder, start: Nanos) {
        recorder.observe(start);
        match self.arrivals.take() {
            Some(arrivals) => self.open_loop(&arrivals, &mut recorder, start),
            None => self.closed_loop(&mut recorder),
        }
        if let Some(verifier) = self.verifier {
            verifier.finish();
        }
        recorder.finish(Finished::default());
    }

    fn closed_loop(&mut self, recorder: &mut Recorder) {
        let mut made = 0;
        while recorder.accepting() {
            let index = self.progress.next.fetch_add(1, Ordering::Relaxed);
            if index >= self.limit {
                break;
            }
            self.one(index, None, recorder);
            recorder.release(0);
            made += 1;
            if let Some(think) = self.think.filter(|think| made >= think.every) {
                rest(recorder, think.time);
                made = 0;
            }
        }
    }

    /// Takes the next I/O that is due, waits for its time if that has not come, and makes it.
    fn open_loop(&mut self, arrivals: &Arrivals, recorder: &mut Recorder, start: Nanos) {
        let mut now = start;
        while let Some((due, index)) = self.progress.take(arrivals, |due| recorder.wants(due, now)) {
            let due = Due { at: Nanos(recorder.origin() + due.0), free: now };
            while now < due.at {
                // Awake at every edge, and soon after an early end.
                clock::sleep_until((now + recorder.patience(now)).min(due.at));
                now = self.clock.now();
                recorder.observe(now);
                if !recorder.accepting() && now < due.at {
                    return;
                }
            }
            self.one(index, Some(due), recorder);
            recorder.release(0);
            now = self.clock.now();
        }
    }

    fn one(&mut self, index: u64, due: Option<Due>, recorder: &mut Recorder) {
        let step = self.sequence.at(index);
        let Step { op, offset, len, durable } = step;
        if let Some(Err(e)) = self.append.as_mut().map(|append| append.make_room(index)) {
            let now = self.clock.now();
            return self.failed(Ended { op, offset, len, now }, Some(now), e.raw_os_error().unwrap_or(0), recorder);
        }
        let memory = self.pool.slot_mut(0);
        let at = match (op, &mut self.verifier) {
            (Op::Write, None) => self.payload.stamp(memory, &mut self.turn, index, len as usize),
            (Op::Write, Some(verifier)) => verifier.stamp(0, &mut memory[..len as usize], offset),
            (Op::Read, verifier) => {
                if let Some(verifier) = verifier {
                    verifier.begin_read(0, offset);
                }
                self.payload.read_at()
            }
            (Op::Discard | Op::WriteZeroes | Op::Sync, _) => 0,
        };
        let start = self.clock.now();
        match due {
            Some(due) => recorder.begin_due(0, op, start, due.at, due.at.max(due.free)),
            None => recorder.begin(0, op, start),
        }
        let (file, bytes) = (&self.file, u64::from(len));
        let data = at..at + len as usize;
        let whole = |()| len as usize;
        let result = match op {
            Op::Write if durable || self.sync == Sync::Dsync => {
                retried(recorder, || file.write_durably_at(&memory[data.clone()], offset))
            }
            Op::Write => retried(recorder, || file.write_at(&memory[data.clone()], offset)),
            Op::Read => retried(recorder, || file.read_at(&mut memory[data.clone()], offset)),
            Op::Discard => retried(recorder, || file.discard_at(offset, bytes).map(whole)),
            Op::WriteZeroes => retried(recorder, || file.zero_at(offset, bytes).map(whole)),
            Op::Sync => retried(recorder, || file.sync_data().map(whole)),
        };
        let now = self.clock.now();
        recorder.observe(now);
        let failed = match result {
            Ok(moved) if moved == len as usize => None,
            Ok(_) => Some(0),
            Err(e) => Some(e.raw_os_error().unwrap_or(0)),
        };
        if let Some(errno) = failed {
            return self.failed(Ended { op, offset, len, now }, None, errno, recorder);
        }
        if let Some(verifier) = &mut self.verifier {
            verifier.complete(0, op, offset, &self.pool.slot(0)[data]);
        }
        if op != Op::Write {
            return recorder.complete(0, Ended { op, offset, len, now });
        }
        self.written(step, now, recorder);
    }

    fn failed(&mut self, io: Ended, start: Option<Nanos>, errno: i32, recorder: &mut Recorder) {
        recorder.fault(0, io, start, errno);
        if let Some(verifier) = &mut self.verifier {
            verifier.failed(0, io.op, io.offset);
        }
    }

    /// Counts a write that was transferred at `now`, and makes the sync that has to follow.
    fn written(&mut self, step: Step, now: Nanos, recorder: &mut Recorder) {
        let write = Ended { op: Op::Write, offset: step.offset, len: step.len, now };
        let n = u64::from(self.sync.every());
        if n != 1 {
            recorder.complete(0, write);
            let writes = self.progress.writes.fetch_add(1, Ordering::Relaxed) + 1;
            if n == 0 || !writes.is_multiple_of(n) || !recorder.accepting() {
                return;
            }
            recorder.begin(0, Op::Sync, now);
        }
        let result = retried(recorder, || match self.sync {
            Sync::Fsync(_) => self.file.sync_all_at(step.offset),
            Sync::SyncFileRange(_) => self.file.sync_range(self.area.0, self.area.1),
            _ => self.file.sync_data_at(step.offset),
        });
        let synced = self.clock.now();
        recorder.observe(synced);
        let sync = Ended { op: Op::Sync, offset: step.offset, len: 0, now: synced };
        if let Err(e) = result {
            return self.failed(sync, Some(now), e.raw_os_error().unwrap_or(0), recorder);
        }
        recorder.done(now, sync);
        if n == 1 {
            if let Some(verifier) = &mut self.verifier {
                verifier.synced(0, step.offset);
            }
            recorder.complete(0, Ended { now: synced, ..write });
        }
    }
}

/// Sleeps, awake at every edge, and not beyond the end of the load.
fn rest(recorder: &mut Recorder, time: Nanos) {
    let mut now = clock::now();
    let until = now + time;
    while now < until && recorder.accepting() {
        clock::sleep_until((now + recorder.patience(now)).min(until));
        now = clock::now();
        recorder.observe(now);
    }
}

/// Signals and a kernel that is short of something for a moment are not failures of the target, unless
/// waiting for it ends before they do.
fn retried<T>(recorder: &mut Recorder, mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(e) if again(&e) => {
                let now = clock::now();
                recorder.observe(now);
                if recorder.given_up(now) {
                    return Err(e);
                }
            }
            result => return result,
        }
    }
}

fn again(e: &io::Error) -> bool {
    matches!(e.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::MESSAGES_PER_THREAD;
    use crate::shared::{InFlight, Shared, Times};
    use std::sync::mpsc::sync_channel;

    #[test]
    fn a_job_that_appends_syncs_its_own_file_from_the_begin() {
        let of = |pattern| {
            let spec = stend_spec::workload::Stream { pattern, jobs: 2, ..crate::layout::tests::stream() };
            let trial = crate::layout::tests::trial(stend_base::Bytes::kib(64), vec![spec]);
            crate::layout::jobs(&trial, 9).unwrap().iter().map(synced).collect::<Vec<_>>()
        };
        let half = 32 << 10;
        assert_eq!(of(Pattern::Append), [(0, half), (0, half)]);
        assert_eq!(of(Pattern::Random), [(0, half), (half, half)]);
    }

    #[test]
    fn what_a_signal_interrupts_is_tried_again_until_waiting_is_over() {
        let shared = Arc::new(Shared::new(1));
        let now = clock::now().0;
        // The load is over; its I/O may take another minute.
        let give_up = now + 60_000_000_000;
        shared.publish(Times { load_start: now, window_start: now }, now, now, give_up);
        let (out, _inbox) = sync_channel(MESSAGES_PER_THREAD);
        let in_flight = Arc::new(InFlight::new(1, false));
        let (mut recorder, _back) = Recorder::new(0, (0, false), shared.clone(), in_flight, out);
        recorder.wait_for_start(Ok(false));
        assert!(!recorder.accepting());
        let mut left = 3;
        let mut interrupted = || {
            left -= 1;
            if left > 0 { Err(io::ErrorKind::Interrupted.into()) } else { Ok(left) }
        };
        assert_eq!(retried(&mut recorder, &mut interrupted).unwrap(), 0);
        shared.end_early(now, 0);
        let again = retried(&mut recorder, || Err::<(), _>(io::ErrorKind::WouldBlock.into()));
        assert_eq!(again.unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }
}
