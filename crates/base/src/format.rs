//! Numbers as people read them: the only place where base units become text.
//!
//! Sizes are IEC (KiB), throughput is decimal (MB/s), three significant digits, decimal comma in Russian.

mod date;
pub mod near_limit;

pub use date::{parse_utc, rfc3339, rfc5322, utc};

use crate::text::Lang;
use crate::units::{Bytes, MilliIops, Nanos};

/// A plain number with three significant digits and the decimal sign of the language.
pub fn number(value: f64, lang: Lang) -> String {
    fixed(value, decimals(value), lang)
}

/// Decimals that give a number three significant digits, three at most.
fn decimals(value: f64) -> usize {
    match value.abs() {
        0.0 => 0,
        m if m >= 99.95 => 0,
        m if m >= 9.995 => 1,
        m if m >= 0.9995 => 2,
        _ => 3,
    }
}

/// Parts of a total with as many decimals as [`number`] gives the total, rounded so that they add up to it as they are shown.
///
/// The parts with the largest remainders are rounded up (largest remainder method), so each differs from its value by less than
/// one of the last digit. A part that is not zero and would be shown as zero is `< 1` of that digit. Parts that do not make
/// up the total, or are no finite numbers of at least 0, are rounded each for itself, as [`number`] does.
pub fn parts(total: f64, parts: &[f64], lang: Lang) -> Vec<String> {
    /// Sums of numbers that were computed apart differ in their last bits.
    const NOISE: f64 = 1e-6;
    let digits = decimals(total);
    let scale = 10f64.powi(digits as i32);
    let sum: f64 = parts.iter().sum();
    let add_up =
        parts.iter().all(|part| part.is_finite() && *part >= 0.0) && (sum - total).abs() <= NOISE * total.abs();
    // As it is shown, so that a tie falls to the same side.
    let Some(shown) = format!("{total:.digits$}").parse::<f64>().ok().filter(|_| add_up) else {
        return parts.iter().map(|part| number(*part, lang)).collect();
    };
    let mut units: Vec<f64> = parts.iter().map(|part| (part * scale).floor()).collect();
    let missing = (shown * scale).round() - units.iter().sum::<f64>();
    let mut by_remainder: Vec<usize> = (0..parts.len()).collect();
    let remainder = |i: &usize| parts[*i] * scale - (parts[*i] * scale).floor();
    by_remainder.sort_by(|a, b| remainder(b).total_cmp(&remainder(a)));
    for i in by_remainder.into_iter().take(missing.max(0.0) as usize) {
        units[i] += 1.0;
    }
    let text = |(part, units): (&f64, &f64)| match *units {
        0.0 if *part > 0.0 => format!("< {}", fixed(1.0 / scale, digits, lang)),
        units => fixed(units / scale, digits, lang),
    };
    parts.iter().zip(&units).map(text).collect()
}

/// A number with exactly `digits` decimals. What rounds to zero has no sign: `-0` is also what an empty sum gives.
pub fn fixed(value: f64, digits: usize, lang: Lang) -> String {
    let text = format!("{value:.digits$}");
    let zero = text.strip_prefix('-').filter(|text| text.bytes().all(|byte| matches!(byte, b'0' | b'.')));
    decimal(group(zero.unwrap_or(&text)), lang)
}

/// A whole number with thin groups: `412 000`.
pub fn count(value: u64) -> String {
    group(&value.to_string())
}

/// I/Os per second without the unit: three significant digits below 1,000, whole above.
pub fn iops(value: f64, lang: Lang) -> String {
    number(value, lang)
}

/// A frequency of I/Os: `5000/s`; as suites write it, but for grouping and the decimal sign.
pub fn rate(value: MilliIops, lang: Lang) -> String {
    let text = group(&format!("{}.{:03}", value.0 / 1000, value.0 % 1000));
    let text = text.trim_end_matches('0').trim_end_matches('.').to_string();
    match lang {
        Lang::En => decimal(text, lang) + "/s",
        Lang::Ru => decimal(text, lang) + "/с",
    }
}

