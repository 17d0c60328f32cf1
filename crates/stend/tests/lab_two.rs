//! Two machines of the lab with a network between them: one has the drives and hands out what is built on them, the other takes it in
//! and is measured.

use crate::support::lab::{Machine, ready};
use crate::support::*;
use std::path::Path;

const SUITE: &str = "suite: far\nfill: {size: 16MiB}\nrepeats: {blocks: 1}\ncases:\n  - name: mix\n    ramp: 300ms\n    trial: 2s\n    \
    streams: [{op: {read: 50, write: 50}, pattern: random, block_size: 4KiB, queue_depth: 16, verify: {after: true}}]\n  - name: durable\n    \
    ramp: 300ms\n    trial: 2s\n    streams: [{op: write, pattern: random, block_size: 4KiB, sync: {fsync: 1}}]\n";

const ACROSS: &str = "across: {storage: 10.77.0.1, client: 10.77.0.2}";

/// A machine with drives of 400 IOPS, and one that has nothing but its network.
fn two(scratch: &Scratch) -> (Machine<'_>, Machine<'_>) {
    let storage = Machine::up(scratch, "storage", |serial| {
        format!(
            "memory: 512MiB\nlinks: [{{to: client, address: 10.77.0.1/24}}]\n\
             drives: [{{serial: {serial}, count: 2, size: 96MiB, iops: 400}}]\n"
        )
    });
    let client = Machine::up(scratch, "client", |serial| {
        format!(
            "memory: 512MiB\nlinks: [{{to: storage, address: 10.77.0.2/24}}]\n\
             drives: [{{serial: {serial}, size: 16MiB}}]\n"
        )
    });
    (storage, client)
}

/// What tells that something of a stand is left.
const LEFT: &str = "wipefs /dev/nvme?n1; dmsetup ls; cat /proc/mdstat 2>/dev/null | grep -c ^md; ls /sys/kernel/config/nvmet/subsystems \
    /sys/kernel/config/target/iscsi 2>/dev/null | grep -e uuid -e iqn; cat /var/lib/nfs/etab 2>/dev/null | grep -c stend; mount | grep -c /run/stend; \
    nvme list-subsys 2>/dev/null | grep -c -e tcp -e rdma; iscsiadm -m session 2>/dev/null; pgrep nbd-server; ls /run/stend/nbd 2>/dev/null; \
    ls /sys/class/infiniband 2>/dev/null; ls /var/lib/stend/stands 2>/dev/null; true";

#[test]
#[ignore = "starts two machines of the lab: run by `make lab`"]
fn what_one_host_hands_out_another_one_takes_in_over_nvme_iscsi_nbd_and_nfs_and_nothing_stays() {
    let scratch = Scratch::new();
    if !ready(&scratch, "what_one_host_hands_out") {
        return;
    }
    let (storage, client) = two(&scratch);
    let suite = scratch.file("far.yaml", SUITE);
    let serial = &storage.serial;
    let before = [storage.guest(LEFT), client.guest(LEFT)];
    for (name, layers) in [
        ("nvme", "{md: {level: 1}}, {nvme_of: {transport: tcp}}, {fs: {type: ext4}}"),
        ("iscsi", "{iscsi: {paths: 2, active: 1}}, {md: {level: 0}}"),
        ("nbd", "{nbd: {}}, {md: {level: 0}}"),
        ("rdma", "{md: {level: 0}}, {nvme_of: {transport: rdma, soft_roce: true}}"),
        ("iser", "{md: {level: 0}}, {iscsi: {transport: iser, soft_roce: true}}"),
        ("nfs", "{md: {level: 0}}, {fs: {type: ext4}}, {nfs: {}}"),
    ] {
        let text =
            format!("stand: {name}\n{ACROSS}\ndrives: [{{id: {serial}1}}, {{id: {serial}2}}]\nlayers: [{layers}]\n");
        let stand = scratch.file(&format!("{name}.yaml"), &text);
        let file = scratch.join(&format!("{name}.stend")).to_string_lossy().into_owned();
        let words = ["run", &suite, "--stand", &stand, "--storage", "storage", "--progress", "none", "-o", &file];
        client.stend(&words, 0);
        let found = show_json(&scratch, Path::new(&file));
        assert!(found["cases"][0]["iops"]["value"].as_f64().is_some_and(|iops| iops > 50.0), "{name}: {found}");
        told_by_the_drives(name, &found);
        assert_eq!([storage.guest(LEFT), client.guest(LEFT)], before, "{name}");
    }
    strangers_are_kept_out(&storage, &client);
    no_other_address_is_let_in(&storage, &client);
    one_host_is_not_enough(&storage, &client);
    client.down();
    storage.down();
}

