//! Tokens with roles, and the log of changes. Secrets are kept as hashes alone. Must not decide what a role may do.

use crate::database;
use crate::token::{self, Hash};
use rusqlite::{Connection, OptionalExtension, Row, params};
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

/// All tokens.
pub struct Users {
    first: Hash,
    db: Mutex<Connection>,
}

impl Users {
    /// Opens what is kept in a directory; the holder of the token with this hash is the first admin.
    ///
    /// Errors: `Preflight`.
    pub fn open(directory: &Path, first: Hash) -> Result<Users> {
        Ok(Users { first, db: Mutex::new(database::open(&directory.join(FILE), &format!("{TOKENS}; {CHANGES}"))?) })
    }

    /// The holder of the token with this hash, if it is valid at this time.
    pub fn holder(&self, hash: &Hash, now_unix: i64) -> Option<Sender> {
        if *hash == self.first {
            return Some(Sender { name: FIRST.into(), role: Role::Admin });
        }
        let found = "SELECT id, role FROM token WHERE sha256 = ?1 AND expires_unix > ?2";
        let row = |row: &Row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
        // What cannot be read lets nobody in.
        let (name, role) = self.db().query_row(found, params![&hash[..], now_unix], row).ok()?;
        Some(Sender { name, role: Role::of(&role)? })
    }

    /// Makes a token, which is shown only now.
    ///
    /// Errors: `TokenExists` for an id that there is; `ServerBusy` if there are too many.
    pub fn issue(&self, id: &str, role: Role, days: usize, now_unix: i64) -> Result<(IssuedToken, Change)> {
        let db = self.db();
        let there: bool = db
            .query_row("SELECT EXISTS (SELECT 1 FROM token WHERE id = ?1)", [id], |row| row.get(0))
            .map_err(unkept)?;
        if there || id == FIRST {
            return Err(Error::new(
                Code::TokenExists,
                say!("there is a token `{id}` already", "токен `{id}` уже есть"),
            )
            .hint(say!("delete it first, or choose another id", "сначала удалите его или выберите другое имя")));
        }
        let count: i64 = db.query_row("SELECT count(*) FROM token", [], |row| row.get(0)).map_err(unkept)?;
        if count >= TOKENS_MAX as i64 {
            let message = say!("there are {TOKENS_MAX} tokens already", "токенов уже {TOKENS_MAX}");
            return Err(Error::new(Code::ServerBusy, message));
        }
        let secret = token::new_token()
            .map_err(|error| Error::preflight(say!("no random numbers: {error}", "нет случайных чисел: {error}")))?;
        let expires_unix = now_unix.saturating_add(days as i64 * DAY);
        db.execute(
            "INSERT INTO token VALUES (?1, ?2, ?3, ?4, ?5)",
            params![id, role.word(), &token::hash(&secret)[..], now_unix, expires_unix],
        )
        .map_err(unkept)?;
        let token = Token { id: id.into(), role, created_unix: now_unix, expires_unix };
        let change = Change { before: String::new(), after: shown(&token) };
        Ok((IssuedToken { id: token.id, role, expires_unix, secret }, change))
    }

    /// Every token but the first, without its secret.
    ///
    /// Errors: `Preflight`.
    pub fn list(&self) -> Result<TokenList> {
        let read = || -> rusqlite::Result<Vec<Token>> {
            let db = self.db();
            let mut statement = db.prepare("SELECT id, role, created_unix, expires_unix FROM token ORDER BY id")?;
            statement.query_map([], of_row)?.collect()
        };
        Ok(TokenList { schema: "stend-tokens", schema_version: 1, tokens: read().map_err(unkept)? })
    }

    /// Ends a token, and the sessions of browsers that it signed in.
    ///
    /// Errors: `TokenUnknown`.
    pub fn revoke(&self, id: &str) -> Result<Change> {
        let db = self.db();
        let found = "DELETE FROM token WHERE id = ?1 RETURNING id, role, created_unix, expires_unix";
        let removed = db.query_row(found, [id], of_row).optional().map_err(unkept)?;
        let before = removed
            .map(|token| shown(&token))
            .ok_or_else(|| Error::new(Code::TokenUnknown, say!("there is no token `{id}`", "токена `{id}` нет")))?;
        Ok(Change { before, after: String::new() })
    }

    /// Writes down what was changed.
    ///
    /// Errors: `Preflight`, such as on a full disk.
    pub fn note(&self, who: &Sender, what: &str, change: &Change, now_unix: i64) -> Result<()> {
        let db = self.db();
        let add = "INSERT INTO audit (at_unix, who, what, before, after) VALUES (?1, ?2, ?3, ?4, ?5)";
        db.execute(add, params![now_unix, who.name, what, change.before, change.after]).map_err(unkept)?;
        let old = "DELETE FROM audit WHERE number <= (SELECT max(number) FROM audit) - ?1";
        db.execute(old, [CHANGES_MAX]).map(drop).map_err(unkept)
    }

    /// The newest changes.
    ///
    /// Errors: `Preflight`.
    pub fn changes(&self, limit: usize) -> Result<AuditLog> {
        let read = || -> rusqlite::Result<Vec<AuditEntry>> {
            let db = self.db();
            let newest = "SELECT number, at_unix, who, what, before, after FROM audit ORDER BY number DESC LIMIT ?1";
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
            db.prepare(newest)?.query_map([limit as i64], entry)?.collect()
        };
        Ok(AuditLog { schema: "stend-audit-log", schema_version: 1, changes: read().map_err(unkept)? })
    }

    fn db(&self) -> MutexGuard<'_, Connection> {
        self.db.lock().unwrap_or_else(PoisonError::into_inner)
    }
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

    #[test]
    fn a_token_lets_in_with_its_role_until_it_expires_or_is_revoked() {
        let dir = tempfile::tempdir().unwrap();
        let users = Users::open(dir.path(), token::hash("first")).unwrap();
        let (issued, _) = users.issue("ci", Role::Operator, 1, 1000).unwrap();
        let hash = token::hash(&issued.secret);
        let ci = Sender { name: "ci".into(), role: Role::Operator };
        assert_eq!(users.holder(&hash, 1001), Some(ci));
        assert_eq!(users.holder(&hash, 1000 + DAY), None, "it has expired");
        assert_eq!(users.holder(&token::hash("first"), 1000 + DAY).map(|sender| sender.role), Some(Role::Admin));
        assert_eq!(users.holder(&token::hash("other"), 0), None);
        for taken in ["ci", FIRST] {
            assert_eq!(users.issue(taken, Role::Admin, 1, 0).err().unwrap().code, Code::TokenExists);
        }
        let kept = std::fs::read(dir.path().join(FILE)).unwrap();
        let secret = issued.secret.as_bytes();
        assert!(!kept.windows(secret.len()).any(|part| part == secret), "only its hash is kept");
        let change = users.revoke("ci").unwrap();
        assert!(change.before.starts_with("operator until") && change.after.is_empty());
        assert_eq!(users.holder(&hash, 1001), None);
        assert_eq!(users.revoke("ci").err().unwrap().code, Code::TokenUnknown);
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
        let seen: Vec<String> = users.changes(2).unwrap().changes.into_iter().map(|entry| entry.after).collect();
        assert_eq!(seen, ["2", "1"]);
    }
}
