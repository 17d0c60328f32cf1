//! Directories of dead, live and foreign runs.

use super::*;
use crate::owner::boot_id;
use crate::users::stat_field;
use std::process::{Child, Command};
use stend_base::Kind;

fn owner(id: &str) -> Owner {
    Owner { run_id: id.into(), run_file: format!("/runs/{id}.stend"), ledger: None }
}

fn note(pid: u32, started: u64, boot_id: &str) -> String {
    Note { pid, started, boot_id: boot_id.into(), machine: None, owner: owner("old") }.to_text()
}

/// A `.stend-old` with a test file in it and the given marker, locked by nobody.
fn left_behind(parent: &Path, marker: &str) -> PathBuf {
    let path = parent.join(".stend-old");
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join("data"), "precious").unwrap();
    std::fs::write(path.join("marker"), marker).unwrap();
    path
}

/// Kills its process when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn what_a_dead_run_left_is_found_and_removed() {
    let parent = tempfile::tempdir().unwrap();
    let roots = Roots::host();
    let path = left_behind(parent.path(), &note(1, 1, &boot_id(&roots)));
    assert!(live(&roots, parent.path()).is_none());
    assert_eq!(dead(&roots, parent.path()), std::slice::from_ref(&path));
    remove_dead(&roots, &path).unwrap();
    assert!(!path.exists());
}

#[test]
fn what_filled_the_file_system_of_a_dead_run_goes_with_it() {
    let (parent, roots) = (tempfile::tempdir().unwrap(), Roots::host());
    let path = left_behind(parent.path(), &note(1, 1, &boot_id(&roots)));
    let fill = fill_in(parent.path(), "old");
    assert_eq!(fill.parent(), Some(path.as_path()));
    std::fs::write(&fill, "full").unwrap();
    assert_eq!(dead(&roots, parent.path()), std::slice::from_ref(&path));
    remove_dead(&roots, &path).unwrap();
    assert!(!path.exists());
}

#[test]
fn what_a_dead_run_left_to_be_judged_is_kept_as_long_as_its_ledger_is_there() {
    let (parent, roots) = (tempfile::tempdir().unwrap(), Roots::host());
    let ledger = parent.path().join("r.stend.ledger");
    std::fs::write(&ledger, "").unwrap();
    let owner = Owner { ledger: Some(ledger.display().to_string()), ..owner("old") };
    let note = Note { pid: 1, started: 1, boot_id: boot_id(&roots), machine: None, owner };
    let path = left_behind(parent.path(), &note.to_text());
    assert!(dead(&roots, parent.path()).is_empty() && live(&roots, parent.path()).is_none());
    assert_eq!(kept(&roots, parent.path()), [(path.clone(), note)]);
    assert!(remove_dead(&roots, &path).is_err() && path.join("data").exists());
    let left = |sizes: &[Bytes]| open_left(&roots, parent.path(), "old", sizes, false).unwrap();
    assert!(matches!(left(&[Bytes(8)]), Left::File(_)));
    assert!(matches!(left(&[Bytes(8), Bytes(8)]), Left::Emptied), "of two files neither is there");
    let facts = crate::inspect(&parent.path().display().to_string()).unwrap();
    let was_left = |id: &str| crate::was_left(&facts, id, &[Bytes(8)]);
    assert!(was_left("old") && !was_left("new"));
    std::fs::remove_file(&ledger).unwrap();
    assert_eq!(dead(&roots, parent.path()), std::slice::from_ref(&path));
    std::fs::write(path.join("foreign"), "").unwrap();
    assert!(matches!(left(&[Bytes(8)]), Left::Foreign));
    std::fs::remove_dir_all(&path).unwrap();
    assert!(matches!(left(&[Bytes(8)]), Left::Gone) && !was_left("old"), "its worker came to its end");
}

#[test]
fn what_a_run_before_the_restart_left_is_dead_even_if_its_pid_lives() {
    let parent = tempfile::tempdir().unwrap();
    let roots = Roots::host();
    let started = stat_field(Path::new("/proc/self"), 22).unwrap();
    left_behind(parent.path(), &note(std::process::id(), started, "another boot"));
    assert_eq!(dead(&roots, parent.path()).len(), 1);
}

