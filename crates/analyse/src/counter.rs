//! By how much a counter of the kernel grew between two looks. What went back or jumped further than anything real can is no growth: the
//! device was replaced, the counter wrapped, or its file had something else in it. Must not know what is counted.

use stend_base::Nanos;
use stend_record::sample::CpuTimes;

/// Most events or bytes per second of one device that are believed: 2^40, or 1 TiB/s.
///
/// The fastest slot and the fastest port move a quarter of it at most: 16 lanes of PCIe 7.0 at 128 GT/s are 256 GB/s, and Ethernet of 1.6
/// Tbit/s is 200 GB/s. As a clock it is 18 minutes in a second, which none does.
const PER_SECOND_MAX: u64 = 1 << 40;

/// Most time that all I/Os of a device may have waited together when they end, ns: a million that hung for 19 minutes.
const WAITED_MAX: u64 = 1 << 60;

/// Growth of events, bytes or a clock over a span. `None` if it went back or is impossible.
pub fn grown(before: u64, after: u64, span: Nanos) -> Option<u64> {
    // Some drivers bring their counters up to date once a second, however short the span is.
    let most = PER_SECOND_MAX as f64 * span.as_secs().max(1.0);
    after.checked_sub(before).filter(|grown| *grown as f64 <= most)
}

/// Growth of a time that is summed over I/Os and counted when they end, however long before the span they began. `None` if it went back
/// or is impossible.
pub fn waited(before: u64, after: u64) -> Option<u64> {
    after.checked_sub(before).filter(|grown| *grown <= WAITED_MAX)
}

/// Whether CPU times can follow each other. Time without work may go back by itself.
//= linux, Documentation/filesystems/proc.rst: "iowait ... may decrease in certain conditions"
pub fn cpus_are_possible(before: &[CpuTimes], after: &[CpuTimes], span: Nanos) -> bool {
    let states = |c: &CpuTimes| [c.idle_ns, c.iowait_ns, c.user_ns, c.system_ns, c.irq_ns, c.softirq_ns, c.steal_ns];
    before.iter().zip(after).all(|(before, after)| {
        let ends = states(before).into_iter().zip(states(after));
        ends.into_iter().all(|(before, after)| after < before || grown(before, after, span).is_some())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_back_or_jumped_further_than_a_device_can_is_no_growth() {
        let second = Nanos::SECOND;
        assert_eq!((grown(5, 12, second), grown(5, 5, second), grown(12, 5, second)), (Some(7), Some(0), None));
        assert_eq!(grown(1, 1 + PER_SECOND_MAX, second), Some(PER_SECOND_MAX));
        assert_eq!((grown(1, 2 + PER_SECOND_MAX, second), grown(0, u64::MAX, Nanos::secs(86_400))), (None, None));
        // A drive that was away for a day of samples may have moved a day of bytes.
        assert_eq!(grown(0, 1000 * PER_SECOND_MAX, Nanos::secs(1000)), Some(1000 * PER_SECOND_MAX));
        assert_eq!(grown(0, PER_SECOND_MAX, Nanos::millis(1)), Some(PER_SECOND_MAX), "counted once a second");
        let hung = 32 * 6 * 3_600_000_000_000;
        assert_eq!((waited(0, hung), waited(1, 0), waited(0, u64::MAX)), (Some(hung), None, None), "six hours");
    }

    #[test]
    fn idle_time_may_go_back_and_no_cpu_works_for_years_in_a_second() {
        let cpu = |idle_ns, user_ns| vec![CpuTimes { idle_ns, user_ns, ..CpuTimes::default() }];
        let possible = |after: &[CpuTimes]| cpus_are_possible(&cpu(1_000_000_000, 5), after, Nanos::SECOND);
        assert!(possible(&cpu(900_000_000, 1_000_000_005)) && !possible(&cpu(1_000_000_000, u64::MAX)));
    }
}
