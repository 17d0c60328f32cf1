//! Text in columns of a terminal: display widths, wrapping, padding. No escape codes except those
//! asked for.

use crate::markup::visible;
use crate::typography::hold;

/// Codes that [`super::Screen`] writes: none, strong, faint, red, orange, green.
const CODES: [&str; 6] = ["0", "1", "2", "31", "33", "36"];

/// Lines with this indent are commands and the like.
const COPIED: usize = 4;

/// Columns that a text takes. By ranges of code points: marks that combine take none, East Asian wide
/// characters and pictographs two (Unicode Annex 11), everything else one.
pub fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

fn char_width(c: char) -> usize {
    match c as u32 {
        0x0300..=0x036f | 0x0483..=0x0489 | 0x0591..=0x05bd | 0x064b..=0x065f => 0,
        0x200b..=0x200f | 0x20d0..=0x20ff | 0xfe00..=0xfe0f | 0xfe20..=0xfe2f => 0,
        0x1100..=0x115f | 0x2e80..=0x303e | 0x3041..=0xa4cf | 0xac00..=0xd7a3 => 2,
        0xf900..=0xfaff | 0xfe30..=0xfe6f | 0xff00..=0xff60 | 0xffe0..=0xffe6 => 2,
        0x1f300..=0x1f64f | 0x1f680..=0x1f6ff | 0x1f900..=0x1f9ff | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// The text on one line, with nothing in it that would steer a terminal.
pub fn clean(text: &str) -> String {
    text.chars().map(|c| if c == '\n' || c == '\t' { ' ' } else { visible(c) }).collect()
}

/// What may be written to a terminal: line feeds and tabs, our own colours if `colours` is set, and of everything else only what
/// is visible. This is the last look at a text, whatever made it.
pub fn for_terminal(text: &str, colours: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if colours && let Some(code) = own_colour(rest) {
            out.push_str(code);
            rest = &rest[code.len()..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        // Lines of tables for spreadsheets end with both.
        if !(c == '\r' && rest.starts_with('\n')) {
            out.push(visible(c));
        }
    }
    out
}

/// The code for a colour or a weight with which a text begins, if it is one of ours.
fn own_colour(text: &str) -> Option<&str> {
    let inner = text.strip_prefix("\u{1b}[")?;
    let (code, _) = inner.split_once('m')?;
    CODES.contains(&code).then(|| &text[..code.len() + 3])
}

/// A JSON document in which everything that could steer a terminal is escaped: it means the same. Outside of texts a document has
/// nothing of that kind.
pub fn json_for_terminal(document: &str) -> String {
    let mut out = String::with_capacity(document.len());
    for c in document.chars() {
        match visible(c) == c {
            true => out.push(c),
            false => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}"))),
        }
    }
    out
}

/// Lines with the cells of a column below each other.
pub fn columns(rows: &[Vec<String>]) -> Vec<String> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell)).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(widest).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, wide)| format!("{cell}{}", " ".repeat(wide - width(cell))));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_string()
    };
    rows.iter().map(line).collect()
}

/// Lines of at most `columns`; broken at spaces, and inside words that are longer than a line. A number
/// keeps its sign and its unit.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = vec![String::new()];
    for word in hold(&clean(text)).split(' ').filter(|w| !w.is_empty()) {
        for piece in pieces(word, columns) {
            let last = lines.len() - 1;
            let line = &mut lines[last];
            if line.is_empty() {
                *line = piece;
            } else if width(line) + 1 + width(&piece) <= columns {
                line.push(' ');
                line.push_str(&piece);
            } else {
                lines.push(piece);
            }
        }
    }
    lines
}

/// A word cut into pieces that fit.
fn pieces(word: &str, columns: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for c in word.chars() {
        let last = pieces.len() - 1;
        if width(&pieces[last]) + char_width(c) > columns && !pieces[last].is_empty() {
            pieces.push(String::new());
        }
        let last = pieces.len() - 1;
        pieces[last].push(c);
    }
    pieces
}

/// The first `max` lines; what is left out shows as an ellipsis.
pub fn at_most(mut lines: Vec<String>, max: usize, columns: usize) -> Vec<String> {
    if lines.len() > max.max(1) {
        lines.truncate(max.max(1));
        let last = lines.len() - 1;
        while width(&lines[last]) + 1 > columns.max(1) {
            lines[last].pop();
        }
        lines[last].push('…');
    }
    lines
}

