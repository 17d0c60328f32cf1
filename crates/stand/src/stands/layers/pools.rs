//! Pools of ZFS, each with one volume or one dataset.
//!
//! Source: zpool-create(8), zpool-import(8), zfs-create(8), zpoolprops(7), zfsprops(7) of OpenZFS 2.3.

use super::super::product::Product;
use super::{Made, StepContext, directory, over};
use crate::change::{Action, Change, Condition, Pool, Wait, run};
use stend_base::say;
use stend_spec::stand::{Zfs, ZfsLayout, ZfsProduct};

/// Name of what is in a pool.
const INSIDE: &str = "main";

pub(super) fn pool(context: &StepContext, zfs: &Zfs) -> Made {
    let pool = Pool { name: context.name(), tag: context.names.tag() };
    let dataset = format!("{}/{INSIDE}", pool.name);
    let mut steps = vec![import(context, &pool), create(context, zfs, &pool)];
    let mut words: Vec<String> = ["zfs", "create"].map(String::from).to_vec();
    let mut put = |more: &[&str]| words.extend(more.iter().map(|word| word.to_string()));
    match &zfs.product {
        ZfsProduct::Volume { size, sparse } => {
            put(&["-V", &size.0.to_string()]);
            put(if *sparse { &["-s"] } else { &[] });
        }
        // Mounted by a step of its own, and by nothing else: an import must not do it beside that.
        ZfsProduct::Dataset => put(&["-o", "mountpoint=legacy"]),
    }
    zfs.properties.iter().for_each(|(name, value)| put(&["-o", &format!("{name}={value}")]));
    put(&[&dataset]);
    steps.push(Change {
        what: say!("make {dataset}", "создать {dataset}"),
        erases: Vec::new(),
        done: Condition::Dataset { pool, name: dataset.clone() },
        apply: vec![Action::Run(words)],
        // It goes with the pool.
        undo: Vec::new(),
        wait: None,
    });
    if zfs.product != ZfsProduct::Dataset {
        return Made { steps, products: vec![Product::ZfsVolume(dataset)] };
    }
    let at = context.names.mount(&context.layer.name);
    let there = Condition::Mounted(at.clone());
    steps.push(directory(&at));
    steps.push(Change {
        what: say!("mount {dataset} at {at}", "смонтировать {dataset} в {at}"),
        erases: Vec::new(),
        done: there.clone(),
        apply: vec![run("mount -t zfs", &[dataset.as_str(), at.as_str()])],
        undo: vec![(there, run("umount --", &[at.as_str()]))],
        wait: None,
    });
    Made { steps, products: vec![Product::Directory(at)] }
}

/// What lets a pool go without anything in it being lost.
pub(super) fn export(context: &StepContext) -> (Condition, Action) {
    let pool = Pool { name: context.name(), tag: context.names.tag() };
    let action = run("zpool export", &[pool.name.as_str()]);
    (Condition::Pool(pool), action)
}

/// After a restart of the machine nobody else does it: the pool is in no list of pools that are imported at boot.
fn import(context: &StepContext, pool: &Pool) -> Change {
    let mut words: Vec<String> = ["zpool", "import", "-N", "-o", "cachefile=none"].map(String::from).to_vec();
    // Both places: ZFS has partitioned some kinds of devices and not others. Where there is nothing is not looked.
    for device in context.paths().map(context.lasting) {
        words.extend(["-d".into(), first_part(&device), "-d".into(), device]);
    }
    words.push(pool.name.clone());
    let name = &pool.name;
    Change {
        what: say!("import the pool {name}", "импортировать пул {name}"),
        erases: Vec::new(),
        done: Condition::NothingToImport { pool: pool.clone(), members: context.erases() },
        apply: vec![Action::Module("zfs".into()), Action::Run(words)],
        undo: Vec::new(),
        wait: None,
    }
}

fn create(context: &StepContext, zfs: &Zfs, pool: &Pool) -> Change {
    let data = zfs.data(context.count());
    let mut words: Vec<String> = ["zpool", "create"].map(String::from).to_vec();
    let mut put = |more: &[&str]| words.extend(more.iter().map(|word| word.to_string()));
    // What may be lost was looked at before; without that ZFS itself refuses what it knows.
    put(if context.overwrites { &["-f"] } else { &[] });
    // A list of pools that are imported at boot would have this one come back without its stand.
    put(&["-o", "cachefile=none", "-o", &format!("comment={}", pool.tag)]);
    if let Some(ashift) = zfs.ashift {
        put(&["-o", &format!("ashift={ashift}")]);
    }
    put(&["-O", "mountpoint=none", &pool.name]);
    let devices: Vec<String> = context.paths().map(context.lasting).collect();
    let devices: Vec<&str> = devices.iter().map(String::as_str).collect();
    let (members, helpers) = devices.split_at(data.min(devices.len()));
    for group in members.chunks(zfs.width(data).max(1)) {
        if zfs.layout != ZfsLayout::Stripe {
            put(&[zfs.layout.word()]);
        }
        put(group);
    }
    let (log, cache) = helpers.split_at((zfs.log as usize).min(helpers.len()));
    let (cache, spares) = cache.split_at((zfs.cache as usize).min(cache.len()));
    let named = [("log", log), ("cache", cache), ("spare", spares)];
    for (word, devices) in named.into_iter().filter(|(_, devices)| !devices.is_empty()) {
        put(&[word]);
        put(devices);
    }
    let (name, layout) = (&pool.name, zfs.layout.word());
    let imported = Condition::Pool(pool.clone());
    let nameless = context.count() - cache.len() - spares.len();
    let labels = |index: usize| match index {
        index if index < nameless => [Some(Some(pool)), None],
        index if index < nameless + cache.len() => [Some(None), None],
        // One that stands in for a member has the label of one.
        _ => [Some(Some(pool)), Some(None)],
    };
    let marks = context
        .paths()
        .enumerate()
        .flat_map(|(index, device)| labels(index).into_iter().flatten().flat_map(move |pool| wipe(device, pool)));
    Change {
        what: over(
            context.count(),
            &format!("make the pool {name}, {layout},"),
            &format!("создать пул {name}: {layout}"),
        ),
        erases: context.erases(),
        done: imported.clone(),
        apply: vec![Action::Module("zfs".into()), Action::Run(words)],
        undo: std::iter::once((imported, run("zpool destroy", &[name.as_str()]))).chain(marks).collect(),
        // There is no first synchronisation; a pool that was imported may be making up for a device that was away.
        wait: (zfs.layout != ZfsLayout::Stripe).then(|| Wait::Pool(name.clone())),
    }
}

/// What takes the labels off a device again: all four of the partition into which ZFS has put them, at both its ends, as long as there
/// is a partition; then its table. The next user who makes a partition there would find labels that were left. Devices that only
/// cache, and spares, do not know whose they are (`None`), and hold nothing that is not elsewhere.
fn wipe(device: &str, pool: Option<&Pool>) -> [(Condition, Action); 3] {
    let label = |inside| Condition::PoolLabel { device: device.to_string(), inside, pool: pool.cloned() };
    [
        (label(true), run("zpool labelclear -f", &[first_part(device).as_str()])),
        (Condition::PoolTable(device.to_string()), run("wipefs --all --quiet", &[device])),
        (label(false), run("zpool labelclear -f", &[device])),
    ]
}

/// Path of the first partition of a device: of names by identity udev makes such.
fn first_part(device: &str) -> String {
    match device.starts_with("/dev/disk/") {
        true => format!("{device}-part1"),
        false => Product::Partition { disk: device.to_string(), number: 1 }.shown(),
    }
}
