//! Several paths to a disk as one device: of drives that arrive so, and of what a stand itself takes in over several sessions.
//!
//! Source: the tree of Linux 6.12, drivers/md/dm-mpath.c, drivers/scsi/scsi_sysfs.c (`dh_state`, `access_state`),
//! Documentation/admin-guide/device-mapper/dm-queue-length.rst.

use super::super::product::Product;
use super::{LowerDevice, Made, StepContext, sectors};
use crate::change::{Action, Change, Condition, run};
use stend_base::say;
use stend_record::STAND_PATHS;
use stend_spec::stand::{Multipath, PathPolicy};

/// States of a path in the order in which they are taken. Over those of the last two no I/O goes until the drive changes its mind.
//= linux, drivers/scsi/scsi_sysfs.c, sdev_access_states
const STATES: [&str; 5] = ["active/optimized", "active/non-optimized", "lba-dependent", "transitioning", "standby"];

/// Paths to one disk.
pub(super) struct Paths {
    /// In the order in which they are taken: a group when those before have no path left.
    pub groups: Vec<Vec<String>>,
    /// What of the kernel asks each path how near it is.
    pub handler: Option<String>,
    /// How one of a group is chosen.
    pub policy: PathPolicy,
}

/// Each drive with all its paths, which follow each other in what the layer lies on.
pub(super) fn drives(context: &StepContext, Multipath { paths, policy }: Multipath) -> Made {
    let mut made = Made::default();
    for (index, ways) in context.below.chunks(paths.max(1) as usize).enumerate() {
        let name = format!("{}-{}", context.name(), index + 1);
        let (handler, groups) = by_nearness(context, ways);
        let joined = joined(&name, &context.uuid(index), &Paths { groups, handler, policy }, ways[0].size);
        made.steps.push(Change { erases: ways.iter().map(|way| way.path.clone()).collect(), ..joined });
        made.products.push(Product::Mapping(name));
    }
    made
}

/// The handler of a drive, and its paths by how near it says to be over them.
fn by_nearness(context: &StepContext, ways: &[LowerDevice]) -> (Option<String>, Vec<Vec<String>>) {
    let mut handler = None;
    let mut groups: Vec<(usize, Vec<String>)> = Vec::new();
    for way in ways {
        // A path that tells nothing is as good as any.
        let (asked, state) = (context.access_state)(&way.path).unzip();
        let rank = state.map_or(0, |state| STATES.iter().position(|known| *known == state).unwrap_or(STATES.len()));
        handler = handler.or(asked);
        match groups.iter_mut().find(|(known, _)| *known == rank) {
            Some((_, paths)) => paths.push(way.path.clone()),
            None => groups.push((rank, vec![way.path.clone()])),
        }
    }
    groups.sort_by_key(|(rank, _)| *rank);
    (handler, groups.into_iter().map(|(_, paths)| paths).collect())
}

/// A mapping over all paths to a disk, among which each I/O is given one. No daemon watches it: what fails stays failed until it is
/// reinstated.
pub(super) fn joined(name: &str, uuid: &str, paths: &Paths, size: Option<u64>) -> Change {
    // Not `mpath-`, by which LVM would know it for what it is: a rule of udev (multipath-tools 0.11) has `multipath -U` look at those, which
    // failed every path of one that multipathd had not made.
    let uuid = format!("{STAND_PATHS}{uuid}");
    let (policy, count) = (paths.policy.word(), paths.groups.iter().map(Vec::len).sum::<usize>());
    let group = |paths: &Vec<String>| format!("{policy} 0 {} 0 {}", paths.len(), paths.join(" "));
    let groups: Vec<String> = paths.groups.iter().map(group).collect();
    let handler = paths.handler.as_ref().map_or("0".to_string(), |handler| format!("1 {handler}"));
    let table = format!("0 {} multipath 0 {handler} {} 1 {}", sectors(size), groups.len(), groups.join(" "));
    let there = Condition::Mapping { name: name.to_string(), uuid: uuid.clone() };
    let create = run("dmsetup create", &[name, "--uuid", uuid.as_str(), "--table", table.as_str()]);
    // It stays, as modules do. Others come with the drive that has them.
    let module = (paths.handler.as_deref() == Some("alua")).then_some(Action::Module("scsi_dh_alua".into()));
    Change {
        apply: module.into_iter().chain([create]).collect(),
        undo: vec![(there.clone(), run("dmsetup remove --retry", &[name]))],
        ..Change::new(say!("join {count} paths to {name}", "свести пути в {name}: {count}"), there)
    }
}
