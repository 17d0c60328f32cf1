//! H06: percentages and ratios computed anew from the numbers that they were made of; and, where many miss alike, the
//! baseline that was really used.

use super::{Doubt, Found, Gravity, doubt};
use crate::limits::{BASELINE_EXPLAINS, BASELINE_MISSES, PERCENT_STEPS};
use crate::phrase::{both, pick};
use std::collections::BTreeMap;
use stend_base::{Say, say};
use stend_record::published::{Claim, Dimension};

/// Misses that are looked at for it, and layouts that are tried.
const MISSES_MOST: usize = 50;
const LAYOUTS_MOST: usize = 200;

/// A relative number that could be computed anew.
struct Anew<'a> {
    claim: &'a Claim,
    of: &'a Claim,
    base: &'a Claim,
    right: f64,
}

pub(super) fn percent(rows: &[Claim]) -> Found {
    let anew: Vec<Anew<'_>> = rows.iter().filter_map(|claim| compute(rows, claim)).collect();
    let missed: Vec<&Anew<'_>> = anew.iter().filter(|a| !fits(a.claim, a.right)).collect();
    // Once for each baseline: every layout is tried on every miss.
    let mut used: BTreeMap<&str, Option<String>> = BTreeMap::new();
    for miss in &missed {
        let baseline = miss.claim.baseline.as_str();
        used.entry(baseline).or_insert_with(|| other_baseline(rows, &missed, baseline));
    }
    let doubts = missed.iter().map(|a| of(a, used.get(a.claim.baseline.as_str()).cloned().flatten())).collect();
    let name = say!("percentages follow from the numbers", "проценты следуют из чисел");
    Found { id: "H06", name, places: anew.len(), doubts }
}

/// The value that a relative claim must have, in its own unit.
fn compute<'a>(rows: &'a [Claim], claim: &'a Claim) -> Option<Anew<'a>> {
    let (layout, baseline) = match claim.metric.as_str() {
        "relative_percent" | "change_percent" => (claim.layout.as_str(), claim.baseline.as_str()),
        "ratio" => claim.layout.split_once('/')?,
        _ => return None,
    };
    claim.value?;
    let (of, base) = pair(rows, claim, layout, baseline)?;
    let ratio = value(of) / value(base);
    let right = match claim.metric.as_str() {
        "relative_percent" => 100.0 * ratio,
        "change_percent" => 100.0 * (ratio - 1.0),
        _ => ratio,
    };
    (right.is_finite() && value(base) > 0.0).then_some(Anew { claim, of, base, right })
}

/// The measured numbers of both layouts, of the same metric.
fn pair<'a>(rows: &'a [Claim], claim: &Claim, layout: &str, baseline: &str) -> Option<(&'a Claim, &'a Claim)> {
    let measured = |layout: &str, metric: &str| {
        let fits = |row: &&Claim| {
            (row.layout.as_str(), row.metric.as_str()) == (layout, metric)
                && (&row.source, &row.test, row.block_size) == (&claim.source, &claim.test, claim.block_size)
                && row.value.is_some_and(|number| matches!(number.dimension, Dimension::Throughput | Dimension::Rate))
        };
        let here = |row: &&Claim| fits(row) && row.experiment == claim.experiment;
        rows.iter().find(here).or_else(|| rows.iter().find(fits))
    };
    // Rates and throughputs give the same ratio; where both are told they are tried in this order.
    ["throughput", "iops"].into_iter().find_map(|metric| Some((measured(layout, metric)?, measured(baseline, metric)?)))
}

fn value(claim: &Claim) -> f64 {
    claim.value.map_or(f64::NAN, |number| number.value)
}

fn fits(claim: &Claim, right: f64) -> bool {
    let Some(number) = claim.value else { return true };
    (number.value - right).abs() <= number.step * PERCENT_STEPS / 2.0 + 1e-9
}

fn of(anew: &Anew<'_>, other: Option<String>) -> Doubt {
    let Anew { claim, of, base, right } = *anew;
    let sign = claim.metric == "change_percent" && value(claim) * right < 0.0
        || claim.metric != "change_percent" && (value(claim) - unity(claim)) * (right - unity(claim)) < 0.0;
    // A digit that was cut instead of rounded, or made from numbers that are not printed, is no lie.
    let near = claim.value.is_some_and(|number| (number.value - right).abs() <= 2.0 * number.step);
    let gravity = if near && !sign { Gravity::Warn } else { Gravity::Wrong };
    let why = why(sign, near, other);
    doubt("H06", gravity, claim, &[of, base], why).right(claim, right)
}

/// What means "no change".
fn unity(claim: &Claim) -> f64 {
    if claim.metric == "relative_percent" { 100.0 } else { 1.0 }
}

