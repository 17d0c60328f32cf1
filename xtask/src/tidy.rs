//! The house rules of `docs/STYLE.md` that a program can hold: files, functions, words, translations, and with `prose` sentences.
//! Exceptions are rows of a table in the architecture document, never comments in the code.

use crate::document;
use crate::finding::Finding;
use crate::prose;
use crate::scan;
use crate::tree::{self, Source};

/// A file that needs more lines than this has two reasons to exist.
pub const LINES_MAX: usize = 500;
/// What a file should stay below.
pub const LINES_AIM: usize = 400;
/// The longest function: what fits a screen, with its signature.
const FUNCTION_MAX: usize = 70;
const EXCEPTIONS: [&str; 3] = ["rule", "file", "because"];

/// A rule looks at one file.
type Rule = fn(&Source, &mut Vec<Finding>);
const RULES: [Rule; 11] = [
    first_line,
    file_length,
    function_length,
    words,
    commented_out,
    trailing_space,
    merge_marks,
    translations,
    templates,
    prose,
    machine_paths,
];

/// Applies every rule to every file, less the exceptions of the table; an exception that excepts nothing is a finding.
pub fn check(document: &Source, sources: &[Source]) -> Vec<Finding> {
    let mut findings = prose::check(sources);
    for source in sources {
        RULES.iter().for_each(|rule| rule(source, &mut findings));
    }
    let exceptions = match document::table(document, &EXCEPTIONS) {
        Ok(rows) => rows,
        Err(finding) => {
            findings.push(finding);
            return findings;
        }
    };
    for row in exceptions {
        let (rule, before) = (row.text(0), findings.len());
        findings.retain(|finding| finding.rule != rule || !row.quoted(1).contains(&finding.path.as_str()));
        if findings.len() == before {
            findings.push(row.finding("tidy", format!("nothing needs this exception from `{rule}`; remove it")));
        }
    }
    findings
}

fn first_line(source: &Source, findings: &mut Vec<Finding>) {
    if source.is_rust() && !source.text.starts_with("//! ") {
        let message = "the first line must say in `//!` what the file is for and what it must not do";
        findings.push(Finding::new(&source.path, 1, "first-line", message));
    }
}

fn file_length(source: &Source, findings: &mut Vec<Finding>) {
    let lines = source.text.lines().count();
    if source.is_rust() && lines > LINES_MAX {
        let message =
            format!("{lines} lines; the limit is {LINES_MAX}, the aim {LINES_AIM}: give each reason a file of its own");
        findings.push(Finding::new(&source.path, LINES_MAX + 1, "file-length", message));
    }
}

fn function_length(source: &Source, findings: &mut Vec<Finding>) {
    let code = &source.production;
    for at in scan::find_all(code, "fn") {
        let name: String = code[at + 2..].trim_start().chars().take_while(|c| scan::is_word(*c)).collect();
        // A type such as `fn(u8)` has no name and no body.
        if name.is_empty() {
            continue;
        }
        let lines = code[at..scan::item_end(code, at)].lines().count();
        if lines > FUNCTION_MAX {
            let message = format!("the function `{name}` has {lines} lines; the limit is {FUNCTION_MAX}");
            findings.push(Finding::new(&source.path, source.line(at), "function-length", message));
        }
    }
}

/// (rule, word, what to do) for comments.
const IN_COMMENTS: [(&str, &str, &str); 3] = [
    ("unfinished", "TODO", "do it now, or write an issue"),
    ("unfinished", "FIXME", "fix it now, or write an issue"),
    ("unfinished", "XXX", "say what is wrong, in words"),
];
/// The same for code.
const IN_CODE: [(&str, &str, &str); 7] = [
    ("unfinished", "todo!", "no stubs: leave room instead"),
    ("unfinished", "unimplemented!", "no stubs: leave room instead"),
    ("debris", "dbg!", "remove it"),
    ("ignored-test", "#[ignore", "a test runs, or is a named skip that fails under CI=true"),
    ("dead-code", "allow(dead_code", "remove what nothing uses"),
    ("dead-code", "expect(dead_code", "remove what nothing uses"),
    ("dead-code", "allow(unused", "remove what nothing uses"),
];

fn words(source: &Source, findings: &mut Vec<Finding>) {
    let parts = [(&source.parts.comments, &IN_COMMENTS[..]), (&source.parts.code, &IN_CODE[..])];
    for (text, words) in parts {
        for (rule, word, advice) in words {
            for at in scan::find_all(text, word) {
                findings.push(Finding::new(&source.path, source.line(at), rule, format!("`{word}`: {advice}")));
            }
        }
    }
}

