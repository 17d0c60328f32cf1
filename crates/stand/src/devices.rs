//! The block devices of a host as sysfs shows them, and how they lie on each other. Reads only; must not
//! judge who may write.

use crate::exports::{self, Export};
use crate::node::{Node, Slot};
pub(crate) use crate::pools::Device;
use crate::pools::{self, Pool};
use crate::roots::{Roots, names, number, text};
use crate::uses::Users;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use stend_sys::IoFile;
use stend_sys::block::{self, DevNo, LoopBacking};

/// Deepest stack that is followed; real ones have about five layers.
const DEPTH_MAX: u32 = 16;

/// All block devices of a host at one moment.
#[derive(Debug, Clone)]
pub(crate) struct Devices {
    pub(crate) roots: Roots,
    nodes: BTreeMap<String, Node>,
    /// The devices of each pool of ZFS, with their kernel names.
    pools: BTreeMap<String, Vec<(String, Device)>>,
    /// Who uses them, once somebody has asked.
    pub(crate) users: OnceLock<Arc<Users>>,
}

impl Devices {
    pub(crate) fn read(roots: &Roots) -> Devices {
        let class = roots.sys.join("class/block");
        let nodes =
            names(&class).into_iter().filter_map(|name| Some((name.clone(), node(roots, &class, name)?))).collect();
        let mut devices = Devices { roots: roots.clone(), nodes, pools: BTreeMap::new(), users: OnceLock::new() };
        devices.stack_pools(pools::all(roots));
        devices.stack_loops();
        devices.stack_exports();
        devices.stack_snapshots();
        devices
    }

    /// Volumes of ZFS lie on every device of their pool, and the kernel lists no holder.
    pub(crate) fn stack_pools(&mut self, pools: Vec<Pool>) {
        for pool in pools {
            let named = |device: Device| Some((self.at(&device.path)?.name.clone(), device));
            let members: Vec<(String, Device)> = pool.devices.into_iter().filter_map(named).collect();
            for (dataset, volume) in pool.volumes {
                self.put_on(members.iter().map(|(member, _)| (volume.clone(), member.clone())).collect());
                if let Some(node) = self.nodes.get_mut(&volume) {
                    node.dataset = Some(dataset);
                }
            }
            self.pools.insert(pool.name, members);
        }
    }

    /// Devices of the pool of ZFS that a dataset is in.
    pub(crate) fn of_dataset(&self, dataset: &str) -> Vec<&Node> {
        self.of_pool(pools::of_dataset(dataset)).map(|(node, _)| node).collect()
    }

    /// Devices of a pool of ZFS, in its order.
    pub(crate) fn of_pool(&self, pool: &str) -> impl Iterator<Item = (&Node, &Device)> {
        let members = self.pools.get(pool).map(Vec::as_slice).unwrap_or_default();
        members.iter().filter_map(|(name, device)| Some((self.by_name(name)?, device)))
    }

    /// So are the ends of an export that this host is itself connected to: one for each path.
    fn stack_exports(&mut self) {
        let ends = |export: &Export| {
            let Some(below) = self.at(&export.path) else { return Vec::new() };
            let above = self.all().filter(|node| export.ends_in(node) && node.name != below.name);
            above.map(|node| (node.name.clone(), below.name.clone())).collect()
        };
        let pairs = exports::all(&self.roots).iter().flat_map(ends).collect();
        self.put_on(pairs);
    }

    /// A loop device over a block device is built on it like any other, but the kernel lists no holder.
    fn stack_loops(&mut self) {
        let over = |n: &Node| Some((n.name.clone(), self.by_number(n.backing?.block?)?.name.clone()));
        let pairs = self.all().filter_map(over).collect();
        self.put_on(pairs);
    }

    /// Writes to a volume with snapshots have the kernel copy to what these keep the copies on, and it lists that below the
    /// snapshots alone.
    //= LVM 2.03, lib/activate/dev_manager.c, build_dm_uuid(): the UUID of a volume, with `-real`, `-cow` for its parts
    fn stack_snapshots(&mut self) {
        let is = |name: &&String, suffix: &str| {
            let uuid = self.by_name(name).and_then(|node| text(node.sysfs.join("dm/uuid")));
            uuid.is_some_and(|uuid| uuid.starts_with("LVM-") && uuid.ends_with(suffix))
        };
        let part = |node: &Node, suffix| node.slaves.iter().find(|name| is(name, suffix)).cloned();
        // The volume itself and each of its snapshots lie on the same one, which keeps what the volume shows.
        let parts = |node: &Node| Some((part(node, "-real")?, node.name.clone(), part(node, "-cow")));
        let all: Vec<_> = self.all().filter_map(parts).collect();
        let origins = all.iter().filter(|(_, _, copies)| copies.is_none());
        let lies_on = |(real, origin, _): &(String, String, Option<String>)| {
            let copies = all.iter().filter(|(other, _, _)| other == real).filter_map(|(_, _, copies)| copies.clone());
            copies.map(|copies| (origin.clone(), copies)).collect::<Vec<_>>()
        };
        let pairs = origins.flat_map(lies_on).collect();
        self.put_on(pairs);
    }

