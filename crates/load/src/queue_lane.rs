//! A load thread on io_uring or Linux AIO: what is free begins, and one completion is waited for or a batch of them, in an
//! open loop only until the next I/O is due, and with rests until a place wakes. What is complete is read between two submissions, so
//! that its time is its own. Must not allocate, lock, or make any other system call between two interval edges.

mod completion;

use crate::append::Appended;
use crate::arrivals::{Arrivals, Progress};
use crate::io_log::Ended;
use crate::layout::Job;
use crate::message::Finished;
use crate::payload::Payload;
use crate::recorder::Recorder;
use crate::sequence::Sequence;
use crate::step::Step;
use crate::submission::Submission;
use crate::think::Rests;
use crate::verify::Verifier;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use stend_base::Nanos;
use stend_spec::workload::{Batch, Op, Sync};
use stend_sys::IoFile;
use stend_sys::queue::{Completion, Queue, Request};
use stend_sys::ticker::Ticker;

/// What waits so long for its turn is held up by the target: the length of the intervals in which stalls are looked for.
const STALL: Nanos = crate::INTERVAL;

/// One job's queue and everything its I/O follows from.
pub(crate) struct QueueLane<Q> {
    queue: Q,
    clock: Ticker,
    sequence: Sequence,
    payload: Payload,
    limit: u64,
    sync: Sync,
    write: Request,
    slots: Box<[Slot]>,
    free: Vec<u32>,
    /// Slots whose I/Os wait for those before them to be submitted.
    turns: VecDeque<u32>,
    done: Vec<Completion>,
    next: u64,
    writes: u64,
    open: Option<Open>,
    verifier: Option<Verifier>,
    rests: Option<Rests>,
    batch: Batch,
    submission: Submission,
    spans: Spans,
    append: Option<Appended>,
}

/// How long the one stamp of a batch was shared: until its last I/O was queued.
#[derive(Debug, Clone, Copy, Default)]
struct Spans {
    sum: u64,
    count: u64,
}

/// What an open loop knows besides.
struct Open {
    arrivals: Arrivals,
    progress: Arc<Progress>,
    /// When the next I/O is due, ns since the start of the load; `None`: there is none any more.
    due: Option<u64>,
    /// When the last slot came free after all had been taken, ns.
    freed: u64,
}

/// The I/O that a slot works on.
#[derive(Debug, Clone, Copy)]
struct Slot {
    op: Op,
    /// How its transfer is asked for.
    request: Request,
    offset: u64,
    len: u32,
    /// Number of the I/O in the job.
    index: u64,
    at: usize,
    /// Where its next data to be written begin.
    turn: usize,
    /// Start of the sync that follows a transfer or stands alone; 0 while transferring.
    sync_start: u64,
    /// The result with which it is complete and nothing else is to be done.
    done: i32,
}

impl<Q: Queue> QueueLane<Q> {
    /// Sets the queue, made by `queue` for so many slots of so many bytes, and its data up; on the thread
    /// that will use it.
    pub fn new(
        job: &Job,
        progress: &Arc<Progress>,
        queue: impl FnOnce(u32, usize) -> io::Result<Q>,
    ) -> io::Result<QueueLane<Q>> {
        let payload = Payload::new(job);
        let depth = job.spec.queue_depth;
        let mut queue = queue(depth, payload.slot_len())?;
        (0..depth).for_each(|slot| payload.prime(u64::from(slot), queue.slot_mut(slot)));
        let open = |arrivals: Arrivals| {
            let (progress, due) = (progress.clone(), arrivals.due(progress.arrival()));
            Open { arrivals, progress, due, freed: 0 }
        };
        let submission = Submission::of(&job.spec, depth);
        let (op, request) = (Op::Read, Request::Read);
        let idle = Slot { op, request, offset: 0, len: 0, index: 0, at: 0, turn: 0, sync_start: 0, done: NEVER };
        Ok(QueueLane {
            queue,
            clock: Ticker::new(),
            sequence: Sequence::new(job),
            payload,
            limit: job.limit,
            sync: job.spec.sync,
            write: if job.spec.sync == Sync::Dsync { Request::WriteDsync } else { Request::Write },
            slots: vec![idle; depth as usize].into_boxed_slice(),
            free: (0..depth).rev().collect(),
            turns: VecDeque::with_capacity(depth as usize),
            done: Vec::with_capacity(depth as usize),
            next: 0,
            writes: 0,
            open: Arrivals::new(job).map(open),
            verifier: Verifier::new(job, depth),
            rests: job.spec.think.map(|think| Rests::new(think, depth)),
            batch: job.spec.batch,
            submission,
            spans: Spans::default(),
            append: None,
        })
    }

