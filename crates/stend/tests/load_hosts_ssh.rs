//! Runs of several load hosts from the command line, over servers of SSH.

use crate::support::far::Far;
use crate::support::*;
use std::path::Path;
use std::time::Duration;
use stend_base::Kind;
use stend_record::{EventKind, HostId, Role, RunRecord, RunState, TrialStatus, store};

/// Two hosts that are other machines, `a` and `b`.
fn two(test: &str) -> Option<Far> {
    let mut far = Far::start(test)?;
    ["a", "b"].into_iter().for_each(|name| far.add(name));
    Some(far)
}

/// The same with a third one, `c`.
fn three(test: &str) -> Option<Far> {
    let mut far = two(test)?;
    far.add("c");
    Some(far)
}

/// Options for these hosts, with a target on each.
fn on_each(far: &Far, names: &[&str]) -> Vec<String> {
    let of =
        |name: &&str| [format!("--ssh={name}"), format!("--on={name}:{}", far.scratch.directory(&format!("t-{name}")))];
    names.iter().flat_map(of).collect()
}

fn on_both(far: &Far) -> Vec<String> {
    on_each(far, &["a", "b"])
}

/// Whether each host has measured some of this trial.
fn all_load(file: &Path, trial: usize) -> bool {
    let loads = |run: RunRecord| {
        run.trials.get(trial).is_some_and(|trial| trial.by_host().iter().all(|(_, slices, _)| slices.len() > 4))
    };
    store::read(file).is_ok_and(loads)
}

/// Kills the workers of these hosts by one command.
fn kill_at_once(far: &Far, names: &[&str]) {
    let pids: Vec<String> = names.iter().flat_map(|name| far.workers_of(name)).map(|pid| pid.to_string()).collect();
    assert_eq!(pids.len(), names.len(), "one worker on each");
    let words: Vec<&str> = ["kill", "-KILL"].into_iter().chain(pids.iter().map(String::as_str)).collect();
    tool(&words);
}

/// The hosts that a run has lost, by their ids.
fn lost(record: &RunRecord) -> Vec<HostId> {
    let lost = record.events.iter().filter(|event| matches!(event.kind, EventKind::HostLost { .. }));
    let mut lost: Vec<HostId> = lost.map(|event| event.host).collect();
    lost.sort();
    lost
}

fn words<'a>(suite: &'a str, options: &'a [String], rest: &[&'a str]) -> Vec<&'a str> {
    ["run", suite].into_iter().chain(options.iter().map(String::as_str)).chain(rest.iter().copied()).collect()
}

fn read(file: &Path) -> RunRecord {
    store::read(file).expect("a run file")
}

#[test]
fn two_hosts_run_a_suite_into_one_file_that_knows_what_each_did() {
    let Some(far) = two("two_hosts_run_a_suite") else { return };
    // A disk that others write to may stand still for longer than a short window.
    let (suite, options) = (far.scratch.file("small.yaml", &SMALL.replace("400ms", "3s")), on_both(&far));
    let file = far.scratch.join("r.stend");
    let rest = ["--observe", "ssh:far", "--progress", "none", "-o"];
    let (_, told) = expect_exit(far.stend(&words(&suite, &options, &rest)).arg(&file), 0);
    assert!(told.contains("2 hosts load together") && told.contains("are those of each host"), "{told}");
    let record = read(&file);
    assert_eq!((&record.state, record.trials.len()), (&RunState::Complete, 4));
    let hosts: Vec<(&str, Role)> = record.hosts().iter().map(|host| (host.name.as_str(), host.role)).collect();
    assert_eq!(hosts, [("a", Role::Load), ("b", Role::Load), ("far", Role::Observe)]);
    assert!(record.hosts().iter().all(|host| host.facts.is_some() && !host.samples.is_empty()));
    assert!(record.loads().all(|(_, host)| host.fill.is_some() && host.clock_uncertainty_ns.is_some()));
    let clocks = record.events.iter().filter(|event| matches!(event.kind, EventKind::HostClock { .. }));
    let clocks: Vec<HostId> = clocks.map(|event| event.host).collect();
    assert_eq!(clocks, [0, 1, 0, 1].map(HostId), "before the run, and when all was measured");
    for trial in &record.trials {
        let parts = trial.by_host();
        assert_eq!(parts.len(), 2);
        for (host, slices, outcome) in parts {
            let outcome = outcome.expect("an outcome");
            let done: u64 = outcome.jobs.iter().flat_map(|job| job.done).map(|(ops, _)| ops).sum();
            assert!(done > 0 && !slices.is_empty() && outcome.status == TrialStatus::Complete, "{host:?}: {outcome:?}");
        }
    }
    for name in ["a", "b"] {
        assert_eq!(leftovers(&far.scratch.directory(&format!("t-{name}"))), [""; 0]);
        eventually("its worker has ended", IN_TIME, || far.workers_of(name).is_empty());
    }
}

