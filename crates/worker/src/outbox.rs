//! Messages on their way to the coordinator. On a slow stream intervals are merged, never dropped, of a log of every I/O
//! later messages are left out, and load threads never wait.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use stend_base::histogram::Sparse;
use stend_base::{Error, Nanos, say};
use stend_record::{Event, EventKind, Slice};
use stend_wire::protocol::{Reply, frame};

/// Messages that may wait before intervals are merged: about six seconds of a trial.
const MERGE_ABOVE: usize = 64;
/// Records of logs that may wait, bytes: what comes beyond is left out, and the run file knows how many it has.
const LOG_MAX: usize = 32 << 20;

/// The sending half; cheap to clone, never blocks.
#[derive(Clone)]
pub struct Outbox {
    shared: Arc<(Mutex<Queue>, Condvar)>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Reply>,
    /// Bytes of records among them, and how many other messages there are.
    log: usize,
    others: usize,
    merged: u64,
    closed: bool,
}

impl Outbox {
    /// An empty outbox.
    pub fn new() -> Outbox {
        Outbox { shared: Arc::new((Mutex::new(Queue::default()), Condvar::new())) }
    }

    /// Queues a message.
    pub fn send(&self, reply: Reply) {
        let mut queue = self.lock();
        if queue.closed {
            return;
        }
        queue.push(reply);
        self.shared.1.notify_all();
    }

    /// Queues an event that happens now.
    pub fn event(&self, kind: EventKind) {
        self.send(Reply::Event(Event::new(stend_sys::clock::now(), kind)));
    }

