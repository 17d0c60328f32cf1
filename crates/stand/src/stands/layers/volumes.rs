//! Logical volumes: physical volumes, a group of its own, one volume, perhaps with a cache or snapshots.
//!
//! Source: lvcreate(8), lvmraid(7), lvmthin(7), lvmvdo(7), lvmcache(7) of LVM 2.03.

use super::super::product::Product;
use super::{Made, StepContext, over};
use crate::change::{Action, Change, Condition, Volume, Wait, run};
use stend_base::{Bytes, say};
use stend_spec::stand::{Allocation, InitialSync, Lvm, LvmType};

/// Name of the volume in its group.
const VOLUME: &str = "main";
/// Name of the pool of a thin or VDO volume.
const POOL: &str = "pool";
/// Name of what is on the fast device, before it becomes a part of the volume.
const FAST: &str = "fast";

pub(super) fn volume(context: &StepContext, lvm: &Lvm) -> Made {
    let group = context.name();
    let mut steps: Vec<Change> =
        context.paths().enumerate().map(|(index, device)| physical(context, index, device)).collect();
    let there = Condition::Group { name: group.clone(), tag: context.names.tag() };
    let create = ["vgcreate", "--yes", "--addtag", &context.names.tag(), &group].map(String::from);
    steps.push(Change {
        what: say!("make the volume group {group}", "создать группу томов {group}"),
        erases: Vec::new(),
        done: there.clone(),
        apply: vec![Action::Run(create.into_iter().chain(context.erases()).collect())],
        undo: vec![(there, run("vgremove --yes", &[group.as_str()]))],
        wait: None,
    });
    let named = |name: &str| Volume { group: group.clone(), tag: context.names.tag(), mapping: mapping(&group, name) };
    let volume = named(VOLUME);
    steps.push(Change {
        // After a restart of the machine nobody may have done that.
        what: say!("activate what is in {group}", "активировать то, что есть в {group}"),
        erases: Vec::new(),
        done: Condition::NothingInactive(volume),
        apply: vec![run("vgchange --yes --activate y", &[group.as_str()])],
        undo: Vec::new(),
        wait: None,
    });
    match lvm.kind {
        LvmType::Vdo => steps.extend(compressed(context, lvm, named(VOLUME))),
        _ => steps.push(main(context, lvm, named(VOLUME))),
    }
    steps.extend(lvm.kind.is_cached().then(|| cache(context, lvm, named(VOLUME))));
    steps.extend((1..=lvm.snapshots).map(|number| snapshot(lvm, named(&format!("snap{number}")), number)));
    for action in
        steps.iter_mut().flat_map(|step| step.apply.iter_mut().chain(step.undo.iter_mut().map(|(_, action)| action)))
    {
        tell_what_to_see(context, action);
    }
    Made { steps, products: vec![Product::Mapping(mapping(&group, VOLUME))] }
}

/// LVM is to take no path to a drive for a copy of it.
fn tell_what_to_see(context: &StepContext, action: &mut Action) {
    if let Action::Run(words) = action
        && context.over_paths
    {
        words.insert(1, crate::lvm::only(context.paths().map(String::from)));
    }
}

/// What lets a group go without anything in it being lost; also one of which only a part could be activated.
pub(super) fn deactivate(context: &StepContext) -> (Condition, Action) {
    let group = context.name();
    let mut action = run("vgchange --yes --activate n", &[group.as_str()]);
    tell_what_to_see(context, &mut action);
    (Condition::GroupActive(group), action)
}

/// The device mapper doubles the `-` of a name that it takes apart at a `-`.
fn mapping(group: &str, name: &str) -> String {
    format!("{}-{name}", group.replace('-', "--"))
}

fn main(context: &StepContext, lvm: &Lvm, volume: Volume) -> Change {
    let group = volume.group.clone();
    let mapped = Condition::Volume(volume.clone());
    // The pool, the cache and the snapshots go with the volume: they are all that is in the group.
    let remove = run("lvremove --yes", &[group.as_str()]);
    Change {
        what: over(
            context.count(),
            &format!("make the volume {group}/{VOLUME}"),
            &format!("создать том {group}/{VOLUME}"),
        ),
        erases: Vec::new(),
        done: mapped.clone(),
        apply: vec![Action::Run(create_volume(context, lvm, &group))],
        undo: vec![(mapped, remove)],
        wait: first_sync(lvm, &group),
    }
}

fn first_sync(lvm: &Lvm, group: &str) -> Option<Wait> {
    let wait = lvm.layout().is_redundant() && lvm.initial_sync == InitialSync::Wait;
    wait.then(|| Wait::Volume(group.to_string()))
}

