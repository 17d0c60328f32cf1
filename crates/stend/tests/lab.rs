//! Runs in virtual machines of the lab: what they measure, and that nothing stays of them. Under emulation, one machine at
//! a time, and as few starts as possible: each takes several seconds.

use crate::support::lab::{self, cached, ready};
use crate::support::*;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use stend_record::{EventKind, RunRecord, RunState, store};

/// Two guests at once only take the processors from each other.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A machine with one drive of a serial number that no other test uses.
struct Machine {
    file: String,
    serial: String,
}

impl Machine {
    fn new(scratch: &Scratch, number: u32, settings: &str, drive: &str) -> Machine {
        let serial = format!("T{}N{number}", std::process::id());
        let text =
            format!("machine: m\nmemory: 512MiB\n{settings}drives: [{{serial: {serial}, size: 64MiB{drive}}}]\n");
        Machine { file: scratch.file(&format!("machine{number}.yaml"), &text), serial }
    }

    /// The identity of its drive.
    fn identity(&self) -> String {
        lab::identity(&self.serial)
    }

    /// Process ids of the emulators that have it.
    fn emulators(&self) -> Vec<u32> {
        lab::emulators(&self.serial)
    }

    /// Runs a suite on its drive, which may be written; returns exit code, standard error and what the run file holds.
    fn run(&self, scratch: &Scratch, suite: &str) -> (i32, String, Option<RunRecord>) {
        self.run_with(scratch, suite, &["--confirm", &self.identity()])
    }

    /// The same with these permissions.
    fn run_with(&self, scratch: &Scratch, suite: &str, allow: &[&str]) -> (i32, String, Option<RunRecord>) {
        let (suite, file) = (scratch.file("suite.yaml", suite), scratch.join("run.stend"));
        let path = file.to_string_lossy().into_owned();
        let words = ["run", &suite, "--lab", &self.file, "--on", "/dev/nvme0n1", "--progress", "none", "-o", &path];
        let words: Vec<&str> = words.into_iter().chain(allow.iter().copied()).collect();
        let (code, _, stderr) = texts(&output(&mut stend(scratch, &words)));
        (code, stderr, store::read(&file).ok())
    }
}

/// A suite of these cases on a filled drive.
fn suite(cases: &str) -> String {
    format!(
        "suite: s\ndefaults: {{ramp: 100ms, trial: 500ms}}\nfill: {{size: 4MiB}}\nrepeats: {{blocks: 1}}\ncases:\n{cases}"
    )
}

const VERIFIED: &str = "  - name: verified\n    streams: [{op: {read: 50, write: 50}, pattern: random, block_size: 4KiB, queue_depth: 4, verify: {after: true}}]\n";

#[test]
fn a_suite_runs_in_a_guest_and_nothing_stays_of_it() {
    let (scratch, _alone) = (Scratch::new(), ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner));
    if !ready(&scratch, "a_suite_runs_in_a_guest_and_nothing_stays_of_it") {
        return;
    }
    let before = cached();
    let machine = Machine::new(&scratch, 1, "", ", iops: 200");
    let (code, stderr, run) = machine.run(&scratch, &suite(VERIFIED));
    assert_eq!(code, 0, "{stderr}");
    let run = run.expect("a run file");
    assert_eq!(run.state, RunState::Complete);
    let host = run.load().facts.clone().expect("facts of the host");
    assert_eq!((host.hostname.as_str(), host.cpus, host.root), ("lab", 1, true));
    assert_eq!(run.load().targets.first().and_then(|target| target.identity.clone()), Some(machine.identity()));
    // The guest's clock began with it; everything stands on ours all the same.
    let shift = run.events.iter().find_map(|event| match event.kind {
        EventKind::HostClock { shift_ns, .. } => Some(shift_ns),
        _ => None,
    });
    assert!(shift.is_some(), "{:?}", run.events);
    let trial = &run.trials[0];
    let outcome = trial.outcome.as_ref().expect("an outcome");
    assert!(trial.started <= outcome.load_start, "{:?} {:?}", trial.started, outcome.load_start);
    let minute = 60_000_000_000;
    assert!(outcome.window_end.0 < trial.started.0 + minute, "{:?} {:?}", trial.started, outcome.window_end);
    assert!(run.load().samples.iter().all(|sample| sample.at.0.abs_diff(trial.started.0) < 10 * minute), "one axis");
    let verification = outcome.verification.as_ref().expect("verified").all();
    assert!(verification.wrong() == 0, "{verification:?}");
    assert_eq!((machine.emulators(), cached()), (Vec::new(), before));
}

