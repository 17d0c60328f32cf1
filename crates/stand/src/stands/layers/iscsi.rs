//! Devices handed out by the kernel's iSCSI target and taken in again by an initiator, over one path or several: on the loopback
//! by that of the same host, or by that of another one.
//!
//! Source: the tree of Linux 6.12, drivers/target/target_core_configfs.c, drivers/target/iscsi/iscsi_target_configfs.c,
//! iscsiadm(8) of open-iscsi 2.1.

use super::super::product::Product;
use super::exports::{CONFIG, configuration, is, made_directory, tell};
use super::multipath::{self, Paths};
use super::{Made, StepContext, rdma};
use crate::change::{Action, Change, Condition, run};
use stend_base::say;
use stend_spec::stand::{Iscsi, IscsiTransport};

/// Numbers of ports of stands begin here, and paths of one follow each other.
const PORTS: u16 = 30_000;
/// Name by which another host logs in.
const USER: &str = "stend";

/// Directories and names of one target.
struct Target {
    /// Its name.
    iqn: String,
    /// Where its devices are set up.
    store: String,
    /// Where what it offers is set up: for all paths, or for each where they are not alike.
    groups: Vec<Group>,
    /// Addresses of its paths, in turn: the loopback, that of an interface with nothing behind it, or those by which the other host
    /// reaches this one.
    hosts: Vec<String>,
    /// Whether it goes over RDMA.
    iser: bool,
    /// Ports of its paths.
    ports: Vec<u16>,
    /// So many of these, the first ones, are set to optimised.
    active: usize,
    /// With which others of the network are kept out.
    secret: Option<String>,
}

/// What a target offers over some of its ports.
struct Group {
    /// Where it is set up.
    at: String,
    /// Its number, from 1 on.
    number: usize,
    /// Its ports.
    ports: Vec<u16>,
}

pub(super) fn iscsi(context: &StepContext, iscsi: &Iscsi) -> Made {
    let number = context.names.number(&context.layer.name);
    let iqn = format!("iqn.2003-01.org.linux-iscsi:{}", context.uuid(0));
    let first = PORTS + number % 20_000;
    let iser = iscsi.transport == IscsiTransport::Iser;
    let ports: Vec<u16> = (0..iscsi.paths as u16).map(|path| first + path).collect();
    // How near a path is belongs to a unit of a group: paths that are not alike have a group each.
    let alike = if iscsi.active < iscsi.paths { 1 } else { ports.len() };
    let group = |(number, ports): (usize, &[u16])| Group {
        at: format!("{CONFIG}/target/iscsi/{iqn}/tpgt_{number}"),
        number,
        ports: ports.to_vec(),
    };
    let target = Target {
        store: format!("{CONFIG}/target/core/iblock_{number}"),
        groups: (1..).zip(ports.chunks(alike)).map(group).collect(),
        hosts: (0..ports.len())
            .map(|path| if iser { rdma::address(context, path) } else { context.address_of(path).to_string() })
            .collect(),
        iser,
        ports,
        active: iscsi.active as usize,
        iqn,
        secret: context.secret(),
    };
    let mut steps = if iser { rdma::card(context, iscsi.soft_roce) } else { Vec::new() };
    if context.hands_out() {
        steps.extend(target.handed_out(context));
    }
    if context.takes_in() {
        steps.push(initiator());
        steps.extend(target.ports.iter().map(|port| target.log_in(*port)));
    }
    let disk = |index: usize, port: u16| Product::ScsiDisk { serial: context.uuid(index + 1), port };
    if let [port] = target.ports[..] {
        return Made { steps, products: (0..context.count()).map(|index| disk(index, port)).collect() };
    }
    let mut products = Vec::new();
    if context.takes_in() {
        steps.extend(target.ports.iter().map(|port| appear(context, target.host(*port), *port)));
    }
    for index in 0..context.count() {
        let disks: Vec<String> = target.ports.iter().map(|port| (context.path)(&disk(index, *port))).collect();
        let name = format!("{}-{}", context.name(), index + 1);
        if context.takes_in() {
            // On another host only the disk shows its size.
            let size = context.below[index].size.or_else(|| (context.size)(&disk(index, target.ports[0])));
            let (near, far) = disks.split_at((iscsi.active as usize).min(disks.len()));
            let groups = [near, far].into_iter().filter(|paths| !paths.is_empty()).map(<[String]>::to_vec).collect();
            let handler = (!far.is_empty()).then(|| "alua".to_string());
            let paths = Paths { groups, handler, policy: iscsi.policy };
            steps.push(multipath::joined(&name, &context.uuid(context.count() + 1 + index), &paths, size));
        }
        products.push(Product::Mapping(name));
    }
    Made { steps, products }
}

impl Target {
    /// Address of the path with this port.
    fn host(&self, port: u16) -> &str {
        let path = self.ports.iter().position(|known| *known == port).unwrap_or(0);
        &self.hosts[path]
    }

