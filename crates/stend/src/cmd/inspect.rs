//! `stend inspect PATH`: what a target is, who uses it, and whether it is safe to write; without a path the storage of this host.
//! Changes nothing.

use crate::out::Out;
use clap::ArgMatches;
use stend_base::Result;

/// Prints the facts of a target, or of all devices.
pub fn inspect(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let Some(path) = arguments.get_one::<String>("PATH") else {
        let inventory = stend_host::inventory(!arguments.get_flag("quick"));
        return out.result(&match out.json {
            true => stend_report::inventory_json(&inventory),
            false => stend_report::inventory_text(&inventory, out.lang),
        });
    };
    let facts = stend_stand::inspect(path)?;
    out.result(&match out.json {
        true => stend_report::inspect_json(&facts),
        false => stend_report::inspect_text(&facts, out.lang, out.width()),
    })
}
