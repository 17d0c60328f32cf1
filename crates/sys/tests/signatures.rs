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
use std::path::{Path, PathBuf};
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

/// Everything that blkid names: types, all of an ambivalent result, the table.
fn blkid_names(image: &Path) -> BTreeSet<String> {
    let text = run(&["blkid", "-p", "-o", "udev", image.to_str().unwrap()]).unwrap_or_default();
    let values = |key: &'static str| text.lines().filter_map(move |line| line.strip_prefix(key));
    let ambivalent = values("ID_FS_AMBIVALENT=").flat_map(|all| all.split(' ')).filter_map(|one| one.split(':').nth(1));
    values("ID_FS_TYPE=").chain(values("ID_PART_TABLE_TYPE=")).chain(ambivalent).map(String::from).collect()
}

/// Ours must name what blkid names, and say the same UUID and offset of it.
fn agree(image: &Path, name: &str) {
    let found = ours(image);
    let names: BTreeSet<String> = found.iter().map(|f| f.name.to_string()).collect();
    let ours = found.iter().find(|f| f.name == name);
    let ours = ours.unwrap_or_else(|| panic!("our reader on the image of {name}: {names:?}"));
    if run(&["blkid", "-V"]).is_none() {
        return; // Nothing to compare with; `run` has reported it, and fails in CI.
    }
    let theirs = blkid_names(image);
    // blkid takes the boot sector of exFAT for an empty table, too.
    let unknown = theirs.difference(&names).filter(|theirs| !(name == "exfat" && *theirs == "dos"));
    assert_eq!(unknown.count(), 0, "{name}: blkid says {theirs:?}, we say {names:?}");
    assert!(theirs.contains(name) || NOT_OF_BLKID.contains(&name), "blkid does not see {name}: {theirs:?}");
    let key = if matches!(name, "gpt" | "dos" | "PMBR") { "PTUUID" } else { "UUID" };
    if let (Some(uuid), Some(theirs)) = (&ours.uuid, blkid_value(image, key)) {
        assert_eq!(*uuid, theirs, "UUID of {name}");
    }
    if name == "zfs_member" {
        return; // Any slot of the ring will do, and the two readers stop at different ones.
    }
    let offsets: Vec<u64> = wipefs(image).into_iter().filter(|(n, _)| n == name).map(|(_, offset)| offset).collect();
    assert!(offsets.is_empty() || offsets.contains(&ours.offset), "{name} at {}: {offsets:x?}", ours.offset);
}

/// Formats of ours that blkid of util-linux 2.38 does not know, or not on a plain file.
const NOT_OF_BLKID: [&str; 13] = [
    "romfs",
    "bsd",
    "amiga",
    "qcow2",
    "qed",
    "vhd",
    "vhdx",
    "vdi",
    "vmdk",
    "parallels",
    "DM_thin_metadata",
    "DM_cache_metadata",
    "DM_era_metadata",
];

