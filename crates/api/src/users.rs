//! Roles, tokens and the log of changes, as the server shows them. Must not check any.

use serde::{Deserialize, Serialize};

/// What the holder of a token may do; each may do what those before it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Read.
    Viewer,
    /// Give orders that write to files of their own.
    Operator,
    /// Give orders that write to devices.
    Destroyer,
    /// Make and end tokens, and read the log of changes.
    Admin,
}

impl Role {
    /// The words of requests.
    pub(crate) const WORDS: [&'static str; 4] = ["viewer", "operator", "destroyer", "admin"];
    const ALL: [Role; 4] = [Role::Viewer, Role::Operator, Role::Destroyer, Role::Admin];

    /// The role of a word.
    pub fn of(word: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.word() == word)
    }

    /// Its word.
    pub fn word(self) -> &'static str {
        Role::WORDS[self as usize]
    }
}

/// Who sends a request.
#[derive(Debug, Serialize)]
pub struct Me {
    /// `stend-me`.
    pub schema: &'static str,
    /// Raised when a field changes its meaning or goes away; new fields do not raise it.
    pub schema_version: u32,
    /// The id of the token; `admin` is that of the first start.
    pub id: String,
    /// What its holder may do.
    pub role: Role,
}

/// A token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Token {
    /// The id that it was given; the log of changes has it.
    pub id: String,
    /// What its holder may do.
    pub role: Role,
    /// When it was made, in seconds since 1970.
    pub created_unix: i64,
    /// When it ends by itself.
    pub expires_unix: i64,
}

/// A token that was made now.
#[derive(Debug, Serialize)]
pub struct IssuedToken {
    /// The id that it was given; the log of changes has it.
    pub id: String,
    /// What its holder may do.
    pub role: Role,
    /// When it ends by itself, in seconds since 1970.
    pub expires_unix: i64,
    /// What programs send; it is shown only now.
    pub secret: String,
}

/// All tokens but that of the first start.
#[derive(Debug, Serialize)]
pub struct TokenList {
    /// `stend-tokens`.
    pub schema: &'static str,
    /// Raised when a field changes its meaning or goes away; new fields do not raise it.
    pub schema_version: u32,
    /// By id.
    pub tokens: Vec<Token>,
}

/// A change of a task or token.
#[derive(Debug, Serialize)]
pub struct AuditEntry {
    /// Raised by one with every change.
    pub number: i64,
    /// When, in seconds since 1970.
    pub at_unix: i64,
    /// The id of the token; `admin` is that of the first start.
    pub who: String,
    /// Method and address of the request.
    pub what: String,
    /// As it was; empty: it was not there.
    pub before: String,
    /// As it is; empty: it is gone.
    pub after: String,
}

/// Changes, newest first.
#[derive(Debug, Serialize)]
pub struct AuditLog {
    /// `stend-audit-log`.
    pub schema: &'static str,
    /// Raised when a field changes its meaning or goes away; new fields do not raise it.
    pub schema_version: u32,
    /// Those of this page.
    pub changes: Vec<AuditEntry>,
    /// The `cursor` of the next page, if there is one.
    pub next: Option<i64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_may_what_those_before_it_may_and_has_one_word() {
        for (role, word) in Role::ALL.into_iter().zip(Role::WORDS) {
            assert_eq!((Role::of(word), serde_json::to_value(role).unwrap()), (Some(role), word.into()));
        }
        assert!(Role::ALL.is_sorted() && Role::of("root").is_none());
    }
}
