//! What is mounted, here and in other mount namespaces, or listed to be.

use super::*;

#[test]
fn what_is_mounted_far_above_makes_the_drive_below_busy() {
    let tree = one_sata_disk();
    tree.partition("sda", SATA, 1, "8:1");
    tree.partition("sda", SATA, 2, "8:2");
    tree.over("dm-0", "253:0", &["sda1"], &[("dm/uuid", "CRYPT-LUKS2-x")]);
    tree.over("dm-1", "253:1", &["dm-0"], &[("dm/uuid", "LVM-y")]);
    tree.put("proc/self/mountinfo", "40 1 253:1 / /srv rw - xfs /dev/mapper/y rw\n");
    let relative = Refusal::RelativeMounted { device: "dm-1".into(), at: "/srv".into() };
    for name in ["sda", "sda1", "dm-0"] {
        assert!(tree.reasons(name).contains(&relative), "{name}: {:?}", tree.reasons(name));
    }
    assert!(tree.reasons("sda").contains(&Refusal::Holder { device: "dm-0".into() }));
    assert!(tree.reasons("dm-1").contains(&Refusal::Mounted { at: "/srv".into() }));
    assert_eq!(tree.reasons("sda2"), [], "a neighbour on the same disk is free");
}

#[test]
fn the_refusal_for_a_mount_in_another_namespace_alone_names_a_process_that_sees_it() {
    let tree = one_sata_disk();
    tree.partition("sda", SATA, 1, "8:1");
    tree.over("dm-1", "253:1", &["sda1"], &[("dm/uuid", "LVM-y")]);
    tree.put("proc/77/mountinfo", "40 1 253:1 / /data rw - xfs /dev/mapper/y rw\n");
    tree.put("proc/77/comm", "postgres\n");
    for (process, namespace) in [("self", "mnt:[1]"), ("77", "mnt:[2]")] {
        tree.put(&format!("proc/{process}/ns/net"), "");
        symlink(namespace, tree.roots.proc.join(process).join("ns/mnt")).unwrap();
    }
    let elsewhere =
        Refusal::MountedElsewhere { device: "dm-1".into(), at: "/data".into(), pid: 77, name: "postgres".into() };
    for name in ["sda", "dm-1"] {
        assert!(tree.reasons(name).contains(&elsewhere), "{name}: {:?}", tree.reasons(name));
    }
    // Where we see it, too, the mount point here counts.
    tree.put("proc/self/mountinfo", "41 1 253:1 / /srv rw - xfs /dev/mapper/y rw\n");
    assert_eq!(tree.reasons("dm-1"), [Refusal::Mounted { at: "/srv".into() }]);
}

#[test]
fn the_root_disk_is_refused_down_to_the_drive_but_not_a_free_partition_beside_it() {
    let tree = one_sata_disk();
    tree.partition("sda", SATA, 1, "8:1");
    tree.partition("sda", SATA, 2, "8:2");
    tree.over("dm-0", "253:0", &["sda1"], &[("dm/uuid", "LVM-root")]);
    tree.put("proc/self/mountinfo", "1 0 253:0 / / rw - ext4 /dev/mapper/root rw\n");
    for name in ["dm-0", "sda1", "sda"] {
        assert_eq!(tree.reasons(name).first(), Some(&Refusal::RootDisk { device: "dm-0".into() }), "{name}");
    }
    assert_eq!(tree.reasons("sda2"), []);
}

#[test]
fn every_way_to_name_a_device_in_fstab_counts() {
    let lines = [
        "UUID=01010101-0101-0101-0101-010101010101 /srv ext4 noauto 0 0",
        "LABEL=data /srv ext4 defaults 0 0",
        "LABEL=\"data\" /srv ext4 defaults 0 0",
        "/dev/sda1\t/srv\text4",
        "/dev/disk/by-label/data /srv ext4",
        "PARTUUID=0badcafe-01 /srv ext4",
        "/dev/sda /srv ext4",
    ];
    for line in lines {
        let tree = one_sata_disk();
        tree.partition("sda", SATA, 1, "8:1");
        tree.partition("sda", SATA, 2, "8:2");
        put_ext4(&tree, "sda1", b"data");
        // A DOS table with one entry of 2 MiB at 1 MiB.
        tree.poke("sda", 440, &0x0bad_cafeu32.to_le_bytes());
        tree.poke("sda", 446, &[0, 0, 0, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 16, 0, 0]);
        tree.poke("sda", 510, b"\x55\xaa");
        tree.put("dev/disk/by-label/.keep", "");
        symlink("../../sda1", tree.roots.dev.join("disk/by-label/data")).unwrap();
        assert_eq!(tree.reasons("sda1"), [], "before the line is there");
        tree.put("etc/fstab", format!("# comment\n{line}\nUUID=02020202-0202 /other ext4\n"));
        for name in ["sda", "sda1"] {
            assert_eq!(tree.reasons(name), [Refusal::Fstab { at: "/srv".into() }], "{name} with {line}");
        }
        let whole_disk = line.starts_with("/dev/sda ");
        assert_eq!(tree.reasons("sda2").is_empty(), !whole_disk, "{line}");
    }
}

#[test]
fn a_mounted_btrfs_makes_every_device_of_it_busy() {
    let tree = one_sata_disk();
    tree.disk("sdb", "8:16", SATA_2, &[("device/wwid", "naa.5000c500ffffffff")]);
    tree.disk("sdc", "8:32", "pci0000:00/x", &[("serial", "C")]);
    tree.put("proc/self/mountinfo", "40 1 0:39 / /srv rw - btrfs /dev/sda rw,subvol=/\n");
    tree.put("sys/fs/btrfs/0101/devices/sda", "");
    tree.put("sys/fs/btrfs/0101/devices/sdb", "");
    for name in ["sda", "sdb"] {
        assert_eq!(tree.reasons(name), [Refusal::Mounted { at: "/srv".into() }], "{name}");
    }
    assert_eq!(tree.reasons("sdc"), []);
}

#[test]
fn a_container_root_leads_to_the_drive_of_its_upper_directory() {
    let tree = one_sata_disk();
    let overlay = "2 1 0:50 / / rw - overlay overlay rw,lowerdir=/l,upperdir=/var/lib/upper,workdir=/w";
    tree.put("proc/self/mountinfo", format!("1 0 8:0 / /var/lib rw - ext4 /dev/sda rw\n{overlay}\n"));
    let reasons = tree.reasons("sda");
    assert!(reasons.contains(&Refusal::RootDisk { device: "sda".into() }), "{reasons:?}");
    assert!(reasons.contains(&Refusal::Mounted { at: "/var/lib".into() }));
}
