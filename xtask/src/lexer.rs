//! Tells code, comments and texts of a Rust file apart, well enough to search each of them.

/// A Rust file taken apart. `code` and `comments` have the length and lines of the file; what belongs to
/// the other one, and the inside of every text, is blank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts {
    /// Code; of a text only its quotes are left.
    pub code: String,
    /// Comments with their slashes.
    pub comments: String,
    /// Texts: byte position of the opening quote, and what is between the quotes.
    pub texts: Vec<(usize, String)>,
}

/// What a stretch of a file is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Code,
    Comment,
    Text,
}

/// Takes a file apart. Never fails: an unfinished text or comment lasts to the end.
pub fn parts(source: &str) -> Parts {
    let mut parts = Parts { code: String::new(), comments: String::new(), texts: Vec::new() };
    let mut at = 0;
    while at < source.len() {
        let rest = &source[at..];
        let (part, len) = next(rest, source[..at].chars().next_back());
        let piece = &rest[..len];
        match part {
            Part::Code => push(&mut parts.code, &mut parts.comments, piece),
            Part::Comment => push(&mut parts.comments, &mut parts.code, piece),
            Part::Text => {
                let open = piece.find('"').map_or(0, |quote| quote + 1);
                let close = piece.rfind('"').filter(|&quote| quote >= open).unwrap_or(piece.len());
                parts.texts.push((at, piece[open..close].to_string()));
                let hollow = format!("{}{}{}", &piece[..open], blank(&piece[open..close]), &piece[close..]);
                push(&mut parts.code, &mut parts.comments, &hollow);
            }
        }
        at += len;
    }
    parts
}

fn push(to: &mut String, other: &mut String, piece: &str) {
    to.push_str(piece);
    other.push_str(&blank(piece));
}

/// As many bytes of space, with the line ends in place.
fn blank(piece: &str) -> String {
    piece.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect()
}

/// What comes next, and how many bytes of it.
fn next(rest: &str, before: Option<char>) -> (Part, usize) {
    if rest.starts_with("//") {
        return (Part::Comment, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (Part::Comment, block_comment(rest));
    }
    let in_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    if !in_word && let Some(len) = raw_text(rest) {
        return (Part::Text, len);
    }
    if rest.starts_with('"') {
        return (Part::Text, quoted(rest, '"'));
    }
    if let Some(len) = character(rest) {
        return (Part::Code, len);
    }
    (Part::Code, rest.chars().next().map_or(1, char::len_utf8))
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        match &rest.as_bytes()[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] if depth == 1 => return at + 2,
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    rest.len()
}

/// `r"…"`, `r#"…"#` and the same with `b` or `c` before.
fn raw_text(rest: &str) -> Option<usize> {
    let start = rest.strip_prefix(['b', 'c']).unwrap_or(rest).strip_prefix('r')?;
    let hashes = start.len() - start.trim_start_matches('#').len();
    let inner = start[hashes..].strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let end = inner.find(&close).map_or(inner.len(), |end| end + close.len());
    Some(rest.len() - inner.len() + end)
}

/// Length of a text or character with its quotes, skipping what is escaped.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// A character such as `'"'` or `'\n'`, but not a lifetime.
fn character(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('\'')?;
    if inner.starts_with('\\') {
        return Some(quoted(rest, '\''));
    }
    let first = inner.chars().next()?;
    inner[first.len_utf8()..].starts_with('\'').then_some(first.len_utf8() + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(source: &str) -> String {
        parts(source).code.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_and_texts_are_not_code() {
        assert_eq!(code("a // b \"c\"\nd /* e /* f */ g */ h"), "a d h");
        assert_eq!(code("a(\"b // c\") // d"), "a(\" \")");
        assert_eq!(parts("x \"y\\\"z\" // w").texts, [(2, "y\\\"z".to_string())]);
    }

    #[test]
    fn raw_texts_end_at_their_own_quote() {
        let source = r###"a(r#"b "c" // d"#, br"e\") f"###;
        assert_eq!(
            parts(source).texts.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(),
            ["b \"c\" // d", "e\\"]
        );
        assert!(code(source).ends_with(") f"), "{}", code(source));
        assert_eq!(code("for r in r#x {}"), "for r in r#x {}");
    }

    #[test]
    fn quotes_as_characters_and_lifetimes_open_no_text() {
        assert_eq!(code("'\"' a '\\'' b 'c' <'d> 'é'"), "'\"' a '\\'' b 'c' <'d> 'é'");
        assert!(parts("fn f<'a>(x: &'a str) -> char { '\"' }").texts.is_empty());
    }

    #[test]
    fn every_part_keeps_lines_and_length() {
        let source = "fn a() { // é\n  \"b\nc\" /* d\ne */ }\n";
        let parts = parts(source);
        assert_eq!((parts.code.len(), parts.comments.len()), (source.len(), source.len()));
        assert_eq!(parts.code.lines().count(), source.lines().count());
    }

    #[test]
    fn what_is_not_finished_lasts_to_the_end() {
        for source in ["\"a", "/* a", "r#\"a\"", "'\\", "'", "b", "\"\\"] {
            assert_eq!(parts(source).code.len(), source.len(), "{source}");
        }
    }
}
