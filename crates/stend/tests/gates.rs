//! Gates: exit codes, what is written for a CI, and files that are wrong.

use crate::support::fixed_run::two_runs;
use crate::support::*;

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
    (scratch, one_line(&stdout), stderr)
}

fn written(scratch: &Scratch, name: &str) -> String {
    std::fs::read_to_string(scratch.join(name)).expect("it was written")
}

#[test]
fn what_cannot_be_told_ends_with_eleven_and_says_which_line_asked() {
    let (scratch, stdout, stderr) = held("  - {cases: read, loss: 5%}", 11);
    assert!(stdout.contains("Gate `nightly` undecided: 2 of 2 undecided. Cells without a rule: 2."), "{stdout}");
    assert!(stdout.contains("? 2 of 8 trials; line 3 allows a loss of 5 %"), "{stdout}");
    assert!(stderr.contains("gate `nightly` is undecided"), "{stderr}");
    let junit = written(&scratch, "gate.xml");
    assert!(
        junit.contains("tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"2\"") && junit.contains("classname=\"read\""),
        "{junit}"
    );
    assert!(
        junit.contains("<skipped message=\"reason: too few trials, needs 8 blocks, has 2 (B, read, rate:"),
        "{junit}"
    );
    let page = written(&scratch, "comment.md");
    assert!(page.contains("Gate \\`nightly\\`") && page.contains("| read | B | 5025"), "{page}");
}

#[test]
fn a_failed_gate_ends_with_ten_and_a_passed_one_with_zero() {
    let (scratch, stdout, stderr) = held("  - {cases: read, inconclusive: fail}\n  - {inconclusive: pass}", 10);
    assert!(
        stdout.contains("failed: 2 of 4 failed, 2 undecided.") && stderr.contains("gate `nightly` failed"),
        "{stdout}{stderr}"
    );
    assert!(written(&scratch, "gate.xml").contains("<failure message=\"B, read, rate: 110.0"), "{stdout}");
    let (scratch, stdout, stderr) = held("  - {inconclusive: pass}", 0);
    let told = "Gate `nightly` passed: 0 of 4; 4 undecided (`inconclusive: pass`).";
    assert!(stdout.contains(told) && !stderr.contains("error"), "{stdout}{stderr}");
    assert!(
        stdout.contains("? B, read, rate:") && !stdout.contains("✔ B, "),
        "what is undecided has no tick: {stdout}"
    );
    assert!(written(&scratch, "gate.xml").contains("tests=\"4\" failures=\"0\" errors=\"0\" skipped=\"4\""));
}

#[test]
fn what_a_run_was_held_against_stays_in_its_file_and_is_said_again() {
    let scratch = Scratch::new();
    let (dir, gate) =
        (scratch.directory("d"), scratch.file("nightly.yaml", "gate: nightly\nlimits: [read p50 > 1h]\n"));
    let suite = scratch.file("s.yaml", SMALL);
    let words = ["run", &suite, "--on", &dir, "--gate", &gate, "--expect", "iops >= 1"];
    // Two blocks are enough for an interval only if they agree.
    let ran = output(&mut stend(&scratch, &words));
    let stdout = texts(&ran).1;
    assert!(matches!(ran.status.code(), Some(10 | 11)), "{stdout}");
    let first = stdout.lines().next().expect("a line").to_string();
    let outcome = if ran.status.code() == Some(10) { "failed" } else { "undecided" };
    assert!(first.contains("nightly") && first.contains(outcome), "{stdout}");
    std::fs::remove_file(&gate).expect("the text is in the run file");
    let (shown, _) = expect_exit(&mut stend(&scratch, &["show", "last"]), 0);
    assert_eq!(shown.lines().next(), Some(first.as_str()), "{shown}");
    let (json, _) = expect_exit(&mut stend(&scratch, &["show", "last", "--json"]), 0);
    assert!(json.contains("\"nightly\""), "{json}");
    let page = scratch.join("r.html").to_string_lossy().into_owned();
    expect_exit(&mut stend(&scratch, &["report", "last", "-o", &page, "--redact"]), 0);
    let page = written(&scratch, "r.html");
    assert!(
        page.contains(&format!("Gate <code>nightly</code> {outcome}")) && !page.contains("nightly.yaml"),
        "the gate in the report"
    );
    // What is asked for now takes its place.
    let shown = stend(&scratch, &["show", "last", "--expect", "iops >= 1"]).output().expect("it runs").stdout;
    let shown = String::from_utf8_lossy(&shown);
    assert!(shown.contains("`iops >= 1`") && !shown.contains("nightly"), "{shown}");
}

