//! Numbers as people print them: with blanks, commas, points and words. A number that can be read in two ways is an error
//! unless the rest of the table says which.

use crate::unit;
use stend_base::{Say, say};

/// Blanks that separate thousands: plain, no-break, figure, thin and narrow no-break space, and apostrophes.
const BLANKS: [char; 7] = [' ', '\u{a0}', '\u{2007}', '\u{2009}', '\u{202f}', '\'', '\u{2019}'];

/// What a comma or a point stands for in a table, as far as its numbers tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SeparatorUse {
    /// Before the decimals in some number.
    decimal: bool,
    /// Between thousands in some number.
    thousands: bool,
}

/// What commas and points stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Separators {
    comma: SeparatorUse,
    point: SeparatorUse,
}

/// A number as printed.
#[derive(Debug, Clone, PartialEq)]
pub struct Printed {
    /// Its value, multiplied as its word says.
    pub value: f64,
    /// One unit of its last digit.
    pub step: f64,
    /// Digits without leading zeros.
    pub digits: u32,
    /// It as it stands, with its word (`371k`) and without what follows.
    pub text: String,
    /// Whether a word multiplies it.
    pub multiplied: bool,
    /// What follows it: a unit, or nothing.
    pub rest: String,
}

impl Separators {
    /// Learns from a cell what can be read in one way only.
    pub fn learn(&mut self, cell: &str) {
        let (body, _) = split(cell);
        let (commas, points) = (body.matches(',').count(), body.matches('.').count());
        let last = body.rfind([',', '.']).and_then(|at| body[at..].chars().next());
        let decimals = body.rsplit([',', '.']).next().map_or(0, |tail| tail.chars().count());
        let mut note = |mark: char, decimal: bool| {
            let habit = if mark == ',' { &mut self.comma } else { &mut self.point };
            if decimal { habit.decimal = true } else { habit.thousands = true }
        };
        match (commas, points, last) {
            (1.., 1.., Some(mark)) => {
                note(mark, true);
                note(if mark == ',' { '.' } else { ',' }, false);
            }
            (2.., 0, _) => note(',', false),
            (0, 2.., _) => note('.', false),
            (1, 0, _) | (0, 1, _) if decimals != 3 || blanks(&body) => note(if commas == 1 { ',' } else { '.' }, true),
            _ => {}
        }
    }

    fn of(&self, mark: char) -> SeparatorUse {
        if mark == ',' { self.comma } else { self.point }
    }
}

/// Reads a number; `Ok(None)`: there is none. A point before three digits is a decimal point unless the table shows
/// otherwise; a comma there is an error unless the table shows what it is.
pub fn parse(cell: &str, habits: &Separators) -> Result<Option<Printed>, Say> {
    let (body, rest) = split(cell);
    if !body.chars().any(|c| c.is_ascii_digit()) {
        return if is_bound(cell) { Err(unreadable(cell)) } else { Ok(None) };
    }
    let (first, others) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let (word, unit) = match unit::multiplier(first) {
        // `5 м` may be metres as well, but a cell of a table of I/O has none.
        Some(factor) => (Some(factor), others.trim()),
        None => (None, rest),
    };
    let multiplied = word.is_some();
    let word = word.unwrap_or(1.0);
    let negative = body.starts_with(['-', '−', '–']);
    let bare: String = body.trim_start_matches(['+', '-', '−', '–', '~', '≈']).chars().collect();
    let plain = plain(&bare, habits)?;
    let decimals = plain.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let value: f64 = plain.parse().map_err(|_| unreadable(cell))?;
    let value = if negative { -value } else { value } * word;
    if !value.is_finite() {
        return Err(unreadable(cell));
    }
    let digits = plain.chars().filter(char::is_ascii_digit).skip_while(|c| *c == '0').count() as u32;
    let text = cell.trim().strip_suffix(unit).unwrap_or(cell).trim().to_string();
    let step = word * 10f64.powi(-(decimals as i32));
    Ok(Some(Printed { value, step, digits, text, multiplied, rest: unit.to_string() }))
}

