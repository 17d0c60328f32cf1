//! Units as people print them, in English and Russian.

use stend_record::published::Dimension::{self, Percent, Plain, Rate, Size, Throughput, Time};

/// Names of bytes and their powers, in lower case. Decimal unless the name says otherwise; what is meant by `KB` is for the
/// checks to find out.
const BYTES: [(&str, f64); 28] = [
    ("b", 1.0),
    ("б", 1.0),
    ("байт", 1.0),
    ("kb", 1e3),
    ("кб", 1e3),
    ("кбайт", 1e3),
    ("mb", 1e6),
    ("мб", 1e6),
    ("мбайт", 1e6),
    ("gb", 1e9),
    ("гб", 1e9),
    ("гбайт", 1e9),
    ("tb", 1e12),
    ("тб", 1e12),
    ("kib", 1024.0),
    ("киб", 1024.0),
    ("mib", 1_048_576.0),
    ("миб", 1_048_576.0),
    ("gib", 1_073_741_824.0),
    ("гиб", 1_073_741_824.0),
    ("tib", 1_099_511_627_776.0),
    ("тиб", 1_099_511_627_776.0),
    ("bit", 0.125),
    ("kbit", 125.0),
    ("mbit", 125e3),
    ("мбит", 125e3),
    ("gbit", 125e6),
    ("гбит", 125e6),
];

/// Ends of a unit that is counted per second.
const PER_SECOND: [&str; 6] = ["/s", "/sec", "/с", "/сек", "ps", " per second"];

/// Dimension of a unit, and base units in one of it; `None` for one that is not known.
pub fn parse(unit: &str) -> Option<(Dimension, f64)> {
    // `сек.` is an abbreviation.
    let unit = unit.trim().trim_end_matches('.');
    let lower = unit.to_lowercase().replace('\u{3bc}', "µ");
    let word = lower.as_str();
    match word {
        "" | "x" | "х" | "×" | "fold" | "count" | "times" | "раз" | "раза" => return Some((Plain, 1.0)),
        "%" | "percent" => return Some((Percent, 1.0)),
        "iops" | "io/s" | "ops/s" => return Some((Rate, 1.0)),
        // `nsec`, `usec` and `msec` are those of fio.
        "ns" | "nsec" | "нс" | "нсек" => return Some((Time, 1e-9)),
        "us" | "µs" | "usec" | "µsec" | "мкс" | "мксек" => return Some((Time, 1e-6)),
        "ms" | "msec" | "мс" | "мсек" => return Some((Time, 1e-3)),
        "s" | "sec" | "secs" | "second" | "seconds" | "с" | "сек" => return Some((Time, 1.0)),
        "min" | "mins" | "minute" | "minutes" | "мин" => return Some((Time, 60.0)),
        "h" | "hour" | "hours" | "ч" | "час" => return Some((Time, 3600.0)),
        _ => {}
    }
    if let Some(thousands) = word.strip_suffix("iops") {
        return multiplier(thousands.trim()).map(|factor| (Rate, factor));
    }
    let of_bytes = |name: &str| BYTES.iter().find(|(known, _)| *known == name).map(|(_, factor)| *factor);
    for end in PER_SECOND {
        if let Some(factor) = word.strip_suffix(end).and_then(of_bytes) {
            // A small b is a bit in `kbps`, and with a capital prefix in `Gb/s` of links. `kb/s` is what many write of bytes.
            let mut letters = unit.chars();
            let bits = match (letters.next(), letters.next()) {
                (first, second) if end == "ps" => first == Some('b') || second == Some('b'),
                (Some('K' | 'M' | 'G' | 'T'), Some('b')) => true,
                _ => false,
            };
            return Some((Throughput, if bits && !word.contains("bit") { factor / 8.0 } else { factor }));
        }
    }
    of_bytes(word).map(|factor| (Size, factor))
}

/// Whether a unit is a multiple of I/Os per second: `k IOPS`, «тыс. IOPS».
pub fn is_multiple_of_rate(unit: &str) -> bool {
    parse(unit).is_some_and(|(dimension, factor)| dimension == Rate && factor != 1.0)
}

/// What a short word multiplies by: `k`, `тыс.`, `M`, …
pub fn multiplier(word: &str) -> Option<f64> {
    match word.trim_end_matches('.').to_lowercase().as_str() {
        "k" | "к" | "тыс" => Some(1e3),
        "m" | "м" | "млн" => Some(1e6),
        "g" | "млрд" => Some(1e9),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_both_languages_are_known() {
        for (unit, expected) in [
            ("IOPS", (Rate, 1.0)),
            ("k IOPS", (Rate, 1e3)),
            ("тыс. IOPS", (Rate, 1e3)),
            ("M IOPS", (Rate, 1e6)),
            ("MB/s", (Throughput, 1e6)),
            ("МБ/с", (Throughput, 1e6)),
            ("MiB/s", (Throughput, 1_048_576.0)),
            ("MBps", (Throughput, 1e6)),
            ("Gbit/s", (Throughput, 125e6)),
            ("Gb/s", (Throughput, 125e6)),
            ("Kb/s", (Throughput, 125.0)),
            ("Tb/s", (Throughput, 125e9)),
            ("kb/s", (Throughput, 1e3)),
            ("bps", (Throughput, 0.125)),
            ("kbps", (Throughput, 125.0)),
            ("Kbps", (Throughput, 125.0)),
            ("Mbps", (Throughput, 125e3)),
            ("Tbps", (Throughput, 125e9)),
            ("kBps", (Throughput, 1e3)),
            ("МиБ/сек.", (Throughput, 1_048_576.0)),
            ("мкс", (Time, 1e-6)),
            ("µs", (Time, 1e-6)),
            ("\u{3bc}s", (Time, 1e-6)),
            ("nsec", (Time, 1e-9)),
            ("usec", (Time, 1e-6)),
            ("µsec", (Time, 1e-6)),
            ("мкс.", (Time, 1e-6)),
            ("msec", (Time, 1e-3)),
            ("мсек.", (Time, 1e-3)),
            ("seconds", (Time, 1.0)),
            ("minutes", (Time, 60.0)),
            ("hours", (Time, 3600.0)),
            ("GB", (Size, 1e9)),
            ("h", (Time, 3600.0)),
            ("ч", (Time, 3600.0)),
            ("час", (Time, 3600.0)),
            ("%", (Percent, 1.0)),
            ("x", (Plain, 1.0)),
        ] {
            assert_eq!(parse(unit), Some(expected), "{unit}");
        }
        for unknown in ["GT/s", "VM", "furlongs", "kk IOPS"] {
            assert_eq!(parse(unknown), None, "{unknown}");
        }
    }
}
