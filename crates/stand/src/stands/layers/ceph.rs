//! A Ceph of this host: a monitor, a manager, an OSD on each device, and a file system, mounted by `ceph-fuse`.
//!
//! All of it is below the directory of the stand, by settings of its own: neither `/etc/ceph` nor another cluster of this host is
//! touched. Daemons are known by their command lines. Source: ceph(8), ceph-mon(8), ceph-osd(8), ceph-authtool(8), monmaptool(8),
//! ceph-fuse(8) and doc/install/manual-deployment.rst of Ceph 16.2.

mod osds;

pub(crate) use osds::{EventCluster, Osd, of as of_events};

use super::super::product::Product;
use super::{Made, StepContext, directory};
use crate::change::{Action, Change, Condition, Wait, run};
use crate::clusters::words;
use stend_base::{Bytes, Lang, Say, format, say};
use stend_spec::stand::{Ceph, CephPool};

/// Numbers of ports of monitors begin here: below those that the kernel gives to clients.
const PORTS: u16 = 20_000;
/// Placement groups of a pool on each OSD, counted with copies and parts.
//= ceph 16.2, doc/rados/operations/placement-groups.rst: "approximately 100 PGs per OSD"
const GROUPS_PER_OSD: u32 = 100;
/// Those of the metadata of one file system.
const METADATA_GROUPS: u32 = 16;
/// Memory that the monitor and the server of metadata aim at: with some drives and a few files they need far less.
const MEMORY: Bytes = Bytes::mib(512);

/// A cluster and where it is.
struct Cluster<'a> {
    context: &'a StepContext<'a>,
    ceph: Ceph,
    place: String,
    settings: String,
}

/// A daemon of it.
struct Daemon {
    /// `ceph-osd`.
    program: &'static str,
    /// `osd`, as its files are named.
    kind: &'static str,
    id: String,
}

pub(super) fn cluster(context: &StepContext, ceph: Ceph) -> Made {
    let cluster = Cluster::of(context, ceph);
    let mut steps = vec![cluster.directory(), cluster.settings(), cluster.keys(), cluster.store()];
    steps.push(cluster.started(&Daemon::named("ceph-mon", "mon"), Vec::new()));
    steps.push(cluster.started(&Daemon::named("ceph-mgr", "mgr"), vec![cluster.data_of("mgr")]));
    let devices: Vec<&str> = context.paths().collect();
    for (index, device) in devices.iter().enumerate() {
        steps.extend([cluster.osd(index, device), cluster.osd_started(index, device)]);
    }
    if let Some(last) = steps.last_mut() {
        last.wait = Some(Wait::Osds(cluster.settings.clone()));
    }
    steps.push(cluster.pools(devices.len()));
    let metadata = cluster.started(&Daemon::named("ceph-mds", "mds"), vec![cluster.data_of("mds")]);
    steps.push(Change { wait: Some(Wait::Cluster(cluster.settings.clone())), ..metadata });
    let at = context.names.mount(&context.layer.name);
    steps.extend([directory(&at), cluster.mounted(&at)]);
    Made { steps, products: vec![Product::Directory(at)] }
}

impl Daemon {
    fn named(program: &'static str, kind: &'static str) -> Daemon {
        Daemon { program, kind, id: "a".to_string() }
    }

    fn osd(index: usize) -> Daemon {
        Daemon { program: "ceph-osd", kind: "osd", id: index.to_string() }
    }

    fn name(&self) -> String {
        format!("{}.{}", self.kind, self.id)
    }
}

