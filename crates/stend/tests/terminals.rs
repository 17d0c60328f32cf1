//! On a real terminal: one that goes away, one of forty columns, and those who want no colours.

use crate::support::fixed_run::{FixedRun, two_runs};
use crate::support::*;
use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Action, Winsize, tcflow, tcsetwinsize};
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// A pseudo-terminal: our end, and the one that programs get.
struct Terminal {
    ours: File,
    theirs: File,
}

impl Terminal {
    fn new(columns: u16) -> Terminal {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a pseudo-terminal");
        grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("unlocked");
        let name = ptsname(&ours, Vec::new()).expect("a name");
        // Neither end may leak into the children of tests beside this one: then nothing ever hangs up.
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let theirs: OwnedFd = rustix::fs::open(&name, flags, rustix::fs::Mode::empty()).expect("the other end");
        let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&theirs, size).expect("a size");
        Terminal { ours: ours.into(), theirs: theirs.into() }
    }

    /// The binary with this terminal as its own: in a session that it leads.
    fn stend(&self, scratch: &Scratch, arguments: &[&str]) -> Command {
        let plain = stend(scratch, arguments);
        let mut command = Command::new("setsid");
        command.arg("--ctty").arg(plain.get_program()).args(plain.get_args());
        for (name, value) in plain.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let end = || self.theirs.try_clone().expect("a descriptor");
        command.env("TERM", "xterm").env_remove("COLUMNS").env_remove("NO_COLOR");
        command.stdin(end()).stdout(end()).stderr(end());
        command
    }

    /// Everything that a command shows until it ends, which it must do well.
    fn show(self, command: &mut Command) -> String {
        let (shown, code) = self.show_any(command);
        assert_eq!(code, Some(0), "{shown}");
        shown
    }

    /// Everything that a command shows until it ends, and its exit code.
    fn show_any(self, command: &mut Command) -> (String, Option<i32>) {
        let mut child = command.spawn().expect("the binary starts");
        // Only they hold the other end now: reading ends with them.
        command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null());
        command.stderr(std::process::Stdio::null());
        drop(self.theirs);
        let (mut ours, mut bytes, mut piece) = (self.ours, Vec::new(), [0; 4096]);
        // The last one to close the other end makes reading fail.
        while let Ok(read @ 1..) = ours.read(&mut piece) {
            bytes.extend(&piece[..read]);
        }
        let shown = String::from_utf8(bytes).expect("UTF-8").replace('\r', "");
        (shown, child.wait().expect("an end").code())
    }
}

/// Text without escape codes.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' => rest.by_ref().take_while(|c| !c.is_ascii_alphabetic()).for_each(drop),
            c => out.push(c),
        }
    }
    out
}

#[test]
fn at_a_terminal_rm_shows_what_goes_and_removes_it_only_when_told_so() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let file = scratch.join("stend/runs/R-20261121T213000Z-aaaa.stend");
    for (answer, stays) in [("\n", true), ("n\n", true), ("yes\n", false)] {
        let terminal = Terminal::new(100);
        std::io::Write::write_all(&mut &terminal.ours, answer.as_bytes()).expect("typed");
        let mut command = terminal.stend(&scratch, &["rm", "R-20261121"]);
        let shown = terminal.show(&mut command);
        assert!(shown.contains("R-20261121T213000Z-aaaa.stend") && shown.contains("[y/N]"), "{shown}");
        assert_eq!((file.exists(), shown.contains("nothing was removed")), (stays, stays), "{shown}");
    }
}