fn why(sign: bool, near: bool, other: Option<String>) -> Say {
    both(|lang| {
        let text = match (sign, near) {
            (true, _) => pick(
                lang,
                "The printed numbers say the opposite: the other one is faster.",
                "Напечатанные числа говорят обратное: быстрее другой.",
            ),
            (false, true) => pick(
                lang,
                "The last digit is not what the printed numbers give: it was cut instead of rounded, or made from others.",
                "Последняя цифра не та, что дают напечатанные числа: отброшена вместо округления или взята от других чисел.",
            ),
            (false, false) => pick(
                lang,
                "It does not follow from the printed numbers that it refers to.",
                "Оно не следует из напечатанных чисел, к которым относится.",
            ),
        };
        let used = other.as_ref().map(|layout| {
            pick(
                lang,
                " With `{l}` as the baseline it and its neighbours are right.",
                " С базой `{l}` оно и его соседи верны.",
            )
            .replace("{l}", layout)
        });
        text.to_string() + &used.unwrap_or_default()
    })
}

/// The layout that, as the baseline, makes most of the misses right.
fn other_baseline(rows: &[Claim], missed: &[&Anew<'_>], baseline: &str) -> Option<String> {
    let misses: Vec<_> =
        missed.iter().filter(|a| !baseline.is_empty() && a.claim.baseline == baseline).take(MISSES_MOST).collect();
    if misses.len() < BASELINE_MISSES {
        return None;
    }
    let mut layouts: Vec<&str> =
        rows.iter().map(|row| row.layout.as_str()).filter(|layout| *layout != baseline).collect();
    layouts.sort_unstable();
    layouts.dedup();
    layouts.truncate(LAYOUTS_MOST);
    let explained = |layout: &str| {
        let right = |a: &&&&Anew<'_>| {
            let claim = Claim { baseline: layout.to_string(), ..a.claim.clone() };
            compute(rows, &claim).is_some_and(|again| fits(a.claim, again.right))
        };
        misses.iter().filter(right).count()
    };
    let (count, layout) =
        layouts.into_iter().map(|layout| (explained(layout), layout)).max_by_key(|(count, _)| *count)?;
    (count as f64 >= BASELINE_EXPLAINS * misses.len() as f64).then(|| layout.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{claim, of_layout};
    use super::*;

    /// Three tests of three layouts and what is said of `lvm` relative to `md`.
    fn table(said: [&str; 3], metric: &str) -> Vec<Claim> {
        let tests = ["a", "b", "c"];
        let mut rows = Vec::new();
        for (layout, values) in [("md", [100, 200, 300]), ("lvm", [110, 180, 450]), ("zfs", [50, 60, 75])] {
            for (test, value) in tests.iter().zip(values) {
                let row = rows.len() as u32 + 2;
                rows.push(of_layout(layout, claim(row, test, "throughput", "MB/s", &value.to_string())));
            }
        }
        for (test, said) in tests.iter().zip(said) {
            let row = rows.len() as u32 + 2;
            let relative = of_layout("lvm", claim(row, test, metric, "%", said));
            rows.push(Claim { baseline: "md".into(), ..relative });
        }
        rows
    }

    #[test]
    fn what_follows_passes() {
        let found = percent(&table(["110.00", "90.0", "150"], "relative_percent"));
        assert_eq!((found.places, found.doubts.len()), (3, 0));
        assert!(percent(&table(["10", "-10", "50"], "change_percent")).doubts.is_empty());
    }

    #[test]
    fn a_cut_digit_is_less_than_a_wrong_number_and_an_opposite_sign_is_wrong() {
        let doubts = percent(&table(["110.01", "90.5", "90.0"], "relative_percent")).doubts;
        let told: Vec<_> = doubts.iter().map(|d| (d.gravity, d.right.as_deref().unwrap())).collect();
        assert_eq!(told, [(Gravity::Warn, "110.00 %"), (Gravity::Wrong, "90.0 %"), (Gravity::Wrong, "150.0 %")]);
        assert!(doubts[2].why.en.contains("the opposite") && doubts[1].why.en.contains("does not follow"));
        let doubts = percent(&table(["-10", "-10", "50"], "change_percent")).doubts;
        assert_eq!((doubts.len(), doubts[0].right.as_deref()), (1, Some("10 %")));
    }

    #[test]
    fn the_baseline_that_was_used_is_found() {
        let doubts = percent(&table(["220.00", "300.00", "600.00"], "relative_percent")).doubts;
        assert!(
            doubts.len() == 3 && doubts.iter().all(|d| d.why.en.contains("With `zfs` as the baseline")),
            "{doubts:?}"
        );
        let doubts = percent(&table(["220.00", "333.00", "150.00"], "relative_percent")).doubts;
        assert!(doubts.iter().all(|d| !d.why.en.contains("as the baseline")), "two misses are no pattern");
    }

    #[test]
    fn a_ratio_names_both_layouts() {
        let mut rows = table(["110", "90", "150"], "relative_percent");
        let ratio = |said: &str| of_layout("lvm/md", claim(50, "c", "ratio", "x", said));
        rows.push(ratio("1.5"));
        assert!(percent(&rows).doubts.is_empty());
        rows.push(ratio("4"));
        let doubts = percent(&rows).doubts;
        assert_eq!((doubts.len(), doubts[0].right.as_deref()), (1, Some("2 x")));
    }
}
