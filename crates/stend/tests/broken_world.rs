//! What breaks while a run goes on: killed processes, full disks, failing and stalled targets. Each has
//! a defined end, and nothing that was measured is lost.

use crate::support::*;
use std::path::Path;
use std::time::Duration;
use stend_base::random::Random;

/// A suite that measures long enough to be interrupted: 40 trials of half a second.
fn long_suite(scratch: &Scratch) -> String {
    scratch.file("long.yaml", &SMALL.replace("blocks: 2", "blocks: 20"))
}

fn start(scratch: &Scratch, suite: &str, on: &str, run_file: &Path) -> Running {
    let words = ["run", suite, "--on", on, "-o", &run_file.to_string_lossy(), "--progress", "none"];
    Running::new(stend(scratch, &words).stdout(std::process::Stdio::null()))
}

/// Waits until the worker of a run exists and returns its process id.
fn worker(run: &Running) -> u32 {
    eventually("a worker", Duration::from_secs(60), || !run.workers().is_empty());
    run.workers()[0]
}

/// Trials in a run file, as they are read back.
fn trials(run_file: &Path) -> Vec<stend_record::TrialRecord> {
    stend_record::store::read(run_file).expect("the run file opens").trials
}

/// When what a run file has last was read.
fn last(run: &stend_record::RunRecord) -> Option<u64> {
    run.load().samples.last().map(|s| s.at.0).max(run.trials.last().map(|t| t.started.0))
}

fn signal(pid: u32, signal: &str) {
    tool(&["kill", signal, &pid.to_string()]);
}

#[test]
fn a_soft_stop_keeps_what_was_measured_and_cleans_up() {
    for (name, code) in [("-INT", 130), ("-TERM", 143)] {
        let scratch = Scratch::new();
        let (suite, target, file) = (long_suite(&scratch), scratch.directory("t"), scratch.join("r.stend"));
        let mut run = start(&scratch, &suite, &target, &file);
        let worker = worker(&run);
        eventually("three trials", Duration::from_secs(60), || {
            file.exists() && stend_record::store::read(&file).is_ok_and(|run| run.trials.len() > 3)
        });
        signal(run.child.id(), name);
        assert_eq!(run.wait(Duration::from_secs(60)), Some(code));
        assert!(!alive(worker), "the worker is gone");
        assert!(leftovers(&target).is_empty());
        let complete = trials(&file).iter().filter(|t| t.outcome.is_some()).count();
        assert!(complete >= 3, "{complete} trials");
        assert!(show_json(&scratch, &file)["state"].to_string().contains("interrupted"));
    }
}

#[test]
fn a_killed_worker_ends_the_run_with_its_own_exit_code_and_the_next_run_cleans_up() {
    let scratch = Scratch::new();
    let (suite, target, file) = (long_suite(&scratch), scratch.directory("t"), scratch.join("r.stend"));
    let mut run = start(&scratch, &suite, &target, &file);
    let worker = worker(&run);
    eventually("a trial", Duration::from_secs(60), || {
        stend_record::store::read(&file).is_ok_and(|run| run.trials.iter().any(|t| t.outcome.is_some()))
    });
    signal(worker, "-KILL");
    assert_eq!(run.wait(Duration::from_secs(60)), Some(8));
    assert!(show_json(&scratch, &file)["state"].to_string().contains("host_lost"));
    let suite = scratch.file("small.yaml", SMALL);
    let second = scratch.join("second.stend").to_string_lossy().into_owned();
    expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &target, "-o", &second]), 0);
    assert!(leftovers(&target).is_empty(), "the dead directory of the first run is removed too");
}

