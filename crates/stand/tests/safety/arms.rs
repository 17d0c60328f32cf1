//! Arms on a real device: settings take, are put back, and a switch that fails leaves nothing behind.

use crate::bench::Bench;
use crate::checks::owner;
use std::path::PathBuf;
use stend_base::Kind;
use stend_record::EventKind;
use stend_spec::arm::{Switch, Tunable};
use stend_spec::permission::Permission;
use stend_stand::enter;

/// Settings of a loop device of this test's own, so that the machine is not touched.
struct Queue(PathBuf);

impl Queue {
    fn of(device: &str) -> Queue {
        Queue(PathBuf::from(device.replace("/dev/", "/sys/block/")).join("queue"))
    }

    fn value(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap().trim().to_string()
    }

    fn set(&self, name: &str, value: &str) -> Tunable {
        Tunable { path: self.0.join(name).to_string_lossy().into_owned(), value: value.into() }
    }
}

fn allowed() -> Permission {
    Permission { commands: true, ..Permission::default() }
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(String::from).collect()
}

#[test]
fn a_setting_takes_and_is_put_back() {
    let Some(mut bench) = Bench::new("a_setting_takes_and_is_put_back") else { return };
    let queue = Queue::of(&bench.disk(16));
    let before = queue.value("read_ahead_kb");
    let mut log = Vec::new();
    let switch = Switch::Tunables(vec![queue.set("read_ahead_kb", "68")]);
    let entered = enter(&switch, &owner(), &allowed(), &|| false, &mut |kind| log.push(kind)).unwrap();
    assert_eq!(queue.value("read_ahead_kb"), "68");
    let second = enter(&switch, &owner(), &allowed(), &|| false, &mut |_| {}).unwrap_err();
    assert_eq!(second.kind, Kind::Unsafe, "{second}");
    entered.leave(&mut |kind| log.push(kind)).unwrap();
    assert_eq!(queue.value("read_ahead_kb"), before);
    assert_eq!(log.iter().filter(|kind| matches!(kind, EventKind::Step { .. })).count(), 2);
    drop(enter(&switch, &owner(), &allowed(), &|| false, &mut |_| {}).unwrap());
    assert_eq!(queue.value("read_ahead_kb"), before, "a worker that is thrown away switches back too");
}

#[test]
fn a_switch_that_fails_half_way_leaves_nothing_changed() {
    let Some(mut bench) = Bench::new("a_switch_that_fails_half_way_leaves_nothing_changed") else { return };
    let queue = Queue::of(&bench.disk(16));
    let before = queue.value("read_ahead_kb");
    for second in [queue.set("nomerges", "many"), queue.set("rotational", "7")] {
        let switch = Switch::Tunables(vec![queue.set("read_ahead_kb", "68"), second]);
        let error = enter(&switch, &owner(), &allowed(), &|| false, &mut |_| {}).unwrap_err();
        assert_eq!(error.kind, Kind::Preflight, "{error}");
        assert_eq!(queue.value("read_ahead_kb"), before);
    }
}

#[test]
fn a_command_that_fails_is_undone_and_its_own_words_are_shown() {
    let Some(bench) = Bench::new("a_command_that_fails_is_undone") else { return };
    let file = bench.dir().join("made");
    let enter_words = ["sh".into(), "-c".into(), format!("touch {}; echo broken >&2; exit 1", file.display())];
    let leave = words(&format!("rm {}", file.display()));
    let switch = Switch::Command { enter: enter_words.to_vec(), leave: leave.clone() };
    let error = enter(&switch, &owner(), &allowed(), &|| false, &mut |_| {}).unwrap_err();
    assert!(error.message.en.ends_with("broken"), "{error}");
    assert!(!file.exists());
    let switch = Switch::Command { enter: words("true"), leave };
    let left = enter(&switch, &owner(), &allowed(), &|| false, &mut |_| {}).unwrap();
    let error = left.leave(&mut |_| {}).unwrap_err();
    // What could not be undone stays noted, for the next run and for a person.
    let hint = error.hint.unwrap().en;
    let (undo, note) = hint.split_once(" && rm ").expect("two commands");
    assert!(undo.ends_with(&format!("`rm {}", file.display())), "the error has the way to switch back: {hint}");
    let note = note.trim_end_matches('`');
    assert!(note.ends_with("/arm.lease"), "{note}");
    std::fs::remove_file(note).unwrap();
}