#[test]
fn a_run_whose_terminal_is_hung_up_goes_on_to_its_end() {
    let scratch = Scratch::new();
    let suite = scratch.file("small.yaml", &SMALL.replace("blocks: 2", "blocks: 4"));
    let (target, file) = (scratch.directory("target"), scratch.join("r.stend"));
    let terminal = Terminal::new(80);
    let words = ["run", &suite, "--on", &target, "-o", &file.to_string_lossy()];
    let mut run = Running::new(&mut terminal.stend(&scratch, &words));
    let mut ours = terminal.ours;
    drop(terminal.theirs);
    eventually("a trial", Duration::from_secs(60), || {
        stend_record::store::read(&file).is_ok_and(|run| run.trials.iter().any(|t| t.outcome.is_some()))
    });
    let mut seen = [0; 4096];
    assert!(ours.read(&mut seen).expect("progress") > 0);
    // The kernel hangs up: a signal to the leader of the session, and from now on errors for its writers.
    drop(ours);
    assert_eq!(run.wait(Duration::from_secs(120)), Some(0));
    let findings = show_json(&scratch, &file);
    assert_eq!(findings["state"]["state"], "complete");
    assert!(file.with_extension("html").exists(), "the report is written, too");
    assert!(leftovers(&target).is_empty());
}

#[test]
fn a_terminal_that_stands_still_does_not_hold_up_the_run() {
    let scratch = Scratch::new();
    let suite = scratch.file("small.yaml", &SMALL.replace("blocks: 2", "blocks: 6"));
    let (target, file) = (scratch.directory("target"), scratch.join("r.stend"));
    let terminal = Terminal::new(80);
    // As Ctrl-S does; its few kilobytes of buffer would fill up otherwise.
    tcflow(&terminal.theirs, Action::OOff).expect("stopped");
    let words = ["run", &suite, "--on", &target, "-o", &file.to_string_lossy()];
    let mut command = terminal.stend(&scratch, &words);
    let mut run = Running::new(&mut command);
    eventually("the end of the run", Duration::from_secs(120), || {
        stend_record::store::read(&file).is_ok_and(|run| run.state == stend_record::RunState::Complete)
    });
    assert!(leftovers(&target).is_empty());
    assert_eq!(run.child.try_wait().expect("a child"), None, "the result waits for the terminal");
    tcflow(&terminal.theirs, Action::OOn).expect("going on");
    assert_eq!(run.wait(IN_TIME), Some(0));
}

#[test]
fn on_forty_columns_every_line_fits_and_colours_come_only_where_they_are_wanted() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let suite = scratch.file("small.yaml", SMALL);
    let target = scratch.directory("target");
    let commands: [(&[&str], bool); 6] = [
        (&["show", "last"], true),
        (&["list"], false),
        (&["compare", "R-20261121", "last"], true),
        (&["inspect", "."], false),
        (&["doctor"], false),
        (&["run", &suite, "--on", &target, "--dry-run"], true),
    ];
    for (words, coloured) in commands {
        for (lang, no_color) in [("C", None), ("ru_RU.UTF-8", None), ("C", Some("1"))] {
            let terminal = Terminal::new(40);
            let mut command = terminal.stend(&scratch, words);
            command.env("LANG", lang).envs(no_color.map(|value| ("NO_COLOR", value))).current_dir(scratch.path());
            let shown = terminal.show(&mut command);
            let escapes = shown.contains('\u{1b}');
            assert!(!escapes || no_color.is_none(), "{words:?} with NO_COLOR: {shown:?}");
            assert!(escapes || !coloured || no_color.is_some(), "{words:?} without colours: {shown:?}");
            let cyrillic = shown.chars().any(|c| ('а'..='я').contains(&c));
            assert_eq!(cyrillic, lang != "C", "{words:?} in {lang}: {shown}");
            // What is there to be copied stays on one line, indented.
            let text = plain(&shown);
            let wide = |line: &&str| line.chars().count() > 40 && !line.starts_with("    ");
            assert_eq!(text.lines().find(wide), None, "{words:?}:\n{text}");
        }
    }
}

