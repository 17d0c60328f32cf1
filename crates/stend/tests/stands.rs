//! Stands on real loop devices and zram: planned, put up, measured, killed at every step, taken down, and refused.

use crate::support::stand::{Stand, on_files, read};
use crate::support::*;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

#[test]
fn a_stand_is_planned_put_up_shown_and_taken_down() {
    if !root("a_stand_is_planned_put_up_shown_and_taken_down") {
        return;
    }
    let scratch = Scratch::new();
    let stand = Stand::new(&scratch, "pair", &on_files(&scratch, 2, "- btrfs: {data: raid1}"));
    let (plan, _) = stand.run("plan", 0);
    assert!(plan.contains("Nothing was changed") && plan.contains("--data raid1"), "{plan}");
    stand.is_gone();

    let (told, done) = stand.run("up", 0);
    assert!(done.contains("$ mkfs.btrfs --force"), "{done}");
    let at = format!("/run/stend/stands/{}-btrfs", stand.name);
    assert!(told.contains(&format!("--on {at}")), "{told}");
    let status = stand.status();
    for layer in status["layers"].as_array().expect("layers") {
        assert_eq!(layer["done"], layer["steps"], "{status}");
    }
    assert_eq!(status["targets"], serde_json::json!([at]));
    assert!(tool(&["btrfs", "filesystem", "df", &at]).contains("Data, RAID1"));
    let (plan, _) = stand.run("plan", 0);
    assert!(plan.contains("is up") && plan.contains("✔ btrfs: ") && !plan.contains("• "), "{plan}");
    // What is done is left alone.
    let (_, done) = stand.run("up", 0);
    assert_eq!(done, "");

    stand.run("down", 0);
    stand.is_gone();
    let (_, refused) = stand.run("down", 2);
    assert!(refused.contains("there is no stand"), "{refused}");
}

#[test]
fn a_run_puts_its_stands_up_and_takes_them_down() {
    if !root("a_run_puts_its_stands_up_and_takes_them_down") {
        return;
    }
    let scratch = Scratch::new();
    // Half of 128 MiB, less a partition table.
    let suite = scratch.file("s.yaml", &SMALL.replace("64MiB", "32MiB"));
    let plain = Stand::new(&scratch, "ext4", &on_files(&scratch, 1, "- fs: {type: ext4, options: [noatime]}"));
    let part = Stand::new(
        &scratch,
        "part",
        &format!("{}targets: [partition/2]", on_files(&scratch, 1, "- partition: {count: 2}\n")),
    );
    let file = scratch.join("r.stend");
    let path = file.to_string_lossy().into_owned();
    expect_exit(&mut stend(&scratch, &["run", &suite, "--stand", &part.file, "-o", &path]), 0);
    part.is_gone();
    let run = stend_record::store::read(&file).expect("a run file");
    assert_eq!(run.header.stand.as_ref().map(|stand| stand.name.as_str()), Some(part.name.as_str()));
    assert!(run.load().targets[0].path.ends_with("p2") && run.load().fill.is_some(), "{:?}", run.load().targets);
    let mut executed: Vec<&Vec<String>> = run
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            stend_record::EventKind::Command { argv, .. } => Some(argv),
            _ => None,
        })
        .collect();
    // What is open for a moment is undone at another try.
    executed.dedup();
    let commands: Vec<&str> = executed.iter().map(|argv| argv[0].as_str()).collect();
    let made = ["mkdir", "fallocate", "losetup", "sgdisk", "partx"];
    let undone = ["partx", "sgdisk", "losetup", "rm", "rmdir"];
    assert_eq!(commands, [made, undone].concat());

    let both = ["run", &suite, "--stand", &plain.file, "--stand", &part.file, "--seed", "1"];
    let (table, _) = expect_exit(&mut stend(&scratch, &both), 0);
    assert!(table.contains(&format!("Every stand relative to {}", plain.name)), "{table}");
    assert!(table.lines().any(|line| line.trim_start().starts_with(&part.name) && line.contains('%')), "{table}");
    plain.is_gone();
    part.is_gone();
}

