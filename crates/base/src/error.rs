//! The one error type: what we tried, on what, why not, and what the user can do about it.

use crate::code::{Code, Kind};
use crate::text::{Lang, Say};
use serde::{Deserialize, Serialize};

/// An error of the world, ready to be shown: message and, where we know one, the way out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Error {
    /// Class, and with it the exit code.
    pub kind: Kind,
    /// What exactly, for programs.
    pub code: Code,
    /// What we tried, on what, and why it failed.
    pub message: Say,
    /// What the user can do.
    pub hint: Option<Say>,
    /// Where in a file that somebody wrote; the message begins with it.
    pub place: Option<FilePosition>,
}

/// A place in a file that somebody wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePosition {
    /// The file as it was named.
    pub file: String,
    /// Line, from 1.
    pub line: u64,
    /// Column, from 1; `None`: the whole line is meant.
    pub column: Option<u64>,
}

impl std::fmt::Display for FilePosition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        self.column.map_or(Ok(()), |column| write!(f, ":{column}"))
    }
}

/// Result with our [`Error`], boxed so that the happy path stays small.
pub type Result<T> = std::result::Result<T, Box<Error>>;

impl Error {
    /// A new error without a hint, by its kind or, where it has one of its own, its code.
    pub fn new(code: impl Into<Code>, message: Say) -> Box<Error> {
        let code = code.into();
        Box::new(Error { kind: code.kind(), code, message, hint: None, place: None })
    }

    /// An error of kind `Usage`: a wrong command line or request.
    pub fn usage(message: Say) -> Box<Error> {
        Error::new(Kind::Usage, message)
    }

    /// An error of kind `Spec`: a file that somebody wrote and that is invalid.
    pub fn spec(message: Say) -> Box<Error> {
        Error::new(Kind::Spec, message)
    }

    /// An error of kind `Preflight`: a host that does not allow what is asked for.
    pub fn preflight(message: Say) -> Box<Error> {
        Error::new(Kind::Preflight, message)
    }

    /// An error of kind `Unsafe`: data that could be lost.
    pub fn refused(message: Say) -> Box<Error> {
        Error::new(Kind::Unsafe, message)
    }

    /// An error of kind `TargetIo`: a target that failed an I/O.
    pub fn target_io(message: Say) -> Box<Error> {
        Error::new(Kind::TargetIo, message)
    }

    /// An error of kind `HostLost`: a host or worker that is gone.
    pub fn host_lost(message: Say) -> Box<Error> {
        Error::new(Kind::HostLost, message)
    }

    /// An error of kind `RunFile`: a run file that cannot be read or written.
    pub fn run_file(message: Say) -> Box<Error> {
        Error::new(Kind::RunFile, message)
    }

    /// An error of kind `Interrupted`: a stop by the user.
    pub fn interrupted(message: Say) -> Box<Error> {
        Error::new(Kind::Interrupted, message)
    }

    /// An error of kind `Bug`: a defect of ours.
    pub fn bug(message: Say) -> Box<Error> {
        Error::new(Kind::Bug, message)
    }

    /// An error of kind `Spec`, whose message begins with its place.
    pub fn at(place: FilePosition, message: &Say) -> Box<Error> {
        let Say { en, ru } = message;
        let error = Error::spec(crate::say!("{place}: {en}", "{place}: {ru}"));
        Box::new(Error { place: Some(place), ..*error })
    }

    /// The same as an error of another kind or code.
    pub fn instead(mut self: Box<Self>, code: impl Into<Code>) -> Box<Error> {
        self.code = code.into();
        self.kind = self.code.kind();
        self
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

    #[test]
    fn every_kind_has_a_code_of_its_own_name_that_leads_back_to_it() {
        let word = |value: String| value.to_lowercase();
        for kind in [
            Kind::Bug,
            Kind::Usage,
            Kind::Spec,
            Kind::Preflight,
            Kind::Unsafe,
            Kind::TargetIo,
            Kind::Verification,
            Kind::HostLost,
            Kind::RunFile,
            Kind::Interrupted,
            Kind::Terminated,
            Kind::GateFailed,
            Kind::Inconclusive,
        ] {
            let code = Code::from(kind);
            assert_eq!((code.kind(), word(format!("{code:?}"))), (kind, word(format!("{kind:?}"))));
        }
    }

    #[test]
    fn a_message_begins_with_its_place_and_another_code_brings_its_kind() {
        let place = |column| FilePosition { file: "s.yaml".into(), line: 4, column };
        let error = Error::at(place(Some(7)), &say!("no", "нет"));
        assert_eq!((error.message.en.as_str(), error.message.ru.as_str()), ("s.yaml:4:7: no", "s.yaml:4:7: нет"));
        assert_eq!(Error::at(place(None), &say!("no", "нет")).message.en, "s.yaml:4: no");
        let other = error.clone().instead(Code::RunFileDamaged);
        assert_eq!((other.kind, other.code, other.place), (Kind::RunFile, Code::RunFileDamaged, error.place));
    }
}
