//! `/dev/null` and `/dev/zero` as targets: what can be measured there is, the rest says why not.

use crate::support::*;

const SUITE: &str = "\
suite: engine
defaults: {ramp: 50ms, trial: 200ms, direct: false}
fill: {size: 16MiB}
repeats: {blocks: 1}
cases:
  - name: read
    streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: 4}]
  - name: write
    streams: [{op: write, pattern: random, block_size: 4KiB, queue_depth: 4}]
  - name: discard
    streams: [{op: discard, pattern: random, block_size: 4KiB}]
  - name: direct
    direct: true
    streams: [{op: write, pattern: random, block_size: 4KiB}]
";

#[test]
fn a_null_device_gives_the_cost_of_the_engine_and_says_what_it_cannot_do() {
    let scratch = Scratch::new();
    let suite = scratch.file("s.yaml", SUITE);
    for (target, measured) in [("/dev/null", vec!["write"]), ("/dev/zero", vec!["read", "write"])] {
        let file = scratch.join("r.stend");
        let path = file.to_string_lossy().into_owned();
        let (stdout, _) = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", target, "-o", &path]), 0);
        let second = stdout.lines().nth(1).unwrap_or_default();
        assert!(second.starts_with(&format!("No storage took part (`{target}`)")), "{stdout}");
        assert!(!stdout.contains("Do not rely"), "{stdout}");
        let findings = show_json(&scratch, &file);
        let labels = |key: &str| -> Vec<String> {
            let all = findings[key].as_array().expect("a list");
            all.iter().map(|case| case["label"].as_str().expect("a label").to_string()).collect()
        };
        assert_eq!(labels("cases"), measured);
        assert_eq!(labels("not_run").len(), 4 - measured.len(), "{stdout}");
        assert!(stdout.contains("direct: false"), "{stdout}");
        std::fs::remove_file(&file).expect("removed");
    }
}

#[test]
fn a_null_device_is_known_by_its_number_wherever_its_node_lies() {
    if !root("a_null_device_is_known_by_its_number_wherever_its_node_lies") {
        return;
    }
    let scratch = Scratch::new();
    let (suite, node) = (scratch.file("s.yaml", SUITE), scratch.join("any").to_string_lossy().into_owned());
    let made = std::process::Command::new("mknod").args([&node, "c", "1", "5"]).status();
    assert!(made.expect("mknod runs").success());
    let (stdout, _) = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &node, "--dry-run", "--json"]), 0);
    let plan: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    assert!(stdout.contains("/dev/zero"), "{stdout}");
    let not_run = plan["not_run"].as_array().expect("a list").len();
    assert_eq!(not_run, 2, "reads are possible there: {stdout}");
}

#[test]
fn confirming_a_null_device_is_refused_in_its_own_words() {
    let scratch = Scratch::new();
    let suite = scratch.file("s.yaml", SUITE);
    let words = ["run", &suite, "--on", "/dev/null", "--confirm=x"];
    let (_, stderr) = expect_exit(&mut stend(&scratch, &words), 5);
    assert!(stderr.contains("stores nothing") && !stderr.contains("directory"), "{stderr}");
}
