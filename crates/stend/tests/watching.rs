//! `stend record` and `stend top` on this machine, and what `show` and `report` make of a recording.

use super::serve::client::Server;
use super::support::{self, IN_TIME, Running, Scratch, expect_exit, stend};
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;

/// A recording of so many tenths of a second.
fn recorded(scratch: &Scratch, name: &str, tenths: u32) -> PathBuf {
    let path = scratch.join(name);
    let lasts = format!("{}ms", tenths * 100);
    let file = path.to_string_lossy().into_owned();
    let (stdout, stderr) =
        expect_exit(&mut stend(scratch, &["record", "--every", "100ms", "--for", &lasts, "-o", &file]), 0);
    assert!(stdout.contains("samples: "), "{stdout}");
    assert!(stderr.contains("keeps      100 ms for 2 d, 10 s for 14 d, 5 min for 400 d, at most 1 GiB"), "{stderr}");
    path
}

#[test]
fn a_recording_is_shown_listed_reported_and_replayed() {
    let _turn = support::host_turn();
    let scratch = Scratch::new();
    let path = recorded(&scratch, "night.stend", 30);
    let file = path.to_str().unwrap();
    let (shown, _) = expect_exit(&mut stend(&scratch, &["show", file, "--json"]), 0);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(
        (shown["schema"].as_str(), shown["state"]["state"].as_str()),
        (Some("stend-recording"), Some("complete"))
    );
    let samples = shown["samples"].as_u64().unwrap();
    assert!((3..=31).contains(&samples), "{samples}");
    let (text, _) = expect_exit(&mut stend(&scratch, &["show", "last"]), 0);
    assert!(text.contains("recording of") && text.contains("CPUs busy"), "{text}");
    let (russian, _) = expect_exit(&mut stend(&scratch, &["show", "last", "--lang", "ru"]), 0);
    assert!(russian.contains("запись хоста") && russian.contains("Процессоры заняты"), "{russian}");
    let page = scratch.join("night.html");
    expect_exit(&mut stend(&scratch, &["report", "last", "-o", page.to_str().unwrap()]), 0);
    let html = std::fs::read_to_string(page).unwrap();
    assert!(html.contains("Recording of") && html.contains("The host over time"), "{html}");
    let (list, _) = expect_exit(&mut stend(&scratch, &["list"]), 0);
    assert!(list.contains("recording") && list.contains("complete"), "{list}");
    let (steps, _) = expect_exit(&mut stend(&scratch, &["top", file, "--json"]), 0);
    let steps: Vec<Value> = steps.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(steps.len() as u64, samples - 1);
    assert!(steps.iter().all(|step| step["cpu_busy_share"].is_number() && step["span_ns"].as_u64() > Some(0)));
    let (last, _) = expect_exit(&mut stend(&scratch, &["top", file, "--json", "--count", "2"]), 0);
    let last: Vec<Value> = last.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(last, steps[steps.len() - 2..], "the last two, as without --json");
    let (journal, _) = expect_exit(&mut stend(&scratch, &["journal", file, "--json"]), 0);
    let journal: Value = serde_json::from_str(&journal).unwrap();
    assert_eq!((journal["rules_version"].as_str(), journal["problems"].is_array()), (Some("8"), true));
    let (picture, _) = expect_exit(&mut stend(&scratch, &["top", file]), 0);
    assert!(picture.contains("the end of the recording") && picture.contains("CPU      busy"), "{picture}");
}

#[test]
fn what_is_about_runs_is_refused_for_a_recording_and_the_other_way_round() {
    let _turn = support::host_turn();
    let scratch = Scratch::new();
    let path = recorded(&scratch, "a.stend", 3);
    let file = path.to_str().unwrap();
    for arguments in [
        &["show", file, "-v"][..],
        &["show", file, "--expect", "iops > 1"],
        &["report", file, "--markdown", "-"],
        &["report", file, "--full", "-o", "-"],
        &["compare", file, file],
        &["export", file, "--format", "json", "-o", "-"],
        &["run", "--resume", file],
        &["watch", file],
    ] {
        let (_, stderr) = expect_exit(&mut stend(&scratch, arguments), 2);
        assert!(stderr.contains("recording"), "{arguments:?}: {stderr}");
    }
    for (arguments, told) in [
        (&["record", "--every", "10ms"][..], "no pace"),
        (&["record", "--keep", "10s:1d,1s:2d"], "do not ascend"),
        (&["record", "--size-max", "1KiB"], "no size"),
        (&["record", "--for", "0s"], "no time"),
        (&["top", file, "--every", "1s"], "--every"),
    ] {
        let (_, stderr) = expect_exit(&mut stend(&scratch, arguments), 2);
        assert!(stderr.contains(told), "{arguments:?}: {stderr}");
    }
}

