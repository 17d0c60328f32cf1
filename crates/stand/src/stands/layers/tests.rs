//! The commands of every kind of layer, as they would be executed.

use super::*;
use expect_test::{Expect, expect};

mod alua;
mod ceph;
mod drbd;
mod exports;
mod paths;
mod pools;
mod superblocks;
mod two_hosts;
mod volumes;

const SIX: &str = "{id: D1}, {id: D2}, {id: D3}, {id: D4}, {id: D5}, {id: D6}";

/// A drive with a path that is far.
fn access_state(path: &str) -> Option<(String, String)> {
    let state = match path {
        "/dev/near" => "active/optimized",
        "/dev/far" => "active/non-optimized",
        "/dev/idle" => "standby",
        _ => return None,
    };
    Some(("alua".into(), state.into()))
}

/// What makes a layer on devices of which nothing exists yet.
fn made(stand: &stend_spec::stand::Stand, layer: &Layer, below: &[LowerDevice]) -> Made {
    make(&context_of(stand, layer, below))
}

/// What there is to know for that.
fn context_of<'a>(stand: &'a stend_spec::stand::Stand, layer: &'a Layer, below: &'a [LowerDevice]) -> StepContext<'a> {
    let way = Way::of(stand, layer);
    StepContext {
        names: Names { stand: &stand.name, nonce: 1 },
        layer,
        below,
        path: &|product| product.shown(),
        lasting: &|path| path.to_string(),
        checksummed: &|_| None,
        overwrites: !stand.overwrite.is_empty(),
        size: &|_| None,
        over_paths: stand.is_over_paths(layer),
        access_state: &|path| access_state(path),
        way,
    }
}

/// Commands that make the last layer of a stand with six drives of 100 MiB, its undo, and what it makes.
fn check(layers: &str, expected: Expect) {
    let with = if ["loop", "zram", "existing"].iter().any(|kind| layers.contains(kind)) {
        String::new()
    } else {
        format!("drives: [{SIX}]\n")
    };
    let stand = stend_spec::parse::stand(&format!("stand: x\n{with}layers:\n{layers}\n"), "s.yaml").unwrap();
    let layer = stand.layers.last().unwrap();
    let below: Vec<LowerDevice> =
        layer.on.iter().map(|of| LowerDevice { path: format!("/dev/{}", of.name), size: Some(100 << 20) }).collect();
    let made = made(&stand, layer, &below);
    let mut text = String::new();
    for step in &made.steps {
        text.push_str(&format!("# {}{}\n", step.what.en, if step.wait.is_some() { ", and wait" } else { "" }));
        step.apply.iter().for_each(|action| text.push_str(&format!("{}\n", action.shell())));
    }
    text.push_str("# undo\n");
    for (_, action) in made.steps.iter().rev().flat_map(|step| &step.undo) {
        text.push_str(&format!("{}\n", action.shell()));
    }
    let products: Vec<String> = made.products.iter().map(Product::shown).collect();
    text.push_str(format!("# makes {}", products.join(" ")).trim_end());
    text.push('\n');
    expected.assert_eq(&text);
}