fn blank(dir: &Path, mib: u64) -> PathBuf {
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

/// A format and what makes it: the first word is the program that must be there, `@` the image, `%` a directory beside it.
type Made = (&'static str, u64, &'static str);

const MADE: &[Made] = &[
    ("nilfs2", 200, "mkfs.nilfs2 -q @"),
    ("f2fs", 100, "mkfs.f2fs -q @"),
    ("udf", 16, "mkudffs @"),
    ("udf", 16, "mkudffs -b 4096 @"),
    ("hfs", 16, "hformat @"),
    ("reiserfs", 64, "mkreiserfs -qf @"),
    ("reiser4", 64, "mkfs.reiser4 -fy @"),
    ("bcache", 64, "make-bcache -B @"),
    ("bcache", 64, "make-bcache -C @"),
    ("exfat", 64, "mkfs.exfat @"),
    ("jfs", 32, "mkfs.jfs -q @"),
    ("minix", 16, "mkfs.minix -1 @"),
    ("minix", 16, "mkfs.minix -2 @"),
    ("minix", 16, "mkfs.minix -3 @"),
    ("bfs", 4, "mkfs.bfs @"),
    ("cramfs", 1, "mkfs.cramfs % @"),
    ("squashfs", 1, "mksquashfs % @ -noappend"),
    ("erofs", 1, "mkfs.erofs @ %"),
    ("romfs", 1, "genromfs -f @ -d %"),
    ("ubifs", 16, "mkfs.ubifs -m 2048 -e 129024 -c 100 -r % -o @"),
    ("ufs", 16, "makefs -t ffs -o version=1 -s 8m @ %"),
    ("ufs", 16, "makefs -t ffs -o version=2 -s 8m @ %"),
    ("gfs2", 128, "mkfs.gfs2 -O -K -p lock_nolock @"),
    ("ocfs2", 128, "mkfs.ocfs2 -q -F -M local @"),
    ("apfs", 1024, "mkapfs @"),
    ("iso9660", 1, "genisoimage -quiet -o @ %"),
    ("swap", 16, "mkswap -q -p 65536 @"),
    ("mac", 64, "parted -s @ mklabel mac"),
    ("sun", 64, "parted -s @ mklabel sun"),
    ("bsd", 64, "parted -s @ mklabel bsd"),
    ("sgi", 64, "parted -s @ mklabel dvh"),
    ("amiga", 64, "parted -s @ mklabel amiga"),
    ("qcow2", 1, "qemu-img create -q -f qcow2 @ 64M"),
    ("qed", 1, "qemu-img create -q -f qed @ 64M"),
    ("vhdx", 1, "qemu-img create -q -f vhdx @ 64M"),
    ("vhd", 1, "qemu-img create -q -f vpc @ 64M"),
    ("vhd", 1, "qemu-img create -q -f vpc -o subformat=fixed @ 64M"),
    ("vdi", 1, "qemu-img create -q -f vdi @ 64M"),
    ("vmdk", 1, "qemu-img create -q -f vmdk @ 64M"),
    ("parallels", 1, "qemu-img create -q -f parallels @ 64M"),
    ("DM_verity_hash", 16, "veritysetup format %/data @"),
    ("DM_thin_metadata", 4, "thin_restore -i %/thin -o @"),
    ("DM_cache_metadata", 4, "cache_restore -i %/cache -o @"),
    ("DM_era_metadata", 4, "era_restore -i %/era -o @"),
];

/// Makes an image by a line of [`MADE`]; `None` where its program is not installed.
fn make(dir: &Path, mib: u64, line: &str) -> Option<PathBuf> {
    let image = blank(dir, mib);
    let beside = dir.join("beside");
    std::fs::create_dir_all(&beside).unwrap();
    std::fs::write(beside.join("data"), vec![7; 1 << 20]).unwrap();
    let thin = r#"<superblock uuid="" time="0" transaction="0" data_block_size="128" nr_data_blocks="0"></superblock>"#;
    std::fs::write(beside.join("thin"), thin).unwrap();
    let cache = r#"<superblock uuid="" block_size="128" nr_cache_blocks="128" policy="smq" hint_width="4"><mappings></mappings><hints></hints></superblock>"#;
    std::fs::write(beside.join("cache"), cache).unwrap();
    let era =
        r#"<superblock uuid="" block_size="128" nr_blocks="64" current_era="1"><era_array></era_array></superblock>"#;
    std::fs::write(beside.join("era"), era).unwrap();
    let program = line.split(' ').next().unwrap();
    if run(&["sh", "-c", &format!("PATH=$PATH:/sbin:/usr/sbin command -v {program} || echo no")]).unwrap().trim()
        == "no"
    {
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "{program} is needed in CI");
        println!("skipped: `{program}` is not installed");
        return None;
    }
    let line = line.replace('@', image.to_str().unwrap()).replace('%', beside.to_str().unwrap());
    run(&["sh", "-c", &format!("PATH=$PATH:/sbin:/usr/sbin {line} </dev/null")])?;
    Some(image)
}

