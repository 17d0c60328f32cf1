//! What of a stand is on which host, and what cannot be.

use crate::parse::stand;

fn across(hosts: &str, layers: &str) -> String {
    format!("stand: two\ndrives: [{{id: A}}, {{id: B}}]\nacross: {hosts}\nlayers:\n{layers}")
}

fn several(drives: &str, layers: &str) -> String {
    let hosts = "{n1: 10.77.1.1, n2: 10.77.2.1, client: [10.77.1.2, 10.77.2.2]}";
    format!("stand: array\nhosts: {hosts}\ndrives: {drives}\nlayers:\n{layers}")
}

const BOTH: &str = "{storage: 10.77.0.1, client: 10.77.0.2}";
const LAYERS: &str = "  - md: {level: 1}\n  - nvme_of: {transport: tcp}\n  - fs: {type: ext4}\n";
const DRIVES: &str = "[{id: A, host: n1}, {id: A, host: n2}]";
const NODES: &str = concat!(
    "  - {luns: {count: 2}, name: l1, on: [d1]}\n  - {iscsi: {paths: 2}, name: e1, on: [l1], to: client}\n",
    "  - {luns: {count: 2}, name: l2, on: [d2]}\n  - {iscsi: {paths: 2}, name: e2, on: [l2], to: client}\n",
    "  - {md: {level: 0}, on: [e1, e2]}\n"
);

fn layers_on(text: &str, host: Option<&str>) -> Vec<String> {
    let part = stand(text, "s.yaml").unwrap().on(host);
    part.layers_here().map(|layer| layer.name.clone()).collect()
}

#[test]
fn each_host_has_the_layers_on_its_side_and_both_the_export() {
    let text = across(BOTH, LAYERS);
    assert_eq!(layers_on(&text, Some("storage")), ["md", "nvme_of"]);
    assert_eq!(layers_on(&text, Some("client")), ["nvme_of", "fs"]);
    assert_eq!(layers_on(&text, None), ["md", "nvme_of", "fs"]);
    let whole = stand(&text, "s.yaml").unwrap();
    assert_eq!((whole.measured(), whole.hosts_from_below()), (Some("client"), Some(vec!["storage", "client"])));
    let storage = whole.clone().on(Some("storage"));
    let (nvme_of, drives) = (storage.layer("nvme_of").unwrap(), storage.drives_here().count());
    assert_eq!((storage.targets_here()[0].name.as_str(), drives), ("md", 2));
    assert!(storage.hands_out(nvme_of) && !storage.takes_in(nvme_of) && !storage.is_measured_here());
    let client = whole.on(Some("client"));
    assert_eq!((client.targets_here()[0].name.as_str(), client.drives_here().count()), ("fs", 0));
    assert!(client.takes_in(nvme_of) && !client.hands_out(nvme_of) && client.is_measured_here());
    let one = stand("stand: one\ndrives: [{id: A}]\nlayers: [{fs: {type: xfs}}]", "s.yaml").unwrap();
    assert_eq!(one.on(Some("client")).here, None, "it has one host");
}

#[test]
fn several_hosts_hand_out_to_one_and_each_knows_its_part() {
    let text = several(DRIVES, NODES);
    assert_eq!(layers_on(&text, Some("n1")), ["l1", "e1"]);
    assert_eq!(layers_on(&text, Some("n2")), ["l2", "e2"]);
    assert_eq!(layers_on(&text, Some("client")), ["e1", "e2", "md"]);
    let whole = stand(&text, "s.yaml").unwrap();
    assert_eq!(whole.hosts_from_below(), Some(vec!["n1", "n2", "client"]));
    let second = whole.on(Some("n2"));
    let drives: Vec<&str> = second.drives_here().map(|drive| drive.name.as_str()).collect();
    assert_eq!((drives, second.targets_here()[0].name.as_str()), (vec!["d2"], "l2"));
    assert_eq!(second.addresses_here(), ["10.77.2.1"]);
}

#[test]
fn a_host_in_the_middle_takes_in_and_hands_out() {
    let layers = concat!(
        "  - {nbd: {}, name: raw, on: [d2], to: n1}\n  - {md: {level: 1}, name: pair, on: [d1, raw]}\n",
        "  - {fs: {type: ext4}, name: files}\n  - {nfs: {}, name: share, to: client}\n"
    );
    let text = several(DRIVES, layers);
    let whole = stand(&text, "s.yaml").unwrap();
    assert_eq!(whole.hosts_from_below(), Some(vec!["n2", "n1", "client"]));
    assert_eq!(layers_on(&text, Some("n1")), ["raw", "pair", "files", "share"]);
    assert_eq!(whole.on(Some("n1")).targets_here()[0].name, "files");
}

