//! Arms of a suite: the levels of the one thing that is changed between measurements, and how each is
//! switched to.

use serde::{Deserialize, Serialize};

/// Facts of inventory that an arm may expect to have changed; the conditions of a comparison have the same
/// names.
pub const FACTS: [&str; 28] = [
    "hostname",
    "kernel",
    "kernel_command_line",
    "os",
    "boot_id",
    "cpu_model",
    "cpus",
    "numa_nodes",
    "memory",
    "hypervisor",
    "clock_source",
    "governor",
    "root",
    "target",
    "target_kind",
    "target_identity",
    "target_size",
    "logical_block",
    "physical_block",
    "file_system",
    "mount_options",
    "device_kinds",
    "device_identities",
    "device_models",
    "device_firmware",
    "schedulers",
    "arrays",
    "write_caches",
];

/// One level of the factor that a suite varies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arm {
    /// Name, unique in the suite.
    pub name: String,
    /// How it is switched to.
    pub switch: Switch,
    /// Facts that must differ from the first arm: names of [`FACTS`] or of what the suite observes.
    pub expect: Vec<String>,
}

/// How an arm is switched to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Switch {
    /// Nothing is done: the machine as it is.
    None,
    /// Values are written to files of `/proc/sys` and `/sys`; what was there is put back afterwards.
    Tunables(Vec<Tunable>),
    /// A command is executed, and another one afterwards.
    Command {
        /// Words of the command; no shell.
        enter: Vec<String>,
        /// Words of the command that undoes it.
        leave: Vec<String>,
    },
    /// The run is suspended until the host has been started anew.
    Reboot {
        /// What the person is to do, e.g. which kernel to boot.
        instruction: String,
    },
    /// The run is suspended until a person has done something.
    Person {
        /// What.
        instruction: String,
    },
}

/// A kernel setting with the value it is to have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tunable {
    /// File below `/proc/sys` or `/sys`.
    pub path: String,
    /// What is written.
    pub value: String,
}

/// A command whose output is kept as a fact of each arm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// Name of the fact.
    pub name: String,
    /// Words of the command; no shell.
    pub command: Vec<String>,
}

impl Switch {
    /// What a person has to do first; the run waits suspended for it.
    pub fn instruction(&self) -> Option<&str> {
        match self {
            Switch::Reboot { instruction } | Switch::Person { instruction } => Some(instruction),
            Switch::None | Switch::Tunables(_) | Switch::Command { .. } => None,
        }
    }

    /// What it executes or writes, one line each, as it is shown before it is allowed.
    pub fn changes(&self) -> Vec<String> {
        match self {
            Switch::Tunables(tunables) => tunables.iter().map(|t| format!("{} = {}", t.path, t.value)).collect(),
            Switch::Command { enter, leave } => vec![line(enter), line(leave)],
            Switch::None | Switch::Reboot { .. } | Switch::Person { .. } => Vec::new(),
        }
    }
}

/// A command as a line for people, words with spaces in quotes.
pub fn line(words: &[String]) -> String {
    let quoted = |word: &String| match word.is_empty() || word.contains(|c: char| c.is_whitespace() || c == '\'') {
        true => format!("'{}'", word.replace('\'', r"'\''")),
        false => word.clone(),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_so_that_a_shell_would_read_the_same_words() {
        let words = ["sh", "-c", "echo 'a b' > x", ""].map(String::from);
        assert_eq!(line(&words), r"sh -c 'echo '\''a b'\'' > x' ''");
    }

    #[test]
    fn only_steps_of_a_person_have_an_instruction_and_only_the_others_change_anything_themselves() {
        let text = |t: &str| t.to_string();
        let person = Switch::Person { instruction: text("swap the drive") };
        assert_eq!((person.instruction(), person.changes()), (Some("swap the drive"), vec![]));
        let tunable = Switch::Tunables(vec![Tunable { path: text("/proc/sys/vm/swappiness"), value: text("1") }]);
        assert_eq!((tunable.instruction(), tunable.changes()), (None, vec![text("/proc/sys/vm/swappiness = 1")]));
    }
}
