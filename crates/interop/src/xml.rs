//! XML as other tools write it, as a tree of elements with their lines. Pure, and wary: text before a document and several documents
//! in one file are usual, names of files stand in it with their `&` as they are, and a file may end anywhere. A definition of a document type is
//! refused, so nothing is ever expanded.

use quick_xml::Reader;
use quick_xml::errors::SyntaxError;
use quick_xml::events::{BytesRef, Event};
use std::borrow::Cow;
use stend_base::{Say, say};

/// Elements inside each other. Results of diskspd have 8.
const DEPTH_MAX: usize = 32;
/// Elements of a file: what diskspd prints of a thousand threads for an hour has fewer, and each takes some hundred bytes.
const ELEMENTS_MAX: usize = 1_000_000;
/// Longest name of an element, bytes: that of diskspd's longest is 34. Names are repeated in messages and labels.
const NAME_MAX: usize = 128;
/// Characters of what the reader says of wrong XML, which repeats names of it.
const SHOWN_MAX: usize = 300;
/// Longest reference: `&#x10ffff;`, and names as long.
const REFERENCE_MAX: usize = 16;

/// An element, and where it begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Element<'a> {
    /// Line of the file, from 1.
    pub line: u32,
    /// Its name, with the prefix if it has one.
    pub name: &'a str,
    /// Elements in it, in their order.
    pub children: Vec<Element<'a>>,
    /// The file does not end before it does.
    pub whole: bool,
    attributes: &'a str,
    text: Cow<'a, str>,
}

impl<'a> Element<'a> {
    /// The first element of this name in it.
    pub fn child(&self, name: &str) -> Option<&Element<'a>> {
        self.children.iter().find(|child| child.name == name)
    }

    /// All elements of this name in it.
    pub fn all<'e>(&'e self, name: &'e str) -> impl Iterator<Item = &'e Element<'a>> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// Its own text, without blanks at both ends.
    pub fn text(&self) -> &str {
        self.text.trim()
    }

    /// The value of an attribute, as it is written.
    pub fn attribute(&self, name: &str) -> Option<&'a str> {
        let mut rest = self.attributes;
        loop {
            let (own, behind) = rest.split_once('=')?;
            let behind = behind.trim_start();
            let quote = behind.chars().next().filter(|c| matches!(c, '"' | '\''))?;
            let (value, after) = behind[1..].split_once(quote)?;
            if own.trim() == name {
                return Some(value);
            }
            rest = after;
        }
    }
}

/// Why and where something is no XML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Line of the file, from 1.
    pub line: u32,
    /// Why.
    pub why: Say,
    /// The file ends inside of an element.
    pub truncated: bool,
}

/// The documents of a text, and why the rest of it is none. Text outside of them is left out. If the file ends in an element, what stands
/// before the end is kept; elements that lack their end are not [`Element::whole`].
pub fn documents(text: &str) -> (Vec<Element<'_>>, Option<Broken>) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut tree = Tree { text, at: 0, line: 1, count: 0, open: Vec::new(), roots: Vec::new() };
    let broken = tree.read().err();
    (tree.roots, broken)
}

struct Tree<'a> {
    text: &'a str,
    /// Bytes whose lines are counted.
    at: usize,
    line: u32,
    count: usize,
    open: Vec<Element<'a>>,
    roots: Vec<Element<'a>>,
}

impl<'a> Tree<'a> {
    fn read(&mut self) -> Result<(), Broken> {
        let mut reader = Reader::from_str(self.text);
        reader.config_mut().allow_dangling_amp = true;
        loop {
            let from = reader.buffer_position() as usize;
            let event = reader.read_event();
            let to = (reader.buffer_position() as usize).min(self.text.len());
            self.line +=
                self.text.as_bytes()[self.at..from.max(self.at)].iter().filter(|b| **b == b'\n').count() as u32;
            self.at = from.max(self.at);
            let raw = self.text.get(from..to).unwrap_or_default();
            match event.map_err(|error| self.bad(&error))? {
                Event::Start(_) => {
                    let element = self.element(raw.trim_start_matches('<').trim_end_matches('>'))?;
                    self.open.push(element);
                }
                Event::Empty(_) => {
                    let element = self.element(raw.trim_start_matches('<').trim_end_matches("/>"))?;
                    self.close(element);
                }
                // That it ends what began last is checked by the reader.
                Event::End(_) => {
                    if let Some(element) = self.open.pop() {
                        self.close(Element { whole: true, ..element });
                    }
                }
                Event::Text(_) => self.add(raw),
                Event::CData(data) => self.add_owned(&data),
                Event::GeneralRef(reference) => self.add_owned(&referred(&reference)),
                Event::DocType(_) => {
                    return Err(self.broken(say!(
                        "document type definitions are not supported",
                        "определения типа документа не поддерживаются"
                    )));
                }
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
                Event::Eof => return self.end(),
            }
        }
    }

