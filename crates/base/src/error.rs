//! The one error type: what we tried, on what, why not, and what the user can do about it.

use crate::text::{Lang, Say};
use serde::{Deserialize, Serialize};

/// Class of an error; it decides the exit code of the process (documented in `stend --help`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Our own defect: something that cannot happen did.
    Bug,
    /// Wrong command line.
    Usage,
    /// A suite or stand file is invalid.
    Spec,
    /// The environment does not allow the run (permissions, space, kernel).
    Preflight,
    /// Refused because data could be lost.
    Unsafe,
    /// The target failed an I/O.
    TargetIo,
    /// Data read back differ from data written.
    Verification,
    /// A host or its worker is gone.
    HostLost,
    /// The run file cannot be read or written.
    RunFile,
    /// Stopped by the user; what was measured is kept.
    Interrupted,
    /// Stopped by SIGTERM; what was measured is kept.
    Terminated,
    /// A comparison fell below its gate.
    GateFailed,
    /// A comparison cannot tell whether it falls below its gate.
    Inconclusive,
}

impl Kind {
    /// Exit code of a process that ends with this error.
    pub fn exit_code(self) -> u8 {
        match self {
            Kind::Bug => 1,
            Kind::Usage => 2,
            Kind::Spec => 3,
            Kind::Preflight => 4,
            Kind::Unsafe => 5,
            Kind::TargetIo => 6,
            Kind::Verification => 7,
            Kind::HostLost => 8,
            Kind::GateFailed => 10,
            Kind::Inconclusive => 11,
            Kind::RunFile => 12,
            Kind::Interrupted => 130,
            Kind::Terminated => 143,
        }
    }
}

/// An error of the world, ready to be shown: message and, where we know one, the way out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Error {
    /// Class, and with it the exit code.
    pub kind: Kind,
    /// What we tried, on what, and why it failed.
    pub message: Say,
    /// What the user can do.
    pub hint: Option<Say>,
}

/// Result with our [`Error`], boxed so that the happy path stays small.
pub type Result<T> = std::result::Result<T, Box<Error>>;

impl Error {
    /// A new error without a hint.
    pub fn new(kind: Kind, message: Say) -> Box<Error> {
        Box::new(Error { kind, message, hint: None })
    }

    /// The same error with advice.
    pub fn hint(mut self: Box<Self>, hint: Say) -> Box<Error> {
        self.hint = Some(hint);
        self
    }

    /// The same error with advice, unless it has some already.
    pub fn or_hint(self: Box<Self>, hint: Say) -> Box<Error> {
        if self.hint.is_some() { self } else { self.hint(hint) }
    }

    /// The text shown to a person: `error: …` and, on its own line, `hint: …`.
    pub fn render(&self, lang: Lang) -> String {
        let (error, hint) = match lang {
            Lang::En => ("error", "hint"),
            Lang::Ru => ("ошибка", "совет"),
        };
        match &self.hint {
            Some(advice) => format!("{error}: {}\n{hint}: {}", self.message.get(lang), advice.get(lang)),
            None => format!("{error}: {}", self.message.get(lang)),
        }
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.render(Lang::En))
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::say;

    #[test]
    fn an_error_shows_its_hint_on_its_own_line_in_both_languages() {
        let error = Error::new(Kind::Unsafe, say!("it is mounted", "он смонтирован"))
            .hint(say!("unmount it", "размонтируйте его"));
        assert_eq!(error.render(Lang::En), "error: it is mounted\nhint: unmount it");
        assert_eq!(error.render(Lang::Ru), "ошибка: он смонтирован\nсовет: размонтируйте его");
        assert_eq!(error.kind.exit_code(), 5);
    }
}
