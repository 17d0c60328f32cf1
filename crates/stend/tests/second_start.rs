//! A target that a run uses is refused to a second one, with the process and the run file of the first.

use crate::support::*;
use std::path::Path;
use std::time::Duration;

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

#[test]
fn two_directories_on_one_disk_are_one_drive_and_both_results_say_what_ran_beside() {
    let scratch = Scratch::new();
    let leases = scratch.directory("leases");
    let here = |words: &[&str]| {
        let mut command = stend(&scratch, words);
        command.env("STEND_LEASES", &leases);
        command
    };
    let (suite, file) = (long_suite(&scratch), scratch.join("first.stend"));
    let (one, other) = (scratch.directory("one"), scratch.directory("other"));
    let path = file.to_string_lossy().into_owned();
    let words = ["run", &suite, "--on", &one, "--progress", "none", "-o", &path];
    let mut running = Running::new(&mut here(&words));
    eventually("a note of its drives", Duration::from_secs(60), || {
        std::fs::read_dir(&leases).is_ok_and(|mut notes| notes.next().is_some())
    });
    eventually("a run file", Duration::from_secs(60), || file.exists());

    let (small, second) = (scratch.file("small.yaml", SMALL), scratch.join("second.stend"));
    let to = second.to_string_lossy().into_owned();
    for more in [&[][..], &["--dry-run"]] {
        let words = [&["run", &small, "--on", &other, "-o", &to][..], more].concat();
        let (_, refused) = expect_exit(&mut here(&words), 5);
        assert!(refused.contains(&path) && refused.contains("--beside"), "{refused}");
        assert_eq!((leftovers(&other).len(), second.exists()), (0, false));
    }
    let beside = |file: &Path| {
        let caveats = show_json(&scratch, file)["caveats"].clone();
        let kinds = caveats.as_array().expect("caveats").iter().filter_map(|caveat| caveat["caveat"].get("run_beside"));
        kinds.map(|told| told["runs"].as_str().expect("text").to_string()).collect::<Vec<_>>()
    };
    expect_exit(&mut here(&["run", &small, "--on", &other, "--beside", "-o", &to]), 0);
    assert_eq!(beside(&second), std::slice::from_ref(&path));
    assert_eq!(std::fs::read_dir(&leases).expect("notes").count(), 2, "the first has still to be told");

    tool(&["kill", "-INT", &running.child.id().to_string()]);
    assert_eq!(running.wait(Duration::from_secs(60)), Some(130));
    assert_eq!(beside(&file), [to]);
    assert_eq!(std::fs::read_dir(&leases).expect("notes").count(), 0);
}
