//! Before and after in one plan: arms that Stend switches, arms that a person switches, and what happens
//! when nobody may switch, nothing changes, or everybody dies.

use crate::support::*;
use std::path::Path;
use std::time::Duration;

fn with_arms(arms: &str) -> String {
    format!("{}{arms}\n", SMALL.replace("blocks: 2", "blocks: 4"))
}

/// A loop device of this test's own, with a setting that can be changed.
fn setting(scratch: &Scratch) -> (Loop, String) {
    let device = Loop::new(scratch, "backing", 16 << 20);
    let path = device.device.replace("/dev/", "/sys/block/") + "/queue/read_ahead_kb";
    (device, path)
}

fn value(path: &str) -> String {
    std::fs::read_to_string(path).expect("a setting").trim().to_string()
}

fn run_words<'a>(suite: &'a str, target: &'a str, file: &'a str) -> Vec<&'a str> {
    vec!["run", suite, "--on", target, "-o", file, "--progress", "none"]
}

#[test]
fn a_setting_is_compared_in_alternating_blocks_and_put_back() {
    if !root("a_setting_is_compared_in_alternating_blocks_and_put_back") {
        return;
    }
    let _turn = host_turn();
    let scratch = Scratch::new();
    let (_device, path) = setting(&scratch);
    let before = value(&path);
    let arms = format!(
        "observe: {{ahead: [cat, {path}]}}\narms:\n- name: plain\n- {{name: tuned, switch: {{tunables: {{{path}: 68}}}}, expect: [ahead]}}"
    );
    // A disk that stands still for a moment has no rate in a short window, and then there is nothing to compare.
    let suite = scratch.file("arms.yaml", &with_arms(&arms).replace("400ms", "1500ms"));
    let (target, file) = (scratch.directory("t"), scratch.join("r.stend").to_string_lossy().into_owned());
    let mut words = run_words(&suite, &target, &file);

    let (_, stderr) = expect_exit(&mut stend(&scratch, &words), 5);
    assert!(stderr.contains(&format!("`{path} = 68`")) && stderr.contains("--allow-commands"), "{stderr}");
    assert!(!Path::new(&file).exists());

    words.push("--allow-commands");
    let (stdout, _) = expect_exit(&mut stend(&scratch, &words), 0);
    assert!(stdout.contains("plain: read") && stdout.contains("tuned: write"), "{stdout}");
    assert!(stdout.contains(&format!("ahead {before} → 68")), "{stdout}");
    assert_eq!(value(&path), before);

    let run = stend_record::store::read(Path::new(&file)).expect("the file opens");
    let entered: Vec<u32> = run.arms_entered().map(|(_, arm, _)| arm).collect();
    assert!(entered.len() >= 4 && entered.windows(2).all(|pair| pair[0] != pair[1]), "{entered:?}");
    let (stdout, _) = expect_exit(&mut stend(&scratch, &["compare", &file, "--json"]), 0);
    let compared: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(compared["conditions_changed"][0]["condition"], "ahead");
    assert_eq!(compared["cases"][0]["sides"][1]["rate_ratio"]["basis"], "blocks");
    let report = std::fs::read_to_string(Path::new(&file).with_extension("html")).expect("a report");
    assert!(report.contains("What differs between the arms"));
}

