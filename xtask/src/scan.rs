//! Splits Rust text into code and comments without parsing it. Everything that is not wanted is blanked
//! in place, so that offsets and line numbers stay those of the file. Must not judge what it finds.

/// One Rust text, seen twice. Both parts are as long as the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts {
    /// Code only: comments are blanked, and so is what stands between the quotes of literals.
    pub code: String,
    /// Comments only, with their slashes.
    pub comments: String,
}

/// Splits a text.
pub fn split(text: &str) -> Parts {
    let mut code: Vec<u8> = text.bytes().map(blank).collect();
    let mut comments = code.clone();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let (end, part) = match piece(text, at) {
            Piece::Comment(end) => (end, &mut comments),
            // Quotes stay, so that literals can still be found in the code.
            Piece::Literal { open, close, end } => {
                code[at..open].copy_from_slice(&bytes[at..open]);
                code[close..end].copy_from_slice(&bytes[close..end]);
                at = end;
                continue;
            }
            Piece::Code(end) => (end, &mut code),
        };
        part[at..end].copy_from_slice(&bytes[at..end]);
        at = end;
    }
    // Only whole characters were copied or blanked, so nothing is replaced here.
    let text_of = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Parts { code: text_of(code), comments: text_of(comments) }
}

/// Begin and end of what stands between the quotes of each string, in order.
pub fn strings(text: &str) -> Vec<(usize, usize)> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < text.len() {
        at = match piece(text, at) {
            Piece::Literal { open, close, end } => {
                if text[..open].ends_with(['"', '#']) {
                    found.push((open, close));
                }
                end
            }
            Piece::Comment(end) | Piece::Code(end) => end,
        };
    }
    found
}

/// White space of the same length; line ends stay.
fn blank(byte: u8) -> u8 {
    if byte == b'\n' { b'\n' } else { b' ' }
}

/// What begins at a place of the text, and where it ends.
enum Piece {
    Comment(usize),
    /// Its content lies between `open` and `close`, both behind resp. before the quotes.
    Literal {
        open: usize,
        close: usize,
        end: usize,
    },
    Code(usize),
}

fn piece(text: &str, at: usize) -> Piece {
    let rest = &text[at..];
    if rest.starts_with("//") {
        return Piece::Comment(at + rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return Piece::Comment(at + block_comment(rest));
    }
    if rest.starts_with('"') {
        return quoted(text, at, '"');
    }
    if rest.starts_with('\'') {
        return if is_char(rest) { quoted(text, at, '\'') } else { Piece::Code(at + 1) };
    }
    let begins_word = !text[..at].ends_with(is_word);
    if begins_word && let Some(raw) = raw_string(rest, at) {
        return raw;
    }
    Piece::Code(at + rest.chars().next().map_or(1, char::len_utf8))
}

/// Length of a block comment; they nest.
fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        let pair = rest.as_bytes().get(at..at + 2);
        let step = match pair {
            Some(b"/*") => 1,
            Some(b"*/") => -1,
            _ => 0,
        };
        depth += step;
        at += if step == 0 { 1 } else { 2 };
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

/// A literal with escapes whose opening quote is at `at`.
fn quoted(text: &str, at: usize, quote: char) -> Piece {
    let open = at + 1;
    let mut escaped = false;
    for (offset, c) in text[open..].char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return Piece::Literal { open, close: open + offset, end: open + offset + 1 },
            _ => {}
        }
    }
    Piece::Literal { open, close: text.len(), end: text.len() }
}

/// Whether a quote begins a character and not a lifetime.
fn is_char(rest: &str) -> bool {
    let mut after = rest.chars().skip(1);
    after.next() == Some('\\') || after.next() == Some('\'')
}

/// A literal such as `r#"…"#`, which knows no escapes.
fn raw_string(rest: &str, at: usize) -> Option<Piece> {
    let prefix =
        ["r", "br", "cr"].into_iter().find(|p| rest.strip_prefix(p).is_some_and(|r| r.starts_with(['"', '#'])))?;
    let hashes = rest[prefix.len()..].len() - rest[prefix.len()..].trim_start_matches('#').len();
    let open = prefix.len() + hashes + 1;
    if rest.as_bytes().get(open - 1) != Some(&b'"') {
        return None;
    }
    let closing = format!("\"{}", "#".repeat(hashes));
    let close = open + rest[open..].find(&closing).unwrap_or(rest.len() - open);
    Some(Piece::Literal { open: at + open, close: at + close, end: at + (close + closing.len()).min(rest.len()) })
}

/// Whether a character can be part of a name.
pub fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Offsets at which `needle` stands in `code` and is not a part of a longer name.
pub fn find_all(code: &str, needle: &str) -> Vec<usize> {
    let (first, last) = (needle.starts_with(is_word), needle.ends_with(is_word));
    let whole = |&at: &usize| {
        !(first && code[..at].ends_with(is_word) || last && code[at + needle.len()..].starts_with(is_word))
    };
    code.match_indices(needle).map(|(at, _)| at).filter(whole).collect()
}

/// Line number, from 1, of an offset.
pub fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// Offset behind the bracket that closes the one at `open`; the end of the code if none does.
pub fn closing(code: &str, open: usize) -> usize {
    let mut depth = 0;
    for (offset, byte) in code.as_bytes()[open..].iter().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return open + offset + 1;
        }
    }
    code.len()
}

