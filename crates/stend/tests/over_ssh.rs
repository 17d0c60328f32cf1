//! A run, a stand and their ends on a host that is reached by `ssh`: a server on the loopback, with a home and keys of its own.

use crate::support::far::{Far, script};
use crate::support::*;
use std::path::Path;
use std::time::Duration;
use stend_record::Role;

/// A suite that takes longer than any test waits.
const LONG: &str = "suite: long\ndefaults: {ramp: 0s, trial: 1s}\nfill: {size: 16MiB}\nrepeats: {blocks: 100}\n\
    cases: [{name: mix, streams: [{op: {read: 50, write: 50}, pattern: random, block_size: 4KiB, queue_depth: 2}]}]\n";

#[test]
fn a_run_on_another_host_brings_the_program_there_once_and_leaves_nothing_else() {
    let Some(far) = Far::start("a_run_on_another_host") else { return };
    let (suite, target) = (far.scratch.file("small.yaml", SMALL), far.scratch.directory("target"));
    let file = far.scratch.join("r.stend");
    let words = ["run", &suite, "--on", &target, "--ssh", "far", "--progress", "none", "-o"];
    let (_, told) = expect_exit(far.stend(&words).arg(&file), 0);
    assert!(told.contains("copying this program to `far`"), "{told}");
    let programs = far.programs();
    assert_eq!(programs.len(), 1, "{programs:?}");
    let found = show_json(&far.scratch, &file);
    assert!(found["cases"][0]["iops"]["value"].as_f64().is_some_and(|iops| iops > 0.0), "{found}");
    let (_, told) = expect_exit(far.stend(&words).arg(far.scratch.join("again.stend")), 0);
    assert!(!told.contains("copying"), "{told}");
    assert_eq!(far.programs(), programs);
    assert_eq!(leftovers(&target), [""; 0]);
    eventually("its worker has ended", IN_TIME, || far.workers().is_empty());
}

#[test]
fn hosts_are_looked_at_side_by_side_and_cleaned() {
    let Some(far) = Far::start("hosts_are_looked_at_side_by_side") else { return };
    let (said, told) = expect_exit(&mut far.stend(&["doctor", "--ssh", "far", "--ssh", "closed"]), 8);
    assert!(said.starts_with("host") && said.contains("closed  ✖ no answer"), "{said}");
    assert!(
        said.lines().any(|line| line.starts_with("far ")) && told.contains("no answer from closed"),
        "{said} {told}"
    );
    let target = far.scratch.directory("target");
    let (said, _) = expect_exit(&mut far.stend(&["inspect", &target, "--ssh", "far", "--ssh", "second", "--json"]), 0);
    let said: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    for (at, host) in ["far", "second"].into_iter().enumerate() {
        assert_eq!(said["hosts"][at]["host"], host);
        assert_eq!(said["hosts"][at]["target"]["path"], target.as_str());
    }
    let (said, _) = expect_exit(&mut far.stend(&["inspect", "--quick", "--ssh", "far"]), 0);
    assert!(said.starts_with("── far\n"), "{said}");
    assert_eq!(far.programs().len(), 1);
    std::fs::write(far.scratch.join("cache/stend/mine"), "").expect("a file");
    let (_, told) = expect_exit(&mut far.stend(&["hosts", "clean", "far"]), 0);
    assert!(told.contains("`far`: cleaned") && far.programs().is_empty(), "{told}");
    assert!(far.scratch.join("cache/stend/mine").exists());
    expect_exit(&mut far.stend(&["hosts", "clean", "far", "closed"]), 8);
}

/// Three blocks of two seconds.
const WATCHED: &str = "suite: watched\ndefaults: {ramp: 0s, trial: 2s}\nfill: {size: 16MiB}\nrepeats: {blocks: 3}\n\
    cases: [{name: mix, streams: [{op: {read: 50, write: 50}, pattern: random, block_size: 4KiB, queue_depth: 2}]}]\n";

