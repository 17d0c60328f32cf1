//! Suites that are wrong, absurd or made to hurt: each is refused before anything is made, with exit code 3, its
//! place where it has one, and a sentence; and none of them takes long or much memory.

use crate::support::*;

/// A suite with one stream.
fn with_stream(stream: &str) -> String {
    format!("suite: x\ncases:\n  - name: a\n    streams:\n      - {stream}\n")
}

/// A suite whose one stream has these axes.
fn with_axes(axes: &str) -> String {
    with_stream(&format!("{{op: write, pattern: random, {axes}}}"))
}

/// A list of whole numbers from 1.
fn numbers(count: usize) -> String {
    let list: Vec<String> = (1..=count).map(|number| number.to_string()).collect();
    format!("[{}]", list.join(", "))
}

/// Refused with exit code 3 and these words; the target stays empty and no run file is made.
fn refused(scratch: &Scratch, text: &str, part: &str) {
    let (suite, target) = (scratch.file("bad.yaml", text), scratch.directory("target"));
    let file = scratch.join("r.stend");
    let words = ["run", &suite, "--on", &target, "-o", &file.to_string_lossy(), "--progress", "none"];
    let (stdout, stderr) = expect_exit(&mut stend(scratch, &words), 3);
    let shown: String = text.chars().take(200).collect();
    assert!(stderr.contains(part), "`{part}` is not in `{stderr}`, the answer to:\n{shown}");
    assert!(stdout.is_empty() && !stderr.contains("panicked"), "{stdout}{stderr}");
    assert!(stderr.len() < 4096, "an answer is a sentence, not the file: {} bytes", stderr.len());
    assert!(!file.exists() && leftovers(&target).is_empty());
}

#[test]
fn a_suite_of_a_million_cases_is_refused_whichever_way_it_is_written() {
    let scratch = Scratch::new();
    let axes = format!("block_size: 4KiB, queue_depth: {}, jobs: {}", numbers(1000), numbers(64));
    refused(&scratch, &with_axes(&axes), "more than 10000");
    let stream = format!("{{op: write, pattern: random, block_size: 4KiB, queue_depth: {}}}", numbers(100));
    let three = format!("suite: x\ncases:\n  - name: a\n    streams: [{stream}, {stream}, {stream}]\n");
    refused(&scratch, &three, "more than 10000");
    let one = |n: usize| format!("  - {{name: c{n}, streams: [{{op: write, pattern: random, block_size: 4KiB}}]}}\n");
    let million: String = (0..1_000_000).map(one).collect();
    refused(&scratch, &format!("suite: x\ncases:\n{million}"), "larger than 1 MiB");
    let fitting: String = (0..11_000).map(one).collect();
    refused(&scratch, &format!("suite: x\ncases:\n{fitting}"), "more than 10000 cases");
}

#[test]
fn a_plan_of_a_million_trials_is_refused() {
    let scratch = Scratch::new();
    let axes = format!("block_size: 4KiB, queue_depth: {}", numbers(1000));
    refused(&scratch, &(with_axes(&axes) + "repeats: {blocks: 1000}\n"), "more than 100000 trials");
}

#[test]
fn bombs_and_cycles_of_aliases_are_refused() {
    let scratch = Scratch::new();
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_string();
    for level in 1..10 {
        let list = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb += &format!("a{level}: &a{level} [{list}]\n");
    }
    refused(&scratch, &bomb, "bad.yaml");
    refused(&scratch, "suite: x\ncases: &c [*c]\n", "bad.yaml");
    refused(&scratch, "suite: &s {suite: *s}\n", "bad.yaml");
    refused(&scratch, "suite: x\ncases: *nowhere\n", "bad.yaml:2");
    refused(&scratch, &format!("suite: x\ncases: {}{}\n", "[".repeat(5000), "]".repeat(5000)), "bad.yaml");
    refused(&scratch, &format!("suite: x\ncases: {}", "{a: ".repeat(100)), "bad.yaml");
}