#[test]
fn what_several_hosts_would_do_is_shown_and_an_order_carries_it() {
    let Some(far) = two("what_several_hosts_would_do") else { return };
    let (suite, options) = (far.scratch.file("small.yaml", SMALL), on_both(&far));
    let (shown, _) = expect_exit(&mut far.stend(&words(&suite, &options, &["--dry-run", "--lang", "en"])), 0);
    assert!(shown.contains("Load hosts") && shown.contains("▸ a") && shown.contains("▸ b"), "{shown}");
    assert!(shown.contains("a: make directory") && shown.contains("b: make directory"), "{shown}");
    assert!(shown.contains("-host1"), "each has a directory of its own: {shown}");
    let (order, _) = expect_exit(&mut far.stend(&words(&suite, &options, &["--print-order"])), 0);
    let order = far.scratch.file("order.json", &order);
    let (shown, _) = expect_exit(&mut far.stend(&["run", "--order", &order, "--dry-run", "--json"]), 0);
    let shown: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
    for (at, name) in ["a", "b"].into_iter().enumerate() {
        assert_eq!(shown["hosts"][at]["host"], name);
        assert_eq!(shown["hosts"][at]["targets"][0]["path"], far.scratch.directory(&format!("t-{name}")).as_str());
    }
}

#[test]
fn hosts_that_share_a_directory_have_files_of_their_own_in_it() {
    let Some(far) = two("hosts_that_share_a_directory") else { return };
    let (suite, shared) = (far.scratch.file("small.yaml", SMALL), far.scratch.directory("shared"));
    let file = far.scratch.join("r.stend");
    let words = ["run", &suite, "--ssh", "a", "--ssh", "b", "--on", &shared, "--progress", "none", "-o"];
    expect_exit(far.stend(&words).arg(&file), 0);
    let record = read(&file);
    let made = record.events.iter().filter_map(|event| match &event.kind {
        EventKind::Step { action } if action.starts_with("make directory") => Some((event.host, action.clone())),
        _ => None,
    });
    let made: Vec<(HostId, String)> = made.collect();
    assert!(made.len() == 2 && made[0].0 != made[1].0 && made[0].1 != made[1].1, "{made:?}");
    assert_eq!(leftovers(&shared), [""; 0]);
}

