//! `stend watch RUN`: the progress of a run of another terminal, read from its file.

use crate::out::Out;
use crate::progress::Display;
use clap::ArgMatches;
use std::time::Duration;
use stend_base::{Error, Kind, Result, say};
use stend_plan::Plan;
use stend_record::{RunState, store};

/// How often the file is read.
const EVERY: Duration = Duration::from_millis(500);

/// Shows progress until the run ends, then its findings.
pub fn watch(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let path = super::located(super::required(arguments, "RUN"), out)?;
    let mut display = Display::new(super::required(arguments, "progress"), out);
    let mut run = stend_session::read_run(&path)?;
    let plan = Plan::new(&run.header.inputs)?;
    if run.state == RunState::Open && stend_run::is_going_on(&path) {
        let interrupt = say!("Ctrl-C ends watching; the run goes on", "Ctrl-C — перестать следить; прогон продолжится");
        display.begin(&run.header.id, &run.header.inputs.suite.name, &path.to_string_lossy(), &interrupt);
    }
    while run.state == RunState::Open && stend_run::is_going_on(&path) {
        display.show(&stend_run::picture(&run, &plan, stend_sys::clock::now()));
        std::thread::sleep(EVERY);
        run = store::read(&path)?;
    }
    display.end();
    // Between the end of the process and the last read the end may have been written.
    run = store::read(&path)?;
    match out.json {
        true => out.result(&stend_report::json(&stend_analyse::analyse(&run)?))?,
        false => {
            let name = super::required(arguments, "RUN");
            super::show::print(&run, &stend_analyse::judge(&run)?, None, Some(name), out)?;
        }
    }
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
