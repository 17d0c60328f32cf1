//! Numbers of fio with their units, expressions and zones, as its job files and its results have them. Must not know which option it reads.
//! Facts: `str_to_decimal` and `__get_mult_bytes` of fio's `parse.c`, tried with fio 3.33.

use stend_base::{Bytes, Millionths, Nanos};
use stend_spec::pattern::{ZONES, Zone};

/// Nesting of parentheses in an expression.
const DEPTH_MAX: usize = 32;

/// A length: bytes, or percent of a file or device that is not known yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// Bytes.
    Bytes(Bytes),
    /// 0 to 100.
    Percent(u32),
}

impl Amount {
    /// No bytes.
    pub const NONE: Amount = Amount::Bytes(Bytes(0));
}

/// A whole number, decimal or `0x…`, or an expression in parentheses.
pub fn whole(text: &str) -> Option<u64> {
    let text = text.trim();
    if text.starts_with('(') {
        return rounded(evaluate(text)?);
    }
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

fn rounded(value: f64) -> Option<u64> {
    // fio cuts off what is behind the point, too.
    (value.is_finite() && (0.0..9.0e18).contains(&value)).then_some(value as u64)
}

/// Digits and what is behind them; an expression counts as digits.
fn split(text: &str) -> Option<(u64, &str)> {
    let text = text.trim();
    let end = if text.starts_with('(') {
        text.rfind(')')? + 1
    } else if text.starts_with("0x") || text.starts_with("0X") {
        2 + text[2..].find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(text.len() - 2)
    } else {
        text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())
    };
    Some((whole(&text[..end])?, text[end..].trim()))
}

/// A size; `kb_base` is what a `k` is, 1024 or 1000.
pub fn size(text: &str, kb_base: u64) -> Option<Amount> {
    let (number, unit) = split(text)?;
    let unit = unit.to_ascii_lowercase();
    if unit == "%" {
        return (number <= 100).then_some(Amount::Percent(number as u32));
    }
    // With 1024 a `k` is 1024 and a `kib` is 1000: the wrong way round, and so since fio 1; `ki` is a `k`.
    let other = if kb_base == 1000 { 1024 } else { 1000 };
    let power = |letter: char| "kmgtp".find(letter).map(|index| index as u32 + 1);
    let mut letters = unit.chars();
    let factor = match (letters.next(), letters.as_str()) {
        (None, _) | (Some('b'), "") => 1,
        (Some(letter), "" | "b" | "i") => kb_base.checked_pow(power(letter)?)?,
        (Some(letter), "ib") => u64::checked_pow(other, power(letter)?)?,
        _ => return None,
    };
    number.checked_mul(factor).map(|bytes| Amount::Bytes(Bytes(bytes)))
}

/// A time; a number without a unit counts in `unit`.
pub fn time(text: &str, unit: Nanos) -> Option<Nanos> {
    let (number, name) = split(text)?;
    let one = match name.to_ascii_lowercase().as_str() {
        // Inside of parentheses fio counts in microseconds.
        "" if text.trim().starts_with('(') => 1_000,
        "" => unit.0,
        "us" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "s" | "sec" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    };
    number.checked_mul(one).map(Nanos)
}

/// `60/10:30/20:10/70`: percent of accesses, then percent of space. Zones without space have equal parts of what is left. `None` if they are
/// none, or shares do not add up to the whole.
pub fn zones(text: &str) -> Option<Vec<Zone>> {
    let percent = |text: &str| text.trim().parse::<u32>().ok().filter(|n| *n <= 100);
    let one = |part: &str| {
        let (accesses, space) = part.split_once('/').unwrap_or((part, ""));
        let space = if space.trim().is_empty() { None } else { Some(percent(space)?) };
        Some((percent(accesses)?, space))
    };
    let parts: Vec<(u32, Option<u32>)> = text.split(':').map(one).collect::<Option<_>>()?;
    let given: u32 = parts.iter().filter_map(|(_, space)| *space).sum();
    let open = parts.iter().filter(|(_, space)| space.is_none()).count() as u32;
    let rest = 100u32.checked_sub(given)? * 10_000;
    let (mut zones, mut count) = (Vec::new(), 0);
    for (accesses, space) in parts {
        let space = space.map_or_else(
            || {
                count += 1;
                Millionths(rest * count / open - rest * (count - 1) / open)
            },
            Millionths::percent,
        );
        zones.push(Zone { accesses: Millionths::percent(accesses), space });
    }
    let whole = |of: fn(&Zone) -> Millionths| zones.iter().map(|zone| u64::from(of(zone).0)).sum::<u64>() == 1_000_000;
    let nowhere = zones.iter().any(|zone| zone.space.0 == 0) || !ZONES.hold(&zones.len());
    (whole(|z| z.accesses) && whole(|z| z.space) && !nowhere).then_some(zones)
}

