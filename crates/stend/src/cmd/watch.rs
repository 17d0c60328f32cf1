//! `stend watch RUN`: the progress of a run of another terminal, read from its file.

use crate::out::Out;
use crate::progress::Display;
use clap::ArgMatches;
use std::time::Duration;
use stend_base::{Error, Kind, Result, say};
use stend_record::{RunState, store};
use stend_spec::Plan;

/// How often the file is read.
const EVERY: Duration = Duration::from_millis(500);

/// Shows progress until the run ends, then its findings.
pub fn watch(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let path = store::locate(super::required(arguments, "RUN"), &store::directory()?)?;
    let mut display = Display::new(super::required(arguments, "progress"), out);
    let mut run = super::read_file(&path)?;
    let plan = Plan::new(&run.header.inputs)?;
    if run.state == RunState::Open && stend_run::is_going_on(&path) {
        display.begin(&run.header.id, &run.header.inputs.suite.name, &path.to_string_lossy());
    }
    while run.state == RunState::Open && stend_run::is_going_on(&path) {
        display.show(&stend_run::picture(&run, &plan, stend_sys::clock::now()));
        std::thread::sleep(EVERY);
        run = store::read(&path)?;
    }
    display.end();
    // Between the end of the process and the last read the end may have been written.
    run = store::read(&path)?;
    out.result(&match out.json {
        true => stend_report::json(&stend_analyse::analyse(&run)?),
        false => stend_report::text(&stend_analyse::judge(&run)?, out.lang, out.width(), out.colour()),
    })?;
    if run.state == RunState::Open {
        return Err(Error::new(
            Kind::HostLost,
            say!(
                "the coordinator of this run is gone; the file holds what it measured",
                "координатор этого прогона исчез; измеренное сохранено в файле"
            ),
        ));
    }
    Ok(())
}
