//! The mirror of two hosts that the stand of the run made: disconnected from its peer, and connected again. Reads the machine; must not
//! change it.

use super::lower_devices::LowerDevices;
use super::missing_redundancy::MissingRedundancy;
use crate::change::Change;
use crate::mirrors;
use crate::roots::Roots;
use stend_base::{Say, say};
use stend_record::mirrors::Mirror;

/// The mirror loses its peer, which gets what it missed when it is undone.
pub(super) fn peer_down(lower: &LowerDevices) -> std::result::Result<Change, Say> {
    let [event, ..] = lower.mirrors() else {
        return Err(say!(
            "there is no mirror of two hosts (`drbd`) below the target that the stand of this run made",
            "под объектом нет зеркала двух машин (`drbd`), созданного стендом этого прогона"
        ));
    };
    match mirrors::at(lower.roots(), event.minor) {
        Some(mirror) if mirror.is_whole() => {}
        Some(mirror) => {
            let (minor, shown) = (event.minor, mirror.shown());
            return Err(say!(
                "drbd{minor} is not in step already: {shown}",
                "копии drbd{minor} уже не совпадают: {shown}"
            ));
        }
        None => return Err(say!("its mirror is gone", "его зеркала больше нет")),
    }
    let name = Say::same(format!("drbd{}", event.minor));
    Ok(Change::unseen(name, vec![event.disconnect.clone()], [event.connect.clone()]))
}

/// Numbers of the mirrors at or below the targets whose state the kernel tells. DRBD 9 tells it elsewhere.
pub(super) fn followed(lower: &LowerDevices) -> Vec<u32> {
    lower.mirrored().into_iter().filter(|minor| mirrors::at(lower.roots(), *minor).is_some()).collect()
}

/// What a mirror with this number lacks of its redundancy.
pub(super) fn missing(roots: &Roots, minor: u32) -> Option<MissingRedundancy> {
    match mirrors::at(roots, minor) {
        Some(mirror) => lacking(&mirror),
        None => Some(MissingRedundancy { text: format!("drbd{minor} is gone"), is_mended: false }),
    }
}

fn lacking(mirror: &Mirror) -> Option<MissingRedundancy> {
    if mirror.is_whole() {
        return None;
    }
    let text = format!("drbd{}: {}", mirror.minor, mirror.shown());
    Some(MissingRedundancy { text, is_mended: mirror.is_connected() && mirror.action() == "resync" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{Action, run};
    use crate::devices::Devices;
    use crate::faults::FaultContext;
    use crate::recorded::Tree;
    use crate::stands::EventMirror;
    use stend_record::mirrors::mirrors;
    use stend_record::{Device, TargetFacts, TargetKind, WriteAccess};
    use stend_spec::permission::Permission;

    /// What the event would do on a host with this mirror, or why it cannot be done.
    fn event(state: &str, made: bool) -> String {
        let tree = Tree::new();
        tree.put("proc/drbd", format!("version: 8.4.11\n 5: cs:{state} r-----\n"));
        let devices = Devices::read(&tree.roots);
        let permission = Permission::default();
        let context = FaultContext { targets: &[], writable: true, stand: None, run_id: "", permission: &permission };
        let mut lower = LowerDevices::of(&tree.roots, &devices, &context);
        if made {
            let act = |word: &str| run("drbdadm", &[word, "x"]);
            lower = lower.with_mirror(EventMirror { minor: 5, disconnect: act("disconnect"), connect: act("connect") });
        }
        match peer_down(&lower) {
            Ok(change) => {
                let all = change.apply.iter().chain(change.undone_by()).map(Action::shell);
                all.collect::<Vec<_>>().join(" | ")
            }
            Err(why) => why.en,
        }
    }

    #[test]
    fn only_a_mirror_that_the_stand_made_and_that_is_in_step_loses_its_peer() {
        let whole = "Connected ro:Primary/Secondary ds:UpToDate/UpToDate C";
        assert_eq!(event(whole, true), "drbdadm disconnect x | drbdadm connect x");
        assert!(event(whole, false).starts_with("there is no mirror of two hosts"), "{}", event(whole, false));
        let syncs = event("SyncSource ro:Primary/Secondary ds:UpToDate/Inconsistent C", true);
        assert!(syncs.starts_with("drbd5 is not in step already: Primary/Secondary, SyncSource"), "{syncs}");
    }

    #[test]
    fn a_mirror_of_which_the_kernel_tells_nothing_is_not_waited_for() {
        let of = |told: &str| {
            let tree = Tree::new();
            tree.disk("drbd5", "147:5", "virtual", &[]);
            tree.put("proc/drbd", told);
            let devices = Devices::read(&tree.roots);
            let device = Device { name: "drbd5".into(), kind: "drbd".into(), ..Device::default() };
            let target = TargetFacts::new("/dev/drbd5", TargetKind::BlockDevice, WriteAccess::OwnDirectory);
            let targets = [TargetFacts { devices: vec![device], ..target }];
            let permission = Permission::default();
            let context =
                FaultContext { targets: &targets, writable: true, stand: None, run_id: "", permission: &permission };
            let lower = LowerDevices::of(&tree.roots, &devices, &context);
            followed(&lower)
        };
        let of_8 = "version: 8.4.11\n 5: cs:Connected ro:Primary/Secondary ds:UpToDate/UpToDate C r-----\n";
        assert_eq!(of(of_8), [5]);
        assert!(of("version: 9.2.4 (api:2/proto:86-121)\n").is_empty());
    }

    #[test]
    fn a_mirror_lacks_nothing_only_where_both_copies_are_the_same_and_connected() {
        let of = |text: &str| lacking(&mirrors(text, |_| true)[0]).map(|missing| (missing.text, missing.is_mended));
        assert_eq!(of("5: cs:Connected ro:Primary/Secondary ds:UpToDate/UpToDate C r-----"), None);
        let (text, is_mended) = of("5: cs:SyncSource ro:Primary/Secondary ds:UpToDate/Inconsistent C r-----").unwrap();
        assert!(is_mended && text.starts_with("drbd5: Primary/Secondary, SyncSource"), "{text}");
        assert!(!of("5: cs:WFConnection ro:Primary/Unknown ds:UpToDate/DUnknown C r-----").unwrap().1);
        let (text, is_mended) = of("5: cs:StandAlone ro:Primary/Unknown ds:UpToDate/DUnknown   r-----").unwrap();
        assert!(!is_mended && text.contains("split brain"), "{text}");
    }
}
