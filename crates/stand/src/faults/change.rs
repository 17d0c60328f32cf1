//! The commands of each event, and of its undo. Reads the machine; must not change it.

use super::copies::{path_down, snapshot};
use super::corrupt::Region;
use super::lower_devices::{LowerDevices, mapping_name, too_few};
use super::md::{add, erase, give_up, must_stand_a_loss, remove};
use super::{clusters, corrupt, fill, links, mirrors, pools, processes, refused, replace, volumes};
use crate::change::{Action, Change, run};
use crate::command::{told, words};
use crate::roots::text;
use stend_base::{Nanos, Result, Say, say};
use stend_spec::fault::{Act, Which, cpu_switch, delayed, lossy};

/// The change that an event is here, in the trial of a block. What makes it names only what it is done to; what is done is added here.
pub(super) fn change(lower: &LowerDevices, act: &Act, block: u32) -> Result<Change> {
    let made = match act {
        Act::DriveFail(which) => fail(lower, *which, block),
        Act::DaemonKill(which) => clusters::kill(lower, *which, block),
        Act::DriveReplace(which) => replace::replace(lower, *which, block),
        Act::DriveSlow(which, by) => remap(lower, which.index(block, lower.count()), |table| slow(table, *by)),
        Act::DriveError(which) => error(lower, which.index(block, lower.count())),
        Act::DriveCorrupt { drive, from, length } => {
            corrupt::corrupt(lower, *drive, Region { from: *from, length: *length }, block)
        }
        Act::Scrub => scrub(lower),
        Act::Snapshot => snapshot(lower),
        Act::PathDown(number) => path_down(lower, *number),
        Act::PeerDown => mirrors::peer_down(lower),
        Act::CpuOffline(cpu) => offline(*cpu),
        Act::Fill(to) => fill::fill(lower, *to),
        Act::LinkDown(link) => links::down(lower, link),
        Act::LinkDelay(link, by) => links::shape(lower, link, &delayed(*by)),
        Act::LinkLoss(link, part) => links::shape(lower, link, &lossy(*part)),
        Act::ProcessKill { process, undo } => killed(lower, process, undo),
        Act::Command { command, undo } => {
            Ok(Change::unseen(nothing(), vec![Action::User(command.clone())], [Action::User(undo.clone())]))
        }
        // A caller that can cut the power does not ask the machine itself.
        Act::PowerCut => {
            Err(say!("Stend does not control the power of this machine", "Stend не управляет питанием этой машины"))
        }
        // The hypervisor does these, and no machine to itself.
        Act::VmSnapshot { .. } | Act::VmMove { .. } | Act::VmMigrate { .. } | Act::VmLimit { .. } => Err(say!(
            "only the hypervisor of a virtual machine can do that",
            "это может только гипервизор виртуальной машины"
        )),
    };
    let made = made.map_err(|why| refused(act, why))?;
    Ok(Change { what: named(act, &made.what.en), ..made })
}

/// What an event is, with the name of what it is done to.
fn named(act: &Act, of: &str) -> Say {
    let Say { en, ru } = act.say();
    match of {
        "" => Say { en, ru },
        of => say!("{en} ({of})", "{ru} ({of})"),
    }
}

/// The name of what is no device.
fn nothing() -> Say {
    Say::same("")
}

/// A member that fails comes back as a new drive: without its superblock, which also keeps udev from adding it again at once.
fn fail(lower: &LowerDevices, which: Which, block: u32) -> std::result::Result<Change, Say> {
    if lower.arrays().next().is_none() {
        return match lower.clusters() {
            [] => pools::fail(lower, which, block),
            _ => clusters::fail(lower, which, block),
        };
    }
    let array = lower.array()?;
    must_stand_a_loss(array)?;
    let members = lower.members(array);
    let member = *members.get(which.index(block, members.len())).ok_or_else(|| too_few(members.len()))?;
    let (array, path) = (lower.path(array), lower.path(member));
    let apply =
        vec![Action::Run(give_up(&array, &path)), Action::LetGo(remove(&array, &path)), Action::Run(erase(&path))];
    Ok(Change::unseen(Say::same(&member.name), apply, [Action::Run(add(&array, &path))]))
}

