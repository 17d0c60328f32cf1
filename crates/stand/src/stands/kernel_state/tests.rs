//! What a stand takes for its own on recorded machines.

use super::*;

#[test]
fn a_superblock_is_the_stand_s_only_where_its_journal_says_so() {
    use crate::change::{Entry, StandHead};
    let tree = crate::recorded::Tree::new();
    tree.disk("sda", "8:0", "pci0000:00/0000:00:01.0", &[]);
    let checksums = |salt: u8| {
        let mut bytes = vec![0; 8 << 20];
        bytes[..8].copy_from_slice(b"integrt\0");
        bytes[48..64].fill(salt);
        tree.put("dev/sda", bytes);
    };
    let mut journal = Journal::imagined(StandHead::new("", "", 0, Vec::new(), ""));
    let of = LayerDevice { layer: "dm".into(), index: 0, device: "/dev/sda".into() };
    let shown = |journal: &Journal| {
        let kernel = KernelState::new(&tree.roots, journal);
        [Condition::Superblock(of.clone()), Condition::SuperblockBegun(of.clone())]
            .map(|condition| kernel.shows(&condition))
    };
    let noted = |mark| Entry::Formatted { layer: "dm".into(), index: 0, mark };
    checksums(7);
    assert_eq!(shown(&journal), [false, false], "somebody else's");
    journal.append(noted(None)).unwrap();
    assert_eq!(shown(&journal), [false, true], "half made");
    let mark = KernelState::new(&tree.roots, &journal).superblock("/dev/sda");
    assert_eq!(mark.as_deref(), Some("integrity 07070707070707070707070707070707"));
    journal.append(noted(mark)).unwrap();
    assert_eq!(shown(&journal), [true, true]);
    checksums(8);
    assert_eq!(shown(&journal), [false, false], "made anew by somebody else");
    checksums(7);
    journal.append(Entry::Erased { layer: "dm".into(), index: 0 }).unwrap();
    assert_eq!(shown(&journal), [false, false]);
}

#[test]
fn what_begins_with_zeroes_is_no_cache_that_the_stand_made() {
    use crate::change::{Entry, StandHead};
    let tree = crate::recorded::Tree::new();
    tree.disk("sda", "8:0", "pci0000:00/0000:00:01.0", &[]);
    let of = LayerDevice { layer: "dm".into(), index: 1, device: "/dev/sda".into() };
    let put = |marks: &[(usize, &[u8])]| {
        let mut bytes = vec![0; 8 << 20];
        marks.iter().for_each(|(at, mark)| bytes[*at..at + mark.len()].copy_from_slice(mark));
        tree.put("dev/sda", bytes);
    };
    let shown = |mark: Option<&str>| {
        let mut journal = Journal::imagined(StandHead::new("", "", 0, Vec::new(), ""));
        let mark = mark.map(str::to_string);
        journal.append(Entry::Formatted { layer: "dm".into(), index: 1, mark }).unwrap();
        let kernel = KernelState::new(&tree.roots, &journal);
        [Condition::Superblock(of.clone()), Condition::SuperblockBegun(of.clone())]
            .map(|condition| kernel.shows(&condition))
    };
    let foreign: [(&str, usize, &[u8]); 5] = [
        ("ext4", 1080, b"\x53\xef"),
        ("gpt", 512, b"EFI PART"),
        ("lvm", 512, b"LABELONE"),
        ("btrfs", 0x10040, b"_BHRfS_M"),
        ("md", 4096, b"\xfc\x4e\x2b\xa9\x01\0\0\0\0\0\0\0\0\0\0\0"),
    ];
    for (name, at, mark) in foreign {
        put(&[(at, mark)]);
        assert_eq!(shown(Some("writecache")), [false, false], "{name}");
        assert_eq!(shown(None), [false, false], "{name}, half made");
    }
    put(&[]);
    assert_eq!(shown(Some("writecache")), [true, false], "cleared for a cache: there is nothing to take off");
    assert_eq!(shown(None), [false, false], "nothing that is half made");
    put(&[(0x10040, b"_BHRfS_M")]);
    let journal = Journal::imagined(StandHead::new("", "", 0, Vec::new(), ""));
    let left = KernelState::new(&tree.roots, &journal).superblock("/dev/sda").unwrap();
    assert_eq!(shown(Some(&left)), [true, false], "what was there before stays elsewhere on the device");
    put(&[(0, &[0x21, 0x93, 0x48, 0x23, 1, 0, 0, 0])]);
    assert_eq!(shown(Some("writecache")), [true, true], "a cache");
}

#[test]
fn mappings_of_a_group_are_told_from_those_of_one_whose_name_goes_on() {
    assert!(is_of_group("stend--x--lvm-main", "stend-x-lvm"));
    assert!(is_of_group("stend--x--lvm-main_rimage_0", "stend-x-lvm"));
    assert!(!is_of_group("stend--x--lvm--2-main", "stend-x-lvm"));
    assert!(!is_of_group("stend-x-lvm", "stend-x-lvm"));
}

