//! YAML as a tree of nodes that know their line and column, within limits that a hostile file cannot pass.
//!
//! The library parses; everything a user reads is worded here, because errors must name file, line,
//! column and the way out in both languages.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;
use serde_saphyr::options::AliasLimits;
use std::rc::Rc;
use stend_base::{Error, FilePosition, Result, Say, say};

/// Largest file that is read.
pub const SIZE_MAX: usize = 1 << 20;
/// Deepest nesting.
const DEPTH_MAX: usize = 32;
/// Most nodes: a thousand lines of settings are far below it.
const NODES_MAX: usize = 200_000;

/// Where a node stands; lines and columns count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The file as it was named.
    pub file: Rc<str>,
    /// Line.
    pub line: u64,
    /// Column.
    pub column: u64,
}

impl Position {
    fn of(location: &serde_saphyr::Location, file: &Rc<str>) -> Position {
        Position { file: file.clone(), line: location.line(), column: location.column() }
    }

    /// An error that starts with `file:line:column`.
    fn error(&self, message: &Say) -> Box<Error> {
        let place = FilePosition { file: self.file.to_string(), line: self.line, column: Some(self.column) };
        Error::at(place, &Say { en: shortened(&message.en), ru: shortened(&message.ru) })
    }
}

/// A value with its position.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Where it starts.
    pub at: Position,
    /// What it is.
    pub value: Value,
}

/// What a node holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`, `~` or nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// A number with a fraction.
    Float(f64),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A mapping in the order of the file.
    Map(Vec<(Key, Node)>),
}

/// A key of a mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Where it stands.
    pub at: Position,
    /// Its text.
    pub name: String,
}

impl Key {
    /// An error about this key.
    pub fn error(&self, message: Say) -> Box<Error> {
        self.at.error(&message)
    }
}

/// Parses a file's text. `file` is only used in errors.
pub fn parse(text: &str, file: &str) -> Result<Node> {
    parse_up_to(text, file, SIZE_MAX)
}

/// The same of a file that may have so many bytes.
pub fn parse_up_to(text: &str, file: &str, most: usize) -> Result<Node> {
    if text.len() > most {
        let most = most >> 20;
        return Err(Error::spec(say!("{file}: the file is larger than {most} MiB", "{file}: файл больше {most} МиБ")));
    }
    let budget = serde_saphyr::budget! {
        max_depth: DEPTH_MAX,
        max_nodes: NODES_MAX,
        max_events: 4 * NODES_MAX,
        max_aliases: 100,
        max_anchors: 100,
    };
    let mut alias_limits = AliasLimits::default();
    alias_limits.max_total_replayed_events = NODES_MAX;
    alias_limits.max_replay_stack_depth = DEPTH_MAX;
    alias_limits.max_alias_expansions_per_anchor = 100;
    let options = serde_saphyr::options! {
        budget: budget,
        alias_limits: alias_limits,
        with_snippet: false,
        strict_booleans: true,
    };
    match serde_saphyr::from_str_with_options::<Spanned<Raw>>(text, options) {
        Ok(raw) => Ok(node(raw, &file.into())),
        Err(error) => Err(syntax_error(&error, file)),
    }
}

fn syntax_error(error: &serde_saphyr::Error, file: &str) -> Box<Error> {
    let detail = error.without_snippet().to_string();
    // The library's sentence ends with its own copy of the place.
    let detail = detail.split(" at line ").next().unwrap_or_default();
    // Advice for programmers, not for the author of the file.
    let detail = shortened(detail.split(", set ").next().unwrap_or_default().trim());
    let told = in_words(&detail);
    let told = match error.location() {
        Some(location) => Position::of(&location, &file.into()).error(&told),
        None => {
            let Say { en, ru } = told;
            Error::spec(say!("{file}: {en}", "{file}: {ru}"))
        }
    };
    told.hint(match detail.starts_with(TWICE) {
        true => say!("remove one of them", "удалите один из них"),
        false => say!(
            "look at indentation, quotes and brackets in front of this place",
            "посмотрите на отступы, кавычки и скобки перед этим местом"
        ),
    })
}

/// How the library begins to tell of a key that stands twice.
const TWICE: &str = "duplicate mapping key: ";