    /// Writes messages to `to` until [`close`](Self::close) and the queue is empty, or writing fails.
    pub fn drain(&self, to: &mut impl Write) -> std::io::Result<()> {
        loop {
            let mut queue = self.lock();
            while queue.waiting.is_empty() && !queue.closed {
                queue = self.shared.1.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
            let Some(next) = queue.pop() else { return Ok(()) };
            drop(queue);
            self.shared.1.notify_all();
            let frame = frame(&next).or_else(|error| frame(&instead(&next, &error)));
            if let Err(error) = frame.and_then(|frame| to.write_all(&frame)).and_then(|()| to.flush()) {
                self.close();
                self.lock().clear();
                return Err(error);
            }
        }
    }

    /// No message is taken any more; `drain` returns after the last one.
    pub fn close(&self) {
        self.lock().closed = true;
        self.shared.1.notify_all();
    }

    /// Waits until everything is handed to the stream, at most `limit`.
    pub fn flush(&self, limit: Duration) {
        let queue = self.lock();
        let busy = |q: &mut Queue| !q.waiting.is_empty();
        drop(self.shared.1.wait_timeout_while(queue, limit, busy).unwrap_or_else(PoisonError::into_inner));
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Outbox {
    fn default() -> Self {
        Outbox::new()
    }
}

impl Queue {
    fn pop(&mut self) -> Option<Reply> {
        let next = self.waiting.pop_front()?;
        match &next {
            Reply::Log { chunk, .. } => self.log -= chunk.records.as_bytes().len(),
            _ => self.others -= 1,
        }
        Some(next)
    }

    fn clear(&mut self) {
        self.waiting.clear();
        (self.log, self.others) = (0, 0);
    }

    fn keep(&mut self, reply: Reply) {
        self.others += 1;
        self.waiting.push_back(reply);
    }

    fn push(&mut self, reply: Reply) {
        if let Reply::Log { chunk, .. } = &reply {
            let bytes = chunk.records.as_bytes().len();
            if self.log + bytes <= LOG_MAX {
                self.log += bytes;
                self.waiting.push_back(reply);
            }
            return;
        }
        if let Reply::TrialDone { outcome, .. } = &reply {
            self.report_merges(outcome.window_end);
            return self.keep(reply);
        }
        if self.others < MERGE_ABOVE {
            return self.keep(reply);
        }
        match reply {
            Reply::Slices { ordinal, slices } => self.push_slices(ordinal, slices),
            Reply::Sample(sample) => match self.waiting.back_mut() {
                // Counters only grow: the later sample says all that the earlier one did, less finely. Parts are not in every one.
                Some(Reply::Sample(last)) => {
                    let parts = last.parts.take();
                    *last = sample;
                    last.parts = last.parts.take().or(parts);
                }
                _ => self.keep(Reply::Sample(sample)),
            },
            Reply::Filling { done } => match self.waiting.back_mut() {
                Some(Reply::Filling { done: last }) => *last = done,
                _ => self.keep(Reply::Filling { done }),
            },
            other => self.keep(other),
        }
    }

    fn push_slices(&mut self, ordinal: u32, slices: Vec<Slice>) {
        let queued = self.waiting.iter_mut().rev().find_map(|reply| match reply {
            Reply::Slices { ordinal: o, slices } if *o == ordinal => Some(slices),
            _ => None,
        });
        match queued {
            Some(queued) => self.merged += slices.into_iter().map(|slice| merge_into(queued, slice)).sum::<u64>(),
            None => self.keep(Reply::Slices { ordinal, slices }),
        }
    }

    fn report_merges(&mut self, at: Nanos) {
        if self.merged > 0 {
            let kind = EventKind::IntervalsMerged { count: std::mem::take(&mut self.merged) };
            self.keep(Reply::Event(Event::new(at, kind)));
        }
    }
}

/// What is sent in place of a message that no frame takes: an error for an answer, since silence would pass for a worker that hangs; a note
/// for what was not asked for, and the run goes on.
fn instead(message: &Reply, error: &std::io::Error) -> Reply {
    match message {
        Reply::Event(_) | Reply::Sample(_) | Reply::Slices { .. } | Reply::Log { .. } => {
            let text = format!("left out something that is too large to be sent: {error}");
            Reply::Event(Event::new(stend_sys::clock::now(), EventKind::Note { text }))
        }
        _ => Reply::Failed(Error::bug(say!(
            "the worker has an answer that is too large to be sent: {error}",
            "ответ рабочего процесса слишком велик, чтобы его отправить: {error}"
        ))),
    }
}

/// Folds a slice into the last one of its stream and operation; returns how many were folded (0 or 1).
fn merge_into(queued: &mut Vec<Slice>, slice: Slice) -> u64 {
    let Some(last) = queued.iter_mut().rev().find(|s| s.stream == slice.stream && s.op == slice.op) else {
        queued.push(slice);
        return 0;
    };
    let end = (last.interval + last.span).max(slice.interval + slice.span);
    last.interval = last.interval.min(slice.interval);
    last.span = end - last.interval;
    last.ops += slice.ops;
    last.bytes += slice.bytes;
    last.errors += slice.errors;
    last.latency_max_ns = last.latency_max_ns.max(slice.latency_max_ns);
    last.latency = merged(last.latency.take(), slice.latency);
    if let (Some(last), Some(open)) = (&mut last.open, slice.open) {
        last.due += open.due;
        last.begun += open.begun;
        last.late_sum_ns = last.late_sum_ns.saturating_add(open.late_sum_ns);
        last.late_max_ns = last.late_max_ns.max(open.late_max_ns);
        last.service = merged(last.service.take(), open.service);
    }
    1
}

fn merged(a: Option<Sparse>, b: Option<Sparse>) -> Option<Sparse> {
    match (a, b) {
        (Some(a), Some(b)) => {
            let mut merged = a.dense();
            merged.merge_sparse(&b);
            Some(merged.sparse())
        }
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::{Histogram, Nanos};
    use stend_record::IoChunk;
    use stend_record::io_log::Records;
    use stend_record::observed::OpenSlice;
    use stend_spec::workload::Op;
    use stend_wire::protocol::{FRAME_MAX, read_frame};

    fn slice(interval: u32) -> Slice {
        let mut latency = Histogram::new();
        latency.record(Nanos(u64::from(interval) + 1));
        Slice {
            interval,
            span: 1,
            stream: 0,
            op: Op::Read,
            ops: 1,
            bytes: 4096,
            errors: 0,
            latency_max_ns: u64::from(interval) + 1,
            latency: Some(latency.sparse()),
            open: Some(Box::new(OpenSlice {
                due: 2,
                begun: 1,
                late_sum_ns: 3,
                late_max_ns: u64::from(interval),
                service: Some(latency.sparse()),
            })),
        }
    }

    #[test]
    fn a_slow_stream_merges_intervals_and_loses_no_io() {
        let outbox = Outbox::new();
        for interval in 0..1000 {
            outbox.send(Reply::Slices { ordinal: 7, slices: vec![slice(interval)] });
        }
        assert!(outbox.lock().waiting.len() <= MERGE_ABOVE);
        assert_eq!(outbox.lock().merged, 1000 - MERGE_ABOVE as u64);
        outbox.close();
        let mut stream = Vec::new();
        outbox.drain(&mut stream).unwrap();
        let (mut from, mut ops, mut counted, mut span) = (stream.as_slice(), 0, 0, 0);
        let (mut late, mut served) = ((0, 0), 0);
        while let Some(reply) = read_frame::<Reply>(&mut from).unwrap() {
            let Reply::Slices { slices, .. } = reply else { panic!("not slices") };
            ops += slices.iter().map(|s| s.ops).sum::<u64>();
            span += slices.iter().map(|s| s.span).sum::<u32>();
            for open in slices.iter().filter_map(|s| s.open.as_ref()) {
                late = (late.0 + open.due + open.begun + open.late_sum_ns, late.1.max(open.late_max_ns));
                served += open.service.as_ref().map_or(0, |h| h.count());
            }
            counted += slices.iter().filter_map(|s| s.latency.as_ref()).map(|h| h.count()).sum::<u64>();
        }
        assert_eq!((ops, counted, span), (1000, 1000, 1000));
        assert_eq!((late, served), ((6000, 999), 1000), "and of an open loop neither what was due nor what was late");
    }

    #[test]
    fn a_slow_stream_leaves_out_what_a_log_has_beyond_its_bound_and_merges_no_earlier() {
        let outbox = Outbox::new();
        let records = || Records::of(&[[0; 2]; 4096]);
        let bytes = records().as_bytes().len();
        for interval in 0..MERGE_ABOVE as u32 {
            for _ in 0..20 {
                let chunk = IoChunk { stream: 0, job: 0, base: Nanos(1), records: records() };
                outbox.send(Reply::Log { ordinal: 7, chunk });
            }
            outbox.send(Reply::Slices { ordinal: 7, slices: vec![slice(interval)] });
        }
        let counted = |queue: MutexGuard<Queue>| (queue.log, queue.others, queue.merged);
        assert_eq!(counted(outbox.lock()), (LOG_MAX, MERGE_ABOVE, 0));
        outbox.close();
        let mut stream = Vec::new();
        outbox.drain(&mut stream).unwrap();
        let (mut from, mut chunks, mut others) = (stream.as_slice(), 0, 0);
        while let Some(reply) = read_frame::<Reply>(&mut from).unwrap() {
            match reply {
                Reply::Log { .. } => chunks += 1,
                _ => others += 1,
            }
        }
        assert_eq!((chunks * bytes, others), (LOG_MAX, MERGE_ABOVE));
        assert_eq!(counted(outbox.lock()), (0, 0, 0));
    }

    #[test]
    fn what_is_too_large_for_a_frame_is_told_in_its_place_and_silences_nothing_behind_it() {
        let outbox = Outbox::new();
        outbox.event(EventKind::Note { text: "x".repeat(FRAME_MAX) });
        outbox.send(Reply::Failed(Error::bug(stend_base::Say::same("x".repeat(FRAME_MAX)))));
        outbox.send(Reply::Prepared);
        outbox.close();
        let mut stream = Vec::new();
        outbox.drain(&mut stream).unwrap();
        let mut from = stream.as_slice();
        // What was not asked for ends no run.
        let Some(Reply::Event(Event { kind: EventKind::Note { text }, .. })) = read_frame(&mut from).unwrap() else {
            panic!("not a note")
        };
        assert!(text.contains("too large"), "{text}");
        let Some(Reply::Failed(error)) = read_frame(&mut from).unwrap() else { panic!("not a failure") };
        assert!(error.message.en.contains("too large"), "{error}");
        assert_eq!(read_frame::<Reply>(&mut from).unwrap(), Some(Reply::Prepared));
    }

    #[test]
    fn a_stream_that_breaks_ends_the_outbox_without_blocking_senders() {
        struct Broken;
        impl Write for Broken {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let outbox = Outbox::new();
        outbox.send(Reply::Prepared);
        assert!(outbox.drain(&mut Broken).is_err());
        for _ in 0..1000 {
            outbox.send(Reply::Prepared);
        }
        assert!(outbox.lock().waiting.is_empty());
    }
}
