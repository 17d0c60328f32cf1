//! What people say of problems in a recording: does it beside the recording, and what changed for the log. Must not find problems: a process of
//! its own judges months of samples.

use crate::clock::now_unix;
use crate::printed::printed;
use crate::users::Change;
use serde::Deserialize;
use std::path::Path;
use stend_analyse::journal::marks::{Author, Mark, Occurrence, Wish};
use stend_api::Request;
use stend_base::format::rfc3339;
use stend_base::{Error, Result, Say, say};

/// As far as it is needed to find a problem by its id.
#[derive(Deserialize)]
struct Journal {
    host: String,
    problems: Vec<Problem>,
}

#[derive(Deserialize)]
struct Problem {
    rule: String,
    object: String,
    opened_unix_s: i64,
    state: String,
}

/// What somebody asks for.
struct Asked<'a> {
    recording: &'a str,
    what: &'a str,
    wish: Wish<'a>,
    comment: Option<&'a str>,
}

fn asked(request: &Request) -> Option<Asked<'_>> {
    let (recording, what, wish, comment) = match request {
        Request::Acknowledge { recording, problem, comment } => {
            (recording, problem, Wish::Acknowledge, comment.as_deref())
        }
        Request::Unacknowledge { recording, problem } => (recording, problem, Wish::Unacknowledge, None),
        Request::Mute { recording, what, until, comment } => {
            (recording, what, Wish::Mute { until }, comment.as_deref())
        }
        Request::Unmute { recording, what } => (recording, what, Wish::Unmute, None),
        _ => return None,
    };
    Some(Asked { recording, what, wish, comment })
}

/// Does what a request says of a problem: the journal after that, and what changed. `None`: it is about something else.
///
/// Errors: those of finding the recording and of `stend journal`.
pub fn mark(
    request: &Request,
    find: impl FnOnce(&str) -> Result<std::path::PathBuf>,
    program: &Path,
    by: &str,
) -> Result<Option<(Vec<u8>, Change)>> {
    let Some(Asked { recording, what, wish, comment }) = asked(request) else { return Ok(None) };
    let path = find(recording)?;
    let shown = || printed(program, &["journal", "--json", "--", &path.to_string_lossy()], "");
    let journal: Journal = serde_json::from_slice(&shown()?).map_err(|why| unread(&why))?;
    let of = |problem: Problem| Occurrence {
        rule: problem.rule,
        object: problem.object,
        opened_unix_s: problem.opened_unix_s,
        is_open: problem.state == "open",
    };
    let problems: Vec<Occurrence> = journal.problems.into_iter().map(of).collect();
    let author = Author { host: &journal.host, by, now: now_unix(), comment };
    let marked = stend_session::mark(&path, &problems, what, wish, author)?;
    let logged = |mark: Option<Mark>| mark.as_ref().map(in_words).unwrap_or_default();
    let change = Change { before: logged(marked.before), after: logged(marked.after) };
    Ok(Some((shown()?, change)))
}

/// As the log of changes has it.
fn in_words(mark: &Mark) -> String {
    let (object, rule) = (&mark.object, mark.rule.as_deref().unwrap_or("everything"));
    let comment = mark.comment.as_ref().map(|comment| format!(": {comment}")).unwrap_or_default();
    let says = match mark.until() {
        None => "acknowledged".to_string(),
        Some(until) => format!("muted until {}", rfc3339(until)),
    };
    format!("{object}, {rule}: {says} by {}{comment}", mark.by)
}

fn unread(why: &serde_json::Error) -> Box<Error> {
    let Say { en, ru } = Say::same(why.to_string());
    Error::bug(say!("the journal cannot be read: {en}", "журнал не читается: {ru}"))
}
