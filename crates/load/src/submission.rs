//! Decides whether I/Os are given to the kernel one by one or several by one call, and counts what was done. Must not call the kernel.
//!
//! A device that gets its I/Os in bursts stands idle between them, so each is given when it is due. That is a call for each; a thread
//! that spends all its time on calls gives fewer I/Os than by one call for several, and its device never waits for one of them.
//! A thread that has to wait submits and waits by two calls. One call is cheaper, but where a thread of the kernel serves the target, one
//! I/O in flight took longer then: reads of a loop device by `t/io_uring` made 31,000 to 51,000 I/Os per second by one call and 41,000 to
//! 59,000 by two (five pairs of 2 s, two calls ahead in each).

use stend_base::Nanos;
use stend_record::observed::Submissions;
use stend_spec::workload::{Stream, Submit};

/// After so many waits in a row for which a completion was there already the thread is the limit; by eye: by chance, with a completion
/// there every other time, it happens once in 256.
const NO_WAITS: u32 = 8;

/// A single I/O in flight whose thread never waits goes by two calls once in so many, which costs a hundredth of a call for each, to see
/// whether it does now.
const ASK_EVERY: u32 = 100;

/// Most I/Os of one call where the load decides and more than twice as many may be due. While the kernel takes them, what is complete is
/// not read: one call for all that was due made stamps 4 ms late at depth 4096 on a loop device (`make truth`). And a call hands out
/// 20 completions at most, so that with parts of 32 those of depth 512 piled up in the kernel and were half a millisecond late.
//= linux, io_uring/io_uring.h: IO_LOCAL_TW_DEFAULT_MAX
const TOGETHER: u32 = 16;

/// As many completions as one call hands out: after so many, others may be complete.
//= linux, io_uring/io_uring.h: IO_LOCAL_TW_DEFAULT_MAX
const HANDED_OUT: usize = 20;

/// How one thread submits.
pub(crate) struct Submission {
    /// Each, or together.
    each: bool,
    /// Whether that follows from the load.
    decides: bool,
    /// Submits and waits by two calls as long as it has to wait.
    apart: bool,
    /// More I/Os may be due than go by one call.
    many: bool,
    /// Completions are read as they come, so that one may have to wait to be read.
    stamped: bool,
    no_waits: u32,
    /// I/Os by one call for both since one by two calls.
    since_asked: u32,
    pending: u64,
    /// When all that was complete had been read.
    read: Nanos,
    done: Submissions,
}

impl Submission {
    /// For a thread with this many I/Os in flight at most.
    pub fn of(stream: &Stream, places: u32) -> Submission {
        let apart = stream.submit == Submit::Auto && !stream.batch.is_any();
        // A single I/O in flight has no other to go with.
        let decides = apart && places > 1;
        let each = decides || stream.submit == Submit::Each;
        let many = decides && places > 2 * TOGETHER;
        let stamped = stream.batch.size == 1 && places > 1;
        let (read, done) = (Nanos(0), Submissions::default());
        Submission { each, decides, apart, many, stamped, no_waits: 0, since_asked: 0, pending: 0, read, done }
    }

    /// Notes that the load begins.
    pub fn begins(&mut self, now: Nanos) {
        self.read = now;
    }

    /// Notes that so many completions were read at `now`, of which none was there before the thread slept, if it `slept`.
    #[inline(always)]
    pub fn read(&mut self, count: usize, now: Nanos, slept: bool) {
        if self.stamped && !slept {
            self.done.late_ns += count as u64 * now.saturating_sub(self.read).0;
        }
        if slept || count < HANDED_OUT {
            self.read = now;
        }
    }

    /// Whether what is queued are several I/Os, whose completions wait until the last of them is submitted.
    #[inline(always)]
    pub fn is_several(&self) -> bool {
        self.pending > 1
    }

    /// Whether I/Os that are due may have to wait for others to be submitted.
    #[inline(always)]
    pub fn has_turns(&self) -> bool {
        self.each || self.many
    }

    /// Whether what was queued before has to go now, because another I/O is about to be.
    #[inline(always)]
    pub fn is_due(&self) -> bool {
        self.pending > 0 && self.each || self.many && self.pending >= u64::from(TOGETHER)
    }

    /// Notes that an I/O was queued.
    #[inline(always)]
    pub fn queued(&mut self) {
        self.pending += 1;
    }

    /// Notes that what is queued is given to the kernel now.
    #[inline(always)]
    pub fn given(&mut self) {
        self.done.calls += u64::from(self.pending > 0);
        self.done.ios += self.pending;
        self.done.together += if self.pending > 1 { self.pending } else { 0 };
        self.pending = 0;
    }

    /// Notes that an I/O waited so long for those before it to be submitted.
    #[inline(always)]
    pub fn took_its_turn(&mut self, waited: Nanos) {
        self.done.waited_ns += waited.0;
    }