#[test]
fn a_live_run_on_forty_columns_ends_with_its_result() {
    let scratch = Scratch::new();
    let suite = scratch.file("small.yaml", SMALL);
    let (target, file) = (scratch.directory("target"), scratch.join("r.stend"));
    let terminal = Terminal::new(40);
    let words = ["run", &suite, "--on", &target, "-o", &file.to_string_lossy()];
    let mut command = terminal.stend(&scratch, &words);
    let shown = plain(&terminal.show(&mut command));
    assert!(shown.contains("measuring") && shown.contains("IOPS") && shown.contains("r.stend"), "{shown}");
    assert!(!shown.contains("panicked"), "{shown}");
    assert!(shown.chars().any(|c| ('▁'..='█').contains(&c)), "the rate is drawn: {shown}");
}

#[test]
fn an_error_on_forty_columns_is_broken_between_words() {
    let scratch = Scratch::new();
    let terminal = Terminal::new(40);
    let mut command = terminal.stend(&scratch, &["run", "quick", "--lang", "en"]);
    let (shown, code) = terminal.show_any(&mut command);
    let shown = plain(&shown);
    assert_eq!(code, Some(2));
    assert!(shown.lines().all(|line| line.chars().count() <= 40) && shown.lines().count() > 5, "{shown}");
    assert!(shown.replace('\n', " ").contains("in which a test file is made and removed"), "{shown}");
}

/// A formula that clears the screen, hides what follows, turns it around, goes back, and sets the title of the window.
const HOSTILE: &str = "=1+1\u{1b}[2J\u{9b}8m\u{202e}\u{8}\u{7f}\u{1b}]0;t\u{7}x";

/// A run file in which every name from outside is hostile, where `list` finds it.
fn hostile_run(scratch: &Scratch) -> PathBuf {
    let path = PathBuf::from(scratch.directory("stend/runs")).join("R-20261121T213000Z-evil.stend");
    let run =
        FixedRun { id: "R-20261121T213000Z-evil", started_unix: 1_795_296_600, seed: 1, kernel: HOSTILE, iops: 5000.0 };
    run.write(&path);
    let db = rusqlite::Connection::open(&path).expect("a database");
    let hostile = serde_json::to_string(HOSTILE).expect("JSON");
    let hostile = hostile.trim_matches('"');
    for name in ["small", "lab", "rand-read", "random-read", "read", "/srv"] {
        let [old, new] = [format!("\"{name}\""), format!("\"{hostile}{name}\"")];
        // Where a word must be one of ours it stays.
        let keys = "key NOT IN ('header') OR ?1 IN ('\"small\"')";
        db.execute(&format!("UPDATE meta SET body = replace(body, ?1, ?2) WHERE {keys}"), [&old, &new])
            .expect("changed");
    }
    path
}

