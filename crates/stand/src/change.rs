//! Changes of the machine: what each does, how it is known to be done, and what undoes it. Stands, arms and events consist of them; a
//! journal has each before it is made.

mod action;
mod condition;
mod entry;
mod host;
mod journal;
mod perform;
mod programs;

pub(crate) use action::{Action, run};
pub(crate) use condition::{Condition, LayerDevice, MirrorDevice, Pool, Volume};
pub(crate) use entry::{Drive, Entry, StandHead};
pub(crate) use host::{HostChanges, left_behind};
pub(crate) use journal::Journal;
pub(crate) use perform::perform;
pub(crate) use programs::must_have;

use stend_base::Say;
use stend_record::EventKind;

/// One change of the machine that can be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// What it does, for people.
    pub what: Say,
    /// Devices whose contents are lost.
    pub erases: Vec<String>,
    /// How the kernel tells that it is done.
    pub done: Condition,
    /// What does it, in order.
    pub apply: Vec<Action>,
    /// What undoes it: each where its condition holds, in order. What was half done is undone, too.
    pub undo: Vec<(Condition, Action)>,
    /// What has to come to an end before the next change.
    pub wait: Option<Wait>,
}

/// What has to come to an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The synchronisation of an array with this UUID.
    Array(String),
    /// That of what is in a volume group of this name.
    Volume(String),
    /// That of a pool of ZFS of this name with a device that was away.
    Pool(String),
    /// That of the checksums of a mapping of this name with its data.
    Checksums(String),
    /// The start of all OSDs of a Ceph with these settings.
    Osds(String),
    /// That of everything in it.
    Cluster(String),
    /// The connection of a mirror to its peer at this address.
    Peer(MirrorDevice, String),
    /// The synchronisation of a mirror with its peer at this address.
    Mirror(MirrorDevice, String),
}

/// How a waiting caller hears of a change, and can end it.
pub struct Watch<'a> {
    /// Whether the user wants it to end.
    pub stopped: &'a dyn Fn() -> bool,
    /// What has been done.
    pub log: &'a mut dyn FnMut(EventKind),
}

impl Change {
    /// A change that does nothing yet.
    pub(crate) fn new(what: Say, done: Condition) -> Change {
        Change { what, erases: Vec::new(), done, apply: Vec::new(), undo: Vec::new(), wait: None }
    }

    /// A change of which nothing shows whether it is done: all that undoes it is done.
    pub(crate) fn unseen(what: Say, apply: Vec<Action>, undo: impl IntoIterator<Item = Action>) -> Change {
        let mut change = Change { apply, ..Change::new(what, Condition::Always) };
        undo.into_iter().for_each(|action| change.undo_by(action));
        change
    }

    /// Has this action undo it, too.
    pub(crate) fn undo_by(&mut self, action: Action) {
        self.undo.push((Condition::Always, action));
    }

    /// What undoes it, without the conditions.
    pub(crate) fn undone_by(&self) -> impl DoubleEndedIterator<Item = &Action> {
        self.undo.iter().map(|(_, action)| action)
    }
}

/// A setting that gets a value; what it was is put back.
pub(crate) fn setting(path: &str, value: &str) -> Change {
    let what = stend_base::say!("set {path} to {value}", "записать {value} в {path}");
    let [path, value] = [path, value].map(str::to_string);
    let done = Condition::Setting { path: path.clone(), value: value.clone() };
    let undo = vec![(Condition::Noted(path.clone()), Action::PutBack { path: path.clone() })];
    Change { apply: vec![Action::Set { path, value }], undo, ..Change::new(what, done) }
}