/// The number as Rust writes it.
fn plain(body: &str, habits: &Separators) -> Result<String, Say> {
    let cell = body;
    let whole_and_decimals = |mark: char| body.rsplit_once(mark).unwrap_or((body, ""));
    let (commas, points) = (body.matches(',').count(), body.matches('.').count());
    let (whole, decimals, group) = match (commas, points) {
        (0, 0) => (body, "", None),
        (1.., 1..) => {
            let last = if body.rfind(',') > body.rfind('.') { ',' } else { '.' };
            let (whole, decimals) = whole_and_decimals(last);
            (whole, decimals, Some(if last == ',' { '.' } else { ',' }))
        }
        (1, 0) | (0, 1) => {
            let mark = if commas == 1 { ',' } else { '.' };
            let (whole, decimals) = whole_and_decimals(mark);
            if is_decimal(mark, whole, decimals, habits).ok_or_else(|| two_ways(cell))? {
                (whole, decimals, None)
            } else {
                (body, "", Some(mark))
            }
        }
        _ => (body, "", Some(if commas > 0 { ',' } else { '.' })),
    };
    let whole = ungrouped(whole, group).ok_or_else(|| unreadable(cell))?;
    if !decimals.chars().all(|c| c.is_ascii_digit()) {
        return Err(unreadable(cell));
    }
    Ok(if decimals.is_empty() { whole } else { format!("{whole}.{decimals}") })
}

/// Whether a single mark stands before decimals; `None` if it cannot be told.
fn is_decimal(mark: char, whole: &str, decimals: &str, habits: &Separators) -> Option<bool> {
    let groups = decimals.len() == 3 && (1..=3).contains(&whole.len()) && whole != "0" && !blanks(whole);
    let habit = habits.of(mark);
    match (groups, habit.decimal, habit.thousands) {
        (false, ..) | (true, true, false) => Some(true),
        (true, false, true) => Some(false),
        (true, true, true) => None,
        (true, false, false) => (mark == '.').then_some(true),
    }
}

/// A whole number without what separates its thousands; `None` if that is not every third digit.
fn ungrouped(whole: &str, group: Option<char>) -> Option<String> {
    let pieces: Vec<&str> = whole.split(|c| BLANKS.contains(&c) || group == Some(c)).collect();
    let digits = |piece: &&str| !piece.is_empty() && piece.chars().all(|c| c.is_ascii_digit());
    let (first, others) = pieces.split_first()?;
    let fits =
        digits(first) && (others.is_empty() || first.len() <= 3) && others.iter().all(|o| digits(o) && o.len() == 3);
    fits.then(|| pieces.concat())
}

fn blanks(text: &str) -> bool {
    text.contains(BLANKS)
}

/// Whether a sign stands before a number that makes something else of it: `>500`, `(95)`. `×4` is the number of a text.
fn is_bound(cell: &str) -> bool {
    let sign = |c: char| !c.is_alphanumeric() && c != '×';
    cell.trim().starts_with(sign) && cell.contains(|c: char| c.is_ascii_digit())
}

/// The number, and what follows it.
fn split(cell: &str) -> (String, &str) {
    let cell = cell.trim();
    let in_number = |c: char| c.is_ascii_digit() || BLANKS.contains(&c) || ",.+-−–~≈".contains(c);
    let end = cell.find(|c| !in_number(c)).unwrap_or(cell.len());
    let (body, rest) = cell.split_at(end);
    (body.trim_matches(BLANKS).trim_end_matches(['.', ',']).to_string(), rest.trim())
}

fn unreadable(cell: &str) -> Say {
    say!("`{cell}` is not a number", "`{cell}` — не число")
}

