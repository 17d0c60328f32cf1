//! A run that a crash ended goes on by judging what the crash did: everything that had been acknowledged is there, or the run
//! says what is not, and ends with exit code 7.

use crate::support::*;
use std::cell::RefCell;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use stend_record::{Aftermath, Crash, EventKind, RunState};

const BLOCK: usize = 4096;
/// Bytes that every sector of a verified block begins with.
const MAGIC: &[u8] = b"StendV01";
/// Kills of a running load; each is at another moment of it.
const KILLS: usize = 6;
/// Seconds of a load that is to be killed: so many that a slow machine sees its first writes before its end.
const LONG: u32 = 30;

/// A trial of that many seconds, over 1 MiB, whose crash is judged.
fn suite(scratch: &Scratch, seconds: u32) -> String {
    let text = format!(
        "suite: crash
defaults: {{ramp: 0s, trial: {seconds}s}}
fill: {{size: 1MiB}}
repeats: {{blocks: 1}}
cases:
  - name: log
    streams: [{{{DURABLE}, pattern: random, block_size: 4KiB, verify: {{crash: true}}}}]
"
    );
    scratch.file("crash.yaml", &text)
}

const DURABLE: &str = "op: {read: 20, write: 80}, queue_depth: 4, sync: dsync";

/// A run whose file, and with it the ledger, lies in memory: another drive than that of the target.
struct Bench {
    scratch: Scratch,
    elsewhere: tempfile::TempDir,
    target: String,
}

impl Bench {
    fn new() -> Bench {
        let scratch = Scratch::new();
        let elsewhere = tempfile::Builder::new().prefix("stend-e2e-").tempdir_in("/dev/shm").expect("a directory");
        let target = scratch.directory("target");
        Bench { scratch, elsewhere, target }
    }

    fn run_file(&self) -> PathBuf {
        self.elsewhere.path().join("r.stend")
    }

    fn ledger(&self) -> PathBuf {
        self.elsewhere.path().join("r.stend.ledger")
    }

    /// Begins or goes on, and kills both processes at once when `ready` is true. False: the run came to its end before.
    fn killed(&self, words: &[&str], ready: impl Fn(&Bench) -> bool) -> bool {
        let said = self.scratch.join("said");
        let errors = File::create(&said).expect("a file");
        let mut run = Running::new(stend(&self.scratch, words).stdout(std::process::Stdio::null()).stderr(errors));
        // The kernel's list of children may lack one for an instant.
        let workers = RefCell::new(Vec::new());
        eventually("the moment of the crash", IN_TIME, || {
            workers.replace(run.workers());
            ready(self) && !workers.borrow().is_empty() || !alive(run.child.id())
        });
        let workers = workers.into_inner();
        if workers.is_empty() {
            eprintln!("it ended before it was killed: {}", std::fs::read_to_string(said).unwrap_or_default());
            return false;
        }
        // Both at once: a worker that outlives its coordinator undoes everything in order.
        let all: Vec<String> = workers.iter().copied().chain([run.child.id()]).map(|pid| pid.to_string()).collect();
        let mut kill = vec!["-KILL"];
        kill.extend(all.iter().map(String::as_str));
        drop(std::process::Command::new("kill").args(kill).output());
        run.wait(Duration::from_secs(60));
        eventually("the worker is gone", IN_TIME, || !workers.iter().any(|pid| alive(*pid)));
        let is_pending = self.ledger().exists();
        if !is_pending {
            eprintln!("no ledger is left: {}", std::fs::read_to_string(said).unwrap_or_default());
        }
        is_pending
    }

    /// Kills a new run soon after its first writes were acknowledged.
    fn crash(&self) {
        let (suite, file) = (suite(&self.scratch, LONG), self.run_file());
        let words = ["run", &suite, "--on", &self.target, "-o", &file.to_string_lossy(), "--progress", "none"];
        assert!(self.killed(&words, |bench| bench.marked().len() > 24), "it was killed too late");
    }

    /// Number of the session whose ledger is there.
    fn session(&self) -> Option<[u8; 8]> {
        let mut number = [0; 8];
        File::open(self.ledger()).ok()?.read_exact_at(&mut number, 16).ok()?;
        Some(number)
    }

    fn data(&self) -> Option<File> {
        let made = leftovers(&self.target).into_iter().next()?;
        File::options().read(true).write(true).open(Path::new(&self.target).join(made).join("data")).ok()
    }

    /// Numbers of the blocks that the trial has written.
    fn marked(&self) -> Vec<u64> {
        let Some(file) = self.data() else { return Vec::new() };
        let mut block = vec![0; BLOCK];
        let mut is_marked =
            |n: &u64| file.read_exact_at(&mut block, n * BLOCK as u64).is_ok() && block.starts_with(MAGIC);
        (0..256).filter(|n| is_marked(n)).collect()
    }

