//! What an order names, read: suites, stands, and runs that ended early.

use std::borrow::Cow;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use stend_base::{Error, Kind, Result, say};
use stend_plan::Plan;
use stend_record::{RunRecord, StandText, store};
use stend_spec::order::NamedText;
use stend_spec::suite::Suite;

/// The suite that a text is.
///
/// Errors: those of the parser; a job file of another tool is told how it is imported.
pub fn suite(text: &NamedText) -> Result<Suite> {
    let NamedText { file, text } = text;
    match stend_spec::parse::suite(text, file) {
        Err(error) if stend_interop::jobs::is_jobs(text) => Err(error.hint(say!(
            "this looks like a job file of another tool: `stend import --suite {file} -o suite.yaml` makes a suite of it",
            "похоже на файл заданий другой программы: набор из него сделает `stend import --suite {file} -o suite.yaml`"
        ))),
        other => other,
    }
}

/// The stand that a text is, with a number drawn for it.
///
/// Errors: those of the parser.
pub fn stand_text(from: NamedText) -> Result<StandText> {
    let NamedText { file, text } = from;
    let stand = stend_spec::parse::stand(&text, &file)?;
    let now = since_1970().as_nanos() as u64;
    let nonce = stend_base::random::mix(now ^ u64::from(std::process::id()).rotate_left(32));
    Ok(StandText { name: stand.name, file, text, nonce })
}

/// Reads a run file whose inputs make a plan, which everything that is computed of it needs.
///
/// Errors are of kind `RunFile`.
pub fn read_run(path: &Path) -> Result<RunRecord> {
    let run = store::read(path)?;
    plan_of(&run, path)?;
    Ok(run)
}

/// The plan of a run that was read from `path`.
///
/// Errors are of kind `RunFile`.
pub fn plan_of(run: &RunRecord, path: &Path) -> Result<Plan> {
    run.plan().map(Cow::into_owned).map_err(|error| {
        let (shown, en, ru) = (path.display(), &error.message.en, &error.message.ru);
        Error::new(
            Kind::RunFile,
            say!("the run in `{shown}` has no possible plan: {en}", "у прогона в `{shown}` невозможный план: {ru}"),
        )
    })
}

/// Wall clock.
pub(crate) fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO)
}
