//! Numbers that stand beside a limit: with as many digits as it takes for what is printed to be on the same side of the limit as what
//! was measured. A ratio of 1.96 is no `2.0` beside `≥ 2.0`.

use crate::text::Lang;
use crate::units::Nanos;
use std::cmp::Ordering;

/// A value that is nearer to its limit than this part of it is at the limit: sums that were computed apart differ in their last bits.
const NOISE: f64 = 1e-9;
/// Most decimals that are added; a smaller distance does not matter.
const MORE_DIGITS: usize = 6;

/// As [`fixed`](super::fixed).
pub fn fixed(value: f64, limit: f64, digits: usize, lang: Lang) -> String {
    super::fixed(value, decimals(value, limit, digits), lang)
}

/// As [`number`](super::number).
pub fn number(value: f64, limit: f64, lang: Lang) -> String {
    fixed(value, limit, super::decimals(value), lang)
}

/// As [`percent`](super::percent).
pub fn percent(share: f64, limit: f64, lang: Lang) -> String {
    format!("{} %", fixed(share * 100.0, limit * 100.0, 1, lang))
}

/// As [`plus_minus`](super::plus_minus).
pub fn plus_minus(half: f64, limit: f64, lang: Lang) -> String {
    format!("± {} %", fixed(half * 100.0, limit * 100.0, super::half_digits(half), lang))
}

/// As [`throughput`](super::throughput).
pub fn throughput(bytes_per_second: f64, limit: f64, lang: Lang) -> String {
    format!("{} {}", number(bytes_per_second / 1e6, limit / 1e6, lang), super::megabytes_per_second(lang))
}

/// As [`latency`](super::latency).
pub fn latency(value: Nanos, limit: Nanos, lang: Lang) -> String {
    let (one, unit) = super::latency_unit(value, lang);
    match one {
        // Whole: nothing is rounded.
        1.0 => super::latency(value, lang),
        one => format!("{} {unit}", number(value.0 as f64 / one, limit.0 as f64 / one, lang)),
    }
}

/// As [`duration`](super::duration); in seconds where both would look alike.
pub fn duration(value: Nanos, limit: Nanos, lang: Lang) -> String {
    let shown = super::duration(value, lang);
    if value == limit || shown != super::duration(limit, lang) {
        return shown;
    }
    let unit = if lang == Lang::Ru { "с" } else { "s" };
    format!("{} {unit}", fixed(value.as_secs(), limit.as_secs(), 1, lang))
}

/// Decimals that tell a value from each of these limits, `least` or more.
pub fn among(value: f64, limits: &[f64], least: usize) -> usize {
    limits.iter().map(|limit| decimals(value, *limit, least)).max().unwrap_or(least)
}

fn decimals(value: f64, limit: f64, least: usize) -> usize {
    let is_told = |digits: usize| {
        let shown = format!("{value:.digits$}").parse::<f64>();
        shown.is_ok_and(|shown| side(shown, limit) == side(value, limit))
    };
    (least..=least + MORE_DIGITS).find(|digits| is_told(*digits)).unwrap_or(least)
}

fn side(value: f64, limit: f64) -> Ordering {
    let difference = value - limit;
    if difference.abs() <= NOISE * limit.abs() { Ordering::Equal } else { difference.total_cmp(&0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_would_look_like_its_limit_gets_the_digits_that_tell_them_apart() {
        let shown = [
            fixed(1.96, 2.0, 1, Lang::En),
            fixed(1.9999, 2.0, 1, Lang::Ru),
            number(99.96, 100.0, Lang::En),
            number(412_345.4, 412_345.0, Lang::En),
            percent(0.020_4, 0.02, Lang::En),
            percent(0.949_8, 0.95, Lang::Ru),
            plus_minus(0.020_4, 0.02, Lang::En),
            throughput(499.9996e6, 500e6, Lang::En),
            latency(Nanos(4_998_000), Nanos::millis(5), Lang::En),
            duration(Nanos::millis(59_600), Nanos::secs(60), Lang::En),
        ];
        let expected = [
            "1.96",
            "1,9999",
            "99.96",
            "412\u{a0}345.4",
            "2.04 %",
            "94,98 %",
            "± 2.04 %",
            "499.9996 MB/s",
            "4.998 ms",
            "59.6 s",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn beside_several_limits_the_nearest_decides() {
        let digits = |value| among(value, &[100.0, 102.0, 98.039_215_7], 1);
        assert_eq!([digits(102.04), digits(99.996), digits(98.04), digits(105.0)], [2, 3, 2, 1]);
        assert_eq!(among(102.04, &[], 1), 1);
    }

    #[test]
    fn a_number_away_from_its_limit_or_at_it_looks_as_anywhere() {
        let shown = [
            fixed(1.94, 2.0, 1, Lang::En),
            fixed(2.0, 2.0, 1, Lang::En),
            // The sum of ten tenths.
            fixed([0.1; 10].iter().sum(), 1.0, 1, Lang::En),
            percent(0.05, 0.05, Lang::En),
            latency(Nanos(512), Nanos(512), Lang::En),
            latency(Nanos::millis(5), Nanos::millis(5), Lang::En),
            duration(Nanos::secs(60), Nanos::secs(60), Lang::En),
            duration(Nanos::secs(61), Nanos::secs(60), Lang::Ru),
            fixed(f64::NAN, 1.0, 1, Lang::En),
        ];
        let expected = ["1.9", "2.0", "1.0", "5.0 %", "512 ns", "5.00 ms", "1 min 00 s", "1 мин 01 с", "NaN"];
        assert_eq!(shown, expected);
    }
}
