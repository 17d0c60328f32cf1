//! What machines show that hand out devices and directories, and are connected to them themselves.

use super::*;
use crate::change::{Condition, Entry, Journal, StandHead};
use crate::stands::kernel_state::KernelState;

#[test]
fn a_drive_that_is_handed_out_over_nvme_is_never_written_and_lies_below_its_other_end() {
    let tree = Tree::new();
    let uuid = "8e1f3a52-6c0b-4d7e-a3f1-2b9c5d7e8f90";
    tree.disk("nvme0n1", "259:0", "pci0000:00/0000:00:1d.0/nvme/nvme0", &[("wwid", "eui.1")]);
    let namespace = "sys/kernel/config/nvmet/subsystems/nqn.x/namespaces/1";
    tree.put(&format!("{namespace}/device_path"), "/dev/nvme0n1\n");
    tree.put(&format!("{namespace}/device_uuid"), uuid);
    tree.put(&format!("{namespace}/enable"), "0\n");
    assert_eq!(tree.reasons("nvme0n1"), [], "not yet handed out");
    tree.put(&format!("{namespace}/enable"), "1\n");
    let exported = || Refusal::Exported { name: "nqn.x".into() };
    assert_eq!(tree.reasons("nvme0n1"), [exported()]);
    tree.disk("nvme1n1", "259:2", "virtual/nvme-subsystem/nvme-subsys1", &[("wwid", &format!("uuid.{uuid}"))]);
    assert_eq!(tree.reasons("nvme0n1"), [Refusal::Holder { device: "nvme1n1".into() }, exported()]);
    assert_eq!(tree.reasons("nvme1n1"), []);
    let devices = Devices::read(&tree.roots);
    let stack = devices.stack(&[devices.by_name("nvme1n1").unwrap()]);
    let facts = crate::drives::describe(&tree.roots, &devices, &stack);
    let told: Vec<(&str, &str)> = facts.iter().map(|device| (device.name.as_str(), device.kind.as_str())).collect();
    // What is counted at drives is counted once.
    assert_eq!(told, [("nvme1n1", "nvme-of"), ("nvme0n1", "disk")]);
}

#[test]
fn ways_to_a_subsystem_are_told_apart_by_their_services() {
    let tree = Tree::new();
    for (name, nqn, service) in [("nvme4", "nqn.x", "22002"), ("nvme5", "nqn.x", "22001"), ("nvme6", "nqn.y", "22001")]
    {
        tree.put(&format!("sys/class/nvme/{name}/subsysnqn"), nqn);
        tree.put(&format!("sys/class/nvme/{name}/transport"), "tcp\n");
        let address = format!("traddr=127.0.0.1,trsvcid={service},src_addr=127.0.0.1\n");
        tree.put(&format!("sys/class/nvme/{name}/address"), address);
    }
    tree.put("sys/class/nvme/nvme0/subsysnqn", "nqn.x");
    tree.put("sys/class/nvme/nvme0/address", "0000:01:00.0");
    tree.put("sys/class/nvme-subsystem/nvme-subsys4/subsysnqn", "nqn.x");
    let found = crate::exports::controllers(&tree.roots, "nqn.x");
    let told: Vec<(&str, &str)> = found.iter().map(|way| (way.name.as_str(), way.service.as_str())).collect();
    assert_eq!(told, [("nvme5", "22001"), ("nvme4", "22002")]);
    let again = |index: usize| found[index].connect("nqn.x").join(" ");
    let address = "--transport=tcp --traddr=127.0.0.1 --trsvcid";
    assert_eq!(again(0), format!("nvme connect {address}=22001 --nqn=nqn.x"));
    // A target of another host lets in the client of the stand alone.
    tree.put("sys/class/nvme/nvme5/hostnqn", "nqn.client\n");
    tree.put("sys/class/nvme/nvme5/hostid", "5e0d\n");
    let ways = crate::exports::controllers(&tree.roots, "nqn.x");
    let of_the_client = format!("nvme connect {address}=22001 --nqn=nqn.x --hostnqn=nqn.client --hostid=5e0d");
    assert_eq!(ways[0].connect("nqn.x").join(" "), of_the_client);
    assert_eq!((found[0].transport.as_str(), found[0].address.as_str()), ("tcp", "127.0.0.1"));
    assert_eq!(crate::exports::controller(&tree.roots, "nqn.y", "22001").as_deref(), Some("nvme6"));
    assert_eq!(crate::exports::controller(&tree.roots, "nqn.y", "22002"), None);
    let subsystem = crate::exports::subsystem(&tree.roots, "nqn.x");
    assert_eq!(subsystem, Some(tree.roots.sys.join("class/nvme-subsystem/nvme-subsys4")));
    assert_eq!(crate::exports::subsystem(&tree.roots, "nqn.y"), None);
}

