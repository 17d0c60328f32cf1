//! Three machines of the lab: two nodes hand out what their drives make, a client takes it in from both and is measured.

use crate::support::lab::{Machine, ready};
use crate::support::*;
use std::path::Path;

const SUITE: &str = "suite: array\nfill: {size: 16MiB}\nrepeats: {blocks: 2}\ncases:\n  - name: read\n    ramp: 500ms\n    trial: 4s\n    \
    streams: [{op: read, pattern: random, block_size: 4KiB, queue_depth: 64}]\n  - name: write\n    ramp: 500ms\n    trial: 4s\n    \
    streams: [{op: write, pattern: random, block_size: 4KiB, queue_depth: 64, verify: {after: true}}]\n";

const STORAGE: [&str; 4] = ["--storage", "node1=node1", "--storage", "node2=node2"];

/// What tells that something of a stand is left.
const LEFT: &str = "wipefs /dev/nvme?n1; dmsetup ls; cat /proc/mdstat 2>/dev/null | grep -c ^md; \
    ls /sys/kernel/config/target/iscsi 2>/dev/null | grep iqn; iscsiadm -m session 2>/dev/null; mount | grep -c /run/stend; \
    ls /var/lib/stend/stands 2>/dev/null; true";

fn node<'a>(scratch: &'a Scratch, name: &'static str, number: u32) -> Machine<'a> {
    Machine::up(scratch, name, |serial| {
        format!(
            "memory: 512MiB\nlinks: [{{to: client, address: 10.77.{number}.1/24}}]\n\
             drives: [{{serial: {serial}, count: 4, size: 64MiB, iops: 50}}]\n"
        )
    })
}

/// RAID 10 on each node, handed out over two paths.
fn stand(nodes: [&Machine; 2], name: &str, targets: &str) -> String {
    let drives = |node: usize| {
        let serial = &nodes[node].serial;
        let of = |drive: u32| {
            let (letter, host) = (["a", "b"][node], node + 1);
            format!("- {{id: {serial}{drive}, name: {letter}{drive}, host: node{host}}}\n")
        };
        (1..=4).map(of).collect::<String>()
    };
    let layers = |letter: &str| {
        format!(
            "- {{name: raid-{letter}, md: {{level: 10, initial_sync: skip}}, on: [{letter}1, {letter}2, {letter}3, {letter}4]}}\n\
             - {{name: luns-{letter}, luns: {{count: 4}}}}\n\
             - {{name: array-{letter}, iscsi: {{paths: 2, policy: round-robin}}, to: client}}\n"
        )
    };
    format!(
        "stand: {name}\nhosts: {{node1: 10.77.1.1, node2: 10.77.2.1, client: [10.77.1.2, 10.77.2.2]}}\ndrives:\n{}{}layers:\n{}{}targets: {targets}\n",
        drives(0),
        drives(1),
        layers("a"),
        layers("b")
    )
}

#[test]
#[ignore = "starts three machines of the lab: run by `make lab`"]
fn two_nodes_of_an_array_are_measured_from_their_client_and_nothing_stays() {
    let scratch = Scratch::new();
    if !ready(&scratch, "two_nodes_of_an_array") {
        return;
    }
    let nodes = [node(&scratch, "node1", 1), node(&scratch, "node2", 2)];
    let client = Machine::up(&scratch, "client", |serial| {
        format!(
            "memory: 512MiB\nlinks: [{{to: node1, address: 10.77.1.2/24}}, {{to: node2, address: 10.77.2.2/24}}]\n\
             drives: [{{serial: {serial}, size: 16MiB}}]\n"
        )
    });
    let all = [&nodes[0], &nodes[1], &client];
    let before = all.map(|machine| machine.guest(LEFT));
    let text = stand([&nodes[0], &nodes[1]], "array", "[array-a, array-b]");
    let (suite, file) = (scratch.file("suite.yaml", SUITE), scratch.join("array.stend").to_string_lossy().into_owned());
    let array = scratch.file("array.yaml", &text);
    let words = [&["run", &suite, "--stand", &array, "--progress", "none", "-o", &file][..], &STORAGE].concat();
    client.stend(&words, 0);
    is_of_both_nodes(&show_json(&scratch, Path::new(&file)));
    assert_eq!(all.map(|machine| machine.guest(LEFT)), before);
    what_the_client_holds_stays(&scratch, &nodes, &client, &before[..2]);
    assert_eq!(all.map(|machine| machine.guest(LEFT)), before);
    client.down();
    nodes.iter().for_each(Machine::down);
}

/// Eight drives of 50 IOPS read together, and RAID 10 writes every byte twice, on both nodes.
fn is_of_both_nodes(found: &serde_json::Value) {
    let iops = |case: usize| found["cases"][case]["iops"]["value"].as_f64().unwrap_or_else(|| panic!("{found}"));
    assert!((300.0..440.0).contains(&iops(0)), "eight drives: {}", iops(0));
    let ratio = iops(0) / iops(1);
    assert!((1.6..2.6).contains(&ratio), "each write is two: {ratio}");
    let check = |case: usize, id: &str| {
        let checks = found["cases"][case]["checks"].as_array().into_iter().flatten();
        let check = checks.into_iter().find(|check| check["id"] == id).unwrap_or_else(|| panic!("{id}: {found}"));
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_string();
        (text(&check["status"]), text(&check["measured"]["en"]))
    };
    for case in [0, 1] {
        let (status, bytes) = check(case, "H11");
        assert!(status == "pass" && bytes.contains(" of node1; ") && bytes.contains(" of node2"), "{status} {bytes}");
    }
    assert_eq!(check(1, "H79").0, "pass", "{found}");
    let charts: Vec<&str> = found["charts"].as_array().into_iter().flatten().filter_map(|c| c["id"].as_str()).collect();
    assert!(charts.contains(&"resources-storage") && charts.contains(&"resources-storage-2"), "{charts:?}");
}

/// A run whose client cannot let go leaves the nodes as they are, and so does a client that is away; the same command finishes it.
fn what_the_client_holds_stays(scratch: &Scratch, nodes: &[Machine; 2], client: &Machine, before: &[String]) {
    let text = stand([&nodes[0], &nodes[1]], "held", "[array-a, array-b]");
    let held = scratch.file("held.yaml", &text);
    client.stend(&[&["stand", "up", &held][..], &STORAGE].concat(), 0);
    client.guest("(sleep 1800 </dev/mapper/stend-held-array-a-1 >/dev/null 2>&1 & echo $! > /run/holds)");
    let down = [&["stand", "down", &held][..], &STORAGE].concat();
    let (_, told) = client.stend(&down, 4);
    assert!(told.contains("`client` still uses what it hands out"), "{told}");
    assert!(nodes.iter().zip(before).all(|(node, before)| node.guest(LEFT) != *before), "they hand it out still");
    client.guest("kill $(cat /run/holds)");
    let away = ["stand", "down", &held, "--storage", "node1=node1", "--storage", "node2=gone"];
    let (_, told) = client.stend(&away, 4);
    assert!(told.contains("not taken down everywhere: `node2`"), "{told}");
    assert_eq!(nodes[0].guest(LEFT), before[0]);
    client.stend(&down, 0);
}
