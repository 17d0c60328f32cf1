//! Layers that hand devices out over a network protocol and take them in again, on the same host or on another one.

use super::super::step::{Deed, Product, Sign, Step};
use super::{Made, Site};
use stend_base::{Say, say};
use stend_spec::stand::Transport;

/// Where the kernel keeps what is configured by directories.
pub(super) const CONFIG: &str = "/sys/kernel/config";

/// Each device becomes a namespace of one subsystem, which is reached over one port: of the loopback, or of the address where the
/// other host of the stand reaches this one. That host tells who it is by a name of the stand, and no other one is let in.
///
/// Source: the tree of Linux 6.12, drivers/nvme/target/configfs.c.
pub(super) fn nvme_of(site: &Site, transport: Transport) -> Made {
    let nqn = format!("nqn.2014-08.org.nvmexpress:uuid:{}", site.uuid(0));
    let subsystem = format!("{CONFIG}/nvmet/subsystems/{nqn}");
    let number = site.names.number(&site.layer.name);
    let port = format!("{CONFIG}/nvmet/ports/{number}");
    let service = (20_000 + number % 10_000).to_string();
    let guest = site.secret().map(|_| format!("nqn.2014-08.org.nvmexpress:uuid:{}", site.uuid(site.count() + 1)));
    let mut made = Made::default();
    if site.hands_out() {
        made.steps.extend([configuration(), offer(&nqn, &subsystem, transport, guest.is_none())]);
        made.steps.extend(guest.iter().flat_map(|guest| admit(guest, &subsystem)));
    }
    for (index, device) in site.paths().enumerate() {
        let uuid = site.uuid(index + 1);
        if site.hands_out() {
            made.steps.push(namespace(device, &format!("{subsystem}/namespaces/{}", index + 1), &uuid));
        }
        made.products.push(Product::Namespace { uuid });
    }
    let link = format!("{port}/subsystems/{nqn}");
    let open = Step {
        apply: vec![Deed::run("ln --symbolic --", [subsystem.as_str(), link.as_str()])],
        undo: vec![(Sign::Path(link.clone()), Deed::run("rm --", [link.as_str()]))],
        ..step(say!("offer {nqn} on port {number}", "предложить {nqn} на порту {number}"), Sign::Path(link.clone()))
    };
    if site.hands_out() {
        made.steps.extend([open_port(&port, site.address(), &service, transport), open]);
    }
    if site.takes_in() {
        let guest = guest.map(|guest| (guest, site.uuid(site.count() + 1)));
        made.steps.push(connect(&nqn, site.address(), &service, transport, guest));
    }
    made
}

pub(super) fn step(what: Say, done: Sign) -> Step {
    Step { what, erases: Vec::new(), done, apply: Vec::new(), undo: Vec::new(), wait: None }
}

pub(super) fn tell(path: String, value: &str) -> Deed {
    Deed::Tell { path, value: value.to_string() }
}

pub(super) fn is(path: String, value: &str) -> Sign {
    Sign::Setting { path, value: value.to_string() }
}

pub(super) fn configuration() -> Step {
    let mounted = Sign::Mounted(CONFIG.to_string());
    Step {
        // It stays: others use it as well.
        apply: vec![Deed::Module("configfs"), Deed::run("mount -t configfs configfs", [CONFIG])],
        ..step(say!("mount the kernel's configuration", "смонтировать конфигурацию ядра"), mounted)
    }
}

/// A directory by which the kernel is configured.
pub(super) fn made_directory(path: &str) -> Step {
    let there = Sign::Path(path.to_string());
    Step {
        apply: vec![Deed::run("mkdir --", [path])],
        undo: vec![(there.clone(), Deed::run("rmdir --", [path]))],
        ..step(say!("make {path}", "создать {path}"), there)
    }
}

