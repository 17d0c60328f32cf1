//! Who may ask: a sender of the token, or of the cookie that a browser got for it. Pure except for drawing the secrets of sessions; its
//! caller passes the time.

use crate::token::{self, Hash};
use crate::users::{Sender, Users};
use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use stend_base::{Code, Error, say};

/// How long a browser stays signed in. By eye: a week of work.
pub const SESSION: Duration = Duration::from_secs(7 * 24 * 3600);
/// How long an unused link to sign in is valid. By eye: the console of a server is at hand when it is started.
const LINK: Duration = Duration::from_secs(3600);
/// Browsers that are signed in at the same time, with all tokens and with one. The oldest of the own token goes first; if all places are taken, the
/// oldest of the token that has most, so that no holder of many signs out one of few. By eye: a person has few browsers.
const SESSIONS_MAX: usize = 64;
const OF_TOKEN_MAX: usize = 8;
/// Wrong tokens of a machine and minute that are answered as such; more are answered with "too many". 256 random bits cannot be guessed at
/// any rate: this keeps a mistaken program from going on unnoticed.
const WRONG_MAX: u32 = 10;
const WRONG_SPAN: Duration = Duration::from_secs(60);
/// Machines whose wrong tokens are counted; the one that began longest ago goes first. Each takes some dozens of bytes.
const SENDERS_MAX: usize = 4096;

/// When a request came, and from where.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// The machine that sent it.
    pub from: IpAddr,
    /// The time that only goes on.
    pub now: Instant,
    /// The time on the wall, in seconds since 1970.
    pub now_unix: i64,
}

/// What a request was refused for.
#[derive(Debug, PartialEq, Eq)]
pub struct Refused {
    /// Why.
    pub error: Box<Error>,
    /// Seconds after which the answer may be another one.
    pub retry_after: Option<u64>,
}

/// The holders of tokens, the sessions, and how many wrong tokens came lately.
pub struct Guard {
    users: Arc<Users>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Links that were not used yet: hash of the code, end, and hash of the token for whose holder it is.
    links: Vec<(Hash, Instant, Hash)>,
    /// Oldest first: hash of the cookie, end, and hash of the token that it was got for.
    sessions: VecDeque<(Hash, Instant, Hash)>,
    /// Wrong tokens of each machine since a moment.
    wrong: HashMap<IpAddr, (Instant, u32)>,
}

impl State {
    /// Which session ends where one more begins with this token; `None`: there is room.
    fn gives_place(&self, token: &Hash) -> Option<usize> {
        let count = |token: &Hash| self.sessions.iter().filter(|(_, _, of)| of == token).count();
        if count(token) == OF_TOKEN_MAX {
            return self.sessions.iter().position(|(_, _, of)| of == token);
        }
        let places = self.sessions.iter().enumerate().filter(|_| self.sessions.len() == SESSIONS_MAX);
        places.max_by_key(|(place, (_, _, of))| (count(of), Reverse(*place))).map(|(place, _)| place)
    }
}

impl Guard {
    /// Lets in the holders of valid tokens.
    pub fn new(users: Arc<Users>) -> Guard {
        Guard { users, state: Mutex::default() }
    }

    /// Who sends a request with this token or cookie. Right ones are always let in, however many wrong ones there were. A session ends with
    /// the token that it was got for.
    pub fn admit(&self, token: Option<&str>, cookie: Option<&str>, moment: Moment) -> Result<Sender, Refused> {
        match (self.holder(token, cookie, moment.now, moment.now_unix), token) {
            (Some(sender), _) => Ok(sender),
            (None, Some(_)) => Err(wrong(&mut self.state(), moment)),
            (None, None) => Err(Refused { error: missing(), retry_after: None }),
        }
    }

