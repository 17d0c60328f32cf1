//! Logical volumes: physical volumes, a group of its own, one volume.
//!
//! Source: lvcreate(8), lvmraid(7), lvmthin(7), lvmvdo(7) of LVM 2.03.

use super::super::step::{Deed, Product, Sign, Step, Volume, Wait};
use super::{Made, Site, over};
use stend_base::say;
use stend_spec::stand::{Allocation, InitialSync, Lvm, LvmType};

/// Name of the volume in its group.
const VOLUME: &str = "main";
/// Name of the pool of a thin or VDO volume.
const POOL: &str = "pool";

pub(super) fn volume(site: &Site, lvm: &Lvm) -> Made {
    let group = site.name();
    let mut steps: Vec<Step> = site.paths().enumerate().map(|(index, device)| physical(site, index, device)).collect();
    let there = Sign::Group { name: group.clone(), tag: site.names.tag() };
    let create = ["vgcreate", "--yes", "--addtag", &site.names.tag(), &group].map(String::from);
    steps.push(Step {
        what: say!("make the volume group {group}", "создать группу томов {group}"),
        erases: Vec::new(),
        done: there.clone(),
        apply: vec![Deed::Run(create.into_iter().chain(site.erases()).collect())],
        undo: vec![(there, Deed::run("vgremove --yes", [group.as_str()]))],
        wait: None,
    });
    // The device mapper doubles the `-` of a name that it takes apart at a `-`.
    let mapping = format!("{}-{VOLUME}", group.replace('-', "--"));
    let volume = Volume { group: group.clone(), tag: site.names.tag(), mapping: mapping.clone() };
    let mapped = Sign::Volume(volume.clone());
    steps.push(Step {
        // After a restart of the machine nobody may have done that.
        what: say!("activate what is in {group}", "активировать то, что есть в {group}"),
        erases: Vec::new(),
        done: Sign::NothingInactive(volume),
        apply: vec![Deed::run("vgchange --yes --activate y", [group.as_str()])],
        undo: Vec::new(),
        wait: None,
    });
    let raid = matches!(lvm.kind, LvmType::Raid1 | LvmType::Raid10 | LvmType::Raid5 | LvmType::Raid6);
    steps.push(Step {
        what: over(
            site.count(),
            &format!("make the volume {group}/{VOLUME}"),
            &format!("создать том {group}/{VOLUME}"),
        ),
        erases: Vec::new(),
        done: mapped.clone(),
        apply: vec![Deed::Run(create_volume(site, lvm, &group))],
        // The pool goes with the volume: both are all that is in the group.
        undo: vec![(mapped, Deed::run("lvremove --yes", [group.as_str()]))],
        wait: (raid && lvm.initial_sync == InitialSync::Wait).then(|| Wait::Volume(group, VOLUME.into())),
    });
    Made { steps, products: vec![Product::Mapping(mapping)] }
}

fn physical(site: &Site, index: usize, device: &str) -> Step {
    let uuid = site.names.lvm_uuid(&site.layer.name, index as u32);
    let mark = Sign::Mark { device: device.to_string(), uuid: uuid.clone() };
    Step {
        what: say!("make {device} a physical volume", "сделать {device} физическим томом"),
        erases: vec![device.to_string()],
        done: mark.clone(),
        apply: vec![Deed::run("pvcreate --yes --force --force --norestorefile --uuid", [uuid.as_str(), device])],
        undo: vec![(mark, Deed::run("pvremove --yes", [device]))],
        wait: None,
    }
}

fn create_volume(site: &Site, lvm: &Lvm, group: &str) -> Vec<String> {
    let devices = site.count() as u32;
    let mut words: Vec<String> = ["lvcreate", "--yes", "--wipesignatures=y"].map(String::from).to_vec();
    let mut put = |key: &str, value: String| words.push(format!("--{key}={value}"));
    put("name", VOLUME.into());
    let kind = match lvm.kind {
        LvmType::Linear => "linear",
        LvmType::Striped => "striped",
        LvmType::Raid0 => "raid0",
        LvmType::Raid1 => "raid1",
        LvmType::Raid10 => "raid10",
        LvmType::Raid5 => "raid5",
        LvmType::Raid6 => "raid6",
        LvmType::Thin => "thin",
        LvmType::Vdo => "vdo",
    };
    put("type", kind.into());
    // Stripes are those with data: of parity there are one or two more, of mirrors twice as many.
    let stripes = match lvm.kind {
        LvmType::Striped | LvmType::Raid0 => Some(devices),
        LvmType::Raid10 => Some(devices / 2),
        LvmType::Raid5 => Some(devices.saturating_sub(1)),
        LvmType::Raid6 => Some(devices.saturating_sub(2)),
        LvmType::Linear | LvmType::Raid1 | LvmType::Thin | LvmType::Vdo => None,
    };
    if let Some(stripes) = stripes {
        put("stripes", lvm.stripes.unwrap_or(stripes).to_string());
        put("stripesize", format!("{}k", lvm.stripe_size.map_or(64, |size| size.0 / 1024)));
    }
    match lvm.kind {
        LvmType::Raid1 => put("mirrors", devices.saturating_sub(1).to_string()),
        LvmType::Raid10 => put("mirrors", "1".into()),
        _ => {}
    }
    match (lvm.size, lvm.kind) {
        (Some(size), _) => put("size", format!("{}m", size.0 >> 20)),
        // A pool has metadata beside it, and room for their repair.
        (None, LvmType::Thin | LvmType::Vdo) => put("extents", "90%FREE".into()),
        (None, _) => put("extents", "100%FREE".into()),
    }
    if let Some(size) = lvm.virtual_size {
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
    if lvm.kind == LvmType::Vdo {
        let yes = |on: bool| if on { "y" } else { "n" }.to_string();
        put("compression", yes(lvm.compression));
        put("deduplication", yes(lvm.deduplication));
        // Slabs of 128 MiB: the default of 2 GiB would take small drives whole.
        put("config", "allocation/vdo_slab_size_mb=128".into());
    }
    if lvm.initial_sync == InitialSync::Skip {
        words.push("--nosync".into());
    }
    match lvm.kind {
        LvmType::Thin => words.push(format!("--thinpool={group}/{POOL}")),
        LvmType::Vdo => words.push(format!("{group}/{POOL}")),
        _ => words.push(group.to_string()),
    }
    words
}
