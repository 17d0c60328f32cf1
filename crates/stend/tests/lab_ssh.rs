//! Two machines of the lab of which one reaches the other by `ssh`, over a network that can be cut: the drives of a stand of two hosts
//! are behind it, and a run on the other host loses its line in the middle.

use crate::support::lab::{Machine, acquaint, ready};
use crate::support::*;
use std::time::Duration;

/// The program in the guests.
const STEND: &str = "cd; export LANG=C; /usr/lib/stend/bin/stend";
/// When both ends must have noticed that the line is cut: each takes the other for gone after 30 s, and some seconds go by until it has
/// undone what it made, under emulation.
const NOTICED: Duration = Duration::from_secs(120);

#[test]
#[ignore = "starts two machines of the lab: run by `make lab`"]
fn a_host_behind_ssh_has_the_drives_or_is_measured_and_a_cut_line_is_noticed_at_both_ends() {
    let scratch = Scratch::new();
    if !ready(&scratch, "a_host_behind_ssh") {
        return;
    }
    let machine = |name: &'static str, other: &str, host: u32, drives: u32| {
        Machine::up(&scratch, name, |serial| {
            format!(
                "memory: 512MiB\nlinks: [{{to: {other}, address: 10.77.0.{host}/24}}]\n\
                 drives: [{{serial: {serial}, count: {drives}, size: 96MiB}}]\n"
            )
        })
    };
    let (storage, client) = (machine("array", "db", 1, 2), machine("db", "array", 2, 1));
    acquaint(&storage, &client, "array", "10.77.0.1");
    drives_behind_ssh(&storage, &client);
    a_line_that_is_cut(&storage, &client);
    client.down();
    storage.down();
}

/// Built there, taken in here, watched there, taken down there.
fn drives_behind_ssh(storage: &Machine, client: &Machine) {
    let serial = &storage.serial;
    client.put(
        "two.yaml",
        &format!(
            "stand: far\nacross: {{storage: 10.77.0.1, client: 10.77.0.2}}\ndrives: [{{id: {serial}1}}, {{id: {serial}2}}]\n\
             layers: [{{md: {{level: 1}}}}, {{nvme_of: {{transport: tcp}}}}]\n"
        ),
    );
    client.put(
        "far.yaml",
        "suite: far\nfill: {size: 16MiB}\nrepeats: {blocks: 1}\ncases:\n  - name: w\n    ramp: 300ms\n    trial: 2s\n    \
         streams: [{op: write, pattern: random, block_size: 4KiB, queue_depth: 4}]\n",
    );
    client
        .guest(&format!("{STEND} run far.yaml --storage ssh:array --stand two.yaml -o far.stend --progress none >&2"));
    let shown = client.guest(&format!("{STEND} show far.stend --json"));
    let found: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
    let checks = found["cases"][0]["checks"].as_array().expect("checks");
    let bytes = checks.iter().find(|check| check["id"] == "H11").expect("H11");
    let measured = bytes["measured"]["en"].as_str().unwrap_or_default();
    let written = measured.strip_prefix("write ").and_then(|rest| rest.split(' ').next()?.parse::<f64>().ok());
    // Two drives that mirror each other get every byte twice.
    assert!(written.is_some_and(|ratio| (1.8..2.2).contains(&ratio)) && measured.contains(" of array"), "{bytes}");
    assert_eq!(storage.guest("ls /var/lib/stend/stands 2>/dev/null; grep ^md /proc/mdstat; true").trim(), "");
}

/// Neither end notices at once: each finds out by the silence of the other, undoes what it made, and keeps what was
/// measured.
fn a_line_that_is_cut(storage: &Machine, client: &Machine) {
    client.put(
        "long.yaml",
        "suite: long\ndefaults: {ramp: 300ms, trial: 2s}\nfill: {size: 16MiB}\nrepeats: {blocks: 50}\ncases:\n  - name: w\n    \
         streams: [{op: write, pattern: random, block_size: 4KiB, queue_depth: 4}]\n",
    );
    // A session of its own: what a shell of the lab leaves behind ends with it.
    client.guest(&format!(
        "setsid sh -c '{STEND} run long.yaml --ssh array --on /var/tmp -o cut.stend --progress none > cut.log 2>&1; \
         echo $? > cut.rc' > /dev/null 2>&1 &"
    ));
    let files = || storage.guest("ls -a /var/tmp | grep -c ^.stend-; true").trim().to_string();
    let trials = || {
        let shown = client.guest(&format!("{STEND} show cut.stend --json 2>/dev/null; true"));
        let found: serde_json::Value = serde_json::from_str(&shown).unwrap_or_default();
        found["cases"][0]["trials"].as_u64().unwrap_or(0)
    };
    eventually("two trials are in the run file", NOTICED, || trials() >= 2);
    assert_eq!(files(), "1", "the test file of the run");
    storage.guest("ip link set link1 down");
    eventually("the worker has removed what it made", NOTICED, || files() == "0");
    eventually("no worker is left", NOTICED, || storage.guest("pgrep -f 'worker --fa[r]'; true").trim().is_empty());
    eventually("the coordinator has ended", NOTICED, || !client.guest("cat ~/cut.rc 2>/dev/null; true").is_empty());
    let told = client.guest("cat ~/cut.rc ~/cut.log");
    assert!(told.starts_with("8\n") && told.contains("the worker was lost"), "{told}");
    assert!(trials() >= 2, "what was measured is kept");
}
