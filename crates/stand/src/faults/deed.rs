//! What events are made of, and how a person would type it.

use super::copy::Copy;
use super::filling::Filling;
use super::md;
use crate::command::words;
use stend_spec::arm::line;

/// One thing that is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Deed {
    /// A command of ours.
    Run(Vec<String>),
    /// The same, tried again while what it takes out is still held.
    LetGo(Vec<String>),
    /// A command of the user.
    Own(Vec<String>),
    /// A member of an array of md, which has all of them by the file that says how many it lacks, is written anew from the others.
    Rebuild { array: String, member: String, degraded: String },
    /// A file system is filled.
    Fill(Filling),
    /// Every process of a name is killed.
    Kill(String),
    /// A word for a file of the kernel.
    Write { path: String, value: String },
    /// What may have ended by itself is ended, while a command that tells of it shows these words.
    Cancel { words: Vec<String>, state: Vec<String>, while_it_shows: &'static str },
    /// A member that a spare was copied from becomes the spare.
    GiveBack(Copy),
    /// A member that an array of md has given up, by the file with its state, is taken out and added again.
    Readd { array: String, member: String, state: String },
}

impl Deed {
    /// The copy that it ends.
    pub(super) fn copy(&self) -> Option<&Copy> {
        match self {
            Deed::GiveBack(copy) => Some(copy),
            _ => None,
        }
    }

    /// As a person would type it.
    pub(super) fn shell(&self) -> String {
        match self {
            Deed::Run(words) | Deed::LetGo(words) | Deed::Own(words) | Deed::Cancel { words, .. } => line(words),
            Deed::Rebuild { array, member, .. } => md::rebuild(array, member).map(|words| line(&words)).join("; "),
            Deed::Fill(filling) => filling.shell(),
            Deed::GiveBack(copy) => copy.shell(),
            Deed::Kill(name) => format!("pkill -KILL -x {name}"),
            Deed::Readd { array, member, .. } => {
                [md::remove(array, member), md::add(array, member)].map(|words| line(&words)).join("; ")
            }
            Deed::Write { path, value } => format!("echo {value} > {path}"),
        }
    }
}

/// A command of ours, with more words.
pub(super) fn run(line: &str, more: &[&str]) -> Deed {
    Deed::Run(words(line, more))
}

/// What an event does, and what undoes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    /// Kernel name of what it is done to.
    pub of: Option<String>,
    pub apply: Vec<Deed>,
    pub undo: Vec<Deed>,
}
