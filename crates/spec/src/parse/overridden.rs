//! The text of a suite in which a command line changed something: only that is written anew, so that comments and order stay. Must not
//! judge: the caller parses the text again.

use crate::keys::ENGINES;
use crate::workload::Engine;
use crate::yaml::{self, Key, Node, Position, Value};
use stend_base::Result;

/// A change of the text: so many characters at a place give way to others.
struct Edit {
    at: Position,
    gone: usize,
    text: String,
}

/// The suite with this engine for every case and with so many blocks, where that is asked for.
///
/// A text that cannot be changed so, because its lines are not those of a usual suite, is not the suite that is meant: read it again.
///
/// Errors: those of YAML.
pub fn overridden(text: &str, file: &str, engine: Option<Engine>, blocks: Option<u32>) -> Result<String> {
    let root = yaml::parse(text, file)?;
    let lines: Vec<&str> = text.lines().collect();
    let word = engine.and_then(|engine| ENGINES.iter().find(|(.., known)| *known == engine)).map(|(word, ..)| *word);
    let mut edits: Vec<Edit> = word.map(|word| in_all_cases(&root, &lines, word)).unwrap_or_default();
    let mut end = String::new();
    if let Some(blocks) = blocks {
        match value(&root, "repeats").and_then(|repeats| value(repeats, "blocks")) {
            Some(known) => edits.push(in_place(known, &lines, &blocks.to_string())),
            None => end = format!("repeats: {{blocks: {blocks}}}\n"),
        }
    }
    // From the end, so that the places of the others stay.
    edits.sort_by_key(|edit| std::cmp::Reverse((edit.at.line, edit.at.column)));
    let mut lines: Vec<String> = lines.into_iter().map(str::to_string).collect();
    for Edit { at, gone, text } in edits {
        let Some(line) = lines.get_mut((at.line as usize).saturating_sub(1)) else { continue };
        let (before, rest): (String, String) = split(line, at.column);
        *line = before + &text + &rest.chars().skip(gone).collect::<String>();
    }
    Ok(lines.iter().map(|line| format!("{line}\n")).collect::<String>() + &end)
}

/// The engine of `defaults`, and in the place of those that cases name for themselves.
fn in_all_cases(root: &Node, lines: &[&str], word: &str) -> Vec<Edit> {
    let cases = match value(root, "cases").map(|cases| &cases.value) {
        Some(Value::List(cases)) => cases.as_slice(),
        _ => &[],
    };
    let own = cases.iter().filter_map(|case| value(case, "engine"));
    let mut edits: Vec<Edit> = own.map(|engine| in_place(engine, lines, word)).collect();
    edits.extend(match value(root, "defaults") {
        Some(defaults) => match value(defaults, "engine") {
            Some(engine) => Some(in_place(engine, lines, word)),
            None => keys(defaults).next().map(|(first, _)| {
                let braces = rest(lines, &defaults.at).starts_with('{');
                let indent = " ".repeat((first.at.column as usize).saturating_sub(1));
                let between = if braces { ", ".to_string() } else { format!("\n{indent}") };
                Edit { at: first.at.clone(), gone: 0, text: format!("engine: {word}{between}") }
            }),
        },
        None => keys(root).find(|(key, _)| key.name == "cases").map(|(cases, _)| Edit {
            at: cases.at.clone(),
            gone: 0,
            text: format!("defaults: {{engine: {word}}}\n"),
        }),
    });
    edits
}

/// Another word or number where a node is one.
fn in_place(node: &Node, lines: &[&str], text: &str) -> Edit {
    let gone = rest(lines, &node.at).chars().take_while(|c| c.is_alphanumeric()).count();
    Edit { at: node.at.clone(), gone, text: text.to_string() }
}

fn keys(map: &Node) -> impl Iterator<Item = &(Key, Node)> {
    let pairs = match &map.value {
        Value::Map(pairs) => pairs.as_slice(),
        _ => &[],
    };
    pairs.iter()
}

fn value<'a>(map: &'a Node, name: &str) -> Option<&'a Node> {
    keys(map).find(|(key, _)| key.name == name).map(|(_, value)| value)
}

/// What stands in a line from a place on.
fn rest(lines: &[&str], at: &Position) -> String {
    lines.get((at.line as usize).saturating_sub(1)).map_or(String::new(), |line| split(line, at.column).1)
}

fn split(line: &str, column: u64) -> (String, String) {
    let before = (column as usize).saturating_sub(1);
    (line.chars().take(before).collect(), line.chars().skip(before).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::suite;
    use expect_test::{Expect, expect};

    fn check(text: &str, expected: Expect) {
        let found = overridden(text, "s.yaml", Some(Engine::Fio), Some(12)).unwrap();
        expected.assert_eq(&found);
        let suite = suite(&found, "s.yaml").unwrap();
        assert!(suite.blocks == 12 && suite.cases.iter().all(|case| case.engine == Engine::Fio));
    }

    const READ: &str = "streams: [{op: read, pattern: random, block_size: 4KiB}]";

    #[test]
    fn what_is_asked_for_stands_in_the_place_of_what_the_suite_says() {
        check(
            &format!(
                "# Случай\nsuite: s\ndefaults: {{direct: true}}  # as ever\nrepeats: {{blocks: 6, until: {{width: 2%}}}}\ncases:\n  - {{name: a, engine: native, {READ}}}\n"
            ),
            expect![[r#"
                # Случай
                suite: s
                defaults: {engine: fio, direct: true}  # as ever
                repeats: {blocks: 12, until: {width: 2%}}
                cases:
                  - {name: a, engine: fio, streams: [{op: read, pattern: random, block_size: 4KiB}]}
            "#]],
        );
        check(
            &format!("suite: s\ndefaults:\n  engine: native\nrepeats:\n  blocks: 6\ncases:\n  - name: a\n    {READ}\n"),
            expect![[r#"
                suite: s
                defaults:
                  engine: fio
                repeats:
                  blocks: 12
                cases:
                  - name: a
                    streams: [{op: read, pattern: random, block_size: 4KiB}]
            "#]],
        );
    }

    #[test]
    fn what_the_suite_does_not_say_is_added() {
        check(
            &format!("suite: s\ncases:\n  - name: a\n    {READ}"),
            expect![[r#"
                suite: s
                defaults: {engine: fio}
                cases:
                  - name: a
                    streams: [{op: read, pattern: random, block_size: 4KiB}]
                repeats: {blocks: 12}
            "#]],
        );
        check(
            &format!("suite: s\ndefaults:\n  direct: true\ncases:\n  - name: a\n    {READ}\n"),
            expect![[r#"
                suite: s
                defaults:
                  engine: fio
                  direct: true
                cases:
                  - name: a
                    streams: [{op: read, pattern: random, block_size: 4KiB}]
                repeats: {blocks: 12}
            "#]],
        );
    }

    #[test]
    fn nothing_asked_for_changes_nothing() {
        let text = format!("suite: s\ncases:\n  - name: a\n    {READ}\n");
        assert_eq!(overridden(&text, "s.yaml", None, None).unwrap(), text);
    }
}
