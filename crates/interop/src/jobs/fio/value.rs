//! Values of fio's options: numbers with their units, expressions, triples by direction. Must not know which option it reads.
//! Facts: `str_to_decimal` and `__get_mult_bytes` of fio's `parse.c`, tried with fio 3.33.

use super::super::notes::shown;
use super::lines::Opt;
use stend_base::{Bytes, Error, Nanos, Result, say};

impl Amount {
    pub const NONE: Amount = Amount::Bytes(Bytes(0));
}

/// Nesting of parentheses in an expression.
const DEPTH_MAX: usize = 32;

/// A length: bytes, or percent of a file or device that is not known yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Amount {
    Bytes(Bytes),
    Percent(u32),
}

impl Opt {
    /// What is behind `=`; an error if nothing is.
    pub fn text(&self) -> Result<&str> {
        match self.value.as_deref() {
            Some(text) if !text.is_empty() => Ok(text),
            _ => Err(self.wrong("", "a value", "значение")),
        }
    }

    /// The error of a value that is no `expected`.
    pub fn wrong(&self, part: &str, expected: &str, in_russian: &str) -> Box<Error> {
        let (name, part) = (&self.name, shown(part));
        self.place
            .error(say!("`{name}` needs {expected}, not `{part}`", "`{name}` требует {in_russian}, а не `{part}`"))
    }

    /// A flag: a bare name is yes.
    pub fn flag(&self) -> Result<bool> {
        match self.value.as_deref() {
            None => Ok(true),
            Some(text) => match whole(text) {
                Some(n) => Ok(n != 0),
                None => Err(self.wrong(text, "0 or 1", "0 или 1")),
            },
        }
    }

    /// A whole number.
    pub fn whole(&self) -> Result<u64> {
        let text = self.text()?;
        // A count may have a `k` behind it, too.
        let counted = || match size(text, 1024) {
            Some(Amount::Bytes(count)) => Some(count.0),
            _ => None,
        };
        whole(text).or_else(counted).ok_or_else(|| self.wrong(text, "a whole number", "целое число"))
    }

    /// A whole number that fits where we keep it.
    pub fn small(&self) -> Result<u32> {
        let number = self.whole()?;
        u32::try_from(number).map_err(|_| self.wrong(&number.to_string(), "a smaller number", "меньшее число"))
    }

    /// A size in bytes.
    pub fn bytes(&self, text: &str, kb_base: u64) -> Result<Bytes> {
        match size(text, kb_base) {
            Some(Amount::Bytes(bytes)) => Ok(bytes),
            _ => Err(self.wrong(text, "a size such as `4k`", "размер, например `4k`").hint(say!(
                "fio reads whole numbers with k, m, g, t or p behind them",
                "fio читает целые числа с k, m, g, t или p"
            ))),
        }
    }

    /// A size, or percent.
    pub fn amount(&self, kb_base: u64) -> Result<Amount> {
        let text = self.text()?;
        size(text, kb_base)
            .ok_or_else(|| self.wrong(text, "a size such as `10g` or `50%`", "размер, например `10g` или `50%`"))
    }

    /// A time; a number without a unit counts in `unit`.
    pub fn nanos(&self, unit: Nanos) -> Result<Nanos> {
        let text = self.text()?;
        time(text, unit).ok_or_else(|| self.wrong(text, "a time such as `30s`", "время, например `30s`"))
    }

    /// Values of reads, writes and discards: one that lacks has the value before it.
    pub fn triple<'a>(&self, text: &'a str) -> Result<[Option<&'a str>; 3]> {
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        let at = |index: usize| parts.get(index).copied().filter(|part| !part.is_empty());
        match parts.len() {
            1..=3 => {
                let write = if parts.len() > 1 { at(1) } else { at(0) };
                Ok([at(0), write, if parts.len() > 2 { at(2) } else { write }])
            }
            _ => Err(self.wrong(text, "at most three values", "не больше трёх значений")),
        }
    }
}

/// A whole number, decimal or `0x…`, or an expression in parentheses.
fn whole(text: &str) -> Option<u64> {
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

fn size(text: &str, kb_base: u64) -> Option<Amount> {
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

fn time(text: &str, unit: Nanos) -> Option<Nanos> {
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
