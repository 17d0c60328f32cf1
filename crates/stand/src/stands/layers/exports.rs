//! Layers that hand devices out over a network protocol and take them in again, on the same host or on another one.

use super::super::product::Product;
use super::{Made, StepContext, rdma};
use crate::change::{Action, Change, Condition, run};
use stend_base::say;
use stend_spec::stand::{NvmeOf, NvmePolicy, Transport};

/// Where the kernel keeps what is configured by directories.
pub(super) const CONFIG: &str = "/sys/kernel/config";

/// Each device becomes a namespace of one subsystem, which is reached over one port or several: of the loopback, or of the address where
/// the other host of the stand reaches this one. That host tells who it is by a name of the stand, and no other one is let in.
///
/// Source: the tree of Linux 6.12, drivers/nvme/target/configfs.c, drivers/nvme/host/multipath.c.
pub(super) fn nvme_of(context: &StepContext, settings: &NvmeOf) -> Made {
    let nqn = format!("nqn.2014-08.org.nvmexpress:uuid:{}", context.uuid(0));
    let subsystem = format!("{CONFIG}/nvmet/subsystems/{nqn}");
    let ports = Port::all(context, settings);
    let guest = Guest::of(context);
    let mut made = Made::default();
    made.steps.extend((settings.paths > 1 && context.takes_in()).then(natively));
    if settings.transport == Transport::Rdma {
        made.steps.extend(rdma::card(context, settings.soft_roce));
    }
    if context.hands_out() {
        made.steps.extend([configuration(), offer(&nqn, &subsystem, settings.transport, guest.is_none())]);
        made.steps.extend(guest.iter().flat_map(|guest| guest.admit(&subsystem)));
    }
    for (index, device) in context.paths().enumerate() {
        let uuid = context.uuid(index + 1);
        if context.hands_out() {
            made.steps.push(namespace(device, &format!("{subsystem}/namespaces/{}", index + 1), &uuid));
        }
        made.products.push(Product::Namespace { uuid });
    }
    if context.hands_out() {
        made.steps.extend(ports.iter().flat_map(|port| [port.open(), port.link(&nqn, &subsystem)]));
    }
    match &ports[..] {
        _ if !context.takes_in() => {}
        [port] => made.steps.push(connect(&nqn, port, guest.as_ref())),
        [..] => {
            made.steps.extend(ports.iter().map(|port| one_path(context, &nqn, port, guest.as_ref())));
            made.steps.push(choice(context, &nqn, settings.policy));
        }
    }
    made
}

/// As whom the other host of the stand connects.
struct Guest {
    name: String,
    id: String,
}

impl Guest {
    /// `None`: the stand has one host.
    fn of(context: &StepContext) -> Option<Guest> {
        context.way?;
        let id = context.uuid(context.count() + 1);
        Some(Guest { name: format!("nqn.2014-08.org.nvmexpress:uuid:{id}"), id })
    }

    /// Lets it in.
    fn admit(&self, subsystem: &str) -> [Change; 2] {
        let name = &self.name;
        let (host, link) = (format!("{CONFIG}/nvmet/hosts/{name}"), format!("{subsystem}/allowed_hosts/{name}"));
        let there = Condition::Path(link.clone());
        let admitted = Change {
            apply: vec![run("ln --symbolic --", &[host.as_str(), link.as_str()])],
            undo: vec![(there.clone(), run("rm --", &[link.as_str()]))],
            ..Change::new(say!("let {name} in", "впустить {name}"), there)
        };
        [made_directory(&host), admitted]
    }
}

/// A port of the target.
struct Port {
    number: u16,
    transport: Transport,
    /// Address: the loopback, that of an interface with nothing behind it, or the one by which the other host reaches this one.
    host: String,
    /// Service: a port of TCP.
    service: String,
    /// Told to be optimised, or not; `None` where there is only one.
    optimised: Option<bool>,
}

