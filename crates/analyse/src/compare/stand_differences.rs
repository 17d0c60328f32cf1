//! What differs between runs because stands were put up for them.

use super::Condition;
use crate::findings::Findings;
use std::collections::BTreeSet;
use stend_base::{Say, say};
use stend_record::{Device, HostRecord, RunRecord};

/// Names and identities that a stand draws, and what its layers are.
const OF_LAYERS: [&str; 16] = [
    "stand",
    "target",
    "target_kind",
    "target_identity",
    "target_size",
    "logical_block",
    "physical_block",
    "file_system",
    "mount_options",
    "device_kinds",
    "device_identities",
    "arrays",
    "files",
    "storage_device_kinds",
    "storage_device_identities",
    "storage_arrays",
];
/// What drives and layers have, listed for each of them: other drives show in it, but more layers do, too.
const OF_DEVICES: [&str; 8] = [
    "device_models",
    "device_firmware",
    "schedulers",
    "write_caches",
    "storage_device_models",
    "storage_device_firmware",
    "storage_schedulers",
    "storage_write_caches",
];

/// Takes apart what follows from the stands and the rest. Nothing follows if a run has no stand. Where the drives of one are not
/// among those of the stand with the most drives, they may be what makes the difference: that is a condition of its own.
pub(super) fn follow(runs: &[(&RunRecord, &Findings)], changed: Vec<Condition>) -> (Vec<Condition>, Vec<Condition>) {
    if runs.iter().any(|(record, _)| record.header.stand.is_none()) {
        return (Vec::new(), changed);
    }
    let (follow, mut rest): (Vec<Condition>, Vec<Condition>) = changed.into_iter().partition(|condition| {
        let key = condition.key.as_str();
        OF_LAYERS.contains(&key) || (OF_DEVICES.contains(&key) && same_drives(runs, key))
    });
    rest.extend(other_drives(runs));
    (follow, rest)
}

fn other_drives(runs: &[(&RunRecord, &Findings)]) -> Option<Condition> {
    let all: Vec<BTreeSet<Option<String>>> = runs.iter().map(|(record, _)| drives(record)).collect();
    let most = all.iter().max_by_key(|drives| drives.len())?;
    if all.iter().all(|some| some.is_subset(most)) {
        return None;
    }
    let shown = |drives: &BTreeSet<Option<String>>| {
        let known = drives.iter().map(|identity| identity.as_deref().unwrap_or("?"));
        Say::same(known.collect::<Vec<_>>().join(", "))
    };
    let name = say!("drives", "накопители");
    Some(Condition { key: "drives".into(), name, values: all.iter().map(shown).collect() })
}

/// Identities of what lies below everything, of a stand of several hosts on those with the drives; one that has none is like no other.
fn drives(record: &RunRecord) -> BTreeSet<Option<String>> {
    let storages: Vec<&HostRecord> = record.storages().map(|(_, host)| host).collect();
    let hosts = if storages.is_empty() { vec![record.load()] } else { storages };
    let disks = hosts.into_iter().flat_map(|host| stend_record::targets::devices(&host.targets));
    disks.filter(|device| device.kind == "disk").map(|device| device.identity.clone()).collect()
}

/// Whether a condition of devices is, of the drives alone, one of the values that the drives of each other run have. Conditions of
/// storage hosts are about the drives there.
fn same_drives(runs: &[(&RunRecord, &Findings)], key: &str) -> bool {
    let far = key.strip_prefix("storage_");
    let of = |device: &Device| match far.unwrap_or(key) {
        "device_models" => device.model.clone(),
        "device_firmware" => device.firmware.clone(),
        "schedulers" => device.scheduler.clone(),
        _ => device.write_cache.clone(),
    };
    let values = |record: &RunRecord| -> BTreeSet<Option<String>> {
        let storages = record.storages().map(|(_, host)| host);
        let hosts: Vec<&HostRecord> = if far.is_some() { storages.collect() } else { vec![record.load()] };
        let devices = hosts.into_iter().flat_map(|host| stend_record::targets::devices(&host.targets));
        devices.filter(|device| device.kind == "disk").map(of).collect()
    };
    let mut all = runs.iter().map(|(record, _)| values(record));
    let first = all.next();
    all.all(|other| Some(other) == first)
}

