//! `stend list`: the runs that the data directory knows, wherever their files lie. A file that cannot be read is listed as such.

use crate::out::Out;
use clap::ArgMatches;
use std::path::Path;
use stend_base::{Bytes, Result};
use stend_record::store::{self, KnownRun};
use stend_record::targets::names;
use stend_record::{RunState, store::Glance};
use stend_report::{Content, Listed, ListedRun, Listing};

/// Runs that are shown unless all are asked for: a screen.
const SHOWN: usize = 20;

/// Prints the runs, the newest first.
pub fn list(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let directory = store::directory()?;
    let shown = directory.display().to_string();
    let known = store::known_runs(&directory)?;
    let most = if arguments.get_flag("all") { known.len() } else { SHOWN };
    let listing = Listing {
        runs: known.iter().take(most).map(look).collect(),
        left_out: known.len().saturating_sub(most),
        directory: shown,
    };
    out.result(&match out.json {
        true => stend_report::list_json(&listing),
        false => stend_report::list_text(&listing, out.lang, out.width(), out.colour()),
    })
}

/// What a list says of a run.
fn look(known: &KnownRun) -> Listed {
    let path = known.path.as_path();
    let (name, shown) = (known.name.clone(), path.display().to_string());
    if !known.is_there() {
        return Listed { name, path: shown, size: Bytes(0), content: Content::Gone };
    }
    let mut log = path.as_os_str().to_os_string();
    log.push("-wal");
    let size = [path, Path::new(&log)].map(|file| std::fs::metadata(file).map_or(0, |found| found.len()));
    let content = match store::glance(path) {
        Ok(seen) => Content::Run(Box::new(listed(seen, path))),
        Err(error) => Content::Unreadable(error),
    };
    Listed { name, path: shown, size: Bytes(size.iter().sum()), content }
}

fn listed(seen: Glance, path: &Path) -> ListedRun {
    // A part that cannot be read or planned leaves the number out; `show` says what is wrong.
    let result = || stend_analyse::leading(&store::read_outcomes(path).ok()?).ok().flatten();
    ListedRun {
        run: seen.header.id,
        started_unix: seen.header.started_unix,
        label: seen.header.label,
        suite: seen.header.inputs.suite.name,
        targets: names(&seen.targets),
        going_on: seen.state == RunState::Open && stend_run::is_going_on(path),
        state: seen.state,
        cases: seen.cases,
        trials: seen.trials,
        result: if seen.trials > 0 { result() } else { None },
    }
}
