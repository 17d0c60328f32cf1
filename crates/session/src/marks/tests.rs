//! The file of marks: whole, of several writers, and read only where it may be.

use super::*;
use std::os::unix::fs::PermissionsExt;
use stend_analyse::journal::marks::MarkKind;

const NOW: i64 = 1_795_296_600;

fn muted(object: &str) -> Mark {
    Mark {
        host: "nas".into(),
        object: object.into(),
        rule: None,
        mark: MarkKind::Muted { until_unix_s: NOW + 60 },
        by: "anna".into(),
        at_unix_s: NOW,
        comment: Some("new \"fan\", Tür 4".into()),
    }
}

/// A directory with a recording.
fn recording() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.stend");
    std::fs::write(&file, "").unwrap();
    (dir, file)
}

#[test]
fn what_is_said_is_read_again_also_by_the_link_of_a_recording_that_lies_elsewhere() {
    let (dir, file) = recording();
    assert_eq!(marks(&file).unwrap(), Marks::default());
    let first = put(&file, muted("sda"), NOW).unwrap();
    assert_eq!(first, Marked { before: None, after: Some(muted("sda")) });
    let runs = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(&file, runs.path().join("b.stend")).unwrap();
    let link = runs.path().join("b.stend");
    assert_eq!(marks(&link).unwrap().all(), [muted("sda")]);
    let again = put(&link, Mark { by: "ben".into(), ..muted("sda") }, NOW).unwrap();
    assert_eq!(again.before, Some(muted("sda")));
    assert_eq!(take(&file, &muted("sda"), NOW).unwrap().before.map(|mark| mark.by), Some("ben".into()));
    assert!(take(&file, &muted("sda"), NOW).unwrap_err().message.en.contains("not muted"));
    let left: Vec<_> = dir.path().read_dir().unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
    assert_eq!(std::fs::metadata(place(&file)).unwrap().permissions().mode() & 0o777, 0o644);
}

#[test]
fn writers_at_the_same_time_lose_nothing_of_each_other_and_a_reader_sees_whole_files() {
    let (_dir, file) = recording();
    std::fs::write(place(&file).with_extension("new"), "of a process that was killed").unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let file = &file;
            scope.spawn(move || {
                for n in 0..20 {
                    put(file, muted(&format!("sd{thread}-{n}")), NOW).unwrap();
                    marks(file).unwrap();
                }
            });
        }
    });
    assert_eq!(marks(&file).unwrap().all().len(), 80);
}

#[test]
fn a_writer_that_hangs_is_not_waited_for_for_ever() {
    let (dir, file) = recording();
    let held = File::open(dir.path()).unwrap();
    held.lock().unwrap();
    let error = put(&file, muted("sda"), NOW).unwrap_err();
    assert!(error.message.en.contains("another process"), "{error}");
}

#[test]
fn what_is_no_mark_is_refused_with_its_line_and_left_as_it_is() {
    let (_dir, file) = recording();
    put(&file, muted("sda"), NOW).unwrap();
    let good = std::fs::read_to_string(place(&file)).unwrap();
    let line = good.lines().nth(1).unwrap();
    let with = |from: &str, to: &str| format!("{good}{}\n", line.replace(from, to));
    for (text, place_of_it) in [
        (String::new(), ":1: "),
        (good.replace("\"schema_version\":1", "\"schema_version\":2"), ":1: "),
        (format!("{good}{{\n"), ":3: "),
        (format!("{good}\n"), ":3: "),
        (with("\"by\"", "\"from\""), ":3: "),
        (with("anna", "an\\u001b[2Jna"), ":3: "),
        (with("sda", &"x".repeat(300)), ":3: "),
        (with("\"until_unix_s\":", "\"until_unix_s\":-"), ":3: "),
        (with("muted", "deleted"), ":3: "),
        (format!("{good}{}\n", "[".repeat(100_000)), ":3: "),
    ] {
        std::fs::write(place(&file), &text).unwrap();
        let error = marks(&file).unwrap_err();
        assert!(error.message.en.contains(place_of_it) && error.place.is_some(), "{text:.200}: {error}");
        assert!(put(&file, muted("sdb"), NOW).is_err(), "{text:.200}");
        assert_eq!(std::fs::read_to_string(place(&file)).unwrap(), text);
    }
    std::fs::write(place(&file), vec![b'x'; SIZE_MAX as usize + 1]).unwrap();
    assert!(marks(&file).unwrap_err().message.en.contains("larger than 1 MiB"));
}