#[test]
fn nothing_from_outside_steers_a_terminal_through_any_verb_or_format() {
    let scratch = Scratch::new();
    let run = hostile_run(&scratch).to_string_lossy().into_owned();
    let table = format!(
        "layout,test,jobs,metric,unit,value\n{HOSTILE}md,{HOSTILE},4,iops,IOPS,1000\n{HOSTILE}md,{HOSTILE},4,latency,ms,500\n"
    );
    let table = scratch.file("t.csv", &table);
    let bad_table = scratch.file("bad.csv", &format!("{HOSTILE},b\n1,{HOSTILE}\n"));
    let bad_value = scratch.file("value.csv", &format!("layout,test,metric,unit,value\na,b,iops,IOPS,{HOSTILE}\n"));
    let suite = scratch.file("bad.yaml", "suite: small\n\"=1\\e[2J\\x9b8m\": 1\n");
    let job = scratch.file("bad.fio", &format!("[{HOSTILE}]\nrw={HOSTILE}\n"));
    let target = scratch.directory("target");
    let foreign = format!("{HOSTILE}.yaml");
    let folder = scratch.directory("jobs");
    std::fs::write(format!("{folder}/{HOSTILE}.fio"), format!("[{HOSTILE}]\nbs=4k\n")).expect("a file");
    let gate = scratch.file("gate.yaml", "gate: \"=1\\e[2J\\x9b8m\"\n\"=1\\e[2J\": 1\n");
    let order = scratch.file("order.yaml", "order: 1\n\"=1\\e[2J\\x9b8m\": 1\n");
    let limit = format!("{HOSTILE} p99 < 5ms");
    let commands: Vec<Vec<&str>> = vec![
        vec!["show", &run],
        vec!["show", &run, "--json"],
        vec!["report", &run, "-o", "-"],
        vec!["export", &run, "--format", "csv"],
        vec!["export", &run, "--format", "csv-ru"],
        vec!["export", &run, "--format", "csv-trials"],
        vec!["export", &run, "--format", "json"],
        vec!["export", &run, "--format", "fio-json"],
        vec!["export", &run, "--format", "fio-job"],
        vec!["export", &run, "--format", HOSTILE],
        vec!["list"],
        vec!["list", "--json"],
        vec!["compare", &run, &run],
        vec!["compare", &run, &run, "--json"],
        vec!["compare", &run, "--published", &table],
        vec!["audit", &table],
        vec!["audit", &table, "--json"],
        vec!["audit", &table, "-o", "-"],
        vec!["audit", &bad_table],
        vec!["audit", &bad_table, "--json"],
        vec!["audit", &bad_value],
        vec!["import", &table],
        vec!["import", &bad_table],
        vec!["import", &job],
        vec!["import", "--suite", &job],
        vec!["import", "--suite", &foreign],
        vec!["watch", &run, "--progress", "none"],
        vec!["inspect", HOSTILE],
        vec!["inspect", HOSTILE, "--json"],
        vec!["run", &suite, "--on", &target, "--dry-run"],
        vec!["run", &foreign, "--on", &target],
        vec!["run", "quick", "--on", HOSTILE],
        vec!["show", HOSTILE],
        vec!["show", HOSTILE, "--json"],
        vec!["stop", HOSTILE],
        vec!["stand", "plan", &foreign],
        vec!["lab", "up", &foreign],
        vec!["lab", "down", HOSTILE],
        vec!["suites", HOSTILE],
        vec!["doctor", "--on", HOSTILE],
        vec![HOSTILE],
        vec!["show", "--no-such", HOSTILE],
        vec!["show", &run, "--expect", &limit],
        vec!["compare", &run, &run, "--gate", &gate],
        vec!["run", "--order", &order],
        vec!["run", "--rw", HOSTILE, "--on", &target],
        vec!["run", "--rw", "read", "--bs", HOSTILE, "--on", &target],
        vec!["import", "--suite", &folder],
        vec!["stands", HOSTILE],
        vec!["lab", "machines", HOSTILE],
        vec!["inspect", "--ssh", HOSTILE],
        vec!["doctor", "--ssh", HOSTILE],
        vec!["hosts", "clean", HOSTILE],
        vec!["rm", HOSTILE],
    ];
    let mut reached = 0;
    for words in &commands {
        for lang in ["C", "ru_RU.UTF-8"] {
            let terminal = Terminal::new(100);
            let mut command = terminal.stend(&scratch, words);
            command.env("LANG", lang).current_dir(scratch.path());
            let (shown, _) = terminal.show_any(&mut command);
            // Colours, and what draws the bar anew.
            let ours = ["0m", "1m", "2m", "31m", "33m", "36m", "2K", "1A", "1B"].map(|code| format!("\u{1b}[{code}"));
            let text = ours.iter().fold(shown.clone(), |text, code| text.replace(code, ""));
            let steers = |c: char| c.is_control() && c != '\n' && c != '\t' || ('\u{202a}'..='\u{202e}').contains(&c);
            assert_eq!(text.chars().find(|c| steers(*c)), None, "{words:?}: {text:?}");
            assert!(!text.contains("panicked"), "{words:?}: {text}");
            reached += usize::from(text.contains('\u{fffd}') || text.contains("u009b"));
        }
    }
    // Most of them do show what is hostile.
    assert!(reached > commands.len(), "{reached} of {}", 2 * commands.len());
}
