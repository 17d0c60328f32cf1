//! Block devices that this host hands out over NVMe-oF, iSCSI, Fibre Channel or NBD, and what it is connected to itself. The kernel's
//! targets open them without a holder, so that nothing else shows that they are used. Reads only.

use crate::escapes::unescape;
use crate::node::Node;
use crate::roots::{Roots, names, number, text};
use std::path::{Path, PathBuf};

/// Where the kernel's NVMe-oF target is set up, below `/sys`.
const SUBSYSTEMS: &str = "kernel/config/nvmet/subsystems";
/// Where devices of the kernel's SCSI target are set up, below `/sys`.
const STORES: &str = "kernel/config/target/core";
/// Notes of what stands have taken in over NBD, below `/run`.
const ATTACHED: &str = "stend/nbd";
/// In such a note: what is handed out is of another host.
pub(crate) const ANOTHER_HOST: &str = "-";
/// The socket of the initiator of iSCSI, whatever serves it: `iscsid` itself, or systemd until the first call.
///
/// Source: usr/mgmt_ipc.h of open-iscsi 2.1.
const INITIATOR: &str = "@ISCSIADM_ABSTRACT_NAMESPACE";

/// A device that is handed out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Export {
    /// Its path, as the target got it.
    pub path: String,
    /// Under which name it is handed out.
    pub name: String,
    /// By what hosts that connect to it know it.
    end: End,
}

/// By what the other end of an export is known.
#[derive(Debug, Clone, PartialEq, Eq)]
enum End {
    /// UUID of a namespace of NVMe.
    Namespace(String),
    /// Serial number of a SCSI disk.
    Disk(String),
    /// Kernel name of a device of NBD.
    Attached(String),
    /// A device of another host.
    Far,
}

impl Export {
    /// Whether a device of this host is the other end of it.
    pub(crate) fn ends_in(&self, node: &Node) -> bool {
        match &self.end {
            End::Namespace(uuid) => is_namespace(node, uuid),
            End::Disk(serial) => is_disk(node, serial),
            End::Attached(name) => node.name == *name,
            End::Far => false,
        }
    }
}

/// Whether a device is the NVMe namespace with this UUID.
pub(crate) fn is_namespace(node: &Node, uuid: &str) -> bool {
    let known = text(node.sysfs.join("wwid"));
    known.as_deref().and_then(|id| id.strip_prefix("uuid.")).is_some_and(|own| own.eq_ignore_ascii_case(uuid))
}

/// Whether a device is the SCSI disk with this serial number.
pub(crate) fn is_disk(node: &Node, serial: &str) -> bool {
    // Asked first, because most devices have none: a partition of the disk has no page of its own.
    !serial.is_empty() && node.sysfs.join("device/vpd_pg80").exists() && node.serial().as_deref() == Some(serial)
}

/// Everything that is handed out now.
pub(crate) fn all(roots: &Roots) -> Vec<Export> {
    let mut found = over_nvme(roots);
    found.extend(over_scsi(roots));
    found.extend(
        attached(roots)
            .into_iter()
            .filter_map(|end| Some(Export { path: end.of?, name: end.export, end: End::Attached(end.name) })),
    );
    for export in served(roots) {
        if !found.iter().any(|known| known.name == export.name) {
            found.push(export);
        }
    }
    found
}

/// What NBD servers of stands hand out: a client on another host cannot be seen from here.
fn served(roots: &Roots) -> Vec<Export> {
    let place = roots.run.join(ATTACHED);
    let settings = names(&place).into_iter().filter(|name| name.ends_with(".conf"));
    // A server got the path as it is, not below another root.
    let running = settings.filter(|name| serves(roots, &format!("/run/{ATTACHED}/{name}")));
    running.flat_map(|name| exported(&std::fs::read_to_string(place.join(name)).unwrap_or_default())).collect()
}

/// The exports of a configuration as `nbd-server` reads it: `[NAME]`, and below it `exportname = PATH`.
fn exported(settings: &str) -> Vec<Export> {
    let mut section = "";
    let mut found = Vec::new();
    for line in settings.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name;
        }
        if let Some(path) = line.strip_prefix("exportname = ") {
            found.push(Export { path: path.to_string(), name: section.to_string(), end: End::Far });
        }
    }
    found
}