/// Throughput in decimal megabytes: `1 234 MB/s`.
pub fn throughput(bytes_per_second: f64, lang: Lang) -> String {
    format!("{} {}", number(bytes_per_second / 1e6, lang), megabytes_per_second(lang))
}

fn megabytes_per_second(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "MB/s",
        Lang::Ru => "МБ/с",
    }
}

/// A size in the largest IEC unit that keeps it at or above 1.
pub fn bytes(value: Bytes, lang: Lang) -> String {
    let units = match lang {
        Lang::En => ["B", "KiB", "MiB", "GiB", "TiB", "PiB"],
        Lang::Ru => ["Б", "КиБ", "МиБ", "ГиБ", "ТиБ", "ПиБ"],
    };
    let mut scaled = value.0 as f64;
    let mut unit = 0;
    while scaled >= 1024.0 && unit + 1 < units.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    let text = if scaled.fract() == 0.0 { group(&format!("{scaled:.0}")) } else { number(scaled, lang) };
    format!("{} {}", decimal(text, lang), units[unit])
}

/// A place on a device, exactly, in the largest unit that says it without a fraction: `512 MiB`, `513 B`.
pub fn offset(at: u64, lang: Lang) -> String {
    let shown = bytes(Bytes(at), lang);
    let is_exact = at.trailing_zeros() >= at.max(1).ilog2() / 10 * 10;
    if is_exact { shown } else { format!("{} {}", count(at), lang.pick("B", "Б")) }
}

/// A latency in the unit that keeps it at or above 1: `84.2 µs`, `1.20 ms`.
pub fn latency(value: Nanos, lang: Lang) -> String {
    match latency_unit(value, lang) {
        (1.0, unit) => format!("{} {unit}", value.0),
        (one, unit) => format!("{} {unit}", number(value.0 as f64 / one, lang)),
    }
}

/// The unit that keeps a latency at or above 1: how many ns one of it is, and its name.
fn latency_unit(value: Nanos, lang: Lang) -> (f64, &'static str) {
    let (one, en, ru) = match value.0 {
        0..=999 => (1.0, "ns", "нс"),
        1_000..=999_499 => (1e3, "µs", "мкс"),
        999_500..=999_499_999 => (1e6, "ms", "мс"),
        _ => (1e9, "s", "с"),
    };
    (one, if lang == Lang::Ru { ru } else { en })
}

/// A span of wall time: `0.5 s`, `42 s`, `3 min 05 s`, `1 h 12 min`.
pub fn duration(value: Nanos, lang: Lang) -> String {
    let (s, min, h) = match lang {
        Lang::En => ("s", "min", "h"),
        Lang::Ru => ("с", "мин", "ч"),
    };
    let seconds = value.as_secs();
    if seconds < 10.0 {
        return format!("{} {s}", decimal(trim_zeros(&format!("{seconds:.1}")), lang));
    }
    let whole = seconds.round() as u64;
    match whole {
        0..=59 => format!("{whole} {s}"),
        60..=3599 => format!("{} {min} {:02} {s}", whole / 60, whole % 60),
        _ => format!("{} {h} {:02} {min}", whole / 3600, whole % 3600 / 60),
    }
}

/// A point in time or a length without rounding, in the largest unit that divides it: `90 min`, `3601 s`, `1500 ms`.
pub fn exact(value: Nanos, lang: Lang) -> String {
    const UNITS: [(u64, &str, &str); 6] = [
        (3_600_000_000_000, "h", "ч"),
        (60_000_000_000, "min", "мин"),
        (1_000_000_000, "s", "с"),
        (1_000_000, "ms", "мс"),
        (1_000, "µs", "мкс"),
        (1, "ns", "нс"),
    ];
    let fits = |&&(unit, ..): &&(u64, &str, &str)| value.0 > 0 && value.0.is_multiple_of(unit);
    let &(unit, en, ru) = UNITS.iter().find(fits).unwrap_or(&UNITS[2]);
    format!("{} {}", value.0 / unit, if lang == Lang::Ru { ru } else { en })
}

