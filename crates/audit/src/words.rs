//! Numbers in words, as texts have them beside a table: "four times", «в четыре раза», "half an hour". What is not understood whole is
//! left alone: half of a phrase would be another number.

use std::ops::Range;

/// How firmly a text says a ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Certainty {
    /// "four times".
    Plain,
    /// "about four times".
    About,
    /// "almost four times": somewhat less.
    Almost,
    /// "more than four times".
    AtLeast,
    /// "up to four times".
    AtMost,
}

/// What stands right before a number and says how firmly it is meant; the one that begins first counts ("no more than" is no "more
/// than").
const FIRMNESS: [(Certainty, &[&[&str]]); 4] = [
    (
        Certainty::AtMost,
        &[
            &["up", "to"],
            &["at", "most"],
            &["no", "more", "than"],
            &["not", "more", "than"],
            &["less", "than"],
            &["fewer", "than"],
            &["не", "более"],
            &["не", "больше"],
            &["менее"],
            &["меньше", "чем"],
            &["до"],
        ],
    ),
    (
        Certainty::AtLeast,
        &[
            &["more", "than"],
            &["no", "less", "than"],
            &["not", "less", "than"],
            &["no", "fewer", "than"],
            &["at", "least"],
            &["over"],
            &["не", "менее"],
            &["не", "меньше"],
            &["минимум"],
            &["более"],
            &["больше", "чем"],
            &["свыше"],
        ],
    ),
    (
        Certainty::Almost,
        &[
            &["almost"],
            &["nearly"],
            &["just", "under"],
            &["почти"],
            &["без", "малого"],
            &["чуть", "менее"],
            &["чуть", "меньше"],
        ],
    ),
    (
        Certainty::About,
        &[
            &["about"],
            &["around"],
            &["roughly"],
            &["approximately"],
            &["около"],
            &["примерно"],
            &["приблизительно"],
            &["где", "то"],
        ],
    ),
];

/// A ratio that a text names.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Times {
    /// Its value.
    pub value: f64,
    /// What the digits or the word leave open on either side: 0.5 of "four", 5 of "10", 0.05 of "3.8".
    pub half: f64,
    /// How firmly it is said.
    pub firmness: Certainty,
    /// What the text says with it of the one that it compares; `None`: only by how much.
    pub comparison: Option<Comparison>,
}

/// What a text says of the one that it compares with another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    /// "four times lower": its number is the smaller one.
    Lower,
    /// "four times slower", "worse": its latency is longer, or its rate lower.
    Slower,
    /// "four times faster", "better": its latency is shorter, or its rate higher.
    Faster,
}

/// Words that compare. "Higher" and its like say what a bare ratio says.
const COMPARISONS: [(Comparison, &[&str]); 3] = [
    (Comparison::Lower, &["lower", "fewer", "less", "smaller", "shorter", "ниже", "меньше", "менее", "короче"]),
    (Comparison::Slower, &["slower", "worse", "медленнее", "медленней", "хуже"]),
    (Comparison::Faster, &["faster", "quicker", "better", "быстрее", "быстрей", "лучше"]),
];

/// Words that may stand between a phrase of firmness and its number: "by about a factor of 4x", «более чем в 4 раза».
const GLUE: [&str; 9] = ["чем", "в", "во", "in", "by", "a", "an", "factor", "of"];

/// Whole numbers by their word, up to twelve; nominative and genitive.
const NUMBERS: [(&str, f64); 37] = [
    ("one", 1.0),
    ("two", 2.0),
    ("three", 3.0),
    ("four", 4.0),
    ("five", 5.0),
    ("six", 6.0),
    ("seven", 7.0),
    ("eight", 8.0),
    ("nine", 9.0),
    ("ten", 10.0),
    ("eleven", 11.0),
    ("twelve", 12.0),
    ("один", 1.0),
    ("два", 2.0),
    ("двух", 2.0),
    ("две", 2.0),
    ("три", 3.0),
    ("трёх", 3.0),
    ("трех", 3.0),
    ("четыре", 4.0),
    ("четырёх", 4.0),
    ("четырех", 4.0),
    ("пять", 5.0),
    ("пяти", 5.0),
    ("шесть", 6.0),
    ("шести", 6.0),
    ("семь", 7.0),
    ("семи", 7.0),
    ("восемь", 8.0),
    ("восьми", 8.0),
    ("девять", 9.0),
    ("девяти", 9.0),
    ("десять", 10.0),
    ("десяти", 10.0),
    ("двенадцать", 12.0),
    ("полтора", 1.5),
    ("полутора", 1.5),
];

/// Whole phrases in one word.
const MULTIPLES: [(&str, f64); 8] = [
    ("twice", 2.0),
    ("doubled", 2.0),
    ("tripled", 3.0),
    ("quadrupled", 4.0),
    ("вдвое", 2.0),
    ("втрое", 3.0),
    ("вчетверо", 4.0),
    ("впятеро", 5.0),
];

/// Words between two numbers that are a range: "two to three times".
const LINKS: [&str; 6] = ["to", "or", "или", "до", "on", "на"];