/// A device of NBD that a stand has taken in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attached {
    /// Its kernel name.
    pub name: String,
    /// Name of the export, which is drawn for the stand.
    pub export: String,
    /// Path of the device that is handed out; `None`: it is of another host.
    pub of: Option<String>,
}

/// Devices of NBD that stands have taken in. The kernel tells of one only who connected it: what it is the other end of is in a note
/// beside, which counts as long as that connection is there.
pub(crate) fn attached(roots: &Roots) -> Vec<Attached> {
    let notes = roots.run.join(ATTACHED);
    let of = |name: String| {
        let told = text(notes.join(&name))?;
        let mut words = told.split(' ');
        let (pid, export, of) = (words.next()?, words.next()?, words.next()?);
        let connected = text(roots.sys.join("class/block").join(&name).join("pid"));
        let of = (of != ANOTHER_HOST).then(|| of.to_string());
        (connected.as_deref() == Some(pid)).then(|| Attached { name, export: export.into(), of })
    };
    names(&notes).into_iter().filter(|name| name.starts_with("nbd")).filter_map(of).collect()
}

/// The note of a device of NBD.
pub(crate) fn note(roots: &Roots, name: &str) -> PathBuf {
    roots.run.join(ATTACHED).join(name)
}

/// The first device of NBD that nobody has connected.
pub(crate) fn unattached(roots: &Roots) -> Option<String> {
    let class = roots.sys.join("class/block");
    let mut found: Vec<(u32, String)> = names(&class)
        .into_iter()
        .filter_map(|name| Some((name.strip_prefix("nbd")?.parse().ok()?, name)))
        .filter(|(_, name)| text(class.join(name).join("pid")).is_none())
        .filter(|(_, name)| number(class.join(name).join("size")) == Some(0))
        .collect();
    found.sort();
    found.into_iter().next().map(|(_, name)| name)
}

/// Whether an `nbd-server` runs with these settings.
pub(crate) fn serves(roots: &Roots, settings: &str) -> bool {
    runs_with(roots, "nbd-server", &[settings.to_string()])
}

/// Ids of the processes with this name.
fn processes(roots: &Roots, program: &str) -> Vec<String> {
    let ids = names(&roots.proc).into_iter().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    ids.filter(|pid| text(roots.proc.join(pid).join("comm")).as_deref() == Some(program)).collect()
}

fn over_nvme(roots: &Roots) -> Vec<Export> {
    let subsystems = roots.sys.join(SUBSYSTEMS);
    let of = |name: String| {
        let namespaces = subsystems.join(&name).join("namespaces");
        let one = |of: &String| {
            let namespace = namespaces.join(of);
            let enabled = number(namespace.join("enable")) == Some(1);
            let (path, uuid) = (text(namespace.join("device_path"))?, text(namespace.join("device_uuid"))?);
            enabled.then(|| Export { path, name: name.clone(), end: End::Namespace(uuid) })
        };
        names(&namespaces).iter().filter_map(one).collect::<Vec<_>>()
    };
    names(&subsystems).into_iter().flat_map(of).collect()
}

/// Devices that the SCSI target has open, by whatever it hands them out.
fn over_scsi(roots: &Roots) -> Vec<Export> {
    let stores = roots.sys.join(STORES);
    let of = |store: String| {
        let one = |disk: &String| {
            let at = stores.join(&store).join(disk);
            let enabled = number(at.join("enable")) == Some(1);
            let path = opened(&at)?;
            let serial = text(at.join("wwn/vpd_unit_serial")).unwrap_or_default();
            let serial = serial.rsplit_once(": ").map_or("", |(_, serial)| serial).to_string();
            enabled.then(|| Export { path, name: format!("{store}/{disk}"), end: End::Disk(serial) })
        };
        names(stores.join(&store)).iter().filter_map(one).collect::<Vec<_>>()
    };
    names(&stores).into_iter().flat_map(of).collect()
}

/// What a device of the SCSI target lies on: `… UDEV PATH: /dev/sdb …` of a block device, `… File: /dev/sdb …` of a file.
fn opened(at: &Path) -> Option<String> {
    let told = text(at.join("info"))?;
    let after = ["UDEV PATH: ", "File: "].iter().find_map(|key| told.split_once(key))?.1;
    after.split_whitespace().next().map(str::to_string)
}

