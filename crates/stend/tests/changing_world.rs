//! A machine that changes while it is measured: its clock is set, a file system turns read-only, a CPU goes away. The whole machine
//! feels it: `scripts/test.sh` runs nothing beside these.

use crate::support::*;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn start(scratch: &Scratch, suite: &str, on: &str, run_file: &Path) -> Running {
    let words = ["run", suite, "--on", on, "-o", &run_file.to_string_lossy(), "--progress", "none"];
    Running::new(stend(scratch, &words).stdout(std::process::Stdio::null()))
}

/// Waits until this trial is being measured.
fn in_trial(run_file: &Path, ordinal: usize) {
    eventually("a trial in progress", Duration::from_secs(90), || {
        let run = stend_record::store::read(run_file);
        run.is_ok_and(|run| run.trials.get(ordinal).is_some_and(|trial| !trial.slices.is_empty()))
    });
}

/// The wall clock moved by so many milliseconds; moved back when this goes away.
struct ClockMoved(i64);

impl ClockMoved {
    /// `None` where nobody may set the clock, as in most containers.
    fn by(millis: i64) -> Option<ClockMoved> {
        move_clock(millis).ok().map(|()| ClockMoved(millis))
    }
}

impl Drop for ClockMoved {
    fn drop(&mut self) {
        move_clock(-self.0).expect("what could be moved can be moved back");
    }
}

fn move_clock(millis: i64) -> rustix::io::Result<()> {
    use rustix::time::{ClockId, Timespec, clock_gettime, clock_settime};
    let now = clock_gettime(ClockId::Realtime);
    let nanos = now.tv_sec * 1_000_000_000 + now.tv_nsec + millis * 1_000_000;
    let (tv_sec, tv_nsec) = (nanos.div_euclid(1_000_000_000), nanos.rem_euclid(1_000_000_000));
    clock_settime(ClockId::Realtime, Timespec { tv_sec, tv_nsec })
}

#[test]
fn a_clock_that_is_set_during_a_run_is_told_and_no_duration_follows_it() {
    let name = "a_clock_that_is_set_during_a_run_is_told_and_no_duration_follows_it";
    if !root(name) {
        return;
    }
    let _alone = host_turn();
    // Small enough not to disturb other users of this machine's clock, both ways.
    for millis in [400, -400] {
        let scratch = Scratch::new();
        let suite = scratch.file("s.yaml", &SMALL.replace("trial: 400ms", "trial: 2s"));
        let (target, file) = (scratch.directory("t"), scratch.join("r.stend"));
        let began = Instant::now();
        let mut run = start(&scratch, &suite, &target, &file);
        in_trial(&file, 1);
        let Some(moved) = ClockMoved::by(millis) else {
            eprintln_skipped(name);
            return;
        };
        eventually("the end of that trial", Duration::from_secs(60), || {
            stend_record::store::read(&file).is_ok_and(|run| run.trials.len() > 2)
        });
        drop(moved);
        assert_eq!(run.wait(Duration::from_secs(120)), Some(0));
        let lasted = began.elapsed();

        let record = stend_record::store::read(&file).expect("the run file opens");
        let outcomes: Vec<_> = record.trials.iter().filter_map(|trial| trial.outcome.as_ref()).collect();
        assert_eq!(outcomes.len(), 4);
        for outcome in &outcomes {
            // A window ends at an edge of the 100 ms grid, whatever the wall clock says.
            let window = outcome.window_end.0 - outcome.window_start.0;
            assert_eq!(window, 2_000_000_000, "{millis} ms");
        }
        let steps: Vec<i64> = outcomes.iter().map(|outcome| step_ms(&outcome.clocks)).collect();
        assert!((steps[1] - millis).abs() < 100, "{steps:?}");
        let findings = show_json(&scratch, &file);
        assert!(findings["elapsed_ns"].as_u64().expect("a time") <= lasted.as_nanos() as u64);
        let cases = findings["cases"].as_array().expect("cases");
        let checks = cases.iter().flat_map(|case| case["checks"].as_array().expect("checks"));
        let clock: Vec<_> = checks.filter(|check| check["id"] == "H44").collect();
        assert!(clock.iter().any(|check| check["status"] == "warn" && said(check, "wall clock was set")), "{clock:?}");
        assert!(findings["caveats"].to_string().contains("clock_step"), "{findings}");
    }
}

fn said(check: &serde_json::Value, words: &str) -> bool {
    check["meaning"]["en"].as_str().is_some_and(|text| text.contains(words))
}

/// How far the wall clock moved against the monotonic one, ms.
fn step_ms(clocks: &[(u64, u64, u64); 2]) -> i64 {
    let [before, after] = clocks;
    let (wall, monotonic) = (after.2 as i64 - before.2 as i64, after.0 as i64 - before.0 as i64);
    (wall - monotonic) / 1_000_000
}

#[allow(clippy::print_stderr, reason = "a skipped test says so")]
fn eprintln_skipped(name: &str) {
    eprintln!("skipped, the kernel does not let it happen here: {name}");
}

/// An ext4 of its own that turns read-only at its first error, as that of most machines does.
struct Ext4 {
    mount: Mount,
    device: Loop,
}

impl Ext4 {
    fn new(scratch: &Scratch, name: &str) -> Ext4 {
        let device = Loop::new(scratch, &format!("{name}.img"), 512 << 20);
        tool(&["mkfs.ext4", "-qF", &device.device]);
        let mount = Mount::new(&["-o", "errors=remount-ro", &device.device], scratch.join(name));
        Ext4 { mount, device }
    }

