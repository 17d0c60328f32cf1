//! Following and ending a run from another terminal, without a server.

use crate::support::*;
use std::time::Duration;

fn long_run(scratch: &Scratch) -> (Running, std::path::PathBuf, String) {
    let suite = scratch.file("long.yaml", &SMALL.replace("blocks: 2", "blocks: 40"));
    let (target, file) = (scratch.directory("t"), scratch.join("r.stend"));
    let words = ["run", &suite, "--on", &target, "-o", &file.to_string_lossy(), "--progress", "none"];
    let run = Running::new(stend(scratch, &words).stdout(std::process::Stdio::null()));
    eventually("a trial", Duration::from_secs(60), || {
        stend_record::store::read(&file).is_ok_and(|run| run.trials.iter().any(|t| t.outcome.is_some()))
    });
    (run, file, target)
}

#[test]
fn stop_ends_a_run_softly_and_waits_for_it() {
    let scratch = Scratch::new();
    let (mut run, file, target) = long_run(&scratch);
    let path = file.to_string_lossy().into_owned();
    let (stdout, _) = expect_exit(&mut stend(&scratch, &["stop", &path]), 0);
    assert!(stdout.contains("r.stend"), "{stdout}");
    assert_eq!(run.wait(Duration::from_secs(60)), Some(130));
    assert!(leftovers(&target).is_empty());
    assert!(!scratch.join("r.stend.sock").exists());
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["stop", &path]), 4);
    assert!(stderr.contains("not in progress"), "{stderr}");
}

#[test]
fn watch_follows_a_run_to_its_end_and_shows_what_it_found() {
    let scratch = Scratch::new();
    let (mut run, file, _) = long_run(&scratch);
    let path = file.to_string_lossy().into_owned();
    let watch = stend(&scratch, &["watch", &path, "--progress", "plain"]).spawn().expect("watch starts");
    // Whatever it has shown by then, the end of the run must end it.
    expect_exit(&mut stend(&scratch, &["stop", &path]), 0);
    run.wait(Duration::from_secs(60));
    let (code, stdout, stderr) = texts(&watch.wait_with_output().expect("watch ends"));
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("IOPS"), "{stdout}");
}

#[test]
fn watch_says_when_the_coordinator_is_gone() {
    let scratch = Scratch::new();
    let (mut run, file, _) = long_run(&scratch);
    run.kill();
    let (stdout, stderr) = expect_exit(&mut stend(&scratch, &["watch", &file.to_string_lossy()]), 8);
    assert!(stdout.contains("IOPS") && stderr.contains("the process of this run is gone"), "{stdout}\n{stderr}");
}

#[test]
fn sigterm_ends_the_verb_that_waits_for_a_run_and_not_the_run() {
    let scratch = Scratch::new();
    let (mut run, file, target) = long_run(&scratch);
    let path = file.to_string_lossy().into_owned();
    let coordinator = run.child.id().to_string();
    for words in [["watch", &path, "--progress", "plain"], ["stop", &path, "--lang", "en"]] {
        // Stopped by the terminal, it does not answer, and the verb goes on waiting.
        tool(&["kill", "-STOP", &coordinator]);
        let mut waiting = Running::new(&mut stend(&scratch, &words));
        std::thread::sleep(Duration::from_secs(1));
        assert!(alive(waiting.child.id()), "{words:?} has ended by itself");
        tool(&["kill", "-TERM", &waiting.child.id().to_string()]);
        assert_eq!(waiting.wait_as_shell(IN_TIME), Some(143), "{words:?}");
        if words[0] == "watch" {
            let mut told = String::new();
            let stderr = waiting.child.stderr.take().expect("a stream");
            std::io::Read::read_to_string(&mut { stderr }, &mut told).expect("text");
            assert!(told.contains("Ctrl-C ends watching; the run goes on") && !told.contains("stops"), "{told}");
        }
        tool(&["kill", "-CONT", &coordinator]);
        assert!(alive(run.child.id()), "{words:?} has taken the run along");
    }
    // `stop` had told it before it was ended itself.
    assert_eq!(run.wait(Duration::from_secs(60)), Some(130));
    assert!(leftovers(&target).is_empty());
}