impl Port {
    fn all(context: &StepContext, settings: &NvmeOf) -> Vec<Port> {
        let host = |path: usize| match settings.transport {
            Transport::Rdma => rdma::address(context, path),
            Transport::Tcp | Transport::Loop => context.address_of(path).to_string(),
        };
        let first = u32::from(context.names.number(&context.layer.name));
        let one = |path: u32| {
            Port {
                // Numbers follow each other, and none is 0.
                number: ((first - 1 + path) % u32::from(u16::MAX)) as u16 + 1,
                transport: settings.transport,
                host: host(path as usize),
                service: (20_000 + first % 10_000 + path).to_string(),
                optimised: (settings.paths > 1).then_some(path < settings.active),
            }
        };
        (0..settings.paths).map(one).collect()
    }

    fn at(&self) -> String {
        format!("{CONFIG}/nvmet/ports/{}", self.number)
    }

    fn open(&self) -> Change {
        let at = self.at();
        let file = |name: &str| format!("{at}/{name}");
        let (mut apply, done) = (vec![run("mkdir --", &[at.as_str()])], file("addr_trtype"));
        if self.transport != Transport::Loop {
            let (host, service) = (self.host.as_str(), self.service.as_str());
            let address = [("addr_adrfam", "ipv4"), ("addr_traddr", host), ("addr_trsvcid", service)];
            apply.extend(address.map(|(name, value)| tell(file(name), value)));
        }
        // Namespaces are in the first group unless set otherwise; what it is to a host that comes over this port.
        apply.extend((self.optimised == Some(false)).then(|| tell(file("ana_groups/1/ana_state"), "non-optimized")));
        // Last, so that a port with its transport is whole.
        apply.push(tell(done.clone(), self.transport.word()));
        Change {
            apply,
            undo: vec![(Condition::Path(at.clone()), run("rmdir --", &[at.as_str()]))],
            ..Change::new(say!("open the port {at}", "открыть порт {at}"), is(done, self.transport.word()))
        }
    }

    fn link(&self, nqn: &str, subsystem: &str) -> Change {
        let (link, number) = (format!("{}/subsystems/{nqn}", self.at()), self.number);
        Change {
            apply: vec![run("ln --symbolic --", &[subsystem, link.as_str()])],
            undo: vec![(Condition::Path(link.clone()), run("rm --", &[link.as_str()]))],
            ..Change::new(
                say!("offer {nqn} on port {number}", "предложить {nqn} на порту {number}"),
                Condition::Path(link.clone()),
            )
        }
    }

    /// What connects to a subsystem over this port.
    fn connect(&self, nqn: &str, guest: Option<&Guest>) -> Vec<Action> {
        let name = format!("--nqn={nqn}");
        let (transport, module) = match self.transport {
            Transport::Tcp => ("--transport=tcp", "nvme_tcp"),
            Transport::Rdma => ("--transport=rdma", "nvme_rdma"),
            Transport::Loop => return vec![run("nvme connect --transport=loop", &[name.as_str()])],
        };
        let (host, service) = (format!("--traddr={}", self.host), format!("--trsvcid={}", self.service));
        let whom = guest.map(|guest| [format!("--hostnqn={}", guest.name), format!("--hostid={}", guest.id)]);
        let whom = whom.iter().flatten().map(String::as_str);
        let words: Vec<&str> = [transport, &host, &service, &name].into_iter().chain(whom).collect();
        vec![Action::Module(module.into()), run("nvme connect", &words)]
    }
}

/// A kernel that keeps paths apart would show each as a device of its own, and most of the load would go nowhere near the others.
fn natively() -> Change {
    let switch = "/sys/module/nvme_core/parameters/multipath".to_string();
    Change {
        // Only a parameter of the kernel's command line or of the module changes it: writing it tells why it is not so.
        apply: vec![Action::Module("nvme_core".into()), tell(switch.clone(), "Y")],
        ..Change::new(
            say!("check that the kernel joins NVMe paths", "убедиться, что ядро сводит пути NVMe"),
            is(switch, "Y"),
        )
    }
}

pub(super) fn tell(path: String, value: &str) -> Action {
    Action::Tell { path, value: value.to_string() }
}

