//! What lies on the drives of a stand: refused unless the file names it, and gone when the stand is.

use crate::support::stand::Stand;
use crate::support::*;
use serde_json::Value;

#[test]
fn a_table_of_partitions_that_the_file_does_not_name_stays() {
    if !root("a_table_of_partitions_that_the_file_does_not_name_stays") {
        return;
    }
    let scratch = Scratch::new();
    let drive = Loop::new(&scratch, "drive.img", 128 << 20);
    let id = drive.identity(&scratch);
    let with = |name: &str, more: &str| {
        Stand::new(&scratch, name, &format!("drives: [{{id: '{id}'}}]\n{more}layers: [partition: {{count: 2}}]"))
    };
    tool(&["sgdisk", "--new=1:0:+32M", &drive.device]);
    tool(&["partx", "--update", &drive.device]);
    let table = || tool(&["sgdisk", "--print", &drive.device]);
    let before = table();
    let (_, refused) = with("table", "").run("up", 5);
    assert!(refused.contains("gpt"), "{refused}");
    assert_eq!(table(), before);

    let named = with("named", "overwrite: [gpt]\n");
    // A program that looks at every partition, such as `lsblk`, holds it for an instant.
    let held = std::fs::File::open(format!("{}p1", drive.device)).expect("the partition");
    let lets_go = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_secs(1));
        drop(held);
    });
    named.run("up", 0);
    lets_go.join().expect("the partition is let go");
    assert_ne!(table(), before);
    named.run("down", 0);
    named.is_gone();
}

/// Names of the signatures that `stend inspect` shows.
fn signatures(scratch: &Scratch, device: &str) -> Vec<String> {
    let (told, _) = expect_exit(&mut stend(scratch, &["inspect", device, "--json"]), 0);
    let facts: Value = serde_json::from_str(&told).expect("JSON");
    let all = facts["signatures"].as_array().expect("signatures");
    all.iter().map(|one| one["name"].as_str().expect("a name").to_string()).collect()
}

#[test]
fn copies_of_superblocks_go_with_the_stand_that_made_them_and_its_drives_are_free_again() {
    if !root("copies_of_superblocks_go_with_the_stand_that_made_them_and_its_drives_are_free_again") {
        return;
    }
    let scratch = Scratch::new();
    let drives = ["a.img", "b.img"].map(|name| Loop::new(&scratch, name, 300 << 20));
    let ids = drives.iter().map(|drive| format!("{{id: '{}'}}", drive.identity(&scratch)));
    let (first, both) = (ids.clone().next().unwrap_or_default(), ids.collect::<Vec<_>>().join(", "));
    let layers = [
        (&first, "fs: {type: ext4, make: ['-b', '4096']}"),
        (&first, "fs: {type: xfs}"),
        // A copy of btrfs says that there are two drives: a stand or run would never write it.
        (&both, "btrfs: {data: raid1}"),
    ];
    for (index, (on, layer)) in layers.iter().enumerate() {
        let name = format!("copies-{index}");
        let stand = Stand::new(&scratch, &name, &format!("drives: [{on}]\nlayers: [{layer}]"));
        for _ in 0..2 {
            stand.run("up", 0);
            stand.run("down", 0);
            for drive in &drives {
                assert_eq!(signatures(&scratch, &drive.device), [] as [&str; 0], "{layer}");
            }
        }
        stand.is_gone();
    }
}

#[test]
fn what_lies_on_a_drive_is_not_written_over_unless_the_file_names_it() {
    if !root("what_lies_on_a_drive_is_not_written_over_unless_the_file_names_it") {
        return;
    }
    let scratch = Scratch::new();
    let drive = Loop::new(&scratch, "drive.img", 512 << 20);
    let id = drive.identity(&scratch);
    let drives = format!("drives: [{{id: '{id}'}}]\n");
    let layers = "layers: [fs: {type: xfs}]";
    let stand = Stand::new(&scratch, "drive", &format!("{drives}{layers}"));
    let before = || tool(&["sha256sum", &drive.device]);

    tool(&["mkfs.ext4", "-q", &drive.device]);
    let contents = before();
    let (_, refused) = stand.run("up", 5);
    assert!(refused.contains("carries `ext4`") && refused.contains("overwrite: [ext4]"), "{refused}");
    let (plan, _) = stand.run("plan", 0);
    assert!(plan.contains("✘ d1: ") && plan.contains("lost: /dev/"), "{plan}");
    assert_eq!(before(), contents);
    assert!(!stand.journal().exists(), "nothing to take down");

    let mount = Mount::new(&["-o", "ro,noload", &drive.device], scratch.join("mnt"));
    let named = Stand::new(&scratch, "named", &format!("{drives}overwrite: [ext4]\n{layers}"));
    let (_, refused) = named.run("up", 5);
    assert!(refused.contains("mounted"), "{refused}");
    drop(mount);

    let other = Stand::new(&scratch, "other", &format!("{drives}overwrite: [ext4, vfat]\n{layers}"));
    let (_, refused) = other.run("up", 5);
    assert!(refused.contains("`vfat`, but no drive of the stand has it"), "{refused}");
    assert_eq!(before(), contents);

    let (told, _) = named.run("up", 0);
    assert!(told.contains("/run/stend/stands/"), "{told}");
    named.run("down", 0);
    assert!(!tool(&["wipefs", &drive.device]).contains("xfs"), "the mark of the stand is left");
    named.is_gone();
}