#[test]
fn a_coordinator_killed_at_random_moments_leaves_a_file_that_opens_and_no_load() {
    let seed = 20;
    let mut random = Random::new(seed);
    let mut missing = Vec::new();
    for round in 0..if is_nightly() { 100 } else { 5 } {
        let scratch = Scratch::new();
        let (suite, target, file) = (long_suite(&scratch), scratch.directory("t"), scratch.join("r.stend"));
        let mut run = start(&scratch, &suite, &target, &file);
        let worker = worker(&run);
        eventually("a run file", IN_TIME, || stend_record::store::read(&file).is_ok());
        // The moment itself is what is random here; nothing is waited for.
        std::thread::sleep(Duration::from_millis(random.below(4000)));
        let shown = last(&stend_record::store::read(&file).expect("the run file opens"));
        let killed_at = stend_wire::now();
        run.kill();
        eventually("the worker is gone", Duration::from_secs(60), || !alive(worker));
        assert!(leftovers(&target).is_empty(), "round {round}: {:?}", leftovers(&target));

        let record = stend_record::store::read(&file).unwrap_or_else(|e| panic!("seed {seed} round {round}: {e}"));
        assert_eq!(record.state, stend_record::RunState::Open, "round {round}");
        assert!(last(&record) >= shown, "seed {seed} round {round}: what a reader saw is lost");
        if let Some(last) = last(&record) {
            missing.push(Duration::from_nanos(killed_at.0.saturating_sub(last)));
        }
        let findings = show_json(&scratch, &file);
        assert!(findings["caveats"].to_string().contains("no_end"), "{findings}");
    }
    // Samples come once a second and at most the last second may be missing. Other programs can keep the CPU from a coordinator in one
    // round of five.
    missing.sort();
    let most = missing[(missing.len() - 1) * 4 / 5];
    assert!(most < Duration::from_millis(2500), "seed {seed}: {missing:?} are missing");
}

#[test]
fn a_full_disk_under_the_run_file_ends_the_run_with_what_was_measured() {
    if !root("a_full_disk_under_the_run_file_ends_the_run_with_what_was_measured") {
        return;
    }
    let scratch = Scratch::new();
    let (suite, target) = (long_suite(&scratch), scratch.directory("t"));
    let mount = Mount::new(&["-t", "tmpfs", "-o", "size=16m", "tmpfs"], scratch.join("small"));
    let file = mount.0.join("r.stend");
    let mut run = start(&scratch, &suite, &target, &file);
    eventually("a trial", Duration::from_secs(60), || {
        stend_record::store::read(&file).is_ok_and(|run| run.trials.len() > 1)
    });
    // Other users of the file system take the rest of it, also what is released later.
    let hog = mount.0.join("hog");
    let mut filled = std::fs::File::create(&hog).expect("a file");
    let mut code = None;
    for _ in 0..600 {
        while std::io::Write::write_all(&mut filled, &[0; 4 << 10]).is_ok() {}
        code = run.child.try_wait().expect("a child");
        if code.is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(code.and_then(|c| c.code()), Some(12));
    // The output says what became of both files.
    let mut told = String::new();
    let stream = run.child.stderr.take().expect("a stream");
    std::io::Read::read_to_string(&mut { stream }, &mut told).expect("text");
    assert!(told.contains("cannot write the run file"), "{told}");
    // Whether the report still finds room depends on who takes first what the run file gives back.
    match told.contains("cannot write the report") {
        true => assert!(told.contains("r.stend` holds what was measured"), "{told}"),
        false => {
            assert!(std::fs::read(mount.0.join("r.html")).is_ok_and(|page| page.ends_with(b"</html>\n")), "{told}")
        }
    }
    assert!(trials(&file).len() > 1);
    assert!(leftovers(&target).is_empty());
}

/// Cuts the file behind a loop device: beyond its end the device answers EIO.
fn cut(device: &Loop, len: u64) {
    std::fs::File::options().write(true).open(&device.backing).and_then(|f| f.set_len(len)).expect("truncated");
}

#[test]
fn a_target_that_begins_to_fail_is_counted_and_ends_with_its_own_exit_code() {
    if !root("a_target_that_begins_to_fail_is_counted_and_ends_with_its_own_exit_code") {
        return;
    }
    let scratch = Scratch::new();
    let (suite, file) = (long_suite(&scratch), scratch.join("r.stend"));
    let device = Loop::new(&scratch, "failing.img", 128 << 20);
    let mut run = start(&scratch, &suite, &device.device, &file);
    eventually("a trial", Duration::from_secs(60), || {
        stend_record::store::read(&file).is_ok_and(|run| run.trials.iter().any(|t| t.outcome.is_some()))
    });
    cut(&device, 16 << 20);
    assert_eq!(run.wait(Duration::from_secs(60)), Some(6));
    let trials = trials(&file);
    let errors = trials.iter().filter_map(|t| t.outcome.as_ref()).flat_map(|o| &o.errors);
    assert!(errors.filter(|e| e.errno == 5).map(|e| e.count).sum::<u64>() > 0, "EIO is counted");
    assert!(trials[0].outcome.as_ref().is_some_and(|o| o.errors.is_empty()), "what was measured before is kept");
    let findings = show_json(&scratch, &file);
    let checks = findings["cases"][0]["checks"].as_array().expect("checks");
    assert_eq!(checks.iter().find(|c| c["id"] == "H76").expect("H76")["status"], "fail");
}

#[test]
fn a_target_that_fails_from_the_start_is_said_with_the_byte() {
    if !root("a_target_that_fails_from_the_start_is_said_with_the_byte") {
        return;
    }
    let scratch = Scratch::new();
    let suite = scratch.file("small.yaml", SMALL);
    let device = Loop::new(&scratch, "failing.img", 128 << 20);
    cut(&device, 16 << 20);
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &device.device]), 6);
    assert!(stderr.contains("reading at byte") && stderr.contains("Input/output error"), "{stderr}");
}

