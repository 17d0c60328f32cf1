//! Whether what a stand asks for fits on its drives, before anything is built. Pure, and generous: what layers need for themselves
//! is not counted, so that only what cannot be is refused.

use super::mappings::each_of_luns;
use std::collections::BTreeMap;
use stend_base::{Bytes, Lang, Say, format, say};
use stend_spec::stand::{Dm, Kind, Layer, Lvm, LvmType, Md, MdLevel, Ref, Stand, Zfs, ZfsLayout, ZfsProduct};

/// The most that a device can hold; `None`: not known, or a directory.
type Room = Option<u64>;

/// The first layer that asks for more than there can be on drives of this host of these sizes, in the order of the stand, with the
/// reason.
pub(crate) fn too_small<'a>(stand: &'a Stand, drives: &[Room]) -> Option<(&'a Layer, Say)> {
    // Those of other hosts are not known.
    let mut rooms: BTreeMap<&str, Vec<Room>> =
        stand.drives.iter().map(|drive| (drive.name.as_str(), vec![None])).collect();
    rooms.extend(stand.drives_here().zip(drives).map(|(drive, size)| (drive.name.as_str(), vec![*size])));
    for layer in &stand.layers {
        let below: Vec<Room> = stand.below_here(layer).flat_map(|of| referred(&rooms, of)).collect();
        match above(&layer.kind, &below) {
            Ok(made) => rooms.insert(&layer.name, made),
            Err(why) => return Some((layer, why)),
        };
    }
    None
}

fn referred(rooms: &BTreeMap<&str, Vec<Room>>, of: &Ref) -> Vec<Room> {
    let all = rooms.get(of.name.as_str()).cloned().unwrap_or_default();
    match of.part {
        Some(part) => vec![all.get((part as usize).saturating_sub(1)).copied().flatten()],
        None => all,
    }
}

/// What a layer makes of so much room on each device.
fn above(kind: &Kind, below: &[Room]) -> Result<Vec<Room>, Say> {
    Ok(match kind {
        Kind::Loop(files) => vec![Some(files.size.0); files.count as usize],
        Kind::Zram(zram) => vec![Some(zram.size.0); zram.count as usize],
        Kind::Partition { count } => below
            .iter()
            .flat_map(|room| vec![room.map(|room| room / u64::from(*count).max(1)); *count as usize])
            .collect(),
        Kind::Md(md) => vec![array(md, below)?],
        Kind::Lvm(lvm) => vec![volume(lvm, below)?],
        Kind::Zfs(zfs) => vec![pool(zfs, below)?],
        Kind::Luns { count } => {
            vec![below.first().copied().flatten().map(|room| each_of_luns(room, *count)); *count as usize]
        }
        Kind::Dm(Dm::LogWrites { .. }) => vec![logged(below)?],
        Kind::Dm(Dm::WriteCache { .. }) => below.first().copied().into_iter().collect(),
        Kind::Dm(_) | Kind::NvmeOf(_) | Kind::Iscsi(_) | Kind::Nbd | Kind::Sectors { .. } | Kind::Multipath(_) => {
            below.to_vec()
        }
        Kind::Nfs(_) | Kind::Existing { .. } | Kind::Btrfs(_) | Kind::Fs(_) => vec![None],
        Kind::Ceph(_) => vec![osds(below)?],
        // What the other host has is not known; behind the device with the data comes one for metadata alone.
        Kind::Drbd(_) => vec![below.first().copied().flatten()],
        Kind::Settings(_) => Vec::new(),
    })
}

/// The smallest device that an OSD is made on: the smallest that `make cluster` tries. An empty one takes 290 MiB of it (Ceph 16.2).
const OSD_LEAST: u64 = 1 << 30;

/// A directory over OSDs.
fn osds(below: &[Room]) -> Result<Room, Say> {
    match below.iter().flatten().min() {
        Some(least) if *least < OSD_LEAST => Err(no_osd(*least)),
        _ => Ok(None),
    }
}

fn no_osd(size: u64) -> Say {
    let shown = |lang: Lang| [OSD_LEAST, size].map(|bytes| format::bytes(Bytes(bytes), lang));
    let ([least, has], [least_ru, has_ru]) = (shown(Lang::En), shown(Lang::Ru));
    say!(
        "an OSD needs a device of {least} or more, and the smallest below has {has}",
        "для OSD нужно устройство от {least_ru}, а наименьшее здесь — {has_ru}"
    )
}

