//! How long guests were paused while the hypervisor changed them. Their clocks are paused, too, so that their own latencies do not have it: our
//! clock, which goes on, shows it. Must not change anything.
//= qemu, softmmu/cpu-timers.c: `cpu_disable_ticks` stops the virtual clock with the machine, and what it shows migrates with it

use std::time::Duration;
use stend_base::{Nanos, Say, format, say_in};
use stend_wire::{Clock, Comparer, drifted};

/// How long a guest may take to say eight times what its clock shows; under emulation an answer takes milliseconds.
const COMPARE_LIMIT: Duration = Duration::from_secs(2);

/// How long guests were paused while they were changed: of several the longest time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pause {
    /// What the hypervisor says.
    pub told: Option<Nanos>,
    /// How far their clocks fell behind ours, which goes on, and how well that is known.
    pub seen: Option<(Nanos, Nanos)>,
}

impl Pause {
    /// For people, behind what was done; empty where nothing is known.
    pub fn say(&self) -> Say {
        Say::both(|l| {
            let seen = self.seen.map(|(stood, within)| {
                // Less than what is known well may be up to both together.
                let within_shown = if stood > within { within } else { stood + within };
                let [stood_shown, within_shown] = [stood, within_shown].map(|time| format::latency(time, l));
                match stood > within {
                    true => say_in!(
                        l,
                        "guests were paused for {stood_shown} ± {within_shown} (their clocks against ours)",
                        "гости были приостановлены на {stood_shown} ± {within_shown} (по отставанию их часов)"
                    ),
                    false => say_in!(
                        l,
                        "no guest was paused for longer than {within_shown} (their clocks against ours)",
                        "ни один гость не был приостановлен дольше чем на {within_shown} (по отставанию их часов)"
                    ),
                }
            });
            let told = self.told.map(|told| {
                let told = format::latency(told, l);
                say_in!(l, "libvirt reports a downtime of {told}", "libvirt сообщает о простое {told}")
            });
            seen.into_iter().chain(told).map(|part| format!(", {part}")).collect()
        })
    }
}

/// How clocks stand to ours now; `None` for one that does not answer.
pub(crate) fn compared(clocks: &[Comparer]) -> Vec<Option<Clock>> {
    clocks.iter().map(|clock| clock.compare(COMPARE_LIMIT)).collect()
}

/// How far the clock fell behind that fell behind most, and how well that is known; `None`: none could be compared twice. `apart`: time from
/// the first to the last comparison, in which clocks drift, too.
pub(crate) fn seen(before: &[Option<Clock>], after: &[Option<Clock>], apart: Nanos) -> Option<(Nanos, Nanos)> {
    let of = |(before, after): (&Option<Clock>, &Option<Clock>)| {
        let (before, after) = ((*before)?, (*after)?);
        let behind = after.shift_ns.saturating_sub(before.shift_ns);
        let within = before.uncertainty_ns.saturating_add(after.uncertainty_ns).saturating_add(drifted(apart));
        Some((Nanos(u64::try_from(behind).unwrap_or_default()), Nanos(within)))
    };
    before.iter().zip(after).filter_map(of).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(shift_ms: i64, uncertainty_ms: u64) -> Option<Clock> {
        Some(Clock { shift_ns: shift_ms * 1_000_000, uncertainty_ns: uncertainty_ms * 1_000_000 })
    }

    #[test]
    fn the_clock_that_fell_behind_most_says_how_long_guests_were_paused() {
        let before = [clock(100, 1), clock(-5, 2), None, clock(7, 1)];
        let after = [clock(110, 1), clock(375, 3), clock(900, 1), None];
        let at_once = |before: &[Option<Clock>], after: &[Option<Clock>]| seen(before, after, Nanos(0));
        assert_eq!(at_once(&before, &after), Some((Nanos::millis(380), Nanos::millis(5))));
        assert_eq!(
            at_once(&[clock(5, 1)], &[clock(2, 1)]),
            Some((Nanos(0), Nanos::millis(2))),
            "drift to the other side"
        );
        assert_eq!(at_once(&[None], &[clock(2, 1)]), None);
        let long = seen(&before, &after, Nanos::secs(100));
        assert_eq!(long, Some((Nanos::millis(380), Nanos::millis(15))), "100 ppm of 100 s");
        assert_eq!(compared(&[]), []);
    }

    #[test]
    fn both_times_are_told_and_a_pause_that_is_not_seen_is_none() {
        let plain = |pause: Pause| pause.say().en.replace('\u{a0}', " ");
        let (told, seen) = (Some(Nanos::millis(382)), Some((Nanos::millis(380), Nanos::millis(5))));
        assert_eq!(plain(Pause::default()), "");
        let both = Pause { told, seen };
        let words = ", guests were paused for 380 ms ± 5.00 ms (their clocks against ours), libvirt reports a downtime of 382 ms";
        assert_eq!(plain(both), words);
        assert_ne!(both.say().en, both.say().ru);
        let unseen = Pause { told: None, seen: Some((Nanos::millis(4), Nanos::millis(5))) };
        assert!(plain(unseen).contains("no guest was paused for longer than 9.00 ms"), "{}", plain(unseen));
    }
}