    /// Who has this token or cookie at this time; wrong ones are not counted.
    pub fn holder(&self, token: Option<&str>, cookie: Option<&str>, now: Instant, now_unix: i64) -> Option<Sender> {
        let session = |cookie: &str| {
            let (hash, state) = (token::hash(cookie), self.state());
            let found = state.sessions.iter().find(|(known, until, _)| *known == hash && now < *until)?;
            self.users.holder(&found.2, now_unix)
        };
        let of_token = token.and_then(|token| self.users.holder(&token::hash(token), now_unix));
        of_token.or_else(|| cookie.and_then(session))
    }

    /// Has a code sign in the holder of the token with this hash, once and within an hour.
    pub fn add_link(&self, code: &str, of: Hash, now: Instant) {
        self.state().links.push((token::hash(code), now + LINK, of));
    }

    /// The cookie of a new session for who has the token or the code of a link, which is used up by that; `Ok(Err(…))`: it is a wrong one.
    ///
    /// Errors: those of drawing random numbers.
    pub fn sign_in(&self, token: &str, moment: Moment) -> std::io::Result<Result<String, Refused>> {
        let Moment { now, now_unix, .. } = moment;
        let cookie = token::secret()?;
        let mut state = self.state();
        state.links.retain(|(_, until, _)| now < *until);
        let hash = token::hash(token);
        let link = state.links.iter().position(|(code, ..)| *code == hash);
        let hash = link.map_or(hash, |at| state.links.remove(at).2);
        if self.users.holder(&hash, now_unix).is_none() {
            let refused = wrong(&mut state, moment);
            return Ok(Err(if token::is_code(token) && refused.retry_after.is_none() { used_up() } else { refused }));
        }
        state.sessions.retain(|(_, until, _)| now < *until);
        if let Some(place) = state.gives_place(&hash) {
            state.sessions.remove(place);
        }
        state.sessions.push_back((token::hash(&cookie), now + SESSION, hash));
        Ok(Ok(cookie))
    }

