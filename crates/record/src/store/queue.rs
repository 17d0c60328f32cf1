//! The bounded queue between the event loop and the writer thread. Knows nothing of files.

use crate::observed::Slice;
use crate::run::{Entry, RunState};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use stend_base::histogram::Sparse;

/// Memory that waiting entries may take. A run of ordinary size queues about 50 KiB per second, so this
/// is more than twenty minutes during which the disk takes nothing at all.
pub const WEIGHT_MAX: usize = 64 << 20;

/// What the event loop asks of the writer thread.
#[derive(Debug)]
pub enum Message {
    /// Record this.
    Entry(Box<Entry>),
    /// A measuring window begins or ends.
    Window(bool),
    /// A trial begins or ends: make everything durable.
    Edge,
    /// The run is over: record its state and close the file.
    Close(RunState),
    /// The writer was dropped: close the file without an end.
    Abandon,
}

/// Messages in order, with a bound on the memory they take.
#[derive(Debug, Default)]
pub struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    messages: VecDeque<Message>,
    weight: usize,
    accepted: u64,
    handled: u64,
    waits: u64,
    /// An entry was lost because nothing was taken for too long: later ones do not wait.
    gave_up: bool,
    finished: bool,
}

impl Queue {
    /// Adds a message. An entry waits while the queue is full, but no longer than `patience`, and is lost
    /// if it is still full then; later ones do not wait. Anything else always has room. Returns whether it was taken.
    pub fn push(&self, message: Message, patience: Duration) -> bool {
        let weight = weight(&message);
        let bounded = matches!(message, Message::Entry(_));
        let full = |s: &mut State| bounded && !s.messages.is_empty() && s.weight + weight > WEIGHT_MAX;
        let mut state = self.lock();
        if full(&mut state) && !state.gave_up {
            state.waits += 1;
            state = self.wait_while(state, patience, full);
        }
        if full(&mut state) {
            state.gave_up = true;
            return false;
        }
        state.weight += weight;
        state.accepted += 1;
        state.messages.push_back(message);
        self.changed.notify_all();
        true
    }

    /// Adds an entry that may be left out: only if what waits takes no more than half of the memory that it may, so that
    /// nobody ever waits for it. Returns whether it was taken.
    pub fn offer(&self, message: Message) -> bool {
        let weight = weight(&message);
        let mut state = self.lock();
        if state.weight + weight > WEIGHT_MAX / 2 {
            return false;
        }
        state.weight += weight;
        state.accepted += 1;
        state.messages.push_back(message);
        self.changed.notify_all();
        true
    }

    /// The next message, or `None` if none comes before `deadline`; without one, waits for ever.
    pub fn pop(&self, deadline: Option<Instant>) -> Option<Message> {
        let mut state = self.lock();
        state = match deadline {
            None => self.changed.wait_while(state, |s| s.messages.is_empty()).unwrap_or_else(PoisonError::into_inner),
            Some(at) => self.wait_while(state, at.saturating_duration_since(Instant::now()), |s| s.messages.is_empty()),
        };
        let message = state.messages.pop_front()?;
        state.weight -= weight(&message);
        self.changed.notify_all();
        Some(message)
    }

    /// Says that the message popped last has been dealt with.
    pub fn handled(&self) {
        self.lock().handled += 1;
        self.changed.notify_all();
    }

    /// Waits until everything pushed before has been dealt with; `false` if that takes longer than `limit`.
    pub fn settle(&self, limit: Duration) -> bool {
        let state = self.lock();
        let target = state.accepted;
        let state = self.wait_while(state, limit, |s| s.handled < target && !s.finished);
        state.handled >= target
    }

    /// Says that the writer thread is gone.
    pub fn finish(&self) {
        self.lock().finished = true;
        self.changed.notify_all();
    }

    /// Waits for the writer thread to go; `false` if that takes longer than `limit`.
    pub fn wait_finished(&self, limit: Duration) -> bool {
        self.wait_while(self.lock(), limit, |s| !s.finished).finished
    }

    /// How often a push had to wait because the queue was full.
    pub fn waits(&self) -> u64 {
        self.lock().waits
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_while<'a>(
        &self,
        state: MutexGuard<'a, State>,
        limit: Duration,
        condition: impl FnMut(&mut State) -> bool,
    ) -> MutexGuard<'a, State> {
        self.changed.wait_timeout_while(state, limit, condition).unwrap_or_else(PoisonError::into_inner).0
    }
}

/// About how much memory a message takes.
fn weight(message: &Message) -> usize {
    match message {
        Message::Entry(entry) => entry_weight(entry),
        _ => BASE,
    }
}

/// A message without its heap parts, and the small ones of those, by eye.
const BASE: usize = 512;
/// The same of a cell of a plan.
const CELL: usize = 1024;

