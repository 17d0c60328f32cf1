//! Every rule about sentences with a text that must trip it and one that must not.

use super::*;

/// The table of turns as the style has it.
const STYLE_PAGE: &str =
    "| instead of | write |\n|---|---|\n| `Of` | the subject first |\n| `is told`, `зерно` | another |\n";

fn broken(path: &str, text: &str) -> Vec<String> {
    let sources = [Source::new(STYLE, STYLE_PAGE), Source::new(path, text)];
    check(&sources).iter().map(|finding| format!("{}:{}", finding.rule, finding.line)).collect()
}

/// A sentence of so many words.
fn of_words(count: usize) -> String {
    format!("Word{}.", " word".repeat(count - 1))
}

#[test]
fn a_sentence_of_more_than_forty_words_is_found_where_its_passage_begins() {
    assert_eq!(broken("docs/a.md", &of_words(40)), [""; 0]);
    assert_eq!(broken("docs/a.md", &format!("# A\n\nShort. {}", of_words(41))), ["long-sentence:3"]);
    assert_eq!(broken("docs/a.md", &format!("| a |\n|---|\n| {} |", of_words(41))), ["long-sentence:3"]);
    assert_eq!(broken("README.md", &format!("* x\n  {}\n", of_words(41))), ["long-sentence:1"]);
}

#[test]
fn what_is_printed_by_programs_and_what_is_code_has_no_sentences() {
    let long = of_words(41);
    assert_eq!(broken("docs/bench/a.md", &long), [""; 0]);
    assert_eq!(broken("crates/a/README.md", &long), [""; 0]);
    let generated = format!("<!-- keys: written -->\n\n{long}\n<!-- end of keys -->\n");
    assert_eq!(broken("docs/a.md", &format!("```\n{long}\n```\n{generated}# {long}\n`{long}`")), [""; 0]);
}

#[test]
fn texts_of_the_program_are_held_to_the_same_and_those_of_tests_are_not() {
    let rust = |text: &str| broken("crates/a/src/b.rs", &format!("fn f() {{\n    say!(\"{text}\");\n}}\n"));
    assert_eq!(rust("the drive is told to stop"), ["turn:2"]);
    assert_eq!(rust("it goes on. Of a cable no end knows"), ["turn:2"]);
    assert_eq!(rust(&of_words(41)), ["long-sentence:2"]);
    assert_eq!(rust(&format!("{}\\n{}", of_words(40), of_words(40))), [""; 0]);
    assert_eq!(rust("this is \\\n        told here and there"), ["turn:2"]);
    for fine in ["is told", "`is told` as a word", "stand of the run"] {
        assert_eq!(rust(fine), [""; 0], "{fine}");
    }
    let text = "say!(\"the drive is told to stop\");";
    assert_eq!(broken("crates/a/src/b.rs", &format!("#[cfg(test)]\nmod tests {{ fn f() {{ {text} }} }}")), [""; 0]);
    for path in ["crates/a/src/tests.rs", "bench/src/a.rs"] {
        assert_eq!(broken(path, text), [""; 0], "{path}");
    }
}

#[test]
fn a_text_does_not_name_a_type_of_ours() {
    let rust = |text: &str| {
        let code = format!("pub(crate) struct LowerDevices {{}}\nfn f() {{\n    say!(\"{text}\");\n}}\n");
        broken("crates/a/src/b.rs", &code)
    };
    assert_eq!(rust("LowerDevices the target there is nothing"), ["type-name:3"]);
    for fine in
        ["Below the target there is nothing", "a page of PostgreSQL is 8 KiB", "the word `LowerDevices` is code"]
    {
        assert_eq!(rust(fine), [""; 0], "{fine}");
    }
}

#[test]
fn comments_of_code_and_tests_have_none_of_the_turns_and_may_be_long() {
    let turn = "//! A drive\n//! is told.\n\nfn f() {\n    g(); // Of a cable no end knows\n}\n";
    for path in ["crates/a/src/b.rs", "crates/a/tests/b.rs", "bench/src/a.rs"] {
        assert_eq!(broken(path, turn), ["turn:1", "turn:5"], "{path}");
    }
    assert_eq!(broken("crates/a/src/b.rs", "/// Items:\n/// * Of a cable no end knows\nfn f() {}\n"), ["turn:2"]);
    for fine in ["/// A drive is\n\n/// told.\n", "/// The word `is told`.\n", "/// Parts. A list of\n/// Of.\n"] {
        assert_eq!(broken("crates/a/src/b.rs", fine), [""; 0], "{fine}");
    }
    assert_eq!(broken("crates/a/src/b.rs", &format!("/// {}\n", of_words(41))), [""; 0]);
}

#[test]
fn a_page_of_long_sentences_is_found() {
    let page = |words: usize| format!("{} ", of_words(words)).repeat(10);
    assert_eq!(broken("docs/a.md", &page(18)), [""; 0]);
    assert_eq!(broken("docs/a.md", &page(19)), ["long-sentences:1"]);
    assert_eq!(broken("docs/a.md", &format!("{} ", of_words(19)).repeat(9)), [""; 0]);
}

#[test]
fn a_turn_is_found_as_whole_words_only() {
    for text in ["Nobody Is told of it.", "Here (is told) it.", "Новое зерно."] {
        assert_eq!(broken("docs/a.md", text), ["turn:1"], "{text}");
    }
    assert_eq!(broken("docs/a.md", "This told, that is tolder, and `is told`, зерном."), [""; 0]);
}

#[test]
fn a_turn_with_a_capital_letter_is_found_where_a_sentence_begins() {
    assert_eq!(broken("docs/a.md", "Of a cable that is cut neither end knows."), ["turn:1"]);
    assert_eq!(broken("docs/a.md", "It is cut. *Of the* targets the slowest counts."), ["turn:1"]);
    assert_eq!(broken("docs/a.md", "The end Of a cable. Often it is so. Offsets are these."), [""; 0]);
}

#[test]
fn without_the_table_of_turns_nothing_is_checked_by_it_and_that_is_found() {
    let found = check(&[Source::new("docs/a.md", "Of a cable.")]);
    assert!(found.len() == 1 && found[0].message.contains("`instead of | write` is missing"), "{found:?}");
}

#[test]
fn sentences_end_before_a_capital_letter() {
    assert_eq!(
        split("One two. Three 1.5 four (five.) Six e.g. seven · eight"),
        ["One two. ", "Three 1.5 four (five.) ", "Six e.g. seven · ", "eight "]
    );
    assert_eq!(plain("a `b c` [d e](f.md) *g*"), "a X d e g");
}

#[test]
fn a_translation_has_the_same_commands() {
    let check = |russian: &str| {
        let sources = [Source::new("a.md", "x\n```\nrun a   # why\n\nrun b\n```\n"), Source::new("a.ru.md", russian)];
        translations(&sources).iter().map(|found| format!("{}:{}", found.rule, found.line)).collect::<Vec<_>>()
    };
    assert_eq!(check("й\n```\nrun a      # зачем\nrun b\n```\n"), [""; 0]);
    assert_eq!(check("```\nrun a\nrun c\n```\n"), ["same-commands:3"]);
    assert_eq!(check("```\nrun a\n```\n"), ["same-commands:3"]);
    assert_eq!(translations(&[Source::new("b.ru.md", "```\nrun\n```")]).len(), 0);
}
