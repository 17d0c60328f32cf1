//! Readings of ceilings for tests, added to a run of the fixture that has a trial.

use stend_base::{Bytes, Nanos, Say};
use stend_plan::Plan;
use stend_record::calibration::{Calibration, Subject};
use stend_record::targets::calibrated;
use stend_record::{Event, EventKind, RunRecord, TrialOutcome, ZeroSample};
use stend_spec::calibration::Reading;
use stend_spec::workload::{Op, Trial};

/// What drives and engine are to have done.
#[derive(Debug, Clone, Copy)]
pub struct Ceilings {
    /// Reads per second of each drive at random.
    pub iops: f64,
    /// Bytes per second of each drive in order.
    pub bytes: f64,
    /// What all together do of the sum of what each does.
    pub together: f64,
    /// I/Os per second of the engine.
    pub engine: f64,
    /// Part of a CPU that the load thread used meanwhile.
    pub busy: f64,
    /// Blocks of a thousand that were never written.
    pub zeros: u32,
}

impl Default for Ceilings {
    fn default() -> Ceilings {
        Ceilings { iops: 20_000.0, bytes: 1e9, together: 1.0, engine: 1e6, busy: 0.2, zeros: 0 }
    }
}

impl Ceilings {
    /// The record with these readings.
    pub fn on(self, mut record: RunRecord) -> RunRecord {
        let like = record.trials[0].outcome.clone().expect("a trial that ended");
        let names: Vec<String> = calibrated(&record.load().targets).iter().map(|drive| drive.name.clone()).collect();
        let mut sets: Vec<Vec<String>> = names.iter().map(|name| vec![name.clone()]).collect();
        if names.len() > 1 {
            sets.push(names.clone());
        }
        for set in sets {
            for reading in Reading::ALL {
                let count = set.len() as u32;
                let asked = reading.trial(count, Bytes::gib(1)).expect("a drive of 1 GiB");
                let share = if count > 1 { self.together * f64::from(count) } else { 1.0 };
                let rate = match reading {
                    Reading::Random => self.iops * share,
                    Reading::Sequential => self.bytes * share / asked.streams[0].block_size.0 as f64,
                };
                let zeros = ZeroSample { sampled: 1000, zero: self.zeros, ..ZeroSample::default() };
                let zeros = (count == 1 && reading == Reading::Random).then_some(zeros);
                let found = Ok(Box::new(self.outcome(&like, &asked, rate)));
                push(&mut record, Calibration { subject: Subject::Drives(set.clone()), asked, found, zeros });
            }
        }
        let plan = Plan::new(&record.header.inputs).expect("the fixture's plan");
        for asked in plan.engine_trials() {
            let found = Ok(Box::new(self.outcome(&like, &asked, self.engine)));
            push(&mut record, Calibration { subject: Subject::Engine, asked, found, zeros: None });
        }
        record
    }

    fn outcome(self, like: &TrialOutcome, asked: &Trial, rate: f64) -> TrialOutcome {
        let mut outcome = like.clone();
        outcome.window_end = outcome.window_start + asked.window;
        let ops = (rate * asked.window.as_secs()) as u64;
        let job = &mut outcome.jobs[0];
        job.done = Default::default();
        job.done[Op::Read.index()] = (ops, ops * asked.streams[0].block_size.0);
        job.cpu_max_ns = Some((self.busy * asked.window.0 as f64) as u64);
        outcome
    }
}

/// Adds one reading.
pub fn push(record: &mut RunRecord, calibration: Calibration) {
    record.events.push(Event::new(Nanos::secs(90), EventKind::Calibrated(Box::new(calibration))));
}

/// The reason why every reading of drives failed.
pub fn fail(record: &mut RunRecord, why: &str) {
    for event in &mut record.events {
        if let EventKind::Calibrated(calibration) = &mut event.kind
            && matches!(calibration.subject, Subject::Drives(_))
        {
            calibration.found = Err(Say::same(why));
        }
    }
}