#[cfg(test)]
mod tests {
    use crate::compare::Options;
    use crate::fixture::{over_storage, run};
    use crate::{analyse, compare};
    use stend_record::{Device, RunRecord, StandText};

    fn on_stand(name: &str, identity: &str) -> RunRecord {
        let mut record = run().trial(0).done().record();
        let text = String::new();
        record.header.stand = Some(StandText { name: name.into(), file: "s.yaml".into(), text, nonce: 7 });
        record.load_mut().targets[0].identity = Some(identity.into());
        record
    }

    fn keys(a: &RunRecord, b: &RunRecord) -> (Vec<String>, Vec<String>) {
        let found = compare(&[(a, &analyse(a).unwrap()), (b, &analyse(b).unwrap())], &Options::default());
        let keys = |of: &[crate::compare::Condition]| of.iter().map(|condition| condition.key.clone()).collect();
        (keys(&found.follow), keys(&found.changed))
    }

    #[test]
    fn names_and_layers_follow_from_stands_on_the_same_drives() {
        let (a, mut b) = (on_stand("plain", "md:1"), on_stand("mirror", "md:2"));
        b.load_mut().facts.as_mut().unwrap().kernel = "6.12".into();
        let expected = (["stand", "target_identity"], ["kernel"]);
        assert_eq!(keys(&a, &b), (expected.0.map(String::from).to_vec(), expected.1.map(String::from).to_vec()));
    }

    #[test]
    fn of_two_hosts_the_drives_are_those_of_the_storage_host() {
        let far = |name: &str, identity: &str| {
            let mut record = over_storage(on_stand(name, identity));
            // The stand draws who the namespace is.
            record.load_mut().targets[0].devices[0].identity = Some(identity.into());
            record
        };
        let (a, mut b) = (far("tcp", "uuid:1"), far("tcp-mirror", "uuid:2"));
        assert_eq!(keys(&a, &b).1, Vec::<String>::new());
        let storage = b.storage_mut().unwrap();
        storage.facts.as_mut().unwrap().kernel = "6.12".into();
        storage.targets[0].devices[1].identity = Some("wwn:other".into());
        assert_eq!(keys(&a, &b).1, ["storage_kernel", "drives"]);
    }

    #[test]
    fn another_scheduler_of_the_drives_of_a_storage_host_does_not_follow_from_the_stand() {
        let far = |name: &str| over_storage(on_stand(name, name));
        let (a, mut b) = (far("tcp"), far("tcp-mirror"));
        let disk = b.storage_mut().unwrap().targets[0].devices.iter_mut().find(|device| device.kind == "disk").unwrap();
        disk.scheduler = Some("bfq".into());
        assert_eq!(keys(&a, &b).1, ["storage_schedulers"]);
        // What differs on the client alone says nothing of the drives there.
        let mut client = far("tcp-mirror");
        client.load_mut().targets[0].devices[0].write_cache = Some("none".into());
        let layer = Device { model: Some("LIO".into()), ..client.storage_mut().unwrap().targets[0].devices[0].clone() };
        let layer = Device { kind: "md".into(), name: "md9".into(), ..layer };
        client.storage_mut().unwrap().targets[0].devices.push(layer);
        let (follow, changed) = keys(&a, &client);
        assert!(follow.contains(&"storage_device_models".to_string()), "{follow:?} {changed:?}");
    }

    #[test]
    fn nothing_follows_where_a_run_has_no_stand_and_other_drives_are_told() {
        let (a, mut b) = (on_stand("plain", "md:1"), on_stand("mirror", "md:2"));
        let disk = b.load().targets[0].devices.iter().position(|device| device.kind == "disk").unwrap();
        b.load_mut().targets[0].devices[disk].identity = Some("wwn:other".into());
        let follow = ["stand", "target_identity", "device_identities"].map(String::from).to_vec();
        assert_eq!(keys(&a, &b), (follow, vec!["drives".to_string()]));
        let mut b = on_stand("mirror", "md:2");
        b.load_mut().targets[0].devices[disk].scheduler = Some("bfq".into());
        assert_eq!(keys(&a, &b).1, ["schedulers"]);
        b.header.stand = None;
        assert!(keys(&a, &b).0.is_empty());
    }
}