#[test]
fn a_failed_run_tells_its_reason_once_whatever_failed() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    if !root("a_failed_run_tells_its_reason_once_whatever_failed") {
        return;
    }
    let scratch = Scratch::new();
    let open = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode));
    open(scratch.path(), 0o777).expect("a scratch directory for everybody");
    let program = scratch.join("program");
    copy_program(env!("CARGO_BIN_EXE_stend"), &program);
    let suite = scratch.file("small.yaml", SMALL);
    let (good, closed, gone) = (scratch.directory("good"), scratch.directory("closed"), scratch.join("gone"));
    let gone = gone.display().to_string();
    let full = Mount::new(&["-t", "tmpfs", "-o", "size=1m", "tmpfs"], scratch.join("full"));
    let (full, failing) = (full.0.display().to_string(), Loop::new(&scratch, "failing.img", 128 << 20));
    cut(&failing, 16 << 20);
    let mounted = Loop::new(&scratch, "mounted.img", 128 << 20);
    tool(&["mkfs.ext4", "-qF", &mounted.device]);
    let _mount = Mount::new(&[&mounted.device], scratch.join("mnt"));
    let identity = mounted.identity(&scratch);
    let (nobody, somebody) = (Some(65534), None);
    let failures: [(Option<u32>, &[&str], i32); 7] = [
        (somebody, &["--on", &gone], 2),
        (nobody, &["--on", &closed], 4),
        (nobody, &["--on", &mounted.device], 4),
        (somebody, &["--on", &mounted.device, "--confirm", &identity], 5),
        (somebody, &["--on", &full], 4),
        (somebody, &["--on", &failing.device], 6),
        (somebody, &["--on", &good, "--against", &gone], 2),
    ];
    for (user, words, code) in failures {
        for lang in ["en", "ru"] {
            let mut command = std::process::Command::new(&program);
            command.args(["run", &suite, "--progress", "none", "--lang", lang]).args(words);
            command.env("XDG_DATA_HOME", scratch.join(&format!("data-{user:?}"))).env("STEND_LEASES", scratch.path());
            if let Some(user) = user {
                command.uid(user).gid(user);
            }
            let (stdout, stderr) = expect_exit(&mut command, code);
            is_told_once(&stdout, &stderr.replace("ошибка: ", "error: ").replace("случай `", "case `"));
        }
    }
}

