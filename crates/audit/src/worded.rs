//! H83: ratios that the text names, in words or digits, against the quotient of the numbers that they are of.

use super::words::{Certainty, Comparison, Times, open, times as in_words};
use super::{Cell, Doubt, Found, Severity, cell, doubt, one_load, same_load, times};
use stend_analyse::findings::CheckId;
use stend_base::text::plural_ru;
use stend_base::{Lang, Say, say_in};
use stend_record::published::{Claim, Dimension};

/// Ratios by their metric, and the metrics that they are of; of several the first that the table has. A `ratio` that is a number is
/// computed anew by H06.
const RATIOS: [(&str, &[&str]); 4] = [
    ("ratio", &["throughput", "iops"]),
    ("throughput_ratio", &["throughput"]),
    ("iops_ratio", &["iops"]),
    ("latency_ratio", &["latency"]),
];

/// Tests that one ratio can be of; a longer list is not looked at.
const TESTS_MAX: usize = 100;

pub(super) fn worded(rows: &[Claim]) -> Found {
    let (mut places, mut doubts) = (0, Vec::new());
    for claim in rows {
        let Some((_, metrics)) = RATIOS.iter().find(|(name, _)| *name == claim.metric) else { continue };
        let (Some(said), Some((of, base))) = (said(claim), claim.layout.split_once('/')) else { continue };
        for test in claim.test.split('+').take(TESTS_MAX).map(str::trim) {
            let pair = metrics.iter().find_map(|metric| {
                Some((measured(rows, claim, of, test, metric)?, measured(rows, claim, base, test, metric)?))
            });
            let Some((of, base)) = pair
                .filter(|(of, base)| of.value > of.half && base.value > base.half && one_load(of.claim, base.claim))
            else {
                continue;
            };
            places += 1;
            let is_time = of.claim.value.is_some_and(|number| number.dimension == Dimension::Time);
            let swapped = match said.comparison {
                None => false,
                Some(Comparison::Lower) => true,
                Some(Comparison::Slower) => !is_time,
                Some(Comparison::Faster) => is_time,
            };
            doubts.extend(judged(claim, said, test, if swapped { (base, of) } else { (of, base) }));
        }
    }
    Found::new(CheckId::H83, places, doubts)
}

fn said(claim: &Claim) -> Option<Times> {
    match claim.value {
        None => in_words(&claim.printed),
        Some(_) if claim.metric == "ratio" => None,
        Some(number) => {
            // Decimals are digits; zeros at the end of a whole number are none.
            let half = if number.step < 1.0 { number.step / 2.0 } else { open(&format!("{:.0}", number.value)) };
            (number.dimension == Dimension::Plain && number.value > 0.0).then_some(Times {
                value: number.value,
                half,
                firmness: Certainty::Plain,
                comparison: None,
            })
        }
    }
}

/// The number of a layout, which the ratio may name by its end: `5.4` is `kernel-5.4` if nothing else ends so.
fn measured<'a>(rows: &'a [Claim], claim: &Claim, layout: &str, test: &str, metric: &str) -> Option<Cell<'a>> {
    let layout = layout.trim();
    let fits = |row: &&Claim| {
        (&row.source, &row.experiment) == (&claim.source, &claim.experiment)
            && (row.test.as_str(), row.metric.as_str()) == (test, metric)
            && (claim.block_size.is_none() || row.block_size == claim.block_size)
            && one_load(row, claim)
            && row.value.is_some()
            && !layout.is_empty()
    };
    let ends = |name: &str| {
        name.strip_suffix(layout).is_some_and(|rest| rest.ends_with(|c: char| !c.is_alphanumeric() && c != '.'))
    };
    let exact: Vec<&Claim> = rows.iter().filter(fits).filter(|row| row.layout == layout).collect();
    let rows: Vec<&Claim> = match exact.is_empty() {
        true => rows.iter().filter(fits).filter(|row| ends(&row.layout)).collect(),
        false => exact,
    };
    // Nothing shows which of several loads, or of several layouts that end so, is meant.
    let first = *rows.first()?;
    let same = |row: &&Claim| row.layout == first.layout && same_load(row, first);
    let dimension = first.value?.dimension;
    rows.iter().all(same).then(|| cell(first, dimension)).flatten()
}

