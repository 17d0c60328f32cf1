//! Layers that hand devices out over a network protocol and take them in again on the same host.

use super::super::step::{Deed, Product, Sign, Step};
use super::{Made, Site};
use stend_base::{Say, say};
use stend_spec::stand::Transport;

/// Where the kernel keeps what is configured by directories.
pub(super) const CONFIG: &str = "/sys/kernel/config";

/// Each device becomes a namespace of one subsystem, which is reached over one port of the loopback.
///
/// Source: the tree of Linux 6.12, drivers/nvme/target/configfs.c.
pub(super) fn nvme_of(site: &Site, transport: Transport) -> Made {
    let nqn = format!("nqn.2014-08.org.nvmexpress:uuid:{}", site.uuid(0));
    let subsystem = format!("{CONFIG}/nvmet/subsystems/{nqn}");
    let number = site.names.number(&site.layer.name);
    let port = format!("{CONFIG}/nvmet/ports/{number}");
    let service = (20_000 + number % 10_000).to_string();
    let mut made = Made { steps: vec![configuration(), offer(&nqn, &subsystem, transport)], products: Vec::new() };
    for (index, device) in site.paths().enumerate() {
        let uuid = site.uuid(index + 1);
        made.steps.push(namespace(device, &format!("{subsystem}/namespaces/{}", index + 1), &uuid));
        made.products.push(Product::Namespace { uuid });
    }
    made.steps.push(open_port(&port, &service, transport));
    let link = format!("{port}/subsystems/{nqn}");
    made.steps.push(Step {
        apply: vec![Deed::run("ln --symbolic --", [subsystem.as_str(), link.as_str()])],
        undo: vec![(Sign::Path(link.clone()), Deed::run("rm --", [link.as_str()]))],
        ..step(say!("offer {nqn} on port {number}", "предложить {nqn} на порту {number}"), Sign::Path(link.clone()))
    });
    made.steps.push(connect(&nqn, &service, transport));
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

fn offer(nqn: &str, subsystem: &str, transport: Transport) -> Step {
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
            tell(anybody.clone(), "1"),
        ],
        undo: vec![(Sign::Path(subsystem.to_string()), Deed::run("rmdir --", [subsystem]))],
        ..step(say!("make the subsystem {nqn}", "создать подсистему {nqn}"), is(anybody, "1"))
    }
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

fn open_port(port: &str, service: &str, transport: Transport) -> Step {
    let file = |name: &str| format!("{port}/{name}");
    let (mut apply, done) = (vec![Deed::run("mkdir --", [port])], file("addr_trtype"));
    if transport == Transport::Tcp {
        // The loopback: nobody else can connect.
        let address = [("addr_adrfam", "ipv4"), ("addr_traddr", "127.0.0.1"), ("addr_trsvcid", service)];
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

fn connect(nqn: &str, service: &str, transport: Transport) -> Step {
    let there = Sign::Connected(nqn.to_string());
    let name = format!("--nqn={nqn}");
    let apply = match transport {
        Transport::Tcp => {
            let service = format!("--trsvcid={service}");
            let words = ["--traddr=127.0.0.1", service.as_str(), name.as_str()];
            vec![Deed::Module("nvme_tcp"), Deed::run("nvme connect --transport=tcp", words)]
        }
        Transport::Loop => vec![Deed::run("nvme connect --transport=loop", [name.as_str()])],
    };
    Step {
        apply,
        undo: vec![(there.clone(), Deed::run("nvme disconnect", [name.as_str()]))],
        ..step(say!("connect to {nqn}", "подключиться к {nqn}"), there)
    }
}
