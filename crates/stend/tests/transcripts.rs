//! What people read, word for word: help, errors and results, in both languages, wide and narrow.
//! `UPDATE_EXPECT=1 cargo test -p stend --test transcripts` writes the files anew; read the difference.

use crate::support::fixed_run::two_runs;
use crate::support::*;
use expect_test::{ExpectFile, expect_file};

/// Commands and what they answer, with what changes from machine to machine made the same.
struct Transcript {
    scratch: Scratch,
    text: String,
}

impl Transcript {
    fn new() -> Transcript {
        Transcript { scratch: Scratch::new(), text: String::new() }
    }

    /// Adds a command and everything it prints.
    fn add(&mut self, environment: &[(&str, &str)], words: &[&str]) {
        let mut command = stend(&self.scratch, words);
        command.envs(environment.iter().copied());
        let (code, stdout, stderr) = texts(&output(&mut command));
        let set: String = environment.iter().map(|(name, value)| format!("{name}={value} ")).collect();
        let entry = format!("$ {set}stend {}\n{stdout}{stderr}[{code}]\n\n", words.join(" "));
        self.text.push_str(&entry.replace(&*self.scratch.path().to_string_lossy(), "SCRATCH"));
    }

    fn check(&self, file: ExpectFile) {
        assert!(!self.text.contains('\u{1b}'), "escape codes outside a terminal");
        file.assert_eq(&self.text);
    }
}

#[test]
fn the_help_of_every_verb_in_both_languages() {
    for (lang, file) in [("en", expect_file!["golden/help_en.txt"]), ("ru", expect_file!["golden/help_ru.txt"])] {
        let mut transcript = Transcript::new();
        transcript.add(&[], &["--help", "--lang", lang]);
        for verb in verbs(&transcript.scratch) {
            transcript.add(&[], &[&verb, "--help", "--lang", lang]);
            for command in commands(&transcript.scratch, &[&verb]) {
                transcript.add(&[], &[&verb, &command, "--help", "--lang", lang]);
            }
        }
        transcript.check(file);
    }
}

#[test]
fn wrong_command_lines_in_both_languages() {
    let wrong: [&[&str]; 11] = [
        &[],
        &["mesure"],
        &["run", "quick", "--onn", "/x"],
        &["run", "quick", "--on", "/x", "--seed", "x"],
        &["show"],
        &["compare", "a.stend"],
        &["compare", "a.stend", "b.stend"],
        &["export", "last", "--format", "pdf"],
        &["completions", "csh"],
        &["man"],
        &["list", "extra"],
    ];
    let mut transcript = Transcript::new();
    for words in wrong {
        transcript.add(&[], words);
        transcript.add(&[("LANG", "ru_RU.UTF-8")], words);
    }
    transcript.check(expect_file!["golden/usage.txt"]);
}

#[test]
fn the_list_and_the_comparison_of_two_runs() {
    let mut transcript = Transcript::new();
    transcript.add(&[], &["list"]);
    two_runs(&transcript.scratch);
    let runs = transcript.scratch.join("stend/runs");
    std::fs::write(runs.join("R-20261120T000000Z-oops.stend"), "not a database").expect("a file");
    let ru = ("LANG", "ru_RU.UTF-8");
    let narrow = ("COLUMNS", "40");
    for environment in [&[("LANG", "C")][..], &[ru], &[narrow], &[narrow, ru], &[("NO_COLOR", "1")]] {
        transcript.add(environment, &["list"]);
        transcript.add(environment, &["compare", "R-20261121", "last"]);
    }
    // Sizes follow from how SQLite lays a file out, not from what is in it.
    let size = |name: &str| std::fs::metadata(runs.join(name)).expect("a run file").len();
    for name in ["R-20261121T213000Z-aaaa.stend", "R-20261122T213000Z-bbbb.stend"] {
        for lang in [stend_base::Lang::En, stend_base::Lang::Ru] {
            let shown = stend_base::format::bytes(stend_base::Bytes(size(name)), lang);
            let same_width = format!("{:>1$}", "SIZE", shown.chars().count());
            transcript.text =
                transcript.text.replace(&shown, &same_width).replace(&shown.replace(' ', "\u{a0}"), "SIZE");
        }
    }
    transcript.check(expect_file!["golden/two_runs.txt"]);
}

#[test]
fn colour_only_where_it_is_asked_for() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    for (words, coloured) in [
        (&["compare", "R-20261121", "last", "--color", "always"][..], true),
        (&["compare", "R-20261121", "last", "--color", "never"][..], false),
        (&["list"][..], false),
        (&["list", "--color", "always"][..], true),
    ] {
        let (stdout, _) = expect_exit(&mut stend(&scratch, words), 0);
        assert_eq!(stdout.contains('\u{1b}'), coloured, "{words:?}");
    }
}

#[test]
fn what_a_directory_is() {
    let mut transcript = Transcript::new();
    let directory = transcript.scratch.directory("target");
    for environment in [&[][..], &[("LANG", "ru_RU.UTF-8")], &[("COLUMNS", "40")]] {
        transcript.add(environment, &["inspect", &directory]);
    }
    let (facts, _) = expect_exit(&mut stend(&transcript.scratch, &["inspect", &directory, "--json"]), 0);
    let facts: serde_json::Value = serde_json::from_str(&facts).expect("JSON");
    let file_system = facts["file_system"].as_str().expect("a file system");
    for word in ["on", "на"] {
        transcript.text = transcript.text.replace(&format!("{word} {file_system}\n"), &format!("{word} FS\n"));
    }
    transcript.text = facts_hidden(&transcript.text);
    transcript.check(expect_file!["golden/inspect.txt"]);
}

/// Facts of this machine's disk stand on indented lines above the sentence about writing; everything else
/// is the same on every machine.
fn facts_hidden(text: &str) -> String {
    let mut out = String::new();
    let (mut sentence, mut hidden) = (false, false);
    for line in text.lines() {
        sentence = line.starts_with('✔') || sentence && line.starts_with("  ");
        let fact = line.starts_with("  ") && !sentence;
        match (fact, hidden) {
            (true, true) => {}
            (true, false) => out.push_str("  (facts)\n"),
            (false, _) => out.push_str(&format!("{line}\n")),
        }
        hidden = fact;
    }
    out
}
