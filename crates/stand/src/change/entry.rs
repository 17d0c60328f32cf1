//! The lines of a journal.

use super::action::Action;
use super::condition::Condition;
use crate::owner::Note;
use serde::{Deserialize, Serialize};

/// Form of the entries.
pub(super) const VERSION: u32 = 1;

/// One line of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Entry {
    /// The first line of that of a stand.
    Stand(StandHead),
    /// The first line of that of a run.
    Run(RunHead),
    /// A run is about to make a change, its `number`th, which this undoes.
    Change { number: u32, undo: Vec<(Condition, Action)> },
    /// It is undone.
    Undone { number: u32 },
    /// What undoes it failed: from the `from`th of its actions on it is left, because each may need what those before it do.
    Left { number: u32, from: u32 },
    /// A change of a layer of a stand is about to be made: what it does, in English.
    Begin { layer: String, what: String },
    /// It has been made, and the kernel shows it.
    End { layer: String, what: String },
    /// What a setting was before it is written, in this boot; earlier versions did not note which.
    Before {
        path: String,
        value: String,
        #[serde(default)]
        boot_id: String,
        /// The number that the kernel gave to the block device that it is of, and gives to no other one (Linux 5.15).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        device: Option<u64>,
    },
    /// A setting is again what it was.
    PutBack { path: String },
    /// The number that the kernel gave to the n-th zram device of a layer, in this boot, and its
    /// [sequence](crate::node::Node::sequence); `None` in journals of old, too.
    Zram {
        layer: String,
        index: u32,
        number: u32,
        boot_id: String,
        #[serde(default)]
        sequence: Option<u64>,
    },
    /// That device is gone: its number may be given to others.
    ZramGone { layer: String, index: u32 },
    /// The n-th device below a layer is about to be given a superblock that has no UUID, or was. The mark tells it from others; `None`:
    /// it was not whole yet.
    Formatted { layer: String, index: u32, mark: Option<String> },
    /// That superblock is gone.
    Erased { layer: String, index: u32 },
    /// A drive with this identity is about to be written to for the first time in this boot. `ours`: all that is on it was erased or ours, as
    /// far as a sample tells, and nobody else can have written to it since.
    Taken { identity: String, ours: bool, boot_id: String },
    /// No layer lies on that drive any more: what is written to it from now on is not the stand's.
    Released { identity: String },
    /// Something is about to be undone by this command.
    Undo { command: String },
}

/// What a run is that changes the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunHead {
    /// Form of the entries.
    pub version: u32,
    /// Whose changes they are.
    pub note: Note,
}

/// What a stand is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StandHead {
    /// Form of the entries.
    pub version: u32,
    /// Name of the file that it was put up from.
    pub file: String,
    /// The text of that.
    pub text: String,
    /// From which names and identities follow.
    pub nonce: u64,
    /// The drives that the names in the file meant.
    pub drives: Vec<Drive>,
    /// Which of the hosts of the stand this is, by its name in the file; `None`: there is one. Earlier versions called it a side.
    #[serde(default, alias = "side")]
    pub host: Option<String>,
    /// Who put it up: the run file of a run, which takes it down again; else words.
    pub owner: String,
}

/// A drive of a stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Drive {
    /// Name in the file.
    pub name: String,
    /// Identity.
    pub identity: String,
    /// Bytes.
    pub size: u64,
    /// How many paths to it there are.
    #[serde(default = "one")]
    pub paths: u32,
}

/// Journals of old had no word for it.
fn one() -> u32 {
    1
}

impl RunHead {
    pub(crate) fn new(note: Note) -> RunHead {
        RunHead { version: VERSION, note }
    }
}

impl StandHead {
    /// The head of a new stand.
    pub(crate) fn new(file: &str, text: &str, nonce: u64, drives: Vec<Drive>, owner: &str) -> StandHead {
        let [file, text, owner] = [file, text, owner].map(str::to_string);
        StandHead { version: VERSION, file, text, nonce, drives, host: None, owner }
    }

    /// The same of one of the hosts of a stand.
    pub(crate) fn of(self, host: Option<&str>) -> StandHead {
        StandHead { host: host.map(str::to_string), ..self }
    }
}
