//! H05: the same digits in two cells. With so many digits that chance does not explain it, one was copied.

use super::{Found, Gravity, doubt};
use crate::limits::{COINCIDENCES_EXPECTED, DUPLICATE_DIGITS, NEIGHBOURS};
use crate::phrase::{both, pick};
use stend_base::{format, say};
use stend_record::published::{Claim, Dimension};

/// Measured numbers; settings and relative numbers repeat for good reasons.
const MEASURED: [Dimension; 3] = [Dimension::Throughput, Dimension::Rate, Dimension::Time];

/// What a number in thousands is multiplied with by those who count in powers of two; the digits that come of it are no
/// measurement.
const KILO: f64 = 1.024;

pub(super) fn duplicates(rows: &[Claim]) -> Found {
    let is_measured = |claim: &&Claim| {
        claim.value.is_some_and(|number| MEASURED.contains(&number.dimension)) && !is_percentile(&claim.metric)
    };
    let measured: Vec<&Claim> = rows.iter().filter(is_measured).collect();
    let (mut places, mut doubts) = (0, Vec::new());
    for (i, claim) in measured.iter().enumerate() {
        let digits = digits(claim);
        if digits < DUPLICATE_DIGITS {
            continue;
        }
        places += 1;
        let twin = measured[..i].iter().find(|other| comparable(claim, other) && value(claim) == value(other));
        let Some(twin) = twin.filter(|other| !same_place(claim, other)) else { continue };
        let expected = by_chance(claim, digits, &measured);
        if expected >= COINCIDENCES_EXPECTED {
            continue;
        }
        let row = twin.row;
        let why = both(|lang| {
            pick(
                lang,
                "The same {d} digits as in row {r}, another cell; chance would make {e} such pairs. One of them may be a copy.",
                "Те же {d} цифр, что в строке {r}, другой ячейке; случайно таких пар было бы {e}. Одна из них может быть копией.",
            )
            .replace("{d}", &digits.to_string())
            .replace("{r}", &row.to_string())
            .replace("{e}", &format::fixed(expected, 3, lang))
        });
        doubts.push(doubt("H05", Gravity::Warn, claim, &[twin], why));
    }
    let name = say!("no two cells have the same digits", "нет двух ячеек с одинаковыми цифрами");
    Found { id: "H05", name, places, doubts }
}

/// Equal pairs that chance makes: among all numbers of as many digits, and among the neighbours of this one, because drives
/// of one model measure nearly the same.
fn by_chance(claim: &Claim, digits: u32, measured: &[&Claim]) -> f64 {
    let is = value(claim).unwrap_or_default();
    let near =
        |other: &&&Claim| comparable(claim, other) && value(other).is_some_and(|v| (v / is - 1.0).abs() <= NEIGHBOURS);
    let neighbours: Vec<f64> = measured.iter().filter(near).filter_map(|other| value(other)).collect();
    let (low, high) = neighbours.iter().fold((is, is), |(low, high), v| (low.min(*v), high.max(*v)));
    let span = if high > low { high - low } else { 2.0 * NEIGHBOURS * is };
    let step = 10f64.powi(is.log10().floor() as i32 + 1 - digits as i32);
    let pairs = |count: usize| count as f64 * (count as f64 - 1.0) / 2.0;
    let alike = measured.iter().filter(|other| comparable(claim, other) && self::digits(other) == digits).count();
    pairs(alike) * 10f64.powi(1 - digits as i32) + pairs(neighbours.len()) * (step / span).min(1.0)
}

/// Percentiles of histograms lie on the edges of buckets, of which there are few: equal ones are no copies.
fn is_percentile(metric: &str) -> bool {
    let is_share = |digits: &str| !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    metric.split('_').any(|word| word.strip_prefix('p').is_some_and(is_share))
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

/// The same number printed once more.
fn same_place(a: &Claim, b: &Claim) -> bool {
    (&a.layout, &a.test, a.block_size) == (&b.layout, &b.test, b.block_size)
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
}
