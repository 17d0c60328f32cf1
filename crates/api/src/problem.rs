//! Why a request got no answer: a problem document (RFC 9457) with the stable codes of Stend. Must not word errors: they come worded.

use serde::Serialize;
use stend_base::{Code, Error, Kind, Lang, Say};

/// What is sent for a request that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// HTTP status.
    pub status: u16,
    /// What went wrong.
    pub error: Box<Error>,
    /// Methods that the path takes, if the method was wrong.
    pub allow: Option<String>,
    /// Seconds to wait before trying again.
    pub retry_after: Option<u64>,
}

impl From<Box<Error>> for Failure {
    fn from(error: Box<Error>) -> Failure {
        Failure { status: status(error.code), error, allow: None, retry_after: None }
    }
}

impl Failure {
    /// The same with a status that its code does not tell.
    pub fn with(status: u16, error: Box<Error>) -> Failure {
        Failure { status, error, allow: None, retry_after: None }
    }

    /// As it is sent: indented JSON with a line feed at the end.
    pub fn json(&self, lang: Lang) -> String {
        let Error { code, kind, message, hint, .. } = &*self.error;
        // A word of an enum without fields: it has no case in which it cannot be written.
        let word = serde_json::to_value(code).unwrap_or_default();
        let problem = Problem {
            r#type: format!("urn:stend:error:{}", word.as_str().unwrap_or_default()),
            title: title(self.status),
            status: self.status,
            detail: message.get(lang),
            code: *code,
            kind: *kind,
            message,
            hint: hint.as_ref(),
        };
        serde_json::to_string_pretty(&problem).unwrap_or_default() + "\n"
    }
}

/// Why a request got no answer (RFC 9457, `application/problem+json`).
#[derive(Serialize)]
pub struct Problem<'a> {
    /// `urn:stend:error:` and the code.
    r#type: String,
    /// The HTTP status in words.
    title: &'static str,
    /// The HTTP status.
    status: u16,
    /// What went wrong, in the language of the request (`Accept-Language`: `ru`, else English).
    detail: &'a str,
    /// For programs; the codes are those of every verb.
    code: Code,
    /// Class of the code.
    kind: Kind,
    /// What went wrong.
    message: &'a Say,
    /// What can be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a Say>,
}

/// HTTP status of an error.
pub fn status(code: Code) -> u16 {
    match code {
        Code::RunUnknown
        | Code::SuiteUnknown
        | Code::FileUnreadable
        | Code::TaskUnknown
        | Code::ScheduleUnknown
        | Code::TokenUnknown => 404,
        Code::NotAllowed => 403,
        Code::TokenRefused => 401,
        Code::ServerBusy => 429,
        Code::RunAmbiguous
        | Code::RunGoesOn
        | Code::RunOver
        | Code::TaskConflict
        | Code::TokenExists
        | Code::ScheduleExists => 409,
        Code::Bug => 500,
        Code::Usage => 400,
        // The request is understood, and what it is about does not allow an answer.
        _ => 422,
    }
}

fn title(status: u16) -> &'static str {
    match status {
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        409 => "Conflict",
        413 => "Content Too Large",
        414 => "URI Too Long",
        421 => "Misdirected Request",
        422 => "Unprocessable Content",
        429 => "Too Many Requests",
        _ => "Internal Server Error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::say;

    #[test]
    fn a_problem_has_the_code_of_the_error_and_speaks_the_language_of_the_request() {
        let error =
            Error::new(Code::RunUnknown, say!("no such run", "такого прогона нет")).hint(say!("look", "смотрите"));
        let of = |lang| serde_json::from_str::<serde_json::Value>(&Failure::from(error.clone()).json(lang)).unwrap();
        let problem = of(Lang::Ru);
        assert_eq!(
            (&problem["type"], &problem["status"], &problem["code"], &problem["detail"]),
            (&"urn:stend:error:run_unknown".into(), &404.into(), &"run_unknown".into(), &"такого прогона нет".into())
        );
        assert_eq!((&of(Lang::En)["detail"], &problem["hint"]["en"]), (&"no such run".into(), &"look".into()));
        assert_eq!(problem["title"], "Not Found");
    }

    #[test]
    fn only_a_defect_of_ours_is_an_error_of_the_server() {
        for kind in [Kind::Usage, Kind::Spec, Kind::Preflight, Kind::Unsafe, Kind::RunFile, Kind::HostLost] {
            assert!((400..500).contains(&status(kind.into())), "{kind:?}");
        }
        assert_eq!(status(Code::Bug), 500);
        assert_eq!(title(status(Code::Bug)), "Internal Server Error");
        for other in [400, 401, 403, 404, 405, 408, 409, 413, 414, 421, 422, 429] {
            assert_ne!(title(other), title(500), "{other}");
        }
    }
}
