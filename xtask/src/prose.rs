//! Sentences of documents, comments and of what the program prints: how long they are, and turns that nobody says aloud. Knows Markdown and
//! Rust's strings as far as that needs; must not judge what a sentence means. Generated tables and fenced blocks are left out.

use crate::document::{self, Row};
use crate::finding::Finding;
use crate::scan;
use crate::tree::Source;
use std::collections::BTreeSet;

/// Longest sentence in words: what can be read in one breath, twice.
const WORDS_MAX: usize = 40;
/// Half of the sentences of a page are no longer than this.
const MEDIAN_MAX: usize = 18;
/// A page of fewer sentences has no median worth a rule.
const SENTENCES_MIN: usize = 10;

/// A string of fewer words is a name, a key or a part of a table.
const TEXT_MIN: usize = 4;

/// The document whose table lists turns and words that are not written here, each between back-quotes, with what to write instead.
const STYLE: &str = "docs/STYLE.md";
const TURNS: [&str; 2] = ["instead of", "write"];

/// Looks at every document: long sentences, turns, and commands that a translation lacks.
pub fn check(sources: &[Source]) -> Vec<Finding> {
    let empty = Source::new(STYLE, "");
    let style = sources.iter().find(|source| source.path == STYLE).unwrap_or(&empty);
    let (rows, mut findings) = match document::table(style, &TURNS) {
        Ok(rows) => (rows, Vec::new()),
        Err(finding) => (Vec::new(), vec![finding]),
    };
    let types: BTreeSet<&str> = sources.iter().filter(|source| is_ours(source)).flat_map(types).collect();
    for source in sources {
        if is_ours(source) {
            type_names(source, &types, &mut findings);
        }
        let passages = if is_document(&source.path) { passages(&source.text) } else { texts(source) };
        sentences(source, &passages, &mut findings);
        turns(source, &passages, &rows, &mut findings);
        turns(source, &comments(source), &rows, &mut findings);
    }
    findings.extend(translations(sources));
    findings
}

/// Whether sentences of this file are looked at: documents for people, but what `make` prints into `docs/bench`.
fn is_document(path: &str) -> bool {
    path.ends_with(".md") && !path.starts_with("docs/bench/") && !path.starts_with("crates/")
}

/// Sentences that are too long, and pages of long sentences.
fn sentences(source: &Source, passages: &[Passage], findings: &mut Vec<Finding>) {
    let mut lengths = Vec::new();
    for passage in passages {
        for sentence in split(&passage.text) {
            let words = words(&sentence);
            if words > WORDS_MAX {
                let begin: String = sentence.chars().take(50).collect();
                let message = format!("{words} words, at most {WORDS_MAX}: `{begin}…`");
                findings.push(Finding::new(&source.path, passage.line, "long-sentence", message));
            }
            if words > 0 && !passage.is_cell {
                lengths.push(words);
            }
        }
    }
    lengths.sort_unstable();
    let median = lengths.get(lengths.len() / 2).copied().unwrap_or(0);
    if lengths.len() >= SENTENCES_MIN && median > MEDIAN_MAX {
        let message = format!("half of the sentences have {median} words or more, at most {MEDIAN_MAX}: split them");
        findings.push(Finding::new(&source.path, 1, "long-sentences", message));
    }
}

/// Turns that are not written here. One that begins with a capital letter is looked for at the begin of sentences only.
fn turns(source: &Source, passages: &[Passage], rows: &[Row], findings: &mut Vec<Finding>) {
    for passage in passages {
        for sentence in split(&passage.text) {
            for row in rows {
                let turn = row.quoted(0).into_iter().find(|turn| has(&sentence, turn));
                findings.extend(turn.map(|turn| {
                    let message = format!("`{turn}`: write {}", row.text(1));
                    Finding::new(&source.path, passage.line, "turn", message)
                }));
            }
        }
    }
}

/// Whether texts of this file are those of the program.
fn is_ours(source: &Source) -> bool {
    source.is_rust() && source.path.starts_with("crates/")
}