#[test]
fn a_killed_coordinator_takes_its_machine_with_it() {
    let (scratch, _alone) = (Scratch::new(), ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner));
    if !ready(&scratch, "a_killed_coordinator_takes_its_machine_with_it") {
        return;
    }
    let before = cached();
    let machine = Machine::new(&scratch, 2, "", "");
    let words = ["run", "quick", "--lab", &machine.file, "--on", "/dev/nvme0n1", "--progress", "none"];
    let mut running = Running::new(&mut stend(&scratch, &words));
    // Where QEMU cannot use KVM a second one follows the first.
    eventually("a machine", Duration::from_secs(60), || machine.emulators().len() == 1);
    running.child.kill().expect("killed");
    running.child.wait().expect("reaped");
    eventually("no machine", Duration::from_secs(60), || machine.emulators().is_empty());
    assert_eq!(cached(), before);
}

#[test]
fn a_machine_that_cannot_be_is_an_error_before_anything_runs() {
    let scratch = Scratch::new();
    let run = |file: &str, cache: Option<&str>, code| {
        let mut command = stend(&scratch, &["run", "quick", "--lab", file, "--on", "/dev/nvme0n1", "--lang", "ru"]);
        if let Some(cache) = cache {
            command.env("XDG_CACHE_HOME", cache);
        }
        expect_exit(&mut command, code).1
    };
    let wrong = scratch.file("wrong.yaml", "machine: m\ndrives: [{serial: A, size: 64MiB, iopz: 4}]\n");
    let told = run(&wrong, None, 3);
    assert!(told.contains("wrong.yaml:2:") && told.contains("неизвестный ключ `iopz`"), "{told}");
    assert!(run("/nowhere/m.yaml", None, 3).contains("не удаётся прочитать файл машины"));
    let machine = Machine::new(&scratch, 3, "", "");
    let empty = scratch.directory("empty");
    assert!(run(&machine.file, Some(&empty), 4).contains("`stend lab build`"));
    let (_, told) = expect_exit(stend(&scratch, &["lab", "build", "--offline"]).env("XDG_CACHE_HOME", &empty), 4);
    assert!(told.contains("not all packages of the guest are in"), "{told}");
    assert!(machine.emulators().is_empty());
}

#[test]
fn a_guest_that_does_not_start_shows_the_end_of_its_console() {
    let (scratch, _alone) = (Scratch::new(), ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner));
    if !ready(&scratch, "a_guest_that_does_not_start_shows_the_end_of_its_console") {
        return;
    }
    // More than any machine of a test has.
    let file = scratch.file("m.yaml", "machine: m\nmemory: 1TiB\ndrives: [{serial: A, size: 64MiB}]\n");
    let words = ["run", "quick", "--lab", &file, "--on", "/dev/nvme0n1"];
    let (_, stderr) = expect_exit(&mut stend(&scratch, &words), 8);
    assert!(stderr.contains("did not start") && stderr.contains("qemu-system-x86_64: "), "{stderr}");
}

/// The suite of one verified case that names this backend.
fn suite_by(backend: &str) -> String {
    suite(&VERIFIED.replace("streams:", &format!("backend: {backend}\n    streams:")))
}

#[test]
#[ignore = "takes minutes under emulation: `make lab` runs it"]
fn a_drive_with_queues_for_polling_is_polled_and_one_without_is_refused() {
    let (scratch, _alone) = (Scratch::new(), ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner));
    if !ready(&scratch, "a_drive_with_queues_for_polling_is_polled_and_one_without_is_refused") {
        return;
    }
    let polled = Machine::new(&scratch, 4, "nvme_poll_queues: 1\n", "");
    let (code, stderr, run) = polled.run(&scratch, &suite_by("io_uring_iopoll"));
    assert_eq!(code, 0, "{stderr}");
    let run = run.expect("a run file");
    let outcome = run.trials[0].outcome.as_ref().expect("an outcome");
    assert_eq!((outcome.engine.backend.as_str(), outcome.errors.len()), ("io_uring_iopoll", 0));
    let verification = outcome.verification.as_ref().expect("verified").all();
    assert!(verification.wrong() == 0 && verification.ok > 0, "{verification:?}");

    let other = Scratch::new();
    let plain = Machine::new(&other, 5, "", "");
    let (code, stderr, run) = plain.run(&other, &suite_by("io_uring_iopoll"));
    assert_eq!(code, 4, "{stderr}");
    assert!(stderr.contains("no queues for polling") && stderr.contains("nvme.poll_queues"), "{stderr}");
    assert!(run.is_none_or(|run| run.trials.is_empty()));
}

/// Bytes that are not zero in each sixteenth MiB of the drive, as the block device reads them past its page cache.
fn not_zero(run: &RunRecord) -> Vec<Vec<u64>> {
    let counts = |text: &str| text.split_whitespace().map(|count| count.parse().expect("a count")).collect();
    run.arms_entered().map(|(.., facts)| counts(&facts.observed[0].1)).collect()
}