    /// Ends a session.
    pub fn sign_out(&self, cookie: &str) {
        let hash = token::hash(cookie);
        self.state().sessions.retain(|(known, ..)| *known != hash);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts a wrong token.
fn wrong(state: &mut State, Moment { from, now, .. }: Moment) -> Refused {
    let from = machine(from);
    let known = state.wrong.get(&from).copied();
    let (since, count) = known.filter(|(since, _)| now < *since + WRONG_SPAN).unwrap_or((now, 0));
    if known.is_none() && state.wrong.len() >= SENDERS_MAX {
        state.wrong.retain(|_, (since, _)| now < *since + WRONG_SPAN);
        let oldest = state.wrong.iter().min_by_key(|(_, (since, _))| *since).map(|(from, _)| *from);
        oldest.filter(|_| state.wrong.len() >= SENDERS_MAX).map(|oldest| state.wrong.remove(&oldest));
    }
    state.wrong.insert(from, (since, count.saturating_add(1)));
    if count < WRONG_MAX {
        let error = Error::new(Code::TokenRefused, say!("the token is wrong", "неверный токен")).hint(new_token());
        return Refused { error, retry_after: None };
    }
    let error = Error::new(Code::ServerBusy, say!("too many wrong tokens", "слишком много неверных токенов"))
        .hint(say!("wait a minute", "подождите минуту"));
    Refused { error, retry_after: Some((since + WRONG_SPAN).saturating_duration_since(now).as_secs() + 1) }
}

/// Whose address it is: a machine with IPv6 chooses the last 64 bits of its address itself.
pub fn machine(from: IpAddr) -> IpAddr {
    match from.to_canonical() {
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64).into(),
        v4 => v4,
    }
}

fn missing() -> Box<Error> {
    Error::new(Code::TokenRefused, say!("the request has no token", "в запросе нет токена")).hint(say!(
        "send `Authorization: Bearer TOKEN`, or sign in at `/login`",
        "пришлите `Authorization: Bearer ТОКЕН` или войдите на `/login`"
    ))
}

fn used_up() -> Refused {
    let message = say!(
        "this link was used already, is older than an hour, or the server was restarted",
        "эта ссылка уже использована, ей больше часа или сервер перезапускался"
    );
    let hint = say!(
        "sign in with the token; `stend serve --new-token` makes another, with a new link",
        "войдите с токеном; `stend serve --new-token` сделает новый и новую ссылку"
    );
    Refused { error: Error::new(Code::TokenRefused, message).hint(hint), retry_after: None }
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
    use stend_api::Role;

    fn guard() -> (tempfile::TempDir, Guard, Instant) {
        let dir = tempfile::tempdir().unwrap();
        let users = Users::open(dir.path(), token::hash("right")).unwrap();
        (dir, Guard::new(Arc::new(users)), Instant::now())
    }

    fn at(now: Instant, now_unix: i64) -> Moment {
        Moment { from: IpAddr::from([192, 0, 2, 7]), now, now_unix }
    }

    fn code(refused: Result<Sender, Refused>) -> (Code, Option<u64>) {
        let refused = refused.unwrap_err();
        (refused.error.code, refused.retry_after)
    }

    #[test]
    fn the_token_and_the_cookie_of_a_session_let_in_and_nothing_else() {
        let (_dir, guard, now) = guard();
        assert!(guard.admit(Some("right"), None, at(now, 0)).is_ok());
        assert_eq!(code(guard.admit(None, None, at(now, 0))), (Code::TokenRefused, None));
        assert_eq!(code(guard.admit(Some(""), Some("right"), at(now, 0))), (Code::TokenRefused, None));
        let cookie = guard.sign_in("right", at(now, 0)).unwrap().unwrap();
        assert!(
            guard.admit(None, Some(&cookie), at(now, 0)).is_ok()
                && guard.admit(Some(&cookie), None, at(now, 0)).is_err()
        );
        assert!(guard.admit(None, Some(&cookie), at(now + SESSION, 0)).is_err(), "it ends by itself");
        guard.sign_out(&cookie);
        assert!(guard.admit(None, Some(&cookie), at(now, 0)).is_err());
        assert!(guard.sign_in("left", at(now, 0)).unwrap().is_err());
    }

    #[test]
    fn a_link_signs_in_once_within_an_hour_and_its_code_is_no_token() {
        let (_dir, guard, now) = guard();
        let add = |code: &str| guard.add_link(code, token::hash("right"), now);
        add("once_a");
        assert_eq!(code(guard.admit(Some("once_a"), None, at(now, 0))).0, Code::TokenRefused);
        let cookie = guard.sign_in("once_a", at(now + LINK - Duration::from_secs(1), 0)).unwrap().unwrap();
        assert_eq!(guard.admit(None, Some(&cookie), at(now, 0)).unwrap().role, Role::Admin);
        let refused = |code: &str, now| guard.sign_in(code, at(now, 0)).unwrap().unwrap_err().error;
        let again = refused("once_a", now);
        assert!(again.code == Code::TokenRefused && again.message.en.contains("used already"), "{again}");
        assert!(again.message.en.contains("restarted"), "links are not kept over a restart: {again}");
        add("once_b");
        assert_eq!(refused("once_b", now + LINK).code, Code::TokenRefused);
        assert_eq!(refused("once_b", now).code, Code::TokenRefused, "it is gone");
        add("once_c");
        assert!(guard.sign_in("once_d", at(now, 0)).unwrap().is_err());
        assert!(guard.sign_in("once_c", at(now, 0)).unwrap().is_ok(), "a wrong one uses no other up");
    }

    #[test]
    fn a_session_has_the_role_of_its_token_and_ends_with_it() {
        let (_dir, guard, now) = guard();
        let admin = Sender { name: "admin".into(), role: Role::Admin };
        let issued = guard.users.issue("ci", Role::Operator, 1, (&admin, "PUT"), 0).unwrap();
        let cookie = guard.sign_in(&issued.secret, at(now, 1)).unwrap().unwrap();
        assert_eq!(guard.admit(None, Some(&cookie), at(now, 1)).unwrap().name, "ci");
        assert!(guard.admit(None, Some(&cookie), at(now, 24 * 3600)).is_err(), "the token has expired");
        guard.users.revoke("ci", (&admin, "DELETE"), 1).unwrap();
        assert!(guard.admit(None, Some(&cookie), at(now, 1)).is_err());
    }

    #[test]
    fn many_wrong_tokens_are_put_off_and_the_right_one_is_never() {
        let (_dir, guard, now) = guard();
        for _ in 0..WRONG_MAX {
            assert_eq!(code(guard.admit(Some("left"), None, at(now, 0))).0, Code::TokenRefused);
        }
        let later = now + Duration::from_secs(20);
        assert_eq!(code(guard.admit(Some("left"), None, at(later, 0))), (Code::ServerBusy, Some(41)));
        assert_eq!(guard.sign_in("left", at(later, 0)).unwrap().unwrap_err().error.code, Code::ServerBusy);
        assert!(guard.admit(Some("right"), None, at(later, 0)).is_ok());
        assert_eq!(code(guard.admit(Some("left"), None, at(now + WRONG_SPAN, 0))).0, Code::TokenRefused);
    }

    #[test]
    fn wrong_tokens_of_one_machine_are_not_those_of_another() {
        let (_dir, guard, now) = guard();
        let asked = |from: &str| {
            let moment = Moment { from: from.parse().unwrap(), now, now_unix: 0 };
            code(guard.admit(Some("left"), None, moment)).0
        };
        for _ in 0..WRONG_MAX {
            assert_eq!(asked("2001:db8::1"), Code::TokenRefused);
        }
        assert_eq!(asked("2001:db8::2"), Code::ServerBusy, "a machine has all of its network");
        assert_eq!(asked("2001:db8:0:1::1"), Code::TokenRefused);
        assert_eq!(asked("::ffff:192.0.2.1"), Code::TokenRefused);
        for machine in 0..2 * SENDERS_MAX {
            asked(&Ipv6Addr::from_bits((machine as u128) << 64).to_string());
        }
        assert_eq!(guard.state().wrong.len(), SENDERS_MAX, "memory has a limit");
    }

    #[test]
    fn more_browsers_than_fit_sign_the_oldest_of_their_token_out_and_no_other() {
        let (_dir, guard, now) = guard();
        let admin = Sender { name: "admin".into(), role: Role::Admin };
        let issue = |id: &str| guard.users.issue(id, Role::Viewer, 1, (&admin, "PUT"), 0).unwrap().secret;
        let sign_in = |token: &str| guard.sign_in(token, at(now, 0)).unwrap().unwrap();
        let is_in = |cookie: &String| guard.admit(None, Some(cookie), at(now, 0)).is_ok();
        let of_admin = sign_in("right");
        let viewer = issue("viewer");
        let of_viewer: Vec<String> = (0..SESSIONS_MAX).map(|_| sign_in(&viewer)).collect();
        let left: Vec<usize> = (0..SESSIONS_MAX).filter(|at| is_in(&of_viewer[*at])).collect();
        assert!(is_in(&of_admin) && left.iter().copied().eq(SESSIONS_MAX - OF_TOKEN_MAX..SESSIONS_MAX), "{left:?}");
        // When all places are taken, the oldest of the token with most goes, and no older one of a token with few.
        let others: Vec<String> = (0..SESSIONS_MAX - OF_TOKEN_MAX - 1).map(|at| issue(&at.to_string())).collect();
        others.iter().for_each(|token| drop(sign_in(token)));
        let of_others = sign_in(&others[0]);
        let of_new = sign_in(&issue("new"));
        let left: Vec<usize> = (0..SESSIONS_MAX).filter(|at| is_in(&of_viewer[*at])).collect();
        assert!(left.iter().copied().eq(SESSIONS_MAX - OF_TOKEN_MAX + 2..SESSIONS_MAX), "{left:?}");
        assert!([&of_admin, &of_others, &of_new].into_iter().all(is_in));
    }
}
