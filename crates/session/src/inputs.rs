//! What an order names, read: suites, stands, and runs that ended early.

use std::borrow::Cow;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use stend_base::{Error, Result, say};
use stend_plan::Plan;
use stend_record::{RunRecord, StandText, store};
use stend_spec::order::{NamedText, SuiteWork};
use stend_spec::suite::Suite;
use stend_spec::until::FIRST_LOOK;

/// The suite that a text is.
///
/// Errors: those of the parser; for a job file of another tool the hint shows how to import it.
pub fn suite(text: &NamedText) -> Result<Suite> {
    let NamedText { file, text } = text;
    match stend_spec::parse::suite(text, file) {
        Err(error) if stend_interop::jobs::is_jobs(text) => Err(error.hint(say!(
            "this looks like a job file of another tool: `stend import --suite {file} -o suite.yaml` makes a suite from it",
            "похоже на файл заданий другой программы: набор из него сделает `stend import --suite {file} -o suite.yaml`"
        ))),
        other => other,
    }
}

/// The suite that is to be run, with what overrides its text.
///
/// Errors: those of [`suite`]; `Usage` if it cannot be repeated so often.
pub fn asked(work: &SuiteWork) -> Result<Suite> {
    let mut suite = suite(&work.suite)?;
    if let Some(engine) = work.engine {
        suite.run_by(engine);
    }
    if let Some(blocks) = work.repeats {
        if suite.until.is_some() && blocks < FIRST_LOOK {
            return Err(Error::usage(say!(
                "--repeats {blocks}: the suite has `until`, which first checks precision after {FIRST_LOOK} blocks",
                "--repeats {blocks}: в наборе есть `until`, а он впервые проверяет точность после {FIRST_LOOK} блоков"
            ))
            .hint(say!("for example `--repeats {FIRST_LOOK}`", "например `--repeats {FIRST_LOOK}`")));
        }
        suite.blocks = blocks;
    }
    Ok(suite)
}

/// The text of the suite that is to be run: with what overrides it.
///
/// Errors: those of [`asked`]; `Usage` where it cannot be written into the text.
pub fn written(work: &SuiteWork) -> Result<String> {
    let (asked, NamedText { file, text }) = (asked(work)?, &work.suite);
    if work.engine.is_none() && work.repeats.is_none() {
        return Ok(text.clone());
    }
    let written = stend_spec::parse::overridden(text, file, work.engine, work.repeats)?;
    if stend_spec::parse::suite(&written, file)? == asked {
        return Ok(written);
    }
    Err(Error::usage(say!(
        "`--engine` and `--repeats` cannot be written into the text of `{file}`",
        "`--engine` и `--repeats` не удаётся вписать в текст `{file}`"
    ))
    .hint(say!(
        "`--print-order` prints the suite together with both of them",
        "`--print-order` напечатает набор вместе с ними"
    )))
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
        Error::run_file(say!(
            "the run in `{shown}` has no possible plan: {en}",
            "у прогона в `{shown}` невозможный план: {ru}"
        ))
    })
}

/// The kernel's random id of this boot; empty where it has none.
pub(crate) fn boot_id() -> String {
    let read = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    read.map(|id| id.trim().to_string()).unwrap_or_default()
}

/// Wall clock.
pub(crate) fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO)
}
