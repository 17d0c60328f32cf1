//! Command lines of other tools: one quoted text as words, and words as commands that follow one another. Must not know whose.

use super::JobPlace;
use super::notes::{Notes, shown};
use super::tool::Tool;
use stend_base::{Result, say};

/// The place of a word, counted from 0.
pub(super) fn place(index: usize) -> JobPlace {
    JobPlace::new("command", index as u32 + 1)
}

/// One quoted text as words; several words as they are. As a shell has it, or for a program of Windows as its shell has it: there a
/// backslash is one, and a line goes on behind `^`.
pub(super) fn split(words: &[String]) -> Result<Vec<String>> {
    let [text] = words else { return Ok(words.to_vec()) };
    let text = text.trim_start();
    let begin = text.strip_prefix("sudo ").unwrap_or(text).trim_start();
    let first = match begin.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => begin.split_whitespace().next(),
    };
    let first = [first.unwrap_or_default().to_string()];
    let windows = Tool::of_program(program(&first).1) == Some(Tool::Diskspd);
    let escape = if windows { '^' } else { '\\' };
    let (mut found, mut word): (Vec<String>, Option<String>) = (Vec::new(), None);
    let mut quote = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (c, Some(q)) if c == q => quote = None,
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (c, None) if c == escape => {
                // A line that goes on in the next one, as pages print it, leaves nothing.
                if let Some(next) = letters.next().filter(|next| *next != '\n') {
                    word.get_or_insert_default().push(next);
                }
            }
            // In double quotes a shell takes a backslash as one unless it stands before what it protects.
            ('\\', Some('"')) if !windows && letters.peek().is_some_and(|next| "\\\"$`".contains(*next)) => {
                word.get_or_insert_default().extend(letters.next());
            }
            (';', None) => {
                found.extend(word.take());
                found.push(";".into());
            }
            (c, None) if c.is_whitespace() => found.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err(place(found.len())
            .error(say!("a quote has no end", "кавычка не закрыта"))
            .hint(say!("close it", "закройте её")));
    }
    found.extend(word);
    Ok(found)
}

/// Commands that follow one another, each with the number of its first word; pauses between them become notes.
pub(super) fn commands<'a>(words: &'a [String], notes: &mut Notes) -> Vec<(usize, &'a [String])> {
    let ends = |word: &String| matches!(word.as_str(), "&&" | ";" | "||");
    let mut at = 0;
    let mut found = Vec::new();
    for part in words.split(ends) {
        match part.first() {
            Some(first) if first == "sleep" => {
                let first = shown(first);
                notes.decided(
                    &place(at),
                    say!("`{first}` between commands is left out", "`{first}` между командами опущена"),
                );
            }
            Some(_) => found.push((at, part)),
            None => {}
        }
        at += part.len() + 1;
    }
    found
}

/// The name of the program that a command begins with, and the number of the word: directories and `sudo` are left out.
pub(super) fn program(words: &[String]) -> (usize, &str) {
    let skipped = usize::from(words.first().is_some_and(|word| word == "sudo"));
    let name = words.get(skipped).map_or("", String::as_str);
    (skipped, name.rsplit(['/', '\\']).next().unwrap_or(name))
}
