//! How the clock of another machine stands to ours while a link goes on: two clocks drift apart, and a virtual machine that is paused falls
//! behind. Decides which comparison counts; must not read a clock or a stream.

use std::collections::VecDeque;
use stend_base::Nanos;

/// How the clock of another machine stands to ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// Added to every time that the host tells, ns: our CLOCK_MONOTONIC minus its own.
    pub shift_ns: i64,
    /// How far off that may be at most, either way, ns.
    pub uncertainty_ns: u64,
}

/// So long a comparison holds before another takes its place: at 100 ppm a clock is then off by 6 ms more, at the 10 ppm of a usual one by 0.6 ms.
const HOLDS: Nanos = Nanos::secs(60);
/// How fast two clocks may drift apart, ns per ms (100 ppm): oscillators of computers stay below 50 ppm each.
const DRIFT_PER_MS: u64 = 100;
/// Questions of which it is kept when they were asked: one every 5 s, and a host that is silent for 30 s is lost.
const OPEN_MAX: usize = 16;

/// How far two clocks may drift apart in this time, ns.
pub fn drifted(time: Nanos) -> u64 {
    time.0 / 1_000_000 * DRIFT_PER_MS
}

/// The comparisons of a link.
#[derive(Debug)]
pub(crate) struct Drift {
    /// What times are moved by now, and since when.
    holds: (Nanos, Clock),
    /// The last comparison.
    latest: Clock,
    /// When each question was asked that has no answer yet.
    asked: VecDeque<Nanos>,
    /// How many questions before these have no answer yet, of which it is not known any more when they were asked.
    forgotten: usize,
}

impl Drift {
    /// A link whose clocks were compared at `now`.
    pub fn new(now: Nanos, clock: Clock) -> Drift {
        Drift { holds: (now, clock), latest: clock, asked: VecDeque::new(), forgotten: 0 }
    }

    /// What times are moved by.
    pub fn clock(&self) -> Clock {
        self.holds.1
    }

    /// The last comparison, whether or not times are moved by it.
    pub fn latest(&self) -> Clock {
        self.latest
    }

    /// Whether every question has its answer.
    pub fn is_answered(&self) -> bool {
        self.asked.is_empty() && self.forgotten == 0
    }

    /// The worker is asked for its time. Its answers come in the order of questions.
    pub fn ask(&mut self, now: Nanos) {
        self.asked.push_back(now);
        if self.asked.len() > OPEN_MAX {
            self.asked.pop_front();
            self.forgotten += 1;
        }
    }

    /// It answered at `now` that its clock showed this. An answer to no question is of no use.
    pub fn answered(&mut self, theirs: Nanos, now: Nanos) {
        // While other hosts are reached and stands are built, answers wait unread: the first ones are of the first questions.
        if self.forgotten > 0 {
            self.forgotten -= 1;
            return;
        }
        let Some(asked) = self.asked.pop_front() else { return };
        let clock = compared(asked, theirs, now);
        self.latest = clock;
        let (since, held) = self.holds;
        let age = now.saturating_sub(since);
        // So far off may be what holds now, if both clocks run as clocks do.
        let stale = held.uncertainty_ns.saturating_add(drifted(age));
        let apart = clock.shift_ns.abs_diff(held.shift_ns);
        let jumped = apart > stale.saturating_add(clock.uncertainty_ns);
        if jumped || (age >= HOLDS && clock.uncertainty_ns <= stale) {
            self.holds = (now, clock);
        }
    }
}

/// Clocks count from a boot, and 292 years fit. A worker that claims more is moved by that much, and the opposite fits, too.
const SHIFT_MAX: i128 = i64::MAX as i128;

