//! `stend stop RUN`: end a run of another terminal, softly or at once.

use crate::out::Out;
use clap::ArgMatches;
use std::time::{Duration, Instant};
use stend_base::{Code, Error, Result, say};
use stend_record::{RunState, store};

/// A soft stop takes as long as the trial in progress needs to drain, and the undo.
const LIMIT: Duration = Duration::from_secs(90);

/// Asks, then waits until the run has ended.
pub fn stop(arguments: &ArgMatches, out: &Out) -> Result<()> {
    let path = super::located(super::required(arguments, "RUN"), out)?;
    // A file that is not a run file gives that error, not "the run is over".
    let seen = store::glance(&path)?;
    if let Some(over) = over(&seen.header.id, &seen.state) {
        return Err(over);
    }
    stend_run::ask_to_stop(&path, arguments.get_flag("now"))?;
    let deadline = Instant::now() + LIMIT;
    while stend_run::is_going_on(&path) {
        if Instant::now() > deadline {
            return Err(Error::new(
                Code::RunGoesOn,
                say!(
                    "the run got the request to stop, but is still in progress",
                    "прогон получил команду остановиться, но ещё выполняется"
                ),
            )
            .hint(say!("`--now` does not wait for the target", "`--now` не ждёт объекта")));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let shown = path.display();
    // It may have been asked in its clean-up.
    let ended = match store::glance(&path).map(|seen| seen.state) {
        Ok(RunState::Complete) => {
            say!(
                "everything had been measured; `{shown}` is complete",
                "всё уже было измерено; прогон в `{shown}` полный"
            )
        }
        _ => say!("stopped; `{shown}` holds what was measured", "остановлено; измеренное — в `{shown}`"),
    };
    match out.json {
        true => out.result(&serde_json::json!({"stopped": path.to_string_lossy()}).to_string()),
        false => out.result(ended.get(out.lang)),
    }
}

/// How a run has ended that cannot be stopped any more; `None` if no end of it is recorded.
fn over(id: &str, state: &RunState) -> Option<Box<Error>> {
    let (en, ru) = match state {
        RunState::Open => return None,
        RunState::Complete => ("it is complete".to_string(), "выполнен целиком".to_string()),
        RunState::Suspended { .. } => ("it waits for its next arm".to_string(), "ждёт следующего варианта".to_string()),
        RunState::Ended { reason, .. } => (reason.en.clone(), reason.ru.clone()),
    };
    let message = say!(
        "`{id}` is not in progress and cannot be stopped: {en}",
        "`{id}` не выполняется, останавливать нечего: {ru}"
    );
    Some(Error::new(Code::RunOver, message).hint(match state {
        RunState::Complete => {
            say!("`stend show {id}` prints its results", "результаты напечатает `stend show {id}`")
        }
        _ => say!(
            "`stend show {id}` prints what was measured, `stend run --resume {id}` continues",
            "измеренное напечатает `stend show {id}`, продолжит `stend run --resume {id}`"
        ),
    }))
}
