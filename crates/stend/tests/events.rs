//! Events of a case: done at their time and undone, whatever ends the run; refused where they cannot or may not be done. Arrays
//! that lose members are in `lab_stands.rs`.

mod support;

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use support::*;

/// One run at a time changes a host.
static HOST: Mutex<()> = Mutex::new(());

fn suite(scratch: &Scratch, trial: &str, event: &str) -> String {
    let text = format!(
        "suite: events\nfill: {{size: 4MiB}}\nrepeats: {{blocks: 1}}\ncases:\n  - name: reads\n    ramp: 100ms\n    trial: {trial}\n    events: [{event}]\n    streams: [{{op: read, pattern: random, block_size: 4KiB, rate: 500/s}}]\n"
    );
    scratch.file("events.yaml", &text)
}

/// A command that leaves a mark, undone by one that takes it away and leaves another.
fn marking(scratch: &Scratch, at: &str) -> String {
    let (on, off) = (scratch.join("on").display().to_string(), scratch.join("off").display().to_string());
    format!("{{{at}, do: command, command: [touch, {on}], undo: [mv, {on}, {off}]}}")
}

#[test]
fn an_event_comes_in_its_window_and_is_undone_at_its_time() {
    let _alone = HOST.lock().unwrap_or_else(PoisonError::into_inner);
    let scratch = Scratch::new();
    let suite = suite(&scratch, "4s", &marking(&scratch, "at: 1s, for: 1s"));
    let (target, file) = (scratch.directory("target"), scratch.join("r.stend"));
    let path = file.to_string_lossy().into_owned();
    let words = ["run", &suite, "--on", &target, "-o", &path, "--progress", "none"];
    let (_, refused) = expect_exit(&mut stend(&scratch, &words), 5);
    assert!(refused.contains("touch") && refused.contains("--allow-commands"), "{refused}");
    assert!(!scratch.join("on").exists() && !scratch.join("off").exists());

    let (told, _) = expect_exit(&mut stend(&scratch, &[&words[..], &["--allow-commands"]].concat()), 0);
    let told = told.replace('\u{a0}', " ");
    assert!(told.contains("at 1 s: `touch") && told.contains("No I/O failed"), "{told}");
    assert!(!scratch.join("on").exists() && scratch.join("off").exists());
    let found = &show_json(&scratch, &file)["faults"][0]["trials"][0];
    let at: Vec<f64> =
        found["moments"].as_array().expect("moments").iter().filter_map(|one| one["at_s"].as_f64()).collect();
    // A machine that is busy with other tests may be late.
    let [0.0, undone] = at[..] else { panic!("{found}") };
    assert!((0.99..2.5).contains(&undone), "{found}");
    assert_eq!(found["recovery"]["before_for_ns"], 1_000_000_000u64);
    assert!(found["redundant_again_ns"].is_null(), "there is no array: {found}");
    let preview = [&["run", &suite, "--on", &target, "--dry-run", "--allow-commands"][..]].concat();
    let (laid_out, _) = expect_exit(&mut stend(&scratch, &preview), 0);
    assert!(laid_out.replace('\u{a0}', " ").contains("at 1 s: `touch"), "{laid_out}");
}

#[test]
fn what_cannot_be_done_here_is_refused_before_anything_is_measured() {
    let scratch = Scratch::new();
    let target = scratch.directory("target");
    for (event, why) in [
        ("{at: 1s, do: drive.fail, drive: 1}", "no pool of ZFS that the stand of this run made"),
        ("{at: 1s, do: scrub}", "no pool of ZFS or btrfs that the stand of this run made"),
        ("{at: 1s, do: cpu.offline, cpu: 8000}", "CPU 8000 is not there"),
    ] {
        let suite = suite(&scratch, "4s", event);
        let file = scratch.join("refused.stend");
        let path = file.to_string_lossy().into_owned();
        let words = ["run", &suite, "--on", &target, "-o", &path, "--progress", "none", "--allow-commands"];
        let (_, refused) = expect_exit(&mut stend(&scratch, &words), 4);
        assert!(refused.contains(why), "{event}: {refused}");
        assert!(show_json(&scratch, Path::new(&path))["cases"].as_array().is_some_and(Vec::is_empty), "{event}");
        std::fs::remove_file(&file).expect("a run file");
    }
}

#[test]
fn an_event_is_undone_although_its_coordinator_was_killed() {
    let _alone = HOST.lock().unwrap_or_else(PoisonError::into_inner);
    let scratch = Scratch::new();
    let suite = suite(&scratch, "60s", &marking(&scratch, "at: 1s"));
    let (target, file) = (scratch.directory("target"), scratch.join("r.stend"));
    let path = file.to_string_lossy().into_owned();
    let words = ["run", &suite, "--on", &target, "-o", &path, "--progress", "none", "--allow-commands"];
    let mut run = stend(&scratch, &words).spawn().expect("stend");
    wait_until(|| scratch.join("on").exists());
    run.kill().expect("killed");
    run.wait().expect("gone");
    wait_until(|| scratch.join("off").exists());
    assert!(!scratch.join("on").exists());
    let begun = &show_json(&scratch, &file)["state"]["state"];
    assert_ne!(begun, "complete");
}

fn wait_until(mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(60), "not in time");
        std::thread::sleep(Duration::from_millis(20));
    }
}
