//! `stend watch RUN`: the progress of a run of another terminal, read from its file.

use crate::out::Out;
use crate::progress::Display;
use clap::ArgMatches;
use std::time::Duration;
use stend_analyse::EtaQuality;
use stend_base::{Error, Result, say};
use stend_record::RunState;
use stend_record::store::Reader;
use stend_report::{RunMetrics, RunNow};
use stend_session::MetricsServer;

/// How often the file is read.
const EVERY: Duration = Duration::from_millis(500);

/// Shows progress until the run ends, then its findings.
pub fn watch(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let path = super::located(super::required(arguments, "RUN"), out)?;
    let mut display = Display::new(super::required(arguments, "progress"), out);
    let at = arguments.get_one::<String>("metrics");
    let metrics = at.map(|at| MetricsServer::open(at, stend_report::METRICS_CONTENT_TYPE)).transpose()?;
    let mut counters = RunMetrics::default();
    let mut reader = Reader::open(&path)?;
    let plan = stend_session::plan_of(reader.record(), &path)?;
    let goes_on = |reader: &Reader| reader.record().state == RunState::Open && stend_run::is_going_on(&path);
    if goes_on(&reader) {
        let (interrupt, header) = (
            say!("Ctrl-C ends watching; the run goes on", "Ctrl-C — перестать следить; прогон продолжится"),
            &reader.record().header,
        );
        display.begin(&header.id, &header.inputs.suite.name, &path.to_string_lossy(), &interrupt);
        if let Some(server) = &metrics {
            let address = server.address;
            out.note(say!("metrics: http://{address}/metrics", "метрики: http://{address}/metrics").get(out.lang));
        }
    }
    while goes_on(&reader) {
        let update = stend_run::picture(reader.record(), &plan, stend_sys::clock::now());
        if let Some(server) = &metrics {
            let left = (update.eta.quality != EtaQuality::Unknown).then_some(update.eta.left);
            let now = RunNow { phase: update.phase, done: update.done, left };
            server.show(counters.page(reader.record(), &now, env!("CARGO_PKG_VERSION")));
        }
        display.show(&update);
        std::thread::sleep(EVERY);
        reader.look()?;
    }
    display.end();
    // Between the end of the process and the last look the end may have been written.
    reader.look()?;
    let run = reader.finish();
    match out.json {
        true => out.result(&stend_report::json(&stend_analyse::analyse(&run)?))?,
        false => {
            let name = super::required(arguments, "RUN");
            super::show::print(&run, &stend_analyse::judge(&run)?, None, Some(name), out)?;
        }
    }
    if run.state == RunState::Open {
        return Err(Error::host_lost(say!(
            "the process of this run is gone; the file holds what it measured",
            "процесса этого прогона больше нет; измеренное сохранено в файле"
        )));
    }
    Ok(())
}
