//! Searching for a rate with the real binary on a real disk.

use crate::support::*;

/// One search that every disk passes and one that none can.
const SUITE: &str = "\
suite: searches
defaults: {ramp: 100ms, trial: 1500ms}
fill: {size: 16MiB}
repeats: {blocks: 1}
cases:
  - name: easy
    streams:
      - {op: read, pattern: random, block_size: 4KiB,
         rate: {search: {from: 50/s, to: 200/s, quantile: 50%, limit: 300s, precision: 50%, curve: [50%, 100%]}}}
  - name: impossible
    streams: [{op: read, pattern: random, block_size: 4KiB, rate: {search: {from: 50/s, to: 200/s, quantile: 90%, limit: 1us}}}]
";

#[test]
fn a_search_decides_by_what_it_measures_and_its_answer_is_in_file_text_and_report() {
    let scratch = Scratch::new();
    let (suite, target) = (scratch.file("s.yaml", SUITE), scratch.directory("target"));
    let file = scratch.join("r.stend");
    let path = file.to_string_lossy().into_owned();
    let (ahead, _) = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &target, "--dry-run"]), 0);
    assert!(ahead.contains("easy") && ahead.contains("50/s") && ahead.contains("200/s"), "{ahead}");
    let (stdout, _) = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &target, "-o", &path]), 0);
    // Where a line breaks depends on what stands before it.
    let told = stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("impossible: not even at the lowest rate tried, 50/s (0 of 3 trials)"), "{stdout}");
    let findings = show_json(&scratch, &file);
    let searches = findings["searches"].as_array().expect("searches");
    assert_eq!(searches.len(), 2);
    let (easy, impossible) = (&searches[0], &searches[1]);
    // A disk that stalls for a whole window may miss by not serving; then there is still an answer.
    let rate = easy["held"]["rate_per_s"].as_f64().expect("a rate that held");
    assert!((50.0..=200.0).contains(&rate) && easy["limit_ns"] == 300_000_000_000u64, "{easy}");
    assert!(!easy["missed"].is_null() || rate == 200.0 && easy["confirmed"] == true, "{easy}");
    assert!(impossible["held"].is_null() && impossible["missed"]["rate_per_s"] == 50.0, "{impossible}");
    assert_eq!((&impossible["confirmed"], &impossible["missed"]["trials"]), (&true.into(), &3.into()));
    let html = scratch.join("r.html");
    expect_exit(&mut stend(&scratch, &["report", &path, "-o", &html.to_string_lossy()]), 0);
    let html = std::fs::read_to_string(html).expect("a report");
    assert!(html.contains("даже при низшей испытанной частоте"), "the answer is in the report in both languages");
}
