//! Cases that fio runs: beside those of our own engine, and what is said when there is no fio, or it fails.

use crate::support::*;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Two cases by our own engine and the same two by fio.
const BOTH: &str = "suite: both
defaults: {ramp: 300ms, trial: 1s}
fill: {size: 64MiB}
repeats: {blocks: 1}
cases:
  - name: read
    streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: 4}]
  - name: read by fio
    engine: fio
    streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: 4}]
  - name: mix
    streams: [{op: {read: 60, write: 40}, pattern: uniform, block_size: {4KiB: 50, 16KiB: 50}, jobs: 2}]
  - name: mix by fio
    engine: fio
    streams: [{op: {read: 60, write: 40}, pattern: uniform, block_size: {4KiB: 50, 16KiB: 50}, jobs: 2}]
";

/// Whether there is a fio; without it a named skip, under CI a failure.
fn fio(test: &str) -> bool {
    let found = Command::new("fio").arg("--version").output().is_ok();
    assert!(found || std::env::var("CI").as_deref() != Ok("true"), "{test} needs fio");
    if !found {
        eprintln!("skipped, needs fio: {test}");
    }
    found
}

/// A directory with a `fio` that answers questions as the real one and does `then` when it gets a job.
fn pretended(scratch: &Scratch, name: &str, then: &str) -> String {
    let real = tool(&["sh", "-c", "command -v fio"]);
    let directory = scratch.directory(name);
    let script =
        format!("#!/bin/sh\ncase \"$1\" in --version|--cmdhelp=*|--enghelp) exec {real} \"$@\";; esac\n{then}\n");
    let path = scratch.file(&format!("{name}/fio"), &script);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a script");
    directory
}

/// What the checks of a case say, by their number.
fn status<'a>(case: &'a serde_json::Value, id: &str) -> &'a str {
    let checks = case["checks"].as_array().expect("checks");
    checks.iter().find(|check| check["id"] == id).and_then(|check| check["status"].as_str()).expect("a check")
}

#[test]
fn both_engines_measure_the_same_case_of_one_run() {
    if !fio("both_engines_measure_the_same_case_of_one_run") {
        return;
    }
    let scratch = Scratch::new();
    let (suite, target) = (scratch.file("both.yaml", BOTH), scratch.directory("t"));
    let file = scratch.join("r.stend").to_string_lossy().into_owned();
    let words = ["run", &suite, "--on", &target, "-o", &file, "--progress", "none"];
    expect_exit(&mut stend(&scratch, &words), 0);
    let shown = show_all(&scratch, Path::new(&file));
    assert!(shown.contains("In 2 cases fio makes the I/O, not Stend's own engine."), "{shown}");
    assert_eq!(leftovers(&target), Vec::<String>::new());
    let findings = show_json(&scratch, Path::new(&file));
    for case in findings["cases"].as_array().expect("cases") {
        for id in ["H01", "H04"] {
            assert_eq!(status(case, id), "pass", "{id} of {case}");
        }
        // Not its status: on a busy machine a window of fio may last longer than asked, and H08 warns then.
        let sums = case["checks"].as_array().and_then(|checks| checks.iter().find(|check| check["id"] == "H08"));
        let told = sums.and_then(|sums| sums["measured"]["en"].as_str()).expect("H08");
        assert!(told.starts_with("sums differ by 0.0 %"), "{told}");
        assert!(case["iops"]["value"].as_f64().expect("a rate") > 0.0, "{case}");
    }
    let (record, _) = expect_exit(&mut stend(&scratch, &["export", &file, "--format", "json"]), 0);
    let record = serde_json::from_str::<serde_json::Value>(&record).expect("JSON")["record"].take();
    for trial in record["trials"].as_array().expect("trials") {
        let (asked, engine) = (&trial["asked"]["engine"], &trial["outcome"]["engine"]["external"]);
        assert_eq!(asked == "fio", engine["version"].as_str().is_some_and(|version| version.starts_with("fio-")));
        assert_eq!(asked == "fio", engine["job_file"].as_str().is_some_and(|text| text.contains("/proc/self/fd/0")));
    }
    let commands = record["events"].as_array().expect("events").iter().filter(|e| !e["kind"]["command"].is_null());
    assert!(commands.clone().count() == 2 && commands.clone().all(|e| e["kind"]["command"]["exit"] == 0));
}

#[test]
fn the_command_line_chooses_the_engine_of_every_case_and_a_comparison_tells() {
    if !fio("the_command_line_chooses_the_engine_of_every_case_and_a_comparison_tells") {
        return;
    }
    let scratch = Scratch::new();
    let one = SMALL.replace("blocks: 2", "blocks: 1");
    let (suite, target) = (scratch.file("small.yaml", &one), scratch.directory("t"));
    let files = ["native", "fio"].map(|engine| {
        let file = scratch.join(engine).with_extension("stend").to_string_lossy().into_owned();
        let words = ["run", &suite, "--on", &target, "-o", &file, "--engine", engine, "--progress", "none"];
        expect_exit(&mut stend(&scratch, &words), 0);
        file
    });
    let (stdout, _) = expect_exit(&mut stend(&scratch, &["compare", "-v", &files[0], &files[1]]), 0);
    let changed = stdout.lines().find(|line| line.contains("I/O made by")).unwrap_or_default();
    assert!(changed.contains("Stend → fio-"), "{stdout}");
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["run", "--resume", &files[0], "--engine", "fio"]), 2);
    assert!(stderr.contains("--engine"), "{stderr}");
}

