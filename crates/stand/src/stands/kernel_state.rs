//! What the kernel shows of a stand: conditions and products, asked anew each time. Reads only; the journal is not believed where
//! the kernel can be asked.

mod mirrors;

use super::drives;
use super::layers::{Made, superblocks};
use super::product::Product;
use crate::change::{Condition, Drive, Journal, LayerDevice, MirrorDevice, Pool, Volume};
use crate::devices::Devices;
use crate::node::Node;
use crate::roots::{Roots, names, number, text};
use crate::{exports, identity, lvm, marks, mounts, owner, pools};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use stend_sys::block::{DevNo, LoopBacking};
use stend_sys::signature::{Found, Pool as Label, Superblock};

/// What a journal calls the superblock of a cache of writes.
const CACHE: &str = "writecache";

/// The machine at one moment.
pub(crate) struct KernelState<'a> {
    roots: &'a Roots,
    devices: Devices,
    journal: &'a Journal,
    /// Layers as they are at this moment, each worked out once: those that name parts of one another would be worked out again for
    /// each part.
    made: RefCell<BTreeMap<String, Made>>,
}

impl<'a> KernelState<'a> {
    /// Looks.
    pub(crate) fn new(roots: &'a Roots, journal: &'a Journal) -> KernelState<'a> {
        KernelState { roots, devices: Devices::read(roots), journal, made: RefCell::default() }
    }

    /// Whether a condition holds.
    pub(crate) fn shows(&self, condition: &Condition) -> bool {
        match condition {
            Condition::Always => true,
            Condition::Blocks { device, bytes } => self.blocks(device) == Some(u64::from(*bytes)),
            Condition::Path(path) => Path::new(path).symlink_metadata().is_ok(),
            Condition::File { path, size } => Path::new(path).symlink_metadata().is_ok_and(|meta| meta.len() == *size),
            Condition::Mark { device, uuid } => self.carries(device, uuid),
            Condition::OnlyMark { device, uuid } => self.has_table_alone(device, uuid),
            Condition::Parts { device, uuid, least } => {
                let known = |node: &Node| self.devices.partitions(node).count() >= *least as usize;
                self.carries(device, uuid) && self.at(device).is_some_and(known)
            }
            Condition::Running(uuid) => self.runs(uuid),
            Condition::NothingToAssemble { uuid, members } => {
                self.runs(uuid) || !members.iter().any(|device| self.carries(device, uuid))
            }
            Condition::Array(uuid) => self.array(uuid).is_some(),
            Condition::Mapping { name, uuid } => self.maps(name, uuid),
            Condition::Superblock(of) => self.is_formatted(of),
            Condition::SuperblockBegun(of) => self.is_begun(of),
            Condition::Unwritten(name) => self.is_unwritten(name),
            Condition::Volume(volume) => self.is_active(volume),
            Condition::VolumeOn { volume, below } => self.is_on(volume, below),
            Condition::LogicalVolume { group, tag, name } => self.group_has(group, tag) && self.has_volume(group, name),
            Condition::NothingInactive(volume) => {
                self.mapping(&volume.mapping).is_some()
                    || !self.group_has(&volume.group, &volume.tag)
                    || self.all_active(&volume.group)
            }
            Condition::GroupActive(group) => self.has_active(group),
            Condition::Loop(file) => self.loop_over(file).is_some(),
            Condition::Connected(name) => exports::is_connected(self.roots, name),
            Condition::Controller { nqn, service } => exports::controller(self.roots, nqn, service).is_some(),
            Condition::Card(address) => self.has_card(address),
            Condition::Attached(export) => exports::attached(self.roots).iter().any(|end| end.export == *export),
            Condition::Serves(settings) => exports::serves(self.roots, settings),
            Condition::Session { target, port } => self.sessions(target, *port).any(|session| session.is_open),
            Condition::SessionBegun { target, port } => self.sessions(target, *port).next().is_some(),
            Condition::NodeRecord { target, portal } => exports::has_record(target, portal),
            Condition::ScsiDisks { serials, port } => serials.iter().all(|serial| self.disk(serial, *port).is_some()),
            Condition::Initiator => exports::initiator_listens(self.roots),
            Condition::Mounted(at) => mounts::own(self.roots).iter().any(|mount| mount.at == Path::new(at)),
            Condition::Group { name, tag } => self.group_has(name, tag),
            Condition::Pool(pool) => self.is_imported(pool),
            Condition::NothingToImport { pool, members } => {
                self.is_imported(pool) || !members.iter().any(|device| self.holds_part_of(pool, device))
            }
            Condition::Dataset { pool, name } => {
                self.is_imported(pool) && pools::has_dataset(self.roots, &pool.name, name)
            }
            Condition::PoolLabel { device, inside, pool } => self.is_labelled(device, *inside, pool.as_ref()),
            Condition::PoolTable(device) => self.has_bare_pool_table(device) && self.holds(device),
            Condition::Setting { path, value } => crate::settings::current(path).is_ok_and(|now| now == *value),
            Condition::Says { path, line } => text(path).is_some_and(|told| told.lines().any(|own| own == line)),
            Condition::Positive(path) => number(path).is_some_and(|number| number > 0),
            Condition::Process(name) => exports::runs(self.roots, name),
            Condition::Runs { program, words } => exports::runs_with(self.roots, program, words),
            Condition::Prints { words, text } => told(words).contains(text.as_str()),
            Condition::NfsExport { path, client, fsid } => self.is_shared_as(path, client, fsid),
            Condition::Noted(path) => self.is_noted(path),
            Condition::NotedUnshared(path) => self.is_noted(path) && exports::shared(self.roots).is_empty(),
            Condition::Mirror(of) => self.mirror_device(of).is_some(),
            Condition::MirrorFilled(of) => self.is_filled(of),
            Condition::MirrorPrimary(of) => self.is_primary(of),
            Condition::Zram { layer, index, size } => {
                self.zram(layer, *index).is_some_and(|node| size.is_none_or(|size| node.size == size))
            }
        }
    }

    fn sessions(&self, target: &str, port: u16) -> impl Iterator<Item = exports::Session> {
        exports::sessions(self.roots, target).into_iter().filter(move |session| session.port == port)
    }

    fn shared(&self, path: &str, client: &str) -> impl Iterator<Item = exports::Shared> {
        exports::shared(self.roots).into_iter().filter(move |of| of.path == path && of.client == client)
    }

    fn is_shared_as(&self, path: &str, client: &str, fsid: &str) -> bool {
        self.shared(path, client).any(|of| of.fsid.as_deref() == Some(fsid))
    }

    fn is_noted(&self, path: &str) -> bool {
        self.journal.before(path, &owner::boot_id(self.roots)).is_some()
    }

    fn has_card(&self, address: &str) -> bool {
        exports::interface(address).is_some_and(|at| exports::has_card(self.roots, &at))
    }

    /// Whether a volume is active, and lies on a mapping whose name begins so.
    fn is_on(&self, volume: &Volume, below: &str) -> bool {
        let is = |node: &Node| text(node.sysfs.join("dm/name")).is_some_and(|name| name.starts_with(below));
        let on = |node: &Node| node.slaves.iter().filter_map(|name| self.devices.by_name(name)).any(is);
        self.mapping(&volume.mapping).is_some_and(on) && self.group_has(&volume.group, &volume.tag)
    }

    fn is_active(&self, volume: &Volume) -> bool {
        self.mapping(&volume.mapping).is_some() && self.group_has(&volume.group, &volume.tag)
    }

    /// Whether a device carries a part of a pool that was not destroyed.
    fn holds_part_of(&self, pool: &Pool, device: &str) -> bool {
        let labels = [false, true].map(|inside| self.label(device, inside, Some(pool)));
        labels.into_iter().flatten().any(|state| state != Label::DESTROYED)
    }

    fn maps(&self, name: &str, uuid: &str) -> bool {
        self.mapping(name).is_some_and(|node| text(node.sysfs.join("dm/uuid")).as_deref() == Some(uuid))
    }

    /// Whether something has the name of what a condition is about, be it somebody else's.
    pub(crate) fn is_taken(&self, condition: &Condition) -> bool {
        match condition {
            Condition::File { path, .. } => self.shows(&Condition::Path(path.clone())),
            Condition::Mapping { name, .. } => self.mapping(name).is_some(),
            Condition::Volume(volume) | Condition::VolumeOn { volume, .. } => self.mapping(&volume.mapping).is_some(),
            Condition::Pool(pool) => pools::is_imported(self.roots, &pool.name),
            Condition::Mirror(of) => crate::mirrors::at(self.roots, of.minor).is_some(),
            Condition::NfsExport { path, client, .. } => self.shared(path, client).next().is_some(),
            condition => self.shows(condition),
        }
    }

    /// Path of a product that exists.
    pub(crate) fn find(&self, product: &Product) -> Option<String> {
        let node = match product {
            Product::Directory(path) => return self.shows(&Condition::Mounted(path.clone())).then(|| path.clone()),
            Product::Existing(path) => return Path::new(path).is_dir().then(|| path.clone()),
            Product::Attached { export } => {
                let end = exports::attached(self.roots).into_iter().find(|end| end.export == *export)?;
                self.devices.by_name(&end.name)
            }
            Product::Controller { nqn, service } => {
                return exports::controller(self.roots, nqn, service).map(|name| format!("/dev/{name}"));
            }
            Product::Subsystem { nqn } => {
                return exports::subsystem(self.roots, nqn).map(|path| path.display().to_string());
            }
            Product::Interface(address) => return exports::interface(address),
            Product::Drive(path) => self.at(path),
            Product::Loop(file) => self.loop_over(file),
            Product::Array { uuid, .. } => self.array(uuid),
            Product::Mapping(name) => self.mapping(name),
            Product::Partition { disk, number } => {
                let disk = self.at(disk)?;
                self.devices
                    .partitions(disk)
                    .find(|part| part.partition.as_ref().is_some_and(|slot| slot.number == *number))
            }
            Product::Zram { layer, index } => self.zram(layer, *index),
            Product::ZfsVolume(dataset) => self.at(&format!("/dev/zvol/{dataset}")),
            Product::ScsiDisk { serial, port } => self.disk(serial, *port),
            Product::Mirror { minor, uuid } => self.mirror_device(&MirrorDevice { minor: *minor, uuid: uuid.clone() }),
            Product::Namespace { uuid } => self.devices.all().find(|node| exports::is_namespace(node, uuid)),
        };
        node.map(|node| self.devices.path(node).display().to_string())
    }

    /// Bytes of a device.
    pub(crate) fn size(&self, path: &str) -> Option<u64> {
        self.at(path).map(|node| node.size)
    }

    /// Bytes of a logical block of a device.
    pub(crate) fn blocks(&self, path: &str) -> Option<u64> {
        self.at(path).and_then(|node| number(node.sysfs.join("queue/logical_block_size")))
    }

    /// The first of udev's names of a device by its identity.
    pub(crate) fn lasting(&self, path: &str) -> Option<String> {
        crate::lasting::lasting_path(self.roots, self.at(path)?)
    }

    /// Handler of a disk of SCSI for how near it is over this path, and what it says to be; `None`: it has none.
    //= linux, drivers/scsi/scsi_sysfs.c: "detached" where there is no handler
    pub(crate) fn access_state(&self, path: &str) -> Option<(String, String)> {
        let device = self.at(path)?.sysfs.join("device");
        let handler = text(device.join("dh_state")).filter(|handler| handler != "detached")?;
        Some((handler, text(device.join("access_state"))?))
    }

    /// How a pool is.
    pub(crate) fn health(&self, pool: &str) -> Option<pools::Health> {
        pools::health(self.roots, pool)
    }

    /// What a layer consists of at this moment.
    pub(crate) fn layer(&self, name: &str, make: impl FnOnce() -> Made) -> Made {
        if let Some(made) = self.made.borrow().get(name) {
            return made.clone();
        }
        let made = make();
        self.made.borrow_mut().insert(name.to_string(), made.clone());
        made
    }

    /// The devices of the machine.
    pub(crate) fn devices(&self) -> &Devices {
        &self.devices
    }

    /// The device at a path of `/dev`.
    pub(crate) fn at(&self, path: &str) -> Option<&Node> {
        self.devices.at(path)
    }

    /// The directory of an array in sysfs.
    pub(crate) fn array(&self, uuid: &str) -> Option<&Node> {
        let wanted = format!("md:{uuid}");
        let is = |node: &&Node| {
            node.sysfs.join("md").is_dir()
                && identity::of(self.roots, &self.devices, node).is_some_and(|id| same(&id, &wanted))
        };
        self.devices.all().find(is)
    }

    fn runs(&self, uuid: &str) -> bool {
        self.array(uuid).is_some_and(|node| {
            // `inactive` and `clear`: assembled in part, or stopped.
            let state = text(node.sysfs.join("md/array_state")).unwrap_or_default();
            !matches!(state.as_str(), "inactive" | "clear" | "")
        })
    }

    fn carries(&self, device: &str, uuid: &str) -> bool {
        !self.marks(device, uuid).is_empty()
    }

    /// Whether a device carries marks with this UUID, and no others.
    pub(crate) fn carries_only(&self, device: &str, uuid: &str) -> bool {
        let found = self.found_on(device);
        !found.is_empty() && found.iter().all(|mark| is_of(mark, uuid))
    }

    /// Whether a device carries marks with this UUID, and at its ends, where partition tables are, no others: a copy of what lay on it before
    /// is not touched when the table is taken off.
    fn has_table_alone(&self, device: &str, uuid: &str) -> bool {
        is_alone_at_the_ends(&self.found_on(device), uuid, self.size(device).unwrap_or(0))
    }

    /// Offsets of the marks with this UUID on a device.
    pub(crate) fn marks(&self, device: &str, uuid: &str) -> Vec<u64> {
        let found = self.found_on(device);
        found.iter().filter(|mark| is_of(mark, uuid)).map(|mark| mark.offset).collect()
    }

    /// Every mark on a device.
    fn found_on(&self, device: &str) -> Vec<Found> {
        self.at(device).and_then(|node| marks::on(&self.devices, node).ok()).unwrap_or_default()
    }

    /// Whether a device has what the stand has given it: a superblock, or room for one.
    fn is_formatted(&self, of: &LayerDevice) -> bool {
        let Some(Some(mark)) = self.journal.superblock(&of.layer, of.index) else { return false };
        // A cache that runs knows nothing of what lay elsewhere on the device before.
        let written = |found| found == Superblock::WriteCache && mark.starts_with(CACHE);
        self.superblock(&of.device).is_some_and(|now| now == mark) || self.found(&of.device).is_some_and(written)
    }

    /// Whether a device carries a superblock that the stand has given it, or was giving it when it was killed. Checksums alone are
    /// written by a program that may be killed in between.
    fn is_begun(&self, of: &LayerDevice) -> bool {
        let Some(mark) = self.journal.superblock(&of.layer, of.index) else { return false };
        match self.found(&of.device) {
            Some(Superblock::Checksums { .. }) => mark.is_none() || self.is_formatted(of),
            Some(Superblock::WriteCache) => self.is_formatted(of),
            Some(Superblock::Blank | Superblock::Other) | None => false,
        }
    }

    fn found(&self, device: &str) -> Option<Superblock> {
        marks::superblock(&self.devices, self.at(device)?).ok()?
    }

    /// What tells the superblock of a device from others. That of a cache has nothing that would: it is one, or will be. Where it will be,
    /// marks elsewhere tell whether something else was put there since.
    pub(crate) fn superblock(&self, device: &str) -> Option<String> {
        match self.found(device)? {
            Superblock::Checksums { salt, .. } => Some(format!("integrity {salt}")),
            Superblock::WriteCache => Some(CACHE.to_string()),
            Superblock::Blank => {
                let beside = marks::on(&self.devices, self.at(device)?).ok()?;
                Some(beside.iter().fold(CACHE.to_string(), |all, mark| format!("{all} {}@{}", mark.name, mark.offset)))
            }
            Superblock::Other => None,
        }
    }

    /// Sectors of 512 bytes that are left for data beside their checksums.
    pub(crate) fn checksummed(&self, device: &str) -> Option<u64> {
        match self.found(device)? {
            Superblock::Checksums { sectors, .. } => Some(sectors),
            _ => None,
        }
    }

    fn is_unwritten(&self, name: &str) -> bool {
        self.mapping(name).is_some() && status(name).is_some_and(|words| superblocks::keeps_back(&words))
    }

    fn has_active(&self, group: &str) -> bool {
        self.devices.all().any(|node| {
            let (name, uuid) = (text(node.sysfs.join("dm/name")), text(node.sysfs.join("dm/uuid")));
            uuid.is_some_and(|uuid| uuid.starts_with("LVM-")) && name.is_some_and(|name| is_of_group(&name, group))
        })
    }

    /// What LVM, which keeps its groups to itself, prints of one; the error is what it said of its failure.
    fn lvm(&self, line: &[&str]) -> std::result::Result<String, String> {
        crate::command::printed(&lvm::words(line, lvm::sees(&self.devices)))
    }

    /// Whether a group carries this tag.
    fn group_has(&self, group: &str, tag: &str) -> bool {
        let of = format!("vg_name={group}");
        let printed = self.lvm(&["vgs", "--noheadings", "--options", "vg_tags", "--select", &of]).unwrap_or_default();
        printed.lines().any(|line| line.trim().split(',').any(|own| own == tag))
    }

    fn has_volume(&self, group: &str, name: &str) -> bool {
        let printed = self.lvm(&["lvs", "--noheadings", "--options", "lv_name", group]).unwrap_or_default();
        printed.lines().any(|line| line.trim() == name)
    }

    /// Whether a group has no volume that is not active.
    fn all_active(&self, group: &str) -> bool {
        let printed = self.lvm(&["lvs", "--noheadings", "--options", "lv_name,lv_active", group]);
        printed.is_ok_and(|printed| lvm::all_active(&printed))
    }

    /// Least percentage to which a part of the volumes of a group is synchronised; the error is what LVM said instead.
    pub(crate) fn synchronised(&self, group: &str) -> std::result::Result<f64, String> {
        let printed = self.lvm(&["lvs", "--all", "--noheadings", "--options", "sync_percent", group])?;
        lvm::least_synchronised(printed.lines()).ok_or(printed)
    }

    fn is_imported(&self, pool: &Pool) -> bool {
        pools::comment(self.roots, &pool.name).as_deref() == Some(&pool.tag)
    }

    /// The state in the label of a pool on a device, or in the first partition of it, if it is of this pool; without one, if it is
    /// of a device that only caches, or of a spare.
    fn label(&self, device: &str, inside: bool, pool: Option<&Pool>) -> Option<u64> {
        let label = marks::pool(&self.devices, self.at(device)?, inside).ok()??;
        let ours = match pool {
            Some(Pool { name, tag }) => {
                label.name.as_deref() == Some(name.as_str()) && label.comment.as_deref() == Some(tag.as_str())
            }
            None => [Label::CACHE, Label::SPARE].contains(&label.state),
        };
        ours.then_some(label.state)
    }

    /// Whether a device is the stand's to write to, if what is on it does not tell: a drive is between its first layer and the end of that.
    fn holds(&self, device: &str) -> bool {
        let drives = self.journal.stand().map(|head| head.drives.as_slice()).unwrap_or_default();
        let Some(node) = self.at(device) else { return false };
        let find = |drive: &Drive| drives::find(self.roots, &self.devices, &drive.identity, drive.paths);
        for drive in drives {
            match find(drive) {
                Ok(ways) if ways.iter().any(|way| way.name == node.name) => return self.journal.holds(&drive.identity),
                Ok(_) => {}
                // It may be this one.
                Err(_) if !self.journal.holds(&drive.identity) => return false,
                Err(_) => {}
            }
        }
        true
    }

    /// Whether a device carries a label of this pool, or of one that caches or is a spare: such a label names no pool.
    fn is_labelled(&self, device: &str, inside: bool, pool: Option<&Pool>) -> bool {
        self.label(device, inside, pool).is_some() && (pool.is_some() || self.holds(device))
    }

    fn has_bare_pool_table(&self, device: &str) -> bool {
        self.at(device).is_some_and(|node| marks::is_bare_pool_table(&self.devices, node))
    }

    /// The disk of the SCSI target with this serial number that is reached over this port.
    fn disk(&self, serial: &str, port: u16) -> Option<&Node> {
        let is = |node: &&Node| exports::is_disk(node, serial) && exports::comes_over(self.roots, node, port);
        self.devices.all().find(is)
    }

    fn mapping(&self, name: &str) -> Option<&Node> {
        self.devices.all().find(|node| text(node.sysfs.join("dm/name")).as_deref() == Some(name))
    }

    /// The kernel tells the path of a file without links and by the name that it had; which file it is tells its number.
    fn loop_over(&self, file: &str) -> Option<&Node> {
        use std::os::unix::fs::MetadataExt;
        let named = |node: &&Node| text(node.sysfs.join("loop/backing_file")).as_deref() == Some(file);
        let Ok(meta) = std::fs::metadata(file) else { return self.devices.all().find(named) };
        let is = |of: LoopBacking| (of.device, of.inode) == (DevNo::from_raw(meta.dev()), meta.ino());
        self.devices.all().find(|node| node.backing.is_some_and(is))
    }

    /// zram devices have no name but their number, which holds until the machine is started anew, or somebody takes the device away
    /// and makes another one.
    fn zram(&self, layer: &str, index: u32) -> Option<&Node> {
        let (number, sequence) = self.journal.zram(layer, index, &owner::boot_id(self.roots))?;
        let node = self.devices.by_name(&format!("zram{number}"))?;
        (sequence.is_none() || node.sequence() == sequence).then_some(node)
    }
}

