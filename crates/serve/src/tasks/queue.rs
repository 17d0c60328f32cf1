//! Which tasks may begin. Pure: the states of tasks decide, and their order is that in which they were given.

use stend_api::{Task, TaskState};
use stend_base::{Say, say};
use stend_session::ordered::{collide, shown};

/// Tasks that are carried out at the same time.
pub const RUNNING_MAX: usize = 16;

/// What a waiting task shall do.
#[derive(Debug, PartialEq, Eq)]
pub enum Turn {
    /// Begin.
    Begin,
    /// Wait, for this reason.
    Wait(Say),
}

/// The turn of every waiting task, by its place in the list, oldest first. One that waits is not overtaken by a later one that loads the same.
pub fn turns(tasks: &[&Task]) -> Vec<(usize, Turn)> {
    let mut running: Vec<&Task> = tasks.iter().copied().filter(|task| task.state == TaskState::Running).collect();
    let mut ahead: Vec<&Task> = Vec::new();
    let mut turns = Vec::new();
    for (index, task) in tasks.iter().enumerate().filter(|(_, task)| task.state == TaskState::Queued) {
        let turn = match in_the_way(task, &running).or_else(|| in_the_way(task, &ahead)) {
            Some((other, load)) => {
                let (id, Say { en, ru }) = (&other.id, shown(load));
                Turn::Wait(say!("{en} is in use by the task `{id}`", "{ru}: занимает задача `{id}`"))
            }
            None if running.len() >= RUNNING_MAX => {
                Turn::Wait(say!("{RUNNING_MAX} tasks are running", "уже выполняется задач: {RUNNING_MAX}"))
            }
            None => {
                running.push(task);
                Turn::Begin
            }
        };
        if turn != Turn::Begin {
            ahead.push(task);
        }
        turns.push((index, turn));
    }
    turns
}

/// The first of these that loads something that the task loads, too.
fn in_the_way<'a>(task: &'a Task, others: &[&'a Task]) -> Option<(&'a Task, &'a str)> {
    others.iter().find_map(|other| {
        let load = task.loads.iter().find(|load| other.loads.iter().any(|theirs| collide(load, theirs)))?;
        Some((*other, load.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::tests::task;

    /// `r` begins a running task, `q` a waiting one; then what it loads.
    fn drawn(tasks: &[&str]) -> Vec<String> {
        let made = |(index, text): (usize, &&str)| {
            let mut made = task(&index.to_string());
            made.state = if text.starts_with('r') { TaskState::Running } else { TaskState::Queued };
            made.loads = text[1..].split_whitespace().map(String::from).collect();
            made
        };
        let made: Vec<Task> = tasks.iter().enumerate().map(made).collect();
        let turns = turns(&made.iter().collect::<Vec<_>>());
        turns
            .into_iter()
            .map(|(index, turn)| match turn {
                Turn::Begin => format!("{index} begins"),
                Turn::Wait(why) => format!("{index} waits: {}", why.en),
            })
            .collect()
    }

    #[test]
    fn two_tasks_never_load_one_drive_and_others_go_on() {
        let seen = drawn(&["rdrive:a", "qdrive:a", "qdrive:b", "qdrive:b drive:c", "qdrive:c", "qhost:x"]);
        assert_eq!(
            seen,
            [
                "1 waits: the drive a is in use by the task `0`",
                "2 begins",
                "3 waits: the drive b is in use by the task `2`",
                "4 waits: the drive c is in use by the task `3`",
                "5 begins",
            ]
        );
    }

    #[test]
    fn all_of_this_machine_waits_for_each_of_its_drives() {
        assert_eq!(
            drawn(&["rdrive:a", "qlocal", "qdrive:b"]),
            ["1 waits: this machine is in use by the task `0`", "2 waits: the drive b is in use by the task `1`",]
        );
    }

    #[test]
    fn no_more_run_at_the_same_time_than_the_limit() {
        let hosts: Vec<String> = (0..=RUNNING_MAX).map(|n| format!("qhost:{n}")).collect();
        let seen = drawn(&hosts.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(seen[RUNNING_MAX - 1].ends_with("begins") && seen[RUNNING_MAX].ends_with("tasks are running"));
    }
}
