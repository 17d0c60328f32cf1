//! Several test files with the real binary: made, filled, measured as one range, told, removed.

use crate::support::*;

const SUITE: &str = "\
suite: several
defaults: {ramp: 50ms, trial: 300ms}
files: {count: 5, size: {256KiB: 60, 1MiB: 40}}
fill: {size: auto}
repeats: {blocks: 1}
cases:
  - name: each
    streams: [{op: {read: 50, write: 50}, pattern: random, block_size: 4KiB, queue_depth: 4, jobs: {per_file: 1}, sync: {fdatasync: 1}}]
  - name: all
    streams: [{op: write, pattern: sequential, block_size: 64KiB, jobs: 2, verify: {after: true}}]
  - name: odd
    streams: [{op: read, pattern: random, block_size: 12KiB}]
";

#[test]
fn several_files_are_made_measured_told_and_removed() {
    let scratch = Scratch::new();
    let (suite, target) = (scratch.file("s.yaml", SUITE), scratch.directory("target"));
    let file = scratch.join("r.stend");
    let path = file.to_string_lossy().into_owned();
    let (ahead, _) = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &target, "--dry-run"]), 0);
    let ahead = one_line(&ahead);
    assert!(ahead.contains("data-00000 and the next, 5 files of 2.75 MiB together"), "{ahead}");
    assert!(ahead.contains("only to its own files") && leftovers(&target).is_empty(), "{ahead}");
    let (stdout, _) = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &target, "-o", &path]), 0);
    assert!(leftovers(&target).is_empty(), "{:?}", leftovers(&target));
    let stdout = one_line(&stdout);
    assert!(stdout.contains("blocks of 12 KiB do not divide the files of 256 KiB"), "{stdout}");
    let findings = show_json(&scratch, &file);
    let cases = findings["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), 2);
    for case in cases {
        assert!(case["iops"]["value"].as_f64().expect("a number") > 0.0, "{case}");
        for id in ["H01", "H08", "H76"] {
            let check = case["checks"].as_array().expect("checks").iter().find(|c| c["id"] == id).expect(id);
            assert_eq!(check["status"], "pass", "{check}");
        }
    }
    let html = std::fs::read_to_string(scratch.join("r.html")).expect("a report");
    let html = html.replace("\u{a0}", " ");
    assert!(html.contains("5 files: 60 % of 256 KiB, 40 % of 1 MiB"), "the files are not told");
}

#[test]
fn a_file_is_no_place_for_several() {
    let scratch = Scratch::new();
    let (suite, target) = (scratch.file("s.yaml", SUITE), scratch.file("one", "data"));
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &target]), 2);
    assert!(stderr.contains("which need a directory") && stderr.contains("hint"), "{stderr}");
}

#[test]
fn what_is_appended_to_a_file_of_its_own_is_told_and_gone_afterwards() {
    let scratch = Scratch::new();
    let text = "\
suite: log
defaults: {ramp: 50ms, trial: 300ms}
fill: {size: 4MiB}
repeats: {blocks: 1}
cases:
  - name: log
    streams: [{op: write, pattern: append, block_size: 8KiB, jobs: 2, sync: {fdatasync: 1}}]
  - name: read
    streams: [{op: read, pattern: random, block_size: 4KiB}]
";
    let (suite, target) = (scratch.file("s.yaml", text), scratch.directory("target"));
    let file = scratch.join("r.stend");
    let path = file.to_string_lossy().into_owned();
    let (stdout, _) = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &target, "-o", &path]), 0);
    assert!(leftovers(&target).is_empty(), "{:?}", leftovers(&target));
    let stdout = one_line(&stdout);
    assert!(stdout.contains("(appending to a file of its own)"), "{stdout}");
    let findings = show_json(&scratch, &file);
    for case in findings["cases"].as_array().expect("cases") {
        assert!(case["iops"]["value"].as_f64().expect("a number") > 0.0, "{case}");
        for id in ["H01", "H08", "H16", "H76"] {
            let check = case["checks"].as_array().expect("checks").iter().find(|c| c["id"] == id).expect(id);
            assert!(["pass", "not_applicable"].contains(&check["status"].as_str().expect("a status")), "{check}");
        }
    }
}
