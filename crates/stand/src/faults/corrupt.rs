//! Bytes of one drive that change behind the back of what has copies of them, and how the right ones are put back. Only drives that are
//! members of what the stand of the run made. Reads the machine; must not change it.

use super::lower_devices::{LowerDevices, too_few};
use super::md::must_stand_a_loss;
use super::pools;
use crate::arrays::syncing;
use crate::change::{Action, Change};
use crate::command::words;
use crate::node::Node;
use crate::roots::{names, number};
use stend_base::{Bytes, Lang, Say, format, say};
use stend_spec::fault::Which;

type Found<T> = std::result::Result<T, Say>;

/// Before it lie two labels of ZFS and its room for a boot loader, at the end two more labels.
//= OpenZFS, ZFS On-Disk Specification: labels of 256 KiB, two at each end; VDEV_LABEL_START_SIZE is 4 MiB
const ZFS_HEAD: u64 = 4 << 20;
const ZFS_TAIL: u64 = 512 << 10;
/// Before it lie the superblock of btrfs and room for a boot loader, and other superblocks farther on.
//= btrfs-progs, btrfs(5): superblocks at 64 KiB, 64 MiB and 256 GiB; the first MiB is never allocated
const BTRFS_HEAD: u64 = 1 << 20;
const BTRFS_COPIES: [u64; 2] = [64 << 20, 256 << 30];
/// A copy of the superblock, and some room to stay clear of it.
const BTRFS_COPY: u64 = 64 << 10;
/// What is changed begins and ends with one of these.
const UNIT: u64 = 4096;

/// What is to be changed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Region {
    /// From the begin of where the drive keeps data; `None`: in the middle of it.
    pub from: Option<Bytes>,
    pub length: Bytes,
}

/// Where a drive keeps data, in bytes of the drive.
struct Area {
    start: u64,
    length: u64,
    /// What must not be touched in it: from here, so many bytes.
    spared: Vec<(u64, u64)>,
}

/// Some bytes of a member are overwritten.
pub(super) fn corrupt(lower: &LowerDevices, which: Which, region: Region, block: u32) -> Found<Change> {
    if lower.arrays().next().is_some() {
        return of_array(lower, which, region, block);
    }
    match (lower.pools().first(), lower.btrfs_members().into_iter().next()) {
        (Some(pool), _) => of_pool(lower, pool, which, region, block),
        (None, Some((at, members))) => of_btrfs(lower, &at, &members, which, region, block),
        (None, None) => Err(say!(
            "the stand of this run made no array of md, no pool of ZFS and no btrfs below the target",
            "стенд этого прогона не создал под объектом ни массива md, ни пула ZFS, ни btrfs"
        )),
    }
}

/// No layer of md knows which copy is right, so that the member is written anew from the others, as a new one would be.
fn of_array(lower: &LowerDevices, which: Which, region: Region, block: u32) -> Found<Change> {
    let array = lower.array()?;
    let name = &array.name;
    if !lower.is_made(array) {
        return Err(say!("{name} was not made by the stand of this run", "{name} создан не стендом этого прогона"));
    }
    must_stand_a_loss(array)?;
    if syncing(array).is_some() {
        return Err(say!("{name} is synchronising", "{name} синхронизируется"));
    }
    let members = lower.members(array);
    let member = *members.get(which.index(block, members.len())).ok_or_else(|| too_few(members.len()))?;
    let md = array.sysfs.join("md");
    let own = md.join(format!("dev-{}", member.name.replace('/', "!")));
    let told = number(own.join("offset")).zip(number(own.join("size")));
    // The first counts sectors, the other KiB.
    let area = told.map(|(offset, size)| Area { start: offset * 512, length: size * 1024, spared: Vec::new() });
    let area = area.ok_or_else(|| unknown(member))?;
    let rebuild = Action::Rebuild {
        array: lower.path(array),
        member: lower.path(member),
        degraded: md.join("degraded").display().to_string(),
    };
    Ok(Change::unseen(Say::same(&member.name), vec![overwrite(lower, member, area.find(region)?)], [rebuild]))
}

/// Sums tell which copy is right: all of it is read, and what is wrong is written anew.
fn of_pool(lower: &LowerDevices, pool: &str, which: Which, region: Region, block: u32) -> Found<Change> {
    pools::must_be_whole(lower, pool)?;
    let members = lower.pool_members(pool);
    let (member, device) = *members.get(which.index(block, members.len())).ok_or_else(|| too_few(members.len()))?;
    if !device.is_redundant() {
        return Err(say!(
            "{pool} is a stripe: overwritten data would be lost",
            "{pool} — полоса без избыточности: затёртое было бы потеряно"
        ));
    }
    let length = size(member)?.saturating_sub(ZFS_HEAD + ZFS_TAIL);
    let area = Area { start: ZFS_HEAD, length, spared: Vec::new() };
    let undo = pools::heal(pool);
    Ok(Change::unseen(Say::same(&member.name), vec![overwrite(lower, member, area.find(region)?)], undo))
}