/// A comparison: the worker read its clock at some time between our question and its answer.
pub(crate) fn compared(asked: Nanos, theirs: Nanos, now: Nanos) -> Clock {
    let half = now.saturating_sub(asked).0.div_ceil(2);
    let shift_ns = i128::from(asked.0) + i128::from(half) - i128::from(theirs.0);
    Clock { shift_ns: shift_ns.clamp(-SHIFT_MAX, SHIFT_MAX) as i64, uncertainty_ns: half }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    /// Two machines whose clocks were compared at 100 s, within 0.1 ms: the other is 40 s behind.
    fn drift() -> Drift {
        Drift::new(Nanos(100 * S), Clock { shift_ns: 40 * S as i64, uncertainty_ns: 100_000 })
    }

    /// A comparison at `at` that takes `round` ns, of a clock that is `behind` ns behind.
    fn compare(drift: &mut Drift, at: u64, round: u64, behind: u64) {
        drift.ask(Nanos(at));
        drift.answered(Nanos(at + round / 2 - behind), Nanos(at + round));
    }

    #[test]
    fn a_comparison_holds_for_a_minute_and_then_a_good_one_takes_its_place() {
        let mut drift = drift();
        compare(&mut drift, 130 * S, 200_000, 40 * S + 300_000);
        assert_eq!(drift.clock().shift_ns, 40 * S as i64);
        assert_eq!(drift.latest(), Clock { shift_ns: (40 * S + 300_000) as i64, uncertainty_ns: 100_000 });
        compare(&mut drift, 161 * S, 200_000, 40 * S + 600_000);
        assert_eq!(drift.clock().shift_ns, (40 * S + 600_000) as i64);
    }

    #[test]
    fn a_slow_line_does_not_spoil_what_is_known_until_that_may_be_worse() {
        let mut drift = drift();
        compare(&mut drift, 170 * S, 40_000_000, 40 * S + 700_000);
        assert_eq!(drift.clock().shift_ns, 40 * S as i64, "20 ms is worse than 0.1 ms and a minute of drift");
        compare(&mut drift, 700 * S, 40_000_000, 40 * S + 6_000_000);
        assert_eq!(drift.clock().shift_ns, (40 * S + 6_000_000) as i64, "but not than 10 minutes of drift");
    }

    #[test]
    fn a_clock_that_stood_still_is_noticed_at_once() {
        let mut drift = drift();
        compare(&mut drift, 105 * S, 200_000, 43 * S);
        assert_eq!(drift.clock().shift_ns, 43 * S as i64);
    }

    #[test]
    fn answers_that_were_left_unread_for_minutes_make_no_other_clock() {
        let mut drift = drift();
        let before = drift.clock();
        let asked: Vec<u64> = (0..40).map(|n| (100 + 5 * n) * S).collect();
        asked.iter().for_each(|at| drift.ask(Nanos(*at)));
        // The worker answered each at once, and all answers are read at one moment.
        asked.iter().for_each(|at| drift.answered(Nanos(at + 1_000 - 40 * S), Nanos(301 * S)));
        assert_eq!(drift.clock(), before);
        compare(&mut drift, 305 * S, 200_000, 40 * S);
        assert_eq!(drift.latest(), Clock { shift_ns: 40 * S as i64, uncertainty_ns: 100_000 });
    }

    #[test]
    fn answers_are_of_the_questions_in_their_order_and_others_are_left_out() {
        let mut drift = drift();
        drift.answered(Nanos(1), Nanos(200 * S));
        assert_eq!(drift.clock(), drift.latest());
        drift.ask(Nanos(110 * S));
        drift.ask(Nanos(115 * S));
        drift.answered(Nanos(70 * S), Nanos(110 * S + 2));
        drift.answered(Nanos(75 * S), Nanos(115 * S + 4));
        assert_eq!(drift.latest(), Clock { shift_ns: 40 * S as i64 + 2, uncertainty_ns: 2 });
    }

    const HOUR: u64 = 3600 * S;
    const YEAR: u64 = 365 * 24 * HOUR;

    #[test]
    fn clocks_that_are_hours_or_years_apart_lie_on_one_axis() {
        for (ours, theirs) in [
            (100 * S, 100 * S + 7 * HOUR),
            (100 * S + 7 * HOUR, 100 * S),
            (100 * S, 200 * YEAR),
            (200 * YEAR, 0),
            (0, 0),
        ] {
            let clock = compared(Nanos(ours), Nanos(theirs + 60), Nanos(ours + 200));
            assert_eq!(clock.uncertainty_ns, 100);
            let placed = Nanos(theirs + 60).shifted(clock.shift_ns);
            assert!(placed.0.abs_diff(ours + 60) <= clock.uncertainty_ns, "{ours} {theirs}: {clock:?}");
            let begin = Nanos(ours + S).shifted(-clock.shift_ns);
            assert!(
                begin.0.abs_diff(theirs + S) <= clock.uncertainty_ns,
                "what is planned here happens there: {begin:?}"
            );
        }
    }

    #[test]
    fn a_clock_that_no_machine_can_have_overflows_nothing() {
        for (ours, theirs) in
            [(0, u64::MAX), (100 * S, 1 << 63), (u64::MAX, 0), (u64::MAX, u64::MAX), (100 * S, u64::MAX)]
        {
            let mut drift = drift();
            drift.ask(Nanos(ours));
            drift.answered(Nanos(theirs), Nanos(ours));
            let shift_ns = drift.clock().shift_ns;
            assert!(shift_ns.checked_neg().is_some(), "{ours} {theirs}: begins of trials are moved the other way");
            assert_eq!(shift_ns.signum(), ours.cmp(&theirs) as i64, "{ours} {theirs}: {shift_ns}");
        }
    }

    #[test]
    fn a_clock_that_is_years_ahead_and_set_by_hours_is_followed_at_once() {
        let ahead = 30 * YEAR;
        let mut drift = Drift::new(Nanos(100 * S), Clock { shift_ns: -(ahead as i64), uncertainty_ns: 100_000 });
        for (at, ahead) in [(105 * S, ahead), (110 * S, ahead + 9 * HOUR), (115 * S, ahead - 9 * HOUR), (120 * S, 0)] {
            drift.ask(Nanos(at));
            drift.answered(Nanos(at + 100_000 + ahead), Nanos(at + 200_000));
            assert_eq!(drift.clock(), Clock { shift_ns: -(ahead as i64), uncertainty_ns: 100_000 }, "at {at}");
        }
    }
}
