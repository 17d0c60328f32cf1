//! What `stend record` reads beside drives that this machine has: the health of an NVMe drive from nvme-cli, and a share of NFS whose server
//! falls silent. Both are put in its place in a mount namespace of its own.

use super::support::{self, IN_TIME, Running, Scratch, eventually, expect_exit, stend};
use serde_json::Value;
use std::cell::Cell;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::process::{ChildStderr, Command, Stdio};

/// A log as nvme-cli 1.16 prints it, of a drive with few spare blocks.
const LOG: &str = r#"{"critical_warning": 1, "temperature": 313, "avail_spare": 3, "spare_thresh": 10, "percent_used": 97,
    "data_units_written": 1000, "power_on_hours": 30000, "media_errors": 4}"#;

/// The program in a mount namespace of its own, after these commands of a shell.
fn after(commands: &str, recorder: &Command) -> Command {
    let mut command = Command::new("unshare");
    let script = format!("{commands} && exec \"$0\" \"$@\"");
    command.args(["--mount", "--propagation", "slave", "sh", "-c", &script]);
    command.arg(recorder.get_program()).args(recorder.get_args());
    for (name, value) in recorder.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// Starts it, and waits until its file is there.
fn recording_now(command: &mut Command) -> (Running, BufReader<ChildStderr>) {
    let mut running = Running::new(command.stdout(Stdio::null()).stderr(Stdio::piped()));
    let mut told = BufReader::new(running.child.stderr.take().expect("a stream"));
    let mut line = String::new();
    while !line.starts_with("recording  ") {
        line.clear();
        assert!(told.read_line(&mut line).expect("a line") > 0, "it ended");
    }
    (running, told)
}

/// The problem of a rule in the journal of a recording.
fn problem(scratch: &Scratch, recording: &str, rule: &str) -> Option<Value> {
    let (text, _) = expect_exit(&mut stend(scratch, &["journal", recording, "--json"]), 0);
    let journal: Value = serde_json::from_str(&text).expect("JSON");
    journal["problems"].as_array()?.iter().find(|problem| problem["rule"] == rule).cloned()
}

fn ended((mut running, _): (Running, BufReader<ChildStderr>)) {
    support::tool(&["kill", "-INT", &running.child.id().to_string()]);
    assert_eq!(running.wait(IN_TIME), Some(0));
}

#[test]
fn the_health_of_an_nvme_drive_is_read_with_nvme_cli_where_smartctl_says_nothing() {
    if !support::root("the_health_of_an_nvme_drive_is_read_with_nvme_cli_where_smartctl_says_nothing") {
        return;
    }
    let _turn = support::host_turn();
    let scratch = Scratch::new();
    scratch.directory("drives/nvme9n1");
    scratch.file("drives/nvme9n1/size", "8\n");
    scratch.file("drives/nvme9n1/dev", "259:999\n");
    let asked = scratch.join("asked");
    let script =
        format!("#!/bin/sh\necho \"$*\" >> {}\n[ \"$1\" = smart-log ] && cat <<'END'\n{LOG}\nEND\n", asked.display());
    scratch.directory("bin");
    let program = scratch.file("bin/nvme", &script);
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("a program");
    let recording = scratch.join("n.stend").to_string_lossy().into_owned();
    let mut recorder = stend(&scratch, &["record", "--every", "200ms", "-o", &recording]);
    let path = std::env::var("PATH").unwrap_or_default();
    recorder.env("PATH", format!("{}:{path}", scratch.directory("bin")));
    let drives = scratch.directory("drives");
    let mut command = after(&format!("mount --bind {drives} /sys/class/block"), &recorder);
    let running = recording_now(&mut command);
    eventually("a problem", IN_TIME, || problem(&scratch, &recording, "drive_failing").is_some());
    let failing = problem(&scratch, &recording, "drive_failing").expect("a problem");
    assert_eq!((failing["object"].as_str(), failing["severity"].as_str()), (Some("nvme9n1"), Some("critical")));
    assert_eq!(failing["evidence"]["en"], "spare blocks are low");
    assert_eq!(problem(&scratch, &recording, "drive_worn").expect("wear")["severity"], "warning");
    ended(running);
    let asked = std::fs::read_to_string(asked).expect("what was asked");
    assert!(
        asked.lines().all(|words| ["version", "smart-log --output-format=json /dev/nvme9n1"].contains(&words)),
        "{asked}"
    );
}

/// A share after so many requests were sent and answered. Numbers have one width, so that a reader never finds a file that is cut.
fn mountstats(sent: u64, answered: u64) -> String {
    let bytes = answered * 4096;
    format!(
        "device proc mounted on /proc with fstype proc\n\
         device filer:/vol mounted on /mnt/vol with fstype nfs4 statvers=1.1\n\topts:\trw,vers=4.2,hard,proto=tcp\n\
         \tbytes:\t0 0 0 0 {bytes:12} 0 0 0\n\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n\
         \txprt:\ttcp 0 0 1 0 0 {sent:6} {answered:6} 0 9 0 2 0 0\n\tper-op statistics\n\
         \t        NULL: 0 0 0 0 0 0 0 0 0\n\t        READ: {answered:6} {answered:6} 0 5 6 0 1 {answered:6} 0\n\n"
    )
}

#[test]
fn a_share_of_nfs_is_shown_and_told_when_its_server_falls_silent() {
    if !support::root("a_share_of_nfs_is_shown_and_told_when_its_server_falls_silent") {
        return;
    }
    let _turn = support::host_turn();
    let scratch = Scratch::new();
    let stats = scratch.file("mountstats", &mountstats(100, 100));
    let recording = scratch.join("n.stend").to_string_lossy().into_owned();
    let recorder = stend(&scratch, &["record", "--every", "200ms", "-o", &recording]);
    // The shell becomes the recorder, so that this is its own file.
    let mut command = after(&format!("mount --bind {stats} /proc/$$/mountstats"), &recorder);
    let running = recording_now(&mut command);
    let file = std::fs::OpenOptions::new().write(true).open(&stats).expect("a file");
    let put = |sent, answered| file.write_all_at(mountstats(sent, answered).as_bytes(), 0).expect("room");
    let steps = || -> Vec<Value> {
        let (steps, _) = expect_exit(&mut stend(&scratch, &["top", &recording, "--json"]), 0);
        steps.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let reads = |step: &Value| step["nfs_mounts"][0]["reads_per_s"].as_f64().unwrap_or_default();
    let count = Cell::new(100);
    eventually("reads of the share", IN_TIME, || {
        count.set(count.get() + 10);
        put(count.get(), count.get());
        steps().iter().any(|step| reads(step) > 0.0)
    });
    let step = steps().into_iter().find(|step| reads(step) > 0.0).expect("a step");
    let share = &step["nfs_mounts"][0];
    assert_eq!((share["mount"].as_str(), share["export"].as_str()), (Some("/mnt/vol"), Some("filer:/vol")));
    assert_eq!(share["read_latency_ns_mean"], 1_000_000);
    let answered = count.get();
    eventually("a problem", IN_TIME, || {
        count.set(count.get() + 1);
        put(count.get(), answered);
        problem(&scratch, &recording, "nfs_silent").is_some()
    });
    let silent = problem(&scratch, &recording, "nfs_silent").expect("a problem");
    assert_eq!((silent["object"].as_str(), silent["state"].as_str()), (Some("/mnt/vol"), Some("open")));
    ended(running);
}