/// What the library says most often, as a person would; the rest in its own words.
fn in_words(detail: &str) -> Say {
    if let Some(key) = detail.strip_prefix(TWICE) {
        return say!("the key `{key}` stands here twice", "ключ `{key}` указан здесь дважды");
    }
    let brackets = detail.strip_prefix("mismatched bracket '").and_then(|rest| rest.strip_suffix('\''));
    if let Some((open, close)) = brackets.and_then(|rest| rest.split_once("' closed by '")) {
        return say!("`{open}` is closed by `{close}`", "`{open}` закрыта скобкой `{close}`");
    }
    if detail == "expected string scalar" {
        return say!("a key is expected here, which is plain text", "здесь ожидается ключ, то есть обычный текст");
    }
    if TABS.iter().any(|known| detail.starts_with(known)) {
        return say!(
            "a tab stands here; YAML takes only spaces for indentation",
            "табуляция; YAML допускает для отступов только пробелы"
        );
    }
    if let Some(open) = detail.strip_prefix("unclosed bracket '").and_then(|rest| rest.strip_suffix('\'')) {
        return say!("`{open}` is never closed", "скобка `{open}` не закрыта");
    }
    match WORDS.iter().find(|(known, ..)| *known == detail) {
        Some((_, en, ru)) => say!("{en}", "{ru}"),
        None => say!("{detail}", "{detail} (сообщение разборщика YAML)"),
    }
}

/// How the library begins to tell of a tab.
const TABS: [&str; 4] = [
    "tabs disallowed",
    "tab cannot be used as indentation",
    "a block scalar content cannot start with a tab",
    "while scanning a plain scalar, found a tab",
];

/// What the library says of mistakes that people make, and what is said instead.
const WORDS: [(&str, &str, &str); 15] = [
    ("unclosed quote", "a quote is never closed", "кавычка не закрыта"),
    ("invalid indentation in multiline quoted scalar", "a quote is never closed", "кавычка не закрыта"),
    ("misplaced bracket", "a bracket closes nothing", "скобка ничего не закрывает"),
    ("invalid indentation", "the indentation fits no line above", "отступ не подходит ни к одной строке выше"),
    ("simple key expected ':'", "a `:` is missing behind a key", "после ключа нет `:`"),
    ("simple key is no longer valid", "a `:` is missing behind a key", "после ключа нет `:`"),
    ("mapping values are not allowed in this context", "a `:` is not expected here", "`:` здесь не ожидается"),
    ("mapping keys are not allowed in this context", "a key is not expected here", "ключ здесь не ожидается"),
    ("block sequence entries are not allowed in this context", "a `-` is not expected here", "`-` здесь не ожидается"),
    ("while parsing a block mapping, did not find expected key", "a key is expected here", "здесь ожидается ключ"),
    (
        "while parsing a block collection, did not find expected '-' indicator",
        "a `-` is expected here",
        "здесь ожидается `-`",
    ),
    (
        "while parsing a flow mapping, did not find expected ',' or '}'",
        "a `,` or `}` is expected here",
        "здесь ожидается `,` или `}`",
    ),
    (
        "while parsing a flow sequence, expected ',' or ']'",
        "a `,` or `]` is expected here",
        "здесь ожидается `,` или `]`",
    ),
    ("while parsing node, found unknown anchor", "an alias names no anchor", "псевдоним без якоря"),
    ("multiple documents not supported here", "the file holds several documents", "в файле несколько документов"),
];

impl Node {
    /// An error about this node.
    pub fn error(&self, message: Say) -> Box<Error> {
        self.at.error(&message)
    }

    /// The kind of value, as used in "expected …, found …".
    pub fn kind(&self) -> Say {
        match self.value {
            Value::Null => say!("nothing", "пусто"),
            Value::Bool(_) => say!("a truth value", "логическое значение"),
            Value::Int(_) | Value::Float(_) => say!("a number", "число"),
            Value::Text(_) => say!("text", "текст"),
            Value::List(_) => say!("a list", "список"),
            Value::Map(_) => say!("a mapping", "отображение"),
        }
    }
}

/// Most characters of a message that are shown: what a user wrote is in it, which may be a key of a megabyte.
const MESSAGE_MAX: usize = 400;

/// Both ends of a long text: the beginning names the culprit, the end says what is wrong with it.
fn shortened(text: &str) -> String {
    let length = text.chars().count();
    if length <= MESSAGE_MAX {
        return text.to_string();
    }
    let head: String = text.chars().take(MESSAGE_MAX / 2).collect();
    let tail: String = text.chars().skip(length - MESSAGE_MAX / 2).collect();
    format!("{head}…{tail}")
}