pub(super) fn is(path: String, value: &str) -> Condition {
    Condition::Setting { path, value: value.to_string() }
}

pub(super) fn configuration() -> Change {
    let mounted = Condition::Mounted(CONFIG.to_string());
    Change {
        // It stays: others use it as well.
        apply: vec![Action::Module("configfs".into()), run("mount -t configfs configfs", &[CONFIG])],
        ..Change::new(say!("mount the kernel's configuration", "смонтировать конфигурацию ядра"), mounted)
    }
}

/// A directory by which the kernel is configured.
pub(super) fn made_directory(path: &str) -> Change {
    let there = Condition::Path(path.to_string());
    Change {
        apply: vec![run("mkdir --", &[path])],
        undo: vec![(there.clone(), run("rmdir --", &[path]))],
        ..Change::new(say!("make {path}", "создать {path}"), there)
    }
}

fn offer(nqn: &str, subsystem: &str, transport: Transport, to_anybody: bool) -> Change {
    let to_anybody = if to_anybody { "1" } else { "0" };
    let anybody = format!("{subsystem}/attr_allow_any_host");
    let module = match transport {
        Transport::Tcp => "nvmet_tcp",
        Transport::Rdma => "nvmet_rdma",
        Transport::Loop => "nvme_loop",
    };
    Change {
        apply: vec![
            Action::Module("nvmet".into()),
            Action::Module(module.into()),
            run("mkdir --", &[subsystem]),
            tell(anybody.clone(), to_anybody),
        ],
        undo: vec![(Condition::Path(subsystem.to_string()), run("rmdir --", &[subsystem]))],
        ..Change::new(say!("make the subsystem {nqn}", "создать подсистему {nqn}"), is(anybody, to_anybody))
    }
}

fn namespace(device: &str, at: &str, uuid: &str) -> Change {
    let enable = format!("{at}/enable");
    Change {
        erases: vec![device.to_string()],
        apply: vec![
            run("mkdir --", &[at]),
            tell(format!("{at}/device_path"), device),
            tell(format!("{at}/device_uuid"), uuid),
            tell(enable.clone(), "1"),
        ],
        undo: vec![
            (is(enable.clone(), "1"), tell(enable.clone(), "0")),
            (Condition::Path(at.to_string()), run("rmdir --", &[at])),
        ],
        ..Change::new(say!("export {device} over NVMe-oF", "экспортировать {device} по NVMe-oF"), is(enable, "1"))
    }
}

fn connect(nqn: &str, port: &Port, guest: Option<&Guest>) -> Change {
    let (there, name) = (Condition::Connected(nqn.to_string()), format!("--nqn={nqn}"));
    Change {
        apply: port.connect(nqn, guest),
        undo: vec![(there.clone(), run("nvme disconnect", &[name.as_str()]))],
        ..Change::new(say!("connect to {nqn}", "подключиться к {nqn}"), there)
    }
}

/// One of several: it goes alone.
fn one_path(context: &StepContext, nqn: &str, port: &Port, guest: Option<&Guest>) -> Change {
    let (nqn, service) = (nqn.to_string(), port.service.clone());
    let device = (context.path)(&Product::Controller { nqn: nqn.clone(), service: service.clone() });
    let there = Condition::Controller { nqn: nqn.clone(), service: service.clone() };
    let device = format!("--device={}", device.trim_start_matches("/dev/"));
    Change {
        apply: port.connect(&nqn, guest),
        undo: vec![(there.clone(), run("nvme disconnect", &[device.as_str()]))],
        ..Change::new(say!("connect to {nqn} at {service}", "подключиться к {nqn} через {service}"), there)
    }
}

/// It goes with the connections.
fn choice(context: &StepContext, nqn: &str, policy: NvmePolicy) -> Change {
    let at = format!("{}/iopolicy", (context.path)(&Product::Subsystem { nqn: nqn.to_string() }));
    let word = policy.word();
    Change {
        apply: vec![tell(at.clone(), word)],
        ..Change::new(say!("have paths chosen by {word}", "выбирать пути по правилу {word}"), is(at, word))
    }
}
