//! What another tool printed of latencies that it gives no histogram of. Counts, sums and extremes can be put together; percentiles
//! cannot, and are shown as printed.

use crate::findings::{OpFinding, Quantile, QuantileValue};
use crate::trials::{CaseTrials, Counting};
use stend_base::{Nanos, Share};
use stend_record::{RunRecord, ToolOp};
use stend_spec::workload::Op;

/// What was printed of one kind of I/O in all trials that count.
fn of<'a>(case: &'a CaseTrials<'_>, key: (u16, Op)) -> impl Iterator<Item = &'a ToolOp> {
    case.counting.iter().flat_map(move |trial| of_trial(trial, key))
}

fn of_trial<'a>(trial: &Counting<'a>, (stream, op): (u16, Op)) -> impl Iterator<Item = &'a ToolOp> {
    let told = trial.outcome.tool_output.iter().flat_map(|told| &told.ops);
    told.filter(move |told| (told.stream, told.op) == (stream, op))
}

/// The finding with the printed numbers in it, where some job of the operation has no histogram; else as it is.
pub fn completed(case: &CaseTrials<'_>, finding: OpFinding) -> OpFinding {
    let key = (finding.stream, finding.op);
    if of(case, key).all(|told| told.mergeable) {
        return finding;
    }
    let count = of(case, key).fold(0u64, |sum, told| sum.saturating_add(told.count));
    let sum = of(case, key).fold(0u128, |sum, told| sum.saturating_add(told.sum_ns));
    let printed = |quantile: Quantile| Quantile {
        value: QuantileValue::Printed(range(case, key, quantile.q)),
        interval: None,
        ..quantile
    };
    OpFinding {
        count,
        latency_mean_ns: if count > 0 { sum as f64 / count as f64 } else { 0.0 },
        latency_max: Nanos(of(case, key).map(|told| told.max_ns).max().unwrap_or(0)),
        quantiles: finding.quantiles.into_iter().map(printed).collect(),
        ..finding
    }
}

/// The smallest and the largest of what was printed; `None` if one job has no such percentile.
fn range(case: &CaseTrials<'_>, key: (u16, Op), q: Share) -> Option<(Nanos, Nanos)> {
    let share = (q.0 * 1e6).round() as u32;
    let mut found: Option<(Nanos, Nanos)> = None;
    for told in of(case, key) {
        let (_, at) = told.percentiles.iter().find(|(own, _)| *own == share)?;
        let at = Nanos(*at);
        found = Some(found.map_or((at, at), |(least, most)| (least.min(at), most.max(at))));
    }
    found
}

/// Whether it is known that I/O went around the page cache, or through it. For our own trials it is; flatfiles of vdbench and logs of
/// fio, which repeat nothing of what was asked for, do not tell.
pub fn is_cache_known(run: &RunRecord) -> bool {
    let repeats = |job_file: &str| !job_file.is_empty();
    let asked = || run.trials.iter().filter_map(|trial| trial.outcome.as_ref()?.engine.external.as_ref());
    match run.header.imported.as_ref().map(|imported| imported.tool.as_str()) {
        Some("vdbench") => false,
        Some("fio") => asked().any(|external| repeats(&external.job_file)),
        _ => true,
    }
}

/// Smallest latency that was printed, ns; 0 if none was.
pub fn least(case: &CaseTrials<'_>, key: (u16, Op)) -> u64 {
    of(case, key).filter(|told| told.count > 0).map(|told| told.min_ns).min().unwrap_or(0)
}

/// Whether another tool told latencies without the submission (fio's `clat`) of some job.
pub fn is_without_submission(case: &CaseTrials<'_>, key: (u16, Op)) -> bool {
    of(case, key).any(|told| told.latency == "clat")
}

/// Time that I/Os of a stream took a place, ns, all of them added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Occupied {
    /// Reads, writes and all that moves or erases data.
    io: u128,
    /// Syncs.
    syncs: u128,
}

impl Occupied {
    /// Adds the time of I/Os of a kind.
    pub fn add(&mut self, op: Op, ns: u128) {
        let of = if op == Op::Sync { &mut self.syncs } else { &mut self.io };
        *of = of.saturating_add(ns);
    }

