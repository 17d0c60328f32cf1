//! `run --dry-run` says what the run will do, refuses what the run would refuse, and changes nothing.

use crate::support::*;
use serde_json::Value;
use std::path::Path;

/// Every path below a directory, sorted.
fn everything(below: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(below).expect("a directory").flatten() {
        let path = entry.path();
        found.push(path.display().to_string());
        if path.is_dir() {
            found.extend(everything(&path));
        }
    }
    found.sort();
    found
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

fn words(list: &Value) -> Vec<String> {
    list.as_array().expect("a list").iter().map(|word| word.as_str().expect("a text").to_string()).collect()
}

/// The id of a run is new each time; everything else of a step is the same.
fn without_id(steps: &[String], id: &str) -> Vec<String> {
    steps.iter().map(|step| step.replace(id, "ID")).collect()
}

#[test]
fn a_dry_run_refuses_what_the_user_may_not_do() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    if !root("a_dry_run_refuses_what_the_user_may_not_do") {
        return;
    }
    let scratch = Scratch::new();
    let open = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode));
    open(scratch.path(), 0o777).expect("a scratch directory for everybody");
    let program = scratch.join("stend");
    copy_program(env!("CARGO_BIN_EXE_stend"), &program);
    let (theirs, closed) = (scratch.directory("theirs"), scratch.directory("closed"));
    open(Path::new(&theirs), 0o777).expect("a directory for everybody");
    let nobody = |on: &str, lang: &str, code| {
        let words = ["run", "quick", "--on", on, "--dry-run", "--lang", lang];
        let mut command = std::process::Command::new(&program);
        command.args(words).env("XDG_DATA_HOME", scratch.join("data")).env("STEND_LEASES", scratch.path());
        expect_exit(command.uid(65534).gid(65534), code).1
    };
    let refused = nobody(&closed, "en", 4);
    assert!(
        refused.contains("cannot make the directory of the test file") && refused.contains("name one of yours"),
        "{refused}"
    );
    assert!(nobody(&closed, "ru", 4).contains("нет прав"));
    nobody(&theirs, "en", 0);
}

#[test]
fn a_dry_run_changes_nothing_and_says_the_steps_that_the_run_then_does() {
    let scratch = Scratch::new();
    let suite = scratch.file("small.yaml", SMALL);
    let target = scratch.directory("target");
    let before = everything(scratch.path());
    let dry = ["run", &suite, "--on", &target, "--dry-run", "--seed", "5", "--json"];
    let (stdout, stderr) = expect_exit(&mut stend(&scratch, &dry), 0);
    assert!(stderr.is_empty(), "{stderr}");
    assert_eq!(everything(scratch.path()), before);
    let preview = json(&stdout);
    let run_file = Path::new(preview["run_file"]["path"].as_str().expect("a path"));
    let announced_id = run_file.file_stem().expect("a name").to_string_lossy().into_owned();
    assert!(!run_file.exists() && run_file.starts_with(scratch.path()), "{run_file:?}");

    let file = scratch.join("r.stend");
    let real = ["run", &suite, "--on", &target, "-o", &file.to_string_lossy(), "--seed", "5", "--progress", "none"];
    expect_exit(&mut stend(&scratch, &real), 0);
    let run = stend_record::store::read(&file).expect("a run file");
    let did: Vec<String> = run.events.iter().filter_map(step).collect();
    let announced = [words(&preview["steps"]), words(&preview["undo"])].concat();
    assert_eq!(without_id(&announced, &announced_id), without_id(&did, &run.header.id));
    assert_eq!(preview["fill_bytes"], run.load().fill.expect("a fill").written.0);
    assert_eq!(preview["trials"].as_u64(), Some(run.trials.len() as u64));
    assert_eq!(preview["samples_zeros"], run.load().zeros.is_some());
    let asked: u64 = run.trials.iter().map(|trial| trial.asked.ramp.0 + trial.asked.window.0).sum();
    assert_eq!(preview["time"]["trials_ns"], asked);
    let size = std::fs::metadata(&file).expect("a run file").len();
    assert!(size <= preview["run_file"]["size_bytes"].as_u64().expect("a size"), "{size}");
}

fn step(event: &stend_record::Event) -> Option<String> {
    match &event.kind {
        stend_record::EventKind::Step { action } => Some(action.clone()),
        _ => None,
    }
}