#[test]
fn a_file_that_was_mounted_over_those_of_a_stand_is_not_taken_for_one_of_them() {
    if !root("a_file_that_was_mounted_over_those_of_a_stand_is_not_taken_for_one_of_them") {
        return;
    }
    let scratch = Scratch::new();
    let stand = Stand::new(&scratch, "hidden", &format!("{}targets: [loop/1]", on_files(&scratch, 1, "")));
    stand.run("up", 0);
    let directory = scratch.join(&format!("stend-{}-loop", stand.name)).to_string_lossy().into_owned();
    tool(&["mount", "-t", "tmpfs", "none", &directory]);
    let precious = format!("{directory}/1");
    std::fs::write(&precious, "precious").expect("a file");
    let (_, told) = stand.run("down", 5);
    let kept = read(&precious);
    tool(&["umount", &directory]);
    assert_eq!(kept, "precious");
    assert!(told.contains(&format!("mounted at `{directory}`")), "{told}");
    stand.run("down", 0);
    stand.is_gone();
}

#[test]
fn what_is_open_for_a_moment_does_not_keep_a_stand_up() {
    if !root("what_is_open_for_a_moment_does_not_keep_a_stand_up") {
        return;
    }
    let scratch = Scratch::new();
    let stand = Stand::new(
        &scratch,
        "open",
        &format!("{}targets: [partition/1]", on_files(&scratch, 1, "- partition: {count: 1}\n")),
    );
    stand.run("up", 0);
    let target = stand.status()["targets"][0].as_str().expect("a target").to_string();
    let open = std::fs::File::open(&target).expect(&target);
    let mut down = Running::new(&mut stend(&scratch, &["stand", "down", &stand.name]));
    // Closed only when it has been refused at least once.
    let refused = || read(&stand.journal().join("journal").to_string_lossy()).contains("partx --delete");
    eventually("a try", IN_TIME, refused);
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert!(stand.journal().exists());
    drop(open);
    assert_eq!(down.wait(std::time::Duration::from_secs(60)), Some(0));
    stand.is_gone();
}

#[test]
fn a_stand_goes_with_a_run_that_is_stopped_and_a_drive_of_it_is_refused_to_others() {
    if !root("a_stand_goes_with_a_run_that_is_stopped_and_a_drive_of_it_is_refused_to_others") {
        return;
    }
    let scratch = Scratch::new();
    let suite = scratch.file("long.yaml", &SMALL.replace("blocks: 2", "blocks: 500"));
    let stand = Stand::new(&scratch, "stopped", &on_files(&scratch, 1, "- fs: {type: ext4}"));
    let file = scratch.join("r.stend");
    let path = file.to_string_lossy().into_owned();
    let words = ["run", &suite, "--stand", &stand.file, "--progress", "none", "-o", &path];
    let mut running = Running::new(&mut stend(&scratch, &words));
    eventually("a trial", std::time::Duration::from_secs(60), || {
        stend_record::store::read(&file).is_ok_and(|run| !run.trials.is_empty())
    });
    // The stand of a run is not taken away under it.
    let (_, busy) = stand.run("down", 5);
    assert!(busy.contains("the stand is in use"), "{busy}");
    expect_exit(&mut stend(&scratch, &["stop", &path]), 0);
    assert_eq!(running.wait(std::time::Duration::from_secs(60)), Some(130));
    stand.is_gone();
}