#[test]
fn huge_keys_and_values_are_refused_without_being_repeated() {
    let scratch = Scratch::new();
    let long = "k".repeat((1 << 20) - 110);
    refused(&scratch, &format!("suite: x\n{long}: 1\n"), "bad.yaml");
    refused(&scratch, &format!("{long}: 1\n{long}: 1\n"), "larger than 1 MiB");
    let half = &long[..1 << 18];
    refused(&scratch, &format!("suite: x\n? {half}\n: 1\n? {half}\n: 1\n"), "stands here twice");
    refused(&scratch, &format!("suite: {long}\ncases: []\n"), "bad.yaml:1");
    refused(&scratch, &with_axes(&format!("block_size: {long}")), "bad.yaml:5");
    refused(&scratch, &with_axes(&format!("block_size: {}KiB", "9".repeat(100_000))), "bad.yaml:5");
    refused(&scratch, &with_axes(&format!("block_size: 4KiB, {long}: 1")), "bad.yaml:5");
}

#[test]
fn a_key_cannot_steer_the_terminal() {
    let scratch = Scratch::new();
    let suite = scratch.file("bad.yaml", &with_axes("block_size: 4KiB, \"\\e[2Jx\\u202ey\": 1"));
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", "/var/tmp"]), 3);
    assert!(stderr.contains("unknown key") && !stderr.contains(['\u{1b}', '\u{202e}']), "{stderr:?}");
}

#[test]
fn duplicate_keys_and_names_are_refused() {
    let scratch = Scratch::new();
    refused(&scratch, "suite: x\nsuite: y\n", "bad.yaml:2:1");
    refused(&scratch, &with_axes("block_size: 4KiB, block_size: 8KiB"), "bad.yaml:5");
    let twice =
        with_axes("block_size: 4KiB") + "  - name: a\n    streams: [{op: read, pattern: random, block_size: 4KiB}]\n";
    refused(&scratch, &twice, "two cases are named `a`");
}

#[test]
fn numbers_without_a_unit_with_a_wrong_one_negative_or_huge_are_refused() {
    let scratch = Scratch::new();
    for value in
        ["4096", "4q", "4KB/s", "-4KiB", "0", "0B", "1e30KiB", "99999999999999999999GiB", "4 KiB KiB", "NaN", ".inf"]
    {
        refused(&scratch, &with_axes(&format!("block_size: {value}")), "bad.yaml:5");
    }
    for value in ["-1", "0", "1.5", "99999999999999999999999999", "1e9", "0x10000", "one", "[]", "{}", "null", "true"] {
        refused(&scratch, &with_axes(&format!("block_size: 4KiB, queue_depth: {value}")), "bad.yaml:5");
    }
    let whole = with_axes("block_size: 4KiB");
    for (key, value) in
        [("trial", "3"), ("trial", "-3s"), ("trial", "3 parsecs"), ("ramp", "1e99s"), ("trial", "10000000h")]
    {
        refused(&scratch, &format!("{whole}defaults: {{{key}: {value}}}\n"), "bad.yaml:6");
    }
    for value in ["{size: -1GiB}", "{size: 8}", "{size: 99999999999999TiB}", "lots"] {
        refused(&scratch, &format!("{whole}fill: {value}\n"), "bad.yaml:6");
    }
    for value in ["-1", "0", "1000000000000", "2.5"] {
        refused(&scratch, &format!("{whole}repeats: {{blocks: {value}}}\n"), "bad.yaml:6");
    }
}

#[test]
fn what_is_not_a_suite_is_said_so() {
    let scratch = Scratch::new();
    for text in [
        "",
        "---\n...\n",
        "- a\n",
        "suite",
        "\u{feff}",
        "{",
        "\t: x",
        "suite: x\n---\nsuite: y\n",
        "%YAML 9.9\n---\nsuite: x\n",
    ] {
        refused(&scratch, text, "bad.yaml");
    }
    refused(&scratch, &(with_axes("block_size: 4KiB") + "version: 99\n"), "unknown key `version`");
    refused(&scratch, &(with_axes("block_size: 4KiB") + "stend: 2\n"), "unknown key `stend`");
    let target = scratch.directory("target");
    let binary = scratch.join("binary.yaml");
    std::fs::write(&binary, [0xff, 0xfe, 0x00, 0x80]).expect("a file");
    for path in [binary.to_string_lossy().into_owned(), target.clone(), "/dev/zero".into()] {
        let (_, stderr) = expect_exit(&mut stend(&scratch, &["run", &path, "--on", &target]), 3);
        assert!(stderr.contains(&path), "{stderr}");
    }
    assert!(leftovers(&target).is_empty());
}