/// A share as percent with one decimal: `4.2 %`.
pub fn percent(share: f64, lang: Lang) -> String {
    format!("{} %", fixed(share * 100.0, 1, lang))
}

/// Half an interval as a share of its value, to two digits or so: `± 12 %`, `± 2.1 %`, `± 0.03 %`.
pub fn plus_minus(half: f64, lang: Lang) -> String {
    format!("± {} %", fixed(half * 100.0, half_digits(half), lang))
}

fn half_digits(half: f64) -> usize {
    match half * 100.0 {
        p if p >= 9.95 => 0,
        p if p >= 0.095 => 1,
        _ => 2,
    }
}

fn trim_zeros(text: &str) -> String {
    text.strip_suffix(".0").unwrap_or(text).to_string()
}

fn decimal(text: String, lang: Lang) -> String {
    match lang {
        Lang::En => text,
        Lang::Ru => text.replace('.', ","),
    }
}

/// Groups of three with a no-break space, only from five digits on (four read well undivided).
fn group(text: &str) -> String {
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, fraction) = rest.split_once('.').map_or((rest, ""), |(w, f)| (w, f));
    if whole.len() < 5 {
        return text.to_string();
    }
    let mut out = String::from(sign);
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            out.push('\u{a0}');
        }
        out.push(digit);
    }
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_significant_digits() {
        let texts: Vec<_> =
            [0.0, 0.1234, 1.2345, 12.345, 123.45, 1234.5, 412_345.6].iter().map(|&v| number(v, Lang::En)).collect();
        assert_eq!(texts, ["0", "0.123", "1.23", "12.3", "123", "1234", "412\u{a0}346"]);
        assert_eq!(number(12.345, Lang::Ru), "12,3");
        let zeros = [[].iter().sum::<f64>(), -0.0004, -0.04].map(|v| [number(v, Lang::En), fixed(v, 1, Lang::Ru)]);
        assert_eq!(zeros.concat().join(" "), "0 0,0 0.000 0,0 -0.040 0,0");
    }

    #[test]
    fn a_place_on_a_device_is_exact_in_the_largest_unit_that_says_it() {
        let at = [0, 512, 8192, 512 << 20, 3 << 19, (1 << 30) + 1].map(|at| offset(at, Lang::En));
        let group = "1\u{a0}572\u{a0}864 B";
        assert_eq!(at, ["0 B", "512 B", "8 KiB", "512 MiB", group, "1\u{a0}073\u{a0}741\u{a0}825 B"]);
        assert_eq!(offset(512 << 20, Lang::Ru), "512 МиБ");
    }

    #[test]
    fn parts_are_shown_so_that_they_add_up_to_the_total() {
        let shown = |total: f64, of: &[f64]| (number(total, Lang::En), parts(total, of, Lang::En).join(" + "));
        assert_eq!(shown(20.498, &[14.349, 6.149]), ("20.5".into(), "14.4 + 6.1".into()));
        assert_eq!(shown(10_000.8, &[7000.45, 3000.35]), ("10\u{a0}001".into(), "7001 + 3000".into()));
        assert_eq!(shown(1.0, &[1.0 / 3.0; 3]), ("1.00".into(), "0.34 + 0.33 + 0.33".into()));
        // A tie is rounded to even, by the total and therefore by its parts.
        assert_eq!(shown(100.5, &[70.25, 30.25]), ("100".into(), "70 + 30".into()));
        assert_eq!(parts(20.5, &[14.4, 6.1], Lang::Ru), ["14,4", "6,1"]);
    }

    #[test]
    fn a_part_too_small_for_the_digits_of_its_total_is_not_shown_as_zero() {
        assert_eq!(parts(164_300.4, &[164_300.0, 0.4], Lang::En), ["164\u{a0}300", "< 1"]);
        assert_eq!(parts(20.5, &[20.48, 0.02, 0.0], Lang::Ru), ["20,5", "< 0,1", "0,0"]);
    }

    #[test]
    fn what_does_not_add_up_is_rounded_each_for_itself() {
        assert_eq!(parts(30.0, &[14.349, 6.149], Lang::En), ["14.3", "6.15"]);
        assert_eq!(parts(f64::NAN, &[14.349, f64::INFINITY], Lang::En), ["14.3", "inf"]);
        assert_eq!(parts(0.0, &[0.0, 0.0], Lang::En), ["0", "0"]);
        assert!(parts(1.0, &[], Lang::En).is_empty());
    }

    #[test]
    fn parts_of_any_total_add_up_digit_by_digit() {
        // Rates of mixes of all sizes: an irrational step meets remainders of every kind.
        let plain = |text: &str| text.replace('\u{a0}', "").trim_start_matches("< ").parse::<f64>().unwrap();
        for i in 1..4_000u32 {
            let total = 1.37f64.powf(f64::from(i % 40)) * (0.05 + f64::from(i) * std::f64::consts::SQRT_2 % 1.0);
            let read = total * (f64::from(i) * std::f64::consts::PI % 1.0);
            let shown = parts(total, &[read, total - read], Lang::En);
            let sum: f64 = shown.iter().filter(|text| !text.starts_with('<')).map(|text| plain(text)).sum();
            let whole = plain(&number(total, Lang::En));
            assert!((sum - whole).abs() < 1e-9 * whole, "{total}: {shown:?} = {whole}");
            let unit = 10f64.powi(-(decimals(total) as i32)) * 1.000_001;
            let near = [read, total - read].iter().zip(&shown).all(|(part, text)| (part - plain(text)).abs() < unit);
            assert!(near, "{total}: {shown:?} of {read} and {}", total - read);
        }
    }

    #[test]
    fn latencies_choose_their_unit() {
        let texts: Vec<_> =
            [42, 84_240, 999_600, 1_200_000, 20_000_000_000].iter().map(|&v| latency(Nanos(v), Lang::En)).collect();
        assert_eq!(texts, ["42 ns", "84.2 µs", "1.00 ms", "1.20 ms", "20.0 s"]);
        assert_eq!(latency(Nanos(84_240), Lang::Ru), "84,2 мкс");
    }

    #[test]
    fn a_rate_reads_as_suites_write_it() {
        let texts = [5_000_000, 500, 1_250, 120_000_000].map(|n| rate(MilliIops(n), Lang::En));
        assert_eq!(texts, ["5000/s", "0.5/s", "1.25/s", "120\u{a0}000/s"]);
        assert_eq!(rate(MilliIops(500), Lang::Ru), "0,5/с");
    }

    #[test]
    fn sizes_and_durations_read_naturally() {
        assert_eq!(bytes(Bytes::kib(4), Lang::En), "4 KiB");
        assert_eq!(bytes(Bytes(1_572_864), Lang::Ru), "1,50 МиБ");
        assert_eq!(duration(Nanos::millis(500), Lang::En), "0.5 s");
        assert_eq!(duration(Nanos::secs(185), Lang::En), "3 min 05 s");
        assert_eq!(duration(Nanos::secs(4330), Lang::Ru), "1 ч 12 мин");
        let told = [0, 1, 1_500_000_000, 3_601_000_000_000, 5_400_000_000_000, 7_200_000_000_000];
        let told = told.map(|at| exact(Nanos(at), Lang::En));
        assert_eq!(told, ["0 s", "1 ns", "1500 ms", "3601 s", "90 min", "2 h"]);
        assert_eq!(exact(Nanos::secs(60), Lang::Ru), "1 мин");
    }
}
