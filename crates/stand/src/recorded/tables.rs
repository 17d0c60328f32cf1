//! Tables of partitions that nobody but ZFS makes.

use super::{MIB, Tree, one_sata_disk};
use crate::devices::Devices;

/// A table (GPT) with one partition from 1 to 3 MiB, which has this name.
fn put_table(tree: &Tree, device: &str, name: &str) {
    let entry = [[1; 16].as_slice(), &[2; 16], &(MIB / 512).to_le_bytes(), &(3 * MIB / 512 - 1).to_le_bytes()].concat();
    let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
    tree.poke(device, 512, b"EFI PART");
    tree.poke(device, 512 + 72, &[2u64.to_le_bytes().as_slice(), &4u32.to_le_bytes(), &128u32.to_le_bytes()].concat());
    tree.poke(device, 1024, &entry);
    tree.poke(device, 1024 + 56, &name);
}

#[test]
fn the_table_of_zfs_goes_only_when_no_label_is_in_its_partition_and_only_that_table() {
    let tree = one_sata_disk();
    let is_bare = || {
        let devices = Devices::read(&tree.roots);
        crate::marks::is_bare_pool_table(&devices, devices.by_name("sda").unwrap())
    };
    assert!(!is_bare(), "there is no table");
    put_table(&tree, "sda", "data");
    assert!(!is_bare(), "somebody else's");
    put_table(&tree, "sda", "zfs-0a1b2c3d4e5f6071");
    assert!(is_bare());
    tree.poke("sda", MIB + 1080, b"\x53\xef");
    assert!(!is_bare(), "somebody has a file system in it");
}
