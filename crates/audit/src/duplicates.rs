//! H05: the same digits in two cells; H88: the digits of another cell, rounded. With so many digits that chance does not explain it, one
//! was copied.

use super::implied::share;
use super::{Found, Severity, agree_if_stated, doubt, is_setting};
use stend_analyse::findings::CheckId;
use stend_analyse::limits::{COINCIDENCES_EXPECTED, DUPLICATE_DIGITS, NEIGHBOURS};
use stend_base::text::plural_ru;
use stend_base::{Say, format, say, say_in};
use stend_record::published::{Claim, Dimension};

/// Measured numbers; settings and relative numbers repeat for good reasons.
const MEASURED: [Dimension; 3] = [Dimension::Throughput, Dimension::Rate, Dimension::Time];

/// What a number in thousands is multiplied with by those who count in powers of two; the digits that come of it are no
/// measurement.
const KILO: f64 = 1.024;

pub(super) fn duplicates(rows: &[Claim]) -> Found {
    let measured = measured(rows);
    let (mut places, mut doubts) = (0, Vec::new());
    for (i, claim) in measured.iter().enumerate() {
        let digits = digits(claim);
        if digits < DUPLICATE_DIGITS {
            continue;
        }
        places += 1;
        let twin = measured[..i].iter().find(|other| comparable(claim, other) && value(claim) == value(other));
        let Some(twin) = twin.filter(|other| !same_place(claim, other) && !of_one_test(claim, other)) else { continue };
        let expected = by_chance(claim, digits, &measured, None);
        if expected >= COINCIDENCES_EXPECTED {
            continue;
        }
        let row = twin.row;
        let why = Say::both(|lang| {
            let (noun, pairs) =
                (plural_ru(u64::from(digits), "цифра", "цифры", "цифр"), format::fixed(expected, 3, lang));
            say_in!(
                lang,
                "Row {row}, another cell, has the same {digits} digits; by chance the table would have {pairs} such pairs. One of the two may be a copy.",
                "В строке {row}, то есть в другой ячейке, те же {digits} {noun}; случайно таких пар в таблице было бы {pairs}. Одно из двух чисел может быть копией."
            )
        });
        doubts.push(doubt(CheckId::H05, Severity::Warn, claim, &[twin], why));
    }
    Found::new(CheckId::H05, places, doubts)
}

/// Numbers that another cell gives when it is rounded to as many digits.
pub(super) fn rounded(rows: &[Claim]) -> Found {
    let measured = measured(rows);
    let (mut places, mut doubts) = (0, Vec::new());
    for claim in &measured {
        let digits = digits(claim);
        if digits < DUPLICATE_DIGITS {
            continue;
        }
        places += 1;
        let twin = measured.iter().find(|other| is_rounded(claim, digits, other) && is_elsewhere(claim, other));
        let Some(twin) = twin else { continue };
        let expected = by_chance(claim, digits, &measured, Some(twin));
        if expected >= COINCIDENCES_EXPECTED {
            continue;
        }
        let (row, printed) = (twin.row, &twin.printed);
        let why = say!(
            |lang| "Row {r}, another cell, has {p}, which rounds to this number; by chance the table would have {e} such pairs. It may be a rounded copy and not a separate measurement.",
            "В строке {r}, то есть в другой ячейке, стоит {p}, что округляется до этого числа; случайно таких пар в таблице было бы {e}. Возможно, это округлённая копия, а не отдельное измерение.",
            r = row,
            e = format::fixed(expected, 3, lang),
            p = printed
        );
        doubts.push(doubt(CheckId::H88, Severity::Warn, claim, &[twin], why));
    }
    Found::new(CheckId::H88, places, doubts)
}

fn measured(rows: &[Claim]) -> Vec<&Claim> {
    let is_measured = |claim: &&Claim| {
        claim.value.is_some_and(|number| MEASURED.contains(&number.dimension))
            && !is_percentile(&claim.metric)
            && !is_setting(&claim.metric)
    };
    rows.iter().filter(is_measured).collect()
}

