//! Our signature reader against `blkid -p`, on images made by the real tools and, for arrays and pools that
//! no tool makes without kernel support, on superblocks written byte by byte.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: a failure must stop the test, a skip must be seen"
)]

use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use stend_sys::IoFile;
use stend_sys::signature::{Found, Image, partition};

/// Runs a tool; `None`, with the name of what was skipped, where it is not installed. In CI it must be.
fn run(words: &[&str]) -> Option<String> {
    match Command::new(words[0]).args(&words[1..]).output() {
        Ok(output) => {
            let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert!(output.status.success() || words[0] == "blkid", "{words:?}: {out}{err}");
            Some(out.into_owned())
        }
        Err(error) => {
            assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "{} is needed in CI: {error}", words[0]);
            println!("skipped: `{}` is not installed", words[0]);
            None
        }
    }
}

fn ours(image: &Path) -> Vec<Found> {
    let size = std::fs::metadata(image).unwrap().len();
    Image::read(&IoFile::open_read(image, false).unwrap(), 0, size).unwrap().signatures()
}

/// Value of a key in the output of `blkid -p -o export`.
fn blkid_value(image: &Path, key: &str) -> Option<String> {
    let text = run(&["blkid", "-p", "-o", "export", image.to_str().unwrap()])?;
    let wanted = format!("{key}=");
    text.lines().find_map(|line| line.strip_prefix(&wanted)).map(|value| value.replace("\\ ", " "))
}

/// (name, offset) pairs that `wipefs`, the same library, finds.
fn wipefs(image: &Path) -> BTreeSet<(String, u64)> {
    let text = run(&["wipefs", "-n", "-i", "-O", "OFFSET,TYPE", image.to_str().unwrap()]).unwrap_or_default();
    let line = |line: &str| {
        let (offset, name) = line.trim().split_once(char::is_whitespace)?;
        Some((name.trim().to_string(), u64::from_str_radix(offset.strip_prefix("0x")?, 16).ok()?))
    };
    text.lines().filter_map(line).collect()
}

/// Both readers must agree on the name, the UUID and the offset of the magic.
fn agree(image: &Path, name: &str) {
    let found = ours(image);
    let names: Vec<_> = found.iter().map(|f| f.name).collect();
    assert_eq!(names, [name], "our reader on the image of {name}");
    let key = if matches!(name, "gpt" | "dos" | "PMBR") { ("PTTYPE", "PTUUID") } else { ("TYPE", "UUID") };
    let Some(theirs) = blkid_value(image, key.0) else {
        // Nothing to compare with where blkid is not installed; `run` has said so, and fails in CI.
        assert!(run(&["blkid", "-V"]).is_none(), "blkid does not see {name}");
        return;
    };
    assert_eq!(theirs, name, "blkid on the image of {name}");
    if found[0].uuid.is_some() {
        assert_eq!(found[0].uuid, blkid_value(image, key.1), "UUID of {name}");
    }
    if name == "zfs_member" {
        return; // Any slot of the ring will do, and the two readers stop at different ones.
    }
    let offsets: Vec<u64> = wipefs(image).into_iter().filter(|(n, _)| n == name).map(|(_, offset)| offset).collect();
    assert!(offsets.is_empty() || offsets.contains(&found[0].offset), "{name} at {}: {offsets:x?}", found[0].offset);
}

fn blank(dir: &Path, mib: u64) -> std::path::PathBuf {
    let path = dir.join("image");
    let file = File::create(&path).unwrap();
    file.set_len(mib << 20).unwrap();
    path
}

#[test]
fn what_the_real_tools_write_is_named_as_blkid_names_it() {
    let table: &[(&str, u64, &[&str])] = &[
        ("ext2", 16, &["mkfs.ext2", "-qF"]),
        ("ext3", 16, &["mkfs.ext3", "-qF"]),
        ("ext4", 16, &["mkfs.ext4", "-qF", "-L", "a label"]),
        ("ext4", 16, &["mkfs.ext4", "-qF", "-O", "^has_journal"]),
        ("jbd", 16, &["mkfs.ext4", "-qF", "-O", "journal_dev"]),
        ("xfs", 320, &["mkfs.xfs", "-qf", "-L", "label"]),
        ("btrfs", 128, &["mkfs.btrfs", "-qf"]),
        ("swap", 16, &["mkswap", "-q", "-L", "label"]),
        ("vfat", 16, &["mkfs.vfat", "-F", "12", "-n", "LABEL"]),
        ("vfat", 16, &["mkfs.vfat", "-F", "16"]),
        ("vfat", 64, &["mkfs.vfat", "-F", "32"]),
        ("ntfs", 16, &["mkntfs", "-qFQ", "-s", "512", "-p", "0", "-H", "0", "-S", "0"]),
        ("gpt", 16, &["sgdisk", "-o", "-n", "1:2048:+4M"]),
    ];
    for (name, mib, words) in table {
        let dir = tempfile::tempdir().unwrap();
        let image = blank(dir.path(), *mib);
        let words: Vec<&str> = words.iter().copied().chain([image.to_str().unwrap()]).collect();
        if run(&words).is_some() {
            agree(&image, name);
        }
    }
}