#[test]
fn a_stand_that_was_up_before_a_run_stays_up_whether_the_run_uses_it_or_is_refused() {
    if !root("a_stand_that_was_up_before_a_run_stays_up_whether_the_run_uses_it_or_is_refused") {
        return;
    }
    let scratch = Scratch::new();
    let suite = scratch.file("s.yaml", SMALL);
    let stand = Stand::new(&scratch, "kept", &on_files(&scratch, 1, "- fs: {type: ext4}"));
    stand.run("up", 0);
    let kept = Path::new("/run/stend/stands").join(format!("{}-fs/kept", stand.name));
    std::fs::write(&kept, "mine").expect("a file on it");

    // Another stand of the same name is refused, and nothing happens to the one that is up.
    let other = scratch.file("other.yaml", &format!("stand: {}\n{}", stand.name, on_files(&scratch, 2, "")));
    let (_, refused) = expect_exit(&mut stend(&scratch, &["run", &suite, "--stand", &other]), 4);
    assert!(refused.contains("was put up from another file"), "{refused}");
    assert_eq!(std::fs::read_to_string(&kept).expect("still there"), "mine");

    // A run on the same one uses it as it is.
    expect_exit(&mut stend(&scratch, &["run", &suite, "--stand", &stand.file]), 0);
    assert_eq!(std::fs::read_to_string(&kept).expect("still there"), "mine");
    stand.run("down", 0);
    stand.is_gone();
}

#[test]
fn a_stand_that_was_killed_at_any_command_is_finished_or_taken_down() {
    if !root("a_stand_that_was_killed_at_any_command_is_finished_or_taken_down") {
        return;
    }
    let scratch = Scratch::new();
    let stand = Stand::new(&scratch, "killed", &on_files(&scratch, 2, "- btrfs: {data: raid1}"));
    let (_, done) = stand.run("up", 0);
    let commands = done.lines().filter(|line| line.starts_with("$ ")).count();
    assert!(commands >= 8, "{done}");
    stand.run("down", 0);
    for fatal in 1..=commands {
        // Before or after each command; in a nightly run, before and after.
        let moments = [fatal % 4 < 2, fatal % 4 >= 2];
        for after in moments.into_iter().take(if is_nightly() { 2 } else { 1 }) {
            let path = fatal_tools(&scratch, fatal, after);
            let (code, ..) = texts(&output(stend(&scratch, &["stand", "up", &stand.file]).env("PATH", &path)));
            assert_eq!(code, 8, "command {fatal}: the worker was killed");
            // Every other time the work is finished first.
            if fatal % 2 == 0 {
                stand.run("up", 0);
                let at = format!("/run/stend/stands/{}-btrfs", stand.name);
                assert!(tool(&["btrfs", "filesystem", "df", &at]).contains("Data, RAID1"), "after command {fatal}");
            }
            stand.run("down", 0);
            stand.is_gone();
        }
    }
}

/// A search path with wrappers that kill the worker at the n-th command, before or after doing it.
fn fatal_tools(scratch: &Scratch, fatal: usize, after: bool) -> String {
    let directory = scratch.directory(&format!("tools-{fatal}-{after}"));
    let count = format!("{directory}/count");
    std::fs::write(&count, "").expect("a counter");
    let kill = "kill -9 $PPID; exit 1";
    for name in ["mkdir", "fallocate", "losetup", "mkfs.btrfs", "mount"] {
        let real = tool(&["sh", "-c", &format!("command -v {name}")]).trim().to_string();
        let at_last = if after { format!("{real} \"$@\"; {kill}") } else { kill.to_string() };
        let script = format!(
            "#!/bin/sh\necho x >> {count}\nif [ $(wc -l < {count}) -eq {fatal} ]; then {at_last}; fi\nexec {real} \"$@\"\n"
        );
        let file = scratch.file(&format!("tools-{fatal}-{after}/{name}"), &script);
        tool(&["chmod", "+x", &file]);
    }
    format!("{directory}:{}", std::env::var("PATH").expect("a path"))
}

