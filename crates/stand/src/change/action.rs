//! What changes of the machine consist of: single actions, and how a person would type each. Pure.

use super::condition::LayerDevice;
use crate::command::words;
use crate::faults::{Copy, Filling, md};
use serde::{Deserialize, Serialize};
use stend_spec::arm::line;

/// One thing that is done to the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Action {
    /// Execute these words of ours, without a shell.
    Run(Vec<String>),
    /// The same, tried again while what it takes out is still held.
    LetGo(Vec<String>),
    /// Execute a command of the user.
    User(Vec<String>),
    /// Give a setting of the user a value; what it was before is noted first.
    Set { path: String, value: String },
    /// Write back what was there before [`Action::Set`].
    PutBack { path: String },
    /// Tell the kernel something by a file that is no setting.
    Tell { path: String, value: String },
    /// Have the kernel load a module, if it does not have it.
    Module(String),
    /// Have the kernel make one more zram device, which becomes the n-th of this layer.
    AddZram { layer: String, index: u32 },
    /// Have the kernel take the one with this number away.
    RemoveZram { layer: String, index: u32, number: String },
    /// Give a device a superblock that has no UUID by these words, and note what tells it from others.
    Format { of: LayerDevice, words: Vec<String> },
    /// Take it off again.
    Erase { of: LayerDevice, words: Vec<String> },
    /// Take a file system off a device, with the copies of its superblock, which carry this UUID in the form of its signature.
    Wipe { device: String, uuid: String },
    /// Format a namespace to logical blocks of so many bytes; what they were before is noted first.
    Blocks { of: LayerDevice, bytes: u32 },
    /// Format it to what was noted.
    BlocksBack { of: LayerDevice },
    /// Read a device of so many bytes and fail if there is anything on it but zeroes.
    MustBeBlank { device: String, bytes: Option<u64> },
    /// Take in an export of an NBD server as a device of the kernel, and note of which device it is; `None`: one of another host.
    Attach { export: String, host: String, port: u16, of: Option<String> },
    /// Let that go.
    Detach { export: String },
    /// Write a member of an array of md, which has all of them by the file that says how many it lacks, anew from the others.
    Rebuild { array: String, member: String, degraded: String },
    /// Take a member that an array of md has given up, by the file with its state, out and add it again.
    Readd { array: String, member: String, state: String },
    /// Have a member that a spare was copied from become the spare.
    GiveBack(Copy),
    /// Fill a file system.
    Fill(Filling),
    /// Kill every process of a name.
    Kill(String),
    /// Kill the processes of a program that were started with all of these words.
    End { program: String, words: Vec<String> },
    /// End what may have ended by itself, while a command that tells of it shows these words.
    Cancel { words: Vec<String>, state: Vec<String>, while_it_shows: String },
}

/// What formats a namespace to other logical blocks.
pub(crate) fn format_blocks(device: &str, bytes: &str) -> Vec<String> {
    words("nvme format", &[device, "--force", "--block-size", bytes])
}

/// So many bytes of a device are compared by one command: at 100 MB/s that takes three minutes, and a command may take ten.
pub(crate) const COMPARED: u64 = 16 << 30;

/// What compares so many bytes of a device with zeroes, behind those before `from`; a word for its size while it does not exist.
pub(crate) fn compare_with_zeroes(device: &str, from: u64, bytes: Option<u64>) -> Vec<String> {
    let bytes = bytes.map_or_else(|| "SIZE".to_string(), |bytes| bytes.to_string());
    let behind = if from > 0 { format!("--ignore-initial={from}:0 ") } else { String::new() };
    words(&format!("cmp {behind}--bytes={bytes} --"), &[device, "/dev/zero"])
}

/// What writes a word to a file.
pub(crate) fn echo(path: &str, value: &str) -> String {
    format!("echo {} > {path}", line(&[value.to_string()]))
}

/// A command of ours, with more words behind those of a line.
pub(crate) fn run(line: &str, more: &[&str]) -> Action {
    Action::Run(words(line, more))
}

impl Action {
    /// As a person would type it.
    pub(crate) fn shell(&self) -> String {
        match self {
            Action::Run(words) | Action::LetGo(words) | Action::User(words) | Action::Cancel { words, .. } => {
                line(words)
            }
            Action::Format { words, .. } | Action::Erase { words, .. } => line(words),
            Action::Set { path, value } | Action::Tell { path, value } => echo(path, value),
            Action::PutBack { path } => format!("echo … > {path}  # what was there before"),
            Action::Module(name) => format!("modprobe {name}"),
            Action::AddZram { .. } => "cat /sys/class/zram-control/hot_add".to_string(),
            Action::RemoveZram { number, .. } => echo("/sys/class/zram-control/hot_remove", number),
            Action::Wipe { device, .. } => format!("wipefs --all --quiet {device}  # and copies of its superblock"),
            Action::Blocks { of, bytes } => line(&format_blocks(&of.device, &bytes.to_string())),
            Action::BlocksBack { of } => {
                format!("{}  # what was there before", line(&format_blocks(&of.device, "…")))
            }
            Action::MustBeBlank { device, bytes } => {
                let pieces = if bytes.is_some_and(|bytes| bytes > COMPARED) { "  # in pieces of 16 GiB" } else { "" };
                format!("{}{pieces}", line(&compare_with_zeroes(device, 0, *bytes)))
            }
            Action::Attach { export, host, port, .. } => {
                format!("nbd-client {host} {port} NBD[{export}] -name {export}")
            }
            Action::Detach { export } => format!("nbd-client -d NBD[{export}]"),
            Action::Rebuild { array, member, .. } => md::rebuild(array, member).map(|words| line(&words)).join("; "),
            Action::Readd { array, member, .. } => {
                [md::remove(array, member), md::add(array, member)].map(|words| line(&words)).join("; ")
            }
            Action::GiveBack(copy) => copy.shell(),
            Action::Fill(filling) => filling.shell(),
            Action::Kill(name) => format!("pkill -KILL -x {name}"),
            Action::End { program, words } => format!("pkill -KILL -f '^{program} {}( |$)'", line(words)),
        }
    }

    /// The program that it needs.
    pub(crate) fn program(&self) -> Option<&str> {
        match self {
            Action::Run(words) | Action::Format { words, .. } | Action::Erase { words, .. } => {
                words.first().map(String::as_str)
            }
            Action::Wipe { .. } => Some("wipefs"),
            Action::MustBeBlank { .. } => Some("cmp"),
            Action::Attach { .. } | Action::Detach { .. } => Some("nbd-client"),
            Action::Blocks { .. } | Action::BlocksBack { .. } => Some("nvme"),
            _ => None,
        }
    }
}