    fn path(&self) -> PathBuf {
        self.mount.0.clone()
    }

    /// What a failed write of metadata does.
    fn fail(&self) {
        let name = Path::new(&self.device.device).file_name().expect("a name").to_string_lossy().into_owned();
        std::fs::write(format!("/sys/fs/ext4/{name}/trigger_fs_error"), "the test asked for it").expect("an error");
    }
}

#[test]
fn a_target_whose_file_system_turns_read_only_fails_its_writes_and_keeps_what_was_measured() {
    if !root("a_target_whose_file_system_turns_read_only_fails_its_writes_and_keeps_what_was_measured") {
        return;
    }
    let scratch = Scratch::new();
    // Only writes, and long enough that one is under way when it happens.
    let writes = SMALL.replace("name: write", "name: other").replace("op: read", "op: write");
    let suite = scratch.file("long.yaml", &writes.replace("trial: 400ms", "trial: 4s"));
    let file_system = Ext4::new(&scratch, "fs");
    let file = scratch.join("r.stend");
    let mut run = start(&scratch, &suite, &file_system.path().to_string_lossy(), &file);
    in_trial(&file, 1);
    file_system.fail();
    assert_eq!(run.wait(Duration::from_secs(120)), Some(6));
    let trials = stend_record::store::read(&file).expect("the run file opens").trials;
    let failed = trials.iter().filter_map(|trial| trial.outcome.as_ref()).flat_map(|outcome| &outcome.errors);
    let refused = rustix::io::Errno::ROFS.raw_os_error();
    assert!(
        failed.filter(|error| error.errno == refused).map(|error| error.count).sum::<u64>() > 0,
        "EROFS is counted"
    );
    assert!(trials[0].outcome.as_ref().is_some_and(|outcome| outcome.errors.is_empty()), "what was measured is kept");
    let findings = show_json(&scratch, &file);
    let cases = findings["cases"].as_array().expect("cases");
    let mut checks = cases.iter().flat_map(|case| case["checks"].as_array().expect("checks"));
    assert!(checks.any(|check| check["id"] == "H76" && check["status"] == "fail"), "{findings}");
}

#[test]
fn a_run_file_whose_file_system_turns_read_only_ends_the_run_with_what_was_measured() {
    if !root("a_run_file_whose_file_system_turns_read_only_ends_the_run_with_what_was_measured") {
        return;
    }
    let scratch = Scratch::new();
    let suite = scratch.file("long.yaml", &SMALL.replace("blocks: 2", "blocks: 40"));
    let target = scratch.directory("t");
    let file_system = Ext4::new(&scratch, "results");
    let file = file_system.path().join("r.stend");
    let mut run = start(&scratch, &suite, &target, &file);
    in_trial(&file, 4);
    file_system.fail();
    assert_eq!(run.wait(Duration::from_secs(60)), Some(12));
    assert!(leftovers(&target).is_empty());
    let kept = stend_record::store::read(&file).expect("the run file opens").trials;
    assert!(kept.iter().filter(|trial| trial.outcome.is_some()).count() >= 3, "{} trials", kept.len());
    let findings = show_json(&scratch, &file);
    assert!(findings["cases"].as_array().is_some_and(|cases| !cases.is_empty()), "{findings}");
}

/// A CPU that was switched off; switched on again when this goes away.
struct Unplugged(&'static str);

impl Unplugged {
    fn cpu(switch: &'static str) -> Option<Unplugged> {
        std::fs::write(switch, "0").ok().map(|()| Unplugged(switch))
    }
}

impl Drop for Unplugged {
    fn drop(&mut self) {
        std::fs::write(self.0, "1").expect("what could be switched off can be switched on");
    }
}

#[test]
fn a_cpu_that_is_unplugged_under_the_load_costs_no_trial() {
    let name = "a_cpu_that_is_unplugged_under_the_load_costs_no_trial";
    if !root(name) {
        return;
    }
    let _alone = host_turn();
    let scratch = Scratch::new();
    let suite = scratch.file("s.yaml", &SMALL.replace("queue_depth: 4", "queue_depth: 4, jobs: 2"));
    let (target, file) = (scratch.directory("t"), scratch.join("r.stend"));
    let mut run = start(&scratch, &suite, &target, &file);
    in_trial(&file, 0);
    // Load threads are pinned; those of this CPU go on where the kernel puts them.
    let Some(unplugged) = Unplugged::cpu("/sys/devices/system/cpu/cpu1/online") else {
        eprintln_skipped(name);
        return;
    };
    eventually("a trial begun with one CPU less", Duration::from_secs(90), || {
        stend_record::store::read(&file).is_ok_and(|run| run.trials.len() > 2)
    });
    drop(unplugged);
    let end = run.wait(Duration::from_secs(120));
    let record = stend_record::store::read(&file).expect("the run file opens");
    assert_eq!((end, &record.state), (Some(0), &stend_record::RunState::Complete));
    assert_eq!(record.trials.len(), 4);
    for trial in &record.trials {
        let outcome = trial.outcome.as_ref().expect("an outcome");
        assert_eq!(outcome.status, stend_record::TrialStatus::Complete);
        assert!(outcome.jobs.iter().all(|job| job.done[0].0 + job.done[1].0 > 0), "both jobs did I/O");
    }
    assert!(!show_json(&scratch, &file)["cases"].as_array().expect("cases").is_empty());
    assert!(leftovers(&target).is_empty());
}
