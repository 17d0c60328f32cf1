//! A target that a run uses is refused to a second one, with the process and the run file of the first.

mod support;

use std::path::Path;
use std::time::Duration;
use support::*;

/// A suite that goes on until it is stopped.
fn long_suite(scratch: &Scratch) -> String {
    scratch.file("long.yaml", &SMALL.replace("trial: 400ms", "trial: 10s").replace("blocks: 2", "blocks: 50"))
}

/// Starts a run that writes and waits until its first trial.
fn first(scratch: &Scratch, suite: &str, on: &str, more: &[&str], file: &Path) -> Running {
    let path = file.to_string_lossy().into_owned();
    let mut words = vec!["run", suite, "--on", on, "--progress", "none", "-o", &path];
    words.extend(more);
    let run = Running::new(&mut stend(scratch, &words));
    eventually("a trial", Duration::from_secs(60), || {
        stend_record::store::read(file).is_ok_and(|run| !run.trials.is_empty())
    });
    run
}

/// A second run on the same target is refused and names the first; the first goes on.
fn refused(scratch: &Scratch, suite: &str, on: &str, more: &[&str], running: &mut Running, file: &Path) {
    let second = scratch.join("second.stend").to_string_lossy().into_owned();
    let mut words = vec!["run", suite, "--on", on, "-o", &second];
    words.extend(more);
    let (_, stderr) = expect_exit(&mut stend(scratch, &words), 5);
    let worker = running.workers()[0];
    assert!(stderr.contains(&format!("process {worker}")), "worker {worker}:\n{stderr}");
    assert!(stderr.contains(&*file.to_string_lossy()), "{stderr}");
    assert!(!Path::new(&second).exists(), "a refused run leaves no run file");
    assert_eq!(running.child.try_wait().expect("a child"), None, "the first goes on");
    assert!(alive(worker));
}

#[test]
fn a_second_run_in_the_same_directory_is_refused_with_the_process_and_run_file_of_the_first() {
    let scratch = Scratch::new();
    let (suite, target, file) = (long_suite(&scratch), scratch.directory("target"), scratch.join("first.stend"));
    let mut running = first(&scratch, &suite, &target, &[], &file);
    refused(&scratch, &suite, &target, &[], &mut running, &file);
    assert_eq!(leftovers(&target).len(), 1, "the test file of the first");
    // The way to it does not matter: a link leads to the same directory.
    let link = scratch.join("link");
    std::os::unix::fs::symlink(&target, &link).expect("a link");
    refused(&scratch, &suite, &link.to_string_lossy(), &[], &mut running, &file);
}

#[test]
fn a_second_run_on_the_same_device_is_refused_with_the_process_and_run_file_of_the_first() {
    if !root("a_second_run_on_the_same_device_is_refused_with_the_process_and_run_file_of_the_first") {
        return;
    }
    let scratch = Scratch::new();
    let (suite, file) = (long_suite(&scratch), scratch.join("first.stend"));
    let device = Loop::new(&scratch, "disk.img", 256 << 20);
    let confirm = format!("--confirm={}", device.identity(&scratch));
    let mut running = first(&scratch, &suite, &device.device, &[&confirm], &file);
    refused(&scratch, &suite, &device.device, &[&confirm], &mut running, &file);
}
