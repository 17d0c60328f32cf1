//! A switch of diskspd while it is read, and the value that it gave.

use super::super::JobPlace;
use super::super::notes::shown;
use stend_base::{Bytes, Error, Nanos, Result, say};

/// A value and the word that said it.
#[derive(Debug, Clone)]
pub(super) struct Given<T> {
    pub value: T,
    pub place: JobPlace,
}

/// One switch while it is read.
pub(super) struct Word<'a> {
    pub letter: char,
    pub value: &'a str,
    pub place: JobPlace,
}

impl Word<'_> {
    /// This value as one of its kind, without which the word means nothing.
    pub fn given<T>(&self, value: T) -> Given<T> {
        Given { value, place: self.place.clone() }
    }

    pub fn wrong(&self, en: &str, ru: &str) -> Box<Error> {
        let (letter, value) = (self.letter, shown(self.value));
        self.place.error(say!("`-{letter}` needs {en}, not `{value}`", "`-{letter}` требует {ru}, а не `{value}`"))
    }

    fn whole(&self, text: &str) -> Result<u32> {
        text.parse().map_err(|_| self.wrong("a whole number", "целое число"))
    }

    pub fn at_least_one(&self) -> Result<u32> {
        match self.whole(self.value)? {
            0 => Err(self.wrong("at least 1", "не меньше 1")),
            n => Ok(n),
        }
    }

    pub fn percent(&self, text: &str) -> Result<u32> {
        self.whole(text)
            .ok()
            .filter(|n| *n <= 100)
            .ok_or_else(|| self.wrong("0 to 100 percent", "от 0 до 100 процентов"))
    }

    pub fn seconds(&self) -> Result<Nanos> {
        Ok(Nanos::secs(u64::from(self.whole(self.value)?)))
    }

    /// A number with K, M, G or T, or with `b` for blocks.
    pub fn size(&self, text: &str, block: Bytes) -> Result<Bytes> {
        let bad = || self.wrong("a size such as `4K`", "размер, например `4K`");
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let number: u64 = text[..end].parse().map_err(|_| bad())?;
        let factor = match text[end..].to_ascii_lowercase().as_str() {
            "" => 1,
            "k" => 1 << 10,
            "m" => 1 << 20,
            "g" => 1 << 30,
            "t" => 1 << 40,
            "b" => block.0,
            _ => return Err(bad()),
        };
        number.checked_mul(factor).filter(|n| *n > 0).map(Bytes).ok_or_else(bad)
    }
}