fn of_btrfs(
    lower: &LowerDevices,
    at: &str,
    members: &[&Node],
    which: Which,
    region: Region,
    block: u32,
) -> Found<Change> {
    let member = *members.get(which.index(block, members.len())).ok_or_else(|| too_few(members.len()))?;
    if let Some(profile) = poor_profile(lower, member) {
        return Err(say!(
            "{at} keeps some of its data as `{profile}`: overwritten data would be lost",
            "{at} хранит часть данных как `{profile}`: затёртое было бы потеряно"
        ));
    }
    let spared = BTRFS_COPIES.map(|at| (at, BTRFS_COPY)).to_vec();
    let area = Area { start: BTRFS_HEAD, length: size(member)?.saturating_sub(BTRFS_HEAD), spared };
    let apply = vec![overwrite(lower, member, area.find(region)?)];
    Ok(Change::unseen(Say::same(&member.name), apply, pools::heal_btrfs(at)))
}

/// How a btrfs keeps something of which no other drive has a copy.
//= linux, Documentation/ABI/testing and fs/btrfs/sysfs.c: allocation/{data,metadata,system}/PROFILE
fn poor_profile(lower: &LowerDevices, member: &Node) -> Option<String> {
    let all = lower.roots().sys.join("fs/btrfs");
    let has_it = |id: &String| names(all.join(id).join("devices")).contains(&member.name);
    let Some(id) = names(&all).into_iter().find(has_it) else { return Some("?".to_string()) };
    let kinds = ["data", "metadata", "system"].map(|kind| all.join(&id).join("allocation").join(kind));
    let mut profiles = kinds.iter().flat_map(|kind| names(kind).into_iter().filter(|name| kind.join(name).is_dir()));
    profiles.find(|profile| !profile.starts_with("raid1") && !["raid5", "raid6"].contains(&profile.as_str()))
}

fn overwrite(lower: &LowerDevices, member: &Node, (start, length): (u64, u64)) -> Action {
    let mut dd = words(
        "dd if=/dev/urandom bs=1M iflag=fullblock,count_bytes oflag=direct,seek_bytes conv=notrunc,fsync status=none",
        &[],
    );
    dd.extend([format!("of={}", lower.path(member)), format!("seek={start}"), format!("count={length}")]);
    Action::Run(dd)
}

fn size(member: &Node) -> Found<u64> {
    // Sysfs counts sectors of 512 bytes, whatever those of the drive are.
    number(member.sysfs.join("size")).map(|sectors| sectors * 512).ok_or_else(|| unknown(member))
}

fn unknown(member: &Node) -> Say {
    let name = &member.name;
    say!("it is not known where {name} keeps its data", "неизвестно, где {name} хранит данные")
}

impl Area {
    /// The region in bytes of the drive: its begin and its length.
    fn find(&self, region: Region) -> Found<(u64, u64)> {
        let length = region.length.0;
        let middle = self.length.saturating_sub(length) / 2 / UNIT * UNIT;
        let mut from = region.from.map_or(middle, |from| from.0);
        let meets = |from: u64| {
            let start = self.start.saturating_add(from);
            self.spared.iter().find(|(at, size)| start < at + size && *at < start.saturating_add(length))
        };
        if let Some((at, size)) = meets(from)
            && region.from.is_none()
        {
            from = (at + size).saturating_sub(self.start);
        }
        if from.checked_add(length).is_none_or(|end| end > self.length) {
            let told = |lang| format::bytes(Bytes(self.length), lang);
            let (en, ru) = (told(Lang::En), told(Lang::Ru));
            return Err(say!(
                "the drive has room for {en} of data, and the range to overwrite ends beyond that",
                "на накопителе место для {ru} данных, а затираемая область выходит за них"
            ));
        }
        if meets(from).is_some() {
            return Err(say!(
                "a superblock lies in the range to overwrite: take another `from`, or a smaller `length`",
                "в затираемой области лежит суперблок: задайте другое `from` или меньшую `length`"
            ));
        }
        Ok((self.start + from, length))
    }
}

#[cfg(test)]
mod tests;
