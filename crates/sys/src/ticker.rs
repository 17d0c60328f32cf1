//! A clock for one load thread: the time stamp counter, held against CLOCK_MONOTONIC at least ten times a second. Where the kernel
//! does not trust the counter, or there is none, CLOCK_MONOTONIC itself. Must not be shared between threads.

use crate::clock;
use stend_base::Nanos;

/// How long an anchor is good for, ns. In 100 ms the kernel may steer its clock by 50 µs at the most (500 ppm, adjtimex(2)).
const GOOD_FOR: u64 = 100_000_000;
/// The least time over which the speed of the counter is measured, ns: two readings are some 20 ns off, 1 in 50,000 of
/// it.
const BASE: u64 = 1_000_000;
/// An anchor is good for so many times that over which the speed was measured: by its end the error of both readings has
/// grown to as many times 20 ns, 0.2 µs each. The first anchor is so good for 10 ms, those after it for [`GOOD_FOR`].
const STRETCH: u64 = 10;
/// Readings of which the one that took least is taken.
const TRIES: usize = 3;
/// Fractional bits of the factor.
const FRACTION: u32 = 32;

/// See the module.
///
/// One reading cost a prototype 13 ns where one of CLOCK_MONOTONIC through the vDSO cost 23 (2-vCPU KVM guest): that waits
/// until everything before it is done (`lfence`), this may be early by what the CPU does in the meantime.
#[derive(Debug, Clone)]
pub struct Ticker {
    /// Counter and time at the anchor.
    at: (u64, u64),
    /// Nanoseconds per tick, with [`FRACTION`] bits; 0: the counter is not used.
    factor: u64,
    /// Ticks for which the anchor is good.
    good_for: u64,
    usable: bool,
}

impl Ticker {
    /// A clock that counts by itself once it has been running for a millisecond.
    pub fn new() -> Ticker {
        let trusted = std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
        let usable = ticks().is_some() && trusted.is_ok_and(|source| source.trim() == "tsc");
        Ticker { at: if usable { pair() } else { (0, 0) }, factor: 0, good_for: 0, usable }
    }

    /// Whether the counter is used.
    pub fn counts(&self) -> bool {
        self.factor > 0
    }

    /// Now on the axis of CLOCK_MONOTONIC. May step back by what an anchor corrects, some 0.4 µs at the most unless the
    /// clock is being steered (see [`STRETCH`]).
    #[inline(always)]
    pub fn now(&mut self) -> Nanos {
        let passed = match ticks() {
            Some(ticks) => ticks.wrapping_sub(self.at.0),
            None => u64::MAX,
        };
        if passed < self.good_for {
            return Nanos(self.at.1 + ((passed * self.factor) >> FRACTION));
        }
        self.anchor()
    }

    /// Reads the real clock, and how fast the counter ran since the anchor before.
    #[cold]
    fn anchor(&mut self) -> Nanos {
        if !self.usable {
            return clock::now();
        }
        let (ticks, time) = pair();
        let (passed, elapsed) = (ticks.wrapping_sub(self.at.0), time.saturating_sub(self.at.1));
        if elapsed < BASE || passed == 0 {
            return Nanos(time);
        }
        match speed(passed, elapsed) {
            Some((factor, good_for)) => (self.factor, self.good_for) = (factor, good_for),
            None => (self.factor, self.good_for, self.usable) = (0, 0, false),
        }
        self.at = (ticks, time);
        Nanos(time)
    }
}

impl Default for Ticker {
    fn default() -> Ticker {
        Ticker::new()
    }
}

/// Speed of the time stamp counter, kHz, told over `over`; `None` where there is none, or it makes no sense.
///
/// Two readings are some 20 ns off: over 50 ms that is less than 1 in a million.
pub fn counter_khz(over: std::time::Duration) -> Option<u64> {
    ticks()?;
    let (from, start) = pair();
    std::thread::sleep(over);
    let (to, end) = pair();
    let (passed, elapsed) = (to.wrapping_sub(from), end.saturating_sub(start));
    speed(passed, elapsed)?;
    u64::try_from(u128::from(passed) * 1_000_000 / u128::from(elapsed.max(1))).ok()
}

