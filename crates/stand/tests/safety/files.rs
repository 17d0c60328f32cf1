//! Test files: made only in a directory of our own, removed without a trace, and never in the way of others.

use crate::bench::{Bench, run};
use std::path::{Path, PathBuf};
use stend_base::{Bytes, Kind};
use stend_record::{EventKind, Refusal, TargetFacts, WriteAccess};
use stend_spec::permission::Permission;
use stend_stand::{Need, Owner, Prepared, dry_run, inspect, may_write, prepare};

fn need(id: &str, size: Bytes) -> Need {
    Need::TestFiles {
        sizes: vec![size],
        owner: Owner { run_id: id.into(), run_file: format!("/runs/{id}.stend"), ledger: None },
    }
}

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in("/var/tmp").unwrap()
}

fn look(path: &Path) -> TargetFacts {
    inspect(path.to_str().unwrap()).unwrap()
}

fn make(path: &Path, id: &str, size: Bytes) -> (stend_base::Result<Prepared>, Vec<String>) {
    let mut log = Vec::new();
    let made = prepare(&look(path), &Permission::default(), &need(id, size), &mut |event| log.extend(action(event)));
    (made, log)
}

fn action(event: EventKind) -> Option<String> {
    match event {
        EventKind::Step { action } => Some(action),
        _ => None,
    }
}

fn english(steps: &[stend_base::Say]) -> Vec<String> {
    steps.iter().map(|step| step.en.clone()).collect()
}

fn entries(path: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> = std::fs::read_dir(path).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    entries
}

#[test]
fn a_directory_of_runs_that_is_not_there_yet_shares_the_drive_that_it_will_lie_on() {
    let dir = scratch();
    let shares = |below: &str| stend_stand::shares_drive(&dir.path().join(below), &look(dir.path()));
    assert!(shares("") && shares("not/there/yet"));
}

#[test]
fn a_test_file_is_made_written_and_removed_and_every_step_is_told() {
    let dir = scratch();
    std::fs::write(dir.path().join("thesis.tex"), "precious").unwrap();
    let announced = dry_run(&look(dir.path()), &need("R-1", Bytes::mib(2)));
    assert_eq!(entries(dir.path()).len(), 1, "a dry run changes nothing");
    let (made, log) = make(dir.path(), "R-1", Bytes::mib(2));
    let made = made.unwrap();
    assert_eq!(log, english(&announced.steps));
    let shown = dir.path().display();
    let ru: Vec<&str> = announced.steps.iter().map(|step| step.ru.as_str()).collect();
    assert_eq!(
        ru,
        [format!("создать каталог {shown}/.stend-R-1"), format!("создать файл {shown}/.stend-R-1/data (2 МиБ)")]
    );
    let data = dir.path().join(".stend-R-1/data");
    assert_eq!(log, [format!("make directory {shown}/.stend-R-1"), format!("create {shown}/.stend-R-1/data of 2 MiB")]);
    assert_eq!((made.path(), made.size()), (data.as_path(), Bytes::mib(2)));
    let file = made.open(true, false).unwrap();
    assert_eq!(file.write_at(&[1; 4096], 0).unwrap(), 4096);
    assert_eq!(std::fs::metadata(&data).unwrap().len(), 2 << 20);
    drop(file);
    let mut log = Vec::new();
    made.undo(&mut |event| log.extend(action(event))).unwrap();
    assert_eq!(log, english(&announced.undo));
    assert_eq!(log, [format!("remove {shown}/.stend-R-1/data"), format!("remove {shown}/.stend-R-1")]);
    assert_eq!(entries(dir.path()), [dir.path().join("thesis.tex")]);
}

#[test]
fn a_test_file_that_nobody_undid_is_removed_when_dropped() {
    let dir = scratch();
    drop(make(dir.path(), "R-1", Bytes::mib(1)).0.unwrap());
    assert!(entries(dir.path()).is_empty());
}

#[test]
fn a_foreign_file_is_read_but_never_written_and_its_directory_takes_a_test_file() {
    let dir = scratch();
    let path = dir.path().join("disk.img");
    std::fs::write(&path, vec![7; 8192]).unwrap();
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let owner = Owner { run_id: "R-1".into(), run_file: "/runs/R-1.stend".into(), ledger: None };
    for named in [&path, &link] {
        let facts = look(named);
        assert_eq!(facts.access, WriteAccess::Refused(vec![Refusal::ForeignFile]));
        let confirmed = Permission { confirm: vec![facts.path.clone()], ..Permission::default() };
        assert_eq!(may_write(&facts, &confirmed).unwrap_err().kind.exit_code(), 5);
        for need in [Need::WriteDevice(owner.clone()), need("R-1", Bytes::mib(1))] {
            assert!(prepare(&facts, &confirmed, &need, &mut |_| {}).is_err());
        }
        let reading = prepare(&facts, &Permission::default(), &Need::Read, &mut |_| {}).unwrap();
        assert_eq!(reading.open(false, false).unwrap().read_at(&mut [0; 64], 0).unwrap(), 64);
        assert_eq!(reading.open(true, false).unwrap_err().kind, Kind::Unsafe);
    }
    make(dir.path(), "R-1", Bytes::mib(1)).0.unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), vec![7; 8192]);
}