/// Names of types of several words that a file declares: what a change of names may put into a text for people.
fn types(source: &Source) -> impl Iterator<Item = &str> {
    let declared = source.production.lines().filter_map(|line| {
        let line = line.trim_start();
        let words: Vec<&str> = line.split(|c: char| !scan::is_word(c)).filter(|word| !word.is_empty()).collect();
        let place = words.iter().position(|word| matches!(*word, "struct" | "enum" | "trait")).filter(|at| *at < 3)?;
        words.get(place + 1).copied()
    });
    let of_several_words = |name: &&str| {
        let humps = name.chars().filter(char::is_ascii_uppercase).count();
        name.starts_with(|c: char| c.is_ascii_uppercase()) && humps > 1 && name.chars().any(|c| c.is_ascii_lowercase())
    };
    declared.filter(of_several_words)
}

/// Texts in which a type of ours is named.
fn type_names(source: &Source, types: &BTreeSet<&str>, findings: &mut Vec<Finding>) {
    for passage in texts(source) {
        let mut words = passage.text.split(|c: char| !c.is_alphanumeric());
        findings.extend(words.find(|word| types.contains(word)).map(|name| {
            let message = format!("`{name}` is a type of ours, and no word for users");
            Finding::new(&source.path, passage.line, "type-name", message)
        }));
    }
}

/// A page and its translation have the same commands: what stands in fenced blocks, less comments.
fn translations(sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for russian in sources.iter().filter(|source| source.path.ends_with(".ru.md")) {
        let path = russian.path.replace(".ru.md", ".md");
        let Some(english) = sources.iter().find(|source| source.path == path) else { continue };
        let (ours, theirs) = (commands(&russian.text), commands(&english.text));
        let same = ours.iter().zip(&theirs).take_while(|(a, b)| a.1 == b.1).count();
        let (line, text) = match (ours.get(same), theirs.get(same)) {
            (None, None) => continue,
            (Some((line, text)), _) => (*line, text),
            (None, Some((_, text))) => (russian.text.lines().count(), text),
        };
        let message = format!("`{path}` has another command here: `{text}`");
        findings.push(Finding::new(&russian.path, line, "same-commands", message));
    }
    findings
}

/// Lines of fenced blocks with their numbers, without what follows a `#`.
fn commands(text: &str) -> Vec<(usize, &str)> {
    let mut inside = false;
    let mut found = Vec::new();
    for (i, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            inside = !inside;
        } else if inside {
            let command = line.split(" #").next().unwrap_or_default().trim_end();
            if !command.is_empty() && !command.starts_with('#') {
                found.push((i + 1, command));
            }
        }
    }
    found
}

/// A paragraph, an item of a list or a cell of a table, as plain words.
struct Passage {
    /// Line on which it begins, from 1.
    line: usize,
    is_cell: bool,
    text: String,
}

impl Passage {
    fn new(line: usize, is_cell: bool, text: &str) -> Passage {
        // In a cell a line break and a semicolon part what a paragraph has as sentences.
        let text = if is_cell { text.replace("<br>", " · ").replace("; ", " · ") } else { text.to_string() };
        Passage { line, is_cell, text }
    }
}

/// Passages of a document, without headings, fenced blocks and what is generated.
fn passages(text: &str) -> Vec<Passage> {
    let mut passages: Vec<Passage> = Vec::new();
    let (mut fenced, mut generated, mut open) = (false, false, false);
    for (i, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        generated = (generated || trimmed.starts_with("<!-- keys:")) && !trimmed.starts_with("<!-- end of keys");
        let fence = trimmed.starts_with("```");
        fenced ^= fence;
        let apart = trimmed.is_empty() || trimmed.starts_with(['#', '<', '!']);
        if fenced || fence || generated || apart {
            open = false;
        } else if let Some(row) = trimmed.strip_prefix('|') {
            open = false;
            passages.extend(row.split('|').map(|cell| Passage::new(i + 1, true, cell)));
        } else {
            let item = item(trimmed);
            match passages.last_mut() {
                Some(last) if open && item.is_none() => last.text += &format!(" {trimmed}"),
                _ => passages.push(Passage::new(i + 1, false, item.unwrap_or(trimmed))),
            }
            open = true;
        }
    }
    // Only now: code and links go over ends of lines.
    passages.iter_mut().for_each(|passage| passage.text = plain(&passage.text));
    passages
}