#[test]
fn a_stand_whose_building_is_ended_by_sigterm_is_taken_down_or_can_be() {
    if !root("a_stand_whose_building_is_ended_by_sigterm_is_taken_down_or_can_be") {
        return;
    }
    let scratch = Scratch::new();
    let stand = Stand::new(&scratch, "ended", &on_files(&scratch, 2, "- btrfs: {data: raid1}"));
    let begun = scratch.join("begun");
    let slow = format!("#!/bin/sh\ntouch {}\nexec sleep 1000\n", begun.display());
    let directory = scratch.directory("tools");
    tool(&["chmod", "+x", &scratch.file("tools/mkfs.btrfs", &slow)]);
    let path = format!("{directory}:{}", std::env::var("PATH").expect("a path"));
    let mut up = Running::new(stend(&scratch, &["stand", "up", &stand.file]).env("PATH", &path));
    eventually("mkfs", IN_TIME, || begun.exists());
    let workers = up.workers();
    tool(&["kill", "-TERM", &up.child.id().to_string()]);
    assert_eq!(up.wait_as_shell(IN_TIME), Some(143));
    assert!(!workers.iter().any(|pid| alive(*pid)), "the worker and what it had begun are gone");
    stand.run("down", 0);
    stand.is_gone();
}

#[test]
fn settings_and_memory_are_put_back() {
    if !root("settings_and_memory_are_put_back") {
        return;
    }
    let scratch = Scratch::new();
    let setting = "/proc/sys/vm/stat_interval";
    let before = read(setting);
    let other = before.trim().parse::<u32>().expect("a number") + 1;
    let layers = format!("layers:\n- zram: {{size: 64MiB, count: 2}}\n- settings: {{{setting}: {other}}}");
    let stand = Stand::new(&scratch, "memory", &layers);
    stand.run("up", 0);
    assert_eq!(read(setting).trim(), other.to_string());
    let targets = stand.status()["targets"].clone();
    let targets: Vec<&str> = targets.as_array().expect("targets").iter().filter_map(Value::as_str).collect();
    assert!(targets.len() == 2 && targets.iter().all(|path| path.starts_with("/dev/zram")), "{targets:?}");
    for path in &targets {
        assert_eq!(tool(&["blockdev", "--getsize64", path]).trim(), (64 << 20).to_string());
    }
    stand.run("down", 0);
    assert_eq!(read(setting), before);
    assert!(targets.iter().all(|path| !Path::new(&path.replace("/dev/", "/sys/block/")).exists()), "{targets:?}");
}

#[test]
fn a_setting_of_an_earlier_boot_is_not_put_back() {
    if !root("a_setting_of_an_earlier_boot_is_not_put_back") {
        return;
    }
    let scratch = Scratch::new();
    let setting = "/proc/sys/vm/vfs_cache_pressure";
    let before = read(setting);
    let stand = Stand::new(&scratch, "rebooted", &on_files(&scratch, 1, &format!("- settings: {{{setting}: 101}}")));
    stand.run("up", 0);
    let journal = stand.journal().join("journal").display().to_string();
    let earlier = read(&journal).replace(read("/proc/sys/kernel/random/boot_id").trim(), "earlier");
    std::fs::write(&journal, earlier).expect("the journal");
    std::fs::write(setting, "102").expect("the host's own");
    stand.run("down", 0);
    let left = read(setting);
    std::fs::write(setting, &before).expect("as it was");
    assert_eq!(left.trim(), "102");
    stand.is_gone();
}

#[test]
fn a_directory_of_files_may_be_named_over_a_link() {
    if !root("a_directory_of_files_may_be_named_over_a_link") {
        return;
    }
    let scratch = Scratch::new();
    let link = scratch.join("link");
    std::os::unix::fs::symlink(scratch.directory("files"), &link).expect("a link");
    let layers = format!("layers:\n- loop: {{directory: {}//, size: 64MiB}}\n- fs: {{type: ext4}}", link.display());
    let stand = Stand::new(&scratch, "linked", &layers);
    stand.run("up", 0);
    for layer in stand.status()["layers"].as_array().expect("layers") {
        assert_eq!(layer["done"], layer["steps"]);
    }
    stand.run("down", 0);
    stand.is_gone();
}

