//! What a load thread does with completions: counts them, looks at what was read, lets syncs follow writes, and frees slots. Under the
//! same rules as [`super`].

use super::{NEVER, QueueLane, Slot, moves};
use crate::io_log::Ended;
use crate::recorder::Recorder;
use std::io;
use stend_base::Nanos;
use stend_spec::workload::{Op, Sync};
use stend_sys::queue::{Completion, Queue, Request};

/// The kernel wants the request again.
pub(super) const EAGAIN: i32 = 11;
/// A signal came first.
pub(super) const EINTR: i32 = 4;

impl<Q: Queue> QueueLane<Q> {
    /// Counts the completions that were read, for which the thread may have `slept`; the time.
    pub(super) fn end_complete(&mut self, recorder: &mut Recorder, slept: bool) -> io::Result<Nanos> {
        // One reading for all completions found: they were complete by now, and a reading for each
        // would only add the time we spend on the ones before it.
        let now = self.clock.now();
        recorder.observe(now);
        self.submission.read(self.done.len(), now, slept);
        for i in 0..self.done.len() {
            let Completion { slot, result } = self.done[i];
            self.complete(slot, result, recorder, now)?;
        }
        self.done.clear();
        Ok(now)
    }

    /// Ends what a slot is at.
    #[inline(always)]
    fn complete(&mut self, slot: u32, result: i32, recorder: &mut Recorder, now: Nanos) -> io::Result<()> {
        let Slot { op, offset, len, done, .. } = self.slots[slot as usize];
        if result != done {
            return self.complete_otherwise(slot, result, recorder, now);
        }
        recorder.complete(slot as usize, Ended { op, offset, len, now });
        self.release(slot, recorder, now);
        Ok(())
    }

    /// Ends what has to be looked at or goes on, has failed, or is to be tried again.
    #[inline(never)]
    fn complete_otherwise(&mut self, slot: u32, result: i32, recorder: &mut Recorder, now: Nanos) -> io::Result<()> {
        if result == -EAGAIN || result == -EINTR {
            return self.resume(slot);
        }
        let state = self.slots[slot as usize];
        let syncing = state.sync_start > 0;
        let op = if syncing { Op::Sync } else { state.op };
        let expected = if syncing { 0 } else { moves(op, state.len) };
        if result != expected {
            let io = Ended { op, offset: state.offset, len: if syncing { 0 } else { state.len }, now };
            let start = syncing.then_some(Nanos(state.sync_start));
            recorder.fault(slot as usize, io, start, (-result).max(0));
            if let Some(verifier) = &mut self.verifier {
                verifier.failed(slot, op, state.offset);
            }
            self.release(slot, recorder, now);
            return Ok(());
        }
        if let (Some(verifier), false) = (&mut self.verifier, syncing) {
            let data = &self.queue.slot_mut(slot)[state.at..state.at + state.len as usize];
            verifier.complete(slot, op, state.offset, data);
        }
        if syncing {
            self.end_sync(slot, recorder, now);
            return Ok(());
        }
        match (op, u64::from(self.sync.every())) {
            (Op::Write, 1) => return self.begin_sync(slot, now),
            (Op::Write, n) => {
                self.count_write(slot, recorder, now);
                self.writes += 1;
                if n > 0 && self.writes.is_multiple_of(n) && recorder.accepting() {
                    self.slots[slot as usize].op = Op::Sync;
                    recorder.begin(slot as usize, Op::Sync, now);
                    return self.begin_sync(slot, now);
                }
            }
            (op, _) => {
                recorder.complete(slot as usize, Ended { op, offset: state.offset, len: state.len, now });
            }
        }
        self.release(slot, recorder, now);
        Ok(())
    }

    /// Counts a sync, and the write that it belongs to.
    fn end_sync(&mut self, slot: u32, recorder: &mut Recorder, now: Nanos) {
        let Slot { op, offset, sync_start, .. } = self.slots[slot as usize];
        if let Some(verifier) = &mut self.verifier {
            verifier.synced(slot, offset);
        }
        recorder.done(Nanos(sync_start), Ended { op: Op::Sync, offset, len: 0, now });
        if op == Op::Write {
            self.count_write(slot, recorder, now);
        }
        self.release(slot, recorder, now);
    }

    fn count_write(&self, slot: u32, recorder: &mut Recorder, now: Nanos) {
        let Slot { offset, len, .. } = self.slots[slot as usize];
        recorder.complete(slot as usize, Ended { op: Op::Write, offset, len, now });
    }

    fn begin_sync(&mut self, slot: u32, now: Nanos) -> io::Result<()> {
        let state = &mut self.slots[slot as usize];
        (state.sync_start, state.done) = (now.0, NEVER);
        self.resume(slot)
    }

    /// Queues what the slot is at, again or for the first time.
    fn resume(&mut self, slot: u32) -> io::Result<()> {
        self.give_what_is_due()?;
        let state = self.slots[slot as usize];
        let request = match (state.sync_start > 0, self.sync) {
            (true, Sync::Fsync(_)) => Request::Fsync,
            (true, _) => Request::Fdatasync,
            (false, _) => state.request,
        };
        self.push(slot, request);
        Ok(())
    }

    fn release(&mut self, slot: u32, recorder: &mut Recorder, now: Nanos) {
        recorder.release(slot as usize);
        if let (Some(open), true) = (&mut self.open, self.free.is_empty()) {
            open.freed = now.0;
        }
        if self.rests.as_mut().is_some_and(|rests| rests.ended(slot, now)) {
            return;
        }
        self.free.push(slot);
    }
}
