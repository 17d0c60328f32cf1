//! Asks a run of another process to end. Must not wait for the end.

use std::path::Path;
use stend_base::{Code, Error, Result, say};
use stend_record::{RunState, store};

/// Asks the run in a file to end, softly or at once; its id.
///
/// Errors: `RunOver` if its end is recorded; those of reading the file; `Preflight` if no process answers.
pub fn ask_to_stop(path: &Path, now: bool) -> Result<String> {
    // A file that is not a run file gives that error, not "the run is over".
    let seen = store::glance(path)?;
    if let Some(over) = over(&seen.header.id, &seen.state) {
        return Err(over);
    }
    stend_run::ask_to_stop(path, now)?;
    Ok(seen.header.id)
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