#[test]
fn a_host_that_is_lost_in_the_middle_ends_the_run_and_what_was_measured_is_kept() {
    let Some(far) = two("a_host_that_is_lost_in_the_middle") else { return };
    let long = SMALL.replace("trial: 400ms", "trial: 60s");
    let (suite, options, file) = (far.scratch.file("long.yaml", &long), on_both(&far), far.scratch.join("r.stend"));
    let log = far.scratch.join("told");
    let mut command = far.stend(&words(&suite, &options, &["--progress", "none", "-o"]));
    command.arg(&file).stderr(std::fs::File::create(&log).expect("a file"));
    let mut run = Running::new(&mut command);
    let loads = || {
        let begun = |record: RunRecord| {
            record.trials.iter().any(|trial| trial.by_host().iter().all(|(_, slices, _)| slices.len() > 4))
        };
        store::read(&file).is_ok_and(begun)
    };
    eventually("both load", Duration::from_secs(90), loads);
    let [worker] = far.workers_of("b")[..] else { panic!("one worker") };
    tool(&["kill", "-KILL", &worker.to_string()]);
    assert_eq!(run.wait(Duration::from_secs(60)), Some(8));
    let told = std::fs::read_to_string(log).expect("a file");
    assert!(told.contains("`b`: the worker was lost"), "{told}");
    eventually("no worker loads any more", IN_TIME, || far.workers_of("a").is_empty());
    let record = read(&file);
    assert!(matches!(record.state, RunState::Ended { kind: Kind::HostLost, .. }));
    let lost = record.events.iter().find(|event| matches!(event.kind, EventKind::HostLost { .. }));
    assert_eq!(lost.map(|event| event.host), Some(HostId(1)));
    let [trial] = record.trials.as_slice() else { panic!("one trial began") };
    let [(_, _, Some(kept)), (_, slices, None)] = trial.by_host()[..] else { panic!("what each did") };
    assert!(kept.status == TrialStatus::Interrupted && !slices.is_empty());
    assert_eq!(leftovers(&far.scratch.directory("t-a")), [""; 0]);
}

#[test]
fn two_of_three_hosts_that_die_at_once_end_the_run_and_what_each_measured_is_kept() {
    let Some(far) = three("two_of_three_hosts_that_die_at_once") else { return };
    let suite = far.scratch.file("long.yaml", &SMALL.replace("trial: 400ms", "trial: 60s"));
    let options = on_each(&far, &["a", "b", "c"]);
    let (file, log) = (far.scratch.join("r.stend"), far.scratch.join("told"));
    let mut command = far.stend(&words(&suite, &options, &["--progress", "none", "-o"]));
    command.arg(&file).stderr(std::fs::File::create(&log).expect("a file"));
    let mut run = Running::new(&mut command);
    eventually("all three load", Duration::from_secs(90), || all_load(&file, 0));
    kill_at_once(&far, &["b", "c"]);
    assert_eq!(run.wait(Duration::from_secs(60)), Some(8));
    let told = std::fs::read_to_string(log).expect("a file");
    // Which of them is noticed first is not known.
    assert!(["b", "c"].iter().any(|name| told.contains(&format!("`{name}`: the worker was lost"))), "{told}");
    eventually("no worker loads any more", IN_TIME, || far.workers_of("a").is_empty());
    let record = read(&file);
    assert!(matches!(record.state, RunState::Ended { kind: Kind::HostLost, .. }));
    assert_eq!(lost(&record), [HostId(1), HostId(2)]);
    let [trial] = record.trials.as_slice() else { panic!("one trial began") };
    let [(_, _, Some(kept)), (_, second, None), (_, third, None)] = trial.by_host()[..] else {
        panic!("what each did")
    };
    assert!(kept.status == TrialStatus::Interrupted && !second.is_empty() && !third.is_empty());
    assert_eq!(leftovers(&far.scratch.directory("t-a")), [""; 0]);
}

