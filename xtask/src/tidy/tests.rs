//! Every rule of tidiness with a text that must trip it and one that must not.

use super::*;

/// A file that breaks no rule, to which tests add.
const CLEAN: &str = "//! For nothing.\n\n// Says why.\nfn f() {}\n";

fn broken(path: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    let source = Source::new(path, text);
    RULES.iter().for_each(|rule| rule(&source, &mut findings));
    findings.iter().map(|finding| format!("{}:{}", finding.rule, finding.line)).collect()
}

fn in_rust(more: &str) -> Vec<String> {
    broken("crates/a/src/b.rs", &format!("{CLEAN}{more}"))
}

#[test]
fn a_clean_file_has_no_findings() {
    assert_eq!(in_rust(""), [""; 0]);
}

#[test]
fn a_file_says_first_what_it_is_for() {
    assert_eq!(broken("crates/a/src/b.rs", "fn f() {}\n"), ["first-line:1"]);
    assert_eq!(broken("docs/a.md", "fn f() {}\n"), [""; 0]);
}

#[test]
fn a_long_file_is_found_at_the_line_where_it_became_too_long() {
    let rest = LINES_MAX - CLEAN.lines().count();
    assert_eq!(in_rust(&"\n".repeat(rest)), [""; 0]);
    assert_eq!(in_rust(&"\n".repeat(rest + 1)), ["file-length:501"]);
}

#[test]
fn a_long_function_is_found_unless_it_is_a_test() {
    let function = |lines: usize| format!("fn g(a: fn(u8)) {{\n{}}}\n", "x;\n".repeat(lines - 2));
    assert_eq!(in_rust(&function(70)), [""; 0]);
    assert_eq!(in_rust(&function(71)), ["function-length:5"]);
    assert_eq!(in_rust(&format!("#[cfg(test)]\nmod tests {{\n{}}}\n", function(71))), [""; 0]);
    assert_eq!(broken("crates/a/tests/b.rs", &format!("{CLEAN}{}", function(71))), [""; 0]);
}

#[test]
fn a_short_function_before_a_long_one_is_not_blamed() {
    let text = format!("trait T {{\nfn declared(&self);\nfn long() {{\n{}}}\n}}\n", "x;\n".repeat(70));
    assert_eq!(in_rust(&text), ["function-length:7"]);
}

#[test]
fn unfinished_work_and_debris_are_found() {
    for (text, rule) in [
        ("// TODO: later\n", "unfinished:5"),
        ("/// FIXME\nfn g() {}\n", "unfinished:5"),
        ("fn g() {} // XXX\n", "unfinished:5"),
        ("fn g() { todo!() }\n", "unfinished:5"),
        ("fn g() { unimplemented!() }\n", "unfinished:5"),
        ("fn g() { dbg!(1) }\n", "debris:5"),
        ("\n#[ignore = \"slow\"]\n", "ignored-test:6"),
        ("#[allow(dead_code, reason = \"none\")]\n", "dead-code:5"),
        ("#![expect(dead_code)]\n", "dead-code:5"),
    ] {
        assert_eq!(in_rust(text), [rule], "{text}");
    }
    assert_eq!(in_rust("fn g() { f(\"TODO dbg!(1)\") } // XXXX and todo lists\n"), [""; 0]);
}

#[test]
fn code_in_a_comment_is_found_and_a_sentence_is_not() {
    for text in ["// let a = 1;\n", "    // if a {\n", "// }\n"] {
        assert_eq!(in_rust(text), ["commented-out:5"], "{text}");
    }
    assert_eq!(in_rust("// It ends; nothing waits.\n/// ```\n/// let a = 1;\n/// ```\nfn g() {}\n"), [""; 0]);
}

#[test]
fn white_space_at_the_end_is_found_in_every_text() {
    assert_eq!(in_rust("fn g() {} \n"), ["trailing-space:5"]);
    assert_eq!(broken("docs/a.md", "a\nb\t\n"), ["trailing-space:2"]);
}

#[test]
fn a_merge_that_was_not_finished_is_found() {
    let text = format!("a\n{} ours\nb\n=======\nc\n{} theirs\n", "<".repeat(7), ">".repeat(7));
    assert_eq!(broken("docs/a.md", &text), ["merge-mark:2", "merge-mark:6"]);
    assert_eq!(broken("docs/a.md", "a\n=======\n<<<<<<<<< b\n"), [""; 0]);
}

