//! Tokens with roles, and the log of changes. Secrets are kept as hashes alone. Must not decide what a role may do, nor have who asks wait for a
//! disk.

use crate::database;
use crate::token::{self, Hash};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use stend_api::{AuditEntry, AuditLog, IssuedToken, Role, Token, TokenList};
use stend_base::{Code, Error, Result, say};

const FILE: &str = "users.db";
const TOKENS: &str = "CREATE TABLE token (id TEXT PRIMARY KEY, role TEXT NOT NULL, sha256 BLOB NOT NULL UNIQUE, created_unix INTEGER NOT NULL, expires_unix INTEGER NOT NULL) STRICT";
const CHANGES: &str = "CREATE TABLE audit (number INTEGER PRIMARY KEY, at_unix INTEGER NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL, before TEXT NOT NULL, after TEXT NOT NULL) STRICT";

/// Tokens at the same time, expired ones included.
const TOKENS_MAX: usize = 1000;
/// Changes that are remembered; the oldest go first.
const CHANGES_MAX: i64 = 100_000;
/// The name of who has the token of the first start.
const FIRST: &str = "admin";
const DAY: i64 = 24 * 3600;

/// Who sends a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sender {
    /// The id of the token.
    pub name: String,
    /// What the sender may do.
    pub role: Role,
}

/// What a request changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// As it was; empty: it was not there.
    pub before: String,
    /// As it is; empty: it is gone.
    pub after: String,
}

/// A change, as the log gets it.
struct Entry {
    at_unix: i64,
    who: String,
    what: String,
    change: Change,
}

/// All tokens.
pub struct Users {
    first: Hash,
    /// Those of the database. Every request asks for one on the thread of all connections: they are never held while anything is written.
    tokens: Mutex<HashMap<Hash, Token>>,
    kept: Mutex<Kept>,
}

struct Kept {
    db: Connection,
    /// Changes that were made and could not be written yet, such as on a full disk: they go with the next one, or when the log is asked for.
    unwritten: Vec<Entry>,
}

impl Users {
    /// Opens what is kept in a directory; the holder of the token with this hash is the first admin.
    ///
    /// Errors: `Preflight`.
    pub fn open(directory: &Path, first: Hash) -> Result<Users> {
        let db = database::open(&directory.join(FILE), &format!("{TOKENS}; {CHANGES}"))?;
        let tokens = Mutex::new(hashes(&db).map_err(unkept)?);
        Ok(Users { first, tokens, kept: Mutex::new(Kept { db, unwritten: Vec::new() }) })
    }

    /// The holder of the token with this hash, if it is valid at this time.
    pub fn holder(&self, hash: &Hash, now_unix: i64) -> Option<Sender> {
        if *hash == self.first {
            return Some(Sender { name: FIRST.into(), role: Role::Admin });
        }
        let tokens = self.tokens();
        let token = tokens.get(hash).filter(|token| now_unix < token.expires_unix)?;
        Some(Sender { name: token.id.clone(), role: token.role })
    }