#[test]
fn drives_are_formatted_and_back() {
    check(
        "- sectors: 4KiB",
        expect![[r#"
        # format /dev/d1 to logical blocks of 4096 bytes
        nvme format /dev/d1 --force --block-size 4096
        # format /dev/d2 to logical blocks of 4096 bytes
        nvme format /dev/d2 --force --block-size 4096
        # format /dev/d3 to logical blocks of 4096 bytes
        nvme format /dev/d3 --force --block-size 4096
        # format /dev/d4 to logical blocks of 4096 bytes
        nvme format /dev/d4 --force --block-size 4096
        # format /dev/d5 to logical blocks of 4096 bytes
        nvme format /dev/d5 --force --block-size 4096
        # format /dev/d6 to logical blocks of 4096 bytes
        nvme format /dev/d6 --force --block-size 4096
        # undo
        nvme format /dev/d6 --force --block-size …  # what was there before
        nvme format /dev/d5 --force --block-size …  # what was there before
        nvme format /dev/d4 --force --block-size …  # what was there before
        nvme format /dev/d3 --force --block-size …  # what was there before
        nvme format /dev/d2 --force --block-size …  # what was there before
        nvme format /dev/d1 --force --block-size …  # what was there before
        # makes /dev/d1 /dev/d2 /dev/d3 /dev/d4 /dev/d5 /dev/d6
    "#]],
    );
}

#[test]
fn an_array_with_partial_parity_log_and_one_with_journal_and_spare() {
    check(
        "- md: {level: 5, chunk: 64KiB, consistency: ppl}",
        expect![[r#"
            # assemble the array stend-x-md again
            mdadm --assemble --run /dev/md/stend-x-md --uuid=c46da02c:dce941ce:acf323bd:116bbacf /dev/d1 /dev/d2 /dev/d3 /dev/d4 /dev/d5 /dev/d6
            # make the array stend-x-md, RAID 5 of 6 devices, and wait
            mdadm --create /dev/md/stend-x-md --run --name=stend-x-md --homehost=any --metadata=1.2 --uuid=c46da02c:dce941ce:acf323bd:116bbacf --level=5 --raid-devices=6 --chunk=64 --consistency-policy=ppl /dev/d1 /dev/d2 /dev/d3 /dev/d4 /dev/d5 /dev/d6
            # undo
            mdadm --stop /dev/md/stend-x-md
            mdadm --zero-superblock /dev/d1
            mdadm --zero-superblock /dev/d2
            mdadm --zero-superblock /dev/d3
            mdadm --zero-superblock /dev/d4
            mdadm --zero-superblock /dev/d5
            mdadm --zero-superblock /dev/d6
            mdadm --stop /dev/md/stend-x-md
            # makes /dev/md/stend-x-md
        "#]],
    );
    check(
        "- md: {level: 6, journal: true, spares: 1, member_size: 64MiB, initial_sync: wait}\n  on: [d1, d2, d3, d4, d5, d6]",
        expect![[r#"
            # assemble the array stend-x-md again
            mdadm --assemble --run /dev/md/stend-x-md --uuid=c46da02c:dce941ce:acf323bd:116bbacf /dev/d1 /dev/d2 /dev/d3 /dev/d4 /dev/d5 /dev/d6
            # make the array stend-x-md, RAID 6 of 6 devices, and wait
            mdadm --create /dev/md/stend-x-md --run --name=stend-x-md --homehost=any --metadata=1.2 --uuid=c46da02c:dce941ce:acf323bd:116bbacf --level=6 --raid-devices=4 --spare-devices=1 --size=65536 --write-journal=/dev/d6 /dev/d1 /dev/d2 /dev/d3 /dev/d4 /dev/d5
            # undo
            mdadm --stop /dev/md/stend-x-md
            mdadm --zero-superblock /dev/d1
            mdadm --zero-superblock /dev/d2
            mdadm --zero-superblock /dev/d3
            mdadm --zero-superblock /dev/d4
            mdadm --zero-superblock /dev/d5
            mdadm --zero-superblock /dev/d6
            mdadm --stop /dev/md/stend-x-md
            # makes /dev/md/stend-x-md
        "#]],
    );
}

#[test]
fn arrays_without_parity() {
    check(
        "- md: {level: 0}",
        expect![[r#"
            # assemble the array stend-x-md again
            mdadm --assemble --run /dev/md/stend-x-md --uuid=c46da02c:dce941ce:acf323bd:116bbacf /dev/d1 /dev/d2 /dev/d3 /dev/d4 /dev/d5 /dev/d6
            # make the array stend-x-md, RAID 0 of 6 devices
            mdadm --create /dev/md/stend-x-md --run --name=stend-x-md --homehost=any --metadata=1.2 --uuid=c46da02c:dce941ce:acf323bd:116bbacf --level=0 --raid-devices=6 /dev/d1 /dev/d2 /dev/d3 /dev/d4 /dev/d5 /dev/d6
            # undo
            mdadm --stop /dev/md/stend-x-md
            mdadm --zero-superblock /dev/d1
            mdadm --zero-superblock /dev/d2
            mdadm --zero-superblock /dev/d3
            mdadm --zero-superblock /dev/d4
            mdadm --zero-superblock /dev/d5
            mdadm --zero-superblock /dev/d6
            mdadm --stop /dev/md/stend-x-md
            # makes /dev/md/stend-x-md
        "#]],
    );
    check(
        "- {md: {level: 10, initial_sync: skip}, on: [d1, d2, d3, d4, d5, d6]}",
        expect![[r#"
            # assemble the array stend-x-md again
            mdadm --assemble --run /dev/md/stend-x-md --uuid=c46da02c:dce941ce:acf323bd:116bbacf /dev/d1 /dev/d2 /dev/d3 /dev/d4 /dev/d5 /dev/d6
            # make the array stend-x-md, RAID 10 of 6 devices
            mdadm --create /dev/md/stend-x-md --run --name=stend-x-md --homehost=any --metadata=1.2 --uuid=c46da02c:dce941ce:acf323bd:116bbacf --level=10 --raid-devices=6 --assume-clean /dev/d1 /dev/d2 /dev/d3 /dev/d4 /dev/d5 /dev/d6
            # undo
            mdadm --stop /dev/md/stend-x-md
            mdadm --zero-superblock /dev/d1
            mdadm --zero-superblock /dev/d2
            mdadm --zero-superblock /dev/d3
            mdadm --zero-superblock /dev/d4
            mdadm --zero-superblock /dev/d5
            mdadm --zero-superblock /dev/d6
            mdadm --stop /dev/md/stend-x-md
            # makes /dev/md/stend-x-md
        "#]],
    );
}

#[test]
fn what_can_be_started_again_is_stopped_without_loss() {
    let stopped = |kind: &str| {
        let text = format!("stand: x\ndrives: [{SIX}]\nlayers:\n- {kind}\n");
        let stand = stend_spec::parse::stand(&text, "s.yaml").unwrap();
        let context = StepContext {
            names: Names { stand: &stand.name, nonce: 1 },
            layer: &stand.layers[0],
            below: &[],
            path: &|product| product.shown(),
            lasting: &str::to_string,
            checksummed: &|_| None,
            overwrites: false,
            size: &|_| None,
            over_paths: false,
            access_state: &|_| None,
            way: None,
        };
        halt(&context).map(|(_, action)| action.shell())
    };
    let told = |kind| stopped(kind).unwrap_or_default();
    assert_eq!(told("md: {level: 5}"), "mdadm --stop /dev/md/stend-x-md");
    assert_eq!(told("lvm: {type: raid1}"), "vgchange --yes --activate n stend-x-lvm");
    assert_eq!(told("zfs: {layout: raidz1}"), "zpool export stend-x-zfs");
    assert_eq!(stopped("btrfs: {}"), None, "its mount is all");
}

#[test]
fn partitions_parts_and_mappings() {
    check(
        "- {partition: {count: 3}, on: [d1]}\n- {dm: {linear: whole}, on: [d2, d3, d4, d5, d6]}",
        expect![[r#"
            # map stend-x-dm-1 onto /dev/d2
            dmsetup create stend-x-dm-1 --uuid STEND-c1054225-d321-474f-aeb4-e14f344d103b --table '0 204800 linear /dev/d2 0'
            # map stend-x-dm-2 onto /dev/d3
            dmsetup create stend-x-dm-2 --uuid STEND-fc0aea71-578c-40d5-a9de-75438023f379 --table '0 204800 linear /dev/d3 0'
            # map stend-x-dm-3 onto /dev/d4
            dmsetup create stend-x-dm-3 --uuid STEND-84cb0865-779a-4a64-a83f-3f295589cf00 --table '0 204800 linear /dev/d4 0'
            # map stend-x-dm-4 onto /dev/d5
            dmsetup create stend-x-dm-4 --uuid STEND-516ae31b-60d9-425a-a8df-0d89e3a8062a --table '0 204800 linear /dev/d5 0'
            # map stend-x-dm-5 onto /dev/d6
            dmsetup create stend-x-dm-5 --uuid STEND-db1b3829-fee5-450e-a504-962c0bdb8477 --table '0 204800 linear /dev/d6 0'
            # undo
            dmsetup remove --retry stend-x-dm-5
            dmsetup remove --retry stend-x-dm-4
            dmsetup remove --retry stend-x-dm-3
            dmsetup remove --retry stend-x-dm-2
            dmsetup remove --retry stend-x-dm-1
            # makes /dev/mapper/stend-x-dm-1 /dev/mapper/stend-x-dm-2 /dev/mapper/stend-x-dm-3 /dev/mapper/stend-x-dm-4 /dev/mapper/stend-x-dm-5
        "#]],
    );
    check(
        "- {md: {level: 0}, on: [d2, d3, d4, d5, d6]}\n- {partition: {count: 3}, on: [d1]}",
        expect![[r#"
            # divide /dev/d1 into 3 partitions
            sgdisk --clear --disk-guid=48ac0c69-c1a1-455e-a4e4-7a9feb38842c --new=1:0:+32M --new=2:0:+32M --new=3:0:+32M /dev/d1
            # tell the kernel of the partitions of /dev/d1
            partx --update /dev/d1
            # undo
            partx --delete /dev/d1
            sgdisk --zap-all /dev/d1
            # makes /dev/d1p1 /dev/d1p2 /dev/d1p3
        "#]],
    );
    check(
        "- {md: {level: 0}, on: [d2, d3, d4, d5, d6]}\n- {luns: {count: 3}, on: [d1]}",
        expect![[r#"
            # map stend-x-luns-1 onto /dev/d1
            dmsetup create stend-x-luns-1 --uuid STEND-7148d610-5e89-4f45-a4f2-76951d57233c --table '0 65536 linear /dev/d1 2048'
            # map stend-x-luns-2 onto /dev/d1
            dmsetup create stend-x-luns-2 --uuid STEND-7dd793ae-0849-4198-a8a6-a8e3a5fe1399 --table '0 65536 linear /dev/d1 67584'
            # map stend-x-luns-3 onto /dev/d1
            dmsetup create stend-x-luns-3 --uuid STEND-14f756c9-ff72-428f-a93d-89080713fbc8 --table '0 65536 linear /dev/d1 133120'
            # undo
            dmsetup remove --retry stend-x-luns-3
            dmsetup remove --retry stend-x-luns-2
            dmsetup remove --retry stend-x-luns-1
            # makes /dev/mapper/stend-x-luns-1 /dev/mapper/stend-x-luns-2 /dev/mapper/stend-x-luns-3
        "#]],
    );
    check(
        "- {md: {level: 0}, on: [d3, d4, d5, d6]}\n- {dm: {delay: {read: 5ms, write: 20ms}}, on: [d1, d2]}",
        expect![[r#"
            # map stend-x-dm-1 onto /dev/d1
            dmsetup create stend-x-dm-1 --uuid STEND-c1054225-d321-474f-aeb4-e14f344d103b --table '0 204800 delay /dev/d1 0 5 /dev/d1 0 20'
            # map stend-x-dm-2 onto /dev/d2
            dmsetup create stend-x-dm-2 --uuid STEND-fc0aea71-578c-40d5-a9de-75438023f379 --table '0 204800 delay /dev/d2 0 5 /dev/d2 0 20'
            # undo
            dmsetup remove --retry stend-x-dm-2
            dmsetup remove --retry stend-x-dm-1
            # makes /dev/mapper/stend-x-dm-1 /dev/mapper/stend-x-dm-2
        "#]],
    );
    check(
        "- {md: {level: 0}, on: [d2, d3, d4, d5, d6]}\n- {dm: {flakey: {up: 3s, down: 2s, drop: writes}}, on: [d1]}",
        expect![[r#"
            # map stend-x-dm onto /dev/d1
            dmsetup create stend-x-dm --uuid STEND-c1054225-d321-474f-aeb4-e14f344d103b --table '0 204800 flakey /dev/d1 0 3 2 1 drop_writes'
            # undo
            dmsetup remove --retry stend-x-dm
            # makes /dev/mapper/stend-x-dm
        "#]],
    );
}

#[test]
fn a_log_of_every_write_lies_on_two_devices_and_is_one() {
    check(
        "- {md: {level: 0}, on: [d3, d4, d5, d6]}\n- {dm: {log_writes: {}}, on: [d1, d2]}",
        expect![[r#"
            # map stend-x-dm onto /dev/d1
            dmsetup create stend-x-dm --uuid STEND-c1054225-d321-474f-aeb4-e14f344d103b --table '0 204800 log-writes /dev/d1 /dev/d2'
            # undo
            dmsetup remove --retry stend-x-dm
            # makes /dev/mapper/stend-x-dm
        "#]],
    );
}

#[test]
fn places_that_fail_and_encryption() {
    check(
        "- {md: {level: 0}, on: [d2, d3, d4, d5, d6]}\n- {dm: {error: {from: 8MiB, length: 1MiB}}, on: [d1]}",
        expect![[r#"
            # map stend-x-dm onto /dev/d1
            dmsetup create --concise 'stend-x-dm,STEND-c1054225-d321-474f-aeb4-e14f344d103b,,rw,0 16384 linear /dev/d1 0,16384 2048 error,18432 186368 linear /dev/d1 18432'
            # undo
            dmsetup remove --retry stend-x-dm
            # makes /dev/mapper/stend-x-dm
        "#]],
    );
    // At the beginning and up to the end there is nothing else.
    check(
        "- {md: {level: 0}, on: [d2, d3, d4, d5, d6]}\n- {dm: {error: {from: 0B, length: 100MiB}}, on: [d1]}",
        expect![[r#"
            # map stend-x-dm onto /dev/d1
            dmsetup create stend-x-dm --uuid STEND-c1054225-d321-474f-aeb4-e14f344d103b --table '0 204800 error'
            # undo
            dmsetup remove --retry stend-x-dm
            # makes /dev/mapper/stend-x-dm
        "#]],
    );
    check(
        "- {md: {level: 0}, on: [d3, d4, d5, d6]}\n- {dm: {crypt: aes-128-xts}, on: [d1, d2]}",
        expect![[r#"
        # map stend-x-dm-1 onto /dev/d1
        dmsetup create stend-x-dm-1 --uuid STEND-c1054225-d321-474f-aeb4-e14f344d103b --table '0 204800 crypt aes-xts-plain64 84cb0865779a4a64a83f3f295589cf00516ae31b60d9425aa8df0d89e3a8062a 0 /dev/d1 0'
        # map stend-x-dm-2 onto /dev/d2
        dmsetup create stend-x-dm-2 --uuid STEND-fc0aea71-578c-40d5-a9de-75438023f379 --table '0 204800 crypt aes-xts-plain64 db1b3829fee5450ea504962c0bdb84779bdb917325ae42e6a76c48cc86df2ef2 0 /dev/d2 0'
        # undo
        dmsetup remove --retry stend-x-dm-2
        dmsetup remove --retry stend-x-dm-1
        # makes /dev/mapper/stend-x-dm-1 /dev/mapper/stend-x-dm-2
    "#]],
    );
}

#[test]
fn files_and_memory() {
    check(
        "- loop: {directory: /var/tmp, size: 64MiB, count: 2}",
        expect![[r#"
        # make the directory /var/tmp/stend-x-loop
        mkdir --parents -- /var/tmp/stend-x-loop
        # make the file /var/tmp/stend-x-loop/1 of 67108864 bytes
        fallocate --length 67108864 /var/tmp/stend-x-loop/1
        # put a loop device over /var/tmp/stend-x-loop/1
        losetup --find --partscan --direct-io=on /var/tmp/stend-x-loop/1
        # make the file /var/tmp/stend-x-loop/2 of 67108864 bytes
        fallocate --length 67108864 /var/tmp/stend-x-loop/2
        # put a loop device over /var/tmp/stend-x-loop/2
        losetup --find --partscan --direct-io=on /var/tmp/stend-x-loop/2
        # undo
        losetup --detach LOOP[/var/tmp/stend-x-loop/2]
        rm -- /var/tmp/stend-x-loop/2
        losetup --detach LOOP[/var/tmp/stend-x-loop/1]
        rm -- /var/tmp/stend-x-loop/1
        rmdir -- /var/tmp/stend-x-loop
        # makes LOOP[/var/tmp/stend-x-loop/1] LOOP[/var/tmp/stend-x-loop/2]
    "#]],
    );
    check(
        "- zram: {size: 64MiB}",
        expect![[r#"
            # add a zram device
            modprobe zram
            cat /sys/class/zram-control/hot_add
            # give ZRAM[zram/1] a size of 67108864 bytes
            echo 67108864 > /sys/block/ZRAM[zram/1]/disksize
            # undo
            echo 1 > /sys/block/ZRAM[zram/1]/reset
            echo NUMBER > /sys/class/zram-control/hot_remove
            # makes ZRAM[zram/1]
        "#]],
    );
}

#[test]
fn file_systems_and_settings() {
    check(
        "- {md: {level: 0}, on: [d2, d3, d4, d5, d6]}\n- {fs: {type: xfs, make: [-K], options: [noatime]}, on: [d1]}",
        expect![[r#"
            # make xfs on /dev/d1
            mkfs.xfs -f -q -m uuid=aaabc838-8e47-4a83-ad36-ad0865f474f2 -K /dev/d1
            # make the directory /run/stend/stands/x-fs
            mkdir --parents -- /run/stend/stands/x-fs
            # mount /dev/d1 at /run/stend/stands/x-fs
            mount -t xfs -o noatime /dev/d1 /run/stend/stands/x-fs
            # undo
            umount -- /run/stend/stands/x-fs
            rmdir -- /run/stend/stands/x-fs
            wipefs --all --quiet /dev/d1  # and copies of its superblock
            # makes /run/stend/stands/x-fs
        "#]],
    );
    check(
        "- {md: {level: 0}, on: [d2, d3, d4, d5, d6]}\n- {fs: {type: ext4}, on: [d1]}",
        expect![[r#"
            # make ext4 on /dev/d1
            mkfs.ext4 -F -q -U aaabc838-8e47-4a83-ad36-ad0865f474f2 /dev/d1
            # make the directory /run/stend/stands/x-fs
            mkdir --parents -- /run/stend/stands/x-fs
            # mount /dev/d1 at /run/stend/stands/x-fs
            mount -t ext4 /dev/d1 /run/stend/stands/x-fs
            # undo
            umount -- /run/stend/stands/x-fs
            rmdir -- /run/stend/stands/x-fs
            wipefs --all --quiet /dev/d1  # and copies of its superblock
            # makes /run/stend/stands/x-fs
        "#]],
    );
    check(
        "- btrfs: {data: raid10, options: [noatime]}",
        expect![[r#"
            # make the btrfs stend-x-btrfs over 6 devices
            modprobe btrfs
            mkfs.btrfs --force --quiet --uuid 8bcc12f2-09bd-4b09-a26f-f2bf989316bd --data raid10 --metadata raid10 /dev/d1 /dev/d2 /dev/d3 /dev/d4 /dev/d5 /dev/d6
            # make the directory /run/stend/stands/x-btrfs
            mkdir --parents -- /run/stend/stands/x-btrfs
            # mount /dev/d1 at /run/stend/stands/x-btrfs
            mount -t btrfs -o device=/dev/d1,device=/dev/d2,device=/dev/d3,device=/dev/d4,device=/dev/d5,device=/dev/d6,noatime /dev/d1 /run/stend/stands/x-btrfs
            # undo
            umount -- /run/stend/stands/x-btrfs
            rmdir -- /run/stend/stands/x-btrfs
            wipefs --all --quiet /dev/d1  # and copies of its superblock
            wipefs --all --quiet /dev/d2  # and copies of its superblock
            wipefs --all --quiet /dev/d3  # and copies of its superblock
            wipefs --all --quiet /dev/d4  # and copies of its superblock
            wipefs --all --quiet /dev/d5  # and copies of its superblock
            wipefs --all --quiet /dev/d6  # and copies of its superblock
            # makes /run/stend/stands/x-btrfs
        "#]],
    );
    check(
        "- md: {level: 0}\n- settings: {/proc/sys/vm/swappiness: 1}",
        expect![[r#"
        # set /proc/sys/vm/swappiness to 1
        echo 1 > /proc/sys/vm/swappiness
        # undo
        echo … > /proc/sys/vm/swappiness  # what was there before
        # makes
    "#]],
    );
}
