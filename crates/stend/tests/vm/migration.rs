//! Live migration of a machine under verified load between two daemons of libvirt, and what ends it: a destination that does not fit, a limit, a
//! kill.

use super::{IN_TIME, SUITE, file, files, is_gone};
use crate::support::libvirt::Libvirt;
use crate::support::*;
use stend_record::{EventKind, FaultMoment, RunRecord, RunState, store};

/// A load whose writes are compared, and a migration.
fn suite(scratch: &Scratch, name: &str, trial: &str, event: &str) -> String {
    let load = "{op: {read: 50, write: 50}, pattern: random, block_size: 4KiB, queue_depth: 4, rate: 60/s, verify: {after: true}}";
    let text = format!(
        "suite: {name}\ndefaults: {{ramp: 500ms, trial: {trial}, prober: off}}\nfill: {{size: 8MiB}}\nrepeats: {{blocks: 1}}\n\
         cases:\n  - name: {name}\n    events: [{{{event}}}]\n    streams: [{load}]\n"
    );
    scratch.file(&format!("{name}.yaml"), &text)
}

/// What the run file has of the event when it was done and when it was undone.
fn told(record: &RunRecord, which: FaultMoment) -> String {
    let of = |event: &stend_record::Event| match &event.kind {
        EventKind::Fault { moment, what, .. } if *moment == which => Some(what.en.clone()),
        _ => None,
    };
    record.events.iter().find_map(of).unwrap_or_default().replace('\u{a0}', " ")
}

/// The machine runs where it was put up, as it was, and the other libvirt has none.
fn is_at_home(libvirt: &Libvirt, other: &Libvirt) {
    assert!(other.domains().is_empty(), "{:?}", other.domains());
    let state = libvirt.says(&["domstate", &format!("stend-{}-1", libvirt.name)]);
    assert_eq!(state.trim(), "running");
    let (status, _) = libvirt.stend(&["vm", "status", &libvirt.name], 0);
    assert!(!status.contains(", at `") && !status.contains("left changes"), "{status}");
}

#[test]
#[ignore = "takes minutes under emulation: `make lab` runs it"]
fn a_machine_migrates_under_verified_load_and_comes_back_and_nothing_stays_whatever_ends_it() {
    let scratch = Scratch::new();
    let Some(libvirt) = Libvirt::start(&scratch, 'g', "a_machine_migrates_under_verified_load") else { return };
    let other = libvirt.second();
    let (disks, to) = (scratch.directory("disks"), other.uri());
    let machines = file(&libvirt, 1, "", &format!("{{size: 32MiB, directory: {disks}, cache: none, io: native}}"));
    let name = &libvirt.name;
    libvirt.stend(&["vm", "up", &machines], 0);
    let own = files(&disks);

    refused_before_anything(&libvirt, &other);

    // There and back within the window.
    let there = format!("at: 3s, for: 12s, do: vm.migrate, to: '{to}'");
    let (back, run) = (suite(&scratch, "back", "30s", &there), scratch.join("m.stend"));
    let words = |suite: &str| -> Vec<String> {
        ["run", suite, "--vm", name, "--progress", "none", "-o"].map(String::from).to_vec()
    };
    let (plan, _) = libvirt.stend(&["run", &back, "--vm", name, "--dry-run"], 0);
    let joined: String = plan.split_whitespace().collect();
    assert!(joined.contains(&format!("livemigrationto`{to}`,for12s")), "{plan}");
    let (text, _) = expect_exit(libvirt.command_of(&words(&back)).arg(&run), 0);
    is_at_home(&libvirt, &other);
    let record = store::read(&run).expect("a run file");
    let findings = stend_analyse::judge(&record).expect("findings");
    let [trial] = findings.faults[0].trials.as_slice() else { panic!("{:?}", findings.faults[0].trials) };
    assert!(trial.errors == 0 && trial.mismatches == Some(0), "{trial:?}");
    assert_eq!((&record.state, trial.moments.len(), trial.came.len()), (&RunState::Complete, 4, 2), "{trial:?}");
    for (moment, begin) in
        [(FaultMoment::Done, "the machines migrated in "), (FaultMoment::Undone, "the machines migrated back in ")]
    {
        let told = told(&record, moment);
        eprintln!("{told}");
        assert!(
            told.starts_with(begin)
                && told.contains("guests were paused for")
                && told.contains("libvirt reports a downtime of"),
            "{told}"
        );
    }
    // What came interval by interval on the way that moved is what the worker counted: nothing of it is lost, and nothing came twice.
    let trial = &record.trials[0];
    let in_window = trial.slices.iter().filter(|slice| (5..305).contains(&slice.interval));
    let counted = trial.outcome.as_ref().expect("an outcome").jobs.iter().flat_map(|job| job.done);
    let (seen, counted) = (in_window.map(|slice| slice.ops).sum::<u64>(), counted.map(|(ops, _)| ops).sum::<u64>());
    eprintln!("{seen} I/Os by intervals, {counted} by the worker");
    assert_eq!(seen, counted);
    let command = |word: &str| {
        let is_it =
            |event: &&stend_record::Event| matches!(&event.kind, EventKind::Step { action } if action.contains(word));
        record.events.iter().filter(is_it).count()
    };
    assert_eq!((command(" migrate --live "), command(" migrate-setspeed ")), (2, 2));
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("all data are as they were written"), "{text}");
    // The port is another one by now, and the next run finds it.
    let plain = scratch.file("plain.yaml", SUITE);
    libvirt.stend(&["run", &plain, "--vm", name, "--progress", "none"], 0);

    does_not_go(&libvirt, &other, &disks);

    // A coordinator that is killed while the machine is elsewhere: the next run brings it back first.
    let stays = suite(&scratch, "stays", "120s", &format!("at: 1s, do: vm.migrate, to: '{to}'"));
    let killed = |suite: &str, what: &dyn Fn() -> bool| {
        let ended = scratch.join("k.stend");
        let mut running = Running::new(libvirt.command_of(&words(suite)).arg(&ended));
        eventually("the machine is on its way", IN_TIME, what);
        running.kill();
        std::fs::remove_file(ended).expect("the run file of the killed run");
    };
    let state_there = || {
        let said = other.virsh(&["domstate", &format!("stend-{name}-1")]);
        String::from_utf8_lossy(&said.stdout).trim().to_string()
    };
    killed(&stays, &|| state_there() == "running");
    eventually("it is seen where the machine is", IN_TIME, || {
        let status = libvirt.stend(&["vm", "status", name], 0).0;
        status.contains(&format!("running, at `{to}`, a killed run has left changes"))
    });
    eventually("the workers have ended", IN_TIME, || {
        let again = libvirt.command(&["run", &plain, "--vm", name, "--progress", "none"]).output().expect("a run");
        let told = String::from_utf8_lossy(&again.stderr).into_owned();
        let undone = told.contains(&format!("changes to `{name}-1` that a killed run had left are undone"));
        assert!(undone || told.contains("another run is using"), "{told}");
        undone && again.status.success()
    });
    is_at_home(&libvirt, &other);
    assert_eq!(files(&disks), own);

    // One that is killed while the memory is copied leaves a machine where it was, and `down` finds what is left.
    let slow = suite(&scratch, "slow", "120s", &format!("at: 1s, do: vm.migrate, to: '{to}', bandwidth: 1MiB"));
    killed(&slow, &|| state_there() == "paused");
    eventually("the workers have ended", IN_TIME, || {
        libvirt.command(&["vm", "down", name]).output().expect("`vm down`").status.success()
    });
    is_gone(&libvirt, &disks);
    assert!(other.domains().is_empty(), "{:?}", other.domains());

    // So does `down` of a machine that is elsewhere.
    libvirt.stend(&["vm", "up", &machines], 0);
    killed(&stays, &|| state_there() == "running");
    eventually("the workers have ended", IN_TIME, || {
        libvirt.command(&["vm", "down", name]).output().expect("`vm down`").status.success()
    });
    is_gone(&libvirt, &disks);
    assert!(other.domains().is_empty(), "{:?}", other.domains());
}

