//! Values of fio's options: numbers with their units, flags, triples by direction. Must not know which option it reads.

use super::super::notes::shown;
use super::lines::Opt;
use crate::fio_values::{Amount, size, time, whole};
use stend_base::{Bytes, Error, Nanos, Result, say};

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