/// The value of `( … )` with + - * / % ^ and nested parentheses. `None` if it is none.
fn evaluate(text: &str) -> Option<f64> {
    let mut parser = Parser { text: text.as_bytes(), at: 0, depth: 0 };
    let value = parser.sum()?;
    (parser.peek().is_none()).then_some(value)
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn sum(&mut self) -> Option<f64> {
        let mut value = self.product()?;
        while let Some(sign @ (b'+' | b'-')) = self.peek() {
            self.at += 1;
            let other = self.product()?;
            value = if sign == b'+' { value + other } else { value - other };
        }
        Some(value)
    }

    fn product(&mut self) -> Option<f64> {
        let mut value = self.power()?;
        while let Some(sign @ (b'*' | b'/' | b'%')) = self.peek() {
            self.at += 1;
            let other = self.power()?;
            value = match sign {
                b'*' => value * other,
                b'/' => value / other,
                _ => value % other,
            };
        }
        Some(value)
    }

    fn power(&mut self) -> Option<f64> {
        let base = self.atom()?;
        if self.peek() != Some(b'^') {
            return Some(base);
        }
        self.at += 1;
        self.nested(Parser::power).map(|exponent| base.powf(exponent))
    }

    fn atom(&mut self) -> Option<f64> {
        if self.peek()? == b'(' {
            self.at += 1;
            let value = self.nested(Parser::sum)?;
            (self.peek() == Some(b')')).then(|| self.at += 1)?;
            return Some(value);
        }
        let from = self.at;
        while self.text.get(self.at).is_some_and(u8::is_ascii_alphanumeric) {
            self.at += 1;
        }
        let word = std::str::from_utf8(&self.text[from..self.at]).ok()?;
        match size(word, 1024)? {
            Amount::Bytes(bytes) => Some(bytes.0 as f64),
            Amount::Percent(_) => None,
        }
    }

    fn nested(&mut self, what: fn(&mut Self) -> Option<f64>) -> Option<f64> {
        self.depth += 1;
        let value = (self.depth <= DEPTH_MAX).then(|| what(self))?;
        self.depth -= 1;
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kib_is_a_thousand_and_k_is_1024_unless_kb_base_says_so() {
        let read = |text, base| match size(text, base) {
            Some(Amount::Bytes(bytes)) => bytes.0,
            other => panic!("{text}: {other:?}"),
        };
        // As fio 3.33 prints them for `--bs`.
        let all =
            [("4k", 4096), ("4ki", 4096), ("4KB", 4096), ("4kib", 4000), ("0x1000", 4096), ("512", 512), ("1b", 1)];
        for (text, bytes) in all {
            assert_eq!(read(text, 1024), bytes, "{text}");
        }
        assert_eq!(
            (read("4k", 1000), read("4kib", 1000), read("(2*4)k", 1024), read("1g", 1024)),
            (4000, 4096, 8192, 1 << 30)
        );
        assert_eq!(size("80%", 1024), Some(Amount::Percent(80)));
        for text in ["1.5k", "4x", "k", "", "-1", "99999999p", "101%", "0x", "(", "()", "(1", "4kibb"] {
            assert_eq!(size(text, 1024), None, "{text}");
        }
    }

    #[test]
    fn expressions_have_the_usual_order_and_a_bound() {
        let value = |text| whole(text);
        assert_eq!(
            (value("(2+3*4)"), value("((2+3)*4)"), value("(2^3^2)"), value("(7%4)")),
            (Some(14), Some(20), Some(512), Some(3))
        );
        assert_eq!((value("(4k*2)"), value("(1/0)"), value("(1-2)"), value("(1) 2")), (Some(8192), None, None, None));
        assert_eq!(value(&format!("{}1{}", "(".repeat(1000), ")".repeat(1000))), None);
        assert_eq!(time("(500)", Nanos::SECOND), Some(Nanos(500_000)), "microseconds inside of parentheses");
        assert_eq!(
            (time("90", Nanos::SECOND), time("2m", Nanos::SECOND)),
            (Some(Nanos::secs(90)), Some(Nanos::secs(120)))
        );
        assert_eq!(time("5 min", Nanos::SECOND), None);
    }
}
