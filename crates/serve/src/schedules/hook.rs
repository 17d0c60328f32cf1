//! Calls the hook of a schedule: a program of the administrator, or `curl` for an address. Must not know when.

use super::times;
use stend_api::{Due, Notification, Outcome};
use stend_base::{Say, say};
use stend_notify::{Program, post};

/// Delivers the message of one time.
///
/// Errors: why it could not be delivered, for people.
pub fn call(hook: &str, schedule: &str, due: &Due) -> Result<(), Say> {
    let (schema, schema_version, text) = ("stend-schedule-notification", 1, text(schedule, due));
    let message = Notification { schema, schema_version, schedule, text, due };
    // Numbers, strings and words: there is no case in which it cannot be written.
    let body = serde_json::to_string(&message).unwrap_or_default();
    if !hook.starts_with('/') {
        return post(hook, None, &body);
    }
    let (arguments, environment) = (Vec::new(), Vec::new());
    Program { name: hook, arguments, input: &body, hidden: None, environment }.run().map(drop)
}

/// The message in one sentence.
fn text(schedule: &str, due: &Due) -> Say {
    let task = due.task.as_deref().unwrap_or_default();
    let Say { en: why, ru: why_ru } = due.reason.clone().unwrap_or_else(|| Say::same(""));
    let (missed, when) = (due.missed, times::stamp(due.due_unix));
    match due.outcome {
        Outcome::Missed if missed == 0 => {
            say!("Stend, schedule {schedule}: {why}", "Стенд, расписание {schedule}: {why_ru}")
        }
        Outcome::Missed => say!(
            "Stend, schedule {schedule}: missed {missed} times since {when}: {why}",
            "Стенд, расписание {schedule}: пропущено раз: {missed}, с {when}: {why_ru}"
        ),
        Outcome::Skipped => say!(
            "Stend, schedule {schedule}: left out at {when}: {why}",
            "Стенд, расписание {schedule}: пропущено {when}: {why_ru}"
        ),
        Outcome::Passed | Outcome::Running => {
            say!(
                "Stend, schedule {schedule}: task {task} passed",
                "Стенд, расписание {schedule}: задача {task} пройдена"
            )
        }
        Outcome::Failed => say!(
            "Stend, schedule {schedule}: task {task} failed its gate: {why}",
            "Стенд, расписание {schedule}: задача {task} не прошла порог: {why_ru}"
        ),
        Outcome::Undecided => say!(
            "Stend, schedule {schedule}: task {task} is undecided: {why}",
            "Стенд, расписание {schedule}: по задаче {task} мало данных: {why_ru}"
        ),
        Outcome::Error if due.task.is_none() => say!(
            "Stend, schedule {schedule}: no task was made at {when}: {why}",
            "Стенд, расписание {schedule}: {when} задача не создана: {why_ru}"
        ),
        Outcome::Error => say!(
            "Stend, schedule {schedule}: task {task} was not carried out: {why}",
            "Стенд, расписание {schedule}: задача {task} не выполнена: {why_ru}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_program_gets_the_message_and_one_that_complains_or_is_not_there_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let program = |name: &str, script: String| {
            let path = dir.path().join(name);
            std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            path.display().to_string()
        };
        let due = Due { missed: 2, ..times::due(1_795_824_000, Outcome::Missed) };
        let got = dir.path().join("got");
        call(&program("takes", format!("cat > {}", got.display())), "nightly", &due).unwrap();
        let message: serde_json::Value = serde_json::from_slice(&std::fs::read(got).unwrap()).unwrap();
        assert_eq!((&message["schedule"], &message["due"]["outcome"]), (&"nightly".into(), &"missed".into()));
        assert!(message["text"]["en"].as_str().is_some_and(|text| text.contains("20261128T000000Z")), "{message}");
        let complained = call(&program("complains", "echo no mail >&2; exit 3".into()), "nightly", &due).unwrap_err();
        assert!(complained.en.contains("no mail") && complained.en.contains('3'), "{complained:?}");
        let refused = times::due(1_795_824_000, Outcome::Error);
        assert!(text("nightly", &refused).en.contains("no task was made at 20261128T000000Z"));
        assert!(call("/no/such/hook", "nightly", &due).unwrap_err().en.contains("/no/such/hook"));
    }
}