#[test]
fn a_run_whose_process_lives_is_never_removed_and_dies_with_it() {
    let parent = tempfile::tempdir().unwrap();
    let roots = Roots::host();
    let mut child = Running(Command::new("sleep").arg("60").spawn().unwrap());
    let pid = child.0.id();
    let started = stat_field(&roots.proc.join(pid.to_string()), 22).unwrap();
    let path = left_behind(parent.path(), &note(pid, started, &boot_id(&roots)));
    assert_eq!(live(&roots, parent.path()), Some(Refusal::InUseByRun { pid, run: "/runs/old.stend".into() }));
    assert!(remove_dead(&roots, &path).is_err());
    child.0.kill().unwrap();
    child.0.wait().unwrap();
    assert_eq!(dead(&roots, parent.path()), [path]);
}

#[test]
fn a_directory_without_a_valid_marker_or_with_foreign_files_is_never_touched() {
    let roots = Roots::host();
    let valid = note(1, 1, &boot_id(&roots));
    let arrangements: [fn(&Path, &str); 5] = [
        |path, _| std::fs::remove_file(path.join("marker")).unwrap(),
        |path, _| std::fs::write(path.join("marker"), "not a note").unwrap(),
        |path, _| std::fs::write(path.join("thesis.tex"), "precious").unwrap(),
        |path, _| {
            std::fs::remove_file(path.join("data")).unwrap();
            std::os::unix::fs::symlink("/etc/passwd", path.join("data")).unwrap();
        },
        |path, marker| {
            std::fs::remove_file(path.join("marker")).unwrap();
            std::fs::create_dir(path.join("marker")).unwrap();
            std::fs::write(path.join("marker/x"), marker).unwrap();
        },
    ];
    for arrange in arrangements {
        let parent = tempfile::tempdir().unwrap();
        let path = left_behind(parent.path(), &valid);
        arrange(&path, &valid);
        assert!(dead(&roots, parent.path()).is_empty() && live(&roots, parent.path()).is_none());
        assert!(remove_dead(&roots, &path).is_err());
        assert!(path.exists());
    }
}

#[test]
fn a_link_to_a_dead_directory_is_not_followed() {
    let elsewhere = tempfile::tempdir().unwrap();
    let parent = tempfile::tempdir().unwrap();
    let roots = Roots::host();
    let path = left_behind(elsewhere.path(), &note(1, 1, &boot_id(&roots)));
    std::os::unix::fs::symlink(&path, parent.path().join(".stend-old")).unwrap();
    assert!(dead(&roots, parent.path()).is_empty());
}

#[test]
fn a_second_run_in_the_same_directory_is_refused_and_leaves_nothing() {
    let parent = tempfile::tempdir().unwrap();
    let roots = Roots::host();
    let first = TestFiles::make_directory(&roots, &directory_for(parent.path(), "a"), &owner("a")).unwrap();
    let second = directory_for(parent.path(), "b");
    let refused = TestFiles::make_directory(&roots, &second, &owner("b")).unwrap_err();
    assert_eq!(refused.kind, Kind::Unsafe);
    assert!(refused.message.en.contains("/runs/a.stend"), "{refused}");
    assert!(!second.exists() && first.directory.path().exists());
    drop(first);
    assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
}

#[test]
fn a_directory_name_that_exists_is_not_taken_over() {
    let parent = tempfile::tempdir().unwrap();
    let path = directory_for(parent.path(), "a");
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join("theirs"), "precious").unwrap();
    let refused = TestFiles::make_directory(&Roots::host(), &path, &owner("a")).unwrap_err();
    assert_eq!(refused.kind, Kind::Preflight);
    assert!(path.join("theirs").exists());
}

#[test]
fn more_files_than_may_be_open_are_refused_before_any_is_made() {
    assert!(must_be_openable(10_000, 1 << 20).is_ok() && must_be_openable(128, 1024).is_ok());
    let refused = must_be_openable(129, 1024).unwrap_err();
    assert!(refused.kind == Kind::Preflight && refused.message.en.contains("need 1028 open files"), "{refused}");
}