    /// Whether what is queued goes by a call of its own before the thread waits.
    #[inline(always)]
    pub fn is_apart(&mut self) -> bool {
        if self.no_waits < NO_WAITS {
            return self.apart;
        }
        if self.decides {
            return false;
        }
        self.since_asked = (self.since_asked + 1) % ASK_EVERY;
        self.since_asked == 0
    }

    /// Whether [`Submission::waited`] wants to know of several in flight. A single one is complete when a call that waits returns, whether
    /// a wait was needed or not: it is looked at between two calls.
    #[inline(always)]
    pub fn decides(&self) -> bool {
        self.decides
    }

    /// Notes whether the thread had to wait for a completion.
    #[inline(always)]
    pub fn waited(&mut self, waited: bool) {
        self.no_waits = if waited { 0 } else { self.no_waits.saturating_add(1) };
        self.each = self.decides && self.no_waits < NO_WAITS;
    }

    /// What was done.
    pub fn done(&self) -> Submissions {
        self.done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::tests::stream;
    use stend_spec::workload::Batch;

    fn given(submission: &mut Submission, ios: u32) -> u64 {
        let before = submission.done().calls;
        for _ in 0..ios {
            if submission.is_due() {
                submission.given();
            }
            submission.queued();
        }
        submission.given();
        submission.done().calls - before
    }

    #[test]
    fn each_goes_by_itself_until_the_thread_never_waits_and_again_when_it_does() {
        let mut auto = Submission::of(&stream(), 32);
        assert_eq!(given(&mut auto, 4), 4);
        (1..NO_WAITS).for_each(|_| auto.waited(false));
        assert_eq!(given(&mut auto, 4), 4);
        auto.waited(false);
        assert_eq!(given(&mut auto, 4), 1);
        auto.waited(true);
        assert_eq!(given(&mut auto, 4), 4);
        assert_eq!(auto.done(), Submissions { calls: 13, ios: 16, together: 4, waited_ns: 0, late_ns: 0 });
    }

    #[test]
    fn a_deep_queue_is_submitted_in_parts_and_one_that_is_asked_to_go_together_is_not() {
        let parts = |submit| {
            let mut of = Submission::of(&Stream { submit, ..stream() }, 128);
            if of.decides() {
                (0..NO_WAITS).for_each(|_| of.waited(false));
            }
            given(&mut of, 100)
        };
        assert_eq!([Submit::Auto, Submit::Each, Submit::Batch].map(parts), [7, 100, 1]);
    }

    #[test]
    fn what_is_asked_for_is_done_whatever_the_load() {
        let of =
            |submit, size| Submission::of(&Stream { submit, batch: Batch { size, one_stamp: false }, ..stream() }, 8);
        let calls = |mut submission: Submission| (submission.decides(), given(&mut submission, 8));
        assert_eq!(calls(of(Submit::Each, 4)), (false, 8));
        assert_eq!(calls(of(Submit::Batch, 1)), (false, 1));
        assert_eq!(calls(of(Submit::Auto, 4)), (false, 1), "a batch that is waited for goes together, too");
        assert_eq!(calls(of(Submit::Auto, 1)), (true, 8));
    }

    #[test]
    fn what_is_read_after_the_thread_was_busy_may_be_complete_since_it_read_last() {
        let late = |reads: &[(usize, u64, bool)], depth| {
            let mut of = Submission::of(&stream(), depth);
            of.begins(Nanos(1000));
            reads.iter().for_each(|&(count, at, slept)| of.read(count, Nanos(at), slept));
            of.done().late_ns
        };
        assert_eq!(late(&[(3, 1010, false), (2, 1015, false)], 32), 3 * 10 + 2 * 5);
        assert_eq!(late(&[(3, 1010, true), (2, 1015, false)], 32), 2 * 5, "it slept until they were there");
        // More may be left of as many as one call hands out.
        assert_eq!(late(&[(20, 1010, false), (2, 1015, false)], 32), 20 * 10 + 2 * 15);
        assert_eq!(late(&[(1, 1010, false)], 1), 0, "a single I/O is waited for");
    }

    #[test]
    fn a_call_that_gives_nothing_is_none() {
        let mut auto = Submission::of(&stream(), 1);
        auto.given();
        assert_eq!(auto.done(), Submissions::default());
    }

    #[test]
    fn a_single_io_goes_by_a_call_of_its_own_as_long_as_its_thread_waits_for_it() {
        let mut single = Submission::of(&stream(), 1);
        assert!(!single.decides() && single.is_apart() && !single.has_turns());
        (0..NO_WAITS).for_each(|_| single.waited(false));
        let asked = (0..3 * ASK_EVERY).filter(|_| single.is_apart()).count();
        assert_eq!(asked, 3, "it asks again now and then");
        single.waited(true);
        assert!(single.is_apart() && !single.has_turns());
        let mut together = Submission::of(&Stream { submit: Submit::Batch, ..stream() }, 1);
        assert!(!together.is_apart(), "who asks for one call gets one");
    }
}
