//! Numbers as screens print them, and whether the limit of a check, what was measured and its status agree. For tests, here and of the
//! documents in `stend-report`. Must not know what a check is about.

/// A number with its unit, as it is printed.
#[derive(Debug, Clone, PartialEq)]
pub struct Number {
    /// In the base unit of its kind: ns, bytes per second, a share.
    pub value: f64,
    /// Half of its last digit: the printed value may be off by so much.
    pub half_digit: f64,
    /// What it counts; empty without a unit that is known.
    pub kind: &'static str,
    /// `+` or `−` in front of it.
    pub signed: Option<f64>,
    /// Bytes of the text that it takes.
    pub start: usize,
    /// The byte behind them.
    pub end: usize,
}

/// Units with their kind and what one of them is.
const UNITS: [(&str, &str, f64); 18] = [
    ("%", "share", 0.01),
    ("IOPS", "iops", 1.0),
    ("/s", "iops", 1.0),
    ("MB/s", "throughput", 1e6),
    ("МБ/с", "throughput", 1e6),
    ("GB/s", "throughput", 1e9),
    ("ГБ/с", "throughput", 1e9),
    ("ns", "time", 1.0),
    ("нс", "time", 1.0),
    ("µs", "time", 1e3),
    ("мкс", "time", 1e3),
    ("ms", "time", 1e6),
    ("мс", "time", 1e6),
    ("min", "time", 60e9),
    ("мин", "time", 60e9),
    ("s", "time", 1e9),
    ("с", "time", 1e9),
    ("×", "times", 1.0),
];

/// Every number of a text that stands for itself: not one in a name, a version, a date or a path.
pub fn numbers(text: &str) -> Vec<Number> {
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let at = |i: usize| chars.get(i).map_or('\0', |(_, c)| *c);
    let byte = |i: usize| chars.get(i).map_or(text.len(), |(b, _)| *b);
    let (mut found, mut i) = (Vec::new(), 0);
    while i < chars.len() {
        if !at(i).is_ascii_digit() {
            i += 1;
            continue;
        }
        let start = i;
        let before = if i == 0 { '\0' } else { at(i - 1) };
        let (mut digits, mut decimals, mut groups) = (String::new(), 0, 0);
        loop {
            let group = matches!(at(i), '\u{a0}' | ' ')
                && digits.len() <= 3 + 3 * groups
                && (1..=3).all(|n| at(i + n).is_ascii_digit())
                && !at(i + 4).is_ascii_digit();
            match at(i) {
                c if c.is_ascii_digit() => digits.push(c),
                _ if group => groups += 1,
                _ => break,
            }
            i += 1;
        }
        if matches!(at(i), '.' | ',') && at(i + 1).is_ascii_digit() {
            digits.push('.');
            i += 1;
            while at(i).is_ascii_digit() {
                digits.push(at(i));
                (i, decimals) = (i + 1, decimals + 1);
            }
        }
        let rest = &text[byte(i)..];
        let unit = UNITS.iter().find(|(unit, ..)| {
            let tail = rest.strip_prefix(['\u{a0}', ' ']).unwrap_or(if unit.starts_with('/') { rest } else { "" });
            tail.strip_prefix(unit).is_some_and(|next| !next.starts_with(|c: char| c.is_alphanumeric() || c == '/'))
        });
        // Part of a word, a version, a date, a time or an option.
        let in_a_word = before.is_alphanumeric() || matches!(before, '.' | ',' | ':' | '/' | '_' | '=' | '-');
        let goes_on = at(i).is_alphanumeric()
            || matches!(at(i), ':' | '-' | '/' | '_') && unit.is_none()
            || matches!(at(i), '.' | ',') && at(i + 1).is_alphanumeric();
        if in_a_word || goes_on {
            while at(i).is_alphanumeric() || matches!(at(i), '.' | ',' | ':' | '/' | '_' | '-') {
                i += 1;
            }
            continue;
        }
        let (kind, factor, length) = match unit {
            Some((unit, kind, factor)) => (*kind, *factor, rest.find(unit).unwrap_or(0) + unit.len()),
            None => ("", 1.0, 0),
        };
        let signed = match before {
            '−' => Some(-1.0),
            '+' => Some(1.0),
            _ => None,
        };
        let value = digits.parse::<f64>().unwrap_or(f64::NAN) * factor * signed.unwrap_or(1.0);
        let half_digit = 0.5 * factor / 10f64.powi(decimals);
        let (start, end) = (byte(start - usize::from(signed.is_some())), byte(i) + length);
        found.push(Number { value, half_digit, kind, signed, start, end });
    }
    found
}

