//! What exactly went wrong, as words for programs. They are promised: a word keeps its meaning, and `docs/errors.md` is written from
//! this list.

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
    /// The run file cannot be read, written or resumed.
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

/// What exactly went wrong, for programs; never decide by the text. The word of a kind stands for all its errors that have none of
/// their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// A defect of Stend: something happened that cannot. Report it.
    Bug,
    /// The command line asks for something that does not exist or does not fit together.
    Usage,
    /// No run has this id, label or path, or its file is gone.
    RunUnknown,
    /// Several runs begin with this id.
    RunAmbiguous,
    /// A file that is named cannot be read.
    FileUnreadable,
    /// A suite, stand, machine, gate, order or file of another tool is invalid; `place` says where.
    Spec,
    /// A suite that is named is neither built in nor a file that can be read.
    SuiteUnknown,
    /// Not possible here or now: rights, space, kernel, network, or the state of a run.
    Preflight,
    /// The run is still going on.
    RunGoesOn,
    /// The run is not going on any more.
    RunOver,
    /// A program that is needed is not installed on the host.
    ProgramMissing,
    /// A request to the server has no token, or a wrong one.
    TokenRefused,
    /// The server knows no token of this id.
    TokenUnknown,
    /// There is a token of this id already.
    TokenExists,
    /// The server knows no task of this id.
    TaskUnknown,
    /// The server knows no schedule of this id.
    ScheduleUnknown,
    /// There is a schedule of this id already.
    ScheduleExists,
    /// The task has another order, or is in a state that does not allow this.
    TaskConflict,
    /// The server does not do this for the sender of the request.
    NotAllowed,
    /// The server has too much to do, or has seen too many wrong tokens; try again later.
    ServerBusy,
    /// Refused, because data could be lost.
    Unsafe,
    /// The device is not confirmed by its identity (`--confirm`), or something else is.
    NotConfirmed,
    /// Something is on the device that is not named as to be overwritten (`--overwrite-signature`).
    SignatureNotNamed,
    /// Never written to, whatever is confirmed: mounted, held by others, part of something larger, or taken by another run.
    TargetRefused,
    /// The target is not what it was when it was looked at.
    TargetChanged,
    /// The suite executes commands or changes the host, and that is not allowed (`--allow-commands`).
    CommandsNotAllowed,
    /// A run or another process uses the stand.
    StandInUse,
    /// The target failed an I/O.
    TargetIo,
    /// Data read back differ from data written.
    Verification,
    /// A host or its worker is gone.
    HostLost,
    /// A host cannot be reached over ssh.
    HostUnreachable,
    /// The server that `--server` names does not answer, or what answers there is none.
    ServerUnreachable,
    /// The certificate of the server is not trusted, or is not the one that was pinned.
    ServerUntrusted,
    /// The run file cannot be read, written or resumed.
    RunFile,
    /// There is a file of this name already; a run file is never replaced.
    RunFileExists,
    /// Another version of Stend wrote the run file.
    RunFileVersion,
    /// The run file is damaged.
    RunFileDamaged,
    /// Stopped by the user; what was measured is kept.
    Interrupted,
    /// Stopped by SIGTERM; what was measured is kept.
    Terminated,
    /// A run or comparison is below its gate.
    GateFailed,
    /// It cannot be told whether a run or comparison is below its gate.
    Inconclusive,
}

impl Code {
    /// The class of such errors, and with it the exit code.
    pub fn kind(self) -> Kind {
        match self {
            Code::Bug => Kind::Bug,
            Code::Usage | Code::RunUnknown | Code::RunAmbiguous | Code::FileUnreadable => Kind::Usage,
            Code::Spec | Code::SuiteUnknown => Kind::Spec,
            Code::Preflight
            | Code::RunGoesOn
            | Code::RunOver
            | Code::ProgramMissing
            | Code::TokenRefused
            | Code::TokenUnknown
            | Code::TokenExists
            | Code::TaskUnknown
            | Code::ScheduleUnknown
            | Code::ScheduleExists
            | Code::TaskConflict
            | Code::NotAllowed
            | Code::ServerBusy
            | Code::ServerUntrusted => Kind::Preflight,
            Code::Unsafe
            | Code::NotConfirmed
            | Code::SignatureNotNamed
            | Code::TargetRefused
            | Code::TargetChanged
            | Code::CommandsNotAllowed
            | Code::StandInUse => Kind::Unsafe,
            Code::TargetIo => Kind::TargetIo,
            Code::Verification => Kind::Verification,
            Code::HostLost | Code::HostUnreachable | Code::ServerUnreachable => Kind::HostLost,
            Code::RunFile | Code::RunFileExists | Code::RunFileVersion | Code::RunFileDamaged => Kind::RunFile,
            Code::Interrupted => Kind::Interrupted,
            Code::Terminated => Kind::Terminated,
            Code::GateFailed => Kind::GateFailed,
            Code::Inconclusive => Kind::Inconclusive,
        }
    }
}

impl From<Kind> for Code {
    fn from(kind: Kind) -> Code {
        match kind {
            Kind::Bug => Code::Bug,
            Kind::Usage => Code::Usage,
            Kind::Spec => Code::Spec,
            Kind::Preflight => Code::Preflight,
            Kind::Unsafe => Code::Unsafe,
            Kind::TargetIo => Code::TargetIo,
            Kind::Verification => Code::Verification,
            Kind::HostLost => Code::HostLost,
            Kind::RunFile => Code::RunFile,
            Kind::Interrupted => Code::Interrupted,
            Kind::Terminated => Code::Terminated,
            Kind::GateFailed => Code::GateFailed,
            Kind::Inconclusive => Code::Inconclusive,
        }
    }
}