/// Texts of the product: strings of more than a few words, each line a passage. They stand alone, so a file has no median.
fn texts(source: &Source) -> Vec<Passage> {
    let mut found = Vec::new();
    for (open, close) in scan::strings(&source.text).into_iter().filter(|_| is_ours(source)) {
        // Blank in production code is what only tests have.
        let is_tested_with = !source.production.get(..open).is_some_and(|code| code.ends_with(['"', '#']));
        if is_tested_with || source.text[open..close].split_whitespace().count() < TEXT_MIN {
            continue;
        }
        let line = source.line(open);
        let joined = source.text[open..close].split("\\\n").map(str::trim_start).collect::<String>();
        found.extend(joined.split("\\n").map(|text| Passage { line, is_cell: true, text: plain(text) }));
    }
    found
}

/// Comments of code and tests: lines that follow one another are one passage. They may be longer than texts that users read.
fn comments(source: &Source) -> Vec<Passage> {
    let mut found: Vec<Passage> = Vec::new();
    let mut open = false;
    for (i, line) in source.parts.comments.lines().enumerate() {
        let line = line.trim_start();
        let text = line.trim_start_matches('/').trim_start_matches(['!', '=']).trim();
        match found.last_mut() {
            Some(last) if open && item(text).is_none() => last.text += &format!(" {text}"),
            _ if !text.is_empty() => found.push(Passage { line: i + 1, is_cell: true, text: text.to_string() }),
            _ => {}
        }
        open = !text.is_empty();
    }
    found.iter_mut().for_each(|passage| passage.text = plain(item(&passage.text).unwrap_or(&passage.text)));
    found
}

/// What follows the mark of a list item.
fn item(line: &str) -> Option<&str> {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = digits.strip_prefix(". ").filter(|_| digits.len() < line.len());
    numbered.or_else(|| line.strip_prefix("* ")).or_else(|| line.strip_prefix("- "))
}

/// Without marks: what is between back-quotes is one word, and a link is its text.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for (i, part) in text.split('`').enumerate() {
        out += if i % 2 == 1 { "X" } else { part };
    }
    while let Some((before, rest)) = out.split_once("](") {
        let after = rest.split_once(')').map_or("", |(_, after)| after);
        out = format!("{}{after}", before.replace('[', ""));
    }
    out.replace('*', "")
}

/// Sentences of a passage: each ends before white space and a capital letter, a digit or an opening mark.
fn split(text: &str) -> Vec<String> {
    let capital = |c: char| c.is_uppercase() || c.is_ascii_digit() || "\"«“(".contains(c);
    let (mut sentences, mut sentence) = (Vec::new(), String::new());
    let words: Vec<&str> = text.split_whitespace().collect();
    for (i, word) in words.iter().enumerate() {
        sentence += &format!("{word} ");
        let closed = word.trim_end_matches(['"', '”', '»', ')']).ends_with(['.', '!', '?', '…']);
        let last = words.get(i + 1).is_none_or(|next| closed && next.starts_with(capital));
        if *word == "·" || last {
            sentences.push(std::mem::take(&mut sentence));
        }
    }
    sentences
}

/// Words of a sentence; marks alone are none.
fn words(sentence: &str) -> usize {
    sentence.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
}

/// Whether a sentence has the turn as whole words: with a capital letter at its begin, else anywhere and in either case.
fn has(sentence: &str, turn: &str) -> bool {
    if turn.starts_with(char::is_uppercase) {
        let rest = sentence.trim_start_matches(['(', '"', '«']).strip_prefix(turn);
        return rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
    }
    let text = sentence.to_lowercase();
    let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    let mut places = text.match_indices(turn).map(|(at, _)| (&text[..at], &text[at + turn.len()..]));
    places.any(|(before, after)| edge(before.chars().next_back()) && edge(after.chars().next()))
}

#[cfg(test)]
mod tests;