#[test]
fn more_than_a_thousand_marks_and_one_that_is_none_are_refused() {
    let (_dir, file) = recording();
    let many: Vec<Mark> = (0..MARKS_MAX).map(|n| muted(&format!("sd{n}"))).collect();
    std::fs::write(place(&file), lines::text(&Marks::new(many))).unwrap();
    assert!(put(&file, muted("one-more"), NOW).unwrap_err().message.en.contains("takes no more"));
    assert!(put(&file, muted("sd7"), NOW).is_ok(), "it takes the place of another");
    assert!(put(&file, muted("one-more"), NOW + 60).is_ok(), "what is over makes room");
    let comment = Some("a\nb".into());
    assert!(put(&file, Mark { comment, ..muted("sda") }, NOW).unwrap_err().message.en.contains("one line"));
}

#[test]
fn marks_that_would_be_too_large_are_not_called_too_many() {
    let (_dir, file) = recording();
    let long = |n: usize| Mark { comment: Some("ж".repeat(500)), ..muted(&format!("sd{n}")) };
    let head = lines::text(&Marks::default()).len();
    let each = lines::text(&Marks::new(vec![long(1000)])).len() - head;
    let count = (SIZE_MAX as usize - head) / each;
    assert!(count < MARKS_MAX, "{count}");
    let text = lines::text(&Marks::new((0..count).map(|n| long(1000 + n)).collect()));
    std::fs::write(place(&file), &text).unwrap();
    let error = put(&file, long(5000), NOW).unwrap_err();
    assert!(error.message.en.contains("larger than 1 MiB") && error.hint.is_some(), "{error}");
    assert_eq!(std::fs::read_to_string(place(&file)).unwrap(), text);
}

#[test]
fn a_file_of_another_user_mutes_nothing() {
    let (dir, file) = recording();
    put(&file, muted("sda"), NOW).unwrap();
    if this_user() != Some(0) {
        return;
    }
    std::os::unix::fs::chown(place(&file), Some(4242), None).unwrap();
    assert!(marks(&file).unwrap_err().message.en.contains("another user"));
    std::os::unix::fs::chown(dir.path(), Some(4242), None).unwrap();
    assert_eq!(marks(&file).unwrap().all().len(), 1, "the directory is theirs");
    put(&file, muted("sdb"), NOW).unwrap();
    assert_eq!(std::fs::metadata(place(&file)).unwrap().uid(), 4242, "and so is what root writes there");
}

#[test]
fn a_pipe_in_place_of_the_file_is_not_waited_for() {
    let (_dir, file) = recording();
    let made = std::process::Command::new("mkfifo").arg(place(&file)).status().unwrap();
    assert!(made.success());
    assert!(marks(&file).unwrap_err().message.en.contains("a pipe"));
}

#[test]
fn a_recorder_sees_what_changes_and_hears_what_is_wrong() {
    let (_dir, file) = recording();
    std::fs::write(place(&file), "x").unwrap();
    let (to, told) = std::sync::mpsc::channel();
    let watched = WatchedMarks::begin(&file, move |say| to.send(say.en).unwrap()).unwrap();
    assert!(told.recv().unwrap().contains("nothing is muted"));
    std::fs::remove_file(place(&file)).unwrap();
    put(&file, muted("sda"), NOW).unwrap();
    let begun = Instant::now();
    while watched.now().all().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(30));
        std::thread::yield_now();
    }
    assert_eq!(watched.now().all(), [muted("sda")]);
}

#[test]
fn a_problem_is_acknowledged_while_it_is_open_and_muted_whether_it_is_or_not() {
    let (_dir, file) = recording();
    let problem = |is_open| Occurrence { rule: "drive_hot".into(), object: "sda".into(), opened_unix_s: NOW, is_open };
    let author = Author { host: "nas", by: "anna", now: NOW, comment: Some("fan ordered") };
    let says = |is_open, what: &str, wish| mark(&file, &[problem(is_open)], what, wish, author);
    let key = problem(true).key();
    let after = says(true, &key, Wish::Acknowledge).unwrap().after.unwrap();
    assert_eq!((after.by.as_str(), after.comment.as_deref()), ("anna", Some("fan ordered")));
    for what in [key.clone(), problem(true).id()] {
        let again = says(true, &what, Wish::Acknowledge).unwrap();
        assert!(again.before.is_some() && again.after.is_some(), "it is open still, whatever was said of it");
    }
    assert!(says(false, &key, Wish::Acknowledge).unwrap_err().message.en.contains("is over"));
    assert!(says(false, &key, Wish::Mute { until: "1h" }).unwrap().after.is_some());
    assert!(says(true, "object:sda", Wish::Mute { until: "never" }).is_err());
    // A recording that was begun later knows of no such problem.
    assert!(mark(&file, &[], &key, Wish::Unmute, author).unwrap().before.is_some());
    assert!(says(true, &key, Wish::Unacknowledge).unwrap().before.is_some());
    assert!(says(true, &key, Wish::Unacknowledge).unwrap_err().message.en.contains("not acknowledged"));
    assert!(says(true, "object:md0", Wish::Unmute).unwrap_err().message.en.contains("not muted"));
}