#[test]
fn a_uuid_is_the_same_in_every_form_and_letters_of_lvm_are_told_apart() {
    assert!(same("AB12-cd", "ab12cd"));
    assert!(!same("abCdxy", "abcdxy"));
    assert!(!same("ab", "abc"));
}

#[test]
fn a_partition_table_is_taken_off_beside_an_old_copy_and_not_beside_what_others_have_put_there_since() {
    const SIZE: u64 = 1 << 30;
    let mark = |uuid: &str, offset| {
        let uuid = Some(uuid.to_string());
        Found { name: "x", offset, uuid, label: None, member: false }
    };
    let alone = |others: &[u64]| {
        let others = others.iter().map(|offset| mark("theirs", *offset));
        let found: Vec<Found> = [mark("ours", 512)].into_iter().chain(others).collect();
        is_alone_at_the_ends(&found, "ours", SIZE)
    };
    assert!(alone(&[]) && alone(&[32 << 20]), "the second superblock of an ext4 of before");
    assert!(!alone(&[0]) && !alone(&[SIZE - 512]) && !alone(&[32 << 20, 1080]));
    assert!(!is_alone_at_the_ends(&[mark("theirs", 32 << 20)], "ours", SIZE), "nothing of ours");
    assert!(!is_alone_at_the_ends(&[mark("ours", 512), mark("theirs", 32 << 20)], "ours", 0), "of an unknown size");
}

/// A host with a copy of a mirror, by the UUID in its metadata; `proc` is what the kernel tells of it.
fn with_mirror(uuid: u64, proc: &str) -> crate::recorded::Tree {
    let tree = crate::recorded::Tree::new();
    tree.disk("sda", "8:0", "pci0000:00/0000:00:01.0", &[]);
    let mut bytes = vec![0; 8 << 20];
    let at = bytes.len() - 4096;
    bytes[at + 40..at + 48].copy_from_slice(&uuid.to_be_bytes());
    bytes[at + 60..at + 64].copy_from_slice(b"\x83\x74\x02\x6c");
    tree.put("dev/sda", bytes);
    tree.over("drbd5", "147:5", &["sda"], &[]);
    tree.put("proc/drbd", format!("version: 8.4.11\n\n 5: cs:{proc} r-----\n"));
    tree
}

#[test]
fn a_mirror_is_the_stand_s_only_by_the_uuid_of_its_copy_and_gets_its_identity_from_it() {
    let uuid = 0xf123_4567_89ab_cdef;
    let tree = with_mirror(uuid, "Connected ro:Primary/Secondary ds:UpToDate/UpToDate C");
    let journal = Journal::imagined(crate::change::StandHead::new("", "", 0, Vec::new(), ""));
    let kernel = KernelState::new(&tree.roots, &journal);
    let of = |uuid: &str, minor: u32| MirrorDevice { minor, uuid: uuid.to_string() };
    let (own, foreign) = (of("f123456789abcdef", 5), of("e123456789abcdef", 5));
    assert!(kernel.shows(&Condition::Mirror(own.clone())) && !kernel.shows(&Condition::Mirror(foreign.clone())));
    assert!(kernel.shows(&Condition::MirrorPrimary(own.clone())) && kernel.shows(&Condition::MirrorFilled(own)));
    assert!(!kernel.shows(&Condition::MirrorPrimary(foreign.clone())));
    // Its number is taken all the same.
    assert!(kernel.is_taken(&Condition::Mirror(foreign)) && !kernel.is_taken(&Condition::Mirror(of("f", 6))));
    let devices = Devices::read(&tree.roots);
    let node = devices.by_name("drbd5").unwrap();
    assert_eq!(identity::of(&tree.roots, &devices, node).as_deref(), Some("drbd:f123456789abcdef"));
    let shown = kernel.find(&Product::Mirror { minor: 5, uuid: "f123456789abcdef".into() });
    assert!(shown.is_some_and(|path| path.ends_with("drbd5")));
}

#[test]
fn only_two_new_copies_that_know_of_each_other_are_filled() {
    let filled = |proc: &str| {
        let tree = with_mirror(1, proc);
        let journal = Journal::imagined(crate::change::StandHead::new("", "", 0, Vec::new(), ""));
        KernelState::new(&tree.roots, &journal)
            .shows(&Condition::MirrorFilled(MirrorDevice { minor: 5, uuid: "1".into() }))
    };
    assert!(!filled("Connected ro:Secondary/Secondary ds:Inconsistent/Inconsistent C"));
    // By force this host would take what is half copied for whole.
    assert!(filled("WFConnection ro:Secondary/Unknown ds:Inconsistent/DUnknown C"));
    assert!(filled("SyncTarget ro:Secondary/Primary ds:Inconsistent/UpToDate C"));
}