    /// Notes of devices that the first of each pair lies on the second.
    fn put_on(&mut self, pairs: Vec<(String, String)>) {
        for (above, below) in pairs {
            if let Some(node) = self.nodes.get_mut(&above) {
                node.slaves.push(below.clone());
            }
            if let Some(node) = self.nodes.get_mut(&below) {
                node.holders.push(above);
            }
        }
    }

    /// The devices of a host that had not these.
    pub(crate) fn without(&self, names: &[&str]) -> Devices {
        let mut devices = self.clone();
        devices.nodes.retain(|name, _| !names.contains(&name.as_str()));
        devices
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Node> {
        self.nodes.values()
    }

    pub(crate) fn by_name(&self, name: &str) -> Option<&Node> {
        self.nodes.get(name)
    }

    pub(crate) fn by_number(&self, number: DevNo) -> Option<&Node> {
        self.nodes.values().find(|n| n.number == number)
    }

    /// The block device that a path such as `/dev/disk/by-uuid/…` leads to.
    pub(crate) fn at(&self, path: &str) -> Option<&Node> {
        let below =
            [&*self.roots.dev, Path::new("/dev")].iter().find_map(|dev| Path::new(path).strip_prefix(dev).ok())?;
        let path = std::fs::canonicalize(self.roots.dev.join(below)).ok()?;
        let number = block::block_device_at(&path).ok().flatten();
        match number {
            Some(number) => self.by_number(number),
            // In a recorded tree the nodes are plain files.
            None => self.by_name(&path.file_name()?.to_string_lossy()),
        }
    }

    /// Device node in `/dev`.
    pub(crate) fn path(&self, node: &Node) -> PathBuf {
        device_path(&self.roots, &node.name)
    }

    /// The disk that a partition is on; any other device itself.
    pub(crate) fn disk<'a>(&'a self, node: &'a Node) -> &'a Node {
        node.partition.as_ref().and_then(|slot| self.by_name(&slot.disk)).unwrap_or(node)
    }

    pub(crate) fn partitions<'a>(&'a self, disk: &'a Node) -> impl Iterator<Item = &'a Node> {
        self.all().filter(|n| n.partition.as_ref().is_some_and(|slot| slot.disk == disk.name))
    }

    /// Every device whose bytes are also bytes of `node`: itself, its partitions, and the disk it is on.
    pub(crate) fn same_space<'a>(&'a self, node: &'a Node) -> Vec<&'a Node> {
        let disk = node.partition.as_ref().and_then(|slot| self.by_name(&slot.disk));
        std::iter::once(node).chain(self.partitions(node)).chain(disk).collect()
    }

    /// Everything built on `node` or on what shares its space, all layers up.
    pub(crate) fn above<'a>(&'a self, node: &'a Node) -> Vec<&'a Node> {
        let mut found: Vec<&Node> = Vec::new();
        let mut from = self.same_space(node);
        for _ in 0..DEPTH_MAX {
            let next: Vec<&Node> = from.iter().flat_map(|n| &n.holders).filter_map(|name| self.by_name(name)).collect();
            let next: Vec<&Node> =
                next.into_iter().flat_map(|n| std::iter::once(n).chain(self.partitions(n))).collect();
            from = next.into_iter().filter(|n| !found.iter().any(|f| f.name == n.name)).collect();
            if from.is_empty() {
                break;
            }
            found.extend(&from);
        }
        found
    }

    /// What the bytes of `node`, or of the disk that it is on, lie on, all layers down, without itself. Ends at what comes from another
    /// program: what a server of NBD has open is handed out by it, and the file system under the file of a loop device has it only in
    /// parts.
    pub(crate) fn built_on<'a>(&'a self, node: &'a Node) -> Vec<&'a Node> {
        let mut found: Vec<&Node> = Vec::new();
        let mut from = vec![self.disk(node)];
        while let Some(above) = from.pop() {
            let lower = above.slaves.iter().filter(|_| !above.name.starts_with("nbd"));
            for below in lower.filter_map(|name| self.by_name(name)) {
                for one in [below, self.disk(below)] {
                    if !found.iter().any(|known| known.name == one.name) {
                        found.push(one);
                        from.push(one);
                    }
                }
            }
        }
        found
    }

    /// `tops` and everything below them down to physical drives, with the depth, nearest first.
    pub(crate) fn stack<'a>(&'a self, tops: &[&'a Node]) -> Vec<(u32, &'a Node)> {
        self.walk(tops, |_, _| true)
    }

    /// The part of a stack that I/Os of `tops` go to: without what arrays have in reserve.
    pub(crate) fn at_work<'a>(&'a self, tops: &[&'a Node]) -> Vec<&'a Node> {
        let used = |above: &Node, below: &Node| !above.reserve.contains(&below.name);
        self.walk(tops, used).into_iter().map(|(_, node)| node).collect()
    }

    /// What can be reached from `tops` downwards through links that `follow` takes (upper, lower device).
    fn walk<'a>(&'a self, tops: &[&'a Node], follow: impl Fn(&Node, &Node) -> bool) -> Vec<(u32, &'a Node)> {
        let mut found: Vec<(u32, &Node)> = Vec::new();
        let mut layer: Vec<&Node> = tops.to_vec();
        for depth in 0..DEPTH_MAX {
            layer.retain(|n| !found.iter().any(|(_, f)| f.name == n.name));
            layer.dedup_by(|a, b| a.name == b.name);
            if layer.is_empty() {
                break;
            }
            found.extend(layer.iter().map(|n| (depth, *n)));
            let below = |n: &&'a Node| {
                let above: &'a Node = n;
                self.directly_below(above).into_iter().filter(|lower| follow(above, lower)).collect::<Vec<_>>()
            };
            layer = layer.iter().flat_map(below).collect();
        }
        found
    }

    fn directly_below<'a>(&'a self, node: &'a Node) -> Vec<&'a Node> {
        if node.partition.is_some() {
            return vec![self.disk(node)];
        }
        let mut below: Vec<&Node> = node.slaves.iter().filter_map(|name| self.by_name(name)).collect();
        below.extend(node.backing.and_then(|file| self.by_number(file.device)));
        below
    }
}

pub(crate) fn device_path(roots: &Roots, name: &str) -> PathBuf {
    // Kernel names write `!` for the `/` of names such as `cciss/c0d0`.
    roots.dev.join(name.replace('!', "/"))
}

/// What is behind a loop device; from the kernel, or from its path where the device may not be opened.
fn loop_backing(roots: &Roots, name: &str, sysfs: &Path) -> Option<LoopBacking> {
    let named = text(sysfs.join("loop/backing_file"))?;
    let asked = IoFile::open_read(&device_path(roots, name), false).and_then(block::loop_backing);
    asked.ok().or_else(|| {
        use std::os::unix::fs::MetadataExt;
        let file = std::fs::metadata(named).ok()?;
        let block = Some(DevNo::from_raw(file.rdev())).filter(|number| !number.is_anonymous());
        Some(LoopBacking { device: DevNo::from_raw(file.dev()), inode: file.ino(), block })
    })
}

/// Members of an array of md that hold no current data of it: `md/dev-NAME/state` is a list of words, one of which is `in_sync` where
/// they do. One without a state is taken to be at work.
//= linux, Documentation/admin-guide/md.rst, "state": "in_sync: device is a fully in-sync member of the array"
fn reserve(sysfs: &Path) -> Vec<String> {
    let md = sysfs.join("md");
    let idle = |entry: &String| {
        let state = text(md.join(entry).join("state"))?;
        let at_work = state.split(',').any(|word| word.trim() == "in_sync");
        let name = entry.strip_prefix("dev-")?;
        (!at_work).then(|| name.to_string())
    };
    names(&md).iter().filter_map(idle).collect()
}

fn node(roots: &Roots, class: &Path, name: String) -> Option<Node> {
    let sysfs = std::fs::canonicalize(class.join(&name)).ok()?;
    if number(sysfs.join("hidden")) == Some(1) {
        // A path below NVMe multipath: it has no device node and nobody can use it.
        return None;
    }
    let partition = match number(sysfs.join("partition")) {
        Some(n) => Some(Slot {
            disk: sysfs.parent()?.file_name()?.to_string_lossy().into_owned(),
            number: u32::try_from(n).ok()?,
            start: number(sysfs.join("start"))? * 512,
        }),
        None => None,
    };
    Some(Node {
        number: DevNo::parse(&text(sysfs.join("dev"))?)?,
        size: number(sysfs.join("size")).unwrap_or(0) * 512,
        partition,
        holders: names(sysfs.join("holders")),
        slaves: names(sysfs.join("slaves")),
        reserve: reserve(&sysfs),
        read_only: number(sysfs.join("ro")) == Some(1),
        backing: loop_backing(roots, &name, &sysfs),
        dataset: None,
        sysfs,
        name,
    })
}
