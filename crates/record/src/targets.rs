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

/// The targets as the user named them.
pub fn names(targets: &[TargetFacts]) -> Vec<String> {
    targets.iter().map(|target| target.named.clone()).collect()
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
            named: named.into(),
            path: named.into(),
            kind: TargetKind::BlockDevice,
            identity: None,
            size: Bytes::gib(1),
            free: Bytes::gib(1),
            logical_block: Bytes(512),
            physical_block: Bytes(512),
            file_system: None,
            mount_options: None,
            devices: devices.iter().map(device).collect(),
            signatures: Vec::new(),
            access: WriteAccess::Refused(Vec::new()),
            busy: None,
        }
    }

    #[test]
    fn what_two_targets_stand_on_is_named_once() {
        let both = [on("/dev/dm-0", &["dm-0", "sda"]), on("/dev/dm-1", &["dm-1", "sda"])];
        let names: Vec<&str> = devices(&both).iter().map(|device| device.name.as_str()).collect();
        assert_eq!(names, ["dm-0", "sda", "dm-1"]);
        assert_eq!(in_line(&super::names(&both)), "/dev/dm-0, /dev/dm-1");
    }

    #[test]
    fn many_names_are_told_by_their_ends_and_number() {
        let names = |count: usize| (0..count).map(|i| format!("sd{i}")).collect::<Vec<_>>();
        assert_eq!([0, 1, 3].map(|n| in_line(&names(n))), ["", "sd0", "sd0, sd1, sd2"]);
        assert_eq!(in_line(&names(64)), "sd0 … sd63 (64)");
    }
}