#[test]
fn what_other_tools_write_is_named_as_blkid_names_it() {
    let failed: Vec<String> = std::thread::scope(|scope| {
        let half = MADE.len().div_ceil(2);
        let work = |part: &'static [Made]| {
            for (name, mib, line) in part {
                let dir = tempfile::tempdir().unwrap();
                if let Some(image) = make(dir.path(), *mib, line) {
                    agree(&image, name);
                }
            }
        };
        let threads: Vec<_> = MADE.chunks(half).map(|part| scope.spawn(move || work(part))).collect();
        let ended = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
        ended.filter_map(Result::err).map(|what| what.downcast_ref::<String>().cloned().unwrap_or_default()).collect()
    });
    assert!(failed.is_empty(), "{failed:?}");
}

#[test]
fn copies_of_superblocks_are_seen_when_the_first_ones_are_gone() {
    // What is zeroed at the start: less than a partition table, or the first MiB, as a new table would.
    const TABLE: u64 = 1 << 20;
    let table: &[(&str, u64, u64, &str)] = &[
        ("ext4", 16, TABLE, "mkfs.ext4 -qF -b 1024 @"),
        ("ext4", 300, TABLE, "mkfs.ext4 -qF -b 2048 @"),
        ("ext4", 300, TABLE, "mkfs.ext4 -qF -b 4096 @"),
        ("ext4", 3072, TABLE, "mkfs.ext4 -qF -O bigalloc -C 65536 -E nodiscard @"),
        ("xfs", 320, TABLE, "mkfs.xfs -qf @"),
        ("xfs", 403, TABLE, "mkfs.xfs -qf @"),
        ("xfs", 1500, TABLE, "mkfs.xfs -qf -d su=64k,sw=4 @"),
        ("btrfs", 300, TABLE, "mkfs.btrfs -qf @"),
        ("nilfs2", 200, TABLE, "mkfs.nilfs2 -q @"),
        ("ntfs", 16, TABLE, "mkntfs -qFQ -s 512 -p 0 -H 0 -S 0 @"),
        ("gpt", 16, TABLE, "sgdisk -o -n 1:2048:+4M @"),
        ("f2fs", 100, 2048, "mkfs.f2fs -q @"),
        ("exfat", 64, 512, "mkfs.exfat @"),
        ("vfat", 64, 512, "mkfs.vfat -F 32 @"),
    ];
    for (name, mib, gone, line) in table {
        let dir = tempfile::tempdir().unwrap();
        let Some(image) = make(dir.path(), *mib, line) else { continue };
        let first: Vec<_> = ours(&image).iter().map(|f| f.name).collect();
        assert_eq!(first, [*name], "{line}: copies are not told beside the first one");
        let file = File::options().write(true).open(&image).unwrap();
        file.write_all_at(&vec![0; *gone as usize], 0).unwrap();
        let copies = ours(&image);
        assert_eq!(copies.iter().map(|f| f.name).collect::<Vec<_>>(), [*name], "{line}");
        assert!(copies[0].offset >= *gone, "{line}: {copies:?}");
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

#[test]
fn the_label_of_an_osd_has_its_uuid() {
    let mut bytes = vec![0; 8 << 20];
    // As `ceph-osd --mkfs` of Ceph 16.2.15 wrote it.
    let label = b"bluestore block device\n11111111-2222-4333-a444-666666666660\n\x02\x01\x08\x02\0\0";
    let uuid = b"\x11\x11\x11\x11\x22\x22\x43\x33\xa4\x44\x66\x66\x66\x66\x66\x60";
    bytes[..label.len()].copy_from_slice(label);
    bytes[label.len()..][..uuid.len()].copy_from_slice(uuid);
    let found = Image::from_bytes(&bytes).signatures();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].uuid.as_deref(), Some("11111111-2222-4333-a444-666666666660"));
    assert!(found[0].member && found[0].name == "ceph_bluestore");
}