#[test]
fn hosts_that_are_watched_beside_a_run_are_in_its_result_and_a_lost_one_ends_no_run() {
    let Some(far) = Far::start("hosts_that_are_watched_beside_a_run") else { return };
    let (suite, target) = (far.scratch.file("watched.yaml", WATCHED), far.scratch.directory("target"));
    let name = far.scratch.join("r.stend").to_string_lossy().into_owned();
    let paths = format!("ssh:second={target}");
    let words = ["run", &suite, "--on", &target, "--observe", "ssh:far", "--observe", &paths, "--progress", "none"];
    let words = [&words[..], &["-o", &name]].concat();
    let mut run = Running::new(&mut far.stend(&words));
    eventually("a trial has ended", Duration::from_secs(60), || measured(Path::new(&name)));
    // One of the two is lost; which, is not known.
    let workers = far.workers();
    assert_eq!(workers.len(), 2, "{workers:?}");
    tool(&["kill", "-KILL", &workers[0].to_string()]);
    assert_eq!(run.wait(Duration::from_secs(60)), Some(0));
    let record = stend_record::store::read(Path::new(&name)).expect("a run file");
    let hosts: Vec<_> =
        record.hosts().iter().map(|host| (host.name.as_str(), host.role, host.samples.is_empty())).collect();
    let [load, first, second] = hosts[..] else { panic!("{hosts:?}") };
    assert_eq!([load.1, first.1, second.1], [Role::Load, Role::Observe, Role::Observe]);
    assert!((first.0, second.0) == ("far", "second") && !first.2 && !second.2, "{hosts:?}");
    assert!(record.trials.len() == 3 && record.trials.iter().all(|trial| trial.outcome.is_some()));
    let found = show_json(&far.scratch, Path::new(&name));
    let caveats = found["caveats"].to_string();
    assert_eq!(caveats.matches("was not watched all the time").count(), 1, "{caveats}");
    // A host that cannot be reached is an error before anything is measured.
    let other = far.scratch.join("other.stend");
    let (_, told) = expect_exit(far.stend(&words[..4]).args(["--observe", "ssh:closed", "-o"]).arg(&other), 8);
    assert!(told.contains("`closed` cannot be watched") && told.contains("without `--observe`"), "{told}");
    assert!(!other.exists() && leftovers(&target) == [""; 0]);
    eventually("its workers have ended", IN_TIME, || far.workers().is_empty());
}

#[test]
fn a_stand_is_put_up_and_taken_down_on_another_host() {
    let Some(far) = Far::start("a_stand_is_put_up_on_another_host") else { return };
    let files = far.scratch.directory("files");
    let text =
        format!("stand: far-loop\nlayers: [{{loop: {{directory: {files}, size: 64MiB}}}}, {{fs: {{type: ext4}}}}]\n");
    let stand = far.scratch.file("far.yaml", &text);
    let (told, _) = expect_exit(&mut far.stend(&["stand", "up", &stand, "--ssh", "far"]), 0);
    assert!(told.contains(&format!("stend stand down {stand} --ssh far")), "{told}");
    let (told, _) = expect_exit(&mut far.stend(&["stand", "status", "far-loop", "--ssh", "far"]), 0);
    assert!(told.contains("far-loop"), "{told}");
    // Mounted where the server is, and nowhere else.
    assert!(!std::fs::read_to_string("/proc/mounts").expect("mounts").contains("far-loop"));
    expect_exit(&mut far.stend(&["stand", "down", &stand, "--ssh", "far"]), 0);
    assert_eq!(std::fs::read_dir(&files).expect("a directory").count(), 0);
}

#[test]
fn whoever_ends_first_the_other_end_notices_and_what_was_measured_is_kept() {
    let Some(far) = Far::start("whoever_ends_first") else { return };
    let (suite, target) = (far.scratch.file("long.yaml", LONG), far.scratch.directory("target"));
    let begin = |name: &str| {
        let words = ["run", &suite, "--on", &target, "--ssh", "far", "--progress", "none", "-o", name];
        let run = Running::new(&mut far.stend(&words));
        eventually("the load runs", Duration::from_secs(60), || measured(Path::new(name)));
        run
    };
    // The coordinator is killed.
    let name = far.scratch.join("killed.stend").to_string_lossy().into_owned();
    let mut run = begin(&name);
    run.kill();
    eventually("the worker has ended", IN_TIME, || far.workers().is_empty());
    assert_eq!(leftovers(&target), [""; 0]);
    drop(run);
    // The connection is cut.
    let name = far.scratch.join("cut.stend").to_string_lossy().into_owned();
    let mut run = begin(&name);
    for connection in run.workers() {
        tool(&["kill", "-KILL", &connection.to_string()]);
    }
    assert_eq!(run.wait(Duration::from_secs(60)), Some(8));
    eventually("the worker has ended", IN_TIME, || far.workers().is_empty());
    assert_eq!(leftovers(&target), [""; 0]);
    let found = show_json(&far.scratch, Path::new(&name));
    assert_eq!(found["state"]["kind"], "host_lost");
    assert!(found["cases"][0]["iops"]["value"].as_f64().is_some_and(|iops| iops > 0.0), "nothing is kept");
}

