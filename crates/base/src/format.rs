//! Numbers as people read them: the only place where base units become text.
//!
//! Sizes are IEC (KiB), throughput is decimal (MB/s), three significant digits, decimal comma in Russian.

use crate::text::Lang;
use crate::units::{Bytes, MilliIops, Nanos};

/// A plain number with three significant digits and the decimal sign of the language.
pub fn number(value: f64, lang: Lang) -> String {
    let magnitude = value.abs();
    let text = match magnitude {
        0.0 => "0".to_string(),
        m if m >= 99.95 => format!("{value:.0}"),
        m if m >= 9.995 => format!("{value:.1}"),
        m if m >= 0.9995 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    };
    decimal(group(&text), lang)
}

/// A number with exactly `digits` decimals.
pub fn fixed(value: f64, digits: usize, lang: Lang) -> String {
    decimal(group(&format!("{value:.digits$}")), lang)
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
    let unit = match lang {
        Lang::En => "MB/s",
        Lang::Ru => "МБ/с",
    };
    format!("{} {unit}", number(bytes_per_second / 1e6, lang))
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

/// A latency in the unit that keeps it at or above 1: `84.2 µs`, `1.20 ms`.
pub fn latency(value: Nanos, lang: Lang) -> String {
    let units = match lang {
        Lang::En => ["ns", "µs", "ms", "s"],
        Lang::Ru => ["нс", "мкс", "мс", "с"],
    };
    let (scaled, unit) = match value.0 {
        0..=999 => return format!("{} {}", value.0, units[0]),
        1_000..=999_499 => (value.0 as f64 / 1e3, 1),
        999_500..=999_499_999 => (value.0 as f64 / 1e6, 2),
        _ => (value.0 as f64 / 1e9, 3),
    };
    format!("{} {}", number(scaled, lang), units[unit])
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
