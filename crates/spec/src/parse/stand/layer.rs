//! What one layer is: exactly one kind, with its settings, checked against each other.

use super::super::arms::tunables;
use super::super::{Map, boolean, expected, text, whole, word};
use super::values::{contradiction, initial_sync, plain_words, power_of_two, size};
use crate::keys::Limits;
use crate::keys::machine::LOGICAL_BLOCK_SIZES;
use crate::keys::stand as keys;
use crate::stand::{Btrfs, Consistency, Fs, InitialSync, Kind, LoopFiles, Md, MdLevel, Profile, Zram};
use crate::yaml::Node;
use stend_base::{Result, say};

pub(super) fn kind(map: &mut Map, node: &Node) -> Result<Kind> {
    let all = [
        map.optional("loop", loop_files)?,
        map.optional("zram", zram)?,
        map.optional("partition", |node| Ok(Kind::Partition { count: count(node)? }))?,
        map.optional("md", md)?,
        map.optional("lvm", super::lvm::lvm)?,
        map.optional("dm", super::dm::dm)?,
        map.optional("luns", |node| Ok(Kind::Luns { count: count(node)? }))?,
        map.optional("nvme_of", super::exports::nvme_of)?,
        map.optional("iscsi", super::exports::iscsi)?,
        map.optional("nbd", super::exports::nbd)?,
        map.optional("nfs", super::exports::nfs)?,
        map.optional("existing", existing)?,
        map.optional("btrfs", btrfs)?,
        map.optional("zfs", super::zfs::zfs)?,
        map.optional("fs", fs)?,
        map.optional("ceph", super::ceph::ceph)?,
        map.optional("sectors", |node| word(node, LOGICAL_BLOCK_SIZES).map(|bytes| Kind::Sectors { bytes }))?,
        map.optional("multipath", super::exports::multipath)?,
        map.optional("drbd", super::drbd::drbd)?,
        map.optional("settings", |node| tunables(node).map(Kind::Settings))?,
    ];
    let mut named = all.into_iter().flatten();
    match (named.next(), named.next()) {
        (Some(one), None) => Ok(one),
        _ => Err(node
            .error(say!("a layer is exactly one kind", "у слоя ровно один вид"))
            .hint(say!("for example `- md: {{level: 5}}`", "например `- md: {{level: 5}}`"))),
    }
}

fn loop_files(node: &Node) -> Result<Kind> {
    let mut map = Map::of(node, &keys::LOOP)?;
    let directory = map.required("directory", directory)?;
    let found = LoopFiles {
        directory,
        size: map.required("size", size)?,
        count: map.optional("count", |node| whole(node, keys::COUNT))?.unwrap_or(1),
    };
    map.finish()?;
    Ok(Kind::Loop(found))
}

fn zram(node: &Node) -> Result<Kind> {
    let mut map = Map::of(node, &keys::ZRAM)?;
    let count = |node: &Node| whole(node, keys::COUNT);
    let found = Zram { size: map.required("size", size)?, count: map.optional("count", count)?.unwrap_or(1) };
    map.finish()?;
    Ok(Kind::Zram(found))
}

fn count(node: &Node) -> Result<u32> {
    let mut map = Map::of(node, &keys::PARTS)?;
    let count = map.required("count", |node| whole(node, keys::COUNT))?;
    map.finish()?;
    Ok(count)
}

fn md(node: &Node) -> Result<Kind> {
    let mut map = Map::of(node, &keys::MD)?;
    let level = map.required("level", |node| {
        let number = whole(node, Limits { least: 0, most: 10 })?;
        let found = keys::MD_LEVELS.iter().find(|(known, _)| *known == number);
        found.map(|(_, level)| *level).ok_or_else(|| expected(node, say!("0, 1, 10, 5 or 6", "0, 1, 10, 5 или 6")))
    })?;
    let found = Md {
        level,
        chunk: map.optional("chunk", |node| power_of_two(node, keys::CHUNK))?,
        consistency: map.optional("consistency", |node| word(node, keys::CONSISTENCIES))?,
        journal: map.optional("journal", boolean)?.unwrap_or(false),
        spares: map.optional("spares", |node| whole(node, keys::SPARES))?.unwrap_or(0),
        member_size: map.optional("member_size", size)?,
        initial_sync: initial_sync(&mut map)?,
    };
    map.finish()?;
    let parity = matches!(level, MdLevel::Raid5 | MdLevel::Raid6);
    let wrong = match () {
        () if level == MdLevel::Raid1 && found.chunk.is_some() => {
            say!("level 1 has no chunks", "у уровня 1 нет порций")
        }
        () if level == MdLevel::Raid0 && (found.consistency.is_some() || found.spares > 0) => say!(
            "level 0 has no redundancy: neither `consistency` nor `spares`",
            "у уровня 0 нет избыточности: ни `consistency`, ни `spares`"
        ),
        () if found.consistency == Some(Consistency::Ppl) && level != MdLevel::Raid5 => {
            say!("`ppl` is for level 5", "`ppl` бывает только у уровня 5")
        }
        () if found.journal && !parity => say!("a journal is for levels 5 and 6", "журнал бывает у уровней 5 и 6"),
        () if found.journal && found.consistency.is_some() => {
            say!("a journal is the `consistency` itself", "журнал сам и есть `consistency`")
        }
        // mdadm refuses to assume members that agree where it has to write a journal first.
        () if found.journal && found.initial_sync == InitialSync::Skip => {
            say!(
                "with a journal the first synchronisation cannot be left out",
                "с журналом первую синхронизацию пропустить нельзя"
            )
        }
        () => return Ok(Kind::Md(found)),
    };
    contradiction(node, wrong)
}

/// A path that means the same wherever it is read.
fn directory(node: &Node) -> Result<String> {
    let path = text(node)?;
    let plain = path.starts_with('/') && !path.split('/').any(|part| part == "..");
    match plain && !path.chars().any(char::is_control) {
        true => Ok(path),
        false => Err(expected(node, say!("a path from the root", "путь от корня"))),
    }
}

fn existing(node: &Node) -> Result<Kind> {
    let mut map = Map::of(node, &keys::EXISTING)?;
    let directory = map.required("directory", directory)?;
    map.finish()?;
    Ok(Kind::Existing { directory })
}

fn btrfs(node: &Node) -> Result<Kind> {
    let mut map = Map::of(node, &keys::BTRFS)?;
    let profile = |node: &Node| word(node, keys::PROFILES);
    let data = map.optional("data", profile)?.unwrap_or(Profile::Single);
    let like_data = if data == Profile::Single { Profile::Dup } else { data };
    let found = Btrfs {
        data,
        metadata: map.optional("metadata", profile)?.unwrap_or(like_data),
        options: map.optional("options", plain_words)?.unwrap_or_default(),
    };
    map.finish()?;
    Ok(Kind::Btrfs(found))
}

fn fs(node: &Node) -> Result<Kind> {
    let mut map = Map::of(node, &keys::FS)?;
    let found = Fs {
        kind: map.required("type", |node| word(node, keys::FILE_SYSTEMS))?,
        make: map.optional("make", plain_words)?.unwrap_or_default(),
        options: map.optional("options", plain_words)?.unwrap_or_default(),
    };
    map.finish()?;
    Ok(Kind::Fs(found))
}