    fn resume(&self, code: i32) -> (String, String) {
        expect_exit(&mut stend(&self.scratch, &["run", "--resume", &self.run_file().to_string_lossy()]), code)
    }

    fn judged(&self) -> Vec<Crash> {
        let run = stend_record::store::read(&self.run_file()).expect("the file opens");
        let crashes = run.events.iter().filter_map(|event| match &event.kind {
            EventKind::Crash(Aftermath::Judged(crash)) => Some(crash.as_ref().clone()),
            _ => None,
        });
        crashes.collect()
    }

    fn check(&self) -> serde_json::Value {
        let findings = show_json(&self.scratch, &self.run_file());
        let checks = findings["cases"][0]["checks"].as_array().expect("checks");
        checks.iter().find(|check| check["id"] == "H81").expect("H81").clone()
    }
}

#[test]
fn a_load_that_is_killed_again_and_again_goes_on_without_a_false_alarm() {
    let bench = Bench::new();
    let (suite, file) = (suite(&bench.scratch, LONG), bench.run_file());
    let path = file.to_string_lossy().into_owned();
    let first = ["run", &suite, "--on", &bench.target, "-o", &path, "--progress", "none"];
    let again = ["run", "--resume", &path, "--progress", "none"];
    let mut pending = 0;
    for kill in 0..KILLS {
        let words = if kill == 0 { &first[..] } else { &again[..] };
        // At another moment of each session, from the first acknowledgement on.
        let last = bench.session();
        let ready =
            |bench: &Bench| bench.session().is_some() && bench.session() != last && bench.marked().len() > 1 + kill * 5;
        pending += usize::from(bench.killed(words, ready));
    }
    bench.resume(0);
    let shown = show_all(&bench.scratch, &bench.run_file());
    let crashes = bench.judged();
    assert_eq!((crashes.len(), pending), (KILLS, KILLS), "{crashes:?}");
    assert!(crashes.iter().all(|crash| crash.wrong() == 0 && crash.acknowledged > 0 && !crash.rebooted), "{crashes:?}");
    assert!(shown.contains("6 crashes were judged"), "{shown}");
    let check = bench.check();
    assert_eq!(check["status"], "pass", "{check}");
    assert!(
        check["measured"]["en"].as_str().is_some_and(|text| text.contains("less than 39.3 % of crashes")),
        "{check}"
    );
    let html = std::fs::read_to_string(bench.elsewhere.path().join("r.html")).expect("a report");
    // Numbers keep their units by no-break spaces.
    let html = html.replace('\u{a0}', " ");
    assert!(html.contains("less than 39.3 % of crashes") && html.contains("6 crashes were judged"));
    let run = stend_record::store::read(&file).expect("the file opens");
    assert_eq!(run.state, RunState::Complete);
    assert!(leftovers(&bench.target).is_empty() && !bench.ledger().exists(), "what was kept is gone");
}

/// What check H81 says of a crash that did this to the blocks that had been written, in both languages.
fn found(spoil: impl Fn(&File, &[u64])) -> (String, String) {
    let bench = Bench::new();
    bench.crash();
    spoil(&bench.data().expect("the file is kept"), &bench.marked());
    let (stdout, stderr) = bench.resume(7);
    assert!(stderr.contains("data read back differ from data written"), "{stderr}");
    assert!(stdout.contains("Do not rely on these numbers: check H81"), "{stdout}");
    assert!(leftovers(&bench.target).is_empty() && !bench.ledger().exists());
    let check = bench.check();
    let text = |lang: &str| check["measured"][lang].as_str().expect("a text").to_string();
    (text("en"), text("ru"))
}

#[test]
fn acknowledged_writes_that_a_crash_took_are_named_and_end_the_run() {
    // More than can have been in flight, so that some of them had been acknowledged.
    let (en, ru) = found(|file, marked| {
        for number in &marked[..20] {
            file.write_all_at(&[0; BLOCK], number * BLOCK as u64).expect("a block");
        }
    });
    assert!(en.contains("lost") || en.contains("reordered"), "{en}");
    assert!(en.starts_with("1 of 1 crashes: ") && ru.starts_with("при 1 из 1 сбоев: "), "{en}\n{ru}");
}

#[test]
fn blocks_that_a_crash_moved_are_named_and_end_the_run() {
    let (en, ru) = found(|file, marked| {
        let mut other = vec![0; BLOCK];
        file.read_exact_at(&mut other, marked[0] * BLOCK as u64).expect("a block");
        file.write_all_at(&other, marked[1] * BLOCK as u64).expect("a block");
    });
    assert!(en.contains("1 misdirected") && ru.contains("не на своём месте"), "{en}\n{ru}");
}

