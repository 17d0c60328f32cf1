//! H06: percentages and ratios computed anew from the numbers that they were made of; and, where many miss alike, the
//! baseline that was really used.

use super::{Doubt, Found, Severity, doubt, one_load, same_load};
use std::collections::BTreeMap;
use stend_analyse::findings::CheckId;
use stend_analyse::limits::{BASELINE_EXPLAINS, BASELINE_MISSES, PERCENT_STEPS};
use stend_base::{Say, say_in};
use stend_record::published::{Claim, Dimension};

/// Misses that are looked at for it, and layouts that are tried.
const MISSES_MOST: usize = 50;
const LAYOUTS_MOST: usize = 200;

/// A relative number that could be computed anew.
struct Recomputation<'a> {
    claim: &'a Claim,
    of: &'a Claim,
    base: &'a Claim,
    right: f64,
    /// What the rounding of both numbers leaves open.
    half: f64,
}

pub(super) fn percent(rows: &[Claim]) -> Found {
    let anew: Vec<Recomputation<'_>> = rows.iter().filter_map(|claim| compute(rows, claim)).collect();
    let missed: Vec<&Recomputation<'_>> = anew.iter().filter(|a| !fits(a)).collect();
    // Once for each baseline: every layout is tried on every miss.
    let mut used: BTreeMap<&str, Option<String>> = BTreeMap::new();
    for miss in &missed {
        let baseline = miss.claim.baseline.as_str();
        used.entry(baseline).or_insert_with(|| other_baseline(rows, &missed, baseline));
    }
    let doubts = missed.iter().map(|a| of(a, used.get(a.claim.baseline.as_str()).cloned().flatten())).collect();
    Found::new(CheckId::H06, anew.len(), doubts)
}

/// The value that a relative claim must have, in its own unit.
fn compute<'a>(rows: &'a [Claim], claim: &'a Claim) -> Option<Recomputation<'a>> {
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
    let unit = if claim.metric == "ratio" { 1.0 } else { 100.0 };
    let half = unit * ratio * (rounding(of) + rounding(base));
    (right.is_finite() && half.is_finite() && value(base) > 0.0).then_some(Recomputation {
        claim,
        of,
        base,
        right,
        half,
    })
}

/// The measured numbers of both layouts, of the same metric and load. `None`: there are none, or those of several loads.
fn pair<'a>(rows: &'a [Claim], claim: &Claim, layout: &str, baseline: &str) -> Option<(&'a Claim, &'a Claim)> {
    let measured = |layout: &str, metric: &str| -> Option<&'a Claim> {
        let fits = |row: &&Claim| {
            (row.layout.as_str(), row.metric.as_str()) == (layout, metric)
                && (&row.source, &row.test, row.block_size) == (&claim.source, &claim.test, claim.block_size)
                && one_load(row, claim)
                && row.value.is_some_and(|number| matches!(number.dimension, Dimension::Throughput | Dimension::Rate))
        };
        let all: Vec<&Claim> = rows.iter().filter(fits).collect();
        // What leaves its load open may be of any: the rows that say most like the claim come first.
        let ranks: [&dyn Fn(&Claim) -> bool; 4] = [
            &|row| row.experiment == claim.experiment && same_load(row, claim),
            &|row| row.experiment == claim.experiment,
            &|row| same_load(row, claim),
            &|_| true,
        ];
        let best = ranks.iter().map(|rank| all.iter().copied().filter(|row| rank(row)).collect::<Vec<_>>());
        let best = best.into_iter().find(|rows| !rows.is_empty())?;
        best.iter().all(|row| same_load(row, best[0])).then_some(best[0])
    };
    // Rates and throughputs give the same ratio; where both are given they are tried in this order.
    let pairs = ["throughput", "iops"].map(|metric| Some((measured(layout, metric)?, measured(baseline, metric)?)));
    pairs.into_iter().flatten().find(|(of, base)| one_load(of, base))
}

fn value(claim: &Claim) -> f64 {
    claim.value.map_or(f64::NAN, |number| number.value)
}

