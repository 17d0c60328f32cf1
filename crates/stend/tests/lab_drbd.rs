//! Two machines of the lab with a mirror between them (DRBD): verified writes while its peer goes and comes back, both copies compared, a split
//! brain, foreign metadata, and a host that is away. Nothing stays.

use crate::support::lab::{Machine, ready};
use crate::support::*;
use std::path::Path;

const SUITE: &str = "suite: mirror\nfill: {size: 8MiB}\nrepeats: {blocks: 2}\ndefaults: {ramp: 500ms, trial: 4s}\ncases:\n  \
    - {name: write, streams: [{op: write, pattern: random, block_size: 4KiB, queue_depth: 8, verify: {after: true}}]}\n  \
    - name: cut\n    trial: 8s\n    streams: [{op: write, pattern: random, block_size: 4KiB, queue_depth: 8, verify: {after: true}}]\n    \
    events: [{at: 2s, for: 3s, do: peer.down}]\n";

const PEER: [&str; 2] = ["--storage", "b=b"];

/// What tells that something of a stand is left.
const LEFT: &str = "wipefs /dev/nvme?n1; ls /sys/block | grep drbd; grep cs: /proc/drbd 2>/dev/null; ls /var/lib/drbd; \
    ls /var/lib/stend/stands 2>/dev/null; true";

fn machine<'a>(scratch: &'a Scratch, name: &'static str, other: &str, number: u32) -> Machine<'a> {
    Machine::up(scratch, name, |serial| {
        format!(
            "memory: 384MiB\nlinks: [{{to: {other}, address: 10.77.0.{number}/24}}]\n\
             drives: [{{serial: {serial}, count: 3, size: 32MiB}}]\n"
        )
    })
}

/// A mirror on so many drives of each machine, from the one with this number on; `a` is its primary.
fn stand([a, b]: [&Machine; 2], name: &str, numbers: &[u32], settings: &str) -> String {
    let drive = |machine: &Machine, host: &str, number: &u32| {
        let serial = &machine.serial;
        format!("- {{id: {serial}{number}, name: {host}{number}, host: {host}}}\n")
    };
    let all = [(a, "a"), (b, "b")].map(|(machine, host)| {
        let drives: String = numbers.iter().map(|number| drive(machine, host, number)).collect();
        let names: Vec<String> = numbers.iter().map(|number| format!("{host}{number}")).collect();
        (drives, names.join(", "))
    });
    let [(first, on_a), (second, on_b)] = all;
    format!(
        "stand: {name}\nhosts: {{a: 10.77.0.1, b: 10.77.0.2}}\ndrives:\n{first}{second}layers:\n\
         - {{drbd: {{{settings}}}, on: [{on_a}, {on_b}], to: a}}\n"
    )
}

#[test]
#[ignore = "starts two machines of the lab: run by `make lab`"]
fn a_mirror_of_two_hosts_keeps_what_was_acknowledged_on_both_and_nothing_stays() {
    let scratch = Scratch::new();
    if !ready(&scratch, "a_mirror_of_two_hosts") {
        return;
    }
    let (a, b) = (machine(&scratch, "a", "b", 1), machine(&scratch, "b", "a", 2));
    let both = [&a, &b];
    both.iter().for_each(|machine| drop(machine.guest("modprobe drbd; mkdir -p /var/lib/drbd")));
    let before = both.map(|machine| machine.guest(LEFT));
    let mirror = scratch.file("m.yaml", &stand(both, "m", &[1], "protocol: C, resync_rate: 20MiB"));
    a.stend(&[&["stand", "up", &mirror][..], &PEER].concat(), 0);
    let (status, _) = a.stend(&["stand", "status"], 0);
    assert!(status.contains("Primary/Secondary, Connected, UpToDate/UpToDate"), "{status}");
    verified_writes_are_on_both_also_when_the_peer_was_gone(&scratch, both, &mirror);
    a_split_brain_is_told_and_nothing_is_discarded(both, &mirror);
    a_host_that_is_away_is_finished_later(both, &mirror, &before);
    metadata_of_their_own_and_blank_drives(&scratch, both);
    assert_eq!(both.map(|machine| machine.guest(LEFT)), before);
    metadata_of_others_are_refused(&scratch, both, &mirror);
    a.down();
    b.down();
}

/// The device of the mirror in a machine.
fn device(machine: &Machine) -> String {
    machine.guest("ls -d /dev/drbd[0-9]*").trim().to_string()
}

/// What the copy of a machine has, without the metadata at its end.
fn copy(machine: &Machine) -> String {
    let serial = &machine.serial;
    machine.guest(&format!(
        "dd if=/dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_{serial}1 bs=1M count=31 iflag=direct 2>/dev/null | sha256sum"
    ))
}

/// The stand is up before and stays, so that both copies can be compared after the run.
fn verified_writes_are_on_both_also_when_the_peer_was_gone(scratch: &Scratch, both: [&Machine; 2], mirror: &str) {
    let [a, _] = both;
    let (suite, file) = (scratch.file("suite.yaml", SUITE), scratch.join("m.stend").to_string_lossy().into_owned());
    let words = [&["run", &suite, "--stand", mirror, "--progress", "none", "-o", &file][..], &PEER].concat();
    a.stend(&words, 0);
    let found = show_json(scratch, Path::new(&file));
    let check = |case: usize, id: &str| {
        let checks = found["cases"][case]["checks"].as_array().into_iter().flatten();
        let check = checks.into_iter().find(|check| check["id"] == id).unwrap_or_else(|| panic!("{id}: {found}"));
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_string();
        (text(&check["status"]), text(&check["measured"]["en"]))
    };
    for (id, expected) in [("H11", 0.9..1.1), ("H63", 1.8..2.2)] {
        let (status, bytes) = check(0, id);
        let ratio = bytes.split_whitespace().find_map(|word| word.parse::<f64>().ok());
        assert!(status == "pass" && bytes.contains(" of b"), "{id} {status} {bytes}");
        assert!(ratio.is_some_and(|ratio| expected.contains(&ratio)), "{id}: each write is one on each: {bytes}");
    }
    let (status, state) = check(0, "H64");
    assert!(status == "pass" && state.ends_with(" drbd 2/2"), "{status} {state}");
    for case in [0, 1] {
        assert_eq!(check(case, "H79").0, "pass", "{found}");
    }
    let fault = found["faults"][0]["text"]["en"].as_str().unwrap_or_default();
    assert!(fault.contains("Full redundancy after") && fault.contains("all data are as they were written"), "{found}");
    let [here, there] = both.map(copy);
    assert_eq!(here, there, "both copies have all that was acknowledged");
}

