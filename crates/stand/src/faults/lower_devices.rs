//! What events are done to: the array below the targets, its members in the order of their slots, and the mappings that a table can
//! be changed of. Says what of it the run may touch.

use super::FaultContext;
use crate::devices::{Device, Devices};
use crate::mounts::{self, Mount};
use crate::node::Node;
use crate::pools::{self, Health};
use crate::roots::{Roots, names, number, text};
use crate::stands::{EventCluster, EventMirror};
use std::path::Path;
use stend_base::{Say, say};
use stend_record::mirrors::minor_of;
use stend_record::{TargetFacts, TargetKind, targets};

/// The storage below the targets.
pub(super) struct LowerDevices<'a> {
    roots: &'a Roots,
    devices: &'a Devices,
    targets: &'a [TargetFacts],
    run_id: &'a str,
    /// Nodes of the targets themselves.
    tops: Vec<&'a Node>,
    /// Lowest devices below them, in the order of inventory.
    drives: Vec<&'a Node>,
    /// Kernel names of what may be touched.
    own: Vec<String>,
    /// Those of them that the stand of the run made.
    made: Vec<String>,
    /// Mounted directories that it made, each with its kind and what is mounted there.
    directories: Vec<Mount>,
    /// The stand hands something out over the loopback.
    loops_back: bool,
    /// Clusters of Ceph that it made and whose file systems are targets.
    clusters: Vec<EventCluster>,
    /// Mirrors of two hosts at or below the targets that it made.
    mirrors: Vec<EventMirror>,
    /// What tells how a pool is.
    health: fn(&Roots, &str) -> Option<Health>,
}

impl<'a> LowerDevices<'a> {
    pub(super) fn of(roots: &'a Roots, devices: &'a Devices, context: &FaultContext<'a>) -> LowerDevices<'a> {
        let node = |name: &str| devices.by_name(name);
        let tops: Vec<&Node> = context
            .targets
            .iter()
            .flat_map(|target| target.devices.iter().filter(|device| device.depth == 0))
            .filter_map(|device| node(&device.name))
            .collect();
        let confirmed =
            context.targets.iter().filter(|target| context.writable && target.kind == TargetKind::BlockDevice);
        let confirmed = confirmed.flat_map(|target| target.devices.iter().filter(|device| device.depth == 0));
        let mut own: Vec<String> = confirmed.map(|device| device.name.clone()).collect();
        let made = context.stand.map(|name| crate::stands::made_by(roots, devices, name)).unwrap_or_default();
        own.extend(made.iter().cloned());
        let directories = context.stand.map(|name| directories(roots, context, name)).unwrap_or_default();
        let mut clusters = context.stand.map(|name| crate::stands::clusters_of(roots, name)).unwrap_or_default();
        clusters.retain(|cluster| directories.iter().any(|mount| mount.at == Path::new(&cluster.at)));
        let mut mirrors = context.stand.map(|name| crate::stands::mirrors_of(roots, name)).unwrap_or_default();
        let stack = devices.stack(&tops);
        mirrors.retain(|mirror| stack.iter().any(|(_, node)| minor_of(&node.name) == Some(mirror.minor)));
        let loops_back = context.stand.is_some_and(|name| crate::stands::loops_back(roots, name));
        let mut members = targets::members(context.targets);
        // Paths to a drive are one drive, by its world-wide name; members of a btrfs may share a weaker identity.
        let mut seen: Vec<&str> = Vec::new();
        members.retain(|device| {
            let Some(own) = device.identity.as_deref().filter(|own| own.starts_with("wwn:")) else { return true };
            let is_new = !seen.contains(&own);
            seen.push(own);
            is_new
        });
        let drives = members.iter().filter_map(|device| node(&device.name)).collect();
        let FaultContext { targets, run_id, .. } = *context;
        let health = pools::health;
        LowerDevices {
            roots,
            devices,
            targets,
            run_id,
            tops,
            drives,
            own,
            made,
            directories,
            loops_back,
            clusters,
            mirrors,
            health,
        }
    }

    /// Mirrors of two hosts at or below the targets that the stand made.
    pub(super) fn mirrors(&self) -> &[EventMirror] {
        &self.mirrors
    }

    /// Numbers of all mirrors of two hosts at or below the targets.
    pub(super) fn mirrored(&self) -> Vec<u32> {
        self.devices.stack(&self.tops).into_iter().filter_map(|(_, node)| minor_of(&node.name)).collect()
    }

    /// Arrays of md at work below the targets.
    pub(super) fn arrays(&self) -> impl Iterator<Item = &'a Node> {
        self.devices.stack(&self.tops).into_iter().map(|(_, node)| node).filter(|node| is_array(node))
    }

