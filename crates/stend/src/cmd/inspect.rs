//! `stend inspect PATH`: what a target is, who uses it, and whether it is safe to write. Changes nothing.

use crate::out::Out;
use clap::ArgMatches;
use stend_base::{Error, Kind, Result, say};

/// Prints the facts of a target.
pub fn inspect(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let facts = stend_stand::inspect(super::required(arguments, "PATH"))?;
    if !out.json {
        return out.result(&stend_report::inspect_text(&facts, out.lang, out.width()));
    }
    let json = serde_json::to_string_pretty(&facts)
        .map_err(|e| Error::new(Kind::Bug, say!("cannot encode facts: {e}", "не удаётся закодировать факты: {e}")))?;
    out.result(&json)
}