fn judged(claim: &Claim, said: Times, test: &str, (of, base): (Cell<'_>, Cell<'_>)) -> Option<Doubt> {
    let quotient = of.value / base.value;
    let (low, high) =
        ((of.value - of.half) / (base.value + base.half), (of.value + of.half) / (base.value - base.half));
    let (less, more) = ((said.value - high).max(0.0), (low - said.value).max(0.0));
    let severity = severity(said, less, more)?;
    let (quotient, low, high) = [quotient, low, high].map(|value| Say::both(|lang| times(value, lang))).into();
    let why = Say::both(|lang| {
        let (l, h) = (low.get(lang), high.get(lang));
        let range = match l == h {
            true => String::new(),
            false => {
                say_in!(lang, " (from {l} to {h} given their rounding)", " (с учётом их округления от {l} до {h})")
            }
        };
        let text = say_in!(
            lang,
            "The text says {said}, but the numbers printed for `{test}` give {quotient}{range}.",
            "В тексте сказано «{said}», а по напечатанным числам `{test}` выходит {quotient}{range}.",
            said = phrase(said, lang),
            quotient = quotient.get(lang)
        );
        let rounded = match severity {
            Severity::Wrong => "",
            Severity::Warn if said.firmness == Certainty::Almost => {
                lang.pick(" \"Almost\" means less, not more.", " «Почти» означает меньше, а не больше.")
            }
            Severity::Warn => {
                lang.pick(" The text rounds the difference up.", " В тексте разница округлена в большую сторону.")
            }
        };
        text + rounded
    });
    Some(doubt(CheckId::H83, severity, claim, &[of.claim, base.claim], why))
}

/// What is wrong with a ratio that is so much too large (`less`: the numbers give less) or too small (`more`). `None`: nothing.
///
/// A number leaves half a unit of its last digit open, and a writer who rounds "3.77" up to "four" says more than is so: that shows as
/// soon as one more digit would show it, half a unit of which is a tenth of `half`. Rounded down it is still true, as "twice" is of
/// 2.19.
fn severity(said: Times, less: f64, more: f64) -> Option<Severity> {
    let (off, next) = (less.max(more), said.half / 10.0);
    let exaggerated = if said.value < 1.0 { more } else { less };
    let (wrong, warn) = match said.firmness {
        Certainty::Plain => (off > said.half, exaggerated > next),
        Certainty::About => (off > said.half, false),
        Certainty::Almost => (off > said.half, more > next),
        Certainty::AtLeast => (less > next, false),
        Certainty::AtMost => (more > next, false),
    };
    match (wrong, warn) {
        (true, _) => Some(Severity::Wrong),
        (_, true) => Some(Severity::Warn),
        _ => None,
    }
}

/// The ratio as a text says it: "almost 4 times", «почти в 4 раза».
fn phrase(said: Times, lang: Lang) -> String {
    let (en, ru) = match said.firmness {
        Certainty::Plain => ("", ""),
        Certainty::About => ("about ", "примерно "),
        Certainty::Almost => ("almost ", "почти "),
        Certainty::AtLeast => ("more than ", "более чем "),
        Certainty::AtMost => ("up to ", "не более чем "),
    };
    let value = said.value.to_string();
    match lang {
        Lang::En => format!("{en}{value} times"),
        Lang::Ru => format!("{ru}в {} {}", value.replace('.', ","), noun(said.value)),
    }
}