/// Arms that only look at the drive when they are entered.
const LOOKS: &str = r#"observe:
  bytes: [/bin/busybox, sh, -c, 'b=/bin/busybox; echo 1 > /proc/sys/vm/drop_caches; for m in 0 16 32 48; do $b dd if=/dev/nvme0n1 bs=1M skip=$m count=16 2>/dev/null | $b tr -d "\000" | $b wc -c; done']
arms:
  - name: first
  - {name: second, switch: {command: [/bin/busybox, "true"], undo: [/bin/busybox, "true"]}}
"#;

#[test]
fn commands_write_what_the_block_device_reads_and_only_after_confirmation() {
    let (scratch, _alone) = (Scratch::new(), ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner));
    if !ready(&scratch, "commands_write_what_the_block_device_reads_and_only_after_confirmation") {
        return;
    }
    // Blocks of 4 KiB: an offset that was counted in blocks of 512 bytes would miss the region.
    let machine = Machine::new(&scratch, 6, "", ", logical_block_size: 4KiB");
    let of = |more: &str| format!("block_size: 16KiB, queue_depth: 4, {more}}}]\n");
    let written = of("op: write, pattern: sequential, region: {start: 16MiB, size: 16MiB}");
    let verified =
        of("op: {read: 50, write: 50}, pattern: random, region: {start: 16MiB, size: 16MiB}, verify: {after: true}");
    let case = |name: &str, stream: &str| format!("  - name: {name}\n    streams: [{{{stream}");
    let suite = format!(
        "suite: s\n{LOOKS}defaults: {{ramp: 0s, trial: 500ms, backend: nvme_passthrough}}\nrepeats: {{blocks: 1}}\ncases:\n{}{}",
        case("written", &written),
        case("verified", &verified)
    );
    let (code, stderr, run) =
        machine.run_with(&scratch, &suite, &["--allow-commands", "--confirm", &machine.identity()]);
    assert_eq!(code, 0, "{stderr}");
    let run = run.expect("a run file");
    assert_eq!(run.trials.len(), 4);
    for trial in &run.trials {
        let outcome = trial.outcome.as_ref().expect("an outcome");
        assert_eq!((outcome.engine.backend.as_str(), outcome.errors.len()), ("nvme_passthrough", 0));
        if let Some(verification) = &outcome.verification {
            let all = verification.all();
            assert!(all.wrong() == 0 && all.ok > 0, "{all:?}");
        }
    }
    let looks = not_zero(&run);
    assert_eq!(looks.first(), Some(&vec![0; 4]), "empty at first");
    let last = looks.last().expect("a second look");
    assert!(last[1] > 16 << 10, "{looks:?}");
    assert_eq!((last[0], last[2], last[3]), (0, 0, 0), "nothing beside the region: {looks:?}");

    let other = Scratch::new();
    let (code, stderr, run) = machine.run_with(&other, &suite, &["--allow-commands"]);
    assert_eq!(code, 5, "without a confirmation: {stderr}");
    assert!(run.is_none(), "nothing was done");
}

#[test]
#[ignore = "takes minutes under emulation: `make lab` runs it"]
fn a_drive_with_a_limit_is_named_as_the_bound_of_its_reads() {
    let scratch = Scratch::new();
    if !ready(&scratch, "a_drive_with_a_limit_is_named_as_the_bound_of_its_reads") {
        return;
    }
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let machine = Machine::new(&scratch, 9, "", ", iops: 400");
    let suite = "suite: c\ncalibrate: members\ndefaults: {ramp: 300ms, trial: 2s}\nrepeats: {blocks: 2}\ncases:\n  \
                 - {name: r, streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: 16}]}\n";
    let (code, stderr, _) = machine.run_with(&scratch, suite, &[]);
    assert_eq!(code, 0, "{stderr}");
    let case = &show_json(&scratch, &scratch.join("run.stend"))["cases"][0];
    let ceiling = &case["ceiling"];
    assert_eq!((&ceiling["bound"], &ceiling["uses"][0]["unit"]), (&"limited".into(), &"iops".into()), "{ceiling}");
    assert_eq!(ceiling["uses"][0]["resource"]["drives"]["devices"][0], "nvme0n1");
    let limit = ceiling["uses"][0]["ceiling_per_s"].as_f64().expect("a rate");
    assert!((380.0..=420.0).contains(&limit), "{ceiling}");
    let checks = case["checks"].as_array().expect("a list");
    assert_eq!(checks.iter().find(|check| check["id"] == "H07").expect("H07")["status"], "pass");
}