/// Whether this host is connected to a subsystem.
pub(crate) fn is_connected(roots: &Roots, subsystem: &str) -> bool {
    let class = roots.sys.join("class/nvme");
    names(&class).iter().any(|name| text(class.join(name).join("subsysnqn")).as_deref() == Some(subsystem))
}

/// Name of the controller by which this host is connected to a subsystem over a service.
pub(crate) fn controller(roots: &Roots, subsystem: &str, service: &str) -> Option<String> {
    let found = controllers(roots, subsystem).into_iter().find(|controller| controller.service == service);
    found.map(|controller| controller.name)
}

/// One way to a subsystem of NVMe over a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Controller {
    /// Its name in the kernel.
    pub name: String,
    /// What it goes over: `tcp`, `rdma`, …
    pub transport: String,
    /// Address of the target.
    pub address: String,
    /// Its service: a port of TCP.
    pub service: String,
    /// As whom this host is connected: the name and the identifier of a host, where the kernel tells them.
    pub host: Option<(String, String)>,
}

impl Controller {
    /// What connects it to its subsystem again, as the same host: a target may let in no other.
    pub(crate) fn connect(&self, subsystem: &str) -> Vec<String> {
        let Controller { transport, address, service, host, .. } = self;
        let way = [("transport", transport.as_str()), ("traddr", address), ("trsvcid", service), ("nqn", subsystem)];
        let host = host.iter().flat_map(|(name, id)| [("hostnqn", name.as_str()), ("hostid", id)]);
        let options = way.into_iter().chain(host).map(|(key, value)| format!("--{key}={value}"));
        ["nvme", "connect"].map(String::from).into_iter().chain(options).collect()
    }
}

/// The controllers by which this host is connected to a subsystem, by their services.
//= linux, drivers/nvme/host/fabrics.c, nvmf_get_address(): "traddr=%s,trsvcid=%s…"
pub(crate) fn controllers(roots: &Roots, subsystem: &str) -> Vec<Controller> {
    let class = roots.sys.join("class/nvme");
    let of = |name: String| {
        let at = class.join(&name);
        (text(at.join("subsysnqn")).as_deref() == Some(subsystem)).then_some(())?;
        let told = text(at.join("address"))?;
        let part = |key: &str| told.split(',').find_map(|part| part.strip_prefix(key)).map(str::to_string);
        let (address, service) = (part("traddr=")?, part("trsvcid=")?);
        let host = text(at.join("hostnqn")).zip(text(at.join("hostid")));
        Some(Controller { name, transport: text(at.join("transport"))?, address, service, host })
    };
    let mut found: Vec<Controller> = names(&class).into_iter().filter_map(of).collect();
    found.sort_by(|one, other| one.service.cmp(&other.service));
    found
}

/// What the kernel has of a subsystem of NVMe: its directory in sysfs.
pub(crate) fn subsystem(roots: &Roots, name: &str) -> Option<PathBuf> {
    let class = roots.sys.join("class/nvme-subsystem");
    let is = |known: &String| text(class.join(known).join("subsysnqn")).as_deref() == Some(name);
    names(&class).into_iter().find(is).map(|known| class.join(known))
}

/// A session of this host with an iSCSI target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Session {
    /// Port of the target.
    pub port: u16,
    /// It is logged in; otherwise it has failed, or is being given up.
    pub is_open: bool,
}

/// Sessions of this host with an iSCSI target, in whatever state.
pub(crate) fn sessions(roots: &Roots, target: &str) -> Vec<Session> {
    let class = roots.sys.join("class/iscsi_session");
    let of = |name: &String| text(class.join(name).join("targetname")).as_deref() == Some(target);
    let session = |name: String| {
        let is_open = text(class.join(&name).join("state")).as_deref() == Some("LOGGED_IN");
        Some(Session { port: port_of(roots, &name)?, is_open })
    };
    names(&class).into_iter().filter(of).filter_map(session).collect()
}

/// Whether a SCSI disk is reached over a session with this port.
pub(crate) fn comes_over(roots: &Roots, node: &Node, port: u16) -> bool {
    let mut parts = node.sysfs.components().map(|part| part.as_os_str().to_string_lossy());
    parts.any(|part| part.starts_with("session") && port_of(roots, &part) == Some(port))
}