#[test]
fn a_drive_that_is_handed_out_over_scsi_lies_below_each_path_to_it() {
    let tree = Tree::new();
    let serial = "8e1f3a52-6c0b-4d7e-a3f1-2b9c5d7e8f90";
    tree.disk("nvme0n1", "259:0", "pci0000:00/0000:00:1d.0/nvme/nvme0", &[("wwid", "eui.1")]);
    let disk = "sys/kernel/config/target/core/iblock_7/disk1";
    tree.put(&format!("{disk}/enable"), "0\n");
    tree.put(&format!("{disk}/info"), "Status: ACTIVATED  Max Queue Depth: 128\n        iBlock device: nvme0n1  UDEV PATH: /dev/nvme0n1  readonly: 0\n");
    tree.put(&format!("{disk}/wwn/vpd_unit_serial"), format!("T10 VPD Unit Serial Number: {serial}\n"));
    assert_eq!(tree.reasons("nvme0n1"), [], "not yet handed out");
    tree.put(&format!("{disk}/enable"), "1\n");
    let exported = || Refusal::Exported { name: "iblock_7/disk1".into() };
    assert_eq!(tree.reasons("nvme0n1"), [exported()]);

    let page = [&[0, 0x80, 0, serial.len() as u8], serial.as_bytes()].concat();
    for (session, port) in [(3, 30_001), (4, 30_002)] {
        let name = if session == 3 { "sda" } else { "sdb" };
        let place = format!("platform/host{session}/session{session}/target{session}:0:0/{session}:0:0:0");
        tree.disk(name, &format!("8:{}", session * 16), &place, &[("device/wwid", "naa.60014058e1f3a526")]);
        tree.put(&format!("sys/devices/{place}/block/{name}/device/vpd_pg80"), &page);
        tree.put(&format!("sys/class/iscsi_connection/connection{session}:0/persistent_port"), format!("{port}\n"));
        tree.put(&format!("sys/class/iscsi_session/session{session}/targetname"), "iqn.x\n");
        tree.put(
            &format!("sys/class/iscsi_session/session{session}/state"),
            if session == 3 { "LOGGED_IN" } else { "FAILED" },
        );
    }
    let holders = ["sda", "sdb"].map(|device| Refusal::Holder { device: device.into() });
    let [first, second] = holders;
    assert_eq!(tree.reasons("nvme0n1"), [first, second, exported()]);
    let devices = Devices::read(&tree.roots);
    let node = |name: &str| devices.by_name(name).unwrap();
    let stack = devices.stack(&[node("sda"), node("sdb")]);
    let facts = crate::drives::describe(&tree.roots, &devices, &stack);
    let mut told: Vec<(&str, &str)> = facts.iter().map(|device| (device.name.as_str(), device.kind.as_str())).collect();
    told.sort_unstable();
    assert_eq!(told, [("nvme0n1", "disk"), ("sda", "iscsi"), ("sdb", "iscsi")]);
    let over = |name: &str, port: u16| crate::exports::comes_over(&tree.roots, node(name), port);
    assert!(over("sda", 30_001) && over("sdb", 30_002) && !over("sda", 30_002) && !over("nvme0n1", 30_001));
    let journal = Journal::imagined(StandHead::new("", "", 0, Vec::new(), ""));
    let kernel = KernelState::new(&tree.roots, &journal);
    let target = "iqn.x".to_string();
    let shown = |port| {
        let (session, begun) = (
            Condition::Session { target: target.clone(), port },
            Condition::SessionBegun { target: target.clone(), port },
        );
        (kernel.shows(&session), kernel.shows(&begun))
    };
    let [open, failed, none] = [30_001, 30_002, 30_003].map(shown);
    assert_eq!((open, failed, none), ((true, true), (false, true), (false, false)), "what failed is logged out, too");
}

#[test]
fn a_file_that_is_a_device_is_handed_out_like_a_device() {
    let tree = Tree::new();
    tree.disk("sda", "8:0", "pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0", &[("device/wwid", "naa.5")]);
    let disk = "sys/kernel/config/target/core/fileio_0/x";
    tree.put(&format!("{disk}/enable"), "1");
    tree.put(&format!("{disk}/info"), "TCM FILEIO ID: 0        File: /dev/sda  Size: 8388608  Mode: O_DSYNC\n");
    assert_eq!(tree.reasons("sda"), [Refusal::Exported { name: "fileio_0/x".into() }]);
}

