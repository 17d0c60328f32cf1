//! Devices handed out by `nbd-server` on the loopback and taken in again by the kernel's client on the same host.
//!
//! Source: nbd-server(1), nbd-server(5), nbd-client(8) of nbd 3.26; the tree of Linux 6.12, drivers/block/nbd.c.

use super::super::step::{Deed, Product, Sign, Step};
use super::exports::{step, tell};
use super::{Made, Site};
use stend_base::say;

/// Numbers of ports of stands begin here.
const PORTS: u16 = 50_000;
/// Files of servers, and notes of what is taken in; gone when the machine is started anew, as these are.
const PLACE: &str = "/run/stend/nbd";

pub(super) fn nbd(site: &Site) -> Made {
    let port = PORTS + site.names.number(&site.layer.name) % 10_000;
    let mut made = Made { steps: vec![server(site, port)], products: Vec::new() };
    for (index, device) in site.paths().enumerate() {
        let export = site.uuid(index);
        let there = Sign::Attached(export.clone());
        made.steps.push(Step {
            apply: vec![Deed::Attach { export: export.clone(), port, of: device.to_string() }],
            undo: vec![(there.clone(), Deed::Detach { export: export.clone() })],
            ..step(say!("take {device} in over NBD", "принять {device} по NBD"), there)
        });
        made.products.push(Product::Attached { export });
    }
    made
}

fn server(site: &Site, port: u16) -> Step {
    let file = |end: &str| format!("{PLACE}/{}.{end}", site.name());
    let (settings, pid) = (file("conf"), file("pid"));
    let runs = Sign::Serves(settings.clone());
    Step {
        erases: site.erases(),
        apply: vec![
            Deed::Module("nbd"),
            Deed::run("mkdir --parents --", [PLACE]),
            tell(settings.clone(), &configuration(site, port)),
            // It closes every number that a file of its own could have, one after the other: with a million of them for seconds.
            Deed::run("prlimit --nofile=1024:1024 nbd-server -C", [settings.as_str(), "-p", pid.as_str()]),
        ],
        undo: vec![
            (runs.clone(), Deed::run("pkill --exact nbd-server --pidfile", [pid.as_str()])),
            (Sign::Path(settings.clone()), Deed::run("rm --", [settings.as_str()])),
        ],
        ..step(say!("start nbd-server on port {port}", "запустить nbd-server на порту {port}"), runs)
    }
}

/// Syncs and durable writes are passed on, as to a device that is here.
fn configuration(site: &Site, port: u16) -> String {
    let mut text = format!("[generic]\nlistenaddr = 127.0.0.1\nport = {port}");
    for (index, device) in site.paths().enumerate() {
        let export = site.uuid(index);
        text.push_str(&format!("\n[{export}]\nexportname = {device}\nflush = true\nfua = true\ntrim = true"));
    }
    text
}