    /// Says which file the queue writes to; one that its job appends to is emptied when it is full.
    pub fn append_to(&mut self, job: &Job, file: &Arc<IoFile>) {
        self.append = Appended::new(job, &self.sequence, file);
    }

    /// Whether file and buffers are registered.
    pub fn registered(&self) -> bool {
        self.queue.registered()
    }

    /// Makes I/O from `start` until the recorder says stop, then waits for what is in flight.
    pub fn run(mut self, mut recorder: Recorder, start: Nanos) {
        let failure = self.load(&mut recorder, start).err();
        // Given up: the queue leaks itself, the kernel may still write into its memory.
        let stalled = self.queue.in_flight() > 0;
        if let Some(verifier) = self.verifier {
            verifier.finish();
        }
        let span = self.spans.sum.checked_div(self.spans.count).map(Nanos);
        let submissions = Some(self.submission.done());
        recorder.finish(Finished { stalled, failure, batch_span: span, submissions, ..Finished::default() });
    }

    fn load(&mut self, recorder: &mut Recorder, start: Nanos) -> io::Result<()> {
        let mut now = start;
        self.submission.begins(start);
        loop {
            if let (Some(append), 0) = (&mut self.append, self.queue.in_flight())
                && self.next < self.limit
                && is_due(self.open.as_ref(), recorder, now)
                && let Err(error) = append.make_room(self.next)
            {
                self.fail_next(&error, recorder);
                now = self.clock.now();
                continue;
            }
            let mut wait = recorder.patience(now);
            let mut more = false;
            if self.open.is_some() {
                if let Some(next) = self.begin_due(recorder, now)? {
                    (wait, more) = (wait.min(next.saturating_sub(self.clock.now())), true);
                }
            } else if (recorder.accepting() || !self.turns.is_empty())
                && let Some(next) = self.refill(recorder, now)?
            {
                (wait, more) = (wait.min(next.saturating_sub(now)), true);
            }
            if self.queue.in_flight() == 0 && !more || recorder.given_up(now) {
                return Ok(());
            }
            let slept = self.give_and_wait(wait)?;
            now = self.end_complete(recorder, slept)?;
        }
    }

    /// The job's next I/O has failed before it could be made: its file is full and cannot be emptied.
    #[cold]
    fn fail_next(&mut self, error: &io::Error, recorder: &mut Recorder) {
        let Step { op, offset, len, .. } = self.sequence.at(self.next);
        let now = self.clock.now();
        recorder.fault(0, Ended { op, offset, len, now }, Some(now), error.raw_os_error().unwrap_or(0));
        recorder.observe(now);
        self.next += 1;
        self.pass_arrival();
    }

    /// The next I/O of an open loop is that of the next arrival.
    fn pass_arrival(&mut self) {
        if let Some(open) = &mut self.open {
            let next = open.arrivals.after(open.progress.arrival());
            open.progress.advance(next);
            open.progress.next.store(self.next, Ordering::Relaxed);
            open.due = open.arrivals.due(next);
        }
    }

