//! Stand files that are taken, and those that cannot be.

use super::*;
use crate::stand::{CephPool, Checksums, Dm, InitialSync, Kind, Md, MdLevel, NvmePolicy, Profile};
use stend_base::Bytes;

fn of(text: &str) -> Stand {
    stand(text, "s.yaml").unwrap()
}

fn refused(text: &str) -> String {
    let error = stand(text, "s.yaml").unwrap_err();
    assert!(error.message.en.starts_with("s.yaml:") && error.message.ru.starts_with("s.yaml:"), "{error}");
    error.message.en
}

#[test]
fn layers_lie_on_each_other_in_their_order_and_the_last_is_measured() {
    let found = of("stand: x\ndrives: [{id: A}, {id: B}, {id: C, name: log}]\nlayers:\n\
                    - {md: {level: 5, initial_sync: skip}, on: [d1, d2, log]}\n- settings: {/proc/sys/vm/swappiness: 1}\n\
                    - luns: {count: 4}\n- {btrfs: {data: raid1}, on: [luns/1, luns/3]}\n");
    let on: Vec<String> =
        found.layers.iter().map(|layer| layer.on.iter().map(shown).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(on, ["d1 d2 log", "", "md", "luns/1 luns/3"]);
    assert_eq!(found.targets, [Ref { name: "btrfs".into(), part: None }]);
    let md = Md {
        level: MdLevel::Raid5,
        chunk: None,
        consistency: None,
        journal: false,
        spares: 0,
        member_size: None,
        initial_sync: InitialSync::Skip,
    };
    assert_eq!(found.layers[0].kind, Kind::Md(md));
    assert!(matches!(&found.layers[3].kind, Kind::Btrfs(btrfs) if btrfs.metadata == Profile::Raid1));
}

#[test]
fn a_layer_without_drives_needs_none_and_partitions_count_for_each() {
    let found =
        of("stand: x\nlayers:\n- loop: {directory: /var/tmp, size: 64MiB, count: 2}\n- partition: {count: 3}\n");
    assert_eq!(found.makes(&found.layers[1]), 6);
    assert_eq!(found.stands_for(&found.targets[0]), 6);
}

#[test]
fn what_is_there_already_needs_no_layer_or_one_that_makes_nothing() {
    let found = of("stand: x\ndrives: [{id: A}, {id: B, name: other}]\n");
    let targets: Vec<String> = found.targets.iter().map(shown).collect();
    assert_eq!((targets.join(" "), found.layers.len()), ("d1 other".into(), 0));
    let found = of(
        "stand: x\nlayers:\n- existing: {directory: /mnt/array}\n- settings: {/proc/sys/vm/swappiness: 1}\n- nfs: {}\n",
    );
    assert_eq!(shown(&found.targets[0]), "nfs");
    assert!(matches!(&found.layers[0].kind, Kind::Existing { directory } if directory == "/mnt/array"));
}

#[test]
fn a_cache_of_writes_makes_one_of_two_and_checksums_one_over_each() {
    let loops = "stand: x\nlayers:\n- loop: {directory: /d, size: 64MiB, count: 2}\n";
    let found = of(&format!("{loops}- dm: {{writecache: {{}}}}\n"));
    assert_eq!(found.makes(&found.layers[1]), 1);
    assert_eq!(found.layers[1].kind, Kind::Dm(Dm::WriteCache { block_size: Bytes::kib(4) }));
    let found = of(&format!("{loops}- dm: {{integrity: bitmap}}\n"));
    assert_eq!(found.makes(&found.layers[1]), 2);
    assert_eq!(found.layers[1].kind, Kind::Dm(Dm::Integrity(Checksums::Bitmap)));
}

#[test]
fn paths_of_nvme_are_all_active_and_the_nearest_is_taken_unless_told_otherwise() {
    let loops = "stand: x\nlayers:\n- loop: {directory: /d, size: 64MiB}\n";
    let nvme = |words: &str| match of(&format!("{loops}- nvme_of: {{transport: tcp{words}}}\n")).layers.remove(1).kind {
        Kind::NvmeOf(settings) => (settings.paths, settings.active, settings.policy),
        other => panic!("{other:?}"),
    };
    assert_eq!(nvme(""), (1, 1, NvmePolicy::Numa));
    assert_eq!(nvme(", paths: 2"), (2, 2, NvmePolicy::Numa));
    assert_eq!(nvme(", paths: 3, active: 1, policy: queue-depth"), (3, 1, NvmePolicy::QueueDepth));
}

#[test]
fn a_stand_may_make_its_host() {
    let found = of("stand: x\nmachine: ../lab/m.yaml\ndrives: [{id: A}]\n");
    assert_eq!(found.machine.as_deref(), Some("../lab/m.yaml"));
    assert_eq!(of("stand: x\ndrives: [{id: A}]\n").machine, None);
}

#[test]
fn a_drive_has_as_many_paths_as_the_layer_on_it_says_and_what_lies_above_is_over_them() {
    let of = |layers: &str| {
        stand(&format!("stand: x\ndrives: [{{id: A}}, {{id: B}}, {{id: C}}]\nlayers:\n{layers}\n"), "s.yaml").unwrap()
    };
    let found = of("- {multipath: {paths: 4}, on: [d1, d2]}\n- {dm: {linear: whole}, on: [multipath/1]}\n\
                    - {name: a, md: {level: 0}, on: [dm, multipath/2]}\n- {fs: {type: xfs}, on: [d3]}");
    assert_eq!(["d1", "d2", "d3"].map(|drive| found.paths_to(drive)), [4, 4, 1]);
    let over: Vec<bool> = found.layers.iter().map(|layer| found.is_over_paths(layer)).collect();
    assert_eq!(over, [false, true, true, false]);
    let own = |paths: u32| {
        let found = of(&format!("- md: {{level: 0}}\n- iscsi: {{paths: {paths}}}\n- lvm: {{type: linear}}"));
        found.is_over_paths(&found.layers[2])
    };
    assert_eq!([1, 2].map(own), [false, true]);
}

#[test]
fn what_cannot_be_is_named_with_its_place() {
    let loops = "stand: x\nlayers:\n- loop: {directory: /d, size: 64MiB, count: 3}\n";
    let across = "across: {storage: 10.77.0.1, client: 10.77.0.2}";
    let two =
        format!("stand: x\nmachine: m.yaml\n{across}\ndrives: [{{id: A}}]\nlayers: [{{nvme_of: {{transport: tcp}}}}]");
    for (text, told) in [
        (two.as_str(), "s.yaml:2:10: a stand of several hosts makes no machine"),
        (
            "stand: x\ndrives: [{id: A}]\nlayers: [{dm: {linear: whole}}, {sectors: 4KiB}]",
            "`sectors` cannot lie on `dm`: below `sectors` there are drives and nothing else",
        ),
        ("stand: x\ndrives: [{id: A}]\nlayers: [{sectors: 1KiB}]", "`512B`"),
        (
            "stand: x\ndrives: [{id: A}]\nlayers: [{sectors: 4KiB}, {multipath: {paths: 2}}]",
            "`multipath` cannot lie on `sectors`: below `multipath` there are drives and nothing else",
        ),
        ("stand: x\ndrives: [{id: A}]\nlayers: [{multipath: {paths: 1}}]", "1 is outside 2 to 32"),
        ("stand: x\ndrives: [{id: A}]\nlayers: [{multipath: {}}]", "`paths` is missing"),
        ("stand: x\ndrives: [{id: A}]\nlayers: [{multipath: {paths: 2, policy: numa}}]", "`service-time`"),
        ("stand: X\nlayers: [luns: {count: 1}]", "s.yaml:1:8: a name here has 1 to 32 small letters"),
        ("stand: x\nlayers: []", "1 to 16 layers"),
        ("stand: x\nlayers: [{}]", "exactly one kind"),
        ("stand: x\nlayers: [{luns: {count: 1}, dm: {linear: whole}}]", "exactly one kind"),
        ("stand: x\nlayers: [luns: {count: 1}]", "`luns` needs 1 to 1 devices and has 0"),
        ("stand: x\nlayers: [settings: {/proc/sys/a: 1}]", "no layer makes anything"),
        ("stand: x\ndrives: [{id: A}]\nlayers: [{loop: {directory: /d, size: 64MiB}}]", "no layer uses the drive `d1`"),
        ("stand: x\ndrives: [{id: A}, {id: A}]\nlayers: [{md: {level: 1}}]", "`A` appears twice, first as `d1`"),
        ("stand: x\ndrives: [{id: A}, {id: B, name: d1}]\nlayers: [{md: {level: 1}}]", "`d1` appears twice"),
        ("stand: x\ndrives: [{id: A}]\nlayers: [{md: {level: 1}}]", "`md` needs 2 to 64 devices and has 1"),
        ("stand: x\ndrives: [{id: A}, {id: B}]\nlayers: [{md: {level: 7}}]", "expected 0, 1, 10, 5 or 6"),
        ("stand: x\ndrives: [{id: A}, {id: B}]\nlayers: [{md: {level: 1, chunk: 64KiB}}]", "level 1 has no chunks"),
        ("stand: x\ndrives: [{id: A}, {id: B}]\nlayers: [{md: {level: 0, spares: 1}}]", "level 0 has no redundancy"),
        ("stand: x\ndrives: [{id: A}, {id: B}]\nlayers: [{md: {level: 1, consistency: ppl}}]", "`ppl` is for level 5"),
        ("stand: x\ndrives: [{id: A}, {id: B}]\nlayers: [{md: {level: 1, journal: true}}]", "levels 5 and 6"),
        (
            "stand: x\ndrives: [{id: A}, {id: B}]\nlayers: [{on: [d1], fs: {type: xfs}}, {on: [d1, d2], md: {level: 0}}]",
            "`d1` is taken by `fs` already",
        ),
        (
            "stand: x\ndrives: [{id: A}, {id: B}]\nlayers: [{on: [d1, d1], md: {level: 0}}]",
            "`d1` is taken by `md` already",
        ),
        (&format!("{loops}- {{on: [loop, loop/1], md: {{level: 0}}}}"), "`loop/1` is taken by `md`"),
        (&format!("{loops}- {{on: [loop/4], fs: {{type: xfs}}}}"), "`loop` makes 3 things, not `loop/4`"),
        (&format!("{loops}- {{on: [pool], fs: {{type: xfs}}}}"), "`pool` is neither a drive nor a layer"),
        (&format!("{loops}- fs: {{type: xfs}}"), "`fs` needs 1 to 1 devices and has 3"),
        (
            &format!("{loops}- {{name: b, on: [loop/1], loop: {{directory: /d, size: 64MiB}}}}"),
            "`loop` lies on nothing",
        ),
        (&format!("{loops}- loop: {{directory: /d, size: 64MiB}}"), "`loop` is named twice"),
        (
            &format!("{loops}- {{on: [loop/1], fs: {{type: xfs}}}}\n- luns: {{count: 2}}"),
            "which is a directory and no device",
        ),
        (&format!("{loops}- lvm: {{type: thin}}"), "`virtual_size` belongs to"),
        (&format!("{loops}- lvm: {{type: linear, stripes: 2}}"), "are for striped types"),
        (&format!("{loops}- lvm: {{type: raid5, initial_sync: skip}}"), "does not leave out"),
        (&format!("{loops}- lvm: {{type: linear, compression: false}}"), "are for `vdo`"),
        (&format!("{loops}- lvm: {{type: linear, initial_sync: wait}}"), "`initial_sync` is for raid types"),
        (&format!("{loops}- lvm: {{type: striped, integrity: journal}}"), "others have nothing to repair from"),
        (
            &format!("{loops}- lvm: {{type: raid1, integrity: bitmap, initial_sync: skip}}"),
            "checksums have to be computed",
        ),
        (&format!("{loops}- lvm: {{type: writecache, mode: writeback}}"), "`mode` is for `cache`"),
        (&format!("{loops}- lvm: {{type: linear, cache_size: 32MiB}}"), "for `cache` and `writecache`"),
        (&format!("{loops}- lvm: {{type: cache, snapshots: 1, size: 32MiB}}"), "`snapshots` are not for"),
        (&format!("{loops}- lvm: {{type: linear, snapshots: 1}}"), "`snapshots` need a `size`"),
        (&format!("{loops}- lvm: {{type: linear, snapshots: 9}}"), "9 is outside 0 to 8"),
        (&format!("{loops}- lvm: {{type: linear, chunk: 4KiB}}"), "`chunk` is for"),
        (&format!("{loops}- lvm: {{type: writecache, chunk: 64KiB}}"), "`chunk` is for"),
        (&format!("{loops}- lvm: {{type: thin, virtual_size: 1GiB, snapshots: 1, chunk: 64KiB}}"), "`chunk` is for"),
        (&format!("{loops}- lvm: {{type: cache, chunk: 4KiB}}"), "not 32 KiB to 1 GiB, a power of two"),
        (&format!("{loops}- lvm: {{type: linear, snapshots: 1, size: 32MiB, chunk: 1MiB}}"), "not 4 KiB to 512 KiB"),
        (&format!("{loops}- {{on: [loop/1], lvm: {{type: cache}}}}"), "`lvm` needs 2 to 64 devices and has 1"),
        (&format!("{loops}- zfs: {{layout: raid5}}"), "`raidz1`"),
        (&format!("{loops}- zfs: {{layout: stripe, group: 2}}"), "no groups"),
        (&format!("{loops}- zfs: {{layout: stripe, spares: 1}}"), "no copy that a spare could be filled from"),
        (&format!("{loops}- zfs: {{layout: raidz2, group: 2}}"), "at least 3 devices"),
        (&format!("{loops}- zfs: {{layout: raidz2, log: 1}}"), "`zfs` needs 4 to 64 devices and has 3"),
        (&format!("{loops}- zfs: {{layout: mirror}}"), "3 devices do not make groups of 2"),
        (&format!("{loops}- zfs: {{layout: stripe, ashift: 8}}"), "8 is outside 9 to 16"),
        (&format!("{loops}- zfs: {{layout: stripe, volblocksize: 16KiB}}"), "are for a `volume`"),
        (&format!("{loops}- zfs: {{layout: stripe, volume: 64MiB, recordsize: 16KiB}}"), "have no effect"),
        (&format!("{loops}- zfs: {{layout: stripe, volume: 64MiB, volblocksize: 12KiB}}"), "a power of two"),
        (&format!("{loops}- zfs: {{layout: stripe, volume: 100B}}"), "in whole MiB"),
        (&format!("{loops}- zfs: {{layout: stripe, compression: on}}"), "`zstd-fast`"),
        (&format!("{loops}- zfs: {{layout: stripe}}\n- luns: {{count: 2}}"), "which is a directory"),
        (&format!("{loops}- iscsi: {{policy: round-robin}}"), "`policy` and `active` need `paths` above 1"),
        (&format!("{loops}- iscsi: {{active: 1}}"), "`policy` and `active` need `paths` above 1"),
        (&format!("{loops}- iscsi: {{paths: 2, active: 3}}"), "`active` is more than there are `paths`"),
        (&format!("{loops}- iscsi: {{transport: rdma}}"), "`iser`"),
        (&format!("{loops}- nvme_of: {{transport: fc}}"), "`rdma`"),
        (&format!("{loops}- iscsi: {{paths: 9}}"), "9 is outside 1 to 8"),
        (&format!("{loops}- {{on: [loop/1], nfs: {{}}}}"), "which is a device and no directory"),
        (&format!("{loops}- nbd: {{port: 1}}"), "port"),
        (&format!("{loops}- {{on: [loop/1], fs: {{type: xfs}}}}\n- nbd: {{}}"), "which is a directory"),
        (
            &format!("{loops}- {{on: [loop/1], fs: {{type: xfs}}}}\n- nfs: {{options: ['mountaddr=/x']}}"),
            "could name another device",
        ),
        (&format!("{loops}- {{on: [loop/1], fs: {{type: xfs}}}}\n- nfs: {{}}\n- iscsi: {{}}"), "which is a directory"),
        (&format!("{loops}- existing: {{directory: x}}"), "a path from the root"),
        ("stand: x\n", "no layer makes anything"),
        (&format!("{loops}- dm: {{linear: whole, delay: {{read: 5ms}}}}"), "exactly one mapping"),
        (&format!("{loops}- dm: {{delay: {{read: 5us}}}}"), "in steps of 1 ms"),
        (&format!("{loops}- dm: {{flakey: {{up: 0s, down: 0s}}}}"), "`up` and `down` are both 0"),
        (&format!("{loops}- dm: {{flakey: {{up: 0s, down: 1s, drop: reads}}}}"), "`reads`"),
        (&format!("{loops}- dm: {{error: {{from: 1MiB, length: 0B}}}}"), "not 1 MiB to 1 PiB, in whole MiB"),
        (&format!("{loops}- dm: {{error: {{from: 1KiB, length: 1MiB}}}}"), "in whole MiB"),
        (&format!("{loops}- dm: {{crypt: rot13}}"), "aes-256-xts"),
        (&format!("{loops}- dm: {{integrity: hope}}"), "`direct`"),
        (&format!("{loops}- dm: {{integrity: direct, linear: whole}}"), "exactly one mapping"),
        (&format!("{loops}- dm: {{writecache: {{}}}}"), "`dm` needs 2 to 2 devices and has 3"),
        (
            &format!("{loops}- {{on: [loop/1, loop/2], dm: {{writecache: {{block_size: 8KiB}}}}}}"),
            "not 512 B to 4 KiB, a power of two",
        ),
        (&format!("{loops}- nvme_of: {{transport: loop, paths: 2}}"), "one path at most"),
        (&format!("{loops}- nvme_of: {{transport: tcp, policy: numa}}"), "need `paths` above 1"),
        (&format!("{loops}- nvme_of: {{transport: tcp, active: 1}}"), "need `paths` above 1"),
        (&format!("{loops}- nvme_of: {{transport: tcp, paths: 2, active: 3}}"), "more than there are `paths`"),
        (&format!("{loops}- nvme_of: {{transport: tcp, paths: 9}}"), "9 is outside 1 to 8"),
        (&format!("{loops}- nvme_of: {{transport: tcp, paths: 2, policy: service-time}}"), "`queue-depth`"),
        (
            &format!("{loops}- {{on: [loop/1], fs: {{type: xfs, make: ['-l', 'logdev=sdb']}}}}"),
            "could name another device",
        ),
        (&format!("{loops}- {{on: [loop/1], fs: {{type: ext4, options: [/dev/sdb]}}}}"), "could name another device"),
        (&format!("{loops}- {{on: [loop/1], fs: {{type: f2fs, make: [-c, sdb]}}}}"), "could name another device"),
        (
            &format!("{loops}- partition: {{count: 4}}\n- {{name: more, partition: {{count: 64}}}}"),
            "256 things at most",
        ),
        ("stand: x\nlayers: [loop: {directory: tmp, size: 64MiB}]", "a path from the root"),
        ("stand: x\nlayers: [loop: {directory: /a/../b, size: 64MiB}]", "a path from the root"),
        ("stand: x\nlayers: [loop: {directory: /d, size: 1MiB}]", "not 16 MiB to 1 PiB, in whole MiB"),
        ("stand: x\nlayers: [loop: {directory: /d, size: 64MiB, count: 0}]", "0 is outside 1 to 64"),
        ("stand: x\ntargets: [y]\nlayers: [loop: {directory: /d, size: 64MiB}]", "`y` is neither a drive nor a layer"),
    ] {
        let error = refused(text);
        assert!(error.contains(told), "{told}: {error}");
    }
}

#[test]
fn a_target_is_measured_once_and_carries_no_layer() {
    let with = |targets: &str| {
        format!(
            "stand: x\ntargets: [{targets}]\nlayers:\n- loop: {{directory: /d, size: 64MiB, count: 2}}\n- {{fs: {{type: xfs}}, on: [loop/1]}}\n"
        )
    };
    for (targets, told) in [
        ("fs, fs", "s.yaml:2:15: `fs` is measured twice"),
        ("loop/2, fs, loop/2", "s.yaml:2:23: `loop/2` is measured twice"),
        ("loop/1", "s.yaml:2:11: `loop/1` is taken by `fs` already"),
        ("fs, loop", "s.yaml:2:15: `loop` is taken by `fs` already"),
    ] {
        let error = refused(&with(targets));
        assert!(error.starts_with(told), "{told}: {error}");
    }
    assert_eq!(of(&with("fs, loop/2")).targets.len(), 2);
}

#[test]
fn a_delay_of_nothing_is_refused() {
    let of = |delay: &str| format!("stand: x\ndrives: [{{id: A}}]\nlayers: [dm: {{delay: {delay}}}]\n");
    for nothing in ["{}", "{read: 0ms}", "{read: 0ms, write: 0ms}"] {
        let error = refused(&of(nothing));
        assert!(error.contains("neither reads nor writes are delayed"), "{error}");
    }
    stand(&of("{write: 1ms}"), "s.yaml").unwrap();
}

#[test]
fn a_ceph_has_copies_or_parity_and_a_drive_for_each_of_them() {
    let five = "stand: x\ndrives: [{id: A}, {id: B}, {id: C}, {id: D}, {id: E}]\nlayers:\n";
    let ceph = |words: &str| match of(&format!("{five}- ceph: {words}\n")).layers.remove(0).kind {
        Kind::Ceph(ceph) => (ceph.pool, ceph.osd_memory),
        other => panic!("{other:?}"),
    };
    let copies = |size, min_size| CephPool::Replicated { size, min_size };
    assert_eq!(ceph("{replicated: {size: 3}}"), (copies(3, 2), Bytes::gib(1)));
    assert_eq!(ceph("{replicated: {size: 2, min_size: 2}, osd_memory: 2GiB}"), (copies(2, 2), Bytes::gib(2)));
    let (parity, _) = ceph("{ec: {k: 3, m: 2}}");
    assert_eq!((parity, parity.metadata()), (CephPool::Erasure { k: 3, m: 2 }, (3, 2)));
    assert!((parity.amplification() - 5.0 / 3.0).abs() < 1e-9);
    let no = |words: &str| refused(&format!("{five}- ceph: {words}\n"));
    assert!(no("{}").ends_with("`ceph` has either `replicated` or `ec`"));
    assert!(no("{replicated: {size: 3}, ec: {k: 3, m: 2}}").ends_with("`ceph` has either `replicated` or `ec`"));
    assert!(no("{replicated: {size: 2, min_size: 3}}").contains("`min_size` 3 is more than the 2 copies"));
    assert!(no("{replicated: {size: 1}}").contains("1 is outside 2 to 10"));
    assert!(no("{replicated: {size: 6}}").contains("`ceph` needs 6 to 64 devices and has 5"));
    assert!(no("{ec: {k: 4, m: 2}}").contains("`ceph` needs 6 to 64 devices and has 5"));
    assert!(no("{ec: {k: 3}}").contains("the key `m` is missing"));
    assert!(no("{ec: {k: 3, m: 2}, osd_memory: 512MiB}").contains("not 896 MiB to 64 GiB"));
}
