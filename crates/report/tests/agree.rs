//! Numbers on one screen never contradict one another: every golden document of the repository is read as a person reads it, and its
//! percentages, intervals and limits are held against the values beside them. The rules are tripped by planted contradictions below.

#[path = "../../analyse/src/check/agreement.rs"]
mod agreement;
#[path = "agree/records.rs"]
mod records;
#[path = "agree/screens.rs"]
mod screens;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What the rules found in some documents.
#[derive(Debug, Default)]
pub struct Found {
    /// How often each rule had something to judge.
    judged: BTreeMap<&'static str, usize>,
    /// Contradictions, with what was read.
    wrong: Vec<String>,
}

impl Found {
    /// A rule judged something; `wrong` is what it says if that does not hold.
    fn judge(&mut self, rule: &'static str, holds: bool, wrong: impl FnOnce() -> String) {
        *self.judged.entry(rule).or_default() += 1;
        if !holds {
            self.wrong.push(format!("{rule}: {}", wrong()));
        }
    }
}

/// Reads a document by the ending of its name.
fn read(name: &str, text: &str) -> Found {
    let mut found = Found::default();
    match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "json" => records::json(text, &mut found),
        "csv" => records::csv(text, &mut found),
        "html" => screens::screen(&screens::text_of(text), &mut found),
        // Several screens in one file.
        _ => {
            text.split("\n====").flat_map(|part| part.split("\n$ ")).for_each(|part| screens::screen(part, &mut found))
        }
    }
    found
}

fn goldens() -> Vec<PathBuf> {
    fn walk(at: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(at).expect("a directory").map(|entry| entry.expect("an entry").path()) {
            match entry.is_dir() {
                true => walk(&entry, found),
                false => found.push(entry),
            }
        }
    }
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    for package in std::fs::read_dir(crates).expect("the crates").map(|entry| entry.expect("an entry").path()) {
        let golden = package.join("tests/golden");
        if golden.is_dir() {
            walk(&golden, &mut found);
        }
    }
    found.sort();
    found
}

#[test]
fn numbers_of_every_golden_document_agree() {
    let (mut wrong, mut judged) = (Vec::new(), BTreeMap::<&str, usize>::new());
    for path in goldens() {
        let found = read(&path.to_string_lossy(), &std::fs::read_to_string(&path).expect("a document"));
        wrong.extend(found.wrong.into_iter().map(|what| format!("{}: {what}", path.display())));
        found.judged.into_iter().for_each(|(rule, times)| *judged.entry(rule).or_default() += times);
    }
    assert!(wrong.is_empty(), "{}\n{judged:?}", wrong.join("\n"));
    // A rule that finds nothing to judge any more reads documents wrongly.
    for (rule, least) in [("quotient", 60), ("interval", 60), ("share of a whole", 8), ("one size", 20), ("check", 10)]
    {
        assert!(judged.get(rule).is_some_and(|times| *times >= least), "{rule}: {judged:?}");
    }
}

/// What the check says of a document, in which `~` is a no-break space.
fn told(name: &str, text: &str) -> String {
    read(name, &text.replace('~', "\u{a0}")).wrong.join("\n")
}