/// Whether a run has kept a trial.
fn measured(run_file: &Path) -> bool {
    stend_record::store::read(run_file).is_ok_and(|run| run.trials.iter().any(|trial| trial.outcome.is_some()))
}

#[test]
fn a_host_that_cannot_be_used_is_refused_with_what_it_says() {
    let Some(far) = Far::start("a_host_that_cannot_be_used") else { return };
    let (suite, target) = (far.scratch.file("small.yaml", SMALL), far.scratch.directory("target"));
    let refused = |host: &str, code: i32| {
        let words = ["run", &suite, "--on", &target, "--progress", "none"];
        expect_exit(far.stend(&words).arg(format!("--ssh={host}")), code).1
    };
    let told = refused("closed", 8);
    assert!(told.contains("cannot reach `closed`") && told.contains("Connection refused"), "{told}");
    assert!(told.contains("`ssh closed true` must work without a question"), "{told}");
    assert!(refused("-oProxyCommand=true", 2).contains("does not name a host"));
    // Its directory of programs is a file.
    std::fs::write(far.scratch.join("cache"), "").expect("a file");
    let told = refused("far", 8);
    assert!(told.contains("cannot copy this program to `far`"), "{told}");
    std::fs::remove_file(far.scratch.join("cache")).expect("a file");
    // Its shell talks.
    std::fs::rename(far.scratch.join("bin/ssh"), far.scratch.join("bin/quiet")).expect("renamed");
    script(&far.scratch, "bin/ssh", &format!("echo Welcome; exec {} \"$@\"", far.scratch.join("bin/quiet").display()));
    let told = refused("far", 8);
    assert!(told.contains("prints `Welcome`"), "{told}");
    // It is of another kind.
    script(&far.scratch, "bin/ssh", "echo stend; echo Linux s390x; echo none");
    let told = refused("far", 4);
    assert!(told.contains("`far` is `Linux s390x`"), "{told}");
    // What arrives is not what was sent.
    script(
        &far.scratch,
        "bin/ssh",
        &format!(
            "case \"$*\" in *sha256sum*) head -c 1000 | {0} \"$@\" ;; *) exec {0} \"$@\" ;; esac",
            far.scratch.join("bin/quiet").display()
        ),
    );
    let told = refused("far", 8);
    assert!(told.contains("it did not arrive whole"), "{told}");
    assert_eq!(far.programs(), [""; 0]);
    assert_eq!(leftovers(&target), [""; 0]);
}

#[test]
fn a_host_with_another_key_is_refused_with_the_way_to_look_at_it() {
    let Some(far) = Far::start("a_host_with_another_key") else { return };
    let (suite, target) = (far.scratch.file("small.yaml", SMALL), far.scratch.directory("target"));
    let file = far.scratch.join("r.stend");
    let at = |name: &str| std::fs::read_to_string(far.scratch.join(name)).expect("a file");
    // The key of the user is a key like any other.
    let (known, other) = (at("known"), at("key.pub"));
    let address = known.split_whitespace().next().expect("an address");
    far.scratch.file("known", &format!("{address} {other}"));
    let words = ["run", &suite, "--on", &target, "--ssh", "far", "--progress", "none", "-o"];
    let (_, told) = expect_exit(far.stend(&words).arg(&file), 8);
    let told = one_line(&told);
    assert!(told.contains("`far` shows another host key than the one that `ssh` knows it by"), "{told}");
    assert!(told.contains("SHA256:") && told.contains(address), "what `ssh` prints: {told}");
    assert!(told.contains("Only if they are equal") && told.contains("`ssh-keygen -R HOST`"), "{told}");
    assert!(!told.contains("set up a key"), "{told}");
    assert!(!file.exists() && leftovers(&target) == [""; 0] && far.programs() == [""; 0]);
    far.scratch.file("known", &known);
    expect_exit(&mut far.stend(&["hosts", "clean", "far"]), 0);
}