    /// An element of what stands between `<` and `>`.
    fn element(&mut self, tag: &'a str) -> Result<Element<'a>, Broken> {
        self.count += 1;
        if self.count > ELEMENTS_MAX {
            return Err(self.broken(say!("more than {ELEMENTS_MAX} elements", "больше {ELEMENTS_MAX} элементов")));
        }
        if self.open.len() >= DEPTH_MAX {
            let why = say!("nested more than {DEPTH_MAX} levels deep", "более {DEPTH_MAX} уровней вложенности");
            return Err(self.broken(why));
        }
        let (name, attributes) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
        if name.len() > NAME_MAX {
            let why = say!(
                "an element whose name has more than {NAME_MAX} bytes",
                "элемент, имя которого длиннее {NAME_MAX} байт"
            );
            return Err(self.broken(why));
        }
        Ok(Element { line: self.line, name, children: Vec::new(), whole: false, attributes, text: Cow::Borrowed("") })
    }

    fn close(&mut self, element: Element<'a>) {
        match self.open.last_mut() {
            Some(outer) => outer.children.push(element),
            None => self.roots.push(element),
        }
    }

    fn add(&mut self, text: &'a str) {
        let Some(element) = self.open.last_mut().filter(|element| !element.text.is_empty() || !text.trim().is_empty())
        else {
            return;
        };
        match element.text.is_empty() {
            true => element.text = Cow::Borrowed(text),
            false => element.text.to_mut().push_str(text),
        }
    }

    fn add_owned(&mut self, text: &str) {
        if let Some(element) = self.open.last_mut() {
            element.text.to_mut().push_str(text);
        }
    }

    /// The end of the text: what is open stays as far as it goes.
    fn end(&mut self) -> Result<(), Broken> {
        let cut = self.open.first().map(|element| element.name);
        while let Some(element) = self.open.pop() {
            self.close(element);
        }
        match cut {
            Some(name) => {
                let why = say!("the file ends in the middle of `{name}`", "файл обрывается посередине `{name}`");
                Err(Broken { truncated: true, ..self.broken(why) })
            }
            None => Ok(()),
        }
    }

    fn bad(&mut self, error: &quick_xml::Error) -> Broken {
        if self.is_cut(error) && !(self.open.is_empty() && self.roots.is_empty()) {
            let broken = self.end().err();
            return broken.unwrap_or_else(|| {
                let why = say!("the file ends in the middle of it", "файл обрывается посередине");
                Broken { truncated: true, ..self.broken(why) }
            });
        }
        let error: String = error.to_string().chars().take(SHOWN_MAX).collect();
        self.broken(say!("no XML: {error}", "не XML: {error}"))
    }

    /// Whether the text ends in something without its end, which the reader looked for to the end of the text.
    fn is_cut(&self, error: &quick_xml::Error) -> bool {
        match error {
            quick_xml::Error::Syntax(SyntaxError::InvalidBangMarkup) => self.text.get(self.at..) == Some("<!"),
            quick_xml::Error::Syntax(_) => true,
            _ => false,
        }
    }

    fn broken(&self, why: Say) -> Broken {
        Broken { line: self.line, why, truncated: false }
    }
}

/// What a reference stands for: a character, or what it is written as.
fn referred(reference: &BytesRef<'_>) -> String {
    let name: &str = reference;
    let known = match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ if name.len() <= REFERENCE_MAX => reference.resolve_char_ref().ok().flatten(),
        _ => None,
    };
    known.map_or_else(|| format!("&{name};"), String::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn one(text: &str) -> Element<'_> {
        let (mut found, broken) = documents(text);
        assert_eq!((found.len(), broken), (1, None), "{text}");
        found.remove(0)
    }