    /// The side of the host with the devices.
    fn handed_out(&self, context: &StepContext) -> Vec<Change> {
        let mut steps = vec![configuration(), modules()];
        steps.push(made_directory(&self.store));
        steps.extend(
            context.paths().enumerate().map(|(index, device)| self.device(index, device, &context.uuid(index + 1))),
        );
        let far = || self.groups.iter().skip(self.active);
        steps.extend((0..context.count()).flat_map(|index| far().map(move |group| self.distance(index, group))));
        steps.push(made_directory(&format!("{CONFIG}/target/iscsi/{}", self.iqn)));
        for group in &self.groups {
            steps.push(self.offer(group));
            steps.extend((0..context.count()).map(|index| self.unit(group, index)));
            steps.extend(group.ports.iter().map(|port| self.portal(group, *port)));
        }
        steps.extend((0..context.count()).flat_map(|index| far().map(move |group| self.set_apart(index, group))));
        steps.extend(self.groups.iter().map(|group| self.open(group)));
        steps
    }

    fn disk(&self, index: usize) -> String {
        format!("{}/disk{}", self.store, index + 1)
    }

    /// Where it is set up how near a disk is over a group of ports that are not the first choice. Those of the first choice have what
    /// every disk has: optimised.
    fn ports_of(&self, index: usize, group: &Group) -> String {
        format!("{}/alua/path{}", self.disk(index), group.number)
    }

    //= linux, drivers/target/target_core_alua.h: "ALUA_ACCESS_STATE_ACTIVE_NON_OPTIMIZED 0x1", "TPGS_IMPLICIT_ALUA 0x10", as 1 in configfs
    fn distance(&self, index: usize, group: &Group) -> Change {
        let (at, disk, number) = (self.ports_of(index, group), index + 1, group.number);
        let state = format!("{at}/alua_access_state");
        Change {
            apply: vec![
                run("mkdir --", &[at.as_str()]),
                // Group 0 is that of paths of the first choice.
                tell(format!("{at}/tg_pt_gp_id"), &(number - 1).to_string()),
                // The target says which paths are near, and no initiator changes it.
                tell(format!("{at}/alua_access_type"), "1"),
                tell(state.clone(), "1"),
            ],
            undo: vec![(Condition::Path(at.clone()), run("rmdir --", &[at.as_str()]))],
            ..Change::new(
                say!(
                    "have disk{disk} not optimised over path {number}",
                    "сделать путь {number} к disk{disk} неоптимальным"
                ),
                is(state, "1"),
            )
        }
    }

    fn set_apart(&self, index: usize, group: &Group) -> Change {
        let (name, number) = (format!("path{}", group.number), group.number);
        let unit = format!("lun/lun_{index}");
        let line = format!("iSCSI/{}/tpgt_{number}/lun_{index}", self.iqn);
        let there = Condition::Says { path: format!("{}/members", self.ports_of(index, group)), line };
        Change {
            // It goes with the unit.
            apply: vec![tell(format!("{}/{unit}/alua_tg_pt_gp", group.at), &name)],
            ..Change::new(
                say!(
                    "tell that of unit {index} at path {number}",
                    "сообщить это об устройстве {index} на пути {number}"
                ),
                there,
            )
        }
    }

    fn device(&self, index: usize, device: &str, serial: &str) -> Change {
        let at = self.disk(index);
        let enable = format!("{at}/enable");
        Change {
            erases: vec![device.to_string()],
            apply: vec![
                run("mkdir --", &[at.as_str()]),
                tell(format!("{at}/control"), &format!("udev_path={device}")),
                tell(format!("{at}/wwn/vpd_unit_serial"), serial),
                tell(enable.clone(), "1"),
            ],
            undo: vec![(Condition::Path(at.clone()), run("rmdir --", &[at.as_str()]))],
            ..Change::new(say!("export {device} over iSCSI", "экспортировать {device} по iSCSI"), is(enable, "1"))
        }
    }

    /// Any process that reaches the loopback may log in and write; over a network, anyone who knows the stand.
    fn offer(&self, Group { at: group, .. }: &Group) -> Change {
        let iqn = &self.iqn;
        let attribute = |name: &str| format!("{group}/attrib/{name}");
        // Last, so that a group that has it is whole.
        let whole = is(attribute("generate_node_acls"), "1");
        let mut apply = vec![run("mkdir --", &[group.as_str()])];
        if let Some(secret) = &self.secret {
            let told = [("userid", USER), ("password", secret)];
            apply.extend(told.map(|(name, value)| tell(format!("{group}/auth/{name}"), value)));
        }
        let authentication = if self.secret.is_some() { "1" } else { "0" };
        apply.extend([
            tell(attribute("authentication"), authentication),
            tell(attribute("demo_mode_write_protect"), "0"),
            tell(attribute("cache_dynamic_acls"), "1"),
            tell(attribute("generate_node_acls"), "1"),
        ]);
        Change {
            apply,
            undo: vec![(Condition::Path(group.clone()), run("rmdir --", &[group.as_str()]))],
            ..Change::new(say!("make the target {iqn}", "создать цель {iqn}"), whole)
        }
    }