/// Padded on the right.
pub fn left(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Padded on the left.
pub fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// A paragraph: `first` before its first line, as much space before the others.
pub fn paragraph(first: &str, text: &str, columns: usize) -> String {
    let indent = width(first);
    let mut out = String::new();
    for (i, line) in wrap(text, columns.saturating_sub(indent)).iter().enumerate() {
        out.push_str(if i == 0 { first } else { "" });
        out.push_str(&" ".repeat(if i == 0 { 0 } else { indent }));
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// The text in lines of at most `columns`, with the indent of each line in all lines that it becomes. What fits stays as it is, and
/// so does what is indented by four, because it is there to be copied.
pub fn wrapped(text: &str, columns: usize) -> String {
    let line = |line: &str| {
        let indent = &line[..line.len() - line.trim_start_matches(' ').len()];
        match width(line) <= columns || indent.len() >= COPIED {
            true => line.to_string(),
            false => paragraph(indent, line, columns).trim_end().to_string(),
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_with_their_indent_and_what_is_copied_is_not() {
        assert_eq!(wrapped("run file  /a/b\none two three", 9), "run file\n/a/b\none two\nthree");
        assert_eq!(wrapped("a  b\n  one two three", 9), "a  b\n  one two\n  three");
        assert_eq!(wrapped("    one two three", 9), "    one two three");
    }

    #[test]
    fn only_our_own_colours_get_to_a_terminal_and_only_where_they_are_wanted() {
        let own = "\u{1b}[1mname\u{1b}[0m\ta\r\nb";
        assert_eq!(for_terminal(own, true), "\u{1b}[1mname\u{1b}[0m\ta\nb");
        assert_eq!(for_terminal(own, false), "\u{fffd}[1mname\u{fffd}[0m\ta\nb");
        // Clears the screen, is concealed, names the window, the same with one letter, goes back, turns around, is cut.
        for bad in [
            "\u{1b}[2J",
            "\u{1b}[8m",
            "\u{1b}]0;x\u{7}",
            "\u{9b}2J",
            "a\rb",
            "\u{202e}",
            "\u{8}",
            "\u{7f}",
            "\u{1b}",
            "\u{1b}[",
        ] {
            let shown = for_terminal(bad, true);
            assert!(shown.contains('\u{fffd}') && shown.chars().all(|c| visible(c) == c), "{bad:?} {shown:?}");
        }
    }

    #[test]
    fn a_json_document_means_the_same_when_nothing_in_it_steers_a_terminal() {
        let value = serde_json::json!({"name": "a\u{9b}2J\u{202e}\u{7f}\u{1b}[2J\n\"", "é": 1});
        for document in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let shown = json_for_terminal(&document);
            assert!(shown.chars().all(|c| visible(c) == c), "{shown}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
        }
    }

    #[test]
    fn widths_count_columns_not_bytes() {
        let widths: Vec<_> = ["abc", "задержка", "é", "e\u{301}", "日本", "💾", "\u{a0}"].map(width).to_vec();
        assert_eq!(widths, [3, 8, 1, 1, 4, 2, 1]);
    }

    #[test]
    fn lines_break_at_spaces_and_inside_words_only_when_they_must() {
        assert_eq!(wrap("случайное чтение 4 КиБ", 11), ["случайное", "чтение", "4\u{a0}КиБ"]);
        assert_eq!(wrap("rate (± 1.1 %, slow)", 9), ["rate", "(±\u{a0}1.1\u{a0}%,", "slow)"]);
        assert_eq!(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrap("", 10), [""]);
    }

    #[test]
    fn nothing_steers_the_terminal() {
        assert_eq!(clean("a\u{1b}[31mb\nc\u{202e}"), "a\u{fffd}[31mb c\u{fffd}");
    }

    #[test]
    fn left_out_lines_show_as_an_ellipsis() {
        assert_eq!(at_most(wrap("aaa bbb ccc", 3), 2, 3), ["aaa", "bb…"]);
        assert_eq!(at_most(wrap("aaa bbb", 3), 2, 3), ["aaa", "bbb"]);
    }
}