#[test]
fn a_live_run_in_the_directory_is_named_and_its_file_stays_as_it_is() {
    let dir = scratch();
    let first = make(dir.path(), "R-1", Bytes::mib(1)).0.unwrap();
    first.open(true, false).unwrap().write_at(&[9; 4096], 0).unwrap();
    let before = std::fs::read(first.path()).unwrap();
    let pid = std::process::id();
    let facts = look(dir.path());
    assert_eq!(facts.access, WriteAccess::Refused(vec![Refusal::InUseByRun { pid, run: "/runs/R-1.stend".into() }]));
    let (second, log) = make(dir.path(), "R-2", Bytes::mib(1));
    let refused = second.unwrap_err();
    assert_eq!(refused.kind, Kind::Unsafe);
    assert!(refused.message.en.contains(&format!("process {pid}, `/runs/R-1.stend`")), "{refused}");
    assert!(log.is_empty());
    // Facts from before the first run began do not help either.
    let stale = TargetFacts { access: WriteAccess::OwnDirectory, ..facts };
    assert!(prepare(&stale, &Permission::default(), &need("R-2", Bytes::mib(1)), &mut |_| {}).is_err());
    assert_eq!(entries(dir.path()).len(), 1);
    assert_eq!(std::fs::read(first.path()).unwrap(), before);
    first.undo(&mut |_| {}).unwrap();
    make(dir.path(), "R-2", Bytes::mib(1)).0.unwrap();
}

#[test]
fn the_remains_of_a_dead_run_are_removed_first_and_foreign_ones_stay() {
    let dir = scratch();
    let dead = dir.path().join(".stend-dead");
    std::fs::create_dir(&dead).unwrap();
    let marker = r#"{"pid":1,"started":1,"boot_id":"an earlier one","run_id":"dead","run_file":"/runs/dead.stend"}"#;
    std::fs::write(dead.join("marker"), marker).unwrap();
    std::fs::write(dead.join("data"), vec![0; 4096]).unwrap();
    let foreign = dir.path().join(".stend-foreign");
    std::fs::create_dir(&foreign).unwrap();
    std::fs::write(foreign.join("data"), "precious").unwrap();
    let announced = dry_run(&look(dir.path()), &need("R-1", Bytes::mib(1)));
    let (made, log) = make(dir.path(), "R-1", Bytes::mib(1));
    assert_eq!(log, english(&announced.steps));
    assert!(log[0].starts_with(&format!("remove {}", dead.display())), "{log:?}");
    made.unwrap().undo(&mut |_| {}).unwrap();
    assert_eq!(entries(dir.path()), std::slice::from_ref(&foreign));
    assert_eq!(std::fs::read(foreign.join("data")).unwrap(), b"precious");
}

#[test]
fn what_a_run_on_another_machine_has_in_a_shared_directory_is_left_and_told() {
    let dir = scratch();
    let theirs = dir.path().join(".stend-theirs");
    std::fs::create_dir(&theirs).unwrap();
    // No lock is seen here, as where locks do not cross machines.
    let marker = r#"{"pid":1,"started":1,"boot_id":"theirs","machine":"another","run_id":"theirs","run_file":"/runs/theirs.stend"}"#;
    std::fs::write(theirs.join("marker"), marker).unwrap();
    std::fs::write(theirs.join("data"), "precious").unwrap();
    let announced = dry_run(&look(dir.path()), &need("R-1", Bytes::mib(1)));
    let (made, log) = make(dir.path(), "R-1", Bytes::mib(1));
    let has_id = std::fs::read_to_string("/etc/machine-id").is_ok_and(|id| !id.trim().is_empty());
    if has_id {
        let told = format!("leave {}, which a run on another machine made and may be using", theirs.display());
        assert_eq!((log[0].as_str(), &log), (told.as_str(), &english(&announced.steps)));
        assert_eq!(std::fs::read(theirs.join("data")).unwrap(), b"precious");
    }
    made.unwrap().undo(&mut |_| {}).unwrap();
    assert_eq!(theirs.exists(), has_id);
}

