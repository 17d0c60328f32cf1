//! Five machines of the lab: four of them load together what the fifth one hands out, each a part of its own of one device, or files of its
//! own in one directory; and go on when one of them dies.

use crate::support::lab::{Machine, acquaint, emulators, ready};
use crate::support::*;
use std::time::Duration;

/// The program in the guests.
const STEND: &str = "cd; export LANG=C; /usr/lib/stend/bin/stend";
const CLIENTS: [&str; 4] = ["alfa", "bravo", "charlie", "delta"];
/// The hosts as the coordinator, which runs beside the drives, names them.
const HOSTS: &str = "--ssh alfa --ssh bravo --ssh charlie --ssh delta --storage ssh:nas";
/// What tells that something of a stand or a run is left.
const LEFT: &str = "ls -d /dev/nvme?n1 /dev/sd? 2>/dev/null; cat /proc/mdstat 2>/dev/null | grep -c ^md; ls /sys/kernel/config/nvmet/subsystems \
    2>/dev/null; mount | grep -c /run/stend; ls /var/lib/stend/stands 2>/dev/null; true";

const SUITE: &str = "suite: clients\nfill: {size: 8MiB}\nrepeats: {blocks: 2}\ndefaults: {ramp: 500ms, trial: 4s}\ncases:\n  \
    - {name: write, streams: [{op: write, pattern: random, block_size: 4KiB, queue_depth: 16, verify: {after: true}}]}\n  \
    - {name: read, streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: 16}]}\n";

fn client<'a>(scratch: &'a Scratch, name: &'static str, number: u32) -> Machine<'a> {
    let machine = Machine::up(scratch, name, |serial| {
        format!(
            "memory: 384MiB\nlinks: [{{to: nas, address: 10.77.{number}.2/24}}]\ndrives: [{{serial: {serial}, size: 16MiB}}]\n"
        )
    });
    // All find the storage at its first address.
    machine.guest(&format!("ip route add 10.77.1.1/32 via 10.77.{number}.1 2>/dev/null; true"));
    machine
}

#[test]
#[ignore = "starts five machines of the lab: run by `make lab`"]
fn four_hosts_load_what_one_hands_out_each_its_own_part_and_go_on_without_one_that_dies() {
    let scratch = Scratch::new();
    if !ready(&scratch, "four_hosts_load_what_one_hands_out") {
        return;
    }
    let links = (1..).zip(CLIENTS).map(|(number, name)| format!("{{to: {name}, address: 10.77.{number}.1/24}}"));
    let links = links.collect::<Vec<_>>().join(", ");
    let nas = Machine::up(&scratch, "nas", |serial| {
        format!("memory: 512MiB\nlinks: [{links}]\ndrives: [{{serial: {serial}, count: 2, size: 96MiB}}]\n")
    });
    let clients: Vec<Machine> = (1..).zip(CLIENTS).map(|(number, name)| client(&scratch, name, number)).collect();
    for (number, machine) in (1..).zip(&clients) {
        acquaint(machine, &nas, CLIENTS[number - 1], &format!("10.77.{number}.2"));
    }
    acquaint(&nas, &nas, "nas", "10.77.1.1");
    let all: Vec<&Machine> = [&nas].into_iter().chain(&clients).collect();
    let left = |machines: &[&Machine]| machines.iter().map(|machine| machine.guest(LEFT)).collect::<Vec<_>>();
    let before = left(&all);
    nas.put("suite.yaml", SUITE);
    for (name, layers) in [
        ("block", "{md: {level: 1, initial_sync: skip}}, {nvme_of: {transport: tcp}}"),
        ("files", "{md: {level: 1, initial_sync: skip}}, {fs: {type: ext4}}, {nfs: {}}"),
    ] {
        stand_of(&nas, name, layers);
        nas.guest(&format!("{STEND} run suite.yaml {HOSTS} --stand {name}.yaml -o {name}.stend --progress none >&2"));
        is_of_all(name, &shown(&nas, name));
        assert_eq!(left(&all), before, "{name}");
    }
    a_stand_that_stays_is_planned_and_taken_down_as_a_whole(&nas);
    assert_eq!(left(&all), before);
    the_others_go_on_when_one_dies(&nas, &clients[3]);
    assert_eq!(left(&all[..4]), before[..4]);
    all[..4].iter().rev().for_each(|machine| machine.down());
}