#[test]
fn a_host_that_refuses_the_rights_says_which_command_and_what_allows_it() {
    let Some(far) = Far::start("a_host_that_refuses_the_rights") else { return };
    let (suite, target) = (far.scratch.file("small.yaml", SMALL), far.scratch.directory("target"));
    script(&far.scratch, "sudo", "echo 'sudo: a password is required' >&2; exit 1");
    let sudo = far.scratch.join("sudo").display().to_string();
    let text = format!("hosts: {{db: {{ssh: far, become: {sudo} -n, on: {target}}}}}\n");
    let (hosts, file) = (far.scratch.file("hosts.yaml", &text), far.scratch.join("r.stend"));
    for verb in [&["run", &suite, "--progress", "none", "-o"][..], &["hosts", "clean"]] {
        let mut command = far.stend(verb);
        if verb[0] == "run" {
            command.arg(&file);
        }
        let (_, told) = expect_exit(command.args(["--hosts", &hosts]), 8);
        let told = one_line(&told);
        let refused = format!("`db` does not execute `{sudo} -n`: sudo: a password is required");
        assert!(told.contains(&refused), "{told}");
        let way = format!("`ssh far {sudo} -n sh -c true` must work without a question");
        assert!(told.contains(&way) && told.contains("NOPASSWD: ALL"), "{told}");
    }
    assert!(!file.exists() && leftovers(&target) == [""; 0] && far.programs() == [""; 0]);
    // Rights that are given lead there.
    script(&far.scratch, "sudo", "shift; exec \"$@\"");
    expect_exit(far.stend(&["run", &suite, "--hosts", &hosts, "--progress", "none", "-o"]).arg(&file), 0);
    eventually("its worker has ended", IN_TIME, || far.workers().is_empty());
}

