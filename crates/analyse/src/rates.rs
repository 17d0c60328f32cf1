//! Rates of a case over its measuring windows, with their intervals.

use crate::findings::Rates;
use crate::limits::BATCH_INTERVALS;
use crate::series::{self, Cell};
use crate::trials::{CaseTrials, Counting};
use stend_spec::workload::Op;
use stend_stats::estimate::{self, Estimate};

/// Rates of the operations `ops` of one stream, or of all.
///
/// I/O that completed while draining is not in them: it ended after the window.
pub(crate) fn rates(case: &CaseTrials<'_>, stream: Option<u16>, ops: &[Op]) -> Rates {
    let per_second = |of: fn((u64, u64)) -> u64| -> Vec<f64> {
        case.counting.iter().map(|trial| of(trial.done(stream, ops)) as f64 / trial.window.as_secs()).collect()
    };
    let cells = match case.counting.as_slice() {
        [single] => window_cells(single, stream, ops),
        _ => Vec::new(),
    };
    let series = |of: fn(&Cell) -> f64| -> Vec<f64> { cells.iter().map(|cell| value(cell, of)).collect() };
    Rates {
        iops: estimate(&per_second(|done| done.0), &series(|cell| cell.ops)),
        throughput: estimate(&per_second(|done| done.1), &series(|cell| cell.bytes)),
    }
}

/// Values per second of each interval inside a trial's window.
pub(crate) fn window_series(trial: &Counting<'_>, stream: Option<u16>, ops: &[Op], of: fn(&Cell) -> f64) -> Vec<f64> {
    window_cells(trial, stream, ops).iter().map(|cell| value(cell, of)).collect()
}

fn value(cell: &Cell, of: fn(&Cell) -> f64) -> f64 {
    of(cell) / series::INTERVAL.as_secs()
}

/// Intervals inside a trial's window; none where they are not known.
fn window_cells(trial: &Counting<'_>, stream: Option<u16>, ops: &[Op]) -> Vec<Cell> {
    // Imported trials, parts of a trial and what was read without them have no intervals; only a stall is a row of zeros.
    let counted = || trial.outcome.jobs.iter().any(|job| job.done.iter().any(|done| done.0 > 0));
    if trial.record.slices.is_empty() && (trial.outcome.tool_output.is_some() || counted()) {
        return Vec::new();
    }
    let cells = series::cells(&trial.record.slices, |s| ops.contains(&s.op) && stream.is_none_or(|n| n == s.stream));
    series::inside_window(trial.record, cells)
}

/// Mean of the trials with the t interval over them; with a single trial, over the batch means of its `single_series`.
pub fn estimate(trials: &[f64], single_series: &[f64]) -> Estimate {
    estimate::estimate(trials, single_series, BATCH_INTERVALS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::Basis;
    use crate::fixture::run;
    use crate::trials::by_case;
    use stend_base::Nanos;

    const IO: [Op; 2] = [Op::Read, Op::Write];

    #[test]
    fn the_rate_is_that_of_the_window_and_its_interval_that_of_the_trials() {
        let record = run().trial(0).iops(900.0).done().trial(0).iops(1100.0).done().record();
        let found = rates(&by_case(&record)[0], None, &IO).iops;
        assert_eq!((found.value, found.basis), (1000.0, Basis::Trials { n: 2 }));
        // t(0.975, 1) · s / √2 = 12.706 · 141.4 / 1.414 = 1270.6
        let (low, high) = found.interval.unwrap();
        assert!(low == 0.0 && (high - 2270.6).abs() < 0.1, "{low} {high}");
    }

    #[test]
    fn one_trial_has_the_interval_of_its_batches_if_they_are_independent() {
        let trial = |seconds: u64, wave: fn(u32) -> f64| {
            let record = run().trial(0).iops(1000.0).window(Nanos::secs(seconds)).shape(wave).done().record();
            rates(&by_case(&record)[0], None, &IO).iops
        };
        // Twelve batches of 5 s, of which pairs are taken.
        let rough = |i| 0.9 + 0.1 * f64::from(i % 3);
        let long = trial(60, rough);
        assert_eq!(long.basis, Basis::Batches { n: 6 });
        assert!(long.interval.unwrap().0 > 900.0);
        let drift = trial(60, |i| 0.5 + 0.025 * f64::from(i));
        assert_eq!((drift.basis, drift.interval), (Basis::TooFew { n: 1 }, None));
        let short = trial(40, rough);
        assert_eq!((short.basis, short.interval), (Basis::TooFew { n: 1 }, None), "ten batches of 5 s do not fit");
    }

    #[test]
    fn a_stall_of_a_whole_trial_is_a_row_of_zeros() {
        let stall = |outcome: &mut stend_record::TrialOutcome, slices: &mut Vec<_>| {
            outcome.jobs.iter_mut().for_each(|job| job.done = Default::default());
            slices.clear();
        };
        let record = run().trial(0).window(Nanos::secs(60)).change(stall).done().record();
        let found = rates(&by_case(&record)[0], None, &IO).iops;
        assert_eq!((found.value, found.interval), (0.0, Some((0.0, 0.0))));
    }

    #[test]
    fn a_case_without_a_whole_trial_has_no_interval() {
        let record = run().trial(0).unfinished().record();
        let found = rates(&by_case(&record)[0], None, &IO);
        assert_eq!((found.iops.value, found.iops.basis), (0.0, Basis::TooFew { n: 0 }));
    }
}