/// What reaches the drives of the storage host is counted there, and what its memory answers is refused.
fn told_by_the_drives(name: &str, found: &serde_json::Value) {
    let check = |case: usize, id: &str| {
        let checks = found["cases"][case]["checks"].as_array().into_iter().flatten();
        let check =
            checks.into_iter().find(|check| check["id"] == id).unwrap_or_else(|| panic!("{name} {id}: {found}"));
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_string();
        (text(&check["status"]), text(&check["measured"]["en"]))
    };
    assert_eq!(check(0, "H79").0, "pass", "{name}: every block is as it was written, {found}");
    let (status, bytes) = check(0, "H11");
    assert!(bytes.contains(" of storage"), "{name}: {bytes}");
    // What the server of NFS was given last lies in its memory; that of NBD reads and writes through it.
    assert_eq!(status, if ["nfs", "nbd"].contains(&name) { "fail" } else { "pass" }, "{name}: {bytes}");
    let written = bytes.split_once("write ").and_then(|(_, rest)| rest.split(' ').next()?.parse::<f64>().ok());
    let least = match name {
        // Two drives that mirror each other get every byte twice.
        "nvme" => 1.8,
        "nbd" => 0.0,
        _ => 0.9,
    };
    assert!(written.is_some_and(|written| written >= least), "{name}: {bytes}");
    let (status, flushes) = check(1, "H30");
    assert!(status == "pass" && flushes.contains(" flushes for "), "{name}: {status} {flushes}");
    let caveats: Vec<&str> =
        found["caveats"].as_array().into_iter().flatten().filter_map(|c| c["text"]["en"].as_str()).collect();
    assert!(
        caveats.iter().any(|text| text.starts_with("The storage host `storage` exports the target")),
        "{caveats:?}"
    );
    assert!(found["charts"].as_array().into_iter().flatten().any(|chart| chart["id"] == "resources-storage"), "{name}");
}

/// A client that does not know the stand does not get in, though the address can be reached.
fn strangers_are_kept_out(storage: &Machine, client: &Machine) {
    let serial = &storage.serial;
    for (name, layers, asks) in [
        ("nvme", "{nvme_of: {transport: tcp}}", "modprobe nvme_tcp; nvme connect -t tcp -a 10.77.0.1 -s PORT -n NAME"),
        (
            "iscsi",
            "{iscsi: {}}",
            "modprobe iscsi_tcp; pgrep iscsid || iscsid; iscsiadm -m node -T NAME -p 10.77.0.1:PORT --op new && iscsiadm -m node -T NAME -p 10.77.0.1:PORT --login",
        ),
    ] {
        let text = format!("stand: {name}\n{ACROSS}\ndrives: [{{id: {serial}1}}]\nlayers: [{layers}]\n");
        let stand = storage.scratch.file(&format!("kept-{name}.yaml"), &text);
        client.stend(&["stand", "up", &stand, "--storage", "storage"], 0);
        let (told, _) = client.stend(&["stand", "status", name], 0);
        assert!(told.contains("/dev/"), "{told}");
        let gone = "nvme disconnect-all; iscsiadm -m node --logout; iscsiadm -m node --op delete; ls /dev/nvme?n1 /dev/sd? 2>/dev/null | wc -l";
        // The client lets go by force, and asks again as somebody else.
        let own = client.guest(gone);
        let found = storage.guest(
            "ls /sys/kernel/config/nvmet/subsystems /sys/kernel/config/target/iscsi 2>/dev/null | grep -e ^nqn -e ^iqn; \
             cat /sys/kernel/config/nvmet/ports/*/addr_trsvcid 2>/dev/null; ls -d /sys/kernel/config/target/iscsi/iqn*/tpgt_1/np/* 2>/dev/null | sed 's/.*://'",
        );
        let (export, port) = found.trim().split_once('\n').unwrap_or_else(|| panic!("{found}"));
        let asked = asks.replace("NAME", export).replace("PORT", port.trim());
        let answer =
            client.guest(&format!("({asked}) >/tmp/told 2>&1; echo $?; ls /dev/nvme?n1 /dev/sd? 2>/dev/null | wc -l"));
        let (code, devices) = answer.trim().rsplit_once('\n').unwrap_or_else(|| panic!("{answer}"));
        assert!(!code.ends_with('0'), "{name} let a stranger in: {answer}");
        assert_eq!(devices.trim(), own.trim().lines().last().unwrap_or_default().trim(), "{name}");
        client.guest("iscsiadm -m node --op delete; true");
        client.stend(&["stand", "down", &stand, "--storage", "storage"], 0);
    }
}

