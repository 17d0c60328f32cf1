//! Trials with programs that only pretend: shell scripts for the maker, the server and the client.

use super::*;
use crate::app::group::Group;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use stend_base::{MilliIops, Millionths};
use stend_spec::app::Slo;
use stend_spec::workload::{Region, Trial};

/// A server that takes connections until it is asked to end.
const SERVER: &str = "trap 'exit 0' TERM INT\necho ready to accept connections >&2\nwhile :; do sleep 0.01; done";
/// A client that prints its window and ends.
const CLIENT: &str = "echo '[ 1s ] thds: 1 tps: 20.00 lat (ms,99%): 10.00 err/s: 0.00 reconn/s: 0.00'";

struct Bench {
    scratch: tempfile::TempDir,
    applications: Applications,
    programs: Programs,
    app: App,
    trial: Trial,
    control: Control,
    log: Vec<EventKind>,
}

fn bench(instances: u32, server: &str, client: &str) -> Bench {
    let scratch = tempfile::tempdir().unwrap();
    let marks = scratch.path().join("marks");
    fs::create_dir(&marks).unwrap();
    let script = |name: &str, text: &str| {
        let (path, marks) = (scratch.path().join(name), marks.display());
        let version = "[ \"$1\" = --version ] && { echo pretended; exit 0; }";
        fs::write(&path, format!("#!/bin/sh\n{version}\nmarks={marks}\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    script("make", "mkdir -p \"$2\"");
    script("serve", server);
    script("load", &format!("for word in \"$@\"; do last=$word; done\n[ $last = prepare ] && exit 0\n{client}"));
    let data = scratch.path().join("data");
    fs::create_dir(&data).unwrap();
    let second = Nanos::secs(1);
    let app = App {
        program: Program::SysbenchPostgresql,
        instances,
        data: Bytes::mib(1),
        clients: 1,
        rate: Some(MilliIops::per_second(20)),
        limits: None,
        slo: Slo {
            quantile: Millionths::percent(99),
            limit: Nanos::millis(100),
            served: Millionths::percent(95),
            window: second,
            windows: Millionths::percent(95),
        },
    };
    let region = Region { start: Bytes(0), len: Bytes(0) };
    Bench {
        programs: Programs::pretended(app.program, scratch.path()),
        applications: Applications::new(data),
        app,
        trial: Trial { app: Some(app), ..Trial::new(Vec::new(), second, region) },
        control: Control::new(),
        log: Vec::new(),
        scratch,
    }
}

impl Bench {
    fn run(&mut self) -> Result<TrialOutcome> {
        let Bench { applications, programs, app, trial, control, log, .. } = self;
        applications.run_with(programs, trial, app, control, &mut |event| log.push(event))
    }

    /// Runs a trial that is stopped as soon as this mark is there and its load has lasted as long as planned.
    fn run_and_stop(&mut self, mark: &str) -> TrialOutcome {
        let (control, mark) = (self.control.clone(), self.mark(mark));
        let stopper = std::thread::spawn(move || {
            while !mark.exists() {
                std::thread::sleep(TICK);
            }
            control.stop();
        });
        let outcome = self.run().unwrap();
        stopper.join().unwrap();
        outcome
    }

    fn mark(&self, name: &str) -> PathBuf {
        self.scratch.path().join("marks").join(name)
    }

    fn marks(&self) -> Vec<String> {
        let entries = fs::read_dir(self.scratch.path().join("marks")).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn notes(&self) -> String {
        let note = |event: &EventKind| match event {
            EventKind::Note { text } => Some(text.clone()),
            _ => None,
        };
        self.log.iter().filter_map(note).collect::<Vec<_>>().join("\n")
    }
}

#[test]
fn a_trial_with_servers_and_clients_that_end_as_they_should_is_complete() {
    let mut bench = bench(2, SERVER, CLIENT);
    let outcome = bench.run().unwrap();
    let app = outcome.app.unwrap();
    assert_eq!((outcome.status, app.instances.len()), (TrialStatus::Complete, 2));
    assert!(app.instances.iter().all(|one| one.windows.len() == 1 && one.failed.is_empty()), "{app:?}");
    assert_eq!(bench.notes(), "");
}

#[test]
fn a_stop_after_the_planned_end_interrupts_a_trial_whose_clients_still_ran() {
    // It reports its window, and goes on for longer than the trial.
    let client = format!("trap 'exit 0' INT\n{CLIENT}\nsleep 1.2\ntouch $marks/late\nwhile :; do sleep 0.01; done");
    let outcome = bench(1, SERVER, &client).run_and_stop("late");
    assert_eq!(outcome.status, TrialStatus::Interrupted, "{outcome:?}");
}

#[test]
fn what_a_server_left_running_ends_with_its_trial() {
    // A process in a session of its own, as those of PostgreSQL are, that no signal to the group of its server reaches.
    let child = "setsid sh -c 'while :; do echo x > written; sleep 0.01; done' & echo $! > $marks/child";
    let mut bench = bench(1, &format!("cd \"$2\"\n{child}\n{SERVER}"), CLIENT);
    bench.run().unwrap();
    let child = fs::read_to_string(bench.mark("child")).unwrap();
    let state = fs::read_to_string(format!("/proc/{}/stat", child.trim())).unwrap_or_default();
    if let Ok(pid) = child.trim().parse() {
        let _ = process::kill(pid);
    }
    assert!(state.is_empty() || state.contains(") Z "), "{state}");
    assert!(bench.notes().contains("still ran"), "{}", bench.notes());
}

#[test]
fn all_servers_are_asked_to_end_before_the_first_is_waited_for() {
    let wait = "touch $marks/asked-$$; while [ $(ls $marks | grep -c asked) -lt 3 ]; do sleep 0.01; done";
    let server = SERVER.replace("exit 0", &format!("{wait}; touch $marks/done-$$; exit 0"));
    let mut bench = bench(3, &server, CLIENT);
    bench.run().unwrap();
    assert_eq!(bench.marks().iter().filter(|name| name.starts_with("done")).count(), 3, "{:?}", bench.marks());
}

#[test]
fn servers_of_a_stopped_run_are_killed_and_write_nothing_more() {
    let server = SERVER.replace("exit 0", "touch $marks/asked; exit 0");
    let client = format!("trap 'exit 0' INT\n{CLIENT}\ntouch $marks/loaded\nwhile :; do sleep 0.01; done");
    let mut bench = bench(2, &server, &client);
    bench.run_and_stop("loaded");
    assert_eq!(bench.marks(), ["loaded"]);
}

#[test]
fn a_database_of_a_stopped_run_may_free_what_it_shares_before_it_ends() {
    let server = SERVER.replace("\necho ready", "\ntrap 'touch $marks/quit-$$; exit 0' QUIT\necho ready");
    let client = format!("trap 'exit 0' INT\n{CLIENT}\ntouch $marks/loaded\nwhile :; do sleep 0.01; done");
    let mut bench = bench(2, &server, &client);
    bench.run_and_stop("loaded");
    assert_eq!(bench.marks().iter().filter(|mark| mark.starts_with("quit-")).count(), 2);
}

#[test]
fn what_instances_used_is_read_before_any_server_stops() {
    // The end of each server uses more of every group.
    let more = "for stat in $marks/../group-*/cpu.stat; do echo nr_throttled 900 > $stat; done; exit 0";
    let mut bench = bench(2, &SERVER.replace("exit 0", more), CLIENT);
    let group = |number: u32| {
        let path = bench.scratch.path().join(format!("group-{number}"));
        fs::create_dir(&path).unwrap();
        fs::write(path.join("cgroup.procs"), "").unwrap();
        fs::write(path.join("cpu.stat"), "nr_throttled 5\n").unwrap();
        Group::pretended(path)
    };
    let instance = |number: u32| {
        let directory = bench.applications.directory.join(format!("0-{number:04}"));
        Instance::new(directory, Some(group(number)), None).unwrap()
    };
    let instances = (0..2).map(instance).collect();
    bench.applications.kinds.push(Family { kind: InstanceKind::of(&bench.app), instances, served: 0 });
    let app = bench.run().unwrap().app.unwrap();
    let throttled: Vec<_> = app.instances.iter().map(|one| one.throttled_periods).collect();
    assert_eq!(throttled, [Some(0), Some(0)]);
}

#[test]
fn what_is_missing_of_room_is_said_in_numbers_that_agree() {
    let told = |app: &App, free: u64| room(app, 2, free).map_err(|error| error.message.en);
    let databases = bench(1, SERVER, CLIENT).app;
    // 2 × (1 MiB + 128 MiB + 64 MiB of logs) are more than four fifths of the free 400 MiB.
    assert_eq!(
        told(&databases, 400 << 20).unwrap_err(),
        "no room for 2 more instances: they need about 386 MiB, and may take 320 MiB, four fifths of what is free"
    );
    told(&databases, 500 << 20).unwrap();
    let web = App { program: Program::NginxWrk, ..databases };
    told(&web, 10 << 20).unwrap();
}
