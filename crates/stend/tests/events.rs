//! Events of a case: done at their time and undone, whatever ends the run; refused where they cannot or may not be done. Arrays
//! that lose members are in `lab_stands.rs`.

use crate::support::stand::Stand;
use crate::support::*;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

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
    let _alone = host_turn();
    let scratch = Scratch::new();
    let suite = suite(&scratch, "4s", &marking(&scratch, "at: 1s, for: 1s"));
    let (target, file) = (scratch.directory("target"), scratch.join("r.stend"));
    let path = file.to_string_lossy().into_owned();
    let words = ["run", &suite, "--on", &target, "-o", &path, "--progress", "none"];
    let (_, refused) = expect_exit(&mut stend(&scratch, &words), 5);
    assert!(refused.contains("touch") && refused.contains("--allow-commands"), "{refused}");
    assert!(!scratch.join("on").exists() && !scratch.join("off").exists());

    let (told, _) = expect_exit(&mut stend(&scratch, &[&words[..], &["--allow-commands"]].concat()), 0);
    let told = one_line(&told);
    assert!(told.contains("at 1 s: `touch") && told.contains("No I/O failed"), "{told}");
    assert!(!scratch.join("on").exists() && scratch.join("off").exists());
    let found = &show_json(&scratch, &file)["faults"][0]["trials"][0];
    let at: Vec<f64> =
        found["moments"].as_array().expect("moments").iter().filter_map(|one| one["at_s"].as_f64()).collect();
    // Both have their times in the plan. A machine that is busy with other tests may be late for either, so that what lies
    // between them can be shorter or longer.
    let [0.0, undone] = at[..] else { panic!("{found}") };
    assert!((0.3..2.5).contains(&undone), "{found}");
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
        assert!(!file.exists() && !scratch.join("refused.html").exists(), "{event}: nothing was measured");
    }
    let (list, _) = expect_exit(&mut stend(&scratch, &["list", "--json"]), 0);
    let list: serde_json::Value = serde_json::from_str(&list).expect("JSON");
    assert_eq!(list["runs"].as_array().map(Vec::len), Some(0), "{list}");
}

