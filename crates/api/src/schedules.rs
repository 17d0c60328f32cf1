//! Orders that are repeated or carried out later, as the server shows them. Must not know the time or carry any out.

use crate::users::Role;
use serde::{Deserialize, Serialize};
use stend_base::Say;

/// When the hook is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotifyWhen {
    /// If a time was missed or left out, or its task was not carried out or did not pass.
    #[default]
    Problems,
    /// At the end of every task, too.
    Always,
}

impl NotifyWhen {
    /// The words of requests.
    pub(crate) const WORDS: [&'static str; 2] = ["problems", "always"];

    pub(crate) fn of(word: &str) -> Option<NotifyWhen> {
        [NotifyWhen::Problems, NotifyWhen::Always]
            .into_iter()
            .zip(NotifyWhen::WORDS)
            .find(|(_, known)| *known == word)
            .map(|(when, _)| when)
    }
}

/// What became of one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Its task is not over, or is being compared.
    Running,
    /// The task was carried out, and kept the limits of its order and the loss to the baseline.
    Passed,
    /// A limit was missed, or the loss is too large.
    Failed,
    /// Too little was measured to tell.
    Undecided,
    /// The task was not carried out, or there is nothing to compare with; the reason stands beside.
    Error,
    /// The server was off or the clock jumped; nothing was started later instead.
    Missed,
    /// The task of an earlier time went on; nothing was started.
    Skipped,
}

impl Outcome {
    /// Whether somebody should look at it.
    pub fn is_problem(self) -> bool {
        !matches!(self, Outcome::Running | Outcome::Passed)
    }
}

/// How far the call of the hook is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// There is nothing to tell, or no hook.
    None,
    /// It will be called, once more if it has failed.
    Pending,
    /// It took the message.
    Sent,
    /// It failed too often; the reason stands beside.
    Failed,
}

/// One time at which an order was due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Due {
    /// When, in seconds since 1970; the first of several that were missed.
    pub due_unix: i64,
    /// What became of it.
    pub outcome: Outcome,
    /// Why, if it did not pass, or was not compared.
    pub reason: Option<Say>,
    /// How many times were missed in a row; 0 unless it was missed, and if a clock that was set back moved the next time.
    pub missed: u32,
    /// Id of its task.
    pub task: Option<String>,
    /// How far the call of the hook is.
    pub notice: Notice,
    /// How often it was tried.
    pub tries: u32,
    /// When, the last time, in seconds since 1970.
    pub called_unix: Option<i64>,
    /// Why the hook failed the last time.
    pub notice_error: Option<Say>,
}

/// An order that is repeated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// The id that its author gave it.
    pub id: String,
    /// When: five fields of cron, in UTC; `null` if it comes once.
    pub cron: Option<String>,
    /// When it comes once, in seconds since 1970.
    #[serde(default)]
    pub at_unix: Option<i64>,
    /// The run that each result is compared with: a name, or `first` for the first that passed of this schedule.
    pub baseline: Option<String>,
    /// Loss to the baseline from which it fails, in percent.
    pub loss_percent: usize,
    /// An absolute path of a program, or an address (`http://…`, `https://…`); below the role `admin` without what follows the host.
    pub notify: Option<String>,
    /// When it is called.
    pub notify_when: NotifyWhen,
    /// No time is due until it is changed.
    pub paused: bool,
    /// Who changed it last: the id of the token.
    pub author: String,
    /// When, in seconds since 1970.
    pub changed_unix: i64,
    /// File of the suite.
    pub work: String,
    /// Targets or stands.
    pub on: Vec<String>,
    /// Label of its runs.
    pub label: Option<String>,
    /// SHA-256 of the order, in hexadecimal digits.
    pub order_sha256: String,
    /// The next time, in seconds since 1970; `null` while it is paused, and when its one time is over.
    pub next_unix: Option<i64>,
    /// The run that `first` means by now.
    pub first_run: Option<String>,
    /// The last times, newest first.
    pub times: Vec<Due>,
}

impl Schedule {
    /// As somebody of this role sees it. The path of an address is often its only secret, so that it is for admins.
    pub fn seen_by(self, role: Role) -> Schedule {
        match role {
            Role::Admin => self,
            _ => Schedule { notify: self.notify.as_deref().map(without_path), ..self },
        }
    }
}

/// `https://host/…` of an address; a program as it is.
fn without_path(hook: &str) -> String {
    let Some((scheme, rest)) = hook.split_once("://") else { return hook.to_string() };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    // What stands before `@` is a name and a password.
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}/…")
}

/// All schedules.
#[derive(Debug, Serialize)]
pub struct ScheduleList {
    /// `stend-schedules`.
    pub schema: &'static str,
    /// Raised when a field changes its meaning or goes away; new fields do not raise it.
    pub schema_version: u32,
    /// By id.
    pub schedules: Vec<Schedule>,
}

/// What the hook gets: on the standard input of a program, as the body of a `POST` to an address.
#[derive(Debug, Serialize)]
pub struct Notification<'a> {
    /// `stend-schedule-notification`.
    pub schema: &'static str,
    /// Raised when a field changes its meaning or goes away; new fields do not raise it.
    pub schema_version: u32,
    /// Id of the schedule.
    pub schedule: &'a str,
    /// The message in one sentence.
    pub text: Say,
    /// The time that it is about.
    pub due: &'a Due,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_an_address_is_for_admins_alone() {
        assert_eq!(without_path("https://chat.example.com/hooks/abc123?x=1"), "https://chat.example.com/…");
        assert_eq!(without_path("http://user:secret@10.0.0.1:8080?token=x"), "http://10.0.0.1:8080/…");
        assert_eq!(without_path("/usr/local/bin/notify"), "/usr/local/bin/notify");
        let text = r#"{"id": "a", "cron": "* * * * *", "baseline": null, "loss_percent": 5, "notify": "https://x/secret",
            "notify_when": "problems", "paused": true, "author": "admin", "changed_unix": 0, "work": "s.yaml", "on": [], "label": null,
            "order_sha256": "", "next_unix": null, "first_run": null, "times": []}"#;
        let schedule: Schedule = serde_json::from_str(text).unwrap();
        let seen = |role| schedule.clone().seen_by(role).notify.unwrap();
        assert_eq!(seen(Role::Admin), "https://x/secret");
        for role in [Role::Viewer, Role::Operator, Role::Destroyer] {
            assert_eq!(seen(role), "https://x/…");
        }
    }
}