/// Half of the last digit as a share of the number.
fn rounding(claim: &Claim) -> f64 {
    claim.value.map_or(0.0, |number| number.step / 2.0 / number.value)
}

fn fits(anew: &Recomputation<'_>) -> bool {
    let Some(number) = anew.claim.value else { return true };
    (number.value - anew.right).abs() <= number.step * PERCENT_STEPS / 2.0 + anew.half + 1e-9
}

fn of(anew: &Recomputation<'_>, other: Option<String>) -> Doubt {
    let Recomputation { claim, of, base, right, half } = *anew;
    let change = if claim.metric == "change_percent" { 0.0 } else { unity(claim) };
    let sign = (value(claim) - change) * (right - change) < 0.0 && (right - change).abs() > half;
    let miss = match claim.value {
        _ if sign => Miss::Sign,
        // 31.9 that became 31: the digit was cut.
        Some(number) if (right.abs() / number.step).trunc() == (number.value.abs() / number.step).round() => Miss::Cut,
        Some(number) if (number.value - right).abs() <= 2.0 * number.step + half => Miss::Digit,
        _ => Miss::Far,
    };
    // The last digit, which may come of numbers that are not printed, is no lie.
    let severity = if matches!(miss, Miss::Cut | Miss::Digit) { Severity::Warn } else { Severity::Wrong };
    doubt(CheckId::H06, severity, claim, &[of, base], why(miss, other)).right(claim, right)
}

/// How a relative number misses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Miss {
    /// It says that the other one is faster.
    Sign,
    /// Its last digits were cut off instead of rounded.
    Cut,
    /// By one or two units of its last digit.
    Digit,
    /// By more.
    Far,
}

/// What means "no change".
fn unity(claim: &Claim) -> f64 {
    if claim.metric == "relative_percent" { 100.0 } else { 1.0 }
}

fn why(miss: Miss, other: Option<String>) -> Say {
    Say::both(|lang| {
        let text = match miss {
            Miss::Sign => lang.pick(
                "The printed numbers say the opposite: the other one is faster.",
                "Напечатанные числа говорят обратное: быстрее другой.",
            ),
            Miss::Cut => lang.pick(
                "The last digit was cut off instead of rounded.",
                "Последняя цифра получена отбрасыванием, а не округлением.",
            ),
            Miss::Digit => lang.pick(
                "The last digit does not follow from the printed numbers; perhaps it was computed from others.",
                "Последняя цифра не следует из напечатанных чисел; возможно, её вычислили по другим.",
            ),
            Miss::Far => lang.pick(
                "It does not follow from the printed numbers that it refers to.",
                "Из напечатанных чисел, к которым оно относится, это не следует.",
            ),
        };
        let used = other.as_ref().map(|layout| {
            say_in!(
                lang,
                " With `{l}` as the baseline this number and its neighbours are right.",
                " Если считать от `{l}`, верны и это число, и соседние.",
                l = layout
            )
        });
        text.to_string() + &used.unwrap_or_default()
    })
}

