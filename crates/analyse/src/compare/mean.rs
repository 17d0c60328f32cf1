//! One figure for a whole table: the geometric mean of its ratios. An arithmetic mean of percents depends on which run
//! is called the baseline, so there is none (method S5, H74).

use super::{ByBlock, Comparison, Doubt, Mean, Metric, Pairing, Ratio};
use crate::findings::{CheckId, CheckResult, CheckStatus};
use std::collections::{BTreeMap, BTreeSet};
use stend_base::{Say, say};
use stend_stats::mean;
use stend_stats::quotient::{self, Figure, Part};

/// The means of a table: by run, its rates first. Only where there are two ratios or more.
pub(super) fn means(comparison: &Comparison, pairing: Pairing) -> Vec<Mean> {
    let mut cells: BTreeMap<(usize, Metric), Vec<&Ratio>> = BTreeMap::new();
    for cell in comparison.cells() {
        cells.entry((cell.run, cell.metric)).or_default().push(cell.ratio);
    }
    cells.into_iter().filter_map(|((run, metric), ratios)| one(run, metric, &ratios, pairing)).collect()
}

fn one(run: usize, metric: Metric, ratios: &[&Ratio], pairing: Pairing) -> Option<Mean> {
    let excluded =
        |ratio: &Ratio| matches!(ratio.judged.doubt, Some(Doubt::Failed(_) | Doubt::OtherWorkload | Doubt::NoInterval));
    let used: Vec<&ByBlock> = ratios.iter().filter(|r| !excluded(r)).filter_map(|r| r.by_block.as_ref()).collect();
    if used.len() < 2 {
        return None;
    }
    let [baseline, other] =
        [mean_of(used.iter().map(|cell| &cell.baseline)), mean_of(used.iter().map(|cell| &cell.other))];
    let found = match pairing {
        Pairing::Blocks => quotient::of_pairs(&baseline, &other),
        Pairing::None => quotient::of_independent(&baseline, &other),
    };
    let (value, interval) = ((other.all - baseline.all).exp(), found.map(|found| found.interval));
    let left_out = (ratios.len() - used.len()) as u32;
    Some(Mean { run, metric, cells: used.len() as u32, left_out, value, interval })
}

/// The geometric mean of several cells, its parts the blocks that all of them have.
pub(super) fn mean_of<'a>(cells: impl Iterator<Item = &'a Figure> + Clone) -> Figure {
    let common = cells.clone().map(|cell| cell.parts.keys().copied().collect::<BTreeSet<u32>>());
    let common = common.reduce(|a, b| a.intersection(&b).copied().collect()).unwrap_or_default();
    let over = |of: &dyn Fn(&Figure) -> Option<f64>| mean(&cells.clone().filter_map(of).collect::<Vec<_>>());
    let of_block = |block: u32| {
        let alone = over(&|cell| cell.parts.get(&block).map(|part| part.alone))?;
        let without = over(&|cell| cell.parts.get(&block).map(|part| part.without))?;
        Some((block, Part { alone, without }))
    };
    Figure {
        all: over(&|cell| Some(cell.all)).unwrap_or(0.0),
        parts: common.into_iter().filter_map(of_block).collect(),
    }
}

