//! The attack on formats: every known mark on a device, and the real binary told to write over it with `--confirm` alone. Nothing may
//! be written, and the answer names the mark.

use crate::support::*;
use std::fs::File;
use std::os::unix::fs::FileExt;

const MIB: u64 = 1 << 20;
/// Room for the copies of ext with blocks of 4 KiB and of btrfs; sparse.
const SIZE: u64 = 144 * MIB;

/// What must follow from a mark.
#[derive(Clone, Copy, PartialEq)]
enum Verdict {
    /// `--overwrite-signature` with its name.
    Named,
    /// Refused whatever is said.
    Member,
}
use Verdict::{Member, Named};

/// Offset, from the end where negative, and bytes.
type Part = (i64, &'static [u8]);
type Format = (&'static str, Verdict, &'static [Part]);

const GPT: Part = (512, b"EFI PART");
/// Entries of it: from block 2, as many as one, of 128 bytes.
const GPT_SHAPE: Part = (512 + 72, b"\x02\0\0\0\0\0\0\0\x01\0\0\0\x80");
const GPT_RANGE: Part = (1024 + 32, b"\x00\x08\0\0\0\0\0\0\xff\x0f");

#[rustfmt::skip]
const FORMATS: &[Format] = &[
    ("ext2", Named, &[(1080, b"\x53\xef")]),
    ("ext3", Named, &[(1080, b"\x53\xef"), (1024 + 92, b"\x04")]),
    ("ext4", Named, &[(1080, b"\x53\xef"), (1024 + 92, b"\x04"), (1024 + 96, b"\x40")]),
    ("jbd", Named, &[(1080, b"\x53\xef"), (1024 + 96, b"\x08")]),
    ("ext2", Named, &[(0x80_0400 + 20, b"\x01"), (0x80_0400 + 32, b"\0\x20"), (0x80_0400 + 56, b"\x53\xef"), (0x80_0400 + 90, b"\x01")]),
    ("ext2", Named, &[(0x200_0000 + 24, b"\x01"), (0x200_0000 + 32, b"\0\x40"), (0x200_0000 + 56, b"\x53\xef"), (0x200_0000 + 90, b"\x01")]),
    ("ext2", Named, &[(0x800_0000 + 24, b"\x02"), (0x800_0000 + 32, b"\0\x80"), (0x800_0000 + 56, b"\x53\xef"), (0x800_0000 + 90, b"\x01")]),
    ("xfs", Named, &[(0, b"XFSB")]),
    ("xfs", Named, &[(36 << 20, b"XFSB\0\0\x10\0"), ((36 << 20) + 84, b"\0\0\x24\0")]),
    ("xfs_external_log", Named, &[(0, b"\xfe\xed\xba\xbe")]),
    ("btrfs", Named, &[(0x10040, b"_BHRfS_M"), (0x10088, b"\x01")]),
    ("btrfs", Member, &[(0x10040, b"_BHRfS_M"), (0x10088, b"\x02")]),
    ("btrfs", Named, &[((64 << 20) + 0x30, b"\0\0\0\x04"), ((64 << 20) + 0x40, b"_BHRfS_M"), ((64 << 20) + 0x88, b"\x01")]),
    ("btrfs", Member, &[((64 << 20) + 0x30, b"\0\0\0\x04"), ((64 << 20) + 0x40, b"_BHRfS_M"), ((64 << 20) + 0x88, b"\x02")]),
    ("bcachefs", Named, &[(0x1018, b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"), (0x107b, b"\x01")]),
    ("bcachefs", Member, &[(0x1018, b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"), (0x107b, b"\x03")]),
    // At 143 MiB, which is sector 0x47800.
    ("bcachefs", Named, &[((143 << 20) + 24, b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"), ((143 << 20) + 104, b"\0\x78\x04"), ((143 << 20) + 123, b"\x01")]),
    ("f2fs", Named, &[(1024, b"\x10\x20\xf5\xf2")]),
    ("f2fs", Named, &[(5120, b"\x10\x20\xf5\xf2")]),
    ("nilfs2", Named, &[(1024, b"\x02"), (1030, b"\x34\x34\0\x04")]),
    ("nilfs2", Named, &[(-4096, b"\x02"), (-4090, b"\x34\x34\0\x04")]),
    ("reiserfs", Named, &[(0x10034, b"ReIsEr2Fs")]),
    ("reiser4", Named, &[(0x10000, b"ReIsEr4")]),
    ("jfs", Named, &[(0x8000, b"JFS1")]),
    ("ufs", Named, &[(0x255c, b"\x54\x19\x01\0")]),
    ("ufs", Named, &[(0x1055c, b"\x19\x01\x54\x19")]),
    ("ufs", Named, &[(0x4055c, b"\x19\x54\x01\x19")]),
    ("vxfs", Named, &[(0x400, b"\xf5\xfc\x01\xa5")]),
    ("vxfs", Named, &[(0x2000, b"\xa5\x01\xfc\xf5")]),
    ("minix", Named, &[(1024, b"\x60\0\x2c\x01\x01\0\x01\0\x07\0\0\0\0\x1c\x08\x10\x8f\x13")]),
    ("cramfs", Named, &[(0, b"\x45\x3d\xcd\x28")]),
    ("cramfs", Named, &[(512, b"\x45\x3d\xcd\x28")]),
    ("romfs", Named, &[(0, b"-rom1fs-")]),
    ("squashfs", Named, &[(0, b"hsqs"), (28, b"\x04")]),
    ("squashfs3", Named, &[(0, b"sqsh"), (28, b"\x03")]),
    ("erofs", Named, &[(1024, b"\xe2\xe1\xf5\xe0")]),
    ("zonefs", Named, &[(0, b"SFOZ")]),
    ("ubi", Member, &[(0, b"UBI#")]),
    ("ubifs", Named, &[(0, b"\x31\x18\x10\x06")]),
    ("hfs", Named, &[(1024, b"BD"), (1024 + 0x16, b"\x02")]),
    ("hfsplus", Named, &[(1024, b"H+\0\x04")]),
    ("apfs", Named, &[(32, b"NXSB")]),
    ("ntfs", Named, &[(3, b"NTFS    ")]),
    ("ntfs", Named, &[(-509, b"NTFS    ")]),
    ("exfat", Named, &[(3, b"EXFAT   ")]),
    ("exfat", Named, &[(12 * 512 + 3, b"EXFAT   ")]),
    ("vfat", Named, &[(11, b"\0\x02\x01\x01\0\x02"), (21, b"\xf8"), (0x52, b"FAT32   ")]),
    ("vfat", Named, &[(6 * 512 + 0x52, b"FAT32   ")]),
    ("ReFS", Named, &[(0, b"\0\0\0ReFS\0")]),
    ("BitLocker", Named, &[(3, b"-FVE-FS-")]),
    ("BitLocker", Named, &[(424, b"\x3b\xd6\x67\x49\x29\x2e\xd8\x4a\x83\x99\xf6\xa3\x39\xe3\xd0\x01")]),
    ("crypto_LUKS", Named, &[(0, b"LUKS\xba\xbe")]),
    ("crypto_LUKS", Named, &[(0x4000, b"SKUL\xba\xbe")]),
    ("crypto_LUKS", Named, &[(0x20_0000, b"SKUL\xba\xbe")]),
    ("crypto_LUKS", Named, &[(0x40_0000, b"SKUL\xba\xbe")]),
    ("swap", Named, &[(4086, b"SWAPSPACE2")]),
    ("swap", Named, &[(8182, b"SWAPSPACE2")]),
    ("swap", Named, &[(16374, b"SWAP-SPACE")]),
    ("swap", Named, &[(65526, b"SWAPSPACE2")]),
    ("swsuspend", Named, &[(4086, b"S1SUSPEND\0")]),
    ("iso9660", Named, &[(0x8001, b"CD001")]),
    ("udf", Named, &[(0x8001, b"BEA01"), (0x8801, b"NSR03"), (0x9001, b"TEA01")]),
    ("gfs2", Named, &[(0x10000, b"\x01\x16\x19\x70\0\0\0\x01")]),
    ("ocfs2", Named, &[(0x1000, b"OCFSV2")]),
    ("VMFS", Named, &[(0x20_0000, b"\x5e\xf1\xab\x2f")]),
    ("befs", Named, &[(0x220, b"1SFB")]),
    ("bfs", Named, &[(0, b"\xce\xfa\xad\x1b")]),
    ("hpfs", Named, &[(0x2000, b"\x49\xe8\x95\xf9")]),
    ("nss", Named, &[(0x1000, b"SPB5")]),
    ("mpool", Named, &[(0, b"mpoolDev")]),
    ("DM_verity_hash", Named, &[(0, b"verity\0\0")]),
    ("qcow2", Named, &[(0, b"QFI\xfb")]),
    ("qed", Named, &[(0, b"QED\0")]),
    ("vhdx", Named, &[(0, b"vhdxfile")]),
    ("vhd", Named, &[(0, b"conectix")]),
    ("vhd", Named, &[(-512, b"conectix")]),
    ("vdi", Named, &[(64, b"\x7f\x10\xda\xbe")]),
    ("vmdk", Named, &[(0, b"KDMV")]),
    ("parallels", Named, &[(0, b"WithoutFreeSpace")]),
    ("dmg", Named, &[(-512, b"koly\0\0\0\x04")]),
    ("gpt", Named, &[GPT]),
    ("gpt", Named, &[(-512, b"EFI PART")]),
    ("gpt", Named, &[(4096, b"EFI PART")]),
    ("dos", Named, &[(446 + 4, b"\x83\0\0\0\0\x08\0\0\0\x08"), (510, b"\x55\xaa")]),
    ("PMBR", Named, &[(446 + 4, b"\xee\0\0\0\x01\0\0\0\0\x08"), (510, b"\x55\xaa")]),
    ("sun", Named, &[(0, b"\xda\xbe"), (508, b"\xda\xbe")]),
    ("sgi", Named, &[(0, b"\x0b\xe5\xa9\x41")]),
    ("bsd", Named, &[(512, b"\x57\x45\x56\x82"), (512 + 132, b"\x57\x45\x56\x82")]),
    ("mac", Named, &[(512, b"PM\0\0\0\0\0\x02")]),
    ("dasd", Named, &[(1024, b"\xd3\xd5\xe7\xf1")]),
    ("dasd", Named, &[(8192, b"\xe5\xd6\xd3\xf1")]),
    ("amiga", Named, &[(1024, b"RDSK")]),
    ("aix", Named, &[(0, b"\xc9\xc2\xd4\xc1")]),
    ("LVM1_member", Member, &[(0, b"HM\x01\0")]),
    ("LVM2_member", Member, &[(512, b"LABELONE"), (536, b"LVM2 001")]),
    ("linux_raid_member", Member, &[(0, b"\xfc\x4e\x2b\xa9\x01\0\0\0")]),
    ("linux_raid_member", Member, &[(4096, b"\xfc\x4e\x2b\xa9\x01\0\0\0")]),
    ("linux_raid_member", Member, &[(-8192, b"\xfc\x4e\x2b\xa9\x01\0\0\0")]),
    ("linux_raid_member", Member, &[(-65536, b"\xfc\x4e\x2b\xa9\0\0\0\0\x5a")]),
    ("zfs_member", Member, &[(0x21000, b"\x0c\xb1\xba\0\0\0\0\0")]),
    ("zfs_member", Member, &[(-(128 << 10), b"\x0c\xb1\xba\0\0\0\0\0")]),
    ("bcache", Member, &[(0x1018, b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81")]),
    ("drbd", Member, &[(-4036, b"\x83\x74\x02\x6d")]),
    ("drbdmanage_control_volume", Member, &[(0, b"$DRBDmgr=q")]),
    ("ceph_bluestore", Member, &[(0, b"bluestore block device")]),
    ("vdo", Member, &[(0, b"dmvdo001")]),
    ("stratis", Member, &[(516, b"!Stra0tis\x86\xff\x02^\x41rh")]),
    ("stratis", Member, &[(4612, b"!Stra0tis\x86\xff\x02^\x41rh")]),
    ("oracleasm", Member, &[(32, b"ORCLDISK")]),
    ("VMFS_volume_member", Member, &[(0x10_0000, b"\x0d\xd0\x01\xc0")]),
    ("DM_snapshot_cow", Member, &[(0, b"SnAp")]),
    ("DM_integrity", Member, &[(0, b"integrt\0")]),
    ("DM_writecache", Member, &[(0, b"\x21\x93\x48\x23\x01\0\0\0")]),
    ("DM_thin_metadata", Member, &[(32, b"\xba\x52\x9c\x01\0\0\0\0")]),
    ("DM_cache_metadata", Member, &[(32, b"\x03\xc4\x18\0\0\0\0\0")]),
    ("DM_era_metadata", Member, &[(32, b"\x7b\x07\xc1\x7e\0\0\0\0")]),
    ("DM_clone_metadata", Member, &[(32, b"\x64\x7f\xf2\x8a\0\0\0\0")]),
    ("DM_zoned", Member, &[(0, b"DBZD")]),
    ("aix_lvm_member", Member, &[(7 * 512, b"_LVM")]),
    ("storage_spaces_member", Member, &[(0, b"SPACEDB ")]),
    ("storage_spaces_member", Member, &[GPT, GPT_SHAPE, GPT_RANGE, (1024, b"\x8f\xaf\x5c\xe7\x80\xf6\xee\x4c\xaf\xa3\xb0\x01\xe5\x6e\xfc\x2d")]),
    ("gpfs_member", Member, &[GPT, GPT_SHAPE, GPT_RANGE, (1024, b"\x90\xfc\xaf\x37\x7d\xef\x96\x4e\x91\xc3\x2d\x7a\xe0\x55\xb1\x74")]),
    ("gpfs_member", Member, &[(1024 + 32, b"NSD descriptor for /dev/sdb created by GPFS")]),
    ("ldm_member", Member, &[GPT, GPT_SHAPE, GPT_RANGE, (1024, b"\xaa\xc8\x08\x58\x8f\x7e\xe0\x42\x85\xd2\xe1\xe9\x04\x34\xcf\xb3")]),
    ("ldm_member", Member, &[(0xc00, b"PRIVHEAD")]),
    ("ldm_member", Member, &[(-512, b"PRIVHEAD")]),
    ("vxvm_member", Member, &[(256 * 512, b"PRIVHEAD")]),
    ("ddf_raid_member", Member, &[(-512, b"\xde\x11\xde\x11")]),
    ("isw_raid_member", Member, &[(-1024, b"Intel Raid ISM Cfg Sig. ")]),
    ("lsi_mega_raid_member", Member, &[(-512, b"$XIDE$")]),
    ("nvidia_raid_member", Member, &[(-1024, b"NVIDIA  ")]),
    ("promise_fasttrack_raid_member", Member, &[(-63 * 512, b"Promise Technology, Inc.")]),
    ("promise_fasttrack_raid_member", Member, &[(-3087 * 512, b"Promise Technology, Inc.")]),
    ("hpt37x_raid_member", Member, &[(9 * 512 + 32, b"\xf0\x16\x78\x5a")]),
    ("hpt45x_raid_member", Member, &[(-11 * 512, b"\xf3\x16\x78\x5a")]),
    ("jmicron_raid_member", Member, &[(-512, b"JM\0\0\xb6\xb2")]),
    ("adaptec_raid_member", Member, &[(-512, b"\x37\xfc\x4d\x1e")]),
    ("silicon_medley_raid_member", Member, &[(-512 + 0x60, b"\0\0\0\x2f"), (-512 + 0x13e, b"\0\xd1")]),
    ("via_raid_member", Member, &[(-512, b"\x55\xaa\x01")]),
];

/// Puts the parts of a format on a device, past its cache, or zeroes in their place.
fn put(device: &str, parts: &[Part], zeroes: bool) {
    let file = File::options().write(true).open(device).expect("the device");
    for (offset, bytes) in parts {
        let at = if *offset < 0 { SIZE as i64 + offset } else { *offset } as u64;
        let bytes = if zeroes { vec![0; bytes.len()] } else { bytes.to_vec() };
        file.write_all_at(&bytes, at).expect("the mark");
    }
    file.sync_all().expect("the mark on the device");
}

/// Sectors that the kernel counted as written.
fn written(device: &str) -> String {
    let stat = std::fs::read_to_string(format!("/sys/class/block/{}/stat", device.trim_start_matches("/dev/")));
    stat.expect("counters").split_whitespace().nth(6).expect("sectors written").to_string()
}

const SUITE: &str = "suite: s
defaults: {trial: 200ms}
cases: [{name: w, streams: [{op: write, pattern: random, block_size: 4KiB}]}]
";

/// Tries every n-th format from a first one with a device of its own; returns what went wrong.
fn attack(first: usize, step: usize) -> Vec<String> {
    let scratch = Scratch::new();
    let suite = scratch.file("s.yaml", SUITE);
    let device = Loop::new(&scratch, &format!("formats-{first}.img"), SIZE);
    let (path, identity) = (device.device.as_str(), device.identity(&scratch));
    let mut wrong = Vec::new();
    for (index, (name, verdict, parts)) in FORMATS.iter().enumerate().skip(first).step_by(step) {
        put(path, parts, false);
        let before = written(path);
        let mut words = vec!["run", &suite, "--on", path, "--confirm", &identity, "--lang", "en"];
        // Every tenth really runs; the others ask what a run would do.
        if index % 10 != 0 {
            words.push("--dry-run");
        }
        let (code, _, said) = texts(&output(&mut stend(&scratch, &words)));
        let said = one_line(&said);
        let expected = match verdict {
            Named => format!("--overwrite-signature={name}"),
            Member => format!("`{name}`"),
        };
        let is_member = said.contains("is a member of something larger");
        if code != 5 || !said.contains(&expected) || is_member != (*verdict == Member) {
            wrong.push(format!("{name} {parts:x?}: exit code {code}: {said}"));
        }
        if written(path) != before {
            wrong.push(format!("{name} {parts:x?} was written over"));
        }
        put(path, parts, true);
    }
    // With nothing on it the same device may be written: what refused was the marks.
    let words = ["run", &suite, "--on", path, "--confirm", &identity, "--dry-run"];
    let (code, _, said) = texts(&output(&mut stend(&scratch, &words)));
    if code != 0 {
        wrong.push(format!("blank: {code}: {said}"));
    }
    wrong
}

#[test]
fn no_known_format_is_overwritten_because_its_device_was_confirmed() {
    if !root("no_known_format_is_overwritten_because_its_device_was_confirmed") {
        return;
    }
    assert!(FORMATS.len() >= 110, "{}", FORMATS.len());
    const THREADS: usize = 4;
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|first| scope.spawn(move || attack(first, THREADS))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a thread")).collect()
    });
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), FORMATS.len(), wrong.join("\n"));
}

/// The real binary with a `blkid` of the test before the system's.
fn with_blkid(scratch: &Scratch, script: &str, words: &[&str]) -> (i32, String) {
    use std::os::unix::fs::PermissionsExt;
    let tools = scratch.directory("tools");
    let file = scratch.file("tools/blkid", &format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("a program");
    let path = format!("{tools}:{}", std::env::var("PATH").unwrap_or_default());
    let (code, out, err) = texts(&output(stend(scratch, words).env("PATH", path)));
    (code, one_line(&format!("{out} {err}")))
}

#[test]
fn what_only_blkid_sees_refuses_too_and_an_answer_that_is_none_as_well() {
    if !root("what_only_blkid_sees_refuses_too_and_an_answer_that_is_none_as_well") {
        return;
    }
    let scratch = Scratch::new();
    let suite = scratch.file("s.yaml", SUITE);
    let device = Loop::new(&scratch, "blkid.img", 16 * MIB);
    let identity = device.identity(&scratch);
    let run = ["run", &suite, "--on", &device.device, "--confirm", &identity, "--lang", "en", "--dry-run"];
    let table = [
        ("exit 2", 0, ""),
        ("echo ID_FS_TYPE=rarefs; echo ID_FS_USAGE=filesystem", 5, "--overwrite-signature=rarefs"),
        ("echo ID_PART_TABLE_TYPE=atari", 5, "--overwrite-signature=atari"),
        ("echo ID_FS_TYPE=rare_member; echo ID_FS_USAGE=raid", 5, "is a member of something larger"),
        (
            "echo ID_FS_AMBIVALENT=filesystem:one:1 filesystem:two:; exit 8",
            5,
            "--overwrite-signature=one --overwrite-signature=two",
        ),
        ("echo 'error: Input/output error' >&2; exit 2", 5, "Input/output error"),
        ("echo nonsense", 5, "cannot be read to check its contents (`blkid -p`"),
        ("kill -9 $$", 5, "ended by a signal"),
    ];
    for (script, expected, words) in table {
        let (code, said) = with_blkid(&scratch, script, &run);
        assert!(code == expected && said.contains(words), "{script}: exit code {code}: {said}");
    }
    let named = [&run[..], &["--overwrite-signature", "rarefs"]].concat();
    let (code, said) = with_blkid(&scratch, "echo ID_FS_TYPE=rarefs", &named);
    assert_eq!(code, 0, "{said}");
}

#[test]
fn without_blkid_our_own_reading_decides_and_inspect_says_so() {
    if !root("without_blkid_our_own_reading_decides_and_inspect_says_so") {
        return;
    }
    let scratch = Scratch::new();
    let suite = scratch.file("s.yaml", SUITE);
    let device = Loop::new(&scratch, "absent.img", 16 * MIB);
    let identity = device.identity(&scratch);
    put(&device.device, &[(1080, b"\x53\xef")], false);
    // In a mount namespace of its own the program is hidden behind a device.
    let hide =
        "for file in /usr/sbin/blkid /sbin/blkid; do mount --bind /dev/null $file 2>/dev/null; done; exec \"$@\"";
    let hidden = |words: &[&str]| {
        let command = stend(&scratch, words);
        let mut all = std::process::Command::new("unshare");
        all.args(["--mount", "--propagation", "slave", "sh", "-c", hide, "sh"])
            .arg(command.get_program())
            .args(command.get_args());
        all.envs(command.get_envs().filter_map(|(key, value)| Some((key, value?))));
        let (code, out, err) = texts(&output(&mut all));
        (code, one_line(&format!("{out} {err}")))
    };
    let (code, said) = hidden(&["inspect", &device.device, "--lang", "en"]);
    assert!(code == 0 && said.contains("`blkid` is not installed") && said.contains("ext2 @ 1080"), "{code}: {said}");
    let run = ["run", &suite, "--on", &device.device, "--confirm", &identity, "--lang", "en", "--dry-run"];
    let (code, said) = hidden(&run);
    assert!(code == 5 && said.contains("--overwrite-signature=ext2"), "{code}: {said}");
    let (_, said) = with_blkid(&scratch, "exit 2", &["inspect", &device.device, "--lang", "en"]);
    assert!(!said.contains("is not installed"), "{said}");
}
