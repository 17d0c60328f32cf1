//! `stend doctor` on this machine: the verdict is in the exit code, in both languages and as JSON.

use crate::support::*;

fn items(stdout: &str) -> Vec<serde_json::Value> {
    let checkup: serde_json::Value = serde_json::from_str(stdout).expect("JSON");
    assert_eq!(checkup["schema_version"], 1);
    checkup["items"].as_array().expect("items").clone()
}

#[test]
fn this_machine_is_looked_at_in_both_languages() {
    let scratch = Scratch::new();
    let (english, _) = expect_exit(&mut stend(&scratch, &["doctor", "--on", "/var/tmp"]), 0);
    assert!(english.contains("his machine") && english.contains("✔ "), "{english}");
    let (russian, _) = expect_exit(&mut stend(&scratch, &["doctor", "--lang", "ru"]), 0);
    assert!(russian.contains("ашин") && !russian.contains("machine"), "{russian}");
    let (json, _) = expect_exit(&mut stend(&scratch, &["doctor", "--json"]), 0);
    for id in [
        "io_uring",
        "locked_memory",
        "open_files",
        "aio_requests",
        "governor",
        "clock_source",
        "leftovers",
        "telemetry",
    ] {
        assert!(items(&json).iter().any(|item| item["id"] == id), "{id}: {json}");
    }
}

#[test]
fn a_target_that_cannot_be_used_ends_with_exit_code_4() {
    let scratch = Scratch::new();
    let (json, stderr) = expect_exit(&mut stend(&scratch, &["doctor", "--on", "/nonexistent", "--json"]), 4);
    let target = items(&json).into_iter().find(|item| item["id"] == "target").expect("the target");
    assert_eq!(target["level"], "must");
    assert!(stderr.contains("target"), "{stderr}");
}

#[test]
fn what_a_killed_run_left_is_listed_and_the_command_removes_it() {
    let scratch = Scratch::new();
    let target = scratch.directory("target");
    let left = scratch.directory("target/.stend-R-dead");
    let note = r#"{"pid":1,"started":1,"boot_id":"another boot","run_id":"R-dead","run_file":"/r.stend"}"#;
    std::fs::write(format!("{left}/marker"), note).expect("a marker");
    let leftover = || {
        let (json, _) = expect_exit(&mut stend(&scratch, &["doctor", "--on", &target, "--json"]), 0);
        let ours = items(&json).into_iter().filter(|item| item["id"] == "leftovers");
        ours.filter_map(|item| Some(item["cure"].as_str()?.to_string())).find(|cure| cure.contains(&left))
    };
    let cure = leftover().expect("a command");
    tool(&["sh", "-c", cure.trim_start_matches("sudo ")]);
    assert_eq!(leftover(), None);
}

#[test]
fn a_machine_without_io_uring_is_told_the_cause_and_the_command() {
    const MARK: &str = "STEND_TEST_DOCTOR_WITHOUT_IO_URING";
    if std::env::var_os(MARK).is_some() {
        // The child of this test: forbid io_uring for itself, then become the binary.
        stend_sys::seccomp::forbid_io_uring().expect("seccomp");
        let error = std::os::unix::process::CommandExt::exec(
            std::process::Command::new(env!("CARGO_BIN_EXE_stend")).args(["doctor"]).env_remove(MARK),
        );
        panic!("exec: {error}");
    }
    let name = "doctor::a_machine_without_io_uring_is_told_the_cause_and_the_command";
    let mut child = std::process::Command::new(std::env::current_exe().expect("this test"));
    child.args(["--exact", name, "--nocapture"]).env(MARK, "1").env("LANG", "C").env("COLUMNS", "100");
    let (stdout, _) = expect_exit(&mut child, 0);
    let switched_off = stdout.contains("io_uring_disabled") && stdout.contains("sysctl -w kernel.io_uring_disabled=0");
    let filtered = stdout.contains("seccomp filter") && stdout.contains("seccomp=unconfined");
    assert!(switched_off || filtered, "{stdout}");
}
