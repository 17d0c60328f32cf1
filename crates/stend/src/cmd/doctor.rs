//! `stend doctor`: can this machine measure, and the one command that cures what it cannot. Changes nothing.

use super::hosts;
use crate::out::Out;
use clap::ArgMatches;
use stend_base::{Error, Result, say};
use stend_record::Checkup;
use stend_wire::Look;

/// Prints the checkup. An error of kind `Preflight` if something must be cured.
pub fn doctor(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let on = arguments.get_one::<String>("on");
    if let Some(done) = hosts::look(arguments, &Look::Checkup(on.cloned()), out) {
        return done;
    }
    print(&stend_session::checkup(on.map(String::as_str)), out)
}

/// Prints a checkup. An error of kind `Preflight` if something must be cured.
pub(super) fn print(checkup: &Checkup, out: &Out) -> Result<()> {
    let musts = checkup.musts();
    if out.json {
        out.result(&stend_report::doctor_json(checkup))?;
    } else {
        out.result(&stend_report::doctor_text(checkup, out.lang, out.width()))?;
    }
    if musts == 0 {
        return Ok(());
    }
    let names: Vec<&str> =
        checkup.items.iter().filter(|i| i.level == stend_record::Level::Must).map(|i| i.id.as_str()).collect();
    let names = names.join(", ");
    Err(Error::preflight(say!("fix this first: {names}", "сначала устраните: {names}")))
}