#[test]
fn what_no_two_hosts_can_share_is_refused() {
    for (hosts, layers, words) in [
        (BOTH, "  - md: {level: 1}\n", "has exactly one export, this one has 0"),
        (BOTH, "  - iscsi: {}\n  - nvme_of: {transport: tcp}\n", "this one has 2"),
        (BOTH, "  - nvme_of: {transport: loop}\n", "`loop` does not leave its host"),
        (BOTH, "  - nvme_of: {transport: tcp, soft_roce: true}\n", "which only the transport `rdma` needs"),
        (BOTH, "  - iscsi: {soft_roce: true}\n", "which only the transport `iser` needs"),
        (
            BOTH,
            "  - {nvme_of: {transport: tcp}, on: [d1]}\n  - {fs: {type: ext4}, on: [d2]}\ntargets: [nvme_of, fs]\n",
            "`fs` is on `storage`, and other targets are on `client`",
        ),
        (BOTH, "  - {nbd: {}, to: client}\n", "`host` and `to` are for a stand with `hosts`"),
        ("{storage: 10.77.0.1, client: 10.77.0.1}", LAYERS, "two hosts have the address `10.77.0.1`"),
        ("{storage: 127.0.0.1, client: 10.77.0.2}", LAYERS, "`127.0.0.1` is no address of a host"),
        ("{storage: array, client: 10.77.0.2}", LAYERS, "`array` is no address"),
        ("{storage: 10.77.0.1}", LAYERS, "`client`"),
    ] {
        let error = stand(&across(hosts, layers), "s.yaml").unwrap_err();
        assert!(error.message.en.contains(words), "{words}: {error}");
    }
}

#[test]
fn what_does_not_fit_its_hosts_is_refused_at_its_line() {
    let out = "  - {nbd: {}, name: a, on: [d1], to: client}\n";
    // Every drive is used.
    let spare = |drives: &str, layers: &str| match layers.contains("d2") || !drives.contains("n2") {
        true => layers.to_string(),
        false => format!("{layers}  - {{dm: {{linear: whole}}, name: spare, on: [d2]}}\n"),
    };
    for (drives, layers, words) in [
        (DRIVES, "  - {md: {level: 1}, on: [d1, d2]}\n", "s.yaml:5:5: `md` lies on what is on `n1` and on `n2`"),
        (DRIVES, "  - {nbd: {}, on: [d1]}\n", "which host takes in what `nbd` hands out?"),
        (DRIVES, "  - {nbd: {}, on: [d1], to: n1}\n", "`nbd` is on `n1` and goes there, too"),
        (DRIVES, "  - {nbd: {}, on: [d1], to: n9}\n", "`n9` is no host of the stand"),
        (DRIVES, "  - {fs: {type: ext4}, on: [d1], to: n2}\n", "`fs` hands nothing out"),
        (DRIVES, "  - {fs: {type: ext4}, on: [d1], host: n2}\n", "lies on what is on `n1`, and not on `n2`"),
        ("[]", "  - {zram: {size: 16MiB}}\n", "`zram` lies on nothing: on which host?"),
        (DRIVES, "  - {nvme_of: {transport: loop}, on: [d1], to: client}\n", "`loop` does not leave its host"),
        ("[{id: A}, {id: B, host: n2}]", out, "no host is given for the drive `d1`"),
        ("[{id: A, host: n1}, {id: A, host: n1}]", out, "`A` appears twice"),
        ("[{id: A, host: n1}]", out, "nothing of the stand is on the host `n2`"),
        (
            DRIVES,
            "  - {nbd: {}, name: a, on: [d1], to: n2}\n  - {nbd: {}, name: b, on: [d2], to: n1}\n  - {nbd: {}, name: c, on: [a], to: client}\ntargets: [c, b]\n",
            "in a circle",
        ),
        (
            DRIVES,
            "  - {nbd: {}, name: a, on: [d1], to: client}\n  - {fs: {type: ext4}, name: b, on: [d2]}\ntargets: [a, b]\n",
            "`b` is on `n2`, and other targets are on `client`",
        ),
    ] {
        let error = stand(&several(drives, &spare(drives, layers)), "s.yaml").unwrap_err();
        assert!(error.to_string().contains(words), "{words}: {error}");
    }
    for (text, words) in [
        ("stand: x\ndrives: [{id: A, host: n1}]\n", "are for a stand with `hosts`"),
        ("stand: x\nhosts: {a: 10.0.0.1}\ndrives: [{id: A, host: a}]\n", "`hosts` names 2 to 16 hosts"),
        ("stand: x\nhosts: [10.0.0.1]\ndrives: [{id: A}]\n", "`hosts` is a mapping from names to addresses"),
        ("stand: x\nhosts: {a: 10.0.0.1, b: []}\ndrives: [{id: A, host: a}]\n", "a host has 1 to 64 addresses"),
        ("stand: x\nhosts: {a: 10.0.0.1, B: 10.0.0.2}\ndrives: [{id: A, host: a}]\n", "a letter first"),
        ("stand: x\nhosts: {a: 10.0.0.1, b: 10.0.0.1}\ndrives: [{id: A, host: a}]\n", "two hosts have the address"),
    ] {
        let error = stand(text, "s.yaml").unwrap_err();
        assert!(error.to_string().contains(words), "{words}: {error}");
    }
    let both = several(DRIVES, NODES).replace("drives:", "across: {storage: 10.0.0.1, client: 10.0.0.2}\ndrives:");
    assert!(stand(&both, "s.yaml").unwrap_err().message.en.contains("two ways to name hosts"));
}