impl<'a> Cluster<'a> {
    fn of(context: &'a StepContext<'a>, ceph: Ceph) -> Cluster<'a> {
        let place = context.names.cluster(&context.layer.name);
        Cluster { context, ceph, settings: format!("{place}/ceph.conf"), place }
    }

    fn at(&self, name: &str) -> String {
        format!("{}/{name}", self.place)
    }

    /// A command of `ceph` about this cluster.
    fn tell(&self, line: &str) -> Action {
        Action::Run(words(&self.settings, line))
    }

    /// What removes a file or directory of ours.
    fn gone(&self, name: &str) -> (Condition, Action) {
        let path = self.at(name);
        (Condition::Path(path.clone()), run("rm --recursive --", &[path.as_str()]))
    }

    fn data_of(&self, kind: &str) -> Action {
        run("mkdir --parents --", &[self.at(kind).as_str()])
    }

    fn directory(&self) -> Change {
        let place = self.place.as_str();
        let there = Condition::Path(place.to_string());
        Change {
            // It has the keys of the cluster.
            apply: vec![run("mkdir --parents --mode=0700 --", &[place])],
            undo: vec![(there.clone(), run("rm --recursive --", &[place]))],
            ..Change::new(say!("make the directory {place}", "создать каталог {place}"), there)
        }
    }

    fn settings(&self) -> Change {
        let (path, text) = (self.settings.clone(), self.configuration());
        let what = say!("write the settings of the cluster", "записать настройки кластера");
        // A line end comes behind it.
        let done = Condition::File { path: path.clone(), size: text.len() as u64 + 1 };
        Change { apply: vec![Action::Tell { path, value: text }], ..Change::new(what, done) }
    }

    /// Everything is below its directory and on the loopback. Only one protocol, so that a port is one of a daemon, and no sockets for
    /// orders: their paths would be too long.
    fn configuration(&self) -> String {
        let (place, fsid, address) = (&self.place, self.fsid(), self.address());
        let (size, min_size) = self.ceph.pool.metadata();
        let (memory, osd_memory) = (MEMORY.0, self.ceph.osd_memory.0);
        let lines = [
            "[global]",
            &format!("fsid = {fsid}"),
            &format!("mon host = {address}"),
            "public addr = 127.0.0.1",
            "cluster addr = 127.0.0.1",
            "ms bind msgr1 = false",
            "auth allow insecure global id reclaim = false",
            &format!("keyring = {place}/keyring"),
            &format!("run dir = {place}"),
            &format!("crash dir = {place}"),
            "admin socket =",
            &format!("pid file = {place}/$name.pid"),
            &format!("log file = {place}/$name.log"),
            &format!("mon cluster log file = {place}/cluster.log"),
            "debug rocksdb = 1/5",
            "debug bluefs = 1/5",
            &format!("mon data = {place}/mon"),
            &format!("mgr data = {place}/mgr"),
            &format!("mds data = {place}/mds"),
            &format!("osd data = {place}/$name"),
            // What is free on the system's drive is no matter of the cluster that is measured.
            "mon data avail warn = 5",
            "mgr initial modules =",
            &format!("mon memory target = {memory}"),
            &format!("mds cache memory limit = {memory}"),
            &format!("osd memory target = {osd_memory}"),
            // Copies on different OSDs, not hosts.
            "osd crush chooseleaf type = 0",
            &format!("osd pool default size = {size}"),
            &format!("osd pool default min size = {min_size}"),
            // No group is split or joined while something is measured.
            "osd pool default pg autoscale mode = off",
            "[client]",
            "log file =",
            &format!("pid file = {place}/client.pid"),
        ];
        lines.join("\n")
    }

    fn fsid(&self) -> String {
        self.context.uuid(0)
    }

    fn uuid_of(&self, osd: usize) -> String {
        self.context.uuid(osd + 1)
    }

    fn address(&self) -> String {
        format!("[v2:127.0.0.1:{}]", PORTS + self.context.names.number(&self.context.layer.name) % 10_000)
    }

    /// The monitor takes all keys and rights when its store is made, so that nothing has to be asked of it later.
    fn keys(&self) -> Change {
        let (path, new) = (self.at("keyring"), self.at("keyring.new"));
        let key = |name: &str, rights: &[(&str, &str)]| {
            let words = ["ceph-authtool", &new, "--gen-key", "--name", name].map(String::from);
            let rights = rights.iter().flat_map(|(of, what)| ["--cap", of, what].map(String::from));
            Action::Run(words.into_iter().chain(rights).collect())
        };
        let all = [("mon", "allow *"), ("osd", "allow *"), ("mds", "allow *"), ("mgr", "allow *")];
        let osd = [("mon", "allow profile osd"), ("osd", "allow *"), ("mgr", "allow profile osd")];
        let manager = [("mon", "allow profile mgr"), ("osd", "allow *"), ("mds", "allow *")];
        let metadata =
            [("mon", "allow profile mds"), ("osd", "allow *"), ("mds", "allow *"), ("mgr", "allow profile mds")];
        let mut apply = vec![
            run("ceph-authtool --create-keyring", &[new.as_str()]),
            key("mon.", &all[..1]),
            key("client.admin", &all),
            key("mgr.a", &manager),
            key("mds.a", &metadata),
        ];
        apply.extend((0..self.context.count()).map(|index| key(&format!("osd.{index}"), &osd)));
        apply.push(run("mv --", &[new.as_str(), path.as_str()]));
        let what = say!("draw the keys of the cluster", "создать ключи кластера");
        Change { apply, ..Change::new(what, Condition::Path(path)) }
    }

    /// Made beside its place and moved there, so that a half made one is not taken for a whole one.
    fn store(&self) -> Change {
        let (map, new, store, keys) = (self.at("monmap"), self.at("mon.new"), self.at("mon"), self.at("keyring"));
        let (fsid, address) = (self.fsid(), self.address());
        let make = ["--monmap", &map, "--keyring", &keys, "--mon-data", &new];
        Change {
            apply: vec![
                run("monmaptool --create --clobber --fsid", &[&fsid, "--addv", "a", &address, &map]),
                self.run_of("ceph-mon", "a", &[&["--mkfs"], &make[..]].concat()),
                run("mv --", &[new.as_str(), store.as_str()]),
            ],
            undo: vec![self.gone("mon.new")],
            ..Change::new(say!("make the store of the monitor", "создать хранилище монитора"), Condition::Path(store))
        }
    }

    fn run_of(&self, program: &str, id: &str, more: &[&str]) -> Action {
        run(&format!("{program} --conf"), &[&[self.settings.as_str(), "--id", id], more].concat())
    }

    /// A daemon that leaves what started it. It is killed at the end: what it would still write is removed with the cluster.
    fn started(&self, daemon: &Daemon, before: Vec<Action>) -> Change {
        let (name, program) = (daemon.name(), daemon.program);
        let end = self.end(program, &daemon.id);
        let runs = self.runs(program, &daemon.id);
        let mut apply = before;
        apply.push(self.run_of(program, &daemon.id, &[]));
        Change {
            apply, undo: vec![(runs.clone(), end)], ..Change::new(say!("start {name}", "запустить {name}"), runs)
        }
    }

    fn runs(&self, program: &str, id: &str) -> Condition {
        Condition::Runs { program: program.to_string(), words: self.command_line(id) }
    }

    /// By what it was started with: the number in a file of a daemon that died may be that of another process by now.
    fn end(&self, program: &str, id: &str) -> Action {
        Action::End { program: program.to_string(), words: self.command_line(id) }
    }

    fn command_line(&self, id: &str) -> Vec<String> {
        ["--conf", &self.settings, "--id", id].map(String::from).to_vec()
    }

    fn osd(&self, index: usize, device: &str) -> Change {
        let (name, uuid) = (format!("osd.{index}"), self.uuid_of(index));
        let (new, place) = (self.at(&format!("{name}.new")), self.at(&name));
        let make = ["--mkfs", "--osd-uuid", &uuid, "--osd-data", &new];
        let (mark, id) = (Condition::Mark { device: device.to_string(), uuid: uuid.clone() }, index.to_string());
        Change {
            erases: vec![device.to_string()],
            apply: vec![
                self.tell(&format!("osd new {uuid} {id}")),
                run("mkdir --", &[new.as_str()]),
                self.link(&new, device),
                self.run_of("ceph-osd", &id, &make),
                run("mv --", &[new.as_str(), place.as_str()]),
            ],
            undo: vec![
                (mark, Action::Wipe { device: device.to_string(), uuid }),
                self.gone(&format!("{name}.new")),
                self.gone(&name),
            ],
            ..Change::new(say!("make {name} on {device}", "создать {name} на {device}"), Condition::Path(place))
        }
    }

    /// The kernel name of a drive may be another one since the machine was started.
    fn osd_started(&self, index: usize, device: &str) -> Change {
        let daemon = Daemon::osd(index);
        self.started(&daemon, vec![self.link(&self.at(&daemon.name()), device)])
    }

    fn link(&self, place: &str, device: &str) -> Action {
        let (device, link) = ((self.context.lasting)(device), format!("{place}/block"));
        run("ln --symbolic --force --no-dereference --", &[device.as_str(), link.as_str()])
    }

    fn pools(&self, osds: usize) -> Change {
        let groups = groups(osds as u32, self.ceph.pool.width());
        let make = |name: &str, groups: u32, kind: &str| {
            self.tell(&format!("osd pool create {name} {groups} {groups} {kind}"))
        };
        let metadata = make("metadata", METADATA_GROUPS, "replicated");
        let apply = match self.ceph.pool {
            CephPool::Replicated { .. } => {
                vec![metadata, make("data", groups, "replicated"), self.tell("fs new main metadata data")]
            }
            CephPool::Erasure { k, m } => vec![
                metadata,
                self.tell(&format!("osd erasure-code-profile set data k={k} m={m} crush-failure-domain=osd")),
                make("data", groups, "erasure data"),
                self.tell("osd pool set data allow_ec_overwrites true"),
                // The only pool for data, so that what is free in the file system is what is free in it. Ceph advises against that for many
                // small files, whose way back to their directory is kept there, too.
                self.tell("fs new main metadata data --force"),
            ],
        };
        let text = "name: main, metadata pool: metadata, data pools: [data ]".to_string();
        let done = Condition::Prints { words: words(&self.settings, "fs ls"), text };
        Change { apply, ..Change::new(self.layout(), done) }
    }

    /// What the user has to know of the cluster before it is made.
    fn layout(&self) -> Say {
        let Say { en, ru } = match self.ceph.pool {
            CephPool::Replicated { size, min_size } => say!(
                "make the file system with {size} copies (I/Os wait with fewer than {min_size})",
                "создать файловую систему с копиями: {size} (если их меньше {min_size}, ввод-вывод ждёт)"
            ),
            CephPool::Erasure { k, m } => say!(
                "make the file system with erasure coding {k}+{m}",
                "создать файловую систему с erasure coding {k}+{m}"
            ),
        };
        let Say { en: sizes, ru: sizes_ru } = self.unequal();
        say!(
            "{en} on different drives of this one host, whose loss takes all of them{sizes}",
            "{ru} на разных накопителях одной этой машины: с её потерей теряется всё{sizes_ru}"
        )
    }

    fn unequal(&self) -> Say {
        let sizes = || self.context.below.iter().filter_map(|device| device.size);
        match (sizes().min(), sizes().max()) {
            (Some(least), Some(most)) if least < most => {
                let shown = |lang: Lang| [least, most].map(|size| format::bytes(Bytes(size), lang));
                let ([least, most], [from, to]) = (shown(Lang::En), shown(Lang::Ru));
                say!(
                    "; drives of {least} to {most}: larger ones get more data and more of the load",
                    "; размеры накопителей от {from} до {to}: больший получает больше данных и нагрузки"
                )
            }
            _ => Say::same(String::new()),
        }
    }

    fn mounted(&self, at: &str) -> Change {
        let there = Condition::Mounted(at.to_string());
        // By its source what the file system lies on is found.
        let options = format!("fsname={},subtype=ceph-fuse", self.place);
        let client = "ceph-fuse";
        Change {
            apply: vec![self.run_of(client, "admin", &["-o", &options, at])],
            undo: vec![
                (there.clone(), run("umount --", &[at])),
                // It may wait for a cluster that no longer answers.
                (self.runs(client, "admin"), self.end(client, "admin")),
            ],
            ..Change::new(say!("mount the file system at {at}", "смонтировать файловую систему в {at}"), there)
        }
    }
}

/// Placement groups of a pool whose objects are on so many of the OSDs: the power of two below what Ceph advises.
fn groups(osds: u32, width: u32) -> u32 {
    let advised = (GROUPS_PER_OSD * osds / width.max(1)).max(1);
    1 << advised.ilog2()
}