/// What `stend show --json` says of a run that the coordinator has kept.
fn shown(nas: &Machine, name: &str) -> serde_json::Value {
    serde_json::from_str(&nas.guest(&format!("{STEND} show {name}.stend --json"))).expect("JSON")
}

/// A machine loses its power in the middle. The others go on, and the result names it with each trial that lacks it.
fn the_others_go_on_when_one_dies(nas: &Machine, dies: &Machine) {
    nas.put("lost.yaml", &SUITE.replace("blocks: 2", "blocks: 4"));
    nas.guest(&format!(
        "({STEND} run lost.yaml {HOSTS} --stand block.yaml --on-loss go-on -o lost.stend --progress plain > lost.log 2>&1; \
         echo $? > lost.code) > /dev/null 2>&1 < /dev/null & true"
    ));
    let measured = format!("{STEND} show lost.stend --json 2> /dev/null | tr -d ' \n' | grep -c '\"iops\":{{' || true");
    eventually("a trial has ended", Duration::from_secs(300), || nas.guest(&measured).trim() == "1");
    for pid in emulators(&dies.serial) {
        tool(&["kill", "-KILL", &pid.to_string()]);
    }
    let code = || nas.guest("cat lost.code 2> /dev/null; true").trim().to_string();
    eventually("the run has ended", Duration::from_secs(600), || !code().is_empty());
    let told = nas.guest("cat lost.log");
    assert!(told.contains("load host `delta` is lost") && told.contains("3 of 4 go on"), "{}: {told}", code());
    let found = shown(nas, "lost");
    let hosts = found["load_hosts"].as_array().expect("load hosts");
    let without: Vec<usize> = hosts.iter().map(|host| host["trials_without"].as_array().map_or(0, Vec::len)).collect();
    assert!(without[..3] == [0; 3] && (1..8).contains(&without[3]), "{without:?}: {found}");
    assert!(found["cases"].as_array().expect("cases").iter().all(|case| case["iops"]["value"].is_number()), "{found}");
    nas.guest(&format!("{STEND} report lost.stend -o lost.html >&2 && grep -q delta lost.html"));
}

/// The drives of the machine, handed out to all clients.
fn stand_of(nas: &Machine, name: &str, layers: &str) {
    let serial = &nas.serial;
    let clients: Vec<String> = (1..=CLIENTS.len()).map(|number| format!("10.77.{number}.2")).collect();
    nas.put(
        &format!("{name}.yaml"),
        &format!(
            "stand: {name}\nacross: {{storage: 10.77.1.1, client: [{}]}}\n\
             drives: [{{id: {serial}1}}, {{id: {serial}2}}]\nlayers: [{layers}]\n",
            clients.join(", ")
        ),
    );
}

/// Every block that a host has written is there, and a mirror writes each twice.
fn is_of_all(name: &str, found: &serde_json::Value) {
    let begins = |host: &serde_json::Value| host["part"]["start_bytes"].as_u64();
    let begins: Vec<Option<u64>> = found["load_hosts"].as_array().into_iter().flatten().map(begins).collect();
    // Files have names of their own; of a device each host has a fourth.
    let part = |number: u64| (name == "block").then_some(number * (23 << 20));
    assert_eq!(begins, [0, 1, 2, 3].map(part), "{name}: {found}");
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
    let on = told.split_once("--on alfa:").map(|(_, rest)| rest.lines().next().unwrap_or_default()).unwrap_or_default();
    assert!(CLIENTS[1..].iter().all(|name| on.contains(&format!("--on {name}:/dev/"))), "{told}");
    let identity =
        nas.guest(&format!("{STEND} inspect {} --ssh alfa --json", on.split(' ').next().unwrap_or_default()));
    let identity: serde_json::Value = serde_json::from_str(&identity).expect("JSON");
    assert!(identity.to_string().contains("wwn:uuid."), "{identity}");
    let hosts = HOSTS.split(" --storage").next().unwrap_or_default();
    let ahead = nas.guest(&format!(
        "{STEND} run suite.yaml {hosts} --on alfa:{} --dry-run 2>&1; true",
        on.split("--ssh").next().unwrap_or_default()
    ));
    let ahead = ahead.replace('\u{a0}', " ");
    assert!(
        ahead.contains("each loads a part of its own") && ahead.contains("its part: 23 MiB from 23 MiB"),
        "{ahead}"
    );
    nas.guest(&format!("{STEND} stand down block.yaml {HOSTS} >&2"));
}
