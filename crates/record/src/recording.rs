//! How a recording is kept: a run file without trials, into which a host is read for as long as somebody wants.

use serde::{Deserialize, Serialize};
use stend_base::{Bytes, Nanos};

/// What a recording was asked to be; part of its header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// Time between two samples.
    pub every: Nanos,
    /// How long what is kept.
    pub retention: Retention,
}

/// What is kept of samples that grow old. Counters are cumulative, so that leaving samples out makes steps coarser and no mean wrong;
/// what is lost are peaks between the samples that stay. The sample that stays of a step is one with readings of parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retention {
    /// In ascending order of age. What is older than the last is removed. Samples come in the step of the first one; its age is 0 if they stay so for
    /// no time.
    pub tiers: Vec<Tier>,
    /// Most that samples may take in the file; the oldest go first.
    pub size_max: Bytes,
}

/// Samples of up to this age are kept in this step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tier {
    /// One sample is kept for each step of this length.
    pub step: Nanos,
    /// Up to this age.
    pub age: Nanos,
}

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

impl Retention {
    /// Two days as they were read, two weeks in steps of 10 s, a year and a month in steps of 5 minutes: what Netdata and Munin
    /// keep, by eye. With eight CPUs and six drives that is some 500 MB.
    pub fn usual(every: Nanos) -> Retention {
        let tier = |step: Nanos, age| Tier { step: step.max(every), age: Nanos::secs(age) };
        let tiers =
            vec![tier(every, 2 * DAY), tier(Nanos::secs(10), 14 * DAY), tier(Nanos::secs(5 * MINUTE), 400 * DAY)];
        Retention { tiers, size_max: Bytes::gib(1) }
    }

    /// Most samples that this ever keeps; the size may allow fewer.
    pub fn samples_max(&self) -> u64 {
        let from = |at: usize| at.checked_sub(1).map_or(Nanos(0), |before| self.tiers[before].age);
        let of = |(at, tier): (usize, &Tier)| tier.age.saturating_sub(from(at)).0 / tier.step.0.max(1) + 1;
        self.tiers.iter().enumerate().map(of).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_retention_keeps_a_number_of_samples_that_can_be_told() {
        // 172 800 of a second, 12 days of 8640, 386 days of 288, and one at each edge.
        assert_eq!(Retention::usual(Nanos::SECOND).samples_max(), 172_801 + 103_681 + 111_169);
        assert_eq!(
            Retention::usual(Nanos::secs(60)).tiers[1].step,
            Nanos::secs(60),
            "nothing is finer than it was read"
        );
    }
}
