//! Snapshots of what a stand made, and ways to a disk that go: the commands, and what undoes them. Reads the machine; must not
//! change it.

use super::lower_devices::{LowerDevices, mapping_name};
use crate::change::{Action, Change, run};
use crate::command::{told, words};
use crate::exports;
use crate::lvm;
use crate::node::Node;
use stend_base::{Say, say};

/// Name of a snapshot in its group, pool or directory.
const SNAPSHOT: &str = "stend-event";

type Found<T> = std::result::Result<T, Say>;

/// A snapshot of each target.
pub(super) fn snapshot(lower: &LowerDevices) -> Found<Change> {
    let mut change = Change::unseen(Say::same(""), Vec::new(), []);
    for dataset in lower.datasets() {
        let name = format!("{dataset}@{SNAPSHOT}");
        change.apply.push(run("zfs snapshot", &[&name]));
        change.undo_by(Action::LetGo(words("zfs destroy", &[&name])));
    }
    for at in lower.btrfs() {
        let copy = format!("{at}/.{SNAPSHOT}");
        change.apply.push(run("btrfs --quiet subvolume snapshot -r", &[&at, &copy]));
        change.undo_by(run("btrfs --quiet subvolume delete", &[&copy]));
    }
    for node in lower.volumes() {
        let (group, volume) = of_lvm(&mapping_name(node)?);
        let mut create = lvm::words(&["lvcreate", "--yes", "--quiet", "--snapshot", "--name", SNAPSHOT], lower.lvm());
        if !is_thin(node)? {
            must_have_room(lower, &group)?;
            create.push("--extents=100%FREE".into());
        }
        create.push(format!("{group}/{volume}"));
        change.apply.push(Action::Run(create));
        let name = format!("{group}/{SNAPSHOT}");
        change.undo_by(Action::LetGo(lvm::words(&["lvremove", "--yes", "--quiet", &name], lower.lvm())));
    }
    match change.apply.is_empty() {
        false => Ok(change),
        true => Err(say!(
            "nothing that can have snapshots was made by the stand of this run: it needs a layer `lvm`, `zfs` or `btrfs`",
            "стенд этого прогона не создал ничего, с чего делают снимки: нужен слой `lvm`, `zfs` или `btrfs`"
        )),
    }
}

/// The device mapper doubles the `-` of a name: `stend--x--lvm-main` is `main` in `stend-x-lvm`.
pub(super) fn of_lvm(mapping: &str) -> (String, String) {
    let plain = mapping.replace("--", "\0");
    let (group, volume) = plain.split_once('-').unwrap_or((&plain, ""));
    (group.replace('\0', "-"), volume.replace('\0', "-"))
}

fn is_thin(node: &Node) -> Found<bool> {
    let table = told(&words("dmsetup table", &[&mapping_name(node)?]))?;
    Ok(table.split_whitespace().nth(2) == Some("thin"))
}

fn must_have_room(lower: &LowerDevices, group: &str) -> Found<()> {
    let free = told(&lvm::words(&["vgs", "--noheadings", "--options", "vg_free_count", group], lower.lvm()))?;
    if free.lines().any(|line| line.trim().parse::<u64>().is_ok_and(|extents| extents > 0)) {
        return Ok(());
    }
    Err(say!(
        "there is no room for a snapshot in {group}: give the volume a `size` that leaves some, or take `type: thin`",
        "в {group} нет места для снимка: задайте тому `size` с запасом или возьмите `type: thin`"
    ))
}

/// One way to each disk that is reached over several.
pub(super) fn path_down(lower: &LowerDevices, number: u32) -> Found<Change> {
    let mut change = Change::unseen(Say::same(""), Vec::new(), []);
    for node in lower.mappings() {
        let name = mapping_name(node)?;
        let table = told(&words("dmsetup table", &[&name]))?;
        let ways = ways(&table);
        let count = ways.len();
        if count < 2 {
            continue;
        }
        let way = ways
            .get(number as usize - 1)
            .ok_or_else(|| say!("there are only {count} paths to {name}", "путей к {name} только {count}"))?;
        let message = |word: &str| run("dmsetup message", &[&name, "0", word, way]);
        change.apply.push(message("fail_path"));
        change.undo_by(message("reinstate_path"));
        // Nobody else goes back to the paths of the first choice.
        if has_groups(&table) {
            change.undo_by(run("dmsetup message", &[&name, "0", "switch_group", "1"]));
        }
    }
    for subsystem in lower.subsystems() {
        let ways = exports::controllers(lower.roots(), &subsystem);
        let (count, way) = (ways.len(), ways.into_iter().nth(number as usize - 1));
        if count < 2 {
            continue;
        }
        let way = way
            .ok_or_else(|| say!("there are only {count} paths to {subsystem}", "путей к {subsystem} только {count}"))?;
        change.apply.push(run("nvme disconnect", &[&format!("--device={}", way.name)]));
        change.undo_by(Action::Run(way.connect(&subsystem)));
    }
    match change.apply.is_empty() {
        false => Ok(change),
        true => Err(say!(
            "the stand of this run made no device with several paths: it needs `multipath`, `iscsi: {{paths: 2}}` or `nvme_of: {{paths: 2, …}}`",
            "стенд этого прогона не создал устройства с несколькими путями: нужно `multipath`, `iscsi: {{paths: 2}}` или `nvme_of: {{paths: 2, …}}`"
        )),
    }
}

/// Devices in a table of `multipath`, in its order; none in other tables.
//= linux, drivers/md/dm-mpath.c, multipath_status(): "%s" of each path, which is major:minor
fn ways(table: &str) -> Vec<String> {
    let mut words = table.split_whitespace().skip(2);
    if words.next() != Some("multipath") {
        return Vec::new();
    }
    let number = |part: &str| part.parse::<u32>().is_ok();
    words.filter(|word| word.split_once(':').is_some_and(|(a, b)| number(a) && number(b))).map(str::to_string).collect()
}

/// Whether a table of `multipath` has its paths in several groups.
//= linux, drivers/md/dm-mpath.c, multipath_ctr(): features and arguments of a handler, each with their number before, then groups
fn has_groups(table: &str) -> bool {
    let words: Vec<&str> = table.split_whitespace().skip(3).collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<usize>().ok()).unwrap_or(0);
    let handler = 1 + number(0);
    number(handler + 1 + number(handler)) > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_tells_its_group_and_volume() {
        assert_eq!(of_lvm("stend--x--lvm-main"), ("stend-x-lvm".into(), "main".into()));
        assert_eq!(of_lvm("vg-a--b"), ("vg".into(), "a-b".into()));
    }

    #[test]
    fn ways_stand_in_the_order_of_the_table() {
        let table = "0 196608 multipath 0 0 1 1 round-robin 0 2 1 8:16 1 8:0 1";
        assert_eq!(ways(table), ["8:16", "8:0"]);
        let groups = "0 196608 multipath 2 queue_mode mq 1 alua 2 1 service-time 0 1 0 8:0 service-time 0 1 0 8:16";
        assert_eq!(ways(groups), ["8:0", "8:16"]);
        assert!(has_groups(groups) && !has_groups(table) && !has_groups("0 8 linear 8:16 0"));
        assert!(ways("0 8 linear 8:16 0").is_empty() && ways("").is_empty());
    }
}
