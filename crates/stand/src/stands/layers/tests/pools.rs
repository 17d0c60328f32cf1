//! Commands of pools of ZFS.

use super::check;
use expect_test::expect;

#[test]
fn a_volume_on_a_stripe_and_a_dataset_on_groups_with_log_and_cache() {
    check(
        "- {zfs: {layout: stripe, ashift: 12, volume: 1GiB, sparse: true, volblocksize: 16KiB, compression: lz4}, on: [d1, d2, d3, d4, d5, d6]}",
        expect![[r#"
            # import the pool stend-x-zfs
            modprobe zfs
            zpool import -N -o cachefile=none -d /dev/d1p1 -d /dev/d1 -d /dev/d2p1 -d /dev/d2 -d /dev/d3p1 -d /dev/d3 -d /dev/d4p1 -d /dev/d4 -d /dev/d5p1 -d /dev/d5 -d /dev/d6p1 -d /dev/d6 stend-x-zfs
            # make the pool stend-x-zfs, stripe, over 6 devices
            modprobe zfs
            zpool create -o cachefile=none -o comment=stend-0000000000000001 -o ashift=12 -O mountpoint=none stend-x-zfs /dev/d1 /dev/d2 /dev/d3 /dev/d4 /dev/d5 /dev/d6
            # make stend-x-zfs/main
            zfs create -V 1073741824 -s -o volblocksize=16384 -o compression=lz4 stend-x-zfs/main
            # undo
            zpool destroy stend-x-zfs
            zpool labelclear -f /dev/d1p1
            wipefs --all --quiet /dev/d1
            zpool labelclear -f /dev/d1
            zpool labelclear -f /dev/d2p1
            wipefs --all --quiet /dev/d2
            zpool labelclear -f /dev/d2
            zpool labelclear -f /dev/d3p1
            wipefs --all --quiet /dev/d3
            zpool labelclear -f /dev/d3
            zpool labelclear -f /dev/d4p1
            wipefs --all --quiet /dev/d4
            zpool labelclear -f /dev/d4
            zpool labelclear -f /dev/d5p1
            wipefs --all --quiet /dev/d5
            zpool labelclear -f /dev/d5
            zpool labelclear -f /dev/d6p1
            wipefs --all --quiet /dev/d6
            zpool labelclear -f /dev/d6
            # makes /dev/zvol/stend-x-zfs/main
        "#]],
    );
    check(
        "- zfs: {layout: mirror, log: 1, cache: 1, recordsize: 16KiB, atime: false, dedup: true, sync: always}",
        expect![[r#"
            # import the pool stend-x-zfs
            modprobe zfs
            zpool import -N -o cachefile=none -d /dev/d1p1 -d /dev/d1 -d /dev/d2p1 -d /dev/d2 -d /dev/d3p1 -d /dev/d3 -d /dev/d4p1 -d /dev/d4 -d /dev/d5p1 -d /dev/d5 -d /dev/d6p1 -d /dev/d6 stend-x-zfs
            # make the pool stend-x-zfs, mirror, over 6 devices, and wait
            modprobe zfs
            zpool create -o cachefile=none -o comment=stend-0000000000000001 -O mountpoint=none stend-x-zfs mirror /dev/d1 /dev/d2 mirror /dev/d3 /dev/d4 log /dev/d5 cache /dev/d6
            # make stend-x-zfs/main
            zfs create -o mountpoint=legacy -o recordsize=16384 -o atime=off -o dedup=on -o sync=always stend-x-zfs/main
            # make the directory /run/stend/stands/x-zfs
            mkdir --parents -- /run/stend/stands/x-zfs
            # mount stend-x-zfs/main at /run/stend/stands/x-zfs
            mount -t zfs stend-x-zfs/main /run/stend/stands/x-zfs
            # undo
            umount -- /run/stend/stands/x-zfs
            rmdir -- /run/stend/stands/x-zfs
            zpool destroy stend-x-zfs
            zpool labelclear -f /dev/d1p1
            wipefs --all --quiet /dev/d1
            zpool labelclear -f /dev/d1
            zpool labelclear -f /dev/d2p1
            wipefs --all --quiet /dev/d2
            zpool labelclear -f /dev/d2
            zpool labelclear -f /dev/d3p1
            wipefs --all --quiet /dev/d3
            zpool labelclear -f /dev/d3
            zpool labelclear -f /dev/d4p1
            wipefs --all --quiet /dev/d4
            zpool labelclear -f /dev/d4
            zpool labelclear -f /dev/d5p1
            wipefs --all --quiet /dev/d5
            zpool labelclear -f /dev/d5
            zpool labelclear -f /dev/d6p1
            wipefs --all --quiet /dev/d6
            zpool labelclear -f /dev/d6
            # makes /run/stend/stands/x-zfs
        "#]],
    );
}

#[test]
fn raidz_is_one_group_unless_the_file_says_how_wide_a_group_is() {
    check(
        "- zfs: {layout: raidz2, volume: 64MiB, primarycache: metadata}",
        expect![[r#"
        # import the pool stend-x-zfs
        modprobe zfs
        zpool import -N -o cachefile=none -d /dev/d1p1 -d /dev/d1 -d /dev/d2p1 -d /dev/d2 -d /dev/d3p1 -d /dev/d3 -d /dev/d4p1 -d /dev/d4 -d /dev/d5p1 -d /dev/d5 -d /dev/d6p1 -d /dev/d6 stend-x-zfs
        # make the pool stend-x-zfs, raidz2, over 6 devices, and wait
        modprobe zfs
        zpool create -o cachefile=none -o comment=stend-0000000000000001 -O mountpoint=none stend-x-zfs raidz2 /dev/d1 /dev/d2 /dev/d3 /dev/d4 /dev/d5 /dev/d6
        # make stend-x-zfs/main
        zfs create -V 67108864 -o primarycache=metadata stend-x-zfs/main
        # undo
        zpool destroy stend-x-zfs
        zpool labelclear -f /dev/d1p1
        wipefs --all --quiet /dev/d1
        zpool labelclear -f /dev/d1
        zpool labelclear -f /dev/d2p1
        wipefs --all --quiet /dev/d2
        zpool labelclear -f /dev/d2
        zpool labelclear -f /dev/d3p1
        wipefs --all --quiet /dev/d3
        zpool labelclear -f /dev/d3
        zpool labelclear -f /dev/d4p1
        wipefs --all --quiet /dev/d4
        zpool labelclear -f /dev/d4
        zpool labelclear -f /dev/d5p1
        wipefs --all --quiet /dev/d5
        zpool labelclear -f /dev/d5
        zpool labelclear -f /dev/d6p1
        wipefs --all --quiet /dev/d6
        zpool labelclear -f /dev/d6
        # makes /dev/zvol/stend-x-zfs/main
    "#]],
    );
    check(
        "- {zfs: {layout: raidz1, group: 3}, on: [d1, d2, d3, d4, d5, d6]}",
        expect![[r#"
        # import the pool stend-x-zfs
        modprobe zfs
        zpool import -N -o cachefile=none -d /dev/d1p1 -d /dev/d1 -d /dev/d2p1 -d /dev/d2 -d /dev/d3p1 -d /dev/d3 -d /dev/d4p1 -d /dev/d4 -d /dev/d5p1 -d /dev/d5 -d /dev/d6p1 -d /dev/d6 stend-x-zfs
        # make the pool stend-x-zfs, raidz1, over 6 devices, and wait
        modprobe zfs
        zpool create -o cachefile=none -o comment=stend-0000000000000001 -O mountpoint=none stend-x-zfs raidz1 /dev/d1 /dev/d2 /dev/d3 raidz1 /dev/d4 /dev/d5 /dev/d6
        # make stend-x-zfs/main
        zfs create -o mountpoint=legacy stend-x-zfs/main
        # make the directory /run/stend/stands/x-zfs
        mkdir --parents -- /run/stend/stands/x-zfs
        # mount stend-x-zfs/main at /run/stend/stands/x-zfs
        mount -t zfs stend-x-zfs/main /run/stend/stands/x-zfs
        # undo
        umount -- /run/stend/stands/x-zfs
        rmdir -- /run/stend/stands/x-zfs
        zpool destroy stend-x-zfs
        zpool labelclear -f /dev/d1p1
        wipefs --all --quiet /dev/d1
        zpool labelclear -f /dev/d1
        zpool labelclear -f /dev/d2p1
        wipefs --all --quiet /dev/d2
        zpool labelclear -f /dev/d2
        zpool labelclear -f /dev/d3p1
        wipefs --all --quiet /dev/d3
        zpool labelclear -f /dev/d3
        zpool labelclear -f /dev/d4p1
        wipefs --all --quiet /dev/d4
        zpool labelclear -f /dev/d4
        zpool labelclear -f /dev/d5p1
        wipefs --all --quiet /dev/d5
        zpool labelclear -f /dev/d5
        zpool labelclear -f /dev/d6p1
        wipefs --all --quiet /dev/d6
        zpool labelclear -f /dev/d6
        # makes /run/stend/stands/x-zfs
    "#]],
    );
}

#[test]
fn what_may_be_lost_is_lost_only_if_the_user_said_so() {
    check(
        "- zfs: {layout: mirror, group: 3, volume: 64MiB}\noverwrite: [ext4]",
        expect![[r#"
        # import the pool stend-x-zfs
        modprobe zfs
        zpool import -N -o cachefile=none -d /dev/d1p1 -d /dev/d1 -d /dev/d2p1 -d /dev/d2 -d /dev/d3p1 -d /dev/d3 -d /dev/d4p1 -d /dev/d4 -d /dev/d5p1 -d /dev/d5 -d /dev/d6p1 -d /dev/d6 stend-x-zfs
        # make the pool stend-x-zfs, mirror, over 6 devices, and wait
        modprobe zfs
        zpool create -f -o cachefile=none -o comment=stend-0000000000000001 -O mountpoint=none stend-x-zfs mirror /dev/d1 /dev/d2 /dev/d3 mirror /dev/d4 /dev/d5 /dev/d6
        # make stend-x-zfs/main
        zfs create -V 67108864 stend-x-zfs/main
        # undo
        zpool destroy stend-x-zfs
        zpool labelclear -f /dev/d1p1
        wipefs --all --quiet /dev/d1
        zpool labelclear -f /dev/d1
        zpool labelclear -f /dev/d2p1
        wipefs --all --quiet /dev/d2
        zpool labelclear -f /dev/d2
        zpool labelclear -f /dev/d3p1
        wipefs --all --quiet /dev/d3
        zpool labelclear -f /dev/d3
        zpool labelclear -f /dev/d4p1
        wipefs --all --quiet /dev/d4
        zpool labelclear -f /dev/d4
        zpool labelclear -f /dev/d5p1
        wipefs --all --quiet /dev/d5
        zpool labelclear -f /dev/d5
        zpool labelclear -f /dev/d6p1
        wipefs --all --quiet /dev/d6
        zpool labelclear -f /dev/d6
        # makes /dev/zvol/stend-x-zfs/main
    "#]],
    );
}

#[test]
fn a_spare_is_behind_all_and_its_label_goes_whether_it_stands_in_for_a_member_or_not() {
    check(
        "- zfs: {layout: raidz1, spares: 1, cache: 1, volume: 64MiB}",
        expect![[r#"
            # import the pool stend-x-zfs
            modprobe zfs
            zpool import -N -o cachefile=none -d /dev/d1p1 -d /dev/d1 -d /dev/d2p1 -d /dev/d2 -d /dev/d3p1 -d /dev/d3 -d /dev/d4p1 -d /dev/d4 -d /dev/d5p1 -d /dev/d5 -d /dev/d6p1 -d /dev/d6 stend-x-zfs
            # make the pool stend-x-zfs, raidz1, over 6 devices, and wait
            modprobe zfs
            zpool create -o cachefile=none -o comment=stend-0000000000000001 -O mountpoint=none stend-x-zfs raidz1 /dev/d1 /dev/d2 /dev/d3 /dev/d4 cache /dev/d5 spare /dev/d6
            # make stend-x-zfs/main
            zfs create -V 67108864 stend-x-zfs/main
            # undo
            zpool destroy stend-x-zfs
            zpool labelclear -f /dev/d1p1
            wipefs --all --quiet /dev/d1
            zpool labelclear -f /dev/d1
            zpool labelclear -f /dev/d2p1
            wipefs --all --quiet /dev/d2
            zpool labelclear -f /dev/d2
            zpool labelclear -f /dev/d3p1
            wipefs --all --quiet /dev/d3
            zpool labelclear -f /dev/d3
            zpool labelclear -f /dev/d4p1
            wipefs --all --quiet /dev/d4
            zpool labelclear -f /dev/d4
            zpool labelclear -f /dev/d5p1
            wipefs --all --quiet /dev/d5
            zpool labelclear -f /dev/d5
            zpool labelclear -f /dev/d6p1
            wipefs --all --quiet /dev/d6
            zpool labelclear -f /dev/d6
            zpool labelclear -f /dev/d6p1
            wipefs --all --quiet /dev/d6
            zpool labelclear -f /dev/d6
            # makes /dev/zvol/stend-x-zfs/main
        "#]],
    );
}
