//! Answers that no verb prints. Must not compute them.

use serde::Serialize;
use stend_base::Say;

/// That the server is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Health {
    /// `stend-health`.
    pub schema: &'static str,
    /// Raised when a field changes its meaning or goes away; new fields do not raise it.
    pub schema_version: u32,
    /// Version of Stend.
    pub stend_version: &'static str,
    /// What the server proves itself with; without TLS nothing.
    pub certificate: Option<CertificateHealth>,
}

/// The certificate of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CertificateHealth {
    /// Its SHA-256, as `sha256:` and bytes with colons between them.
    pub fingerprint: String,
    /// Whether the server made it itself.
    pub is_own: bool,
    /// Names and addresses that it is for.
    pub names: Vec<String>,
    /// Last second of its validity, since 1970.
    pub ends_unix: i64,
    /// What an admin should do something about, such as an end within 14 days.
    pub warning: Option<Say>,
}

impl Health {
    /// The answer of a server of this version.
    pub fn of(stend_version: &'static str, certificate: Option<CertificateHealth>) -> Health {
        Health { schema: "stend-health", schema_version: 1, stend_version, certificate }
    }
}

/// That a run was asked to end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StopAsked {
    /// `stend-stop`.
    pub schema: &'static str,
    /// Raised when a field changes its meaning or goes away; new fields do not raise it.
    pub schema_version: u32,
    /// Id of the run.
    pub run: String,
    /// Whether it does not wait for its trial.
    pub now: bool,
}

/// How many problems are open where a recording is written now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OpenProblems {
    /// `stend-open-problems`.
    pub schema: &'static str,
    /// Raised when a field changes its meaning or goes away; new fields do not raise it.
    pub schema_version: u32,
    /// Recordings that are written now, newest first; also those without a problem.
    pub recordings: Vec<OpenOfRecording>,
    /// How many older recordings are written now, too, and were not looked at.
    pub left_out: usize,
}

/// How many problems of a host are open, also acknowledged and muted ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OpenOfRecording {
    /// Name of the recording in the list.
    pub recording: String,
    /// What its host is called.
    pub host: String,
    /// Critical ones.
    pub critical: usize,
    /// Warnings.
    pub warning: usize,
}

/// What became of test messages, as `stend record --notify FILE --test --json` prints it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NoticesTest {
    /// In the order of the file.
    pub receivers: Vec<NoticeTest>,
}

/// What became of one of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NoticeTest {
    /// Name of the receiver.
    pub name: String,
    /// It was taken.
    pub sent: bool,
    /// Why it was not.
    pub why: Option<Say>,
}
