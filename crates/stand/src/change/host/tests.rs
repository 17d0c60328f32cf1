//! Changes of a host that is a directory: settings are files in it.

use super::*;
use crate::change::{run, setting};
use stend_base::Kind;

/// A host with two settings.
struct Host {
    tree: tempfile::TempDir,
    roots: Roots,
}

impl Host {
    fn new() -> Host {
        let tree = tempfile::tempdir().unwrap();
        let roots = Roots { run: tree.path().to_path_buf(), ..Roots::host() };
        let host = Host { tree, roots };
        host.put("a", "1");
        host.put("b", "2");
        host
    }

    fn at(&self, name: &str) -> String {
        self.tree.path().join(name).to_string_lossy().into_owned()
    }

    fn put(&self, name: &str, value: &str) {
        std::fs::write(self.at(name), value).unwrap();
    }

    fn values(&self) -> [String; 2] {
        ["a", "b"].map(|name| std::fs::read_to_string(self.at(name)).unwrap())
    }

    fn begin(&self, commands: bool) -> Result<HostChanges> {
        let owner = Owner { run_id: "R-test".into(), run_file: "/runs/R-test.stend".into(), ledger: None };
        HostChanges::begin(&self.roots, &owner, &Permission { commands, ..Permission::default() }, &mut |_| {})
    }

    /// Both settings changed by a run that is killed then.
    fn killed(&self) {
        let mut changes = self.begin(true).unwrap();
        for (number, name) in [(0, "a"), (1, "b")] {
            apply(&mut changes, number, &setting(&self.at(name), "9"));
        }
        let text = std::fs::read(path(&self.roots)).unwrap();
        drop(changes);
        std::fs::write(path(&self.roots), text).unwrap();
        self.put("a", "9");
        self.put("b", "9");
    }
}

fn apply(changes: &mut HostChanges, number: u32, change: &Change) {
    changes.note(number, change).unwrap();
    let mut watch = Watch { stopped: &|| false, log: &mut |_| {} };
    change.apply.iter().for_each(|action| changes.perform(action, &mut watch).unwrap());
}

#[test]
fn what_was_changed_is_undone_the_last_first_and_only_once() {
    let host = Host::new();
    let mut changes = host.begin(true).unwrap();
    apply(&mut changes, 0, &setting(&host.at("a"), "5"));
    apply(&mut changes, 1, &setting(&host.at("a"), "7"));
    assert_eq!((host.values(), changes.open()), (["7", "2"].map(String::from), vec![1, 0]));
    let mut told = Vec::new();
    changes.undo_all(&mut |event| told.push(event)).unwrap();
    assert_eq!(host.values(), ["1", "2"]);
    assert_eq!(told.len(), 1, "{told:?}");
    host.put("a", "6");
    changes.undo(0, &mut |_| panic!("it was undone")).unwrap();
    drop(changes);
    assert_eq!(host.values(), ["6", "2"], "what somebody else wrote since stays");
    assert!(!path(&host.roots).exists());
}

#[test]
fn what_is_dropped_is_undone_and_what_cannot_be_stays_noted() {
    let host = Host::new();
    let mut changes = host.begin(true).unwrap();
    apply(&mut changes, 0, &setting(&host.at("a"), "5"));
    drop(changes);
    assert_eq!(host.values(), ["1", "2"]);
    let mut changes = host.begin(true).unwrap();
    let change = Change::unseen(Say::same(""), Vec::new(), [Action::User(vec!["false".into()])]);
    apply(&mut changes, 0, &change);
    drop(changes);
    let file = path(&host.roots);
    assert_eq!(left_behind(&host.roots), Some(format!("false && rm {}", file.display())));
    let error = host.begin(true).unwrap_err();
    assert!(error.message.en.contains("cannot be undone: `false` failed"), "{error}");
    assert!(error.hint.unwrap().en.contains("`false && rm "));
}