/// Words before a number that make it the end of a larger one: "a hundred and four".
const SUMS: [&str; 3] = ["and", "и", "point"];

/// Units of time in seconds, by the beginnings of their words.
const DURATIONS: [(&str, f64); 6] =
    [("sec", 1.0), ("сек", 1.0), ("min", 60.0), ("мин", 60.0), ("hour", 3600.0), ("час", 3600.0)];

/// The ratio that a text names; `None`: none, several, or one that is not understood.
pub(super) fn times(text: &str) -> Option<Times> {
    let lower = text.to_lowercase();
    let words = tokens(&lower);
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let multiple = MULTIPLES.iter().find(|(name, _)| name == word);
        let number = match *word {
            // "в два с лишним раза".
            "раз" | "раза" if words[..at].ends_with(&["с", "лишним"]) => {
                let at = at.checked_sub(3);
                at.and_then(|at| ratio(&words, at, words[at])).map(|number| (number, (Certainty::AtLeast, 0..0)))
            }
            "times" | "fold" | "раз" | "раза" => {
                let at = at.checked_sub(1);
                at.and_then(|at| Some((ratio(&words, at, words[at])?, firmness(&lower, &words, at))))
            }
            _ if multiple.is_some() => multiple.map(|(_, value)| ((*value, 0.5), firmness(&lower, &words, at))),
            word => {
                let digits = word.strip_suffix(['x', '×', 'х']).or_else(|| word.strip_prefix(['x', '×', 'х']));
                let digits = digits.filter(|digits| digits.starts_with(|c: char| c.is_ascii_digit()));
                digits.and_then(|digits| Some((ratio(&words, at, digits)?, firmness(&lower, &words, at))))
            }
        };
        found.extend(number);
    }
    let [((value, half), (firmness, phrase))] = found.as_slice() else { return None };
    let compares = |at: usize, word: &str| {
        let of = COMPARISONS.iter().find(|(_, words)| words.contains(&word)).map(|(comparison, _)| *comparison);
        of.filter(|_| !phrase.contains(&at))
    };
    let mut said = words.iter().enumerate().filter_map(|(at, word)| compares(at, word));
    let comparison = said.next();
    // Which of two that contradict each other belongs to the ratio is not known.
    let is_one = said.all(|other| Some(other) == comparison);
    (*value > 0.0 && is_one).then_some(Times { value: *value, half: *half, firmness: *firmness, comparison })
}

/// The number at a place, if it stands alone.
fn ratio(words: &[&str], at: usize, word: &str) -> Option<(f64, f64)> {
    number(word).filter(|_| is_alone(words, at))
}

/// How firmly the number at a place is meant, and which words say that. They stand right before it: "over iSCSI it is four times slower"
/// is a plain four.
fn firmness(text: &str, words: &[&str], at: usize) -> (Certainty, Range<usize>) {
    let glue = words[..at].iter().rev().take_while(|word| GLUE.contains(word)).count();
    let ends = || at - glue..=at;
    let phrases =
        || FIRMNESS.iter().flat_map(|(firmness, phrases)| phrases.iter().map(move |phrase| (*firmness, *phrase)));
    let found = ends().flat_map(|end| {
        let fits = move |(_, phrase): &(Certainty, &[&str])| words[..end].ends_with(phrase);
        phrases().filter(fits).map(move |(firmness, phrase)| (firmness, end - phrase.len()..end))
    });
    // A sign is no word, so it is looked for in the text.
    let signed = |at: usize| {
        let offset = words[at].as_ptr() as usize - text.as_ptr() as usize;
        text[..offset].trim_end().ends_with(['~', '≈'])
    };
    match found.min_by_key(|(_, range)| range.start) {
        Some(found) => found,
        None if ends().any(signed) => (Certainty::About, at..at),
        None => (Certainty::Plain, at..at),
    }
}

/// Seconds that a text names: "half an hour", «10 минут»; `None`: none, or not understood.
pub(super) fn duration(text: &str) -> Option<f64> {
    let lower = text.trim().to_lowercase();
    let words = tokens(&lower);
    let unit = |word: &str| DURATIONS.iter().find(|(start, _)| word.starts_with(start)).map(|(_, seconds)| *seconds);
    match words.as_slice() {
        ["полчаса"] | ["half", "an", "hour"] | ["half", "hour"] => Some(1800.0),
        ["an" | "a", word] | [word] => unit(word).filter(|seconds| *seconds >= 60.0),
        [count, word] => Some(number(count)?.0 * unit(word)?),
        _ => None,
    }
}

/// Words and numbers of a text; signs that join numbers stay words of their own, so that a range is seen.
fn tokens(text: &str) -> Vec<&str> {
    let part = |c: char| !(c.is_alphanumeric() || matches!(c, '.' | ',' | '×'));
    text.split(part).map(|word| word.trim_matches(['.', ','])).filter(|word| !word.is_empty()).collect()
}