/// A drive whose I/Os all fail. A layer with copies gives it up, and takes it back only on command.
fn error(lower: &LowerDevices, index: usize) -> std::result::Result<Change, Say> {
    if !lower.clusters().is_empty() {
        // It would not come back by itself.
        return Err(say!(
            "an OSD of Ceph ends at the first error of its drive: take `drive.fail` or `daemon.kill`",
            "OSD в Ceph завершается при первой ошибке накопителя: возьмите `drive.fail` или `daemon.kill`"
        ));
    }
    if !lower.mirrored().is_empty() {
        // Nothing attaches it again, and its whole copy would be made anew.
        return Err(say!(
            "DRBD lets a device go at its first error: take `drive.slow` or `peer.down`",
            "DRBD отпускает устройство при первой ошибке: возьмите `drive.slow` или `peer.down`"
        ));
    }
    let mut change = remap(lower, index, |table| format!("0 {} error", table.sectors))?;
    if let (Some(array), Some(member)) = (lower.arrays().next(), lower.member(index)) {
        lower.array()?;
        let state = array.sysfs.join("md").join(format!("dev-{}", member.name.replace('/', "!"))).join("state");
        change.undo_by(Action::Readd {
            array: lower.path(array),
            member: lower.path(member),
            state: state.display().to_string(),
        });
    }
    let mends = pools::mend(lower).into_iter().chain(volumes::mend(lower));
    mends.for_each(|action| change.undo_by(action));
    Ok(change)
}

fn scrub(lower: &LowerDevices) -> std::result::Result<Change, Say> {
    if lower.arrays().next().is_none() {
        return pools::scrub(lower).ok_or_else(|| {
            say!(
                "there is no array of md below the target, and no pool of ZFS or btrfs that the stand of this run made",
                "под объектом нет ни массива md, ни пула ZFS или btrfs, созданных стендом этого прогона"
            )
        });
    }
    let array = lower.array()?;
    let path = array.sysfs.join("md/sync_action");
    if !path.exists() {
        let name = &array.name;
        return Err(say!("{name} has no redundancy to check", "в {name} нет избыточности, которую можно проверить"));
    }
    let path = path.display().to_string();
    let write = |value: &str| Action::Tell { path: path.clone(), value: value.to_string() };
    Ok(Change::unseen(Say::same(&array.name), vec![write("check")], [write("idle")]))
}

fn offline(cpu: u32) -> std::result::Result<Change, Say> {
    let path = cpu_switch(cpu);
    if text(&path).as_deref() != Some("1") {
        return Err(say!(
            "CPU {cpu} is not there, or cannot be taken offline",
            "процессора {cpu} нет, или его нельзя отключить"
        ));
    }
    let write = |value: &str| Action::Tell { path: path.clone(), value: value.to_string() };
    Ok(Change::unseen(nothing(), vec![write("0")], [write("1")]))
}

fn killed(lower: &LowerDevices, name: &str, undo: &[String]) -> std::result::Result<Change, Say> {
    processes::victims(lower.roots(), name)?;
    Ok(Change::unseen(nothing(), vec![Action::Kill(name.to_string())], [Action::User(undo.to_vec())]))
}

/// A table of one line that leads to one device.
struct Table {
    whole: String,
    sectors: String,
    device: String,
    offset: String,
}

/// A mapping with another table, and with its own again.
fn remap(lower: &LowerDevices, index: usize, other: impl Fn(&Table) -> String) -> std::result::Result<Change, Say> {
    let node = lower.mapping(index)?;
    let name = mapping_name(node)?;
    let table = table_of(&name)?;
    let load = |table: &str| {
        vec![
            run("dmsetup suspend --noflush --nolockfs", &[&name]),
            run("dmsetup load --table", &[table, &name]),
            run("dmsetup resume", &[&name]),
        ]
    };
    Ok(Change::unseen(Say::same(&node.name), load(&other(&table)), load(&table.whole)))
}

fn table_of(name: &str) -> std::result::Result<Table, Say> {
    let told = told(&words("dmsetup table", &[name]))?;
    parsed(&told).ok_or_else(|| {
        say!(
            "`{name}` is not one linear piece of a drive, nor a delay over one: `{told}`",
            "`{name}` — не линейный кусок накопителя и не задержка над ним: `{told}`"
        )
    })
}

//= linux, Documentation/admin-guide/device-mapper: "<start> <length> linear <device> <offset>", "… delay <device> <offset> <delay> [<write_device> …]"
fn parsed(told: &str) -> Option<Table> {
    let mut lines = told.lines();
    let (whole, None) = (lines.next()?.trim(), lines.next()) else { return None };
    let words: Vec<&str> = whole.split_whitespace().collect();
    match words[..] {
        ["0", sectors, "linear" | "delay", device, offset, ..] => Some(Table {
            whole: whole.to_string(),
            sectors: sectors.to_string(),
            device: device.to_string(),
            offset: offset.to_string(),
        }),
        _ => None,
    }
}

fn slow(table: &Table, by: Nanos) -> String {
    let Table { sectors, device, offset, .. } = table;
    format!("0 {sectors} delay {device} {offset} {}", by.0 / Nanos::millis(1).0)
}

#[cfg(test)]
mod tests;
