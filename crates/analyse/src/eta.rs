//! How long a run still takes, and how much that estimate is worth.

use stend_base::Nanos;

/// Below this part of the plan and of time there is no estimate worth showing (2 %, 30 s).
const SHARE_UNKNOWN: f64 = 0.02;
const ELAPSED_UNKNOWN: Nanos = Nanos::secs(30);
/// From this part on the pace is known well (by eye).
const SHARE_GOOD: f64 = 0.25;
/// Weight of the plan's own pace, as a part of its length: a slow first step does not double the estimate.
const PLAN_WEIGHT: f64 = 0.05;
/// Relative uncertainty at the start; it shrinks in proportion to what is left (by eye).
const SPREAD: f64 = 0.5;

/// What an estimate is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EtaQuality {
    /// Too early to tell; do not show a number.
    Unknown,
    /// From the plan and the first steps.
    Rough,
    /// From the pace of a good part of the run.
    Good,
}

/// Time that is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Eta {
    /// Best guess.
    pub left: Nanos,
    /// Not much less than this.
    pub low: Nanos,
    /// Not much more than this.
    pub high: Nanos,
    /// What it is worth.
    pub quality: EtaQuality,
}

/// Time left after `elapsed`, from the planned time of the steps done and of all steps.
///
/// The pace so far is elapsed / done, drawn towards the plan's own pace as long as little is done.
pub fn eta(done: Nanos, planned: Nanos, elapsed: Nanos) -> Eta {
    let (done, planned, elapsed_s) = (done.as_secs().min(planned.as_secs()), planned.as_secs(), elapsed.as_secs());
    let share = if planned > 0.0 { done / planned } else { 1.0 };
    let weight = (planned * PLAN_WEIGHT).max(1e-9);
    let pace = (elapsed_s + weight) / (done + weight);
    let left = (planned - done) * pace;
    let spread = SPREAD * (1.0 - share);
    let quality = match share {
        s if s < SHARE_UNKNOWN && elapsed < ELAPSED_UNKNOWN => EtaQuality::Unknown,
        s if s < SHARE_GOOD => EtaQuality::Rough,
        _ => EtaQuality::Good,
    };
    // A cast saturates: an absurd plan gives an absurd time, not a wrong one.
    let nanos = |seconds: f64| Nanos((seconds * 1e9) as u64);
    Eta { left: nanos(left), low: nanos(left * (1.0 - spread)), high: nanos(left * (1.0 + spread)), quality }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(done: u64, planned: u64, elapsed: u64) -> (u64, EtaQuality) {
        let eta = eta(Nanos::secs(done), Nanos::secs(planned), Nanos::secs(elapsed));
        assert!(eta.low <= eta.left && eta.left <= eta.high);
        ((eta.left.as_secs()).round() as u64, eta.quality)
    }

    #[test]
    fn nothing_is_told_before_two_percent_or_thirty_seconds() {
        assert_eq!(of(1, 200, 1), (199, EtaQuality::Unknown));
        assert_eq!(of(1, 200, 31).1, EtaQuality::Rough);
        assert_eq!(of(5, 200, 5), (195, EtaQuality::Rough));
    }

    #[test]
    fn the_pace_of_the_steps_done_decides_when_there_are_enough() {
        let (left, quality) = of(100, 200, 150);
        assert!((140..=150).contains(&left) && quality == EtaQuality::Good, "{left}");
        assert_eq!(of(200, 200, 300), (0, EtaQuality::Good));
    }

    #[test]
    fn a_first_step_that_hangs_does_not_explode() {
        let (left, _) = of(0, 200, 60);
        assert!(left <= 200 * 7, "{left}");
        assert_eq!(of(5, 0, 3), (0, EtaQuality::Good));
        assert_eq!(eta(Nanos(0), Nanos(u64::MAX), Nanos(u64::MAX)).quality, EtaQuality::Rough);
    }
}
