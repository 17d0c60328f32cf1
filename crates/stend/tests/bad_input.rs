//! Everything that is wrong from the start ends with the right exit code and a sentence that helps.

mod mistakes;

use crate::support::*;

fn fails(words: &[&str], code: i32, part: &str) {
    let scratch = Scratch::new();
    let (stdout, stderr) = expect_exit(&mut stend(&scratch, words), code);
    assert!(stderr.contains(part), "`{part}` is not in:\n{stderr}");
    assert!(stdout.is_empty(), "{stdout}");
}

#[test]
fn an_absent_path_is_said_at_once() {
    fails(&["run", "quick", "--on", "/does/not/exist", "--progress", "none"], 2, "/does/not/exist");
    fails(&["inspect", "/does/not/exist"], 2, "/does/not/exist");
}

#[test]
fn an_unknown_suite_names_the_known_ones() {
    fails(&["run", "no-such-suite", "--on", "/var/tmp"], 3, "`stend suites` lists the built-in ones");
}

#[test]
fn a_wrong_command_line_is_answered_in_the_users_language() {
    fails(&["run", "quick"], 2, "what is to be measured?\nhint: a directory, in which a test file is made");
    fails(&["run", "quick", "--lang", "ru"], 2, "не указано, что измерять: `--on ПУТЬ`\nсовет: каталог");
    fails(&["run", "--on", "/x"], 2, "no suite and no `--rw` given\nhint: a suite (`stend suites` lists them)");
    fails(&["run", "quick", "--onn", "/x"], 2, "did you mean");
    fails(&["rnu", "quick"], 2, "unknown command `rnu`\nhint: did you mean `run`?");
    fails(&["run", "quick", "-on", "/x"], 2, "did you mean `--on`?");
    fails(&["run", "qick", "--on", "/x"], 3, "did you mean `quick`?");
    fails(&["run", "nothing-like-it", "--on", "/x"], 3, "`stend suites` lists the built-in ones");
    fails(&["run", "quick", "--on", "/tmp", "-o", "/nonexistent/x.stend"], 12, "there is no directory `/nonexistent`");
    fails(&["export", "last", "--redact", "--trial", "3"], 2, "`--redact` cannot be used with `--trial`");
    fails(&["--lang", "ru", "измерь"], 2, "неизвестная команда `измерь`");
    fails(&["run", "quick", "--on", "/var/tmp", "--time-budget", "5"], 2, "--time-budget: `5` has no unit");
}

#[test]
fn words_of_other_tools_lead_to_those_of_stend() {
    fails(&["run", "quick", "--target", "/var/tmp"], 2, "hint: name the target with `--on`");
    fails(&["run", "quick", "--filename=/var/tmp"], 2, "hint: name the target with `--on`");
    fails(&["run", "quick", "--on", "/var/tmp", "--direct"], 2, "hint: I/O is direct by default");
    fails(&["run", "quick", "/var/tmp"], 2, "hint: did you mean `--on /var/tmp`?");
    fails(&["serve", "--port", "80"], 2, "`--listen 127.0.0.1:PORT`");
    fails(&["show", "--lang", "ru"], 2, "укажите прогон, например `last`");
    fails(&["notify"], 2, "no command given\nhint: commands: `stend notify vendor`");
    fails(&["lab", "biuld"], 2, "unknown command `biuld`\nhint: did you mean `build`?");
    fails(&["run", "quick", "--lang", "ru", "--on"], 2, "пишите `--on ПУТЬ`");
    fails(&["stand", "plan", "btrfs-raid"], 3, "did you mean `btrfs-raid1`?");
    fails(&["audit", "nvme-soft-raid2"], 2, "did you mean `nvme-soft-raid`?");
}

#[test]
fn a_workload_in_fios_words_that_means_nothing_is_answered_with_the_option() {
    for (words, part) in [
        (&["--rw", "randreed"][..], "did you mean `randread`?"),
        (&["--bs", "4k"], "`--rw` is missing"),
        (&["quick", "--rw", "read"], "name a suite (`quick`) or `--rw`, not both"),
        (&["--rw", "read", "--bs", "4x"], "--bs: `x` is not a unit of size"),
        (&["--rw", "read", "--bs", "4096"], "hint: for example `--bs 4k`"),
        (&["--rw", "read", "--qd", "1;4"], "--qd: `1;4` is not a whole number"),
        (&["--rw", "read", "--time", "5"], "--time: `5` has no unit"),
        (&["--rw", "read", "--mix", "70"], "--mix needs `--rw` to be one of rw, randrw"),
        (&["--rw", "randrw", "--mix", "100"], "--mix: `100` is not 1 to 99"),
        (&["--rw", "read", "--sync", "fsync"], "--sync needs `--rw` to be one of write"),
        (&["--rw", "randread", "--verify"], "--verify needs `--rw` to be one of write"),
        (&["--rw", "write", "--sync", "fsink"], "did you mean `fsync`?"),
        (&["--rw", "read,read", "--size", "1X"], "--size: `X` is not a unit of size"),
        (&["quick", "--bs", "8k"], "`--bs` has no effect with a suite\nhint: leave out `quick` and add `--rw`"),
        (&["quick", "--verify", "--print-suite"], "`--verify` has no effect with a suite"),
        (&["my.yaml", "--qd", "4"], "`--qd` has no effect with a suite\nhint: leave out `my.yaml`"),
        (&["--resume", "last", "--time", "5s"], "`--time` has no effect with `--resume`"),
        (&["quick", "--storage", "x=y"], "`--storage` has no effect without a stand of several hosts"),
        (&["quick", "--group", "g", "--ssh", "db1"], "`--group` cannot be used with `--ssh`"),
    ] {
        fails(&[&["run", "--on", "/var/tmp"], words].concat(), 2, part);
    }
    fails(
        &["run", "--rw", "read", "--qd", "0", "--on", "/var/tmp"],
        2,
        "--qd: 0 is outside 1 to 4096\nhint: for example `--qd 32`",
    );
    fails(&["run", "--rw", "read", "--qd", "x", "--on", "/var/tmp", "--lang", "ru"], 2, "--qd: `x` — не целое число");
}

