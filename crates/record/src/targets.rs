//! Several targets of one run, taken together: what they lie on, and what they are called. An empty list: nothing was
//! looked at yet.

use crate::facts::{Device, TargetFacts};

/// Most targets of a run: as many drives as large enclosures hold (by eye).
pub const TARGETS_MAX: usize = 64;

/// Every device under the targets once, those of the first target first; what several stand on is named once.
pub fn devices(targets: &[TargetFacts]) -> Vec<&Device> {
    let mut found: Vec<&Device> = Vec::new();
    for device in targets.iter().flat_map(|target| &target.devices) {
        if !found.iter().any(|known| known.name == device.name) {
            found.push(device);
        }
    }
    found
}

/// The lowest devices under all targets, each once; none if they are not visible under one of them.
pub fn drives(targets: &[TargetFacts]) -> Vec<&Device> {
    let mut found: Vec<&Device> = Vec::new();
    for drives in targets.iter().map(lowest) {
        if drives.is_empty() {
            return Vec::new();
        }
        let new = |drive: &&Device| !found.iter().any(|known| known.name == drive.name);
        let more: Vec<&Device> = drives.into_iter().filter(new).collect();
        found.extend(more);
    }
    found
}

/// What a calibration reads, and ceilings are of: the [`members`], and in the place of the paths to a drive what joins these.
pub fn calibrated(targets: &[TargetFacts]) -> Vec<&Device> {
    let at_work = |name: &str| devices_named(targets, name).any(|device| device.reserve != Some(true));
    let mut found = members(targets);
    for target in targets {
        let Some(joining) = joining(target) else { continue };
        let paths = disks(target);
        found.retain(|member| !paths.iter().any(|path| path.name == member.name));
        let new = |device: &&Device| !found.iter().any(|known| known.name == device.name) && at_work(&device.name);
        let more: Vec<&Device> = joining.into_iter().filter(new).collect();
        found.extend(more);
    }
    found
}

/// What joins the paths to the drives of a target, where every drive below it comes over several paths and each is joined: as many
/// mappings as there are drives, right above them. `None` anywhere else: which of them joins which paths is not known.
pub fn joining(target: &TargetFacts) -> Option<Vec<&Device>> {
    let joining: Vec<&Device> = target.devices.iter().filter(|device| device.joins_paths()).collect();
    let depth = joining.first()?.depth;
    let disks = disks(target);
    let times = |own: &str| disks.iter().filter(|disk| disk.identity.as_deref() == Some(own)).count();
    let told = disks.iter().all(|disk| {
        disk.depth == depth + 1 && disk.identity.as_deref().is_some_and(|own| own.starts_with("wwn:") && times(own) > 1)
    });
    let mut identities: Vec<&str> = disks.iter().filter_map(|disk| disk.identity.as_deref()).collect();
    identities.sort_unstable();
    identities.dedup();
    let alike = joining.iter().all(|device| device.depth == depth);
    (told && alike && identities.len() == joining.len()).then_some(joining)
}

fn disks(target: &TargetFacts) -> Vec<&Device> {
    target.devices.iter().filter(|device| device.kind == "disk").collect()
}

/// What the drives of the targets are: loop devices where there are any, because the file behind one is no member of anything; else the
/// lowest devices. Without what arrays have in reserve: no I/O goes there.
pub fn members(targets: &[TargetFacts]) -> Vec<&Device> {
    let loops: Vec<&Device> = devices(targets).into_iter().filter(|device| device.kind == "loop").collect();
    let mut found = if loops.is_empty() { drives(targets) } else { loops };
    // What is the reserve of one array may be at work in another.
    let at_work = |name: &str| devices_named(targets, name).any(|device| device.reserve != Some(true));
    found.retain(|device| at_work(&device.name));
    found
}

