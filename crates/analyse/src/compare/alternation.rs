//! Whether runs alternated in blocks, as arms of one run do: each block was measured in all of them, one after the other, before the
//! next one began in any. By what the run files say, not by how they were made.

use std::collections::BTreeMap;
use stend_record::RunRecord;

/// Wall clock of a beginning and an end, ns since 1970.
type Span = (i128, i128);

/// At least two blocks, so that drift cancels.
pub(super) fn alternate(runs: &[&RunRecord]) -> bool {
    if runs.len() < 2 || runs.iter().any(|run| run.header.imported.is_some()) {
        return false;
    }
    let of_runs: Vec<BTreeMap<u32, Span>> = runs.iter().map(|run| blocks(run)).collect();
    let shared = |block: &u32| of_runs.iter().all(|blocks| blocks.contains_key(block));
    let mut all: BTreeMap<u32, Vec<Span>> = BTreeMap::new();
    for (block, span) in of_runs.iter().flatten() {
        all.entry(*block).or_default().push(*span);
    }
    let in_order = all.values_mut().map(|spans| {
        spans.sort_unstable();
        &*spans
    });
    // One after the other inside of a block and from block to block.
    let in_time: Vec<Span> = in_order.flatten().copied().collect();
    all.keys().filter(|block| shared(block)).count() > 1 && in_time.windows(2).all(|pair| pair[0].1 <= pair[1].0)
}

/// When a run measured each of its blocks.
fn blocks(run: &RunRecord) -> BTreeMap<u32, Span> {
    let wall = |at: stend_base::Nanos| i128::from(at.0) + i128::from(run.header.realtime_offset_ns);
    let mut found: BTreeMap<u32, Span> = BTreeMap::new();
    for trial in &run.trials {
        let begin = wall(trial.started);
        let end = trial.outcome.as_ref().map_or(begin, |outcome| wall(outcome.window_end)).max(begin);
        let span = found.entry(trial.block).or_insert((begin, end));
        *span = (span.0.min(begin), span.1.max(end));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use crate::compare::{Options, compare};
    use crate::fixture::run;
    use stend_base::Nanos;

    /// A run whose blocks begin at these seconds and last two.
    fn at(seconds: &[u64], iops: f64) -> RunRecord {
        let mut built = run();
        for block in 0..seconds.len() as u32 {
            built = built.trial(0).block(block).iops(iops + f64::from(block)).done();
        }
        let mut record = built.record();
        for (trial, begin) in record.trials.iter_mut().zip(seconds) {
            trial.started = Nanos::secs(*begin);
            let outcome = trial.outcome.as_mut().unwrap();
            let length = outcome.window_end.saturating_sub(outcome.window_start);
            (outcome.window_start, outcome.window_end) = (trial.started, trial.started + length.min(Nanos::secs(2)));
        }
        record
    }

    fn alternates(a: &[u64], b: &[u64]) -> bool {
        alternate(&[&at(a, 1000.0), &at(b, 1000.0)])
    }

    #[test]
    fn blocks_of_runs_alternate_where_all_of_one_come_before_any_of_the_next() {
        assert!(alternates(&[0, 30], &[10, 20]), "A B B A");
        assert!(alternates(&[0, 20, 40], &[10, 30]), "one ended early");
        assert!(!alternates(&[0, 10], &[20, 30]), "one run after the other");
        assert!(alternates(&[0, 20], &[10, 30]), "A B A B");
        assert!(!alternates(&[0, 10], &[15, 20]), "the second block began before the first one was measured in both");
        assert!(!alternates(&[0], &[10]), "one block says nothing of drift");
        assert!(!alternates(&[0, 10], &[0, 10]), "a run and its copy");
        assert!(!alternates(&[0, 10], &[1, 11]), "at the same time");
        assert!(!alternate(&[&at(&[0, 10], 1000.0)]));
    }

    #[test]
    fn runs_that_alternate_are_compared_within_blocks() {
        let of = |a: &[u64], b: &[u64]| {
            let (a, b) = (at(a, 1000.0), at(b, 1100.0));
            let (found_a, found_b) = (analyse(&a).unwrap(), analyse(&b).unwrap());
            compare(&[(&a, &found_a), (&b, &found_b)], &Options::default()).interleaved
        };
        assert!(of(&[0, 30], &[10, 20]));
        assert!(!of(&[0, 10], &[20, 30]));
    }
}