#[test]
fn an_invalid_suite_names_file_line_and_column() {
    let scratch = Scratch::new();
    let suite = scratch.file("bad.yaml", &SMALL.replace("block_size", "blok_size"));
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", "/var/tmp"]), 3);
    assert!(stderr.contains("bad.yaml:7:") && stderr.contains("did you mean `block_size`"), "{stderr}");
    let (_, error) = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", "/var/tmp", "--json"]), 3);
    let error: serde_json::Value = serde_json::from_str(&error).expect("one line of JSON");
    assert_eq!((&error["error"]["code"], &error["error"]["place"]["line"]), (&"spec".into(), &7.into()), "{error}");
    assert!(error["error"]["place"]["file"].as_str().is_some_and(|file| file.ends_with("bad.yaml")), "{error}");
}

#[test]
fn a_file_that_is_no_run_is_refused() {
    let scratch = Scratch::new();
    let text = scratch.file("text.stend", "not a database");
    expect_exit(&mut stend(&scratch, &["show", &text]), 12);
}

#[test]
fn an_existing_run_file_is_never_overwritten() {
    let scratch = Scratch::new();
    let (suite, target) = (scratch.file("small.yaml", SMALL), scratch.directory("target"));
    let precious = scratch.file("precious.stend", "precious");
    expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &target, "-o", &precious]), 12);
    assert_eq!(std::fs::read_to_string(precious).expect("the file"), "precious");
    assert!(leftovers(&target).is_empty());
}

#[test]
fn a_file_system_without_room_is_refused_before_anything_is_made() {
    if !root("a_file_system_without_room_is_refused_before_anything_is_made") {
        return;
    }
    let scratch = Scratch::new();
    let suite = scratch.file("small.yaml", SMALL);
    let mount = Mount::new(&["-t", "tmpfs", "-o", "size=32m", "tmpfs"], scratch.join("small"));
    let on = mount.0.to_string_lossy().into_owned();
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &on]), 4);
    assert!(stderr.contains("no room"), "{stderr}");
    assert!(leftovers(&on).is_empty());
}

#[test]
fn a_read_only_file_system_is_refused() {
    if !root("a_read_only_file_system_is_refused") {
        return;
    }
    let scratch = Scratch::new();
    let suite = scratch.file("small.yaml", SMALL);
    let mount = Mount::new(&["-t", "tmpfs", "-o", "ro,size=512m", "tmpfs"], scratch.join("ro"));
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &mount.0.to_string_lossy()]), 4);
    assert!(stderr.contains("read-only"), "{stderr}");
}

#[test]
fn a_device_smaller_than_the_workload_is_refused() {
    if !root("a_device_smaller_than_the_workload_is_refused") {
        return;
    }
    let scratch = Scratch::new();
    let suite = scratch
        .file("big.yaml", &SMALL.replace("4KiB", "1MiB").replace("64MiB", "1MiB").replace("queue_depth: 4", "jobs: 8"));
    let device = Loop::new(&scratch, "tiny.img", 1 << 20);
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &device.device]), 4);
    assert!(stderr.contains("the range has 1 MiB, and each of 8 jobs needs a block of 1 MiB"), "{stderr}");
    let words = ["run", "--rw", "randread", "--size", "1g", "--on", &device.device];
    let (_, stderr) = expect_exit(&mut stend(&scratch, &words), 4);
    assert!(stderr.contains("is 1 GiB, more than `") && stderr.contains("has (1 MiB)"), "{stderr}");
}

#[test]
fn a_file_system_that_refuses_direct_io_is_said_so() {
    if !root("a_file_system_that_refuses_direct_io_is_said_so") {
        return;
    }
    let scratch = Scratch::new();
    let suite = scratch.file("small.yaml", &SMALL.replace("64MiB", "1MiB"));
    let mount = Mount::new(&["-t", "ramfs", "ramfs"], scratch.join("ramfs"));
    let file = mount.0.join("file");
    std::fs::write(&file, vec![7u8; 4 << 20]).expect("a file");
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &file.to_string_lossy()]), 4);
    assert!(stderr.contains("O_DIRECT") || stderr.contains("direct I/O"), "{stderr}");
}