#[test]
fn an_export_over_nfs_is_the_stand_s_only_for_its_client_and_by_its_number() {
    let tree = Tree::new();
    const OURS: &str = "f6b3f714-7c24-4295-aa10-bc7ac850837d";
    // As `exportfs` of nfs-utils 2.6 writes it.
    let line = |path: &str, client: &str, fsid: &str| {
        format!("{path}\t{client}(rw,sync,wdelay,insecure,no_pnfs,{fsid}anonuid=65534,sec=sys,rw,no_all_squash)\n")
    };
    let ours = line("/mnt/a\\040b", "127.0.0.1", &format!("fsid={OURS},"));
    tree.put("var/lib/nfs/etab", ours + &line("/srv", "127.0.0.1", "") + &line("/srv", "10.0.0.0/8", "fsid=0,"));
    let journal = Journal::imagined(StandHead::new("", "", 0, Vec::new(), ""));
    let kernel = KernelState::new(&tree.roots, &journal);
    let of = |path: &str, client: &str| {
        let [path, client, fsid] = [path, client, OURS].map(str::to_string);
        let export = Condition::NfsExport { path, client, fsid };
        (kernel.shows(&export), kernel.is_taken(&export))
    };
    assert_eq!(of("/mnt/a b", "127.0.0.1"), (true, true));
    assert_eq!(of("/srv", "127.0.0.1"), (false, true), "somebody else's");
    assert_eq!(of("/srv", "10.0.0.2"), (false, false), "a network is another client");
    assert_eq!(of("/mnt", "127.0.0.1"), (false, false));
}

#[test]
fn an_nfs_server_is_stopped_only_when_it_hands_nothing_out_any_more() {
    let tree = Tree::new();
    let mut journal = Journal::imagined(StandHead::new("", "", 0, Vec::new(), ""));
    let shown = |journal: &Journal| {
        KernelState::new(&tree.roots, journal).shows(&Condition::NotedUnshared("/proc/fs/nfsd/threads".into()))
    };
    assert!(!shown(&journal), "another one has started it");
    let [path, value, boot_id] = ["/proc/fs/nfsd/threads", "0", &crate::owner::boot_id(&tree.roots)].map(String::from);
    journal.append(Entry::Before { path, value, boot_id, device: None }).unwrap();
    assert!(shown(&journal));
    tree.put("var/lib/nfs/etab", "/run/stend/stands/other\t127.0.0.1(rw,sync)\n");
    assert!(!shown(&journal), "another stand uses it");
}

#[test]
fn who_serves_the_initiator_and_the_nfs_server_is_asked_of_the_kernel() {
    let tree = Tree::new();
    let listens = || crate::exports::initiator_listens(&tree.roots);
    assert!(!listens());
    tree.put(
        "proc/net/unix",
        "Num RefCount Protocol Flags Type St Inode Path\n0: 2 0 1 1 1 9 @ISCSIADM_ABSTRACT_NAMESPACE\n",
    );
    assert!(listens());
    tree.put("proc/12/comm", "rpc.mountd\n");
    assert!(crate::exports::runs(&tree.roots, "rpc.mountd") && !crate::exports::runs(&tree.roots, "rpc"));
}

#[test]
fn what_a_host_mounts_from_itself_lies_on_its_own_drive() {
    let tree = Tree::new();
    tree.disk("sda", "8:0", "pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0", &[("device/wwid", "naa.5")]);
    let lines = "1 0 8:0 / /srv rw - xfs /dev/sda rw\n2 0 0:50 / /mnt rw - nfs4 127.0.0.1:/srv rw\n3 0 0:51 / /far rw - nfs4 10.0.0.1:/srv rw\n";
    tree.put("proc/self/mountinfo", lines);
    let (devices, mounts) = (Devices::read(&tree.roots), crate::mounts::own(&tree.roots));
    let below = |index: usize| crate::mounts::devices_of(&tree.roots, &devices, &mounts, &mounts[index]).len();
    assert_eq!([below(0), below(1), below(2)], [1, 1, 0]);
}