fn two_ways(cell: &str) -> Say {
    say!(
        "`{cell}` can be read in two ways, and no other number of the table shows which; write it without the mark",
        "`{cell}` читается двояко, и других чисел, по которым это видно, в таблице нет; запишите без этого знака"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(cell: &str, others: &[&str]) -> Option<f64> {
        let mut habits = Separators::default();
        others.iter().for_each(|cell| habits.learn(cell));
        habits.learn(cell);
        parse(cell, &habits).unwrap_or_else(|e| panic!("{cell}: {}", e.en)).map(|printed| printed.value)
    }

    #[test]
    fn numbers_are_read_as_they_are_meant() {
        for (cell, expected) in [
            ("1473.50", 1473.5),
            ("49445.235", 49_445.235),
            ("2 817 002,93", 2_817_002.93),
            ("2\u{a0}817\u{202f}002", 2_817_002.0),
            ("1,132,231.01", 1_132_231.01),
            ("1.132.231,01", 1_132_231.01),
            ("1'024", 1024.0),
            ("-9", -9.0),
            ("−11", -11.0),
            ("+10", 10.0),
            ("0,125", 0.125),
            ("0.125", 0.125),
            ("12,5", 12.5),
            ("371k", 371_000.0),
            ("1,4 млн", 1_400_000.0),
            ("700 тыс.", 700_000.0),
            ("1.234", 1.234),
            ("12 345,678", 12_345.678),
        ] {
            assert_eq!(value(cell, &[]), Some(expected), "{cell}");
        }
        assert_eq!(value("ничья", &[]), None);
        assert_eq!(value("", &[]), None);
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_decided_by_the_table_or_not_at_all() {
        assert_eq!(value("1,234", &["12,5"]), Some(1.234));
        assert_eq!(value("1,234", &["1,234,567"]), Some(1234.0));
        assert_eq!(value("1.234", &["1.234.567"]), Some(1234.0));
        for others in [&[][..], &["12,5", "1,234,567"]] {
            let mut habits = Separators::default();
            others.iter().for_each(|cell| habits.learn(cell));
            let refused = parse("1,234", &habits).unwrap_err();
            assert!(refused.en.contains("two ways") && refused.ru.contains("двояко"), "{refused:?}");
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for cell in ["1,23,456", "12 34", "1.2.3", "4-5", "1,2.3,4"] {
            assert!(parse(cell, &Separators::default()).is_err(), "{cell}");
        }
    }

    #[test]
    fn the_last_digit_and_what_follows_are_kept() {
        let printed = parse("11.50 GB/s", &Separators::default()).unwrap().unwrap();
        assert_eq!((printed.step, printed.digits, printed.rest.as_str()), (0.01, 4, "GB/s"));
        assert_eq!(parse("371k", &Separators::default()).unwrap().unwrap().step, 1000.0);
        assert_eq!(parse("0.050", &Separators::default()).unwrap().unwrap().digits, 2);
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(cell in "\\PC{0,40}") {
            let mut habits = Separators::default();
            habits.learn(&cell);
            let _ = parse(&cell, &habits);
        }

        #[test]
        fn a_number_with_thousands_is_the_number(n in 0u64..1_000_000_000_000, cents in 0u32..100) {
            let grouped = |mark: char| {
                let digits = n.to_string();
                let mut out = String::new();
                for (i, c) in digits.chars().enumerate() {
                    if i > 0 && (digits.len() - i).is_multiple_of(3) {
                        out.push(mark);
                    }
                    out.push(c);
                }
                out
            };
            let expected: f64 = format!("{n}.{cents:02}").parse().unwrap();
            for (mark, point) in [(' ', ','), ('\u{a0}', '.'), (',', '.'), ('.', ',')] {
                let cell = format!("{}{point}{cents:02}", grouped(mark));
                prop_assert_eq!(value(&cell, &[]), Some(expected), "{}", cell);
            }
        }
    }
}