#[test]
fn members_swap_and_drives_that_are_absent_or_named_twice_are_refused() {
    if !root("members_swap_and_drives_that_are_absent_or_named_twice_are_refused") {
        return;
    }
    let scratch = Scratch::new();
    let [one, two] = ["one.img", "two.img"].map(|name| Loop::new(&scratch, name, 128 << 20));
    let [first, second] = [&one, &two].map(|drive| drive.identity(&scratch));
    let with = |name: &str, ids: &[&str]| {
        let drives: Vec<String> = ids.iter().map(|id| format!("{{id: '{id}'}}")).collect();
        Stand::new(&scratch, name, &format!("drives: [{}]\nlayers: [btrfs: {{data: raid0}}]", drives.join(", ")))
    };
    let both = with("both", &[&first, &second]);
    tool(&["mkfs.btrfs", "--quiet", &one.device, &two.device]);
    let told = both.run("up", 5).1;
    assert!(told.contains("btrfs"), "{told}");
    tool(&["wipefs", "--all", "--quiet", &two.device]);
    tool(&["pvcreate", "--yes", "--quiet", &two.device]);
    let told = with("lvm", &[&second, &first]).run("up", 5).1;
    assert!(told.contains("LVM2_member"), "{told}");
    tool(&["wipefs", "--all", "--quiet", &one.device]);
    tool(&["wipefs", "--all", "--quiet", &two.device]);
    tool(&["mkswap", &one.device]);
    tool(&["swapon", &one.device]);
    let told = both.run("up", 5).1;
    tool(&["swapoff", &one.device]);
    assert!(told.contains("swap"), "{told}");
    let (_, absent) = with("absent", &[&first, "serial:nowhere"]).run("up", 4);
    assert!(absent.contains("no device has the identity `serial:nowhere`"), "{absent}");
    // The same drive by its identity and by the part behind the colon.
    let bare = first.split_once(':').expect("a kind").1;
    assert!(with("twice", &[&first, bare]).run("up", 3).1.contains("are the same drive"));
    assert!(!both.journal().exists());
}

#[test]
fn a_file_system_of_others_stays_beside_a_copy_of_our_superblock_and_of_our_table() {
    if !root("a_file_system_of_others_stays_beside_a_copy_of_our_superblock_and_of_our_table") {
        return;
    }
    let scratch = Scratch::new();
    let drives = ["fs.img", "table.img"].map(|name| Loop::new(&scratch, name, 300 << 20));
    let [one, two] = drives.each_ref().map(|drive| drive.identity(&scratch));
    let formatted = format!("drives: [{{id: '{one}'}}]\nlayers: [fs: {{type: ext4, make: ['-b', '4096']}}]");
    let formatted = Stand::new(&scratch, "formatted", &formatted);
    let divided =
        Stand::new(&scratch, "divided", &format!("drives: [{{id: '{two}'}}]\nlayers: [partition: {{count: 1}}]"));
    let [fs, table] = drives.each_ref().map(|drive| drive.device.as_str());
    formatted.run("up", 0);
    divided.run("up", 0);
    // Without a discard the second superblock of ext4 stays, in the middle of what XFS does not use yet.
    tool(&["umount", fs]);
    tool(&["mkfs.xfs", "-q", "-f", "-K", fs]);
    // An image that is smaller than the drive leaves the spare table at its end.
    let image = scratch.join("image").to_string_lossy().into_owned();
    tool(&["partx", "--delete", table]);
    tool(&["truncate", "--size=64M", &image]);
    tool(&["mkfs.ext4", "-q", "-F", &image]);
    tool(&["dd", &format!("if={image}"), &format!("of={table}"), "bs=1M", "conv=notrunc,fsync", "status=none"]);
    for (stand, drive) in [(&formatted, fs), (&divided, table)] {
        stand.run("down", 0);
        drop(Mount::new(&[drive], scratch.join("mnt")));
        stand.is_gone();
    }
    assert!(!signatures(&scratch, fs).contains(&"ext4".to_string()), "the copy went with the stand");
}
