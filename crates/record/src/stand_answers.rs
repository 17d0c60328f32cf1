//! Stands: what putting one up would do, and how one is. What the worker tells of them; a run keeps their steps as events.

use serde::{Deserialize, Serialize};
use stend_base::{Bytes, Say};

/// What would be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandPlan {
    /// Name of the stand.
    pub name: String,
    /// It is up already, in whole or in part: steps that are done would be left alone.
    pub is_up: bool,
    /// Its drives.
    pub drives: Vec<PlannedDrive>,
    /// Steps in their order.
    pub steps: Vec<PlannedStep>,
    /// What `down` would execute.
    pub undo: Vec<String>,
    /// What would be measured.
    pub targets: Vec<String>,
}

/// A drive of a stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedDrive {
    /// Name in the file.
    pub name: String,
    /// Identity as the file gives it.
    pub id: String,
    /// Path; several, if it is reached over several; none, if it is not here.
    pub paths: Vec<String>,
    /// Its size.
    pub size: Option<Bytes>,
    /// Signatures on it, whose contents would be lost.
    pub signatures: Vec<String>,
    /// Why it would be refused.
    pub refused: Option<Say>,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedStep {
    /// Name of its layer.
    pub layer: String,
    /// What it does.
    pub what: Say,
    /// The exact commands.
    pub commands: Vec<String>,
    /// Drives of the user whose contents are lost.
    pub destroys: Vec<String>,
    /// It is done already.
    pub done: bool,
}

/// A stand as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandStatus {
    /// Its name.
    pub name: String,
    /// The file that it was put up from.
    pub file: String,
    /// Who put it up: the run file of a run, which takes it down again; else words.
    pub owner: String,
    /// Its layers, from the drives up.
    pub layers: Vec<LayerStatus>,
    /// Paths of what is measured, as far as it exists.
    pub targets: Vec<String>,
}

/// One layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerStatus {
    /// Its name.
    pub name: String,
    /// Its kind, as in the file.
    pub kind: String,
    /// Steps that are done.
    pub done: u32,
    /// Steps that there are.
    pub steps: u32,
    /// Paths of what it made.
    pub products: Vec<String>,
    /// Missing members of an array or pool, or OSDs that do not work.
    pub degraded: u64,
    /// Arrays, pools and clusters: what is being synchronised, in English, and how far it is in percent.
    pub syncing: Option<(String, u64)>,
    /// State of a pool of ZFS, as `zpool status` shows it, or of a Ceph, with its OSDs and placement groups, in English.
    pub health: Option<String>,
}

/// A stand that is up.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StandTargets {
    /// Paths of what is measured.
    pub targets: Vec<String>,
    /// Identities of those that are devices: what the stand made may be written.
    pub identities: Vec<String>,
    /// Signatures that are seen on them all the same: of what lay on the drives before.
    pub signatures: Vec<String>,
}

/// Changes of a machine in words, in order; the English ones are what a run records.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DryRun {
    /// What making a target ready would do.
    pub steps: Vec<Say>,
    /// What its undo would do.
    pub undo: Vec<Say>,
}
