//! H01: I/Os per second times block size is throughput. Where it is not, which slip of units would explain it.

use super::{Found, Gravity, as_printed, doubt, groups, off};
use crate::limits::{BANDWIDTH_DEVIATION, SLIP_NEAR};
use crate::phrase::{both, pick};
use stend_base::{Say, say};
use stend_record::published::Claim;

/// A slip, by what it multiplies a throughput with.
struct Slip {
    factor: f64,
    en: &'static str,
    ru: &'static str,
}

const SLIPS: [Slip; 6] = [
    Slip {
        factor: 1.024, en: "GB/s multiplied by 1024 instead of 1000", ru: "ГБ/с умножены на 1024 вместо 1000"
    },
    Slip {
        factor: 1.0 / 1.024,
        en: "KiB/s divided by 1000 instead of 1024",
        ru: "КиБ/с разделены на 1000 вместо 1024",
    },
    Slip { factor: 1.0 / 1.048_576, en: "MiB/s printed as MB/s", ru: "МиБ/с напечатаны как МБ/с" },
    Slip { factor: 1.048_576, en: "MB/s printed as MiB/s", ru: "МБ/с напечатаны как МиБ/с" },
    Slip {
        factor: 1.0 / 1.073_741_824, en: "GiB/s printed as GB/s", ru: "ГиБ/с напечатаны как ГБ/с"
    },
    Slip { factor: 1.073_741_824, en: "GB/s printed as GiB/s", ru: "ГБ/с напечатаны как ГиБ/с" },
];

pub(super) fn bandwidth(rows: &[Claim]) -> Found {
    let (mut places, mut doubts) = (0, Vec::new());
    for group in groups(rows) {
        let (Some(rate), Some(throughput)) = (group.rate, group.throughput) else { continue };
        let Some(block) = rate.claim.block_size.or(throughput.claim.block_size) else { continue };
        let expected = rate.value * block.0 as f64;
        if expected <= 0.0 {
            continue;
        }
        places += 1;
        let ratio = throughput.value / expected;
        let rounding = throughput.half / expected + rate.half / rate.value;
        if (ratio - 1.0).abs() <= BANDWIDTH_DEVIATION.max(rounding) {
            continue;
        }
        let slip = SLIPS.iter().find(|slip| (ratio / slip.factor - 1.0).abs() <= SLIP_NEAR);
        let why = why(ratio, slip, &as_printed(throughput.claim, expected).unwrap_or_default());
        let found = doubt("H01", Gravity::Wrong, throughput.claim, &[rate.claim], why);
        // Without a slip that fits, the IOPS may be what is wrong.
        doubts.push(if slip.is_some() { found.right(throughput.claim, expected) } else { found });
    }
    let name = say!("IOPS × block size = throughput", "IOPS × размер блока = скорость");
    Found { id: "H01", name, places, doubts }
}

fn why(ratio: f64, slip: Option<&Slip>, expected: &str) -> Say {
    both(|lang| {
        let text = pick(
            lang,
            "The IOPS of the same test move {e}; the throughput is {x} off",
            "IOPS того же испытания дают {e}; скорость отличается на {x}",
        );
        let cause = match slip {
            Some(slip) => pick(lang, ". This fits {s}.", ". Похоже на ошибку единиц: {s}.")
                .replace("{s}", pick(lang, slip.en, slip.ru)),
            None => pick(
                lang,
                ", and no slip of units explains it: one of the two numbers is wrong.",
                ", и ошибкой единиц это не объясняется: одно из двух чисел неверно.",
            )
            .to_string(),
        };
        text.replace("{x}", &off(ratio - 1.0, lang)).replace("{e}", expected) + &cause
    })
}

#[cfg(test)]
mod tests {
    use super::super::Doubt;
    use super::super::fixture::claim;
    use super::*;

    fn one(rate: &str, throughput: &str) -> Vec<Doubt> {
        let rows = [claim(2, "rr", "throughput", "MB/s", throughput), claim(3, "rr", "iops", "IOPS", rate)];
        let found = bandwidth(&rows);
        assert_eq!(found.places, 1);
        found.doubts
    }

    #[test]
    fn numbers_that_fit_pass() {
        assert!(one("24269.23", "99.50").is_empty());
        // 5.994 MB/s: printed with one digit.
        assert!(one("1534.41", "6").is_empty());
    }

    #[test]
    fn slips_of_units_are_named_and_the_right_value_is_given() {
        let cases = [
            ("2817002.93", "11827.20", "GB/s multiplied by 1024", Some("11538.44 MB/s")),
            ("1534.41", "6.14", "KiB/s divided by 1000", Some("6.28 MB/s")),
            ("100000", "390.6", "MiB/s printed as MB/s", Some("409.6 MB/s")),
            ("100000", "381.5", "GiB/s printed as GB/s", Some("409.6 MB/s")),
            ("100000", "205", "The IOPS of the same test move 410 MB/s; ", None),
        ];
        for (rate, throughput, slip, right) in cases {
            let doubts = one(rate, throughput);
            let [doubt] = doubts.as_slice() else { panic!("{doubts:?}") };
            assert!(doubt.why.en.contains(slip), "{}", doubt.why.en);
            assert_eq!((doubt.right.as_deref(), doubt.row, doubt.against.as_slice()), (right, 2, &[3][..]));
        }
    }

    #[test]
    fn without_a_block_size_nothing_can_be_said() {
        let blank = |claim: Claim| Claim { block_size: None, ..claim };
        let rows = [claim(2, "rr", "throughput", "MB/s", "1"), claim(3, "rr", "iops", "IOPS", "9")].map(blank);
        assert_eq!(bandwidth(&rows).places, 0);
    }
}