/// Whether the number at `at` is no end of a range and no part of a sum.
fn is_alone(words: &[&str], at: usize) -> bool {
    let is_number = |back: usize| at.checked_sub(back).is_some_and(|at| number(words[at]).is_some());
    let before = at.checked_sub(1).map_or("", |at| words[at]);
    !(SUMS.contains(&before) || is_number(1) || LINKS.contains(&before) && is_number(2))
}

/// A number by word or digits, with what it leaves open on either side. Zeros at the end of a whole number are no digits: "10 times" is
/// from 5 to 15.
fn number(word: &str) -> Option<(f64, f64)> {
    if let Some((_, value)) = NUMBERS.iter().find(|(name, _)| *name == word) {
        return Some((*value, if value.fract() == 0.0 { 0.5 } else { 0.25 }));
    }
    let digits = word.replace(',', ".");
    if !digits.starts_with(|c: char| c.is_ascii_digit()) || !digits.chars().all(|c| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let value = digits.parse::<f64>().ok()?;
    Some((value, open(&digits)))
}

/// Half of the last digit that says something.
pub(super) fn open(digits: &str) -> f64 {
    let power = match digits.split_once('.') {
        Some((_, decimals)) => -(decimals.len() as i32),
        None => (digits.len() - digits.trim_end_matches('0').len()).min(digits.len().saturating_sub(1)) as i32,
    };
    10f64.powi(power) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_in_words_are_read_in_both_languages() {
        for (text, value, half) in [
            ("скачек в четыре раза", 4.0, 0.5),
            ("в полтора раза", 1.5, 0.25),
            ("в 3,8 раза", 3.8, 0.05),
            ("вдвое", 2.0, 0.5),
            ("a jump of four times", 4.0, 0.5),
            ("10 times", 10.0, 5.0),
            ("twice as fast", 2.0, 0.5),
            ("3.8x", 3.8, 0.05),
            ("×4", 4.0, 0.5),
        ] {
            let times = times(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((times.value, times.firmness, times.comparison), (value, Certainty::Plain, None), "{text}");
            assert!((times.half - half).abs() < 1e-9, "{text}: {}", times.half);
        }
        let compared = |text: &str| times(text).and_then(|times| times.comparison);
        assert_eq!(compared("в три раза ниже"), Some(Comparison::Lower));
        assert_eq!(compared("at 4 times less load twice slower"), None, "not understood");
    }

    #[test]
    fn words_before_a_number_say_how_firmly_it_is_meant() {
        let firm = |text| times(text).map(|times| times.firmness);
        for (text, expected) in [
            ("почти в четыре раза", Certainty::Almost),
            ("almost four times", Certainty::Almost),
            ("без малого вдвое", Certainty::Almost),
            ("примерно в четыре раза", Certainty::About),
            ("где-то вчетверо", Certainty::About),
            ("~4x", Certainty::About),
            ("more than four times", Certainty::AtLeast),
            ("более чем в четыре раза", Certainty::AtLeast),
            ("в два с лишним раза", Certainty::AtLeast),
            ("не менее чем вдвое", Certainty::AtLeast),
            ("up to four times", Certainty::AtMost),
            ("no more than four times", Certainty::AtMost),
            ("не более чем в 4 раза", Certainty::AtMost),
            ("no less than four times", Certainty::AtLeast),
            ("less than four times", Certainty::AtMost),
            ("менее чем в 4 раза", Certainty::AtMost),
            ("не меньше чем в 4 раза", Certainty::AtLeast),
            ("чуть меньше чем в 4 раза", Certainty::Almost),
            ("by a factor of about 4x", Certainty::About),
            ("grew by more than a factor of 4x", Certainty::AtLeast),
            ("≈ 4 раза", Certainty::About),
            ("~ в 4 раза", Certainty::About),
            // Words further away are of something else.
            ("over iSCSI ZFS is four times slower", Certainty::Plain),
            ("выросли до 400 тысяч, в 4 раза", Certainty::Plain),
            ("at about 200 GB it is 4 times faster", Certainty::Plain),
            ("~400k, 4 times as many", Certainty::Plain),
            // What follows the number compares and does not bound it.
            ("four times more than the old one", Certainty::Plain),
            ("в 4 раза больше чем у Intel", Certainty::Plain),
            ("в три раза выше чем до обновления", Certainty::Plain),
        ] {
            assert_eq!(firm(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_not_understood_whole_is_no_ratio() {
        for text in [
            "ничья",
            "в сотни раз",
            "в два с половиной раза",
            "two and a half times",
            "two to three times",
            "2-3 times",
            "в два-три раза",
            "много раз",
            "in 4 times twice",
            "",
        ] {
            assert_eq!(times(text), None, "{text}");
        }
    }

    #[test]
    fn durations_in_words_are_read_in_both_languages() {
        for (text, seconds) in [
            ("полчаса", 1800.0),
            ("один час", 3600.0),
            ("half an hour", 1800.0),
            ("an hour", 3600.0),
            ("10 минут", 600.0),
            ("ten minutes", 600.0),
            ("полтора часа", 5400.0),
        ] {
            assert_eq!(duration(text), Some(seconds), "{text}");
        }
        for text in ["несколько дней", "half a day", "overnight", "", "10"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }
}