/// Offset behind the item that begins at `at`: behind its `;` or its body.
pub fn item_end(code: &str, at: usize) -> usize {
    let mut at = at;
    while let Some(offset) = code[at..].find(['(', '[', '{', ';']) {
        at += offset;
        match code.as_bytes()[at] {
            b';' => return at + 1,
            b'{' => return closing(code, at),
            _ => at = closing(code, at),
        }
    }
    code.len()
}

/// Every path that a `use` names, written out in full, with the offset of its last part.
pub fn imports(code: &str) -> Vec<(usize, String)> {
    named_imports(code).into_iter().map(|import| (import.at, import.path)).collect()
}

/// One path that a `use` names.
pub struct Import {
    /// Offset of its last part.
    pub at: usize,
    /// Written out in full, without the name that it gets.
    pub path: String,
    /// The name that it has from there on: behind `as`, or its last part.
    pub name: String,
}

/// As [`imports`], each with the name by which it is known in the file.
pub fn named_imports(code: &str) -> Vec<Import> {
    let mut paths = Vec::new();
    for at in find_all(code, "use") {
        let begin = at + "use".len();
        // `impl Trait + use<'a>` is no import.
        if code[begin..].starts_with(char::is_whitespace) {
            let end = begin + code[begin..].find(';').unwrap_or(0);
            write_out("", &code[begin..end], begin, &mut paths);
        }
    }
    paths
}

fn write_out(prefix: &str, tree: &str, at: usize, paths: &mut Vec<Import>) {
    let Some(open) = tree.find('{') else {
        let (leaf, alias) = tree.split_once(" as ").map_or((tree, None), |(leaf, alias)| (leaf, Some(alias)));
        if !leaf.trim().is_empty() {
            let path = format!("{prefix}{}", leaf.trim());
            let path = path.strip_suffix("::self").unwrap_or(&path).to_string();
            let name = alias.or(path.rsplit("::").next()).unwrap_or_default().trim().to_string();
            paths.push(Import { at: at + tree.len() - tree.trim_start().len(), path, name });
        }
        return;
    };
    let prefix = format!("{prefix}{}", tree[..open].trim());
    let body = &tree[open + 1..closing(tree, open).saturating_sub(1).max(open + 1)];
    let (mut depth, mut begin) = (0, 0);
    for (offset, c) in body.char_indices().chain([(body.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                write_out(&prefix, &body[begin..offset], at + open + 1 + begin, paths);
                begin = offset + 1;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_not_code() {
        let text = "let a = \"x // y\"; // z \"q\"\nlet b = 'ж'; /* /* n */ m */ let c: &'a str = r#\"w \"v\" \\\"#;";
        let Parts { code, comments } = split(text);
        assert_eq!((code.len(), comments.len()), (text.len(), text.len()));
        assert_eq!(code.split_whitespace().collect::<String>(), "leta=\"\";letb='';letc:&'astr=r#\"\"#;");
        assert_eq!(comments.split_whitespace().collect::<Vec<_>>().join(" "), "// z \"q\" /* /* n */ m */");
    }

    #[test]
    fn escaped_quotes_and_odd_literals_do_not_derail_the_scanner() {
        for literal in [r#""\"""#, r"'\''", r#"'"'"#, r"b'\\'", r#"br"\""#, r###"r##"a"#b"##"###, "r#type"] {
            let text = format!("f({literal}, end); // end");
            let Parts { code, comments } = split(&text);
            assert_eq!(find_all(&code, "end").len(), 1, "{text} as {code}");
            assert_eq!(comments.trim(), "// end", "{text}");
        }
    }

    #[test]
    fn strings_are_found_without_their_quotes() {
        let text = "f(\"a b\", 'c', r#\"d \"e\"\"#, b\"\"); // \"no\"";
        let found: Vec<&str> = strings(text).into_iter().map(|(open, close)| &text[open..close]).collect();
        assert_eq!(found, ["a b", "d \"e\"", ""]);
    }

    #[test]
    fn an_unfinished_text_is_no_reason_to_fail() {
        for text in ["\"abc", "/* abc", "r#\"abc", "'\\", "use a::{b", "fn f(", "'"] {
            let code = split(text).code;
            assert_eq!(code.len(), text.len());
            strings(text);
            imports(&code);
            item_end(&code, 0);
        }
    }

    #[test]
    fn only_whole_words_are_found() {
        assert_eq!(find_all("unsafe_code unsafe(my_unsafe) println!(x)", "unsafe"), [12]);
        assert_eq!(find_all("std::fs::write(a); fs::writer()", "fs::write"), [5]);
    }

    #[test]
    fn imports_are_written_out_in_full() {
        let code = "use std::fs::{self, File, os::{A as B, C}};\nuse a::b;\nfn f() -> impl T + use<'a> {}";
        let paths: Vec<String> = imports(code).into_iter().map(|(_, path)| path).collect();
        assert_eq!(paths, ["std::fs", "std::fs::File", "std::fs::os::A", "std::fs::os::C", "a::b"]);
        assert_eq!(line_of(code, imports(code)[4].0), 2);
    }

    #[test]
    fn an_item_ends_with_its_body_or_its_semicolon() {
        let code = "fn f(a: [u8; 2]) { if x { y; } } const A: [u8; 1] = [0; 1]; next";
        let end = item_end(code, 0);
        assert_eq!(&code[..end], "fn f(a: [u8; 2]) { if x { y; } }");
        assert_eq!(&code[item_end(code, end)..], " next");
    }
}