    /// Submits what is queued and waits for completions, unless I/Os wait for their turn; whether it slept until they were there.
    fn give_and_wait(&mut self, wait: Nanos) -> io::Result<bool> {
        let flying = self.queue.in_flight();
        let (busy, several) = (!self.turns.is_empty() || self.queue.is_ready(), self.submission.is_several());
        self.submission.given();
        if !self.turns.is_empty() {
            self.queue.submit()?;
        } else {
            if self.submission.is_apart() {
                self.queue.submit()?;
                if !self.submission.decides() {
                    self.submission.waited(!self.queue.is_ready());
                }
            }
            self.queue.submit_and_wait(self.batch.size.min(flying).max(1), wait)?;
        }
        self.queue.reap(&mut self.done);
        // All of several can only be complete at once if they were as soon as they were submitted.
        let some = (self.done.len() as u32) < flying;
        if self.submission.decides() {
            self.submission.waited(!busy && some);
        }
        Ok(!busy && (some || !several))
    }

    /// Queues the job's next I/O in every free slot; when the next slot has rested, if any rests.
    fn refill(&mut self, recorder: &mut Recorder, now: Nanos) -> io::Result<Option<Nanos>> {
        let wakes = self.rests.as_mut().and_then(|rests| rests.wake(now, &mut self.free));
        if self.submission.has_turns() && !self.batch.one_stamp || !self.turns.is_empty() {
            self.begin_in_turn(recorder)?;
            return Ok(wakes);
        }
        let first = self.next;
        while self.next < self.limit {
            let Some(slot) = self.free.pop() else { break };
            let (op, request) = self.prepare(slot);
            let start = if self.batch.one_stamp { now } else { self.clock.now() };
            recorder.begin(slot as usize, op, start);
            self.give_what_is_due()?;
            self.push(slot, request);
        }
        if self.batch.one_stamp && self.next > first {
            self.spans.sum += self.clock.now().saturating_sub(now).0;
            self.spans.count += 1;
        }
        Ok(wakes)
    }

    /// Submits an I/O for every free slot, one after the other, each with the clock read just before its call. Until then it waits for
    /// its turn, which is this thread's pace and no latency of the target; but behind calls that block it waits for the target, so
    /// that a stall shows in each of them. Ends after as many as there are slots, so that the end of the load is seen.
    fn begin_in_turn(&mut self, recorder: &mut Recorder) -> io::Result<()> {
        let now = self.clock.now();
        self.take_turns(recorder, now);
        for _ in 0..self.slots.len() {
            let Some(slot) = self.turns.pop_front() else { break };
            if self.submission.is_due() {
                self.give_what_is_due()?;
                self.read_meanwhile(recorder)?;
            }
            let request = self.set_up(slot);
            let start = self.clock.now();
            let waited = recorder.postpone(slot as usize, self.slots[slot as usize].op, start, STALL);
            self.submission.took_its_turn(waited.unwrap_or_default());
            self.push(slot, request);
        }
        Ok(())
    }

    /// Gives every free slot an I/O, which waits for its turn.
    #[inline(always)]
    fn take_turns(&mut self, recorder: &mut Recorder, now: Nanos) {
        while self.next < self.limit && recorder.accepting() {
            let Some(slot) = self.free.pop() else { break };
            let op = self.draw(slot);
            recorder.begin(slot as usize, op, now);
            self.turns.push_back(slot);
        }
    }

    /// Submits what was begun before the I/O that begins now, if it is not to wait for it.
    #[inline(always)]
    fn give_what_is_due(&mut self) -> io::Result<()> {
        if !self.submission.is_due() {
            return Ok(());
        }
        self.submission.given();
        self.queue.submit()
    }

    /// Reads what is complete before the next I/O is submitted: otherwise it would end when all of them are, and its slot would be idle.
    #[inline(always)]
    fn read_meanwhile(&mut self, recorder: &mut Recorder) -> io::Result<()> {
        if self.batch.size == 1 {
            self.queue.reap(&mut self.done);
        }
        if !self.done.is_empty() {
            let now = self.end_complete(recorder, false)?;
            if self.open.is_none() {
                self.take_turns(recorder, now);
            }
        }
        Ok(())
    }

