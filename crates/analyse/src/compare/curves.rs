//! The latencies of a case in all runs as curves on one pair of axes.

use super::Comparison;
use super::types::letter;
use crate::charts::distribution;
use crate::findings::Findings;
use crate::operations::{OpLatency, latencies};
use crate::trials::by_case;
use stend_record::RunRecord;

/// More runs than this are no longer told apart.
const RUNS_MOST: usize = 4;

/// Adds to a comparison of `runs` its charts, which only a page needs. Nothing for more than four runs.
pub fn draw(comparison: &mut Comparison, runs: &[(&RunRecord, &Findings)]) {
    if runs.len() > RUNS_MOST {
        return;
    }
    let trials: Vec<_> = runs.iter().map(|(record, _)| by_case(record)).collect();
    let of_case = |label: &str| -> Vec<(String, Vec<OpLatency>)> {
        let one = |(i, (_, findings)): (usize, &(&RunRecord, &Findings))| {
            let case = findings.cases.iter().find(|case| case.label == label)?.case;
            Some((letter(i), latencies(trials[i].iter().find(|trials| trials.case == case)?)))
        };
        runs.iter().enumerate().filter_map(one).collect()
    };
    let cases = (0..).zip(&comparison.cases);
    let charts = cases.flat_map(|(i, case)| distribution::side_by_side(i, &case.label, &of_case(&case.label)));
    comparison.charts = charts.collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use crate::compare::{Options, compare};
    use crate::fixture::run;

    #[test]
    fn a_case_of_two_runs_has_a_curve_of_each_on_the_same_axes() {
        let records = [10_000.0, 20_000.0].map(|rate| run().six_blocks(&[rate]).record());
        let findings: Vec<Findings> = records.iter().map(|record| analyse(record).unwrap()).collect();
        let runs: Vec<_> = records.iter().zip(&findings).collect();
        let mut comparison = compare(&runs, &Options::default());
        assert_eq!(comparison.charts, []);
        draw(&mut comparison, &runs);
        let [chart] = comparison.charts.as_slice() else { panic!("{:?}", comparison.charts) };
        let series = &chart.panes[0].series;
        assert_eq!(series.iter().map(|series| series.name.en.as_str()).collect::<Vec<_>>(), ["A", "B"]);
        // In a closed loop twice the rate is half the latency.
        let median = |i: usize| series[i].points[0].y.unwrap();
        assert!((median(0) / median(1) - 2.0).abs() < 0.05, "{} {}", median(0), median(1));
        draw(&mut comparison, &[runs[0]; 5]);
        assert_eq!(comparison.charts.len(), 1, "five runs add nothing");
    }
}