/// «раз» in the form that a number asks for: в 4 раза, в 10 раз, в 1,5 раза.
fn noun(value: f64) -> &'static str {
    if value.fract() == 0.0 { plural_ru(value as u64, "раз", "раза", "раз") } else { "раза" }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{claim, of_layout};
    use super::*;

    /// 1,400,000 and 371,000 IOPS of `a`, 700,000 and 233,000 of `b`; the ratio of `5.4/4.19`.
    fn of(test: &str, metric: &str, printed: &str) -> Found {
        let text = Claim { printed: printed.into(), value: None, ..claim(6, test, metric, "text", "1") };
        let rows = [
            of_layout("kernel-5.4", claim(2, "a", "iops", "IOPS", "1400000")),
            of_layout("kernel-4.19", claim(3, "a", "iops", "IOPS", "371000")),
            of_layout("kernel-5.4", claim(4, "b", "iops", "IOPS", "700000")),
            of_layout("kernel-4.19", claim(5, "b", "iops", "IOPS", "233000")),
            of_layout("5.4/4.19", text),
        ];
        worded(&rows)
    }

    #[test]
    fn four_times_is_not_3_77_and_even_less_3() {
        let found = of("a+b", "ratio", "скачек в четыре раза");
        let told: Vec<_> = found.doubts.iter().map(|doubt| (doubt.severity, doubt.against.as_slice())).collect();
        assert_eq!((found.places, told), (2, vec![(Severity::Warn, &[2, 3][..]), (Severity::Wrong, &[4, 5][..])]));
        assert_eq!(
            found.doubts[0].why.en,
            "The text says 4 times, but the numbers printed for `a` give 3.77. The text rounds the difference up."
        );
        let ru = &found.doubts[1].why.ru;
        assert_eq!(ru, "В тексте сказано «в 4 раза», а по напечатанным числам `b` выходит 3,00.");
        assert_eq!([1.5, 2.0, 10.0, 21.0].map(noun), ["раза", "раза", "раз", "раз"]);
    }

    #[test]
    fn what_the_digits_allow_passes() {
        for said in
            ["in 3.77 times", "почти в четыре раза", "about four times", "more than three times", "up to 4 times"]
        {
            assert!(of("a", "ratio", said).doubts.is_empty(), "{said}");
        }
        assert!(of("b", "ratio", "three times").doubts.is_empty(), "3.004 is three");
        assert!(of("b", "iops_ratio", "about three times").doubts.is_empty());
        assert_eq!(of("b", "iops_ratio", "about four times").doubts[0].severity, Severity::Wrong);
        assert_eq!(of("a", "latency_ratio", "four times").places, 0, "no latencies in the table");
    }

    #[test]
    fn every_word_has_the_room_that_it_leaves() {
        // 5.7 and 2.6 GB/s: 2.19, or 2.13 to 2.25.
        let with = |printed: &str, top: &str| {
            let text = Claim { printed: printed.into(), value: None, ..claim(4, "a", "ratio", "text", "1") };
            let rows = [
                of_layout("x", claim(2, "a", "throughput", "MB/s", top)),
                of_layout("y", claim(3, "a", "throughput", "MB/s", "2.6")),
                of_layout("x/y", text),
            ];
            let found = worded(&rows);
            assert_eq!(found.places, 1, "{printed}");
            found.doubts.first().map(|doubt| doubt.severity)
        };
        let (warn, wrong) = (Some(Severity::Warn), Some(Severity::Wrong));
        for (top, said, expected) in [
            // Rounded down it is still true.
            ("5.7", "в два раза", None),
            ("5.7", "twice", None),
            ("5.7", "more than twice", None),
            ("5.7", "about twice", None),
            ("5.7", "almost twice", warn),
            ("5.7", "up to twice", wrong),
            ("5.7", "2.2x", None),
            ("5.7", "2.4x", wrong),
            ("5.7", "three times", wrong),
            // 1.87 to 1.98, and 1.79 to 1.90.
            ("5.0", "twice", None),
            ("4.8", "twice", warn),
            ("4.8", "almost twice", None),
            ("4.8", "about twice", None),
            ("4.8", "more than twice", wrong),
            ("4.8", "up to twice", None),
            // 12.5.
            ("33", "10 times", None),
            ("22", "10 times", warn),
            ("22", "почти в 10 раз", None),
        ] {
            assert_eq!(with(said, top), expected, "{top}: {said}");
        }
    }

    #[test]
    fn what_rounding_hides_is_no_contradiction() {
        let rows = |base: &str| {
            let text =
                Claim { printed: "four times".into(), value: None, ..claim(4, "a", "latency_ratio", "text", "1") };
            [
                of_layout("x", claim(2, "a", "latency", "ms", "1.6")),
                of_layout("y", claim(3, "a", "latency", "ms", base)),
                of_layout("x/y", text),
            ]
        };
        assert!(worded(&rows("0.4")).doubts.is_empty());
        assert_eq!(worded(&rows("0.7")).doubts[0].severity, Severity::Wrong);
        let lower = |rows: [Claim; 3]| {
            let [x, y, text] = rows;
            worded(&[x, y, Claim { layout: "y/x".into(), printed: "four times lower".into(), ..text }]).doubts.len()
        };
        assert_eq!((lower(rows("0.4")), lower(rows("0.7"))), (0, 1));
    }

    /// 4 and 1 of a layout each, and what is said of `x/y`.
    fn four_to_one(metric: &str, unit: &str, ratio: &str, said: &str) -> Vec<Option<Severity>> {
        let text = |layout: &str| {
            let claim = Claim { printed: said.into(), value: None, ..claim(4, "a", ratio, "text", "1") };
            of_layout(layout, claim)
        };
        let numbers =
            [of_layout("x", claim(2, "a", metric, unit, "4.00")), of_layout("y", claim(3, "a", metric, unit, "1.00"))];
        let of = |layout: &str| {
            let found = worded(&[numbers.as_slice(), &[text(layout)]].concat());
            assert_eq!(found.places, 1, "{said}");
            found.doubts.first().map(|doubt| doubt.severity)
        };
        ["x/y", "y/x"].map(of).to_vec()
    }

    #[test]
    fn slower_is_a_longer_latency_and_a_lower_rate() {
        let (right, wrong) = (vec![None, Some(Severity::Wrong)], vec![Some(Severity::Wrong), None]);
        let latency = |said: &str| four_to_one("latency", "ms", "latency_ratio", said);
        let rate = |said: &str| four_to_one("throughput", "MB/s", "throughput_ratio", said);
        for said in ["four times slower", "в четыре раза медленнее", "four times worse"] {
            assert_eq!((latency(said), rate(said)), (right.clone(), wrong.clone()), "{said}");
        }
        for said in ["four times faster", "в четыре раза быстрее", "вчетверо лучше"] {
            assert_eq!((latency(said), rate(said)), (wrong.clone(), right.clone()), "{said}");
        }
        for said in ["four times lower", "в четыре раза меньше"] {
            assert_eq!((latency(said), rate(said)), (wrong.clone(), wrong.clone()), "{said}");
        }
        for said in ["four times higher", "в четыре раза больше"] {
            assert_eq!((latency(said), rate(said)), (right.clone(), right.clone()), "{said}");
        }
    }

    #[test]
    fn no_less_than_says_how_firmly_and_swaps_nothing() {
        for said in ["не меньше чем в четыре раза", "no less than four times", "not less than 4 times"]
        {
            let told = four_to_one("throughput", "MB/s", "ratio", said);
            assert_eq!(told, [None, Some(Severity::Wrong)], "{said}");
        }
        let told = four_to_one("throughput", "MB/s", "ratio", "чуть меньше чем в четыре раза");
        assert_eq!(told, [None, Some(Severity::Wrong)]);
        let told = four_to_one("throughput", "MB/s", "ratio", "less than five times");
        assert_eq!(told[0], None);
    }

    #[test]
    fn a_decimal_comma_leaves_as_much_open_as_a_point() {
        let with = |printed: &str, comma: &str| {
            let ratio = claim(4, "a", "iops_ratio", "x", printed);
            let rows = [
                of_layout("x", claim(2, "a", "iops", "IOPS", "3500000")),
                of_layout("y", claim(3, "a", "iops", "IOPS", "1000000")),
                of_layout("x/y", Claim { printed: comma.into(), ..ratio }),
            ];
            worded(&rows).doubts.first().map(|doubt| doubt.severity)
        };
        assert_eq!((with("3.8", "3.8"), with("3.8", "3,8")), (Some(Severity::Wrong), Some(Severity::Wrong)));
        assert_eq!((with("3.5", "3,5"), with("10", "10")), (None, Some(Severity::Wrong)));
    }

    #[test]
    fn a_ratio_is_of_the_load_that_it_names() {
        let of = |pattern: &str, depth, claim: Claim| Claim { pattern: pattern.into(), queue_depth: depth, ..claim };
        let with = |pattern: &str, depth| {
            let text = Claim { printed: "four times".into(), value: None, ..claim(6, "a", "ratio", "text", "1") };
            let rows = [
                of("randread", Some(32), of_layout("x", claim(2, "a", "iops", "IOPS", "4000"))),
                of("randread", Some(32), of_layout("y", claim(3, "a", "iops", "IOPS", "1000"))),
                of("randwrite", Some(32), of_layout("x", claim(4, "a", "iops", "IOPS", "2000"))),
                of("randwrite", Some(32), of_layout("y", claim(5, "a", "iops", "IOPS", "1000"))),
                of(pattern, depth, of_layout("x/y", text)),
            ];
            let found = worded(&rows);
            (found.places, found.doubts.len())
        };
        assert_eq!((with("randread", None), with("randwrite", Some(32))), ((1, 0), (1, 1)));
        assert_eq!((with("", None), with("randread", Some(1))), ((0, 0), (0, 0)));
    }
}