/// Whether a number is `other` rounded to `digits` digits, and `other` has more of them.
fn is_rounded(claim: &Claim, digits: u32, other: &Claim) -> bool {
    let (Some(is), Some(full)) = (claim.value, other.value) else { return false };
    let step = last_digit(is.value, digits);
    let near = (full.value - is.value).abs() <= step / 2.0 * (1.0 + 1e-9);
    near && full.step < step * 0.99 && full.value != is.value && self::digits(other) > digits
}

/// One unit of the last of so many digits.
fn last_digit(value: f64, digits: u32) -> f64 {
    10f64.powi(value.log10().floor() as i32 + 1 - digits as i32)
}

/// Pairs that chance makes: among all numbers of as many digits, and among the neighbours of this one, because drives of one model
/// measure nearly the same. For a rounded copy every number with more digits may be the other one, and that one (`of`) is no measure of
/// how the neighbours lie.
fn by_chance(claim: &Claim, digits: u32, measured: &[&Claim], of: Option<&Claim>) -> f64 {
    let is = value(claim).unwrap_or_default();
    let near = |other: &&&Claim| {
        comparable(claim, other)
            && value(other).is_some_and(|v| (v / is - 1.0).abs() <= NEIGHBOURS)
            && of.is_none_or(|of| !std::ptr::eq(of, **other))
    };
    let neighbours: Vec<f64> = measured.iter().filter(near).filter_map(|other| value(other)).collect();
    let (low, high) = neighbours.iter().fold((is, is), |(low, high), v| (low.min(*v), high.max(*v)));
    let span = if high > low { high - low } else { 2.0 * NEIGHBOURS * is };
    let pairs = |count: usize| count as f64 * (count as f64 - 1.0) / 2.0;
    let alike = measured.iter().filter(|other| comparable(claim, other));
    let alike = alike.filter(|other| match of {
        None => self::digits(other) == digits,
        Some(_) => self::digits(other) >= digits,
    });
    let near = neighbours.len() + usize::from(of.is_some());
    pairs(alike.count()) * 10f64.powi(1 - digits as i32) + pairs(near) * (last_digit(is, digits) / span).min(1.0)
}

/// Percentiles of histograms lie on the edges of buckets, of which there are few: equal ones are no copies.
fn is_percentile(metric: &str) -> bool {
    share(metric).is_some_and(|share| share > 0.0 && share < 1.0)
}

fn value(claim: &Claim) -> Option<f64> {
    claim.value.map(|number| number.value)
}

/// Digits of the number as measured: zeros at its end say nothing, nor does a multiplication.
fn digits(claim: &Claim) -> u32 {
    let printed: String = claim.printed.chars().filter(char::is_ascii_digit).collect();
    let as_printed = printed.trim_matches('0').len() as u32;
    let before = value(claim).map_or(String::new(), |value| format!("{:.11e}", value / KILO));
    let before = before.split('e').next().map_or("", |mantissa| mantissa.trim_end_matches('0'));
    as_printed.min(before.chars().filter(char::is_ascii_digit).count() as u32)
}

fn comparable(a: &Claim, b: &Claim) -> bool {
    a.source == b.source && a.metric == b.metric && a.unit == b.unit
}

/// The same number printed once more, perhaps without what a caption says of its load and hardware.
fn same_place(a: &Claim, b: &Claim) -> bool {
    (&a.layout, &a.test, a.block_size) == (&b.layout, &b.test, b.block_size)
        && agree_if_stated(&a.pattern, &b.pattern)
        && agree_if_stated(&a.stand, &b.stand)
}

fn is_elsewhere(a: &Claim, b: &Claim) -> bool {
    comparable(a, b) && !same_place(a, b) && !of_one_test(a, b)
}