/// A volume that becomes the pool of another one, which compresses.
fn compressed(context: &StepContext, lvm: &Lvm, volume: Volume) -> [Change; 2] {
    let group = volume.group.clone();
    let pool = Condition::LogicalVolume { group: group.clone(), tag: volume.tag.clone(), name: POOL.into() };
    let remove = run("lvremove --yes", &[group.as_str()]);
    let yes = |on: bool| if on { "y" } else { "n" };
    let mut convert: Vec<String> = ["lvconvert", "--yes", "--type=vdo-pool"].map(String::from).to_vec();
    convert.push(format!("--name={VOLUME}"));
    convert.extend(lvm.virtual_size.map(|size| format!("--virtualsize={}m", size.0 >> 20)));
    convert.push(format!("--compression={}", yes(lvm.compression)));
    convert.push(format!("--deduplication={}", yes(lvm.deduplication)));
    // Slabs of 128 MiB: the default of 2 GiB would take small drives whole.
    convert.extend(["--config=allocation/vdo_slab_size_mb=128".into(), format!("{group}/{POOL}")]);
    let below = Change {
        what: over(context.count(), &format!("make {group}/{POOL}"), &format!("создать {group}/{POOL}")),
        erases: Vec::new(),
        done: pool.clone(),
        apply: vec![Action::Run(create_volume(context, lvm, &group))],
        undo: vec![(pool, remove)],
        wait: first_sync(lvm, &group),
    };
    let above = Change {
        what: say!(
            "make {group}/{POOL} the pool of the volume {group}/{VOLUME}",
            "сделать {group}/{POOL} пулом тома {group}/{VOLUME}"
        ),
        erases: Vec::new(),
        done: Condition::Volume(volume),
        apply: vec![Action::Run(convert)],
        // What is below takes it away, too.
        undo: Vec::new(),
        wait: None,
    };
    [below, above]
}

/// A volume on the last device alone becomes the cache of the one that is there. It goes with that.
fn cache(context: &StepContext, lvm: &Lvm, volume: Volume) -> Change {
    let group = volume.group.clone();
    let fast = format!("{group}/{FAST}");
    // LVM attaches only what is not active.
    let mut create: Vec<String> =
        ["lvcreate", "--yes", "--activate=n", "--zero=n", "--wipesignatures=n"].map(String::from).to_vec();
    create.extend([format!("--name={FAST}"), "--type=linear".into(), room(lvm.cache_size), group.clone()]);
    create.extend(context.paths().last().map(String::from));
    let mut convert: Vec<String> = ["lvconvert", "--yes"].map(String::from).to_vec();
    convert.extend([format!("--type={}", lvm.kind.word()), format!("--cachevol={FAST}")]);
    if lvm.kind == LvmType::Cache {
        convert.push(format!("--cachemode={}", lvm.mode.word()));
        convert.extend(lvm.chunk.map(|chunk| format!("--chunksize={}k", chunk.0 / 1024)));
    }
    convert.push(format!("{group}/{VOLUME}"));
    let half = Condition::LogicalVolume { group: group.clone(), tag: volume.tag.clone(), name: FAST.into() };
    Change {
        what: say!("make {fast} the cache of {VOLUME}", "сделать {fast} кэшем тома {VOLUME}"),
        erases: Vec::new(),
        done: Condition::VolumeOn { below: mapping(&group, &format!("{FAST}_cvol")), volume },
        apply: vec![Action::Run(create), Action::Run(convert)],
        undo: vec![(half, run("lvremove --yes", &[fast.as_str()]))],
        wait: None,
    }
}

/// A size, or all that is free on the devices that are named behind it.
fn room(size: Option<Bytes>) -> String {
    size.map_or_else(|| "--extents=100%PVS".to_string(), |size| format!("--size={}m", size.0 >> 20))
}