#[test]
fn a_rule_for_a_case_that_is_gone_does_not_pass() {
    let (_, stdout, _) = held("  - {cases: 'oltp*'}\n  - {inconclusive: pass}", 11);
    assert!(stdout.contains("the rule in line 3 matches no cell"), "{stdout}");
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
    assert!(stderr.contains("cannot read the gate") && stderr.contains("--sample-gate"), "{stderr}");
    let margin = scratch.file("margin.yaml", "gate: g\nmargin: 3%\nrules: [{}]\n");
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["compare", A, B, "--gate", &margin, "--margin", "5%"]), 2);
    assert!(stderr.contains("already has a margin"), "{stderr}");
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["compare", A, B, "--junit", "x.xml"]), 2);
    assert!(stderr.contains("--gate"), "{stderr}");
}

/// Standard output in one line, and standard error.
fn show(scratch: &Scratch, words: &[&str], code: i32) -> (String, String) {
    let words = [&["show", B][..], words].concat();
    let (stdout, stderr) = expect_exit(&mut stend(scratch, &words), code);
    (one_line(&stdout), stderr)
}

#[test]
fn one_run_is_held_against_limits_with_three_answers() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let (stdout, _) = show(&scratch, &["--expect", "read iops > 1"], 0);
    assert!(stdout.starts_with("✔ Limits met: 1 of 1. ✔ read, rate: 5"), "{stdout}");
    let (stdout, stderr) = show(&scratch, &["--expect", "read iops > 1", "--expect", "iops < 10"], 10);
    assert!(
        stdout.contains("✖ Limits not met: 2 of 3 missed.") && stdout.contains("asked for `iops < 10`"),
        "{stdout}"
    );
    assert!(stderr.contains("`--expect` does not hold"), "{stderr}");
    let (stdout, stderr) = show(&scratch, &["--expect", "p99 read < 2ms"], 11);
    assert!(stdout.starts_with("? 1 of 1 limit undecided."), "{stdout}");
    assert!(stderr.contains("hint: repeat the run with `--repeats 6`"), "{stderr}");
    assert!(stdout.contains("undecided, too few data; needs about 6 blocks, has 2"), "{stdout}");
    let (stdout, _) = show(&scratch, &["--expect", "raed iops > 1"], 11);
    assert!(stdout.contains("no such case was measured; did you mean `read`?"), "{stdout}");
    let (stdout, _) = show(&scratch, &["--expect", "raed iops > 1", "--lang", "ru"], 11);
    assert!(stdout.contains("возможно, `read`?"), "{stdout}");
}

#[test]
fn limits_of_a_file_and_of_the_command_line_are_one_gate_and_a_comparison_holds_the_later_runs() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let gate = scratch.file("gate.yaml", "gate: nightly\nlimits:\n  - read iops > 1\n");
    let (stdout, _) = show(&scratch, &["--gate", &gate, "--expect", "throughput > 1MB/s"], 0);
    assert!(
        stdout.contains("Gate `nightly` passed: 3 of 3.") && stdout.contains("line 3 asks for `read iops > 1`"),
        "{stdout}"
    );
    let (stdout, stderr) =
        expect_exit(&mut stend(&scratch, &["compare", A, B, "--gate", &gate, "--expect", "read iops > 900k"]), 10);
    assert!(stdout.contains("Gate `nightly` failed: 1 of 2 failed"), "{stdout}{stderr}");
    assert!(stdout.contains("✖ B, read, rate:") && !stdout.contains("✖ A, "), "{stdout}");
}

