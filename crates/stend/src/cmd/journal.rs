//! `stend journal RUN`: the problems of the host in a recording or a run.

use crate::out::Out;
use clap::ArgMatches;
use stend_analyse::journal::{Journal, Problem};
use stend_base::Result;
use stend_record::RunRecord;

/// Prints them.
pub fn journal(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let path = super::located(super::required(arguments, "RUN"), out)?;
    match super::recording::open(&path, arguments, &[])? {
        Some(rows) => {
            let samples = (0..rows.len()).filter_map(|index| rows.get(index));
            let mut journal = Journal::new(&rows.record);
            samples.for_each(|sample| journal.add(sample));
            print(&rows.record, journal.end(), arguments, out)
        }
        None => {
            let mut run = stend_session::read_run(&path)?;
            let samples = std::mem::take(&mut run.load_mut().samples);
            let mut journal = Journal::new(&run);
            samples.into_iter().for_each(|sample| journal.add(sample));
            print(&run, journal.end(), arguments, out)
        }
    }
}

fn print(run: &RunRecord, mut problems: Vec<Problem>, arguments: &ArgMatches, out: &Out) -> Result<()> {
    if arguments.get_flag("open") {
        problems.retain(|problem| problem.closed.is_none());
    }
    out.result(&match out.json {
        true => stend_report::journal_json(run, &problems),
        false => stend_report::journal_text(run, &problems, out.lang, out.width(), out.colour()),
    })
}
