//! What Stend itself used while it measured.

use crate::findings::ToolCost;
use stend_base::{Bytes, Nanos};
use stend_record::sample::ProcessCost;
use stend_record::{RunRecord, Sample};

/// CPU over the stretches of load that lie between samples, and the largest memory of the run.
pub fn cost(run: &RunRecord) -> ToolCost {
    let loads: Vec<Vec<&Sample>> = run
        .trials
        .iter()
        .filter_map(|trial| trial.outcome.as_ref())
        .filter_map(|outcome| stretch(&run.load().samples, outcome.load_start, outcome.window_end))
        .collect();
    let ends: Vec<(&Sample, &Sample)> = loads.iter().filter_map(|load| Some((*load.first()?, *load.last()?))).collect();
    let time: f64 = ends.iter().map(|(first, last)| last.at.saturating_sub(first.at).as_secs()).sum();
    let cpus = |used: Option<u64>| used.filter(|_| time > 0.0).map(|ns| Nanos(ns).as_secs() / time);
    let process = |of: fn(&Sample) -> Option<ProcessCost>| {
        let used = ends.iter().map(|(first, last)| of(last)?.cpu_ns.checked_sub(of(first)?.cpu_ns));
        cpus(used.reduce(|a, b| Some(a?.saturating_add(b?))).flatten())
    };
    let memory = |of: fn(&Sample) -> Option<ProcessCost>| {
        run.load().samples.iter().filter_map(of).map(|cost| Bytes(cost.resident_bytes)).max()
    };
    ToolCost {
        worker_cpus: process(|s| s.worker),
        coordinator_cpus: process(|s| s.coordinator),
        telemetry_cpus: cpus(Some(of_readings(&loads))),
        worker_memory: memory(|s| s.worker),
        coordinator_memory: memory(|s| s.coordinator),
    }
}

/// The samples between two moments, if they span any time.
pub fn stretch(samples: &[Sample], from: Nanos, to: Nanos) -> Option<Vec<&Sample>> {
    let inside: Vec<&Sample> = samples.iter().filter(|s| from <= s.at && s.at <= to).collect();
    (inside.first()?.at < inside.last()?.at).then_some(inside)
}

/// CPU time that the samples of such stretches took, the first of each left out, ns. What is recorded is how long a reading took; one that
/// waited for a CPU or a lock took longer and cost no more. So the median of a kind stands for all of it: of readings that look at parts of
/// the machine, and of those that do not.
pub fn of_readings(stretches: &[Vec<&Sample>]) -> u64 {
    let of = |with_parts: bool| {
        let all = stretches.iter().flat_map(|stretch| stretch.iter().skip(1));
        let mut costs: Vec<u64> = all.filter(|s| s.parts.is_some() == with_parts).map(|s| s.cost_ns).collect();
        costs.sort_unstable();
        let middle = costs.get(costs.len().saturating_sub(1) / 2).copied().unwrap_or(0);
        middle.saturating_mul(costs.len() as u64)
    };
    of(false).saturating_add(of(true))
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
