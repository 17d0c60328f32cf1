//! A writer of HTML and SVG that escapes everything that is not a literal of this program.
//! Tags, attribute names and raw pieces are `&'static str`, so that a name found on a host, in a suite
//! or in a run file can only ever become text or an attribute's value.

use crate::typography::hold;
use stend_base::{Lang, Say};

/// Markup being written.
#[derive(Debug, Default)]
pub struct Markup {
    out: String,
}

impl Markup {
    /// Nothing written yet.
    pub fn new() -> Markup {
        Markup::default()
    }

    /// The finished text.
    pub fn finish(self) -> String {
        self.out
    }

    /// A literal of the program, as it is.
    pub fn raw(&mut self, literal: &'static str) {
        self.out.push_str(literal);
    }

    /// Text from anywhere.
    pub fn text(&mut self, text: &str) {
        self.out.extend(text.chars().flat_map(Escaped::from));
    }

    /// A statement in both languages; the page shows one of them. Texts that agree are written once.
    pub fn say(&mut self, say: &Say) {
        if say.en == say.ru {
            return self.prose(&say.en);
        }
        for lang in [Lang::En, Lang::Ru] {
            self.with("span", &[("lang", lang.tag())], |m| m.prose(say.get(lang)));
        }
    }

    /// A sentence: numbers keep their units, and what stands between backticks is set as code.
    fn prose(&mut self, text: &str) {
        let text = hold(text);
        let pieces: Vec<&str> = text.split('`').collect();
        if pieces.len().is_multiple_of(2) {
            return self.text(&text);
        }
        for (i, piece) in pieces.into_iter().enumerate() {
            match i % 2 {
                0 => self.text(piece),
                _ => self.el("code", "", |m| m.text(piece)),
            }
        }
    }

    /// An element with attributes and contents.
    pub fn with(&mut self, tag: &'static str, attributes: &[(&'static str, &str)], inside: impl FnOnce(&mut Markup)) {
        self.start(tag, attributes);
        inside(self);
        self.out.push_str("</");
        self.out.push_str(tag);
        self.out.push('>');
    }

    /// An element with a class (none if empty) and contents.
    pub fn el(&mut self, tag: &'static str, class: &'static str, inside: impl FnOnce(&mut Markup)) {
        let class = [("class", class)];
        self.with(tag, if class[0].1.is_empty() { &[] } else { &class }, inside);
    }

    /// An element with a class that holds one statement.
    pub fn line(&mut self, tag: &'static str, class: &'static str, say: &Say) {
        self.el(tag, class, |m| m.say(say));
    }

    /// A start tag alone, for elements of HTML that have no end tag.
    pub fn start(&mut self, tag: &'static str, attributes: &[(&'static str, &str)]) {
        self.out.push('<');
        self.out.push_str(tag);
        for (name, value) in attributes {
            self.out.push(' ');
            self.out.push_str(name);
            self.out.push_str("=\"");
            self.text(value);
            self.out.push('"');
        }
        self.out.push('>');
    }
}

/// One character as it may stand in text and attributes.
enum Escaped {
    Char(Option<char>),
    Entity(std::str::Chars<'static>),
}

impl From<char> for Escaped {
    fn from(c: char) -> Escaped {
        match c {
            '&' => Escaped::Entity("&amp;".chars()),
            '<' => Escaped::Entity("&lt;".chars()),
            '>' => Escaped::Entity("&gt;".chars()),
            '"' => Escaped::Entity("&quot;".chars()),
            '\'' => Escaped::Entity("&#39;".chars()),
            other => Escaped::Char(Some(visible(other))),
        }
    }
}

impl Iterator for Escaped {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        match self {
            Escaped::Char(c) => c.take(),
            Escaped::Entity(chars) => chars.next(),
        }
    }
}

/// The character itself, or U+FFFD for what must reach neither a page nor a terminal: control
/// characters (but line feed and tab), marks that reorder text, and code points XML forbids.
pub fn visible(c: char) -> char {
    match c {
        '\n' | '\t' => c,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

/// A coordinate with at most two decimals. What is not finite becomes 0: a mark in a wrong place is
/// seen, an SVG with `NaN` in it draws nothing at all.
pub fn coordinate(value: f64) -> String {
    if !value.is_finite() {
        return "0".to_string();
    }
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_string() } else { text.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_stays_text() {
        let mut m = Markup::new();
        m.with("a", &[("title", "\" onclick='x'")], |m| m.text("<script>&\u{1b}[31m\u{202e}"));
        assert_eq!(m.finish(), "<a title=\"&quot; onclick=&#39;x&#39;\">&lt;script&gt;&amp;\u{fffd}[31m\u{fffd}</a>");
    }

    #[test]
    fn a_statement_that_is_the_same_in_both_languages_is_written_once() {
        let mut m = Markup::new();
        m.say(&Say::same("p50"));
        m.say(&Say { en: "read".into(), ru: "чтение".into() });
        assert_eq!(m.finish(), "p50<span lang=\"en\">read</span><span lang=\"ru\">чтение</span>");
    }

    #[test]
    fn names_between_backticks_are_code_and_a_lone_backtick_is_text() {
        let mut m = Markup::new();
        m.say(&Say::same("see `a<b` now"));
        m.say(&Say::same("; it`s"));
        assert_eq!(m.finish(), "see <code>a&lt;b</code> now; it`s");
    }

    #[test]
    fn coordinates_are_short_and_finite() {
        let texts: Vec<_> = [1.0, 0.126, -0.001, f64::NAN, f64::INFINITY].map(coordinate).to_vec();
        assert_eq!(texts, ["1", "0.13", "0", "0", "0"]);
    }
}