#[test]
fn what_cannot_be_put_up_is_said_before_anything_is_made() {
    if !root("what_cannot_be_put_up_is_said_before_anything_is_made") {
        return;
    }
    let scratch = Scratch::new();
    let stand = Stand::new(&scratch, "lacking", &on_files(&scratch, 1, "- fs: {type: ext4}"));
    // Only what the stand needs besides, so that `mkfs.ext4` is not there.
    let tools = scratch.directory("few");
    for name in ["mkdir", "fallocate", "losetup", "mount", "umount", "rm", "rmdir", "wipefs"] {
        let real = tool(&["sh", "-c", &format!("command -v {name}")]).trim().to_string();
        std::os::unix::fs::symlink(real, format!("{tools}/{name}")).expect("a link");
    }
    let mut command = stend(&scratch, &["stand", "up", &stand.file]);
    let (_, told) = expect_exit(command.env("PATH", &tools), 4);
    assert!(told.contains("lacks the programs `mkfs.ext4`") && told.contains("apt-get install e2fsprogs"), "{told}");
    stand.is_gone();

    // More than there is.
    let large = Stand::new(&scratch, "large", &on_files(&scratch, 2, "- lvm: {type: linear, size: 1TiB}"));
    for action in ["plan", "up"] {
        let (_, told) = large.run(action, 4);
        assert!(told.contains(":4: layer `lvm`: the volume of 1 TiB does not fit"), "{told}");
    }
    large.is_gone();

    // Something that is not ours has the name.
    let taken = scratch.join(&format!("stend-{}-loop", stand.name));
    std::fs::create_dir(&taken).expect("a directory");
    let (_, told) = stand.run("up", 4);
    assert!(told.contains("this name is already in use"), "{told}");
    std::fs::remove_dir(&taken).expect("still there, and empty");

    stand.run("up", 0);
    let text = std::fs::read_to_string(&stand.file)
        .expect("the file")
        .replace("{type: ext4}", "{type: ext4, options: [noatime]}");
    std::fs::write(&stand.file, text).expect("a change");
    let (_, told) = stand.run("up", 4);
    assert!(told.contains("was put up from another file"), "{told}");
    stand.run("down", 0);
    stand.is_gone();
}

#[test]
fn every_stand_that_comes_with_stend_can_be_planned() {
    let scratch = Scratch::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../stands");
    let files = |place: &Path| {
        let entries = std::fs::read_dir(place).expect("a directory").flatten().map(|entry| entry.path());
        entries.filter(|path| path.extension().is_some_and(|end| end == "yaml")).collect::<Vec<_>>()
    };
    let all = [files(&root), files(&root.join("soft-raid"))].concat();
    assert!(all.len() > 10, "{all:?}");
    for path in all {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let words = ["stand", "plan", &*path.to_string_lossy(), "--json"].map(str::to_string);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (told, _) = expect_exit(&mut stend(&scratch, &words), 0);
        let plan: Value = serde_json::from_str(&told).expect("JSON");
        assert_eq!(plan["plan"]["name"], name.as_str(), "a stand is called as its file");
        let steps = plan["plan"]["steps"].as_array().expect("steps");
        let built = |step: &&Value| ["md", "lvm", "zfs"].iter().any(|kind| step["layer"] == *kind);
        assert!(steps.iter().filter(built).all(|step| step["done"] == false), "nothing of {name} is there: {steps:?}");
    }
}

#[test]
fn two_processes_do_not_work_on_one_stand() {
    if !root("two_processes_do_not_work_on_one_stand") {
        return;
    }
    let scratch = Scratch::new();
    let stand = Stand::new(&scratch, "busy", &on_files(&scratch, 1, ""));
    stand.run("up", 0);
    let journal = stand.journal().join("journal").display().to_string();
    // Holds the lock until the test ends it.
    let mut other = Command::new("flock").args([&journal, "sleep", "1000"]).spawn().expect("flock");
    eventually("the lock", std::time::Duration::from_secs(60), || {
        !Command::new("flock").args(["--nonblock", &journal, "true"]).status().expect("flock").success()
    });
    let (_, told) = stand.run("down", 5);
    assert!(told.contains("another process works on the stand"), "{told}");
    // `flock` hands its descriptor on: both have to end.
    tool(&["pkill", "--parent", &other.id().to_string()]);
    other.wait().expect("it ends");
    stand.run("down", 0);
    stand.is_gone();
}
