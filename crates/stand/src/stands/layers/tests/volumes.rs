//! Commands of logical volumes.

use super::{LowerDevice, SIX, check, made};
use crate::change::Condition;
use expect_test::expect;

#[test]
fn volumes_of_every_type() {
    check(
        "- lvm: {type: striped}",
        expect![[r#"
            # make /dev/d1 a physical volume
            pvcreate --yes --force --force --norestorefile --uuid apdVFE-A3bt-WbRi-ameJ-lQ7F-yQRF-XW4hTr /dev/d1
            # make /dev/d2 a physical volume
            pvcreate --yes --force --force --norestorefile --uuid 38JLSu-iemD-u0o0-s7Ti-OL35-4GwB-dBtFKk /dev/d2
            # make /dev/d3 a physical volume
            pvcreate --yes --force --force --norestorefile --uuid myfVXe-Aij3-n1Zg-QpHu-iAyM-zVyN-0SiFAw /dev/d3
            # make /dev/d4 a physical volume
            pvcreate --yes --force --force --norestorefile --uuid LbdcDv-GUcb-qdqk-CShg-n9mJ-hRS6-6KzxW1 /dev/d4
            # make /dev/d5 a physical volume
            pvcreate --yes --force --force --norestorefile --uuid CJtW9Y-QhT6-KGOj-Hsv9-cxnJ-fMbm-duvgMC /dev/d5
            # make /dev/d6 a physical volume
            pvcreate --yes --force --force --norestorefile --uuid fyQJUt-71nD-Ye8x-XgoP-xyyl-SaDj-HCtEQa /dev/d6
            # make the volume group stend-x-lvm
            vgcreate --yes --addtag stend-0000000000000001 stend-x-lvm /dev/d1 /dev/d2 /dev/d3 /dev/d4 /dev/d5 /dev/d6
            # activate what is in stend-x-lvm
            vgchange --yes --activate y stend-x-lvm
            # make the volume stend-x-lvm/main over 6 devices
            lvcreate --yes --wipesignatures=y --name=main --type=striped --stripes=6 --stripesize=64k --extents=100%FREE stend-x-lvm
            # undo
            lvremove --yes stend-x-lvm
            vgremove --yes stend-x-lvm
            pvremove --yes /dev/d6
            pvremove --yes /dev/d5
            pvremove --yes /dev/d4
            pvremove --yes /dev/d3
            pvremove --yes /dev/d2
            pvremove --yes /dev/d1
            # makes /dev/mapper/stend--x--lvm-main
        "#]],
    );
    for (kind, expected) in [
        (
            "type: raid5, allocation: anywhere",
            expect![
                "lvcreate --yes --wipesignatures=y --name=main --type=raid5 --stripes=5 --stripesize=64k --extents=100%FREE --alloc=anywhere stend-x-lvm"
            ],
        ),
        (
            "type: raid10, initial_sync: skip",
            expect![
                "lvcreate --yes --wipesignatures=y --name=main --type=raid10 --stripes=3 --stripesize=64k --mirrors=1 --extents=100%FREE --nosync stend-x-lvm"
            ],
        ),
        (
            "type: thin, virtual_size: 1GiB",
            expect![
                "lvcreate --yes --wipesignatures=y --name=main --type=thin --extents=90%FREE --virtualsize=1024m --thinpool=stend-x-lvm/pool"
            ],
        ),
        (
            "type: vdo, virtual_size: 8GiB, size: 6GiB, deduplication: false",
            expect![
                "lvconvert --yes --type=vdo-pool --name=main --virtualsize=8192m --compression=y --deduplication=n --config=allocation/vdo_slab_size_mb=128 stend-x-lvm/pool"
            ],
        ),
        (
            "type: raid1, size: 64MiB",
            expect!["lvcreate --yes --wipesignatures=y --name=main --type=raid1 --mirrors=5 --size=64m stend-x-lvm"],
        ),
        (
            "type: raid5, integrity: bitmap",
            expect![
                "lvcreate --yes --wipesignatures=y --name=main --type=raid5 --stripes=5 --stripesize=64k --extents=90%FREE --raidintegrity=y --raidintegritymode=bitmap stend-x-lvm"
            ],
        ),
        (
            "type: linear, size: 64MiB, snapshots: 2, chunk: 64KiB",
            expect!["lvcreate --yes --snapshot --name=snap2 --extents=100%ORIGIN --chunksize=64k stend-x-lvm/main"],
        ),
        (
            "type: thin, virtual_size: 1GiB, snapshots: 1",
            expect!["lvcreate --yes --snapshot --name=snap1 --setactivationskip=n stend-x-lvm/main"],
        ),
        (
            "type: writecache, cache_size: 64MiB",
            expect![
                "lvcreate --yes --activate=n --zero=n --wipesignatures=n --name=fast --type=linear --size=64m stend-x-lvm /dev/d"
            ],
        ),
    ] {
        let text = format!("stand: x\ndrives: [{SIX}]\nlayers: [lvm: {{{kind}}}]");
        let stand = stend_spec::parse::stand(&text, "s.yaml").unwrap();
        let below = vec![LowerDevice { path: "/dev/d".into(), size: None }; 6];
        let made = made(&stand, &stand.layers[0], &below);
        expected.assert_eq(&made.steps.last().unwrap().apply[0].shell());
    }
}

#[test]
fn the_pool_of_vdo_lies_as_it_is_told_and_becomes_one_afterwards() {
    check(
        "- lvm: {type: vdo, pool: raid5, stripe_size: 64KiB, virtual_size: 8GiB}",
        expect![[r#"
        # make /dev/d1 a physical volume
        pvcreate --yes --force --force --norestorefile --uuid apdVFE-A3bt-WbRi-ameJ-lQ7F-yQRF-XW4hTr /dev/d1
        # make /dev/d2 a physical volume
        pvcreate --yes --force --force --norestorefile --uuid 38JLSu-iemD-u0o0-s7Ti-OL35-4GwB-dBtFKk /dev/d2
        # make /dev/d3 a physical volume
        pvcreate --yes --force --force --norestorefile --uuid myfVXe-Aij3-n1Zg-QpHu-iAyM-zVyN-0SiFAw /dev/d3
        # make /dev/d4 a physical volume
        pvcreate --yes --force --force --norestorefile --uuid LbdcDv-GUcb-qdqk-CShg-n9mJ-hRS6-6KzxW1 /dev/d4
        # make /dev/d5 a physical volume
        pvcreate --yes --force --force --norestorefile --uuid CJtW9Y-QhT6-KGOj-Hsv9-cxnJ-fMbm-duvgMC /dev/d5
        # make /dev/d6 a physical volume
        pvcreate --yes --force --force --norestorefile --uuid fyQJUt-71nD-Ye8x-XgoP-xyyl-SaDj-HCtEQa /dev/d6
        # make the volume group stend-x-lvm
        vgcreate --yes --addtag stend-0000000000000001 stend-x-lvm /dev/d1 /dev/d2 /dev/d3 /dev/d4 /dev/d5 /dev/d6
        # activate what is in stend-x-lvm
        vgchange --yes --activate y stend-x-lvm
        # make stend-x-lvm/pool over 6 devices, and wait
        lvcreate --yes --wipesignatures=y --name=pool --type=raid5 --stripes=5 --stripesize=64k --extents=100%FREE stend-x-lvm
        # make stend-x-lvm/pool the pool of the volume stend-x-lvm/main
        lvconvert --yes --type=vdo-pool --name=main --virtualsize=8192m --compression=y --deduplication=y --config=allocation/vdo_slab_size_mb=128 stend-x-lvm/pool
        # undo
        lvremove --yes stend-x-lvm
        vgremove --yes stend-x-lvm
        pvremove --yes /dev/d6
        pvremove --yes /dev/d5
        pvremove --yes /dev/d4
        pvremove --yes /dev/d3
        pvremove --yes /dev/d2
        pvremove --yes /dev/d1
        # makes /dev/mapper/stend--x--lvm-main
    "#]],
    );
}

#[test]
fn a_volume_with_a_cache_is_done_when_the_cache_is_before_it() {
    check(
        "- lvm: {type: cache, mode: writeback, chunk: 64KiB, size: 128MiB}",
        expect![[r#"
        # make /dev/d1 a physical volume
        pvcreate --yes --force --force --norestorefile --uuid apdVFE-A3bt-WbRi-ameJ-lQ7F-yQRF-XW4hTr /dev/d1
        # make /dev/d2 a physical volume
        pvcreate --yes --force --force --norestorefile --uuid 38JLSu-iemD-u0o0-s7Ti-OL35-4GwB-dBtFKk /dev/d2
        # make /dev/d3 a physical volume
        pvcreate --yes --force --force --norestorefile --uuid myfVXe-Aij3-n1Zg-QpHu-iAyM-zVyN-0SiFAw /dev/d3
        # make /dev/d4 a physical volume
        pvcreate --yes --force --force --norestorefile --uuid LbdcDv-GUcb-qdqk-CShg-n9mJ-hRS6-6KzxW1 /dev/d4
        # make /dev/d5 a physical volume
        pvcreate --yes --force --force --norestorefile --uuid CJtW9Y-QhT6-KGOj-Hsv9-cxnJ-fMbm-duvgMC /dev/d5
        # make /dev/d6 a physical volume
        pvcreate --yes --force --force --norestorefile --uuid fyQJUt-71nD-Ye8x-XgoP-xyyl-SaDj-HCtEQa /dev/d6
        # make the volume group stend-x-lvm
        vgcreate --yes --addtag stend-0000000000000001 stend-x-lvm /dev/d1 /dev/d2 /dev/d3 /dev/d4 /dev/d5 /dev/d6
        # activate what is in stend-x-lvm
        vgchange --yes --activate y stend-x-lvm
        # make the volume stend-x-lvm/main over 6 devices
        lvcreate --yes --wipesignatures=y --name=main --type=linear --size=128m stend-x-lvm /dev/d1 /dev/d2 /dev/d3 /dev/d4 /dev/d5
        # make stend-x-lvm/fast the cache of main
        lvcreate --yes --activate=n --zero=n --wipesignatures=n --name=fast --type=linear --extents=100%PVS stend-x-lvm /dev/d6
        lvconvert --yes --type=cache --cachevol=fast --cachemode=writeback --chunksize=64k stend-x-lvm/main
        # undo
        lvremove --yes stend-x-lvm/fast
        lvremove --yes stend-x-lvm
        vgremove --yes stend-x-lvm
        pvremove --yes /dev/d6
        pvremove --yes /dev/d5
        pvremove --yes /dev/d4
        pvremove --yes /dev/d3
        pvremove --yes /dev/d2
        pvremove --yes /dev/d1
        # makes /dev/mapper/stend--x--lvm-main
    "#]],
    );
    let text = format!("stand: x\ndrives: [{SIX}]\nlayers: [lvm: {{type: cache}}]");
    let stand = stend_spec::parse::stand(&text, "s.yaml").unwrap();
    let below = vec![LowerDevice { path: "/dev/d".into(), size: None }; 6];
    let made = made(&stand, &stand.layers[0], &below);
    let Condition::VolumeOn { volume, below } = &made.steps.last().unwrap().done else {
        panic!("{:?}", made.steps.last())
    };
    assert_eq!((volume.mapping.as_str(), below.as_str()), ("stend--x--lvm-main", "stend--x--lvm-fast_cvol"));
}

#[test]
fn snapshots_are_made_after_their_volume_and_removed_before_it() {
    check(
        "- lvm: {type: linear, size: 64MiB, snapshots: 2, chunk: 64KiB}",
        expect![[r#"
        # make /dev/d1 a physical volume
        pvcreate --yes --force --force --norestorefile --uuid apdVFE-A3bt-WbRi-ameJ-lQ7F-yQRF-XW4hTr /dev/d1
        # make /dev/d2 a physical volume
        pvcreate --yes --force --force --norestorefile --uuid 38JLSu-iemD-u0o0-s7Ti-OL35-4GwB-dBtFKk /dev/d2
        # make /dev/d3 a physical volume
        pvcreate --yes --force --force --norestorefile --uuid myfVXe-Aij3-n1Zg-QpHu-iAyM-zVyN-0SiFAw /dev/d3
        # make /dev/d4 a physical volume
        pvcreate --yes --force --force --norestorefile --uuid LbdcDv-GUcb-qdqk-CShg-n9mJ-hRS6-6KzxW1 /dev/d4
        # make /dev/d5 a physical volume
        pvcreate --yes --force --force --norestorefile --uuid CJtW9Y-QhT6-KGOj-Hsv9-cxnJ-fMbm-duvgMC /dev/d5
        # make /dev/d6 a physical volume
        pvcreate --yes --force --force --norestorefile --uuid fyQJUt-71nD-Ye8x-XgoP-xyyl-SaDj-HCtEQa /dev/d6
        # make the volume group stend-x-lvm
        vgcreate --yes --addtag stend-0000000000000001 stend-x-lvm /dev/d1 /dev/d2 /dev/d3 /dev/d4 /dev/d5 /dev/d6
        # activate what is in stend-x-lvm
        vgchange --yes --activate y stend-x-lvm
        # make the volume stend-x-lvm/main over 6 devices
        lvcreate --yes --wipesignatures=y --name=main --type=linear --size=64m stend-x-lvm
        # make the snapshot stend-x-lvm/snap1
        lvcreate --yes --snapshot --name=snap1 --extents=100%ORIGIN --chunksize=64k stend-x-lvm/main
        # make the snapshot stend-x-lvm/snap2
        lvcreate --yes --snapshot --name=snap2 --extents=100%ORIGIN --chunksize=64k stend-x-lvm/main
        # undo
        lvremove --yes stend-x-lvm/snap2
        lvremove --yes stend-x-lvm/snap1
        lvremove --yes stend-x-lvm
        vgremove --yes stend-x-lvm
        pvremove --yes /dev/d6
        pvremove --yes /dev/d5
        pvremove --yes /dev/d4
        pvremove --yes /dev/d3
        pvremove --yes /dev/d2
        pvremove --yes /dev/d1
        # makes /dev/mapper/stend--x--lvm-main
    "#]],
    );
}