#[test]
fn a_fio_that_is_missing_fails_or_is_killed_ends_the_run_with_a_reason() {
    if !fio("a_fio_that_is_missing_fails_or_is_killed_ends_the_run_with_a_reason") {
        return;
    }
    let scratch = Scratch::new();
    let (suite, target) = (scratch.file("small.yaml", SMALL), scratch.directory("t"));
    let words = |file: &str| {
        ["run", &suite, "--on", &target, "--engine", "fio", "--progress", "none", "-o", file].map(String::from)
    };
    let run = |file: &str, path: &str| {
        let words = words(file);
        expect_exit(stend(&scratch, &words.each_ref().map(String::as_str)).env("PATH", path), 4).1
    };
    let file = |name: &str| scratch.join(name).to_string_lossy().into_owned();

    let missing = file("missing.stend");
    let stderr = run(&missing, &scratch.directory("empty"));
    assert!(stderr.contains("cannot start `fio`") && stderr.contains("apt-get install fio"), "{stderr}");
    assert!(!Path::new(&missing).exists(), "nothing was begun");
    let dry = [words(&missing).as_slice(), &["--dry-run".to_string()]].concat();
    let dry: Vec<&str> = dry.iter().map(String::as_str).collect();
    let (_, stderr) = expect_exit(stend(&scratch, &dry).env("PATH", scratch.join("empty")), 4);
    assert!(stderr.contains("cannot start `fio`"), "{stderr}");

    for (name, then, told) in [
        ("fails", "echo 'fio: no luck' >&2; exit 7", "fio failed (exit status: 7): fio: no luck"),
        ("killed", "kill -KILL $$", "fio failed (signal: 9 (SIGKILL))"),
        ("mumbles", "echo '{}'", "the output of fio cannot be used: missing field"),
    ] {
        let (file, path) = (file(&format!("{name}.stend")), pretended(&scratch, name, then));
        let stderr = run(&file, &format!("{path}:{}", std::env::var("PATH").unwrap_or_default()));
        assert!(stderr.contains(told), "{name}: {stderr}");
        let (record, _) = expect_exit(&mut stend(&scratch, &["export", &file, "--format", "json"]), 0);
        assert!(record.contains("job file of the fio that failed") && record.contains("[s0j0]"), "{name}: {record}");
        assert_eq!(leftovers(&target), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn a_worker_that_is_killed_takes_its_fio_with_it() {
    if !fio("a_worker_that_is_killed_takes_its_fio_with_it") {
        return;
    }
    let scratch = Scratch::new();
    let (suite, target) = (scratch.file("small.yaml", SMALL), scratch.directory("t"));
    let told = scratch.join("pid");
    let path =
        pretended(&scratch, "bin", &format!("echo $$ > {0}.new; mv {0}.new {0}; exec sleep 1000", told.display()));
    let file = scratch.join("r.stend").to_string_lossy().into_owned();
    let words = ["run", &suite, "--on", &target, "-o", &file, "--engine", "fio", "--progress", "none"];
    let path = format!("{path}:{}", std::env::var("PATH").unwrap_or_default());
    let mut run = Running::new(stend(&scratch, &words).env("PATH", path));
    eventually("fio is started", Duration::from_secs(60), || told.exists());
    let pid: u32 = std::fs::read_to_string(&told).expect("a number").trim().parse().expect("a number");
    assert!(alive(pid));
    let worker = run.workers()[0];
    let left = || {
        let names =
            std::fs::read_dir("/dev/shm").expect("a directory").map(|entry| entry.expect("an entry").file_name());
        names.filter(|name| name.to_string_lossy().starts_with(&format!("stend-fio-{worker}-"))).count()
    };
    tool(&["kill", "-KILL", &worker.to_string()]);
    eventually("fio is gone", IN_TIME, || !alive(pid));
    assert_eq!(run.wait(IN_TIME), Some(8));
    // Nobody of this run could remove it. A worker of another test may have done so: the directory is that of all.
    assert!(left() <= 1);
    let (next, file) = (scratch.directory("next"), scratch.join("next.stend").to_string_lossy().into_owned());
    let next = ["run", &suite, "--on", &next, "-o", &file, "--dry-run"];
    expect_exit(&mut stend(&scratch, &next), 0);
    assert_eq!(left(), 0, "the next worker does, whatever it is for");
}

#[test]
fn what_fio_cannot_express_is_refused_before_anything_is_made() {
    let scratch = Scratch::new();
    let (suite, target) =
        (scratch.file("small.yaml", &SMALL.replace("pattern: random", "pattern: reverse")), scratch.directory("t"));
    let file = scratch.join("r.stend").to_string_lossy().into_owned();
    let words = ["run", &suite, "--on", &target, "-o", &file, "--engine", "fio"];
    if fio("what_fio_cannot_express_is_refused_before_anything_is_made") {
        let (_, stderr) = expect_exit(&mut stend(&scratch, &words), 3);
        assert!(stderr.contains("case `read`: `pattern: reverse` contradicts `engine: fio`"), "{stderr}");
        assert!(!Path::new(&file).exists() && std::fs::read_dir(&target).expect("a directory").next().is_none());
    }
}
