//! A limit that changes under a run: what was allowed before, for how long, and what after it.

use crate::support::*;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

const BLKIO: &str = "/sys/fs/cgroup/blkio";

/// A control group (version 1) with the right to a device.
struct Group(PathBuf);

impl Group {
    fn new() -> Group {
        let group = Group(Path::new(BLKIO).join(format!("stend-levels-{}", std::process::id())));
        std::fs::create_dir(&group.0).expect("a control group");
        group
    }

    fn allow(&self, number: &str, iops: u32) {
        let file = self.0.join("blkio.throttle.read_iops_device");
        std::fs::write(file, format!("{number} {iops}\n")).expect("a limit");
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        drop(std::fs::remove_dir(&self.0));
    }
}

#[test]
fn a_limit_that_falls_under_a_run_is_told_as_two_levels_with_the_bucket_between_them() {
    let name = "a_limit_that_falls_under_a_run_is_told_as_two_levels_with_the_bucket_between_them";
    if !root(name) {
        return;
    }
    if !Path::new(BLKIO).join("cgroup.procs").exists() {
        eprintln!("skipped, needs control groups of version 1: {name}");
        return;
    }
    let scratch = Scratch::new();
    let device = Loop::new(&scratch, "disk.img", 64 << 20);
    tool(&[
        "dd",
        "if=/dev/urandom",
        &format!("of={}", device.device),
        "bs=1M",
        "count=64",
        "oflag=direct",
        "status=none",
    ]);
    let number = tool(&["cat", &format!("/sys/class/block/{}/dev", device.device.trim_start_matches("/dev/"))]);
    // The suite of the binary, shorter.
    let (text, _) = expect_exit(&mut stend(&scratch, &["suites", "limits"]), 0);
    assert!(text.contains("trial: 10min") && text.contains("  - name: large-reads"), "{text}");
    let small = text.split("  - name: large-reads").next().expect("a case").replace("trial: 10min", "trial: 30s");
    let suite = scratch.file("limits.yaml", &small);
    let group = Group::new();
    group.allow(&number, 2000);
    let run = scratch.join("l.stend").to_string_lossy().into_owned();
    let plain =
        stend(&scratch, &["run", &suite, "--on", &device.device, "-o", &run, "--progress", "none", "--lang", "en"]);
    let mut command = std::process::Command::new("sh");
    let inside = format!("echo $$ >{}/cgroup.procs && exec \"$0\" \"$@\"", group.0.display());
    command.args(["-c", &inside]).arg(plain.get_program()).args(plain.get_args());
    command.envs(plain.get_envs().filter_map(|(key, value)| Some((key, value?))));
    let mut running = Running::new(&mut command);
    let live = scratch.join("l.stend");
    eventually("the load begins", Duration::from_secs(90), || {
        stend_record::store::read(&live)
            .is_ok_and(|run| run.trials.first().is_some_and(|trial| !trial.slices.is_empty()))
    });
    std::thread::sleep(Duration::from_secs(10));
    group.allow(&number, 400);
    let status = running.child.wait().expect("an end");
    assert_eq!(status.code(), Some(0));
    let (shown, _) = expect_exit(&mut stend(&scratch, &["show", "-v", &run, "--lang", "en"]), 0);
    assert!(shown.contains("Two levels"), "{shown}");
    let (json, _) = expect_exit(&mut stend(&scratch, &["show", &run, "--json"]), 0);
    let found: Value = serde_json::from_str(&json).expect("JSON");
    let levels = &found["cases"][0]["levels"];
    let value = |key: &str| levels[key].as_f64().unwrap_or_else(|| panic!("{levels:#}"));
    let (first, then, lasted) = (value("first_per_s"), value("then_per_s"), value("lasted_ns") / 1e9);
    assert!((first / 2000.0 - 1.0).abs() < 0.1 && (then / 400.0 - 1.0).abs() < 0.05, "{levels:#}");
    // To within the second in which it fell.
    let bucket = 1600.0 * lasted;
    assert!((value("bucket") - bucket).abs() < 0.1 * bucket + 1600.0, "{levels:#}");
    assert!((value("refill_ns") / 1e9 - value("bucket") / then).abs() < 0.1, "{levels:#}");
}