/// Whether marks with this UUID are on a device of this size, and none of others at its ends.
fn is_alone_at_the_ends(found: &[Found], uuid: &str, size: u64) -> bool {
    /// A partition table has 16 KiB of entries and two blocks at each end; btrfs begins behind that.
    const END: u64 = 64 << 10;
    let (ours, others): (Vec<&Found>, Vec<&Found>) = found.iter().partition(|mark| is_of(mark, uuid));
    !ours.is_empty() && !others.iter().any(|mark| mark.offset < END || mark.offset + END > size)
}

fn is_of(mark: &Found, uuid: &str) -> bool {
    mark.uuid.as_deref().is_some_and(|own| same(own, uuid))
}

/// UUIDs are written with and without their separators, in small and large letters.
pub(crate) fn same(one: &str, other: &str) -> bool {
    let plain = |uuid: &str| uuid.chars().filter(char::is_ascii_alphanumeric).collect::<String>();
    // LVM tells small letters from large ones; what has only hexadecimal digits does not.
    let (one, other) = (plain(one), plain(other));
    one == other || (one.chars().all(|c| c.is_ascii_hexdigit()) && one.eq_ignore_ascii_case(&other))
}

/// Whether a mapping has a name that LVM gives to what is in a group: it doubles the `-` of what stands on either side of its own.
fn is_of_group(mapping: &str, group: &str) -> bool {
    let rest = mapping.strip_prefix(&group.replace('-', "--")).and_then(|rest| rest.strip_prefix('-'));
    rest.is_some_and(|volume| !volume.starts_with('-'))
}

/// What a command tells; nothing where there is no such program.
fn told(words: &[String]) -> String {
    crate::command::execute_plainly(words, &|| false, &mut |_| {}).unwrap_or_default()
}

/// What a mapping tells of itself behind its start and length: its target, and that one's own words.
pub(crate) fn status(name: &str) -> Option<Vec<String>> {
    let told = told(&["dmsetup", "status", name].map(String::from));
    let words: Vec<String> = told.lines().next()?.split_whitespace().skip(2).map(str::to_string).collect();
    (!words.is_empty()).then_some(words)
}

/// Whether the kernel has a module, loaded or built in: it then shows it, its file system, or its control.
pub(crate) fn has_module(roots: &Roots, name: &str) -> bool {
    let file_systems = text(roots.proc.join("filesystems")).unwrap_or_default();
    let file_system = file_systems.lines().any(|line| line.split_whitespace().last() == Some(name));
    let class = names(roots.sys.join("class")).iter().any(|class| class.starts_with(&format!("{name}-")));
    file_system || class || roots.sys.join("module").join(name).is_dir()
}

#[cfg(test)]
mod tests;
