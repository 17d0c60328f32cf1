//! What every device must pass: refused without a byte changed, or written after everything was named.

use crate::bench::Bench;
use std::path::Path;
use stend_base::Kind;
use stend_record::{Refusal, TargetFacts, UNKNOWN_DATA, WriteAccess};
use stend_spec::permission::Permission;
use stend_stand::{Need, Owner, inspect, may_write, prepare, sample_contents};

pub fn owner() -> Owner {
    Owner { run_id: "R-test".into(), run_file: "/runs/R-test.stend".into(), ledger: None }
}

/// Everything that a user could say to have the target written.
pub fn everything(facts: &TargetFacts) -> Permission {
    Permission {
        confirm: facts.identity.clone().into_iter().collect(),
        overwrite_signatures: facts.signatures.iter().map(|s| s.name.clone()).collect(),
        commands: true,
        beside: false,
    }
}

pub fn reasons(facts: &TargetFacts) -> &[Refusal] {
    match &facts.access {
        WriteAccess::Refused(reasons) => reasons,
        other => panic!("{} is not refused but {other:?}", facts.named),
    }
}

/// A device in use: under every name it is refused for this reason, only read, and not one byte changes.
pub fn refused(bench: &mut Bench, device: &str, is_reason: &dyn Fn(&Refusal) -> bool) {
    let before = bench.hash();
    let scratch = bench.dir().join("links");
    let link = bench.link(device, &scratch);
    let by_id = bench.link(device, Path::new("/dev/disk/by-id"));
    let bare = by_id.file_name().and_then(|n| n.to_str()).map(str::to_string).unwrap_or_default();
    let identity = inspect(device).unwrap().identity.unwrap();
    let names = [device, link.to_str().unwrap(), by_id.to_str().unwrap(), &bare, &identity];
    for name in names {
        let facts = inspect(name).unwrap();
        assert_eq!(facts.path, device, "{name}");
        assert!(reasons(&facts).iter().any(is_reason), "{name}: {:?}", facts.access);
        assert!(may_write(&facts, &Permission::default()).unwrap().is_err(), "only read when nothing is asked");
        let asked = may_write(&facts, &everything(&facts)).unwrap_err();
        assert_eq!((asked.kind, asked.kind.exit_code()), (Kind::Unsafe, 5), "{name}");
        let forced = TargetFacts {
            access: WriteAccess::Confirm {
                identity: identity.clone(),
                signatures: everything(&facts).overwrite_signatures,
            },
            ..facts.clone()
        };
        // Even facts that say otherwise do not help: the target is looked at again.
        for facts in [&facts, &forced] {
            let refused = prepare(facts, &everything(facts), &Need::WriteDevice(owner()), &mut |_| {}).unwrap_err();
            assert_eq!(refused.kind, Kind::Unsafe, "{name}: {refused}");
        }
        let reading = prepare(&facts, &Permission::default(), &Need::Read, &mut |_| {}).unwrap();
        assert_eq!(reading.open(false, false).unwrap().read_at(&mut [0; 512], 0).unwrap(), 512);
        assert_eq!(reading.open(true, false).unwrap_err().kind, Kind::Unsafe);
    }
    bench.undo_last();
    bench.undo_last();
    assert_eq!(bench.hash(), before, "bytes of {device} changed");
}

/// The same by one look, where the use matters and not the name: a holder that lets go in time is no reason, so each look at one that
/// stays takes a second.
pub fn refused_at_once(bench: &Bench, device: &str, is_reason: &dyn Fn(&Refusal) -> bool) {
    let before = bench.hash();
    let facts = inspect(device).unwrap();
    assert!(reasons(&facts).iter().any(is_reason), "{device}: {:?}", facts.access);
    assert_eq!(may_write(&facts, &everything(&facts)).unwrap_err().kind, Kind::Unsafe);
    assert_eq!(bench.hash(), before, "bytes of {device} changed");
}

/// What a run sees of a device before it asks whether it may write there.
pub fn seen(device: &str) -> TargetFacts {
    let mut facts = inspect(device).unwrap();
    sample_contents(std::slice::from_mut(&mut facts), &mut |_| {});
    facts
}

/// The same as [`allowed`] for a device that tools have used: what they leave beside their marks is unknown data.
pub fn allowed_with_remains(bench: &Bench, device: &str, signatures: &[&str]) {
    let remains = match seen(device).access {
        WriteAccess::Confirm { signatures, .. } => signatures.iter().any(|name| name == UNKNOWN_DATA),
        _ => false,
    };
    let mut names = [signatures, if remains { &[UNKNOWN_DATA] } else { &[] }].concat();
    names.sort_unstable();
    allowed(bench, device, &names);
}

/// A device that may be written when its identity is confirmed and exactly these signatures are named.
pub fn allowed(bench: &Bench, device: &str, signatures: &[&str]) {
    let before = bench.hash();
    let facts = seen(device);
    let identity = facts.identity.clone().unwrap();
    let names: Vec<String> = signatures.iter().map(|s| s.to_string()).collect();
    assert_eq!(
        facts.access,
        WriteAccess::Confirm { identity: identity.clone(), signatures: names.clone() },
        "{device}"
    );
    let permission = |confirm: &str, names: &[String]| Permission {
        confirm: vec![confirm.to_string()],
        overwrite_signatures: names.to_vec(),
        ..Permission::default()
    };
    let need = Need::WriteDevice(owner());
    let mut half_hearted =
        vec![Permission::default(), permission("serial:other", &names), permission(&identity, &["zfs".into()])];
    if !names.is_empty() {
        half_hearted.push(permission(&identity, &names[1..]));
    }
    for permission in half_hearted {
        let refused = prepare(&facts, &permission, &need, &mut |_| {}).unwrap_err();
        assert_eq!(refused.kind, Kind::Unsafe, "{device} with {permission:?}");
    }
    assert_eq!(bench.hash(), before, "bytes of {device} changed before they were allowed to");
    let prepared = prepare(&facts, &permission(&identity, &names), &need, &mut |_| {}).unwrap();
    let second = prepare(&facts, &permission(&identity, &names), &need, &mut |_| {}).unwrap_err();
    let who = format!("process {}, `/runs/R-test.stend`", std::process::id());
    assert!(second.message.en.contains(&who), "{second}");
    let file = prepared.open(true, false).unwrap();
    assert_eq!(file.write_at(&[0xa5; 4096], 0).unwrap(), 4096);
    file.sync_data().unwrap();
    prepared.undo(&mut |_| {}).unwrap();
    drop(file);
    assert_ne!(bench.hash(), before, "{device} was not written");
    nothing_held(device);
}

/// Nothing speaks against writing.
pub fn nothing_held(device: &str) {
    let facts = inspect(device).unwrap();
    assert!(matches!(facts.access, WriteAccess::Confirm { .. }), "{device} is still held: {:?}", facts.access);
}
