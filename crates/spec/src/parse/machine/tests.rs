//! Machine files that are taken, and those that cannot be.

use super::*;

#[test]
fn a_machine_needs_a_name_and_drives_and_knows_the_rest() {
    let found = machine("machine: m\ndrives: [{serial: LAB1, size: 64MiB}]", "m.yaml").unwrap();
    let drive = Drive {
        kind: DriveKind::Nvme,
        serial: "LAB1".into(),
        size: Bytes::mib(64),
        node: None,
        logical_block_size: 512,
        iops: None,
        bandwidth: None,
        latency: None,
        rotation: None,
        wwn: None,
        paths: 1,
        warnings: 0,
    };
    let plain = Machine {
        name: "m".into(),
        cpus: 1,
        memory: Bytes::gib(1),
        numa: Vec::new(),
        packages: Vec::new(),
        zfs: false,
        kernel: Vec::new(),
        links: Vec::new(),
        nvme_poll_queues: 0,
        drives: vec![drive],
    };
    assert_eq!(found, plain);
    let text = "machine: m\ncpus: 2\nmemory: 512MiB\nzfs: true\nnvme_poll_queues: 1\ndrives:\n  - {kind: virtio, serial: A, \
                    size: 1GiB, logical_block_size: 4KiB, iops: 400, bandwidth: 20MiB, latency: 3ms}\n";
    let found = machine(text, "m.yaml").unwrap();
    assert_eq!((found.cpus, found.memory, found.nvme_poll_queues), (2, Bytes::mib(512), 1));
    assert!(found.zfs);
    let drive = &found.drives[0];
    assert_eq!((drive.kind, drive.logical_block_size), (DriveKind::Virtio, 4096));
    assert_eq!((drive.iops, drive.bandwidth), (Some(400), Some(Bytes::mib(20))));
    assert_eq!(drive.latency, Some(Nanos::millis(3)));
}

#[test]
fn a_link_leads_to_one_other_machine_by_an_address() {
    let with =
        |links: &str| machine(&format!("machine: m\nlinks: {links}\ndrives: [{{serial: A, size: 1MiB}}]"), "m.yaml");
    let found = with("[{to: other, address: 10.77.0.1/24}]").unwrap();
    assert_eq!(found.links, [Link { to: "other".into(), address: "10.77.0.1/24".into() }]);
    for (links, words) in [
        ("[]", "1 to 4 links"),
        ("[{to: m, address: 10.77.0.1/24}]", "leads to another machine"),
        ("[{to: a, address: 10.77.0.1/24}, {to: a, address: 10.78.0.1/24}]", "two links lead to `a`"),
        ("[{to: ../a, address: 10.77.0.1/24}]", "no name of a machine"),
        ("[{to: a, address: 10.77.0.1}]", "no address of a host"),
        ("[{to: a, address: 10.77.0.1/31}]", "no address of a host"),
        ("[{to: a, address: 127.0.0.1/24}]", "no address of a host"),
        ("[{to: a, address: '10.77.0.1/24,x'}]", "no address of a host"),
    ] {
        let error = with(links).unwrap_err();
        assert!(error.message.en.contains(words), "{links}: {error}");
    }
}

#[test]
fn nodes_have_cpus_memory_and_drives_and_a_count_makes_numbered_drives() {
    let text = "machine: m\nnuma: [{cpus: 1, memory: 512MiB}, {cpus: 3, memory: 1GiB}]\npackages: [zstd, g++]\n\
                    kernel: [nvme_core.io_timeout=5]\ndrives:\n  - {serial: A, size: 1MiB, count: 10, node: 1, warnings: [spare, read_only]}\n  \
                    - {serial: B, size: 1MiB, kind: sas, rotation: 7200, wwn: 5000c500a0b1c2ff, count: 2}\n";
    let found = machine(text, "m.yaml").unwrap();
    assert_eq!((found.cpus, found.memory, found.numa.len()), (4, Bytes::mib(1536), 2));
    assert_eq!(found.packages, ["zstd", "g++"]);
    assert_eq!(found.kernel, ["nvme_core.io_timeout=5"]);
    let serials: Vec<&str> = found.drives.iter().map(|drive| drive.serial.as_str()).collect();
    assert_eq!(serials[..2], ["A01", "A02"]);
    assert_eq!(serials[9..], ["A10", "B1", "B2"]);
    assert_eq!((found.drives[0].node, found.drives[0].warnings), (Some(1), 0b1001));
    assert_eq!((found.drives[11].node, found.drives[11].rotation), (None, Some(7200)));
    assert_eq!(found.drives[11].wwn, Some(0x5000_c500_a0b1_c300));
}

