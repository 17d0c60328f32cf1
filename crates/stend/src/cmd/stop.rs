//! `stend stop RUN`: end a run of another terminal, softly or at once.

use crate::out::Out;
use clap::ArgMatches;
use std::time::{Duration, Instant};
use stend_base::{Code, Error, Result, say};
use stend_record::{RunState, store};

/// A soft stop takes as long as the trial in progress needs to drain, and the undo.
pub(super) const LIMIT: Duration = Duration::from_secs(90);

/// Asks, then waits until the run has ended.
pub fn stop(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let path = super::located(super::required(arguments, "RUN"), out)?;
    stend_session::ask_to_stop(&path, arguments.get_flag("now"))?;
    let deadline = Instant::now() + LIMIT;
    while stend_run::is_going_on(&path) {
        if Instant::now() > deadline {
            return Err(goes_on());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let shown = path.display();
    let seen = store::glance(&path).ok();
    // It may have been asked in its clean-up.
    let ended = match seen.as_ref().map(|seen| &seen.state) {
        Some(RunState::Complete) => {
            say!(
                "everything had been measured; `{shown}` is complete",
                "всё уже было измерено; прогон в `{shown}` полный"
            )
        }
        _ => say!("stopped; `{shown}` holds what was measured", "остановлено; измеренное — в `{shown}`"),
    };
    match out.json {
        true => {
            let run = seen.map(|seen| seen.header.id);
            out.result(&serde_json::json!({"run": run, "stopped": path.to_string_lossy()}).to_string())
        }
        false => out.result(ended.get(out.lang)),
    }
}

/// The run has not ended in time.
pub(super) fn goes_on() -> Box<Error> {
    let message = say!(
        "the run got the request to stop, but is still in progress",
        "прогон получил команду остановиться, но ещё выполняется"
    );
    Error::new(Code::RunGoesOn, message).hint(say!("`--now` does not wait for the target", "`--now` не ждёт объекта"))
}