#[test]
fn one_of_three_hosts_goes_on_when_the_others_die_at_once() {
    let Some(far) = three("one_of_three_hosts_goes_on") else { return };
    let suite = far.scratch.file("s.yaml", &SMALL.replace("trial: 400ms", "trial: 3s"));
    let options = on_each(&far, &["a", "b", "c"]);
    let (file, log) = (far.scratch.join("r.stend"), far.scratch.join("told"));
    let mut command = far.stend(&words(&suite, &options, &["--on-loss", "go-on", "--progress", "plain", "-o"]));
    command.arg(&file).stderr(std::fs::File::create(&log).expect("a file"));
    let mut run = Running::new(&mut command);
    eventually("a second trial", Duration::from_secs(90), || all_load(&file, 1));
    kill_at_once(&far, &["b", "c"]);
    assert_eq!(run.wait(Duration::from_secs(90)), Some(0));
    let told = std::fs::read_to_string(log).expect("a file");
    for part in ["load host `b` is lost", "load host `c` is lost", "2 of 3 go on", "1 of 3 go on"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let record = read(&file);
    assert_eq!(
        (&record.state, record.trials.len(), lost(&record)),
        (&RunState::Complete, 4, vec![HostId(1), HostId(2)])
    );
    for trial in &record.trials[2..] {
        let [(host, slices, Some(outcome))] = trial.by_host()[..] else { panic!("the one that is left") };
        assert!(host == HostId(0) && !slices.is_empty() && outcome.status == TrialStatus::Complete);
    }
    let found = show_json(&far.scratch, &file);
    for (host, without) in [(0_usize, serde_json::json!([])), (1, [1, 2, 3].into()), (2, [1, 2, 3].into())] {
        assert_eq!(found["load_hosts"][host]["trials_without"], without, "{}", found["load_hosts"]);
    }
    assert_eq!(leftovers(&far.scratch.directory("t-a")), [""; 0]);
    eventually("no worker is left", IN_TIME, || far.workers_of("a").is_empty());
}

#[test]
fn a_coordinator_that_is_killed_leaves_no_load_on_three_hosts_and_a_file_with_what_was_measured() {
    let Some(far) = three("a_coordinator_that_is_killed_leaves_no_load") else { return };
    let suite = far.scratch.file("long.yaml", &SMALL.replace("blocks: 2", "blocks: 100").replace("400ms", "1s"));
    let (options, file) = (on_each(&far, &["a", "b", "c"]), far.scratch.join("r.stend"));
    let mut command = far.stend(&words(&suite, &options, &["--progress", "none", "-o"]));
    let mut run = Running::new(command.arg(&file));
    let ended = |run: RunRecord| run.trials.into_iter().filter(|trial| trial.outcome.is_some()).collect::<Vec<_>>();
    let is_measured = || store::read(&file).is_ok_and(|run| ended(run).len() > 1);
    eventually("two trials", Duration::from_secs(90), is_measured);
    let before = ended(read(&file));
    run.kill();
    for name in ["a", "b", "c"] {
        eventually("its worker has ended", IN_TIME, || far.workers_of(name).is_empty());
        assert_eq!(leftovers(&far.scratch.directory(&format!("t-{name}"))), [""; 0]);
    }
    let record = read(&file);
    assert_eq!(record.state, RunState::Open);
    let after = ended(record);
    assert_eq!(after.get(..before.len()), Some(&before[..]), "what a reader saw is kept");
    for trial in &after {
        let parts = trial.by_host();
        assert!(parts.len() == 3 && parts.iter().all(|(_, slices, outcome)| !slices.is_empty() && outcome.is_some()));
    }
    let found = show_json(&far.scratch, &file);
    assert!(found["caveats"].to_string().contains("no_end"), "{}", found["caveats"]);
    assert_eq!(found["cases"][0]["hosts"]["hosts"].as_array().map(Vec::len), Some(3), "{}", found["cases"]);
}

/// A run on `a` and `b` that ended because `b` was lost, after some of its sixteen trials.
fn ended_by_a_loss(far: &Far) -> String {
    let suite = far.scratch.file("long.yaml", &SMALL.replace("blocks: 2", "blocks: 8").replace("400ms", "1s"));
    let (options, file) = (on_both(far), far.scratch.join("r.stend"));
    let mut command = far.stend(&words(&suite, &options, &["--progress", "none", "-o"]));
    let mut run = Running::new(command.arg(&file).stdout(std::process::Stdio::null()));
    let ended = |run: RunRecord| run.trials.iter().filter(|trial| trial.outcome.is_some()).count() > 1;
    eventually("two trials", Duration::from_secs(90), || store::read(&file).is_ok_and(ended));
    let [worker] = far.workers_of("b")[..] else { panic!("one worker") };
    tool(&["kill", "-KILL", &worker.to_string()]);
    assert_eq!(run.wait(Duration::from_secs(60)), Some(8));
    eventually("no worker is left", IN_TIME, || far.workers_of("a").is_empty());
    file.to_string_lossy().into_owned()
}

#[test]
fn a_run_of_two_hosts_goes_on_with_both_of_them_in_their_places() {
    let Some(far) = two("a_run_of_two_hosts_goes_on") else { return };
    let file = ended_by_a_loss(&far);
    let before = read(Path::new(&file));
    let dry = ["run", "--resume", &file, "--ssh", "b", "--ssh", "a", "--dry-run", "--json"];
    let (shown, _) = expect_exit(&mut far.stend(&dry), 0);
    let shown: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
    let at = |name: &str| far.scratch.directory(&format!("t-{name}"));
    for (place, name) in ["a", "b"].into_iter().enumerate() {
        assert_eq!(
            (&shown["hosts"][place]["host"], &shown["hosts"][place]["targets"][0]["path"]),
            (&name.into(), &at(name).into())
        );
    }
    assert_eq!(shown["trials_before"].as_u64(), Some(before.trials.len() as u64));
    // Named by a file, in another order.
    let of = |name: &str| format!("  {name}: {{ssh: {name}, on: {}}}\n", at(name));
    let hosts = far.scratch.file("hosts.yaml", &format!("hosts:\n{}{}", of("b"), of("a")));
    let (_, told) =
        expect_exit(&mut far.stend(&["run", "--resume", &file, "--hosts", &hosts, "--progress", "none"]), 0);
    assert!(told.contains("2 hosts go on together"), "{told}");
    let record = read(Path::new(&file));
    assert_eq!(
        (&record.state, record.trials.get(..before.trials.len())),
        (&RunState::Complete, Some(&before.trials[..]))
    );
    for (name, (_, host)) in ["a", "b"].into_iter().zip(record.loads()) {
        assert_eq!((host.name.as_str(), host.targets[0].path.as_str()), (name, at(name).as_str()));
        assert_eq!(leftovers(&at(name)), [""; 0]);
    }
    let findings = show_json(&far.scratch, Path::new(&file));
    for case in findings["cases"].as_array().expect("cases") {
        assert_eq!((&case["trials"], case["hosts"]["hosts"].as_array().map(Vec::len)), (&8.into(), Some(2)), "{case}");
    }
    let lost = findings["load_hosts"].as_array().expect("hosts").iter().any(|host| !host["lost"].is_null());
    assert!(!lost, "no trial that counts lacks a host: {}", findings["load_hosts"]);
    let (_, told) = expect_exit(&mut far.stend(&["run", "--resume", &file, "--ssh", "a", "--ssh", "b"]), 12);
    assert!(told.contains("nothing to resume"), "{told}");
}

#[test]
fn a_run_of_two_hosts_goes_on_with_no_others_and_nowhere_else() {
    let Some(far) = two("a_run_of_two_hosts_goes_on_with_no_others") else { return };
    let (file, elsewhere) = (ended_by_a_loss(&far), far.scratch.directory("elsewhere"));
    let before = std::fs::read(&file).expect("the run file");
    let other = format!("a:{elsewhere}");
    let own = format!("b:{}", far.scratch.directory("t-b"));
    for (more, told) in [
        (&["--ssh", "a"][..], "other load hosts (a, b) than those that are named (a)"),
        (&[], "several load hosts (a, b), and none is named"),
        (&["--ssh", "a", "--ssh", "far"], "`far` is none of the load hosts that the run began with (a, b)"),
        (&["--ssh", "a", "--ssh", "b", "--on", &other, "--on", &own], "`a`: the run continues on"),
        (&["--ssh", "a", "--ssh", "b", "--load", "all-hosts"], "its load was divided when it began"),
    ] {
        let words: Vec<&str> = ["run", "--resume", &file, "--progress", "none"].iter().chain(more).copied().collect();
        let (_, said) = expect_exit(&mut far.stend(&words), 2);
        assert!(one_line(&said).contains(told), "{more:?}: {said}");
    }
    // What the worker left that was killed lies there, too.
    std::fs::rename(far.scratch.join("t-b"), far.scratch.join("away")).expect("a directory");
    std::os::unix::fs::symlink(&elsewhere, far.scratch.join("t-b")).expect("a link");
    let (_, said) = expect_exit(&mut far.stend(&["run", "--resume", &file, "--ssh", "a", "--ssh", "b"]), 5);
    assert!(said.contains("`b`: ") && said.contains("not the target that the run began with"), "{said}");
    assert!(std::fs::read(&file).expect("the run file") == before, "what is refused is as it was");
    assert_eq!(leftovers(&far.scratch.directory("t-a")), [""; 0]);
}

/// One search that every disk passes and one that none can.
const SEARCHES: &str = "suite: searches
defaults: {ramp: 100ms, trial: 1500ms}
fill: {size: 16MiB}
repeats: {blocks: 1}
cases:
  - name: easy
    streams:
      - {op: read, pattern: random, block_size: 4KiB,
         rate: {search: {from: 50/s, to: 200/s, quantile: 50%, limit: 300s, precision: 50%}}}
  - name: impossible
    streams: [{op: read, pattern: random, block_size: 4KiB, rate: {search: {from: 50/s, to: 200/s, quantile: 90%, limit: 1us}}}]
";

#[test]
fn a_rate_is_searched_by_what_both_hosts_do_together() {
    let Some(far) = two("a_rate_is_searched_by_what_both_hosts_do") else { return };
    let (suite, options) = (far.scratch.file("s.yaml", SEARCHES), on_both(&far));
    let file = far.scratch.join("r.stend");
    let rest = ["--load", "all-hosts", "--progress", "none", "-o"];
    let (shown, _) = expect_exit(far.stend(&words(&suite, &options, &rest)).arg(&file), 0);
    // A part of 50/s on each of two.
    let told = "impossible: not even at the lowest rate tried, 25/s (0 of 3 trials)";
    let shown = one_line(&shown);
    assert!(shown.contains(told) && shown.contains("These are the rates on each of 2 load hosts"), "{shown}");
    let findings = show_json(&far.scratch, &file);
    let [easy, impossible] = &findings["searches"].as_array().expect("searches")[..] else { panic!("two searches") };
    let rate = easy["held"]["rate_per_s"].as_f64().expect("a rate that held");
    assert!((25.0..=100.0).contains(&rate) && easy["load_hosts"] == 2, "{easy}");
    assert!(impossible["held"].is_null() && impossible["missed"]["rate_per_s"] == 25.0, "{impossible}");
    assert_eq!((&impossible["confirmed"], &impossible["load_hosts"]), (&true.into(), &2.into()));
    let record = read(&file);
    assert!(record.trials.iter().all(|trial| trial.parts.iter().filter(|part| part.outcome.is_some()).count() == 2));
}

#[test]
fn hosts_go_on_when_another_is_lost_and_the_result_says_what_lacks_it() {
    let Some(far) = two("hosts_go_on_when_another_is_lost") else { return };
    let (suite, options) = (far.scratch.file("s.yaml", &SMALL.replace("trial: 400ms", "trial: 3s")), on_both(&far));
    let (file, log) = (far.scratch.join("r.stend"), far.scratch.join("told"));
    let mut command = far.stend(&words(&suite, &options, &["--on-loss", "go-on", "--progress", "plain", "-o"]));
    command.arg(&file).stderr(std::fs::File::create(&log).expect("a file"));
    let mut run = Running::new(&mut command);
    let second = |record: RunRecord| record.trials.get(1).is_some_and(|trial| trial.slices.len() > 4);
    eventually("a second trial", Duration::from_secs(90), || store::read(&file).is_ok_and(second));
    let [worker] = far.workers_of("b")[..] else { panic!("one worker") };
    tool(&["kill", "-KILL", &worker.to_string()]);
    assert_eq!(run.wait(Duration::from_secs(90)), Some(0));
    let told = std::fs::read_to_string(log).expect("a file");
    assert!(told.contains("load host `b` is lost") && told.contains("1 of 2 go on"), "{told}");
    let (shown, _) = expect_exit(&mut far.stend(&["show", "-v", &file.to_string_lossy(), "--lang", "en"]), 0);
    let shown = one_line(&shown);
    assert!(shown.contains("Lost before: b.") && shown.contains("those of fewer hosts"), "{shown}");
    assert!(
        shown.contains("Load host `b` was lost") && shown.contains("3 of 4 trials lack a host that was asked"),
        "{shown}"
    );
    let (json, _) = expect_exit(&mut far.stend(&["show", &file.to_string_lossy(), "--json"]), 0);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["load_hosts"][1]["trials_without"], serde_json::json!([1, 2, 3]), "{}", json["load_hosts"]);
    let (_, told) = expect_exit(&mut far.stend(&["run", &suite, "--ssh", "a", "--on", "/x", "--on-loss", "go-on"]), 2);
    assert!(told.contains("`--on-loss` needs several load hosts"), "{told}");
}