#[test]
fn a_directory_without_room_is_left_as_it_was() {
    let Some(mut bench) = Bench::new("a_directory_without_room_is_left_as_it_was") else { return };
    for (tool, mib) in [(&["mkfs.ext4", "-qF"], 16), (&["mkfs.btrfs", "-qf"], 128)] {
        let device = bench.disk(mib);
        run(&[tool.as_slice(), &[&device]].concat());
        let at = bench.mount_with(&device, "rw");
        let before = entries(&at);
        let (made, _) = make(&at, "R-1", Bytes::mib(mib));
        let refused = made.unwrap_err();
        assert_eq!((refused.kind, refused.kind.exit_code()), (Kind::Preflight, 4));
        assert!(refused.message.en.starts_with("cannot reserve space for the test file"), "{refused}");
        assert!(refused.hint.is_some());
        assert_eq!(entries(&at), before);
        make(&at, "R-1", Bytes::mib(2)).0.unwrap();
    }
}

#[test]
fn a_read_only_file_system_is_refused_before_anything_is_tried() {
    let Some(mut bench) = Bench::new("a_read_only_file_system_is_refused_before_anything_is_tried") else { return };
    let device = bench.disk(16);
    run(&["mkfs.ext4", "-qF", &device]);
    let at = bench.mount(&device);
    assert_eq!(look(&at).access, WriteAccess::Refused(vec![Refusal::ReadOnly]));
    let (made, log) = make(&at, "R-1", Bytes::mib(1));
    assert_eq!((made.unwrap_err().kind, log.len()), (Kind::Preflight, 0));
    let before = bench.hash();
    bench.undo_last();
    assert_eq!(bench.hash(), before);
    let at = bench.mount_with(&device, "rw");
    make(&at, "R-1", Bytes::mib(1)).0.unwrap();
}

#[test]
fn a_file_system_without_direct_io_says_so() {
    // Files of proc cannot be read past the page cache, because there is none.
    let facts = inspect("/proc/version").unwrap();
    let reading = prepare(&facts, &Permission::default(), &Need::Read, &mut |_| {}).unwrap();
    let refused = reading.open(false, true).unwrap_err();
    assert_eq!(refused.kind, Kind::Preflight);
    assert!(refused.message.en.contains("O_DIRECT") && refused.hint.is_some());
    reading.open(false, false).unwrap();
}

#[test]
fn direct_io_works_on_a_test_file_where_the_file_system_takes_it() {
    let dir = scratch();
    let made = make(dir.path(), "R-1", Bytes::mib(1)).0.unwrap();
    for writable in [true, false] {
        assert!(made.open(writable, true).unwrap().is_direct());
    }
}

#[test]
fn what_is_not_there_or_is_no_storage_is_a_usage_error() {
    for name in ["/nonexistent/x", "no-such-device", "", "serial:nobody", "/dev/urandom"] {
        let error = inspect(name).unwrap_err();
        assert_eq!(error.kind, Kind::Usage, "{name}: {error}");
        assert_ne!(error.message.en, error.message.ru);
    }
}

#[test]
fn a_directory_tells_its_file_system_and_its_room() {
    let dir = scratch();
    let facts = look(dir.path());
    assert!(facts.size >= facts.free && facts.size > Bytes(0));
    assert!(facts.file_system.is_some() && facts.mount_options.is_some());
    assert!(facts.logical_block.0.is_power_of_two() && facts.physical_block >= facts.logical_block);
}

/// A `.stend-dead` with a test file, data of an application, and a marker of a process that is gone.
fn left_by_a_dead_run(parent: &Path) -> PathBuf {
    let dead = parent.join(".stend-dead");
    std::fs::create_dir_all(dead.join("app/deep")).unwrap();
    let marker = r#"{"pid":1,"started":1,"boot_id":"an earlier one","run_id":"dead","run_file":"/runs/dead.stend"}"#;
    std::fs::write(dead.join("marker"), marker).unwrap();
    std::fs::write(dead.join("data"), vec![0; 4096]).unwrap();
    std::fs::write(dead.join("app/first"), "of the application").unwrap();
    dead
}

