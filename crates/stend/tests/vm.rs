//! Virtual machines of libvirt, with a real daemon and real guests: a run in several of them, and that nothing of others is touched and nothing
//! stays, however it ends.

mod migration;

use crate::support::libvirt::Libvirt;
use crate::support::*;
use std::path::Path;
use std::time::Duration;
use stend_record::{RunState, store};

/// Mixed cases on disks of 32 MiB; few I/Os are in flight, because guests are emulated.
const SUITE: &str = "suite: vms
defaults: {ramp: 200ms, trial: 1500ms}
fill: {size: 8MiB}
repeats: {blocks: 2}
cases:
  - name: read
    streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: 8}]
  - name: mix
    streams: [{op: {read: 50, write: 50}, pattern: random, block_size: 4KiB, queue_depth: 2, verify: {after: true}}]
";
/// Far below what a guest can do, and far above the limit of one that starves: how many machines serve it?
const SEARCH: &str = "suite: fit
defaults: {ramp: 200ms, trial: 2500ms}
cases:
  - name: database
    load_hosts: {search: {quantile: 50%, limit: 5s}}
    streams: [{op: write, pattern: random, block_size: 4KiB, rate: 20/s}]
";
/// Limit of each disk, low enough that emulated guests reach it with time to spare.
const IOPS: u32 = 120;

/// A file of machines with these disks.
fn file(libvirt: &Libvirt, count: u32, more: &str, disks: &str) -> String {
    let name = &libvirt.name;
    let text = format!("machines: {name}\ncount: {count}\nmemory: 512MiB\naccelerator: tcg\n{more}disks: [{disks}]\n");
    libvirt.scratch.file("machines.yaml", &text)
}

/// Nothing of the machines is left: no domain, no directory, no file of a disk.
fn is_gone(libvirt: &Libvirt, disks: &str) {
    let domains = libvirt.domains();
    assert!(domains.iter().all(|name| !name.contains(&libvirt.name)), "{domains:?}");
    assert!(!Path::new("/var/lib/stend/vm").join(&libvirt.name).exists());
    let left: Vec<_> =
        std::fs::read_dir(disks).expect("a directory").map(|entry| entry.expect("an entry").path()).collect();
    assert_eq!(left, [] as [std::path::PathBuf; 0]);
}

#[test]
fn a_suite_runs_in_several_virtual_machines_with_one_result_and_nothing_is_left_of_them() {
    let scratch = Scratch::new();
    let Some(libvirt) = Libvirt::start(&scratch, 'r', "a_suite_runs_in_several_virtual_machines") else { return };
    let (disks, suite) = (scratch.directory("disks"), scratch.file("vms.yaml", SUITE));
    let disk = format!("{{size: 32MiB, directory: {disks}, cache: none, io: native, iothread: true, iops: {IOPS}}}");
    // On a machine with one CPU both are there.
    let second = std::thread::available_parallelism().map_or(0, |cpus| usize::from(cpus.get() > 1));
    let machines = file(&libvirt, 2, &format!("placement: [{{cpus: [0]}}, {{cpus: [{second}]}}]\n"), &disk);
    let name = &libvirt.name;

    let (plan, _) = libvirt.stend(&["vm", "plan", &machines], 0);
    assert!(plan.contains(&format!("<name>stend-{name}-1</name>")) && plan.contains("undone by: "), "{plan}");
    is_gone(&libvirt, &disks);
    let up: serde_json::Value =
        serde_json::from_str(&libvirt.stend(&["vm", "up", &machines, "--json"], 0).0).expect("JSON");
    eprintln!("two guests answered after {} s", up["ready_ns"].as_u64().expect("a time") as f64 / 1e9);
    let how = up["accelerator"].as_str().expect("how they are executed");
    assert!(plan.contains(&format!("executed by {how}")) || how == "tcg", "{plan}");
    assert!(libvirt.stend(&["vm", "up", &machines], 4).1.contains("exist already"));
    for (number, cpu) in [(1, 0), (2, second)] {
        let pinned = format!("Cpus_allowed_list:\t{cpu}\n");
        assert!(threads(&libvirt, number).iter().all(|status| status.contains(&pinned)), "{number}");
    }
    let (status, _) = libvirt.stend(&["vm", "status"], 0);
    assert_eq!(
        status
            .lines()
            .filter(|line| line.starts_with(&format!("{name}-")) && line.contains(&format!("  running  {how}  ")))
            .count(),
        2
    );

    let run = scratch.join("r.stend");
    let words = ["run", &suite, "--vm", name, "--progress", "none", "-o"];
    let (_, told) = expect_exit(libvirt.command(&words).arg(&run), 0);
    assert!(told.contains("2 hosts load together"), "{told}");
    let record = store::read(&run).expect("a run file");
    assert_eq!((&record.state, record.trials.len()), (&RunState::Complete, 4));
    let names: Vec<&str> = record.loads().map(|(_, host)| host.name.as_str()).collect();
    assert_eq!(names, [1, 2].map(|number| format!("{name}-{number}")));
    let findings = stend_analyse::judge(&record).expect("findings");
    let case = &findings.cases[0];
    let each: Vec<f64> = case.hosts.as_ref().expect("hosts").hosts.iter().map(|host| host.total.iops.value).collect();
    let sum: f64 = each.iter().sum();
    assert!((sum - case.total.iops.value).abs() < 1e-6 * sum, "{each:?}");
    // The hypervisor's limit holds in each guest, and each reaches it: a bucket that was full gives a little more at first.
    assert!(each.iter().all(|iops| (0.8..=1.2).contains(&(iops / f64::from(IOPS)))), "{each:?}");
    let (_, hypervisor) = record.observed().next().expect("the host below the guests");
    assert_eq!(hypervisor.name, "hypervisor");
    assert!(hypervisor.samples.iter().any(|sample| sample.cpus.is_some() && !sample.disks.is_empty()));
    libvirt.stend(&["vm", "down", name], 0);
    is_gone(&libvirt, &disks);
}

