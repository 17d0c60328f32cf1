//! What all that is done with instances has in common: the application, its programs, where events go, and errors of programs that
//! did not start.

use super::programs::Programs;
use crate::child::Ended;
use std::path::Path;
use stend_base::{Error, say};
use stend_record::EventKind;
use stend_spec::app::App;

/// What is common to all that is done with an instance.
pub(super) struct With<'a> {
    pub programs: &'a Programs,
    pub app: &'a App,
    pub stopped: &'a dyn Fn() -> bool,
    pub log: &'a mut dyn FnMut(EventKind),
}

/// The last that a program said, or what sysbench gives up for.
pub(super) fn last_words(ended: &Ended) -> String {
    let output = String::from_utf8_lossy(&ended.output).into_owned();
    let of = |text: &str| text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_string);
    // What sysbench gives up for it says on its output.
    let fatal = output.lines().find(|line| line.starts_with("FATAL")).map(str::to_string);
    fatal.or_else(|| of(&ended.words)).or_else(|| of(&output)).unwrap_or_default()
}

pub(super) fn not_started(program: &str, error: &std::io::Error) -> Box<Error> {
    let message = say!("cannot start `{program}`: {error}", "не удаётся запустить `{program}`: {error}");
    let refused = error.kind() == std::io::ErrorKind::PermissionDenied;
    let error = Error::preflight(message);
    if !refused {
        return error;
    }
    error.hint(say!(
        "its user must be able to enter every directory above the target: `chmod o+x`",
        "её пользователь должен иметь право войти во все каталоги над объектом: `chmod o+x`"
    ))
}

pub(super) fn failed(program: &str, last: &str) -> Box<Error> {
    let name = Path::new(program).file_name().map_or(program.into(), |name| name.to_string_lossy());
    Error::preflight(say!(
        "cannot create an instance: `{name}`: {last}",
        "экземпляр не удалось создать: `{name}`: {last}"
    ))
    .hint(say!(
        "its output is in the run file: `stend export RUN --format json`",
        "её сообщения — в файле прогона: `stend export ПРОГОН --format json`"
    ))
}