#[test]
fn what_is_mounted_in_what_a_dead_run_left_is_not_emptied_and_nothing_is_removed() {
    let Some(mut bench) = Bench::new("what_is_mounted_in_what_a_dead_run_left_is_not_emptied_and_nothing_is_removed")
    else {
        return;
    };
    // In the same file system, where device numbers do not differ, and in another one; a directory, a file, and all of it.
    for (number, (what, inside)) in
        [("bind", "app/deep"), ("tmpfs", "app/deep"), ("bind", "data"), ("bind", "app"), ("bind", "")]
            .iter()
            .enumerate()
    {
        let parent = bench.dir().join(format!("parent{number}"));
        let precious = parent.join("precious");
        let dead = left_by_a_dead_run(&parent);
        let at = dead.join(inside);
        match *inside {
            "data" => std::fs::write(&precious, "thesis").unwrap(),
            "" => drop(left_by_a_dead_run(&precious)),
            _ => std::fs::create_dir_all(&precious).unwrap(),
        }
        // What lies in a directory that looks like what a dead run left is removed by nothing that stands on the mount either.
        let from = if inside.is_empty() { precious.join(".stend-dead") } else { precious.clone() };
        match *what {
            "bind" => run(&["mount", "--bind", from.to_str().unwrap(), at.to_str().unwrap()]),
            _ => run(&["mount", "-t", "tmpfs", "none", at.to_str().unwrap()]),
        };
        bench.undo_with(&["umount", at.to_str().unwrap()]);
        if at.is_dir() && !inside.is_empty() {
            std::fs::write(at.join("thesis"), "thesis").unwrap();
        }
        let before = run(&["find", parent.to_str().unwrap()]);
        let facts = look(&parent);
        let mounted = Refusal::MountInLeftover { at: at.display().to_string().trim_end_matches('/').to_string() };
        assert_eq!(facts.access, WriteAccess::Refused(vec![mounted]), "{what} {inside}");
        let refused = make(&parent, "R-1", Bytes::mib(1)).0.unwrap_err();
        assert_eq!(refused.kind.exit_code(), 5, "{refused}");
        assert!(refused.to_string().contains(".stend-dead"), "{refused}");
        assert!(refused.hint.as_ref().unwrap().en.contains("findmnt"), "{refused}");
        // It was mounted after the look.
        let stale = TargetFacts { access: WriteAccess::OwnDirectory, ..facts };
        let late = prepare(&stale, &Permission::default(), &need("R-1", Bytes::mib(1)), &mut |_| {}).unwrap_err();
        assert_eq!(late.kind.exit_code(), 5, "{late}");
        assert_eq!(run(&["find", parent.to_str().unwrap()]), before);
        bench.undo_last();
        make(&parent, "R-1", Bytes::mib(1)).0.unwrap().undo(&mut |_| {}).unwrap();
        assert_eq!(entries(&parent), [precious], "{what} {inside}");
    }
}

#[test]
fn what_was_mounted_in_the_directory_of_a_run_outlives_the_run() {
    let Some(mut bench) = Bench::new("what_was_mounted_in_the_directory_of_a_run_outlives_the_run") else { return };
    let parent = bench.dir().join("parent");
    std::fs::create_dir(&parent).unwrap();
    let made = make(&parent, "R-1", Bytes::mib(1)).0.unwrap();
    let at = parent.join(".stend-R-1/app/deep");
    std::fs::create_dir_all(&at).unwrap();
    run(&["mount", "-t", "tmpfs", "none", at.to_str().unwrap()]);
    bench.undo_with(&["umount", at.to_str().unwrap()]);
    std::fs::write(at.join("thesis"), "thesis").unwrap();
    let refused = made.undo(&mut |_| {}).unwrap_err();
    assert_eq!(refused.kind.exit_code(), 5, "{refused}");
    assert!(refused.message.en.contains(&format!("mounted at `{}`", at.display())), "{refused}");
    assert_eq!(std::fs::read(at.join("thesis")).unwrap(), b"thesis");
    // With its marker it is found and removed once nothing is mounted there.
    assert!(parent.join(".stend-R-1/marker").exists() && parent.join(".stend-R-1/data").exists());
}

#[test]
fn what_another_user_puts_there_neither_blocks_nor_is_removed_and_is_told() {
    let Some(bench) = Bench::new("what_another_user_puts_there_neither_blocks_nor_is_removed_and_is_told") else {
        return;
    };
    let parent = bench.dir().join("parent");
    // One that looks dead, and one that a process of that user holds and will hold for ever.
    let dead = left_by_a_dead_run(&parent);
    let held = parent.join(".stend-held");
    std::fs::create_dir(&held).unwrap();
    std::fs::write(held.join("marker"), "forged").unwrap();
    let lock = std::fs::File::open(held.join("marker")).unwrap();
    lock.lock().unwrap();
    run(&["chown", "-R", "12345", dead.to_str().unwrap(), held.to_str().unwrap()]);
    let before = run(&["find", parent.to_str().unwrap()]);
    assert_eq!(look(&parent).access, WriteAccess::OwnDirectory);
    let (made, log) = make(&parent, "R-1", Bytes::mib(1));
    for path in [&dead, &held] {
        let told = format!("leave {}, which belongs to user 12345", path.display());
        assert!(log.iter().any(|step| step.starts_with(&told)), "{log:?}");
    }
    made.unwrap().undo(&mut |_| {}).unwrap();
    assert_eq!(run(&["find", parent.to_str().unwrap()]), before);
    // The same of our own does block.
    run(&["chown", "-R", "0", held.to_str().unwrap()]);
    assert!(matches!(look(&parent).access, WriteAccess::Refused(_)));
}