#[test]
fn an_undo_that_fails_is_told_and_the_rest_is_undone() {
    let host = Host::new();
    let mut changes = host.begin(true).unwrap();
    apply(&mut changes, 0, &setting(&host.at("a"), "5"));
    let two = [Action::User(vec!["false".into()]), run("touch", &[&host.at("touched")])];
    apply(&mut changes, 1, &Change::unseen(Say::same(""), Vec::new(), two));
    let error = changes.undo_all(&mut |_| {}).unwrap_err();
    let (touched, file) = (host.at("touched"), path(&host.roots).display().to_string());
    let line = format!("false && touch {touched} && rm {file}");
    assert!(error.hint.as_ref().unwrap().en.contains(&format!("to undo it: `{line}`")), "{error:?}");
    assert_eq!((host.values(), changes.open()), (["1", "2"].map(String::from), Vec::new()));
    assert!(std::path::Path::new(&touched).exists());
    drop(changes);
    assert_eq!(left_behind(&host.roots), Some(line), "no run measures the host as it is");
}

#[test]
fn of_several_undos_that_fail_each_is_in_the_line_from_the_first_on() {
    let host = Host::new();
    let mut changes = host.begin(true).unwrap();
    let exits = |code: &str| Action::User(["sh", "-c", &format!("exit {code}")].map(String::from).to_vec());
    let suspend = run("true", &["suspend"]);
    let undo = [suspend, exits("3"), run("true", &["resume"]), exits("4")];
    apply(&mut changes, 0, &Change::unseen(Say::same(""), Vec::new(), [exits("5")]));
    apply(&mut changes, 1, &Change::unseen(Say::same(""), Vec::new(), undo));
    let first = changes.undo(1, &mut |_| {}).unwrap_err();
    let line = "sh -c 'exit 3' && true resume && sh -c 'exit 4'";
    let file = path(&host.roots).display().to_string();
    assert!(first.message.en.contains("exit status: 3"), "{first}");
    assert!(first.hint.unwrap().en.contains(&format!("`{line} && rm {file}`")));
    let last = changes.undo_all(&mut |_| {}).unwrap_err();
    assert!(last.message.en.contains("exit status: 5"), "{last}");
    assert!(last.hint.unwrap().en.contains(&format!("`{line} && sh -c 'exit 5' && rm {file}`")));
    changes.undo_all(&mut |_| panic!("it is not tried again")).unwrap();
    drop(changes);
    let refused = host.begin(true).unwrap_err();
    assert!(refused.hint.unwrap().en.contains(&format!("`{line} && sh -c 'exit 5' && rm {file}`")));
}

#[test]
fn what_a_killed_run_left_is_undone_by_the_next_if_commands_are_allowed() {
    let host = Host::new();
    host.killed();
    let (a, b, file) = (host.at("a"), host.at("b"), path(&host.roots).display().to_string());
    let line = format!("echo 2 > {b} && echo 1 > {a} && rm {file}");
    assert_eq!(left_behind(&host.roots), Some(line.clone()));
    let refused = host.begin(false).unwrap_err();
    assert!(refused.kind == Kind::Preflight && refused.hint.unwrap().en.contains(&line));
    assert_eq!(host.values(), ["9", "9"]);
    let changes = host.begin(true).unwrap();
    assert_eq!(host.values(), ["1", "2"]);
    assert!(changes.open().is_empty() && left_behind(&host.roots).is_none());
}

/// What a run that is killed leaves of a change that is undone so.
fn left_of(host: &Host, undo: Vec<(Condition, Action)>) -> String {
    let mut changes = host.begin(true).unwrap();
    changes.note(0, &Change { undo, ..Change::unseen(Say::same(""), Vec::new(), []) }).unwrap();
    let text = std::fs::read(path(&host.roots)).unwrap();
    drop(changes);
    std::fs::write(path(&host.roots), text).unwrap();
    left_behind(&host.roots).unwrap()
}