#[test]
#[ignore = "takes minutes under emulation: `make lab` runs it"]
fn machines_that_a_storage_carries_are_counted_and_their_disk_may_be_a_device() {
    let scratch = Scratch::new();
    let Some(libvirt) = Libvirt::start(&scratch, 'c', "machines_that_a_storage_carries") else { return };
    let (disks, suite) = (scratch.directory("disks"), scratch.file("vms.yaml", SUITE));
    let backing = Loop::new(&scratch, "backing", 64 << 20);
    let device = backing.identity(&scratch);
    let name = &libvirt.name;
    let disk = format!("{{size: 32MiB, directory: {disks}, iops: {IOPS}}}");
    libvirt.stend(&["vm", "up", &file(&libvirt, 2, "", &disk)], 0);
    one_of_two_holds(&libvirt);

    libvirt.stend(&["vm", "down", name], 0);
    is_gone(&libvirt, &disks);
    // Their disk may be a device that the file names by its identity.
    let scsi = format!("{{devices: ['{device}'], bus: scsi}}");
    let machines = file(&libvirt, 1, "", &scsi);
    libvirt.stend(&["vm", "up", &machines], 0);
    let run = scratch.join("s.stend");
    let words = ["run", &suite, "--vm", name, "--progress", "none", "-o"];
    expect_exit(libvirt.command(&words).arg(&run), 0);
    let record = store::read(&run).expect("a run file");
    assert_eq!((&record.state, record.trials.len()), (&RunState::Complete, 4));
    libvirt.stend(&["vm", "down", name], 0);
    assert!(std::fs::read(&backing.backing).expect("a file").iter().any(|byte| *byte != 0), "it wrote to the device");
    is_gone(&libvirt, &disks);
}

/// What the kernel says of each thread of the process of a machine.
fn threads(libvirt: &Libvirt, number: u32) -> Vec<String> {
    let uuid = libvirt.says(&["domuuid", &format!("stend-{}-{number}", libvirt.name)]);
    let of = |path: std::path::PathBuf| {
        let words = std::fs::read(path.join("cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).any(|word| word == uuid.trim().as_bytes()).then_some(path)
    };
    let all = std::fs::read_dir("/proc").expect("/proc").flatten();
    let process = all.filter_map(|entry| of(entry.path())).next().expect("a process");
    let threads: Vec<String> = std::fs::read_dir(process.join("task"))
        .expect("threads")
        .flatten()
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("status")).ok())
        .collect();
    assert!(threads.len() > 1);
    threads
}