    /// The one array; the error says why there is none that may be touched.
    pub(super) fn array(&self) -> std::result::Result<&'a Node, Say> {
        let arrays: Vec<&Node> = self.arrays().collect();
        match arrays[..] {
            [] => Err(say!("there is no array of md below the target", "под объектом нет массива md")),
            [array] => self.may_touch(array).map(|()| array),
            [..] => Err(say!("there are several arrays of md below the target", "под объектом несколько массивов md")),
        }
    }

    /// Members of an array in the order of its slots, without what it has in reserve.
    pub(super) fn members(&self, array: &Node) -> Vec<&'a Node> {
        let md = array.sysfs.join("md");
        let slot = |entry: &String| {
            let name = entry.strip_prefix("dev-")?.replace('!', "/");
            Some((number(md.join(entry).join("slot"))?, self.devices.by_name(&name)?))
        };
        let mut found: Vec<(u64, &Node)> = names(&md).iter().filter_map(slot).collect();
        found.sort_by_key(|(slot, _)| *slot);
        found.into_iter().map(|(_, node)| node).collect()
    }

    /// What an array has to put in the place of a member.
    //= linux, Documentation/admin-guide/md.rst, "state": "spare: device is working, but not a full member"
    pub(super) fn spares(&self, array: &Node) -> Vec<&'a Node> {
        let md = array.sysfs.join("md");
        let spare = |entry: &String| {
            let of = md.join(entry);
            let is =
                text(of.join("slot")).as_deref() == Some("none") && text(of.join("state")).as_deref() == Some("spare");
            self.devices.by_name(&entry.strip_prefix("dev-")?.replace('!', "/")).filter(|_| is)
        };
        names(&md).iter().filter_map(spare).collect()
    }

    /// A mapping that lies over a whole drive, or member, and may get another table.
    pub(super) fn mapping(&self, index: usize) -> std::result::Result<&'a Node, Say> {
        let (of, candidates): (&Node, Vec<(u32, &Node)>) = match self.in_order() {
            Some(members) => {
                let member = *members.get(index).ok_or_else(|| too_few(members.len()))?;
                (member, self.devices.stack(&[member]))
            }
            None => {
                let drive = *self.drives.get(index).ok_or_else(|| too_few(self.drives.len()))?;
                let leads = |node: &Node| self.devices.stack(&[node]).iter().any(|(_, below)| below.name == drive.name);
                (drive, self.devices.stack(&self.tops).into_iter().filter(|(_, node)| leads(node)).collect())
            }
        };
        let plain = |node: &Node| is_mapping(node) && !joins_paths(node);
        let deepest = candidates.into_iter().filter(|(_, node)| plain(node)).max_by_key(|(depth, _)| *depth);
        let (_, mapping) = deepest.ok_or_else(|| {
            let name = &of.name;
            say!(
                "there is no mapping over {name} whose table could be changed: put a layer `dm: {{linear: whole}}` on the drives of the stand",
                "над {name} нет отображения, таблицу которого можно сменить: положите на накопители стенда слой `dm: {{linear: whole}}`"
            )
        })?;
        self.may_touch(mapping).map(|()| mapping)
    }

    /// Names of the datasets of ZFS at or below the targets that the stand made.
    pub(super) fn datasets(&self) -> Vec<String> {
        let volumes = self.made().filter_map(|node| node.dataset.clone());
        let mounted = self.directories.iter().filter(|mount| mount.kind == "zfs").map(|mount| mount.source.clone());
        volumes.chain(mounted).collect()
    }

    /// Where a btrfs is mounted that is a target and was made by the stand.
    pub(super) fn btrfs(&self) -> Vec<String> {
        let mounted = self.directories.iter().filter(|mount| mount.kind == "btrfs");
        mounted.map(|mount| mount.at.display().to_string()).collect()
    }

    /// The same, each with its devices in the order of their names.
    pub(super) fn btrfs_members(&self) -> Vec<(String, Vec<&'a Node>)> {
        let mounted = mounts::own(self.roots);
        let own = self.directories.iter().filter(|mount| mount.kind == "btrfs");
        let members = |mount: &Mount| mounts::devices_of(self.roots, self.devices, &mounted, mount);
        own.map(|mount| (mount.at.display().to_string(), members(mount))).collect()
    }

    /// Volumes of LVM at or below the targets that the stand made; what LVM hides below them is none.
    pub(super) fn volumes(&self) -> impl Iterator<Item = &'a Node> {
        self.made().filter(|node| is_volume(node))
    }

    /// Mappings at or below the targets that the stand made, and LVM did not.
    pub(super) fn mappings(&self) -> impl Iterator<Item = &'a Node> {
        self.made().filter(|node| is_mapping(node))
    }

    /// Names of the subsystems of NVMe over a network that the stand connected to, each once.
    pub(super) fn subsystems(&self) -> Vec<String> {
        // If several paths lead to a device, the one above it in sysfs is the subsystem.
        let named = |node: &Node| text(node.sysfs.parent()?.join("subsysnqn"));
        let mut found: Vec<String> = self.made().filter_map(named).collect();
        found.sort();
        found.dedup();
        found
    }

    fn made(&self) -> impl Iterator<Item = &'a Node> {
        let all = self.devices.stack(&self.tops).into_iter().map(|(_, node)| node);
        all.filter(|node| self.made.contains(&node.name))
    }

    /// Directories that are targets, with the devices below each.
    pub(super) fn places(&self) -> impl Iterator<Item = (&'a Path, Vec<&'a Node>)> {
        let directories = self.targets.iter().filter(|target| target.kind == TargetKind::Directory);
        directories.map(|target| {
            let below = target.devices.iter().filter_map(|device| self.devices.by_name(&device.name));
            (Path::new(&target.path), below.collect())
        })
    }

    pub(super) fn run_id(&self) -> &'a str {
        self.run_id
    }

    /// How many drives events can choose from: members of the array or pool, or drives below the targets.
    pub(super) fn count(&self) -> usize {
        self.in_order().map_or(self.drives.len(), |members| members.len())
    }

    /// The member of the array or pool with this index.
    pub(super) fn member(&self, index: usize) -> Option<&'a Node> {
        self.in_order()?.get(index).copied()
    }

    /// Members of the array, those that keep the data of the pool, or the drives of the OSDs, in its order; `None` where there is none
    /// of them.
    fn in_order(&self) -> Option<Vec<&'a Node>> {
        if let Some(array) = self.arrays().next() {
            return Some(self.members(array));
        }
        if let Some(cluster) = self.clusters.first() {
            return Some(cluster.osds.iter().filter_map(|osd| self.devices.at(&osd.device)).collect());
        }
        let pool = self.pools().into_iter().next()?;
        Some(self.pool_members(&pool).into_iter().map(|(node, _)| node).collect())
    }

    /// Clusters of Ceph that the stand made and whose file systems are targets.
    pub(super) fn clusters(&self) -> &[EventCluster] {
        &self.clusters
    }

    /// Pools of ZFS that the stand made.
    pub(super) fn pools(&self) -> Vec<String> {
        let mut pools: Vec<String> = self.datasets().iter().map(|name| pools::of_dataset(name).to_string()).collect();
        pools.sort();
        pools.dedup();
        pools
    }

    /// Devices of a pool that keep its data, in its order.
    pub(super) fn pool_members(&self, pool: &str) -> Vec<(&'a Node, &'a Device)> {
        self.devices.of_pool(pool).filter(|(_, device)| device.keeps_data()).collect()
    }

    /// Path of a spare of a pool, as that knows it.
    pub(super) fn pool_spare(&self, pool: &str) -> Option<&'a str> {
        self.devices.of_pool(pool).find(|(_, device)| device.is_spare()).map(|(_, device)| device.path.as_str())
    }

    /// Whether the stand made this.
    pub(super) fn is_made(&self, node: &Node) -> bool {
        self.made.contains(&node.name)
    }

    /// Whether the stand of the run hands something out over the loopback.
    pub(super) fn uses_loopback(&self) -> bool {
        self.loops_back
    }

    pub(super) fn roots(&self) -> &'a Roots {
        self.roots
    }

    /// How a pool is; `None`: nothing tells.
    pub(super) fn health(&self, pool: &str) -> Option<Health> {
        (self.health)(self.roots, pool)
    }

    /// As if pools were so.
    #[cfg(test)]
    pub(super) fn with_health(self, health: fn(&Roots, &str) -> Option<Health>) -> LowerDevices<'a> {
        LowerDevices { health, ..self }
    }

    /// As if it had made this cluster.
    #[cfg(test)]
    pub(super) fn with_cluster(mut self, cluster: EventCluster) -> LowerDevices<'a> {
        self.clusters.push(cluster);
        self
    }

    /// As if it had made this mirror.
    #[cfg(test)]
    pub(super) fn with_mirror(mut self, mirror: EventMirror) -> LowerDevices<'a> {
        self.mirrors.push(mirror);
        self
    }

    /// As if the stand of the run had made this, and all pools were whole.
    #[cfg(test)]
    pub(super) fn with_made(mut self, name: Option<&str>) -> LowerDevices<'a> {
        self.made.extend(name.map(String::from));
        self.with_health(|_, _| Some(Health { state: "ONLINE".into(), missing: 0, resilver: None }))
    }

    /// What LVM may see here.
    pub(super) fn lvm(&self) -> Option<String> {
        crate::lvm::sees(self.devices)
    }

    pub(super) fn path(&self, node: &Node) -> String {
        self.devices.path(node).display().to_string()
    }

    fn may_touch(&self, node: &Node) -> std::result::Result<(), Say> {
        if self.own.contains(&node.name) {
            return Ok(());
        }
        let name = &node.name;
        Err(say!(
            "{name} was not made by the stand of this run and not confirmed with --confirm",
            "{name} создан не стендом этого прогона и не подтверждён через --confirm"
        ))
    }
}