/// The layout that, as the baseline, makes most of the misses right.
fn other_baseline(rows: &[Claim], missed: &[&Recomputation<'_>], baseline: &str) -> Option<String> {
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
        let right = |a: &&&&Recomputation<'_>| {
            let claim = Claim { baseline: layout.to_string(), ..a.claim.clone() };
            compute(rows, &claim).is_some_and(|again| fits(&again))
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
                rows.push(of_layout(layout, claim(row, test, "throughput", "MB/s", &format!("{value}.00"))));
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
        let doubts = percent(&table(["110.02", "90.5", "90.0"], "relative_percent")).doubts;
        let told: Vec<_> = doubts.iter().map(|d| (d.severity, d.right.as_deref().unwrap())).collect();
        assert_eq!(told, [(Severity::Warn, "110.00 %"), (Severity::Wrong, "90.0 %"), (Severity::Wrong, "150.0 %")]);
        assert!(doubts[2].why.en.contains("the opposite") && doubts[1].why.en.contains("does not follow"));
        let doubts = percent(&table(["-10", "-10", "50"], "change_percent")).doubts;
        assert_eq!((doubts.len(), doubts[0].right.as_deref()), (1, Some("10 %")));
    }

    #[test]
    fn what_rounding_of_the_numbers_leaves_open_is_no_miss() {
        // 7/6: the numbers may be 7.4 and 5.6, or 6.6 and 6.4.
        let with = |said: &str| {
            let rows = [
                claim(2, "a", "throughput", "MB/s", "6"),
                of_layout("lvm", claim(3, "a", "throughput", "MB/s", "7")),
                Claim { baseline: "md".into(), ..of_layout("lvm", claim(4, "a", "relative_percent", "%", said)) },
            ];
            percent(&rows).doubts.len()
        };
        assert_eq!((with("116.7"), with("123.3"), with("105.0"), with("150.0")), (0, 0, 0, 1));
    }

    #[test]
    fn a_digit_is_said_to_be_cut_only_if_cutting_gives_it() {
        let why = |said: &str| {
            let rows = [
                claim(2, "a", "throughput", "MB/s", "100.00"),
                of_layout("lvm", claim(3, "a", "throughput", "MB/s", "131.90")),
                Claim { baseline: "md".into(), ..of_layout("lvm", claim(4, "a", "change_percent", "%", said)) },
            ];
            percent(&rows).doubts.first().map(|doubt| doubt.why.en.clone()).unwrap_or_default()
        };
        assert!(why("31").contains("cut off"), "{}", why("31"));
        assert!(why("30").contains("does not follow"), "{}", why("30"));
        assert_eq!(why("32"), "");
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

    /// `lvm` at two depths and `md` at two depths; what is said of 100 to 50.
    fn two_depths(said: Claim) -> Found {
        let number = |row: u32, layout: &str, depth: u32, value: &str| {
            let claim = Claim { queue_depth: Some(depth), ..claim(row, "a", "throughput", "MB/s", value) };
            of_layout(layout, claim)
        };
        percent(&[
            number(2, "lvm", 1, "10.00"),
            number(3, "lvm", 32, "100.00"),
            number(4, "md", 1, "10.00"),
            number(5, "md", 32, "50.00"),
            Claim { baseline: "md".into(), ..of_layout("lvm", said) },
        ])
    }

    #[test]
    fn a_percentage_is_of_the_numbers_of_its_own_depth_and_of_none_if_that_is_open() {
        let said = |depth: Option<u32>| {
            let found = two_depths(Claim { queue_depth: depth, ..claim(6, "a", "relative_percent", "%", "200") });
            (found.places, found.doubts.len())
        };
        assert_eq!((said(Some(32)), said(Some(1)), said(Some(8)), said(None)), ((1, 0), (1, 1), (0, 0), (0, 0)));
    }

    #[test]
    fn a_percentage_is_of_the_numbers_of_its_own_pattern() {
        let of = |pattern: &str, claim: Claim| Claim { pattern: pattern.into(), ..claim };
        let with = |pattern: &str| {
            let found = percent(&[
                of("randread", claim(2, "4k", "iops", "IOPS", "100000")),
                of("randwrite", claim(3, "4k", "iops", "IOPS", "20000")),
                of("randread", of_layout("lvm", claim(4, "4k", "iops", "IOPS", "50000"))),
                of("randwrite", of_layout("lvm", claim(5, "4k", "iops", "IOPS", "20000"))),
                Claim {
                    baseline: "md".into(),
                    ..of(pattern, of_layout("lvm", claim(6, "4k", "relative_percent", "%", "100")))
                },
            ]);
            (found.places, found.doubts.len())
        };
        assert_eq!((with("randread"), with("randwrite"), with("")), ((1, 1), (1, 0), (0, 0)));
    }

    #[test]
    fn numbers_of_two_different_loads_have_no_ratio() {
        let found = percent(&[
            Claim { queue_depth: Some(1), ..claim(2, "a", "iops", "IOPS", "10000") },
            of_layout("lvm", Claim { queue_depth: Some(32), ..claim(3, "a", "iops", "IOPS", "200000") }),
            Claim { baseline: "md".into(), ..of_layout("lvm", claim(4, "a", "relative_percent", "%", "100")) },
        ]);
        assert_eq!(found.places, 0);
    }
}
