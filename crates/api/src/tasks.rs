//! Tasks as the server shows them, and their states. Must not start or judge any.

use serde::{Deserialize, Serialize};
use stend_base::{Code, Say};

/// Longest id of a task.
const ID_MAX: usize = 64;

/// How far a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// It waits for the reason that stands beside.
    Queued,
    /// Its process is at work.
    Running,
    /// It was carried out, or stopped on request; the exit code says which.
    Ended,
    /// It could not be carried out, for the reason that stands beside.
    Failed,
    /// Its process is gone and left no result, such as after a power loss. What it measured is in its run files.
    Lost,
}

impl TaskState {
    /// All of them, in the order of their words.
    pub const ALL: [TaskState; 5] =
        [TaskState::Queued, TaskState::Running, TaskState::Ended, TaskState::Failed, TaskState::Lost];

    /// The words of requests.
    pub(crate) const WORDS: [&'static str; 5] = ["queued", "running", "ended", "failed", "lost"];

    /// The state of a word.
    pub(crate) fn of(word: &str) -> Option<TaskState> {
        TaskState::ALL.into_iter().zip(TaskState::WORDS).find(|(_, known)| *known == word).map(|(state, _)| state)
    }

    /// Its word.
    pub fn word(self) -> &'static str {
        TaskState::WORDS[self as usize]
    }

    /// Whether nothing more will happen to it.
    pub fn is_over(self) -> bool {
        !matches!(self, TaskState::Queued | TaskState::Running)
    }
}

/// An order that was given to the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// The id that its author gave it.
    pub id: String,
    /// Raised with every change of any task; the `id` of its event.
    pub change: u64,
    /// How far it is.
    pub state: TaskState,
    /// Why it waits, failed or was lost.
    pub reason: Option<Say>,
    /// What went wrong, for programs.
    pub code: Option<Code>,
    /// Exit code of its process, as `stend run` has it.
    pub exit_code: Option<u8>,
    /// File of the suite, or the run that is resumed.
    pub work: String,
    /// Targets or stands.
    pub on: Vec<String>,
    /// Label of its runs.
    pub label: Option<String>,
    /// What it loads: `drive:` with its identity, `host:` for all of another machine, or `local` for all of this one. Tasks that load
    /// the same wait for each other.
    pub loads: Vec<String>,
    /// Ids of its runs, in the order in which they began.
    pub runs: Vec<String>,
    /// The run that began or went on last, until the task is over: targets in turn go on with runs that began before.
    #[serde(default)]
    pub current_run: Option<String>,
    /// How often a run began or went on.
    #[serde(default)]
    pub sessions: usize,
    /// SHA-256 of the order, in hexadecimal digits.
    pub order_sha256: String,
    /// When it was given, in seconds since 1970.
    pub created_unix: i64,
    /// When its process began.
    pub started_unix: Option<i64>,
    /// When its end was seen.
    pub ended_unix: Option<i64>,
}

/// Tasks, newest first.
#[derive(Debug, Serialize)]
pub struct TaskList {
    /// `stend-tasks`.
    pub schema: &'static str,
    /// Raised when a field changes its meaning or goes away; new fields do not raise it.
    pub schema_version: u32,
    /// The tasks of this page.
    pub tasks: Vec<Task>,
    /// How many older ones there are.
    pub left_out: usize,
    /// The `cursor` of the next page, if there is one.
    pub next: Option<String>,
}

/// What an order asks for, if it can be read.
#[derive(Debug, Serialize)]
pub struct Validated {
    /// `stend-order-check`.
    pub schema: &'static str,
    /// Raised when a field changes its meaning or goes away; new fields do not raise it.
    pub schema_version: u32,
    /// File of the suite, or the run that is resumed.
    pub work: String,
    /// Targets or stands.
    pub on: Vec<String>,
    /// What it loads, as a task has it.
    pub loads: Vec<String>,
    /// Devices that it allows to be written, by identity.
    pub confirms: Vec<String>,
    /// Signatures that it allows to be overwritten.
    pub overwrites_signatures: Vec<String>,
    /// It allows commands of the suite and changes of the host.
    pub commands: bool,
    /// It puts a stand up, which writes over its drives, mounts, and changes settings of the kernel.
    pub builds: bool,
}

/// Whether a text may be the id of a task: letters, digits, `.`, `_` and `-`, no dot at the begin, at most 64 characters.
pub fn is_task_id(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=ID_MAX).contains(&text.len()) && !text.starts_with('.') && text.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_name_that_can_be_no_path() {
        assert!(is_task_id("nightly-2026.11_27") && is_task_id(&"x".repeat(64)));
        for wrong in ["", ".", "..", ".x", "a/b", "a b", "ж", "a\n", "%2e", &"x".repeat(65)] {
            assert!(!is_task_id(wrong), "{wrong}");
        }
    }

    #[test]
    fn words_of_requests_are_those_of_answers() {
        for word in TaskState::WORDS {
            let state = TaskState::of(word).unwrap();
            assert_eq!(serde_json::to_value(state).unwrap(), word);
        }
    }
}