#[test]
fn a_live_run_removes_nothing_but_what_it_made() {
    let parent = tempfile::tempdir_in("/var/tmp").unwrap();
    let (roots, path) = (Roots::host(), directory_for(parent.path(), "a"));
    let mut made = TestFiles::make_directory(&roots, &path, &owner("a")).unwrap();
    made.allocate(&[Bytes::kib(4)]).unwrap();
    std::fs::write(path.join("data-00007"), "precious").unwrap();
    assert!(made.remove().is_err() && path.join("data-00007").exists(), "the directory is not empty");
    std::fs::remove_file(path.join("data-00007")).unwrap();
    made.remove().unwrap();
    assert!(!path.exists());
}

#[test]
fn many_files_are_made_opened_as_one_and_removed_and_what_a_dead_run_left_of_them_too() {
    let parent = tempfile::tempdir_in("/var/tmp").unwrap();
    let (roots, path) = (Roots::host(), directory_for(parent.path(), "a"));
    let mut made = TestFiles::make_directory(&roots, &path, &owner("a")).unwrap();
    assert!(made.allocate(&[Bytes::kib(8), Bytes::kib(4), Bytes::kib(8)]).unwrap());
    assert_eq!(made.data(), path);
    let writer = made.open(true, true).unwrap();
    assert_eq!((writer.count(), writer.grain()), (3, Some(4096)));
    drop(writer);
    let plain = made.open(true, false).unwrap();
    plain.write_at(&[7; 4096], 8192).unwrap();
    assert_eq!(std::fs::read(path.join("data-00001")).unwrap(), [7; 4096]);
    let mut data = [0; 4096];
    made.open(false, false).unwrap().read_at(&mut data, 8192).unwrap();
    assert_eq!(data, [7; 4096]);
    drop(plain);
    made.remove().unwrap();
    drop(made);
    assert!(!path.exists());

    let dead = left_behind(parent.path(), &note(1, 1, &boot_id(&roots)));
    (0..3).for_each(|i| std::fs::write(dead.join(format!("data-{i:05}")), "x").unwrap());
    remove_dead(&roots, &dead).unwrap();
    assert!(!dead.exists());
    let foreign = left_behind(parent.path(), &note(1, 1, &boot_id(&roots)));
    std::fs::write(foreign.join("data-1"), "precious").unwrap();
    assert!(remove_dead(&roots, &foreign).is_err() && foreign.join("data").exists(), "that name is none of ours");
}

#[test]
fn hosts_of_one_run_each_have_their_files_in_a_directory_that_they_share_and_nobody_else_has() {
    let (parent, roots) = (tempfile::tempdir().unwrap(), Roots::host());
    let make = |id: &str| TestFiles::make_directory(&roots, &directory_for(parent.path(), id), &owner(id));
    let (first, second) = (make("R-1").unwrap(), make("R-1-host1").unwrap());
    assert!(matches!(make("R-2"), Err(error) if error.kind == Kind::Unsafe));
    assert!(is_of_run(&directory_for(parent.path(), "R-1-host7"), "R-1-host1"));
    assert!(!is_of_run(&directory_for(parent.path(), "R-11"), "R-1") && !is_of_run(parent.path(), "R-1"));
    drop((first, second));
    assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
}

#[test]
fn what_another_host_removed_meanwhile_needs_no_removing() {
    let (parent, roots) = (tempfile::tempdir().unwrap(), Roots::host());
    remove_dead(&roots, &parent.path().join(".stend-gone")).unwrap();
}

#[test]
fn a_host_of_a_run_removes_what_its_killed_session_left_and_not_what_other_hosts_have() {
    let (parent, roots) = (tempfile::tempdir().unwrap(), Roots::host());
    let left = left_behind(parent.path(), &note(1, 1, &boot_id(&roots)));
    let for_run = |id: &str| dead_for(&roots, parent.path(), id);
    assert_eq!([for_run("old"), for_run("another")], [vec![left.clone()], vec![left.clone()]]);
    assert_eq!(for_run("old-host1"), Vec::<PathBuf>::new());
    std::fs::rename(&left, directory_for(parent.path(), "old-host1")).unwrap();
    assert_eq!([for_run("old").len(), for_run("old-host1").len()], [0, 1]);
}