/// Destinations that cannot be, each with its reason and before anything is measured.
fn refused_before_anything(libvirt: &Libvirt, other: &Libvirt) {
    let (scratch, name) = (libvirt.scratch, &libvirt.name);
    let refused = |to: &str, code: i32, why: &str| {
        let suite = suite(scratch, "refused", "10s", &format!("at: 1s, do: vm.migrate, to: '{to}'"));
        let (_, told) = libvirt.stend(&["run", &suite, "--vm", name, "--progress", "none"], code);
        assert!(told.contains(why), "{to}: {told}");
    };
    refused("qemu+ssh://elsewhere/system", 3, "does not follow it to another host");
    refused("qemu:///system", 4, "for libvirt that is the host where it is");
    refused("qemu+unix:///system?socket=/nowhere", 4, "/nowhere");
    let theirs = format!(
        "<domain type='qemu'><name>stend-{name}-1</name><memory unit='MiB'>64</memory><os><type arch='x86_64'>hvm</type></os></domain>"
    );
    other.says(&["define", &scratch.file("theirs.xml", &theirs)]);
    refused(&other.uri(), 5, "that is not one of these machines; it is left alone");
    other.says(&["undefine", &format!("stend-{name}-1")]);
    is_at_home(libvirt, other);
}

/// Migrations that begin and are called off: the machine goes on where it was.
fn does_not_go(libvirt: &Libvirt, other: &Libvirt, disks: &str) {
    let (scratch, name, to) = (libvirt.scratch, &libvirt.name, other.uri());
    let ends = |event: &str, why: &str| {
        let (suite, run) = (suite(scratch, "ends", "60s", event), scratch.join("e.stend"));
        let words = ["run", &suite, "--vm", name, "--progress", "none", "-o"];
        let (_, told) = expect_exit(libvirt.command(&words).arg(&run), 4);
        assert!(told.contains(why), "{told}");
        is_at_home(libvirt, other);
        std::fs::remove_file(run).expect("a run file");
    };
    ends(
        &format!("at: 1s, do: vm.migrate, to: '{to}', bandwidth: 1MiB, limit: 10s"),
        "was not complete within 10 s: its memory is written as fast as it is copied; it goes on where it was",
    );
    // The other one has a file of its own at the path of the disk.
    let copy = scratch.directory("copy");
    for name in files(disks) {
        std::fs::copy(format!("{disks}/{name}"), format!("{copy}/{name}")).expect("a copy");
    }
    other.runs(&["mount", "--bind", &copy, disks]);
    ends(&format!("at: 1s, do: vm.migrate, to: '{to}'"), "is another file for the other libvirt");
    other.runs(&["umount", disks]);
}