/// Whether two numbers are of one test and of other kinds of its I/O, one of them perhaps of all together: each durable write has its sync, so
/// that their rates are one number.
fn of_one_test(a: &Claim, b: &Claim) -> bool {
    let whole = |claim: &Claim| match claim.test.rsplit_once(", ") {
        Some((test, _)) if !claim.operation.is_empty() => test.to_string(),
        _ => claim.test.clone(),
    };
    let is_same = whole(a) == whole(b) || whole(a) == b.test || whole(b) == a.test;
    a.operation != b.operation && (&a.layout, &a.experiment) == (&b.layout, &b.experiment) && is_same
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{claim, of_layout};
    use super::*;

    #[test]
    fn a_copied_cell_is_doubted_and_a_number_printed_twice_is_not() {
        let original = claim(2, "rr", "iops", "IOPS", "24269.23");
        let copy = of_layout("lvm", Claim { row: 3, ..original.clone() });
        let found = duplicates(&[original.clone(), copy]);
        assert_eq!((found.doubts.len(), found.doubts[0].row, found.doubts[0].against.as_slice()), (1, 3, &[2][..]));
        assert!(duplicates(&[original.clone(), Claim { row: 9, ..original }]).doubts.is_empty());
    }

    #[test]
    fn equal_percentiles_are_edges_of_buckets_and_equal_means_are_doubted() {
        let pair = |metric: &str| {
            let one = claim(2, "rr", metric, "ms", "4751.359");
            duplicates(&[one.clone(), of_layout("lvm", Claim { row: 3, ..one })]).doubts.len()
        };
        assert_eq!(["latency_p99", "latency_p99_9", "clat_p99.9"].map(pair), [0; 3]);
        assert_eq!(["latency", "latency_max", "latency_peak"].map(pair), [1; 3]);
    }

    #[test]
    fn a_write_and_its_sync_are_no_copies_and_those_of_another_test_are() {
        let of = |row, test: &str, operation: &str, printed: &str| Claim {
            operation: operation.into(),
            ..claim(row, test, "iops", "IOPS", printed)
        };
        let own = [
            of(2, "commit, jobs 1", "", "24269.23"),
            of(3, "commit, jobs 1, writes", "write", "24269.23"),
            of(4, "commit, jobs 1, syncs", "sync", "24269.23"),
        ];
        assert!(duplicates(&own).doubts.is_empty(), "{:?}", duplicates(&own).doubts);
        assert!(rounded(&[own[1].clone(), of(4, "commit, jobs 1, syncs", "sync", "24269.2")]).doubts.is_empty());
        let other = of(5, "commit, jobs 4, writes", "write", "24269.23");
        assert_eq!(duplicates(&[own[1].clone(), other]).doubts.len(), 1);
        let elsewhere = of_layout("lvm", of(6, "commit, jobs 1, syncs", "sync", "24269.23"));
        assert_eq!(duplicates(&[own[1].clone(), elsewhere]).doubts.len(), 1);
    }

    #[test]
    fn few_digits_say_nothing_and_a_multiplication_makes_none() {
        for printed in ["14000", "20172.80", "10444.8"] {
            let short = claim(2, "rr", "throughput", "MB/s", printed);
            assert_eq!(
                duplicates(&[short.clone(), of_layout("lvm", Claim { row: 3, ..short })]).places,
                0,
                "{printed}"
            );
        }
    }

    #[test]
    fn specimens_of_one_drive_meet_by_chance() {
        let values = ["2810.5", "2809.0", "2807.5", "2811.0", "2809.5", "2810.5"];
        let of = |(n, value): (usize, &&str)| {
            of_layout(&format!("d{n}"), claim(n as u32 + 2, "sw", "throughput", "MB/s", value))
        };
        let found = duplicates(&values.iter().enumerate().map(of).collect::<Vec<_>>());
        assert!(found.places == 6 && found.doubts.is_empty(), "{:?} {}", found.doubts, found.places);
    }

    #[test]
    fn a_cell_that_is_another_one_rounded_is_doubted() {
        let with = |short: &str| {
            let rows = [
                claim(2, "rr", "iops", "IOPS", "24269.23"),
                of_layout("lvm", claim(3, "rr", "iops", "IOPS", short)),
                of_layout("zfs", claim(4, "rr", "iops", "IOPS", "16262.31")),
            ];
            let found = rounded(&rows);
            assert_eq!((found.id, found.places), (CheckId::H88, 3), "{short}");
            found.doubts
        };
        for short in ["24269", "24269.2", "24269.00"] {
            let doubts = with(short);
            assert_eq!((doubts.len(), doubts[0].row, doubts[0].against.as_slice()), (1, 3, &[2][..]), "{short}");
            assert!(doubts[0].why.en.contains("has 24269.23, which rounds"), "{}", doubts[0].why.en);
        }
        // Not rounded from it, the same (H05), or with as many digits.
        for other in ["24268", "24270.5", "24269.23", "24269.24"] {
            assert!(with(other).is_empty(), "{other}");
        }
    }

    #[test]
    fn a_rounded_number_of_the_same_cell_or_with_few_digits_is_no_copy() {
        let full = claim(2, "rr", "iops", "IOPS", "24269.23");
        let again = Claim { experiment: "summary".into(), ..claim(3, "rr", "iops", "IOPS", "24269") };
        assert!(rounded(&[full.clone(), again]).doubts.is_empty(), "the same number printed once more");
        let short = of_layout("lvm", claim(3, "rr", "iops", "IOPS", "24300"));
        assert!(rounded(&[full, short]).doubts.is_empty(), "three digits are equal by chance");
    }

    #[test]
    fn drives_of_one_model_round_to_each_other_by_chance() {
        let values =
            ["90.65", "90.15", "90.35", "90.70", "90.30", "90.40", "2810.5", "2810.52", "2809.0", "2807.5", "2811.0"];
        let of = |(n, value): (usize, &&str)| {
            of_layout(&format!("d{n}"), claim(n as u32 + 2, "rr", "throughput", "MB/s", value))
        };
        let found = rounded(&values.iter().enumerate().map(of).collect::<Vec<_>>());
        assert!(found.places > 3 && found.doubts.is_empty(), "{:?}", found.doubts);
    }

    #[test]
    fn the_same_digits_under_another_pattern_or_on_another_stand_are_no_second_print() {
        let one = Claim { pattern: "randread".into(), stand: "a".into(), ..claim(2, "4k", "iops", "IOPS", "24269.23") };
        let with = |other: Claim| duplicates(&[one.clone(), Claim { row: 3, ..other }]).doubts.len();
        assert_eq!(with(Claim { pattern: "randwrite".into(), ..one.clone() }), 1);
        assert_eq!(with(Claim { stand: "b".into(), ..one.clone() }), 1);
        // A summary may leave the load out.
        assert_eq!(with(Claim { pattern: String::new(), stand: String::new(), ..one.clone() }), 0);
        let short = Claim { row: 3, printed: "24269".into(), pattern: "randwrite".into(), ..one.clone() };
        let number = claim(3, "4k", "iops", "IOPS", "24269").value;
        assert_eq!(rounded(&[one, Claim { value: number, ..short }]).doubts.len(), 1);
    }

    #[test]
    fn settings_are_no_measurements_and_so_no_copies() {
        for metric in ["config_warmup", "fio_runtime", "theoretical_pcie_total"] {
            let one = claim(2, "rr", metric, "MB/s", "15753.85");
            let again = of_layout("lvm", Claim { row: 3, ..one.clone() });
            assert_eq!(duplicates(&[one.clone(), again]).places, 0, "{metric}");
            let short = of_layout("lvm", claim(3, "rr", metric, "MB/s", "15754"));
            assert_eq!(rounded(&[one, short]).places, 0, "{metric}");
        }
    }
}