/// A recording that goes on and has two samples, and its file.
fn going_on(scratch: &Scratch, name: &str) -> (Running, String) {
    let file = scratch.join(name).to_string_lossy().into_owned();
    let running = Running::new(&mut stend(scratch, &["record", "--every", "100ms", "-o", &file]));
    support::eventually("two samples are there", IN_TIME, || {
        let output = support::output(&mut stend(scratch, &["top", &file, "--json"]));
        output.status.success() && !output.stdout.is_empty()
    });
    (running, file)
}

fn has_no_end(scratch: &Scratch, file: &str) -> bool {
    let (text, _) = expect_exit(&mut stend(scratch, &["show", file]), 0);
    text.contains("It has no end")
}

#[test]
fn a_recording_can_be_stopped_from_another_terminal_and_followed_meanwhile() {
    let _turn = support::host_turn();
    let scratch = Scratch::new();
    let (mut running, file) = going_on(&scratch, "b.stend");
    assert!(has_no_end(&scratch, &file));
    expect_exit(&mut stend(&scratch, &["stop", &file]), 0);
    assert_eq!(running.wait(Duration::from_secs(60)), Some(0));
    assert!(!has_no_end(&scratch, &file));
    assert!(!scratch.join("b.stend.sock").exists() && !scratch.join("b.stend-wal").exists());
}

#[test]
fn a_recording_ends_whole_by_a_signal_and_a_killed_one_has_what_was_read() {
    let _turn = support::host_turn();
    let scratch = Scratch::new();
    for signal in ["-INT", "-TERM"] {
        let (mut running, file) = going_on(&scratch, &format!("{signal}.stend"));
        support::tool(&["kill", signal, &running.child.id().to_string()]);
        assert_eq!(running.wait_as_shell(IN_TIME), Some(0), "{signal}");
        assert!(!has_no_end(&scratch, &file), "{signal}");
    }
    let (mut running, file) = going_on(&scratch, "killed.stend");
    running.kill();
    assert!(has_no_end(&scratch, &file));
    let (steps, _) = expect_exit(&mut stend(&scratch, &["top", &file, "--json"]), 0);
    assert!(!steps.is_empty());
}

#[test]
fn the_live_view_prints_steps_as_json_and_one_picture_without_a_terminal() {
    let _turn = support::host_turn();
    let scratch = Scratch::new();
    let (steps, _) = expect_exit(&mut stend(&scratch, &["top", "--every", "100ms", "--count", "3", "--json"]), 0);
    let steps: Vec<Value> = steps.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(steps.len(), 3);
    assert!(steps.windows(2).all(|pair| pair[0]["at_unix_ms"].as_i64() < pair[1]["at_unix_ms"].as_i64()));
    let (picture, _) = expect_exit(&mut stend(&scratch, &["top", "--every", "100ms", "--lang", "ru"]), 0);
    assert!(picture.contains("сейчас, шаг 0,1") && picture.contains("Память"), "{picture}");
}