    fn broken(text: &str) -> (u32, String, bool) {
        let broken = documents(text).1.expect("it is broken");
        (broken.line, broken.why.en, broken.truncated)
    }

    #[test]
    fn elements_have_their_lines_texts_and_attributes() {
        let root = one(
            "\u{feff}<?xml version=\"1.0\"?>\n<!-- a -->\n<a>\n <b x = '1' y=\"2>\">  t </b>\n <b/>\n <c>u</c></a>\n",
        );
        assert_eq!((root.name, root.line, root.whole, root.text()), ("a", 3, true, ""));
        let all: Vec<_> = root.all("b").map(|b| (b.line, b.text(), b.attribute("y"))).collect();
        assert_eq!(all, [(4, "t", Some("2>")), (5, "", None)]);
        assert_eq!((root.child("b").unwrap().attribute("x"), root.child("d")), (Some("1"), None));
    }

    #[test]
    fn names_of_files_are_what_they_are_and_nothing_is_expanded() {
        let root = one("<a>x&amp;y &#x41;&lt;&other; R&D <![CDATA[<z>]]></a>");
        assert_eq!(root.text(), "x&y A<&other; R&D <z>");
        let bomb = "<!DOCTYPE a [<!ENTITY b \"bbbb\">]>\n<a>&b;</a>";
        assert_eq!(broken(bomb), (1, "document type definitions are not supported".into(), false));
    }

    #[test]
    fn text_around_documents_and_several_of_them_are_usual() {
        let (found, why) = documents("WARNING: R&D > 1\n<a>1</a><a>2</a>\nend\n");
        assert_eq!((found.iter().map(Element::text).collect::<Vec<_>>(), why), (vec!["1", "2"], None));
        assert_eq!(documents("").0.len(), 0);
    }

    #[test]
    fn of_a_file_that_was_cut_there_is_what_stands_before() {
        for text in [
            "<a>\n<b>1</b>\n<c>2",
            "<a>\n<b>1</b>\n<c>2</",
            "<a>\n<b>1</b>\n<c>2</c",
            "<a>\n<b>1</b>\n<c>2<!",
            "<a>\n<b>1</b>\n<c>2<!-",
        ] {
            let (found, why) = documents(text);
            let (a, why) = (&found[0], why.unwrap());
            assert!(why.truncated && !a.whole && a.child("b").unwrap().whole && !a.child("c").unwrap().whole, "{text}");
            assert_eq!(why.why.en, "the file ends in the middle of `a`");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let (line, why, truncated) = broken("<a>\n<b>\n</c>\n</a>");
        assert!(line == 3 && why.starts_with("no XML: ") && !truncated, "{why}");
        let (line, why, truncated) = broken("<a>\n<b>1</b>\n<!x>\n</a>");
        assert!(line == 3 && why.starts_with("no XML: ") && !truncated, "{why}");
        let named = |len: usize| documents(&format!("<a>\n<{}/></a>", "n".repeat(len))).1;
        assert_eq!(named(NAME_MAX), None);
        let why = named(NAME_MAX + 1).expect("it is too long");
        assert_eq!((why.line, why.why.en.as_str()), (2, "an element whose name has more than 128 bytes"));
        assert!(!why.truncated);
        assert!(broken(&format!("<a></{}>", "n".repeat(1 << 20))).1.len() < 400);
        let deep = "<a>\n".repeat(DEPTH_MAX + 1);
        assert_eq!(broken(&deep), (33, "nested more than 32 levels deep".into(), false));
        let many = format!("<a>{}</a>", "<b/>".repeat(ELEMENTS_MAX));
        assert_eq!(broken(&many).1, "more than 1000000 elements");
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(<[ab/!?]|[<>&;\"'=/ab #x]|\\]\\]>|<!\\[CDATA\\[|<!--|\n|ж){0,60}") {
            let (found, _) = documents(&text);
            for element in &found {
                element.attribute("a");
                element.text();
            }
        }
    }
}
