//! A run that ended early goes on where it was.

use crate::support::*;
use std::io::Read;
use std::os::unix::net::UnixListener;
use std::time::Duration;
use stend_sys::local_socket::connect_now;

/// A run that was stopped softly or killed; drop it only after it was resumed: that removes its spool.
fn interrupted(scratch: &Scratch, softly: bool) -> (Running, std::path::PathBuf) {
    let suite = scratch.file("long.yaml", &SMALL.replace("blocks: 2", "blocks: 8"));
    let (target, file) = (scratch.directory("t"), scratch.join("r.stend"));
    let words = ["run", &suite, "--on", &target, "-o", &file.to_string_lossy(), "--progress", "none"];
    let mut run = Running::new(stend(scratch, &words).stdout(std::process::Stdio::null()));
    eventually("two trials", Duration::from_secs(60), || {
        stend_record::store::read(&file).is_ok_and(|run| run.trials.iter().filter(|t| t.outcome.is_some()).count() > 1)
    });
    let workers = run.workers();
    match softly {
        true => drop(tool(&["kill", "-INT", &run.child.id().to_string()])),
        false => run.kill(),
    }
    run.wait(Duration::from_secs(60));
    // A worker whose coordinator was killed undoes what it made first; until then the target is taken.
    eventually("the worker is gone", IN_TIME, || !workers.iter().any(|pid| alive(*pid)));
    (run, file)
}

#[test]
fn a_resumed_run_ends_with_every_trial_of_its_plan_in_one_file() {
    for softly in [true, false] {
        let scratch = Scratch::new();
        let (_run, file) = interrupted(&scratch, softly);
        let path = file.to_string_lossy().into_owned();
        let before = stend_record::store::read(&file).expect("the file opens").trials.len();
        expect_exit(&mut stend(&scratch, &["run", "--resume", &path]), 0);
        let run = stend_record::store::read(&file).expect("the file opens");
        assert_eq!(run.state, stend_record::RunState::Complete);
        assert!(run.trials.len() > before);
        let findings = show_json(&scratch, &file);
        for case in findings["cases"].as_array().expect("cases") {
            assert_eq!(case["trials"], 8, "softly: {softly}: {case}");
        }
        let (_, stderr) = expect_exit(&mut stend(&scratch, &["run", "--resume", &path]), 12);
        assert!(stderr.contains("nothing to resume"), "{stderr}");
    }
}

#[test]
fn a_dry_run_of_a_run_that_is_resumed_has_its_whole_plan_and_changes_nothing() {
    let scratch = Scratch::new();
    let (_run, file) = interrupted(&scratch, true);
    let path = file.to_string_lossy().into_owned();
    let trials = || stend_record::store::read(&file).expect("the file opens").trials.len();
    let before = trials();
    let words = ["run", "--resume", &path, "--dry-run", "--json"];
    let preview: serde_json::Value =
        serde_json::from_str(&expect_exit(&mut stend(&scratch, &words), 0).0).expect("JSON");
    assert_eq!((preview["trials"].as_u64(), preview["trials_before"].as_u64()), (Some(16), Some(before as u64)));
    assert_eq!((trials(), std::fs::read_dir(scratch.join("t")).expect("a directory").count()), (before, 0));
    expect_exit(&mut stend(&scratch, &["run", "--resume", &path]), 0);
    assert!(expect_exit(&mut stend(&scratch, &words), 12).1.contains("nothing to resume"));
}

#[test]
fn a_suspended_process_hangs_no_look_at_its_run() {
    let scratch = Scratch::new();
    let (_run, file) = interrupted(&scratch, false);
    let socket = scratch.join("r.stend.sock");
    std::fs::remove_file(&socket).expect("what the killed process left");
    let listener = UnixListener::bind(&socket).expect("a socket");
    rustix::net::listen(&listener, 1).expect("a short queue");
    let waiting = std::iter::from_fn(|| connect_now(&socket).ok()).collect::<Vec<_>>();
    let ended = |words: &[&str]| {
        let mut running = Running::new(&mut stend(&scratch, words));
        let code = running.wait(IN_TIME);
        let mut said = String::new();
        let (out, errors) =
            (running.child.stdout.take().expect("a pipe"), running.child.stderr.take().expect("a pipe"));
        out.chain(errors).read_to_string(&mut said).expect("text");
        (code, said)
    };
    let path = file.to_string_lossy().into_owned();
    let (code, listed) = ended(&["list", "--json"]);
    assert!(code == Some(0) && listed.contains("\"going_on\": true"), "{code:?}: {listed}");
    let (code, said) = ended(&["stop", &path]);
    assert!(code == Some(4) && said.contains("does not answer"), "{code:?}: {said}");
    drop((listener, waiting));
    expect_exit(&mut stend(&scratch, &["run", "--resume", &path]), 0);
}

#[test]
fn resume_takes_nothing_that_would_make_it_another_run() {
    let scratch = Scratch::new();
    expect_exit(&mut stend(&scratch, &["run", "--resume", "x", "--seed", "1"]), 2);
    expect_exit(&mut stend(&scratch, &["run", "quick", "--resume", "x"]), 2);
}