#[test]
fn a_limit_is_for_machines_too() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let junit = scratch.join("gate.xml").to_string_lossy().into_owned();
    let words = ["show", B, "--expect", "write iops < 1", "--expect", "read iops > 1", "--expect", "gone p50 < 1s"];
    let (stdout, _) = expect_exit(&mut stend(&scratch, &[&words[..], &["--json", "--junit", &junit]].concat()), 10);
    let found: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    let limits = found["gate"]["limits"].as_array().expect("limits");
    assert_eq!(
        (&limits[0]["outcome"], &limits[0]["limit"]),
        (&"failed".into(), &"write iops < 1".into()),
        "{limits:?}"
    );
    assert_eq!(found["gate"]["idle_limits"][0]["limit"], "gone p50 < 1s");
    let junit = written(&scratch, "gate.xml");
    assert!(junit.contains("errors=\"1\"") && junit.contains("<failure message=\"write, rate: "), "{junit}");
}

#[test]
fn the_sample_is_a_gate_that_holds_runs_and_comparisons() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let (sample, _) = expect_exit(&mut stend(&scratch, &["compare", "--sample-gate"]), 0);
    let (russian, _) = expect_exit(&mut stend(&scratch, &["compare", "--sample-gate", "--lang", "ru"]), 0);
    let rules = |text: &str| text.lines().filter(|line| !line.starts_with('#')).map(String::from).collect::<Vec<_>>();
    assert!(russian.starts_with("# Файл порогов") && rules(&russian) == rules(&sample), "{russian}");
    let gate = scratch.file("sample.yaml", &sample);
    let (stdout, _) = show(&scratch, &["--gate", &gate], 11);
    assert!(stdout.contains("2 of 4 undecided. 2 rules for comparisons not applied"), "{stdout}");
    let (stdout, _) = expect_exit(&mut stend(&scratch, &["compare", A, B, "--gate", &gate]), 11);
    assert!(stdout.contains("Gate `nightly` undecided: ") && !stdout.contains("match nothing"), "{stdout}");
}

#[test]
fn a_limit_that_is_wrong_or_about_no_case_of_the_suite_is_refused_before_anything_is_measured() {
    let scratch = Scratch::new();
    let on = scratch.join("").to_string_lossy().into_owned();
    let run = |expect: &str, code| {
        expect_exit(&mut stend(&scratch, &["run", "quick", "--on", &on, "--expect", expect]), code).1
    };
    let stderr = run("rand-read p9 < 5ms", 2);
    assert!(stderr.contains("character 11: unknown metric `p9`") && stderr.contains("did you mean `p99`?"), "{stderr}");
    let stderr = run("rnd-read p99 < 5ms", 2);
    assert!(stderr.contains("the suite has no case `rnd-read`") && stderr.contains("`rand-read`"), "{stderr}");
    let rules = scratch.file("rules.yaml", "gate: g\nrules: [{}]\n");
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["show", B, "--gate", &rules]), 2);
    assert!(stderr.contains("has no `limits`"), "{stderr}");
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["show", B, "--junit", "x.xml"]), 2);
    assert!(stderr.contains("--gate"), "{stderr}");
}

#[test]
fn a_limit_does_not_pass_where_half_of_the_suite_could_not_run() {
    let scratch = Scratch::new();
    // A file of somebody else is only read.
    let small = SMALL.replace("64MiB", "1MiB");
    let (suite, foreign) = (scratch.file("s.yaml", &small), scratch.join("data").to_string_lossy().into_owned());
    std::fs::write(&foreign, vec![7u8; 1 << 20]).expect("a file");
    let run = ["run", &suite, "--on", &foreign, "--repeats", "4", "--progress", "none"];
    let (stdout, stderr) = expect_exit(&mut stend(&scratch, &[&run[..], &["--expect", "iops >= 1"]].concat()), 11);
    let told = one_line(&stdout);
    assert!(
        told.contains("? write: not measured") && told.contains("name the cases that are meant"),
        "{stdout}{stderr}"
    );
    assert!(stderr.contains("`--expect` is undecided"), "{stderr}");
    // Whether the rate is known well enough is up to the disk.
    let shown = texts(&output(&mut stend(&scratch, &["show", "last", "--expect", "read iops >= 1"]))).1;
    assert!(shown.contains("read, rate: ") && !shown.contains("not measured"), "{shown}");
}