#[test]
fn a_device_of_nbd_is_the_other_end_of_its_drive_as_long_as_it_is_connected() {
    let tree = Tree::new();
    tree.disk("sda", "8:0", "pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0", &[("device/wwid", "naa.5")]);
    tree.disk("nbd0", "43:0", "virtual", &[("pid", "700\n")]);
    tree.disk("nbd1", "43:16", "virtual", &[]);
    tree.put("sys/devices/virtual/block/nbd1/size", "0\n");
    assert_eq!((tree.reasons("sda"), tree.identity("nbd0")), (Vec::new(), "none".into()), "of somebody else");
    tree.put("run/stend/nbd/stend-x-nbd.conf", "[generic]\n");
    tree.put("run/stend/nbd/nbd0", "700 8e1f3a52 /dev/sda\n");
    let exported = Refusal::Exported { name: "8e1f3a52".into() };
    assert_eq!(tree.reasons("sda"), [Refusal::Holder { device: "nbd0".into() }, exported]);
    assert_eq!((tree.reasons("nbd0"), tree.identity("nbd0")), (Vec::new(), "nbd:8e1f3a52".into()));
    assert_eq!(crate::exports::unattached(&tree.roots).as_deref(), Some("nbd1"));
    // The other end is on another host: nothing of this one is below it.
    tree.put("run/stend/nbd/nbd0", "700 8e1f3a52 -\n");
    assert_eq!((tree.reasons("sda"), tree.identity("nbd0")), (Vec::new(), "nbd:8e1f3a52".into()));
    let devices = Devices::read(&tree.roots);
    let how = |name: &str| {
        let stack = devices.stack(&[devices.by_name(name).unwrap()]);
        crate::drives::describe(&tree.roots, &devices, &stack)[0].transport.clone()
    };
    assert_eq!((how("nbd0").as_deref(), how("nbd1")), (Some("nbd"), None));
    // Another connection of the same device.
    tree.put("run/stend/nbd/nbd0", "701 8e1f3a52 /dev/sda\n");
    assert_eq!((tree.reasons("sda"), tree.identity("nbd0")), (Vec::new(), "none".into()));

    let settings = "/run/stend/nbd/stend-x-nbd.conf";
    tree.put("proc/12/comm", "nbd-server\n");
    tree.put("proc/12/cmdline", format!("nbd-server\0-C\0{settings}\0"));
    assert!(crate::exports::serves(&tree.roots, settings) && !crate::exports::serves(&tree.roots, "/run/stend/nbd"));
}

#[test]
fn a_cache_of_writes_may_hold_what_its_other_device_lacks_and_is_never_written() {
    let tree = Tree::new();
    tree.disk("sda", "8:0", "pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0", &[("device/wwid", "naa.5")]);
    assert_eq!(tree.reasons("sda"), []);
    // Magic and version of its superblock.
    tree.poke("sda", 0, &[0x21, 0x93, 0x48, 0x23, 1, 0, 0, 0]);
    assert_eq!(tree.reasons("sda"), [Refusal::Member { of: "DM_writecache".into(), device: "sda".into() }]);
}

#[test]
fn what_a_server_of_nbd_hands_out_to_another_host_is_used() {
    let tree = Tree::new();
    tree.disk("sda", "8:0", "pci0000:00/0000:00:1f.2/ata1", &[]);
    tree.disk("sdb", "8:16", "pci0000:00/0000:00:1f.2/ata2", &[]);
    let settings = "[generic]\nlistenaddr = 10.77.0.1\nport = 50007\n[8e1f3a52]\nexportname = /dev/sda\nflush = true\n";
    tree.put("run/stend/nbd/stend-x-nbd.conf", settings);
    assert_eq!(tree.reasons("sda"), [], "nobody serves it");
    tree.put("proc/700/comm", "nbd-server\n");
    tree.put(
        "proc/700/cmdline",
        "nbd-server\0-C\0/run/stend/nbd/stend-x-nbd.conf\0-p\0/run/stend/nbd/stend-x-nbd.pid\0",
    );
    assert!(matches!(tree.reasons("sda").as_slice(), [Refusal::Exported { .. }]), "{:?}", tree.reasons("sda"));
    assert_eq!(tree.reasons("sdb"), []);
}

#[test]
fn an_interface_has_a_card_for_rdma_where_one_of_its_addresses_is_of_that_interface() {
    let tree = Tree::new();
    assert!(!crate::exports::has_card(&tree.roots, "eth1"));
    tree.put("sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", "eth0\n");
    tree.put("sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/1", "eth1\n");
    assert!(crate::exports::has_card(&tree.roots, "eth1") && !crate::exports::has_card(&tree.roots, "eth2"));
}
