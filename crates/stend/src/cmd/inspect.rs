//! `stend inspect PATH`: what a target is, who uses it, and whether it is safe to write; without a path the storage of this host.
//! Changes nothing.

use super::hosts;
use crate::out::Out;
use clap::ArgMatches;
use stend_base::{Result, say};
use stend_record::{Inventory, TargetKind};
use stend_wire::Look;

/// Prints the facts of a target, or of all devices.
pub fn inspect(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let ask_drives = !arguments.get_flag("quick");
    let what = match arguments.get_one::<String>("PATH") {
        Some(path) => Look::Target(path.clone()),
        None => Look::Inventory { ask_drives },
    };
    if let Some(done) = hosts::look(arguments, &what, out) {
        return done;
    }
    let Some(path) = arguments.get_one::<String>("PATH") else {
        return print(&stend_worker::inventory(ask_drives), out);
    };
    let mut facts = stend_stand::inspect(path)?;
    if facts.kind == TargetKind::BlockDevice && stend_stand::blkid_is_missing() {
        let note = say!(
            "`blkid` is not installed, so only the formats that Stend knows by itself were looked for (Debian and Ubuntu: `apt-get install util-linux`)",
            "`blkid` не установлен, поэтому искались только форматы, известные самому Stend (Debian и Ubuntu: `apt-get install util-linux`)"
        );
        out.note(note.get(out.lang));
    }
    if ask_drives {
        stend_stand::sample_contents(std::slice::from_mut(&mut facts), &mut |text| out.note(&text));
    }
    out.result(&match out.json {
        true => stend_report::inspect_json(&facts),
        false => stend_report::inspect_text(&facts, out.lang, out.width()),
    })
}

/// Prints the storage of a host.
pub(super) fn print(inventory: &Inventory, out: &Out) -> Result<()> {
    out.result(&match out.json {
        true => stend_report::inventory_json(inventory),
        false => stend_report::inventory_text(inventory, out.lang),
    })
}