/// Factor of a counter that did `passed` ticks in `elapsed` ns, and for how many ticks it is good; `None` for a counter slower
/// than 1 GHz or faster than 16, which would be none that we know. Their product stays below 2^64.
fn speed(passed: u64, elapsed: u64) -> Option<(u64, u64)> {
    let factor = (u128::from(elapsed) << FRACTION) / u128::from(passed.max(1));
    let good_for = GOOD_FOR.min(elapsed.saturating_mul(STRETCH));
    let ticks = (u128::from(good_for) << FRACTION) / factor.max(1);
    (0x1000_0000..=0x1_0000_0000).contains(&factor).then_some((factor as u64, ticks as u64))
}

/// Counter and clock at the same time, as nearly as can be had.
fn pair() -> (u64, u64) {
    let attempt = |_| {
        let before = ticks().unwrap_or_default();
        let time = clock::now().0;
        let after = ticks().unwrap_or_default();
        (after.wrapping_sub(before), (before + after.wrapping_sub(before) / 2, time))
    };
    (0..TRIES).map(attempt).min_by_key(|(took, _)| *took).map_or((0, 0), |(_, pair)| pair)
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn ticks() -> Option<u64> {
    // SAFETY: every x86-64 CPU has the instruction, and Linux lets user space use it.
    Some(unsafe { core::arch::x86_64::_rdtsc() })
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn ticks() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_speed_of_the_counter_is_that_of_its_ticks() {
        let Some(khz) = counter_khz(std::time::Duration::from_millis(20)) else { return };
        let (from, start) = pair();
        while pair().1 < start + 20_000_000 {}
        let (to, end) = pair();
        let expected = (to - from) as f64 * 1e6 / (end - start) as f64;
        // The same two clocks give both: what is left is how far off a reading is.
        assert!((khz as f64 / expected - 1.0).abs() < 1e-2, "{khz} kHz, {expected}");
    }

    #[test]
    fn it_goes_with_the_real_clock_for_longer_than_an_anchor_is_good() {
        let mut ticker = Ticker::new();
        let end = clock::now() + Nanos(2 * GOOD_FOR);
        let mut last = ticker.now();
        while last < end {
            let (before, now, after) = (clock::now(), ticker.now(), clock::now());
            // Half a millisecond: what steering by 500 ppm makes of 100 ms, ten times over.
            assert!(now + Nanos(500_000) >= before && now <= after + Nanos(500_000), "{before:?} {now:?} {after:?}");
            last = now;
        }
        let source = std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
        assert_eq!(ticker.counts(), cfg!(target_arch = "x86_64") && source.is_ok_and(|s| s.trim() == "tsc"));
    }

    #[test]
    fn a_counter_that_is_not_trusted_is_not_used() {
        let mut ticker = Ticker { at: (0, 0), factor: 0, good_for: 0, usable: false };
        let (before, now) = (clock::now(), ticker.now());
        assert!(now >= before && !ticker.counts());
    }

    #[test]
    fn an_impossible_speed_is_not_believed() {
        let now = clock::now().0;
        let before = ticks().unwrap_or_default().wrapping_sub(1000);
        let mut ticker = Ticker { at: (before, now - 2 * BASE), factor: 0, good_for: 0, usable: true };
        ticker.now();
        assert!(!ticker.counts());
        assert_eq!((speed(900_000, 1_000_000), speed(17_000_000, 1_000_000)), (None, None));
    }

    /// Over 100 ms the speed that a millisecond tells would be wrong by microseconds.
    #[test]
    fn a_speed_told_in_a_short_time_is_not_believed_for_long() {
        let ms = 3_000_000;
        assert_eq!(speed(ms, BASE), Some(((1 << FRACTION) / 3, 10 * ms)));
        assert_eq!(speed(5 * ms, 5 * BASE).unwrap().1, 50 * ms);
        assert_eq!(speed(10 * ms, 10 * BASE).unwrap().1, 100 * ms);
        assert_eq!(speed(100 * ms, 100 * BASE).unwrap().1, 100 * ms);
    }
}