#[test]
fn a_recording_on_a_full_disk_warns_once_goes_on_and_leaves_a_file_that_opens() {
    if !support::root("a_recording_on_a_full_disk_warns_once_goes_on_and_leaves_a_file_that_opens") {
        return;
    }
    let _turn = support::host_turn();
    let scratch = Scratch::new();
    let mount = support::Mount::new(&["-t", "tmpfs", "-o", "size=4m", "tmpfs"], scratch.join("small"));
    let file = mount.0.join("full.stend").to_string_lossy().into_owned();
    let mut running = Running::new(
        stend(&scratch, &["record", "--every", "100ms", "-o", &file]).stderr(std::process::Stdio::piped()),
    );
    support::eventually("a sample is there", IN_TIME, || {
        support::output(&mut stend(&scratch, &["top", &file, "--json"])).stdout.contains(&b'{')
    });
    // Somebody else takes the rest of the room.
    let _ = std::fs::File::create(mount.0.join("other"))
        .and_then(|mut other| std::io::copy(&mut std::io::repeat(1), &mut other));
    // It looks at its disk every ten seconds.
    let mut told = std::io::BufReader::new(running.child.stderr.take().expect("a stream"));
    let mut line = String::new();
    while !line.contains("reading goes on") {
        line.clear();
        assert!(std::io::BufRead::read_line(&mut told, &mut line).expect("a line") > 0, "it ended");
    }
    std::fs::remove_file(mount.0.join("other")).expect("the other file");
    while !line.contains("is written again") {
        line.clear();
        assert!(std::io::BufRead::read_line(&mut told, &mut line).expect("a line") > 0, "it ended");
        assert!(!line.contains("reading goes on"), "told twice");
    }
    support::tool(&["kill", "-INT", &running.child.id().to_string()]);
    assert_eq!(running.wait(Duration::from_secs(60)), Some(0));
    assert!(!has_no_end(&scratch, &file));
    let (steps, _) = expect_exit(&mut stend(&scratch, &["top", &file, "--json"]), 0);
    let spans = steps
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["span_ns"].as_u64().expect("a span"));
    assert!(spans.max() < Some(5_000_000_000), "nothing of the full time is missing");
}

#[test]
fn the_server_lists_recordings_apart_from_runs_and_answers_what_the_verbs_print() {
    let _turn = support::host_turn();
    let scratch = Scratch::new();
    support::fixed_run::two_runs(&scratch);
    expect_exit(&mut stend(&scratch, &["record", "--every", "100ms", "--for", "500ms", "--name", "night"]), 0);
    let server = Server::start(&scratch, &[]);
    let list = server.get("/api/v1/recordings").json();
    let names: Vec<&str> =
        list["runs"].as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!((names.len(), list["runs"][0]["label"].as_str()), (1, Some("night")), "{list}");
    assert_eq!(server.get("/api/v1/runs").json()["runs"].as_array().map(Vec::len), Some(2));
    let name = names[0];
    for (address, words) in [("", ["show", name, "--json"]), ("/journal", ["journal", name, "--json"])] {
        let reply = server.get(&format!("/api/v1/recordings/{name}{address}"));
        let (printed, _) = expect_exit(&mut stend(&scratch, &words), 0);
        assert_eq!((reply.status, reply.text()), (200, printed), "{address}");
        // A run is no recording, and nothing outside of the directory has a name.
        for other in ["R-20261121T213000Z-aaaa", "R-0", "..%2Fx", "last"] {
            let reply = server.get(&format!("/api/v1/recordings/{other}{address}"));
            let expected = if other == "last" { [200, 404] } else { [404, 404] };
            assert!(expected.contains(&reply.status), "{other}{address}: {}", reply.text());
        }
    }
}

#[test]
fn a_run_while_the_machine_is_recorded_is_a_band_in_its_charts_and_another_recording_has_none() {
    let _turn = support::host_turn();
    let scratch = Scratch::new();
    let (mut running, file) = going_on(&scratch, "e.stend");
    let (suite, target) = (scratch.file("suite.yaml", support::SMALL), scratch.directory("t"));
    let words = ["run", &suite, "--on", &target, "--name", "after", "--beside", "--progress", "none"];
    expect_exit(&mut stend(&scratch, &words), 0);
    support::tool(&["kill", "-INT", &running.child.id().to_string()]);
    assert_eq!(running.wait(Duration::from_secs(30)), Some(0));
    let shown = support::show_json(&scratch, &PathBuf::from(file));
    let runs = shown["runs"].as_array().expect("runs");
    assert_eq!((runs.len(), runs[0]["label"].as_str(), runs[0]["suite"].as_str()), (1, Some("after"), Some("small")));
    let (from, to) = (runs[0]["from_ns"].as_u64(), runs[0]["to_ns"].as_u64());
    assert!(from < to && to <= shown["span_ns"].as_u64(), "{shown:#}");
    for chart in shown["charts"].as_array().expect("charts") {
        assert_eq!(chart["bands"][0]["label"]["en"], "after", "{chart:#}");
    }
    let later = support::show_json(&scratch, &recorded(&scratch, "f.stend", 3));
    assert!(later["runs"].is_null() && later["first_sample_unix_s"].as_i64() > Some(1_700_000_000), "{later:#}");
}