/// A value as the library hands it over, children still with the library's locations.
enum Raw {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<String>, Spanned<Raw>)>),
}

fn node(raw: Spanned<Raw>, file: &Rc<str>) -> Node {
    let key = |key: Spanned<String>| Key { at: Position::of(&key.referenced, file), name: key.value };
    let value = match raw.value {
        Raw::Null => Value::Null,
        Raw::Bool(b) => Value::Bool(b),
        Raw::Int(i) => Value::Int(i),
        Raw::Float(f) => Value::Float(f),
        Raw::Text(s) => Value::Text(s),
        Raw::List(items) => Value::List(items.into_iter().map(|item| node(item, file)).collect()),
        Raw::Map(pairs) => Value::Map(pairs.into_iter().map(|(name, raw)| (key(name), node(raw, file))).collect()),
    };
    Node { at: Position::of(&raw.referenced, file), value }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> std::result::Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_none<E>(self) -> std::result::Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Raw, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }

    fn visit_bool<E>(self, b: bool) -> std::result::Result<Raw, E> {
        Ok(Raw::Bool(b))
    }

    fn visit_i64<E>(self, i: i64) -> std::result::Result<Raw, E> {
        Ok(Raw::Int(i.into()))
    }

    fn visit_u64<E>(self, u: u64) -> std::result::Result<Raw, E> {
        Ok(Raw::Int(u.into()))
    }

    fn visit_i128<E>(self, i: i128) -> std::result::Result<Raw, E> {
        Ok(Raw::Int(i))
    }

    fn visit_u128<E>(self, u: u128) -> std::result::Result<Raw, E> {
        Ok(i128::try_from(u).map_or(Raw::Float(u as f64), Raw::Int))
    }

    fn visit_f64<E>(self, f: f64) -> std::result::Result<Raw, E> {
        Ok(Raw::Float(f))
    }

    fn visit_str<E>(self, s: &str) -> std::result::Result<Raw, E> {
        Ok(Raw::Text(s.to_string()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Raw, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Raw::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Raw, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Raw::Map(pairs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fails(text: &str) -> String {
        parse(text, "s.yaml").unwrap_err().render(stend_base::Lang::En)
    }

    #[test]
    fn nodes_know_their_line_and_column() {
        let node = parse("a: 1\nb:\n  - x\n  - {c: yes please}\n", "s.yaml").unwrap();
        let Value::Map(pairs) = &node.value else { panic!("not a map") };
        let at = |line, column| Position { file: "s.yaml".into(), line, column };
        assert_eq!(pairs[1].0, Key { at: at(2, 1), name: "b".into() });
        let Value::List(items) = &pairs[1].1.value else { panic!("not a list") };
        assert_eq!(items[1].at, at(4, 5));
    }

    #[test]
    fn the_library_speaks_both_languages_where_people_slip() {
        for (text, en, ru) in [
            ("a:\n  b: 1\n\tc: 2\n", "only spaces for indentation", "только пробелы"),
            ("a: {b: 1\n", "`{` is never closed", "скобка `{` не закрыта"),
            ("a: \"b\n", "a quote is never closed", "кавычка не закрыта"),
            ("a: b: c\n", "a `:` is not expected here", "`:` здесь не ожидается"),
        ] {
            let error = parse(text, "s.yaml").unwrap_err();
            assert!(error.message.en.contains(en) && error.message.ru.contains(ru), "{text:?}: {:?}", error.message);
        }
    }

    #[test]
    fn a_bomb_of_aliases_is_refused() {
        let mut text = String::from("a: &a [x,x,x,x,x,x,x,x,x]\n");
        for (name, last) in ('b'..='k').zip('a'..='j') {
            text +=
                &format!("{name}: &{name} [*{last},*{last},*{last},*{last},*{last},*{last},*{last},*{last},*{last}]\n");
        }
        assert!(fails(&text).starts_with("error: s.yaml"), "{}", fails(&text));
    }

    #[test]
    fn duplicate_keys_depth_and_size_have_limits() {
        assert!(fails("a: 1\na: 2\n").contains("s.yaml:2"), "{}", fails("a: 1\na: 2\n"));
        let deep = "[".repeat(40) + &"]".repeat(40);
        assert!(fails(&deep).starts_with("error: s.yaml"));
        assert!(fails(&"x".repeat(SIZE_MAX + 1)).contains("larger than 1 MiB"));
    }
}
