//! Which steps make a layer, and what it makes. Pure: the same stand on the same devices gives the same commands.

mod arrays;
mod ceph;
mod drbd;
mod exports;
mod file_systems;
mod iscsi;
mod mappings;
mod memory;
mod multipath;
mod nbd;
mod nfs;
mod pools;
mod rdma;
mod room;
pub(crate) mod sectors;
pub(crate) mod superblocks;
mod volumes;

pub(crate) use ceph::{EventCluster, Osd, of_events as cluster_of_events};
pub(crate) use drbd::{EventMirror, named as mirror_named, of_events as mirror_of_events};
pub(crate) use room::too_small;

use super::names::Names;
use super::product::Product;
use crate::change::{Action, Change, Condition, run, setting};
use stend_base::{Say, say};
use stend_spec::stand::{Dm, Kind, Layer, Stand};

/// What a layer lies on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LowerDevice {
    /// Path of the device; something like it while it does not exist.
    pub path: String,
    /// Bytes; `None` while it does not exist.
    pub size: Option<u64>,
}

/// What there is to know for the steps of a layer.
pub(crate) struct StepContext<'a> {
    /// Names of the stand.
    pub names: Names<'a>,
    /// The layer.
    pub layer: &'a Layer,
    /// What it lies on.
    pub below: &'a [LowerDevice],
    /// Path of something that a layer makes: the real one once it exists.
    pub path: &'a dyn Fn(&Product) -> String,
    /// Path of a device that stays when its kernel name does not, where it has one; else the path itself.
    pub lasting: &'a dyn Fn(&str) -> String,
    /// Sectors of a device that are left for data beside their checksums, once it has such.
    pub checksummed: &'a dyn Fn(&str) -> Option<u64>,
    /// The user named signatures that may be lost.
    pub overwrites: bool,
    /// Size of something that a layer makes, once it exists.
    pub size: &'a dyn Fn(&Product) -> Option<u64>,
    /// What is below is reached over several paths, which LVM would take for copies.
    pub over_paths: bool,
    /// Handler that a disk of SCSI has for being near or far over a path (`alua`), and how near it is over this one, as the kernel calls
    /// it; `None`: it does not tell.
    pub access_state: &'a dyn Fn(&str) -> Option<(String, String)>,
    /// Exports go from one host to another; `None`: this one takes in what it hands out.
    pub way: Option<Way<'a>>,
}

/// From which host to which an export goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way<'a> {
    /// Addresses of the host that hands out; at least one.
    pub from: &'a [String],
    /// Addresses of the host that takes in; at least one.
    pub to: &'a [String],
    /// This host is the one that hands out; both may be true where it is not known which one this is.
    pub hands_out: bool,
    /// This host is the one that takes in.
    pub takes_in: bool,
}

impl<'a> Way<'a> {
    /// That of a layer of a stand; `None`: it stays on one host.
    pub fn of(stand: &'a Stand, layer: &Layer) -> Option<Way<'a>> {
        let (from, to) = (layer.host.as_deref()?, layer.to.as_deref()?);
        let (hands_out, takes_in) = (stand.hands_out(layer), stand.takes_in(layer));
        Some(Way { from: stand.addresses_of(from), to: stand.addresses_of(to), hands_out, takes_in })
    }

    /// Addresses of this host by which the other one reaches it; of both, where it is not known which one this is.
    fn addresses_here(&self) -> impl Iterator<Item = &'a str> {
        let (from, to) = (self.from.iter().filter(|_| self.hands_out), self.to.iter().filter(|_| self.takes_in));
        from.chain(to).map(String::as_str)
    }
}

