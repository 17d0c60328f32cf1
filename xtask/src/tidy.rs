//! Rules about form: what a reader of any file may rely on.

use crate::problem::Problem;
use crate::source::{RustFile, Tree, find_words, item_end, line_of};

/// Lines of a file; the aim is 400.
const FILE_LINES_MAX: usize = 500;

/// Lines of a function, from its first to its last.
const FUNCTION_LINES_MAX: usize = 70;

/// Words that mark something unfinished.
const UNFINISHED: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

/// Code that hides something unfinished.
const HIDING: [&str; 5] = ["dbg!", "#[ignore", "allow(dead_code)", "todo!", "unimplemented!"];

/// Directories of machines on which the tree was worked on.
const MACHINES: [&str; 2] = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];

/// Everything that breaks a rule.
pub fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in &tree.rust {
        problems.extend(lines(&file.path, &file.text));
        problems.extend(rust(file));
    }
    for (path, text) in &tree.other {
        problems.extend(lines(path, text));
        // Documents may talk about such words.
        if !path.ends_with(".md") {
            problems.extend(words(path, text, &UNFINISHED));
        }
    }
    problems
}

/// Rules for every file.
fn lines(path: &str, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mut wrong = |what: &str| problems.push(Problem::new(path, index + 1, what));
        if line.ends_with([' ', '\t', '\r']) {
            wrong("white space at the end of the line");
        }
        if MACHINES.iter().any(|machine| line.contains(machine)) {
            wrong("names a directory of one machine");
        }
    }
    problems
}

fn words(path: &str, text: &str, forbidden: &[&str]) -> Vec<Problem> {
    let found = |word: &&str| find_words(text, word).map(|at| line_of(text, at)).collect::<Vec<_>>();
    let problem = |word: &&str| {
        found(word).into_iter().map(|line| Problem::new(path, line, format!("`{word}`"))).collect::<Vec<_>>()
    };
    forbidden.iter().flat_map(problem).collect()
}

fn rust(file: &RustFile) -> Vec<Problem> {
    let mut problems = words(&file.path, &file.parts.code, &HIDING);
    problems.extend(words(&file.path, &file.parts.code, &UNFINISHED));
    problems.extend(words(&file.path, &file.parts.comments, &UNFINISHED));
    if !file.text.starts_with("//! ") {
        problems.push(Problem::new(&file.path, 1, "does not begin with `//!` and what the file is for"));
    }
    let count = file.text.lines().count();
    if count > FILE_LINES_MAX {
        problems.push(Problem::new(&file.path, 0, format!("has {count} lines, more than {FILE_LINES_MAX}")));
    }
    problems.extend(long_functions(file));
    problems.extend(dead_code(file));
    problems.extend(untranslated(file));
    problems
}

fn long_functions(file: &RustFile) -> Vec<Problem> {
    let code = &file.parts.code;
    let product = find_words(code, "fn ").filter(|&at| !file.is_test[line_of(code, at) - 1]);
    let long = product.filter_map(|at| {
        let item = &code[at..at + item_end(&code[at..])];
        let count = item.lines().count();
        let text = format!("a function of {count} lines, more than {FUNCTION_LINES_MAX}");
        (count > FUNCTION_LINES_MAX).then(|| Problem::new(&file.path, line_of(code, at), text))
    });
    long.collect()
}

/// Comments that look like code: a sentence does not end with `;` or `{`.
fn dead_code(file: &RustFile) -> Vec<Problem> {
    let comments = file.parts.comments.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let plain = comments
        .filter(|(_, line)| line.starts_with("//") && !["///", "//!", "//="].iter().any(|doc| line.starts_with(doc)));
    let code = plain.filter(|(_, line)| line.ends_with([';', '{']));
    code.map(|(line, _)| Problem::new(&file.path, line, "looks like code in a comment")).collect()
}

/// Texts for people must exist in both languages: an English and a Russian one, in this order.
fn untranslated(file: &RustFile) -> Vec<Problem> {
    let code = &file.parts.code;
    let product = |at: &usize| !file.is_test[line_of(code, *at) - 1];
    let mut problems = Vec::new();
    for at in find_words(code, "say!(").filter(product) {
        let mut texts = texts_from(file, at, "say!(");
        if let (Some(en), Some(ru)) = (texts.next(), texts.next()) {
            problems.extend(language(en, ru).map(|what| Problem::new(&file.path, line_of(code, at), what)));
        }
    }
    for field in ["ru: format!(", "ru: "] {
        for at in find_words(code, field).filter(product) {
            if let Some(ru) = texts_from(file, at, field).next()
                && has_letters(ru)
                && !has_cyrillic(ru)
            {
                problems.push(Problem::new(&file.path, line_of(code, at), "the Russian text is not in Russian"));
            }
        }
    }
    problems
}

