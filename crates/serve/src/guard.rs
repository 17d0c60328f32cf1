//! Who may ask: a sender of the token, or of the cookie that a browser got for it. Pure except for drawing the secrets of sessions; its
//! caller passes the time.

use crate::token::{self, Hash};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use stend_base::{Code, Error, say};

/// How long a browser stays signed in. By eye: a week of work.
pub const SESSION: Duration = Duration::from_secs(7 * 24 * 3600);
/// Browsers that are signed in at the same time; the oldest goes first.
const SESSIONS_MAX: usize = 64;
/// Wrong tokens of a minute that are answered as such; more are answered with "too many". 256 random bits cannot be guessed at any rate:
/// this keeps a mistaken program from going on unnoticed.
const WRONG_MAX: u32 = 10;
const WRONG_SPAN: Duration = Duration::from_secs(60);

/// What a request was refused for.
#[derive(Debug, PartialEq, Eq)]
pub struct Refused {
    /// Why.
    pub error: Box<Error>,
    /// Seconds after which the answer may be another one.
    pub retry_after: Option<u64>,
}

/// The hash of the token, the sessions, and how many wrong tokens came lately.
pub struct Guard {
    token: Hash,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Oldest first.
    sessions: VecDeque<(Hash, Instant)>,
    /// Wrong tokens since a moment.
    wrong: Option<(Instant, u32)>,
}

impl Guard {
    /// Lets in the holders of the token with this hash.
    pub fn new(token: Hash) -> Guard {
        Guard { token, state: Mutex::default() }
    }

    /// Whether a request with this token or cookie may be answered. Right ones always may, however many wrong ones there were.
    pub fn admit(&self, token: Option<&str>, cookie: Option<&str>, now: Instant) -> Result<(), Refused> {
        if token.is_some_and(|token| self.is_token(token)) {
            return Ok(());
        }
        let mut state = self.state();
        let is_session = |cookie: &str| {
            let hash = token::hash(cookie);
            state.sessions.iter().any(|(known, until)| *known == hash && now < *until)
        };
        if cookie.is_some_and(is_session) {
            return Ok(());
        }
        match token {
            Some(_) => Err(wrong(&mut state, now)),
            None => Err(Refused { error: missing(), retry_after: None }),
        }
    }

    /// The cookie of a new session for who has the token; `Ok(Err(…))`: it is a wrong one.
    ///
    /// Errors: those of drawing random numbers.
    pub fn sign_in(&self, token: &str, now: Instant) -> std::io::Result<Result<String, Refused>> {
        if !self.is_token(token) {
            return Ok(Err(wrong(&mut self.state(), now)));
        }
        let cookie = token::secret()?;
        let mut state = self.state();
        state.sessions.retain(|(_, until)| now < *until);
        if state.sessions.len() == SESSIONS_MAX {
            state.sessions.pop_front();
        }
        state.sessions.push_back((token::hash(&cookie), now + SESSION));
        Ok(Ok(cookie))
    }

    /// Ends a session.
    pub fn sign_out(&self, cookie: &str) {
        let hash = token::hash(cookie);
        self.state().sessions.retain(|(known, _)| *known != hash);
    }

    /// What is compared are hashes: how long that takes tells nothing of the token.
    fn is_token(&self, token: &str) -> bool {
        token::hash(token) == self.token
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts a wrong token.
fn wrong(state: &mut State, now: Instant) -> Refused {
    let (since, count) = state.wrong.filter(|(since, _)| now < *since + WRONG_SPAN).unwrap_or((now, 0));
    state.wrong = Some((since, count.saturating_add(1)));
    if count < WRONG_MAX {
        let error = Error::new(Code::TokenRefused, say!("the token is wrong", "неверный токен")).hint(new_token());
        return Refused { error, retry_after: None };
    }
    let error = Error::new(Code::ServerBusy, say!("too many wrong tokens", "слишком много неверных токенов"))
        .hint(say!("wait a minute", "подождите минуту"));
    Refused { error, retry_after: Some((since + WRONG_SPAN).saturating_duration_since(now).as_secs() + 1) }
}

fn missing() -> Box<Error> {
    Error::new(Code::TokenRefused, say!("the request has no token", "в запросе нет токена")).hint(say!(
        "send `Authorization: Bearer TOKEN`, or sign in at `/login`",
        "пришлите `Authorization: Bearer ТОКЕН` или войдите на `/login`"
    ))
}

fn new_token() -> stend_base::Say {
    say!(
        "the first start printed it; `stend serve --new-token` makes another",
        "он напечатан при первом запуске; `stend serve --new-token` сделает новый"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard() -> (Guard, Instant) {
        (Guard::new(token::hash("right")), Instant::now())
    }

    fn code(refused: Result<(), Refused>) -> (Code, Option<u64>) {
        let refused = refused.unwrap_err();
        (refused.error.code, refused.retry_after)
    }

    #[test]
    fn the_token_and_the_cookie_of_a_session_let_in_and_nothing_else() {
        let (guard, now) = guard();
        assert!(guard.admit(Some("right"), None, now).is_ok());
        assert_eq!(code(guard.admit(None, None, now)), (Code::TokenRefused, None));
        assert_eq!(code(guard.admit(Some(""), Some("right"), now)), (Code::TokenRefused, None));
        let cookie = guard.sign_in("right", now).unwrap().unwrap();
        assert!(guard.admit(None, Some(&cookie), now).is_ok() && guard.admit(Some(&cookie), None, now).is_err());
        assert!(guard.admit(None, Some(&cookie), now + SESSION).is_err(), "it ends by itself");
        guard.sign_out(&cookie);
        assert!(guard.admit(None, Some(&cookie), now).is_err());
        assert!(guard.sign_in("left", now).unwrap().is_err());
    }

    #[test]
    fn many_wrong_tokens_are_put_off_and_the_right_one_is_never() {
        let (guard, now) = guard();
        for _ in 0..WRONG_MAX {
            assert_eq!(code(guard.admit(Some("left"), None, now)).0, Code::TokenRefused);
        }
        let later = now + Duration::from_secs(20);
        assert_eq!(code(guard.admit(Some("left"), None, later)), (Code::ServerBusy, Some(41)));
        assert_eq!(guard.sign_in("left", later).unwrap().unwrap_err().error.code, Code::ServerBusy);
        assert!(guard.admit(Some("right"), None, later).is_ok());
        assert_eq!(code(guard.admit(Some("left"), None, now + WRONG_SPAN)).0, Code::TokenRefused);
    }

    #[test]
    fn more_browsers_than_fit_sign_the_oldest_out() {
        let (guard, now) = guard();
        let cookies: Vec<String> = (0..=SESSIONS_MAX).map(|_| guard.sign_in("right", now).unwrap().unwrap()).collect();
        assert!(
            guard.admit(None, Some(&cookies[0]), now).is_err() && guard.admit(None, Some(&cookies[1]), now).is_ok()
        );
    }
}