fn commented_out(source: &Source, findings: &mut Vec<Finding>) {
    for (i, line) in source.parts.comments.lines().enumerate() {
        let comment = line.trim();
        // Documentation has examples, and a citation (`//=`) ends as its source does.
        let other = ["///", "//!", "//="].iter().any(|mark| comment.starts_with(mark));
        if comment.starts_with("//") && !other && comment.ends_with([';', '{', '}']) {
            let message = "this comment looks like code: history keeps what was, comments say why";
            findings.push(Finding::new(&source.path, i + 1, "commented-out", message));
        }
    }
}

fn trailing_space(source: &Source, findings: &mut Vec<Finding>) {
    for (i, line) in source.text.lines().enumerate() {
        if line.ends_with([' ', '\t', '\r']) {
            findings.push(Finding::new(&source.path, i + 1, "trailing-space", "white space at the end of the line"));
        }
    }
}

/// A merge that was not finished: Markdown with its marks still looks like Markdown, but a table ends there.
fn merge_marks(source: &Source, findings: &mut Vec<Finding>) {
    for (i, line) in source.text.lines().enumerate() {
        if ["<", ">"].iter().any(|mark| line.starts_with(&(mark.repeat(7) + " "))) {
            findings.push(Finding::new(&source.path, i + 1, "merge-mark", "both sides of a merge are here: choose"));
        }
    }
}

/// What is given a text in English and in Russian, both as literals.
const TEXTS: [&str; 2] = ["say!", "say_in!"];

/// Cheap check for texts that were not translated: `say!(english, russian)`.
fn translations(source: &Source, findings: &mut Vec<Finding>) {
    if tree::is_test(&source.path) {
        return;
    }
    let texts =
        TEXTS.iter().flat_map(|text| scan::find_all(&source.production, text).into_iter().map(|at| (at, text.len())));
    for (at, length) in texts {
        let open = at + length;
        let arguments = &source.production[open..scan::closing(&source.production, open)];
        let mut quotes = arguments.match_indices('"').map(|(offset, _)| open + offset);
        let mut literal = || Some(&source.text[quotes.next()?..quotes.next()?]);
        let (Some(english), Some(russian)) = (literal(), literal()) else { continue };
        let message = match (is_russian(english), is_russian(russian)) {
            (true, _) => "the English text comes first and has no Russian letters",
            (false, false) if english == russian => "what needs no translation is `Say::same`",
            (false, false) if has_words(english) => "the second text is not Russian",
            _ => continue,
        };
        findings.push(Finding::new(&source.path, source.line(at), "translation", message));
    }
}

/// A text whose placeholders are filled when the program runs: a mistyped one would be read by people.
fn templates(source: &Source, findings: &mut Vec<Finding>) {
    if !source.is_rust() || tree::is_test(&source.path) {
        return;
    }
    for at in scan::find_all(&source.production, ".replace(") {
        let argument = at + ".replace(".len();
        if source.text[argument..].trim_start().starts_with("\"{") {
            let message = "a placeholder is filled at run time: `say!`, `say_in!` and `format!` do not compile with a mistyped one";
            findings.push(Finding::new(&source.path, source.line(at), "template", message));
        }
    }
}

/// How code gets at the words of a text for people, and how it could look for something in them.
const WORDS: [&str; 5] = [".en", ".ru", ".get(Lang::En)", ".get(Lang::Ru)", ".render(Lang::En)"];
const SEARCHES: [&str; 10] = [
    ".contains(",
    ".starts_with(",
    ".ends_with(",
    ".find(",
    ".split(",
    ".split_once(",
    ".strip_prefix(",
    ".strip_suffix(",
    " == \"",
    " != \"",
];

/// Meaning is in codes, kinds and variants: a text may be worded anew at any time.
fn prose(source: &Source, findings: &mut Vec<Finding>) {
    let code = if source.path.starts_with("crates/") { source.production.as_str() } else { "" };
    for words in WORDS {
        for at in scan::find_all(code, words) {
            if SEARCHES.iter().any(|search| code[at + words.len()..].starts_with(search)) {
                let message = "a text for people is searched: decide by a code, a kind or a variant";
                findings.push(Finding::new(&source.path, source.line(at), "prose", message));
            }
        }
    }
}

fn is_russian(text: &str) -> bool {
    text.chars().any(|c| ('\u{400}'..='\u{4ff}').contains(&c))
}

/// Whether a format string has letters of its own: one without only puts translated parts together.
fn has_words(text: &str) -> bool {
    let (mut depth, mut escaped) = (0, false);
    text.chars().any(|c| {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => return depth == 0 && c.is_alphabetic(),
        }
        false
    })
}

/// Folders of somebody's own machine, written apart so that this file does not hold them.
const MACHINE: [&str; 2] = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];

fn machine_paths(source: &Source, findings: &mut Vec<Finding>) {
    for (i, line) in source.text.lines().enumerate() {
        for path in MACHINE.iter().filter(|path| line.contains(**path)) {
            findings.push(Finding::new(
                &source.path,
                i + 1,
                "machine-path",
                format!("`{path}` is a folder of one machine"),
            ));
        }
    }
}

#[cfg(test)]
mod tests;