#[test]
fn a_person_switches_while_the_run_waits_in_its_file() {
    let _turn = host_turn();
    let scratch = Scratch::new();
    let state = scratch.file("state", "old");
    let arms = format!(
        "observe: {{state: [cat, {state}]}}\narms:\n- name: before\n- {{name: after, switch: {{person: write new into the file}}, expect: [state]}}"
    );
    let suite = scratch.file("arms.yaml", &with_arms(&arms));
    let (target, file) = (scratch.directory("t"), scratch.join("r.stend").to_string_lossy().into_owned());
    let words = [run_words(&suite, &target, &file), vec!["--allow-commands"]].concat();

    let (stdout, stderr) = expect_exit(&mut stend(&scratch, &words), 0);
    assert!(stdout.contains("waits for you before arm `after`: write new into the file"), "{stdout}");
    assert!(stderr.contains("--resume"), "{stderr}");
    assert!(leftovers(&target).is_empty(), "nothing is left on the target while the run waits");
    let (stdout, _) = expect_exit(&mut stend(&scratch, &["list"]), 0);
    assert!(stdout.contains("waits for you"), "{stdout}");

    let resume = ["run", "--resume", &file, "--progress", "none", "--allow-commands"];
    let (_, stderr) = expect_exit(&mut stend(&scratch, &resume), 4);
    assert!(stderr.contains("expects `state` to differ from arm `before`, but it is the same: old"), "{stderr}");
    let (_, stderr) = expect_exit(&mut stend(&scratch, &[&resume[..5], &["--on", "/dev"]].concat()), 2);
    assert!(stderr.contains("continues on"), "{stderr}");

    scratch.file("state", "new");
    let (stdout, _) = expect_exit(&mut stend(&scratch, &resume), 0);
    assert!(stdout.contains("state old → new"), "{stdout}");
    let shown = show_all(&scratch, Path::new(&file));
    assert!(shown.contains("measured completely before the next"), "the order of the arms is a doubt: {shown}");
    let run = stend_record::store::read(Path::new(&file)).expect("the file opens");
    assert_eq!(run.state, stend_record::RunState::Complete);
    let findings = show_json(&scratch, Path::new(&file));
    assert!(findings["cases"].as_array().expect("cases").iter().all(|case| case["trials"] == 4), "{findings}");
}

#[test]
fn a_worker_that_loses_its_coordinator_switches_back_and_one_that_is_killed_is_found() {
    if !root("a_worker_that_loses_its_coordinator_switches_back") {
        return;
    }
    let _turn = host_turn();
    for victim in ["coordinator", "worker"] {
        let scratch = Scratch::new();
        let (_device, path) = setting(&scratch);
        let before = value(&path);
        let arms = format!(
            "arms:\n- {{name: a, switch: {{tunables: {{{path}: 64}}}}}}\n- {{name: b, switch: {{tunables: {{{path}: 68}}}}}}"
        );
        let suite = scratch.file("arms.yaml", &with_arms(&arms).replace("400ms", "2s"));
        let (target, file) = (scratch.directory("t"), scratch.join("r.stend").to_string_lossy().into_owned());
        let words = [run_words(&suite, &target, &file), vec!["--allow-commands"]].concat();
        let mut run = Running::new(&mut stend(&scratch, &words));
        eventually("an arm is entered", Duration::from_secs(60), || value(&path) != before);
        let workers = run.workers();
        match victim {
            "worker" => drop(tool(&["kill", "-KILL", &workers[0].to_string()])),
            _ => run.kill(),
        }
        run.wait(Duration::from_secs(60));
        eventually("the worker is gone", IN_TIME, || !workers.iter().any(|pid| alive(*pid)));
        let doctor = texts(&output(&mut stend(&scratch, &["doctor"]))).1;
        let told = doctor.contains("left this host with the settings of an arm");
        if victim == "coordinator" {
            assert_eq!((value(&path), told), (before, false), "{doctor}");
            continue;
        }
        assert!(told && doctor.contains(&format!("echo {before} > {path}")), "{doctor}");
        let short = scratch.file("short.yaml", &with_arms(&arms));
        let again = [run_words(&short, &target, "again.stend"), vec!["--allow-commands"]].concat();
        expect_exit(stend(&scratch, &again).current_dir(scratch.path()), 0);
        assert_eq!(value(&path), before);
        let record = stend_record::store::read(&scratch.join("again.stend")).expect("the file opens");
        assert!(format!("{:?}", record.events).contains("that is undone first"), "the run tells of it");
        assert!(
            !texts(&output(&mut stend(&scratch, &["doctor"]))).1.contains("left this host with the settings of an arm")
        );
    }
}
