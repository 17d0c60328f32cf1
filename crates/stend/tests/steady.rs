//! Rounds until a load is steady, with the real binary on a real disk.

use crate::support::*;

/// A case with short rounds beside one without.
const SUITE: &str = "\
suite: settled
defaults: {ramp: 0s, trial: 300ms}
fill: {size: 16MiB}
repeats: {blocks: 2}
cases:
  - name: settled
    steady: {rounds: ROUNDS, round: 300ms}
    streams: [{op: {read: 50, write: 50}, pattern: random, block_size: 4KiB, queue_depth: 4}]
  - name: plain
    streams: [{op: read, pattern: random, block_size: 4KiB}]
";

#[test]
fn a_case_is_measured_after_its_rounds_and_the_result_says_what_they_found() {
    let scratch = Scratch::new();
    let (suite, target) = (scratch.file("s.yaml", &SUITE.replace("ROUNDS", "7")), scratch.directory("target"));
    let file = scratch.join("r.stend");
    let path = file.to_string_lossy().into_owned();
    let (ahead, _) = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &target, "--dry-run"]), 0);
    let flat = one_line(&ahead);
    assert!(flat.contains("rounds of 0.3 s until the rate is steady, at most 7"), "{ahead}");
    expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &target, "-o", &path]), 0);

    let run = stend_record::store::read(&file).expect("the file opens");
    assert!((5..=7).contains(&run.rounds.len()) && run.trials.len() == 4, "{:?}", run.decisions);
    let order: Vec<u32> = run.executed().iter().map(|trial| trial.case).collect();
    assert_eq!(order[..2], [1, 1], "cases without rounds come first");
    assert!(order[2..].iter().all(|case| *case == 0), "and nothing comes between rounds and trials: {order:?}");

    let findings = show_json(&scratch, &file);
    let case = findings["cases"].as_array().expect("cases").iter().find(|c| c["label"] == "settled").expect("the case");
    let steady = &case["steady"];
    assert_eq!((&steady["rounds"], &case["trials"]), (&run.rounds.len().into(), &2.into()), "{case}");
    assert_eq!(steady["rates_per_s"].as_array().map(Vec::len), Some(run.rounds.len()));
    let told = findings["caveats"].to_string().contains("not_steady");
    assert_eq!(steady["reached"] == true, !told, "{findings}");
    assert!(case["charts"].to_string().contains("case-0-rounds"));
    for (lang, words) in [("en", "eady"), ("ru", "становившийся режим")] {
        let (shown, _) = expect_exit(&mut stend(&scratch, &["show", "-v", &path, "--lang", lang]), 0);
        let words = if lang == "ru" && steady["reached"] == true { "Режим установился" } else { words };
        assert!(shown.contains(words), "{shown}");
    }
}

#[test]
fn a_run_that_is_interrupted_within_its_rounds_goes_on_with_rounds_from_the_first() {
    let scratch = Scratch::new();
    let text = SUITE.replace("ROUNDS", "5").replace("round: 300ms", "round: 1s");
    let (suite, target) = (scratch.file("s.yaml", &text), scratch.directory("target"));
    let file = scratch.join("r.stend");
    let path = file.to_string_lossy().into_owned();
    let words = ["run", &suite, "--on", &target, "-o", &path, "--progress", "none"];
    let mut run = Running::new(stend(&scratch, &words).stdout(std::process::Stdio::null()));
    eventually("a round", std::time::Duration::from_secs(60), || {
        stend_record::store::read(&file).is_ok_and(|run| run.rounds.iter().any(|round| round.outcome.is_some()))
    });
    tool(&["kill", "-INT", &run.child.id().to_string()]);
    assert_eq!(run.wait(IN_TIME), Some(130));
    let cut = stend_record::store::read(&file).expect("the file opens");
    let settled = |run: &stend_record::RunRecord| run.trials.iter().filter(|trial| trial.case == 0).count();
    assert_eq!(settled(&cut), 0, "it was stopped before");
    expect_exit(&mut stend(&scratch, &["run", "--resume", &path]), 0);
    let whole = stend_record::store::read(&file).expect("the file opens");
    let begun: Vec<u32> = whole.rounds.iter().map(|round| round.block).collect();
    assert_eq!(begun.iter().filter(|round| **round == 0).count(), 2, "{begun:?}");
    assert_eq!((settled(&whole), whole.state), (2, stend_record::RunState::Complete));
    let findings = show_json(&scratch, &file);
    let case = findings["cases"].as_array().expect("cases").iter().find(|c| c["label"] == "settled").expect("the case");
    assert_eq!(case["steady"]["rounds"], 5, "{case}");
}

#[test]
fn a_range_is_purged_and_written_twice_and_the_method_is_told() {
    let scratch = Scratch::new();
    let text = SUITE
        .replace("ROUNDS", "5")
        .replace("fill: {size: 16MiB}", "fill: {size: 16MiB}\nprecondition: {purge: discard}");
    let (suite, target) = (scratch.file("s.yaml", &text), scratch.directory("target"));
    let file = scratch.join("r.stend");
    let path = file.to_string_lossy().into_owned();
    let (ahead, _) = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &target, "--dry-run"]), 0);
    let flat = one_line(&ahead);
    assert!(flat.contains("purge: discard 16 MiB") && flat.contains("in blocks of 128 KiB, 2 passes"), "{ahead}");
    expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &target, "-o", &path]), 0);
    let fill = stend_record::store::read(&file).expect("the file opens").load().fill.expect("a fill");
    assert_eq!((fill.written, fill.passes), (stend_base::Bytes::mib(32), 2));
    assert_eq!(fill.purge, stend_record::observed::PurgeMethod::Holes);
    let page = scratch.join("r.html");
    expect_exit(&mut stend(&scratch, &["report", &path, "-o", &page.to_string_lossy(), "--lang", "ru"]), 0);
    let html = std::fs::read_to_string(&page).expect("a report");
    assert!(html.contains("дыры в тестовом файле; проходов: 2"), "the method is in the report");
}

#[test]
fn the_suite_for_drives_says_how_long_it_takes_at_most_and_needs_that_much() {
    let scratch = Scratch::new();
    let suite = scratch.file("drive.yaml", include_str!("../../../suites/drive/suite.yaml"));
    let target = scratch.directory("target");
    let (ahead, _) = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &target, "--dry-run"]), 0);
    let flat = one_line(&ahead);
    // Five cases of 25 rounds of a minute, and six trials of 70 s.
    assert!(flat.contains("2 h 40 min at most of rounds and trials"), "{ahead}");
    let short = ["run", &suite, "--on", &target, "--dry-run", "--time-budget", "1h"];
    let (_, stderr) = expect_exit(&mut stend(&scratch, &short), 2);
    assert!(stderr.contains("--time-budget is too small"), "{stderr}");
}
