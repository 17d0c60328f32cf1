//! Repeating until precise, with the real binary on a real disk.

use crate::support::*;

/// A case that needs no precision to stop, and one that no disk is precise enough for.
const SUITE: &str = "\
suite: precise
defaults: {ramp: 100ms, trial: 300ms}
fill: {size: 16MiB}
repeats: {blocks: 8, until: {width: WIDTH, p99: none}}
cases:
  - name: rand-read
    streams: [{op: read, pattern: random, block_size: 4KiB}]
";

/// Findings of a run with this goal, and its file.
fn run(scratch: &Scratch, width: &str) -> serde_json::Value {
    let (suite, target) = (scratch.file("s.yaml", &SUITE.replace("WIDTH", width)), scratch.directory("target"));
    let file = scratch.join(&format!("{}.stend", width.trim_end_matches('%')));
    let path = file.to_string_lossy().into_owned();
    let (ahead, _) = expect_exit(&mut stend(scratch, &["run", &suite, "--on", &target, "--dry-run"]), 0);
    let flat = one_line(&ahead);
    assert!(flat.contains("a case ends earlier once its rate is known to"), "{ahead}");
    expect_exit(&mut stend(scratch, &["run", &suite, "--on", &target, "-o", &path]), 0);
    show_json(scratch, &file)
}

fn is_inconclusive(findings: &serde_json::Value) -> bool {
    findings["caveats"].to_string().contains("not_precise")
}

#[test]
fn a_run_stops_when_it_is_precise_and_says_so_when_it_is_not() {
    let scratch = Scratch::new();
    let never = run(&scratch, "0.1%");
    assert_eq!((&never["cases"][0]["trials"], is_inconclusive(&never)), (&8.into(), true), "{never}");
    assert!(never["cases"][0]["precision"]["goal"] == 0.001, "{never}");
    // A disk that is disturbed may need all blocks for ± 50 %, too; then it is either precise or says that it is not.
    let soon = run(&scratch, "50%");
    let trials = soon["cases"][0]["trials"].as_u64().expect("trials");
    assert!(trials == 8 || trials == 6 && !is_inconclusive(&soon), "{soon}");
}