fn array(md: &Md, below: &[Room]) -> Result<Room, Say> {
    let in_use = below.len().saturating_sub(usize::from(md.journal) + md.spares as usize);
    let Some(members) = below[..in_use].iter().copied().collect::<Option<Vec<u64>>>() else { return Ok(None) };
    let least = members.iter().copied().min().unwrap_or(0);
    if let Some(size) = md.member_size.filter(|size| size.0 > least) {
        return Err(lacks("a member", "элемент массива", size.0, least));
    }
    let (each, count) = (md.member_size.map_or(least, |size| size.0), members.len() as u64);
    Ok(Some(match md.level {
        MdLevel::Raid0 if md.member_size.is_none() => total(&members),
        MdLevel::Raid0 => each.saturating_mul(count),
        MdLevel::Raid1 => each,
        MdLevel::Raid10 => each.saturating_mul(count) / 2,
        MdLevel::Raid5 => each.saturating_mul(count.saturating_sub(1)),
        MdLevel::Raid6 => each.saturating_mul(count.saturating_sub(2)),
    }))
}

/// Room for a volume, of what its devices have in all: LVM need not take the same of each.
fn volume(lvm: &Lvm, below: &[Room]) -> Result<Room, Say> {
    let Some(devices) = below.iter().copied().collect::<Option<Vec<u64>>>() else { return Ok(None) };
    let fast = usize::from(lvm.kind.is_cached()).min(devices.len());
    let (slow, fast) = devices.split_at(devices.len() - fast);
    let (all, count) = (total(slow), slow.len().max(1) as u64);
    let most = match lvm.layout() {
        LvmType::Raid1 => all / count,
        LvmType::Raid10 => all / 2,
        LvmType::Raid5 => all / count * count.saturating_sub(1),
        LvmType::Raid6 => all / count * count.saturating_sub(2),
        _ => all,
    };
    if let Some(size) = lvm.size.filter(|size| size.0 > most) {
        return Err(lacks("the volume", "том", size.0, most));
    }
    if let (Some(size), [fast]) = (lvm.cache_size, fast)
        && size.0 > *fast
    {
        return Err(lacks("the cache", "кэш", size.0, *fast));
    }
    // A pool shows a size of its own; of VDO without one it is not known how much.
    Ok(match lvm.kind.is_in_pool() {
        true => lvm.virtual_size.map(|size| size.0),
        false => Some(lvm.size.map_or(most, |size| size.0)),
    })
}

/// The first device, of which the second keeps a log: even writing it once over would not fit in a smaller one.
fn logged(below: &[Room]) -> Result<Room, Say> {
    let (data, log) = (below.first().copied().flatten(), below.get(1).copied().flatten());
    match (data, log) {
        (Some(data), Some(log)) if log < data => Err(lacks("a log of all writes", "журнал всех записей", data, log)),
        _ => Ok(data),
    }
}

fn pool(zfs: &Zfs, below: &[Room]) -> Result<Room, Say> {
    let data = zfs.data(below.len());
    let Some(devices) = below[..data].iter().copied().collect::<Option<Vec<u64>>>() else { return Ok(None) };
    let parity = match zfs.layout {
        ZfsLayout::Stripe | ZfsLayout::Mirror => 0,
        ZfsLayout::Raidz1 => 1,
        ZfsLayout::Raidz2 => 2,
        ZfsLayout::Raidz3 => 3,
    };
    let group = |group: &[u64]| {
        let copies = if zfs.layout == ZfsLayout::Mirror { 1 } else { group.len() as u64 };
        group.iter().min().unwrap_or(&0).saturating_mul(copies.saturating_sub(parity))
    };
    let most = devices.chunks(zfs.width(data).max(1)).map(group).fold(0, u64::saturating_add);
    match &zfs.product {
        ZfsProduct::Volume { size, sparse: false } if size.0 > most => Err(lacks("the volume", "том", size.0, most)),
        ZfsProduct::Volume { size, .. } => Ok(Some(size.0)),
        ZfsProduct::Dataset => Ok(None),
    }
}

fn total(rooms: &[u64]) -> u64 {
    rooms.iter().fold(0, |sum, room| sum.saturating_add(*room))
}

