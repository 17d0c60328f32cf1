//! `stend list`: the runs that the data directory knows, wherever their files lie. A file that cannot be read is listed as such.

use crate::out::Out;
use clap::ArgMatches;
use stend_base::Result;
use stend_record::store;
use stend_report::Listing;
use stend_session::Condition;
use stend_session::catalogue::look;
use stend_session::run_facts::facts;

/// Runs that are shown unless all are asked for: a screen.
const SHOWN: usize = 20;

/// Prints the runs, the newest first; with a condition those that meet it.
pub fn list(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let directory = store::directory()?;
    let shown = directory.display().to_string();
    let known = store::known_runs(&directory)?;
    let most = if arguments.get_flag("all") { known.len() } else { SHOWN };
    let asked = arguments.get_one::<String>("where").map(|text| Condition::parse(text)).transpose()?;
    let (runs, left_out) = match asked {
        None => (known.iter().take(most).map(look).collect(), known.len().saturating_sub(most)),
        Some(condition) => {
            let mut met: Vec<_> = known.iter().map(look).filter(|run| condition.holds(&facts(run))).collect();
            let left_out = met.len().saturating_sub(most);
            met.truncate(most);
            (met, left_out)
        }
    };
    let listing = Listing { runs, left_out, known: known.len(), next: None, directory: shown };
    out.result(&match out.json {
        true => stend_report::list_json(&listing),
        false => stend_report::list_text(&listing, out.lang, out.width(), out.colour()),
    })
}