#[test]
fn an_event_is_undone_although_its_coordinator_was_killed() {
    let _alone = host_turn();
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

#[test]
fn a_process_is_killed_at_its_time_and_started_again() {
    let _alone = host_turn();
    let scratch = Scratch::new();
    let name = format!("ev{:x}", std::process::id());
    let program = scratch.join(&name);
    copy_program("/bin/sleep", &program);
    let mut victim = std::process::Command::new(&program).arg("300").spawn().expect("a process");
    let mark = scratch.join("again").display().to_string();
    let event =
        |process: &str| format!("{{at: 1s, for: 1s, do: process.kill, process: {process}, undo: [touch, {mark}]}}");
    let (target, file) = (scratch.directory("target"), scratch.join("r.stend"));
    let path = file.to_string_lossy().into_owned();
    let run = |process: &str, more: &[&str], exit: i32| {
        let suite = suite(&scratch, "3s", &event(process));
        drop(std::fs::remove_file(&file));
        let words = ["run", &suite, "--on", &target, "-o", &path, "--progress", "none"];
        expect_exit(&mut stend(&scratch, &[&words[..], more].concat()), exit)
    };
    let (_, refused) = run(&name, &[], 5);
    assert!(refused.contains(&format!("pkill -KILL -x {name}")) && refused.contains("touch"), "{refused}");
    let (_, refused) = run("stend", &["--allow-commands"], 4);
    assert!(refused.contains("is this run itself, or its parent"), "{refused}");
    let (_, refused) = run("nobody-has-this", &["--allow-commands"], 4);
    assert!(refused.contains("no process with the name `nobody-has-this` runs"), "{refused}");
    assert!(victim.try_wait().expect("a process").is_none() && !Path::new(&mark).exists());

    let (told, _) = run(&name, &["--allow-commands"], 0);
    let told = one_line(&told);
    assert!(told.contains(&format!("`{name}` is killed")), "{told}");
    assert!(!victim.wait().expect("a process").success() && Path::new(&mark).exists());
}

/// A pair of network interfaces that nobody uses, gone with the test.
struct Pair(String, String);

impl Pair {
    fn new() -> Pair {
        let [one, other] = ["a", "b"].map(|end| format!("ev{:x}{end}", std::process::id()));
        tool(&["ip", "link", "add", &one, "type", "veth", "peer", "name", &other]);
        let pair = Pair(one, other);
        for end in [&pair.0, &pair.1] {
            tool(&["ip", "link", "set", "dev", end, "up"]);
        }
        pair
    }

    fn is_up(&self) -> bool {
        let flags = std::fs::read_to_string(format!("/sys/class/net/{}/flags", self.0)).expect("an interface");
        u64::from_str_radix(flags.trim().trim_start_matches("0x"), 16).expect("a number") & 1 == 1
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        drop(std::process::Command::new("ip").args(["link", "del", &self.0]).output());
    }
}

#[test]
fn a_link_goes_down_and_comes_back_also_when_the_run_is_killed_and_the_way_to_others_stays() {
    let _alone = host_turn();
    let scratch = Scratch::new();
    if !root("a_link_goes_down_and_comes_back_also_when_the_run_is_killed_and_the_way_to_others_stays") {
        return;
    }
    let pair = Pair::new();
    let (target, file) = (scratch.directory("target"), scratch.join("r.stend"));
    let path = file.to_string_lossy().into_owned();
    let command = |trial: &str, event: &str| {
        let suite = suite(&scratch, trial, event);
        drop(std::fs::remove_file(&file));
        stend(&scratch, &["run", &suite, "--on", &target, "-o", &path, "--progress", "none", "--allow-commands"])
    };
    let mut refused = vec![
        ("{at: 1s, do: link.down, link: lo}".to_string(), "leads back to this host, which needs it"),
        ("{at: 1s, do: link.delay, link: lo, delay: 1ms}".to_string(), "the stand of this run exports nothing over lo"),
        ("{at: 1s, do: link.down, link: nobody-has-it}".to_string(), "there is no network interface nobody-has-it"),
    ];
    let routes = std::fs::read_to_string("/proc/net/route").expect("routes");
    let way_out = routes.lines().find_map(|line| line.split_once("\t00000000\t"));
    refused
        .extend(way_out.map(|(link, _)| (format!("{{at: 1s, do: link.down, link: {link}}}"), "(the default route)")));
    for (event, why) in refused {
        let (_, told) = expect_exit(&mut command("4s", &event), 4);
        assert!(told.contains(why), "{event}: {told}");
    }
    let down = format!("do: link.down, link: {}", pair.0);
    let (told, _) = expect_exit(&mut command("3s", &format!("{{at: 1s, for: 1s, {down}}}")), 0);
    let told = one_line(&told);
    assert!(told.contains(&format!("link {} is down", pair.0)) && pair.is_up(), "{told}");
    let mut run = command("60s", &format!("{{at: 1s, {down}}}")).spawn().expect("stend");
    wait_until(|| !pair.is_up());
    run.kill().expect("killed");
    run.wait().expect("gone");
    wait_until(|| pair.is_up());
}

/// What commands of a run printed whose words begin so.
fn outputs(file: &Path, begin: &str) -> Vec<String> {
    let run = stend_record::store::read(file).expect("a run file");
    let told = run.events.into_iter().filter_map(|event| match event.kind {
        stend_record::EventKind::Command { argv, output, .. } if argv.join(" ").starts_with(begin) => Some(output),
        _ => None,
    });
    told.collect()
}

/// A run on a stand over files, which is put up and taken down for it: its file.
fn on_stand(
    scratch: &Scratch,
    (name, drives): (&str, u32),
    layers: &str,
    suite: &str,
    exit: i32,
) -> (String, std::path::PathBuf) {
    let directory = scratch.path().display();
    let loops = format!("loop: {{directory: {directory}, size: 192MiB, count: {drives}}}");
    let stand = Stand::new(scratch, name, &format!("layers: [{{{loops}}}, {{{layers}}}]"));
    let (suite, file) = (scratch.file("stand-suite.yaml", suite), scratch.join("stand.stend"));
    drop(std::fs::remove_file(&file));
    let path = file.to_string_lossy().into_owned();
    let words = ["run", &suite, "--stand", &stand.file, "-o", &path, "--progress", "none"];
    let (told, error) = expect_exit(&mut stend(scratch, &words), exit);
    stand.is_gone();
    (one_line(&(told + &error)), file)
}

#[test]
fn a_file_system_gets_as_full_as_it_should_and_is_empty_again() {
    let _alone = host_turn();
    let scratch = Scratch::new();
    if !root("a_file_system_gets_as_full_as_it_should_and_is_empty_again") {
        return;
    }
    let suite = |trial: &str| {
        format!(
            "suite: full\nfill: {{size: 8MiB}}\nrepeats: {{blocks: 2}}\ncases:\n  - name: reads\n    ramp: 100ms\n    trial: {trial}\n    \
            events: [{{at: 1s, for: 1s, do: fill, to: 20%}}]\n    \
            streams: [{{op: read, pattern: random, block_size: 4KiB, rate: 200/s}}]\n"
        )
    };
    for (stand, layers, how) in
        [(("one", 1), "fs: {type: ext4}", "were reserved"), (("two", 2), "btrfs: {data: raid1}", "were written in")]
    {
        // Some twenty MiB are written, which takes its time where others use the drive.
        let trial = if stand.1 == 1 { "3s" } else { "8s" };
        let (told, file) = on_stand(&scratch, stand, layers, &suite(trial), 0);
        assert!(told.contains("the file system is filled to 20 %"), "{told}");
        let document = show_json(&scratch, &file);
        let trials = document["faults"][0]["trials"].as_array().expect("trials").clone();
        assert_eq!(trials.len(), 2);
        let mut added = Vec::new();
        for trial in trials {
            let moments = trial["moments"].as_array().expect("moments");
            let words: Vec<&str> = moments.iter().filter_map(|one| one["what"]["en"].as_str()).collect();
            let ["the file system is filled to 20 %", came, "the file that filled it is removed"] = words[..] else {
                panic!("{words:?}")
            };
            assert!(came.contains(how), "{came}");
            let size = came.strip_prefix("the file system is filled to 20 %: ").map(|rest| rest.replace('\u{a0}', " "));
            added.extend(size.and_then(|size| size.split_once(" MiB ")?.0.parse::<f64>().ok()));
        }
        // What filled the first trial is gone in the second one, down to the last block.
        let [first, second] = added[..] else { panic!("{added:?}") };
        assert!((first / second - 1.0_f64).abs() < 0.05, "{added:?}");
    }
    // What lies on the root of this host is never filled.
    let suite = scratch.file("root.yaml", &suite("3s"));
    let target = scratch.directory("target");
    let path = scratch.join("root.stend").to_string_lossy().into_owned();
    let on_root =
        std::fs::metadata("/").expect("the root").dev() == std::fs::metadata(&target).expect("a target").dev();
    if on_root {
        let (_, refused) =
            expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &target, "-o", &path, "--progress", "none"]), 4);
        assert!(refused.contains("root file system of this host, which is never filled"), "{refused}");
    }
}

