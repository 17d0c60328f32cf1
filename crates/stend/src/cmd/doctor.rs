//! `stend doctor`: can this machine measure, and the one command that cures what it cannot. Changes nothing.

use crate::out::Out;
use clap::ArgMatches;
use stend_base::{Error, Kind, Result, say};

/// Version of the machine form; it grows when a field changes its meaning or goes away.
const SCHEMA_VERSION: u32 = 1;

/// Prints the checkup. An error of kind `Preflight` if something must be cured.
pub fn doctor(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let checkup = stend_stand::doctor(arguments.get_one::<String>("on").map(String::as_str));
    let musts = checkup.musts();
    if out.json {
        let value = serde_json::json!({
            "schema_version": SCHEMA_VERSION,
            "ready": musts == 0,
            "items": checkup.items,
        });
        out.result(&format!("{value:#}"))?;
    } else {
        out.result(&stend_report::doctor_text(&checkup, out.lang, out.width()))?;
    }
    if musts == 0 {
        return Ok(());
    }
    let names: Vec<&str> =
        checkup.items.iter().filter(|i| i.level == stend_record::Level::Must).map(|i| i.id.as_str()).collect();
    let names = names.join(", ");
    Err(Error::new(Kind::Preflight, say!("must be cured first: {names}", "сначала нужно устранить: {names}")))
}