#[test]
fn a_target_that_stalls_shows_the_stall() {
    if !root("a_target_that_stalls_shows_the_stall") {
        return;
    }
    let scratch = Scratch::new();
    let suite = scratch.file(
        "stall.yaml",
        &SMALL
            .replace("op: read", "op: write")
            .replace("trial: 400ms", "trial: 2s")
            .replace("name: write", "name: write2"),
    );
    let image = scratch.join("fs.img");
    std::fs::File::create(&image).and_then(|f| f.set_len(512 << 20)).expect("an image");
    tool(&["mkfs.ext4", "-q", "-F", &image.to_string_lossy()]);
    let mount = Mount::new(&["-o", "loop", &image.to_string_lossy()], scratch.join("fs"));
    let on = mount.0.to_string_lossy().into_owned();
    let file = scratch.join("r.stend");
    let mut run = start(&scratch, &suite, &on, &file);
    eventually("a trial in progress", Duration::from_secs(60), || {
        stend_record::store::read(&file).is_ok_and(|run| run.trials.iter().any(|t| !t.slices.is_empty()))
    });
    tool(&["fsfreeze", "-f", &on]);
    std::thread::sleep(Duration::from_secs(20));
    tool(&["fsfreeze", "-u", &on]);
    assert_eq!(run.wait(Duration::from_secs(90)), Some(0));
    let findings = show_json(&scratch, &file);
    let longest = findings["cases"]
        .as_array()
        .expect("cases")
        .iter()
        .flat_map(|c| c["operations"].as_array().expect("operations"))
        .filter_map(|op| op["latency_max_ns"].as_u64())
        .max();
    assert!(longest > Some(15_000_000_000), "the stall of 20 s must show as a latency: {longest:?}");
    assert!(leftovers(&on).is_empty());
}

#[test]
fn a_kernel_that_forbids_io_uring_is_worked_around_and_said() {
    const MARK: &str = "STEND_TEST_FORBID_IO_URING";
    if let Some(words) = std::env::var_os(MARK) {
        // The child of this test: forbid io_uring for itself, then become the binary.
        stend_sys::seccomp::forbid_io_uring().expect("seccomp");
        let words = words.into_string().expect("UTF-8");
        let error = std::os::unix::process::CommandExt::exec(
            std::process::Command::new(env!("CARGO_BIN_EXE_stend")).args(words.split('\n')).env_remove(MARK),
        );
        panic!("exec: {error}");
    }
    let scratch = Scratch::new();
    let (suite, target) = (scratch.file("small.yaml", SMALL), scratch.directory("t"));
    let file = scratch.join("r.stend");
    let words = ["run", &suite, "--on", &target, "-o", &file.to_string_lossy()].join("\n");
    let name = "broken_world::a_kernel_that_forbids_io_uring_is_worked_around_and_said";
    let mut child = std::process::Command::new(std::env::current_exe().expect("this test"));
    child.args(["--exact", name, "--nocapture"]).env(MARK, words).env("LANG", "C");
    child.env("XDG_DATA_HOME", scratch.path());
    let (_, stderr) = expect_exit(&mut child, 0);
    assert!(stderr.contains("libaio"), "{stderr}");
    let findings = show_json(&scratch, &file);
    assert!(findings["caveats"].to_string().contains("fallback"), "{findings}");
    let engine = trials(&file)[0].outcome.clone().expect("an outcome").engine;
    assert_eq!(engine.backend, "libaio");
}

/// A full pipe that is never read: a write to it waits.
fn full_pipe() -> (std::io::PipeReader, std::io::PipeWriter) {
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    let room = rustix::pipe::fcntl_getpipe_size(&writer).expect("its size");
    std::io::Write::write_all(&mut writer, &vec![0; room]).expect("room for so much");
    (reader, writer)
}

