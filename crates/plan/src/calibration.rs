//! What is measured before the first case of a plan to know what bounds it, and how long that takes. Pure.

use super::Plan;
use stend_base::Nanos;
use stend_spec::calibration::{ENGINE_READINGS_MAX, READING, READING_OF_ENGINE, Reading, engine_trial};
use stend_spec::workload::Trial;

impl Plan {
    /// The readings of the engine that the cases of a plan need, each once.
    pub fn engine_trials(&self) -> Vec<Trial> {
        let mut found: Vec<Trial> = Vec::new();
        for trial in
            self.cases.iter().filter(|case| case.not_run.is_none()).filter_map(|case| engine_trial(&case.trial))
        {
            if found.len() < ENGINE_READINGS_MAX && !found.contains(&trial) {
                found.push(trial);
            }
        }
        found
    }

    /// Time of all readings of a calibration of so many drives, without the pauses between them.
    pub fn calibration_time(&self, drives: u32) -> Nanos {
        // Each alone, and all together if they are several.
        let sets = u64::from(drives) + u64::from(drives > 1);
        let readings = sets.saturating_mul(Reading::ALL.len() as u64);
        let engine = self.engine_trials().len() as u64;
        let of_drives = readings.saturating_mul(READING.0);
        Nanos(of_drives.saturating_add(engine * READING_OF_ENGINE.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use stend_spec::workload::Backend;

    fn plan(cases: &str) -> Plan {
        let text = format!("suite: x\ncalibrate: members\ncases:\n{cases}");
        Plan::new(&fixture::inputs(stend_spec::parse::suite(&text, "x").unwrap())).unwrap()
    }

    #[test]
    fn the_engine_is_read_once_for_each_load_and_not_where_it_would_say_nothing() {
        let plan = plan(
            "  - {name: a, streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: [1, 32]}]}\n\
             \x20 - {name: b, streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: 32}], trial: 5s}\n\
             \x20 - {name: open, streams: [{op: read, pattern: random, block_size: 4KiB, rate: 100/s}]}\n\
             \x20 - {name: rests, streams: [{op: read, pattern: random, block_size: 4KiB, think: {time: 1ms}}]}\n\
             \x20 - {name: nowhere, backend: none, streams: [{op: read, pattern: random, block_size: 4KiB}]}\n",
        );
        let depths: Vec<u32> = plan.engine_trials().iter().map(|trial| trial.streams[0].queue_depth).collect();
        assert_eq!(depths, [1, 32]);
        assert!(plan.engine_trials().iter().all(|trial| trial.backend == Backend::Null));
    }

    #[test]
    fn the_time_counts_each_drive_alone_and_all_together() {
        let plan = plan("  - {name: a, streams: [{op: read, pattern: random, block_size: 4KiB}]}\n");
        let seconds = |drives| plan.calibration_time(drives).as_secs();
        assert!((seconds(0) - 1.2).abs() < 1e-9 && (seconds(1) - 8.2).abs() < 1e-9 && (seconds(4) - 36.2).abs() < 1e-9);
    }
}