#[test]
fn a_text_that_was_not_translated_is_found() {
    for text in [
        "fn g() { say!(\"yes\", \"yes\") }\n",
        "fn g() { say!(\"± 95 %\", \"± 95 %\") }\n",
        "fn g() { say!(\n    \"`{a}` is gone\",\n    \"`{a}` is gone\"\n) }\n",
        "fn g() { say!(\"да\", \"да\") }\n",
        "fn g() { say!(r#\"a \"b\"\"#, r#\"a \"b\"\"#) }\n",
    ] {
        assert_eq!(in_rust(text), ["translation:5"], "{text}");
    }
    for text in [
        "fn g() { say!(\"\\\"yes\\\"\", \"\\\"да\\\"\") }\n",
        "fn g() { say!(r#\"a \"b\"\"#, r#\"а \"б\"\"#) }\n",
        "fn g() { say!(\"a\", \"Ё\") }\n",
        "fn g() { say!(\"{en}\\n{n:>3} %\", \"{ru}\\n{n:>3} %\") }\n",
        "/// say!(\"a\", \"b\")\nfn g() { Say::same(\"a\") }\n",
        "#[cfg(test)]\nmod tests { fn g() { say!(\"a\", \"b\") } }\n",
    ] {
        assert_eq!(in_rust(text), [""; 0], "{text}");
    }
}

#[test]
fn a_text_in_one_language_lacks_no_translation_either() {
    for text in ["fn g() { say_in!(l, \"one\", \"one\") }\n", "fn g() { say_in!(\n    l,\n    \"один\", \"one\") }\n"]
    {
        assert_eq!(in_rust(text), ["translation:5"], "{text}");
    }
    assert_eq!(in_rust("fn g() { say_in!(l, \"at {t}\", \"в {t}\", t = f(\"x\")) }\n"), [""; 0]);
}

#[test]
fn a_placeholder_that_is_filled_at_run_time_is_found() {
    for text in [
        "fn g() { pick(l, \"at {t}\", \"в {t}\").replace(\"{t}\", &time) }\n",
        "fn g() { text.replace(\n        \"{}\", &time) }\n",
    ] {
        assert_eq!(in_rust(text), ["template:5"], "{text}");
    }
    for text in [
        "fn g() { text.replace(\"a\", \"{b}\").replace('{', \"(\") }\n",
        "#[cfg(test)]\nmod tests { fn g() { text.replace(\"{t}\", &time) } }\n",
    ] {
        assert_eq!(in_rust(text), [""; 0], "{text}");
    }
}

#[test]
fn a_decision_by_the_words_of_a_text_is_found() {
    for text in [
        "fn g() { error.message.en.contains(\"full\") }\n",
        "fn g() { say.get(Lang::En).starts_with(\"x\") }\n",
        "fn g() { if what.ru == \"размер\" {} }\n",
    ] {
        assert_eq!(in_rust(text), ["prose:5"], "{text}");
    }
    for text in [
        "fn g() { say.en == say.ru || say.en.is_empty() || error.code == Code::Usage }\n",
        "#[cfg(test)]\nmod tests { fn g() { error.message.en.contains(\"full\") } }\n",
    ] {
        assert_eq!(in_rust(text), [""; 0], "{text}");
    }
}

#[test]
fn a_folder_of_one_machine_is_found_in_every_text() {
    for folder in MACHINE {
        assert_eq!(in_rust(&format!("fn g() {{ f(\"{folder}x\") }}\n")), ["machine-path:5"]);
        assert_eq!(broken("docs/a.md", &format!("see {folder}x\n")), ["machine-path:1"]);
    }
}

#[test]
fn an_exception_holds_for_its_file_and_rule_only_and_must_be_needed() {
    let sources = ["crates/a/tests/support/mod.rs", "crates/a/src/b.rs"]
        .map(|path| Source::new(path, &format!("{CLEAN}#![allow(dead_code)]\n")));
    let style = Source::new("docs/STYLE.md", "| instead of | write |\n|---|---|\n| `whoever` | who |\n");
    let sources = [&sources[..], &[style]].concat();
    let check = |rows: &str| {
        let text = format!("| rule | file | because |\n|---|---|---|\n{rows}");
        check(&Source::new(document::ARCHITECTURE, &text), &sources).iter().map(Finding::to_string).collect::<Vec<_>>()
    };
    let found = check("| `dead-code` | `crates/a/tests/support/mod.rs` | |\n");
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("crates/a/src/b.rs:5"), "{found:?}");
    let found = check("| `first-line` | `crates/a/src/b.rs` | |\n");
    assert!(found[2].contains("nothing needs this exception from `first-line`"), "{found:?}");
}