#[test]
fn a_host_without_room_for_the_program_is_refused_and_nothing_is_left_there() {
    let Some(mut far) = Far::start("a_host_without_room_for_the_program") else { return };
    let cache = far.scratch.directory("cache-small");
    far.add_in("small", &format!("mount -t tmpfs -o size=64k tmpfs {cache} && "));
    let (suite, target) = (far.scratch.file("small.yaml", SMALL), far.scratch.directory("target"));
    let file = far.scratch.join("r.stend");
    let words = ["run", &suite, "--on", &target, "--ssh", "small", "--progress", "none", "-o"];
    let (_, told) = expect_exit(far.stend(&words).arg(&file), 8);
    let told = one_line(&told);
    for part in ["cannot copy this program to `small`: ", "No space left on device", "MiB there in `$XDG_CACHE_HOME`"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    // Only the host sees its file system.
    assert_eq!(far.said_by("small", &format!("stat -f -c %T {cache} && find {cache} -type f")), "tmpfs");
    assert!(!file.exists() && leftovers(&target) == [""; 0]);
}

#[test]
fn a_stand_of_two_hosts_needs_two_that_see_each_other() {
    let Some(far) = Far::start("a_stand_of_two_hosts_needs_two") else { return };
    let text = "stand: two\nacross: {storage: 10.0.0.1, client: 10.0.0.2}\nlayers: [{zram: {size: 64MiB}}, {nvme_of: {transport: tcp}}]\n";
    let stand = far.scratch.file("two.yaml", text);
    let refused = |more: &[&str]| {
        let words = [&["stand", "plan", &stand], more].concat();
        expect_exit(&mut far.stend(&words), 2).1
    };
    let told = refused(&["--ssh", "far", "--storage", "ssh:far"]);
    assert!(told.contains("are the same machine"), "{told}");
    let told = refused(&["--ssh", "far", "--storage", "box"]);
    assert!(told.contains("only machines of the lab can reach"), "{told}");
    let told = refused(&["--ssh", "far"]);
    assert!(told.contains("needs two hosts"), "{told}");
    let (planned, told) = expect_exit(&mut far.stend(&["stand", "plan", &stand, "--storage", "ssh:far"]), 0);
    assert!(told.contains("far:") && told.contains("this machine:"), "{told}");
    assert!(planned.contains("nvmet") && planned.contains("nvme connect"), "{planned}");
}

/// A stand of three hosts; the machine of each is one of these names.
const THREE: &str = "stand: three\nhosts: {client: 10.0.0.3, n1: 10.0.0.1, n2: 10.0.0.2}\nlayers:\n\
    - {zram: {size: 64MiB}, name: a, host: n1}\n- {nvme_of: {transport: tcp}, name: out-a, to: client}\n\
    - {zram: {size: 64MiB}, name: b, host: n2}\n- {nvme_of: {transport: tcp}, name: out-b, to: client}\n\
    - {md: {level: 0}, on: [out-a, out-b]}\n";

#[test]
fn a_stand_of_three_hosts_is_planned_from_below_and_each_host_has_its_part() {
    let Some(mut far) = Far::start("a_stand_of_three_hosts_is_planned") else { return };
    far.add("other");
    let stand = far.scratch.file("three.yaml", THREE);
    let plan = ["stand", "plan", &stand, "--storage", "n2=ssh:other", "--storage", "n1=ssh:far"];
    let (planned, told) = expect_exit(&mut far.stend(&plan), 0);
    let hosts: Vec<&str> = told.lines().filter(|line| line.ends_with(':')).collect();
    assert_eq!(hosts, ["far:", "other:", "this machine:"], "{told}");
    let parts: Vec<&str> = planned.split("Nothing was changed.").skip(1).collect();
    let [first, second, client] = parts[..] else { panic!("{planned}") };
    assert!(first.contains("10.0.0.1") && !first.contains("10.0.0.2"), "{first}");
    assert!(second.contains("10.0.0.2") && !second.contains("10.0.0.1"), "{second}");
    assert!(client.contains("--traddr=10.0.0.1") && client.contains("--traddr=10.0.0.2"), "{client}");
    assert!(client.contains("mdadm") && !first.contains("mdadm") && !second.contains("nvme connect"), "{planned}");
    let dry = ["run", "quick", "--dry-run", "--stand", &stand, "--storage", "n1=ssh:far", "--storage", "n2=ssh:other"];
    let (planned, told) = expect_exit(&mut far.stend(&dry), 0);
    assert!(planned.contains("--traddr=10.0.0.2") && told.contains("other:"), "{planned}{told}");
}

#[test]
fn a_host_that_is_away_leaves_its_part_and_the_others_are_taken_down() {
    let Some(mut far) = Far::start("a_host_that_is_away_leaves_its_part") else { return };
    far.add("other");
    let stand = far.scratch.file("three.yaml", &THREE.replace("three", "three-away"));
    let down = |n2: &str, exit| {
        let words = ["stand", "down", &stand, "--storage", "n1=ssh:other", "--storage", n2];
        expect_exit(&mut far.stend(&words), exit).1
    };
    let told = down("n2=ssh:closed", 8);
    assert!(told.contains("not taken down everywhere: `n2`"), "{told}");
    assert!(told.contains("--storage n1=ssh:other --storage n2=ssh:closed` finishes it"), "{told}");
    let status = ["stand", "status", &stand, "--storage", "n1=ssh:closed", "--storage", "n2=ssh:other"];
    let (_, told) = expect_exit(&mut far.stend(&status), 8);
    assert!(
        told.contains("`closed`: cannot reach") && told.contains("there is no stand"),
        "the others are asked: {told}"
    );
    let told = down("n2=ssh:far", 0);
    assert_eq!(told.matches("nothing of the stand is left on").count(), 3, "{told}");
}

#[test]
fn what_a_suite_may_not_do_is_refused_before_a_host_is_touched() {
    let Some(far) = Far::start("what_a_suite_may_not_do_is_refused_before") else { return };
    let stand = far.scratch.file("three.yaml", &THREE.replace("three", "three-refused"));
    let of = |name: &str, value: u32| {
        format!("- {{name: {name}, switch: {{tunables: {{/sys/block/loop0/queue/read_ahead_kb: {value}}}}}}}\n")
    };
    let arms = format!("arms:\n{}{}cases:", of("near", 64), of("far", 128));
    let suite = far.scratch.file("arms.yaml", &SMALL.replace("cases:", &arms));
    // Neither of them answers: reaching one would be another error.
    let words = ["run", &suite, "--stand", &stand, "--storage", "n1=ssh:closed", "--storage", "n2=ssh:far"];
    let (_, told) = expect_exit(&mut far.stend(&words), 5);
    assert!(told.contains("--allow-commands"), "{told}");
}