#[test]
fn a_mirror_is_of_two_hosts_and_its_primary_is_built_last() {
    let layers = concat!(
        "  - {drbd: {protocol: C}, on: [d1, d2], to: n1}\n  - {fs: {type: ext4}}\n",
        "  - {nfs: {}, to: client}\n"
    );
    let text = several(DRIVES, layers);
    let whole = stand(&text, "s.yaml").unwrap();
    assert_eq!(whole.hosts_from_below(), Some(vec!["n2", "n1", "client"]));
    assert_eq!(layers_on(&text, Some("n1")), ["drbd", "fs", "nfs"]);
    assert_eq!(layers_on(&text, Some("n2")), ["drbd"]);
    let targets = |host: &str| {
        let part = whole.clone().on(Some(host));
        part.targets_here().into_iter().map(|of| of.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!([targets("n1"), targets("n2"), targets("client")], [["fs"], ["d2"], ["nfs"]]);
    let below = |host: &str| {
        let part = whole.clone().on(Some(host));
        part.below_here(&part.layers[0]).map(|of| of.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!([below("n1"), below("n2")], [["d1"], ["d2"]]);
}

#[test]
fn a_mirror_that_is_not_of_two_hosts_is_refused() {
    let three = "[{id: A, host: n1}, {id: B, host: n1}, {id: C, host: n2}, {id: D, host: n2}]";
    let out = "  - {fs: {type: ext4}}\n  - {nfs: {}, to: client}\n";
    for (drives, layer, words) in [
        (DRIVES, "{drbd: {protocol: C}, on: [d1, d2]}", "which host is primary of the mirror `drbd`?"),
        (DRIVES, "{drbd: {protocol: C}, on: [d1, d2], to: client}", "`drbd` has no device of `client`"),
        (DRIVES, "{drbd: {protocol: C}, on: [d1, d2], to: n1, host: n2}", "two hosts build `drbd`"),
        (DRIVES, "{drbd: {protocol: D}, on: [d1, d2], to: n1}", "`D` is not one of `A`, `B`, `C`"),
        (DRIVES, "{drbd: {}, on: [d1, d2], to: n1}", "`protocol`"),
        (DRIVES, "{drbd: {protocol: C, metadata: external}, on: [d1, d2], to: n1}", "needs 4 to 4 devices and has 2"),
        (three, "{drbd: {protocol: C}, on: [d1, d2], to: n1}", "what it lies on is on `n1`"),
        (
            "[{id: A, host: n1}, {id: B, host: n1}, {id: C, host: n1}, {id: D, host: n2}]",
            "{drbd: {protocol: C, metadata: external}, on: [d1, d2, d3, d4], to: n1}",
            "`drbd` has 3 devices of `n1` and 1 of `n2`",
        ),
    ] {
        let used = if drives == three { "  - {dm: {linear: whole}, name: spare, on: [d3, d4]}\n" } else { "" };
        let text = several(drives, &format!("  - {layer}\n{out}{used}"));
        let error = stand(&text, "s.yaml").unwrap_err();
        assert!(error.to_string().contains(words), "{words}: {error}");
    }
    let one = "stand: x\ndrives: [{id: A}, {id: B}]\nlayers: [{drbd: {protocol: C}}]\n";
    assert!(stand(one, "s.yaml").unwrap_err().to_string().contains("a mirror (`drbd`) is of two hosts"));
}
