//! `stend inspect PATH`: what a target is, who uses it, and whether it is safe to write. Changes nothing.

use crate::out::Out;
use clap::ArgMatches;
use stend_base::Result;

/// Prints the facts of a target.
pub fn inspect(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let facts = stend_stand::inspect(super::required(arguments, "PATH"))?;
    out.result(&match out.json {
        true => stend_report::inspect_json(&facts),
        false => stend_report::inspect_text(&facts, out.lang, out.width()),
    })
}