fn devices_named<'a>(targets: &'a [TargetFacts], name: &'a str) -> impl Iterator<Item = &'a Device> {
    targets.iter().flat_map(|target| &target.devices).filter(move |device| device.name == name)
}

/// The lowest devices that are visible: the disks, or whatever is deepest.
fn lowest(target: &TargetFacts) -> Vec<&Device> {
    let disks = disks(target);
    if !disks.is_empty() {
        return disks;
    }
    let depth = target.devices.iter().map(|d| d.depth).max();
    target.devices.iter().filter(|d| Some(d.depth) == depth).collect()
}

/// The targets as the user named them.
pub fn names(targets: &[TargetFacts]) -> Vec<String> {
    targets.iter().map(|target| target.named.clone()).collect()
}

/// Whether these are the names of the targets: as the user wrote them, or where they were found. An earlier version kept a path as it was
/// written, and from another directory, or made whole, it is another text.
pub fn are_named(targets: &[TargetFacts], given: &[String]) -> bool {
    let is = |(target, given): (&TargetFacts, &String)| *given == target.named || *given == target.path;
    targets.len() == given.len() && targets.iter().zip(given).all(is)
}

/// Names of targets in one line: all of up to three, else the first, the last and how many: `/dev/sda … /dev/sdf (6)`.
pub fn in_line(names: &[String]) -> String {
    match names {
        [first, _, _, .., last] => format!("{first} … {last} ({})", names.len()),
        _ => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{TargetKind, WriteAccess};
    use stend_base::Bytes;

    fn on(named: &str, devices: &[&str]) -> TargetFacts {
        let device = |name: &&str| Device { name: name.to_string(), ..Device::default() };
        TargetFacts {
            size: Bytes::gib(1),
            free: Bytes::gib(1),
            devices: devices.iter().map(device).collect(),
            ..TargetFacts::new(named, TargetKind::BlockDevice, WriteAccess::Refused(Vec::new()))
        }
    }

    #[test]
    fn targets_are_named_by_what_the_user_wrote_and_by_where_they_are() {
        let mut relative = on("./t", &["sda"]);
        relative.path = "/srv/t".into();
        let both = [relative, on("/dev/sdb", &["sdb"])];
        let is = |given: &[&str]| are_named(&both, &given.iter().map(|name| name.to_string()).collect::<Vec<_>>());
        assert!(is(&["./t", "/dev/sdb"]) && is(&["/srv/t", "/dev/sdb"]));
        assert!(!is(&["/srv/t"]) && !is(&["/dev/sdb", "./t"]) && !is(&["/home/t", "/dev/sdb"]));
    }

    #[test]
    fn what_two_targets_stand_on_is_named_once() {
        let both = [on("/dev/dm-0", &["dm-0", "sda"]), on("/dev/dm-1", &["dm-1", "sda"])];
        let names: Vec<&str> = devices(&both).iter().map(|device| device.name.as_str()).collect();
        assert_eq!(names, ["dm-0", "sda", "dm-1"]);
        assert_eq!(in_line(&super::names(&both)), "/dev/dm-0, /dev/dm-1");
    }

    #[test]
    fn drives_are_the_disks_below_or_whatever_is_deepest() {
        let device =
            |name: &str, kind: &str, depth| Device { name: name.into(), kind: kind.into(), depth, ..Device::default() };
        let stack = |devices: Vec<Device>| TargetFacts { devices, ..on("/t", &[]) };
        let array = stack(vec![
            device("md0", "md", 0),
            device("sda1", "partition", 1),
            device("sda", "disk", 2),
            device("sdb", "disk", 1),
        ]);
        let names = |targets: &[TargetFacts]| drives(targets).iter().map(|d| d.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&[array.clone(), array.clone()]), ["sda", "sdb"]);
        assert_eq!(names(&[stack(vec![device("dm-0", "dm", 0), device("zram0", "zram", 1)])]), ["zram0"]);
        assert_eq!(names(&[array.clone(), stack(Vec::new())]), Vec::<String>::new());
        let file = stack(vec![device("loop0", "loop", 0), device("sda1", "partition", 1), device("sda", "disk", 2)]);
        let members = |targets: &[TargetFacts]| members(targets).iter().map(|d| d.name.clone()).collect::<Vec<_>>();
        let file = [file];
        assert_eq!((names(&file), members(&file)), (vec!["sda".to_string()], vec!["loop0".to_string()]));
        assert_eq!(members(&[array]), ["sda", "sdb"]);
    }

    #[test]
    fn what_arrays_have_in_reserve_is_no_member_unless_another_array_works_with_it() {
        let device = |name: &str, kind: &str, reserve| Device {
            name: name.into(),
            kind: kind.into(),
            depth: u32::from(kind != "md"),
            reserve,
            ..Device::default()
        };
        let array = |name: &str, third| TargetFacts {
            devices: vec![
                device(name, "md", None),
                device("sda", "disk", Some(false)),
                device("sdb", "disk", Some(false)),
                device("sdc", "disk", third),
            ],
            ..on(name, &[])
        };
        let names = |targets: &[TargetFacts]| members(targets).iter().map(|d| d.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&[array("md0", Some(true))]), ["sda", "sdb"]);
        assert_eq!(names(&[array("md0", Some(false))]), ["sda", "sdb", "sdc"]);
        assert_eq!(names(&[array("md0", None)]), ["sda", "sdb", "sdc"], "an array that does not tell");
        assert_eq!(names(&[array("md0", Some(true)), array("md1", Some(false))]), ["sda", "sdb", "sdc"]);
        // It is still one of the drives below, whose faults count.
        assert_eq!(drives(&[array("md0", Some(true))]).len(), 3);
    }

    #[test]
    fn of_drives_over_several_paths_what_joins_these_is_read() {
        let device = |name: &str, kind: &str, depth, identity: &str| Device {
            name: name.into(),
            kind: kind.into(),
            depth,
            identity: Some(identity.into()),
            ..Device::default()
        };
        let over_paths = || {
            vec![
                device("md0", "md", 0, "md:1"),
                device("dm-0", "dm", 1, "dm:STEND-mpath-1"),
                device("dm-1", "dm", 1, "dm:mpath-3500"),
                device("sda", "disk", 2, "wwn:1"),
                device("sdb", "disk", 2, "wwn:1"),
                device("sdc", "disk", 2, "wwn:2"),
                device("sdd", "disk", 2, "wwn:2"),
            ]
        };
        let names = |change: &dyn Fn(&mut Vec<Device>)| {
            let mut devices = over_paths();
            change(&mut devices);
            let target = TargetFacts { devices, ..on("md0", &[]) };
            calibrated(&[target]).iter().map(|d| d.name.clone()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names(&|_| {}), "dm-0 dm-1");
        assert_eq!(names(&|all| all[2].reserve = Some(true)), "dm-0");
        let not_told = "sda sdb sdc sdd";
        assert_eq!(names(&|all| all[6].identity = Some("wwn:3".into())), not_told, "a path alone");
        assert_eq!(names(&|all| all[6].identity = Some("serial:2".into())), not_told, "no world-wide name");
        assert_eq!(names(&|all| all[2].identity = Some("dm:LVM-x".into())), not_told, "one of them is not joined");
        assert_eq!(names(&|all| all.push(device("sde", "disk", 1, "wwn:5"))), "sda sdb sdc sdd sde");
    }

    #[test]
    fn many_names_are_told_by_their_ends_and_number() {
        let names = |count: usize| (0..count).map(|i| format!("sd{i}")).collect::<Vec<_>>();
        assert_eq!([0, 1, 3].map(|n| in_line(&names(n))), ["", "sd0", "sd0, sd1, sd2"]);
        assert_eq!(in_line(&names(64)), "sd0 … sd63 (64)");
    }
}
