//! Three machines of the lab: two of them load together what the third one hands out, each a part of its own of one device, or files of its
//! own in one directory.

use crate::support::lab::{Machine, acquaint, ready};
use crate::support::*;

/// The program in the guests.
const STEND: &str = "cd; export LANG=C; /usr/lib/stend/bin/stend";
/// The hosts as the coordinator, which runs beside the drives, names them.
const HOSTS: &str = "--ssh one --ssh two --storage ssh:nas";
/// What tells that something of a stand or a run is left.
const LEFT: &str = "ls -d /dev/nvme?n1 /dev/sd? 2>/dev/null; cat /proc/mdstat 2>/dev/null | grep -c ^md; ls /sys/kernel/config/nvmet/subsystems \
    2>/dev/null; mount | grep -c /run/stend; ls /var/lib/stend/stands 2>/dev/null; true";

const SUITE: &str = "suite: clients\nfill: {size: 16MiB}\nrepeats: {blocks: 2}\ndefaults: {ramp: 500ms, trial: 4s}\ncases:\n  \
    - {name: write, streams: [{op: write, pattern: random, block_size: 4KiB, queue_depth: 16, verify: {after: true}}]}\n  \
    - {name: read, streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: 16}]}\n";

fn client<'a>(scratch: &'a Scratch, name: &'static str, number: u32) -> Machine<'a> {
    let machine = Machine::up(scratch, name, |serial| {
        format!(
            "memory: 384MiB\nlinks: [{{to: nas, address: 10.77.{number}.2/24}}]\ndrives: [{{serial: {serial}, size: 16MiB}}]\n"
        )
    });
    // Both find the storage at its first address.
    machine.guest(&format!("ip route add 10.77.1.1/32 via 10.77.{number}.1 2>/dev/null; true"));
    machine
}

#[test]
#[ignore = "starts three machines of the lab: run by `make lab`"]
fn two_hosts_load_what_one_hands_out_each_its_own_part_and_nothing_stays() {
    let scratch = Scratch::new();
    if !ready(&scratch, "two_hosts_load_what_one_hands_out") {
        return;
    }
    let nas = Machine::up(&scratch, "nas", |serial| {
        format!(
            "memory: 512MiB\nlinks: [{{to: one, address: 10.77.1.1/24}}, {{to: two, address: 10.77.2.1/24}}]\n\
             drives: [{{serial: {serial}, count: 2, size: 96MiB}}]\n"
        )
    });
    let clients = [client(&scratch, "one", 1), client(&scratch, "two", 2)];
    acquaint(&clients[0], &nas, "one", "10.77.1.2");
    acquaint(&clients[1], &nas, "two", "10.77.2.2");
    acquaint(&nas, &nas, "nas", "10.77.1.1");
    let all = [&nas, &clients[0], &clients[1]];
    let before = all.map(|machine| machine.guest(LEFT));
    nas.put("suite.yaml", SUITE);
    for (name, layers) in [
        ("block", "{md: {level: 1, initial_sync: skip}}, {nvme_of: {transport: tcp}}"),
        ("files", "{md: {level: 1, initial_sync: skip}}, {fs: {type: ext4}}, {nfs: {}}"),
    ] {
        stand_of(&nas, name, layers);
        nas.guest(&format!("{STEND} run suite.yaml {HOSTS} --stand {name}.yaml -o {name}.stend --progress none >&2"));
        let found: serde_json::Value =
            serde_json::from_str(&nas.guest(&format!("{STEND} show {name}.stend --json"))).expect("JSON");
        is_of_both(name, &found);
        assert_eq!(all.map(|machine| machine.guest(LEFT)), before, "{name}");
    }
    a_stand_that_stays_is_planned_and_taken_down_as_a_whole(&nas);
    assert_eq!(all.map(|machine| machine.guest(LEFT)), before);
    all.iter().rev().for_each(|machine| machine.down());
}

/// The drives of the machine, handed out to both clients.
fn stand_of(nas: &Machine, name: &str, layers: &str) {
    let serial = &nas.serial;
    nas.put(
        &format!("{name}.yaml"),
        &format!(
            "stand: {name}\nacross: {{storage: 10.77.1.1, client: [10.77.1.2, 10.77.2.2]}}\n\
             drives: [{{id: {serial}1}}, {{id: {serial}2}}]\nlayers: [{layers}]\n"
        ),
    );
}

/// Every block that a host has written is there, and a mirror writes each twice.
fn is_of_both(name: &str, found: &serde_json::Value) {
    let begins = |host: &serde_json::Value| host["part"]["start_bytes"].as_u64();
    let begins: Vec<Option<u64>> = found["load_hosts"].as_array().into_iter().flatten().map(begins).collect();
    let shared = if name == "block" { [Some(0), Some(47 << 20)] } else { [None, None] };
    assert_eq!(begins, shared, "{name}: {found}");
    let checks = found["cases"][0]["checks"].as_array().into_iter().flatten();
    let checks: Vec<&serde_json::Value> = checks.collect();
    let check = |id: &str| *checks.iter().find(|check| check["id"] == id).unwrap_or_else(|| panic!("{id}: {found}"));
    assert_eq!(check("H79")["status"], "pass", "{name}: {found}");
    let bytes = check("H11")["measured"]["en"].as_str().unwrap_or_default().to_string();
    let written = bytes.split_once("write ").and_then(|(_, rest)| rest.split(' ').next()?.parse::<f64>().ok());
    assert!(written.is_some_and(|written| written > 1.7), "{name}: {bytes}");
}

/// Put up by hand, the device is one for both: each gets its part, which the dry run shows; `down` with all names leaves nothing.
fn a_stand_that_stays_is_planned_and_taken_down_as_a_whole(nas: &Machine) {
    let told = nas.guest(&format!("{STEND} stand up block.yaml {HOSTS} 2>&1"));
    let on = told.split_once("--on one:").map(|(_, rest)| rest.lines().next().unwrap_or_default()).unwrap_or_default();
    assert!(on.contains("--on two:/dev/"), "{told}");
    let identity = nas.guest(&format!("{STEND} inspect {} --ssh one --json", on.split(' ').next().unwrap_or_default()));
    let identity: serde_json::Value = serde_json::from_str(&identity).expect("JSON");
    assert!(identity.to_string().contains("wwn:uuid."), "{identity}");
    let ahead = nas.guest(&format!(
        "{STEND} run suite.yaml --ssh one --ssh two --on one:{} --dry-run 2>&1; true",
        on.split("--ssh").next().unwrap_or_default()
    ));
    let ahead = ahead.replace('\u{a0}', " ");
    assert!(
        ahead.contains("each loads a part of its own") && ahead.contains("its part: 47 MiB from 47 MiB"),
        "{ahead}"
    );
    nas.guest(&format!("{STEND} stand down block.yaml {HOSTS} >&2"));
}
