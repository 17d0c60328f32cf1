//! H71: did what is compared drift while it was measured, so that what came later differs for that alone?

use super::mean::mean_of;
use super::{ByBlock, Comparison, Metric};
use crate::findings::{CheckId, CheckResult, CheckStatus};
use crate::limits::DRIFT_T;
use std::collections::BTreeMap;
use stend_base::{Say, format, say, say_in};
use stend_stats::mean;

/// Fewer blocks show a direction by chance.
const BLOCKS_MIN: usize = 4;

/// A line through the rates of all blocks, each side around its own mean.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Drift {
    /// From the first block to the last, natural logarithm.
    whole: f64,
    /// Student's t of the slope; infinite where nothing scatters around the line.
    t: f64,
}

/// H71: over the blocks the rates have no slope that is more than noise and more than what does not matter.
pub(super) fn check(comparison: &Comparison) -> CheckResult {
    let margin = comparison.rule.margin;
    let result = |status, measured, meaning| {
        let limit = say!(
            |l| "|t| ≤ {t} or ± {m}",
            "|t| ≤ {t} или ± {m}",
            t = format::fixed(DRIFT_T, 1, l),
            m = format::percent(margin, l)
        );
        CheckResult::new(CheckId::H71, status, measured, limit, meaning)
    };
    // What counts has both: it is certain, and it matters.
    let excess = |drift: &Drift| (drift.t.abs() / DRIFT_T).min((drift.whole.exp() - 1.0).abs() / margin);
    let Some(worst) = drifts(comparison).into_iter().max_by(|a, b| excess(a).total_cmp(&excess(b))) else {
        return result(
            CheckStatus::NotMeasurable,
            say!("too few blocks", "слишком мало блоков"),
            say!(
                "Drift of the storage is visible from four blocks on.",
                "Дрейф хранилища виден, начиная с четырёх блоков."
            ),
        );
    };
    let whole = worst.whole.exp() - 1.0;
    let measured = Say::both(|l| {
        let sign = if whole < 0.0 { "−" } else { "+" };
        let t = if worst.t.is_finite() { format::fixed(worst.t.abs(), 1, l) } else { "∞".into() };
        say_in!(
            l,
            "{w} from the first block to the last, |t| {t}",
            "{w} от первого блока до последнего, |t| {t}",
            w = format!("{sign}{}", format::percent(whole.abs(), l))
        )
    });
    if worst.t.abs() <= DRIFT_T || whole.abs() <= margin {
        return result(CheckStatus::Pass, measured, Say::same(""));
    }
    let meaning = match comparison.interleaved {
        true => say!(
            "The storage or the machine changed while it was measured. Blocks alternate, so a steady drift favours no side, but the values are not of a settled state: warm up, fill or precondition longer.",
            "Хранилище или машина менялись во время измерений. Блоки чередуются, и ровный дрейф никому не на руку, но значения не относятся к установившемуся состоянию: нужны разгон, заполнение или подготовка дольше."
        ),
        false => say!(
            "One side drifted while it was measured, and the sides were measured one after the other: the difference may be this drift. Measure them as arms of one run, or on stands with `--rebuild`: then blocks alternate.",
            "Одна из сторон дрейфовала во время измерений, а стороны измерены друг за другом: различие может быть этим дрейфом. Измерьте их вариантами одного прогона или на стендах с `--rebuild`: тогда блоки чередуются."
        ),
    };
    result(CheckStatus::Warn, measured, meaning)
}

/// One for all sides where their blocks alternate, otherwise one for each side.
fn drifts(comparison: &Comparison) -> Vec<Drift> {
    let rates: Vec<(usize, &ByBlock)> = comparison
        .cells()
        .filter(|cell| cell.metric == Metric::Rate)
        .filter_map(|cell| Some((cell.run, cell.ratio.by_block.as_ref()?)))
        .collect();
    let mut sides: Vec<BTreeMap<u32, f64>> = vec![mean_of(rates.iter().map(|(_, cell)| &cell.baseline)).alone()];
    let of_run =
        |run: usize| mean_of(rates.iter().filter(move |(r, _)| *r == run).map(|(_, cell)| &cell.other)).alone();
    sides.extend((1..comparison.runs.len()).map(of_run));
    match comparison.interleaved {
        true => slope(&sides.iter().collect::<Vec<_>>()).into_iter().collect(),
        false => sides.iter().filter_map(|side| slope(&[side])).collect(),
    }
}

/// The common slope of several series, each with a level of its own.
fn slope(sides: &[&BTreeMap<u32, f64>]) -> Option<Drift> {
    let sides: Vec<_> = sides.iter().filter(|side| side.len() >= BLOCKS_MIN).collect();
    let mut points: Vec<(f64, f64)> = Vec::new();
    for side in &sides {
        let (x, y) = (
            mean(&side.keys().map(|block| f64::from(*block)).collect::<Vec<_>>())?,
            mean(&side.values().copied().collect::<Vec<_>>())?,
        );
        points.extend(side.iter().map(|(block, log)| (f64::from(*block) - x, log - y)));
    }
    let along: f64 = points.iter().map(|(x, _)| x * x).sum();
    let slope = points.iter().map(|(x, y)| x * y).sum::<f64>() / along;
    let freedom = points.len().checked_sub(sides.len() + 1).filter(|freedom| *freedom > 0)? as f64;
    let rest: f64 = points.iter().map(|(x, y)| (y - slope * x).powi(2)).sum();
    let span = points.iter().map(|(x, _)| x.abs()).fold(0.0, f64::max) * 2.0;
    let error = (rest / freedom / along).sqrt();
    let t = if slope == 0.0 { 0.0 } else { slope / error };
    slope.is_finite().then_some(Drift { whole: slope * span, t })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(logs: &[f64]) -> BTreeMap<u32, f64> {
        logs.iter().enumerate().map(|(block, log)| (block as u32, *log)).collect()
    }

    #[test]
    fn a_slope_common_to_both_sides_is_found_whatever_their_levels() {
        let (a, b) = (side(&[0.0, 0.011, 0.019, 0.031, 0.04, 0.049]), side(&[5.0, 5.009, 5.021, 5.029, 5.041, 5.05]));
        let found = slope(&[&a, &b]).unwrap();
        assert!((found.whole - 0.05).abs() < 0.001 && found.t > 20.0, "{found:?}");
    }

    #[test]
    fn scatter_without_a_direction_has_a_small_t() {
        let found = slope(&[&side(&[0.02, -0.03, 0.01, -0.01, 0.03, -0.02])]).unwrap();
        assert!(found.t.abs() < 1.0, "{found:?}");
        assert_eq!(slope(&[&side(&[1.0; 6])]).map(|drift| drift.t), Some(0.0));
    }

    #[test]
    fn t_is_that_of_a_textbook() {
        // y = 1 2 1.3 3.75 2.25 over x = 0 … 4: slope 0.425, residual sum 2.79075, error √(0.930 / 10) = 0.305.
        let found = slope(&[&side(&[1.0, 2.0, 1.3, 3.75, 2.25])]).unwrap();
        assert!((found.whole - 1.7).abs() < 1e-9 && (found.t - 1.3935).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn three_blocks_say_nothing() {
        assert_eq!(slope(&[&side(&[1.0, 2.0, 3.0])]), None);
    }
}
