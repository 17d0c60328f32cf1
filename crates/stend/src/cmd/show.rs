//! `stend show RUN`: a run on one screen.

use crate::out::Out;
use clap::ArgMatches;
use stend_analyse::Findings;
use stend_analyse::compare::Options;
use stend_base::Result;
use stend_record::RunRecord;

/// Prints the findings of a run.
pub fn show(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let run = super::read_run(arguments)?;
    match out.json {
        true => out.result(&stend_report::json(&stend_analyse::analyse(&run)?)),
        false => print(&run, &stend_analyse::judge(&run)?, out),
    }
}

/// The findings, and behind them the arms against each other if the run has any.
pub fn print(run: &RunRecord, findings: &Findings, out: &Out) -> Result<()> {
    let mut text = stend_report::text(findings, out.lang, out.width(), out.colour());
    if let Some(arms) = stend_analyse::compare_arms(run, findings, &Options::default())? {
        text.push_str(&stend_report::arms_text(&arms, out.lang, out.width(), out.colour()));
    }
    out.result(&text)
}