/// `session3` has the connection `connection3:0`.
fn port_of(roots: &Roots, session: &str) -> Option<u16> {
    let number = session.strip_prefix("session")?;
    let connection = roots.sys.join(format!("class/iscsi_connection/connection{number}:0"));
    text(connection.join("persistent_port"))?.parse().ok()
}

/// Whether the initiator has a record of a target at an address.
pub(crate) fn has_record(target: &str, portal: &str) -> bool {
    let words = ["iscsiadm", "--mode", "node"].map(String::from);
    // Without an initiator, and without records, there is none.
    let told = crate::command::execute_plainly(&words, &|| false, &mut |_| {}).unwrap_or_default();
    told.lines().any(|line| {
        line.split_once(' ').is_some_and(|(at, name)| name == target && at.split(',').next() == Some(portal))
    })
}

/// A directory that the NFS server hands out to a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shared {
    /// Its path.
    pub path: String,
    /// An address, a name, a network or `*`.
    pub client: String,
    /// By what clients know its file system, where it was chosen.
    pub fsid: Option<String>,
}

/// Everything that the NFS server hands out.
///
/// Source: exports(5), "/var/lib/nfs/etab" of nfs-utils 2.6 and 2.8.
pub(crate) fn shared(roots: &Roots) -> Vec<Shared> {
    let table = text(roots.state.with_file_name("nfs").join("etab")).unwrap_or_default();
    let of = |line: &str| {
        let (path, (client, options)) =
            line.split_once('\t').and_then(|(path, of)| Some((path, of.split_once('(')?)))?;
        let fsid = options.split([',', ')']).find_map(|option| option.strip_prefix("fsid="));
        Some(Shared { path: unescape(path), client: client.to_string(), fsid: fsid.map(str::to_string) })
    };
    table.lines().filter_map(of).collect()
}

/// Whether a program of this name runs.
pub(crate) fn runs(roots: &Roots, program: &str) -> bool {
    !processes(roots, program).is_empty()
}

/// Whether a program of this name runs that was started with all of these words.
pub(crate) fn runs_with(roots: &Roots, program: &str, words: &[String]) -> bool {
    !started_with(roots, program, words).is_empty()
}

/// Ids of the processes of this name that were started with all of these words. One that has ended has no words any more.
pub(crate) fn started_with(roots: &Roots, program: &str, words: &[String]) -> Vec<u32> {
    let has = |pid: &String| {
        let line = std::fs::read(roots.proc.join(pid).join("cmdline")).unwrap_or_default();
        let own: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        words.iter().all(|word| own.contains(&word.as_bytes()))
    };
    processes(roots, program).into_iter().filter(has).filter_map(|pid| pid.parse().ok()).collect()
}

/// Whether the initiator of iSCSI takes orders.
pub(crate) fn initiator_listens(roots: &Roots) -> bool {
    let sockets = text(roots.proc.join("net/unix")).unwrap_or_default();
    sockets.lines().any(|line| line.split_whitespace().last() == Some(INITIATOR))
}

/// Name of the network interface that has an address.
pub(crate) fn interface(address: &str) -> Option<String> {
    let words = ["ip", "-o", "-4", "address", "show", "to", address].map(String::from);
    // `2: eth0    inet 10.77.0.1/24 …`; nothing where there is none.
    let told = crate::command::execute_plainly(&words, &|| false, &mut |_| {}).ok()?;
    told.lines().next()?.split_whitespace().nth(1).map(str::to_string)
}

/// Whether a network interface has a card for RDMA, be it one that the kernel imitates.
//= linux, Documentation/ABI/stable/sysfs-class-infiniband, /sys/class/infiniband/<device>/ports/<port-num>/gid_attrs/ndevs/<n>
pub(crate) fn has_card(roots: &Roots, interface: &str) -> bool {
    let class = roots.sys.join("class/infiniband");
    let mut ports = names(&class).into_iter().flat_map(|card| {
        let ports = class.join(card).join("ports");
        names(&ports).into_iter().map(move |port| ports.join(port).join("gid_attrs/ndevs"))
    });
    ports.any(|at| names(&at).iter().any(|number| text(at.join(number)).as_deref() == Some(interface)))
}