    /// The least and the most time for which places were taken, if syncs run `beside` the I/Os for an unknown part of it, or not at all.
    pub fn bounds(self, beside: bool) -> (u128, u128) {
        let all = self.io.saturating_add(self.syncs);
        (if beside { self.io.max(self.syncs) } else { all }, all)
    }
}

/// Times from before the submission to the end, of all kinds of I/O of a stream; `None` if one is not told.
pub fn occupied(trial: &Counting<'_>, stream: u16) -> Option<Occupied> {
    let told = trial.outcome.tool_output.as_ref()?;
    let mut occupied = Occupied::default();
    for own in told.ops.iter().filter(|told| told.stream == stream) {
        occupied.add(own.op, own.occupied_ns?);
    }
    Some(occupied)
}

#[cfg(test)]
mod tests {
    use crate::analyse;
    use crate::findings::QuantileValue;
    use crate::fixture::{imported, run};
    use stend_base::Nanos;
    use stend_record::RunRecord;
    use stend_record::observed::External;

    fn p99(record: &RunRecord) -> QuantileValue {
        analyse(record).unwrap().cases[0].ops[0].quantiles[1].value
    }

    fn printed(p99s: &[u64]) -> RunRecord {
        let mut record = imported(run().six_blocks(&[9_870.0]).record(), false);
        record.trials.truncate(p99s.len());
        for (trial, p99) in record.trials.iter_mut().zip(p99s) {
            trial.outcome.as_mut().unwrap().tool_output.as_mut().unwrap().ops[0].percentiles = vec![(990_000, *p99)];
        }
        record
    }

    #[test]
    fn printed_percentiles_are_told_as_they_are_and_never_merged() {
        assert_eq!(p99(&printed(&[700])), QuantileValue::Printed(Some((Nanos(700), Nanos(700)))));
        let two = printed(&[700, 900]);
        assert_eq!(p99(&two), QuantileValue::Printed(Some((Nanos(700), Nanos(900)))));
        let op = &analyse(&two).unwrap().cases[0].ops[0];
        assert_eq!(op.quantiles[2].value, QuantileValue::Printed(None), "p99.9 was not printed");
        assert!(op.quantiles.iter().all(|quantile| quantile.interval.is_none()));
        // What can be put together is.
        let outcomes = two.trials.iter().filter_map(|trial| trial.outcome.as_ref());
        assert_eq!(op.count, outcomes.map(|outcome| outcome.tool_output.as_ref().unwrap().ops[0].count).sum::<u64>());
        assert!(op.latency_mean_ns > 0.0 && op.latency_max > Nanos(0));
    }

    #[test]
    fn whether_the_page_cache_was_used_is_known_only_where_it_is_told() {
        let known = |tool: &str, job_file: &str| {
            let mut record = imported(run().six_blocks(&[9_870.0]).record(), true);
            record.header.imported.as_mut().unwrap().tool = tool.into();
            for trial in &mut record.trials {
                let external = External { version: tool.into(), job_file: job_file.into(), start_uncertainty_ns: 0 };
                trial.outcome.as_mut().unwrap().engine.external = Some(external);
            }
            super::is_cache_known(&record)
        };
        assert!(!known("vdbench", "") && !known("fio", ""));
        assert!(known("fio", "[a]\ndirect=1\n") && known("diskspd", ""));
        assert!(super::is_cache_known(&run().six_blocks(&[9_870.0]).record()));
    }

    #[test]
    fn histograms_of_an_import_are_merged_as_our_own() {
        let own = run().six_blocks(&[9_870.0]).record();
        assert_eq!(p99(&imported(own.clone(), true)), p99(&own));
        let mut half = imported(own, true);
        half.trials[0].outcome.as_mut().unwrap().tool_output.as_mut().unwrap().ops[0].mergeable = false;
        assert!(matches!(p99(&half), QuantileValue::Printed(_)), "one trial without a histogram is enough");
    }

    #[test]
    fn one_trial_without_intervals_has_no_interval_and_no_row_of_zeros() {
        let found = analyse(&printed(&[700])).unwrap();
        let total = &found.cases[0].total.iops;
        assert!(total.value > 9_000.0 && total.interval.is_none(), "{total:?}");
    }
}
