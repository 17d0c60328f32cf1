//! A run that ended early goes on where it was.

mod support;

use std::time::Duration;
use support::*;

fn interrupted(scratch: &Scratch, signal: &str) -> std::path::PathBuf {
    let suite = scratch.file("long.yaml", &SMALL.replace("blocks: 2", "blocks: 8"));
    let (target, file) = (scratch.directory("t"), scratch.join("r.stend"));
    let words = ["run", &suite, "--on", &target, "-o", &file.to_string_lossy(), "--progress", "none"];
    let mut run =
        Running(stend(scratch, &words).stdout(std::process::Stdio::null()).spawn().expect("the binary starts"));
    eventually("two trials", Duration::from_secs(60), || {
        stend_record::store::read(&file).is_ok_and(|run| run.trials.iter().filter(|t| t.outcome.is_some()).count() > 1)
    });
    let workers = run.workers();
    tool(&["kill", signal, &run.0.id().to_string()]);
    run.wait(Duration::from_secs(20));
    // A worker whose coordinator was killed undoes what it made first; until then the target is taken.
    eventually("the worker is gone", Duration::from_secs(20), || !workers.iter().any(|pid| alive(*pid)));
    file
}

#[test]
fn a_resumed_run_ends_with_every_trial_of_its_plan_in_one_file() {
    for signal in ["-INT", "-KILL"] {
        let scratch = Scratch::new();
        let file = interrupted(&scratch, signal);
        let path = file.to_string_lossy().into_owned();
        let before = stend_record::store::read(&file).expect("the file opens").trials.len();
        expect_exit(&mut stend(&scratch, &["run", "--resume", &path]), 0);
        let run = stend_record::store::read(&file).expect("the file opens");
        assert_eq!(run.state, stend_record::RunState::Complete);
        assert!(run.trials.len() > before);
        let findings = show_json(&scratch, &file);
        for case in findings["cases"].as_array().expect("cases") {
            assert_eq!(case["trials"], 8, "{signal}: {case}");
        }
        let (_, stderr) = expect_exit(&mut stend(&scratch, &["run", "--resume", &path]), 12);
        assert!(stderr.contains("nothing to resume"), "{stderr}");
    }
}

#[test]
fn resume_takes_nothing_that_would_make_it_another_run() {
    let scratch = Scratch::new();
    expect_exit(&mut stend(&scratch, &["run", "--resume", "x", "--seed", "1"]), 2);
    expect_exit(&mut stend(&scratch, &["run", "quick", "--resume", "x"]), 2);
}