/// About how much memory an entry takes: exact only for what can grow large.
pub fn entry_weight(entry: &Entry) -> usize {
    let buckets = |latency: &Sparse| latency.buckets.size();
    let grown: usize = match entry {
        Entry::Slices { slices, .. } => {
            let service = |s: &Slice| s.open.as_ref().and_then(|open| open.service.as_ref()).map_or(0, buckets);
            slices.iter().map(|s| size_of_val(s) + s.latency.as_ref().map_or(0, buckets) + service(s)).sum()
        }
        Entry::TrialEnd { outcome, .. } => {
            let jobs = outcome.jobs.iter().flat_map(|job| job.latency.iter().chain(job.service.iter().flatten()));
            let drained = outcome.drained.iter().flat_map(|d| std::iter::once(&d.latency).chain(&d.service));
            let never =
                outcome.open.iter().flat_map(|open| open.never_begun.iter().chain([&open.own_late, &open.late]));
            jobs.chain(drained).chain(never).map(|latency| size_of_val(latency) + buckets(latency)).sum::<usize>()
                + size_of_val(outcome.censored.as_slice())
        }
        Entry::IoLog { chunk, .. } => chunk.records.as_bytes().len(),
        Entry::Sample { sample, .. } => {
            size_of_val(sample.as_ref())
                + sample.cpus.as_deref().map_or(0, size_of_val)
                + size_of_val(sample.disks.as_slice())
                + sample.networks.as_deref().map_or(0, size_of_val)
                + sample.softirqs.as_deref().map_or(0, size_of_val)
                + sample
                    .interrupts
                    .as_ref()
                    .map_or(0, |all| size_of_val(all.cpus.as_slice()) + size_of_val(all.lines.as_slice()))
        }
        Entry::Header(header) => header.suite_text.len() * 4,
        Entry::Plan(plan) => plan.cases.len() * CELL + size_of_val(plan.order.as_slice()),
        _ => 0,
    };
    BASE + grown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observed::Slice;
    use stend_spec::workload::Op;

    fn heavy() -> Message {
        let buckets = vec![(1, 1); WEIGHT_MAX / 2 / 2].into();
        let latency = Some(Sparse { buckets, ..Sparse::default() });
        let slice = Slice {
            interval: 0,
            span: 1,
            stream: 0,
            op: Op::Read,
            ops: 0,
            bytes: 0,
            errors: 0,
            latency_max_ns: 0,
            latency,
            open: None,
        };
        Message::Entry(Box::new(Entry::slices(0, vec![slice])))
    }

    #[test]
    fn messages_come_out_in_the_order_they_went_in() {
        let queue = Queue::default();
        assert!(queue.push(Message::Window(true), Duration::ZERO));
        assert!(queue.push(Message::Edge, Duration::ZERO));
        assert!(matches!(queue.pop(None), Some(Message::Window(true))));
        assert!(matches!(queue.pop(None), Some(Message::Edge)));
        assert!(queue.pop(Some(Instant::now())).is_none());
    }

    #[test]
    fn a_full_queue_takes_nothing_more_and_counts_that_it_made_someone_wait() {
        let queue = Queue::default();
        assert!(queue.push(heavy(), Duration::ZERO));
        assert_eq!(queue.waits(), 0);
        assert!(!queue.push(heavy(), Duration::ZERO));
        assert_eq!(queue.waits(), 1);
        queue.pop(None);
        assert!(queue.push(heavy(), Duration::ZERO));
    }

    #[test]
    fn after_the_first_entry_that_was_lost_no_other_waits_for_a_disk_that_hangs() {
        let queue = Queue::default();
        assert!(queue.push(heavy(), Duration::ZERO));
        for _ in 0..3 {
            assert!(!queue.push(heavy(), Duration::from_millis(1)));
            assert_eq!(queue.waits(), 1, "only the first one did");
        }
        queue.pop(None);
        assert!(queue.push(heavy(), Duration::ZERO), "what finds room is taken");
    }

    #[test]
    fn what_may_be_left_out_is_so_when_half_of_the_memory_is_taken_and_nobody_waits() {
        let queue = Queue::default();
        assert!(queue.offer(Message::Edge));
        assert!(queue.push(heavy(), Duration::ZERO));
        assert!(!queue.offer(Message::Edge));
        assert_eq!(queue.waits(), 0);
        queue.pop(None);
        queue.pop(None);
        assert!(queue.offer(Message::Edge));
    }

    #[test]
    fn a_single_message_above_the_bound_is_still_taken() {
        let queue = Queue::default();
        let mut message = heavy();
        if let Message::Entry(entry) = &mut message
            && let Entry::Slices { slices, .. } = entry.as_mut()
        {
            slices.push(slices[0].clone());
        }
        assert!(queue.push(message, Duration::ZERO));
    }

    #[test]
    fn settling_waits_for_what_was_pushed_before_and_gives_up_at_its_limit() {
        let queue = Queue::default();
        assert!(queue.settle(Duration::ZERO));
        queue.push(Message::Edge, Duration::ZERO);
        assert!(!queue.settle(Duration::ZERO));
        queue.pop(None);
        queue.handled();
        assert!(queue.settle(Duration::ZERO));
    }
}
