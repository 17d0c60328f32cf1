//! The clocks of the run. Everything is on the axis of CLOCK_MONOTONIC, which is read through the vDSO, without entering the
//! kernel; load threads count on between two readings ([`crate::ticker`]). Must not convert between clocks: differences are
//! recorded, never corrected.

use rustix::time::{ClockId, Timespec, clock_gettime};
use std::io;
use std::num::NonZeroU64;
use stend_base::Nanos;

/// Now on the run's axis: CLOCK_MONOTONIC, ns.
#[inline(always)]
pub fn now() -> Nanos {
    Nanos(read(ClockId::Monotonic))
}

/// (monotonic, boottime, realtime) read one right after the other, ns. Boottime minus monotonic grows
/// by the time the machine slept; realtime minus monotonic jumps when somebody sets the wall clock.
pub fn stamps() -> (u64, u64, u64) {
    (read(ClockId::Monotonic), read(ClockId::Boottime), read(ClockId::Realtime))
}

/// Sleeps until [`now`] reaches `at`; returns at once if it already has.
pub fn sleep_until(at: Nanos) {
    let at = Timespec { tv_sec: (at.0 / 1_000_000_000) as i64, tv_nsec: (at.0 % 1_000_000_000) as i64 };
    // Any other error is a clock that cannot be slept on, which CLOCK_MONOTONIC is not.
    while rustix::thread::clock_nanosleep_absolute(ClockId::Monotonic, &at) == Err(rustix::io::Errno::INTR) {}
}

/// Lets the calling thread sleep to the nanosecond. By default the kernel wakes a thread up to 50 µs late, to
/// save wake-ups (prctl(2), PR_SET_TIMERSLACK).
pub fn sleep_precisely() -> io::Result<()> {
    Ok(rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?)
}

#[inline(always)]
fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    // Neither part is negative: monotonic clocks start at boot, and we do not run before 1970.
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_never_goes_backwards() {
        let mut last = now();
        for _ in 0..10_000 {
            let next = now();
            assert!(next >= last);
            last = next;
        }
    }

    #[test]
    fn boot_time_is_not_behind_monotonic_time_and_the_wall_clock_is_past_2020() {
        let (monotonic, boottime, realtime) = stamps();
        assert!(boottime >= monotonic);
        assert!(realtime > 1_577_836_800 * 1_000_000_000);
    }

    #[test]
    fn a_thread_that_sleeps_precisely_has_no_slack() {
        let slack = std::thread::spawn(|| {
            sleep_precisely().unwrap();
            rustix::thread::current_timer_slack().unwrap()
        });
        assert_eq!(slack.join().unwrap(), 1);
        assert!(rustix::thread::current_timer_slack().unwrap() > 1, "other threads keep theirs");
    }

    #[test]
    fn sleeping_until_a_past_moment_returns_and_a_future_one_is_not_cut_short() {
        sleep_until(Nanos(1));
        let goal = now() + Nanos(200_000);
        sleep_until(goal);
        assert!(now() >= goal);
    }
}