#[test]
fn wrong_data_below_a_mirror_of_btrfs_are_healed_and_nothing_notices() {
    let _alone = host_turn();
    let scratch = Scratch::new();
    if !root("wrong_data_below_a_mirror_of_btrfs_are_healed_and_nothing_notices") {
        return;
    }
    let suite = "suite: wrong\nfill: {size: 64MiB}\nrepeats: {blocks: 2}\ncases:\n  - name: mix\n    ramp: 100ms\n    trial: 3s\n    \
        events: [{at: 1s, do: drive.corrupt, drive: each, from: 65MiB, length: 100MiB}]\n    streams:\n      \
        - {op: {read: 90, write: 10}, pattern: random, block_size: 16KiB, rate: 200/s, verify: {after: true}}\n";
    let (told, file) = on_stand(&scratch, ("healed", 2), "btrfs: {data: raid1, metadata: raid1}", suite, 0);
    assert!(told.contains("of its data overwritten") && told.contains("all data are as they were written"), "{told}");
    let document = show_json(&scratch, &file);
    let trials = document["faults"][0]["trials"].as_array().expect("trials").clone();
    assert_eq!(trials.len(), 2);
    for trial in &trials {
        assert_eq!((&trial["errors"], &trial["mismatches"]), (&0.into(), &0.into()), "{trial}");
        let moments = trial["moments"].as_array().expect("moments");
        let last = moments.last().and_then(|one| one["what"]["en"].as_str());
        assert_eq!(last, Some("arrays are whole"), "{trial}");
    }
    // The scrubs after it found wrong copies, so there were some, and mended all.
    let found = outputs(&file, "btrfs scrub start -B");
    let mended = |told: &String| told.contains("Corrected:") && told.contains("Uncorrectable:  0");
    assert!(found.len() == 2 && found.iter().all(mended), "{found:?}");

    let (refused, _) = on_stand(&scratch, ("single", 2), "btrfs: {data: single, metadata: raid1}", suite, 4);
    assert!(refused.contains("keeps some of its data as `single`: overwritten data would be lost"), "{refused}");
}

fn wait_until(mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(60), "not in time");
        std::thread::sleep(Duration::from_millis(20));
    }
}