impl StepContext<'_> {
    fn name(&self) -> String {
        self.names.of(&self.layer.name)
    }

    fn uuid(&self, index: usize) -> String {
        self.names.uuid(&self.layer.name, index as u32)
    }

    fn paths(&self) -> impl Iterator<Item = &str> {
        self.below.iter().map(|device| device.path.as_str())
    }

    fn erases(&self) -> Vec<String> {
        self.paths().map(str::to_string).collect()
    }

    /// Address at which something is handed out, over the first path.
    fn address(&self) -> &str {
        self.address_of(0)
    }

    /// The same over one of several paths: they take the addresses of the host in turn.
    fn address_of(&self, path: usize) -> &str {
        self.way.map_or("127.0.0.1", |way| &way.from[path % way.from.len()])
    }

    /// Whether this host hands out what an export lies on.
    fn hands_out(&self) -> bool {
        self.way.is_none_or(|way| way.hands_out)
    }

    /// Whether this host takes in what an export hands out.
    fn takes_in(&self) -> bool {
        self.way.is_none_or(|way| way.takes_in)
    }

    /// A word that only those know who know the stand: other hosts of the network must not write.
    fn secret(&self) -> Option<String> {
        self.way.map(|_| self.names.tag())
    }

    /// How many devices, for people.
    fn count(&self) -> usize {
        self.below.len()
    }
}

/// The steps of a layer and what it makes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Made {
    pub steps: Vec<Change>,
    pub products: Vec<Product>,
}

/// What makes a layer.
pub(crate) fn make(context: &StepContext) -> Made {
    match &context.layer.kind {
        Kind::Loop(files) => memory::loops(context, files),
        Kind::Zram(zram) => memory::zrams(context, zram),
        Kind::Partition { count } => mappings::partitions(context, *count),
        Kind::Md(md) => arrays::array(context, md),
        Kind::Lvm(lvm) => volumes::volume(context, lvm),
        Kind::Dm(Dm::Integrity(mode)) => superblocks::integrity(context, *mode),
        Kind::Dm(Dm::WriteCache { block_size }) => superblocks::write_cache(context, *block_size),
        Kind::Dm(dm) => mappings::mappings(context, *dm),
        Kind::Luns { count } => mappings::luns(context, *count),
        Kind::NvmeOf(settings) => exports::nvme_of(context, settings),
        Kind::Iscsi(settings) => iscsi::iscsi(context, settings),
        Kind::Nbd => nbd::nbd(context),
        Kind::Nfs(settings) => nfs::nfs(context, settings),
        Kind::Existing { directory } => {
            Made { steps: Vec::new(), products: vec![Product::Existing(directory.clone())] }
        }
        Kind::Btrfs(btrfs) => file_systems::btrfs(context, btrfs),
        Kind::Zfs(zfs) => pools::pool(context, zfs),
        Kind::Fs(fs) => file_systems::plain(context, fs),
        Kind::Ceph(settings) => ceph::cluster(context, *settings),
        Kind::Sectors { bytes } => sectors::formatted(context, *bytes),
        Kind::Multipath(settings) => multipath::drives(context, *settings),
        Kind::Drbd(settings) => drbd::mirror(context, *settings),
        Kind::Settings(tunables) => {
            Made { steps: tunables.iter().map(|of| setting(&of.path, &of.value)).collect(), products: Vec::new() }
        }
    }
}

/// What stops a layer beyond its mounts and mappings, so that what is below it can be changed and it be started again; nothing of it is
/// lost by that. Where its condition holds.
pub(crate) fn halt(context: &StepContext) -> Option<(Condition, Action)> {
    match &context.layer.kind {
        Kind::Md(_) => Some(arrays::stop(context)),
        Kind::Lvm(_) => Some(volumes::deactivate(context)),
        Kind::Zfs(_) => Some(pools::export(context)),
        _ => None,
    }
}

/// A step that makes a directory.
fn directory(path: &str) -> Change {
    Change {
        what: say!("make the directory {path}", "создать каталог {path}"),
        erases: Vec::new(),
        done: Condition::Path(path.to_string()),
        apply: vec![run("mkdir --parents --", &[path])],
        undo: vec![(Condition::Path(path.to_string()), run("rmdir --", &[path]))],
        wait: None,
    }
}

/// A size in a table of the device mapper, 512 bytes each; a word for it while the device does not exist.
fn sectors(size: Option<u64>) -> String {
    size.map_or_else(|| "SECTORS".to_string(), |size| (size / 512).to_string())
}

fn over(count: usize, en: &str, ru: &str) -> Say {
    say!("{en} over {count} devices", "{ru}, устройств: {count}")
}

#[cfg(test)]
mod tests;