fn lacks(en: &str, ru: &str, asked: u64, most: u64) -> Say {
    let shown = |bytes: u64| [Lang::En, Lang::Ru].map(|lang| format::bytes(Bytes(bytes), lang));
    let ([asked_en, asked_ru], [most_en, most_ru]) = (shown(asked), shown(most));
    say!(
        "{en} of {asked_en} does not fit: the devices below have room for {most_en} at most",
        "{ru} на {asked_ru} не поместится: на устройствах ниже места не больше {most_ru}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of a stand with four drives of 100 MiB, the last of 60 MiB.
    fn told(layers: &str) -> Option<String> {
        let text = format!("stand: x\ndrives: [{{id: D1}}, {{id: D2}}, {{id: D3}}, {{id: D4}}]\nlayers:\n{layers}\n");
        let stand = stend_spec::parse::stand(&text, "s.yaml").unwrap();
        let found = too_small(&stand, &[100, 100, 100, 60].map(|size| Some(size << 20)));
        found.map(|(layer, why)| format!("{}: {}", layer.line, why.en))
    }

    fn lacks(layers: &str, what: &str, most: &str) {
        let said = told(layers).unwrap_or_else(|| panic!("{layers} fits"));
        assert!(said.contains(what) && said.contains(&format!("room for {most} at most")), "{layers}: {said}");
    }

    #[test]
    fn what_asks_for_more_than_there_is_on_the_drives_is_told() {
        lacks("- md: {level: 5, member_size: 61MiB}", "a member of 61 MiB", "60 MiB");
        lacks("- lvm: {type: linear, size: 361MiB}", "the volume of 361 MiB", "360 MiB");
        lacks("- lvm: {type: raid5, size: 300MiB}", "the volume of 300 MiB", "270 MiB");
        lacks("- lvm: {type: cache, cache_size: 64MiB}", "the cache of 64 MiB", "60 MiB");
        lacks("- zfs: {layout: raidz1, volume: 200MiB}", "the volume of 200 MiB", "180 MiB");
        lacks("- zfs: {layout: mirror, volume: 161MiB}", "the volume of 161 MiB", "160 MiB");
        lacks("- md: {level: 10}\n- lvm: {type: linear, size: 128MiB}", "the volume of 128 MiB", "120 MiB");
        let log = "- {on: [d2, d3], md: {level: 0}}\n- {on: [d1, d4], dm: {log_writes: {}}}";
        lacks(log, "a log of all writes of 100 MiB", "60 MiB");
        lacks("- partition: {count: 2}\n- md: {level: 0, member_size: 40MiB}", "a member of 40 MiB", "30 MiB");
        let small = told("- ceph: {replicated: {size: 3}}").unwrap_or_default();
        assert_eq!(small, "4: an OSD needs a device of 1 GiB or more, and the smallest below has 60 MiB");
    }

    #[test]
    fn a_cache_of_writes_adds_no_room() {
        lacks(
            "- {dm: {writecache: {}}, on: [d1, d2]}\n- {md: {level: 0, member_size: 101MiB}, on: [dm, d3, d4]}",
            "a member of 101 MiB",
            "60 MiB",
        );
        lacks(
            "- {dm: {writecache: {}}, on: [d4, d1]}\n- {lvm: {type: linear, size: 64MiB}, on: [dm]}\n- {md: {level: 1}, on: [d2, d3]}",
            "the volume of 64 MiB",
            "60 MiB",
        );
    }

    #[test]
    fn a_mirror_has_the_room_of_the_device_with_the_data() {
        let of = |drbd: &str, size: &str| {
            let text = format!(
                "stand: x\nhosts: {{a: 10.0.0.1, b: 10.0.0.2}}\ndrives: [{{id: A1, name: a1, host: a}}, \
                 {{id: B1, name: b1, host: b}}, {{id: A2, name: a2, host: a}}, {{id: B2, name: b2, host: b}}]\n\
                 layers:\n- {{drbd: {{protocol: C{drbd}, to: a}}\n- lvm: {{type: linear, size: {size}}}\n"
            );
            let stand = stend_spec::parse::stand(&text, "s.yaml").unwrap().on(Some("a"));
            too_small(&stand, &[100, 1].map(|size| Some(size << 20))).map(|(_, why)| why.en)
        };
        let external = ", metadata: external}, on: [a1, b1, a2, b2]";
        assert_eq!(of(external, "64MiB"), None, "only metadata lie on the small one");
        let why = of(external, "128MiB").unwrap_or_default().replace('\u{a0}', " ");
        assert!(why.contains("room for 100 MiB at most"), "{why}");
        assert!(of(", metadata: external}, on: [a2, b2, a1, b1]", "64MiB").is_some(), "the data lie on it");
    }

    #[test]
    fn what_fits_or_cannot_be_known_is_not_refused() {
        for layers in [
            "- md: {level: 5, member_size: 60MiB}",
            "- md: {level: 0}\n- lvm: {type: linear, size: 356MiB}",
            "- lvm: {type: thin, size: 300MiB, virtual_size: 10GiB}\n- luns: {count: 2}",
            "- zfs: {layout: stripe, volume: 1GiB, sparse: true}",
            "- md: {level: 6, member_size: 60MiB}\n- fs: {type: ext4}",
            "- {on: [d2, d3], md: {level: 0}}\n- {on: [d4, d1], dm: {log_writes: {}}}",
        ] {
            assert_eq!(told(layers), None, "{layers}");
        }
        let unknown = "stand: x\ndrives: [{id: D1}, {id: D2}]\nlayers: [{lvm: {type: raid1, size: 1GiB}}]\n";
        assert_eq!(too_small(&stend_spec::parse::stand(unknown, "s.yaml").unwrap(), &[None, Some(1)]), None);
    }
}