#[test]
fn a_limit_may_name_a_case_of_one_arm_or_of_all() {
    let scratch = Scratch::new();
    let arms = "arms:\n- name: old\n- {name: new, switch: {command: ['true'], undo: ['true']}}\n";
    let (suite, on) = (scratch.file("s.yaml", &format!("{SMALL}{arms}")), scratch.directory("target"));
    let run = |limit: &str, code| {
        let words = ["run", &suite, "--on", &on, "--allow-commands", "--dry-run", "--expect", limit];
        expect_exit(&mut stend(&scratch, &words), code).1
    };
    run("read iops > 1", 0);
    run("new: read iops > 1", 0);
    let stderr = run("knew: read iops > 1", 2);
    assert!(stderr.contains("did you mean `new: read`?"), "{stderr}");
}

#[test]
fn a_run_ends_as_its_limits_say() {
    let scratch = Scratch::new();
    let on = scratch.join("").to_string_lossy().into_owned();
    let words = ["run", "--rw", "randread", "--size", "16M", "--time", "300ms", "--repeats", "2", "--on", &on];
    let (stdout, stderr) = expect_exit(
        &mut stend(&scratch, &[&words[..], &["--expect", "iops > 90M", "--progress", "none"]].concat()),
        10,
    );
    assert!(
        stdout.contains("✖ Limits not met: 1 of 1 missed.") && stderr.contains("`--expect` does not hold"),
        "{stdout}{stderr}"
    );
}

#[test]
fn an_order_holds_its_gate_and_ends_as_its_command_line_and_junit_is_what_show_writes() {
    let scratch = Scratch::new();
    let (suite, target) = (scratch.file("small.yaml", SMALL), scratch.directory("target"));
    let gate = scratch.file("gate.yaml", "gate: nightly\nlimits:\n  - iops > 1\n");
    let junit = scratch.join("run.xml").to_string_lossy().into_owned();
    let words = ["run", &suite, "--on", &target, "--gate", &gate, "--expect", "iops < 1", "--repeats", "4"];
    let (order, _) = expect_exit(&mut stend(&scratch, &[&words[..], &["--print-order"]].concat()), 0);
    let order = scratch.file("order.json", &order);
    // The files are not needed any more.
    [&suite, &gate].iter().for_each(|file| std::fs::remove_file(file).expect("a file"));
    let ordered = ["run", "--order", &order, "--progress", "none", "--junit", &junit];
    let (stdout, stderr) = expect_exit(&mut stend(&scratch, &ordered), 10);
    assert!(stdout.contains("Gate `nightly` failed: ") && stderr.contains("gate `nightly` failed"), "{stdout}{stderr}");
    let written_by_run = written(&scratch, "run.xml");
    assert!(written_by_run.contains("<failure ") && written_by_run.contains("<!-- Stend -->"), "{written_by_run}");
    let gate = scratch.file("gate.yaml", "gate: nightly\nlimits:\n  - iops > 1\n");
    let shown = ["show", "last", "--gate", &gate, "--expect", "iops < 1", "--junit", "-"];
    assert_eq!(expect_exit(&mut stend(&scratch, &shown), 10).0, written_by_run);
    // A foreign file stays, and nothing is measured for it.
    let foreign = scratch.file("mine.xml", "<mine/>");
    let runs = || std::fs::read_dir(scratch.join("stend/runs")).expect("runs").count();
    let before = runs();
    let (_, told) =
        expect_exit(&mut stend(&scratch, &["run", "--order", &order, "--junit", &foreign, "--progress", "none"]), 5);
    assert!(told.contains("--force") && written(&scratch, "mine.xml") == "<mine/>" && runs() == before, "{told}");
}