/// The second machine starves, so that one machine is all that holds.
fn one_of_two_holds(libvirt: &Libvirt) {
    let (scratch, name) = (libvirt.scratch, &libvirt.name);
    // Reads stay as they are: a thousand blocks are looked at before anything is written.
    let limit = ["--total-iops-sec", "0", "--write-iops-sec", "4", "--live"];
    libvirt.says(&[&["blkdeviotune", &format!("stend-{name}-2"), "vdb"], &limit[..]].concat());
    let (suite, run) = (scratch.file("fit.yaml", SEARCH), scratch.join("fit.stend"));
    let words = ["run", &suite, "--vm", name, "--progress", "none", "-o"];
    let (text, _) = expect_exit(libvirt.command(&words).arg(&run), 0);
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("database: 1 of 2 load hosts hold the objective, 2 do not"), "{text}");
    assert!(flat.contains(&format!("Used up at 2: `{name}-2`: a drive")), "{text}");
    let record = store::read(&run).expect("a run file");
    for trial in &record.trials {
        assert_eq!(trial.asked.load_hosts, Some(trial.parts.len() as u32), "those that rest make no load");
    }
    let (_, resting) = record.loads().nth(1).expect("the second one");
    assert!(resting.samples.len() > 2, "it is watched while it rests");
}

#[test]
fn virtual_machines_that_cannot_be_put_up_say_why_and_leave_nothing_and_those_of_others_alone() {
    let scratch = Scratch::new();
    let Some(libvirt) = Libvirt::start(&scratch, 'b', "virtual_machines_that_cannot_be_put_up") else { return };
    let disks = scratch.directory("disks");
    let disk = format!("{{size: 16MiB, directory: {disks}}}");
    let name = &libvirt.name;

    // A domain of somebody else has the name.
    let theirs = format!(
        "<domain type='qemu'><name>stend-{name}-2</name><memory unit='MiB'>64</memory><os><type arch='x86_64'>hvm</type></os></domain>"
    );
    libvirt.says(&["define", &scratch.file("theirs.xml", &theirs)]);
    let machines = file(&libvirt, 2, "", &disk);
    for verb in ["plan", "up"] {
        let (_, told) = libvirt.stend(&["vm", verb, &machines], 5);
        assert!(told.contains(&format!("`stend-{name}-2`")) && told.contains("left alone"), "{told}");
    }
    assert!(libvirt.stend(&["vm", "down", name], 4).1.contains("there are no virtual machines"));
    assert_eq!(libvirt.domains(), [format!("stend-{name}-2")]);
    libvirt.says(&["undefine", &format!("stend-{name}-2")]);

    // No room, no libvirt, a device that is in use.
    let (_, told) = libvirt.stend(&["vm", "up", &file(&libvirt, 2, "", &disk.replace("16MiB", "8TiB"))], 4);
    assert!(told.contains("the disks of all machines take"), "{told}");
    is_gone(&libvirt, &disks);
    let (_, told) = libvirt
        .stend(&["vm", "up", &file(&libvirt, 1, "connection: 'qemu+unix:///system?socket=/nowhere'\n", &disk)], 4);
    assert!(told.contains("libvirt must run on this machine"), "{told}");
    let backing = Loop::new(&scratch, "backing", 64 << 20);
    tool(&["mkfs.ext4", "-q", &backing.device]);
    let device = format!("{{devices: ['{}']}}", backing.identity(&scratch));
    let (_, told) = libvirt.stend(&["vm", "up", &file(&libvirt, 1, "", &device)], 5);
    assert!(told.contains("it carries `ext4`"), "{told}");
    let (_, told) = libvirt.stend(&["vm", "up", &file(&libvirt, 1, "overwrite: [ext4, xfs]\n", &device)], 5);
    assert!(told.contains("`overwrite` names `xfs`"), "{told}");

    // A guest that does not answer in time shows its console.
    let (_, told) = libvirt.stend(&["vm", "up", &file(&libvirt, 1, "boot_limit: 1s\n", &disk)], 8);
    assert!(told.contains(&format!("`{name}-1` does not answer")) && told.contains("console"), "{told}");
    is_gone(&libvirt, &disks);

    // A start that is interrupted is undone; what a killed one leaves is removed by `down`.
    let machines = file(&libvirt, 1, "", &disk);
    let mut starting = Running::new(&mut libvirt.command(&["vm", "up", &machines]));
    eventually("a domain", Duration::from_secs(60), || !libvirt.domains().is_empty());
    tool(&["kill", "-INT", &starting.child.id().to_string()]);
    assert_eq!(starting.wait_as_shell(Duration::from_secs(60)), Some(130));
    is_gone(&libvirt, &disks);
    let mut starting = Running::new(&mut libvirt.command(&["vm", "up", &machines]));
    eventually("a domain", Duration::from_secs(60), || !libvirt.domains().is_empty());
    starting.kill();
    assert!(
        libvirt.stend(&["run", "quick", "--vm", &format!("{name}x")], 4).1.contains("there are no virtual machines")
    );
    libvirt.stend(&["vm", "down", name], 0);
    is_gone(&libvirt, &disks);
}