    /// Queues every I/O of an open loop that is due and has a slot; the time of the next one that will have.
    fn begin_due(&mut self, recorder: &mut Recorder, mut now: Nanos) -> io::Result<Option<Nanos>> {
        loop {
            let Some(open) = &self.open else { return Ok(None) };
            let Some(due) = open.due.filter(|&due| recorder.wants(due, now)) else { return Ok(None) };
            let at = Nanos(recorder.origin() + due);
            if at > now {
                return Ok(Some(at));
            }
            let possible = Nanos(at.0.max(open.freed));
            let Some(slot) = self.free.pop() else { return Ok(None) };
            if self.submission.is_due() {
                self.give_what_is_due()?;
                self.read_meanwhile(recorder)?;
            }
            let (op, request) = self.prepare(slot);
            now = self.clock.now();
            recorder.begin_due(slot as usize, op, now, at, possible);
            self.push(slot, request);
            self.pass_arrival();
        }
    }

    /// Sets a free slot up for the job's next I/O.
    fn prepare(&mut self, slot: u32) -> (Op, Request) {
        let op = self.draw(slot);
        (op, self.set_up(slot))
    }

    /// Takes the job's next I/O into a free slot.
    #[inline(always)]
    fn draw(&mut self, slot: u32) -> Op {
        let Step { op, offset, len, durable } = self.sequence.at(self.next);
        let request = match op {
            Op::Write if durable => Request::WriteDsync,
            Op::Write => self.write,
            op => request_of(op),
        };
        // Field by field: what is read again soon, and wider than it was written, waits until the stores are through.
        let state = &mut self.slots[slot as usize];
        (state.op, state.request, state.offset, state.len) = (op, request, offset, len);
        (state.index, state.at, state.sync_start) = (self.next, 0, 0);
        let more = self.verifier.is_some() || op == Op::Write && self.sync.every() > 0;
        state.done = if more { NEVER } else { moves(op, len) };
        self.next += 1;
        op
    }

    /// Makes the data of a slot's I/O.
    #[inline(always)]
    fn set_up(&mut self, slot: u32) -> Request {
        let state = &mut self.slots[slot as usize];
        match state.op {
            Op::Write => {
                let (memory, len) = (self.queue.slot_mut(slot), state.len as usize);
                state.at = match &mut self.verifier {
                    Some(verifier) => verifier.stamp(slot, &mut memory[..len], state.offset),
                    None => self.payload.stamp(memory, &mut state.turn, state.index, len),
                };
            }
            Op::Read => {
                if let Some(verifier) = &mut self.verifier {
                    verifier.begin_read(slot, state.offset);
                }
                state.at = self.payload.read_at();
            }
            _ => {}
        }
        state.request
    }

    #[inline(always)]
    fn push(&mut self, slot: u32, request: Request) {
        let state = &self.slots[slot as usize];
        self.submission.queued();
        self.queue.push(slot, request, state.at, state.len as usize, state.offset);
    }
}

/// Whether the next I/O is to begin now.
fn is_due(open: Option<&Open>, recorder: &Recorder, now: Nanos) -> bool {
    match open {
        None => recorder.accepting(),
        Some(open) => open.due.is_some_and(|due| recorder.wants(due, now) && recorder.origin() + due <= now.0),
    }
}

/// A result that no request has.
const NEVER: i32 = i32::MIN;
/// How an operation is asked for. Discards come here for files only: io_uring has none for devices (see `backend`).
#[inline(always)]
fn request_of(op: Op) -> Request {
    match op {
        Op::Read => Request::Read,
        Op::Write => Request::Write,
        Op::Discard => Request::PunchHole,
        Op::WriteZeroes => Request::ZeroRange,
        Op::Sync => Request::Fdatasync,
    }
}

/// What a transfer of `len` bytes gives that went well.
#[inline(always)]
fn moves(op: Op, len: u32) -> i32 {
    if request_of(op).moves_data() { len as i32 } else { 0 }
}

#[cfg(test)]
mod tests;