#[test]
fn encrypted_containers_of_both_versions_are_named_as_blkid_names_them() {
    for version in ["luks1", "luks2"] {
        let dir = tempfile::tempdir().unwrap();
        let image = blank(dir.path(), 32);
        let key = dir.path().join("key");
        std::fs::write(&key, "key").unwrap();
        let (image_name, key) = (image.to_str().unwrap(), key.to_str().unwrap());
        // The fewest iterations allowed: the container is never opened.
        let quick: &[&str] = &["--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000"];
        let words =
            [&["cryptsetup", "luksFormat", "-q", "--type", version], quick, &["--key-file", key, image_name]].concat();
        if run(&words).is_some() {
            agree(&image, "crypto_LUKS");
        }
    }
}

#[test]
fn superblocks_written_by_hand_are_recognised_by_both_readers() {
    // blkid looks for ZFS from 64 MiB on.
    const SIZE: u64 = 64 << 20;
    let md1 = |at: u64| {
        let mut bytes = vec![0u8; 256];
        bytes[..8].copy_from_slice(&[0xfc, 0x4e, 0x2b, 0xa9, 1, 0, 0, 0]);
        bytes[16..32].copy_from_slice(&[7; 16]);
        bytes[144..152].copy_from_slice(&(at / 512).to_le_bytes());
        vec![(at, bytes)]
    };
    let mut md0 = vec![0u8; 4096];
    md0[..12].copy_from_slice(&[0xfc, 0x4e, 0x2b, 0xa9, 0, 0, 0, 0, 90, 0, 0, 0]);
    md0[20..24].copy_from_slice(&[1, 2, 3, 4]);
    md0[52..64].copy_from_slice(&[5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
    let uberblock = |slot: u64| ((128 << 10) + slot * 1024, 0x00ba_b10cu64.to_le_bytes().to_vec());
    let bcache = b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81".to_vec();
    let mut bcache_sb = vec![0u8; 208];
    bcache_sb[8] = 8; // the superblock's own sector
    bcache_sb[24..40].copy_from_slice(&bcache);
    bcache_sb[40..56].copy_from_slice(&[9; 16]);
    let mut drbd = vec![0u8; 4096];
    drbd[60..64].copy_from_slice(&[0x83, 0x74, 0x02, 0x6b]);
    let table = vec![
        ("linux_raid_member", md1(0)),
        ("linux_raid_member", md1(4096)),
        ("linux_raid_member", md1(SIZE - 8192)),
        ("linux_raid_member", vec![(SIZE - 65536, md0)]),
        ("zfs_member", (4..12).map(uberblock).collect::<Vec<_>>()),
        ("ceph_bluestore", vec![(0, b"bluestore block device\n".to_vec())]),
        ("vdo", vec![(0, b"dmvdo001".to_vec())]),
        ("drbd", vec![(SIZE - 4096, drbd)]),
        ("DM_snapshot_cow", vec![(0, b"SnAp".to_vec())]),
        ("VMFS_volume_member", vec![(0x10_0000, b"\x0d\xd0\x01\xc0".to_vec())]),
    ];
    for (name, parts) in table {
        let dir = tempfile::tempdir().unwrap();
        let image = blank(dir.path(), SIZE >> 20);
        let file = File::options().write(true).open(&image).unwrap();
        parts.iter().for_each(|(at, bytes)| file.write_all_at(bytes, *at).unwrap());
        agree(&image, name);
    }
    let dir = tempfile::tempdir().unwrap();
    let image = blank(dir.path(), SIZE >> 20);
    // blkid also checks a checksum that only the real tool computes.
    File::options().write(true).open(&image).unwrap().write_all_at(&bcache_sb, 4096).unwrap();
    assert_eq!(ours(&image)[0].name, "bcache");
}

#[test]
fn partitions_of_both_tables_are_where_the_tools_put_them() {
    let scripts = [
        ("gpt", "label: gpt\n1MiB,2MiB\n4MiB,3MiB\n"),
        ("dos", "label: dos\n1MiB,2MiB,83\n4MiB,10MiB,5\n5MiB,1MiB,83\n7MiB,2MiB,83\n"),
    ];
    for (kind, script) in scripts {
        let dir = tempfile::tempdir().unwrap();
        let image = blank(dir.path(), 16);
        let name = image.to_str().unwrap();
        let script_path = dir.path().join("script");
        std::fs::write(&script_path, script).unwrap();
        if run(&["sh", "-c", "command -v sfdisk || ls /sbin/sfdisk"]).is_none_or(|out| out.is_empty()) {
            continue;
        }
        run(&["sh", "-c", &format!("PATH=$PATH:/sbin sfdisk -q {name} < {}", script_path.display())]);
        agree(&image, kind);
        let bytes = std::fs::read(&image).unwrap();
        let sector = |at: u64| bytes.get(at as usize..at as usize + 512).map(Image::from_bytes);
        let found = partition::table(&Image::from_bytes(&bytes), 512, &sector);
        let theirs = run(&["sh", "-c", &format!("PATH=$PATH:/sbin sfdisk -d {name}")]).unwrap();
        let field = |line: &str, key: &str| {
            let rest = line.split(key).nth(1)?;
            rest.trim_start_matches(['=', ' ']).split(',').next()?.trim().parse::<u64>().ok()
        };
        let logical_or_plain = |line: &&str| line.contains("start=") && !line.contains("type=5");
        let expected: Vec<(u64, u64)> = theirs
            .lines()
            .filter(logical_or_plain)
            .map(|line| (field(line, "start").unwrap() * 512, field(line, "size").unwrap() * 512))
            .collect();
        assert_eq!(found.iter().map(|p| (p.start, p.len)).collect::<Vec<_>>(), expected, "{theirs}");
        assert!(found.iter().all(|p| p.uuid.is_some()));
    }
}
