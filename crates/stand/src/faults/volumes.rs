//! Redundant volumes of LVM: what brings back a part whose drive failed its I/Os for a while, and whether all legs are as they should be.
//! Reads the machine; must not change it.

use super::copies::of_lvm;
use super::lower_devices::{LowerDevices, mapping_name};
use super::missing_redundancy::MissingRedundancy;
use crate::change::Action;
use crate::command::printed;
use crate::lvm;

/// A group of LVM in which volumes are redundant.
#[derive(Debug)]
pub(super) struct RedundantGroup {
    name: String,
    /// Words of the command that tells how its volumes are.
    status: Vec<String>,
}

impl RedundantGroup {
    /// Those of them that the stand made.
    pub(super) fn of(lower: &LowerDevices) -> Vec<RedundantGroup> {
        let mut names: Vec<String> =
            lower.volumes().filter_map(|node| Some(of_lvm(&mapping_name(node).ok()?).0)).collect();
        names.sort();
        names.dedup();
        let asked = |options: &str, name: &str| {
            let line = ["lvs", "--all", "--noheadings", "--separator=:", "--options", options, name];
            lvm::words(&line, lower.lvm())
        };
        let is_redundant = |name: &String| printed(&asked("segtype", name)).is_ok_and(|told| has_redundancy(&told));
        let group = |name: String| RedundantGroup { status: asked("lv_health_status,sync_percent", &name), name };
        names.into_iter().filter(is_redundant).map(group).collect()
    }

    /// What it lacks.
    pub(super) fn missing(&self) -> Option<MissingRedundancy> {
        lacking(&self.name, printed(&self.status))
    }
}

/// What brings a drive that failed its I/Os for a while up to date again: the kernel takes a leg that it gave up back only with a table
/// that is loaded anew.
//= LVM 2.03, lvmraid(7): "Refreshing a RAID LV clears any transient device failures", which "will usually require partial synchronization"
pub(super) fn mend(lower: &LowerDevices) -> Vec<Action> {
    let refresh = |group: RedundantGroup| Action::Run(lvm::words(&["lvchange", "--refresh", &group.name], lower.lvm()));
    RedundantGroup::of(lower).into_iter().map(refresh).collect()
}

/// Whether volumes of these types have copies or parity. The parts of one are listed, too: a thin pool may lie on a mirror.
//= LVM 2.03, lvmraid(7): raid0 and raid0_meta have neither
fn has_redundancy(types: &str) -> bool {
    let is_redundant = |kind: &str| kind == "mirror" || (kind.starts_with("raid") && !kind.starts_with("raid0"));
    types.lines().any(|line| is_redundant(line.trim()))
}

/// What the volumes of a group lack, by what `lvs` prints of their health and synchronisation.
//= LVM 2.03, lvmraid(7): "refresh needed": "A device was temporarily missing but has returned."
fn lacking(group: &str, printed: std::result::Result<String, String>) -> Option<MissingRedundancy> {
    let Ok(printed) = printed else {
        return Some(MissingRedundancy { text: format!("lvs of {group} does not answer"), is_mended: false });
    };
    let volumes = || printed.lines().filter_map(|line| line.trim().split_once(':'));
    if let Some((health, _)) = volumes().find(|(health, _)| matches!(*health, "partial" | "refresh needed")) {
        return Some(MissingRedundancy { text: format!("{group} is {health}"), is_mended: false });
    }
    let done = lvm::least_synchronised(volumes().map(|(_, percent)| percent))?;
    (done < 100.0).then(|| MissingRedundancy { text: format!("synchronisation of {group}: {done} %"), is_mended: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_whole_when_no_leg_waits_to_be_taken_back_and_all_are_synchronised() {
        let missing =
            |printed: &str| lacking("vg", Ok(printed.to_string())).map(|missing| (missing.text, missing.is_mended));
        assert_eq!(missing("  :100.00\n  :\n  :\n"), None);
        assert_eq!(missing("  mismatches exist:100.00\n"), None, "of a check");
        let failed = Some(("vg is refresh needed".to_string(), false));
        assert_eq!(missing("  refresh needed:100.00\n  :\n  refresh needed:\n"), failed);
        assert_eq!(missing("  partial:100.00\n"), Some(("vg is partial".to_string(), false)));
        assert_eq!(missing("  :100.00\n  :41.50\n"), Some(("synchronisation of vg: 41.5 %".to_string(), true)));
        assert!(lacking("vg", Err("no such group".into())).is_some_and(|missing| !missing.is_mended));
    }

    #[test]
    fn stripes_and_plain_volumes_have_nothing_to_be_taken_back() {
        assert!(has_redundancy("  raid1\n  linear\n") && has_redundancy("  thin\n  thin-pool\n  raid5_ls\n"));
        assert!(!has_redundancy("  striped\n  linear\n") && !has_redundancy("  raid0_meta\n") && !has_redundancy(""));
    }
}
