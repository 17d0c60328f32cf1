//! `stend stop RUN`: end a run of another terminal, softly or at once.

use crate::out::Out;
use clap::ArgMatches;
use std::time::{Duration, Instant};
use stend_base::{Error, Kind, Result, say};
use stend_record::store;

/// A soft stop takes as long as the trial in progress needs to drain, and the undo.
const LIMIT: Duration = Duration::from_secs(90);

/// Asks, then waits until the run has ended.
pub fn stop(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let path = store::locate(super::required(arguments, "RUN"), &store::directory()?)?;
    // What is no run file is told as that, not as a run that is over.
    store::glance(&path)?;
    stend_run::ask_to_stop(&path, arguments.get_flag("now"))?;
    let deadline = Instant::now() + LIMIT;
    while stend_run::is_going_on(&path) {
        if Instant::now() > deadline {
            return Err(Error::new(
                Kind::Preflight,
                say!(
                    "the run was asked to stop but is still going on",
                    "прогон получил просьбу остановиться, но ещё выполняется"
                ),
            )
            .hint(say!("`--now` does not wait for the target", "`--now` не ждёт объекта")));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let shown = path.display();
    match out.json {
        true => out.result(&serde_json::json!({"stopped": path.to_string_lossy()}).to_string()),
        false => out.result(
            say!("stopped; `{shown}` holds what was measured", "остановлено; измеренное — в `{shown}`").get(out.lang),
        ),
    }
}