fn offer(nqn: &str, subsystem: &str, transport: Transport, to_anybody: bool) -> Step {
    let anybody = format!("{subsystem}/attr_allow_any_host");
    let module = match transport {
        Transport::Tcp => "nvmet_tcp",
        Transport::Loop => "nvme_loop",
    };
    Step {
        apply: vec![
            Deed::Module("nvmet"),
            Deed::Module(module),
            Deed::run("mkdir --", [subsystem]),
            tell(anybody.clone(), if to_anybody { "1" } else { "0" }),
        ],
        undo: vec![(Sign::Path(subsystem.to_string()), Deed::run("rmdir --", [subsystem]))],
        ..step(
            say!("make the subsystem {nqn}", "создать подсистему {nqn}"),
            is(anybody, if to_anybody { "1" } else { "0" }),
        )
    }
}

/// Lets one host in, by the name that it gives itself.
fn admit(guest: &str, subsystem: &str) -> [Step; 2] {
    let (host, link) = (format!("{CONFIG}/nvmet/hosts/{guest}"), format!("{subsystem}/allowed_hosts/{guest}"));
    let there = Sign::Path(link.clone());
    let admitted = Step {
        apply: vec![Deed::run("ln --symbolic --", [host.as_str(), link.as_str()])],
        undo: vec![(there.clone(), Deed::run("rm --", [link.as_str()]))],
        ..step(say!("let {guest} in", "впустить {guest}"), there)
    };
    [made_directory(&host), admitted]
}

fn namespace(device: &str, at: &str, uuid: &str) -> Step {
    let enable = format!("{at}/enable");
    Step {
        erases: vec![device.to_string()],
        apply: vec![
            Deed::run("mkdir --", [at]),
            tell(format!("{at}/device_path"), device),
            tell(format!("{at}/device_uuid"), uuid),
            tell(enable.clone(), "1"),
        ],
        undo: vec![
            (is(enable.clone(), "1"), tell(enable.clone(), "0")),
            (Sign::Path(at.to_string()), Deed::run("rmdir --", [at])),
        ],
        ..step(say!("hand out {device} over NVMe-oF", "отдать {device} по NVMe-oF"), is(enable, "1"))
    }
}

fn open_port(port: &str, host: &str, service: &str, transport: Transport) -> Step {
    let file = |name: &str| format!("{port}/{name}");
    let (mut apply, done) = (vec![Deed::run("mkdir --", [port])], file("addr_trtype"));
    if transport == Transport::Tcp {
        let address = [("addr_adrfam", "ipv4"), ("addr_traddr", host), ("addr_trsvcid", service)];
        apply.extend(address.map(|(name, value)| tell(file(name), value)));
    }
    // Last, so that a port with its transport is whole.
    apply.push(tell(done.clone(), transport.word()));
    Step {
        apply,
        undo: vec![(Sign::Path(port.to_string()), Deed::run("rmdir --", [port]))],
        ..step(say!("open the port {port}", "открыть порт {port}"), is(done, transport.word()))
    }
}

fn connect(nqn: &str, host: &str, service: &str, transport: Transport, guest: Option<(String, String)>) -> Step {
    let there = Sign::Connected(nqn.to_string());
    let name = format!("--nqn={nqn}");
    let apply = match transport {
        Transport::Tcp => {
            let service = format!("--trsvcid={service}");
            let as_whom =
                guest.map(|(name, id)| [format!("--hostnqn={name}"), format!("--hostid={id}")]).into_iter().flatten();
            let words: Vec<String> =
                [format!("--traddr={host}"), service, name.clone()].into_iter().chain(as_whom).collect();
            let run = Deed::run("nvme connect --transport=tcp", words.iter().map(String::as_str));
            vec![Deed::Module("nvme_tcp"), run]
        }
        Transport::Loop => vec![Deed::run("nvme connect --transport=loop", [name.as_str()])],
    };
    Step {
        apply,
        undo: vec![(there.clone(), Deed::run("nvme disconnect", [name.as_str()]))],
        ..step(say!("connect to {nqn}", "подключиться к {nqn}"), there)
    }
}
