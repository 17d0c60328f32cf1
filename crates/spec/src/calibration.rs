//! What is measured before the first case to know what bounds it: the drives under the targets, and the engine against nothing.
//! Pure; nothing here is ever a write.

use crate::prober::{NoProber, Probing};
use crate::workload::{Backend, Engine, Mix, Pages, Pattern, Region, Stream, Trial};
use serde::{Deserialize, Serialize};
use stend_base::{Bytes, Nanos};

/// What a suite says of calibration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Calibrate {
    /// Nothing is calibrated.
    #[default]
    None,
    /// Every drive under the targets alone, all of them together, and the engine against nothing.
    Members,
}

/// How drives are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// 4 KiB at random, 32 in flight: I/Os per second.
    Random,
    /// 1 MiB one after the other, 8 in flight: bytes per second.
    Sequential,
}

/// Load before a window, so that queues are full and a drive is awake.
const RAMP: Nanos = Nanos::millis(500);
/// Length of a reading of drives: short, because there may be dozens of them; as long as a trial of the quick suite.
const WINDOW: Nanos = Nanos::secs(3);
/// The same of the engine against nothing, which has no state to reach.
const ENGINE_RAMP: Nanos = Nanos::millis(200);
const ENGINE_WINDOW: Nanos = Nanos::secs(1);
/// Time of a reading of drives.
pub const READING: Nanos = Nanos(RAMP.0 + WINDOW.0);
/// Time of a reading of the engine.
pub const READING_OF_ENGINE: Nanos = Nanos(ENGINE_RAMP.0 + ENGINE_WINDOW.0);
/// Waiting longer for an I/O of a drive is recorded as a stall.
const DRAIN_LIMIT: Nanos = Nanos::secs(20);
/// Most readings of the engine: a minute and a half. Further cases have none.
pub const ENGINE_READINGS_MAX: usize = 64;
/// The share of each drive is whole in these: the larger of the two block sizes.
const GRAIN: Bytes = Bytes::mib(1);

impl Reading {
    /// Both, in the order in which they are taken.
    pub const ALL: [Reading; 2] = [Reading::Random, Reading::Sequential];

    /// The trial that reads so many drives at the same time, `share` bytes from the start of each, one job per drive. `None`
    /// for drives that are too small for one block.
    pub fn trial(self, drives: u32, share: Bytes) -> Option<Trial> {
        let share = share.0 / GRAIN.0 * GRAIN.0;
        let len = share.checked_mul(u64::from(drives)).filter(|len| *len > 0)?;
        let (pattern, block, queue_depth) = match self {
            Reading::Random => (Pattern::Random, Bytes::kib(4), 32),
            Reading::Sequential => (Pattern::Sequential, GRAIN, 8),
        };
        let stream = Stream { queue_depth, jobs: drives, ..Stream::new(Mix::of_reads(100), pattern, block) };
        let region = Region { start: Bytes(0), len: Bytes(len) };
        let trial = Trial::new(vec![stream], WINDOW, region);
        // What no buffer holds back is above whatever a case can reach with either kind.
        Some(Trial { ramp: RAMP, drain_limit: DRAIN_LIMIT, pages: Pages::Huge, parts: drives, ..trial })
    }
}

/// The same load as that of a case with nothing behind it, so that what is left is the engine. `None` where that says
/// nothing: at a rate of its own, with rests, verified, replayed, appended, by another engine, or against nothing already.
pub fn engine_trial(case: &Trial) -> Option<Trial> {
    let plain = |s: &Stream| {
        !s.is_open() && s.think.is_none() && s.verify.is_none() && s.replay.is_none() && s.pattern != Pattern::Append
    };
    let other = matches!(case.backend, Backend::Null) || case.engine != Engine::Native;
    (!other && case.streams.iter().all(plain)).then(|| Trial {
        ramp: ENGINE_RAMP,
        window: ENGINE_WINDOW,
        seed: 1,
        backend: Backend::Null,
        io_log: None,
        probing: Probing::None(NoProber::Off),
        ..case.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_has_one_job_for_each_drive_and_never_writes() {
        for reading in Reading::ALL {
            let trial = reading.trial(3, Bytes(Bytes::mib(10).0 + 4096)).unwrap();
            assert_eq!((trial.region.len, trial.parts, trial.streams[0].jobs), (Bytes::mib(30), 3, 3));
            assert!(!trial.writes() && trial.direct);
        }
        assert_eq!(Reading::Random.trial(2, Bytes::kib(512)), None);
        assert_eq!(Reading::Sequential.trial(2, Bytes(u64::MAX)), None);
    }
}