/// H74: whether one figure may stand for the table.
pub(super) fn check(means: &[Mean]) -> CheckResult {
    let (cells, left_out) = means.iter().fold((0, 0), |(c, l), mean| (c + mean.cells, l + mean.left_out));
    let all = cells + left_out;
    let (status, meaning) = match (means.is_empty(), left_out) {
        (true, _) => (CheckStatus::NotApplicable, Say::same("")),
        (false, 0) => (CheckStatus::Pass, Say::same("")),
        (false, _) => (
            CheckStatus::Warn,
            say!(
                "The means cover only a part of the table. Before you quote them, measure the cases without an interval again, with more blocks or longer trials.",
                "Средние представляют лишь часть таблицы. Прежде чем их приводить, измерьте заново то, что без интервала: больше блоков или длиннее испытания."
            ),
        ),
    };
    let measured = say!(
        "{cells} of {all} ratios have an interval and are in the geometric means",
        "в средних геометрических отношений с интервалом: {cells} из {all}"
    );
    CheckResult::new(CheckId::H74, status, measured, say!("all of them", "все"), meaning)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use crate::compare::{Options, compare, compare_arms};
    use crate::findings::Findings;
    use crate::fixture::{RunBuilder, case, run_of};
    use stend_record::RunRecord;
    use stend_spec::arm::Switch;
    use stend_spec::workload::Op;
    use stend_spec::workload::Sync;

    fn cases(n: u32) -> RunBuilder {
        run_of((0..n).map(|i| case(&format!("case-{i}"), 100, 32, Sync::None)).collect())
    }

    /// Two arms: in every block the second has these ratios to the first, case by case.
    fn arms(ratios: &[f64], blocks: u32) -> RunRecord {
        let command = Switch::Command { enter: vec!["x".into()], leave: vec!["y".into()] };
        let n = ratios.len() as u32;
        let mut run = cases(n).arms(&[("a", Switch::None, "6.1"), ("b", command, "6.2")]);
        for block in 0..blocks {
            for (i, ratio) in ratios.iter().enumerate() {
                // No two trials are exactly alike, which would be copies (H05).
                let rate = 1_000_000.0 * (1.0 + 0.1 * f64::from(block) + 0.013 * i as f64);
                run = run.trial(i as u32).block(block).iops(rate).done();
                run = run.trial(n + i as u32).block(block).iops(rate * ratio).done();
            }
        }
        run.record()
    }

    fn compared(record: &RunRecord) -> Comparison {
        compare_arms(record, &analyse(record).unwrap(), &Options::default()).unwrap().unwrap()
    }

    #[test]
    fn twice_and_half_is_no_change_whoever_is_the_baseline() {
        // The arithmetic mean of 200 % and 50 % would be 125 % either way.
        for ratios in [[2.0, 0.5], [0.5, 2.0]] {
            let found = compared(&arms(&ratios, 6));
            let rate = &found.means[0];
            assert_eq!((rate.metric, rate.cells, rate.left_out), (Metric::Rate, 2, 0));
            assert!((rate.value - 1.0).abs() < 1e-4, "{rate:?}");
            let (low, high) = rate.interval.unwrap();
            assert!(low <= 1.0001 && high >= 0.9999 && high - low < 0.01, "the drift of both arms cancels: {rate:?}");
        }
    }

    #[test]
    fn each_metric_has_a_mean_of_its_own() {
        let found = compared(&arms(&[2.0, 2.0, 2.0], 6));
        let of: Vec<(Metric, u32)> = found.means.iter().map(|mean| (mean.metric, mean.cells)).collect();
        assert_eq!(of, [(Metric::Rate, 3), (Metric::P99(Op::Read), 3)]);
        // In a closed loop twice the rate is half the latency.
        assert!((found.means[1].value - 0.5).abs() < 0.02, "{:?}", found.means);
        assert_eq!(check(&found.means).status, CheckStatus::Pass);
    }

    #[test]
    fn runs_one_after_the_other_have_a_mean_with_welchs_interval() {
        let of = |rates: &[f64]| cases(2).six_blocks(rates).record();
        let (a, b) = (of(&[10_000.0, 5_000.0]), of(&[20_000.0, 2_500.0]));
        let findings: Vec<Findings> = [&a, &b].map(|r| analyse(r).unwrap()).to_vec();
        let found = compare(&[(&a, &findings[0]), (&b, &findings[1])], &Options::default());
        let (low, high) = found.means[0].interval.unwrap();
        assert!((found.means[0].value - 1.0).abs() < 2e-3 && low < 1.0 && high > 1.0, "{:?}", found.means);
    }

    #[test]
    fn what_has_no_interval_is_left_out_and_that_is_said() {
        let mut run = cases(3);
        for block in 0..6 {
            let rate = 1e4 + f64::from(block);
            run = run.trial(0).block(block).iops(rate).done().trial(1).block(block).iops(2.0 * rate + 1.0).done();
        }
        let a = run.trial(2).block(0).iops(3e4).done().record();
        let findings = analyse(&a).unwrap();
        let found = compare(&[(&a, &findings), (&a, &findings)], &Options::default());
        assert_eq!((found.means[0].cells, found.means[0].left_out), (2, 1));
        let said = check(&found.means);
        assert_eq!(said.status, CheckStatus::Warn);
        assert_eq!(said.measured.en, "4 of 6 ratios have an interval and are in the geometric means");
    }

    #[test]
    fn one_ratio_is_no_table() {
        let found = compared(&arms(&[2.0], 6));
        assert_eq!(found.means, []);
        assert_eq!(check(&found.means).status, CheckStatus::NotApplicable);
    }

    #[test]
    fn cells_without_two_blocks_in_common_have_a_mean_without_an_interval() {
        let cell = |blocks: [u32; 2], all: f64| {
            let part = Part { alone: all, without: all };
            Figure { all, parts: blocks.map(|block| (block, part)).into() }
        };
        let (a, b) = (cell([0, 1], 0.2), cell([2, 3], 0.4));
        let found = mean_of([&a, &b].into_iter());
        assert!((found.all - 0.3).abs() < 1e-12 && found.parts.is_empty());
        assert_eq!(quotient::of_pairs(&found, &found), None);
    }

    #[test]
    fn the_mean_of_ratios_is_that_of_the_ratios_shown() {
        let found = compared(&arms(&[2.0, 0.7, 1.3], 6));
        let shown: Vec<f64> = found
            .cells()
            .filter(|cell| cell.metric == Metric::Rate)
            .filter_map(|cell| match cell.ratio.value {
                crate::compare::RatioValue::At(value) => Some(value.ln()),
                _ => None,
            })
            .collect();
        assert!((found.means[0].value - mean(&shown).unwrap().exp()).abs() < 1e-12, "{:?}", found.means);
    }
}
