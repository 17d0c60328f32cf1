//! Tutorials run as they are written: every `sh` block of a page, in one shell that ends at the first failure. Blocks marked
//! `sh lab` start a machine; `make lab` runs them. That the Russian pages have the same commands is a rule of `xtask`.

use crate::support::lab::ready;
use crate::support::*;
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page(name: &str) -> String {
    let path = repository().join("docs/tutorials").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The text of all fenced blocks with one of these marks, in order.
fn script(page: &str, marks: &[&str]) -> String {
    let (mut taken, mut inside) = (String::new(), None);
    for line in page.lines() {
        match (inside, line.strip_prefix("```")) {
            (None, Some(mark)) => inside = Some(marks.contains(&mark)),
            (Some(_), Some(_)) => inside = None,
            (Some(true), None) => taken.push_str(&format!("{line}\n")),
            _ => {}
        }
    }
    taken
}

/// Runs a script with the real binary first in `PATH`, in a directory that looks like a clone.
fn run(script: &str) -> String {
    let scratch = Scratch::new();
    for folder in ["lab", "stands", "suites"] {
        std::os::unix::fs::symlink(repository().join(folder), scratch.join(folder)).expect("a link");
    }
    let bin = Path::new(env!("CARGO_BIN_EXE_stend")).parent().expect("a directory");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").expect("a PATH"));
    let alone = stend(&scratch, &[]);
    let mut command = std::process::Command::new("sh");
    command.args(["-e", "-x", "-c", script]).current_dir(scratch.path()).stdin(std::process::Stdio::null());
    command.envs(alone.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env_remove("LC_ALL").env_remove("LC_MESSAGES").env("PATH", path);
    command.env("XDG_RUNTIME_DIR", scratch.directory("runtime"));
    expect_exit(&mut command, 0).0
}

#[test]
fn the_first_disk_is_measured_as_the_tutorial_says() {
    let stdout = run(&script(&page("first-disk.md"), &["sh"]));
    assert!(stdout.contains("Nothing was changed.") && stdout.contains("Limits met: 2 of 2."), "{stdout}");
}

#[test]
fn six_drives_are_planned_as_the_tutorial_says() {
    let stdout = run(&script(&page("six-drives.md"), &["sh"]));
    assert!(stdout.contains("RAID 5 of 6 devices") && stdout.contains("RAID 10 of 6 devices"), "{stdout}");
}

#[test]
#[ignore = "a machine and three layouts, minutes under emulation: `make lab` runs it"]
fn six_drives_are_measured_in_the_lab_as_the_tutorial_says() {
    if !ready(&Scratch::new(), "six_drives_are_measured_in_the_lab_as_the_tutorial_says") {
        return;
    }
    let commands = script(&page("six-drives.md"), &["sh lab"]);
    // However it ends, the machine does not stay.
    let stdout = run(&format!("trap 'stend lab down six-nvme >&2 || true' EXIT\n{commands}"));
    assert!(["md-raid0", "md-raid10", "md-raid5"].iter().all(|stand| stdout.contains(stand)), "{stdout}");
}

#[test]
fn the_nightly_gate_passes_as_the_tutorial_says() {
    let page = page("nightly-gate.md");
    let every_night = page.split("\n## ").find(|part| part.starts_with("4. ")).expect("what is done every night");
    // The second night finds what the first one left.
    let (all, again) = (script(&page, &["sh"]), script(every_night, &["sh"]));
    let stdout = run(&format!("export HOME=$PWD\n{all}{again}"));
    assert!(stdout.matches("Gate `nightly` passed").count() == 5, "{stdout}");
}
