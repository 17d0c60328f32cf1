//! Gates: exit codes, what is written for a CI, and files that are wrong.

mod support;

use support::fixed_run::two_runs;
use support::*;

const A: &str = "R-20261121T213000Z-aaaa";
const B: &str = "R-20261122T213000Z-bbbb";

/// Two runs of two blocks, the second 10 % faster in both cases: too few blocks for a verdict.
fn held(rules: &str, code: i32) -> (Scratch, String, String) {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let gate = scratch.file("gate.yaml", &format!("gate: nightly\nrules:\n{rules}\n"));
    let [junit, page] = ["gate.xml", "comment.md"].map(|name| scratch.join(name).to_string_lossy().into_owned());
    let words = ["compare", A, B, "--gate", &gate, "--junit", &junit, "--markdown", &page];
    let (stdout, stderr) = expect_exit(&mut stend(&scratch, &words), code);
    // Lines break where the terminal ends.
    (scratch, stdout.split_whitespace().collect::<Vec<_>>().join(" "), stderr)
}

fn written(scratch: &Scratch, name: &str) -> String {
    std::fs::read_to_string(scratch.join(name)).expect("it was written")
}

#[test]
fn what_cannot_be_told_ends_with_eleven_and_says_which_line_asked() {
    let (scratch, stdout, stderr) = held("  - {cases: read, loss: 5%}", 11);
    assert!(
        stdout.contains("Gate `nightly` not decided: cells passed 0, failed 0, not decided 2, without a rule 2"),
        "{stdout}"
    );
    assert!(stdout.contains("? 2 of 8 trials; line 3 allows a loss of 5 %"), "{stdout}");
    assert!(stderr.contains("gate `nightly` is not decided"), "{stderr}");
    let junit = written(&scratch, "gate.xml");
    assert!(
        junit.contains("tests=\"2\" failures=\"0\" errors=\"2\"") && junit.contains("classname=\"read\""),
        "{junit}"
    );
    let page = written(&scratch, "comment.md");
    assert!(page.contains("Gate \\`nightly\\`") && page.contains("| read | B | 5025"), "{page}");
}

#[test]
fn a_failed_gate_ends_with_ten_and_a_passed_one_with_zero() {
    let (scratch, stdout, stderr) = held("  - {cases: read, inconclusive: fail}\n  - {inconclusive: pass}", 10);
    assert!(stdout.contains("failed 2") && stderr.contains("gate `nightly` failed"), "{stdout}{stderr}");
    assert!(written(&scratch, "gate.xml").contains("<failure message=\"B, read, rate: 110.0"), "{stdout}");
    let (scratch, stdout, stderr) = held("  - {inconclusive: pass}", 0);
    assert!(stdout.contains("Gate `nightly` passed: cells passed 4") && !stderr.contains("error"), "{stdout}{stderr}");
    assert!(written(&scratch, "gate.xml").contains("tests=\"4\" failures=\"0\" errors=\"0\""));
}

#[test]
fn a_rule_for_a_case_that_is_gone_does_not_pass() {
    let (_, stdout, _) = held("  - {cases: 'oltp*'}\n  - {inconclusive: pass}", 11);
    assert!(stdout.contains("the rule in line 3 fits no cell"), "{stdout}");
}

#[test]
fn the_outcome_is_for_machines_too() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let gate = scratch.file("gate.yaml", "gate: g\nrules: [{inconclusive: fail, metric: rate}]\n");
    let (stdout, stderr) = expect_exit(&mut stend(&scratch, &["compare", A, B, "--gate", &gate, "--json"]), 10);
    let found: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!((&found["gate"]["outcome"], &found["gate"]["cells"][0]["line"]), (&"failed".into(), &2.into()));
    assert_eq!(found["gate"]["cells"].as_array().map(Vec::len), Some(2));
    let error: serde_json::Value = serde_json::from_str(&stderr).expect("JSON");
    assert_eq!((&error["error"]["kind"], &error["exit_code"]), (&"gate_failed".into(), &10.into()), "{error}");
}

#[test]
fn a_gate_that_is_wrong_is_refused_with_its_place_before_anything_is_read() {
    let scratch = Scratch::new();
    let gate = scratch.file("gate.yaml", "gate: g\nrules: [{loss: 500%}]\n");
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["compare", "R-1999", "R-2000", "--gate", &gate]), 3);
    assert!(stderr.contains("gate.yaml:2:"), "{stderr}");
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["compare", A, "--gate", "/no/such/file"]), 3);
    assert!(stderr.contains("cannot read the gate"), "{stderr}");
    let margin = scratch.file("margin.yaml", "gate: g\nmargin: 3%\nrules: [{}]\n");
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["compare", A, B, "--gate", &margin, "--margin", "5%"]), 2);
    assert!(stderr.contains("gives a margin already"), "{stderr}");
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["compare", A, B, "--junit", "x.xml"]), 2);
    assert!(stderr.contains("--gate"), "{stderr}");
}