#[test]
fn a_file_that_a_crash_took_whole_is_everything_lost() {
    let bench = Bench::new();
    bench.crash();
    let made = leftovers(&bench.target).remove(0);
    std::fs::remove_file(Path::new(&bench.target).join(made).join("data")).expect("the file is there");
    bench.resume(7);
    let crash = &bench.judged()[0];
    assert_eq!(crash.wrong(), crash.acknowledged, "{crash:?}");
}

#[test]
fn what_has_to_be_judged_is_kept_from_other_runs_listed_and_can_be_given_up() {
    let bench = Bench::new();
    bench.crash();
    let kept = leftovers(&bench.target);
    let small = bench.scratch.file("small.yaml", SMALL);
    let other = bench.scratch.join("other.stend").to_string_lossy().into_owned();
    let words = ["run", &small, "--on", &bench.target, "-o", &other, "--progress", "none"];
    expect_exit(&mut stend(&bench.scratch, &words), 0);
    assert_eq!(leftovers(&bench.target), kept, "another run leaves it");
    let doctor = |lang: &str| {
        let words = ["doctor", "--on", &bench.target, "--lang", lang];
        one_line(&texts(&output(&mut stend(&bench.scratch, &words))).1)
    };
    let (en, ru) = (doctor("en"), doctor("ru"));
    assert!(en.contains("is kept until its run is resumed") && en.contains("stend run --resume"), "{en}");
    assert!(ru.contains("хранится, пока его прогон не продолжат"), "{ru}");
    std::fs::remove_file(bench.ledger()).expect("the ledger is there");
    std::fs::remove_file(&other).expect("the run file is there");
    expect_exit(&mut stend(&bench.scratch, &words), 0);
    assert!(leftovers(&bench.target).is_empty(), "given up, it is removed");
}

#[test]
fn a_ledger_that_is_none_is_refused_with_the_reason() {
    let bench = Bench::new();
    bench.crash();
    let good = std::fs::read(bench.ledger()).expect("a ledger");
    std::fs::write(bench.ledger(), &good[..good.len() / 2]).expect("a ledger");
    let (_, stderr) = bench.resume(4);
    assert!(stderr.contains("is not a complete ledger") && stderr.contains("move the file away"), "{stderr}");
    assert!(!leftovers(&bench.target).is_empty(), "nothing was touched");
    std::fs::write(bench.ledger(), &good).expect("a ledger");
    bench.resume(0);
    assert_eq!(bench.judged().len(), 1);
}

#[test]
fn a_ledger_that_is_cut_while_a_load_runs_ends_the_run_and_kills_no_worker() {
    let bench = Bench::new();
    let (suite, file) = (suite(&bench.scratch, LONG), bench.run_file());
    let words = ["run", &suite, "--on", &bench.target, "-o", &file.to_string_lossy(), "--progress", "none"];
    let mut run = Running::new(stend(&bench.scratch, &words).stderr(std::process::Stdio::piped()));
    eventually("a load that writes", Duration::from_secs(60), || bench.marked().len() > 20);
    File::options().write(true).open(bench.ledger()).expect("the ledger").set_len(0).expect("cut");
    let stderr = run.child.stderr.take().expect("a stream");
    let told = std::io::read_to_string(stderr).expect("text");
    assert_eq!(run.wait(IN_TIME), Some(12), "{told}");
    assert!(told.contains("ledger is damaged"), "{told}");
    // No worker was lost: it ended in order, without its test file.
    assert!(leftovers(&bench.target).is_empty());
}

#[test]
fn a_ledger_on_the_drive_of_the_target_is_refused_before_anything_is_made() {
    let bench = Bench::new();
    let (suite, file) = (suite(&bench.scratch, LONG), bench.scratch.join("r.stend"));
    for dry in [false, true] {
        let mut words = vec!["run", &suite, "--on", &bench.target, "-o", file.to_str().expect("a name")];
        words.extend(dry.then_some("--dry-run"));
        let (_, stderr) = expect_exit(&mut stend(&bench.scratch, &words), 4);
        assert!(stderr.contains("a crash would hit both") && stderr.contains("-o FILE"), "{stderr}");
    }
    assert!(!file.exists() && leftovers(&bench.target).is_empty());
}

#[test]
fn a_run_that_is_not_hit_leaves_no_ledger() {
    let bench = Bench::new();
    let (suite, file) = (suite(&bench.scratch, 1), bench.run_file());
    expect_exit(&mut stend(&bench.scratch, &["run", &suite, "--on", &bench.target, "-o", &file.to_string_lossy()]), 0);
    assert!(!bench.ledger().exists() && leftovers(&bench.target).is_empty());
    assert_eq!(bench.check()["status"], "not_applicable");
}