/// Whether a thread of a process waits in a write to its standard output.
fn waits_for_its_reader(pid: u32) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let calls = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("syscall")).ok());
    // Number of the system call, then the descriptor.
    let write = if cfg!(target_arch = "x86_64") { "1 0x1 " } else { "64 0x1 " };
    calls.into_iter().any(|call| call.starts_with(write))
}

/// Words with which a verb has something to print; none of those that other tests have end while they do what they are for.
fn words_of<'a>(verb: &'a str, target: &'a str, files: &'a [String; 3]) -> Vec<&'a str> {
    let [table, page, fio] = files;
    match verb {
        // `a_soft_stop_keeps_what_was_measured_and_cleans_up`, `sigterm_ends_the_verb_that_waits_for_a_run_and_not_the_run`
        "run" | "stop" => Vec::new(),
        // Prints notes and no result.
        "hosts" => Vec::new(),
        // Ends as a whole recording: `a_recording_ends_whole_by_a_signal_and_a_killed_one_has_what_was_read`
        "record" => Vec::new(),
        "top" => vec!["top", "--json"],
        "audit" => vec!["audit", table],
        // What waits depends on recordings.
        "notify" => vec!["notify", "--help"],
        "bundle" => vec!["bundle", "--dry-run", "--quick"],
        "compare" => vec!["compare", "last", "R-20261121T213000Z-aaaa"],
        "completions" => vec!["completions", "bash"],
        "export" => vec!["export", "last", "--format", "json"],
        "import" => vec!["import", fio],
        "inspect" | "man" => vec![verb, target],
        "lab" => vec!["lab", "list"],
        // What it says else depends on machines that another test has up at the time.
        "vm" => vec!["vm", "--help"],
        "help" => vec!["help", "run"],
        "report" => vec!["report", "last", "-o", page],
        "rm" => vec!["rm", "last", "--yes"],
        "serve" => vec!["serve", "--listen", "127.0.0.1:0"],
        "journal" | "show" | "watch" => vec![verb, "last"],
        "stand" => vec!["stand", "status"],
        "doctor" | "list" | "monitoring" | "stands" | "suites" => vec![verb],
        other => panic!("with which words does `{other}` print something?"),
    }
}

#[test]
fn sigterm_ends_every_verb_while_it_waits_for_its_reader_and_leaves_nothing_half_made() {
    for verb in verbs(&Scratch::new()) {
        let scratch = Scratch::new();
        crate::support::fixed_run::two_runs(&scratch);
        let target = scratch.directory("t");
        let fio = concat!(env!("CARGO_MANIFEST_DIR"), "/../interop/tests/fixtures/fio-2.21.json");
        let files = [
            scratch.file("table.csv", "source,test,metric,unit,value\nx,read,iops,IOPS,1000\n"),
            scratch.join("page.html").display().to_string(),
            fio.to_string(),
        ];
        let words = words_of(&verb, &target, &files);
        if words.is_empty() {
            continue;
        }
        let (_reader, writer) = full_pipe();
        let mut command = stend(&scratch, &words);
        let mut running = Running::new(command.stdout(writer).stderr(std::process::Stdio::null()));
        let pid = running.child.id();
        eventually(&format!("output of {words:?}"), Duration::from_secs(90), || waits_for_its_reader(pid));
        let workers = running.workers();
        signal(pid, "-TERM");
        assert_eq!(running.wait_as_shell(IN_TIME), Some(143), "{words:?}");
        eventually("no worker", IN_TIME, || !workers.iter().any(|pid| alive(*pid)));
        assert!(leftovers(&target).is_empty() && leftovers(&scratch.path().to_string_lossy()).is_empty());
        // What had been written by then is whole.
        if verb == "report" {
            assert!(std::fs::read_to_string(&files[1]).expect("the page").trim_end().ends_with("</html>"));
        }
    }
}
