//! What people say of problems, over a server: asked for and changed there. Must not find problems.

use super::super::journal::Asked;
use crate::remote::Remote;
use serde::Deserialize;
use stend_analyse::journal::marks::{Mark, MarkKind, Marks, Wish};
use stend_base::Result;
use stend_client::escaped;

#[derive(Deserialize)]
struct Journal {
    host: String,
    problems: Vec<Problem>,
    mutes: Vec<Mute>,
}

#[derive(Deserialize)]
struct Problem {
    rule: String,
    object: String,
    opened_unix_s: i64,
    acknowledged: Option<Acknowledged>,
}

#[derive(Deserialize)]
struct Acknowledged {
    by: String,
    at_unix_s: i64,
    comment: Option<String>,
}

#[derive(Deserialize)]
struct Mute {
    object: String,
    rule: Option<String>,
    until_unix_s: i64,
    by: String,
    at_unix_s: i64,
    comment: Option<String>,
}

/// What is said of the problems in a recording there, after what is to be said of one.
///
/// Errors: what the server says.
pub fn marks(remote: &Remote, name: &str, asked: Option<&Asked>) -> Result<Marks> {
    let journal = format!("/api/v1/recordings/{}/journal", escaped(name));
    let Some(Asked { what, wish, comment }) = asked else {
        return Ok(of(super::document(remote, &journal)?));
    };
    let what = escaped(what);
    let comment = comment.map(|comment| format!("&comment={}", escaped(comment))).unwrap_or_default();
    let (method, target) = match wish {
        Wish::Acknowledge => ("PUT", format!("{journal}/acknowledgement?problem={what}{comment}")),
        Wish::Unacknowledge => ("DELETE", format!("{journal}/acknowledgement?problem={what}")),
        Wish::Mute { until } => ("PUT", format!("{journal}/mute?what={what}&until={}{comment}", escaped(until))),
        Wish::Unmute => ("DELETE", format!("{journal}/mute?what={what}")),
    };
    let reply = remote.server.send(method, &target, String::new())?;
    Ok(of(super::read(remote, &target, &reply.body)?))
}

fn of(journal: Journal) -> Marks {
    let host = journal.host;
    let known = |problem: Problem| {
        let Acknowledged { by, at_unix_s, comment } = problem.acknowledged?;
        let mark = MarkKind::Acknowledged { opened_unix_s: problem.opened_unix_s };
        Some(Mark {
            host: host.clone(),
            object: problem.object,
            rule: Some(problem.rule),
            mark,
            by,
            at_unix_s,
            comment,
        })
    };
    let muted = |Mute { object, rule, until_unix_s, by, at_unix_s, comment }: Mute| {
        let mark = MarkKind::Muted { until_unix_s };
        Mark { host: host.clone(), object, rule, mark, by, at_unix_s, comment }
    };
    let acknowledged = journal.problems.into_iter().filter_map(known);
    Marks::new(acknowledged.chain(journal.mutes.into_iter().map(muted)).collect())
}