#[test]
fn a_host_whose_file_system_is_full_is_named_before_anything_is_measured() {
    let Some(mut far) = Far::start("a_host_whose_file_system_is_full") else { return };
    let (full, file) = (far.scratch.directory("t-b"), far.scratch.join("r.stend"));
    far.add("a");
    far.add_in("b", &format!("mount -t tmpfs -o size=4m tmpfs {full} && "));
    let (suite, options) = (far.scratch.file("small.yaml", SMALL), on_both(&far));
    for more in [&["--progress", "none"][..], &["--dry-run"]] {
        let (_, told) = expect_exit(far.stend(&words(&suite, &options, more)).arg("-o").arg(&file), 4);
        let told = one_line(&told);
        assert!(told.contains("`b`: no room for a test file of 64 MiB: "), "{told}");
        for name in ["a", "b"] {
            eventually("its worker has ended", IN_TIME, || far.workers_of(name).is_empty());
        }
        assert!(!file.exists() && leftovers(&far.scratch.directory("t-a")) == [""; 0]);
        // Only the host sees its file system.
        assert_eq!(far.said_by("b", &format!("stat -f -c %T {full} && ls -A {full}")), "tmpfs");
    }
}

#[test]
fn hosts_that_do_not_go_together_are_refused_before_anything_is_measured() {
    let Some(far) = two("hosts_that_do_not_go_together") else { return };
    let (suite, target) = (far.scratch.file("small.yaml", SMALL), far.scratch.directory("target"));
    let file = far.scratch.join("r.stend").to_string_lossy().into_owned();
    let refused = |hosts: &[&str], on: &str, code: i32| {
        let hosts: Vec<String> = hosts.iter().map(|host| format!("--ssh={host}")).collect();
        let rest = ["--on", on, "--progress", "none", "-o", &file];
        let (_, told) = expect_exit(&mut far.stend(&words(&suite, &hosts, &rest)), code);
        assert!(!Path::new(&file).exists() && leftovers(&target) == [""; 0]);
        told
    };
    assert!(refused(&["far", "second"], &target, 2).contains("`far` and `second` are the same machine"));
    assert!(refused(&["a", "a"], &target, 2).contains("names `a` twice"));
    assert!(refused(&["a", "closed"], &target, 8).contains("cannot reach `closed`"));
    assert!(refused(&["a", "b"], &format!("a:{target}"), 2).contains("`b` has no target"));
    let told = refused(&["a", "b"], "/no/such/place", 2);
    assert!(told.contains("`a`: ") || told.contains("`b`: "), "{told}");
}