    /// Makes a token, which is shown only now, for who asks for it with this request. It is there with its entry in the log, or not at all.
    ///
    /// Errors: `TokenExists` for an id that there is; `ServerBusy` if there are too many; `Preflight`, such as on a full disk.
    pub fn issue(
        &self,
        id: &str,
        role: Role,
        days: usize,
        (who, what): (&Sender, &str),
        now_unix: i64,
    ) -> Result<IssuedToken> {
        let mut kept = self.kept();
        let transaction = kept.db.transaction().map_err(unkept)?;
        let there: bool = transaction
            .query_row("SELECT EXISTS (SELECT 1 FROM token WHERE id = ?1)", [id], |row| row.get(0))
            .map_err(unkept)?;
        if there || id == FIRST {
            return Err(Error::new(
                Code::TokenExists,
                say!("there is a token `{id}` already", "токен `{id}` уже есть"),
            )
            .hint(say!("delete it first, or choose another id", "сначала удалите его или выберите другое имя")));
        }
        let count: i64 = transaction.query_row("SELECT count(*) FROM token", [], |row| row.get(0)).map_err(unkept)?;
        if count >= TOKENS_MAX as i64 {
            let message = say!("there are {TOKENS_MAX} tokens already", "токенов уже {TOKENS_MAX}");
            return Err(Error::new(Code::ServerBusy, message));
        }
        let secret = token::new_token()
            .map_err(|error| Error::preflight(say!("no random numbers: {error}", "нет случайных чисел: {error}")))?;
        let (hash, expires_unix) = (token::hash(&secret), now_unix.saturating_add(days as i64 * DAY));
        let token = Token { id: id.into(), role, created_unix: now_unix, expires_unix };
        let made = Change { before: String::new(), after: shown(&token) };
        let done = transaction
            .execute(
                "INSERT INTO token VALUES (?1, ?2, ?3, ?4, ?5)",
                params![id, role.word(), &hash[..], now_unix, expires_unix],
            )
            .and_then(|_| log(&transaction, &[entry(who, what, &made, now_unix)]))
            .and_then(|()| transaction.commit());
        done.map_err(unkept)?;
        self.tokens().insert(hash, token);
        Ok(IssuedToken { id: id.into(), role, expires_unix, secret })
    }

    /// Every token but the first, without its secret.
    ///
    /// Errors: `Preflight`.
    pub fn list(&self) -> Result<TokenList> {
        let read = || -> rusqlite::Result<Vec<Token>> {
            let kept = self.kept();
            let mut statement =
                kept.db.prepare("SELECT id, role, created_unix, expires_unix FROM token ORDER BY id")?;
            statement.query_map([], of_row)?.collect()
        };
        Ok(TokenList { schema: "stend-tokens", schema_version: 1, tokens: read().map_err(unkept)? })
    }

    /// Ends a token, and the sessions of browsers that it signed in, for who asks for it with this request. It is gone with an entry in the log, or
    /// not at all.
    ///
    /// Errors: `TokenUnknown`; `Preflight`, such as on a full disk.
    pub fn revoke(&self, id: &str, (who, what): (&Sender, &str), now_unix: i64) -> Result<()> {
        let mut kept = self.kept();
        let transaction = kept.db.transaction().map_err(unkept)?;
        let found = "DELETE FROM token WHERE id = ?1 RETURNING id, role, created_unix, expires_unix";
        let removed = transaction.query_row(found, [id], of_row).optional().map_err(unkept)?;
        let removed = removed
            .ok_or_else(|| Error::new(Code::TokenUnknown, say!("there is no token `{id}`", "токена `{id}` нет")))?;
        let ended = Change { before: shown(&removed), after: String::new() };
        log(&transaction, &[entry(who, what, &ended, now_unix)]).and_then(|()| transaction.commit()).map_err(unkept)?;
        self.tokens().retain(|_, token| token.id != id);
        Ok(())
    }

    /// Writes down what was changed. What cannot be written now is tried again with the next change.
    ///
    /// Errors: `Preflight`, such as on a full disk.
    pub fn note(&self, who: &Sender, what: &str, change: &Change, now_unix: i64) -> Result<()> {
        let mut kept = self.kept();
        kept.unwritten.push(entry(who, what, change, now_unix));
        kept.write().map_err(unkept)
    }

