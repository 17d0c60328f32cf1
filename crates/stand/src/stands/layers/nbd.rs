//! Devices handed out by `nbd-server` and taken in again by the kernel's client: on the loopback by that of the same host, or by that of
//! another one.
//!
//! Source: nbd-server(1), nbd-server(5), nbd-client(8) of nbd 3.26; the tree of Linux 6.12, drivers/block/nbd.c.

use super::super::product::Product;
use super::exports::tell;
use super::{Made, StepContext};
use crate::change::{Action, Change, Condition, run};
use stend_base::say;

/// Numbers of ports of stands begin here.
const PORTS: u16 = 50_000;
/// Files of servers, and notes of what is taken in; gone when the machine is started anew, as these are.
const PLACE: &str = "/run/stend/nbd";

pub(super) fn nbd(context: &StepContext) -> Made {
    let port = PORTS + context.names.number(&context.layer.name) % 10_000;
    let mut made = Made::default();
    made.steps.extend(context.hands_out().then(|| server(context, port)));
    for (index, device) in context.paths().enumerate() {
        let export = context.uuid(index);
        if context.takes_in() {
            made.steps.push(taken_in(context, &export, port, device));
        }
        made.products.push(Product::Attached { export });
    }
    made
}

fn taken_in(context: &StepContext, export: &str, port: u16, device: &str) -> Change {
    let (there, export) = (Condition::Attached(export.to_string()), export.to_string());
    let of = context.hands_out().then(|| device.to_string());
    let what = match &of {
        Some(device) => say!("import {device} over NBD", "импортировать {device} по NBD"),
        None => say!("import {export} over NBD", "импортировать {export} по NBD"),
    };
    Change {
        apply: vec![
            Action::Module("nbd".into()),
            // Where notes of it are kept.
            run("mkdir --parents --", &[PLACE]),
            Action::Attach { export: export.clone(), host: context.address().to_string(), port, of },
        ],
        undo: vec![(there.clone(), Action::Detach { export })],
        ..Change::new(what, there)
    }
}

fn server(context: &StepContext, port: u16) -> Change {
    let file = |end: &str| format!("{PLACE}/{}.{end}", context.name());
    let (settings, pid, guests) = (file("conf"), file("pid"), file("allow"));
    let runs = Condition::Serves(settings.clone());
    let guest = context.way.map(|way| tell(guests.clone(), &way.to.join("\n")));
    let mut apply = vec![run("mkdir --parents --", &[PLACE])];
    apply.extend(guest);
    apply.extend([
        tell(settings.clone(), &configuration(context, port, &guests)),
        // It closes every number that a file of its own could have, one after the other: with a million of them for seconds.
        run("prlimit --nofile=1024:1024 nbd-server -C", &[settings.as_str(), "-p", pid.as_str()]),
    ]);
    let mut undo = vec![
        (runs.clone(), run("pkill --exact nbd-server --pidfile", &[pid.as_str()])),
        (Condition::Path(settings.clone()), run("rm --", &[settings.as_str()])),
    ];
    undo.extend(context.way.map(|_| (Condition::Path(guests.clone()), run("rm --", &[guests.as_str()]))));
    Change {
        erases: context.erases(),
        apply,
        undo,
        ..Change::new(say!("start nbd-server on port {port}", "запустить nbd-server на порту {port}"), runs)
    }
}

/// Syncs and durable writes are passed on, as to a device that is here. With two hosts the other one is let in, by its address; names
/// of exports are drawn for the stand, and no list shows them.
fn configuration(context: &StepContext, port: u16, guests: &str) -> String {
    let mut text = format!("[generic]\nlistenaddr = {}\nport = {port}", context.address());
    for (index, device) in context.paths().enumerate() {
        let export = context.uuid(index);
        text.push_str(&format!("\n[{export}]\nexportname = {device}\nflush = true\nfua = true\ntrim = true"));
        if context.way.is_some() {
            text.push_str(&format!("\nauthfile = {guests}"));
        }
    }
    text
}