#[test]
fn what_cannot_be_is_an_error_with_its_place_in_both_languages() {
    for (head, drive, told) in [
        ("", "{serial: A, size: 100KiB}", "m.yaml:2:28: "),
        ("", "{serial: A, size: 17TiB}", "not 1 MiB to 16 TiB"),
        ("", "{serial: 'A,id=x', size: 1MiB}", "1 to 20 letters"),
        ("", "{serial: '', size: 1MiB}", "1 to 20 letters"),
        ("", "{serial: A, size: 1MiB, kind: tape}", "`nvme`"),
        ("", "{serial: A, size: 1MiB, logical_block_size: 1KiB}", "`512B`"),
        ("", "{serial: A, size: 1MiB, iops: 0}", "0 is outside 1"),
        ("", "{serial: A, size: 1MiB, bandwidth: 1B}", "not 4 KiB to 1 TiB"),
        ("", "{serial: A, size: 1MiB, latency: 1500us}", "not 1 to 1000 whole milliseconds"),
        ("", "{serial: A, size: 1MiB, latency: 2s}", "not 1 to 1000 whole"),
        ("", "{serial: A, size: 1MiB, sice: 1}", "unknown key `sice`"),
        ("", "{serial: A, size: 1MiB}, {serial: A, size: 1MiB}", "two drives have"),
        ("", "", "1 to 24 drives"),
        ("", "{serial: A, size: 1MiB, count: 25}", "25 is outside 1 to 24"),
        ("", "{serial: A, size: 1MiB, count: 20}, {serial: B, size: 1MiB, count: 5}", "1 to 24 drives"),
        ("", "{serial: A, size: 1MiB, count: 2}, {serial: A2, size: 1MiB}", "two drives have"),
        ("", "{serial: ABCDEFGHIJKLMNOPQRST, size: 1MiB, count: 2}", "more than 20 characters"),
        ("", "{serial: A, size: 1MiB, node: 0}", "no node 0"),
        ("numa: [{cpus: 1, memory: 256MiB}]", "{serial: A, size: 1MiB, node: 1}", "no node 1"),
        ("numa: [{cpus: 1, memory: 256MiB}]", "{serial: A, size: 1MiB, kind: sas, node: 0}", "is on no node"),
        ("numa: []", "{serial: A, size: 1MiB}", "1 to 8 NUMA nodes"),
        ("numa: [{cpus: 1, memory: 128MiB}]", "{serial: A, size: 1MiB}", "at least 256 MiB"),
        ("numa: [{cpus: 40, memory: 1GiB}, {cpus: 40, memory: 1GiB}]", "{serial: A, size: 1MiB}", "80 CPUs"),
        ("numa: [{cpus: 1, memory: 1GiB}]\ncpus: 2", "{serial: A, size: 1MiB}", "with `numa` the machine has"),
        ("memory: 1GiB\nnuma: [{cpus: 1, memory: 1GiB}]", "{serial: A, size: 1MiB}", "with `numa` the machine has"),
        ("packages: [-oX=1]", "{serial: A, size: 1MiB}", "`-oX=1` is no name of a package"),
        ("packages: [A]", "{serial: A, size: 1MiB}", "no name of a package"),
        ("kernel: ['a b']", "{serial: A, size: 1MiB}", "`a b` is no parameter"),
        ("kernel: [stend.drives=9]", "{serial: A, size: 1MiB}", "no parameter of a kernel"),
        ("", "{serial: A, size: 1MiB, rotation: 7200}", "do not have that"),
        ("", "{serial: A, size: 1MiB, kind: sas, rotation: 400}", "400 is outside 401"),
        ("", "{serial: A, size: 1MiB, kind: sas, wwn: '5000'}", "16 hexadecimal digits"),
        (
            "",
            "{serial: A, size: 1MiB, kind: sas, wwn: '500000000000ABCD'}",
            "16 hexadecimal digits, letters in lower case",
        ),
        (
            "",
            "{serial: A, size: 1MiB, kind: sas, wwn: '5000000000000001', count: 2}, {serial: B, size: 1MiB, kind: scsi, wwn: '5000000000000002'}",
            "two drives have the world-wide name `5000000000000002`",
        ),
        ("", "{serial: A, size: 1MiB, kind: sas, wwn: 'ffffffffffffffff', count: 2}", "no world-wide names behind"),
        ("", "{serial: A, size: 1MiB, kind: sas, paths: 2}", "needs a `wwn`"),
        ("", "{serial: A, size: 1MiB, paths: 2}", "do not have that"),
        ("", "{serial: A, size: 1MiB, kind: sas, warnings: [spare]}", "do not have that"),
        ("", "{serial: A, size: 1MiB, warnings: [tired]}", "`spare`"),
        ("cpus: 0", "{serial: A, size: 1MiB}", "0 is outside 1 to 64"),
        ("memory: 64MiB", "{serial: A, size: 1MiB}", "not 256 MiB to 1 TiB"),
        ("zfs: 2.3", "{serial: A, size: 1MiB}", "`true` or `false`"),
        ("nvme_poll_queues: 65", "{serial: A, size: 1MiB}", "65 is outside 0 to 64"),
    ] {
        let head = if head.is_empty() { String::new() } else { format!("\n{head}") };
        let error = machine(&format!("machine: m{head}\ndrives: [{drive}]"), "m.yaml").unwrap_err();
        assert!(error.to_string().contains(told), "{told}: {error}");
        assert!(error.message.en.contains("m.yaml:") && error.message.ru.contains("m.yaml:"), "{error}");
    }
}
