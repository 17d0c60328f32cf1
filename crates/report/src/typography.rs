//! Line breaks that prose must not have.

/// Words that stay with the number before them.
const UNITS: [&str; 26] = [
    "%", "B", "KiB", "MiB", "GiB", "TiB", "MB/s", "ns", "µs", "ms", "s", "min", "h", "IOPS", "Б", "КиБ", "МиБ", "ГиБ",
    "ТиБ", "МБ/с", "нс", "мкс", "мс", "с", "мин", "ч",
];
const NO_BREAK: char = '\u{a0}';

/// The text with no-break spaces between a number and its sign or unit (`± 1.2 %`, `4 KiB`).
pub fn hold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (i, word) in text.split(' ').enumerate() {
        if i > 0 {
            out.push(if belongs(&out, word) { NO_BREAK } else { ' ' });
        }
        out.push_str(word);
    }
    out
}

/// Whether a word must not begin a line after `before`.
fn belongs(before: &str, word: &str) -> bool {
    let unit = UNITS.contains(&word.trim_end_matches([',', '.', ';', ':', ')']));
    before.ends_with('±') || unit && before.ends_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_keeps_its_sign_and_its_unit() {
        assert_eq!(hold("rate (± 1.1 %, slow) of 4 KiB"), "rate (±\u{a0}1.1\u{a0}%, slow) of 4\u{a0}KiB");
        assert_eq!(hold("окно 3 с, 2 с лишним"), "окно 3\u{a0}с, 2\u{a0}с лишним");
        assert_eq!(hold("plain  words "), "plain  words ");
    }
}