/// Both copies are written while they are apart; which one counts is for people to say.
fn a_split_brain_is_told_and_nothing_is_discarded([a, b]: [&Machine; 2], mirror: &str) {
    let name = "--config-file /var/lib/stend/stands/m/drbd.res";
    let write = |machine: &Machine, more: &str| {
        let device = device(machine);
        machine.guest(&format!("{more} dd if=/dev/urandom of={device} bs=4k count=8 oflag=direct 2>/dev/null"));
    };
    write(a, &format!("drbdadm {name} disconnect stend-m-drbd;"));
    let (status, _) = a.stend(&["stand", "status"], 0);
    assert!(status.contains("degraded") && status.contains("UpToDate/DUnknown"), "{status}");
    write(b, &format!("drbdadm {name} primary stend-m-drbd;"));
    b.guest(&format!("drbdadm {name} secondary stend-m-drbd"));
    let copies = [a, b].map(copy);
    a.guest(&format!("drbdadm {name} connect stend-m-drbd; sleep 5"));
    let (status, _) = a.stend(&["stand", "status"], 0);
    assert!(status.contains("StandAlone") && status.contains("neither copy is discarded"), "{status}");
    let (_, told) = a.stend(&[&["stand", "up", mirror][..], &PEER].concat(), 4);
    assert!(told.contains("(split brain)") && told.contains("--discard-my-data"), "{told}");
    assert_eq!([a, b].map(copy), copies, "neither is touched");
}

/// What is left of a stand on a host that is away is taken down by the same command later.
fn a_host_that_is_away_is_finished_later([a, b]: [&Machine; 2], mirror: &str, before: &[String; 2]) {
    let (_, told) = a.stend(&["stand", "down", mirror, "--storage", "b=gone"], 4);
    assert!(told.contains("not taken down everywhere: `b`"), "{told}");
    assert_eq!(a.guest(LEFT), before[0]);
    assert_ne!(b.guest(LEFT), before[1]);
    a.stend(&[&["stand", "down", mirror][..], &PEER].concat(), 0);
    assert_eq!(b.guest(LEFT), before[1]);
}

/// The first synchronisation is left out where both are blank, and only there.
fn metadata_of_their_own_and_blank_drives(scratch: &Scratch, both: [&Machine; 2]) {
    let [a, _] = both;
    let settings = "protocol: A, metadata: external, initial_sync: skip";
    let text = stand(both, "ext", &[2, 3], settings);
    let file = scratch.file("ext.yaml", &text);
    let up = [&["stand", "up", &file][..], &PEER].concat();
    let (_, told) = a.stend(&up, 0);
    assert!(told.contains("new-current-uuid --clear-bitmap") && !told.contains("primary --force"), "{told}");
    let (status, _) = a.stend(&["stand", "status"], 0);
    assert!(status.contains("Primary/Secondary, Connected, UpToDate/UpToDate"), "{status}");
    let down = [&["stand", "down", &file][..], &PEER].concat();
    a.stend(&down, 0);
    a.guest(&format!(
        "printf x | dd of=/dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_{}2 bs=1 seek=20M conv=notrunc 2>&1",
        a.serial
    ));
    let dirty = scratch.file("ext.yaml", &text.replace("drives:", "overwrite: [unknown-data]\ndrives:"));
    let (_, told) = a.stend(&[&["stand", "up", &dirty][..], &PEER].concat(), 4);
    assert!(told.contains("is not blank") && told.contains("take `wait`"), "{told}");
    a.stend(&[&["stand", "down", &dirty][..], &PEER].concat(), 0);
}

/// A drive of another mirror is refused by its label, at its end as on a device for metadata alone, and stays as it is.
fn metadata_of_others_are_refused(scratch: &Scratch, both: [&Machine; 2], mirror: &str) {
    let [a, b] = both;
    let drive = |number: u32| format!("/dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_{}{number}", a.serial);
    let (first, third) = (drive(1), drive(3));
    a.guest(&format!(
        "drbdmeta --force 7 v08 {first} internal create-md >&2; drbdmeta --force 8 v08 {third} flex-external create-md >&2"
    ));
    let labels = a.guest("cat /dev/nvme?n1 | sha256sum");
    let text = stand(both, "ext", &[2, 3], "protocol: A, metadata: external");
    let external = scratch.file("ext.yaml", &text.replace("drives:", "overwrite: [unknown-data]\ndrives:"));
    for file in [mirror, &external] {
        let (_, told) = a.stend(&[&["stand", "up", file][..], &PEER].concat(), 5);
        assert!(told.contains("refused to write") && told.contains("drbd"), "{told}");
        a.stend(&[&["stand", "down", file][..], &PEER].concat(), 0);
    }
    assert_eq!(a.guest("cat /dev/nvme?n1 | sha256sum"), labels);
    assert!(!b.guest(LEFT).contains("drbd"), "the peer was taken down");
}