    /// The newest changes, all of which are written by now, or those before the one with this number.
    ///
    /// Errors: `Preflight`.
    pub fn changes(&self, limit: usize, before: Option<usize>) -> Result<AuditLog> {
        let before = before.and_then(|number| i64::try_from(number).ok()).unwrap_or(i64::MAX);
        let read = || -> rusqlite::Result<Vec<AuditEntry>> {
            let mut kept = self.kept();
            kept.write()?;
            let newest = "SELECT number, at_unix, who, what, before, after FROM audit WHERE number < ?1 ORDER BY number DESC LIMIT ?2";
            let entry = |row: &Row| {
                Ok(AuditEntry {
                    number: row.get(0)?,
                    at_unix: row.get(1)?,
                    who: row.get(2)?,
                    what: row.get(3)?,
                    before: row.get(4)?,
                    after: row.get(5)?,
                })
            };
            // One more shows whether there is another page.
            kept.db.prepare(newest)?.query_map([before, limit as i64 + 1], entry)?.collect()
        };
        let mut changes = read().map_err(unkept)?;
        let is_last = changes.len() <= limit;
        changes.truncate(limit);
        let next = changes.last().filter(|_| !is_last).map(|entry| entry.number);
        Ok(AuditLog { schema: "stend-audit-log", schema_version: 1, changes, next })
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tokens(&self) -> MutexGuard<'_, HashMap<Hash, Token>> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// Writes down what is not in the log yet.
    fn write(&mut self) -> rusqlite::Result<()> {
        if self.unwritten.is_empty() {
            return Ok(());
        }
        // More than the log keeps is not kept here.
        let old = self.unwritten.len().saturating_sub(CHANGES_MAX as usize);
        self.unwritten.drain(..old);
        let transaction = self.db.transaction()?;
        log(&transaction, &self.unwritten)?;
        transaction.commit()?;
        self.unwritten.clear();
        Ok(())
    }
}

fn entry(who: &Sender, what: &str, change: &Change, at_unix: i64) -> Entry {
    Entry { at_unix, who: who.name.clone(), what: what.into(), change: change.clone() }
}

/// Adds to the log, whose oldest entries go.
fn log(db: &Connection, entries: &[Entry]) -> rusqlite::Result<()> {
    let add = "INSERT INTO audit (at_unix, who, what, before, after) VALUES (?1, ?2, ?3, ?4, ?5)";
    for Entry { at_unix, who, what, change } in entries {
        db.execute(add, params![at_unix, who, what, change.before, change.after])?;
    }
    let old = "DELETE FROM audit WHERE number <= (SELECT max(number) FROM audit) - ?1";
    db.execute(old, [CHANGES_MAX]).map(drop)
}

/// What is kept of the secret of each token. One with a role that is not known is left out.
fn hashes(db: &Connection) -> rusqlite::Result<HashMap<Hash, Token>> {
    let row = |row: &Row| Ok((row.get(4)?, Role::of(&row.get::<_, String>(1)?).is_some(), of_row(row)?));
    let mut statement = db.prepare("SELECT id, role, created_unix, expires_unix, sha256 FROM token")?;
    let all: Vec<(Hash, bool, Token)> = statement.query_map([], row)?.collect::<rusqlite::Result<_>>()?;
    Ok(all.into_iter().filter(|(_, is_known, _)| *is_known).map(|(hash, _, token)| (hash, token)).collect())
}

fn of_row(row: &Row) -> rusqlite::Result<Token> {
    let role: String = row.get(1)?;
    // A word that is none gives the least.
    let role = Role::of(&role).unwrap_or(Role::Viewer);
    Ok(Token { id: row.get(0)?, role, created_unix: row.get(2)?, expires_unix: row.get(3)? })
}

fn shown(token: &Token) -> String {
    format!("{} until {}", token.role.word(), token.expires_unix)
}

fn unkept(error: rusqlite::Error) -> Box<Error> {
    let message = say!("the server cannot use `{FILE}`: {error}", "сервер не может использовать `{FILE}`: {error}");
    Error::preflight(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_base::Kind;

    #[test]
    fn a_token_lets_in_with_its_role_until_it_expires_or_is_revoked() {
        let dir = tempfile::tempdir().unwrap();
        let open = || Users::open(dir.path(), token::hash("first")).unwrap();
        let (users, by) = (open(), (&admin(), "PUT"));
        let issued = users.issue("ci", Role::Operator, 1, by, 1000).unwrap();
        let hash = token::hash(&issued.secret);
        let ci = Sender { name: "ci".into(), role: Role::Operator };
        assert_eq!((users.holder(&hash, 1001), open().holder(&hash, 1001)), (Some(ci.clone()), Some(ci)));
        assert_eq!(users.holder(&hash, 1000 + DAY), None, "it has expired");
        assert_eq!(users.holder(&token::hash("first"), 1000 + DAY).map(|sender| sender.role), Some(Role::Admin));
        assert_eq!(users.holder(&token::hash("other"), 0), None);
        for taken in ["ci", FIRST] {
            assert_eq!(users.issue(taken, Role::Admin, 1, by, 0).err().unwrap().code, Code::TokenExists);
        }
        let kept = std::fs::read(dir.path().join(FILE)).unwrap();
        let secret = issued.secret.as_bytes();
        assert!(!kept.windows(secret.len()).any(|part| part == secret), "only its hash is kept");
        users.revoke("ci", by, 1001).unwrap();
        let log = users.changes(9, None).unwrap().changes;
        assert!(log[0].before.starts_with("operator until") && log[0].after.is_empty() && log.len() == 2, "{log:?}");
        assert_eq!((users.holder(&hash, 1001), open().holder(&hash, 1001)), (None, None));
        assert_eq!(users.revoke("ci", by, 0).err().unwrap().code, Code::TokenUnknown);
    }

    #[test]
    fn a_log_that_is_being_written_delays_no_request() {
        let dir = tempfile::tempdir().unwrap();
        let users = Users::open(dir.path(), token::hash("first")).unwrap();
        let issued = users.issue("ci", Role::Operator, 1, (&admin(), "PUT"), 0).unwrap();
        let other = Connection::open(dir.path().join(FILE)).unwrap();
        other.execute_batch("BEGIN EXCLUSIVE").unwrap();
        assert_eq!(users.holder(&token::hash(&issued.secret), 1).unwrap().name, "ci");
    }

    #[test]
    fn a_full_disk_makes_no_token_without_its_entry_and_other_entries_are_written_later() {
        let dir = tempfile::tempdir().unwrap();
        let users = Users::open(dir.path(), token::hash("first")).unwrap();
        users.issue("ci", Role::Operator, 1, (&admin(), "PUT"), 0).unwrap();
        let pages = |most: u32| users.kept().db.pragma_update(None, "max_page_count", most).unwrap();
        pages(1);
        // The token alone would have room.
        let long = "x".repeat(9000);
        assert_eq!(users.issue("cd", Role::Admin, 1, (&admin(), &long), 0).err().unwrap().kind, Kind::Preflight);
        assert_eq!(users.revoke("ci", (&admin(), &long), 0).err().unwrap().kind, Kind::Preflight);
        let tokens: Vec<String> = users.list().unwrap().tokens.into_iter().map(|token| token.id).collect();
        assert_eq!(tokens, ["ci"]);
        let change = Change { before: String::new(), after: "done".into() };
        assert_eq!(users.note(&admin(), &long, &change, 1).err().unwrap().kind, Kind::Preflight);
        assert_eq!(users.changes(9, None).err().unwrap().kind, Kind::Preflight, "a log without it would not be whole");
        pages(1000);
        let log = users.changes(9, None).unwrap().changes;
        assert_eq!(log.iter().map(|entry| (entry.at_unix, entry.what.len())).collect::<Vec<_>>(), [(1, 9000), (0, 3)]);
    }

    fn admin() -> Sender {
        Sender { name: FIRST.into(), role: Role::Admin }
    }

    #[test]
    fn the_log_has_who_did_what_newest_first() {
        let dir = tempfile::tempdir().unwrap();
        let users = Users::open(dir.path(), token::hash("first")).unwrap();
        let sender = Sender { name: "ivanov".into(), role: Role::Operator };
        for number in 0..3 {
            let change = Change { before: String::new(), after: number.to_string() };
            users.note(&sender, "PUT /api/v1/tasks/a", &change, 7).unwrap();
        }
        let page = |cursor| {
            let log = users.changes(2, cursor).unwrap();
            (log.changes.into_iter().map(|entry| entry.after).collect::<Vec<_>>(), log.next)
        };
        let (first, next) = page(None);
        assert_eq!((first, next.is_some()), (vec!["2".to_string(), "1".into()], true));
        assert_eq!(page(next.map(|number| number as usize)), (vec!["0".to_string()], None));
        assert_eq!(page(Some(usize::MAX)).1, next, "a number beyond all is that of none");
    }
}
