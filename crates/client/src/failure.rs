//! What goes wrong with a server, in words: which one, what was asked, why not, what to do. Must not repeat a token.

use serde::Deserialize;
use stend_base::{Code, Error, Say, say};

/// What a server says of a request that failed (RFC 9457).
#[derive(Deserialize)]
struct Problem {
    code: Code,
    message: Say,
    hint: Option<Say>,
}

/// A server that does not answer.
pub(crate) fn unreachable(url: &str, why: &Say) -> Box<Error> {
    let Say { en, ru } = why;
    Error::new(
        Code::ServerUnreachable,
        say!("the server {url} does not answer: {en}", "сервер {url} не отвечает: {ru}"),
    )
    .hint(say!(
        "`stend serve` starts it; other machines reach it with `stend serve --listen 0.0.0.0:8421` at `https://HOST:8421`",
        "его запускает `stend serve`; с других машин он доступен после `stend serve --listen 0.0.0.0:8421` по адресу `https://МАШИНА:8421`"
    ))
}

/// Something answers that is no server of Stend, or one of another version.
pub fn not_understood(url: &str, target: &str, why: &Say) -> Box<Error> {
    let Say { en, ru } = why;
    let path = target.split('?').next().unwrap_or(target);
    Error::new(
        Code::ServerUnreachable,
        say!(
            "{url}{path}: this is not the answer of a Stend server: {en}",
            "{url}{path}: это не ответ сервера Стенда: {ru}"
        ),
    )
    .hint(say!(
        "compare the address with what `stend serve` printed, and the versions: `stend --version`",
        "сравните адрес с тем, что напечатал `stend serve`, и версии: `stend --version`"
    ))
}

/// An answer that is larger than one of its kind may be.
pub(crate) fn too_large(url: &str, target: &str, most: u64) -> Box<Error> {
    let mib = most >> 20;
    not_understood(url, target, &say!("it is larger than {mib} MiB", "он больше {mib} МиБ"))
}

/// The error that a server sent with a status.
pub(crate) fn sent(url: &str, target: &str, status: u16, body: &[u8]) -> Box<Error> {
    let Ok(problem) = serde_json::from_slice::<Problem>(body) else {
        return not_understood(url, target, &say!("HTTP status {status}", "состояние HTTP {status}"));
    };
    let Say { en, ru } = problem.message;
    let error = Error::new(problem.code, say!("server {url}: {en}", "сервер {url}: {ru}"));
    let hint = match problem.code {
        Code::TokenRefused => Some(say!(
            "put a token of this server into a file and name it: `--token-file FILE`, or set STEND_TOKEN; `stend serve --new-token` makes one",
            "запишите токен этого сервера в файл и укажите его: `--token-file ФАЙЛ`, или задайте STEND_TOKEN; новый сделает `stend serve --new-token`"
        )),
        _ => problem.hint,
    };
    hint.into_iter().fold(error, Error::hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_server_keeps_its_code_and_any_other_answer_is_called_so() {
        let body = br#"{"status":404,"code":"run_unknown","message":{"en":"no run","ru":"net"},"hint":null}"#;
        let error = sent("http://a", "/api/v1/runs/x?y=1", 404, body);
        assert!(error.code == Code::RunUnknown && error.message.en.contains("http://a"), "{error}");
        for body in [&b"<html>nginx</html>"[..], b"", br#"{"code":"no such code","message":{"en":"","ru":""}}"#] {
            let error = sent("http://a", "/api/v1/runs/x?y=1", 502, body);
            assert_eq!(error.code, Code::ServerUnreachable);
            assert!(error.message.en.contains("http://a/api/v1/runs/x") && error.message.en.contains("502"), "{error}");
        }
    }
}