fn types(line: &str) -> bool {
    std::process::Command::new("sh").args(["-c", line]).status().unwrap().success()
}

#[test]
fn a_line_that_is_typed_later_erases_only_what_the_run_left_there() {
    const OURS: &str = "0f3c4a52-8d1e-4c7b-9a55-2e6d1f00aa11";
    // A drive that is an OSD of the stand, or by now a file system of somebody.
    for (label, is_erased) in [(format!("bluestore block device\n{OURS}\n"), true), ("precious".repeat(99), false)] {
        let host = Host::new();
        let drive = host.at("drive");
        let mark = Condition::Mark { device: drive.clone(), uuid: OURS.into() };
        let absent = Condition::Path(host.at("absent"));
        let no_process = Action::End { program: "no-such-program".into(), words: vec!["--id".into(), "1".into()] };
        let undo = vec![
            (Condition::Always, no_process),
            (absent, run("rm --", &[&host.at("absent")])),
            (mark, run("truncate --size=0", &[&drive])),
        ];
        host.put("drive", &label);
        // Nothing is undone while this run itself ends.
        let line = left_of(&host, undo);
        host.put("drive", &label);
        assert!(types(&line), "{line}");
        assert_eq!(std::fs::read_to_string(&drive).unwrap().is_empty(), is_erased, "{line}");
        assert!(!path(&host.roots).exists(), "the note goes with it");
    }
}

#[test]
fn a_line_of_which_a_part_fails_ends_there_and_its_note_stays() {
    let host = Host::new();
    let erase = run("truncate --size=0", &[&host.at("a")]);
    let undo = vec![(Condition::Always, run("false", &[])), (Condition::Always, erase)];
    let line = left_of(&host, undo);
    host.put("a", "precious");
    assert!(!types(&line), "{line}");
    assert_eq!(host.values()[0], "precious");
    assert!(path(&host.roots).exists());
}

#[test]
fn what_was_left_before_the_host_was_started_anew_is_forgotten() {
    let host = Host::new();
    host.killed();
    let file = path(&host.roots);
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace(&boot_id(&host.roots), "earlier")).unwrap();
    assert_eq!(left_behind(&host.roots), None);
    drop(host.begin(false).unwrap());
    assert_eq!(host.values(), ["9", "9"]);
}

#[test]
fn a_crash_between_the_note_and_the_change_leaves_nothing_to_undo() {
    let host = Host::new();
    let mut changes = host.begin(true).unwrap();
    changes.note(0, &setting(&host.at("a"), "5")).unwrap();
    host.put("a", "8");
    drop(changes);
    assert_eq!(host.values(), ["8", "2"]);
}

#[test]
fn one_run_at_a_time_changes_a_host() {
    let host = Host::new();
    let held = host.begin(true).unwrap();
    let refused = host.begin(true).unwrap_err();
    assert_eq!(refused.kind, Kind::Unsafe);
    assert!(refused.message.en.contains("/runs/R-test.stend"), "{refused}");
    assert_eq!(left_behind(&host.roots), None);
    drop(held);
    assert!(host.begin(true).is_ok());
}

#[test]
fn what_was_done_to_a_device_is_told_and_left_to_a_person() {
    let host = Host::new();
    host.killed();
    let file = path(&host.roots);
    let mut journal = Journal::open(&file, busy).unwrap().unwrap();
    let undo = vec![(Condition::Always, run("touch", &[&host.at("touched")]))];
    journal.append(Entry::Change { number: 2, undo }).unwrap();
    drop(journal);
    let refused = host.begin(true).unwrap_err();
    let hint = refused.hint.unwrap().en;
    assert!(
        refused.kind == Kind::Preflight && hint.contains(&format!("`touch {} && echo 2 > ", host.at("touched"))),
        "{hint}"
    );
    assert!(!std::path::Path::new(&host.at("touched")).exists() && file.exists());
    assert_eq!(host.values(), ["9", "9"]);
}
