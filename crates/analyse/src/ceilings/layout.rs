//! How the drives under the targets are put together: as the host shows it, or as the suite states it. Must not compute.

use crate::findings::LayoutFrom;
use stend_base::{Lang, Say, format, say, say_in};
use stend_record::targets::{calibrated, joining};
use stend_record::{Device, RunRecord, TargetFacts};
use stend_spec::ceilings::Layout;

/// File systems that write blocks elsewhere.
const COPY_ON_WRITE: [&str; 5] = ["btrfs", "zfs", "bcachefs", "f2fs", "nilfs2"];

/// The layout under all targets; `None`: each I/O goes to one drive. Or why it is not known.
pub(crate) fn layout(run: &RunRecord) -> Result<(Option<Layout>, LayoutFrom), Say> {
    let shown = shown(run);
    let Some(stated) = stated(run) else { return shown.map(|layout| (layout, LayoutFrom::Host)) };
    let contradiction = |shown: Say| {
        say!(
            |l| "the suite states {stated}, but the host shows {shown}",
            "в наборе указано {stated}, а хост показывает {shown}",
            stated = in_words(stated, l),
            shown = shown.get(l)
        )
    };
    let count = calibrated(&run.load().targets).len() as u32;
    match shown {
        // What the host knows less of than the suite says is no contradiction.
        Ok(Some(shown)) if !alike(stated, shown) => Err(contradiction(Say::both(|l| in_words(shown, l)))),
        // The same; spares are members that no I/O goes to.
        Ok(Some(_)) => Ok((Some(stated), LayoutFrom::Suite)),
        // A drive, and each of several volumes, may be on an array of its own.
        _ if count > run.load().targets.len().max(1) as u32 && count != stated.drives() => {
            Err(contradiction(say!(|l| "{n} drives", "накопителей: {n}", n = format::count(u64::from(count)))))
        }
        _ => Ok((Some(stated), LayoutFrom::Suite)),
    }
}

/// What the suite states.
pub(crate) fn stated(run: &RunRecord) -> Option<Layout> {
    run.header.inputs.suite.ceilings.as_ref()?.layout
}

/// Whether a layout that is stated can be the one that is shown; what is shown may lack the chunk.
fn alike(stated: Layout, shown: Layout) -> bool {
    let chunks = |a: Option<_>, b: Option<_>| a.is_none() || b.is_none() || a == b;
    match (stated, shown) {
        (Layout::Stripe { drives: a, chunk: x }, Layout::Stripe { drives: b, chunk: y }) => a == b && chunks(x, y),
        (Layout::Raid10 { drives: a, copies: m, chunk: x }, Layout::Raid10 { drives: b, copies: n, chunk: y }) => {
            a == b && m == n && chunks(x, y)
        }
        _ => stated == shown,
    }
}

fn shown(run: &RunRecord) -> Result<Option<Layout>, Say> {
    let mut all = run.load().targets.iter().map(of_target);
    let first = all.next().unwrap_or(Ok(None))?;
    for other in all {
        if other? != first {
            return Err(say!("the targets lie on drives in different ways", "объекты лежат на накопителях по-разному"));
        }
    }
    Ok(first)
}

fn of_target(target: &TargetFacts) -> Result<Option<Layout>, Say> {
    if target.file_system.as_deref().is_some_and(|kind| COPY_ON_WRITE.contains(&kind)) {
        let drives = calibrated(std::slice::from_ref(target)).len().max(1) as u32;
        return Ok(Some(Layout::CopyOnWrite { drives }));
    }
    if target.devices.is_empty() {
        return Err(say!(
            "no block device below the target is visible",
            "под объектом не видно ни одного блочного устройства"
        ));
    }
    let plain = |device: &&Device| {
        matches!(device.kind.as_str(), "disk" | "partition" | "loop" | "md" | "ram" | "zram" | "nvme-of" | "iscsi")
    };
    // Whichever path is taken, an I/O comes to the same drive.
    let joining = joining(target).unwrap_or_default();
    let joins_drives = |device: &Device| joining.iter().any(|known| known.name == device.name);
    if let Some(device) = target.devices.iter().find(|device| {
        !plain(device) && !is_linear(target, device) && !joins_paths(target, device) && !joins_drives(device)
    }) {
        let name = device.name.clone();
        return Err(say!(
            "Stend cannot see how `{name}` maps an I/O to drives; state it with `ceilings: {{layout: …}}` in the suite",
            "не видно, как `{name}` распределяет операцию по накопителям; укажите это в наборе: `ceilings: {{layout: …}}`"
        ));
    }
    let mut arrays = target.devices.iter().filter(|device| device.kind == "md");
    match (arrays.next(), arrays.next()) {
        (None, _) => Ok(None),
        (Some(array), None) => of_array(array),
        (Some(_), Some(_)) => Err(say!(
            "there is no model for arrays on arrays, or side by side",
            "для массивов поверх массивов или рядом друг с другом модели нет"
        )),
    }
}