    fn unit(&self, group: &Group, index: usize) -> Change {
        let unit = format!("{}/lun/lun_{index}", group.at);
        let name = format!("disk{}", index + 1);
        let (link, disk) = (format!("{unit}/{name}"), self.disk(index));
        let there = Condition::Path(link.clone());
        Change {
            apply: vec![run("mkdir --", &[unit.as_str()]), run("ln --symbolic --", &[disk.as_str(), link.as_str()])],
            undo: vec![
                (there.clone(), run("rm --", &[link.as_str()])),
                (Condition::Path(unit.clone()), run("rmdir --", &[unit.as_str()])),
            ],
            ..Change::new(say!("make {name} unit {index}", "сделать {name} устройством {index}"), there)
        }
    }

    fn portal(&self, group: &Group, port: u16) -> Change {
        let at = format!("{}/np/{}:{port}", group.at, self.host(port));
        let mut made = made_directory(&at);
        if self.iser {
            let over = format!("{at}/iser");
            made.done = is(over.clone(), "1");
            made.apply.insert(0, Action::Module("ib_isert".into()));
            made.apply.push(tell(over, "1"));
        }
        made
    }

    fn open(&self, group: &Group) -> Change {
        let (enable, iqn) = (format!("{}/enable", group.at), &self.iqn);
        let open = is(enable.clone(), "1");
        Change {
            apply: vec![tell(enable.clone(), "1")],
            undo: vec![(open.clone(), tell(enable, "0"))],
            ..Change::new(say!("open {iqn}", "открыть {iqn}"), open)
        }
    }

    fn log_in(&self, port: u16) -> Change {
        let Target { iqn, .. } = self;
        let portal = format!("{}:{port}", self.host(port));
        let new: &[&str] = if self.iser { &["--op", "new", "--interface", "iser"] } else { &["--op", "new"] };
        let node = |more: &[&str]| {
            let words = [&["--targetname", iqn, "--portal", &portal], more].concat();
            run("iscsiadm --mode node", &words)
        };
        let there = Condition::Session { target: iqn.clone(), port };
        // That of TCP is loaded with the initiator.
        let module = self.iser.then_some(Action::Module("ib_iser".into()));
        let update = |name: &str, value: &str| node(&["--op", "update", "--name", name, "--value", value]);
        // A restart of the machine ends the target; a login at boot would wait for it.
        let mut apply: Vec<Action> = module.into_iter().chain([node(new), update("node.startup", "manual")]).collect();
        if let Some(secret) = &self.secret {
            let told = [("authmethod", "CHAP"), ("username", USER), ("password", secret)];
            apply.extend(told.map(|(name, value)| update(&format!("node.session.auth.{name}"), value)));
        }
        apply.push(node(&["--login"]));
        Change {
            apply,
            undo: vec![
                // One that failed keeps a second login away, and its disks.
                (Condition::SessionBegun { target: iqn.clone(), port }, node(&["--logout"])),
                (Condition::NodeRecord { target: iqn.clone(), portal: portal.clone() }, node(&["--op", "delete"])),
            ],
            ..Change::new(say!("log in to {iqn} at {portal}", "подключиться к {iqn} через {portal}"), there)
        }
    }
}

fn modules() -> Change {
    let fabric = format!("{CONFIG}/target/iscsi");
    let modules = ["target_core_mod", "target_core_iblock", "iscsi_target_mod"].map(|name| Action::Module(name.into()));
    Change {
        // It stays: others use it as well.
        apply: modules.into_iter().chain([run("mkdir --", &[fabric.as_str()])]).collect(),
        ..Change::new(say!("load the kernel's iSCSI target", "загрузить цель iSCSI ядра"), Condition::Path(fabric))
    }
}

/// It stays, as systemd would have left it: others may have begun to use it.
fn initiator() -> Change {
    Change {
        apply: vec![Action::Module("iscsi_tcp".into()), run("iscsid", &[])],
        ..Change::new(say!("start the initiator of iSCSI", "запустить инициатор iSCSI"), Condition::Initiator)
    }
}

/// Sessions are open before the kernel has looked for disks in them.
fn appear(context: &StepContext, host: &str, port: u16) -> Change {
    let disks =
        Condition::ScsiDisks { serials: (0..context.count()).map(|index| context.uuid(index + 1)).collect(), port };
    Change::new(say!("find the disks at {host}:{port}", "найти диски через {host}:{port}"), disks)
}
