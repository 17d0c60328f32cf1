//! `stend show RUN`: a run on one screen.

use crate::out::Out;
use clap::ArgMatches;
use stend_base::Result;

/// Prints the findings of a run.
pub fn show(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let run = super::read_run(arguments)?;
    let findings = stend_analyse::analyse(&run)?;
    out.result(&match out.json {
        true => stend_report::json(&findings),
        false => stend_report::text(&findings, out.lang, out.width(), out.colour()),
    })
}