/// What the stand mounted and the run has a file in.
fn directories(roots: &Roots, context: &FaultContext, stand: &str) -> Vec<Mount> {
    let mounted = mounts::own(roots);
    let of = |path: &str| mounts::of_path(&mounted, Path::new(path)).cloned();
    let own = crate::stands::mounted_by(roots, stand);
    let own = |mount: &Mount| own.contains(&mount.at);
    let mut found: Vec<Mount> = context.targets.iter().filter_map(|target| of(&target.path)).filter(own).collect();
    found.dedup();
    found
}

/// Why there is no drive of a number.
pub(super) fn too_few(count: usize) -> Say {
    say!("there are only {count} drives", "накопителей только {count}")
}

/// Whether a device is a volume of LVM.
fn is_volume(node: &Node) -> bool {
    text(node.sysfs.join("dm/uuid")).is_some_and(|uuid| uuid.starts_with("LVM-"))
}

fn is_array(node: &Node) -> bool {
    node.sysfs.join("md").is_dir()
}

/// A mapping of a stand; those of LVM are changed by LVM alone.
fn is_mapping(node: &Node) -> bool {
    let uuid = text(node.sysfs.join("dm/uuid"));
    node.sysfs.join("dm").is_dir() && !uuid.is_some_and(|uuid| uuid.starts_with("LVM-"))
}

/// A mapping over several paths leads to no single device.
fn joins_paths(node: &Node) -> bool {
    text(node.sysfs.join("dm/uuid")).is_some_and(|uuid| stend_record::joins_paths(&uuid))
}

/// Name of a mapping for `dmsetup`.
pub(super) fn mapping_name(node: &Node) -> std::result::Result<String, Say> {
    text(node.sysfs.join("dm/name")).ok_or_else(|| {
        let name = &node.name;
        say!("{name} has no name in sysfs", "у {name} нет имени в sysfs")
    })
}