/// Texts in order, if one follows right after `before`.
fn texts_from<'a>(file: &'a RustFile, at: usize, before: &str) -> impl Iterator<Item = &'a str> {
    let from = at + before.len();
    let follows = file.parts.code[from..].trim_start().starts_with('"');
    file.parts.texts.iter().filter(move |(position, _)| follows && *position >= from).map(|(_, text)| text.as_str())
}

fn language(en: &str, ru: &str) -> Option<&'static str> {
    if has_cyrillic(en) {
        return Some("the English text is not in English");
    }
    (has_letters(en) && !has_cyrillic(ru))
        .then_some("the Russian text is not in Russian (`Say::same` if it need not be)")
}

fn has_cyrillic(text: &str) -> bool {
    text.chars().any(|c| matches!(c, 'а'..='я' | 'А'..='Я' | 'ё' | 'Ё'))
}

/// Letters outside of placeholders such as `{name}`.
fn has_letters(text: &str) -> bool {
    let mut depth = 0;
    text.chars().any(|c| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        depth == 0 && c.is_alphabetic()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(path: &str, text: &str) -> Vec<String> {
        check(&Tree::of([(path.to_string(), text.to_string())])).into_iter().map(|problem| problem.text).collect()
    }

    /// The only problem of a Rust file with this text below its first line.
    fn problem(text: &str) -> String {
        let mut found = problems("crates/a/src/x.rs", &format!("//! For tests.\n{text}\n"));
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        found.remove(0)
    }

    #[test]
    fn a_tidy_file_has_no_problem() {
        let text =
            "//! For tests.\n\n// Why this is so.\nfn a() -> Say {\n    say!(\"open `{b}`\", \"открыть `{b}`\")\n}\n";
        assert_eq!(problems("crates/a/src/x.rs", text), Vec::<String>::new());
        assert_eq!(problems("docs/x.md", "TO DO lists\n"), Vec::<String>::new());
    }

    #[test]
    fn a_file_says_first_what_it_is_for() {
        assert!(problems("a.rs", "use b;\n")[0].contains("does not begin"));
    }

    #[test]
    fn long_files_and_functions_are_found() {
        assert!(problem(&"a\n".repeat(FILE_LINES_MAX)).contains("has 501 lines"));
        let function = |lines: usize| format!("fn a() {{\n{}}}", "b;\n".repeat(lines - 2));
        assert!(problem(&function(71)).contains("of 71 lines"));
        assert_eq!(problems("a.rs", &format!("//! A.\n{}\n", function(70))), Vec::<String>::new());
        let test = format!("//! A.\n#[cfg(test)]\nmod tests {{\n{}\n}}\n", function(71));
        assert_eq!(problems("a.rs", &test), Vec::<String>::new());
    }

    #[test]
    fn unfinished_work_is_found() {
        for word in UNFINISHED {
            assert_eq!(problem(&format!("// {word}: later")), format!("`{word}`"));
            assert_eq!(problems("x.sh", &format!("# {word}\n")).len(), 1);
        }
        for code in ["dbg!(a);", "#[ignore]", "#[ignore = \"b\"]", "#[allow(dead_code)]", "todo!()", "unimplemented!()"]
        {
            problem(code);
        }
    }

    #[test]
    fn code_in_comments_is_found() {
        assert!(problem("// let a = b;").contains("code in a comment"));
        assert!(problem("    // if a {").contains("code in a comment"));
        assert_eq!(problems("a.rs", "//! A.\n/// Such as `a;` or\n/// b;\nfn c() {}\n"), Vec::<String>::new());
    }

    #[test]
    fn space_at_line_ends_and_paths_of_one_machine_are_found_in_every_file() {
        for path in ["docs/x.md", "Makefile", "x.toml"] {
            assert_eq!(problems(path, "a \n"), ["white space at the end of the line"]);
            for machine in MACHINES {
                assert_eq!(problems(path, &format!("cd {machine}x\n")), ["names a directory of one machine"]);
            }
        }
    }

    #[test]
    fn texts_that_are_not_translated_are_found() {
        assert!(problem("say!(\"open\", \"open\")").contains("Russian"));
        assert!(problem("say!(\n    \"open {a}\",\n    \"{a}\",\n)").contains("Russian"));
        assert!(problem("say!(\"открыть\", \"открыть\")").contains("English"));
        assert!(problem("Say { en: format!(\"open\"), ru: format!(\"open {a}\") }").contains("Russian"));
        assert!(problem("Say { en: a, ru: \"open\".into() }").contains("Russian"));
        for same in ["say!(\"{en}\", \"{ru}\")", "Say { en, ru: format!(\"{a}\") }", "Say { ru: en.clone(), en }"] {
            assert_eq!(problems("a.rs", &format!("//! A.\n{same}\n")), Vec::<String>::new(), "{same}");
        }
    }
}
