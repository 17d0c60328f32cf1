//! JSON as other tools print it, with the line of every value and every number digit by digit. Pure, and wary: text before a
//! document and several documents in one file are usual, `nan` occurs, and a file may end anywhere.

use std::borrow::Cow;
use std::collections::HashSet;
use stend_base::{Say, say};

/// Objects and lists inside each other. fio has 6.
const DEPTH_MAX: u32 = 16;

/// A value and where it begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Value<'a> {
    /// Line of the file, from 1.
    pub line: u32,
    /// What it is.
    pub kind: Kind<'a>,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind<'a> {
    /// `null`, `true` or `false`.
    Word(&'a str),
    /// A number as printed, `nan` and `inf` included.
    Number(&'a str),
    /// A text without its quotes.
    Text(Cow<'a, str>),
    /// A list.
    List(Vec<Value<'a>>),
    /// Pairs in their order. A name occurs once, unless it is that of an option or of an unused percentile.
    Map(Vec<(Cow<'a, str>, Value<'a>)>),
}

impl<'a> Value<'a> {
    /// The value of a name; of an option that is there twice the last one.
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        self.pairs().iter().rev().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// Names and values; none if it is no object.
    pub fn pairs(&self) -> &[(Cow<'a, str>, Value<'a>)] {
        match &self.kind {
            Kind::Map(pairs) => pairs,
            _ => &[],
        }
    }

    /// Members of a list; none if it is none.
    pub fn items(&self) -> &[Value<'a>] {
        match &self.kind {
            Kind::List(items) => items,
            _ => &[],
        }
    }

    /// A text, or a number as text.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            Kind::Number(text) => Some(text),
            _ => None,
        }
    }

    /// A finite number.
    pub fn number(&self) -> Option<f64> {
        match self.kind {
            Kind::Number(text) => text.parse().ok().filter(|value: &f64| value.is_finite()),
            _ => None,
        }
    }

    /// A whole number of at most 2^64 - 1.
    pub fn whole(&self) -> Option<u64> {
        match self.kind {
            Kind::Number(text) => text.parse().ok(),
            _ => None,
        }
    }
}

/// Why and where something is no JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Line of the file, from 1.
    pub line: u32,
    /// Why.
    pub why: Say,
    /// The file ends inside of the document.
    pub truncated: bool,
}

/// The documents of a text, and why the rest of it is none. What stands outside of documents is left out.
pub fn documents(text: &str) -> (Vec<Value<'_>>, Option<Broken>) {
    let mut reader = Reader { text, at: 0, line: 1 };
    let mut found = Vec::new();
    while reader.seek() {
        match reader.value(0, Names::Once) {
            Ok(value) => found.push(value),
            Err(broken) => return (found, Some(broken)),
        }
    }
    (found, None)
}

/// Which names of an object may occur more than once.
#[derive(Clone, Copy)]
enum Names {
    /// None.
    Once,
    /// All: of options the last one counts.
    Options,
    /// Those of slots that are not used: fio 2.0 to 3.1 prints `"0.00" : 0` for each.
    Percentiles,
}

impl Names {
    /// The object that stands behind a name.
    fn below(name: &str) -> Names {
        match name {
            "percentile" => Names::Percentiles,
            name if name.ends_with("options") => Names::Options,
            _ => Names::Once,
        }
    }

    fn repeat(self, name: &str) -> bool {
        match self {
            Names::Once => false,
            Names::Options => true,
            Names::Percentiles => name.parse() == Ok(0.0),
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    line: u32,
}

impl<'a> Reader<'a> {
    /// Goes to the next `{` that is the first thing in its line; `false` if there is none.
    fn seek(&mut self) -> bool {
        loop {
            self.blanks();
            match self.peek() {
                None => return false,
                Some(b'{') => return true,
                Some(_) => {
                    let rest = &self.text.as_bytes()[self.at..];
                    self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                }
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while let Some(byte @ (b' ' | b'\t' | b'\r' | b'\n')) = self.peek() {
            self.line += u32::from(byte == b'\n');
            self.at += 1;
        }
    }

    fn broken(&self, why: Say) -> Broken {
        Broken { line: self.line, why, truncated: false }
    }

    fn end(&self) -> Broken {
        let why = say!("the file ends in the middle of it", "файл обрывается посередине");
        Broken { truncated: true, ..self.broken(why) }
    }

    fn value(&mut self, depth: u32, names: Names) -> Result<Value<'a>, Broken> {
        self.blanks();
        let line = self.line;
        if depth > DEPTH_MAX {
            return Err(
                self.broken(say!("nested more than {DEPTH_MAX} levels deep", "более {DEPTH_MAX} уровней вложенности"))
            );
        }
        let kind = match self.peek().ok_or_else(|| self.end())? {
            b'{' => Kind::Map(self.map(depth, names)?),
            b'[' => Kind::List(self.list(depth, names)?),
            b'"' => Kind::Text(self.string()?),
            _ => self.word()?,
        };
        Ok(Value { line, kind })
    }

    fn map(&mut self, depth: u32, allowed: Names) -> Result<Vec<(Cow<'a, str>, Value<'a>)>, Broken> {
        self.at += 1;
        let (mut pairs, mut names) = (Vec::new(), HashSet::new());
        loop {
            if self.closed(b'}', pairs.is_empty())? {
                return Ok(pairs);
            }
            if self.peek().ok_or_else(|| self.end())? != b'"' {
                return Err(self.broken(say!("expected a name in quotes", "ожидалось имя в кавычках")));
            }
            let name = self.string()?;
            if !allowed.repeat(&name) && !names.insert(name.clone()) {
                return Err(self.broken(say!("`{name}` appears twice", "`{name}` встречается дважды")));
            }
            self.blanks();
            if self.peek().ok_or_else(|| self.end())? != b':' {
                return Err(self.broken(say!("expected a colon after `{name}`", "после `{name}` ожидалось двоеточие")));
            }
            self.at += 1;
            let value = self.value(depth + 1, Names::below(&name))?;
            pairs.push((name, value));
        }
    }

    fn list(&mut self, depth: u32, names: Names) -> Result<Vec<Value<'a>>, Broken> {
        self.at += 1;
        let mut items = Vec::new();
        while !self.closed(b']', items.is_empty())? {
            items.push(self.value(depth + 1, names)?);
        }
        Ok(items)
    }

    /// Whether the object or list ends here; else goes past the comma before its next member.
    fn closed(&mut self, with: u8, first: bool) -> Result<bool, Broken> {
        self.blanks();
        let next = self.peek().ok_or_else(|| self.end())?;
        if next == with {
            self.at += 1;
            return Ok(true);
        }
        if first {
            return Ok(false);
        }
        if next != b',' {
            return Err(self.broken(say!("expected a comma", "ожидалась запятая")));
        }
        self.at += 1;
        self.blanks();
        Ok(false)
    }

    fn string(&mut self) -> Result<Cow<'a, str>, Broken> {
        self.at += 1;
        let (from, mut escaped) = (self.at, false);
        loop {
            match self.peek().ok_or_else(|| self.end())? {
                b'"' => break,
                // A text over several lines is one whose quote is missing.
                b'\n' => {
                    return Err(self.broken(say!("a string without a closing quote", "строка без закрывающей кавычки")));
                }
                b'\\' => {
                    escaped = true;
                    self.at += 1;
                    // A second byte of a character is no quote, so one step is enough for any.
                    if self.peek().is_some_and(|byte| byte != b'\n') {
                        self.at += 1;
                    }
                }
                _ => self.at += 1,
            }
        }
        let text = &self.text[from..self.at];
        self.at += 1;
        Ok(if escaped { Cow::Owned(plain(text)) } else { Cow::Borrowed(text) })
    }

    fn word(&mut self) -> Result<Kind<'a>, Broken> {
        let from = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')) {
            self.at += 1;
        }
        let word = &self.text[from..self.at];
        match word {
            "null" | "true" | "false" => Ok(Kind::Word(word)),
            _ if word.parse::<f64>().is_ok() => Ok(Kind::Number(word)),
            _ if self.at == self.text.len() => Err(self.end()),
            _ => {
                let shown: String = self.text[from..].chars().take_while(|c| !c.is_whitespace()).take(20).collect();
                Err(self.broken(say!("`{shown}` is not a value", "`{shown}` — не значение")))
            }
        }
    }
}

/// A text with what its backslashes mean. Halves of a pair of UTF-16 are put together; a half alone becomes U+FFFD.
fn plain(text: &str) -> String {
    let (mut units, mut rest) = (Vec::<u16>::new(), text);
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        let Some(next) = rest.chars().next().filter(|_| c == '\\') else {
            units.extend(c.encode_utf16(&mut [0; 2]).iter());
            continue;
        };
        rest = &rest[next.len_utf8()..];
        let code = (next == 'u').then(|| rest.get(..4).and_then(|hex| u16::from_str_radix(hex, 16).ok())).flatten();
        if let Some(code) = code {
            rest = &rest[4..];
            units.push(code);
            continue;
        }
        let meant = match next {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            other => other,
        };
        units.extend(meant.encode_utf16(&mut [0; 2]).iter());
    }
    String::from_utf16_lossy(&units)
}

#[cfg(test)]
mod tests;