/// NBD knows nobody but by the address, and names of exports are listed to nobody.
fn no_other_address_is_let_in(storage: &Machine, client: &Machine) {
    let serial = &storage.serial;
    let text = format!("stand: nbd\n{ACROSS}\ndrives: [{{id: {serial}1}}]\nlayers: [{{nbd: {{}}}}]\n");
    let stand = storage.scratch.file("kept-nbd.yaml", &text);
    client.stend(&["stand", "up", &stand, "--storage", "storage"], 0);
    let told = storage.guest("cat /run/stend/nbd/*.conf");
    let of = |key: &str| {
        told.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_else(|| panic!("{told}")).to_string()
    };
    let (port, name) = (of("port = "), told.lines().rev().find_map(|line| line.strip_prefix('[')?.strip_suffix(']')));
    let name = name.unwrap_or_else(|| panic!("{told}"));
    // The storage host has another address, and knows the name.
    let answer = storage.guest(&format!(
        "modprobe nbd; nbd-client 10.77.0.1 {port} /dev/nbd9 -name {name} >/dev/null 2>&1; echo $?; cat /sys/block/nbd9/pid 2>/dev/null; true"
    ));
    assert!(answer.trim() != "0" && !answer.trim().contains('\n'), "{answer}");
    let listed = client.guest(&format!("nbd-client -l 10.77.0.1 {port} 2>&1; true"));
    assert!(!listed.contains(name), "{listed}");
    let told = storage.guest("/usr/lib/stend/bin/stend inspect --json");
    assert!(told.contains(name), "a drive that is handed out is told: {told}");
    client.stend(&["stand", "down", &stand, "--storage", "storage"], 0);
}

/// A stand of two hosts is not put up on one, and one of one host not on two.
fn one_host_is_not_enough(storage: &Machine, client: &Machine) {
    let serial = &storage.serial;
    let text =
        format!("stand: alone\n{ACROSS}\ndrives: [{{id: {serial}1}}]\nlayers: [{{nvme_of: {{transport: tcp}}}}]\n");
    let stand = storage.scratch.file("alone.yaml", &text);
    let (_, told) = client.stend(&["stand", "up", &stand], 2);
    assert!(told.contains("needs two hosts"), "{told}");
    let (_, told) = client.stend(&["stand", "up", &stand, "--storage", "client"], 2);
    assert!(told.contains("are the same machine"), "{told}");
    let text =
        format!("stand: cards\n{ACROSS}\ndrives: [{{id: {serial}1}}]\nlayers: [{{nvme_of: {{transport: rdma}}}}]\n");
    let stand = storage.scratch.file("cards.yaml", &text);
    let (_, told) = client.stend(&["stand", "up", &stand, "--storage", "storage"], 4);
    assert!(told.contains("no interface with a card for RDMA has the address 10.77.0.1 here"), "{told}");
    let one = storage.stand("one", 1, "dm: {linear: whole}");
    let (_, told) = client.stend(&["stand", "up", &one, "--storage", "storage"], 2);
    assert!(told.contains("uses one host"), "{told}");
    assert_eq!(storage.guest("ls /var/lib/stend/stands 2>/dev/null; true").trim(), "");
}
