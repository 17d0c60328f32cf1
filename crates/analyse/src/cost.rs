//! What Stend itself used while it measured.

use crate::findings::ToolCost;
use stend_base::{Bytes, Nanos};
use stend_record::sample::ProcessCost;
use stend_record::{RunRecord, Sample};

/// CPU over the stretches of load that lie between samples, and the largest memory of the run.
pub fn cost(run: &RunRecord) -> ToolCost {
    let loads: Vec<(&Sample, &Sample, u64)> = run
        .trials
        .iter()
        .filter_map(|trial| trial.outcome.as_ref())
        .filter_map(|outcome| stretch(&run.load().samples, outcome.load_start, outcome.window_end))
        .collect();
    let time: f64 = loads.iter().map(|(first, last, _)| last.at.saturating_sub(first.at).as_secs()).sum();
    let cpus = |used: Option<u64>| used.filter(|_| time > 0.0).map(|ns| Nanos(ns).as_secs() / time);
    let process = |of: fn(&Sample) -> Option<ProcessCost>| {
        let used = loads.iter().map(|(first, last, _)| of(last)?.cpu_ns.checked_sub(of(first)?.cpu_ns));
        cpus(used.reduce(|a, b| Some(a?.saturating_add(b?))).flatten())
    };
    let memory = |of: fn(&Sample) -> Option<ProcessCost>| {
        run.load().samples.iter().filter_map(of).map(|cost| Bytes(cost.resident_bytes)).max()
    };
    ToolCost {
        worker_cpus: process(|s| s.worker),
        coordinator_cpus: process(|s| s.coordinator),
        telemetry_cpus: cpus(Some(loads.iter().fold(0, |sum: u64, load| sum.saturating_add(load.2)))),
        worker_memory: memory(|s| s.worker),
        coordinator_memory: memory(|s| s.coordinator),
    }
}

/// First and last sample between two moments, and what taking the samples after the first one cost, ns.
pub fn stretch(samples: &[Sample], from: Nanos, to: Nanos) -> Option<(&Sample, &Sample, u64)> {
    let inside: Vec<&Sample> = samples.iter().filter(|s| from <= s.at && s.at <= to).collect();
    let (first, last) = (*inside.first()?, *inside.last()?);
    let taking = inside.iter().skip(1).fold(0u64, |sum, s| sum.saturating_add(s.cost_ns));
    (first.at < last.at).then_some((first, last, taking))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::run;

    #[test]
    fn the_cost_is_that_of_the_load_and_not_of_the_pauses() {
        let found = cost(&run().trial(0).done().trial(0).done().record());
        // The fixture's worker uses 10 ms, its coordinator 1 ms per 100 ms; a sample of 0.2 ms each 0.5 s.
        assert_eq!((found.worker_cpus, found.coordinator_cpus), (Some(0.1), Some(0.01)));
        assert!((found.telemetry_cpus.unwrap() - 0.0004).abs() < 1e-9);
        assert_eq!(found.worker_memory, Some(Bytes::mib(64)));
    }

    #[test]
    fn what_was_not_recorded_is_not_zero() {
        let mut record = run().trial(0).done().record();
        record.load_mut().samples.iter_mut().for_each(|s| s.coordinator = None);
        let found = cost(&record);
        assert_eq!((found.coordinator_cpus, found.coordinator_memory), (None, None));
        record.load_mut().samples.clear();
        assert_eq!(cost(&record), ToolCost::default());
    }
}
