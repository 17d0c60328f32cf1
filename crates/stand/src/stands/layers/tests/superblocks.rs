//! Commands of mappings whose targets keep a superblock on a device.

use super::*;

#[test]
fn checksums_beside_data_are_made_before_anything_is_read_through_them() {
    check(
        "- {md: {level: 0}, on: [d3, d4, d5, d6]}\n- {dm: {integrity: bitmap}, on: [d1, d2]}",
        expect![[r#"
        # set up checksums on /dev/d1
        integritysetup format --batch-mode --no-wipe --integrity=crc32c --tag-size 4 /dev/d1
        # map stend-x-dm-1 onto /dev/d1, and wait
        dmsetup create stend-x-dm-1 --uuid STEND-c1054225-d321-474f-aeb4-e14f344d103b --table '0 SECTORS integrity /dev/d1 0 4 B 2 internal_hash:crc32c recalculate'
        # set up checksums on /dev/d2
        integritysetup format --batch-mode --no-wipe --integrity=crc32c --tag-size 4 /dev/d2
        # map stend-x-dm-2 onto /dev/d2, and wait
        dmsetup create stend-x-dm-2 --uuid STEND-fc0aea71-578c-40d5-a9de-75438023f379 --table '0 SECTORS integrity /dev/d2 0 4 B 2 internal_hash:crc32c recalculate'
        # undo
        dmsetup remove --retry stend-x-dm-2
        wipefs --all --types=DM_integrity /dev/d2
        dmsetup remove --retry stend-x-dm-1
        wipefs --all --types=DM_integrity /dev/d1
        # makes /dev/mapper/stend-x-dm-1 /dev/mapper/stend-x-dm-2
    "#]],
    );
}

#[test]
fn a_cache_of_writes_is_written_back_before_it_is_taken_away() {
    check(
        "- {md: {level: 0}, on: [d3, d4, d5, d6]}\n- {dm: {writecache: {block_size: 512B}}, on: [d1, d2]}",
        expect![[r#"
            # clear the start of /dev/d2 for a cache
            blkdiscard --force --zeroout --offset=0 --length 4096 /dev/d2
            # put /dev/d2 before /dev/d1 as stend-x-dm
            dmsetup create stend-x-dm --uuid STEND-CACHE-c1054225-d321-474f-aeb4-e14f344d103b --table '0 204800 writecache s /dev/d1 /dev/d2 512 0'
            # undo
            dmsetup message stend-x-dm 0 flush
            dmsetup remove --retry stend-x-dm
            blkdiscard --zeroout --offset=0 --length 4096 /dev/d2
            # makes /dev/mapper/stend-x-dm
        "#]],
    );
}

/// What a table says of a device whose checksums leave so many sectors for data.
#[test]
fn the_table_has_the_room_that_the_superblock_leaves() {
    let text = "stand: x\ndrives: [{id: D1}]\nlayers: [{dm: {integrity: journal}}]\n";
    let stand = stend_spec::parse::stand(text, "s.yaml").unwrap();
    let below = [LowerDevice { path: "/dev/d1".into(), size: Some(100 << 20) }];
    let made = make(&StepContext {
        names: Names { stand: "x", nonce: 1 },
        layer: &stand.layers[0],
        below: &below,
        path: &|product| product.shown(),
        lasting: &str::to_string,
        checksummed: &|path| (path == "/dev/d1").then_some(193_656),
        overwrites: false,
        size: &|_| None,
        over_paths: false,
        access_state: &|_| None,
        way: None,
    });
    let map = made.steps[1].apply[0].shell();
    assert!(map.contains("'0 193656 integrity /dev/d1 0 4 J 2 internal_hash:crc32c recalculate'"), "{map}");
}