/// A case of each event of the hypervisor, each undone within the window; a limit that the load of the case reaches.
fn suite_of_events(directory: &str) -> String {
    let load = "{op: {read: 50, write: 50}, pattern: random, block_size: 4KiB, queue_depth: 4, rate: 60/s, verify: {after: true}}";
    format!(
        "suite: vm-events
defaults: {{ramp: 500ms, trial: 8s, prober: off}}
fill: {{size: 8MiB}}
repeats: {{blocks: 1}}
cases:
  - name: snapshot
    events: [{{at: 2s, for: 2s, do: vm.snapshot}}]
    streams: [{load}]
  - name: move
    events: [{{at: 2s, for: 2s, do: vm.move, machine: 2, directory: {directory}}}]
    streams: [{load}]
  - name: limit
    events: [{{at: 2s, for: 4s, do: vm.limit, iops: 50}}]
    streams: [{{op: read, pattern: random, block_size: 4KiB, queue_depth: 8}}]
"
    )
}

/// Files of a directory.
fn files(directory: &str) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("a directory");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
#[ignore = "takes minutes under emulation: `make lab` runs it"]
fn the_hypervisor_takes_snapshots_moves_disks_and_limits_them_under_load_and_undoes_it_whatever_is_killed() {
    let scratch = Scratch::new();
    let Some(libvirt) = Libvirt::start(&scratch, 'e', "the_hypervisor_takes_snapshots") else { return };
    let (disks, other) = (scratch.directory("disks"), scratch.directory("other"));
    let machines = file(&libvirt, 2, "", &format!("{{size: 32MiB, directory: {disks}, cache: none, io: native}}"));
    let name = &libvirt.name;
    libvirt.stend(&["vm", "up", &machines], 0);
    let own = files(&disks);
    let sources = || [1, 2].map(|number| libvirt.says(&["domblklist", &format!("stend-{name}-{number}")])).concat();
    let before = sources();

    // What cannot be done is refused before anything is measured.
    let suite = scratch.file("nowhere.yaml", &suite_of_events("/nowhere"));
    let (_, told) = libvirt.stend(&["run", &suite, "--vm", name, "--progress", "none"], 4);
    assert!(told.contains("/nowhere"), "{told}");
    let (_, told) = libvirt.stend(&["run", &suite, "--on", &other, "--progress", "none"], 4);
    assert!(told.contains("with `--vm NAME`"), "{told}");

    let suite = scratch.file("events.yaml", &suite_of_events(&other));
    let run = scratch.join("e.stend");
    let words = ["run", &suite, "--vm", name, "--progress", "none", "-o"];
    expect_exit(libvirt.command(&words).arg(&run), 0);
    assert_eq!((sources(), files(&disks), files(&other)), (before.clone(), own.clone(), Vec::new()));
    let record = store::read(&run).expect("a run file");
    let findings = stend_analyse::judge(&record).expect("findings");
    assert_eq!((&record.state, findings.faults.len()), (&RunState::Complete, 3));
    for found in &findings.faults {
        let [trial] = found.trials.as_slice() else { panic!("{}: {:?}", found.label, found.trials) };
        assert!(trial.errors == 0 && trial.mismatches.unwrap_or(0) == 0, "{}: {trial:?}", found.label);
        // What it is, and its end; a snapshot and a move tell how long both took.
        let (moments, took) = if found.label == "limit" { (2, 0) } else { (4, 2) };
        assert_eq!((trial.moments.len(), trial.came.len()), (moments, took), "{}: {trial:?}", found.label);
    }
    // The limit is seen by the guests: half of the window of each is as slow as it says.
    let limited = findings.faults.iter().find(|found| found.label == "limit").expect("the limit");
    let slow = limited.trials[0].recovery.as_ref().map(|recovery| recovery.brownout.as_secs());
    eprintln!("a limit of 50 IOPS for 4 s slowed two guests for {slow:?} s");
    assert!(slow.is_some_and(|slow| slow >= 2.0), "{slow:?}");
    let commands = |word: &str| {
        record
            .events
            .iter()
            .filter(|event| matches!(&event.kind, stend_record::EventKind::Step { action } if action.contains(word)))
            .count()
    };
    assert_eq!((commands("snapshot-create-as"), commands("blockcommit"), commands("blockcopy")), (2, 2, 2));

    // A coordinator that is killed while a snapshot is there: the next run undoes that first, and so does `down`.
    let killed = || {
        let ended = scratch.join("k.stend");
        let mut running = Running::new(libvirt.command(&words).arg(&ended));
        eventually("a snapshot", IN_TIME, || files(&disks).len() > own.len() && sources() != before);
        running.kill();
        assert_ne!(sources(), before);
        std::fs::remove_file(ended).expect("the run file of the killed run");
    };
    killed();
    eventually("it is seen that a run was killed", IN_TIME, || {
        libvirt.stend(&["vm", "status", name], 0).0.contains("a killed run has left changes")
    });
    let plain = scratch.file("plain.yaml", SUITE);
    eventually("the workers have ended", IN_TIME, || {
        let again = libvirt.command(&["run", &plain, "--vm", name, "--progress", "none"]).output().expect("a run");
        let told = String::from_utf8_lossy(&again.stderr).into_owned();
        let undone = told.contains(&format!("changes to `{name}-1` that a killed run had left are undone"));
        assert!(undone || told.contains("another run is using"), "{told}");
        undone && again.status.success()
    });
    assert_eq!((sources(), files(&disks)), (before.clone(), own.clone()));
    // A run that is killed while a disk is copied leaves a job that goes on without it.
    let copied = format!("{other}/{}", own[0].replace(".img", ".moved.img"));
    std::fs::write(format!("/var/lib/stend/vm/{name}/changed-1"), format!("{copied}\n")).expect("a note");
    let words_of_copy = ["blockcopy", &format!("stend-{name}-1"), "vdb", "--dest", &copied, "--format", "raw"];
    libvirt.says(&[&words_of_copy[..], &["--bandwidth", "1", "--transient-job"]].concat());
    let job = || libvirt.says(&["blockjob", &format!("stend-{name}-1"), "vdb"]);
    assert!(job().contains("Bandwidth limit"), "{}", job());
    let (_, told) = expect_exit(&mut libvirt.command(&["run", &plain, "--vm", name, "--progress", "none"]), 0);
    assert!(told.contains("that a killed run had left are undone"), "{told}");
    assert!(!job().contains("Bandwidth limit") && files(&other).is_empty(), "{}", job());
    // A machine that ends while its snapshot is there ends no event of the other one, and `down` removes what was made for it.
    let block = "    streams: [{op: write, pattern: random, block_size: 4KiB, queue_depth: 4, rate: 60/s}]";
    // Long enough for a busy machine to end the other one meanwhile.
    let case = "  - name: snapshot\n    trial: 15s\n    events: [{at: 2s, for: 10s, do: vm.snapshot}]\n";
    let suite = format!(
        "suite: lost\ndefaults: {{prober: off}}\nfill: {{size: 8MiB}}\nrepeats: {{blocks: 2}}\ncases:\n{case}{block}\n"
    );
    let (suite, ended) = (scratch.file("lost.yaml", &suite), scratch.join("l.stend"));
    let words = ["run", &suite, "--vm", name, "--on-loss", "go-on", "--progress", "none", "-o"];
    let log = scratch.join("told");
    let mut running =
        Running::new(libvirt.command(&words).arg(&ended).stderr(std::fs::File::create(&log).expect("a file")));
    eventually("snapshots of both", IN_TIME, || files(&disks).len() == own.len() + 2);
    libvirt.says(&["destroy", &format!("stend-{name}-2")]);
    assert_eq!(running.wait(IN_TIME), Some(0), "{}", std::fs::read_to_string(log).expect("a file"));
    let record = store::read(&ended).expect("a run file");
    let events = record.events.iter().filter(|event| {
        matches!(event.kind, stend_record::EventKind::Fault { moment: stend_record::FaultMoment::Undone, .. })
    });
    assert_eq!((&record.state, record.trials.len(), events.count()), (&RunState::Complete, 2, 2));
    assert_eq!(files(&disks).len(), own.len() + 1, "that of the machine that is gone");
    eventually("the workers have ended", IN_TIME, || {
        libvirt.command(&["vm", "down", name]).output().expect("`vm down`").status.success()
    });
    is_gone(&libvirt, &disks);
}