/// A volume of LVM over one device that is no volume itself: a part of it, block by block. Thin volumes, snapshots, caches and RAID
/// volumes lie on hidden volumes.
fn is_linear(target: &TargetFacts, device: &Device) -> bool {
    let volume = device.identity.as_deref().is_some_and(|id| id.starts_with("dm:LVM-"));
    let mut below = target.devices.iter().filter(|other| other.depth == device.depth + 1);
    let alone = target.devices.iter().filter(|other| other.depth == device.depth).count() == 1;
    device.kind == "dm" && volume && alone && below.next().is_some_and(|d| d.kind != "dm") && below.next().is_none()
}

/// A mapping over several ways to one disk that this host itself hands out: whichever is taken, the I/O comes to the same drive.
/// Paths to a disk of another host end here, each as a drive of its own.
fn joins_paths(target: &TargetFacts, device: &Device) -> bool {
    let below: Vec<&Device> = target.devices.iter().filter(|other| other.depth == device.depth + 1).collect();
    let alone = target.devices.iter().filter(|other| other.depth == device.depth).count() == 1;
    let same =
        |other: &&Device| other.kind == "iscsi" && other.identity.is_some() && other.identity == below[0].identity;
    device.kind == "dm" && alone && below.len() > 1 && below.iter().all(same)
}

fn of_array(array: &Device) -> Result<Option<Layout>, Say> {
    let (name, level) = (array.name.clone(), array.level.clone().unwrap_or_default());
    let unknown = || {
        say!(
            "there is no model of how `{name}` ({level}) maps an I/O to drives",
            "нет модели того, как `{name}` ({level}) распределяет операцию по накопителям"
        )
    };
    let drives = array.members.filter(|drives| *drives > 0).ok_or_else(unknown)?;
    let found = match (level.as_str(), array.chunk) {
        ("linear", _) => return Ok(None),
        ("raid0", chunk) => Layout::Stripe { drives, chunk },
        ("raid1", _) => Layout::Mirror { drives },
        ("raid10", chunk) => Layout::Raid10 { drives, copies: array.copies.ok_or_else(unknown)?, chunk },
        ("raid5", Some(chunk)) if drives > 2 => Layout::Raid5 { drives, chunk },
        ("raid6", Some(chunk)) if drives > 3 => Layout::Raid6 { drives, chunk },
        _ => return Err(unknown()),
    };
    Ok(Some(found))
}

/// A layout as people write it.
pub(crate) fn in_words(layout: Layout, l: Lang) -> String {
    let (name, chunk) = match layout {
        Layout::Stripe { drives, chunk } => (format!("RAID 0 × {drives}"), chunk),
        Layout::Mirror { drives } => (format!("RAID 1 × {drives}"), None),
        Layout::Raid10 { drives, copies, chunk } => {
            (say_in!(l, "RAID 10 × {drives}, {copies} copies", "RAID 10 × {drives}, копий {copies}"), chunk)
        }
        Layout::Raid5 { drives, chunk } => (format!("RAID 5 × {drives}"), Some(chunk)),
        Layout::Raid6 { drives, chunk } => (format!("RAID 6 × {drives}"), Some(chunk)),
        Layout::Replication { copies, drives, .. } => {
            (say_in!(l, "{copies} copies on {drives} drives", "{copies} копии на {drives} накопителях"), None)
        }
        Layout::Erasure { data, parity, drives, chunk } => {
            let text = say_in!(
                l,
                "erasure code {data}+{parity} on {drives} drives",
                "код с избыточностью {data}+{parity} на {drives} накопителях"
            );
            (text, Some(chunk))
        }
        Layout::CopyOnWrite { .. } => (say_in!(l, "copy on write", "копирование при записи"), None),
    };
    let chunk = chunk.map(|chunk| say_in!(l, ", chunk {size}", ", чанк {size}", size = format::bytes(chunk, l)));
    name + &chunk.unwrap_or_default()
}