/// What a value has to be, as it is printed.
#[derive(Debug)]
struct Bounds {
    kind: &'static str,
    least: Option<f64>,
    most: Option<f64>,
    /// A value at the bound is beyond it.
    strict: bool,
    /// What stands before it.
    words: String,
}

/// What is wrong with the result of a check: a limit that the measured value keeps although it did not pass, or the other way round. `None` where
/// the texts do not say one number for each bound.
pub fn contradiction(passed: bool, measured: &str, limit: &str) -> Option<String> {
    let (bounds, values) = (bounds(limit)?, numbers(measured));
    let pairs = || values.iter().zip(&bounds);
    let fits = |(value, bounds): (&Number, &Bounds)| value.kind == bounds.kind && value.signed.is_none();
    if bounds.is_empty() || values.len() != bounds.len() || !pairs().all(fits) || measured.contains(['±', '>', '<']) {
        return None;
    }
    // The words around a number tell which of several it is.
    if values.len() > 1 && !pairs().all(|(value, bounds)| has_word_of(around(measured, &values, value), &bounds.words))
    {
        return None;
    }
    // A requirement that is no number may be what did not hold.
    let more = limit.split(", ").any(|clause| !clause.contains(|c: char| c.is_ascii_digit()));
    // As they are printed: digits that hide on which side of its limit a value is are too few.
    let keeps = |(value, bounds): (&Number, &Bounds)| {
        // What computers make of decimals.
        let slack = value.half_digit * 1e-6;
        let inside = |room: f64| if bounds.strict { room > slack } else { room >= -slack };
        bounds.least.is_none_or(|least| inside(value.value - least))
            && bounds.most.is_none_or(|most| inside(most - value.value))
    };
    match (passed, pairs().all(keeps)) {
        (true, false) => Some(format!("passed with `{measured}`, and the limit is `{limit}`")),
        (false, true) if !more => Some(format!("did not pass with `{measured}`, and the limit is `{limit}`")),
        _ => None,
    }
}

/// What stands between the numbers before and behind one.
fn around<'t>(text: &'t str, all: &[Number], one: &Number) -> &'t str {
    let before = all.iter().map(|other| other.end).filter(|end| *end <= one.start).max().unwrap_or(0);
    let behind = all.iter().map(|other| other.start).filter(|start| *start >= one.end).min().unwrap_or(text.len());
    &text[before..behind]
}

fn has_word_of(text: &str, words: &str) -> bool {
    let long = |word: &&str| word.chars().count() >= 4;
    words.split(|c: char| !c.is_alphabetic()).filter(long).any(|word| text.contains(word))
}

/// Every number of a limit as a bound; `None` if one of them is none, or an alternative.
fn bounds(limit: &str) -> Option<Vec<Bounds>> {
    if [" or ", " или ", "±"].iter().any(|word| limit.contains(word)) {
        return None;
    }
    let mut found: Vec<Bounds> = Vec::new();
    let mut last = 0;
    for number in numbers(limit) {
        let before = limit[last..number.start].trim();
        let ends = |words: &[&str]| words.iter().any(|word| before.ends_with(word));
        let between = ["to", "до"].contains(&before);
        let value = Some(number.value);
        let (kind, words, strict) = (number.kind, before.to_string(), ends(&["<", ">"]));
        let bounds = |least, most| Bounds { kind, least, most, strict, words };
        match found.last_mut() {
            Some(range) if between && range.kind == kind && range.most.is_none() => range.most = value,
            _ if ends(&["≤", "<", "at most", "не более"]) => found.push(bounds(None, value)),
            _ if ends(&["≥", ">", "at least", "не менее"]) => found.push(bounds(value, None)),
            // The beginning of a range.
            _ if [" to ", " до "].iter().any(|word| limit[number.end..].starts_with(word)) => {
                found.push(bounds(value, None));
            }
            _ => return None,
        }
        last = number.end;
    }
    Some(found)
}