/// One that has room for the whole volume: one that is full is dropped by the kernel, and writes cost nothing more from then on.
fn snapshot(lvm: &Lvm, volume: Volume, number: u32) -> Change {
    let (group, name) = (volume.group.clone(), format!("snap{number}"));
    let mut words: Vec<String> = ["lvcreate", "--yes", "--snapshot"].map(String::from).to_vec();
    words.push(format!("--name={name}"));
    match lvm.kind {
        // Otherwise those of thin volumes stay out of sight.
        LvmType::Thin => words.push("--setactivationskip=n".into()),
        _ => words.push("--extents=100%ORIGIN".into()),
    }
    words.extend(lvm.chunk.map(|chunk| format!("--chunksize={}k", chunk.0 / 1024)));
    words.push(format!("{group}/{VOLUME}"));
    let done = match lvm.kind {
        LvmType::Thin => Condition::Volume(volume.clone()),
        // LVM makes a volume first and a snapshot of it afterwards.
        _ => Condition::VolumeOn { volume: volume.clone(), below: mapping(&group, &format!("{VOLUME}-real")) },
    };
    Change {
        what: say!("make the snapshot {group}/{name}", "создать снимок {group}/{name}"),
        erases: Vec::new(),
        done,
        apply: vec![Action::Run(words)],
        undo: vec![(Condition::Volume(volume), run("lvremove --yes", &[format!("{group}/{name}").as_str()]))],
        wait: None,
    }
}

fn physical(context: &StepContext, index: usize, device: &str) -> Change {
    let uuid = context.names.lvm_uuid(&context.layer.name, index as u32);
    let mark = Condition::Mark { device: device.to_string(), uuid: uuid.clone() };
    Change {
        what: say!("make {device} a physical volume", "сделать {device} физическим томом"),
        erases: vec![device.to_string()],
        done: mark.clone(),
        apply: vec![run("pvcreate --yes --force --force --norestorefile --uuid", &[uuid.as_str(), device])],
        undo: vec![(mark, run("pvremove --yes", &[device]))],
        wait: None,
    }
}

fn create_volume(context: &StepContext, lvm: &Lvm, group: &str) -> Vec<String> {
    let devices = context.count() as u32;
    let mut words: Vec<String> = ["lvcreate", "--yes", "--wipesignatures=y"].map(String::from).to_vec();
    let mut put = |key: &str, value: String| words.push(format!("--{key}={value}"));
    let layout = lvm.layout();
    put("name", if lvm.kind == LvmType::Vdo { POOL } else { VOLUME }.into());
    // A cache is put before it afterwards.
    put("type", if lvm.kind.is_cached() { LvmType::Linear } else { layout }.word().into());
    // Stripes are those with data: of parity there are one or two more, of mirrors twice as many.
    let stripes = match layout {
        LvmType::Striped | LvmType::Raid0 => Some(devices),
        LvmType::Raid10 => Some(devices / 2),
        LvmType::Raid5 => Some(devices.saturating_sub(1)),
        LvmType::Raid6 => Some(devices.saturating_sub(2)),
        _ => None,
    };
    if let Some(stripes) = stripes {
        put("stripes", lvm.stripes.unwrap_or(stripes).to_string());
        put("stripesize", format!("{}k", lvm.stripe_size.map_or(64, |size| size.0 / 1024)));
    }
    match layout {
        LvmType::Raid1 => put("mirrors", devices.saturating_sub(1).to_string()),
        LvmType::Raid10 => put("mirrors", "1".into()),
        _ => {}
    }
    match (lvm.size, lvm.kind) {
        (Some(size), _) => put("size", format!("{}m", size.0 >> 20)),
        // A pool has metadata beside it, and room for their repair.
        (None, LvmType::Thin) => put("extents", "90%FREE".into()),
        // So do checksums: 4 bytes of each 512, and their journal.
        (None, _) if lvm.integrity.is_some() => put("extents", "90%FREE".into()),
        (None, LvmType::Cache | LvmType::Writecache) => put("extents", "100%PVS".into()),
        (None, _) => put("extents", "100%FREE".into()),
    }
    if let Some(size) = lvm.virtual_size.filter(|_| lvm.kind == LvmType::Thin) {
        put("virtualsize", format!("{}m", size.0 >> 20));
    }
    if let Some(allocation) = lvm.allocation {
        let word = match allocation {
            Allocation::Contiguous => "contiguous",
            Allocation::Cling => "cling",
            Allocation::Normal => "normal",
            Allocation::Anywhere => "anywhere",
        };
        put("alloc", word.into());
    }
    if let Some(mode) = lvm.integrity {
        put("raidintegrity", "y".into());
        put("raidintegritymode", mode.word().into());
    }
    if lvm.initial_sync == InitialSync::Skip {
        words.push("--nosync".into());
    }
    match lvm.kind {
        LvmType::Thin => words.push(format!("--thinpool={group}/{POOL}")),
        _ => words.push(group.to_string()),
    }
    if lvm.kind.is_cached() {
        let slow = context.count().saturating_sub(1);
        words.extend(context.paths().take(slow).map(String::from));
    }
    words
}