#[test]
fn what_a_run_would_refuse_a_dry_run_refuses_with_the_same_words() {
    let scratch = Scratch::new();
    let suite = scratch.file("small.yaml", SMALL);
    let target = scratch.directory("target");
    let precious = scratch.file("precious.stend", "precious");
    let refused: [(&[&str], i32); 5] = [
        (&["--on", &target, "--confirm", "serial:X"], 5),
        (&["--on", "/does/not/exist"], 2),
        (&["--on", &target, "--time-budget", "100ms"], 2),
        (&["--on", &target, "-o", &precious], 12),
        (&["--on", "/proc"], 4),
    ];
    for (words, code) in refused {
        let mut real = vec!["run", &suite];
        real.extend(words);
        let dry = [&real[..], &["--dry-run"]].concat();
        let real = [&real[..], &["--progress", "none"]].concat();
        let answer = expect_exit(&mut stend(&scratch, &dry), code);
        assert_eq!(answer, expect_exit(&mut stend(&scratch, &real), code), "{words:?}");
    }
    assert!(leftovers(&target).is_empty());
}

#[test]
fn on_a_device_a_dry_run_names_what_would_be_lost_and_a_mounted_one_is_refused() {
    if !root("on_a_device_a_dry_run_names_what_would_be_lost_and_a_mounted_one_is_refused") {
        return;
    }
    let scratch = Scratch::new();
    let suite = scratch.file("small.yaml", SMALL);
    let device = Loop::new(&scratch, "disk.img", 128 << 20);
    tool(&["mkfs.ext4", "-qF", &device.device]);
    let identity = device.identity(&scratch);
    let before = std::fs::read(&device.backing).expect("the backing file");
    let dry = |more: &[&str]| {
        let words = [&["run", &suite, "--on", &device.device, "--dry-run"], more].concat();
        stend(&scratch, &words)
    };
    let unconfirmed = json(&expect_exit(&mut dry(&["--json"]), 0).0);
    assert_eq!((&unconfirmed["writes"]["to"], &unconfirmed["fill_bytes"]), (&"nothing".into(), &Value::Null));
    assert_eq!(unconfirmed["not_run"][0]["label"], "write");
    let flags = ["--confirm", &identity, "--overwrite-signature", "ext4"];
    let confirmed = json(&expect_exit(&mut dry(&[&flags[..], &["--json"]].concat()), 0).0);
    assert_eq!(confirmed["writes"]["signatures"], serde_json::json!(["ext4"]));
    assert_eq!(confirmed["writes"]["range_bytes"], 64 << 20);
    let (text, _) = expect_exit(&mut dry(&flags), 0);
    assert!(text.contains("✖ It destroys") && text.contains("It overwrites: ext4"), "{text}");
    expect_exit(&mut dry(&["--confirm", &identity]), 5);
    assert!(std::fs::read(&device.backing).expect("the backing file") == before, "the device is as it was");
    let _mount = Mount::new(&[&device.device], scratch.join("mnt"));
    let (_, stderr) = expect_exit(&mut dry(&flags), 5);
    assert!(stderr.contains("mounted"), "{stderr}");
}

#[test]
fn a_dry_run_reads_well_in_both_languages_and_on_forty_columns() {
    let scratch = Scratch::new();
    let suite = scratch.file("small.yaml", SMALL);
    let target = scratch.directory("target");
    for (lang, columns, heading) in [("en", "100", "Steps"), ("ru", "80", "Шаги"), ("ru", "40", "Шаги")] {
        let words = ["run", &suite, "--on", &target, "--dry-run", "--lang", lang];
        let (text, _) = expect_exit(stend(&scratch, &words).env("COLUMNS", columns), 0);
        assert!(text.contains(heading) && text.contains("small"), "{text}");
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or_default();
        assert!(widest <= columns.parse().expect("a number"), "{text}");
    }
}

#[test]
fn a_relative_target_is_named_by_its_whole_path() {
    let scratch = Scratch::new();
    let (target, suite) = (scratch.directory("target"), scratch.file("small.yaml", SMALL));
    let words = ["run", &suite, "--on", ".", "--dry-run"];
    let (preview, _) = expect_exit(stend(&scratch, &words).current_dir(&target), 0);
    assert!(preview.contains(&target), "{preview}");
}