#[test]
fn planted_contradictions_are_told() {
    for (name, text, rule) in [
        ("a.txt", "durable-write  4190~IOPS  2694~IOPS  108.2~%", "quotient"),
        ("a.txt", "rand  412~000~IOPS  451~000~IOPS  109.4~%  108.1 … 110.9~%", "quotient"),
        ("a.txt", "  A 1.20~ms, B 900~µs\n  80.0~% (70.0 … 90.0~%)", "quotient"),
        ("a.txt", "IOPS: 84~202~IOPS → 71~006~IOPS (−16.7~%)", "quotient"),
        ("a.txt", "rand  110.0~%  110.2–113.4  ?", "interval"),
        ("a.md", "| 1.20~ms | 1.10~ms | 91.7~% (92.0 … 95.0~%) |", "interval"),
        ("a.txt", "94.0~% of the ceiling (240~000~IOPS of 257~000~IOPS)", "share of a whole"),
        ("a.txt", "241~600~IOPS, 100.0~%\n 228~000~IOPS, 95.4~%", "share of a whole"),
        ("a.txt", "241~600~IOPS at depth 32 (± 1.1~%)\n\nrand-read  241~600~IOPS  ± 0.8~%", "one size"),
        ("a.html", "<td>100~IOPS</td><td>± 152~%</td><p>100~IOPS ± 203.5~%</p>", "one size"),
        ("a.json", r#"{"rate": {"value": 100.0, "interval_95": [101.0, 102.0]}}"#, "interval"),
        ("a.json", r#"{"p99": {"value_ns": 100, "interval_95_ns": [10, 99]}}"#, "interval"),
        ("a.json", r#"{"theirs": 200.0, "ours": 100.0, "ratio": 0.6}"#, "quotient"),
        ("a.json", r#"{"text": {"en": "1.20~ms  1.10~ms  95.0~%", "ru": ""}}"#, "quotient"),
        (
            "a.json",
            r#"{"sides": [{"rate": {"value": 100.0}}, {"rate": {"value": 50.0}, "rate_ratio": {"state": "at", "value": 0.6}}]}"#,
            "quotient",
        ),
        ("a.json", &check("pass", "read 259.7~% at sda", "95.0~% to 105.0~% of a block"), "check"),
        ("a.json", &check("pass", "37~% of the blocks", "≤ 1~%"), "check"),
        ("a.json", &check("fail", "0.4~% of the blocks", "≤ 1~%"), "check"),
        ("a.json", &check("warn", "range 12.0~%, slope 3.0~%", "range ≤ 20.0~%, slope ≤ 10.0~%"), "check"),
        ("a.json", &check("warn", "2.0 times", "≥ 2.0 times the rate"), "check"),
        ("a.json", &check("warn", "2.0~% of the bytes at sda", "≤ 2.0~%"), "check"),
        ("a.csv", "label,value,interval_95_low,interval_95_high\na,5,6,7\n", "interval"),
    ] {
        assert!(told(name, text).starts_with(&format!("{rule}:")), "{text}: `{}`", told(name, text));
    }
}

#[test]
fn what_is_right_or_cannot_be_held_against_anything_is_not_told() {
    for (name, text) in [
        ("a.txt", "rand  12.0~IOPS  12.1~IOPS  101.0~%  90.0 … 113.0~%"),
        ("a.txt", "p99, read  2.00~ms  ✖ > 20~000~ms  > 1~000~000~%"),
        ("a.txt", "  A 1.20~ms, B 900~µs\n  75.0~% (70.0 … 90.0~%)"),
        ("a.txt", "read  5025~IOPS  ± 2.0~%  1940  11~640\nwrite  3518~IOPS  ± 3.0~%"),
        ("a.txt", "kernel 6.8.12 → 6.12.57; 2026-11-21 21:30, 3 of 8 cases"),
        ("a.json", &check("pass", "read 100.0~% at sda", "95.0~% to 105.0~% of a block")),
        ("a.json", &check("pass", "waited 6.1~% (from 4.0~% to 8.2~%)", "waiting ≤ 5.0~%")),
        ("a.json", &check("warn", "1.96 times", "≥ 2.0 times the rate")),
        ("a.json", &check("pass", "2.0 times", "≥ 2.0 times the rate")),
        ("a.json", &check("not_measurable", "37~% of the blocks", "≤ 1~%")),
        ("a.json", r#"{"theirs": 0.0, "ours": null, "ratio": null}"#),
    ] {
        assert_eq!(told(name, text), "", "{text}");
    }
}

fn check(status: &str, measured: &str, limit: &str) -> String {
    let [measured, limit] = [measured, limit].map(|text| serde_json::json!({"en": text, "ru": text}));
    serde_json::json!({"id": "H66", "status": status, "measured": measured, "limit": limit}).to_string()
}
