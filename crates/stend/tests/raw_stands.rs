//! Stands of which the device itself is measured, with nothing on it.

use crate::support::stand::{Stand, on_files, read};
use crate::support::*;

const ADD: &str = "/sys/class/zram-control/hot_add";

/// A zram device that no stand made, which goes with the test.
struct Foreign(String);

impl Foreign {
    fn new() -> Foreign {
        let number = read(ADD).trim().to_string();
        std::fs::write(format!("/sys/block/zram{number}/disksize"), "64M").expect("a size");
        Foreign(number)
    }

    fn path(&self) -> String {
        format!("/dev/zram{}", self.0)
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        drop(std::fs::write(format!("/sys/block/zram{}/reset", self.0), "1"));
        drop(std::fs::write("/sys/class/zram-control/hot_remove", &self.0));
    }
}

/// The target of a run on such a stand, which wrote to it.
fn target(scratch: &Scratch, stand: &Stand) -> stend_record::TargetFacts {
    let (suite, file) = (scratch.file("s.yaml", SMALL), scratch.join(&format!("{}.stend", stand.name)));
    let words = ["run", &suite, "--stand", &stand.file, "-o", &file.to_string_lossy(), "--progress", "none"];
    expect_exit(&mut stend(scratch, &words), 0);
    stand.is_gone();
    let run = stend_record::store::read(&file).expect("a run file");
    assert!(run.load().fill.is_some() && run.trials.len() == 4, "all cases ran");
    run.load().targets[0].clone()
}

#[test]
fn a_device_in_memory_that_a_stand_made_is_measured_and_that_of_others_is_never_written() {
    let name = "a_device_in_memory_that_a_stand_made_is_measured_and_that_of_others_is_never_written";
    if !root(name) {
        return;
    }
    if !std::path::Path::new("/sys/class/zram-control").exists() {
        eprintln!("skipped, this kernel has no zram: {name}");
        return;
    }
    let scratch = Scratch::new();
    let stand = Stand::new(&scratch, "memory", "layers:\n- zram: {size: 128MiB}");
    let own = target(&scratch, &stand);
    assert!(own.path.starts_with("/dev/zram"), "{own:?}");
    let foreign = Foreign::new();
    let (inspected, _) = expect_exit(&mut stend(&scratch, &["inspect", &foreign.path()]), 0);
    let inspected = one_line(&inspected);
    assert!(inspected.contains("has no stable identity"), "{inspected}");
    // What a stand made once is not confirmed for whatever has its number later.
    let identity = own.identity.clone().expect("an identity");
    let suite = scratch.file("s.yaml", SMALL);
    let words = ["run", &suite, "--on", &foreign.path(), "--confirm", &identity, "--progress", "none"];
    let (_, told) = expect_exit(&mut stend(&scratch, &words), 5);
    assert!(identity.starts_with("zram:") && told.contains("has no stable identity"), "{identity}: {told}");
}

#[test]
fn a_file_as_a_device_is_measured_with_nothing_on_it() {
    if !root("a_file_as_a_device_is_measured_with_nothing_on_it") {
        return;
    }
    let scratch = Scratch::new();
    let stand = Stand::new(&scratch, "file", &on_files(&scratch, 1, ""));
    let own = target(&scratch, &stand);
    assert!(own.path.starts_with("/dev/loop"), "{own:?}");
}

#[test]
fn data_that_came_to_a_bare_drive_of_a_stand_that_is_up_are_not_written_over() {
    if !root("data_that_came_to_a_bare_drive_of_a_stand_that_is_up_are_not_written_over") {
        return;
    }
    let scratch = Scratch::new();
    let drive = Loop::new(&scratch, "drive.img", 64 << 20);
    let id = drive.identity(&scratch);
    let layers = on_files(&scratch, 1, "");
    let stand = Stand::new(&scratch, "mixed", &format!("drives: [{{id: '{id}'}}]\n{layers}targets: [d1, loop]"));
    stand.run("up", 0);
    let words = b"words of a user, which no mark explains ".repeat(1 << 12);
    let file = std::fs::File::options().write(true).open(&drive.device).expect("the drive");
    std::os::unix::fs::FileExt::write_all_at(&file, &words, 1 << 20).and_then(|()| file.sync_all()).expect("written");
    drop(file);
    let before = tool(&["sha256sum", &drive.device]);
    let (suite, run) = (scratch.file("s.yaml", SMALL), scratch.join("mixed.stend"));
    let words = ["run", &suite, "--stand", &stand.file, "-o", &run.to_string_lossy(), "--progress", "none"];
    let (_, refused) = expect_exit(&mut stend(&scratch, &words), 5);
    assert!(refused.contains("unknown-data"), "{refused}");
    assert_eq!(tool(&["sha256sum", &drive.device]), before);
    stand.run("down", 0);
    stand.is_gone();
}
